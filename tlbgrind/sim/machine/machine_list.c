/* The list of the machines that are built in. See sim/machine/machine_list.h. */

#include "sim/machine/machine_list.h"

#include "sim/base/text.h"
#include "sim/machine/builtin.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/product_names.h"

typedef enum { NAME, ISA, YEAR, PAGES, FIRST, SECOND, CONFIDENCE, TITLE } column;

static const char *const headings[TLB_LIST_COLUMNS] = {
   "name", "isa", "year", "pages", "first level", "second level", "confidence", "title",
};

enum { CELL_SIZE = TLB_TITLE_SIZE };

typedef struct {
   char cell[TLB_LIST_COLUMNS][CELL_SIZE];
} row;

/* --- What stands in a row --- */

/* Entries and ways of the level's arrays for base pages, as "I 128/8 D 64/4"; I, L and S are
   fetches, loads and stores, and D is loads and stores. */
static void add_level(tlb_text *t, const tlb_machine *m, unsigned level)
{
   static const char *const users[] = {
      [TLB_FETCHES] = "I ", [TLB_LOADS] = "L ", [TLB_STORES] = "S ",
      [TLB_LOADS | TLB_STORES] = "D ", [TLB_FETCHES | TLB_LOADS] = "IL ",
      [TLB_FETCHES | TLB_STORES] = "IS ", [TLB_FETCHES | TLB_LOADS | TLB_STORES] = "",
   };
   unsigned before = 0, n = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if (a->level != level || (a->g.page_sizes >> m->base_page_shift & 1) == 0)
         continue;
      tlb_text_add(t, n == 0 ? "" : a->users == before ? "+" : " ");
      tlb_text_add(t, a->users == before ? "" : users[a->users]);
      tlb_text_add_number(t, a->g.entries);
      tlb_text_add(t, "/");
      if (a->g.ways == a->g.entries)
         tlb_text_add(t, "full");
      else
         tlb_text_add_number(t, a->g.ways);
      before = a->users;
      n++;
   }
   tlb_text_add(t, n == 0 ? "-" : "");
}

static void set(row *r, column c, const char *text)
{
   tlb_text t = tlb_text_in(r->cell[c], CELL_SIZE);
   tlb_text_add(&t, text);
}

/* Fills in the row of a built-in machine. */
static void fill(unsigned i, row *r)
{
   const tlb_builtin *const b = tlb_builtin_at(i);
   tlb_machine m;
   tlb_reason why;
   uint32_t line;
   *r = (row){ { "" } };
   set(r, NAME, b->name);
   if (!tlb_machine_parse(b->text, b->length, &m, &line, &why)) {
      set(r, TITLE, why.text);
      return;
   }
   set(r, ISA, m.isa);
   tlb_text t = tlb_text_in(r->cell[YEAR], CELL_SIZE);
   if (m.year == 0)
      tlb_text_add(&t, "?");
   else
      tlb_text_add_number(&t, m.year);
   t = tlb_text_in(r->cell[PAGES], CELL_SIZE);
   tlb_text_add_page_size(&t, m.base_page_shift);
   t = tlb_text_in(r->cell[FIRST], CELL_SIZE);
   add_level(&t, &m, 1);
   t = tlb_text_in(r->cell[SECOND], CELL_SIZE);
   add_level(&t, &m, 2);
   if (tlb_machine_levels(&m) > 2) {
      tlb_text_add(&t, ", third ");
      add_level(&t, &m, 3);
   }
   set(r, CONFIDENCE, tlb_confidence_word(m.confidence));
   set(r, TITLE, m.title);
}

/* --- Which machines --- */

/* Moves on to the next letter or digit, or to a `*` if those count. Returns it in small letters,
   or NUL at the end. */
static char next_plain(const char **s, int stars)
{
   for (; **s != '\0'; (*s)++) {
      const char c = tlb_text_small(**s);
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (stars && c == '*'))
         return c;
   }
   return '\0';
}

/* Whether the text begins with the pattern. */
static int begins_with(const char *text, const char *pattern)
{
   for (;;) {
      const char p = next_plain(&pattern, 1);
      if (p == '\0')
         return 1;
      pattern++;
      if (p == '*') {
         for (;; text++) {
            if (begins_with(text, pattern))
               return 1;
            if (*text == '\0')
               return 0;
         }
      }
      if (next_plain(&text, 0) != p)
         return 0;
      text++;
   }
}

static int is_in(const char *text, const char *pattern)
{
   while (!begins_with(text, pattern)) {
      if (*text++ == '\0')
         return 0;
   }
   return 1;
}

static int is_listed(const tlb_machine_list *l, const row *r)
{
   return l->pattern == NULL || is_in(r->cell[NAME], l->pattern)
          || is_in(r->cell[TITLE], l->pattern) || is_in(r->cell[ISA], l->pattern)
          || is_in(tlb_product_names(r->cell[NAME]), l->pattern);
}

/* --- The list --- */

tlb_machine_list tlb_machine_list_begin(const char *pattern)
{
   tlb_machine_list l = { .pattern = pattern };
   for (unsigned c = 0; c < TLB_LIST_COLUMNS; c++)
      l.width[c] = (unsigned)tlb_text_length(headings[c]);
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      row r;
      fill(i, &r);
      if (!is_listed(&l, &r))
         continue;
      l.n++;
      for (unsigned c = 0; c < TLB_LIST_COLUMNS; c++) {
         const unsigned n = (unsigned)tlb_text_length(r.cell[c]);
         l.width[c] = n > l.width[c] ? n : l.width[c];
      }
   }
   return l;
}

static void add_cell(tlb_text *t, const char *word, unsigned width, int to_the_right)
{
   const size_t n = tlb_text_length(word);
   if (!to_the_right)
      tlb_text_add(t, word);
   for (size_t i = n; i < width; i++)
      tlb_text_add(t, " ");
   if (to_the_right)
      tlb_text_add(t, word);
   tlb_text_add(t, "  ");
}

int tlb_machine_list_next(tlb_machine_list *l, char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   row r;
   if (!l->begun) {
      l->begun = 1;
      for (unsigned c = 0; c < TLB_LIST_COLUMNS; c++)
         set(&r, (column)c, headings[c]);
   } else {
      do {
         if (l->next == tlb_n_builtins())
            return 0;
         fill(l->next++, &r);
      } while (!is_listed(l, &r));
   }
   for (unsigned c = 0; c < TITLE; c++)
      add_cell(&t, r.cell[c], l->width[c], c == YEAR || c == PAGES || c == CONFIDENCE);
   tlb_text_add(&t, r.cell[TITLE]);
   return 1;
}

void tlb_machine_list_refuse(const char *pattern, tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, pattern, tlb_text_length(pattern),
                        "is in no machine's name, title or instruction set; --list-machines alone "
                        "lists them all");
}
