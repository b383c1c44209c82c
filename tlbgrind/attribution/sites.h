/* Sites: the instructions that costs are booked on.

   A site is one instruction address. Its object, function, file and line are looked up as late as
   possible: when costs are added to its line, or just before its code and debug information are
   unmapped. Other code that is mapped at the address later has sites of its own. A site's costs
   are in its line (attribution/lines.h). */

#ifndef TG_SITES_H
#define TG_SITES_H

#include "pub_tool_basics.h"

#include "attribution/lines.h"

typedef struct _TgSite {
   struct _TgSite* next; /* the first two members are VG_(HashTable)'s */
   UWord address;
   struct _TgSite* next_in_chunk;
   TgLine* line; /* NULL: not looked up yet */
   UInt users;   /* segments that refer to it */
   Bool retired; /* its code has been unmapped */
   UChar length; /* of the instruction; 0: it was not translated */
   UShort code;  /* of code that is made at run time: a sum of the instruction's bytes */
} TgSite;

/* `each_apart`: each site has a line of its own, and code without symbols is named by its
   function's first address, as 0x1050. */
void tg_sites_init(Bool each_apart);

/* Names the code in [a, a + len), which has no file with symbols. One range in a run. */
void tg_sites_name(Addr a, SizeT len, const HChar* object, const HChar* function);

/* From now on each new site is counted at the part of its line that `part_at` says for its
   address (tg_line_part()). */
void tg_sites_part(UInt (*part_at)(Addr a));

/* Begins and ends a block of code, whose instructions are used and get their lengths meanwhile:
   those that are made at run time have one line together, unless each has to have its own. */
void tg_sites_begin_block(void);
void tg_sites_end_block(void);

/* Whether the instruction is made at run time, and its bytes are others than those of its site. */
Bool tg_sites_is_rewritten(Addr a, UChar length);

/* The site of the instruction at `a`, made if it is new. Adds one user. */
TgSite* tg_site_use(Addr a);

/* The site of the thread's system call instruction, during the call. Adds one user. */
TgSite* tg_site_of_syscall(ThreadId tid);

/* The site of the call instruction whose last byte is at `within`, an address as in stack traces.
   Adds one user. */
TgSite* tg_site_of_call(Addr within);

/* Sets the length of the site's instruction. */
void tg_site_set_length(TgSite* site, UChar length);

/* Removes one user. A retired site without users is freed. */
void tg_site_release(TgSite* site);

/* The site's line, looked up at the first call. */
TgLine* tg_site_line(TgSite* site);

/* An address as its object's file has it; that of memory for code without a file. */
Addr tg_in_file(Addr a);

/* The first address of the function that has the instruction, by its symbol; 0: it has none. */
Addr tg_function_at(Addr a);

/* Retires the sites in [a, a+len), which is being unmapped, after looking up their lines. */
void tg_sites_unmapped(Addr a, SizeT len);

#endif
