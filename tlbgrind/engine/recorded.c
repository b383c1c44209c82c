/* What a recording is written to. See engine/recorded.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"

#include "config.h"

#include "sim/record/late_uses.h"

#include "base/file.h"
#include "base/packed_file.h"
#include "base/shown.h"
#include "engine/jobs.h"
#include "engine/recorded.h"
#include "options/exec.h"
#include "options/record_options.h"
#include "options/refuse.h"
#include "options/thp.h"
#include "trace/segment_run.h"

static const TgOptions* run;
static const HChar* name;
static TgPackedFile* file; /* NULL: of --jobs= */
static tlb_stream_writer* stream;

/* The recording that the file goes on from, and how much of it. */
static struct {
   const HChar* name; /* NULL: the file is one from the beginning */
   ULong n_records, sum;
   UInt next_exec;
} before;

/* If the process execs, and that is followed,
   "_exec" and this number come behind the file's name. */
static UInt next_exec;

/* --- Begin --- */

static void put(void* opaque, const uint8_t* bytes, size_t n)
{
   (void)opaque;
   if (tg_jobs_on)
      tg_jobs_write(bytes, n);
   else
      tg_packed_write(file, bytes, n);
}

static void put_text(void* opaque, const HChar* text, SizeT n)
{
   put(opaque, (const UChar*)text, n);
}

/* The first version of the format whose readers can read it. */
static Int version_of(const TgOptions* o)
{
   const tlb_strength* s = &o->record->strength;
   if (o->kernel.prefetches)
      return 10;
   if (o->calls)
      return 9;
   if (o->record->code.shift != 0)
      return 8;
   if (tlb_late_lets_go(s))
      return 7;
   if (o->kernel.flushes)
      return 6;
   if (o->data)
      return 5;
   if (o->kernel.syscalls || o->kernel.switches.every > 0)
      return 4;
   return before.name != NULL || o->region.toggle_collect != NULL || tlb_strength_is_new(s) ? 3
          : s->large != 0                                                                 ? 2
                                                                                          : 1;
}

static void write_head(const TgOptions* o)
{
   TgFile* f = tg_file_to(put_text, NULL);
   tg_file_print(f, "# tlbgrind recording\nversion: %d\ncreator: tlbgrind-" TG_VERSION
                    " (Valgrind " VERSION ")\npid: %d\ncmd: ", version_of(o), VG_(getpid)());
   tg_file_command(f);
   tg_file_print(f, "\nbase page: %u\n", o->page_shift);
   if (o->record->base.shift != 0)
      tg_file_print(f, "base page of: %u %s\n", o->record->base.shift,
                    o->record->base.isa[0] == '\0' ? "all" : o->record->base.isa);
   if (o->record->strength.large != 0) {
      tg_file_print(f, "pages:");
      for (ULong rest = o->record->strength.large; rest != 0; rest &= rest - 1)
         tg_file_print(f, " %d", __builtin_ctzll(rest));
      tg_file_print(f, "\nthp: %s\n", tg_thp_name(o->pages.policy.thp));
   }
   if (o->record->code.shift != 0)
      tg_file_print(f, "code: %u %llu %s %s\n", o->record->code.shift, (ULong)o->record->code.from,
                    o->record->code.isa, o->record->code.kernel);
   if (o->kernel.flushes)
      tg_file_print(f, "flushes: yes\n");
   if (o->kernel.prefetches)
      tg_file_print(f, "prefetches: yes\n");
   if (o->kernel.switches.every > 0)
      tg_file_print(f, "switches: %llu\n", (ULong)o->kernel.switches.every);
   if (o->kernel.syscalls)
      tg_file_print(f, "system calls: %s\n", o->kernel.touches ? "kernel" : "flush");
   if (o->data)
      tg_file_print(f, "data: yes\n");
   if (o->calls)
      tg_file_print(f, "calls: yes\n");
   for (UInt i = 0; i < o->record->strength.n; i++) {
      HChar text[64];
      tlb_filter_print(&o->record->strength.filter[i], text, sizeof text);
      tg_file_print(f, "filter: %s\n", text);
   }
   if (before.name != NULL) {
      tg_file_print(f, "after: %llu %016llx ", before.n_records, before.sum);
      tg_file_text(f, before.name);
      tg_file_print(f, "\nafter exec: %u\n", before.next_exec);
   }
   tg_file_print(f, "\n");
   tg_file_close(f);
}

static void open_file(void)
{
   const HChar* why;
   name = tg_output_name(TG_RECORDING_OUT);
   file = tg_packed_open(name, &why);
   if (file == NULL)
      tg_refuse(tg_output_arg(TG_RECORDING_OUT), "%s; give a file that can be written", why);
}

void tg_recorded_open(const TgOptions* options)
{
   run = options;
   next_exec = tg_exec_count() + 1;
   if (options->jobs > 0)
      tg_jobs_begin(options);
   else
      open_file();
   stream = VG_(malloc)("tg.recorded", sizeof *stream);
   write_head(options);
   tlb_stream_begin(stream, put, NULL);
   stream->has_moves = options->calls;
}

/* --- The run --- */

/* While a segment that a fault has interrupted is simulated, all of its instructions count as
   executed, and later those that were not are taken off: what has been told is not more than what
   is told next. */
static ULong instructions_told(void)
{
   static ULong told;
   const ULong now = tg_instructions();
   told = now > told ? now : told;
   return told;
}

static void flush_block(void)
{
   tlb_stream_flush(stream, instructions_told());
}

void tg_recorded_add(tlb_record r)
{
   if (!tlb_stream_add(stream, r))
      flush_block();
}

void tg_recorded_add_uses(uint8_t what, const uint64_t* page, UInt n)
{
   for (UInt done = 0; done < n;) {
      done += tlb_stream_add_uses(stream, what, page + done, n - done);
      if (stream->n == TLB_BLOCK_RECORDS)
         flush_block();
   }
}

void tg_recorded_move(tlb_move move, ULong n)
{
   if (tlb_stream_move(stream, move, n))
      return;
   flush_block();
   tlb_stream_move(stream, move, n);
}

void tg_recorded_end_moves(void)
{
   tlb_stream_end_moves(stream);
}

void tg_recorded_mark(tlb_mark mark, const HChar* text)
{
   flush_block();
   tlb_stream_mark(stream, mark, instructions_told(), text, VG_(strlen)(text));
}

void tg_recorded_event(const tlb_map_event* e)
{
   flush_block();
   tlb_stream_event(stream, e);
}

void tg_recorded_point(tlb_point point, ULong first, ULong last)
{
   flush_block();
   tlb_stream_point(stream, point, first, last);
}

void tg_recorded_flush_point(const tlb_flush_point* f)
{
   flush_block();
   tlb_stream_flush_point(stream, f);
}

void tg_recorded_text(void* opaque, const HChar* text, SizeT n)
{
   (void)opaque;
   flush_block();
   while (n > 0) {
      const SizeT piece = n < TLB_BLOCK_TEXT ? n : TLB_BLOCK_TEXT;
      tlb_stream_text(stream, text, piece);
      text += piece;
      n -= piece;
   }
}

/* --- End --- */

static void let_go(void)
{
   VG_(free)(stream);
   stream = NULL;
   file = NULL;
}

const HChar* tg_recorded_close(void)
{
   flush_block();
   tlb_stream_end(stream);
   const HChar* failure = tg_packed_close(file);
   let_go();
   return failure;
}

static void cut_file(const HChar* why)
{
   HChar text[200];
   VG_(snprintf)(text, sizeof text, "@cut %s\n", why);
   flush_block();
   tlb_stream_text(stream, text, VG_(strlen)(text));
   const HChar* failure = tg_recorded_close();
   VG_(umsg)("warning: the recording '%s' ends after %llu instructions: %s\n", tg_shown(name),
             tg_instructions(), failure != NULL ? failure : why);
}

void tg_recorded_cut(const HChar* why)
{
   if (!tg_jobs_on) {
      cut_file(why);
      return;
   }
   tg_jobs_stop(why);
   let_go();
}

/* Records that the parent has not written yet are written twice: by both. */
static Bool fork_file(const HChar** why)
{
   const HChar* own = tg_output_name(TG_RECORDING_OUT);
   *why = NULL;
   tg_packed_forget(file);
   if (VG_(strcmp)(own, name) == 0)
      return False;
   file = tg_packed_open(own, why);
   if (file == NULL)
      return False;
   before.name = name;
   before.n_records = stream->n_records;
   before.sum = stream->sum;
   before.next_exec = next_exec;
   next_exec = 1;
   name = own;
   write_head(run);
   return True;
}

Bool tg_recorded_fork(const HChar** why)
{
   *why = NULL;
   if (tg_jobs_on)
      tg_jobs_forked();
   else if (fork_file(why))
      return True;
   let_go();
   return False;
}
