/* Dumps of CPUID, as `cpuid -r` prints them. */

#include "sim/machine/cpuid_dump.h"

#include "sim/base/text.h"
#include "sim/machine/cpuid.h"

/* A piece of a line: [at, end). */
typedef struct {
   const char *at;
   const char *end;
} piece;

static const char *const what_a_line_is
   = "is no line of a CPUID dump; expected CPU N: or 0xLEAF 0xSUBLEAF: "
     "eax=0x... ebx=0x... ecx=0x... edx=0x...";

static int refuse(tlb_reason *why, piece value, const char *what)
{
   const size_t n = (size_t)(value.end - value.at);
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "'");
   tlb_text_add_n(&t, value.at, n < 32 ? n : 32);
   tlb_text_add(&t, "' ");
   tlb_text_add(&t, what);
   return 0;
}

/* --- pieces of a line --- */

static int is_space(char c)
{
   return c == ' ' || c == '\t' || c == '\r';
}

static void skip_space(piece *p)
{
   while (p->at < p->end && is_space(*p->at))
      p->at++;
}

/* Takes the word off the front of *p, if it is there. */
static int take_word(piece *p, const char *word)
{
   const size_t n = tlb_text_length(word);
   if ((size_t)(p->end - p->at) < n || !tlb_text_is(p->at, n, word))
      return 0;
   p->at += n;
   return 1;
}

/* Takes "0x" and hexadecimal digits off the front: at least `fewest`, at most
   eight. A register always has eight, so that one that has been cut off is not
   taken for another value. */
static int take_hex(piece *p, unsigned fewest, uint32_t *out)
{
   piece q = *p;
   uint32_t n = 0;
   unsigned digits = 0;
   if (!take_word(&q, "0x"))
      return 0;
   for (; q.at < q.end; q.at++, digits++) {
      const char c = *q.at;
      const uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                             : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                             : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                    : 16;
      if (digit == 16)
         break;
      if (digits == 8)
         return 0;
      n = n << 4 | digit;
   }
   if (digits < fewest)
      return 0;
   *p = q;
   *out = n;
   return 1;
}

/* "CPU 12:", "CPU:". */
static int parse_header(piece line, uint32_t *cpu)
{
   uint64_t n = 0;
   if (!take_word(&line, "CPU"))
      return 0;
   skip_space(&line);
   if (tlb_text_number(&line.at, line.end, &n) && n > UINT32_MAX)
      return 0;
   if (!take_word(&line, ":"))
      return 0;
   skip_space(&line);
   *cpu = (uint32_t)n;
   return line.at == line.end;
}

typedef struct {
   uint32_t leaf, subleaf, reg[4];
} answer;

/* "0x00000018 0x03: eax=0x00000000 ... edx=0x00004125". Leading space is gone
   already. */
static int parse_answer(const piece line, answer *a, tlb_reason *why)
{
   static const char *const names[4] = { "eax=", "ebx=", "ecx=", "edx=" };
   piece p = line;
   if (take_word(&p, "vendor_id"))
      return refuse(why, line, "is what cpuid prints without -r; make the dump with cpuid -r");
   if (!take_hex(&p, 8, &a->leaf))
      return refuse(why, line, what_a_line_is);
   skip_space(&p);
   if (!take_hex(&p, 1, &a->subleaf) || !take_word(&p, ":"))
      return refuse(why, line, what_a_line_is);
   for (unsigned i = 0; i < 4; i++) {
      skip_space(&p);
      if (p.at == p.end)
         return refuse(why, line, "ends too early; the dump is cut off");
      if (!take_word(&p, names[i]))
         return refuse(why, p, "where eax=, ebx=, ecx= and edx= are expected, "
                               "in this order");
      if (!take_hex(&p, 8, &a->reg[i]))
         return refuse(why, p, "is no value of a register; expected 0x and 8 "
                               "hexadecimal digits");
      if (p.at < p.end && !is_space(*p.at))
         return refuse(why, p, "follows a register without a space");
   }
   skip_space(&p);
   if (p.at < p.end)
      return refuse(why, p, "is too much behind edx");
   return 1;
}

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

/* Keeps an answer if it matters. The same answer twice is fine, two that differ
   are not. */
static int keep(tlb_cpuid_processor *p, const answer *a, tlb_reason *why)
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
   machines the hypervisor's name, of no importance, and leaf 18H, all of it, without which the machine
   is unknown. */
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
}

static int read_line(state *s, piece p, uint64_t *line, tlb_reason *why)
{
   uint32_t cpu;
   answer a;
   skip_space(&p);
   while (p.at < p.end && is_space(p.end[-1]))
      p.end--;
   if (p.at == p.end)
      return 1;
   if (parse_header(p, &cpu)) {
      const uint64_t here = *line;
      if (!end_processor(s, line, why))
         return 0;
      *line = here;
      begin_processor(s, cpu, here);
      return 1;
   }
   if (!parse_answer(p, &a, why))
      return 0;
   /* A dump of one processor may have lost its first line. */
   if (!s->reading)
      begin_processor(s, 0, *line);
   return keep(&s->current, &a, why);
}

static piece next_line(piece *rest)
{
   piece p = { rest->at, rest->at };
   while (p.end < rest->end && *p.end != '\n')
      p.end++;
   rest->at = p.end < rest->end ? p.end + 1 : p.end;
   return p;
}

int tlb_cpuid_is_dump(const char *text, size_t size)
{
   piece rest = { text, text + size };
   while (rest.at < rest.end) {
      piece p = next_line(&rest);
      uint32_t ignored;
      skip_space(&p);
      while (p.at < p.end && is_space(p.end[-1]))
         p.end--;
      if (p.at < p.end)
         return parse_header(p, &ignored)
                || (take_hex(&p, 8, &ignored) && p.at < p.end
                    && is_space(*p.at));
   }
   return 0;
}

int tlb_cpuid_dump_read(const char *text, size_t size, tlb_cpuid_dump *out,
                        uint64_t *line, tlb_reason *why)
{
   piece rest = { text, text + size };
   state s = { .out = out, .reading = 0 };
   uint64_t number = 0;
   out->n = 0;
   while (rest.at < rest.end) {
      const piece p = next_line(&rest);
      number++;
      *line = number;
      if (!read_line(&s, p, line, why))
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
