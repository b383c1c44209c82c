/* Reading and writing short texts without libc. */

#include "sim/base/text.h"

tlb_text tlb_text_in(char *buffer, size_t size)
{
   tlb_text t = { buffer, buffer + size - 1 };
   *t.at = '\0';
   return t;
}

size_t tlb_text_length(const char *s)
{
   size_t n = 0;
   while (s[n] != '\0')
      n++;
   return n;
}

/* The bytes of the character in UTF-8 that begins with s[0], at most n; 0: there is none, or
   it is a control character. */
static size_t printable(const char *s, size_t n)
{
   static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
   const unsigned char c = (unsigned char)*s;
   if (c < 0x80)
      return c >= 0x20 && c != 0x7f;
   const size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
   if (c < 0xc0 || c >= 0xf8 || length > n)
      return 0;
   uint32_t code = c & (0x7fu >> length);
   for (size_t i = 1; i < length; i++) {
      const unsigned char more = (unsigned char)s[i];
      if ((more & 0xc0) != 0x80)
         return 0;
      code = code << 6 | (more & 0x3f);
   }
   const int surrogate = code >= 0xd800 && code < 0xe000;
   return code < least[length] || code < 0xa0 || surrogate || code > 0x10ffff ? 0 : length;
}

void tlb_text_add_n(tlb_text *t, const char *s, size_t n)
{
   for (size_t i = 0; i < n && t->at < t->end;) {
      size_t bytes = printable(s + i, n - i);
      if (bytes == 0) {
         *t->at++ = '?';
         i++;
      } else if (bytes > (size_t)(t->end - t->at)) {
         break;
      }
      for (; bytes > 0; bytes--)
         *t->at++ = s[i++];
   }
   *t->at = '\0';
}

void tlb_text_add(tlb_text *t, const char *s)
{
   tlb_text_add_n(t, s, tlb_text_length(s));
}

void tlb_text_add_refusal(tlb_text *t, const char *value, size_t n,
                          const char *what)
{
   tlb_text_add(t, "'");
   tlb_text_add_n(t, value, n < 40 ? n : 40);
   tlb_text_add(t, "' ");
   tlb_text_add(t, what);
}

void tlb_text_trim(tlb_text *t, const char *begin)
{
   while (t->at > begin && t->at[-1] == ' ')
      *--t->at = '\0';
}

void tlb_text_add_number(tlb_text *t, uint64_t n)
{
   char digits[20];
   size_t at = sizeof digits;
   do {
      digits[--at] = (char)('0' + n % 10);
      n /= 10;
   } while (n != 0);
   tlb_text_add_n(t, digits + at, sizeof digits - at);
}

void tlb_text_add_tenths(tlb_text *t, uint64_t tenths)
{
   tlb_text_add_number(t, tenths / 10);
   tlb_text_add(t, ".");
   tlb_text_add_number(t, tenths % 10);
}

char tlb_text_small(char c)
{
   return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

void tlb_text_add_hex(tlb_text *t, uint32_t n)
{
   tlb_text_add(t, "0x");
   for (unsigned shift = 32; shift > 0; shift -= 4)
      tlb_text_add_n(t, &"0123456789abcdef"[n >> (shift - 4) & 15], 1);
}

void tlb_text_add_page_size(tlb_text *t, unsigned shift)
{
   const unsigned unit = shift / 10;
   tlb_text_add_number(t, (uint64_t)1 << (shift - unit * 10));
   tlb_text_add_n(t, &"BKMGTPE"[unit], unit > 0);
}

int tlb_text_number(const char **s, const char *end, uint64_t *out)
{
   const char *p = *s;
   uint64_t n = 0;
   while (p < end && *p >= '0' && *p <= '9') {
      const uint64_t digit = (uint64_t)(*p - '0');
      if (n > (UINT64_MAX - digit) / 10)
         return 0;
      n = n * 10 + digit;
      p++;
   }
   if (p == *s)
      return 0;
   *s = p;
   *out = n;
   return 1;
}

int tlb_text_is(const char *s, size_t n, const char *word)
{
   size_t i = 0;
   while (i < n && word[i] != '\0' && s[i] == word[i])
      i++;
   return i == n && word[i] == '\0';
}

int tlb_text_same(const char *a, const char *b)
{
   return tlb_text_is(a, tlb_text_length(a), b);
}

int tlb_text_begins(const char *s, const char *with)
{
   while (*with != '\0' && *s == *with) {
      s++;
      with++;
   }
   return *with == '\0';
}
