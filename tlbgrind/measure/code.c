/* Code that is generated to measure fetches. See measure/code.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/code.h"

/* Where the next bytes go. */
typedef struct {
   char *at;
} Out;

static int64_t distance(const char *from, const char *to)
{
   return (int64_t)((uint64_t)(uintptr_t)to - (uint64_t)(uintptr_t)from);
}

#if defined(__x86_64__)

static void bytes(Out *o, const char *code, size_t n)
{
   memcpy(o->at, code, n);
   o->at += n;
}

static void jump(Out *o, const char *to)
{
   const int32_t by = (int32_t)distance(o->at + 5, to);
   bytes(o, "\xe9", 1); /* jmp to */
   memcpy(o->at, &by, 4);
   o->at += 4;
}

static void load(Out *o)
{
   bytes(o, "\x48\x8b\x36", 3); /* mov (%rsi), %rsi */
}

static void count_turn(Out *o)
{
   bytes(o, "\x48\x83\xef\x01", 4); /* sub $1, %rdi */
   bytes(o, "\x75\x01\xc3", 3);     /* jne past the ret; ret */
}

static void written(char *piece)
{
   (void)piece; /* caches of instructions see what was stored */
}

#else

static void instruction(Out *o, uint32_t code)
{
   memcpy(o->at, &code, 4);
   o->at += 4;
}

#if defined(__aarch64__)

/* By a register, for a branch reaches 128 MB only. */
static void jump(Out *o, const char *to)
{
   const int64_t pages = ((int64_t)((uint64_t)(uintptr_t)to >> 12))
                         - (int64_t)((uint64_t)(uintptr_t)o->at >> 12);
   const int64_t by = distance(o->at, to);
   if (by >= -(1 << 27) && by < 1 << 27) {
      instruction(o, 0x14000000u | ((uint32_t)(by >> 2) & 0x03ffffffu)); /* b to */
      return;
   }
   const uint32_t low = (uint32_t)(uintptr_t)to & 0xfff;
   instruction(o, 0x90000010u | ((uint32_t)pages & 3) << 29
                     | ((uint32_t)(pages >> 2) & 0x7ffff) << 5); /* adrp x16, to */
   instruction(o, 0x91000210u | low << 10);                      /* add x16, x16, low */
   instruction(o, 0xd61f0200u);                                  /* br x16 */
}

static void load(Out *o)
{
   instruction(o, 0xf9400021u); /* ldr x1, [x1] */
}

static void count_turn(Out *o)
{
   instruction(o, 0xf1000400u); /* subs x0, x0, 1 */
   instruction(o, 0x54000041u); /* b.ne past the ret */
   instruction(o, 0xd65f03c0u); /* ret */
}

static void written(char *piece)
{
   __builtin___clear_cache(piece, piece + TG_CODE_BYTES);
}

#elif defined(__powerpc64__)

static void jump(Out *o, const char *to)
{
   const int64_t by = distance(o->at, to);
   const uint64_t a = (uint64_t)(uintptr_t)to;
   if (by >= -(1 << 25) && by < 1 << 25) {
      instruction(o, 0x48000000u | ((uint32_t)by & 0x03fffffcu)); /* b to */
      return;
   }
   instruction(o, 0x3d800000u | (uint32_t)(a >> 48));            /* lis r12 */
   instruction(o, 0x618c0000u | (uint32_t)(a >> 32 & 0xffff));   /* ori r12, r12 */
   instruction(o, 0x798c07c6u);                                  /* sldi r12, r12, 32 */
   instruction(o, 0x658c0000u | (uint32_t)(a >> 16 & 0xffff));   /* oris r12, r12 */
   instruction(o, 0x618c0000u | (uint32_t)(a & 0xffff));         /* ori r12, r12 */
   instruction(o, 0x7d8903a6u);                                  /* mtctr r12 */
   instruction(o, 0x4e800420u);                                  /* bctr */
}

static void load(Out *o)
{
   instruction(o, 0xe8840000u); /* ld r4, 0(r4) */
}

static void count_turn(Out *o)
{
   instruction(o, 0x3463ffffu); /* addic. r3, r3, -1 */
   instruction(o, 0x40820008u); /* bne past the blr */
   instruction(o, 0x4e800020u); /* blr */
}

/* The compiler's own does nothing here. */
static void written(char *piece)
{
   __asm__ volatile("dcbst 0, %0\n\tsync\n\ticbi 0, %0\n\tsync\n\tisync" : : "r"(piece) : "memory");
}

#elif defined(__riscv)

static void jump(Out *o, const char *to)
{
   const int64_t by = distance(o->at, to);
   const uint32_t high = (uint32_t)((by + 0x800) >> 12), low = (uint32_t)by & 0xfff;
   instruction(o, high << 12 | 0x317u);  /* auipc t1, high */
   instruction(o, low << 20 | 0x30067u); /* jalr zero, low(t1) */
}

static void load(Out *o)
{
   instruction(o, 0x0005b583u); /* ld a1, 0(a1) */
}

static void count_turn(Out *o)
{
   instruction(o, 0xfff50513u); /* addi a0, a0, -1 */
   instruction(o, 0x00051463u); /* bnez a0, past the ret */
   instruction(o, 0x00008067u); /* ret */
}

static void written(char *piece)
{
   (void)piece; /* all together: tg_code_written() */
}

#endif
#endif

void tg_code_piece(char *at, const char *next, bool loads)
{
   Out o = { at };
   if (loads)
      load(&o);
   jump(&o, next);
   written(at);
}

void tg_code_first(char *at, const char *next, bool loads)
{
   Out o = { at };
   count_turn(&o);
   if (loads)
      load(&o);
   jump(&o, next);
   written(at);
}

void tg_code_written(char *base, size_t bytes_between)
{
#if defined(__riscv)
   syscall(__NR_riscv_flush_icache, base, base + bytes_between, 0);
#else
   (void)base;
   (void)bytes_between;
   __asm__ volatile("" : : : "memory");
#endif
}
