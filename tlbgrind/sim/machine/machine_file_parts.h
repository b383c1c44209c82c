/* What the parts of the machine files' parser share. Private; machine_file.h is public.

   machine_file.c reads lines and blocks, machine_file_keys.c the keys, machine_file_values.c what
   several of them take.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MACHINE_FILE_PARTS_H
#define TLB_MACHINE_FILE_PARTS_H

#include "sim/machine/machine_file.h"
#include "sim/base/text.h"

enum {
   TLB_MACHINE_LINE = 400, /* bytes of a line, without its end */
   TLB_MACHINE_KEYS = 17   /* of a block */
};

/* Lines in front of the first block are about the machine as a whole. */
typedef enum {
   TLB_HEAD_BLOCK,
   TLB_ARRAY_BLOCK,
   TLB_WALK_BLOCK,
   TLB_STEP_BLOCK,
   TLB_CACHE_BLOCK,
   TLB_MEMORY_BLOCK,
   TLB_N_BLOCKS
} tlb_machine_block_kind;

/* Where parts of each kind begin in the reader's lists. */
enum {
   TLB_PART_STEPS = TLB_MAX_ARRAYS,
   TLB_PART_CACHES = TLB_PART_STEPS + TLB_MAX_WALK_LEVELS,
   TLB_N_MACHINE_PARTS = TLB_PART_CACHES + TLB_MAX_TABLE_CACHES
};

typedef struct {
   const char *at;
   const char *end;
   uint32_t line; /* the one being read, from 1 */
   tlb_machine *m;
   tlb_reason *why;
   int of_run; /* with the base pages of a run, which the arrays need not all hold */
   tlb_machine_error *error; /* those found so far, by line */
   unsigned n_errors;
   uint32_t wrong; /* arrays and steps with errors, as bits */
   char key[TLB_MACHINE_LINE + 1];
   char value[TLB_MACHINE_LINE + 1];
   tlb_machine_block_kind block;
   uint32_t seen; /* keys of this block, as bits of the index in its table */
   int skips;     /* the block was not begun: what is in it is not looked at */
   int full;      /* its ways are to be its entries, which may stand behind */
   uint32_t left_out[TLB_N_BLOCKS]; /* keys with a default, as `seen` */
   int begun[TLB_N_BLOCKS];
   uint32_t head_line;
   uint32_t walk_line;
   uint32_t array_line[TLB_MAX_ARRAYS];
   uint32_t step_line[TLB_MAX_WALK_LEVELS];
   uint32_t cache_line[TLB_MAX_TABLE_CACHES];
   uint32_t memory_line;
   /* Of the keys of each part, as the enumeration above has them; 0: there is none. */
   uint32_t key_line[TLB_N_MACHINE_PARTS][TLB_MACHINE_KEYS];
} tlb_machine_reader;

/* What a line says is taken out of r->value, which may be changed. Returns 1,
   or 0 with the reason. */
typedef int tlb_machine_take(tlb_machine_reader *r);

typedef struct {
   const char *key;
   tlb_machine_take *take;
   enum { TLB_OPTIONAL, TLB_REQUIRED, TLB_REPEATABLE } kind;
   const char *assumed; /* the value if there is no such line, or NULL */
} tlb_machine_key;

typedef struct {
   const char *name;        /* as errors call it */
   const char *key;         /* that begins it, or NULL */
   tlb_machine_take *begin; /* takes that key */
   int bare;                /* which has no value */
   tlb_machine_key keys[TLB_MACHINE_KEYS + 1]; /* NULL closes them */
} tlb_machine_block;

extern const tlb_machine_block tlb_machine_blocks[TLB_N_BLOCKS];

/* Both return 0. The reason is "KEY 'VALUE' <what>", or just <what>. */
int tlb_refuse(tlb_machine_reader *r, const char *what);
int tlb_refuse_line(tlb_machine_reader *r, const char *what);

/* --- machine_file_values.c: each returns 1, or 0 with the reason --- */

int tlb_value_is(const tlb_machine_reader *r, const char *word);

/* Cuts "unknown, assume " off the value; *unknown: whether it was there. */
int tlb_value_cut_unknown(tlb_machine_reader *r, int *unknown);

/* A whole number within these limits; where a word is allowed as well: ", or full". */
int tlb_machine_number(tlb_machine_reader *r, uint32_t least, uint32_t most,
                       uint32_t *out);
int tlb_value_number_or(tlb_machine_reader *r, uint32_t least, uint32_t most,
                        const char *or_else, uint32_t *out);

/* As tlb_machine_array has them. */
int tlb_value_cycles(tlb_machine_reader *r, uint32_t *out, uint32_t *spread, int *unknown);
int tlb_value_overlap(tlb_machine_reader *r, uint32_t *out, int *unknown);
int tlb_value_confidence(tlb_machine_reader *r, char *out);
int tlb_value_ways(tlb_machine_reader *r, tlb_geometry *g, int *unknown);
int tlb_value_policy(tlb_machine_reader *r, tlb_geometry *g, int *unknown);

int tlb_value_power_of_two(tlb_machine_reader *r, uint32_t least, uint32_t most, uint32_t *out);

/* The second puts further lines of a key behind the first; the third takes a word that may stand in
   an option, between commas, and in a file's name. */
int tlb_value_text(tlb_machine_reader *r, char *out, size_t size);
int tlb_value_more_text(tlb_machine_reader *r, char *out, size_t size);
int tlb_value_name(tlb_machine_reader *r, char *out, size_t size);

/* 'WORDS', not more of them than leaves room for the rest of a sentence. */
static inline void tlb_machine_quote(tlb_text *t, const char *words,
                                     size_t most)
{
   const size_t n = tlb_text_length(words);
   tlb_text_add(t, "'");
   tlb_text_add_n(t, words, n < most ? n : most);
   tlb_text_add(t, "'");
}

/* Whether it is what a step's `cache` can be: no cache of tables is called so. */
int tlb_is_step_cache_word(const char *word);

/* The words of `users`, `threads` and `inclusion`, for the printer, too. */
enum { TLB_N_USER_WORDS = 4, TLB_N_SHARING_WORDS = 4, TLB_N_INCLUSION_WORDS = 3 };

typedef struct {
   const char *word;
   unsigned bits;
} tlb_user_word;

extern const tlb_user_word tlb_user_words[TLB_N_USER_WORDS];
extern const char *const tlb_sharing_words[TLB_N_SHARING_WORDS];
extern const char *const tlb_inclusion_words[TLB_N_INCLUSION_WORDS];

#endif
