# tests/local.mk -- everything that `make check' and `make lint' do.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
#
# Every test speaks TAP: unit tests through cmocka, pytest files through tests/tg_tap.py, shell
# scripts by themselves.  `make check TESTS=tests/tool/test_x.py' runs one file.

# ---------------------------------------------------------------- what is tested with what

# tests/unit/NAME.c: one group of cmocka tests, linked with the sanitized simulator.  (Not two
# groups, and no skip(): cmocka's TAP is wrong for both.)
UNIT_TESTS = \
	tests/unit/test_array \
	tests/unit/test_bar \
	tests/unit/test_cost \
	tests/unit/test_cpuid \
	tests/unit/test_cpuid_aida \
	tests/unit/test_cpuid_dump \
	tests/unit/test_cpuinfo \
	tests/unit/test_faultmodel \
	tests/unit/test_faultmodel_model \
	tests/unit/test_geometry \
	tests/unit/test_hierarchy \
	tests/unit/test_kernel_rules \
	tests/unit/test_known_arrays \
	tests/unit/test_lru_stack \
	tests/unit/test_layout \
	tests/unit/test_machine_file \
	tests/unit/test_host_here \
	tests/unit/test_machine_input \
	tests/unit/test_machines \
	tests/unit/test_mappings \
	tests/unit/test_measure_facts \
	tests/unit/test_measure_levels \
	tests/unit/test_measure_public \
	tests/unit/test_measure_sets \
	tests/unit/test_measured_costs \
	tests/unit/test_mmus \
	tests/unit/test_override \
	tests/unit/test_pagemap \
	tests/unit/test_pagemap_model \
	tests/unit/test_pagerules \
	tests/unit/test_prefetch \
	tests/unit/test_reach \
	tests/unit/test_recording \
	tests/unit/test_late_uses \
	tests/unit/test_lazy_lru \
	tests/unit/test_short_cuts \
	tests/unit/test_base_pages \
	tests/unit/test_spaces \
	tests/unit/test_table_caches \
	tests/unit/test_text \
	tests/unit/test_walk \
	tests/unit/test_warm_folios

# tests/clients/NAME.c: programs for the tool to run.  A client that needs flags of its own has
# CLIENT_FLAGS_NAME (in the place of CLIENT_FLAGS) or CLIENT_LINK_FLAGS_NAME (added).
CLIENTS = \
	aspace_walk \
	fault_asked_places \
	fault_bss \
	fault_cold \
	fault_cpuid \
	fault_drawn \
	fault_entry \
	fault_fixed \
	fault_forks \
	fault_heap \
	fault_hello \
	fault_hints \
	fault_mechanisms \
	fault_padding \
	fault_places \
	fault_request \
	fault_stacks \
	fault_static \
	fault_static_break \
	fault_threads \
	fault_used \
	fault_vdso \
	native_layout \
	oracle_part \
	oracle_refs \
	oracle_walk \
	pages_change \
	pages_use \
	run_calls \
	run_cleaned \
	run_code \
	run_conditions \
	run_cores \
	run_data \
	run_debugged \
	run_exec \
	run_flushes \
	run_forbidden \
	run_forks \
	run_in_turn \
	run_interrupted \
	run_jit \
	run_mappings \
	run_names \
	run_offsets \
	run_prefetch \
	run_process \
	run_region \
	run_self \
	run_signals \
	run_tables \
	run_small \
	run_strides \
	run_threads \
	run_timeline \
	verdict_reads

# Position-independent, as compilers make programs today.
CLIENT_FLAGS_fault_bss = -g -O1 -fPIE
CLIENT_LINK_FLAGS_fault_bss = -pie
CLIENT_FLAGS_fault_entry = -g -O1 -fPIE
CLIENT_LINK_FLAGS_fault_entry = -pie
CLIENT_FLAGS_fault_hello = -g -O1 -fPIE
CLIENT_LINK_FLAGS_fault_hello = -pie
CLIENT_FLAGS_run_names = $(CLIENT_FLAGS) -I$(srcdir)/tlbgrind
CLIENT_FLAGS_run_offsets = $(CLIENT_FLAGS) -I$(srcdir)/tlbgrind
CLIENT_FLAGS_run_region = $(CLIENT_FLAGS) -I$(srcdir)/tlbgrind
CLIENT_FLAGS_run_timeline = $(CLIENT_FLAGS) -I$(srcdir)/tlbgrind
CLIENT_LINK_FLAGS_fault_static = -static
CLIENT_FLAGS_fault_static_break = -g -O1 -fPIE
CLIENT_LINK_FLAGS_fault_static_break = -static-pie
CLIENT_LINK_FLAGS_fault_threads = -pthread
CLIENT_LINK_FLAGS_fault_used = -pthread
CLIENT_LINK_FLAGS_run_calls = -pthread
CLIENT_LINK_FLAGS_run_members = -lstdc++
CLIENT_LINK_FLAGS_run_throws = -lstdc++

# Many tests start these, which takes a third of the time if the loader need not run. What is
# otherwise in a dynamic program is tested with others.
STATIC_CLIENTS = \
	pages_change \
	run_cleaned \
	run_conditions \
	run_forks \
	run_in_turn \
	run_prefetch \
	run_process \
	run_region \
	run_signals \
	run_strides \
	run_threads \
	run_timeline

# No libc, and every page at the address in its linker script.
CLIENT_FLAGS_fault_fixed = $(CLIENT_FLAGS) -ffreestanding -fno-asynchronous-unwind-tables
CLIENT_LINK_FLAGS_fault_fixed = -nostdlib -static -Wl,--build-id=none -Wl,-z,max-page-size=4096 \
	-Wl,-z,noseparate-code -Wl,-T,$(srcdir)/tests/clients/fault_fixed.ld
tests/clients/fault_fixed: $(srcdir)/tests/clients/fault_fixed.ld
CLIENT_FLAGS_fault_padding = $(CLIENT_FLAGS_fault_fixed)
CLIENT_LINK_FLAGS_fault_padding = -nostdlib -static -Wl,--build-id=none -Wl,-z,max-page-size=4096 \
	-Wl,-z,noseparate-code -Wl,-T,$(srcdir)/tests/clients/fault_padding.ld
tests/clients/fault_padding: $(srcdir)/tests/clients/fault_padding.ld

# No libc: its source determines every reference from the first instruction on.
CLIENT_FLAGS_oracle_walk = $(CLIENT_FLAGS) -ffreestanding
CLIENT_LINK_FLAGS_oracle_walk = -nostdlib -static -Wl,-e,begin -lgcc

# The same from tests/clients/NAME.cc.
CLIENTS_CXX = \
	run_inlined \
	run_members \
	run_throws

# The same sources as 32-bit programs: NAME becomes tests/clients/NAME32.
CLIENTS32 = \
	fault_hello \
	fault_request \
	fault_used \
	aspace_walk \
	oracle_refs \
	oracle_walk \
	pages_use \
	run_code \
	run_conditions \
	run_data \
	run_debugged \
	run_exec \
	run_flushes \
	run_interrupted \
	run_jit \
	run_names \
	run_offsets \
	run_prefetch \
	run_process \
	run_calls \
	run_region \
	run_signals \
	run_strides \
	run_threads \
	run_timeline

# tests/clients/NAME.c as a shared library, tests/clients/NAME.so.
CLIENT_LIBS = \
	oracle_pins \
	run_plugin_a \
	run_plugin_b

# Shell scripts that print TAP.
SCRIPT_TESTS = \
	tests/run-cross \
	tests/run-floors \
	tests/run-fuzz \
	tests/run-install \
	tests/run-launcher \
	tests/run-library \
	tests/run-lists \
	tests/run-quickstart

# Each file is one test of automake, each test in it one result.
PYTEST_FILES = \
	tests/annotate/test_adding_up.py \
	tests/annotate/test_advice.py \
	tests/annotate/test_calls.py \
	tests/annotate/test_data_labels.py \
	tests/annotate/test_golden.py \
	tests/annotate/test_library_advice.py \
	tests/annotate/test_machine_readable.py \
	tests/annotate/test_markdown.py \
	tests/annotate/test_measure.py \
	tests/annotate/test_named_functions.py \
	tests/annotate/test_options.py \
	tests/annotate/test_profilers.py \
	tests/annotate/test_terminal.py \
	tests/annotate/test_verdicts.py \
	tests/bench/test_bench.py \
	tests/companions/test_completion.py \
	tests/companions/test_damage.py \
	tests/companions/test_hostile.py \
	tests/companions/test_progress.py \
	tests/cpuid/test_wrong_cpuid.py \
	tests/cpuid/test_inputs.py \
	tests/cpuid/test_knees.py \
	tests/cpuid/test_machine_command.py \
	tests/cpuid/test_machine_files.py \
	tests/cpuid/test_oracle.py \
	tests/cpuid/test_tool.py \
	tests/docs/test_blocks.py \
	tests/docs/test_columns.py \
	tests/docs/test_commands.py \
	tests/docs/test_links.py \
	tests/experiments/test_experiments.py \
	tests/hosts/test_hosts.py \
	tests/hosts/test_kernel.py \
	tests/hosts/test_pairs.py \
	tests/machines/test_machines.py \
	tests/faults/test_cold_pages.py \
	tests/faults/test_cold_order.py \
	tests/faults/test_cold_view.py \
	tests/faults/test_first_faults.py \
	tests/faults/test_forks.py \
	tests/faults/test_kernels.py \
	tests/faults/test_log.py \
	tests/faults/test_mechanisms.py \
	tests/faults/test_native.py \
	tests/faults/test_ordered_data.py \
	tests/faults/test_perf_lines.py \
	tests/faults/test_populate.py \
	tests/faults/test_readahead.py \
	tests/faults/test_recorded.py \
	tests/faults/test_stacks.py \
	tests/machines/test_streams.py \
	tests/faults/test_tables.py \
	tests/faults/test_tg_faults.py \
	tests/faults/test_tg_native.py \
	tests/faults/test_used.py \
	tests/faults/test_what_if.py \
	tests/mmu/test_mmus.py \
	tests/measure/test_measure.py \
	tests/model/test_properties.py \
	tests/model/test_reach.py \
	tests/model/test_thp_native.py \
	tests/model/test_walk.py \
	tests/oracle/test_any_machine.py \
	tests/oracle/test_cachegrind.py \
	tests/oracle/test_clients.py \
	tests/oracle/test_lackey.py \
	tests/oracle/test_many_machines.py \
	tests/oracle/test_reach_arrays.py \
	tests/oracle/test_jobs.py \
	tests/oracle/test_parts.py \
	tests/oracle/test_recorded_calls.py \
	tests/oracle/test_recorded_data.py \
	tests/oracle/test_recorded_kinds.py \
	tests/oracle/test_recorded_prefetches.py \
	tests/oracle/test_recording.py \
	tests/oracle/test_recorded_processes.py \
	tests/oracle/test_recordings.py \
	tests/oracle/test_sweeps.py \
	tests/oracle/test_trace_files.py \
	tests/oracle/test_traces.py \
	tests/order/test_check.py \
	tests/order/test_cold.py \
	tests/order/test_damaged_binaries.py \
	tests/order/test_data.py \
	tests/order/test_data_faults.py \
	tests/order/test_data_order.py \
	tests/order/test_forecast.py \
	tests/order/test_gains.py \
	tests/order/test_gate.py \
	tests/order/test_linkers.py \
	tests/order/test_order.py \
	tests/packaging/test_distribution.py \
	tests/packaging/test_recipes.py \
	tests/report/test_answer.py \
	tests/report/test_browser.py \
	tests/report/test_calls_time_data.py \
	tests/report/test_page.py \
	tests/report/test_reach_damage.py \
	tests/report/test_run.py \
	tests/same/test_run_same.py \
	tests/tool/test_advice.py \
	tests/tool/test_aspace.py \
	tests/tool/test_attribution.py \
	tests/tool/test_calls.py \
	tests/tool/test_calls_with_data.py \
	tests/tool/test_bad_options.py \
	tests/tool/test_conflicts.py \
	tests/tool/test_copies.py \
	tests/tool/test_cores.py \
	tests/tool/test_data.py \
	tests/tool/test_mappings.py \
	tests/tool/test_debug_check.py \
	tests/tool/test_debug_info.py \
	tests/tool/test_debugger.py \
	tests/tool/test_entries.py \
	tests/tool/test_exec.py \
	tests/tool/test_files.py \
	tests/tool/test_flushes.py \
	tests/tool/test_host.py \
	tests/tool/test_huge_pages.py \
	tests/tool/test_members.py \
	tests/tool/test_named.py \
	tests/tool/test_native.py \
	tests/tool/test_offsets.py \
	tests/tool/test_option_table.py \
	tests/tool/test_output.py \
	tests/tool/test_overrides.py \
	tests/tool/test_pages.py \
	tests/tool/test_prefetch.py \
	tests/tool/test_process.py \
	tests/tool/test_reach_output.py \
	tests/tool/test_ci.py \
	tests/tool/test_collection.py \
	tests/tool/test_implied.py \
	tests/tool/test_inlined.py \
	tests/tool/test_instructions.py \
	tests/tool/test_interruptions.py \
	tests/tool/test_jit.py \
	tests/tool/test_libraries.py \
	tests/tool/test_lines.py \
	tests/tool/test_linker.py \
	tests/tool/test_region.py \
	tests/tool/test_shared_folders.py \
	tests/tool/test_strides.py \
	tests/tool/test_summary.py \
	tests/tool/test_timeline.py \
	tests/tool/test_costs.py \
	tests/tool/test_valgrind_here.py \
	tests/tool/test_valgrind_tree.py \
	tests/tool/test_verdicts.py \
	tests/tool/test_walks.py \
	tests/valgrind/test_check_valgrind.py

# tests/fuzz/fuzz_NAME.c; tests/fuzz/fuzz.h describes how to add one.
FUZZERS = \
	tests/fuzz/fuzz_aida_dump \
	tests/fuzz/fuzz_champsim \
	tests/fuzz/fuzz_cpuid_dump \
	tests/fuzz/fuzz_cpuinfo \
	tests/fuzz/fuzz_curves \
	tests/fuzz/fuzz_debug_lines \
	tests/fuzz/fuzz_drmemtrace \
	tests/fuzz/fuzz_jitdump \
	tests/fuzz/fuzz_lackey \
	tests/fuzz/fuzz_machine_file \
	tests/fuzz/fuzz_mmus \
	tests/fuzz/fuzz_override \
	tests/fuzz/fuzz_page_rules \
	tests/fuzz/fuzz_perf_map \
	tests/fuzz/fuzz_recording \
	tests/fuzz/fuzz_v2p

# Modules for tests of any folder.
TEST_HELPERS = \
	tests/object_calls.py \
	tests/tg_companions.py \
	tests/tg_environment.py \
	tests/tg_huge.py \
	tests/tg_lacking.py \
	tests/tg_long.py \
	tests/tg_names.py \
	tests/tg_tables.py \
	tests/tg_tap.py \
	tests/tg_thp.py \
	tests/tg_written.py

# What the tests read: conftest.py, helper modules, recorded inputs and outputs.
TEST_INPUTS = \
	tests/annotate/annotate_support.py \
	tests/annotate/call_traces.py \
	tests/annotate/conftest.py \
	tests/annotate/data \
	tests/annotate/expected \
	$(BENCH_FILES) \
	$(EXPERIMENT_FILES) \
	tests/clients/run_inlined.h \
	tests/clients/run_work.h \
	tests/companions/damage_edits.py \
	tests/cpuid/cpuid_facts.py \
	tests/cpuid/cpuid_made_up.py \
	tests/cpuid/cpuid_oracle.py \
	tests/docs/docs_blocks.py \
	tests/docs/docs_not_run.py \
	tests/docs/docs_run.py \
	tests/docs/docs_support.py \
	tests/drive.h \
	tests/faults/cold_support.py \
	tests/faults/data \
	tests/fuzz/corpus \
	tests/machines/costs.py \
	tests/hosts/get-packages \
	tests/hosts/host_list.py \
	tests/hosts/hosts_support.py \
	tests/hosts/machine_image.py \
	tests/hosts/native_run.c \
	tests/hosts/pages.c \
	tests/hosts/huge.c \
	tests/hosts/pairs.py \
	tests/hosts/recursion.c \
	tests/hosts/refs.h \
	tests/hosts/refs_arm64.c \
	tests/hosts/refs_ppc64le.c \
	tests/hosts/refs_riscv64.c \
	tests/hosts/tracer.c \
	tests/machines/facts.py \
	tests/machines/naive_reader.py \
	tests/machines/walks.py \
	tests/faults/expected \
	tests/faults/faults_support.py \
	tests/faults/native-programs.txt \
	tests/faults/native_support.py \
	tests/faults/record.py \
	tests/oracle/copied_chain.c \
	tests/oracle/page_changes.c \
	tests/clients/fault_fixed.ld \
	tests/clients/fault_padding.ld \
	tests/measure/goldencove-busy.csv \
	tests/measure/goldencove.csv \
	tests/measure/zen4.csv \
	tests/measure/zen5.csv \
	tests/mmu/cases \
	tests/model/naive_machine.py \
	tests/oracle/any_machines.py \
	tests/oracle/fast_path_at_length.py \
	tests/oracle/lackey_trace.py \
	tests/oracle/naive_tlb.py \
	tests/oracle/oracle_programs.py \
	tests/oracle/oracle_random.py \
	tests/oracle/oracle_support.py \
	tests/order/conftest.py \
	tests/order/data \
	tests/order/order_support.py \
	tests/report/browser.py \
	tests/report/conftest.py \
	tests/report/data \
	tests/report/report_support.py \
	tests/tool/call_graph.py \
	tests/tool/data_support.py \
	tests/tool/tool_support.py \
	tests/unit/cpuid \
	tests/unit/cold_reads.h \
	tests/unit/cold_reads_arm64.h \
	tests/unit/cpuid_support.h \
	tests/unit/dump_support.h \
	tests/unit/faultmodel_support.h \
	tests/unit/measure_support.h \
	tests/unit/memory_support.h \
	tests/unit/pagemap_support.h \
	tests/unit/prefetch_forms.h \
	tests/unit/unit.h

# ---------------------------------------------------------------- unit tests

SAN_CPPFLAGS = $(SIM_CPPFLAGS) -I$(srcdir)/tests/unit
SAN_CFLAGS = $(TG_WARN_CFLAGS) $(TG_SAN_CFLAGS) -fno-omit-frame-pointer -g

# TLB_CHECK_EVERY: after so many references tlb_mmus_check() is called.
check_LIBRARIES += tests/libtlbsim-san.a
tests_libtlbsim_san_a_SOURCES = $(SIM_SOURCES)
nodist_tests_libtlbsim_san_a_SOURCES = $(MACHINES_C)
tests_libtlbsim_san_a_CPPFLAGS = $(SAN_CPPFLAGS) -DTLB_CHECK_EVERY=4096
tests_libtlbsim_san_a_CFLAGS = -std=c11 $(SAN_CFLAGS)

# automake takes these for every program without flags of its own: the unit tests.
AM_CPPFLAGS += $(SAN_CPPFLAGS) -DSOURCE_FOLDER='"$(abs_srcdir)"'
AM_CFLAGS += $(SAN_CFLAGS)
LDADD += tests/libtlbsim-san.a -lcmocka

# Tests of what is read out of curves.
check_LIBRARIES += tests/libmeasure-san.a
tests_libmeasure_san_a_SOURCES = $(MEASURE_SOURCES)
tests_libmeasure_san_a_CPPFLAGS = $(SAN_CPPFLAGS)
tests_libmeasure_san_a_CFLAGS = -std=c11 $(SAN_CFLAGS)
MEASURE_LDADD = tests/libmeasure-san.a $(LDADD) -lm
tests_unit_test_measure_facts_LDADD = $(MEASURE_LDADD)
tests_unit_test_measure_levels_LDADD = $(MEASURE_LDADD)
tests_unit_test_measure_public_LDADD = $(MEASURE_LDADD)
tests_unit_test_measure_sets_LDADD = $(MEASURE_LDADD)

tests_unit_test_prefetch_SOURCES = tests/unit/test_prefetch.c tlbgrind/arch/prefetch_bytes.c

# Random cases for sim/mmu, and the naive model that they are played against.
MMU_CASES = \
	tests/mmu/case_text.c \
	tests/mmu/mmu_case.c \
	tests/mmu/mmu_case.h \
	tests/mmu/naive_mmu.c \
	tests/mmu/naive_mmu.h \
	tests/mmu/random_case.c \
	tests/mmu/random_case.h \
	tests/mmu/random_machine.c

# Programs through which tests/machines, tests/mmu and tests/model use the sanitized simulator.
check_PROGRAMS += tests/machines/machinedrive
tests_machines_machinedrive_LDADD = tests/libtlbsim-san.a
check_PROGRAMS += tests/machines/streamdrive
tests_machines_streamdrive_LDADD = tests/libtlbsim-san.a
check_PROGRAMS += tests/mmu/mmudrive
tests_mmu_mmudrive_SOURCES = tests/mmu/mmudrive.c $(MMU_CASES)
tests_mmu_mmudrive_LDADD = tests/libtlbsim-san.a
check_PROGRAMS += tests/model/thpnative
tests_model_thpnative_LDADD = tests/libtlbsim-san.a
check_PROGRAMS += tests/model/simdrive
tests_model_simdrive_LDADD = tests/libtlbsim-san.a
check_PROGRAMS += tests/model/reachdrive
tests_model_reachdrive_LDADD = tests/libtlbsim-san.a
check_PROGRAMS += tests/model/walkdrive
tests_model_walkdrive_LDADD = tests/libtlbsim-san.a

if HAVE_CMOCKA
check_PROGRAMS += $(UNIT_TESTS)
endif

# ---------------------------------------------------------------- fuzzers
# The sanitized simulator again, with calls of fuzz.c at each branch, which record the coverage.
# make fuzz FUZZ_FLAGS=--seconds=3600

check_LIBRARIES += tests/libtlbsim-fuzz.a
# Beside the simulator, what else is fuzzed.
tests_libtlbsim_fuzz_a_SOURCES = \
	$(SIM_SOURCES) \
	$(MEASURE_SOURCES) \
	tlbgrind/attribution/dwarf_units.c \
	tlbgrind/attribution/jitdump.c \
	tlbgrind/attribution/line_program.c \
	tlbgrind/attribution/perf_map.c \
	tlbgrind/simulate/input_champsim.c \
	tlbgrind/simulate/input_drmemtrace.c \
	tlbgrind/simulate/input_lackey.c \
	tlbgrind/simulate/physical.c \
	tlbgrind/simulate/trace.c
nodist_tests_libtlbsim_fuzz_a_SOURCES = $(MACHINES_C)
tests_libtlbsim_fuzz_a_CPPFLAGS = $(SAN_CPPFLAGS) -DTLB_CHECK_EVERY=256
tests_libtlbsim_fuzz_a_CFLAGS = -std=c11 -O1 $(SAN_CFLAGS) $(TG_COVERAGE_CFLAGS)
# It zeroes memory byte by byte, which would be half of all branches that are recorded.
tlbgrind/sim/mmu/tests_libtlbsim_fuzz_a-mmu_memory.$(OBJEXT): TG_COVERAGE_CFLAGS =

check_DATA += $(FUZZERS)
CLEANFILES += $(FUZZERS)
EXTRA_DIST += $(FUZZERS:%=%.c) $(FUZZ_DRIVER) tests/fuzz/dump_case.c tests/fuzz/trace_case.c \
	tests/fuzz/trace_case.h
FUZZ_DRIVER = tests/fuzz/fuzz.c tests/fuzz/fuzz.h

# Sources of every fuzzer beside its own file.
FUZZ_MORE_fuzz_aida_dump = $(srcdir)/tests/fuzz/dump_case.c
FUZZ_MORE_fuzz_cpuid_dump = $(srcdir)/tests/fuzz/dump_case.c
tests/fuzz/fuzz_aida_dump tests/fuzz/fuzz_cpuid_dump: tests/fuzz/dump_case.c
FUZZ_COMMAND = \
	$(srcdir)/tlbgrind/command/bar.c \
	$(srcdir)/tlbgrind/command/load_machine.c \
	$(srcdir)/tlbgrind/command/whole_file.c
FUZZ_MORE_fuzz_recording = \
	$(FUZZ_COMMAND) \
	$(srcdir)/tlbgrind/attribution/events.c \
	$(srcdir)/tlbgrind/simulate/chosen_part.c \
	$(srcdir)/tlbgrind/simulate/bytes.c \
	$(srcdir)/tlbgrind/simulate/call_costs.c \
	$(srcdir)/tlbgrind/simulate/data_file.c \
	$(srcdir)/tlbgrind/simulate/machines.c \
	$(srcdir)/tlbgrind/simulate/out_file.c \
	$(srcdir)/tlbgrind/simulate/out_text.c \
	$(srcdir)/tlbgrind/simulate/pages.c \
	$(srcdir)/tlbgrind/simulate/parts.c \
	$(srcdir)/tlbgrind/simulate/phase_texts.c \
	$(srcdir)/tlbgrind/simulate/recording.c \
	$(srcdir)/tlbgrind/simulate/replay.c \
	$(srcdir)/tlbgrind/simulate/replay_counts.c \
	$(srcdir)/tlbgrind/simulate/replay_flushes.c \
	$(srcdir)/tlbgrind/simulate/replay_groups.c
tests/fuzz/fuzz_recording: $(FUZZ_MORE_fuzz_recording)
FUZZ_MORE_fuzz_v2p = $(FUZZ_COMMAND)
tests/fuzz/fuzz_v2p: $(FUZZ_MORE_fuzz_v2p)
TRACE_CASE = $(srcdir)/tests/fuzz/trace_case.c
FUZZ_MORE_fuzz_champsim = $(TRACE_CASE)
FUZZ_MORE_fuzz_drmemtrace = $(TRACE_CASE)
FUZZ_MORE_fuzz_lackey = $(TRACE_CASE)
tests/fuzz/fuzz_champsim tests/fuzz/fuzz_drmemtrace tests/fuzz/fuzz_lackey: $(TRACE_CASE) \
	tests/fuzz/trace_case.h
FUZZ_MORE_fuzz_mmus = $(MMU_CASES:%=$(srcdir)/%)
tests/fuzz/fuzz_mmus: $(MMU_CASES)

# The library depends on all headers that the fuzzers use.
$(FUZZERS): %: %.c $(FUZZ_DRIVER) tests/libtlbsim-fuzz.a
	$(AM_V_CCLD)$(MKDIR_P) tests/fuzz && $(COMPILE) $(LDFLAGS) -o $@ $< \
	  $(filter %.c,$(FUZZ_MORE_$(@F))) $(srcdir)/tests/fuzz/fuzz.c tests/libtlbsim-fuzz.a -lm $(LIBS)

FUZZ_FLAGS = --seconds=60
.PHONY: fuzz
fuzz: $(FUZZERS)
	@for fuzzer in $(FUZZERS); do $$fuzzer $(FUZZ_FLAGS) || exit 1; done

# ---------------------------------------------------------------- clients
# Without the user's CFLAGS: a client contains its expected counts, so it must be the same program
# everywhere; -no-pie for the same addresses under every version of Valgrind.

CLIENT_FLAGS = -g -O1 -fno-pie -fcf-protection=none -fno-stack-protector -Wall
CLIENT_LINK_FLAGS = -no-pie

CLIENT_FILES = $(CLIENTS:%=tests/clients/%) $(CLIENTS_CXX:%=tests/clients/%) $(CLIENT_LIBS:%=tests/clients/%.so)
if HAVE_X86
CLIENT_FILES += $(CLIENTS32:%=tests/clients/%32)
endif
check_DATA += $(CLIENT_FILES)
CLEANFILES += $(CLIENTS:%=tests/clients/%) $(CLIENTS_CXX:%=tests/clients/%) \
	$(CLIENTS32:%=tests/clients/%32) $(CLIENT_LIBS:%=tests/clients/%.so)
# The report of the comparison with cachegrind.
CLEANFILES += tests/oracle/cachegrind-table.txt tests/faults/native-table.txt
EXTRA_DIST += $(CLIENTS:%=tests/clients/%.c) $(CLIENTS_CXX:%=tests/clients/%.cc) \
	$(CLIENT_LIBS:%=tests/clients/%.c)

client_flags = $(if $(CLIENT_FLAGS_$(1)),$(CLIENT_FLAGS_$(1)),$(CLIENT_FLAGS))
client_libraries = $(CLIENT_LINK_FLAGS_$(1)) $(if $(filter $(1),$(STATIC_CLIENTS)),-static)
AM_V_CLIENT = $(am__v_CLIENT_@AM_V@)
am__v_CLIENT_ = $(am__v_CLIENT_@AM_DEFAULT_V@)
am__v_CLIENT_0 = @echo "  CLIENT  " $@;
am__v_CLIENT_1 =
CLIENT_BUILD = $(AM_V_CLIENT)$(MKDIR_P) tests/clients && \
	$(if $(filter %.cc,$<),$(CXX_CLIENTS),$(CC)) $(call client_flags,$(*F)) \
	-I$(srcdir)/tests/clients -idirafter $(VALGRIND_INCLUDEDIR)/..

$(CLIENT_FILES): tests/clients/run_work.h
tests/clients/run_inlined: tests/clients/run_inlined.h

$(CLIENTS:%=tests/clients/%): tests/clients/%: tests/clients/%.c
	$(CLIENT_BUILD) $(CLIENT_LINK_FLAGS) -o $@ $< $(call client_libraries,$(*F))

$(CLIENTS_CXX:%=tests/clients/%): tests/clients/%: tests/clients/%.cc
	$(CLIENT_BUILD) $(CLIENT_LINK_FLAGS) -o $@ $< $(call client_libraries,$(*F))

$(CLIENTS32:%=tests/clients/%32): tests/clients/%32: tests/clients/%.c
	$(CLIENT_BUILD) -m32 $(TG_ASM_INCLUDEDIR:%=-idirafter %) $(CLIENT_LINK_FLAGS) -o $@ $< $(call client_libraries,$(*F))

$(CLIENT_LIBS:%=tests/clients/%.so): tests/clients/%.so: tests/clients/%.c
	$(CLIENT_BUILD) -fPIC -shared -o $@ $< $(CLIENT_LINK_FLAGS_$(*F))

# ---------------------------------------------------------------- the harness

TESTS = $(UNIT_TESTS) $(SCRIPT_TESTS) $(PYTEST_FILES)
TEST_EXTENSIONS = .py
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(SHELL) $(srcdir)/tests/run-timed $(TAP_DRIVER)
PY_LOG_DRIVER = $(LOG_DRIVER)
PY_LOG_COMPILER = $(SHELL) $(srcdir)/tests/run-pytest

# Whatever the host does with transparent huge pages, the counts are the same.
AM_TESTS_ENVIRONMENT = \
	TLBGRIND='$(abs_top_builddir)/tlbgrind/tlbgrind'; export TLBGRIND; \
	TG_ANNOTATE='$(abs_top_srcdir)/tlbgrind/tg_annotate'; export TG_ANNOTATE; \
	XDG_CONFIG_HOME='$(abs_top_builddir)/tests/no-config'; export XDG_CONFIG_HOME; \
	TG_BUILDDIR='$(abs_top_builddir)'; export TG_BUILDDIR; \
	TG_SRCDIR='$(abs_top_srcdir)'; export TG_SRCDIR; \
	TG_CLIENTS='$(abs_top_builddir)/tests/clients'; export TG_CLIENTS; \
	TG_HAVE_X86='$(TG_HAVE_X86)'; export TG_HAVE_X86; \
	TG_VERSION='$(PACKAGE_VERSION)'; export TG_VERSION; \
	VALGRIND='$(VALGRIND)'; export VALGRIND; \
	VALGRIND_LIBEXECDIR='$(VALGRIND_LIBEXECDIR)'; export VALGRIND_LIBEXECDIR; \
	CC='$(CC)'; export CC; \
	TG_CXX='$(CXX_CLIENTS)'; export TG_CXX; \
	PKG_CONFIG='$(PKG_CONFIG)'; export PKG_CONFIG; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	PATH='$(TG_PYTHON_FIRST)'$$PATH; export PATH; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	LC_ALL=C.UTF-8; export LC_ALL; \
	VALGRIND_OPTS=--tlbgrind:thp=madvise; export VALGRIND_OPTS; \
	unset VALGRIND_LIB MAKEFLAGS MFLAGS MAKELEVEL;

# The quick choice: what most often finds a mistake, in under two minutes on two cores.
# `tests/run-durations BUILD' tells how long a test takes.
QUICK_TESTS = \
	$(UNIT_TESTS) \
	tests/run-floors \
	tests/run-launcher \
	tests/run-library \
	tests/run-lists \
	tests/run-quickstart \
	tests/annotate/test_advice.py \
	tests/annotate/test_golden.py \
	tests/annotate/test_machine_readable.py \
	tests/annotate/test_verdicts.py \
	tests/companions/test_completion.py \
	tests/companions/test_progress.py \
	tests/cpuid/test_inputs.py \
	tests/cpuid/test_knees.py \
	tests/cpuid/test_machine_command.py \
	tests/cpuid/test_machine_files.py \
	tests/cpuid/test_wrong_cpuid.py \
	tests/docs/test_blocks.py \
	tests/docs/test_columns.py \
	tests/docs/test_links.py \
	tests/faults/test_first_faults.py \
	tests/faults/test_perf_lines.py \
	tests/faults/test_recorded.py \
	tests/machines/test_machines.py \
	tests/measure/test_measure.py \
	tests/model/test_walk.py \
	tests/order/test_check.py \
	tests/order/test_data.py \
	tests/order/test_order.py \
	tests/report/test_calls_time_data.py \
	tests/report/test_page.py \
	tests/tool/test_attribution.py \
	tests/tool/test_costs.py \
	tests/tool/test_huge_pages.py \
	tests/tool/test_named.py \
	tests/tool/test_output.py \
	tests/tool/test_reach_output.py \
	tests/tool/test_strides.py \
	tests/tool/test_walks.py

# Without the fuzzers, which take longer to compile than all of this to run.
.PHONY: check-quick
check-quick:
	@$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(QUICK_TESTS)' check_LIBRARIES='tests/libtlbsim-san.a tests/libmeasure-san.a' \
	  check_DATA='$(CLIENT_FILES) check-prerequisites'

# A prerequisite that is missing must not look like a test that was skipped.
check_DATA += check-prerequisites
.PHONY: check-prerequisites
check-prerequisites:
	@if test -n "$(TG_CHECK_MISSING)"; then \
	  echo "make check: missing Debian packages:$(TG_CHECK_MISSING) (install them and run configure again)" >&2; \
	  exit 1; \
	fi

EXTRA_DIST += $(SCRIPT_TESTS) $(PYTEST_FILES) $(TEST_INPUTS) \
	tests/run-durations tests/run-pytest tests/run-timed tests/run-total $(TEST_HELPERS)

# The distribution is built against the same Valgrind and tested with the same Python.
AM_DISTCHECK_CONFIGURE_FLAGS = \
	--with-valgrind-includedir=$(VALGRIND_INCLUDEDIR) --with-valgrind-libdir=$(VALGRIND_LIBDIR) \
	--with-valgrind-libexecdir=$(VALGRIND_LIBEXECDIR) VALGRIND='$(VALGRIND)' PYTHON='$(PYTHON)' \
	--enable-x86=$(TG_HAVE_X86)

# ---------------------------------------------------------------- lint

LINT_FILES = $(COMPANIONS) $(REPORT_MODULES) tests/run-floors $(TEST_HELPERS)
LINT_FILES += tests/hosts/host_list.py tests/hosts/machine_image.py tests/hosts/pairs.py

lint:
	@for tool in "$(MYPY)" "$(RUFF)"; do \
	  command -v "$$tool" >/dev/null || { echo "make lint: $$tool is not installed (pip install $$tool)" >&2; exit 1; }; \
	done
	cd $(srcdir) && $(MYPY) --strict --scripts-are-modules --cache-dir=/dev/null $(LINT_FILES)
	cd $(srcdir) && $(RUFF) check --no-cache $(LINT_FILES) tests

# ---------------------------------------------------------------- bench
# docs/internals/measurements.md.  make bench BENCH_FLAGS='--quick --only ls,bzip2'

BENCH_MODULES = \
	tests/bench/bench.py \
	tests/bench/bench_compare.py \
	tests/bench/bench_programs.py \
	tests/bench/bench_report.py \
	tests/bench/large_run.py

BENCH_FILES = \
	$(BENCH_MODULES) \
	tests/bench/kernels \
	tests/bench/measure.c

LINT_FILES += $(BENCH_MODULES)
BENCH_RESULTS = bench bench-annotate bench-compare bench-full-stream bench-machines bench-policies bench-reach
CLEANFILES += $(BENCH_RESULTS:%=tests/bench/%.md) $(BENCH_RESULTS:%=tests/bench/%.json) \
	$(BENCH_RESULTS:%=tests/bench/%.png)

.PHONY: bench
bench: all
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/tests/bench/bench.py $(BENCH_FLAGS)

# ---------------------------------------------------------------- check-long
# The cases that `make check' leaves out (tests/tg_long.py); 100,000 random cases for sim/mmu, and 5,000
# with each of what else a core can have; the fast path and many machines on a thousand random
# programs and those of the bench; two hours.
# make check-long LONG_FLAGS='--programs 100 --no-bench'

LINT_FILES += tests/oracle/fast_path_at_length.py

LONG_MMU_CASES = \
	--flushes \
	--others \
	--others,--flushes \
	--cores \
	--cores,--flushes \
	--cores,--flushes,--others \
	--siblings \
	--siblings,--prefetches \
	--siblings,--flushes \
	--siblings,--flushes,--others \
	--prefetches \
	--flushes,--prefetches \
	--flushes,--others,--cores,--prefetches \
	--spaces

.PHONY: check-long
check-long: all tests/clients/oracle_part tests/clients/pages_use tests/mmu/mmudrive
	TG_LONG=yes $(MAKE) $(AM_MAKEFLAGS) check \
	  TESTS="$$(cd $(srcdir) && grep -l '^from tg_long import' tests/*/test_*.py | tr '\n' ' ')"
	tests/mmu/mmudrive --seed=1000000 --cases=100000
	@for more in $(LONG_MMU_CASES); do \
	  echo "tests/mmu/mmudrive $$more"; \
	  tests/mmu/mmudrive $$(echo $$more | tr , ' ') --seed=1000000 --cases=5000 || exit 1; \
	done
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/tests/oracle/fast_path_at_length.py $(LONG_FLAGS)

# ---------------------------------------------------------------- check-valgrind
# Valgrind's own regression programs under `none' and under the tool; an hour. Its sources come from
# Debian; they and the programs lie in valgrind-programs/ of the build folder, which stays.
# make check-valgrind VALGRIND_FLAGS='--only none/amd64'

CHECK_VALGRIND_FILES = \
	tests/valgrind/check_valgrind.py \
	tests/valgrind/valgrind_programs.py

EXTRA_DIST += $(CHECK_VALGRIND_FILES) tests/valgrind/known-differences.txt
LINT_FILES += $(CHECK_VALGRIND_FILES)

.PHONY: check-valgrind
check-valgrind: all
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/tests/valgrind/check_valgrind.py $(VALGRIND_FLAGS)

# ---------------------------------------------------------------- check-large
# Programs with very many items of one kind: pages, mappings, threads, libraries, programs; half an
# hour, and eight gigabytes for 5,000 threads at once.
# make check-large LARGE_FLAGS='--only libraries --divide 10'

LARGE_FILES = tests/large/check_large.py
EXTRA_DIST += $(LARGE_FILES) tests/large/large_items.c tests/large/large_library.c
LINT_FILES += $(LARGE_FILES)
LARGE_CLIENTS = tests/large/large_items tests/large/large_static tests/large/large_library.so
CLEANFILES += $(LARGE_CLIENTS)

tests/large/large_items: tests/large/large_items.c tests/clients/run_work.h
	$(AM_V_CC)$(MKDIR_P) tests/large && $(CC) $(CLIENT_FLAGS) $(CLIENT_LINK_FLAGS) -pthread -o $@ $(srcdir)/tests/large/large_items.c -ldl

# It starts several times as fast.
tests/large/large_static: tests/large/large_items.c tests/clients/run_work.h
	$(AM_V_CC)$(MKDIR_P) tests/large && $(CC) $(CLIENT_FLAGS) -static -DLARGE_STATIC -pthread -o $@ $(srcdir)/tests/large/large_items.c

tests/large/large_library.so: tests/large/large_library.c tests/clients/run_work.h
	$(AM_V_CC)$(MKDIR_P) tests/large && $(CC) $(CLIENT_FLAGS) -fPIC -shared -nostdlib -o $@ $(srcdir)/tests/large/large_library.c

.PHONY: check-large
check-large: all $(LARGE_CLIENTS)
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/tests/large/check_large.py $(LARGE_FLAGS)

# ---------------------------------------------------------------- two builds
# tests/run-same BUILD_A BUILD_B: do both write the same?

SAME_FILES = \
	tests/run-same \
	tests/same/same_jobs.py \
	tests/same/same_runs.py

EXTRA_DIST += $(SAME_FILES)
LINT_FILES += $(SAME_FILES)

# ---------------------------------------------------------------- experiments
# docs/internals/validation.md.  make experiments EXPERIMENT=E2,E5; experiments-long: those of minutes, too.

EXPERIMENT_MODULES = \
	tests/experiments/e10_erat.py \
	tests/experiments/e6_boundaries.py \
	tests/experiments/e7_flushes.py \
	tests/experiments/e8_prefetch.py \
	tests/experiments/e11_mechanisms.py \
	tests/experiments/e12_machines.py \
	tests/experiments/e13_order.py \
	tests/experiments/e14_huge.py \
	tests/experiments/e15_time.py \
	tests/experiments/e16_verdicts.py \
	tests/experiments/e17_what_if.py \
	tests/experiments/e1_stream.py \
	tests/experiments/e2_libraries.py \
	tests/experiments/e3_copies.py \
	tests/experiments/e4_order.py \
	tests/experiments/e5_follow.py \
	tests/experiments/e9_pages.py \
	tests/experiments/exp_faults.py \
	tests/experiments/exp_frame.py \
	tests/experiments/exp_lab.py \
	tests/experiments/exp_order.py \
	tests/experiments/exp_programs.py \
	tests/experiments/exp_relink.py \
	tests/experiments/exp_timed.py \
	tests/experiments/experiments.py

EXPERIMENT_FILES = \
	$(EXPERIMENT_MODULES) \
	tests/experiments/clients

# With the programs of the oracle, which an experiment runs too, and what perf records natively.
LINT_FILES += $(EXPERIMENT_MODULES) tests/oracle/oracle_programs.py tests/oracle/oracle_support.py
LINT_FILES += tests/faults/native_support.py
CLEANFILES += tests/experiments/E*.md tests/experiments/E*.json tests/experiments/E*.png

RUN_EXPERIMENTS = $(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/tests/experiments/experiments.py

.PHONY: experiments experiments-long
experiments: all
	@$(RUN_EXPERIMENTS) $(if $(EXPERIMENT),--only '$(EXPERIMENT)') $(EXPERIMENT_FLAGS)

experiments-long: all
	@$(RUN_EXPERIMENTS) --long $(EXPERIMENT_FLAGS)
