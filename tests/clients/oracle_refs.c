/* Functions whose references are known: instructions, reads, writes.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Prints "expect FUNCTION Ir - - Dr - - Dw - -": what misses depends on what ran before. The
   functions are assembly, so that the compiler has no say.

   The rules are cachegrind's:
   - every instruction is a fetch; so is every round of a repeated one, and the last, which finds
     the counter at zero;
   - a read or write of an instruction is one reference, however wide and wherever it lies;
   - a modify (reads bytes and writes them back) is one read;
   - of what may happen or not, what happens counts: the lanes of a masked move that are on.
   And some follow from how Vex takes instructions apart:
   - what locks reads, and then compares and swaps, which are two reads; but the cmpxchg family only
     compares and swaps, one read;
   - a large save is one write by a helper, and one for each register that is moved without;
   - the lane of a gather that is off reads, if not where its index says.

   Vex drops a load whose result is overwritten before anybody needs it, as in `compare' and
   `unused', unless it has to keep all registers up to date at all times (--px-default and
   --px-file-backed). These are the counts of the program as it is written.  */

#include <cpuid.h>
#include <stdio.h>

unsigned char here[8192] __attribute__((aligned(4096)));
unsigned char there[8192] __attribute__((aligned(4096)));

#ifdef __x86_64__
#define R(name) "%r" name
#else
#define R(name) "%e" name
#endif
#define SI R("si")
#define DI R("di")

/* FUNCTION(name, Ir, Dr, Dw, body). What all functions share is not in the numbers: they begin by
   pointing SI and DI to `here' and `there', and end with a ret, which reads. */
enum { COMMON_IR = 3, COMMON_DR = 1 };

#define PLAIN \
   FUNCTION(nothing, 0, 0, 0, "") \
   FUNCTION(loads, 3, 3, 0, "movb (" SI "), %al\n movw 2(" SI "), %ax\n movl 4(" SI "), %eax\n") \
   FUNCTION(stores, 3, 0, 3, "movb %al, (" SI ")\n movw %ax, 2(" SI ")\n movl %eax, 4(" SI ")\n") \
   FUNCTION(line_end, 2, 1, 1, "movl 62(" SI "), %eax\n movl %eax, 125(" SI ")\n") \
   FUNCTION(page_end, 2, 1, 1, "movl 4094(" SI "), %eax\n movl %eax, 4093(" DI ")\n") \
   FUNCTION(modify, 4, 4, 0, \
            "addl $1, (" SI ")\n incl 4(" SI ")\n notl 4094(" SI ")\n shll $3, 12(" SI ")\n") \
   FUNCTION(compare, 2, 2, 0, "cmpl $0, (" SI ")\n testb $1, 4(" SI ")\n") \
   FUNCTION(unused, 2, 1, 0, "movl (" SI "), %eax\n movl $1, %eax\n") \
   FUNCTION(load_then_store, 2, 1, 1, "movl (" SI "), %eax\n movl %eax, (" SI ")\n") \
   FUNCTION(cond_move, 2, 1, 0, "cmp %eax, %eax\n cmovne (" SI "), %eax\n") \
   FUNCTION(push_pop, 2, 1, 1, "push " R("ax") "\n pop " R("ax") "\n") \
   FUNCTION(push_pop_memory, 2, 2, 2, "push (" SI ")\n pop (" DI ")\n") \
   FUNCTION(call_ret, 3, 1, 1, "call 1f\n jmp 2f\n 1: ret\n 2:\n") \
   FUNCTION(frame, 3, 1, 1, "push " R("bp") "\n mov " R("sp") ", " R("bp") "\n leave\n") \
   FUNCTION(exchange, 1, 2, 0, "xchg %eax, (" SI ")\n") \
   FUNCTION(exchange_add, 2, 3, 0, "xadd %eax, (" SI ")\n lock xadd %eax, (" SI ")\n") \
   FUNCTION(locked, 3, 6, 0, "lock addl $1, (" SI ")\n lock incl (" SI ")\n" \
            "lock btsl $1, (" SI ")\n") \
   FUNCTION(compare_exchange, 2, 2, 0, "cmpxchg %ecx, (" SI ")\n lock cmpxchg %ecx, (" SI ")\n") \
   FUNCTION(cas_loop, 1 + 10 * 6, 2 * 10, 0, \
            "mov $10, %edx\n 1: movl (" SI "), %eax\n lea 1(" R("ax") "), %ecx\n" \
            "lock cmpxchg %ecx, (" SI ")\n jne 1b\n dec %edx\n jnz 1b\n") \
   FUNCTION(compare_exchange_8b, 1, 1, 0, "lock cmpxchg8b (" SI ")\n") \
   FUNCTION(strings, 3, 2, 2, "movsb\n lodsl\n stosl\n") \
   FUNCTION(rep_movsb, 1 + 21, 20, 20, "mov $20, %ecx\n rep movsb\n") \
   FUNCTION(rep_movsb_none, 1 + 1, 0, 0, "xor %ecx, %ecx\n rep movsb\n") \
   FUNCTION(rep_stosl, 1 + 31, 0, 30, "mov $30, %ecx\n rep stosl\n") \
   FUNCTION(repne_scasb, 2 + 41, 40, 0, "mov $0x7f, %al\n mov $40, %ecx\n repne scasb\n") \
   FUNCTION(repe_cmpsb, 3 + 10, 2 * 9, 0, \
            "lea 300(" SI "), " SI "\n lea 300(" DI "), " DI "\n mov $9, %ecx\n repe cmpsb\n") \
   FUNCTION(x87_moves, 6, 3, 3, "fldl (" SI ")\n fstpl (" DI ")\n fildl (" SI ")\n" \
            "fistpl (" DI ")\n fldt (" SI ")\n fstpt (" DI ")\n") \
   FUNCTION(x87_environment, 3, 1, 1, "fnstenv (" SI ")\n fldenv (" SI ")\n fninit\n") \
   FUNCTION(x87_save, 2, 1, 1, "fnsave (" SI ")\n frstor (" SI ")\n") \
   FUNCTION(x87_save_straddling, 2, 1, 1, "fnsave 4000(" SI ")\n frstor 4000(" SI ")\n") \
   FUNCTION(sse, 4, 2, 2, "movups (" SI "), %xmm0\n movups %xmm0, 4090(" DI ")\n" \
            "movsd (" SI "), %xmm0\n movsd %xmm0, (" DI ")\n") \
   FUNCTION(control_words, 4, 2, 2, "stmxcsr (" SI ")\n ldmxcsr (" SI ")\n" \
            "fnstcw (" SI ")\n fldcw (" SI ")\n") \
   FUNCTION(many_pages_apart, 1 + 9 * 5, 9, 9, \
            "mov $9, %ecx\n 1: movl (" SI "), %eax\n movl %eax, (" DI ")\n" \
            "add $409, " DI "\n dec %ecx\n jnz 1b\n")

#ifdef __x86_64__
#define BY_WORD \
   FUNCTION(quadwords, 3, 2, 1, "movq (%rsi), %rax\n movq %rax, (%rdi)\n cmpq %rax, (%rdi)\n") \
   FUNCTION(compare_exchange_16b, 1, 1, 0, "lock cmpxchg16b (%rsi)\n") \
   FUNCTION(rep_movsq, 1 + 13, 12, 12, "mov $12, %ecx\n rep movsq\n") \
   FUNCTION(fxsave, 1, 0, 18, "fxsave (%rsi)\n") \
   FUNCTION(fxrstor, 1, 18, 0, "fxrstor (%rsi)\n")
#else
#define BY_WORD \
   FUNCTION(all_registers, 2, 7, 8, "pusha\n popa\n") \
   FUNCTION(fxsave, 1, 0, 1, "fxsave (%esi)\n") \
   FUNCTION(fxrstor, 1, 1, 0, "fxrstor (%esi)\n")
#endif

/* Masks with no, one and all of eight lanes on. */
#define MASK_0 "vxorps %ymm1, %ymm1, %ymm1\n"
#define MASK_1 "mov $-1, %eax\n vmovd %eax, %xmm1\n"
#define MASK_8 "vxorps %ymm1, %ymm1, %ymm1\n vcmptrueps %ymm1, %ymm1, %ymm1\n"

#define WITH_AVX \
   FUNCTION(avx, 3, 1, 1, "vmovups (%rsi), %ymm0\n vmovups %ymm0, 4080(%rdi)\n vzeroupper\n") \
   FUNCTION(masked_load_0, 2, 0, 0, MASK_0 "vmaskmovps (%rsi), %ymm1, %ymm0\n") \
   FUNCTION(masked_load_1, 3, 1, 0, MASK_1 "vmaskmovps (%rsi), %ymm1, %ymm0\n") \
   FUNCTION(masked_load_8, 3, 8, 0, MASK_8 "vmaskmovps (%rsi), %ymm1, %ymm0\n") \
   FUNCTION(masked_load_4, 3, 4, 0, MASK_8 "vmaskmovpd 4080(%rsi), %ymm1, %ymm0\n") \
   FUNCTION(masked_store_0, 2, 0, 0, MASK_0 "vmaskmovps %ymm0, %ymm1, (%rdi)\n") \
   FUNCTION(masked_store_1, 3, 0, 1, MASK_1 "vmaskmovps %ymm0, %ymm1, (%rdi)\n") \
   FUNCTION(masked_store_8, 3, 0, 8, MASK_8 "vmaskmovps %ymm0, %ymm1, 4082(%rdi)\n")

#define WITH_AVX2 \
   FUNCTION(masked_int_load_1, 3, 1, 0, MASK_1 "vpmaskmovd (%rsi), %ymm1, %ymm0\n") \
   FUNCTION(masked_int_load_8, 3, 8, 0, MASK_8 "vpmaskmovd (%rsi), %ymm1, %ymm0\n") \
   FUNCTION(masked_int_store_8, 3, 0, 8, MASK_8 "vpmaskmovd %ymm0, %ymm1, (%rdi)\n") \
   FUNCTION(gather_0, 3, 8, 0, \
            MASK_0 "vxorps %ymm2, %ymm2, %ymm2\n vgatherdps %ymm1, (%rsi,%ymm2,4), %ymm0\n") \
   FUNCTION(gather_8, 4, 8, 0, \
            MASK_8 "vxorps %ymm2, %ymm2, %ymm2\n vgatherdps %ymm1, (%rsi,%ymm2,4), %ymm0\n")

/* In the last one Vex cannot know that the x87's part is left out: its helper stays, guarded. */
volatile unsigned only_sse = 2;
#define SAVE(mask) "mov $" #mask ", %eax\n xor %edx, %edx\n xsave (%rsi)\n"
#define WITH_XSAVE \
   FUNCTION(xsave_none, 3, 1, 0, SAVE(0)) \
   FUNCTION(xsave_x87, 3, 1, 1, SAVE(1)) \
   FUNCTION(xsave_sse, 3, 1, 17, SAVE(2)) \
   FUNCTION(xsave_all, 3, 1, 34, SAVE(7)) \
   FUNCTION(xsave_sse_at_run_time, 3, 2, 17, "mov only_sse, %eax\n xor %edx, %edx\n xsave (%rsi)\n")

#define FUNCTION(name, ir, dr, dw, body) \
   __asm__("        .text\n" \
           "        .globl " #name "\n" \
           "        .type " #name ", @function\n" \
           #name ": mov $here, " SI "\n" \
           "        mov $there, " DI "\n" \
           body \
           "        ret\n" \
           "        .size " #name ", . - " #name "\n"); \
   void name(void);

PLAIN
BY_WORD
#ifdef __x86_64__
WITH_AVX
WITH_AVX2
WITH_XSAVE
#endif

/* Runs a function, all of whose registers but the stack's may change. */
__attribute__((noinline)) static void run(void (*function)(void))
{
#ifdef __x86_64__
   __asm__ volatile("sub $128, %%rsp\n call *%0\n add $128, %%rsp" : "+a"(function)
                    : : "rbx", "rcx", "rdx", "rsi", "rdi", "memory", "cc");
#else
   __asm__ volatile("call *%0" : "+a"(function)
                    : : "ebx", "ecx", "edx", "esi", "edi", "memory", "cc");
#endif
}

enum { CALLS = 3 };

static void count(const char *name, void (*function)(void), int ir, int dr, int dw)
{
   for (int i = 0; i < CALLS; i++)
      run(function);
   printf("expect %s %d - - %d - - %d - -\n", name, CALLS * (ir + COMMON_IR),
          CALLS * (dr + COMMON_DR), CALLS * dw);
}

int main(void)
{
#undef FUNCTION
#define FUNCTION(name, ir, dr, dw, body) count(#name, name, ir, dr, dw);
   PLAIN
   BY_WORD
#ifdef __x86_64__
   unsigned a, b, c, d;
   __cpuid(1, a, b, c, d);
   if (c & bit_AVX) {
      WITH_AVX
      if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2)) {
         WITH_AVX2
      }
      __cpuid(1, a, b, c, d);
      if (c & bit_OSXSAVE) {
         WITH_XSAVE
      }
   }
#endif
   return 0;
}
