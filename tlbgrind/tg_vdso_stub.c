/* A stand-in for the vDSO. See tg_vdso_stub.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

#include "tg_vdso_stub.h"

/* The core's, without a header for tools: maps memory for the program. */
extern SysRes VG_(am_mmap_anon_float_client)(SizeT length, Int prot);

#if VG_WORDSIZE == 8
typedef struct {
   UChar ident[16];
   UShort type, machine;
   UInt version;
   ULong entry, phoff, shoff;
   UInt flags;
   UShort ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
} FileHeader;

typedef struct {
   UInt type, flags;
   ULong offset, vaddr, paddr, filesz, memsz, align;
} ProgramHeader;

typedef struct {
   UInt name;
   UChar info, other;
   UShort shndx;
   ULong value, size;
} Symbol;
enum { ELF_CLASS = 2 };
#else
typedef struct {
   UChar ident[16];
   UShort type, machine;
   UInt version;
   UInt entry, phoff, shoff;
   UInt flags;
   UShort ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
} FileHeader;

typedef struct {
   UInt type, offset, vaddr, paddr, filesz, memsz, flags, align;
} ProgramHeader;

typedef struct {
   UInt name;
   UInt value, size;
   UChar info, other;
   UShort shndx;
} Symbol;
enum { ELF_CLASS = 1 };
#endif

#if defined(VGA_amd64)
enum { MACHINE = 62 };
#elif defined(VGA_x86)
enum { MACHINE = 3 };
#else
enum { MACHINE = 183 };
#endif

typedef struct {
   UWord tag, value;
} Dynamic;

/* The whole object; what it points to lies in itself, at these offsets. */
typedef struct {
   FileHeader file;
   ProgramHeader load, dynamic_header;
   Dynamic dynamic[7];
   UInt hash[4]; /* one bucket, one symbol: the empty one */
   Symbol symbol[1];
   HChar names[20];
} Object;

enum { PT_LOAD_ = 1, PT_DYNAMIC_ = 2, PF_X_ = 1, PF_R_ = 4 };
enum { DT_HASH_ = 4, DT_STRTAB_ = 5, DT_SYMTAB_ = 6, DT_STRSZ_ = 10,
       DT_SYMENT_ = 11, DT_SONAME_ = 14 };

Addr tg_vdso_stub(void)
{
   const SysRes r = VG_(am_mmap_anon_float_client)(
      VKI_PAGE_SIZE, VKI_PROT_READ | VKI_PROT_WRITE | VKI_PROT_EXEC);
   if (sr_isError(r))
      return 0;
   Object* const o = (Object*)sr_Res(r);
   const FileHeader file = {
      .ident = { 0x7f, 'E', 'L', 'F', ELF_CLASS, 1, 1 },
      .type = 3, .machine = MACHINE, .version = 1,
      .phoff = offsetof(Object, load), .ehsize = sizeof(FileHeader),
      .phentsize = sizeof(ProgramHeader), .phnum = 2,
   };
   VG_(memset)(o, 0, sizeof *o);
   o->file = file;
   o->load.type = PT_LOAD_;
   o->load.flags = PF_R_ | PF_X_;
   o->load.filesz = sizeof *o;
   o->load.memsz = sizeof *o;
   o->load.align = VKI_PAGE_SIZE;
   o->dynamic_header.type = PT_DYNAMIC_;
   o->dynamic_header.flags = PF_R_;
   o->dynamic_header.offset = offsetof(Object, dynamic);
   o->dynamic_header.vaddr = offsetof(Object, dynamic);
   o->dynamic_header.filesz = sizeof o->dynamic;
   o->dynamic_header.memsz = sizeof o->dynamic;
   const Dynamic dynamic[] = {
      { DT_SONAME_, 1 },
      { DT_HASH_, offsetof(Object, hash) },
      { DT_STRTAB_, offsetof(Object, names) },
      { DT_SYMTAB_, offsetof(Object, symbol) },
      { DT_STRSZ_, sizeof o->names },
      { DT_SYMENT_, sizeof(Symbol) },
   };
   VG_(memcpy)(o->dynamic, dynamic, sizeof dynamic);
   o->hash[0] = 1;
   o->hash[1] = 1;
   VG_(strcpy)(o->names + 1, "linux-vdso.so.1");
   return (Addr)o;
}
