/* Machines and their variants. See simulate/advice.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/load_machine.h"
#include "command/whole_file.h"
#include "sim/pages/advice_report.h"
#include "simulate/advice.h"
#include "simulate/bytes.h"

/* A file that is written at the end. */
typedef struct {
   char *name;
   size_t at, n; /* where its text is among those that are kept */
   size_t lines_at;
} kept_file;

typedef struct {
   uint64_t least;
   tlb_rule_effect effect; /* of a variant's own rule */
   char *lines;            /* for the file of its machine */
   kept_file *file;
   unsigned n_files;
   bool is_same;
} machine;

/* Machines and variants together have texts that can be too large for the memory: they are kept in
   a file. */
struct TgAdvice {
   const TgSimulatedList *list;
   machine *machine; /* by number */
   int texts;        /* the file, which has no name; -1: there is none yet */
   size_t n_texts;   /* bytes */
};

TgAdvice *tg_advice_new(const TgSimulatedList *list)
{
   TgAdvice *const a = tg_load_need(calloc(1, sizeof *a));
   a->list = list;
   a->texts = -1;
   a->machine = tg_load_need(calloc(list->n, sizeof *a->machine));
   return a;
}

/* The one that it is a variant of, or itself. */
static unsigned first_of(const TgAdvice *a, unsigned i)
{
   return i - i % a->list->group;
}

/* --- Texts --- */

static _Noreturn void refuse_file(const char *name)
{
   tg_load_refuse("%s: the file cannot be written: %s", name, strerror(errno));
}

static bool is_at(const TgAdvice *a, size_t at)
{
   return lseek(a->texts, (off_t)at, SEEK_SET) >= 0;
}

static void put_text(TgAdvice *a, kept_file *f, const char *text, size_t n)
{
   if (a->texts < 0)
      a->texts = tg_open_unnamed(f->name);
   if (a->texts < 0 || !is_at(a, a->n_texts) || !tg_write_bytes(a->texts, text, n))
      refuse_file(f->name);
   f->at = a->n_texts;
   f->n = n;
   a->n_texts += n;
}

/* To be freed. */
static char *text_of(const TgAdvice *a, const kept_file *f)
{
   char *const text = tg_load_need(malloc(f->n + 1));
   if (!is_at(a, f->at) || !tg_read_bytes(a->texts, text, f->n))
      tg_load_refuse("%s: what is to be written cannot be read again: %s", f->name,
                     strerror(errno));
   text[f->n] = '\0';
   return text;
}

/* --- What is known --- */

void tg_advice_note(TgAdvice *a, const TgOutFile *o, uint64_t least)
{
   const unsigned i = o->number - 1;
   machine *const m = &a->machine[i];
   m->least = least;
   if (i != first_of(a, i))
      m->lines = tg_out_file_variant(o, i - first_of(a, i), &m->effect);
}

static kept_file *add_file(machine *m)
{
   m->file = tg_load_need(realloc(m->file, (m->n_files + 1) * sizeof *m->file));
   return &m->file[m->n_files++];
}

void tg_advice_keep(TgAdvice *a, unsigned number, const char *name, const char *text, size_t n,
                    size_t lines_at)
{
   kept_file *const f = add_file(&a->machine[number]);
   *f = (kept_file){ .name = tg_load_need(strdup(name)), .lines_at = lines_at };
   put_text(a, f, text, n);
}

/* --- Through a pipe --- */

static bool send_text(int fd, const char *text, size_t n)
{
   return tg_write_bytes(fd, &n, sizeof n) && tg_write_bytes(fd, text, n);
}

/* With a zero behind it. */
static bool receive_text(int fd, char **text, size_t *n)
{
   if (!tg_read_bytes(fd, n, sizeof *n))
      return false;
   *text = tg_load_need(malloc(*n + 1));
   (*text)[*n] = '\0';
   return tg_read_bytes(fd, *text, *n);
}

static bool send_file(const TgAdvice *a, const kept_file *f, int fd)
{
   char *const text = text_of(a, f);
   const bool told = tg_write_bytes(fd, &f->lines_at, sizeof f->lines_at)
                     && send_text(fd, f->name, strlen(f->name)) && send_text(fd, text, f->n);
   free(text);
   return told;
}

static bool receive_file(TgAdvice *a, kept_file *f, int fd)
{
   char *text = NULL;
   size_t unused, n;
   *f = (kept_file){ .name = NULL };
   const bool told = tg_read_bytes(fd, &f->lines_at, sizeof f->lines_at)
                     && receive_text(fd, &f->name, &unused) && receive_text(fd, &text, &n);
   if (told)
      put_text(a, f, text, n);
   free(text);
   return told;
}

bool tg_advice_send(const TgAdvice *a, unsigned number, int fd)
{
   const machine *const m = &a->machine[number];
   const char *const lines = m->lines == NULL ? "" : m->lines;
   bool told = tg_write_bytes(fd, &m->least, sizeof m->least)
               && tg_write_bytes(fd, &m->effect, sizeof m->effect)
               && send_text(fd, lines, strlen(lines))
               && tg_write_bytes(fd, &m->n_files, sizeof m->n_files);
   for (const kept_file *f = m->file; told && f < m->file + m->n_files; f++)
      told = send_file(a, f, fd);
   return told;
}

bool tg_advice_receive(TgAdvice *a, unsigned number, int fd)
{
   machine *const m = &a->machine[number];
   unsigned n_files = 0;
   size_t unused;
   bool told = tg_read_bytes(fd, &m->least, sizeof m->least)
               && tg_read_bytes(fd, &m->effect, sizeof m->effect)
               && receive_text(fd, &m->lines, &unused)
               && tg_read_bytes(fd, &n_files, sizeof n_files);
   for (unsigned i = 0; told && i < n_files; i++)
      told = receive_file(a, add_file(m), fd);
   return told;
}

/* --- At the end --- */

void tg_advice_find(TgAdvice *a, uint64_t (*total)[TG_N_COSTS])
{
   for (unsigned i = 0; i < a->list->n; i++) {
      const unsigned first = first_of(a, i);
      a->machine[i].is_same = i != first && a->machine[i].least == a->machine[first].least
                              && memcmp(total[i], total[first], sizeof total[i]) == 0;
   }
}

bool tg_advice_is_same(const TgAdvice *a, unsigned number)
{
   return a->machine[number].is_same;
}

/* What the file of a machine has about its variants, to be freed. */
static char *lines_of(const TgAdvice *a, unsigned first)
{
   const unsigned group = a->list->group;
   size_t n = 0, room = 40;
   for (unsigned i = first + 1; i < first + group; i++)
      room += strlen(a->machine[i].lines);
   char *const lines = tg_load_need(malloc(room));
   n = (size_t)sprintf(lines, "desc: Variants: %u\n", group - 1);
   for (unsigned i = first + 1; i < first + group; i++) {
      if (a->machine[i].is_same)
         n += (size_t)sprintf(lines + n, "%s", a->machine[i].lines);
   }
   return lines;
}

/* `of`: the machine whose lines about variants it has, if it has any. */
static void write_file(const TgAdvice *a, unsigned of, const kept_file *f)
{
   size_t n = f->n;
   char *text = text_of(a, f);
   if (of == first_of(a, of) && f->lines_at != 0) {
      char *const lines = lines_of(a, of),
                  *const with = tg_out_file_with(text, n, f->lines_at, lines, &n);
      free(lines);
      free(text);
      text = with;
   }
   if (!tg_write_whole(f->name, text, n))
      refuse_file(f->name);
   free(text);
}

void tg_advice_write(TgAdvice *a)
{
   for (unsigned i = 0; i < a->list->n; i++) {
      const machine *const m = &a->machine[i];
      for (const kept_file *f = m->file; !m->is_same && f < m->file + m->n_files; f++)
         write_file(a, i, f);
   }
}

/* --- On the terminal --- */

/* A name may have any character. */
static void put_piece(const char *text, void *opaque)
{
   (void)opaque;
   for (; *text != '\0'; text++)
      putchar((unsigned char)*text < 0x20 && *text != '\n' ? '?' : *text);
}

/* As a shell takes it. */
static void put_name(const char *name)
{
   static const char plain[]
      = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-@:";
   const bool is_plain = name[strspn(name, plain)] == '\0';
   put_piece(is_plain ? " " : " '", NULL);
   for (const char *c = name; *c != '\0'; c++) {
      const char one[2] = { *c, '\0' };
      put_piece(*c == '\'' ? "'\\''" : one, NULL);
   }
   put_piece(is_plain ? "" : "'", NULL);
}

/* The files of the machines as they are, beside which the others are found. */
static void print_command(const TgAdvice *a)
{
   printf("To see what larger pages would save:  tg_annotate --advice");
   for (unsigned i = 0; i < a->list->n; i += a->list->group)
      put_name(a->machine[i].file[0].name);
   printf("\n");
}

void tg_advice_print(const TgAdvice *a)
{
   const TgSimulatedList *const list = a->list;
   tlb_advice_variant *const v = tg_load_need(calloc(list->n, sizeof *v));
   for (unsigned i = 0; i < list->n; i++) {
      const TgSimulated *const s = &list->machine[i];
      v[i].name = s->name;
      if (i == first_of(a, i))
         continue;
      v[i].rule = &s->pages.rule[s->pages.n_rules - 1];
      v[i].shift = tlb_page_rule_shift(&s->pages, v[i].rule, s->m.base_page_shift);
      v[i].effect = a->machine[i].effect;
      v[i].is_same = a->machine[i].is_same;
   }
   tlb_advice_same_say(v, list->n, list->group, put_piece, NULL);
   free(v);
   print_command(a);
}

void tg_advice_free(TgAdvice *a)
{
   for (unsigned i = 0; i < a->list->n; i++) {
      machine *const m = &a->machine[i];
      for (unsigned j = 0; j < m->n_files; j++)
         free(m->file[j].name);
      free(m->file);
      free(m->lines);
   }
   if (a->texts >= 0)
      close(a->texts);
   free(a->machine);
   free(a);
}
