# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Implements tg_annotate: costs by function, file, object and line."""
