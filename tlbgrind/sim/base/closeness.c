/* Compares names that may be mistyped. See sim/base/closeness.h. */

#include "sim/base/closeness.h"

enum { FOLDED_SIZE = TLB_FAR };

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

/* How many letters have to be put in, left out, changed, or swapped with their neighbours. */
static unsigned changes(const char *a, unsigned n, const char *b, unsigned m)
{
   unsigned row[FOLDED_SIZE + 1][FOLDED_SIZE + 1];
   for (unsigned i = 0; i <= n; i++) {
      for (unsigned j = 0; j <= m; j++) {
         if (i == 0 || j == 0) {
            row[i][j] = i + j;
            continue;
         }
         const unsigned changed = row[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
         row[i][j] = least(changed, least(row[i - 1][j], row[i][j - 1]) + 1);
         if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            row[i][j] = least(row[i][j], row[i - 2][j - 2] + 1);
      }
   }
   return row[n][m];
}

unsigned tlb_distance(const char *name, const char *known)
{
   char a[FOLDED_SIZE], b[FOLDED_SIZE];
   const unsigned n = fold(name, a), m = fold(known, b);
   unsigned common = 0;
   while (common < n && common < m && a[common] == b[common])
      common++;
   if (n >= 3 && common == n)
      return m > n; /* the beginning of it */
   const unsigned d = changes(a, n, b, m);
   return d <= 1 + n / 5 && d < n ? d : TLB_FAR;
}
