/* Reads the program's ELF headers. See base/program.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_vki.h"

#include "base/program.h"

/* The core's, without a header for tools. */
extern UWord* VG_(client_auxv);

enum { AT_NULL_ = 0, AT_PHDR_ = 3, AT_PHNUM_ = 5, AT_ENTRY_ = 9 };
enum { PT_LOAD_ = 1, PT_PHDR_ = 6, PF_W_ = 2 };

#if VG_WORDSIZE == 8
typedef struct {
   UInt type, flags;
   ULong offset, vaddr, paddr, filesz, memsz, align;
} Header;
enum { E_PHOFF = 32, E_PHNUM = 56 };
#else
typedef struct {
   UInt type;
   UInt offset, vaddr, paddr, filesz, memsz, flags, align;
} Header;
enum { E_PHOFF = 28, E_PHNUM = 44 };
#endif

typedef struct {
   const Header* at;
   UInt n;
   Addr bias; /* added to the addresses in the headers */
} Headers;

static Headers headers_at(Addr a, UInt n)
{
   if (!VG_(am_is_valid_for_client)(a, n * sizeof(Header), VKI_PROT_READ))
      n = 0;
   return (Headers){ .at = (const Header*)a, .n = n };
}

/* The number of the first loaded segment from number i on; n: there is none. */
static UInt next_loaded(const Headers* h, UInt i)
{
   while (i < h->n && h->at[i].type != PT_LOAD_)
      i++;
   return i;
}

/* fs/binfmt_elf.c clears the rest of the page after a segment's bytes from the file, if the segment
   continues in memory: in every segment, before it loads the next. */
static void add_cleared(const Headers* h, TgCleared* c)
{
   for (UInt i = next_loaded(h, 0); i < h->n; i = next_loaded(h, i + 1)) {
      const Header* s = &h->at[i];
      const Addr end = h->bias + (Addr)s->vaddr + (Addr)s->filesz;
      if (s->filesz > 0 && s->memsz > s->filesz && (s->flags & PF_W_) != 0
          && end % VKI_PAGE_SIZE != 0 && c->n < TG_MAX_CLEARED)
         c->at[c->n++] = end;
   }
}

/* --- The program --- */

static UWord auxiliary(UWord type)
{
   const UWord* pair = VG_(client_auxv);
   while (pair != NULL && pair[0] != AT_NULL_) {
      if (pair[0] == type)
         return pair[1];
      pair += 2;
   }
   return 0;
}

static Addr bias_of(const Headers* h)
{
   for (UInt i = 0; i < h->n; i++) {
      if (h->at[i].type == PT_PHDR_)
         return (Addr)h->at - (Addr)h->at[i].vaddr;
   }
   /* The headers are in the segment with the file's first byte. */
   for (UInt i = next_loaded(h, 0); i < h->n; i = next_loaded(h, i + 1)) {
      if (h->at[i].offset == 0)
         return ((Addr)h->at & ~(Addr)(VKI_PAGE_SIZE - 1)) - (Addr)h->at[i].vaddr;
   }
   return 0;
}

static TgProgram program;
static Headers headers;

void tg_program_read(void)
{
   Headers h = headers_at(auxiliary(AT_PHDR_), (UInt)auxiliary(AT_PHNUM_));
   h.bias = bias_of(&h);
   program = (TgProgram){ .entry = auxiliary(AT_ENTRY_), .headers = (Addr)h.at,
                          .is_pie = h.bias != 0, .alignment = 1 };
   headers = h;
   for (UInt i = next_loaded(&h, 0); i < h.n; i = next_loaded(&h, i + 1)) {
      const Header* s = &h.at[i];
      if (s->align > program.alignment)
         program.alignment = (Addr)s->align;
      if (s->filesz > 0)
         program.data = h.bias + (Addr)s->vaddr + (Addr)s->filesz - 1;
      else if (program.n_bss_apart < TG_MAX_BSS_APART)
         program.bss_apart[program.n_bss_apart++]
            = (h.bias + (Addr)s->vaddr) & ~(Addr)(VKI_PAGE_SIZE - 1);
   }
}

const TgProgram* tg_program(void)
{
   return &program;
}

Bool tg_program_is_bss(Addr page)
{
   for (UInt i = 0; i < program.n_bss_apart; i++) {
      if (program.bss_apart[i] == page)
         return True;
   }
   return False;
}

/* --- Its interpreter --- */

static Headers interpreter_headers(Addr base)
{
   const UChar* elf = (const UChar*)base;
   if (base == 0 || !VG_(am_is_valid_for_client)(base, 64, VKI_PROT_READ))
      return (Headers){ .n = 0 };
   Headers h = headers_at(base + *(const UWord*)(const void*)(elf + E_PHOFF),
                          *(const UShort*)(const void*)(elf + E_PHNUM));
   h.bias = base;
   return h;
}

TgCleared tg_program_cleared(Addr interpreter)
{
   const Headers its = interpreter_headers(interpreter);
   TgCleared c = { .n = 0 };
   add_cleared(&headers, &c);
   add_cleared(&its, &c);
   return c;
}
