/* /proc/cpuinfo: the numbers of each processor, and the machine file that they mean. */

#include "sim/machine/cpuinfo.h"

#include "sim/machine/arm_models.h"
#include "sim/machine/cpuid_models.h"
#include "sim/machine/cpuid_dump_parts.h"
#include "sim/machine/power_models.h"
#include "sim/machine/riscv_models.h"

/* The lines that are read; the others of each block say nothing of the model. */
typedef enum {
   PROCESSOR, VENDOR, FAMILY, MODEL, STEPPING, IMPLEMENTER, VARIANT, PART, REVISION, UARCH, MARCHID,
   N_KEYS
} key;

static const struct {
   const char *name;
   unsigned base; /* of its value; 0: words */
} keys[N_KEYS] = {
   [PROCESSOR] = { "processor", 10 },       [VENDOR] = { "vendor_id", 0 },
   [FAMILY] = { "cpu family", 10 },         [MODEL] = { "model", 10 },
   [STEPPING] = { "stepping", 10 },         [IMPLEMENTER] = { "CPU implementer", 16 },
   [VARIANT] = { "CPU variant", 16 },       [PART] = { "CPU part", 16 },
   [REVISION] = { "revision", 0 }, /* of POWER, with its register PVR */
   [UARCH] = { "uarch", 0 },                [MARCHID] = { "marchid", 0 },
};

/* The block that is being read. */
typedef struct {
   uint64_t line[N_KEYS]; /* where it stands; 0: nowhere */
   uint32_t value[N_KEYS];
   tlb_piece words[N_KEYS];
} block;

typedef struct {
   tlb_cpuinfo *out;
   block b;
   uint32_t blocks; /* so far */
} state;

/* --- lines --- */

/* Parts "KEY : VALUE" at the first colon. */
static int split(tlb_piece line, tlb_piece *name, tlb_piece *value)
{
   const char *colon = line.at;
   while (colon < line.end && *colon != ':')
      colon++;
   if (colon == line.end)
      return 0;
   *name = (tlb_piece){ line.at, colon };
   while (name->at < name->end && tlb_piece_is_space(name->end[-1]))
      name->end--;
   *value = (tlb_piece){ colon + 1, line.end };
   tlb_piece_skip_space(value);
   return 1;
}

/* The key of that name, or N_KEYS. */
static key key_of(tlb_piece name)
{
   key k = PROCESSOR;
   while (k < N_KEYS && !tlb_text_is(name.at, (size_t)(name.end - name.at), keys[k].name))
      k++;
   return k;
}

/* A decimal number, or one in hexadecimal digits behind 0x. */
static int take_value(tlb_piece p, unsigned base, uint32_t *out)
{
   uint64_t n;
   if (base == 16)
      return tlb_piece_take(&p, "0x") && tlb_piece_take_digits(&p, 1, out) && p.at == p.end;
   if (!tlb_text_number(&p.at, p.end, &n) || n > UINT32_MAX || p.at < p.end)
      return 0;
   *out = (uint32_t)n;
   return 1;
}

/* --- a block --- */

static int refuse_unknown(const block *b, key k, const char *words, const char *big,
                          const char *small, uint64_t *line, tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   *line = b->line[k];
   if (big != NULL || small != NULL) {
      tlb_text_add(&t, words);
      tlb_text_add(&t, " has two kinds of cores, which look the same here; give the name of a "
                       "machine: ");
      tlb_text_add(&t, big != NULL ? big : "");
      tlb_text_add(&t, big != NULL && small != NULL ? " or " : "");
      tlb_text_add(&t, small != NULL ? small : "");
   } else {
      tlb_text_add(&t, "no machine file describes ");
      tlb_text_add(&t, words);
      tlb_text_add(&t, b->line[VENDOR] != 0
                          ? "; give a name of --list-machines, or a dump of cpuid -r"
                          : "; give a name of --list-machines, or a machine file");
   }
   return 0;
}

static int need(const block *b, key has, key k, uint64_t *line, tlb_reason *why)
{
   if (b->line[k] != 0)
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   *line = b->line[has];
   tlb_text_add(&t, "this processor has no line '");
   tlb_text_add(&t, keys[k].name);
   tlb_text_add(&t, "'");
   return 0;
}

static void add_piece(tlb_text *t, tlb_piece p)
{
   tlb_text_add_n(t, p.at, (size_t)(p.end - p.at));
}

static int name_x86(const block *b, tlb_cpuinfo_processor *p, uint64_t *line, tlb_reason *why)
{
   if (!need(b, VENDOR, FAMILY, line, why) || !need(b, VENDOR, MODEL, line, why))
      return 0;
   char vendor[13];
   tlb_text t = tlb_text_in(vendor, sizeof vendor);
   add_piece(&t, b->words[VENDOR]);
   t = tlb_text_in(p->words, sizeof p->words);
   tlb_text_add(&t, vendor);
   tlb_text_add(&t, " family ");
   tlb_text_add_number(&t, b->value[FAMILY]);
   tlb_text_add(&t, " model ");
   tlb_text_add_number(&t, b->value[MODEL]);
   const char *const big = tlb_model_file(vendor, b->value[FAMILY], b->value[MODEL], 0);
   const char *const small = tlb_model_file(vendor, b->value[FAMILY], b->value[MODEL], 1);
   p->file = big;
   return (big != NULL && big == small)
          || refuse_unknown(b, MODEL, p->words, big, small, line, why);
}

static void add_short_hex(tlb_text *t, uint32_t n)
{
   static const char digits[] = "0123456789abcdef";
   unsigned shift = 0;
   while (shift < 28 && n >> shift >= 16)
      shift += 4;
   tlb_text_add(t, "0x");
   for (unsigned s = shift + 4; s > 0; s -= 4)
      tlb_text_add_n(t, &digits[n >> (s - 4) & 15], 1);
}

static int name_arm(const block *b, tlb_cpuinfo_processor *p, uint64_t *line, tlb_reason *why)
{
   if (!need(b, IMPLEMENTER, PART, line, why))
      return 0;
   tlb_text t = tlb_text_in(p->words, sizeof p->words);
   tlb_text_add(&t, "CPU implementer ");
   add_short_hex(&t, b->value[IMPLEMENTER]);
   tlb_text_add(&t, " part ");
   add_short_hex(&t, b->value[PART]);
   if (b->line[VARIANT] != 0) {
      tlb_text_add(&t, " variant ");
      add_short_hex(&t, b->value[VARIANT]);
   }
   p->file = tlb_arm_file(b->value[IMPLEMENTER], b->value[PART], b->value[VARIANT]);
   return p->file != NULL || refuse_unknown(b, PART, p->words, NULL, NULL, line, why);
}

/* "2.2 (pvr 004e 1202)". Arm's kernels have a line of this name, too, without the register. */
static int take_pvr(tlb_piece p, uint32_t *version)
{
   while (p.at < p.end && *p.at != '(')
      p.at++;
   return tlb_piece_take(&p, "(pvr ") && tlb_piece_take_digits(&p, 4, version);
}

static int name_power(const block *b, tlb_cpuinfo_processor *p, uint64_t *line, tlb_reason *why)
{
   uint32_t version = 0;
   tlb_text t = tlb_text_in(p->words, sizeof p->words);
   take_pvr(b->words[REVISION], &version);
   tlb_text_add(&t, "PVR version ");
   add_short_hex(&t, version);
   p->file = tlb_power_file(version);
   return p->file != NULL || refuse_unknown(b, REVISION, p->words, NULL, NULL, line, why);
}

/* A small number, such as those of open sources are. */
static int take_marchid(tlb_piece p, uint32_t *out)
{
   return tlb_piece_take(&p, "0x") && tlb_piece_take_digits(&p, 1, out) && p.at == p.end;
}

static int name_riscv(const block *b, tlb_cpuinfo_processor *p, uint64_t *line, tlb_reason *why)
{
   const tlb_piece uarch = b->words[UARCH];
   uint32_t marchid = 0;
   tlb_text t = tlb_text_in(p->words, sizeof p->words);
   tlb_text_add(&t, "RISC-V");
   if (b->line[UARCH] != 0) {
      tlb_text_add(&t, " uarch ");
      add_piece(&t, uarch);
      p->file = tlb_riscv_file(uarch.at, (size_t)(uarch.end - uarch.at));
   }
   if (p->file == NULL && b->line[MARCHID] != 0) {
      tlb_text_add(&t, " marchid ");
      add_piece(&t, b->words[MARCHID]);
      p->file = take_marchid(b->words[MARCHID], &marchid) ? tlb_riscv_open_file(marchid) : NULL;
   }
   return p->file != NULL
          || refuse_unknown(b, b->line[UARCH] != 0 ? UARCH : MARCHID, p->words, NULL, NULL, line,
                            why);
}

typedef int namer(const block *b, tlb_cpuinfo_processor *p, uint64_t *line, tlb_reason *why);

/* By which line the block tells the processor; NULL: by none. */
static namer *namer_of(const block *b, key *k)
{
   static const struct {
      key has;
      namer *name;
   } by[] = { { VENDOR, name_x86 }, { IMPLEMENTER, name_arm }, { REVISION, name_power },
              { UARCH, name_riscv }, { MARCHID, name_riscv } };
   for (size_t i = 0; i < sizeof by / sizeof by[0]; i++) {
      *k = by[i].has;
      if (b->line[*k] != 0)
         return by[i].name;
   }
   return NULL;
}

/* Blocks without the numbers, such as the list of CPUs in the files of old Arm kernels, are
   none. */
static int end_block(state *s, uint64_t *line, tlb_reason *why)
{
   const block *const b = &s->b;
   tlb_cpuinfo *const out = s->out;
   tlb_cpuinfo_processor p = { .cpus = 1 };
   key told_by;
   namer *const name = namer_of(b, &told_by);
   if (name == NULL)
      return 1;
   p.cpu = b->line[PROCESSOR] != 0 ? b->value[PROCESSOR] : s->blocks;
   s->blocks++;
   if (!name(b, &p, line, why))
      return 0;
   for (unsigned i = 0; i < out->n; i++) {
      if (tlb_text_same(out->processor[i].words, p.words)) {
         out->processor[i].cpus++;
         return 1;
      }
   }
   if (out->n == TLB_MAX_CPUINFO_PROCESSORS) {
      tlb_text t = tlb_text_in(why->text, sizeof why->text);
      *line = b->line[told_by];
      tlb_text_add(&t, "this processor differs from the 8 different ones before it; more are not "
                       "allowed");
      return 0;
   }
   out->processor[out->n++] = p;
   return 1;
}

static int read_line(state *s, tlb_piece p, uint64_t *line, tlb_reason *why)
{
   const uint64_t here = *line;
   tlb_piece name, value;
   if (!split(p, &name, &value))
      return tlb_piece_refuse(why, p, "is no line of /proc/cpuinfo; expected KEY : VALUE");
   const key k = key_of(name);
   uint32_t version;
   /* POWER has a line 'model' with words. */
   if (k == N_KEYS || (k == REVISION && !take_pvr(value, &version))
       || (k == MODEL && s->b.line[REVISION] != 0))
      return 1;
   /* A key again is the next processor, also where the line 'processor' was taken out. */
   if (k == PROCESSOR || s->b.line[k] != 0) {
      if (!end_block(s, line, why))
         return 0;
      *line = here;
      s->b = (block){ .line = { 0 } };
   }
   if (keys[k].base == 0)
      s->b.words[k] = value;
   else if (!take_value(value, keys[k].base, &s->b.value[k]))
      return tlb_piece_refuse(why, value, keys[k].base == 10 ? "is no number"
                                                             : "is no number behind 0x");
   s->b.line[k] = here;
   return 1;
}

/* --- the file --- */

int tlb_is_cpuinfo(const char *text, size_t size)
{
   tlb_piece rest = { text, text + size };
   while (rest.at < rest.end) {
      const tlb_piece p = tlb_piece_line(&rest);
      tlb_piece name, value;
      if (p.at < p.end)
         return split(p, &name, &value)
                && (key_of(name) < N_KEYS
                    || tlb_text_is(name.at, (size_t)(name.end - name.at), "Processor"));
   }
   return 0;
}

int tlb_cpuinfo_read(const char *text, size_t size, tlb_cpuinfo *out, uint64_t *line,
                     tlb_reason *why)
{
   tlb_piece rest = { text, text + size };
   state s = { .out = out };
   uint64_t number = 0;
   *out = (tlb_cpuinfo){ .n = 0 };
   while (rest.at < rest.end) {
      const tlb_piece p = tlb_piece_line(&rest);
      *line = ++number;
      if (p.at < p.end && !read_line(&s, p, line, why))
         return 0;
   }
   *line = number == 0 ? 1 : number;
   if (!end_block(&s, line, why))
      return 0;
   if (out->n > 0)
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t,
                "no line 'vendor_id', 'CPU implementer', 'revision' with a PVR, 'uarch' or "
                "'marchid', by which /proc/cpuinfo names x86, Arm, POWER and RISC-V processors");
   return 0;
}
