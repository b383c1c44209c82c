/* Finds the machine at hand. See sim/machine/host_here.h. */

#include "sim/machine/host_here.h"

#include "sim/base/text.h"
#include "sim/machine/builtin.h"
#include "sim/machine/cpuid_here.h"
#include "sim/machine/cpuinfo.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_input.h"

/* No kernel is configured for more CPUs. Those that are off line have no files. */
enum { MOST_CPUS = 4096, MOST_OFF_LINE = 256, MOST_KINDS = TLB_MAX_CPUINFO_PROCESSORS };

/* CPUs of one kind: implementer, variant and part in one number, as the register has them. */
typedef struct {
   uint32_t midr;
   uint32_t cpus;
   uint64_t capacity;
   const char *file; /* NULL: no machine file describes it */
   char words[sizeof(tlb_reason)]; /* what it is; without a file, the reason */
} cpu_kind;

typedef struct {
   tlb_file_begin *read;
   void *opaque;
   unsigned n;
   cpu_kind kind[MOST_KINDS];
} cpu_kinds;

/* --- the files of each CPU --- */

/* The number in a file of the CPU, hexadecimal behind 0x. 0: there is none. */
static int read_number(const cpu_kinds *k, uint32_t cpu, const char *file, uint64_t *out)
{
   char path[96], text[32];
   tlb_text t = tlb_text_in(path, sizeof path);
   tlb_text_add(&t, "/sys/devices/system/cpu/cpu");
   tlb_text_add_number(&t, cpu);
   tlb_text_add(&t, file);
   const long n = k->read(k->opaque, path, text, sizeof text);
   const char *s = text;
   *out = 0;
   if (n < 3 || text[0] != '0' || text[1] != 'x')
      return n > 0 && tlb_text_number(&s, text + n, out);
   for (s = text + 2; s < text + n; s++) {
      const char c = tlb_text_small(*s);
      if (c >= '0' && c <= '9')
         *out = *out << 4 | (uint64_t)(c - '0');
      else if (c >= 'a' && c <= 'f')
         *out = *out << 4 | (uint64_t)(c - 'a' + 10);
      else
         break;
   }
   return s > text + 2;
}

/* Writes a line of /proc/cpuinfo; returns its end. A tlb_text takes no newline. */
static char *add_line(char *to, const char *key, uint32_t value)
{
   static const char digit[] = "0123456789abcdef";
   while (*key != '\0')
      *to++ = *key++;
   *to++ = ':';
   *to++ = '0';
   *to++ = 'x';
   for (int shift = 8; shift >= 0; shift -= 4)
      *to++ = digit[value >> shift & 15];
   *to++ = '\n';
   return to;
}

/* Asks for the machine file as /proc/cpuinfo does. */
static void name_kind(cpu_kind *k)
{
   char text[160];
   tlb_cpuinfo c;
   uint64_t line;
   tlb_reason why;
   char *end = add_line(text, "CPU implementer", k->midr >> 24);
   end = add_line(end, "CPU variant", k->midr >> 20 & 15);
   end = add_line(end, "CPU part", k->midr >> 4 & 0xfff);
   const int known = tlb_cpuinfo_read(text, (size_t)(end - text), &c, &line, &why);
   tlb_text t = tlb_text_in(k->words, sizeof k->words);
   k->file = known ? c.processor[0].file : NULL;
   tlb_text_add(&t, known ? c.processor[0].words : why.text);
}

static void add_cpu(cpu_kinds *k, uint32_t midr, uint64_t capacity)
{
   unsigned i = 0;
   midr &= 0xfff0fff0; /* without architecture and revision */
   while (i < k->n && k->kind[i].midr != midr)
      i++;
   if (i == MOST_KINDS)
      return;
   if (i == k->n) {
      k->kind[k->n++] = (cpu_kind){ .midr = midr };
      name_kind(&k->kind[i]);
   }
   k->kind[i].cpus++;
   if (k->kind[i].capacity < capacity)
      k->kind[i].capacity = capacity;
}

static void look_at_cpus(cpu_kinds *k)
{
   uint32_t off_line = 0;
   for (uint32_t cpu = 0; cpu < MOST_CPUS && off_line < MOST_OFF_LINE; cpu++) {
      uint64_t midr, capacity;
      if (read_number(k, cpu, "/regs/identification/midr_el1", &midr)) {
         read_number(k, cpu, "/cpu_capacity", &capacity);
         add_cpu(k, (uint32_t)midr, capacity);
         off_line = 0;
      } else {
         off_line++;
      }
   }
}

/* --- /proc/cpuinfo --- */

/* As an emulator has it that shows the file of its own host. */
static int is_x86(const char *words)
{
   return !tlb_text_begins(words, "CPU implementer") && !tlb_text_begins(words, "PVR")
          && !tlb_text_begins(words, "RISC-V");
}

/* Its first blocks: all there is but for Arm, and there on a kernel without the other files. */
static int look_at_cpuinfo(cpu_kinds *k, tlb_reason *why)
{
   char text[8192];
   tlb_cpuinfo c;
   uint64_t line;
   long n = k->read(k->opaque, "/proc/cpuinfo", text, sizeof text);
   /* Whole lines. */
   while (n > 0 && text[n - 1] != '\n')
      n--;
   if (n <= 0 || !tlb_is_cpuinfo(text, (size_t)n))
      return 0;
   const int good = tlb_cpuinfo_read(text, (size_t)n, &c, &line, why);
   if (!good || is_x86(c.processor[0].words)) {
      if (good)
         why->text[0] = '\0';
      return 0;
   }
   for (unsigned i = 0; i < c.n && k->n < MOST_KINDS; i++) {
      cpu_kind *const kind = &k->kind[k->n++];
      *kind = (cpu_kind){ .cpus = c.processor[i].cpus, .file = c.processor[i].file };
      tlb_text t = tlb_text_in(kind->words, sizeof kind->words);
      tlb_text_add(&t, c.processor[i].words);
   }
   return 1;
}

/* --- the machine --- */

static tlb_text note(tlb_machine *m)
{
   tlb_reason *const r = &m->note[m->n_notes < TLB_MAX_NOTES ? m->n_notes++ : TLB_MAX_NOTES - 1];
   return tlb_text_in(r->text, sizeof r->text);
}

static void note_others(tlb_machine *m, const cpu_kinds *k, const cpu_kind *chosen)
{
   tlb_text t = note(m);
   tlb_text_add(&t, "the processor has cores of several kinds; simulated are the ");
   tlb_text_add_number(&t, chosen->cpus);
   tlb_text_add(&t, " of ");
   tlb_text_add(&t, chosen->file);
   tlb_text_add(&t, ", and --machine= takes the others:");
   for (unsigned i = 0; i < k->n; i++) {
      if (&k->kind[i] == chosen)
         continue;
      tlb_text_add(&t, " ");
      tlb_text_add_number(&t, k->kind[i].cpus);
      tlb_text_add(&t, k->kind[i].file != NULL ? " of " : " that no machine file describes");
      tlb_text_add(&t, k->kind[i].file != NULL ? k->kind[i].file : "");
   }
}

int tlb_machine_of_cpus(tlb_file_begin *read, void *opaque, tlb_machine *out, tlb_reason *why)
{
   cpu_kinds k = { .read = read, .opaque = opaque };
   const cpu_kind *chosen = NULL;
   uint32_t line;
   why->text[0] = '\0';
   look_at_cpus(&k);
   if (k.n == 0 && !look_at_cpuinfo(&k, why))
      return 0;
   for (unsigned i = 0; i < k.n; i++) {
      if (k.kind[i].file != NULL && (chosen == NULL || k.kind[i].capacity > chosen->capacity))
         chosen = &k.kind[i];
   }
   const tlb_builtin *const b = chosen == NULL ? NULL : tlb_builtin_machine(chosen->file);
   if (b == NULL) {
      tlb_text t = tlb_text_in(why->text, sizeof why->text);
      tlb_text_add(&t, k.kind[0].words);
      return 0;
   }
   if (!tlb_machine_parse(b->text, b->length, out, &line, why))
      return 0;
   tlb_text t = note(out);
   tlb_text_add(&t, "the processor has ");
   tlb_text_add(&t, chosen->words);
   tlb_text_add(&t, ", which the machine file ");
   tlb_text_add(&t, chosen->file);
   tlb_text_add(&t, " describes");
   if (k.n > 1)
      note_others(out, &k, chosen);
   return 1;
}

void tlb_machine_here(tlb_file_begin *read, void *opaque, tlb_machine *out)
{
   tlb_reason why = { "" };
   const int has_cpuid = tlb_cpuid_here(NULL, 0, 0).eax != 0;
   if (!has_cpuid && tlb_machine_of_cpus(read, opaque, out, &why))
      return;
   tlb_machine_from_cpuid(tlb_cpuid_here, NULL, out);
   if (has_cpuid)
      return;
   out->n_notes = 0; /* what CPUID lacks */
   tlb_text t = note(out);
   tlb_text_add(&t, "the processor's arrays: ");
   tlb_text_add(&t, why.text[0] != '\0' ? why.text : "Linux does not tell which it is");
}
