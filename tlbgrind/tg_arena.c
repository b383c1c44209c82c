/* The arena: memory that translated code reaches with a short address. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "tg_arena.h"

/* Address space, not memory: the core maps so large a piece for itself, and
   pages of it that are never touched cost nothing. */
#if defined(VGA_x86)
enum { ARENA_BYTES = 16 * 1024 * 1024 };
#else
enum { ARENA_BYTES = 256 * 1024 * 1024 };
#endif

enum { MAX_WORDS = 2 };

/* A freed piece holds the pointer to the next freed piece of its size. */
typedef union _Free {
   union _Free* next;
   ULong words[MAX_WORDS];
} Free;

static UChar* arena;
static UChar* unused;
static Free* freed[MAX_WORDS + 1];

void tg_arena_init(void)
{
   arena = VG_(malloc)("tg.arena", ARENA_BYTES);
   unused = arena;
}

Addr tg_arena_base(void)
{
   return (Addr)arena;
}

Bool tg_arena_holds(const void* p)
{
   return (Addr)p - (Addr)arena < ARENA_BYTES;
}

ULong* tg_arena_alloc(UInt words)
{
   tl_assert(words >= 1 && words <= MAX_WORDS);
   const SizeT bytes = words * sizeof(ULong);
   ULong* p;
   if (freed[words] != NULL) {
      p = freed[words]->words;
      freed[words] = freed[words]->next;
   } else if (unused + bytes <= arena + ARENA_BYTES) {
      p = (ULong*)(void*)unused;
      unused += bytes;
   } else {
      p = VG_(malloc)("tg.arena.outside", bytes);
   }
   VG_(memset)(p, 0, bytes);
   return p;
}

void tg_arena_free(ULong* p, UInt words)
{
   Free* f = (Free*)(void*)p;
   f->next = freed[words];
   freed[words] = f;
}
