/* Writes and reads curves as CSV. */

#include "measure/curves_csv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char heading[] = "kind,ask,page_bytes,stride,chains,pages,cycles,spread,rounds";

static const char *const kind_name[] = { "pages",   "control", "stride",  "mixed",
                                         "overlap", "tables",  "conflict", "pieces" };
static const char *const ask_name[] = { "load", "store", "fetch" };

enum {
   N_KINDS = sizeof kind_name / sizeof *kind_name,
   N_COLUMNS = 9,
   LINE_SIZE = 256,
   MOST_SHIFT = 40,    /* of pages, and of strides */
   MOST_CHAINS = 1024,
   MOST_POINTS = 1 << 20
};

const char *tg_curve_kind_name(TgCurveKind kind)
{
   return kind_name[kind];
}

const char *tg_ask_name(TgAsk ask)
{
   return ask_name[ask];
}

/* --- writing --- */

typedef struct {
   char *out;
   size_t size, length;
} Text;

static void add(Text *t, const char *format, ...)
{
   va_list arguments;
   va_start(arguments, format);
   const size_t room = t->length < t->size ? t->size - t->length : 0;
   const int n = vsnprintf(room > 0 ? t->out + t->length : NULL, room, format, arguments);
   va_end(arguments);
   t->length += n > 0 ? (size_t)n : 0;
}

size_t tg_curves_print(const TgCurve *curve, size_t n, char *out, size_t size)
{
   Text t = { out, size, 0 };
   add(&t, "%s\n", heading);
   for (size_t i = 0; i < n; i++) {
      const TgCurve *const c = &curve[i];
      for (size_t k = 0; k < c->n; k++) {
         const TgPoint *const p = &c->point[k];
         add(&t, "%s,%s,%llu,%llu,%u,%llu,%.3f,%.3f,%u\n", kind_name[c->kind], ask_name[c->ask],
             1ULL << c->page_shift, 1ULL << c->stride_shift, c->chains,
             (unsigned long long)p->pages, p->cycles, p->spread, p->rounds);
      }
   }
   return t.length;
}

/* --- reading --- */

typedef struct {
   const char *file;
   unsigned long line;
   char *why; /* of TG_CSV_WHY bytes */
   TgCurve *curve;
   size_t n, room;
   size_t points;  /* room in the last curve */
} Reader;

static int refuse(Reader *r, const char *format, ...)
{
   va_list arguments;
   const int n = snprintf(r->why, TG_CSV_WHY, "%s:%lu: ", r->file, r->line);
   va_start(arguments, format);
   if (n > 0 && n < TG_CSV_WHY)
      vsnprintf(r->why + n, (size_t)(TG_CSV_WHY - n), format, arguments);
   va_end(arguments);
   /* What it quotes may be anything. */
   for (char *at = r->why; *at != '\0'; at++) {
      if (*at < ' ' || *at > '~')
         *at = '?';
   }
   return 0;
}

/* Takes one line apart; the text is changed. Returns how many columns it has. */
static unsigned columns(char *line, char *column[N_COLUMNS])
{
   unsigned n = 0;
   for (char *at = line; at;) {
      char *const comma = strchr(at, ',');
      if (comma)
         *comma = '\0';
      if (n < N_COLUMNS)
         column[n] = at;
      n++;
      at = comma ? comma + 1 : NULL;
   }
   return n;
}

static int name_of(const char *text, const char *const *name, unsigned n, unsigned *out)
{
   for (*out = 0; *out < n; ++*out) {
      if (strcmp(text, name[*out]) == 0)
         return 1;
   }
   return 0;
}

static int number(Reader *r, const char *what, const char *text, uint64_t most, uint64_t *out)
{
   uint64_t value = 0;
   const char *at = text;
   for (; *at >= '0' && *at <= '9' && value <= most; at++)
      value = value * 10 + (uint64_t)(*at - '0');
   if (at == text || *at != '\0' || value > most)
      return refuse(r, "%s '%.20s' is not a number up to %llu", what, text,
                    (unsigned long long)most);
   *out = value;
   return 1;
}

static int power(Reader *r, const char *what, const char *text, unsigned *shift)
{
   uint64_t value;
   if (!number(r, what, text, UINT64_C(1) << MOST_SHIFT, &value))
      return 0;
   if (value == 0 || (value & (value - 1)) != 0)
      return refuse(r, "%s '%s' is not a power of two", what, text);
   for (*shift = 0; value >> *shift != 1;)
      ++*shift;
   return 1;
}

static int real(Reader *r, const char *what, const char *text, double *out)
{
   char *end;
   const int digits = *text != '\0' && strspn(text, "0123456789.") == strlen(text);
   *out = digits ? strtod(text, &end) : -1;
   if (!digits || *end != '\0' || !isfinite(*out) || *out > 1e12)
      return refuse(r, "%s '%.20s' is not a number of cycles", what, text);
   return 1;
}

static int same_curve(const TgCurve *a, const TgCurve *b)
{
   return a->kind == b->kind && a->ask == b->ask && a->page_shift == b->page_shift
          && a->stride_shift == b->stride_shift && a->chains == b->chains;
}

static int grow(Reader *r, void **at, size_t *room, size_t size)
{
   const size_t more = *room == 0 ? 16 : *room * 2;
   void *const grown = realloc(*at, more * size);
   if (!grown)
      return refuse(r, "out of memory");
   *at = grown;
   *room = more;
   return 1;
}

static int add_point(Reader *r, const TgCurve *of, const TgPoint *p)
{
   if (r->n == 0 || !same_curve(&r->curve[r->n - 1], of)) {
      for (size_t i = 0; i < r->n; i++) {
         if (same_curve(&r->curve[i], of))
            return refuse(r, "the curve's other points stand further up");
      }
      if (r->n == r->room) {
         void *curves = r->curve;
         if (!grow(r, &curves, &r->room, sizeof *r->curve))
            return 0;
         r->curve = curves;
      }
      r->curve[r->n++] = *of;
      r->points = 0;
   }
   TgCurve *const c = &r->curve[r->n - 1];
   if (c->n > 0 && c->point[c->n - 1].pages >= p->pages)
      return refuse(r, "%llu pages come after %llu", (unsigned long long)p->pages,
                    (unsigned long long)c->point[c->n - 1].pages);
   if (c->n == r->points) {
      void *points = c->point;
      if (c->n >= MOST_POINTS)
         return refuse(r, "too many points");
      if (!grow(r, &points, &r->points, sizeof *c->point))
         return 0;
      c->point = points;
   }
   c->point[c->n++] = *p;
   return 1;
}

static int read_line(Reader *r, char *line)
{
   char *column[N_COLUMNS];
   TgCurve c = { 0 };
   TgPoint p;
   unsigned kind, ask;
   uint64_t chains, rounds;
   const unsigned n = columns(line, column);
   if (n != N_COLUMNS)
      return refuse(r, "%u columns where %d belong: %s", n, N_COLUMNS, heading);
   if (!name_of(column[0], kind_name, N_KINDS, &kind))
      return refuse(r, "kind '%.20s' is none of pages, control, stride, mixed, overlap, tables",
                    column[0]);
   if (!name_of(column[1], ask_name, TG_N_ASK, &ask))
      return refuse(r, "ask '%.20s' is none of load, store, fetch", column[1]);
   c.kind = (TgCurveKind)kind;
   c.ask = (TgAsk)ask;
   if (!power(r, "page_bytes", column[2], &c.page_shift)
       || !power(r, "stride", column[3], &c.stride_shift)
       || !number(r, "chains", column[4], MOST_CHAINS, &chains)
       || !number(r, "pages", column[5], UINT64_C(1) << MOST_SHIFT, &p.pages)
       || !real(r, "cycles", column[6], &p.cycles) || !real(r, "spread", column[7], &p.spread)
       || !number(r, "rounds", column[8], UINT32_MAX, &rounds))
      return 0;
   c.chains = (unsigned)chains;
   p.rounds = (unsigned)rounds;
   return add_point(r, &c, &p);
}

static int read_text(Reader *r, const char *text, size_t length)
{
   char line[LINE_SIZE];
   for (size_t at = 0; at < length;) {
      const char *const end = memchr(text + at, '\n', length - at);
      size_t n = end ? (size_t)(end - text) - at : length - at;
      const size_t next = at + n + 1;
      r->line++;
      if (n > 0 && text[at + n - 1] == '\r')
         n--;
      if (n >= sizeof line)
         return refuse(r, "the line is longer than %d bytes", LINE_SIZE - 1);
      if (memchr(text + at, '\0', n))
         return refuse(r, "a NUL byte: this is no text");
      memcpy(line, text + at, n);
      line[n] = '\0';
      at = next;
      if (r->line == 1) {
         if (strcmp(line, heading) != 0)
            return refuse(r, "not the heading of curves, which is %s", heading);
      } else if (n > 0 && !read_line(r, line)) {
         return 0;
      }
   }
   if (r->n == 0) {
      r->line = r->line > 0 ? r->line : 1;
      return refuse(r, "no curves");
   }
   return 1;
}

TgCurve *tg_curves_parse(const char *file, const char *text, size_t length, size_t *n,
                         char why[TG_CSV_WHY])
{
   Reader r = { .file = file, .why = why };
   if (!read_text(&r, text, length)) {
      tg_curves_free(r.curve, r.n);
      return NULL;
   }
   *n = r.n;
   return r.curve;
}

void tg_curves_free(TgCurve *curve, size_t n)
{
   for (size_t i = 0; curve && i < n; i++)
      free(curve[i].point);
   free(curve);
}
