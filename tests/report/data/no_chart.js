// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// Stands in for Chart.js where no browser opens the page.
