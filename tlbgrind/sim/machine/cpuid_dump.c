/* Dumps of CPUID: the answers of each processor, and which processors differ. */

#include "sim/machine/cpuid_dump.h"

#include "sim/machine/cpuid.h"
#include "sim/machine/cpuid_dump_parts.h"

/* --- a processor --- */

static const tlb_cpuid *find(const tlb_cpuid_processor *p, uint32_t leaf,
                             uint32_t subleaf)
{
   for (unsigned i = 0; i < p->n_answers; i++) {
      if (p->answer[i].leaf == leaf && p->answer[i].subleaf == subleaf)
         return &p->answer[i].r;
   }
   return NULL;
}

tlb_cpuid tlb_cpuid_dump_ask(void *processor, uint32_t leaf, uint32_t subleaf)
{
   const tlb_cpuid *const r = find(processor, leaf, subleaf);
   return r != NULL ? *r : (tlb_cpuid){ 0, 0, 0, 0 };
}

static int same(const tlb_cpuid *a, const tlb_cpuid *b)
{
   return a->eax == b->eax && a->ebx == b->ebx && a->ecx == b->ecx
          && a->edx == b->edx;
}

static int same_answers(const tlb_cpuid_processor *a,
                        const tlb_cpuid_processor *b)
{
   if (a->n_answers != b->n_answers)
      return 0;
   for (unsigned i = 0; i < a->n_answers; i++) {
      const tlb_cpuid *const r = find(b, a->answer[i].leaf,
                                      a->answer[i].subleaf);
      if (r == NULL || !same(&a->answer[i].r, r))
         return 0;
   }
   return 1;
}

/* The sub-leaf of a line that does not say it: such lines stand in order, of those leaves that have
   some. */
static uint32_t next_subleaf(const tlb_cpuid_processor *p, const tlb_dump_answer *a)
{
   uint32_t n = 0;
   if (a->is_numbered || a->leaf != 0x18)
      return a->subleaf;
   for (unsigned i = 0; i < p->n_answers; i++)
      n += p->answer[i].leaf == a->leaf;
   return n;
}

/* Keeps an answer if it matters. The same answer twice is fine, two that differ
   are not. */
static int keep(tlb_cpuid_processor *p, const tlb_dump_answer *a, tlb_reason *why)
{
   const tlb_cpuid bits = tlb_cpuid_matters(a->leaf, a->subleaf);
   if ((bits.eax | bits.ebx | bits.ecx | bits.edx) == 0)
      return 1;
   const tlb_cpuid r = { a->reg[0] & bits.eax, a->reg[1] & bits.ebx,
                         a->reg[2] & bits.ecx, a->reg[3] & bits.edx };
   const tlb_cpuid *const before = find(p, a->leaf, a->subleaf);
   if (before != NULL) {
      if (same(before, &r))
         return 1;
      tlb_text t = tlb_text_in(why->text, sizeof why->text);
      tlb_text_add(&t, "leaf ");
      tlb_text_add_hex(&t, a->leaf);
      tlb_text_add(&t, ", sub-leaf ");
      tlb_text_add_number(&t, a->subleaf);
      tlb_text_add(&t, " stands here again for CPU ");
      tlb_text_add_number(&t, p->cpu);
      tlb_text_add(&t, ", with other values than before");
      return 0;
   }
   p->answer[p->n_answers].leaf = a->leaf;
   p->answer[p->n_answers].subleaf = a->subleaf;
   p->answer[p->n_answers].r = r;
   p->n_answers++;
   return 1;
}

/* What a processor is asked for that its dump does not have at all. */
typedef struct {
   tlb_cpuid_processor *p;
   int missing;
   uint32_t leaf, subleaf;
} inspection;

/* What whole dumps lack: the number of extended leaves of a processor that has none, and in virtual
   machines the hypervisor's name, of no importance, and leaf 18H, all of it, without which the
   machine is unknown. */
static int may_lack(const tlb_cpuid_processor *p, uint32_t leaf)
{
   const tlb_cpuid *const features = find(p, 1, 0);
   if (leaf == 0x40000000u || leaf == 0x80000000u)
      return 1;
   if (leaf != 0x18 || features == NULL || (features->ecx >> 31 & 1) == 0)
      return 0;
   for (unsigned i = 0; i < p->n_answers; i++) {
      if (p->answer[i].leaf == leaf)
         return 0;
   }
   return 1;
}

static tlb_cpuid ask_inspected(void *opaque, uint32_t leaf, uint32_t subleaf)
{
   inspection *const i = opaque;
   if (!i->missing && find(i->p, leaf, subleaf) == NULL && !may_lack(i->p, leaf)) {
      i->missing = 1;
      i->leaf = leaf;
      i->subleaf = subleaf;
   }
   return tlb_cpuid_dump_ask(i->p, leaf, subleaf);
}

/* Only leaves are asked for that the processor says it has, so one that is not
   in the dump has been lost. Without the first two nobody knows whose dump it is. */
static int check_complete(tlb_cpuid_processor *p, tlb_reason *why)
{
   tlb_machine ignored;
   inspection i = { .p = p };
   tlb_cpuid_machine(ask_inspected, &i, &ignored);
   p->lacks = i.missing;
   p->lacks_leaf = i.leaf;
   p->lacks_subleaf = i.subleaf;
   if (!i.missing || i.leaf > 1)
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "CPU ");
   tlb_text_add_number(&t, p->cpu);
   tlb_text_add(&t, " has no line for leaf ");
   tlb_text_add_hex(&t, i.leaf);
   tlb_text_add(&t, ", sub-leaf ");
   tlb_text_add_number(&t, i.subleaf);
   tlb_text_add(&t, "; the dump is cut off or lines were taken out");
   return 0;
}

/* --- the dump --- */

/* The processor being read stands behind those that are known to differ. */
typedef struct {
   tlb_cpuid_dump *out;
   tlb_cpuid_processor current;
   int reading;
   /* The last line that begins a processor: one without answers is none in AIDA64's format. */
   uint32_t next_cpu;
   uint64_t next_line; /* 0: none since the last processor */
} state;

static int end_processor(state *s, uint64_t *line, tlb_reason *why)
{
   tlb_cpuid_processor *const p = &s->current;
   if (!s->reading)
      return 1;
   s->reading = 0;
   for (unsigned i = 0; i < s->out->n; i++) {
      if (same_answers(&s->out->processor[i], p)) {
         s->out->processor[i].cpus++;
         return 1;
      }
   }
   *line = p->line;
   if (!check_complete(p, why))
      return 0;
   if (s->out->n == TLB_MAX_DUMP_PROCESSORS) {
      tlb_text t = tlb_text_in(why->text, sizeof why->text);
      tlb_text_add(&t, "CPU ");
      tlb_text_add_number(&t, p->cpu);
      tlb_text_add(&t, " differs from the 8 different ones before it; more are "
                       "not allowed");
      return 0;
   }
   s->out->processor[s->out->n++] = *p;
   return 1;
}

static void begin_processor(state *s, uint32_t cpu, uint64_t line)
{
   s->current.cpu = cpu;
   s->current.cpus = 1;
   s->current.line = line;
   s->current.n_answers = 0;
   s->reading = 1;
   s->next_line = 0;
}

static int read_line(state *s, tlb_dump_reader *reader, tlb_piece p, uint64_t *line,
                     tlb_reason *why)
{
   const uint64_t here = *line;
   tlb_dump_answer a;
   switch (reader(p, &s->next_cpu, &a, why)) {
   case TLB_DUMP_PROCESSOR:
      if (!end_processor(s, line, why))
         return 0;
      *line = here;
      s->next_line = here;
      if (reader == tlb_cpuid_raw_line)
         begin_processor(s, s->next_cpu, here);
      return 1;
   case TLB_DUMP_ANSWER:
      /* A dump of one processor may have lost its first line. */
      if (!s->reading && s->next_line == 0)
         begin_processor(s, 0, here);
      else if (!s->reading)
         begin_processor(s, s->next_cpu, s->next_line);
      /* Without a line between processors, each begins with leaf 0. */
      else if (a.leaf == 0 && !a.is_numbered && find(&s->current, 0, 0) != NULL) {
         const uint32_t cpu = s->current.cpu + 1;
         if (!end_processor(s, line, why))
            return 0;
         *line = here;
         begin_processor(s, cpu, here);
      }
      a.subleaf = next_subleaf(&s->current, &a);
      return keep(&s->current, &a, why);
   case TLB_DUMP_OTHER:
      return 1;
   case TLB_DUMP_WRONG:
      break;
   }
   return 0;
}

/* --- formats --- */

static int is_raw(tlb_piece rest)
{
   while (rest.at < rest.end) {
      tlb_piece p = tlb_piece_line(&rest);
      uint32_t ignored;
      tlb_dump_answer a;
      tlb_reason why;
      if (p.at == p.end)
         continue;
      if (tlb_cpuid_raw_header(p, &ignored)) {
         /* Others write that line, too. */
         do
            p = tlb_piece_line(&rest);
         while (p.at == p.end && rest.at < rest.end);
         return tlb_cpuid_aida_line(p, &ignored, &a, &why) != TLB_DUMP_ANSWER;
      }
      /* What cpuid prints without -r is refused as a dump, with a hint. */
      if (tlb_piece_take(&p, "vendor_id = "))
         return 1;
      return tlb_piece_take(&p, "0x") && tlb_piece_take_digits(&p, 8, &ignored) && p.at < p.end
             && tlb_piece_is_space(*p.at);
   }
   return 0;
}

/* Before the first leaf there may be anything: a report on the whole computer. */
static int is_aida(tlb_piece rest)
{
   while (rest.at < rest.end) {
      uint32_t ignored;
      tlb_dump_answer a;
      tlb_reason why;
      const tlb_dump_kind kind = tlb_cpuid_aida_line(tlb_piece_line(&rest), &ignored, &a, &why);
      if (kind == TLB_DUMP_ANSWER || kind == TLB_DUMP_WRONG)
         return 1;
   }
   return 0;
}

int tlb_cpuid_is_dump(const char *text, size_t size)
{
   const tlb_piece all = { text, text + size };
   return is_raw(all) || is_aida(all);
}

int tlb_cpuid_dump_read(const char *text, size_t size, tlb_cpuid_dump *out,
                        uint64_t *line, tlb_reason *why)
{
   tlb_piece rest = { text, text + size };
   state s = { .out = out, .reading = 0 };
   uint64_t number = 0;
   tlb_dump_reader *const reader = !is_raw(rest) && is_aida(rest) ? tlb_cpuid_aida_line
                                                                  : tlb_cpuid_raw_line;
   out->n = 0;
   while (rest.at < rest.end) {
      const tlb_piece p = tlb_piece_line(&rest);
      number++;
      *line = number;
      if (p.at < p.end && !read_line(&s, reader, p, line, why))
         return 0;
   }
   *line = number == 0 ? 1 : number;
   if (!end_processor(&s, line, why))
      return 0;
   if (out->n > 0)
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "no processor; a CPUID dump is what cpuid -r prints");
   return 0;
}
