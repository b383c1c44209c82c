/* Data prefetches in the program's machine code, which Vex's IR does not show.

   A pure function of the instruction's bytes: plain C11, no libc, no Valgrind. */

#ifndef TG_PREFETCH_BYTES_H
#define TG_PREFETCH_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { TG_CODE_X86, TG_CODE_AMD64, TG_CODE_ARM64, TG_CODE_PPC64LE,
               TG_CODE_RISCV64 } tg_prefetch_code;

enum { TG_PREFETCH_NO_REGISTER = 0xff };

typedef enum { TG_SEGMENT_FLAT, TG_SEGMENT_FS, TG_SEGMENT_GS } tg_prefetch_segment;

/* The address is segment + truncated(base + extended(index) << scale + displacement). */
typedef struct {
   uint8_t length;        /* of the instruction, in bytes */
   uint8_t base;          /* registers in the processor's own numbering; arm64: 31 is SP */
   uint8_t index;
   uint8_t scale;         /* the index is shifted left by so many bits: 0 to 3 */
   uint8_t address_bits;  /* the sum is truncated to: 16, 32 or 64 */
   uint8_t index_bits;    /* the index is extended from: 32, or address_bits */
   bool index_signed;     /* how it is extended */
   bool from_next;        /* amd64: relative to the next instruction's address */
   bool from_this;        /* arm64: relative to this instruction's address */
   tg_prefetch_segment segment;
   int64_t displacement;
} tg_prefetch;

/* Whether an instruction of at most `n` bytes at `code` is a data prefetch; then *p describes
   its address. */
bool tg_prefetch_decode(tg_prefetch_code kind, const uint8_t *code, size_t n, tg_prefetch *p);

#endif
