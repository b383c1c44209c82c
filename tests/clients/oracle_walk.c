/* Walks over pages whose misses are known to the last one.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   oracle_walk POLICY[:SEED] ENTRIES WAYS LAST-ENTRIES LAST-WAYS
   prints what each walk has to cost on TLBs like that, as lines "expect FUNCTION" followed by the
   nine events in the out-file's order.

   The program has no libc and its first instruction is the first walk's, so the TLBs are empty
   then, and every reference from there to the end of the last walk is written down below. The
   walks fall through from one into the next and use no stack. Only after them comes any compiled
   code: the model, which repeats the walks on TLBs of its own. It is as simple as can be and shares
   nothing with the tool.  */

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned long word;

enum { PAGE = 4096, AREA_PAGES = 512 };

/* The walks' pages. */
unsigned char area[AREA_PAGES * PAGE] __attribute__((aligned(PAGE)));

#ifdef __x86_64__
#define CX "%rcx"
#define PASS_STACK "mov %rsp, %rdi\n and $-16, %rsp\n call report\n"
#else
#define CX "%ecx"
#define PASS_STACK "mov %esp, %eax\n and $-16, %esp\n sub $12, %esp\n push %eax\n call report\n"
#endif

/* The walks: name, what is done to each place, first page, offset in it, distance between the
   places in pages, number of places, rounds. */
#define WALKS \
   WALK(read16,      READ,   0,    0,    1,  16,  50) \
   WALK(read17,      READ,   16,   8,    1,  17,  50) \
   WALK(write16,     WRITE,  40,   100,  1,  16,  20) \
   WALK(write17,     WRITE,  60,   3,    1,  17,  20) \
   WALK(modify16,    MODIFY, 100,  64,   1,  16,  20) \
   WALK(conflict2,   READ,   120,   0,    64, 2,   40) \
   WALK(conflict4,   READ,   1,    0,    16, 4,   40) \
   WALK(conflict5,   MODIFY, 2,    0,    16, 5,   40) \
   WALK(conflict9,   WRITE,  3,    0,    32, 9,   15) \
   WALK(read64,      READ,   128,  40,   1,  64,  8)  \
   WALK(read65,      READ,   200,  40,   1,  65,  8)  \
   WALK(read_odd,    READ,   5,    0,    7,  60,  7)  \
   WALK(write_odd,   WRITE,  9,    2000, 13, 37,  9)  \
   WALK(again16,     READ,   0,    4092, 1,  16,  3)  \
   WALK(lines,       READ,   300,  62,   1,  3,   30) \
   WALK(straddle_r,  READ,   310,  4094, 1,  12,  20) \
   WALK(straddle_w,  WRITE,  330,  4093, 1,  16,  20) \
   WALK(straddle_m,  MODIFY, 350,  4095, 1,  9,   20) \
   WALK(straddle_far, READ,  370,  4095, 16, 6,   20) \
   WALK(all,         READ,   0,    0,    1,  500, 3)  \
   WALK(all_again,   WRITE,  0,    4090, 3,  160, 3)

/* Walks of the program counter: name, kind, number of pages, rounds. JUMP: each page holds a jump
   to the next. CROSS: an instruction of five bytes lies across the end of each page. */
#define CODE_WALKS \
   CODE_WALK(code8,   JUMP,  8,   30) \
   CODE_WALK(code16,  JUMP,  16,  30) \
   CODE_WALK(code17,  JUMP,  17,  30) \
   CODE_WALK(code70,  JUMP,  70,  6)  \
   CODE_WALK(cross5,  CROSS, 5,   30) \
   CODE_WALK(cross20, CROSS, 20,  10)

/* --- The walks themselves, all on one page of code --- */

#define WALK(name, what, first, offset, step, places, rounds) \
   "        walk_" #what " " #name ", " #first ", " #offset ", " #step ", " \
   #places ", " #rounds "\n"
#define CODE_WALK(name, kind, pages, rounds) "        go_and_return " #name ", " #rounds "\n"

__asm__(
   ".macro walk name, first, offset, step, places, rounds, operation:vararg\n"
   "        .type \\name, @function\n"
   "\\name: mov $\\rounds, %edx\n"
   "1:      mov $(area + \\first * 4096 + \\offset), " CX "\n"
   "        mov $\\places, %ebx\n"
   "2:      \\operation\n"
   "        add $(\\step * 4096), " CX "\n"
   "        dec %ebx\n"
   "        jnz 2b\n"
   "        dec %edx\n"
   "        jnz 1b\n"
   "        .size \\name, . - \\name\n"
   ".endm\n"
   ".macro walk_READ args:vararg\n walk \\args, movl (" CX "), %eax\n .endm\n"
   ".macro walk_WRITE args:vararg\n walk \\args, movl %eax, (" CX ")\n .endm\n"
   ".macro walk_MODIFY args:vararg\n walk \\args, addl $1, (" CX ")\n .endm\n"

   ".macro go_and_return name, rounds\n"
   "        .type go_\\name, @function\n"
   "go_\\name:\n"
   "        mov $\\rounds, %edx\n"
   "        jmp \\name\n"
   ".Lback_\\name:\n"
   "        .size go_\\name, . - go_\\name\n"
   ".endm\n"

   "        .section .walks, \"ax\", @progbits\n"
   "        .balign 4096\n"
   "        .globl walks\n"
   "walks:\n"
   "        .globl begin\n"          /* not _start, which Valgrind calls "(below main)" */
   "        .type begin, @function\n"
   "begin:  xor %eax, %eax\n"
   "        .size begin, . - begin\n"
   WALKS
   CODE_WALKS
   "        .type finish, @function\n"
   "finish: " PASS_STACK
   "        ud2\n"
   "        .size finish, . - finish\n"
   "        .org walks + 4096\n"     /* an error if they need more than a page */
);

#undef CODE_WALK
#define CODE_WALK(name, kind, pages, rounds) "        code_" #kind " " #name ", " #pages "\n"

__asm__(
   ".macro code_JUMP name, pages\n"
   "        .balign 4096\n"
   "        .globl \\name\n"
   "        .type \\name, @function\n"
   "\\name:\n"
   "        .rept \\pages - 1\n"
   "        jmp 1f\n"
   "        .balign 4096\n"
   "1:\n"
   "        .endr\n"
   "        dec %edx\n"
   "        jnz \\name\n"
   "        jmp .Lback_\\name\n"
   "        .size \\name, . - \\name\n"
   ".endm\n"

   /* The function begins two bytes before the end of a page. */
   ".macro code_CROSS name, pages\n"
   "        .balign 4096\n"
   "        .skip 4094\n"
   "        .globl \\name\n"
   "        .type \\name, @function\n"
   "\\name:\n"
   "        .rept \\pages - 1\n"
   "        mov $0x12345678, %eax\n"
   "        jmp 1f\n"            /* so far away that it takes five bytes, too */
   "        .skip 4096 - 5 - 5\n"
   "1:\n"
   "        .endr\n"
   "        mov $0x12345678, %eax\n"
   "        dec %edx\n"
   "        jz 1f\n"
   "        jmp \\name\n"
   "1:      jmp .Lback_\\name\n"
   "        .size \\name, . - \\name\n"
   ".endm\n"
   "        .section .code_walks, \"ax\", @progbits\n"
   CODE_WALKS
   "        .text\n"
);

/* --- The model --- */

enum policy { LRU, PLRU, FIFO, NRU, RANDOM };
static const char *const policy_names[] = { "lru", "plru", "fifo", "nru", "random" };
/* Not zero, so that the file has a writable part: without one, Valgrind reads no symbols. */
static enum policy policy = RANDOM;
static u32 seed;

enum { MAX_ENTRIES = 4096 };

struct tlb {
   u32 entries, ways;
   word page[MAX_ENTRIES];      /* set by set; 0: empty */
   u32 stamp[MAX_ENTRIES];      /* LRU: of the last reference; FIFO: of the fill */
   char used[MAX_ENTRIES];      /* NRU */
   char right[MAX_ENTRIES];     /* PLRU: nodes 1 to ways-1 of each set's tree: go right? */
   u32 now;
   u64 random;
};

static struct tlb itlb, dtlb, stlb;

static u32 victim(struct tlb *t, u32 set)
{
   const u32 first = set * t->ways;
   u32 way = 0, i;
   switch (policy) {
   case LRU:
   case FIFO:
      for (i = 1; i < t->ways; i++)
         if (t->stamp[first + i] < t->stamp[first + way])
            way = i;
      return way;
   case PLRU:
      for (i = 1; i < t->ways; )
         i = 2 * i + t->right[first + i];
      return i - t->ways;
   case NRU:
      while (t->used[first + way] && way < t->ways - 1)
         way++;
      return way;
   case RANDOM:
      t->random = t->random * 6364136223846793005u + 1442695040888963407u;
      return (u32)(t->random >> 33) % t->ways;
   }
   return 0;
}

static void touch(struct tlb *t, u32 set, u32 way, int filled)
{
   const u32 first = set * t->ways;
   u32 i, used = 0;
   if (policy == LRU || filled)
      t->stamp[first + way] = ++t->now;
   if (policy == PLRU)
      for (i = t->ways + way; i > 1; i /= 2)
         t->right[first + i / 2] = i % 2 == 0;
   t->used[first + way] = 1;
   for (i = 0; i < t->ways; i++)
      used += t->used[first + i];
   if (used == t->ways)
      for (i = 0; i < t->ways; i++)
         t->used[first + i] = i == way;
}

static int misses(struct tlb *t, word page)
{
   const u32 set = page % (t->entries / t->ways);
   word *const way = t->page + set * t->ways;
   u32 i;
   for (i = 0; i < t->ways; i++)
      if (way[i] == page) {
         touch(t, set, i, 0);
         return 0;
      }
   for (i = 0; i < t->ways && way[i] != 0; i++)
      ;
   if (i == t->ways) {
      i = victim(t, set);
      t->used[set * t->ways + i] = 0;
   }
   way[i] = page;
   touch(t, set, i, 1);
   return 1;
}

static u32 cost[9];
enum { IR = 0, DR = 3, DW = 6 };

static void translate(int kind, word address)
{
   const word page = address / PAGE;
   if (!misses(kind == IR ? &itlb : &dtlb, page))
      return;
   cost[kind + 1]++;
   cost[kind + 2] += misses(&stlb, page);
}

static void refer(int kind, word address)
{
   const word last = address + 4 - 1;
   cost[kind]++;
   translate(kind, address);
   if (last / PAGE != address / PAGE)
      translate(kind, last);
}

extern char walks[];
enum { READ = DR, MODIFY = DR, WRITE = DW };

static void model_walk(int kind, u32 first, u32 offset, u32 step, u32 places, u32 rounds)
{
   translate(IR, (word)walks);
   cost[IR] = 1 + rounds * (2 + places * 4 + 2);
   for (u32 round = 0; round < rounds; round++)
      for (u32 i = 0; i < places; i++)
         refer(kind, (word)area + (first + i * step) * PAGE + offset);
}

static void model_JUMP(word code, u32 pages, u32 rounds)
{
   cost[IR] = rounds * (pages - 1 + 2) + 1;
   for (u32 round = 0; round < rounds; round++)
      for (u32 i = 0; i < pages; i++)
         translate(IR, code + i * PAGE);
}

static void model_CROSS(word code, u32 pages, u32 rounds)
{
   cost[IR] = rounds * (pages + pages - 1 + 2) + rounds - 1 + 1;
   for (u32 round = 0; round < rounds; round++)
      for (u32 i = 0; i < pages; i++) {
         translate(IR, code + i * PAGE);
         translate(IR, code + i * PAGE + 4);
      }
}

/* --- Words --- */

static char text[1 << 14];
static u32 length;

static void put(const char *s)
{
   while (*s)
      text[length++] = *s++;
}

static void put_number(u32 n)
{
   if (n >= 10)
      put_number(n / 10);
   text[length++] = '0' + n % 10;
}

static void print_expected(const char *prefix, const char *name)
{
   put("expect ");
   put(prefix);
   put(name);
   for (int i = 0; i < 9; i++) {
      put(" ");
      put_number(cost[i]);
      cost[i] = 0;
   }
   put("\n");
}

static word system_call(word number, word a, word b, word c)
{
#ifdef __x86_64__
   __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
#else
   __asm__ volatile("int $0x80" : "+a"(number) : "b"(a), "c"(b), "d"(c) : "memory");
#endif
   return number;
}

static void quit(int status)
{
#ifdef __x86_64__
   enum { WRITE_CALL = 1, EXIT_CALL = 231 };
#else
   enum { WRITE_CALL = 4, EXIT_CALL = 252 };
#endif
   system_call(WRITE_CALL, 1, (word)text, length);
   for (;;)
      system_call(EXIT_CALL, status, 0, 0);
}

static u32 number_in(const char *s)
{
   u32 n = 0;
   while (*s >= '0' && *s <= '9')
      n = n * 10 + (*s++ - '0');
   return n;
}

static void read_policy(const char *s)
{
   for (u32 i = 0; i < sizeof policy_names / sizeof policy_names[0]; i++) {
      u32 j = 0;
      while (policy_names[i][j] != 0 && s[j] == policy_names[i][j])
         j++;
      if (policy_names[i][j] == 0 && (s[j] == 0 || s[j] == ':')) {
         policy = i;
         seed = s[j] == ':' ? number_in(s + j + 1) : 0;
         return;
      }
   }
   put("oracle_walk: unknown policy\n");
   quit(2);
}

static void make(struct tlb *t, const char *entries, const char *ways)
{
   t->entries = number_in(entries);
   t->ways = number_in(ways);
   t->random = seed;
}

#undef CODE_WALK
#define CODE_WALK(name, kind, pages, rounds) extern char name[];
CODE_WALKS

/* The stack as the kernel left it: argc, argv. */
__attribute__((used)) static void report(char **stack)
{
   char **argv = stack + 1;
   if ((word)stack[0] != 6) {
      /* Without a geometry: only to be looked at by the tool. */
      put("walked\n");
      quit(0);
   }
   read_policy(argv[1]);
   make(&itlb, argv[2], argv[3]);
   make(&dtlb, argv[2], argv[3]);
   make(&stlb, argv[4], argv[5]);

   translate(IR, (word)walks);
   cost[IR] = 1;
   print_expected("", "begin");
#undef WALK
#define WALK(name, kind, first, offset, step, places, rounds) \
   model_walk(kind, first, offset, step, places, rounds); \
   print_expected("", #name);
   WALKS
#undef CODE_WALK
#define CODE_WALK(name, kind, pages, rounds) \
   translate(IR, (word)walks); \
   cost[IR] = 2; \
   print_expected("go_", #name); \
   model_##kind((word)name, pages, rounds); \
   print_expected("", #name);
   CODE_WALKS
   quit(0);
}
