# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Implements tg_faults: page faults, listed, summed and compared."""
