/* Processors' answers to CPUID, read from the dumps in tests/unit/cpuid.

   The dumps are facts: what the machines themselves answer, as published by their owners, or
   answers that are put together from the vendors' figures (the .cases files mark these).
   Registers that say nothing of translation are left out or zero. tests/cpuid/cpuid_facts.py
   reads the same files.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef CPUID_SUPPORT_H
#define CPUID_SUPPORT_H

#include "unit.h"

#include <glob.h>
#include <inttypes.h>

#include "sim/machine/cpuid.h"

#define CPUID_FILES SOURCE_FOLDER "/tests/unit/cpuid/"

typedef struct {
   uint32_t leaf, subleaf, r[4];
} answer;

typedef struct {
   size_t n;
   answer a[24];
} processor;

static inline int scan_answer(const char *line, answer *a)
{
   return sscanf(line,
                 " 0x%" SCNx32 " 0x%" SCNx32 ": eax=0x%" SCNx32 " ebx=0x%" SCNx32
                 " ecx=0x%" SCNx32 " edx=0x%" SCNx32,
                 &a->leaf, &a->subleaf, &a->r[0], &a->r[1], &a->r[2], &a->r[3]) == 6;
}

/* Puts an answer in the place of the one for the same leaf and sub-leaf, or behind the last. */
static inline void set_answer(processor *p, const answer *a)
{
   size_t i = 0;
   while (i < p->n && (p->a[i].leaf != a->leaf || p->a[i].subleaf != a->subleaf))
      i++;
   assert_true(i < sizeof p->a / sizeof p->a[0]);
   p->a[i] = *a;
   p->n += i == p->n;
}

/* The processor of tests/unit/cpuid/NAME.cpuid. */
static inline processor read_processor(const char *name)
{
   processor p = { .n = 0 };
   char path[400], line[100];
   snprintf(path, sizeof path, CPUID_FILES "%s.cpuid", name);
   FILE *const f = fopen(path, "r");
   if (f == NULL)
      fail_msg("%s cannot be opened", path);
   if (fgets(line, sizeof line, f) == NULL || strcmp(line, "CPU 0:\n") != 0)
      fail_msg("%s does not begin with 'CPU 0:'", path);
   while (fgets(line, sizeof line, f) != NULL) {
      const size_t before = p.n;
      answer a;
      if (!scan_answer(line, &a))
         fail_msg("%s: not understood: %s", path, line);
      set_answer(&p, &a);
      assert_int_equal(p.n, before + 1);
   }
   fclose(f);
   return p;
}

/* Calls `look` for each processor in tests/unit/cpuid. */
static inline void for_each_processor(void (*look)(const char *name, const processor *p))
{
   glob_t found;
   assert_int_equal(glob(CPUID_FILES "*.cpuid", 0, NULL, &found), 0);
   assert_in_range(found.gl_pathc, 30, 1000);
   for (size_t i = 0; i < found.gl_pathc; i++) {
      char *const name = strrchr(found.gl_pathv[i], '/') + 1;
      *strrchr(name, '.') = '\0';
      const processor p = read_processor(name);
      look(name, &p);
   }
   globfree(&found);
}

/* A tlb_cpuid_ask of a `processor`. */
static inline tlb_cpuid ask_processor(void *opaque, uint32_t leaf, uint32_t subleaf)
{
   const processor *const p = opaque;
   for (size_t i = 0; i < p->n; i++) {
      const answer *const a = &p->a[i];
      if (a->leaf == leaf && a->subleaf == subleaf)
         return (tlb_cpuid){ a->r[0], a->r[1], a->r[2], a->r[3] };
   }
   return (tlb_cpuid){ 0, 0, 0, 0 };
}

/* The text of a dump that grows. */
typedef struct {
   char text[65536];
   size_t n;
} dump;

__attribute__((format(printf, 2, 3)))
static inline void add(dump *d, const char *format, ...)
{
   va_list args;
   va_start(args, format);
   d->n += (size_t)vsnprintf(d->text + d->n, sizeof d->text - d->n, format, args);
   va_end(args);
   assert_true(d->n < sizeof d->text);
}

static inline void add_answers(dump *d, const answer *a, size_t n)
{
   for (size_t i = 0; i < n; i++)
      add(d, "   0x%08x 0x%02x: eax=0x%08x ebx=0x%08x ecx=0x%08x edx=0x%08x\n", a[i].leaf,
          a[i].subleaf, a[i].r[0], a[i].r[1], a[i].r[2], a[i].r[3]);
}

static inline void add_cpu(dump *d, unsigned cpu, const processor *p)
{
   add(d, "CPU %u:\n", cpu);
   add_answers(d, p->a, p->n);
}

#endif
