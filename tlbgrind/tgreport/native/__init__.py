# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_native: a program's page faults with and without Valgrind, in one call."""
