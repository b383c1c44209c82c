# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_order: orders of functions for linkers."""
