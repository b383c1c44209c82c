/* What misses cost on a processor that CPUID describes: taken from its machine file. */

#include "sim/machine/builtin.h"
#include "sim/machine/cpuid_reader.h"
#include "sim/machine/machine_file.h"

static void note_source(tlb_machine *m, const char *file)
{
   char *const source = m->walk_source;
   tlb_text t = { source + tlb_text_length(source), source + sizeof m->walk_source - 1 };
   tlb_text_add(&t, *source == '\0' ? "" : "; ");
   tlb_text_add(&t, "assumed: cycles of hits and walks as in the machine file ");
   tlb_text_add(&t, file);
}

/* The largest overlap of all arrays of the file that serve the same references on that level. */
static void take_overlap(const tlb_machine *from, tlb_machine_array *a)
{
   for (unsigned i = 0; i < from->n_arrays; i++) {
      const tlb_machine_array *const b = &from->array[i];
      if (b->level == a->level && (b->users & a->users) != 0 && b->overlap > a->overlap) {
         a->overlap = b->overlap;
         a->overlap_unknown = 1;
      }
   }
}

/* What the references of a walk cost. The window is the design's, whatever is around it. The caches
   are those of the file's processor: those at hand can have other sizes. Without the 64-bit mode
   CPUID tells no steps, so no references. */
static void take_tables(const tlb_machine *from, tlb_machine *out)
{
   out->walk_overlap = from->walk_overlap;
   out->walk_overlap_unknown = from->walk_overlap != 0;
   out->window = from->window;
   out->window_unknown = from->window_unknown;
   out->entry_bytes = from->entry_bytes;
   if (out->n_walk_steps == 0)
      return;
   out->memory = from->memory;
   out->memory.cycles_unknown = from->n_caches > 0;
   out->n_caches = from->n_caches;
   for (unsigned i = 0; i < from->n_caches; i++) {
      tlb_table_cache *const c = &out->cache[i];
      *c = from->cache[i];
      c->size_unknown = c->ways_unknown = c->share_unknown = 1;
      c->cycles_unknown = i > 0;
   }
}

/* The range of all arrays of the file that serve the same references on that level. */
static void take_hits(const tlb_machine *from, tlb_machine_array *a)
{
   uint32_t least = TLB_UNKNOWN, most = 0;
   for (unsigned i = 0; i < from->n_arrays; i++) {
      const tlb_machine_array *const b = &from->array[i];
      if (b->level != a->level || (b->users & a->users) == 0 || b->hit_cycles == TLB_UNKNOWN)
         continue;
      const uint32_t low = b->hit_cycles - b->hit_spread;
      least = low < least ? low : least;
      most = b->hit_cycles > most ? b->hit_cycles : most;
   }
   if (least == TLB_UNKNOWN)
      return;
   a->hit_cycles = most;
   a->hit_spread = most - least;
   a->hit_cycles_unknown = 1;
}

void tlb_cpuid_take_costs(const char *file, tlb_machine *out)
{
   const tlb_builtin *const b = tlb_builtin_machine(file);
   tlb_machine from;
   tlb_reason why;
   uint32_t line;
   if (b == NULL || !tlb_machine_parse(b->text, b->length, &from, &line, &why))
      return;
   for (unsigned i = 0; i < out->n_arrays; i++) {
      if (out->array[i].level > 1) {
         take_hits(&from, &out->array[i]);
         take_overlap(&from, &out->array[i]);
      }
   }
   if (from.walk_cycles == TLB_UNKNOWN)
      return;
   out->walk_cycles = from.walk_cycles;
   out->walk_spread = from.walk_spread;
   out->walk_cycles_unknown = 1;
   take_tables(&from, out);
   note_source(out, file);
}
