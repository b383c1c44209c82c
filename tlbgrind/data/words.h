/* Which object each word of the address space belongs to.

   A page of 4K has an array with a value for each word: what it belongs to, whether that is a heap
   block, and whether the program has referred to it. Most references find here what they found
   last time, and need no more (data/references.c). Values are filled in when a word is first
   referred to; those of heap blocks when they are allocated.

   A page with names (data/named.h) or records (data/records.h) has a second array, which is shown
   instead, and the first is what lies beneath. */

#ifndef TG_DATA_WORDS_H
#define TG_DATA_WORDS_H

#include "pub_tool_basics.h"

enum {
   TG_WORDS_PAGE_SHIFT = 12,
   TG_WORDS_PAGE = 1 << TG_WORDS_PAGE_SHIFT,
   TG_WORD_SHIFT = sizeof(UWord) == 8 ? 3 : 2,
   TG_WORD_BYTES = 1 << TG_WORD_SHIFT,
   TG_WORDS = TG_WORDS_PAGE / TG_WORD_BYTES, /* of a page */
   TG_CHUNK_SHIFT = 30,                      /* pages are in chunks of 1 GiB */
   TG_CHUNK_PAGES = 1 << (TG_CHUNK_SHIFT - TG_WORDS_PAGE_SHIFT),
   TG_N_CHUNKS = sizeof(UWord) == 8 ? 1 << 17 : 4
};

/* The value of a word: the number of its object or cell, shifted, and these bits. 0: not asked
   yet. */
enum {
   TG_WORD_TOUCHED = 1,
   TG_WORD_BLOCK = 2,
   TG_WORD_OBJECT = 2, /* the shift */
   TG_WORD_MIXED = 1   /* of no object: several lie in the word, or each reference is looked up */
};

typedef struct {
   UInt word[TG_WORDS];
   UInt n_touched;  /* words whose value, in the array that is shown, has TG_WORD_TOUCHED */
   ULong starts[TG_WORDS / 64]; /* a heap block starts at the word */
   UInt background; /* the object of what is in no block; 0: asked for each word */
   UInt* fine;      /* an array like `word`, with names and records; NULL: there are none */
} TgWordsPage;

/* Which words of a page the references to one object have touched. */
typedef struct _TgUse {
   struct _TgUse* next;
   UInt object;
   ULong touched[TG_WORDS / 64];
} TgUse;

/* What there is of a page. Large tables have more words than a processor's caches hold: so of a
   page all of whose words are touched and have one value, that value is looked up instead.

                    words   all           shown
   TG_PAGE_EMPTY    NULL    0             NULL
   TG_PAGE_BLOCK    NULL    the block's   NULL, so that the first reference makes words
   TG_PAGE_WORDS    there   -             the words, or the finer ones
   TG_PAGE_EVEN     there   the words'    `all` */
typedef enum {
   TG_PAGE_EMPTY, /* nothing has been referred to, nothing allocated */
   TG_PAGE_BLOCK, /* one heap block holds the page, and nothing has been referred to */
   TG_PAGE_WORDS, /* each word has a value of its own */
   TG_PAGE_EVEN   /* all words are touched and have one value */
} TgPageState;

typedef struct {
   const UInt* shown; /* where a reference looks up its word; NULL: there is none yet */
   TgWordsPage* words;
   TgUse* uses;
   UInt all;
   UShort mask;  /* of the number of a word in shown[] */
   UChar state;  /* TgPageState */
   Bool starts;  /* TG_PAGE_BLOCK: the block starts with the page */
} TgDataPage;

extern TgDataPage* tg_data_chunk[TG_N_CHUNKS];

/* Who says what a word belongs to. */
typedef struct {
   /* See data/places.h. */
   UInt (*place)(Addr a);
   UInt (*place_of_page)(Addr a);
   /* See data/named.h. */
   Bool (*is_named)(Addr start, Addr end);
   UInt (*named_at)(Addr a, Addr* end);
   /* See data/records.h. */
   UInt (*record_in_block)(UInt object, Addr start, Addr a, Addr* end);
   UInt (*record_in_variable)(UInt object, Addr a, Addr* end);
   Bool (*record_is_sought)(UInt number);
   /* The heap block [start, end) is free. */
   void (*block_freed)(Addr start, Addr end);
} TgWordsResolver;

/* `resolver` must stay. `has_records`: words belong to cells, too (--data-offsets=yes). */
void tg_words_init(const TgWordsResolver* resolver, Bool has_records);

/* Whether the word at the address has that value, which is neither 0 nor TG_WORD_MIXED. The program
   could refer to it, so it is in a chunk. */
static inline __attribute__((always_inline)) Bool tg_words_has(Addr a, UInt value)
{
   const TgDataPage* chunk = tg_data_chunk[(a >> TG_CHUNK_SHIFT) & (TG_N_CHUNKS - 1)];
   if (UNLIKELY(chunk == NULL))
      return False;
   const TgDataPage* p = &chunk[(a >> TG_WORDS_PAGE_SHIFT) & (TG_CHUNK_PAGES - 1)];
   return LIKELY(p->shown != NULL) && LIKELY(p->shown[(a >> TG_WORD_SHIFT) & p->mask] == value);
}

/* The value of the word at the address, 0 if it is not there yet. */
UInt tg_words_value(Addr a);

/* The object at the address, or its cell; notes that it is touched there if `touches`. */
UInt tg_words_find(Addr a, Bool touches);

/* Forgets what lies in [start, end): the mappings there change. */
void tg_words_forget(Addr start, Addr end);

/* Names in [start, end) have changed (data/named.h). */
void tg_words_refine(Addr start, Addr end);

/* A heap block of the object has been allocated at `a`. */
void tg_words_add_block(Addr a, SizeT bytes, UInt object);
/* The block that starts at `a` is free; nothing if there is none. Names within it go, too. */
void tg_words_remove_block(Addr a);

/* Forgets what has been touched, for a forked child. */
void tg_words_forked(void);

/* Adds up by object number, in arrays with room for all: how many pages of 2^page_shift bytes
   references have touched, and how many words. */
void tg_words_count(UInt page_shift, ULong* pages, ULong* words);

#endif
