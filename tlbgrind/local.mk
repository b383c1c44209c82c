# tlbgrind/local.mk -- the simulator library, the tool, its launcher and its companions.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

# ---------------------------------------------------------------- the simulator
# Plain C11.  Compiled three times: for libtlbsim, for each tool, for the unit tests (sanitized).

SIM_SOURCES = \
	tlbgrind/sim/base/api.c \
	tlbgrind/sim/base/closeness.c \
	tlbgrind/sim/base/text.c \
	tlbgrind/sim/faults/fault_around.c \
	tlbgrind/sim/faults/faultmodel.c \
	tlbgrind/sim/faults/flushed.c \
	tlbgrind/sim/faults/kernel_rules.c \
	tlbgrind/sim/faults/layout.c \
	tlbgrind/sim/faults/page_cache.c \
	tlbgrind/sim/faults/page_tables.c \
	tlbgrind/sim/machine/arm_models.c \
	tlbgrind/sim/machine/assumptions.c \
	tlbgrind/sim/machine/builtin.c \
	tlbgrind/sim/machine/cost.c \
	tlbgrind/sim/machine/cpuid.c \
	tlbgrind/sim/machine/cpuid_aida_lines.c \
	tlbgrind/sim/machine/cpuid_amd.c \
	tlbgrind/sim/machine/cpuid_answers.c \
	tlbgrind/sim/machine/cpuid_costs.c \
	tlbgrind/sim/machine/cpuid_dump.c \
	tlbgrind/sim/machine/cpuid_dump_parts.c \
	tlbgrind/sim/machine/cpuid_file.c \
	tlbgrind/sim/machine/cpuid_intel.c \
	tlbgrind/sim/machine/cpuid_models.c \
	tlbgrind/sim/machine/cpuid_raw_lines.c \
	tlbgrind/sim/machine/cpuid_reader.c \
	tlbgrind/sim/machine/cpuinfo.c \
	tlbgrind/sim/machine/description.c \
	tlbgrind/sim/machine/geometry.c \
	tlbgrind/sim/machine/host_here.c \
	tlbgrind/sim/machine/machine.c \
	tlbgrind/sim/machine/machine_argument.c \
	tlbgrind/sim/machine/machine_file.c \
	tlbgrind/sim/machine/machine_file_keys.c \
	tlbgrind/sim/machine/machine_file_print.c \
	tlbgrind/sim/machine/machine_file_values.c \
	tlbgrind/sim/machine/machine_input.c \
	tlbgrind/sim/machine/machine_list.c \
	tlbgrind/sim/machine/measured_costs.c \
	tlbgrind/sim/machine/override.c \
	tlbgrind/sim/machine/power_models.c \
	tlbgrind/sim/machine/product_names.c \
	tlbgrind/sim/machine/riscv_models.c \
	tlbgrind/sim/machine/siblings.c \
	tlbgrind/sim/machine/spaces.c \
	tlbgrind/sim/mmu/cores.c \
	tlbgrind/sim/mmu/count_layout.c \
	tlbgrind/sim/mmu/flush.c \
	tlbgrind/sim/mmu/known_hits.c \
	tlbgrind/sim/mmu/l1_lookup.c \
	tlbgrind/sim/mmu/l1_misses.c \
	tlbgrind/sim/mmu/l1_sharing.c \
	tlbgrind/sim/mmu/interruptions.c \
	tlbgrind/sim/mmu/l2_presence.c \
	tlbgrind/sim/mmu/large_pages.c \
	tlbgrind/sim/mmu/late_misses.c \
	tlbgrind/sim/mmu/library.c \
	tlbgrind/sim/mmu/miss_counts.c \
	tlbgrind/sim/mmu/mmu_check.c \
	tlbgrind/sim/mmu/mmu_init.c \
	tlbgrind/sim/mmu/mmu_memory.c \
	tlbgrind/sim/mmu/one_machine.c \
	tlbgrind/sim/mmu/others.c \
	tlbgrind/sim/mmu/ports.c \
	tlbgrind/sim/mmu/prefetch.c \
	tlbgrind/sim/mmu/refer.c \
	tlbgrind/sim/mmu/run_reach.c \
	tlbgrind/sim/mmu/traits.c \
	tlbgrind/sim/pages/advice_report.c \
	tlbgrind/sim/pages/advice_rules.c \
	tlbgrind/sim/pages/backing_report.c \
	tlbgrind/sim/pages/code_blocks.c \
	tlbgrind/sim/pages/large.c \
	tlbgrind/sim/pages/mappings.c \
	tlbgrind/sim/pages/pagemap.c \
	tlbgrind/sim/pages/pagemap_apply.c \
	tlbgrind/sim/pages/pagemap_blocks.c \
	tlbgrind/sim/pages/pagemap_forks.c \
	tlbgrind/sim/pages/pagemap_moves.c \
	tlbgrind/sim/pages/pagerules.c \
	tlbgrind/sim/pages/rule_notes.c \
	tlbgrind/sim/pages/touched.c \
	tlbgrind/sim/record/large_filter.c \
	tlbgrind/sim/record/late_uses.c \
	tlbgrind/sim/record/map_events.c \
	tlbgrind/sim/record/stream.c \
	tlbgrind/sim/record/strength.c \
	tlbgrind/sim/tlb/array.c \
	tlbgrind/sim/tlb/base_pages.c \
	tlbgrind/sim/tlb/hierarchy.c \
	tlbgrind/sim/tlb/inclusion.c \
	tlbgrind/sim/tlb/lazy_lru.c \
	tlbgrind/sim/tlb/lost.c \
	tlbgrind/sim/tlb/lru_stack.c \
	tlbgrind/sim/tlb/policies.c \
	tlbgrind/sim/tlb/policy_fifo.c \
	tlbgrind/sim/tlb/policy_lru.c \
	tlbgrind/sim/tlb/policy_mru_plru.c \
	tlbgrind/sim/tlb/policy_nru.c \
	tlbgrind/sim/tlb/policy_plru.c \
	tlbgrind/sim/tlb/policy_random.c \
	tlbgrind/sim/tlb/reach.c \
	tlbgrind/sim/tlb/short_cut.c \
	tlbgrind/sim/tlb/table_caches.c \
	tlbgrind/sim/tlb/walk.c

# Headers of the simulator's own, which are not installed.
SIM_INCLUDES = \
	tlbgrind/sim/base/closeness.h \
	tlbgrind/sim/base/divisor.h \
	tlbgrind/sim/base/text.h \
	tlbgrind/sim/faults/faultmodel_parts.h \
	tlbgrind/sim/machine/arm_models.h \
	tlbgrind/sim/machine/cpuid_dump_parts.h \
	tlbgrind/sim/machine/cpuid_models.h \
	tlbgrind/sim/machine/cpuid_reader.h \
	tlbgrind/sim/machine/cpuinfo.h \
	tlbgrind/sim/machine/machine_argument.h \
	tlbgrind/sim/machine/machine_file_parts.h \
	tlbgrind/sim/machine/description.h \
	tlbgrind/sim/machine/host_here.h \
	tlbgrind/sim/machine/measured_costs.h \
	tlbgrind/sim/machine/override.h \
	tlbgrind/sim/machine/power_models.h \
	tlbgrind/sim/machine/product_names.h \
	tlbgrind/sim/machine/riscv_models.h \
	tlbgrind/sim/mmu/cores.h \
	tlbgrind/sim/mmu/flush.h \
	tlbgrind/sim/mmu/known_hits.h \
	tlbgrind/sim/mmu/l1_lookup.h \
	tlbgrind/sim/mmu/l1_misses.h \
	tlbgrind/sim/mmu/l1_sharing.h \
	tlbgrind/sim/mmu/interruptions.h \
	tlbgrind/sim/mmu/l2_presence.h \
	tlbgrind/sim/mmu/large_pages.h \
	tlbgrind/sim/mmu/late_misses.h \
	tlbgrind/sim/mmu/miss_counts.h \
	tlbgrind/sim/mmu/miss_counts_parts.h \
	tlbgrind/sim/mmu/mmu_data.h \
	tlbgrind/sim/mmu/mmu_init.h \
	tlbgrind/sim/mmu/mmu_memory.h \
	tlbgrind/sim/mmu/one_machine.h \
	tlbgrind/sim/mmu/others.h \
	tlbgrind/sim/mmu/page_record.h \
	tlbgrind/sim/mmu/ports.h \
	tlbgrind/sim/mmu/prefetch.h \
	tlbgrind/sim/mmu/refer.h \
	tlbgrind/sim/mmu/run_reach.h \
	tlbgrind/sim/mmu/traits.h \
	tlbgrind/sim/pages/pagemap_parts.h \
	tlbgrind/sim/pages/advice_report.h \
	tlbgrind/sim/pages/advice_rules.h \
	tlbgrind/sim/pages/backing_report.h \
	tlbgrind/sim/pages/code_blocks.h \
	tlbgrind/sim/pages/rule_notes.h \
	tlbgrind/sim/pages/touched.h \
	tlbgrind/sim/record/large_filter.h \
	tlbgrind/sim/record/late_uses.h \
	tlbgrind/sim/record/map_events.h \
	tlbgrind/sim/record/numbers.h \
	tlbgrind/sim/record/moves.h \
	tlbgrind/sim/record/stream.h \
	tlbgrind/sim/record/strength.h \
	tlbgrind/sim/tlb/base_pages.h \
	tlbgrind/sim/tlb/oldest.h \
	tlbgrind/sim/tlb/policies.h \
	tlbgrind/sim/tlb/policy_lru.h \
	tlbgrind/sim/tlb/policy_plru.h \
	tlbgrind/sim/tlb/policy_random.h \
	tlbgrind/sim/tlb/times2.h

# Headers of libtlbsim, folder by folder. tlbsim.h includes all of them.
tlbsimdir = $(includedir)/tlbsim
tlbsim_HEADERS = tlbgrind/sim/tlbsim.h

SIM_FOLDERS = base machine tlb pages faults mmu

simbasedir = $(tlbsimdir)/sim/base
simbase_HEADERS = \
	tlbgrind/sim/base/api.h \
	tlbgrind/sim/base/memory.h

simmachinedir = $(tlbsimdir)/sim/machine
simmachine_HEADERS = \
	tlbgrind/sim/machine/builtin.h \
	tlbgrind/sim/machine/cost.h \
	tlbgrind/sim/machine/cpuid.h \
	tlbgrind/sim/machine/cpuid_answers.h \
	tlbgrind/sim/machine/cpuid_dump.h \
	tlbgrind/sim/machine/cpuid_here.h \
	tlbgrind/sim/machine/geometry.h \
	tlbgrind/sim/machine/machine.h \
	tlbgrind/sim/machine/machine_file.h \
	tlbgrind/sim/machine/machine_input.h \
	tlbgrind/sim/machine/machine_list.h \
	tlbgrind/sim/machine/siblings.h \
	tlbgrind/sim/machine/spaces.h

simtlbdir = $(tlbsimdir)/sim/tlb
simtlb_HEADERS = \
	tlbgrind/sim/tlb/array.h \
	tlbgrind/sim/tlb/hierarchy.h \
	tlbgrind/sim/tlb/inclusion.h \
	tlbgrind/sim/tlb/key.h \
	tlbgrind/sim/tlb/lazy_lru.h \
	tlbgrind/sim/tlb/lost.h \
	tlbgrind/sim/tlb/lru_stack.h \
	tlbgrind/sim/tlb/policy.h \
	tlbgrind/sim/tlb/reach.h \
	tlbgrind/sim/tlb/short_cut.h \
	tlbgrind/sim/tlb/table_caches.h \
	tlbgrind/sim/tlb/walk.h

simpagesdir = $(tlbsimdir)/sim/pages
simpages_HEADERS = \
	tlbgrind/sim/pages/large.h \
	tlbgrind/sim/pages/mappings.h \
	tlbgrind/sim/pages/pagemap.h \
	tlbgrind/sim/pages/pagerules.h

simfaultsdir = $(tlbsimdir)/sim/faults
simfaults_HEADERS = \
	tlbgrind/sim/faults/faultmodel.h \
	tlbgrind/sim/faults/kernel_rules.h \
	tlbgrind/sim/faults/layout.h

simmmudir = $(tlbsimdir)/sim/mmu
simmmu_HEADERS = \
	tlbgrind/sim/mmu/mmu.h

# Built-in processors, in the order of their names; docs/machines.md.
MACHINE_FILES = \
	tlbgrind/machines/a64fx.machine \
	tlbgrind/machines/airmont.machine \
	tlbgrind/machines/ampereone.machine \
	tlbgrind/machines/apple-m1.machine \
	tlbgrind/machines/apple-m1-e.machine \
	tlbgrind/machines/apple-m2.machine \
	tlbgrind/machines/apple-m2-e.machine \
	tlbgrind/machines/apple-m3.machine \
	tlbgrind/machines/apple-m3-e.machine \
	tlbgrind/machines/apple-m4.machine \
	tlbgrind/machines/apple-m4-e.machine \
	tlbgrind/machines/bobcat.machine \
	tlbgrind/machines/bonnell.machine \
	tlbgrind/machines/boom.machine \
	tlbgrind/machines/broadwell.machine \
	tlbgrind/machines/bulldozer.machine \
	tlbgrind/machines/c1-ultra.machine \
	tlbgrind/machines/c906.machine \
	tlbgrind/machines/c910.machine \
	tlbgrind/machines/champsim.machine \
	tlbgrind/machines/core-duo-t2600.machine \
	tlbgrind/machines/core2.machine \
	tlbgrind/machines/cortex-a15.machine \
	tlbgrind/machines/cortex-a17.machine \
	tlbgrind/machines/cortex-a35.machine \
	tlbgrind/machines/cortex-a5.machine \
	tlbgrind/machines/cortex-a510.machine \
	tlbgrind/machines/cortex-a53.machine \
	tlbgrind/machines/cortex-a55.machine \
	tlbgrind/machines/cortex-a57.machine \
	tlbgrind/machines/cortex-a7.machine \
	tlbgrind/machines/cortex-a710.machine \
	tlbgrind/machines/cortex-a72.machine \
	tlbgrind/machines/cortex-a725.machine \
	tlbgrind/machines/cortex-a73.machine \
	tlbgrind/machines/cortex-a76.machine \
	tlbgrind/machines/cortex-a8.machine \
	tlbgrind/machines/cortex-a9.machine \
	tlbgrind/machines/cortex-x1.machine \
	tlbgrind/machines/cortex-x2.machine \
	tlbgrind/machines/cortex-x3.machine \
	tlbgrind/machines/cortex-x925.machine \
	tlbgrind/machines/cougarcove.machine \
	tlbgrind/machines/crestmont.machine \
	tlbgrind/machines/cuzco.machine \
	tlbgrind/machines/cva6.machine \
	tlbgrind/machines/emag.machine \
	tlbgrind/machines/falkor.machine \
	tlbgrind/machines/geode-lx.machine \
	tlbgrind/machines/goldencove.machine \
	tlbgrind/machines/goldmont.machine \
	tlbgrind/machines/goldmont-plus.machine \
	tlbgrind/machines/gracemont.machine \
	tlbgrind/machines/gs464e.machine \
	tlbgrind/machines/haswell.machine \
	tlbgrind/machines/icelake.machine \
	tlbgrind/machines/isaiah.machine \
	tlbgrind/machines/ivybridge.machine \
	tlbgrind/machines/jaguar.machine \
	tlbgrind/machines/k10.machine \
	tlbgrind/machines/k6-iii.machine \
	tlbgrind/machines/k7.machine \
	tlbgrind/machines/k8.machine \
	tlbgrind/machines/kabylake.machine \
	tlbgrind/machines/knl.machine \
	tlbgrind/machines/kx-7000.machine \
	tlbgrind/machines/la464.machine \
	tlbgrind/machines/la664.machine \
	tlbgrind/machines/lioncove.machine \
	tlbgrind/machines/llano.machine \
	tlbgrind/machines/nehalem.machine \
	tlbgrind/machines/neoverse-n1.machine \
	tlbgrind/machines/neoverse-n2.machine \
	tlbgrind/machines/neoverse-n3.machine \
	tlbgrind/machines/neoverse-v1.machine \
	tlbgrind/machines/neoverse-v2.machine \
	tlbgrind/machines/neoverse-v3.machine \
	tlbgrind/machines/oryon.machine \
	tlbgrind/machines/oryon-gen3.machine \
	tlbgrind/machines/p550.machine \
	tlbgrind/machines/p6.machine \
	tlbgrind/machines/p870.machine \
	tlbgrind/machines/pentium4.machine \
	tlbgrind/machines/piledriver.machine \
	tlbgrind/machines/power10.machine \
	tlbgrind/machines/power11.machine \
	tlbgrind/machines/power4.machine \
	tlbgrind/machines/power7.machine \
	tlbgrind/machines/power8.machine \
	tlbgrind/machines/power9.machine \
	tlbgrind/machines/ppc970.machine \
	tlbgrind/machines/redwoodcove.machine \
	tlbgrind/machines/rocket.machine \
	tlbgrind/machines/sandybridge.machine \
	tlbgrind/machines/silvermont.machine \
	tlbgrind/machines/skylake.machine \
	tlbgrind/machines/skymont.machine \
	tlbgrind/machines/taishan-v110.machine \
	tlbgrind/machines/tigerlake.machine \
	tlbgrind/machines/tremont.machine \
	tlbgrind/machines/u54.machine \
	tlbgrind/machines/u74.machine \
	tlbgrind/machines/ultrasparc-ii.machine \
	tlbgrind/machines/ultrasparc-iii.machine \
	tlbgrind/machines/ultrasparc-iv-plus.machine \
	tlbgrind/machines/ultrasparc-t1.machine \
	tlbgrind/machines/ultrasparc-t2.machine \
	tlbgrind/machines/x280.machine \
	tlbgrind/machines/xiangshan.machine \
	tlbgrind/machines/zen1.machine \
	tlbgrind/machines/zen2.machine \
	tlbgrind/machines/zen3.machine \
	tlbgrind/machines/zen4.machine \
	tlbgrind/machines/zen5.machine \
	tlbgrind/machines/zx-e.machine

# Their texts as a C file, part of the simulator wherever it is compiled.
MACHINES_C = tlbgrind/machines.c
CLEANFILES += $(MACHINES_C)
EXTRA_DIST += $(MACHINE_FILES) tlbgrind/machines.awk

$(MACHINES_C): tlbgrind/machines.awk $(MACHINE_FILES) Makefile
	$(AM_V_GEN)$(MKDIR_P) tlbgrind && rm -f $@ $@.tmp && \
	$(AWK) -f $(srcdir)/tlbgrind/machines.awk $(MACHINE_FILES:%=$(srcdir)/%) >$@.tmp && \
	mv -f $@.tmp $@

SIM_CPPFLAGS = -I$(srcdir)/tlbgrind
# Freestanding, or gcc makes a call of strlen out of a loop that counts characters.
SIM_CFLAGS = -std=c11 -ffreestanding $(TG_TIMES_CFLAGS) $(TG_WARN_CFLAGS)
# The only doubles of simulator and tool are times in sim/tlb/times2.h, which are neither NaN nor
# negative: so that GCC takes the one instruction for the larger of two.
TG_TIMES_CFLAGS = -ffinite-math-only -fno-signed-zeros

# The library's binary interface, CURRENT:REVISION:AGE of libtool.  With each release: a change of
# code alone adds 1 to REVISION; functions that are new add 1 to CURRENT and AGE; what goes or
# differs (a function, a structure of a public header) adds 1 to CURRENT and sets AGE to 0.
TLBSIM_INTERFACE = 0:0:0

lib_LTLIBRARIES += tlbgrind/libtlbsim.la
tlbgrind_libtlbsim_la_SOURCES = $(SIM_SOURCES) $(SIM_INCLUDES)
nodist_tlbgrind_libtlbsim_la_SOURCES = $(MACHINES_C)
tlbgrind_libtlbsim_la_CPPFLAGS = $(SIM_CPPFLAGS)
# Hidden is what no public header declares: sim/base/api.h.
tlbgrind_libtlbsim_la_CFLAGS = $(SIM_CFLAGS) -fvisibility=hidden
tlbgrind_libtlbsim_la_LDFLAGS = -no-undefined -version-info $(TLBSIM_INTERFACE)

pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = tlbgrind/tlbsim.pc

# ---------------------------------------------------------------- the Valgrind tool

# For programs under the tool: client requests.
requestsdir = $(includedir)/tlbgrind
requests_HEADERS = tlbgrind/tlbgrind.h

TOOL_SOURCES = \
	tlbgrind/arch/prefetch_bytes.c \
	tlbgrind/arch/state_call.c \
	tlbgrind/arch/syscall_names.c \
	tlbgrind/attribution/code_files.c \
	tlbgrind/attribution/code_names.c \
	tlbgrind/attribution/debug_lines.c \
	tlbgrind/attribution/dwarf_units.c \
	tlbgrind/attribution/events.c \
	tlbgrind/attribution/jitdump.c \
	tlbgrind/attribution/line_program.c \
	tlbgrind/attribution/line_reader.c \
	tlbgrind/attribution/lines.c \
	tlbgrind/attribution/made_code.c \
	tlbgrind/attribution/perf_map.c \
	tlbgrind/attribution/sites.c \
	tlbgrind/attribution/unnamed.c \
	tlbgrind/base/allocator.c \
	tlbgrind/base/build_id.c \
	tlbgrind/base/devices.c \
	tlbgrind/base/elf_file.c \
	tlbgrind/base/file.c \
	tlbgrind/base/number_format.c \
	tlbgrind/base/fed_process.c \
	tlbgrind/base/own_process.c \
	tlbgrind/base/packed_file.c \
	tlbgrind/base/path.c \
	tlbgrind/base/search_path.c \
	tlbgrind/base/shell_name.c \
	tlbgrind/base/proc_file.c \
	tlbgrind/base/program.c \
	tlbgrind/base/program_text.c \
	tlbgrind/base/shown.c \
	tlbgrind/base/streams.c \
	tlbgrind/calls/arcs.c \
	tlbgrind/calls/call_stack.c \
	tlbgrind/calls/collection.c \
	tlbgrind/data/blocks.c \
	tlbgrind/data/named.c \
	tlbgrind/data/objects.c \
	tlbgrind/data/places.c \
	tlbgrind/data/ranges.c \
	tlbgrind/data/records.c \
	tlbgrind/data/references.c \
	tlbgrind/data/row_blocks.c \
	tlbgrind/data/strides.c \
	tlbgrind/data/words.c \
	tlbgrind/engine/as_cachegrind.c \
	tlbgrind/engine/batch.c \
	tlbgrind/engine/check.c \
	tlbgrind/engine/clones.c \
	tlbgrind/engine/copy_turns.c \
	tlbgrind/engine/fast_path.c \
	tlbgrind/engine/interrupted.c \
	tlbgrind/engine/program_prefetches.c \
	tlbgrind/engine/jobs.c \
	tlbgrind/engine/record_filters.c \
	tlbgrind/engine/record_uses.c \
	tlbgrind/engine/recorded.c \
	tlbgrind/engine/recording.c \
	tlbgrind/engine/replay.c \
	tlbgrind/engine/segment_miss.c \
	tlbgrind/engine/setup.c \
	tlbgrind/engine/several_misses.c \
	tlbgrind/engine/shared_context.c \
	tlbgrind/engine/thread_cores.c \
	tlbgrind/engine/translate.c \
	tlbgrind/faults/flushes.c \
	tlbgrind/faults/interruptions.c \
	tlbgrind/faults/kinds.c \
	tlbgrind/faults/log.c \
	tlbgrind/faults/page_use.c \
	tlbgrind/faults/payload.c \
	tlbgrind/faults/recorder.c \
	tlbgrind/faults/touches.c \
	tlbgrind/native/break_room.c \
	tlbgrind/native/exec_image.c \
	tlbgrind/native/mapped_files.c \
	tlbgrind/native/maps.c \
	tlbgrind/native/mmap_calls.c \
	tlbgrind/native/mmap_wishes.c \
	tlbgrind/native/mremap_calls.c \
	tlbgrind/native/native.c \
	tlbgrind/native/placement.c \
	tlbgrind/native/running_on_valgrind.c \
	tlbgrind/native/self_exec.c \
	tlbgrind/native/start.c \
	tlbgrind/native/vdso_stub.c \
	tlbgrind/options/advice.c \
	tlbgrind/options/array_options.c \
	tlbgrind/options/command_line.c \
	tlbgrind/options/conflicts.c \
	tlbgrind/options/cost_options.c \
	tlbgrind/options/exec.c \
	tlbgrind/options/fault_options.c \
	tlbgrind/options/features.c \
	tlbgrind/options/given.c \
	tlbgrind/options/host.c \
	tlbgrind/options/implied.c \
	tlbgrind/options/kernel_options.c \
	tlbgrind/options/kernel_policy.c \
	tlbgrind/options/lists.c \
	tlbgrind/options/machine_args.c \
	tlbgrind/options/machine_builder.c \
	tlbgrind/options/machine_names.c \
	tlbgrind/options/machines.c \
	tlbgrind/options/mapping_pages.c \
	tlbgrind/options/mistyped.c \
	tlbgrind/options/option_table.c \
	tlbgrind/options/output_names.c \
	tlbgrind/options/page_options.c \
	tlbgrind/options/record_options.c \
	tlbgrind/options/refuse.c \
	tlbgrind/options/region_options.c \
	tlbgrind/options/rule_check.c \
	tlbgrind/options/run_machines.c \
	tlbgrind/options/text_options.c \
	tlbgrind/options/thp.c \
	tlbgrind/options/usage.c \
	tlbgrind/options/vex_settings.c \
	tlbgrind/order/code_entries.c \
	tlbgrind/order/data_uses.c \
	tlbgrind/output/advice_same.c \
	tlbgrind/output/answer.c \
	tlbgrind/output/code_use.c \
	tlbgrind/output/copy_table.c \
	tlbgrind/output/costs_file.c \
	tlbgrind/output/data_file.c \
	tlbgrind/output/machine_table.c \
	tlbgrind/output/mapping_rows.c \
	tlbgrind/output/miss_cost.c \
	tlbgrind/output/part_rows.c \
	tlbgrind/output/phases.c \
	tlbgrind/output/positions.c \
	tlbgrind/output/reach_file.c \
	tlbgrind/output/recorded_lines.c \
	tlbgrind/output/shares.c \
	tlbgrind/output/summary.c \
	tlbgrind/output/sums.c \
	tlbgrind/output/threads.c \
	tlbgrind/output/timeline.c \
	tlbgrind/space/aspace.c \
	tlbgrind/space/aspace_calls.c \
	tlbgrind/space/aspace_trace.c \
	tlbgrind/space/forks.c \
	tlbgrind/space/huge_files.c \
	tlbgrind/space/hugetlb.c \
	tlbgrind/space/merged_code.c \
	tlbgrind/tool/address_limit.c \
	tlbgrind/tool/addresses.c \
	tlbgrind/tool/call_code.c \
	tlbgrind/tool/exec_calls.c \
	tlbgrind/tool/instrument.c \
	tlbgrind/tool/main.c \
	tlbgrind/tool/monitor.c \
	tlbgrind/tool/name_files.c \
	tlbgrind/tool/outputs.c \
	tlbgrind/tool/prefetch_code.c \
	tlbgrind/tool/progress.c \
	tlbgrind/tool/region.c \
	tlbgrind/tool/sample_code.c \
	tlbgrind/tool/sandbox.c \
	tlbgrind/tool/unmatched.c \
	tlbgrind/tool/valgrind_here.c \
	tlbgrind/trace/copy_counts.c \
	tlbgrind/trace/instrumentation.c \
	tlbgrind/trace/missed_segments.c \
	tlbgrind/trace/run_mmus.c \
	tlbgrind/trace/sampling.c \
	tlbgrind/trace/segment_run.c \
	tlbgrind/trace/superblocks.c

TOOL_INCLUDES = \
	tlbgrind/arch/arch.h \
	tlbgrind/arch/prefetch_bytes.h \
	tlbgrind/arch/state_call.h \
	tlbgrind/arch/syscall_names.h \
	tlbgrind/attribution/code_files.h \
	tlbgrind/attribution/code_names.h \
	tlbgrind/attribution/debug_lines.h \
	tlbgrind/attribution/dwarf_bytes.h \
	tlbgrind/attribution/dwarf_units.h \
	tlbgrind/attribution/events.h \
	tlbgrind/attribution/jitdump.h \
	tlbgrind/attribution/line_program.h \
	tlbgrind/attribution/line_reader.h \
	tlbgrind/attribution/lines.h \
	tlbgrind/attribution/made_code.h \
	tlbgrind/attribution/out_words.h \
	tlbgrind/attribution/perf_map.h \
	tlbgrind/attribution/sites.h \
	tlbgrind/attribution/unnamed.h \
	tlbgrind/base/allocator.h \
	tlbgrind/base/build_id.h \
	tlbgrind/base/devices.h \
	tlbgrind/base/elf_file.h \
	tlbgrind/base/file.h \
	tlbgrind/base/number_format.h \
	tlbgrind/base/fed_process.h \
	tlbgrind/base/own_process.h \
	tlbgrind/base/packed_file.h \
	tlbgrind/base/path.h \
	tlbgrind/base/search_path.h \
	tlbgrind/base/shell_name.h \
	tlbgrind/base/proc_file.h \
	tlbgrind/base/program.h \
	tlbgrind/base/program_text.h \
	tlbgrind/base/registers.h \
	tlbgrind/base/shown.h \
	tlbgrind/base/streams.h \
	tlbgrind/base/valgrind_versions.h \
	tlbgrind/calls/arcs.h \
	tlbgrind/calls/call_stack.h \
	tlbgrind/calls/collection.h \
	tlbgrind/data/blocks.h \
	tlbgrind/data/named.h \
	tlbgrind/data/objects.h \
	tlbgrind/data/places.h \
	tlbgrind/data/ranges.h \
	tlbgrind/data/records.h \
	tlbgrind/data/references.h \
	tlbgrind/data/row_blocks.h \
	tlbgrind/data/strides.h \
	tlbgrind/data/words.h \
	tlbgrind/engine/as_cachegrind.h \
	tlbgrind/engine/batch.h \
	tlbgrind/engine/check.h \
	tlbgrind/engine/clones.h \
	tlbgrind/engine/copy_turns.h \
	tlbgrind/engine/fast_path.h \
	tlbgrind/engine/interrupted.h \
	tlbgrind/engine/look_up.h \
	tlbgrind/engine/program_prefetches.h \
	tlbgrind/engine/jobs.h \
	tlbgrind/engine/record_filters.h \
	tlbgrind/engine/record_uses.h \
	tlbgrind/engine/recorded.h \
	tlbgrind/engine/recording.h \
	tlbgrind/engine/replay.h \
	tlbgrind/engine/segment_miss.h \
	tlbgrind/engine/setup.h \
	tlbgrind/engine/several_misses.h \
	tlbgrind/engine/shared_context.h \
	tlbgrind/engine/thread_cores.h \
	tlbgrind/engine/translate.h \
	tlbgrind/faults/flushes.h \
	tlbgrind/faults/interruptions.h \
	tlbgrind/faults/kinds.h \
	tlbgrind/faults/log.h \
	tlbgrind/faults/page_use.h \
	tlbgrind/faults/payload.h \
	tlbgrind/faults/recorder.h \
	tlbgrind/faults/touches.h \
	tlbgrind/native/break_room.h \
	tlbgrind/native/exec_image.h \
	tlbgrind/native/mapped_files.h \
	tlbgrind/native/maps.h \
	tlbgrind/native/mmap_calls.h \
	tlbgrind/native/mmap_wishes.h \
	tlbgrind/native/mremap_calls.h \
	tlbgrind/native/native.h \
	tlbgrind/native/placement.h \
	tlbgrind/native/running_on_valgrind.h \
	tlbgrind/native/self_exec.h \
	tlbgrind/native/start.h \
	tlbgrind/native/vdso_stub.h \
	tlbgrind/options/advice.h \
	tlbgrind/options/array_options.h \
	tlbgrind/options/command_line.h \
	tlbgrind/options/conflicts.h \
	tlbgrind/options/cost_options.h \
	tlbgrind/options/exec.h \
	tlbgrind/options/fault_options.h \
	tlbgrind/options/features.h \
	tlbgrind/options/given.h \
	tlbgrind/options/host.h \
	tlbgrind/options/implied.h \
	tlbgrind/options/kernel_options.h \
	tlbgrind/options/kernel_policy.h \
	tlbgrind/options/lists.h \
	tlbgrind/options/machine_args.h \
	tlbgrind/options/machine_builder.h \
	tlbgrind/options/machine_names.h \
	tlbgrind/options/machines.h \
	tlbgrind/options/mapping_pages.h \
	tlbgrind/options/mistyped.h \
	tlbgrind/options/option_table.h \
	tlbgrind/options/options.h \
	tlbgrind/options/output_names.h \
	tlbgrind/options/page_options.h \
	tlbgrind/options/record_options.h \
	tlbgrind/options/refuse.h \
	tlbgrind/options/region_options.h \
	tlbgrind/options/rule_check.h \
	tlbgrind/options/run_machines.h \
	tlbgrind/options/text_options.h \
	tlbgrind/options/thp.h \
	tlbgrind/options/usage.h \
	tlbgrind/options/vex_settings.h \
	tlbgrind/order/code_entries.h \
	tlbgrind/order/data_uses.h \
	tlbgrind/output/advice_same.h \
	tlbgrind/output/answer.h \
	tlbgrind/output/code_use.h \
	tlbgrind/output/copy_table.h \
	tlbgrind/output/costs_file.h \
	tlbgrind/output/data_file.h \
	tlbgrind/output/machine_table.h \
	tlbgrind/output/mapping_rows.h \
	tlbgrind/output/miss_cost.h \
	tlbgrind/output/part_rows.h \
	tlbgrind/output/phases.h \
	tlbgrind/output/positions.h \
	tlbgrind/output/reach_file.h \
	tlbgrind/output/recorded_lines.h \
	tlbgrind/output/results.h \
	tlbgrind/output/shares.h \
	tlbgrind/output/summary.h \
	tlbgrind/output/sums.h \
	tlbgrind/output/threads.h \
	tlbgrind/output/timeline.h \
	tlbgrind/space/aspace.h \
	tlbgrind/space/aspace_parts.h \
	tlbgrind/space/aspace_trace.h \
	tlbgrind/space/forks.h \
	tlbgrind/space/huge_files.h \
	tlbgrind/space/hugetlb.h \
	tlbgrind/space/merged_code.h \
	tlbgrind/tool/address_limit.h \
	tlbgrind/tool/addresses.h \
	tlbgrind/tool/call_code.h \
	tlbgrind/tool/exec_calls.h \
	tlbgrind/tool/instrument.h \
	tlbgrind/tool/monitor.h \
	tlbgrind/tool/name_files.h \
	tlbgrind/tool/outputs.h \
	tlbgrind/tool/prefetch_code.h \
	tlbgrind/tool/progress.h \
	tlbgrind/tool/region.h \
	tlbgrind/tool/sample_code.h \
	tlbgrind/tool/sandbox.h \
	tlbgrind/tool/unmatched.h \
	tlbgrind/tool/valgrind_here.h \
	tlbgrind/trace/copy_counts.h \
	tlbgrind/trace/instrumentation.h \
	tlbgrind/trace/missed_segments.h \
	tlbgrind/trace/run_mmus.h \
	tlbgrind/trace/sampling.h \
	tlbgrind/trace/segment_pages.h \
	tlbgrind/trace/segment_run.h \
	tlbgrind/trace/shadow_area.h \
	tlbgrind/trace/superblocks.h

TOOL_CPPFLAGS = $(SIM_CPPFLAGS) -isystem $(VALGRIND_INCLUDEDIR) \
	-DTG_VERSION='"$(PACKAGE_VERSION)"' -DVGO_linux=1
TOOL_CFLAGS = $(TG_TIMES_CFLAGS) $(TG_WARN_CFLAGS) -O2 -g -fomit-frame-pointer

# Flags that the tool needs, whatever the user's CFLAGS are: it is a static, freestanding program at
# a fixed address without libc, so there is no __stack_chk_fail, no __memcpy_chk, no sanitizer or
# profiling runtime, no position-independent code.  Configure alone decides on link-time
# optimization.  automake puts the user's CFLAGS last on the command line; GNU make's
# target-specific `override' adds ours after them, even after those of `make CFLAGS=...'.
# Options that no other option reverts are filtered out: the profilers (gprof, gcov).
TOOL_UNFIT_CFLAGS = -p -pg -coverage --coverage -fprofile-arcs -ftest-coverage -fprofile-generate%
TOOL_LAST_CFLAGS = \
	-U_FORTIFY_SOURCE -fno-stack-protector -fno-strict-aliasing -fno-builtin -fno-pic -fno-pie \
	$(TG_LTO_CFLAGS) -fno-sanitize=all -fno-instrument-functions

# The user's LDFLAGS (relro, pie) are for hosted programs: the tool is linked without them.
TOOL_LINK = $(CC) -O2 -static -nodefaultlibs -nostartfiles -u _start -no-pie $(TG_LTO_CFLAGS)

# For each architecture its file, the compiler's flags, and Valgrind's archives. A machine builds one
# of the 64-bit tools; the processors of amd64 run the 32-bit one of x86, too.
TOOLS =

if HAVE_AMD64
TOOLS += tlbgrind/tlbgrind-amd64-linux
pkglibexec_PROGRAMS += tlbgrind/tlbgrind-amd64-linux
tlbgrind_tlbgrind_amd64_linux_SOURCES = tlbgrind/arch/amd64.c $(TOOL_SOURCES) $(SIM_SOURCES)
nodist_tlbgrind_tlbgrind_amd64_linux_SOURCES = $(MACHINES_C)
tlbgrind_tlbgrind_amd64_linux_CPPFLAGS = $(TOOL_CPPFLAGS) \
	-DVGA_amd64=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1
tlbgrind_tlbgrind_amd64_linux_CFLAGS = $(TOOL_CFLAGS)
tlbgrind_tlbgrind_amd64_linux_LINK = $(TOOL_LINK) -m64 \
	-Wl,-Ttext-segment=$(TG_LOAD_ADDRESS) -o $@
tlbgrind_tlbgrind_amd64_linux_LDADD = \
	$(VALGRIND_LIBDIR)/libcoregrind-amd64-linux.a $(VALGRIND_LIBDIR)/libvex-amd64-linux.a \
	-lgcc $(VALGRIND_LIBDIR)/libgcc-sup-amd64-linux.a
$(tlbgrind_tlbgrind_amd64_linux_OBJECTS): override CFLAGS := $(filter-out $(TOOL_UNFIT_CFLAGS),$(CFLAGS)) -m64 $(TOOL_LAST_CFLAGS)
endif

if HAVE_X86
TOOLS += tlbgrind/tlbgrind-x86-linux
pkglibexec_PROGRAMS += tlbgrind/tlbgrind-x86-linux
tlbgrind_tlbgrind_x86_linux_SOURCES = tlbgrind/arch/x86.c $(TOOL_SOURCES) $(SIM_SOURCES)
nodist_tlbgrind_tlbgrind_x86_linux_SOURCES = $(MACHINES_C)
tlbgrind_tlbgrind_x86_linux_CPPFLAGS = $(TOOL_CPPFLAGS) \
	-DVGA_x86=1 -DVGP_x86_linux=1 -DVGPV_x86_linux_vanilla=1
tlbgrind_tlbgrind_x86_linux_CFLAGS = $(TOOL_CFLAGS)
tlbgrind_tlbgrind_x86_linux_LINK = $(TOOL_LINK) -m32 \
	-Wl,-Ttext-segment=$(TG_LOAD_ADDRESS_X86) -o $@
tlbgrind_tlbgrind_x86_linux_LDADD = \
	$(VALGRIND_LIBDIR)/libcoregrind-x86-linux.a $(VALGRIND_LIBDIR)/libvex-x86-linux.a \
	-lgcc $(VALGRIND_LIBDIR)/libgcc-sup-x86-linux.a
# SSE2 for the speed of sim/tlb/times2.h: the 32-bit tool runs on 64-bit processors, which have it.
# Not the x87, whose stack is the program's.
$(tlbgrind_tlbgrind_x86_linux_OBJECTS): override CFLAGS := $(filter-out $(TOOL_UNFIT_CFLAGS),$(CFLAGS)) -m32 -msse2 -mfpmath=sse -mpreferred-stack-boundary=2 $(TOOL_LAST_CFLAGS)
endif

if HAVE_ARM64
TOOLS += tlbgrind/tlbgrind-arm64-linux
pkglibexec_PROGRAMS += tlbgrind/tlbgrind-arm64-linux
tlbgrind_tlbgrind_arm64_linux_SOURCES = tlbgrind/arch/arm64.c tlbgrind/arch/generic.c $(TOOL_SOURCES) $(SIM_SOURCES)
nodist_tlbgrind_tlbgrind_arm64_linux_SOURCES = $(MACHINES_C)
tlbgrind_tlbgrind_arm64_linux_CPPFLAGS = $(TOOL_CPPFLAGS) \
	-DVGA_arm64=1 -DVGP_arm64_linux=1 -DVGPV_arm64_linux_vanilla=1
tlbgrind_tlbgrind_arm64_linux_CFLAGS = $(TOOL_CFLAGS)
tlbgrind_tlbgrind_arm64_linux_LINK = $(TOOL_LINK) \
	-Wl,-Ttext-segment=$(TG_LOAD_ADDRESS) -o $@
tlbgrind_tlbgrind_arm64_linux_LDADD = \
	$(VALGRIND_LIBDIR)/libcoregrind-arm64-linux.a $(VALGRIND_LIBDIR)/libvex-arm64-linux.a \
	-lgcc $(VALGRIND_LIBDIR)/libgcc-sup-arm64-linux.a
$(tlbgrind_tlbgrind_arm64_linux_OBJECTS): override CFLAGS := $(filter-out $(TOOL_UNFIT_CFLAGS),$(CFLAGS)) $(TOOL_LAST_CFLAGS)
endif

if HAVE_PPC64LE
TOOLS += tlbgrind/tlbgrind-ppc64le-linux
pkglibexec_PROGRAMS += tlbgrind/tlbgrind-ppc64le-linux
tlbgrind_tlbgrind_ppc64le_linux_SOURCES = tlbgrind/arch/ppc64le.c tlbgrind/arch/generic.c $(TOOL_SOURCES) $(SIM_SOURCES)
nodist_tlbgrind_tlbgrind_ppc64le_linux_SOURCES = $(MACHINES_C)
tlbgrind_tlbgrind_ppc64le_linux_CPPFLAGS = $(TOOL_CPPFLAGS) \
	-DVGA_ppc64le=1 -DVGP_ppc64le_linux=1 -DVGPV_ppc64le_linux_vanilla=1
tlbgrind_tlbgrind_ppc64le_linux_CFLAGS = $(TOOL_CFLAGS)
tlbgrind_tlbgrind_ppc64le_linux_LINK = $(TOOL_LINK) \
	-Wl,-Ttext-segment=$(TG_LOAD_ADDRESS) -o $@
tlbgrind_tlbgrind_ppc64le_linux_LDADD = \
	$(VALGRIND_LIBDIR)/libcoregrind-ppc64le-linux.a $(VALGRIND_LIBDIR)/libvex-ppc64le-linux.a \
	-lgcc $(VALGRIND_LIBDIR)/libgcc-sup-ppc64le-linux.a
$(tlbgrind_tlbgrind_ppc64le_linux_OBJECTS): override CFLAGS := $(filter-out $(TOOL_UNFIT_CFLAGS),$(CFLAGS)) $(TOOL_LAST_CFLAGS)
endif

if HAVE_RISCV64
TOOLS += tlbgrind/tlbgrind-riscv64-linux
pkglibexec_PROGRAMS += tlbgrind/tlbgrind-riscv64-linux
tlbgrind_tlbgrind_riscv64_linux_SOURCES = tlbgrind/arch/riscv64.c tlbgrind/arch/generic.c $(TOOL_SOURCES) $(SIM_SOURCES)
nodist_tlbgrind_tlbgrind_riscv64_linux_SOURCES = $(MACHINES_C)
tlbgrind_tlbgrind_riscv64_linux_CPPFLAGS = $(TOOL_CPPFLAGS) \
	-DVGA_riscv64=1 -DVGP_riscv64_linux=1 -DVGPV_riscv64_linux_vanilla=1
tlbgrind_tlbgrind_riscv64_linux_CFLAGS = $(TOOL_CFLAGS)
tlbgrind_tlbgrind_riscv64_linux_LINK = $(TOOL_LINK) \
	-Wl,-Ttext-segment=$(TG_LOAD_ADDRESS) -o $@
tlbgrind_tlbgrind_riscv64_linux_LDADD = \
	$(VALGRIND_LIBDIR)/libcoregrind-riscv64-linux.a $(VALGRIND_LIBDIR)/libvex-riscv64-linux.a \
	-lgcc $(VALGRIND_LIBDIR)/libgcc-sup-riscv64-linux.a
$(tlbgrind_tlbgrind_riscv64_linux_OBJECTS): override CFLAGS := $(filter-out $(TOOL_UNFIT_CFLAGS),$(CFLAGS)) $(TOOL_LAST_CFLAGS)
endif

EXTRA_DIST += $(TOOL_INCLUDES)

# After an upgrade Valgrind's files may be of another version than at the last configure, and none of
# them is newer than our objects: a package keeps its dates. Objects of one version linked with
# archives of another misbehave without a word. So each make looks, and a new version's file makes
# all objects anew.
TG_VERSION_FILE = tlbgrind/valgrind-$(VALGRIND_VERSION).version
TG_VERSIONS_HERE := $(shell \
	$(SED) -n 's/^.define VERSION "\(.*\)".*/\1/p' "$(VALGRIND_INCLUDEDIR)/config.h" 2>/dev/null; \
	for archive in $(TOOLS:tlbgrind/tlbgrind-%="$(VALGRIND_LIBDIR)/libcoregrind-%.a"); do \
	  $(GREP) -a -o -m 1 'valgrind-[0-9][0-9A-Za-z.]*' "$$archive" 2>/dev/null | \
	    $(SED) -n '1s/^valgrind-//p'; \
	done)
TG_OTHER_VERSION := $(firstword $(filter-out $(VALGRIND_VERSION),$(TG_VERSIONS_HERE)))
CLEANFILES += tlbgrind/valgrind-*.version
.PHONY: other-version
$(TG_VERSION_FILE): $(if $(TG_OTHER_VERSION),other-version)
	@$(MKDIR_P) tlbgrind && rm -f tlbgrind/valgrind-*.version && echo "$(VALGRIND_VERSION)" >$@
other-version:
	@echo "configured for Valgrind $(VALGRIND_VERSION), this is $(TG_OTHER_VERSION): build again:" \
	  "./config.status --recheck && make" >&2; exit 1
$(tlbgrind_tlbgrind_amd64_linux_OBJECTS) $(tlbgrind_tlbgrind_x86_linux_OBJECTS) \
$(tlbgrind_tlbgrind_arm64_linux_OBJECTS) $(tlbgrind_tlbgrind_ppc64le_linux_OBJECTS) \
$(tlbgrind_tlbgrind_riscv64_linux_OBJECTS): $(TG_VERSION_FILE)


# The architectures' files, of which a build takes those of its tools.
ARCH_FILES = \
	tlbgrind/arch/amd64.c \
	tlbgrind/arch/arm64.c \
	tlbgrind/arch/generic.c \
	tlbgrind/arch/ppc64le.c \
	tlbgrind/arch/riscv64.c \
	tlbgrind/arch/x86.c
EXTRA_DIST += $(ARCH_FILES)

# ---------------------------------------------------------------- tool folders
# Valgrind takes its tool and all that belongs to it (preload libraries, suppressions, register
# descriptions) from the one folder that VALGRIND_LIB names.  So that folder has our tool and
# symbolic links to all files of the system's folder: in the build tree in .in_place, installed
# in $(pkglibexecdir).

all-local: .in_place/stamp

.in_place/stamp: $(top_builddir)/config.status Makefile
	$(AM_V_GEN)rm -rf .in_place && $(MKDIR_P) .in_place && \
	for f in $(VALGRIND_LIBEXECDIR)/*; do \
	  case $$f in */tlbgrind-*-linux) ;; *) $(LN_S) "$$f" .in_place/ || exit 1 ;; esac; \
	done && \
	for t in $(TOOLS) tlbgrind/tg_simulate; do $(LN_S) ../$$t .in_place/ || exit 1; done && \
	touch $@

TOOL_INSTALL_HOOKS = install-tool-links
TOOL_UNINSTALL_HOOKS = uninstall-tool-links
CLEAN_HOOKS = clean-in-place

install-tool-links: install-pkglibexecPROGRAMS
	@echo " linking $(VALGRIND_LIBEXECDIR)/* into '$(DESTDIR)$(pkglibexecdir)'"
	@for f in $(VALGRIND_LIBEXECDIR)/*; do \
	  n=`basename "$$f"`; \
	  case $$n in tlbgrind-*-linux) continue ;; esac; \
	  rm -f "$(DESTDIR)$(pkglibexecdir)/$$n" && \
	  $(LN_S) "$$f" "$(DESTDIR)$(pkglibexecdir)/$$n" || exit 1; \
	done
	@to=`printf '%s\n' "$(pkglibexecdir)" "$(bindir)" | $(AWK) -f $(srcdir)/tlbgrind/relative.awk` && \
	rm -f "$(DESTDIR)$(pkglibexecdir)/tg_simulate" && \
	$(LN_S) "$$to/tg_simulate" "$(DESTDIR)$(pkglibexecdir)/tg_simulate"

# Removes only links into the system's folder and that of --jobs=, so that no other file is removed
# with them.
uninstall-tool-links:
	@echo " removing the links in '$(DESTDIR)$(pkglibexecdir)'"
	@for f in "$(DESTDIR)$(pkglibexecdir)"/*; do \
	  if test -h "$$f"; then \
	    case `readlink "$$f"` in $(VALGRIND_LIBEXECDIR)/* | ../*/tg_simulate) rm -f "$$f" ;; esac; \
	  fi; \
	done
	@rm -rf "$(DESTDIR)$(tgreportdir)/__pycache__" "$(DESTDIR)$(tgreportdir)"/*/__pycache__
	@for d in "$(pkglibexecdir)" $(REPORT_FOLDERS:%="$(tgreportdir)/%") "$(tgreportdir)" \
	    "$(pkgdatadir)/python" "$(pkgdatadir)" $(SIM_FOLDERS:%="$(tlbsimdir)/sim/%") \
	    "$(tlbsimdir)/sim" "$(tlbsimdir)" "$(requestsdir)" "$(exampledir)" "$(docdir)"; do \
	  if test -d "$(DESTDIR)$$d"; then rmdir "$(DESTDIR)$$d" 2>/dev/null || :; fi; \
	done

clean-in-place:
	rm -rf .in_place

# On request: into Valgrind's own folder, so that plain `valgrind --tool=tlbgrind' finds it.
.PHONY: install-into-valgrind uninstall-from-valgrind
install-into-valgrind: $(TOOLS)
	$(MKDIR_P) "$(DESTDIR)$(VALGRIND_LIBEXECDIR)"
	for t in $(TOOLS); do \
	  $(INSTALL_PROGRAM) $$t "$(DESTDIR)$(VALGRIND_LIBEXECDIR)/" || exit 1; \
	done

uninstall-from-valgrind:
	rm -f $(TOOLS:tlbgrind/%="$(DESTDIR)$(VALGRIND_LIBEXECDIR)"/%)

# On request: the tool as a folder of Valgrind's own source tree, which builds it with its other tools.
# Of the architectures amd64 and x86 alone: arm64 was not tried there.
INTREE_FILES = \
	intree/tl-manual.xml \
	intree/tests/Makefile.am \
	intree/tests/everything.post.exp \
	intree/tests/everything.stderr.exp \
	intree/tests/everything.vgtest \
	intree/tests/filter_stderr \
	intree/tests/pages.c \
	intree/tests/pages.post.exp \
	intree/tests/pages.stderr.exp \
	intree/tests/pages.vgtest \
	intree/tests/show_misses \
	intree/tests/slow.post.exp \
	intree/tests/slow.stderr.exp \
	intree/tests/slow.vgtest
EXTRA_DIST += intree/lay-out $(INTREE_FILES)

.PHONY: valgrind-tree
valgrind-tree: $(MACHINES_C)
	@sh $(srcdir)/intree/lay-out "$(DIR)" "$(PACKAGE_VERSION)" "$(abs_top_srcdir)" $(MACHINES_C) \
	  $(ARCH_FILES) $(TOOL_SOURCES) $(TOOL_INCLUDES) $(requests_HEADERS) \
	  $(SIM_SOURCES) $(SIM_INCLUDES) $(tlbsim_HEADERS) \
	  $(simbase_HEADERS) $(simmachine_HEADERS) $(simtlb_HEADERS) $(simpages_HEADERS) \
	  $(simfaults_HEADERS) $(simmmu_HEADERS)

# ---------------------------------------------------------------- the machine command
# Lists and prints machines; the launcher starts it. It has the simulator inside, so that an
# installed tree may be moved.

pkglibexec_PROGRAMS += tlbgrind/tlbgrind-machine
tlbgrind_tlbgrind_machine_SOURCES = \
	tlbgrind/command/bar.c \
	tlbgrind/command/bar.h \
	tlbgrind/command/load_machine.c \
	tlbgrind/command/load_machine.h \
	tlbgrind/command/machine_command.c \
	tlbgrind/command/whole_file.c \
	tlbgrind/command/whole_file.h
tlbgrind_tlbgrind_machine_CPPFLAGS = $(SIM_CPPFLAGS) -D_POSIX_C_SOURCE=200809L
tlbgrind_tlbgrind_machine_CFLAGS = -std=c11 $(TG_WARN_CFLAGS)
tlbgrind_tlbgrind_machine_LDFLAGS = -static-libtool-libs
tlbgrind_tlbgrind_machine_LDADD = tlbgrind/libtlbsim.la

# ---------------------------------------------------------------- the look at debug information
# The launcher starts it before Valgrind.

pkglibexec_PROGRAMS += tlbgrind/tlbgrind-debug-info
tlbgrind_tlbgrind_debug_info_SOURCES = tlbgrind/command/debug_info.c
tlbgrind_tlbgrind_debug_info_CPPFLAGS = -I$(srcdir)/tlbgrind -D_POSIX_C_SOURCE=200809L
tlbgrind_tlbgrind_debug_info_CFLAGS = -std=c11 $(TG_WARN_CFLAGS)
tlbgrind_tlbgrind_debug_info_LDADD =

# ---------------------------------------------------------------- curves read
# What tg_measure reads out of its curves: hosted C11, without I/O, so that unit tests link it.
# A program that does needs -lm, too.

MEASURE_SOURCES = \
	tlbgrind/measure/against.c \
	tlbgrind/measure/caches.c \
	tlbgrind/measure/conflicts.c \
	tlbgrind/measure/curves_csv.c \
	tlbgrind/measure/excess.c \
	tlbgrind/measure/facts.c \
	tlbgrind/measure/figure.c \
	tlbgrind/measure/levels.c \
	tlbgrind/measure/machine_arrays.c \
	tlbgrind/measure/machine_levels.c \
	tlbgrind/measure/machine_walk.c \
	tlbgrind/measure/overlap.c \
	tlbgrind/measure/pieces.c \
	tlbgrind/measure/read_facts.c \
	tlbgrind/measure/replacement.c \
	tlbgrind/measure/sets.c \
	tlbgrind/measure/shapes.c \
	tlbgrind/measure/shares.c \
	tlbgrind/measure/steps.c \
	tlbgrind/measure/to_machine.c \
	tlbgrind/measure/walk_cost.c \
	tlbgrind/measure/which.c

MEASURE_INCLUDES = \
	tlbgrind/measure/curve.h \
	tlbgrind/measure/curves_csv.h \
	tlbgrind/measure/excess.h \
	tlbgrind/measure/facts.h \
	tlbgrind/measure/figure.h \
	tlbgrind/measure/machine_levels.h \
	tlbgrind/measure/overflow.h \
	tlbgrind/measure/shapes.h \
	tlbgrind/measure/steps.h \
	tlbgrind/measure/to_machine_parts.h

noinst_LIBRARIES = tlbgrind/libmeasure.a
tlbgrind_libmeasure_a_SOURCES = $(MEASURE_SOURCES) $(MEASURE_INCLUDES)
# Its objects are named as those of programs, for tests/run-floors.
tlbgrind_libmeasure_a_SHORTNAME = tlbgrind_measure
tlbgrind_libmeasure_a_CPPFLAGS = $(SIM_CPPFLAGS)
tlbgrind_libmeasure_a_CFLAGS = -std=c11 $(TG_WARN_CFLAGS)

# ---------------------------------------------------------------- tg_measure
# Measures the machine at hand, without Valgrind. `make tg_measure-static` builds one file that can be
# copied to another machine; tests/run-cross builds it for other architectures.

PROBE_SOURCES = \
	tlbgrind/command/bar.c \
	tlbgrind/command/bar.h \
	tlbgrind/command/close_option.c \
	tlbgrind/command/svg.c \
	tlbgrind/command/svg.h \
	tlbgrind/command/whole_file.c \
	tlbgrind/command/whole_file.h \
	tlbgrind/measure/chase.c \
	tlbgrind/measure/clock.c \
	tlbgrind/measure/code.c \
	tlbgrind/measure/home.c \
	tlbgrind/measure/main.c \
	tlbgrind/measure/memory.c \
	tlbgrind/measure/options.c \
	tlbgrind/measure/order.c \
	tlbgrind/measure/picture.c \
	tlbgrind/measure/places.c \
	tlbgrind/measure/plan.c \
	tlbgrind/measure/report.c \
	tlbgrind/measure/surroundings.c \
	tlbgrind/measure/system_caches.c

PROBE_INCLUDES = \
	tlbgrind/measure/chase.h \
	tlbgrind/measure/clock.h \
	tlbgrind/measure/code.h \
	tlbgrind/measure/home.h \
	tlbgrind/measure/memory.h \
	tlbgrind/measure/options.h \
	tlbgrind/measure/order.h \
	tlbgrind/measure/picture.h \
	tlbgrind/measure/places.h \
	tlbgrind/measure/plan.h \
	tlbgrind/measure/report.h \
	tlbgrind/measure/shapes.h \
	tlbgrind/measure/surroundings.h \
	tlbgrind/measure/system_caches.h

bin_PROGRAMS += tlbgrind/tg_measure
tlbgrind_tg_measure_SOURCES = $(PROBE_SOURCES) $(PROBE_INCLUDES)
tlbgrind_tg_measure_SHORTNAME = tlbgrind_measure
tlbgrind_tg_measure_CPPFLAGS = $(SIM_CPPFLAGS) -DTG_VERSION='"$(PACKAGE_VERSION)"'
tlbgrind_tg_measure_CFLAGS = -std=c11 $(TG_WARN_CFLAGS)
tlbgrind_tg_measure_LDFLAGS = -static-libtool-libs
tlbgrind_tg_measure_LDADD = tlbgrind/libmeasure.a tlbgrind/libtlbsim.la -lm

# ---------------------------------------------------------------- tg_simulate
# Simulates machines from a recording, without Valgrind.

SIMULATE_SOURCES = \
	tlbgrind/attribution/events.c \
	tlbgrind/command/bar.c \
	tlbgrind/command/bar.h \
	tlbgrind/command/close_option.c \
	tlbgrind/command/close_option.h \
	tlbgrind/command/load_machine.c \
	tlbgrind/command/svg.c \
	tlbgrind/command/svg.h \
	tlbgrind/command/whole_file.c \
	tlbgrind/command/whole_file.h \
	tlbgrind/simulate/advice.c \
	tlbgrind/simulate/bytes.c \
	tlbgrind/simulate/call_costs.c \
	tlbgrind/simulate/chosen_part.c \
	tlbgrind/simulate/costs.c \
	tlbgrind/simulate/data_file.c \
	tlbgrind/simulate/input_champsim.c \
	tlbgrind/simulate/input_drmemtrace.c \
	tlbgrind/simulate/input_lackey.c \
	tlbgrind/simulate/heat_map.c \
	tlbgrind/simulate/machines.c \
	tlbgrind/simulate/main.c \
	tlbgrind/simulate/maps.c \
	tlbgrind/simulate/merge.c \
	tlbgrind/simulate/options.c \
	tlbgrind/simulate/out_file.c \
	tlbgrind/simulate/out_text.c \
	tlbgrind/simulate/pages.c \
	tlbgrind/simulate/parts.c \
	tlbgrind/simulate/phase_texts.c \
	tlbgrind/simulate/processes.c \
	tlbgrind/simulate/progress.c \
	tlbgrind/simulate/physical.c \
	tlbgrind/simulate/reach_curve.c \
	tlbgrind/simulate/recording.c \
	tlbgrind/simulate/replay.c \
	tlbgrind/simulate/replay_counts.c \
	tlbgrind/simulate/replay_flushes.c \
	tlbgrind/simulate/replay_groups.c \
	tlbgrind/simulate/run.c \
	tlbgrind/simulate/share.c \
	tlbgrind/simulate/simulation.c \
	tlbgrind/simulate/table.c \
	tlbgrind/simulate/trace.c \
	tlbgrind/simulate/trace_files.c \
	tlbgrind/simulate/trace_formats.c \
	tlbgrind/simulate/trace_run.c \
	tlbgrind/simulate/unpacked.c

SIMULATE_INCLUDES = \
	tlbgrind/simulate/advice.h \
	tlbgrind/simulate/bytes.h \
	tlbgrind/simulate/call_costs.h \
	tlbgrind/simulate/chosen_part.h \
	tlbgrind/simulate/costs.h \
	tlbgrind/simulate/data_file.h \
	tlbgrind/simulate/heat_map.h \
	tlbgrind/simulate/machines.h \
	tlbgrind/simulate/maps.h \
	tlbgrind/simulate/merge.h \
	tlbgrind/simulate/options.h \
	tlbgrind/simulate/out_file.h \
	tlbgrind/simulate/out_text.h \
	tlbgrind/simulate/pages.h \
	tlbgrind/simulate/part_choice.h \
	tlbgrind/simulate/parts.h \
	tlbgrind/simulate/phase_texts.h \
	tlbgrind/simulate/processes.h \
	tlbgrind/simulate/progress.h \
	tlbgrind/simulate/physical.h \
	tlbgrind/simulate/reach_curve.h \
	tlbgrind/simulate/recording.h \
	tlbgrind/simulate/replay.h \
	tlbgrind/simulate/replay_parts.h \
	tlbgrind/simulate/run.h \
	tlbgrind/simulate/share.h \
	tlbgrind/simulate/simulation.h \
	tlbgrind/simulate/table.h \
	tlbgrind/simulate/trace.h \
	tlbgrind/simulate/trace_files.h \
	tlbgrind/simulate/trace_formats.h \
	tlbgrind/simulate/trace_run.h \
	tlbgrind/simulate/unpacked.h

bin_PROGRAMS += tlbgrind/tg_simulate
tlbgrind_tg_simulate_SOURCES = $(SIMULATE_SOURCES) $(SIMULATE_INCLUDES)
tlbgrind_tg_simulate_SHORTNAME = tlbgrind_simulate
tlbgrind_tg_simulate_CPPFLAGS = $(SIM_CPPFLAGS) -D_POSIX_C_SOURCE=200809L \
	-DTG_VERSION='"$(PACKAGE_VERSION)"'
tlbgrind_tg_simulate_CFLAGS = -std=c11 $(TG_WARN_CFLAGS)
tlbgrind_tg_simulate_LDFLAGS = -static-libtool-libs
tlbgrind_tg_simulate_LDADD = tlbgrind/libtlbsim.la

EXTRA_PROGRAMS += tlbgrind/tg_measure-static
CLEANFILES += tlbgrind/tg_measure-static
tlbgrind_tg_measure_static_SOURCES = $(tlbgrind_tg_measure_SOURCES)
tlbgrind_tg_measure_static_CPPFLAGS = $(tlbgrind_tg_measure_CPPFLAGS)
tlbgrind_tg_measure_static_CFLAGS = $(tlbgrind_tg_measure_CFLAGS)
tlbgrind_tg_measure_static_LDFLAGS = -all-static
tlbgrind_tg_measure_static_LDADD = $(tlbgrind_tg_measure_LDADD)

.PHONY: tg_measure-static
tg_measure-static: tlbgrind/tg_measure-static

# ---------------------------------------------------------------- the launcher
# It finds the tool's folder relative to itself, so that an installed tree may be moved.

bin_SCRIPTS += tlbgrind/tlbgrind
EXTRA_DIST += tlbgrind/relative.awk tlbgrind/tlbgrind.in
CLEANFILES += tlbgrind/tlbgrind

tlbgrind/tlbgrind: tlbgrind/tlbgrind.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tlbgrind && rm -f $@ $@.tmp && \
	up=`printf '%s\n' "$(bindir)" "$(pkglibexecdir)" | $(AWK) -f $(srcdir)/tlbgrind/relative.awk` && \
	$(SED) -e 's|@VERSION[@]|$(PACKAGE_VERSION)|g' -e 's|@VALGRIND[@]|$(VALGRIND)|g' \
	  -e 's|@VALGRIND_VERSION[@]|$(VALGRIND_VERSION)|g' -e 's|@TG_ARCH[@]|$(TG_ARCH)|g' \
	  -e 's|@pkglibexecdir[@]|$(pkglibexecdir)|g' -e "s|@relative[@]|$$up|g" \
	  $(srcdir)/tlbgrind/tlbgrind.in >$@.tmp && \
	chmod a+x-w $@.tmp && mv -f $@.tmp $@

# ---------------------------------------------------------------- completion
# Where bash-completion and zsh look, below the same prefix. bash-completion loads a file of the
# command's name.

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = tlbgrind/completion/tlbgrind.bash
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = tlbgrind/completion/_tlbgrind

COMPLETED = tlbgrind tg_measure tg_simulate $(notdir $(COMPANIONS))
TOOL_INSTALL_HOOKS += install-completion
TOOL_UNINSTALL_HOOKS += uninstall-completion

install-completion: install-dist_bashcompletionDATA
	@for c in $(COMPLETED); do \
	  rm -f "$(DESTDIR)$(bashcompletiondir)/$$c" && \
	  $(LN_S) tlbgrind.bash "$(DESTDIR)$(bashcompletiondir)/$$c" || exit 1; \
	done

uninstall-completion:
	@for c in $(COMPLETED); do rm -f "$(DESTDIR)$(bashcompletiondir)/$$c"; done

# ---------------------------------------------------------------- companions
# The companions find their package beside themselves in the source tree; installed, it is in
# $(pkgdatadir)/python.

COMPANIONS = \
	tlbgrind/tg_annotate \
	tlbgrind/tg_faults \
	tlbgrind/tg_native \
	tlbgrind/tg_order \
	tlbgrind/tg_report

REPORT_MODULES = \
	tlbgrind/tgreport/__init__.py \
	tlbgrind/tgreport/_version.py \
	tlbgrind/tgreport/annotate/__init__.py \
	tlbgrind/tgreport/annotate/advice.py \
	tlbgrind/tgreport/annotate/advicetext.py \
	tlbgrind/tgreport/annotate/annotate.py \
	tlbgrind/tgreport/annotate/assembly.py \
	tlbgrind/tgreport/annotate/beside.py \
	tlbgrind/tgreport/annotate/by_data.py \
	tlbgrind/tgreport/annotate/callgraph.py \
	tlbgrind/tgreport/annotate/calltables.py \
	tlbgrind/tgreport/annotate/calltext.py \
	tlbgrind/tgreport/annotate/calltree.py \
	tlbgrind/tgreport/annotate/cli.py \
	tlbgrind/tgreport/annotate/compare.py \
	tlbgrind/tgreport/annotate/convert.py \
	tlbgrind/tgreport/annotate/events.py \
	tlbgrind/tgreport/annotate/export.py \
	tlbgrind/tgreport/annotate/facts.py \
	tlbgrind/tgreport/annotate/firefox.py \
	tlbgrind/tgreport/annotate/inlined.py \
	tlbgrind/tgreport/annotate/libraries.py \
	tlbgrind/tgreport/annotate/library_files.py \
	tlbgrind/tgreport/annotate/librarytext.py \
	tlbgrind/tgreport/annotate/limits.py \
	tlbgrind/tgreport/annotate/linkage.py \
	tlbgrind/tgreport/annotate/linker.py \
	tlbgrind/tgreport/annotate/linktext.py \
	tlbgrind/tgreport/annotate/linkways.py \
	tlbgrind/tgreport/annotate/listing.py \
	tlbgrind/tgreport/annotate/mappings.py \
	tlbgrind/tgreport/annotate/markdown.py \
	tlbgrind/tgreport/annotate/members.py \
	tlbgrind/tgreport/annotate/options.py \
	tlbgrind/tgreport/annotate/plt.py \
	tlbgrind/tgreport/annotate/pprof.py \
	tlbgrind/tgreport/annotate/profile.py \
	tlbgrind/tgreport/annotate/remedies.py \
	tlbgrind/tgreport/annotate/report.py \
	tlbgrind/tgreport/annotate/rows.py \
	tlbgrind/tgreport/annotate/selection.py \
	tlbgrind/tgreport/annotate/sources.py \
	tlbgrind/tgreport/annotate/stacks.py \
	tlbgrind/tgreport/annotate/table.py \
	tlbgrind/tgreport/annotate/verdict.py \
	tlbgrind/tgreport/base/__init__.py \
	tlbgrind/tgreport/base/closest.py \
	tlbgrind/tgreport/base/command.py \
	tlbgrind/tgreport/base/demangle.py \
	tlbgrind/tgreport/base/documents.py \
	tlbgrind/tgreport/base/errors.py \
	tlbgrind/tgreport/base/functions.py \
	tlbgrind/tgreport/base/inlining.py \
	tlbgrind/tgreport/base/names.py \
	tlbgrind/tgreport/base/progress.py \
	tlbgrind/tgreport/base/terminal.py \
	tlbgrind/tgreport/base/text.py \
	tlbgrind/tgreport/base/tool.py \
	tlbgrind/tgreport/base/whole_file.py \
	tlbgrind/tgreport/faults/__init__.py \
	tlbgrind/tgreport/faults/cli.py \
	tlbgrind/tgreport/faults/export.py \
	tlbgrind/tgreport/faults/faultlist.py \
	tlbgrind/tgreport/faults/faultrows.py \
	tlbgrind/tgreport/faults/faultstacks.py \
	tlbgrind/tgreport/faults/faulttables.py \
	tlbgrind/tgreport/faults/faultused.py \
	tlbgrind/tgreport/faults/native.py \
	tlbgrind/tgreport/faults/pagecache.py \
	tlbgrind/tgreport/faults/readahead.py \
	tlbgrind/tgreport/faults/replay.py \
	tlbgrind/tgreport/faults/whatif.py \
tlbgrind/tgreport/faults/whatif_code.py \
	tlbgrind/tgreport/faults/whatif_data.py \
	tlbgrind/tgreport/faults/whatif_folios.py \
	tlbgrind/tgreport/faults/whatif_heap.py \
	tlbgrind/tgreport/faults/whatif_huge_text.py \
	tlbgrind/tgreport/faults/whatif_link.py \
	tlbgrind/tgreport/faults/whatif_locale.py \
	tlbgrind/tgreport/faults/whatif_merged.py \
	tlbgrind/tgreport/faults/whatif_now.py \
	tlbgrind/tgreport/faults/whatif_order.py \
	tlbgrind/tgreport/faults/whatif_populate.py \
	tlbgrind/tgreport/faults/whatif_relinked.py \
	tlbgrind/tgreport/faults/whatif_standin.py \
	tlbgrind/tgreport/faults/whatif_static.py \
	tlbgrind/tgreport/faults/whatif_trial.py \
	tlbgrind/tgreport/faults/whatiftext.py \
	tlbgrind/tgreport/formats/__init__.py \
	tlbgrind/tgreport/formats/archive.py \
	tlbgrind/tgreport/formats/cost.py \
	tlbgrind/tgreport/formats/datafile.py \
	tlbgrind/tgreport/formats/debugfile.py \
	tlbgrind/tgreport/formats/dwarf.py \
	tlbgrind/tgreport/formats/dynamic.py \
	tlbgrind/tgreport/formats/elf.py \
	tlbgrind/tgreport/formats/entries.py \
	tlbgrind/tgreport/formats/fault.py \
	tlbgrind/tgreport/formats/faultlog.py \
	tlbgrind/tgreport/formats/kinds.py \
	tlbgrind/tgreport/formats/outfile.py \
	tlbgrind/tgreport/formats/mappings.py \
	tlbgrind/tgreport/formats/reach.py \
	tlbgrind/tgreport/formats/reader.py \
	tlbgrind/tgreport/formats/share.py \
	tlbgrind/tgreport/formats/timeline.py \
	tlbgrind/tgreport/formats/verdicts.py \
	tlbgrind/tgreport/native/__init__.py \
	tlbgrind/tgreport/native/cli.py \
	tlbgrind/tgreport/native/measure.py \
	tlbgrind/tgreport/native/pairing.py \
	tlbgrind/tgreport/native/perfevents.py \
	tlbgrind/tgreport/native/recording.py \
	tlbgrind/tgreport/native/surroundings.py \
	tlbgrind/tgreport/native/tables.py \
	tlbgrind/tgreport/order/__init__.py \
	tlbgrind/tgreport/order/check.py \
	tlbgrind/tgreport/order/cli.py \
	tlbgrind/tgreport/order/cold.py \
	tlbgrind/tgreport/order/datacheck.py \
	tlbgrind/tgreport/order/dataforecast.py \
	tlbgrind/tgreport/order/datatables.py \
	tlbgrind/tgreport/order/dialects.py \
	tlbgrind/tgreport/order/forecast.py \
	tlbgrind/tgreport/order/gains.py \
	tlbgrind/tgreport/order/ld_script.py \
	tlbgrind/tgreport/order/objects.py \
	tlbgrind/tgreport/order/options.py \
	tlbgrind/tgreport/order/stale.py \
	tlbgrind/tgreport/order/verdict.py \
	tlbgrind/tgreport/order/work.py \
	tlbgrind/tgreport/places/__init__.py \
	tlbgrind/tgreport/places/archived.py \
	tlbgrind/tgreport/places/datafaults.py \
	tlbgrind/tgreport/places/dataorder.py \
	tlbgrind/tgreport/places/datapages.py \
	tlbgrind/tgreport/places/layout.py \
	tlbgrind/tgreport/places/order.py \
	tlbgrind/tgreport/places/sections.py \
	tlbgrind/tgreport/places/trace.py \
	tlbgrind/tgreport/report/__init__.py \
	tlbgrind/tgreport/report/advised.py \
	tlbgrind/tgreport/report/calls.py \
	tlbgrind/tgreport/report/cli.py \
	tlbgrind/tgreport/report/columns.py \
	tlbgrind/tgreport/report/costs.py \
	tlbgrind/tgreport/report/data.py \
	tlbgrind/tgreport/report/faults.py \
	tlbgrind/tgreport/report/inputs.py \
	tlbgrind/tgreport/report/mapped.py \
	tlbgrind/tgreport/report/others.py \
	tlbgrind/tgreport/report/page.py \
	tlbgrind/tgreport/report/rows.py \
	tlbgrind/tgreport/report/run.py \
	tlbgrind/tgreport/report/verdicts.py

# What tg_report's pages are made of, beside the modules.
REPORT_ASSETS = \
	tlbgrind/tgreport/report/answer.js \
	tlbgrind/tgreport/report/choice.js \
	tlbgrind/tgreport/report/costs.js \
	tlbgrind/tgreport/report/faults.js \
	tlbgrind/tgreport/report/flame.js \
	tlbgrind/tgreport/report/machines.js \
	tlbgrind/tgreport/report/others.js \
	tlbgrind/tgreport/report/parts.js \
	tlbgrind/tgreport/report/plots.js \
	tlbgrind/tgreport/report/report.css \
	tlbgrind/tgreport/report/report.html \
	tlbgrind/tgreport/report/report.js \
	tlbgrind/tgreport/report/tables.js \
	tlbgrind/tgreport/report/timeline.js

dist_bin_SCRIPTS = $(COMPANIONS)

# Each folder of the package is installed as a folder, by two lines here.
REPORT_FOLDERS = annotate base faults formats native order places report
report_folder = $(filter tlbgrind/tgreport/$(1)/%,$(REPORT_MODULES))
tgreportdir = $(pkgdatadir)/python/tgreport
tgreport_annotatedir = $(tgreportdir)/annotate
tgreport_basedir = $(tgreportdir)/base
tgreport_faultsdir = $(tgreportdir)/faults
tgreport_formatsdir = $(tgreportdir)/formats
tgreport_nativedir = $(tgreportdir)/native
tgreport_orderdir = $(tgreportdir)/order
tgreport_placesdir = $(tgreportdir)/places
tgreport_reportdir = $(tgreportdir)/report
dist_tgreport_DATA = $(filter-out $(REPORT_FOLDERS:%=tlbgrind/tgreport/%/%),$(REPORT_MODULES))
dist_tgreport_annotate_DATA = $(call report_folder,annotate)
dist_tgreport_base_DATA = $(call report_folder,base)
dist_tgreport_faults_DATA = $(call report_folder,faults)
dist_tgreport_formats_DATA = $(call report_folder,formats)
dist_tgreport_native_DATA = $(call report_folder,native)
dist_tgreport_order_DATA = $(call report_folder,order)
dist_tgreport_places_DATA = $(call report_folder,places)
dist_tgreport_report_DATA = $(call report_folder,report) $(REPORT_ASSETS)
