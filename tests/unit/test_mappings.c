/* Mappings: cut, joined and found as in a list with one record for each page.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "memory_support.h"

enum { PAGE = 4096, PAGES = 64, STEPS = 20000 };

/* One page of the naive list. */
typedef struct {
   int mapped;
   tlb_mapping m; /* start, end and offset are those of the page */
} cell;

typedef struct {
   cell page[PAGES];
} naive;

static void naive_add(naive *n, const tlb_mapping *m)
{
   for (uint64_t a = m->start; a < m->end; a += PAGE) {
      cell *const c = &n->page[a / PAGE];
      c->mapped = 1;
      c->m = *m;
      c->m.start = a;
      c->m.end = a + PAGE;
      c->m.offset = m->offset + (a - m->start);
   }
}

static int naive_same(const cell *a, const cell *b)
{
   return a->mapped && b->mapped && a->m.flags == b->m.flags
          && a->m.prot == b->m.prot && a->m.kind == b->m.kind
          && a->m.inode == b->m.inode
          && (a->m.inode == 0 || a->m.offset + PAGE == b->m.offset);
}

/* The set is sorted and says of each page what the list says; two neighbours
   differ in something. */
static void check(tlb_mappings *s, const naive *n)
{
   for (size_t i = 0; i < s->count; i++) {
      assert_true(s->at[i]->start < s->at[i]->end);
      if (i > 0)
         assert_true(s->at[i - 1]->end <= s->at[i]->start);
   }
   for (uint64_t p = 0; p < PAGES; p++) {
      const cell *const c = &n->page[p];
      const tlb_mapping *const m = tlb_mappings_find(s, p * PAGE + 17);
      assert_int_equal(m != NULL, c->mapped);
      if (m == NULL)
         continue;
      assert_true(m->start <= p * PAGE && p * PAGE < m->end);
      assert_int_equal(m->flags, c->m.flags);
      assert_int_equal(m->prot, c->m.prot);
      assert_int_equal(m->kind, c->m.kind);
      assert_int_equal(m->inode, c->m.inode);
      if (m->inode != 0)
         assert_int_equal(m->offset + (p * PAGE - m->start), c->m.offset);
      /* A mapping ends where the list changes. */
      const int ends = m->end == (p + 1) * PAGE;
      const int last = p + 1 == PAGES || !naive_same(c, &n->page[p + 1]);
      assert_int_equal(ends, last);
   }
}

/* The pieces of [start, end) are all that the list has there, and each of one mapping. */
static void check_pieces(const tlb_mappings *s, const naive *n, uint64_t start, uint64_t end)
{
   uint64_t at = start;
   for (tlb_mapping piece; tlb_mappings_piece(s, at, end, &piece);) {
      for (; at < piece.start; at += PAGE)
         assert_false(n->page[at / PAGE].mapped);
      assert_int_equal(piece.start, at);
      assert_true(piece.end <= end);
      for (; at < piece.end; at += PAGE) {
         const cell *const c = &n->page[at / PAGE];
         assert_true(c->mapped);
         assert_int_equal(piece.prot, c->m.prot);
         assert_int_equal(piece.kind, c->m.kind);
         if (piece.inode != 0)
            assert_int_equal(piece.offset + (at - piece.start), c->m.offset);
         const int ends = at + PAGE == end || at / PAGE + 1 == PAGES
                          || !naive_same(c, c + 1);
         assert_int_equal(ends, at + PAGE == piece.end);
      }
   }
   for (; at < end; at += PAGE)
      assert_false(n->page[at / PAGE].mapped);
}

static void set_prot(tlb_mapping *m, void *opaque)
{
   m->prot = *(const uint8_t *)opaque;
}

TEST(random_changes)
{
   uint64_t seed = 4711;
   naive n;
   tlb_mappings s;
   memset(&n, 0, sizeof n);
   memset(&s, 0xA5, sizeof s);
   tlb_mappings_init(&s, &memory);
   for (unsigned step = 0; step < STEPS; step++) {
      const uint64_t first = unit_random(&seed) % PAGES;
      const uint64_t most = unit_random(&seed) % 4 == 0 ? PAGES - first : 6;
      uint64_t end = first + unit_random(&seed) % (most + 1);
      end = end > PAGES ? PAGES : end;
      const uint8_t prot = (uint8_t)(unit_random(&seed) % 2 * 2 + 1);
      tlb_mapping m = { .start = first * PAGE, .end = end * PAGE,
                        .serial = step + 1, .prot = prot, .kind = TLB_ANON };
      if (unit_random(&seed) % 3 == 0) {
         m.kind = TLB_FILE;
         m.inode = 1 + unit_random(&seed) % 2;
         m.offset = unit_random(&seed) % 2 ? m.start : 0;
      }
      switch (unit_random(&seed) % 3) {
      case 0:
         tlb_mappings_add(&s, &m);
         naive_add(&n, &m);
         break;
      case 1:
         tlb_mappings_remove(&s, m.start, m.end);
         for (uint64_t p = first; p < end; p++)
            n.page[p].mapped = 0;
         break;
      default:
         tlb_mappings_change(&s, m.start, m.end, set_prot, &m.prot);
         for (uint64_t p = first; p < end; p++)
            n.page[p].m.prot = prot;
         break;
      }
      check(&s, &n);
      const uint64_t from = unit_random(&seed) % PAGES * PAGE;
      int any = 0;
      for (uint64_t p = from / PAGE; p < end; p++)
         any |= n.page[p].mapped;
      assert_int_equal(tlb_mappings_overlap(&s, from, end * PAGE), any);
      check_pieces(&s, &n, from, end * PAGE);
   }
   tlb_mappings_free(&s);
   assert_int_equal(given, 0);
}

static void add(tlb_mappings *s, uint64_t start, uint64_t end, tlb_kind kind,
                uint64_t serial)
{
   const tlb_mapping m = { .start = start, .end = end, .serial = serial,
                           .kind = (uint8_t)kind };
   tlb_mappings_add(s, &m);
}

TEST(serials)
{
   tlb_mappings s;
   uint8_t prot = TLB_MAY_READ;
   tlb_mappings_init(&s, &memory);
   add(&s, 0x10000, 0x20000, TLB_ANON, 7);
   tlb_mappings_change(&s, 0x14000, 0x15000, set_prot, &prot);
   assert_int_equal(s.count, 3);
   for (size_t i = 0; i < s.count; i++)
      assert_int_equal(s.at[i]->serial, 7);
   add(&s, 0x20000, 0x30000, TLB_ANON, 9);
   add(&s, 0x8000, 0x10000, TLB_ANON, 10);
   assert_int_equal(s.count, 3);
   assert_int_equal(s.at[0]->serial, 7);
   assert_int_equal(s.at[2]->serial, 7);
   assert_int_equal(s.at[0]->start, 0x8000);
   assert_int_equal(s.at[2]->end, 0x30000);
   tlb_mappings_free(&s);
}

TEST(kinds_stay_apart)
{
   tlb_mappings s;
   tlb_mappings_init(&s, &memory);
   add(&s, 0x10000, 0x20000, TLB_BSS, 1);
   add(&s, 0x20000, 0x30000, TLB_HEAP, 2);
   assert_int_equal(s.count, 2);
   /* Attached twice side by side: two segments. */
   add(&s, 0x50000, 0x60000, TLB_SHM, 3);
   add(&s, 0x60000, 0x70000, TLB_SHM, 4);
   assert_int_equal(s.count, 4);
   /* The stack grows down and stays one. */
   add(&s, 0x90000, 0xa0000, TLB_STACK, 5);
   add(&s, 0x80000, 0x90000, TLB_STACK, 5);
   assert_int_equal(s.count, 5);
   tlb_mappings_free(&s);
}

TEST(nothing)
{
   tlb_mappings s;
   tlb_mappings_init(&s, &memory);
   add(&s, 0x2000, 0x2000, TLB_ANON, 1);
   tlb_mappings_remove(&s, 0, UINT64_MAX);
   assert_int_equal(s.count, 0);
   assert_null(tlb_mappings_find(&s, 0));
   add(&s, UINT64_MAX - 0xfff, UINT64_MAX, TLB_ANON, 1);
   assert_non_null(tlb_mappings_find(&s, UINT64_MAX - 1));
   assert_null(tlb_mappings_find(&s, UINT64_MAX));
   tlb_mappings_free(&s);
   assert_int_equal(given, 0);
}

int main(void)
{
   static const struct CMUnitTest tests[] = {
      CLAIM("random changes leave what a list of pages has", random_changes),
      CLAIM("the pieces of a mapping keep its number", serials),
      CLAIM("memory of two kinds side by side is two mappings", kinds_stay_apart),
      CLAIM("an empty mapping is none, and the last page of the address space can be mapped",
            nothing),
   };
   return cmocka_run_group_tests_name("mappings", tests, NULL, NULL);
}
