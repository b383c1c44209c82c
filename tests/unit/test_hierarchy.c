/* Levels: who is asked, who is filled, and which hierarchies can not be.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "hierarchy.h"

/* The arrays by level, then by side; NULL: none. A unified one stands at the
   data side, with a '=' before it. */
typedef const char *shape[TLB_MAX_LEVELS][TLB_N_SIDES];

static tlb_design design_of(const shape s)
{
   tlb_design d;
   memset(&d, 0, sizeof d);
   for (unsigned level = 0; level < TLB_MAX_LEVELS; level++) {
      for (unsigned side = 0; side < TLB_N_SIDES; side++) {
         const char *text = s[level][side];
         if (text == NULL)
            continue;
         if (*text == '=') {
            text++;
            d.unified[level] = 1;
         }
         d.at[level][side].present = 1;
         d.at[level][side].g = unit_geometry(text);
         d.levels = level + 1;
      }
   }
   return d;
}

typedef struct {
   tlb_hierarchy h;
   void *memory;
   uint64_t now;
   unsigned releases;
} fixture;

static void on_release(uint64_t *time, void *opaque)
{
   fixture *const f = opaque;
   (void)time;
   f->releases++;
}

static void make(fixture *f, const shape s)
{
   const tlb_design d = design_of(s);
   tlb_reason why;
   if (!tlb_design_check(&d, 12, &why))
      fail_msg("%s", why.text);
   memset(f, 0xA5, sizeof *f);
   f->now = 0;
   f->releases = 0;
   f->memory = malloc(tlb_hierarchy_bytes(&d));
   assert_non_null(f->memory);
   memset(f->memory, 0xA5, tlb_hierarchy_bytes(&d));
   tlb_hierarchy_init(&f->h, &d, f->memory, on_release, f);
}

static void drop(fixture *f)
{
   free(f->memory);
}

static tlb_outcome translate(fixture *f, tlb_side side, uint64_t page)
{
   const tlb_reference r = { .page = page, .now = ++f->now,
                             .side = (uint8_t)side };
   return tlb_translate(&f->h, &r);
}

/* References and expects these levels to miss (bits) and a walk or none. */
static void expect(fixture *f, tlb_side side, uint64_t page, unsigned missed,
                   int walked)
{
   const tlb_outcome o = translate(f, side, page);
   assert_int_equal(o.missed, missed);
   assert_int_equal(o.walked != 0, walked);
   assert_true(tlb_first_level(&f->h, 0, side)->key[o.entry]
               == tlb_key_of(page, 0));
}

#define I TLB_INSTRUCTION
#define D TLB_DATA
enum { HIT = 0, L1 = 1, L2 = 2, L3 = 4 };

static void one_level(void **state)
{
   fixture f;
   (void)state;
   make(&f, (shape){ { "2,full", "2,full" } });
   expect(&f, D, 1, L1, 1);
   expect(&f, D, 1, HIT, 0);
   expect(&f, I, 1, L1, 1); /* the sides share nothing */
   expect(&f, D, 2, L1, 1);
   expect(&f, D, 3, L1, 1);
   expect(&f, D, 1, L1, 1);
   expect(&f, I, 1, HIT, 0);
   drop(&f);
}

static void filled_on_the_way(void **state)
{
   fixture f;
   (void)state;
   make(&f, (shape){ { "1,1", "1,1" }, { NULL, "=4,full" } });
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, D, 2, L1 | L2, 1);
   expect(&f, D, 1, L1, 0);  /* out of the first level, still in the second */
   expect(&f, D, 1, HIT, 0); /* and back in the first */
   expect(&f, D, 2, L1, 0);
   drop(&f);
}

/* A hit in the first level is no reference to the second: what the first level
   always answers grows old behind it. */
static void not_asked(void **state)
{
   fixture f;
   (void)state;
   make(&f, (shape){ { "1,1", "2,full" }, { NULL, "=2,full" } });
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, D, 2, L1 | L2, 1);
   expect(&f, D, 1, HIT, 0);
   expect(&f, D, 3, L1 | L2, 1); /* evicts 2 above, 1 below */
   expect(&f, D, 1, HIT, 0);     /* levels do not include each other */
   expect(&f, D, 2, L1, 0);
   drop(&f);
}

static void unified(void **state)
{
   fixture f;
   (void)state;
   make(&f, (shape){ { "1,1", "1,1" }, { NULL, "=2,full" } });
   assert_int_equal(f.h.n_arrays, 3);
   assert_ptr_equal(f.h.at[0][1][I], f.h.at[0][1][D]);
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, I, 1, L1, 0); /* filled by the data side */
   expect(&f, I, 2, L1 | L2, 1);
   expect(&f, D, 2, L1, 0);
   expect(&f, I, 3, L1 | L2, 1); /* and evicted by the other: page 1 */
   expect(&f, D, 1, L1 | L2, 1);
   drop(&f);
}

static void split(void **state)
{
   fixture f;
   (void)state;
   make(&f, (shape){ { "1,1", "1,1" }, { "2,full", "2,full" } });
   assert_int_equal(f.h.n_arrays, 4);
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, I, 1, L1 | L2, 1);
   expect(&f, I, 2, L1 | L2, 1);
   expect(&f, I, 3, L1 | L2, 1);
   expect(&f, D, 1, HIT, 0);
   expect(&f, D, 2, L1 | L2, 1);
   expect(&f, D, 1, L1, 0);
   drop(&f);
}

static void three_levels(void **state)
{
   fixture f;
   (void)state;
   make(&f, (shape){ { "1,1", "1,1" }, { "2,full", "2,full" },
                     { NULL, "=4,full" } });
   for (uint64_t page = 1; page <= 4; page++)
      expect(&f, D, page, L1 | L2 | L3, 1);
   expect(&f, D, 4, HIT, 0);
   expect(&f, D, 3, L1, 0);
   expect(&f, D, 1, L1 | L2, 0);
   expect(&f, D, 3, L1, 0);      /* 4 is gone from the second level, not 3 */
   expect(&f, D, 4, L1 | L2, 0);
   expect(&f, I, 4, L1 | L2, 0); /* only the third is shared */
   expect(&f, D, 5, L1 | L2 | L3, 1);
   drop(&f);
}

static void one_sided(void **state)
{
   fixture f;
   (void)state;
   make(&f, (shape){ { "1,1", "1,1" }, { NULL, "2,full" } });
   assert_int_equal(f.h.n_arrays, 3);
   assert_null(f.h.at[0][1][I]);
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, D, 2, L1 | L2, 1);
   expect(&f, D, 1, L1, 0);
   expect(&f, I, 1, L1, 1); /* walks behind the first level */
   expect(&f, I, 2, L1, 1);
   drop(&f);

   make(&f, (shape){ { "1,1", "1,1" }, { "2,full", NULL }, { NULL, "=4,4" } });
   expect(&f, D, 1, L1 | L3, 1);
   expect(&f, I, 1, L1 | L2, 0);
   expect(&f, D, 2, L1 | L3, 1);
   expect(&f, D, 1, L1, 0);
   drop(&f);
}

static void shared_first(void **state)
{
   fixture f;
   tlb_design d = design_of((shape){ { "8,8", "=2,full" } });
   tlb_reason why;
   (void)state;
   assert_true(tlb_design_check(&d, 12, &why));
   make(&f, (shape){ { "8,8", "=2,full" } });
   assert_int_equal(f.h.n_arrays, 1);
   expect(&f, D, 1, L1, 1);
   expect(&f, I, 1, HIT, 0);
   drop(&f);
}

static void one_level_only(void **state)
{
   fixture f;
   tlb_reference r = { .page = 1, .now = 1, .side = TLB_DATA };
   (void)state;
   make(&f, (shape){ { "2,full", "2,full" }, { NULL, "=4,full" } });
   assert_true(tlb_translate_level(&f.h, &r, 1));
   r.now = 2;
   assert_false(tlb_translate_level(&f.h, &r, 1));
   f.now = 2;
   expect(&f, D, 1, L1, 0); /* the first level had heard nothing of it */
   drop(&f);
}

/* What the caller answers for the first level, missed there, goes on behind. */
static void behind(void **state)
{
   fixture f;
   tlb_reference r = { .page = 1, .now = 1, .side = TLB_DATA };
   (void)state;
   make(&f, (shape){ { "1,1", "2,full" }, { NULL, "=4,full" },
                     { NULL, "8,full" } });
   assert_int_equal(tlb_translate_behind(&f.h, &r), L1 | L2 | L3);
   r.now = 2;
   assert_int_equal(tlb_translate_behind(&f.h, &r), L1);
   r.now = 3;
   r.side = TLB_INSTRUCTION;
   assert_int_equal(tlb_translate_behind(&f.h, &r), L1);
   r.now = 4;
   r.page = 2;
   assert_int_equal(tlb_translate_behind(&f.h, &r), L1 | L2);
   f.now = 4;
   expect(&f, D, 1, L1, 0); /* the first level had heard nothing of it */
   drop(&f);
   make(&f, (shape){ { "1,1", "2,full" } });
   assert_int_equal(tlb_translate_behind(&f.h, &r), L1);
   drop(&f);
}

static void contexts(void **state)
{
   fixture f;
   tlb_reference r = { .page = 1, .side = TLB_DATA };
   (void)state;
   make(&f, (shape){ { "4,full", "4,full" }, { NULL, "=8,full" } });
   for (unsigned c = 0; c < 3; c++) {
      r.context = (uint16_t)(c * (TLB_MAX_CONTEXT / 2));
      r.now = c + 1;
      assert_int_equal(tlb_translate(&f.h, &r).missed, L1 | L2);
   }
   for (unsigned c = 0; c < 3; c++) {
      r.context = (uint16_t)(c * (TLB_MAX_CONTEXT / 2));
      r.now = c + 4;
      assert_int_equal(tlb_translate(&f.h, &r).missed, HIT);
   }
   drop(&f);
}

static void released(void **state)
{
   fixture f;
   uint64_t time;
   (void)state;
   make(&f, (shape){ { "1,1", "1,1" }, { NULL, "=8,full" } });
   const tlb_outcome o = translate(&f, D, 1);
   tlb_array_attach(tlb_first_level(&f.h, 0, D), o.entry, &time);
   translate(&f, I, 2);
   assert_int_equal(f.releases, 0);
   translate(&f, D, 2);
   assert_int_equal(f.releases, 1);
   translate(&f, D, 1);
   assert_int_equal(f.releases, 1);
   drop(&f);
}

static void mixed_sizes(void **state)
{
   fixture f;
   (void)state;
   /* Sizes whose parts do not end on multiples of eight bytes; the sanitizers
      see to alignment and ends. */
   make(&f, (shape){ { "3,1", "5,5,4K,nru" }, { "17,full,4K,lru", "9,9" },
                     { NULL, "=35,7,4K,random:2" } });
   for (uint64_t i = 0; i < 2000; i++) {
      translate(&f, I, i * 7 % 50);
      translate(&f, D, i * 11 % 70);
   }
   drop(&f);
}

static void refused(const tlb_design *d, unsigned page_shift,
                    const char *expected)
{
   tlb_reason why;
   memset(&why, 'x', sizeof why);
   assert_false(tlb_design_check(d, page_shift, &why));
   assert_string_equal(why.text, expected);
}

static void designs(void **state)
{
   tlb_reason why;
   tlb_design d;
   (void)state;

   d = design_of((shape){ { NULL, "4,4" } });
   refused(&d, 12, "there is no first-level instruction array");
   d = design_of((shape){ { "4,4", NULL } });
   refused(&d, 12, "there is no first-level data array");
   d = design_of((shape){ { NULL, NULL }, { NULL, "=4,4" } });
   refused(&d, 12, "there is no first-level instruction array");

   d = design_of((shape){ { "4,4,2M", "4,4" } });
   refused(&d, 12, "the level 1 instruction array does not hold pages of 4K, "
                   "the base page of this run");
   d = design_of((shape){ { "4,4", "4,4,2M+1G" } });
   refused(&d, 12, "the level 1 data array does not hold pages of 4K, the "
                   "base page of this run");
   d = design_of((shape){ { "4,4", "4,4" }, { NULL, "=4,4,2M" } });
   refused(&d, 12, "the level 2 unified array does not hold pages of 4K, the "
                   "base page of this run");
   d = design_of((shape){ { "4,4,64K", "4,4,64K" }, { NULL, "4,4" } });
   refused(&d, 16, "the level 2 data array does not hold pages of 64K, the "
                   "base page of this run");
   d = design_of((shape){ { "4,4", "4,4" }, { "4,4", "4,4" },
                          { "4,4,16G", NULL } });
   refused(&d, 12, "the level 3 instruction array does not hold pages of 4K, "
                   "the base page of this run");

   d = design_of((shape){ { "4,4", "4,4" }, { NULL, "=12,3" } });
   d.at[1][D].g.ways = 5;
   refused(&d, 12, "5 ways do not divide 12 entries; ways must divide the "
                   "entries, or be full");
   d.at[1][D].g.ways = 3;
   assert_true(tlb_design_check(&d, 12, &why));
   /* What nobody is asked for may be anything. */
   d.at[1][I].present = 1;
   d.at[1][I].g.ways = 0;
   d.at[2][D].present = 1;
   assert_true(tlb_design_check(&d, 12, &why));
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("behind a single level stands the walk, and sides are apart",
            one_level),
      CLAIM("a hit in the second level fills the first", filled_on_the_way),
      CLAIM("a hit in the first level is no reference to the second",
            not_asked),
      CLAIM("a unified second level is filled and evicted by both sides",
            unified),
      CLAIM("a split second level is two arrays", split),
      CLAIM("three levels are asked in turn and filled on the way back",
            three_levels),
      CLAIM("a side without a level goes on to the next, or walks", one_sided),
      CLAIM("a unified first level is one array as well", shared_first),
      CLAIM("one level can be asked alone", one_level_only),
      CLAIM("the levels behind the first can be asked without it", behind),
      CLAIM("contexts are apart in every level", contexts),
      CLAIM("short cuts of the first level are released by its own evictions",
            released),
      CLAIM("arrays of any size lie beside each other", mixed_sizes),
      CLAIM("a hierarchy that cannot be is refused in exact words", designs),
   };
   return cmocka_run_group_tests_name("hierarchy", tests, NULL, NULL);
}
