/* A recording as a file. See simulate/recording.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/load_machine.h"
#include "sim/base/text.h"
#include "simulate/pages.h"
#include "simulate/recording.h"

enum { MOST_OF_HEAD = 4 << 20, PACKED_SIZE = 4, MOST_BEFORE = 1000 };

struct TgRecording {
   char *name;
   int fd;
   int file;   /* the same, or what zstd reads: both have one position */
   double size; /* of the file */
   pid_t zstd; /* 0: it is not compressed */
   tg_recording_copy *copy; /* NULL: none */
   void *opaque;
   TgRecordingHead head;
   char *text; /* of the head */
   TgRecording *before, *next; /* what it goes on from, and what goes on from it */
   TgRecording *source; /* whose blocks are being read; NULL: not yet found */
   tlb_stream_reader stream;
   size_t at, n;
   uint8_t bytes[1 << 16];
};

/* --- Bytes --- */

static size_t read_some(TgRecording *r)
{
   ssize_t n;
   do
      n = read(r->fd, r->bytes, sizeof r->bytes);
   while (n < 0 && errno == EINTR);
   if (n < 0)
      tg_load_refuse("%s: the file cannot be read: %s", r->name, strerror(errno));
   r->at = 0;
   r->n = (size_t)n;
   return r->n;
}

static size_t get(TgRecording *r, uint8_t *bytes, size_t n)
{
   size_t done = 0;
   while (done < n && (r->at < r->n || read_some(r) > 0)) {
      const size_t there = r->n - r->at;
      const size_t piece = n - done < there ? n - done : there;
      memcpy(bytes + done, r->bytes + r->at, piece);
      r->at += piece;
      done += piece;
   }
   if (r->copy != NULL)
      r->copy(r->opaque, bytes, done);
   return done;
}

/* A tlb_stream_get. */
static size_t get_of_stream(void *opaque, uint8_t *bytes, size_t n)
{
   TgRecording *const r = opaque;
   return get(r->source, bytes, n);
}

/* From now on what zstd makes of the file is read. */
static void unpack(TgRecording *r)
{
   int out[2];
   if (pipe(out) != 0 || (r->zstd = fork()) < 0)
      tg_load_refuse("%s: zstd cannot be started: %s", r->name, strerror(errno));
   if (r->zstd == 0) {
      const int null = open("/dev/null", O_WRONLY);
      if (dup2(r->fd, 0) != 0 || dup2(out[1], 1) != 1 || null < 0 || dup2(null, 2) != 2)
         _exit(126);
      close(out[0]);
      close(out[1]);
      execlp("zstd", "zstd", "-q", "-d", "-c", (char *)NULL);
      _exit(127);
   }
   close(out[1]);
   r->fd = out[0];
   /* Another zstd, which holds it, would keep this one from ending with its reader. */
   fcntl(r->fd, F_SETFD, FD_CLOEXEC);
}

/* Where nothing could be unpacked: whether that is for lack of zstd. */
static void check_zstd(TgRecording *r)
{
   int status;
   if (r->zstd == 0 || waitpid(r->zstd, &status, 0) != r->zstd)
      return;
   r->zstd = 0;
   if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
      tg_load_refuse("%s: the recording is compressed, and zstd is not installed", r->name);
}

static void look_whether_packed(TgRecording *r)
{
   static const uint8_t packed[PACKED_SIZE] = { 0x28, 0xB5, 0x2F, 0xFD };
   uint8_t first[PACKED_SIZE];
   struct stat s;
   if (fstat(r->fd, &s) != 0 || !S_ISREG(s.st_mode))
      tg_load_refuse("%s: it is no regular file", r->name);
   r->file = r->fd;
   r->size = (double)s.st_size;
   if (pread(r->fd, first, sizeof first, 0) == PACKED_SIZE
       && memcmp(first, packed, sizeof first) == 0)
      unpack(r);
}

/* --- The head --- */

static bool is_key(const char *line, size_t n, const char *key, const char **value)
{
   const size_t length = strlen(key);
   *value = line + length;
   return n >= length && memcmp(line, key, length) == 0;
}

/* The large pages of a recording: " 21 30". */
static bool take_sizes(const char *at, const char *end, const tlb_strength *s, uint64_t *out)
{
   uint64_t shift, before = s->base_page_shift;
   unsigned n = 0;
   while (at < end) {
      if (*at++ != ' ' || !tlb_text_number(&at, end, &shift) || shift <= before
          || shift > TLB_MAX_PAGE_SHIFT || ++n > TLB_MAX_RECORD_SIZES)
         return false;
      *out |= UINT64_C(1) << shift;
      before = shift;
   }
   return n > 0 && s->base_page_shift != 0;
}

/* Whether the filter is of pages that the recording has. */
static bool is_of_head(const tlb_strength *s, const tlb_filter *f)
{
   return f->shift == 0 || (s->large >> f->shift & 1) != 0;
}

/* "RECORDS SUM NAME", with the sum in 16 hexadecimal digits. */
static bool take_after(const char *at, const char *end, TgRecordingHead *out)
{
   static const char digits[] = "0123456789abcdef";
   enum { DIGITS = 16 };
   if (!tlb_text_number(&at, end, &out->after_records) || at == end || *at++ != ' '
       || end - at < DIGITS + 2)
      return false;
   out->after_sum = 0;
   for (unsigned i = 0; i < DIGITS; i++) {
      const char *const digit = memchr(digits, *at++, DIGITS);
      if (digit == NULL)
         return false;
      out->after_sum = out->after_sum << 4 | (uint64_t)(digit - digits);
   }
   out->after = at + 1;
   out->after_length = (size_t)(end - out->after);
   return *at == ' ' && memchr(out->after, '\0', out->after_length) == NULL;
}

static bool take_line(const char *line, size_t n, TgRecordingHead *head, const char **why)
{
   const char *const end = line + n, *value;
   tlb_strength *const out = &head->strength;
   uint64_t number;
   if (is_key(line, n, "version: ", &value)) {
      *why = "its version is another than 1 to 10: a later tg_simulate may read it";
      return tlb_text_number(&value, end, &number) && value == end && number >= 1 && number <= 10;
   }
   if (is_key(line, n, "base page: ", &value)) {
      *why = "its base page is none";
      if (!tlb_text_number(&value, end, &number) || value != end || number < TLB_MIN_PAGE_SHIFT
          || number > TLB_MAX_PAGE_SHIFT)
         return false;
      out->base_page_shift = (unsigned)number;
   }
   if (is_key(line, n, "base page of: ", &value)) {
      *why = "its head has machines with another base page that can not be";
      return tlb_base_pages_parse(value, (size_t)(end - value), &head->base);
   }
   if (is_key(line, n, "pages:", &value)) {
      *why = "its head has large pages that can not be";
      if (!take_sizes(value, end, out, &out->large))
         return false;
   }
   if (is_key(line, n, "thp: ", &value)) {
      *why = "its head has a mode of transparent huge pages that is none";
      if (!tg_thp_mode(value, (size_t)(end - value), &head->thp))
         return false;
   }
   if (is_key(line, n, "code: ", &value)) {
      *why = "its head has blocks of code that can not be";
      return tlb_code_blocks_parse(value, (size_t)(end - value), &head->code);
   }
   if (is_key(line, n, "switches: ", &value)) {
      *why = "its head has context switches that can not be";
      if (!tlb_text_number(&value, end, &head->points.switches) || value != end
          || head->points.switches == 0)
         return false;
   }
   if (is_key(line, n, "flushes: ", &value)) {
      *why = "its head has flushes that can not be";
      head->points.flushes = true;
      return tlb_text_is(value, (size_t)(end - value), "yes") != 0;
   }
   if (is_key(line, n, "prefetches: ", &value)) {
      *why = "its head has prefetches that can not be";
      head->points.prefetches = true;
      return tlb_text_is(value, (size_t)(end - value), "yes") != 0;
   }
   if (is_key(line, n, "system calls: ", &value)) {
      *why = "its head has system calls that can not be";
      head->points.syscalls = true;
      head->points.touches = tlb_text_is(value, (size_t)(end - value), "kernel") != 0;
      if (!head->points.touches && !tlb_text_is(value, (size_t)(end - value), "flush"))
         return false;
   }
   if (is_key(line, n, "data: ", &value)) {
      *why = "its head has data that can not be";
      head->data = tlb_text_is(value, (size_t)(end - value), "yes") != 0;
      if (!head->data)
         return false;
   }
   if (is_key(line, n, "calls: ", &value)) {
      *why = "its head has calls that can not be";
      head->calls = true;
      return tlb_text_is(value, (size_t)(end - value), "yes") != 0;
   }
   if (is_key(line, n, "filter: ", &value)) {
      *why = "its head has a filter that can not be";
      if (out->n == TLB_MAX_FILTERS
          || !tlb_filter_parse(value, (size_t)(end - value), &out->filter[out->n])
          || !is_of_head(out, &out->filter[out->n]))
         return false;
      out->n++;
   }
   if (is_key(line, n, "after: ", &value)) {
      *why = "its head has a recording before it that can not be";
      return take_after(value, end, head);
   }
   if (is_key(line, n, "after exec: ", &value)) {
      *why = "its head has a recording before it that can not be";
      return tlb_text_number(&value, end, &head->after_exec) && value == end;
   }
   return true;
}

size_t tg_recording_head(const char *text, size_t n, TgRecordingHead *out, const char **why)
{
   static const char first[] = "# tlbgrind recording\n";
   size_t at = sizeof first - 1;
   *out = (TgRecordingHead){ .thp = TLB_THP_NEVER };
   *why = "it is no recording of tlbgrind";
   if (n < at || memcmp(text, first, at) != 0)
      return 0;
   while (at < n) {
      const char *const line = text + at, *const end = memchr(line, '\n', n - at);
      if (end == NULL)
         break;
      at = (size_t)(end - text) + 1;
      if (end == line) {
         *why = "its head has calls and flushes, which no run has together";
         if (out->calls && out->points.flushes)
            return 0;
         *why = "its head has calls and prefetches, which no run has together";
         if (out->calls && out->points.prefetches)
            return 0;
         *why = "its head has prefetches, and filters that are not made for them, or the other "
                "way round";
         if (out->points.prefetches != (tlb_strength_has_prefetches(&out->strength) != 0))
            return 0;
         *why = "its head has no base page, or no filters";
         return out->strength.base_page_shift != 0 && out->strength.n > 0 ? at : 0;
      }
      if (!take_line(line, (size_t)(end - line), out, why))
         return 0;
   }
   *why = "it ends in its head";
   return 0;
}

static void read_head(TgRecording *r)
{
   size_t n = 0, room = 4096;
   char *text = malloc(room);
   const char *why;
   while (text != NULL && n < MOST_OF_HEAD && get(r, (uint8_t *)text + n, 1) == 1) {
      n++;
      if (n >= 2 && text[n - 1] == '\n' && text[n - 2] == '\n')
         break;
      if (n == room)
         text = realloc(text, room *= 2);
   }
   if (text == NULL)
      tg_load_refuse("no memory");
   if (n == 0)
      check_zstd(r);
   if (tg_recording_head(text, n, &r->head, &why) == 0)
      tg_load_refuse("%s: %s", r->name, why);
   r->text = text;
}

static TgRecording *new_recording(const char *name)
{
   TgRecording *const r = calloc(1, sizeof *r);
   if (r == NULL || (r->name = strdup(name)) == NULL)
      tg_load_refuse("no memory");
   tlb_stream_open(&r->stream, get_of_stream, r);
   return r;
}

TgRecording *tg_recording_open(const char *name)
{
   TgRecording *const r = new_recording(name);
   r->fd = open(name, O_RDONLY | O_NONBLOCK);
   if (r->fd < 0)
      tg_load_refuse("%s: the file cannot be opened: %s", name, strerror(errno));
   look_whether_packed(r);
   read_head(r);
   return r;
}

TgRecording *tg_recording_of_run(int fd, tg_recording_copy *copy, void *opaque)
{
   TgRecording *const r = new_recording("the run");
   r->fd = r->file = fd;
   r->copy = copy;
   r->opaque = opaque;
   r->source = r;
   read_head(r);
   return r;
}

/* --- What it goes on from --- */

/* Adds what the name has got behind it if the process has become another program since, whose
   recording has the name now. Returns whether there is such a file, or one of the name alone. */
static bool is_there(char *name, size_t room, uint64_t exec)
{
   const size_t n = strlen(name);
   if (exec != 0) {
      snprintf(name + n, room - n, "_exec%llu", (unsigned long long)exec);
      if (access(name, F_OK) == 0)
         return true;
   }
   name[n] = '\0';
   return access(name, F_OK) == 0;
}

/* In the folder of the recording itself; or where it was, if there is none. To be freed. */
static char *name_before(const TgRecording *r)
{
   const char *const slash = strrchr(r->name, '/');
   const size_t folder = slash == NULL ? 0 : (size_t)(slash + 1 - r->name);
   const size_t room = folder + r->head.after_length + sizeof "_exec" + 20;
   char *const name = malloc(room);
   if (name == NULL)
      tg_load_refuse("no memory");
   const char *file = r->head.after, *const end = file + r->head.after_length;
   for (const char *c = file; c < end; c++)
      file = *c == '/' ? c + 1 : file;
   snprintf(name, room, "%.*s%.*s", (int)folder, r->name, (int)(end - file), file);
   bool found = is_there(name, room, r->head.after_exec);
   if (!found) {
      snprintf(name, room, "%.*s", (int)r->head.after_length, r->head.after);
      found = is_there(name, room, r->head.after_exec);
   }
   if (!found)
      tg_load_refuse("%s: it is a forked child's, which goes on from its parent's recording %.*s: "
                     "that is not there; keep both in one folder", r->name, (int)(end - file),
                     file);
   return name;
}

static bool is_alike(const TgRecordingHead *a, const TgRecordingHead *b)
{
   const tlb_strength *const x = &a->strength, *const y = &b->strength;
   return a->thp == b->thp && a->data == b->data && a->calls == b->calls
          && a->code.shift == b->code.shift && x->base_page_shift == y->base_page_shift
          && x->large == y->large && x->n == y->n
          && memcmp(x->filter, y->filter, x->n * sizeof *x->filter) == 0;
}

/* Opens all recordings before it; reading begins with the first. */
static void find_source(TgRecording *r)
{
   unsigned n = 0;
   for (r->source = r; r->source->head.after != NULL; r->source = r->source->before) {
      char *const name = name_before(r->source);
      TgRecording *const before = tg_recording_open(name);
      if (++n > MOST_BEFORE || !is_alike(&before->head, &r->head))
         tg_load_refuse("%s: it does not go on from %s, which is of another run", r->name, name);
      r->source->before = before;
      before->next = r->source;
      free(name);
   }
}

static bool is_at_next(const TgRecording *r)
{
   const TgRecording *const next = r->source->next;
   return next != NULL && r->stream.n_records == next->head.after_records
          && r->stream.sum == next->head.after_sum;
}

tlb_stream_found tg_recording_read(TgRecording *r)
{
   if (r->source == NULL)
      find_source(r);
   while (is_at_next(r))
      r->source = r->source->next;
   const tlb_stream_found found = tlb_stream_read(&r->stream);
   if (r->source == r || found == TLB_READ_RECORDS || found == TLB_READ_EVENT
       || found == TLB_READ_MARK || found == TLB_READ_POINT)
      return found;
   r->stream.damage = "its parent's recording, which it goes on from, is another, or ends "
                      "before the fork";
   return TLB_READ_DAMAGED;
}

double tg_recording_done(const TgRecording *r)
{
   double done = 0.0, all = 0.0;
   for (const TgRecording *one = r; one != NULL; one = one->before) {
      const off_t at = lseek(one->file, 0, SEEK_CUR);
      if (at < 0)
         return -1.0;
      done += (double)at;
      all += one->size;
   }
   return all > 0.0 ? done / all : -1.0;
}

const tlb_strength *tg_recording_strength(const TgRecording *r)
{
   return &r->head.strength;
}

bool tg_recording_has_data(const TgRecording *r)
{
   return r->head.data;
}

bool tg_recording_has_calls(const TgRecording *r)
{
   return r->head.calls;
}

const TgRecordedPoints *tg_recording_points(const TgRecording *r)
{
   return &r->head.points;
}

const tlb_base_pages *tg_recording_base_pages(const TgRecording *r)
{
   return &r->head.base;
}

const tlb_code_blocks *tg_recording_code(const TgRecording *r)
{
   return &r->head.code;
}

tlb_thp_mode tg_recording_thp(const TgRecording *r)
{
   return r->head.thp;
}

tlb_stream_reader *tg_recording_stream(TgRecording *r)
{
   return &r->stream;
}

void tg_recording_close(TgRecording *r)
{
   int status;
   if (r->before != NULL)
      tg_recording_close(r->before);
   close(r->fd);
   if (r->file != r->fd)
      close(r->file);
   if (r->zstd > 0)
      waitpid(r->zstd, &status, 0);
   free(r->text);
   free(r->name);
   free(r);
}
