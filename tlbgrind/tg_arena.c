/* The arena: memory that translated code reaches with a short address. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "tg_arena.h"

/* Address space, not memory: pages that are never touched cost nothing. */
#if defined(VGA_x86)
enum { ARENA_WORDS = 2 * 1024 * 1024 };
#else
enum { ARENA_WORDS = 8 * 1024 * 1024 };
#endif

enum { MAX_WORDS = 2 };

/* A freed piece holds the pointer to the next freed piece of its size. */
typedef union _Free {
   union _Free* next;
   ULong words[MAX_WORDS];
} Free;

static ULong arena[ARENA_WORDS] __attribute__((aligned(64)));
static UInt used;
static Free* freed[MAX_WORDS + 1];

ULong* tg_arena_alloc(UInt words)
{
   tl_assert(words >= 1 && words <= MAX_WORDS);
   ULong* p;
   if (freed[words] != NULL) {
      p = freed[words]->words;
      freed[words] = freed[words]->next;
   } else if (used + words <= ARENA_WORDS) {
      p = arena + used;
      used += words;
   } else {
      p = VG_(malloc)("tg.arena.outside", words * sizeof(ULong));
   }
   VG_(memset)(p, 0, words * sizeof(ULong));
   return p;
}

void tg_arena_free(ULong* p, UInt words)
{
   Free* f = (Free*)(void*)p;
   f->next = freed[words];
   freed[words] = f;
}
