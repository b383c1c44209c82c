# docs/local.mk -- manual, man pages, formats.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

dist_man_MANS = \
	docs/tg_annotate.1

DOC_FILES = \
	docs/formats.md \
	docs/manual-annotate.md

EXTRA_DIST += $(DOC_FILES)
