/* The machine files that are built in: looking them up. */

#include "sim/machine/builtin.h"

#include "sim/base/closeness.h"
#include "sim/base/text.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/product_names.h"

const tlb_builtin *tlb_builtin_machine(const char *name)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      if (tlb_text_is(name, tlb_text_length(name), tlb_builtin_at(i)->name))
         return tlb_builtin_at(i);
   }
   return NULL;
}

/* Whether the machine's title, or a product with it, has the name: graviton4 is in "Arm Neoverse V2
   (Graviton 4, Grace)". */
static int is_called(const tlb_builtin *b, const char *name)
{
   tlb_machine m;
   tlb_reason why;
   uint32_t line;
   return tlb_is_called(tlb_product_names(b->name), name)
          || (tlb_machine_parse(b->text, b->length, &m, &line, &why)
              && tlb_is_called(m.title, name));
}

/* The names in a refusal. */
typedef struct {
   tlb_text text;
   const tlb_builtin *told[6];
   unsigned n;
} suggestions;

static void suggest(suggestions *s, const tlb_builtin *b)
{
   enum { MOST = sizeof s->told / sizeof s->told[0] };
   for (unsigned i = 0; i < s->n; i++) {
      if (s->told[i] == b)
         return;
   }
   if (s->n == MOST)
      return;
   tlb_text_add(&s->text, s->n == 0 ? "; did you mean " : ", ");
   tlb_text_add(&s->text, b->name);
   s->told[s->n++] = b;
}

static void suggest_called(suggestions *s, const char *name)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      if (is_called(tlb_builtin_at(i), name))
         suggest(s, tlb_builtin_at(i));
   }
}

/* The name up to its first digit, which mostly begins a model's number: epyc7742. "" if that is too
   short to tell anything. */
static void cut_number(const char *name, char *out, size_t size)
{
   size_t n = 0;
   tlb_text t = tlb_text_in(out, size);
   while (name[n] != '\0' && !(name[n] >= '0' && name[n] <= '9'))
      n++;
   if (n >= 4 && name[n] != '\0')
      tlb_text_add_n(&t, name, n);
}

void tlb_builtin_refuse(const char *name, tlb_reason *why)
{
   enum { SHOWN = 40 };
   const size_t length = tlb_text_length(name);
   char family[SHOWN];
   suggestions s = { .text = tlb_text_in(why->text, sizeof why->text) };
   tlb_text_add(&s.text, "'");
   tlb_text_add_n(&s.text, name, length < SHOWN ? length : SHOWN);
   tlb_text_add(&s.text, "' is no machine");
   /* The closest first; a title is as close as the beginning of a name. */
   for (unsigned d = 0; d < TLB_FAR; d++) {
      for (unsigned i = 0; i < tlb_n_builtins(); i++) {
         if (tlb_distance(name, tlb_builtin_at(i)->name) == d)
            suggest(&s, tlb_builtin_at(i));
      }
      if (d == 1)
         suggest_called(&s, name);
   }
   cut_number(name, family, sizeof family);
   if (s.n == 0 && family[0] != '\0')
      suggest_called(&s, family);
   tlb_text_add(&s.text, s.n > 0 ? "?" : "; --list-machines tells their names");
}
