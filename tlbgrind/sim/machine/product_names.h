/* What a processor is sold as, beside the name in its machine file's title.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_PRODUCT_NAMES_H
#define TLB_PRODUCT_NAMES_H

/* Products and code names with the built-in machine of that name, as words, such as "EPYC 7002,
   Rome"; "" if there are none. */
const char *tlb_product_names(const char *machine);

/* Whether words of the text, which may be a title or such a list, begin with the name. Capitals and
   separators do not count; a name of one or two letters is a whole word. */
int tlb_is_called(const char *text, const char *name);

#endif
