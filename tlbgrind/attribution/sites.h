/* Sites: the instructions that costs are booked on.

   A site is one instruction address. Its names (object, function, file, line) are looked up
   when they are needed: at the end, or just before the code is unmapped and the debug
   information goes with it. From then on the address may come to mean other code, which gets
   sites of its own. Its costs stand in a line (attribution/lines.h). */

#ifndef TG_SITES_H
#define TG_SITES_H

#include "pub_tool_basics.h"

#include "attribution/lines.h"

typedef struct _TgSite {
   struct _TgSite* next; /* first two: as VG_(HashTable) wants them */
   UWord address;
   struct _TgSite* next_in_chunk;
   TgLine* line; /* NULL: not looked up yet */
   UInt users;   /* segments that refer to it */
   Bool retired; /* its code has been unmapped */
   UChar length; /* of the instruction; 0: it was not translated */
} TgSite;

void tg_sites_init(void);

/* What the code in [a, a + len) is called, of which no file tells: one piece of code in a run. */
void tg_sites_name(Addr a, SizeT len, const HChar* object, const HChar* function);

/* The site of the instruction at `a`, made if it is new, with one user more. */
TgSite* tg_site_use(Addr a);

/* One user less. A retired site without users is freed. */
void tg_site_release(TgSite* site);

/* The site's line, looked up if need be. */
TgLine* tg_site_line(TgSite* site);

/* Code may have stood at [a, a+len) and will not any more. */
void tg_sites_unmapped(Addr a, SizeT len);

#endif
