/* Short texts without libc: reading numbers and words, writing sentences.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_TEXT_H
#define TLB_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A text that grows to the right inside a fixed buffer and is always closed by
   a NUL; what does not fit is cut. */
typedef struct {
   char *at;
   char *end;
} tlb_text;

/* Begins an empty text in `size` bytes (at least 1) of `buffer`. */
tlb_text tlb_text_in(char *buffer, size_t size);
/* All of s. */
void tlb_text_add(tlb_text *t, const char *s);
/* At most n bytes of s. Control characters, and bytes that are not UTF-8, are written as '?':
   a terminal may take either for a command. */
void tlb_text_add_n(tlb_text *t, const char *s, size_t n);
/* Takes spaces back that end the text, which begins at `begin`: a machine file cannot say them. */
void tlb_text_trim(tlb_text *t, const char *begin);
/* In decimal digits. */
void tlb_text_add_number(tlb_text *t, uint64_t n);
/* Of 24 "2.4". */
void tlb_text_add_tenths(tlb_text *t, uint64_t tenths);

/* The letter, small if it is one of A to Z. */
char tlb_text_small(char c);

/* Adds 0x and eight digits. */
void tlb_text_add_hex(tlb_text *t, uint32_t n);
/* "'VALUE' <what>", the form of every refusal that quotes its input; of long
   values the first 40 bytes. */
void tlb_text_add_refusal(tlb_text *t, const char *value, size_t n,
                          const char *what);
/* 2^shift bytes as "4K", "2M", "1G". */
void tlb_text_add_page_size(tlb_text *t, unsigned shift);

/* Reads decimal digits from *s up to `end`. Returns 1 and moves *s behind
   them; returns 0 if there is none or the number is above UINT64_MAX. */
int tlb_text_number(const char **s, const char *end, uint64_t *out);
/* Whether the n bytes at s are exactly the NUL-terminated word. */
int tlb_text_is(const char *s, size_t n, const char *word);
/* Whether two NUL-terminated texts are equal. */
int tlb_text_same(const char *a, const char *b);
/* Whether s begins with the text `with`. */
int tlb_text_begins(const char *s, const char *with);
/* Bytes before the NUL. */
size_t tlb_text_length(const char *s);

#endif
