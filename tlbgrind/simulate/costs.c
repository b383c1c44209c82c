/* Options about what misses cost. See simulate/costs.h; a run has options/cost_options.c.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <string.h>

#include "command/load_machine.h"
#include "sim/machine/cost.h"
#include "simulate/costs.h"

/* Each part of the value begins at `at`, and has n characters. */
static _Noreturn void refuse_machine(const char *value, const char *at, size_t n)
{
   tg_load_refuse("--cycles=%s: '%.*s' is no machine of this simulation", value,
                  n > 60 ? 60 : (int)n, at);
}

static uint64_t cycles_in(const char *value, const char *text, size_t n)
{
   char number[32];
   uint64_t cycles;
   tlb_reason why;
   if (n >= sizeof number)
      tg_load_refuse("--cycles=%s: '%.40s' is no number of cycles", value, text);
   memcpy(number, text, n);
   number[n] = '\0';
   if (!tlb_cycles_parse(number, &cycles, &why))
      tg_load_refuse("--cycles=%s: %s", value, why.text);
   return cycles;
}

/* MACHINE:NUMBER. Names have colons, too. */
static void give_to_one(TgSimulatedList *list, const char *value, const char *at, size_t n)
{
   size_t name = n;
   while (name > 0 && at[name - 1] != ':')
      name--;
   if (name == 0) {
      (void)cycles_in(value, at, n);
      refuse_machine(value, at, n);
   }
   const uint64_t cycles = cycles_in(value, at + name, n - name);
   for (unsigned i = 0; i < list->n; i++) {
      if (strlen(list->machine[i].name) == name - 1
          && memcmp(list->machine[i].name, at, name - 1) == 0) {
         list->machine[i].cycles = cycles;
         return;
      }
   }
   refuse_machine(value, at, name - 1);
}

static void give_cycles(TgSimulatedList *list, const char *value)
{
   if (strchr(value, ':') == NULL) {
      const uint64_t cycles = cycles_in(value, value, strlen(value));
      for (unsigned i = 0; i < list->n; i++)
         list->machine[i].cycles = cycles;
      return;
   }
   for (const char *at = value; *at != '\0';) {
      const size_t n = strcspn(at, ",");
      if (n > 0)
         give_to_one(list, value, at, n);
      at += n + (at[n] == ',');
   }
}

/* The user knows what the machine's file assumes. */
static void set_walk(tlb_machine *m, uint32_t cost)
{
   unsigned kept = 0;
   for (unsigned i = 0; i < m->n_notes; i++) {
      if (!tlb_machine_note_is_of_walk(m, m->note[i].text))
         m->note[kept++] = m->note[i];
   }
   m->n_notes = kept;
   tlb_cost_set_walk(m, cost);
}

static void give_cost(TgSimulatedList *list, const char *value)
{
   uint32_t cost;
   tlb_reason why;
   if (!tlb_miss_cost_parse(value, &cost, &why))
      tg_load_refuse("--miss-cost=%s: %s", value, why.text);
   for (unsigned i = 0; i < list->n; i++)
      set_walk(&list->machine[i].m, cost);
}

/* The host's walks would be there twice. */
static void refuse_guests(const TgSimulatedList *list)
{
   for (unsigned i = 0; i < list->n; i++) {
      if (list->machine[i].m.host_page_shift != 0)
         tg_load_refuse("--nested=yes: the walks of %s are those of a guest already, as measured "
                        "(line nested of its file); leave it out", list->machine[i].m.name);
   }
}

void tg_simulated_take_costs(TgSimulatedList *list, const TgSimulateOptions *o)
{
   if (o->nested)
      refuse_guests(list);
   if (o->cycles != NULL)
      give_cycles(list, o->cycles);
   if (o->miss_cost != NULL)
      give_cost(list, o->miss_cost);
}
