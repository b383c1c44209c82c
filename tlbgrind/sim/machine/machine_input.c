/* A machine from whatever a user names. */

#include "sim/machine/machine_input.h"

#include "sim/machine/builtin.h"
#include "sim/machine/cpuid.h"
#include "sim/machine/cpuid_dump.h"
#include "sim/machine/cpuinfo.h"
#include "sim/machine/machine_file.h"
#include "sim/base/text.h"

/* --- the default --- */

static void add_array(tlb_machine *m, const char *name, unsigned level,
                      unsigned users, uint32_t entries, uint32_t ways)
{
   tlb_machine_array *const a = &m->array[m->n_arrays++];
   *a = (tlb_machine_array){
      .level = level, .users = users,
      .g = { .entries = entries, .ways = ways,
             .page_sizes = UINT64_C(1) << m->base_page_shift,
             .policy = TLB_DEFAULT_POLICY },
      .hit_cycles = level == 1 ? 0 : TLB_UNKNOWN, .threads = 1,
   };
   tlb_text t = tlb_text_in(a->name, sizeof a->name);
   tlb_text_add(&t, name);
}

static void set_text(char *out, size_t size, const char *text)
{
   tlb_text t = tlb_text_in(out, size);
   tlb_text_add(&t, text);
}

void tlb_machine_default(unsigned page_shift, tlb_machine *out)
{
   *out = (tlb_machine){ .confidence = 'C', .base_page_shift = page_shift,
                         .walk_cycles = TLB_UNKNOWN };
   set_text(out->name, sizeof out->name, "default");
   set_text(out->title, sizeof out->title,
            "the default machine, the same on every computer");
   set_text(out->isa, sizeof out->isa, "any");
   set_text(out->source, sizeof out->source, "tlbgrind's manual");
   add_array(out, "ITLB", 1, TLB_FETCHES, 128, 8);
   add_array(out, "DTLB", 1, TLB_LOADS | TLB_STORES, 64, 4);
   add_array(out, "STLB", 2, TLB_FETCHES | TLB_LOADS | TLB_STORES, 1536, 6);
}

/* --- CPUID --- */

static void add_note(tlb_machine *m, const tlb_reason *note)
{
   if (m->n_notes < TLB_MAX_NOTES)
      m->note[m->n_notes++] = *note;
}

/* Puts notes in front of those that a machine has; what finds no room at the
   end is given up. */
static void put_in_front(tlb_machine *m, const tlb_reason *note, unsigned n)
{
   const unsigned kept = m->n_notes < TLB_MAX_NOTES - n ? m->n_notes
                                                        : TLB_MAX_NOTES - n;
   for (unsigned i = kept; i > 0; i--)
      m->note[i - 1 + n] = m->note[i - 1];
   for (unsigned i = 0; i < n; i++)
      m->note[i] = note[i];
   m->n_notes = kept + n;
}

static void add_in_place_of(tlb_machine *m, const char *title)
{
   const size_t n = tlb_text_length(m->title);
   tlb_text t = { m->title + n, m->title + sizeof m->title - 1 };
   tlb_text_add(&t, ", in place of ");
   tlb_text_add(&t, title);
   tlb_text_trim(&t, m->title); /* it may have been cut behind a space */
}

/* Fills in arrays and walk of the machine that stands in; the rest of *m is
   what CPUID said. */
static void stand_in(const char *file, tlb_machine *m)
{
   const tlb_builtin *const b = file == NULL ? NULL : tlb_builtin_machine(file);
   tlb_machine other;
   tlb_reason note;
   uint32_t line;
   tlb_text t = tlb_text_in(note.text, sizeof note.text);
   if (b != NULL && tlb_machine_parse(b->text, b->length, &other, &line,
                                      &note)) {
      t = tlb_text_in(note.text, sizeof note.text);
      tlb_text_add(&t, "the machine file ");
      tlb_text_add(&t, file);
      tlb_text_add(&t, " is used instead");
   } else {
      tlb_machine_default(m->base_page_shift, &other);
      t = tlb_text_in(note.text, sizeof note.text);
      tlb_text_add(&t, "the default machine is used instead");
   }
   add_note(m, &note);
   put_in_front(&other, m->note, m->n_notes);
   set_text(other.name, sizeof other.name, m->name);
   add_in_place_of(&other, m->title);
   set_text(other.isa, sizeof other.isa, m->isa);
   *m = other;
}

int tlb_machine_from_cpuid(tlb_cpuid_ask *ask, void *opaque, tlb_machine *out)
{
   if (tlb_cpuid_machine(ask, opaque, out))
      return 1;
   stand_in(tlb_cpuid_machine_file(ask, opaque), out);
   return 0;
}

/* --- files --- */

tlb_machine_file_name tlb_machine_split_name(const char *name)
{
   const size_t n = tlb_text_length(name);
   tlb_machine_file_name f = { .length = n };
   size_t digits = 0;
   uint64_t which;
   while (digits < n && name[n - 1 - digits] >= '0'
          && name[n - 1 - digits] <= '9')
      digits++;
   if (digits == 0 || digits > 4 || n < digits + 2
       || name[n - 1 - digits] != ':')
      return f;
   const char *s = name + n - digits;
   if (tlb_text_number(&s, name + n, &which)) {
      f.length = n - digits - 1;
      f.numbered = 1;
      f.which = (unsigned)which;
   }
   return f;
}

/* "dumps/my laptop.txt" becomes "my-laptop", and the third machine in it
   "my-laptop-2". */
static void name_after(const char *file, unsigned which, tlb_machine *m)
{
   enum { ROOM_FOR_NUMBER = 8 };
   const char *begin = file, *end = file;
   for (const char *s = file; *s != '\0'; s++) {
      if (*s == '/')
         begin = s + 1;
   }
   while (*end != '\0')
      end++;
   for (const char *s = end; s > begin + 1; s--) {
      if (s[-1] == '.') {
         end = s - 1;
         break;
      }
   }
   tlb_text t = tlb_text_in(m->name, sizeof m->name - ROOM_FOR_NUMBER);
   for (const char *s = begin; s < end; s++) {
      const int plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')
                        || (*s >= '0' && *s <= '9');
      const int inner = s > begin && (*s == '_' || *s == '.');
      tlb_text_add_n(&t, plain || inner ? s : s > begin ? "-" : "x", 1);
   }
   if (begin == end)
      tlb_text_add(&t, "cpuid");
   t.end = m->name + sizeof m->name - 1;
   if (which > 0) {
      tlb_text_add(&t, "-");
      tlb_text_add_number(&t, which);
   }
}

static int refuse(tlb_reason *why, uint64_t *line, const char *what)
{
   *line = 1;
   set_text(why->text, sizeof why->text, what);
   return 0;
}

/* Says which of the `n` processors of a file it is; `cpus` CPUs are so, the first is `cpu`. */
static void note_choice(const char *file, unsigned n, unsigned which, uint32_t cpu, uint32_t cpus,
                        tlb_machine *m)
{
   tlb_reason note;
   tlb_text t = tlb_text_in(note.text, sizeof note.text);
   tlb_text_add(&t, file);
   tlb_text_add(&t, " has ");
   tlb_text_add_number(&t, n);
   tlb_text_add(&t, " different processors; this is number ");
   tlb_text_add_number(&t, which);
   tlb_text_add(&t, ", as CPU ");
   tlb_text_add_number(&t, cpu);
   tlb_text_add(&t, " and ");
   tlb_text_add_number(&t, cpus - 1);
   tlb_text_add(&t, " more are; FILE:0 to FILE:");
   tlb_text_add_number(&t, n - 1);
   tlb_text_add(&t, " name them");
   put_in_front(m, &note, 1);
}

static int refuse_number(const char *file, unsigned n, unsigned which, uint64_t *line,
                         tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   *line = 1;
   tlb_text_add(&t, file);
   tlb_text_add(&t, " has no machine number ");
   tlb_text_add_number(&t, which);
   tlb_text_add(&t, "; allowed are 0 to ");
   tlb_text_add_number(&t, n - 1);
   return 0;
}

/* Names what was assumed. */
static void note_lack(const tlb_cpuid_processor *p, tlb_machine *m)
{
   tlb_reason note;
   tlb_text t = tlb_text_in(note.text, sizeof note.text);
   tlb_text_add(&t, "the dump has no line for leaf ");
   tlb_text_add_hex(&t, p->lacks_leaf);
   tlb_text_add(&t, ", sub-leaf ");
   tlb_text_add_number(&t, p->lacks_subleaf);
   tlb_text_add(&t, "; it is cut off, or lines were taken out; what it lacks is taken as 0");
   put_in_front(m, &note, 1);
}

static int read_dump(const char *text, size_t size, const char *file,
                     unsigned which, tlb_machine *out, uint64_t *line,
                     tlb_reason *why)
{
   tlb_cpuid_dump d;
   if (!tlb_cpuid_dump_read(text, size, &d, line, why))
      return 0;
   if (which >= d.n)
      return refuse_number("the dump", d.n, which, line, why);
   const tlb_cpuid_processor *const p = &d.processor[which];
   tlb_machine_from_cpuid(tlb_cpuid_dump_ask, &d.processor[which], out);
   name_after(file, which, out);
   if (p->lacks)
      note_lack(p, out);
   if (d.n > 1)
      note_choice("the dump", d.n, which, p->cpu, p->cpus, out);
   return 1;
}

static int read_cpuinfo(const char *text, size_t size, const char *file, unsigned which,
                        tlb_machine *out, uint64_t *line, tlb_reason *why)
{
   tlb_cpuinfo c;
   uint32_t at;
   if (!tlb_cpuinfo_read(text, size, &c, line, why))
      return 0;
   if (which >= c.n)
      return refuse_number("the file", c.n, which, line, why);
   const tlb_cpuinfo_processor *const p = &c.processor[which];
   const tlb_builtin *const b = tlb_builtin_machine(p->file);
   if (b == NULL || !tlb_machine_parse(b->text, b->length, out, &at, why))
      return refuse(why, line, "the machine file of this processor is missing");
   name_after(file, which, out);
   tlb_reason note;
   tlb_text t = tlb_text_in(note.text, sizeof note.text);
   tlb_text_add(&t, "/proc/cpuinfo has ");
   tlb_text_add(&t, p->words);
   tlb_text_add(&t, ", which the machine file ");
   tlb_text_add(&t, p->file);
   tlb_text_add(&t, " describes");
   put_in_front(out, &note, 1);
   if (c.n > 1)
      note_choice("the file", c.n, which, p->cpu, p->cpus, out);
   return 1;
}

int tlb_machine_read(const char *text, size_t size, const char *file,
                     tlb_machine_file_name name, tlb_machine *out,
                     uint64_t *line, tlb_reason *why)
{
   const int is_machine = tlb_machine_text(text, size);
   if (!is_machine && tlb_cpuid_is_dump(text, size))
      return read_dump(text, size, file, name.which, out, line, why);
   if (!is_machine && tlb_is_cpuinfo(text, size))
      return read_cpuinfo(text, size, file, name.which, out, line, why);
   if (!is_machine)
      return refuse(why, line,
                    "neither a machine file, which begins with 'tlbgrind-machine 1', nor a "
                    "CPUID dump of cpuid -r or AIDA64, nor /proc/cpuinfo");
   if (name.numbered)
      return refuse(why, line, "a machine file has one machine; a number "
                               "behind a file is for CPUID dumps");
   uint32_t at;
   const int good = tlb_machine_parse(text, size, out, &at, why);
   *line = at;
   return good;
}
