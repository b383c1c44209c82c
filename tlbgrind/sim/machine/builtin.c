/* The machine files that are built in: looking them up. */

#include "sim/machine/builtin.h"

#include "sim/base/text.h"

const tlb_builtin *tlb_builtin_machine(const char *name)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      if (tlb_text_is(name, tlb_text_length(name), tlb_builtin_at(i)->name))
         return tlb_builtin_at(i);
   }
   return NULL;
}

/* --- Names that are close --- */

enum { FOLDED_SIZE = 32, FAR = FOLDED_SIZE };

/* Small letters and digits only. Returns how many; the rest is left out. */
static unsigned fold(const char *name, char *out)
{
   unsigned n = 0;
   for (; *name != '\0' && n < FOLDED_SIZE; name++) {
      const char c = *name;
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
         out[n++] = c;
      else if (c >= 'A' && c <= 'Z')
         out[n++] = (char)(c - 'A' + 'a');
   }
   return n;
}

static unsigned least(unsigned a, unsigned b)
{
   return a < b ? a : b;
}

/* How many letters have to be put in, left out or changed (Levenshtein). */
static unsigned distance(const char *a, unsigned n, const char *b, unsigned m)
{
   unsigned row[FOLDED_SIZE + 1];
   for (unsigned j = 0; j <= m; j++)
      row[j] = j;
   for (unsigned i = 0; i < n; i++) {
      unsigned diagonal = row[0];
      row[0] = i + 1;
      for (unsigned j = 0; j < m; j++) {
         const unsigned changed = diagonal + (a[i] != b[j]);
         diagonal = row[j + 1];
         row[j + 1] = least(changed, least(row[j], diagonal) + 1);
      }
   }
   return row[m];
}

/* 0 is the same, FAR is not close at all. */
static unsigned far_from(const char *name, const char *builtin)
{
   char a[FOLDED_SIZE], b[FOLDED_SIZE];
   const unsigned n = fold(name, a), m = fold(builtin, b);
   unsigned common = 0;
   while (common < n && common < m && a[common] == b[common])
      common++;
   if (n >= 3 && common == n)
      return m > n; /* the beginning of it */
   const unsigned d = distance(a, n, b, m);
   return d <= 1 + n / 5 && d < n ? d : FAR;
}

void tlb_builtin_refuse(const char *name, tlb_reason *why)
{
   enum { MOST = 6, SHOWN = 40 };
   const size_t length = tlb_text_length(name);
   unsigned told = 0;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "'");
   tlb_text_add_n(&t, name, length < SHOWN ? length : SHOWN);
   tlb_text_add(&t, "' is no machine");
   /* The closest first. */
   for (unsigned d = 0; d < FAR && told < MOST; d++) {
      for (unsigned i = 0; i < tlb_n_builtins() && told < MOST; i++) {
         if (far_from(name, tlb_builtin_at(i)->name) != d)
            continue;
         tlb_text_add(&t, told == 0 ? "; did you mean " : ", ");
         tlb_text_add(&t, tlb_builtin_at(i)->name);
         told++;
      }
   }
   tlb_text_add(&t, told > 0 ? "?" : "; --list-machines tells their names");
}
