# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads the files that companions take, and checks them."""
