/* A machine in words. See description.h. */

#include "sim/machine/description.h"

#include "sim/base/text.h"
#include "sim/machine/cost.h"

enum { LINE = 256 };

/* --- Arrays --- */

static const char *users_of(const tlb_machine_array *a)
{
   switch (a->users) {
   case TLB_FETCHES: return "instruction";
   case TLB_LOADS | TLB_STORES: return "data";
   case TLB_LOADS: return "loads";
   case TLB_STORES: return "stores";
   case TLB_FETCHES | TLB_LOADS: return "instruction and loads";
   case TLB_FETCHES | TLB_STORES: return "instruction and stores";
   default: return "unified";
   }
}

void tlb_describe_arrays(const tlb_machine *m, tlb_each_line *each, void *opaque)
{
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      char line[LINE], geometry[160];
      tlb_text t = tlb_text_in(line, sizeof line);
      tlb_geometry_print(&a->g, geometry, sizeof geometry);
      tlb_text_add(&t, "level ");
      tlb_text_add_number(&t, a->level);
      tlb_text_add(&t, ", ");
      tlb_text_add(&t, users_of(a));
      tlb_text_add(&t, ", ");
      tlb_text_add(&t, geometry);
      tlb_text_add(&t, a->inclusion == TLB_INCLUSIVE   ? ", inclusive"
                       : a->inclusion == TLB_EXCLUSIVE ? ", exclusive"
                                                       : "");
      if (a->wired != 0) {
         tlb_text_add(&t, ", ");
         tlb_text_add_number(&t, a->wired);
         tlb_text_add(&t, " more wired");
      }
      each(line, opaque);
   }
}

/* --- Cost --- */

static void add_range(tlb_text *t, uint64_t least, uint64_t most, int assumed)
{
   tlb_text_add_number(t, least);
   tlb_text_add(t, "..");
   tlb_text_add_number(t, most);
   tlb_text_add(t, assumed ? " assumed" : "");
}

static void describe_hit(const tlb_machine_array *a, tlb_each_line *each, void *opaque)
{
   static const char letters[] = "IRW";
   char line[LINE];
   tlb_text t = tlb_text_in(line, sizeof line);
   tlb_text_add(&t, "Hit cycles: ");
   tlb_text_add(&t, a->name);
   tlb_text_add(&t, " ");
   tlb_text_add_number(&t, a->level);
   tlb_text_add(&t, " ");
   for (unsigned kind = 0; kind < 3; kind++) {
      if ((a->users >> kind & 1) != 0)
         tlb_text_add_n(&t, letters + kind, 1);
   }
   tlb_text_add(&t, " ");
   if (a->hit_cycles == TLB_UNKNOWN)
      tlb_text_add(&t, "unknown");
   else
      add_range(&t, a->hit_cycles - a->hit_spread, a->hit_cycles, a->hit_cycles_unknown);
   each(line, opaque);
}

static void describe_overlap(const char *what, uint32_t overlap, int assumed, tlb_each_line *each,
                             void *opaque)
{
   char line[LINE];
   tlb_text t = tlb_text_in(line, sizeof line);
   if (overlap == 0)
      return;
   tlb_text_add(&t, "Overlap: ");
   tlb_text_add(&t, what);
   tlb_text_add(&t, " ");
   tlb_text_add_tenths(&t, overlap);
   tlb_text_add(&t, assumed ? " assumed" : "");
   each(line, opaque);
}

static void describe_tables(const char *name, const tlb_table_cache *c, tlb_each_line *each,
                            void *opaque)
{
   char line[LINE];
   tlb_text t = tlb_text_in(line, sizeof line);
   tlb_text_add(&t, "Table entry cycles: ");
   tlb_text_add(&t, name);
   tlb_text_add(&t, " ");
   add_range(&t, c->cycles - c->spread, c->cycles, c->cycles_unknown);
   each(line, opaque);
}

/* What hits cost, and a walk beyond its cycles, and what overlaps. */
static void describe_parts(const tlb_machine *m, int nested, tlb_each_line *each, void *opaque)
{
   char line[LINE];
   for (unsigned i = 0; i < m->n_arrays; i++)
      describe_hit(&m->array[i], each, opaque);
   if (m->window != 0) {
      tlb_text t = tlb_text_in(line, sizeof line);
      tlb_text_add(&t, "Window: ");
      tlb_text_add_number(&t, m->window);
      tlb_text_add(&t, m->window_unknown ? " assumed" : "");
      each(line, opaque);
   }
   if (nested)
      each("Nested: yes", opaque);
   describe_overlap("walks", m->walk_overlap, m->walk_overlap_unknown, each, opaque);
   for (unsigned i = 0; i < m->n_arrays; i++)
      describe_overlap(m->array[i].name, m->array[i].overlap, m->array[i].overlap_unknown, each,
                       opaque);
   if (!tlb_tables_are_cached(m))
      return;
   for (unsigned i = 0; i < m->n_caches; i++)
      describe_tables(m->cache[i].name, &m->cache[i], each, opaque);
   describe_tables("memory", &m->memory, each, opaque);
}

static void add_hundredths(tlb_text *t, uint64_t n)
{
   tlb_text_add_number(t, n / 100);
   tlb_text_add(t, n % 100 < 10 ? ".0" : ".");
   tlb_text_add_number(t, n % 100);
   tlb_text_add(t, "%");
}

/* The least cost with the most time, and the other way round. */
static void describe_share(const tlb_run_cost *run, tlb_each_line *each, void *opaque)
{
   char line[LINE];
   tlb_text t = tlb_text_in(line, sizeof line);
   const int known = run->cycles != 0;
   tlb_text_add(&t, "Share of time: ");
   add_hundredths(&t, known ? tlb_cost_share(run->least, run->cycles)
                            : tlb_cost_share_beyond(run->least, run->instructions,
                                                    TLB_LEAST_PER_CYCLE));
   tlb_text_add(&t, "..");
   add_hundredths(&t, known ? tlb_cost_share(run->most, run->cycles)
                            : tlb_cost_share_beyond(run->most, run->instructions,
                                                    TLB_MOST_PER_CYCLE));
   if (known) {
      tlb_text_add(&t, " of ");
      tlb_text_add_number(&t, run->cycles);
      tlb_text_add(&t, " cycles");
   } else {
      tlb_text_add(&t, " assumed: ");
      add_range(&t, TLB_LEAST_PER_CYCLE, TLB_MOST_PER_CYCLE, 0);
      tlb_text_add(&t, " instructions a cycle");
   }
   each(line, opaque);
}

void tlb_describe_cost(const tlb_machine *m, const tlb_run_cost *run, tlb_each_line *each,
                       void *opaque)
{
   char line[LINE];
   tlb_text t = tlb_text_in(line, sizeof line);
   if (!tlb_cost_is_known(m))
      return;
   tlb_text_add(&t, "Walk cycles: ");
   add_range(&t, m->walk_cycles - m->walk_spread, m->walk_cycles, m->walk_cycles_unknown);
   each(line, opaque);
   describe_parts(m, run->nested, each, opaque);
   t = tlb_text_in(line, sizeof line);
   tlb_text_add(&t, "Miss cycles: ");
   add_range(&t, run->least, run->most, tlb_cost_is_assumed(m));
   each(line, opaque);
   describe_share(run, each, opaque);
}
