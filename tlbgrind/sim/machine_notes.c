/* What of a machine is assumed, in words. */

#include "machine.h"

#include "text.h"

static int same_text(const char *a, const char *b)
{
   return tlb_text_is(a, tlb_text_length(a), b);
}

/* Kinds of assumption; in each, arrays and steps with the same words share a
   note. Parts of a machine are numbered through: arrays, then steps. */
typedef enum {
   ENTRIES,
   WAYS,
   SIZES,
   POLICY,
   SPLITS,
   CONTIGUOUS,
   WALK_CACHE,
   N_KINDS
} kind;

static const char too_many[] =
   "more figures are unknown than there is room to say here; the machine file "
   "has them all";

static int is_assumed(const tlb_machine *m, kind k, unsigned part)
{
   if (part >= m->n_arrays) {
      const tlb_walk_step *const s = &m->walk[part - m->n_arrays];
      return k == WAYS         ? s->ways_unknown
             : k == POLICY     ? s->policy_unknown
             : k == WALK_CACHE ? s->cache_unknown
                               : 0;
   }
   const tlb_machine_array *const a = &m->array[part];
   return k == ENTRIES      ? a->entries_unknown
          : k == WAYS       ? a->ways_unknown
          : k == SIZES      ? a->sizes_unknown
          : k == POLICY     ? a->policy_unknown
          : k == SPLITS     ? a->splits_unknown
          : k == CONTIGUOUS ? a->coalesce_shift != 0
                            : 0;
}

static void describe(const tlb_machine *m, kind k, unsigned part, char *out,
                     size_t size)
{
   const tlb_machine_array *const a =
      part < m->n_arrays ? &m->array[part] : NULL;
   const tlb_geometry *const g =
      a != NULL ? &a->g : &m->walk[part - m->n_arrays].g;
   char words[80];
   tlb_text t = tlb_text_in(out, size);
   switch (k) {
   case ENTRIES:
      tlb_text_add(&t, "entries unknown, ");
      tlb_text_add_number(&t, g->entries);
      tlb_text_add(&t, " assumed");
      break;
   case WAYS:
      tlb_text_add(&t, "ways unknown, ");
      if (g->ways == g->entries) {
         tlb_text_add(&t, "full associativity");
      } else {
         tlb_text_add_number(&t, g->ways);
      }
      tlb_text_add(&t, " assumed");
      break;
   case SIZES:
      tlb_page_sizes_print(g->page_sizes, words, sizeof words);
      tlb_text_add(&t, "page sizes unknown, ");
      tlb_text_add(&t, words);
      tlb_text_add(&t, " assumed");
      break;
   case POLICY:
      tlb_policy_print(g, words, sizeof words);
      tlb_text_add(&t, "replacement policy unknown, ");
      tlb_text_add(&t, words);
      tlb_text_add(&t, " assumed");
      break;
   case SPLITS:
      tlb_text_add(&t, "unknown what becomes of larger pages, assumed ");
      tlb_text_add(&t, a != NULL && a->splits ? "to be split" : "to pass by");
      break;
   case CONTIGUOUS:
      tlb_text_add(&t, "aligned blocks of ");
      tlb_text_add_page_size(&t, a != NULL ? a->coalesce_shift : 0);
      tlb_text_add(&t, " in one mapping assumed contiguous in memory");
      break;
   case WALK_CACHE:
   case N_KINDS:
      tlb_text_add(&t, "page-walk caches unknown, none assumed");
      break;
   }
}

static void name_part(const tlb_machine *m, unsigned part, int first_step,
                      tlb_text *t)
{
   if (part < m->n_arrays) {
      tlb_text_add(t, m->array[part].name);
   } else {
      if (first_step)
         tlb_text_add(t, "walk step ");
      tlb_text_add_page_size(t, m->walk[part - m->n_arrays].shift);
   }
}

/* Writes the note of this kind that `part` is the first to need. Returns 0 if
   it needs none, or an earlier part has had it. */
static int note_of(const tlb_machine *m, kind k, unsigned part, tlb_reason *out)
{
   enum { ROOM_FOR_MORE = 16 };
   const unsigned n_parts = m->n_arrays + m->n_walk_steps;
   char words[TLB_REASON_SIZE], others[TLB_REASON_SIZE];
   unsigned members = 0, steps = 0, named = 0, steps_named = 0;

   if (!is_assumed(m, k, part))
      return 0;
   describe(m, k, part, words, sizeof words);
   for (unsigned i = 0; i < n_parts; i++) {
      if (!is_assumed(m, k, i))
         continue;
      describe(m, k, i, others, sizeof others);
      if (!same_text(words, others))
         continue;
      if (i < part)
         return 0;
      members++;
      steps += i >= m->n_arrays;
   }

   *out = (tlb_reason){ "" }; /* the same to the last byte each time */
   tlb_text t = tlb_text_in(out->text, sizeof out->text);
   tlb_text_add(&t, words);
   if (members > 1 && members == m->n_arrays && steps == 0) {
      tlb_text_add(&t, " (all arrays)");
      return 1;
   }
   for (unsigned i = part; i < n_parts; i++) {
      if (!is_assumed(m, k, i))
         continue;
      describe(m, k, i, others, sizeof others);
      if (!same_text(words, others))
         continue;
      tlb_text name = tlb_text_in(others, sizeof others);
      name_part(m, i, steps_named == 0, &name);
      if (t.at + (name.at - others) + ROOM_FOR_MORE > t.end) {
         tlb_text_add(&t, named == 0 ? " (" : " and ");
         tlb_text_add_number(&t, members - named);
         tlb_text_add(&t, named == 0 ? " of them" : " more");
         break;
      }
      tlb_text_add(&t, named == 0 ? " (" : ", ");
      tlb_text_add(&t, others);
      named++;
      steps_named += i >= m->n_arrays;
   }
   tlb_text_add(&t, ")");
   return 1;
}

int tlb_machine_note_follows(const tlb_machine *m, const char *text)
{
   const unsigned n_parts = m->n_arrays + m->n_walk_steps;
   tlb_reason note;
   for (kind k = ENTRIES; k < N_KINDS; k++) {
      for (unsigned i = 0; i < n_parts; i++) {
         if (note_of(m, k, i, &note) && same_text(note.text, text))
            return 1;
      }
   }
   return same_text(text, too_many);
}

/* Returns 0 if there is no room for it. */
static int add_note(tlb_machine *m, const tlb_reason *note)
{
   for (unsigned i = 0; i < m->n_notes; i++) {
      if (same_text(m->note[i].text, note->text))
         return 1;
   }
   if (m->n_notes == TLB_MAX_NOTES)
      return 0;
   m->note[m->n_notes++] = *note;
   return 1;
}

void tlb_machine_note_unknowns(tlb_machine *m)
{
   const unsigned n_parts = m->n_arrays + m->n_walk_steps;
   tlb_reason note;
   for (kind k = ENTRIES; k < N_KINDS; k++) {
      for (unsigned i = 0; i < n_parts; i++) {
         if (!note_of(m, k, i, &note) || add_note(m, &note))
            continue;
         tlb_text t = tlb_text_in(m->note[TLB_MAX_NOTES - 1].text,
                                  sizeof m->note[0].text);
         tlb_text_add(&t, too_many);
         return;
      }
   }
}
