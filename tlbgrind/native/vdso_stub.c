/* Makes a stand-in for the vDSO. See native/vdso_stub.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

#include "arch/arch.h"
#include "base/proc_file.h"
#include "native/vdso_stub.h"

/* The core's, without a header for tools: maps memory for the program. */
extern SysRes VG_(am_mmap_anon_float_client)(SizeT length, Int prot);

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

/* A version definition with its one name. */
typedef struct {
   UShort version, flags, index, names;
   UInt hash, name_at, next;
   UInt name, next_name;
} Version;

enum { ELF_CLASS = 2 }; /* of 64-bit objects */

typedef struct {
   ULong tag, value;
} Dynamic;

/* The whole ELF object; all its pointers are offsets into this structure. */
typedef struct {
   FileHeader file;
   ProgramHeader load, dynamic_header;
   Dynamic dynamic[10];
   UInt hash[5]; /* one bucket, two symbols: the empty one and the function */
   Symbol symbol[2];
   UShort version_of_symbol[2];
   Version version[2]; /* of the object itself, and of its functions */
   HChar names[44];
} Object;

static const HChar names[] = "\0linux-vdso.so.1\0LINUX_2.6\0__vdso_getrandom";
enum { OBJECT_NAME = 1, VERSION_NAME = 17, GETRANDOM_NAME = 27 };

_Static_assert(sizeof names <= sizeof ((Object*)0)->names, "room for all names");

enum { PT_LOAD_ = 1, PT_DYNAMIC_ = 2, PF_X_ = 1, PF_R_ = 4 };
enum { DT_HASH_ = 4, DT_STRTAB_ = 5, DT_SYMTAB_ = 6, DT_STRSZ_ = 10,
       DT_SYMENT_ = 11, DT_SONAME_ = 14, DT_VERSYM_ = 0x6ffffff0,
       DT_VERDEF_ = 0x6ffffffc, DT_VERDEFNUM_ = 0x6ffffffd };
enum { VERSION_IS_OF_OBJECT = 1, VERSION_OF_FUNCTIONS = 2 };
enum { GLOBAL_FUNCTION = 1 << 4 | 2, SECTION_OF_CODE = 1 };

/* The hash of the System V ABI, by which versions are compared. */
static UInt elf_hash(const HChar* name)
{
   UInt h = 0;
   for (; *name != 0; name++) {
      h = (h << 4) + (UChar)*name;
      h = (h ^ ((h >> 28) << 4)) & 0x0fffffff;
   }
   return h;
}

static Version version_of(UShort index, UInt name, UShort flags, UInt next)
{
   return (Version){ .version = 1, .flags = flags, .index = index, .names = 1,
                     .hash = elf_hash(names + name),
                     .name_at = offsetof(Version, name), .next = next,
                     .name = name };
}

/* The function is on the second page, as most of Linux's is. */
static void add_functions(Object* o)
{
   const SizeT bytes = tg_arch.vdso.getrandom_bytes;
   if (tg_arch.vdso.getrandom == NULL || !tg_proc_linux_is(6, 11))
      return;
   VG_(memcpy)((UChar*)o + VKI_PAGE_SIZE, tg_arch.vdso.getrandom, bytes);
   o->symbol[1] = (Symbol){ .name = GETRANDOM_NAME, .info = GLOBAL_FUNCTION,
                            .shndx = SECTION_OF_CODE, .value = VKI_PAGE_SIZE,
                            .size = bytes };
   o->version_of_symbol[1] = VERSION_OF_FUNCTIONS;
   o->hash[1] = 2; /* symbols */
   o->hash[2] = 1; /* the only bucket's first */
}

Addr tg_vdso_stub(void)
{
   if (tg_arch.vdso.elf_machine == 0)
      return 0;
   const SysRes r = VG_(am_mmap_anon_float_client)(
      tg_proc_vdso_bytes(), VKI_PROT_READ | VKI_PROT_WRITE | VKI_PROT_EXEC);
   if (sr_isError(r))
      return 0;
   Object* const o = (Object*)sr_Res(r);
   const FileHeader file = {
      .ident = { 0x7f, 'E', 'L', 'F', ELF_CLASS, 1, 1 },
      .type = 3, .machine = tg_arch.vdso.elf_machine, .version = 1,
      .phoff = offsetof(Object, load), .ehsize = sizeof(FileHeader),
      .phentsize = sizeof(ProgramHeader), .phnum = 2,
   };
   VG_(memset)(o, 0, sizeof *o);
   o->file = file;
   o->load.type = PT_LOAD_;
   o->load.flags = PF_R_ | PF_X_;
   o->load.filesz = tg_proc_vdso_bytes();
   o->load.memsz = tg_proc_vdso_bytes();
   o->load.align = VKI_PAGE_SIZE;
   o->dynamic_header.type = PT_DYNAMIC_;
   o->dynamic_header.flags = PF_R_;
   o->dynamic_header.offset = offsetof(Object, dynamic);
   o->dynamic_header.vaddr = offsetof(Object, dynamic);
   o->dynamic_header.filesz = sizeof o->dynamic;
   o->dynamic_header.memsz = sizeof o->dynamic;
   const Dynamic dynamic[] = {
      { DT_SONAME_, OBJECT_NAME },
      { DT_HASH_, offsetof(Object, hash) },
      { DT_STRTAB_, offsetof(Object, names) },
      { DT_SYMTAB_, offsetof(Object, symbol) },
      { DT_STRSZ_, sizeof o->names },
      { DT_SYMENT_, sizeof(Symbol) },
      { DT_VERSYM_, offsetof(Object, version_of_symbol) },
      { DT_VERDEF_, offsetof(Object, version) },
      { DT_VERDEFNUM_, 2 },
   };
   VG_(memcpy)(o->dynamic, dynamic, sizeof dynamic);
   o->hash[0] = 1;
   o->hash[1] = 1;
   o->version[0] = version_of(1, OBJECT_NAME, VERSION_IS_OF_OBJECT, sizeof(Version));
   o->version[1] = version_of(VERSION_OF_FUNCTIONS, VERSION_NAME, 0, 0);
   VG_(memcpy)(o->names, names, sizeof names);
   add_functions(o);
   return (Addr)o;
}
