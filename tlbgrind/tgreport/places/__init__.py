# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Holds where a run's functions and variables lie, and where an order puts them."""
