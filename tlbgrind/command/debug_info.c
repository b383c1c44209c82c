/* tlbgrind-debug-info -- says what Valgrind will make of debug information.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   The launcher, tlbgrind, executes it before it starts Valgrind:
   tlbgrind-debug-info VALGRIND'S-VERSION PROGRAM <LIBRARIES
   with a library's name in each line of the standard input. For each file it prints a line if that
   version can not read the information, gives up at it, or reads it wrong, with what to do about
   it. Whatever else is wrong with the file is for others to say. Always ends with status 0: a
   program that is not understood here is run all the same. */

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/valgrind_versions.h"

/* The file in memory. What lies outside of it is read as zero. */
typedef struct {
   const uint8_t *at;
   uint64_t bytes;
   bool is_64;
} file;

typedef struct {
   const char *name;
   uint64_t flags, offset, bytes;
} section;

static uint64_t get(const file *f, uint64_t offset, unsigned bytes)
{
   uint64_t value = 0;
   if (offset > f->bytes || bytes > f->bytes - offset)
      return 0;
   for (unsigned i = 0; i < bytes; i++)
      value |= (uint64_t)f->at[offset + i] << 8 * i;
   return value;
}

/* A field of a structure that has two forms. */
#define FIELD(f, at, kind, member) \
   ((f)->is_64 ? get(f, (at) + offsetof(Elf64_##kind, member), sizeof ((Elf64_##kind *)0)->member) \
               : get(f, (at) + offsetof(Elf32_##kind, member), sizeof ((Elf32_##kind *)0)->member))

static bool is_elf(const file *f)
{
   return f->bytes > EI_DATA && memcmp(f->at, ELFMAG, SELFMAG) == 0
          && f->at[EI_DATA] == ELFDATA2LSB;
}

static uint64_t header_of(const file *f, uint64_t n)
{
   return FIELD(f, 0, Ehdr, e_shoff) + n * FIELD(f, 0, Ehdr, e_shentsize);
}

/* Section number n; its name is "" if it has none in the file. */
static section section_of(const file *f, uint64_t n)
{
   const uint64_t at = header_of(f, n);
   const uint64_t names = FIELD(f, header_of(f, FIELD(f, 0, Ehdr, e_shstrndx)), Shdr, sh_offset);
   const uint64_t name = names + FIELD(f, at, Shdr, sh_name);
   const bool is_there = name < f->bytes && memchr(f->at + name, 0, f->bytes - name) != NULL;
   return (section){ is_there ? (const char *)f->at + name : "", FIELD(f, at, Shdr, sh_flags),
                     FIELD(f, at, Shdr, sh_offset), FIELD(f, at, Shdr, sh_size) };
}

/* What is in the debug information. */
typedef struct {
   bool is_zlib_gnu;    /* sections .zdebug_... */
   bool is_zstd;        /* compressed so */
   bool has_offsets;    /* texts by number: as clang and rustc write DWARF 5 */
   bool is_dwarf_64;    /* units with lengths of 64 bits */
   bool has_other_units; /* units of DWARF 5 with longer headers: of types, or of split files */
   unsigned n_units_5;  /* of DWARF 5; what zlib has compressed is taken to be several */
} finding;

enum { DW_UT_COMPILE = 1, DW_UT_PARTIAL = 3, SEVERAL = 2 };

/* The headers of units, one after the other. */
static void look_at_units(const file *f, const section *s, finding *found)
{
   const uint64_t end = s->offset + s->bytes;
   uint64_t at = s->offset;
   while (at < end && at < f->bytes) {
      uint64_t length = get(f, at, 4), header = 4;
      if (length == 0xffffffff) {
         found->is_dwarf_64 = true;
         length = get(f, at + 4, 8);
         header = 12;
      }
      if (get(f, at + header, 2) == 5) {
         const uint64_t kind = get(f, at + header + 2, 1);
         found->n_units_5++;
         found->has_other_units |= kind != DW_UT_COMPILE && kind != DW_UT_PARTIAL;
      }
      if (length == 0 || length > end - at)
         return;
      at += header + length;
   }
}

static finding look(const file *f)
{
   finding found = { .n_units_5 = 0 };
   const uint64_t n = FIELD(f, 0, Ehdr, e_shnum);
   for (uint64_t i = 0; i < n; i++) {
      const section s = section_of(f, i);
      const bool is_compressed = (s.flags & SHF_COMPRESSED) != 0;
      found.is_zlib_gnu |= strncmp(s.name, ".zdebug_", 8) == 0;
      if (strncmp(s.name, ".debug_", 7) != 0)
         continue;
      /* ELFCOMPRESS_ZSTD, which older headers lack, is 2. */
      const bool is_zstd = is_compressed && FIELD(f, s.offset, Chdr, ch_type) == 2;
      found.is_zstd |= is_zstd;
      found.has_offsets |= strcmp(s.name, ".debug_str_offsets") == 0;
      if (strcmp(s.name, ".debug_info") != 0)
         continue;
      if (!is_compressed)
         look_at_units(f, &s, &found);
      else if (!is_zstd)
         found.n_units_5 = SEVERAL;
   }
   return found;
}

/* "3.19.0" is TG_VALGRIND(3, 19). */
static unsigned version_of(const char *text)
{
   char *end;
   const unsigned long major = strtoul(text, &end, 10);
   return (unsigned)TG_VALGRIND(major, *end == '.' ? strtoul(end + 1, NULL, 10) : 0);
}

/* What Valgrind cannot read; only the first is told. */
static void tell(const char *name, bool is_library, const finding *found, const char *valgrind)
{
   const unsigned version = version_of(valgrind);
   static const char gives_up[] = "gives up at it, and nothing is profiled";
   const struct {
      bool is_there;
      const char *what, *happens, *remedy;
   } troubles[] = {
      { found->has_offsets && found->n_units_5 > 1 && version < TG_VALGRIND_READS_OFFSETS,
        "DWARF 5 as clang and rustc write it", gives_up,
        "compile with -gdwarf-4 (rustc: -C dwarf-version=4), or" },
      { found->has_other_units && version < TG_VALGRIND_READS_OTHER_UNITS,
        "units of types or of split files in DWARF 5", "mostly gives up at it, and then nothing is"
        " profiled", "compile with -gdwarf-4, or" },
      { found->is_dwarf_64, "DWARF in its 64-bit form", gives_up, "compile without -gdwarf64, or" },
      { found->is_zstd && version < TG_VALGRIND_READS_ZSTD, "sections that zstd has compressed",
        "cannot read them", "compile with -gz=none, or" },
      { found->is_zlib_gnu, "sections that are compressed in the old way (-gz=zlib-gnu)",
        "can read wrong names of files", "compile with -gz=none, or" },
   };
   for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
      if (!troubles[i].is_there)
         continue;
      fprintf(stderr,
              "tlbgrind: warning: %s: the debug information has %s: Valgrind %s %s; %s %s a copy"
              " without it%s: objcopy --strip-debug %s COPY\n",
              name, troubles[i].what, valgrind, troubles[i].happens, troubles[i].remedy,
              is_library ? "use" : "run", is_library ? " by LD_LIBRARY_PATH" : "",
              is_library ? "LIBRARY" : "PROGRAM");
      return;
   }
}

static void look_at_file(const char *name, bool is_library, const char *valgrind)
{
   struct stat st;
   const int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
   if (fd < 0)
      return;
   void *memory = MAP_FAILED;
   if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= EI_NIDENT)
      memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
   close(fd);
   if (memory == MAP_FAILED)
      return;
   file f = { .at = memory, .bytes = (uint64_t)st.st_size };
   f.is_64 = f.at[EI_CLASS] == ELFCLASS64;
   if (is_elf(&f)) {
      const finding found = look(&f);
      tell(name, is_library, &found, valgrind);
   }
   munmap(memory, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
   char *line = NULL;
   size_t room = 0;
   if (argc != 3)
      return 0;
   look_at_file(argv[2], false, argv[1]);
   for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
      line[n - (line[n - 1] == '\n')] = '\0';
      look_at_file(line, true, argv[1]);
   }
   free(line);
   return 0;
}
