/* simdrive: runs the simulator on cases from the standard input.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   A case is lines of text:
      tlbgrind-machine 1    a machine file, to its line `end`
      base SHIFT            base pages have 2^SHIFT bytes; default 12
      times 1|2             whether loads and stores note their times together,
                            or each its own; default as the machine needs
      ask PERCENT           how many of the references that a short cut could
                            answer are asked of the simulator all the same;
                            100: no short cuts at all
      USER PAGE CONTEXT PAGE-SHIFT BLOCK-SHIFT
                            a reference; USER f, l or s (fetch, load, store)
      change FIRST END      what backs base pages FIRST to END - 1 is another
                            from now on
      end
   For each case one line is printed: a hexadecimal digit for each reference
   (bit l is set if level l + 1 missed, bit 3 if it walked), a blank, and the
   sum of cycles. Without memory of one case in the next. Anything else on the
   standard input ends it with status 1.

   The short cuts are those of the tool (mmu/mmu.c): a record for each base
   page, as data and as code, that says what is known to hit and when it last
   did, and stands for an entry alone or together with others. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/tlb/hierarchy.h"
#include "sim/machine/machine_file.h"

enum { DATA, CODE, N_TABLES };
enum { MAX_RECORDS = 1 << 14, MAX_TEXT = 1 << 16 };

typedef struct {
   uint64_t time[2]; /* of the last reference; of stores, if they are apart */
   uint64_t page;
   unsigned context;
   int table;
   int known[2]; /* it hits in the first level: as `time` has it */
} record;

typedef struct {
   record record[MAX_RECORDS];
   unsigned n_records;
   unsigned slot[2 * MAX_RECORDS]; /* number + 1 of a record, by hash */
   tlb_machine machine;
   tlb_hierarchy h;
   void *memory;
   unsigned base_shift;
   int apart; /* stores have a time of their own */
   unsigned ask_percent;
   uint64_t random;
   uint64_t now;
   uint64_t cycles;
} run;

static run the_run;

static void die(const char *what, const char *why)
{
   fprintf(stderr, "simdrive: %s: %s\n", what, why);
   exit(1);
}

static unsigned draw(run *u)
{
   u->random ^= u->random << 13;
   u->random ^= u->random >> 7;
   u->random ^= u->random << 17;
   return (unsigned)(u->random % 100);
}

/* --- What the caller knows --- */

static record *record_of(run *u, int table, uint64_t page, unsigned context)
{
   uint64_t at = (page * 2 + (uint64_t)table + ((uint64_t)context << 54))
                 * UINT64_C(0x9E3779B97F4A7C15) >> 49;
   for (;; at++) {
      unsigned *const slot = &u->slot[at % (2 * MAX_RECORDS)];
      if (*slot == 0) {
         if (u->n_records == MAX_RECORDS)
            die("reference", "too many pages in one case");
         u->record[u->n_records] = (record){ .page = page, .context = context,
                                             .table = table };
         *slot = ++u->n_records;
      }
      record *const r = &u->record[*slot - 1];
      if (r->page == page && r->context == context && r->table == table)
         return r;
   }
}

/* Who asks an array first: which tables, and by which times of data. */
typedef struct {
   int table[N_TABLES];
   int time[2];
} port;

static port port_of(const run *u, const tlb_array *a)
{
   const unsigned i = (unsigned)(a - u->h.array);
   const int loads = tlb_asks_first(&u->h, TLB_LOAD, i);
   const int stores = tlb_asks_first(&u->h, TLB_STORE, i);
   port p = { { 0, 0 }, { 0, 0 } };
   p.table[CODE] = tlb_asks_first(&u->h, TLB_FETCH, i);
   p.table[DATA] = loads || stores;
   p.time[0] = loads || !u->apart;
   p.time[1] = stores && u->apart;
   return p;
}

/* Where a short cut begins: of two times, the array finds the second. */
static int first_time(const port *p)
{
   return p->table[CODE] || p->time[0] ? 0 : 1;
}

/* Whether one time of a page can stand for an entry of a single base page. */
static int has_one_record(const port *p)
{
   return !(p->table[CODE] && p->table[DATA]);
}

static int is_covered(const run *u, const record *r, tlb_key key)
{
   const unsigned shift = tlb_key_shift(key);
   return tlb_key_of(r->page >> (shift - u->base_shift), shift, r->context)
          == key;
}

/* Code has one time only. */
static int serves(const port *p, const record *r, int time)
{
   return p->table[r->table] && (r->table == CODE ? time == 0 : p->time[time]);
}

static tlb_array *array_of(void *opaque)
{
   return opaque;
}

static uint64_t range_time(tlb_key key, void *opaque)
{
   run *const u = &the_run;
   const port p = port_of(u, array_of(opaque));
   uint64_t youngest = 0;
   for (unsigned i = 0; i < u->n_records; i++) {
      const record *const r = &u->record[i];
      if (!is_covered(u, r, key))
         continue;
      for (int time = 0; time < 2; time++) {
         if (serves(&p, r, time) && r->known[time] && r->time[time] > youngest)
            youngest = r->time[time];
      }
   }
   return youngest;
}

static void forget(const port *p, record *r)
{
   for (int time = 0; time < 2; time++) {
      if (serves(p, r, time))
         r->known[time] = 0;
   }
}

static void forget_key(run *u, const port *p, tlb_key key)
{
   for (unsigned i = 0; i < u->n_records; i++) {
      if (is_covered(u, &u->record[i], key))
         forget(p, &u->record[i]);
   }
}

static void release(uint64_t *time, tlb_key key, void *opaque)
{
   run *const u = &the_run;
   const port p = port_of(u, array_of(opaque));
   if (time == &tlb_range) {
      forget_key(u, &p, key);
      return;
   }
   char *const first = (char *)(time - first_time(&p));
   record *const r = (record *)(void *)(first - offsetof(record, time));
   if (!is_covered(u, r, key))
      die("release", "a key that the time does not belong to");
   forget(&p, r);
}

/* What backs these pages differs from what it was. */
static void change(run *u, uint64_t first, uint64_t end)
{
   for (unsigned i = 0; i < u->machine.n_arrays; i++) {
      tlb_array *const a = &u->h.array[i];
      for (uint32_t e = 0; a->short_cut != NULL && e < a->g.entries; e++) {
         const unsigned more = tlb_key_shift(a->key[e]) - u->base_shift;
         const uint64_t from = tlb_key_page(a->key[e]) << more;
         if (a->short_cut[e] != NULL && from < end
             && from + (UINT64_C(1) << more) > first)
            tlb_array_detach(a, e);
      }
   }
   for (unsigned i = 0; i < u->n_records; i++) {
      record *const r = &u->record[i];
      if (r->page >= first && r->page < end)
         r->known[0] = r->known[1] = 0;
   }
}

/* --- References --- */

static void attach(run *u, record *r, const tlb_outcome *o)
{
   tlb_array *const a = &u->h.array[o->array];
   const port p = port_of(u, a);
   if (a->short_cut[o->entry] == NULL) {
      if (o->shift == u->base_shift && has_one_record(&p))
         tlb_array_attach(a, o->entry, &r->time[first_time(&p)]);
      else
         tlb_array_attach_range(a, o->entry);
   }
   for (int time = 0; time < 2; time++)
      r->known[time] |= serves(&p, r, time);
}

static tlb_outcome translate(run *u, const tlb_reference *ref)
{
   tlb_outcome o = { .entry = TLB_MISS };
   if (u->ask_percent == 100)
      return tlb_translate(&u->h, ref);
   record *const r = record_of(u, ref->user == TLB_FETCH ? CODE : DATA,
                               ref->page, ref->context);
   const int time = ref->user == TLB_STORE && u->apart;
   if (!r->known[time] || draw(u) < u->ask_percent) {
      o = tlb_translate(&u->h, ref);
      attach(u, r, &o);
   }
   r->time[time] = ref->now;
   /* A caller may also forget what it knows. */
   if (o.entry != TLB_MISS && u->ask_percent != 0 && draw(u) < 5) {
      tlb_array *const a = &u->h.array[o.array];
      const port p = port_of(u, a);
      tlb_array_detach(a, o.entry);
      forget_key(u, &p, a->key[o.entry]);
   }
   return o;
}

/* --- Cases --- */

static void start(run *u)
{
   tlb_reason why;
   if (u->machine.n_arrays == 0)
      die("case", "there is no machine");
   if (!tlb_machine_holds(&u->machine, u->base_shift, &why))
      die("machine", why.text);
   u->memory = malloc(tlb_hierarchy_bytes(&u->machine));
   if (u->memory == NULL)
      die("malloc", "out of memory");
   memset(u->memory, 0xA5, tlb_hierarchy_bytes(&u->machine));
   tlb_hierarchy_init(&u->h, &u->machine, u->base_shift, 0, u->memory, release,
                      range_time, NULL);
   for (unsigned i = 0; i < u->machine.n_arrays; i++)
      u->apart |= tlb_asks_first(&u->h, TLB_LOAD, i)
                  != tlb_asks_first(&u->h, TLB_STORE, i);
   for (unsigned i = 0; i < u->machine.n_arrays; i++) {
      tlb_array *const a = &u->h.array[i];
      const port p = port_of(u, a);
      a->opaque = a;
      if (p.table[DATA] && p.time[0] && p.time[1])
         a->second_time = 1;
   }
}

static void read_machine(run *u, const char *first_line)
{
   static char text[MAX_TEXT];
   size_t n = (size_t)snprintf(text, sizeof text, "%s", first_line);
   uint32_t line;
   tlb_reason why;
   while (n + 1 < sizeof text
          && fgets(text + n, (int)(sizeof text - n), stdin) != NULL) {
      const int ended = strcmp(text + n, "end\n") == 0;
      n += strlen(text + n);
      if (!ended)
         continue;
      if (!tlb_machine_parse(text, n, &u->machine, &line, &why)) {
         fprintf(stderr, "simdrive: machine:%" PRIu32 ": %s\n", line, why.text);
         exit(1);
      }
      return;
   }
   die("machine", "it is too long or not ended");
}

static void refer(run *u, char user, tlb_reference *r)
{
   r->now = u->now += 2;
   r->user = user == 'f' ? TLB_FETCH : user == 'l' ? TLB_LOAD : TLB_STORE;
   const tlb_outcome o = translate(u, r);
   u->cycles += o.cycles;
   putchar("0123456789abcdef"[o.missed | (o.walked ? 8 : 0)]);
}

/* Runs one case. Returns 0 at the end of the input. */
static int run_case(void)
{
   run *const u = &the_run;
   char line[128], user;
   unsigned context, page_shift, block_shift, times;
   uint64_t first, end;
   memset(u, 0, sizeof *u);
   u->ask_percent = 100;
   u->base_shift = 12;
   u->random = 88172645463325252u;
   while (fgets(line, sizeof line, stdin) != NULL) {
      tlb_reference r = { .page = 0 };
      if (strcmp(line, "end\n") == 0) {
         printf(" %" PRIu64 "\n", u->cycles);
         free(u->memory);
         return 1;
      }
      if (sscanf(line, "%c %" SCNu64 " %u %u %u", &user, &r.page, &context,
                 &page_shift, &block_shift) == 5
          && strchr("fls", user) != NULL) {
         if (u->memory == NULL)
            start(u);
         r.context = (uint16_t)context;
         r.page_shift = (uint8_t)page_shift;
         r.block_shift = (uint8_t)block_shift;
         refer(u, user, &r);
      } else if (sscanf(line, "change %" SCNu64 " %" SCNu64, &first, &end)
                 == 2) {
         if (u->memory != NULL)
            change(u, first, end);
      } else if (strncmp(line, "tlbgrind-machine ", 17) == 0) {
         read_machine(u, line);
      } else if (sscanf(line, "times %u", &times) == 1) {
         u->apart = times == 2;
      } else if (sscanf(line, "base %u", &u->base_shift) != 1
                 && sscanf(line, "ask %u", &u->ask_percent) != 1) {
         die(line, "not understood");
      }
   }
   if (u->machine.n_arrays != 0)
      die("end of input", "the case is not ended");
   return 0;
}

int main(void)
{
   while (run_case()) {
   }
   return 0;
}
