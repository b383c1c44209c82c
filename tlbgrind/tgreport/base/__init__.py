# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Holds what every companion shares: its call, its errors, its text."""
