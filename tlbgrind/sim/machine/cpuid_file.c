/* Takes arrays from the machine file of a processor, which has what CPUID has not.

   CPUID has no words for an index by XOR, nor for a replacement policy, gives an instruction TLB
   that two threads halve as the half, and, of some processors, the ways as the firmware has them.
   What measurements and manuals have instead stands in the machine file. An array that differs in
   its entries is another processor's. */

#include "sim/base/text.h"
#include "sim/machine/builtin.h"
#include "sim/machine/cpuid_reader.h"
#include "sim/machine/machine_file.h"

/* The array of the file that CPUID's stands for; NULL: none. */
static const tlb_machine_array *counterpart(const tlb_machine *from, const tlb_machine_array *a)
{
   for (unsigned i = 0; i < from->n_arrays; i++) {
      const tlb_machine_array *const b = &from->array[i];
      if (b->level == a->level && b->users == a->users && b->g.page_sizes == a->g.page_sizes
          && !b->entries_unknown && !b->ways_unknown && !b->sizes_unknown)
         return b;
   }
   return NULL;
}

/* Whether the file's array b is what CPUID means by a. Half of the entries for code are those of
   one thread of two. */
static int is_meant(const tlb_machine_array *a, const tlb_machine_array *b)
{
   return a->g.entries == b->g.entries
          || (a->users == TLB_FETCHES && 2 * a->g.entries == b->g.entries);
}

static int differs(const tlb_geometry *a, const tlb_geometry *b)
{
   return a->entries != b->entries || a->ways != b->ways || a->index_xor != b->index_xor;
}

/* "6-way" */
static void add_ways(tlb_text *t, const tlb_geometry *g)
{
   tlb_text_add_number(t, g->entries);
   tlb_text_add(t, " entries, ");
   if (g->ways == g->entries) {
      tlb_text_add(t, "full");
      return;
   }
   tlb_text_add_number(t, g->ways);
   tlb_text_add(t, g->index_xor != 0 ? "-way by XOR" : "-way");
}

static void note(tlb_cpuid_reader *r, const tlb_machine_array *a, const tlb_machine_array *b,
                 const char *file)
{
   tlb_text t = tlb_cpuid_begin_note(r);
   tlb_text_add(&t, a->name);
   tlb_text_add(&t, ": ");
   add_ways(&t, &b->g);
   tlb_text_add(&t, ", as the machine file ");
   tlb_text_add(&t, file);
   tlb_text_add(&t, " has it; CPUID gives ");
   add_ways(&t, &a->g);
}

/* Whether no array of the processor has other entries than the file's. */
static int is_processor_of(const tlb_machine *file, const tlb_machine *m)
{
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const b = counterpart(file, &m->array[i]);
      if (b != NULL && !is_meant(&m->array[i], b))
         return 0;
   }
   return 1;
}

int tlb_cpuid_take_arrays(const char *file, tlb_cpuid_reader *r)
{
   const tlb_builtin *const builtin = tlb_builtin_machine(file);
   tlb_machine from;
   tlb_reason why;
   uint32_t line;
   if (builtin == NULL
       || !tlb_machine_parse(builtin->text, builtin->length, &from, &line, &why)
       || !is_processor_of(&from, r->m))
      return 0;
   for (unsigned i = 0; i < r->m->n_arrays; i++) {
      tlb_machine_array *const a = &r->m->array[i];
      const tlb_machine_array *const b = counterpart(&from, a);
      if (b == NULL)
         continue;
      if (differs(&a->g, &b->g)) {
         note(r, a, b, file);
         a->g = b->g;
         a->threads = b->threads;
         a->ways_unknown = 0;
         a->policy_unknown = b->policy_unknown;
      } else if (a->policy_unknown && !b->policy_unknown) {
         a->g.policy = b->g.policy;
         a->policy_unknown = 0;
      }
   }
   return 1;
}
