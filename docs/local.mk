# docs/local.mk -- manual, man pages, formats.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

dist_man_MANS = \
	docs/libtlbsim.3 \
	docs/tg_annotate.1 \
	docs/tg_faults.1 \
	docs/tg_order.1 \
	docs/tg_report.1 \
	docs/tlbgrind.1

# docs/img is a folder, distributed as a whole.
DOC_FILES = \
	docs/ahead.c \
	docs/buffers.c \
	docs/calls.md \
	docs/chain.sh \
	docs/graphviz.sh \
	docs/cpuid.md \
	docs/data.md \
	docs/fault-log.md \
	docs/faults.md \
	docs/experiments.md \
	docs/entries.md \
	docs/flushes.md \
	docs/formats.md \
	docs/img \
	docs/internals/README.md \
	docs/internals/engine.md \
	docs/internals/measurements.md \
	docs/join.c \
	docs/machines.md \
	docs/manual-annotate.md \
	docs/manual-data.md \
	docs/manual-huge-pages.md \
	docs/manual-libraries.md \
	docs/manual-lot.md \
	docs/manual-processor.md \
	docs/manual-start-up.md \
	docs/manual-trust.md \
	docs/manual.md \
	docs/libraries.md \
	docs/pages.md \
	docs/people.sql \
	docs/performance.md \
	docs/prefetch.md \
	docs/processes.md \
	docs/reach.md \
	docs/reference.md \
	docs/region.md \
	docs/report.md \
	docs/simulation.md \
	docs/store.cc \
	docs/tables.schema.json \
	docs/timeline.md \
	docs/tuning-startup.md \
	docs/transpose.c \
	docs/walks.md

# A program that uses libtlbsim, installed with the library.
exampledir = $(docdir)/examples
dist_example_DATA = docs/three_machines.c

EXTRA_DIST += $(DOC_FILES) README.md NEWS
