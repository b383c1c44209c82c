# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Implements tg_report: one page for a browser."""
