/* Gives machines the base pages of a run. See base_pages.h. */

#include "sim/tlb/base_pages.h"

#include "sim/base/text.h"
#include "sim/tlb/hierarchy.h"

/* Whether, for every kind of reference to the array, another array of the same level holds pages of
   that size. */
static int is_held_beside(const tlb_machine *m, const tlb_machine_array *a, unsigned shift)
{
   uint32_t users = a->users;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const other = &m->array[i];
      if (other->level == a->level && (other->g.page_sizes >> shift & 1) != 0)
         users &= ~other->users;
   }
   return users == 0;
}

/* The arrays that hold them beside another are found before one is changed. */
static void hold(tlb_machine *m, unsigned own_shift, unsigned shift)
{
   int beside[TLB_MAX_ARRAYS];
   for (unsigned i = 0; i < m->n_arrays; i++)
      beside[i] = is_held_beside(m, &m->array[i], shift);
   for (unsigned i = 0; i < m->n_arrays; i++) {
      tlb_geometry *const g = &m->array[i].g;
      if ((g->page_sizes >> own_shift & 1) != 0 && !beside[i])
         g->page_sizes = (g->page_sizes & ~(UINT64_C(1) << own_shift)) | UINT64_C(1) << shift;
   }
}

static void add_kilobytes(tlb_text *t, unsigned shift)
{
   tlb_text_add_number(t, (UINT64_C(1) << shift) >> 10);
   tlb_text_add(t, "K");
}

unsigned tlb_base_pages_take(const tlb_base_pages *b, tlb_machine *m,
                             tlb_reason note[TLB_MOST_BASE_NOTES])
{
   const unsigned own_shift = m->base_page_shift;
   const int is_kernels = b->isa[0] != '\0';
   unsigned n = 0;
   tlb_reason why;
   if (b->shift == 0 || (is_kernels && (b->shift == own_shift || !tlb_text_same(b->isa, m->isa))))
      return 0;
   if (is_kernels) {
      tlb_text t = tlb_text_in(note[n].text, sizeof note[n].text);
      tlb_text_add(&t, "base pages are ");
      add_kilobytes(&t, b->shift);
      tlb_text_add(&t, ", as those of the kernel here (--page-size)");
      n++;
   }
   m->base_page_shift = b->shift;
   if (tlb_machine_holds(m, b->shift, &why))
      return n;
   hold(m, own_shift, b->shift);
   tlb_text t = tlb_text_in(note[n].text, sizeof note[n].text);
   tlb_text_add(&t, "the arrays for ");
   add_kilobytes(&t, own_shift);
   tlb_text_add(&t, " pages are taken to hold the base page of this run in the same number");
   return n + 1;
}

int tlb_base_pages_parse(const char *text, size_t n, tlb_base_pages *out)
{
   const char *const end = text + n;
   uint64_t shift;
   if (!tlb_text_number(&text, end, &shift) || shift < TLB_MIN_PAGE_SHIFT
       || shift > TLB_MAX_PAGE_SHIFT || text == end || *text++ != ' ' || text == end
       || (size_t)(end - text) >= sizeof out->isa)
      return 0;
   *out = (tlb_base_pages){ .shift = (unsigned)shift };
   if (tlb_text_is(text, (size_t)(end - text), "all"))
      return 1;
   tlb_text t = tlb_text_in(out->isa, sizeof out->isa);
   tlb_text_add_n(&t, text, (size_t)(end - text));
   return 1;
}
