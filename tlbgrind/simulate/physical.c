/* Where pages lie in physical memory. See simulate/physical.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "sim/mmu/mmu.h"
#include "simulate/physical.h"

typedef struct {
   uint64_t start, physical;
   unsigned line;       /* of the file */
   uint8_t shift;       /* the page has 2^this bytes */
   uint8_t begins;      /* of the largest block that begins here */
   uint8_t block_shift; /* of the largest one that it lies in */
} page;

struct TgPhysical {
   unsigned base_page_shift;
   size_t n, room;
   page *page; /* by address */
   size_t n_missing, slots;
   uint64_t *missing; /* numbers of base pages, plus 1; 0: the slot is empty */
};

/* --- Text --- */

typedef struct {
   const char *at, *end;
   unsigned line;
   char *why;
   bool failed;
} reader;

static void fail(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Of several reasons the first counts. */
static void fail(reader *r, const char *format, ...)
{
   va_list args;
   if (r->failed)
      return;
   va_start(args, format);
   vsnprintf(r->why, 160, format, args);
   va_end(args);
   r->failed = true;
}

static bool is_blank(char c)
{
   return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ';';
}

static bool is_of_word(char c)
{
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
          || c == '.' || c == '+' || c == '-';
}

/* Goes on to what is neither blank nor comment. Returns the character; 0: there is none. */
static char next_char(reader *r)
{
   for (; r->at < r->end; r->at++) {
      if (*r->at == '#') {
         while (r->at < r->end && *r->at != '\n')
            r->at++;
         if (r->at == r->end)
            return 0;
      }
      if (!is_blank(*r->at))
         return *r->at;
      r->line += *r->at == '\n';
   }
   return 0;
}

static bool take(reader *r, char c)
{
   if (next_char(r) != c)
      return false;
   r->at++;
   return true;
}

/* The next word; its length is 0 if something else stands there. */
static size_t take_word(reader *r, const char **word)
{
   next_char(r);
   *word = r->at;
   while (r->at < r->end && is_of_word(*r->at))
      r->at++;
   return (size_t)(r->at - *word);
}

static bool is(const char *word, size_t n, const char *name)
{
   return n == strlen(name) && memcmp(word, name, n) == 0;
}

static int digit_of(char c)
{
   if (c >= '0' && c <= '9')
      return c - '0';
   return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static uint64_t take_number(reader *r)
{
   const char *word;
   const size_t n = take_word(r, &word);
   const bool hex = n > 2 && word[0] == '0' && (word[1] | 0x20) == 'x';
   const uint64_t base = hex ? 16 : 10;
   uint64_t number = 0;
   bool good = n > 0;
   for (size_t i = hex ? 2 : 0; good && i < n; i++) {
      const uint64_t digit = (uint64_t)digit_of(word[i]);
      good = digit < base && number <= (UINT64_MAX - digit) / base;
      number = number * base + digit;
   }
   if (!good)
      fail(r, "'%.*s' is no number; allowed are decimal ones and 0x with hexadecimal ones, of 64 "
              "bits", n < 40 ? (int)n : 40, word);
   return number;
}

static void pass_string(reader *r)
{
   const char quote = *r->at++;
   for (; r->at < r->end && *r->at != quote && *r->at != '\n'; r->at++)
      r->at += *r->at == '\\' && r->at + 1 < r->end && r->at[1] != '\n';
   if (r->at >= r->end || *r->at != quote)
      fail(r, "a text in quotes has no end");
   else
      r->at++;
}

/* Passes over a field of which nothing is needed, behind its name. */
static void pass_field(reader *r)
{
   const char *word;
   unsigned depth = 0;
   for (;;) {
      const bool has_value = take(r, ':');
      const char c = next_char(r);
      if (c == '{') {
         r->at++;
         depth++;
      } else if (has_value && (c == '"' || c == '\'')) {
         pass_string(r);
      } else if (!has_value || take_word(r, &word) == 0) {
         fail(r, "behind a name a value or '{' is missing");
      }
      while (depth > 0 && take(r, '}'))
         depth--;
      if (depth == 0 || r->failed)
         return;
      if (take_word(r, &word) == 0) {
         fail(r, "a '{' has no '}'");
         return;
      }
   }
}

/* The fields of a message, behind its '{': each is given to the function, behind its name. */
typedef void take_field(reader *r, const char *name, size_t n, void *opaque);

static void take_message(reader *r, take_field *field, void *opaque)
{
   const unsigned line = r->line;
   take(r, ':');
   if (!take(r, '{'))
      fail(r, "'{' is missing");
   while (!r->failed && !take(r, '}')) {
      const char *name;
      const size_t n = take_word(r, &name);
      if (n == 0)
         fail(r, "the '{' of line %u has no '}'", line);
      else
         field(r, name, n, opaque);
   }
}

/* --- Messages --- */

static void mapping_field(reader *r, const char *name, size_t n, void *opaque)
{
   page *const p = opaque;
   if (is(name, n, "virtual_address") && take(r, ':'))
      p->start = take_number(r);
   else if (is(name, n, "physical_address") && take(r, ':'))
      p->physical = take_number(r);
   else
      pass_field(r);
}

typedef struct {
   TgPhysical *p;
   uint64_t page_size;
} group;

static void group_field(reader *r, const char *name, size_t n, void *opaque)
{
   group *const g = opaque;
   TgPhysical *const p = g->p;
   if (is(name, n, "page_size") && take(r, ':')) {
      g->page_size = take_number(r);
   } else if (is(name, n, "address_mapping")) {
      /* What is zero need not be there. */
      page one = { .line = r->line };
      take_message(r, mapping_field, &one);
      if (p->n == p->room) {
         p->room = p->room == 0 ? 256 : 2 * p->room;
         p->page = tg_load_need(realloc(p->page, p->room * sizeof *p->page));
      }
      p->page[p->n++] = one;
   } else {
      pass_field(r);
   }
}

static void take_group(reader *r, TgPhysical *p)
{
   group g = { p, 0 };
   const unsigned line = r->line;
   const size_t first = p->n;
   unsigned shift = 0;
   take_message(r, group_field, &g);
   while (shift < TLB_MAX_PAGE_SHIFT && g.page_size >> shift > 1)
      shift++;
   if (!r->failed && (g.page_size != UINT64_C(1) << shift || shift < p->base_page_shift)) {
      r->line = line;
      fail(r, "pages of %llu bytes can not be; allowed are powers of two from the base page, %llu, "
              "to 16G", (unsigned long long)g.page_size, 1ULL << p->base_page_shift);
   }
   for (size_t i = first; i < p->n; i++)
      p->page[i].shift = (uint8_t)shift;
}

static void take_all(reader *r, TgPhysical *p)
{
   while (!r->failed && next_char(r) != 0) {
      const char *name;
      const size_t n = take_word(r, &name);
      if (n == 0)
         fail(r, "the name of a field is missing");
      else if (!is(name, n, "address_mapping_group"))
         pass_field(r);
      else
         take_group(r, p);
   }
   if (p->n == 0)
      fail(r, "there is no address_mapping in it");
}

/* --- Pages --- */

static int compare(const void *a, const void *b)
{
   const page *const one = a, *const other = b;
   if (one->start != other->start)
      return one->start < other->start ? -1 : 1;
   return (one->line > other->line) - (one->line < other->line);
}

static bool is_aligned(const page *p, unsigned shift)
{
   return ((p->start | p->physical) & ((UINT64_C(1) << shift) - 1)) == 0;
}

static void check_pages(reader *r, const TgPhysical *p)
{
   for (size_t i = 0; i < p->n && !r->failed; i++) {
      const page *const here = &p->page[i], *const before = here - (i > 0);
      r->line = here->line;
      if (!is_aligned(here, here->shift))
         fail(r, "a page of %llu bytes does not begin at virtual address 0x%llx and physical "
                 "address 0x%llx", 1ULL << here->shift, (unsigned long long)here->start,
              (unsigned long long)here->physical);
      else if (i > 0 && here->start - before->start < UINT64_C(1) << before->shift) {
         r->line = here->line > before->line ? here->line : before->line;
         fail(r, "the page at 0x%llx lies in that of line %u", (unsigned long long)here->start,
              here->line > before->line ? before->line : here->line);
      }
   }
}

/* Whether two blocks of 2^shift bytes, from these pages on, are one. */
static bool are_one(const page *a, const page *b, unsigned shift)
{
   const uint64_t bytes = UINT64_C(1) << shift;
   return a->shift == b->shift && a->begins == shift && b->begins == shift
          && is_aligned(a, shift + 1) && b->start - a->start == bytes
          && b->physical - a->physical == bytes;
}

/* A block is made of two of half its size. */
static void find_blocks(TgPhysical *p)
{
   for (size_t i = 0; i < p->n; i++)
      p->page[i].begins = p->page[i].block_shift = p->page[i].shift;
   for (unsigned bits = 0; bits < TLB_MAX_BLOCK_BITS; bits++) {
      const size_t half = (size_t)1 << bits;
      for (size_t i = 0; i + half < p->n; i++) {
         page *const here = &p->page[i];
         if (are_one(here, here + half, here->shift + bits))
            here->begins++;
      }
   }
   for (size_t i = 0; i < p->n; i++) {
      const page *const here = &p->page[i];
      const size_t n = (size_t)1 << (here->begins - here->shift);
      for (size_t j = i; j < i + n; j++)
         p->page[j].block_shift = p->page[j].block_shift > here->begins ? p->page[j].block_shift
                                                                        : here->begins;
   }
}

TgPhysical *tg_physical_parse(const char *text, size_t n, unsigned base_page_shift, unsigned *line,
                              char why[160])
{
   TgPhysical *const p = tg_load_need(calloc(1, sizeof *p));
   reader r = { .at = text, .end = text + n, .line = 1, .why = why };
   p->base_page_shift = base_page_shift;
   take_all(&r, p);
   if (!r.failed && p->n > 1)
      qsort(p->page, p->n, sizeof *p->page, compare);
   check_pages(&r, p);
   if (!r.failed) {
      find_blocks(p);
      return p;
   }
   *line = r.line;
   tg_physical_free(p);
   return NULL;
}

/* --- Questions --- */

static const page *page_at(const TgPhysical *p, uint64_t address)
{
   size_t first = 0, n = p->n;
   while (n > 1) {
      const size_t half = n / 2;
      const bool is_above = address >= p->page[first + half].start;
      first += is_above ? half : 0;
      n = is_above ? n - half : half;
   }
   const page *const here = &p->page[first];
   return address >= here->start && (address - here->start) >> here->shift == 0 ? here : NULL;
}

/* Adds the number to those of a table that has room for it. */
static void add_missing(TgPhysical *p, uint64_t number)
{
   size_t at = (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 20) % p->slots;
   while (p->missing[at] != 0 && p->missing[at] != number)
      at = (at + 1) % p->slots;
   p->n_missing += p->missing[at] == 0;
   p->missing[at] = number;
}

static void note_missing(TgPhysical *p, uint64_t number)
{
   if (2 * p->n_missing >= p->slots) {
      uint64_t *const old = p->missing;
      const size_t n = p->slots;
      p->slots = n == 0 ? 256 : 2 * n;
      p->missing = tg_load_need(calloc(p->slots, sizeof *p->missing));
      p->n_missing = 0;
      for (size_t i = 0; i < n; i++) {
         if (old[i] != 0)
            add_missing(p, old[i]);
      }
      free(old);
   }
   add_missing(p, number);
}

tlb_backing tg_physical_backing(TgPhysical *p, uint64_t address)
{
   const page *const here = page_at(p, address);
   if (here != NULL)
      return (tlb_backing){ here->shift, here->block_shift };
   note_missing(p, (address >> p->base_page_shift) + 1);
   return (tlb_backing){ (uint8_t)p->base_page_shift, (uint8_t)p->base_page_shift };
}

size_t tg_physical_n_pages(const TgPhysical *p)
{
   return p->n;
}

size_t tg_physical_n_missing(const TgPhysical *p)
{
   return p->n_missing;
}

void tg_physical_free(TgPhysical *p)
{
   if (p == NULL)
      return;
   free(p->page);
   free(p->missing);
   free(p);
}
