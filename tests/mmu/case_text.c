/* Cases for sim/mmu as text. See mmu_case.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "mmu_case.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine_file.h"

static const struct {
   const char *word;
   unsigned numbers;
} events[CASE_WHATS] = {
   [CASE_FETCH] = { "fetch", 2 },     [CASE_LOAD] = { "load", 2 },
   [CASE_STORE] = { "store", 2 },     [CASE_BACK] = { "back", 5 },
   [CASE_MAP] = { "map", 6 },         [CASE_UNMAP] = { "unmap", 2 },
   [CASE_PROTECT] = { "protect", 3 }, [CASE_FLAG] = { "flag", 4 },
   [CASE_ZAP] = { "zap", 2 },         [CASE_SPLIT] = { "split", 3 },
   [CASE_MOVE] = { "move", 3 },       [CASE_COLLAPSE] = { "collapse", 2 },
   [CASE_ASK] = { "ask", 0 },         [CASE_FLUSH] = { "flush", 2 },
   [CASE_EMPTY] = { "empty", 1 },     [CASE_OTHERS] = { "others", 3 },
   [CASE_UNCOUNTED] = { "uncounted", 3 }, [CASE_CORE] = { "core", 1 },
   [CASE_CORE_ENDS] = { "coreends", 1 },  [CASE_PREFETCH] = { "prefetch", 2 }
};

static char text[TLB_MACHINE_TEXT_SIZE];

static const char *or_none(const char *rules)
{
   return rules[0] == '\0' ? "-" : rules;
}

void case_print(const mmu_case *c, FILE *out)
{
   fprintf(out, "case %u %d %d %d %u", c->page_shift, c->nested, c->exhaustive, c->mapped,
           c->lines);
   if (c->spaces > 1 || c->siblings > 1)
      fprintf(out, " %u %u", c->spaces, c->siblings);
   fprintf(out, "\n");
   for (unsigned i = 0; i < c->n_machines; i++) {
      const case_machine *const m = &c->machine[i];
      tlb_machine_print(&m->m, text, sizeof text);
      fprintf(out, "machine %d %u %u %s %s", m->asks, m->view, m->thp, or_none(m->rules),
              or_none(m->pools));
      if (m->flush.how != TLB_FLUSH_NONE || m->shared || m->prefetch != TLB_PREFETCH_IGNORE)
         fprintf(out, " %u %" PRIu32 " %d %u", m->flush.how, m->flush.n, m->shared, m->prefetch);
      fprintf(out, "\n%s", text);
   }
   for (unsigned i = 0; i < c->n_events; i++) {
      const case_event *const e = &c->event[i];
      fputs(events[e->what].word, out);
      for (unsigned n = 0; n < events[e->what].numbers; n++)
         fprintf(out, e->n[n] < 10 ? " %" PRIu64 : " 0x%" PRIx64, e->n[n]);
      fputc('\n', out);
   }
   fputs("end\n", out);
}

static _Noreturn void refuse(const char *line, const char *why)
{
   fprintf(stderr, "mmu_case: %s: %s\n", line, why);
   exit(2);
}

static void read_machine(case_machine *m, FILE *in)
{
   size_t n = 0;
   uint32_t line;
   tlb_reason why;
   while (n + 1 < sizeof text && fgets(text + n, (int)(sizeof text - n), in) != NULL) {
      const bool ended = strcmp(text + n, "end\n") == 0;
      n += strlen(text + n);
      if (!ended)
         continue;
      if (!tlb_machine_parse(text, n, &m->m, &line, &why))
         refuse("machine", why.text);
      return;
   }
   refuse("machine", "it is not ended");
}

static void read_rules(case_machine *m, const char *line)
{
   int asks;
   unsigned how = 0, n = 0, shared = 0, prefetch = 0;
   if (sscanf(line, "machine %d %u %u %79s %79s %u %u %u %u", &asks, &m->view, &m->thp, m->rules,
              m->pools, &how, &n, &shared, &prefetch) < 5)
      refuse(line, "not understood");
   m->shared = shared != 0;
   m->flush = (tlb_flush_policy){ (tlb_flush_how)how, n };
   m->prefetch = (tlb_prefetch_policy)prefetch;
   m->asks = asks != 0;
   if (strcmp(m->rules, "-") == 0)
      m->rules[0] = '\0';
   if (strcmp(m->pools, "-") == 0)
      m->pools[0] = '\0';
}

static void read_event(case_event *e, const char *line)
{
   for (unsigned what = 0; what < CASE_WHATS; what++) {
      const size_t length = strlen(events[what].word);
      if (strncmp(line, events[what].word, length) != 0
          || (line[length] != ' ' && line[length] != '\n'))
         continue;
      char *at = (char *)(uintptr_t)(line + length);
      *e = (case_event){ .what = (case_what)what };
      for (unsigned n = 0; n < events[what].numbers; n++) {
         char *const before = at;
         e->n[n] = strtoull(before, &at, 0);
         if (at == before)
            refuse(line, "a number is missing");
      }
      return;
   }
   refuse(line, "not understood");
}

bool case_read(mmu_case *c, FILE *in)
{
   char line[256];
   int nested, exhaustive, mapped;
   memset(c, 0, sizeof *c);
   do {
      if (fgets(line, sizeof line, in) == NULL)
         return false;
   } while (line[0] == '#' || line[0] == '\n');
   c->spaces = c->siblings = 0;
   if (sscanf(line, "case %u %d %d %d %u %u %u", &c->page_shift, &nested, &exhaustive, &mapped,
              &c->lines, &c->spaces, &c->siblings) < 5)
      refuse(line, "not understood");
   if (c->lines > CASE_LINES)
      refuse(line, "too many lines");
   c->nested = nested != 0;
   c->exhaustive = exhaustive != 0;
   c->mapped = mapped != 0;
   while (fgets(line, sizeof line, in) != NULL) {
      if (strcmp(line, "end\n") == 0)
         return true;
      if (strncmp(line, "machine ", 8) == 0) {
         if (c->n_machines == CASE_MACHINES)
            refuse(line, "too many machines");
         case_machine *const m = &c->machine[c->n_machines++];
         read_rules(m, line);
         read_machine(m, in);
      } else {
         if (c->n_events == CASE_EVENTS)
            refuse(line, "too many events");
         read_event(&c->event[c->n_events++], line);
      }
   }
   refuse("case", "it is not ended");
}
