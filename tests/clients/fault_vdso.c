/* Looks for a function in the vDSO as programs do that have no dynamic linker do it for
   them, by its name and its version. Prints the vDSO's name, the version if the vDSO has
   it, and whether the function was found; then what the function for random bytes says of
   its states, and how many bytes it gives. */

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/types.h>

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
static const ElfW(Sym) *function(const Object *o, const char *name)
{
   const ElfW(Sym) *const symbol = at(o, DT_SYMTAB);
   const unsigned n = entry(o, DT_HASH) == 0 ? 0 : ((const unsigned *)at(o, DT_HASH))[1];
   for (unsigned i = 0; i < n; i++) {
      if (strcmp((const char *)at(o, DT_STRTAB) + symbol[i].st_name, name) == 0)
         return &symbol[i];
   }
   return NULL;
}

/* linux/random.h has this since 6.11. */
typedef struct {
   unsigned state_bytes, prot, flags, reserved[13];
} StateParameters;

typedef ssize_t GetRandom(void *buffer, size_t length, unsigned flags, void *state,
                          size_t state_bytes);

static void show_random(const Object *o)
{
   const ElfW(Sym) *const symbol = function(o, "__vdso_getrandom");
   if (symbol == NULL) {
      puts("no random bytes");
      return;
   }
   GetRandom *getrandom = NULL;
   const char *const code = o->base + symbol->st_value;
   memcpy(&getrandom, &code, sizeof getrandom);
   StateParameters p;
   memset(&p, 255, sizeof p);
   if (getrandom(NULL, 0, 0, &p, ~0UL) != 0)
      return;
   unsigned reserved = 0;
   for (unsigned i = 0; i < sizeof p.reserved / sizeof p.reserved[0]; i++)
      reserved |= p.reserved[i];
   printf("states of %u bytes, %#x, %#x, %#x\n", p.state_bytes, p.prot, p.flags, reserved);
   char bytes[16] = { 0 }, none[16] = { 0 };
   void *state = mmap(NULL, 4096, (int)p.prot, (int)p.flags, -1, 0);
   if (state == MAP_FAILED)
      return;
   for (int i = 0; i < 2; i++) {
      const ssize_t n = getrandom(bytes, sizeof bytes, 0, state, p.state_bytes);
      printf("%zd bytes, %s\n", n, memcmp(bytes, none, sizeof none) == 0 ? "zero" : "random");
   }
   printf("unknown flag: %zd\n", getrandom(bytes, sizeof bytes, 1u << 31, state, p.state_bytes));
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
          function(&o, "__vdso_time") != NULL ? "a function" : "no function");
   show_random(&o);
   return 0;
}
