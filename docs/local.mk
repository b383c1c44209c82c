# docs/local.mk -- manual, man pages, formats.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

dist_man_MANS =

DOC_FILES = \
	docs/formats.md

EXTRA_DIST += $(DOC_FILES)
