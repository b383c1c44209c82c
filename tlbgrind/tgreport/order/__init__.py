# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Implements tg_order: orders of functions for linkers."""
