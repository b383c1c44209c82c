# docs/local.mk -- manual, man pages, formats.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

dist_man_MANS = \
	docs/libtlbsim.3 \
	docs/tg_annotate.1 \
	docs/tg_faults.1 \
	docs/tg_measure.1 \
	docs/tg_simulate.1 \
	docs/tg_native.1 \
	docs/tg_order.1 \
	docs/tg_report.1 \
	docs/tlbgrind.1

# docs/img is a folder, distributed as a whole.
DOC_FILES = \
	docs/ahead.c \
	docs/annotate.md \
	docs/buffers.c \
	docs/chain.sh \
	docs/ci.md \
	docs/ci.sh \
	docs/data.md \
	docs/graphviz.sh \
	docs/huge-pages.md \
	docs/img \
	docs/install.md \
	docs/internals/README.md \
	docs/internals/engine.md \
	docs/internals/formats.md \
	docs/internals/measurements.md \
	docs/internals/validation.md \
	docs/interruptions.md \
	docs/is-it-a-lot.md \
	docs/jit.c \
	docs/jit.md \
	docs/join.c \
	docs/libraries.md \
	docs/machines.md \
	docs/manual.md \
	docs/measure.md \
	docs/packaging.md \
	docs/page-faults.md \
	docs/part-of-a-run.md \
	docs/order.sh \
	docs/populate.c \
	docs/readahead.c \
	docs/people.sql \
	docs/processor.md \
	docs/reference.md \
	docs/report.md \
	docs/start-up.md \
	docs/start.c \
	docs/store.cc \
	docs/symbols.sh \
	docs/tables.schema.json \
	docs/transpose.c \
	docs/troubleshooting.md \
	docs/trust.md

# A program that uses libtlbsim, installed with the library.
exampledir = $(docdir)/examples
dist_example_DATA = docs/three_machines.c

EXTRA_DIST += $(DOC_FILES) README.md NEWS
