/* Looks for a function in the vDSO as programs do that have no dynamic linker do it for
   them, by its name and its version. Prints the vDSO's name, the version if the vDSO has
   it, and whether the function was found. */

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

typedef struct {
   const char *base;
   const ElfW(Dyn) *dynamic;
} Object;

static Object find_object(const char *start)
{
   const ElfW(Ehdr) *const file = (const ElfW(Ehdr) *)(const void *)start;
   const ElfW(Phdr) *p = (const ElfW(Phdr) *)(const void *)(start + file->e_phoff);
   Object o = { start, NULL };
   for (int i = 0; i < file->e_phnum; i++, p++) {
      if (p->p_type == PT_LOAD)
         o.base = start + p->p_offset - p->p_vaddr;
      else if (p->p_type == PT_DYNAMIC)
         o.dynamic = (const ElfW(Dyn) *)(const void *)(start + p->p_offset);
   }
   return o;
}

static ElfW(Addr) entry(const Object *o, ElfW(Sxword) tag)
{
   for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
      if (d->d_tag == tag)
         return d->d_un.d_val;
   }
   return 0;
}

static const void *at(const Object *o, ElfW(Sxword) tag)
{
   return o->base + entry(o, tag);
}

/* No test for an end before the first: that there are versions is relied on. */
static int has_version(const Object *o, const char *name, unsigned hash)
{
   const char *def = at(o, DT_VERDEF);
   for (;;) {
      const ElfW(Verdef) *const v = (const ElfW(Verdef) *)(const void *)def;
      const ElfW(Verdaux) *const aux = (const ElfW(Verdaux) *)(const void *)(def + v->vd_aux);
      if ((v->vd_flags & VER_FLG_BASE) == 0 && v->vd_hash == hash
          && strcmp((const char *)at(o, DT_STRTAB) + aux->vda_name, name) == 0)
         return 1;
      if (v->vd_next == 0)
         return 0;
      def += v->vd_next;
   }
}

/* The second word of the hash table tells how many symbols there are. (Some kernels have
   a table of another kind alone.) */
static const char *function(const Object *o, const char *name)
{
   const ElfW(Sym) *const symbol = at(o, DT_SYMTAB);
   if (entry(o, DT_HASH) == 0)
      return "unknown functions";
   const unsigned n = ((const unsigned *)at(o, DT_HASH))[1];
   for (unsigned i = 0; i < n; i++) {
      if (strcmp((const char *)at(o, DT_STRTAB) + symbol[i].st_name, name) == 0)
         return "a function";
   }
   return "no function";
}

int main(void)
{
   enum { HASH_OF_LINUX_2_6 = 0x3ae75f6 };
   const char *const start = (const char *)getauxval(AT_SYSINFO_EHDR);
   if (start == NULL) {
      puts("none");
      return 0;
   }
   const Object o = find_object(start);
   printf("%s, %s, %s\n", (const char *)at(&o, DT_STRTAB) + entry(&o, DT_SONAME),
          has_version(&o, "LINUX_2.6", HASH_OF_LINUX_2_6) ? "LINUX_2.6" : "another version",
          function(&o, "__vdso_time"));
   return 0;
}
