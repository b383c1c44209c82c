/* Takes costs out of a machine file that was measured. */

#include "sim/machine/measured_costs.h"

#include "sim/base/text.h"
#include "sim/machine/machine_file.h"

int tlb_measured_file(const char *config, const char *home, char *out, size_t size)
{
   static const char name[] = "/tlbgrind/host.machine";
   const int by_config = config != NULL && config[0] == '/';
   const char *const folder = by_config ? config : home;
   const char *const below = by_config ? "" : "/.config";
   if (folder == NULL || folder[0] != '/'
       || tlb_text_length(folder) + tlb_text_length(below) + sizeof name > size)
      return 0;
   tlb_text t = tlb_text_in(out, size);
   tlb_text_add(&t, folder);
   tlb_text_add(&t, below);
   tlb_text_add(&t, name);
   return 1;
}

int tlb_measured_can_be_used(tlb_cpuid_ask *ask, void *opaque)
{
   const tlb_cpuid leaf = ask(opaque, 0, 0);
   return leaf.eax != 0 && leaf.ebx != 0;
}

/* --- hits --- */

/* The array of the file that holds base pages for such references on that level. */
static const tlb_machine_array *like(const tlb_machine *from, const tlb_machine_array *a)
{
   for (unsigned i = 0; i < from->n_arrays; i++) {
      const tlb_machine_array *const b = &from->array[i];
      if (b->level == a->level && (b->users & a->users) != 0
          && (b->g.page_sizes >> from->base_page_shift & 1) != 0)
         return b;
   }
   return NULL;
}

static void take_hits(const tlb_machine *from, tlb_machine *m)
{
   for (unsigned i = 0; i < m->n_arrays; i++) {
      tlb_machine_array *const a = &m->array[i];
      const tlb_machine_array *const b = a->level > 1 ? like(from, a) : NULL;
      if (b != NULL && b->hit_cycles != TLB_UNKNOWN && !b->hit_cycles_unknown) {
         a->hit_cycles = b->hit_cycles;
         a->hit_spread = b->hit_spread;
         a->hit_cycles_unknown = 0;
      }
      if (b != NULL && b->overlap != 0 && !b->overlap_unknown) {
         a->overlap = b->overlap;
         a->overlap_unknown = 0;
      }
   }
}

/* --- walks --- */

/* Which steps a walk does without, for the pieces of a larger page. */
static void take_steps(const tlb_machine *from, tlb_machine *m)
{
   for (unsigned i = 0; i < m->n_walk_steps; i++) {
      m->walk[i].cycles = 0;
      for (unsigned j = 0; j < from->n_walk_steps; j++) {
         if (from->walk[j].shift == m->walk[i].shift)
            m->walk[i].cycles = from->walk[j].cycles;
      }
   }
}

/* A hypervisor with base pages leaves no array anything larger. */
static void take_guest(const tlb_machine *from, tlb_machine *m)
{
   if (from->host_page_shift == 0 || m->n_walk_steps == 0
       || m->walk[m->n_walk_steps - 1].shift != from->host_page_shift)
      return;
   m->host_page_shift = from->host_page_shift;
   tlb_machine_cut_to_pieces(m, from->host_page_shift);
}

static void take_walk(const tlb_machine *from, tlb_machine *m)
{
   if (from->walk_cycles == TLB_UNKNOWN || from->walk_cycles_unknown)
      return;
   m->walk_cycles = from->walk_cycles;
   m->walk_spread = from->walk_spread;
   m->walk_cycles_unknown = 0;
   if (from->walk_overlap != 0 && !from->walk_overlap_unknown) {
      m->walk_overlap = from->walk_overlap;
      m->walk_overlap_unknown = 0;
   }
   if (from->window != 0 && !from->window_unknown) {
      m->window = from->window;
      m->window_unknown = 0;
   }
   tlb_text t = tlb_text_in(m->walk_source, sizeof m->walk_source);
   tlb_text_add(&t, from->walk_source);
   take_steps(from, m);
   take_guest(from, m);
   /* The caches' cycles belong to that walk, and with them the parts that are assumed there. */
   if (from->n_caches == 0 || m->n_walk_steps == 0)
      return;
   m->n_caches = from->n_caches;
   for (unsigned i = 0; i < TLB_MAX_TABLE_CACHES; i++)
      m->cache[i] = from->cache[i];
   m->memory = from->memory;
}

/* --- all --- */

static void drop_notes_that_follow(tlb_machine *m)
{
   const tlb_machine as_it_was = *m;
   unsigned n = 0;
   for (unsigned i = 0; i < as_it_was.n_notes; i++) {
      if (!tlb_machine_note_follows(&as_it_was, as_it_was.note[i].text))
         m->note[n++] = as_it_was.note[i];
   }
   m->n_notes = n;
}

static void say(tlb_reason *why, const char *words, const char *text)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, words);
   tlb_text_add(&t, text);
}

static int refuse_line(tlb_reason *why, uint32_t line)
{
   const tlb_reason reason = *why;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   if (line > 0) {
      tlb_text_add(&t, "line ");
      tlb_text_add_number(&t, line);
      tlb_text_add(&t, ": ");
   }
   tlb_text_add(&t, reason.text);
   return 0;
}

int tlb_measured_costs_take(const char *text, size_t length, tlb_machine *m, tlb_reason *why)
{
   tlb_machine from;
   uint32_t line = 0;
   if (!tlb_machine_parse(text, length, &from, &line, why))
      return refuse_line(why, line);
   if (!tlb_text_same(from.title, m->title)) {
      say(why, "it is of another processor: ", from.title);
      return 0;
   }
   if (from.confidence != TLB_MEASURED) {
      say(why, "its confidence is not 'measured'", "");
      return 0;
   }
   const tlb_machine as_it_was = *m;
   drop_notes_that_follow(m);
   take_hits(&from, m);
   take_walk(&from, m);
   tlb_machine_note_unknowns(m);
   if (tlb_machine_check(m, why))
      return 1;
   *m = as_it_was;
   return 0;
}

/* Machine files, in which notes are, have printable ASCII alone. */
static void keep_printable(char *text)
{
   for (; *text != '\0'; text++) {
      if (*text < ' ' || *text > '~')
         *text = '?';
   }
}

void tlb_measured_costs_note(tlb_machine *m, const char *path, const tlb_reason *why)
{
   if (m->n_notes == TLB_MAX_NOTES)
      return;
   char *const text = m->note[m->n_notes++].text;
   tlb_text t = tlb_text_in(text, sizeof m->note[0].text);
   tlb_text_add(&t, why == NULL ? "what misses cost was measured on this machine: " : "");
   tlb_text_add(&t, path);
   if (why != NULL) {
      tlb_text_add(&t, " is not used: ");
      tlb_text_add(&t, why->text);
   }
   keep_printable(text);
   tlb_text_trim(&t, text);
}
