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

enum { MOST_OF_HEAD = 4 << 20, PACKED_SIZE = 4 };

struct TgRecording {
   const char *name;
   int fd;
   pid_t zstd; /* 0: it is not compressed */
   tg_recording_copy *copy; /* NULL: none */
   void *opaque;
   tlb_strength strength;
   tlb_thp_mode thp;
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

static size_t get(void *opaque, uint8_t *bytes, size_t n)
{
   TgRecording *const r = opaque;
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
   close(r->fd);
   r->fd = out[0];
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

static bool take_line(const char *line, size_t n, tlb_strength *out, tlb_thp_mode *thp,
                      const char **why)
{
   const char *const end = line + n, *value;
   uint64_t number;
   if (is_key(line, n, "version: ", &value)) {
      *why = "its version is another than 1, 2 and 3: a later tg_simulate may read it";
      return end - value == 1 && *value >= '1' && *value <= '3';
   }
   if (is_key(line, n, "base page: ", &value)) {
      *why = "its base page is none";
      if (!tlb_text_number(&value, end, &number) || value != end || number < TLB_MIN_PAGE_SHIFT
          || number > TLB_MAX_PAGE_SHIFT)
         return false;
      out->base_page_shift = (unsigned)number;
   }
   if (is_key(line, n, "pages:", &value)) {
      *why = "its head has large pages that can not be";
      if (!take_sizes(value, end, out, &out->large))
         return false;
   }
   if (is_key(line, n, "thp: ", &value)) {
      *why = "its head has a mode of transparent huge pages that is none";
      if (!tg_thp_mode(value, (size_t)(end - value), thp))
         return false;
   }
   if (is_key(line, n, "filter: ", &value)) {
      *why = "its head has a filter that can not be";
      if (out->n == TLB_MAX_FILTERS
          || !tlb_filter_parse(value, (size_t)(end - value), &out->filter[out->n])
          || !is_of_head(out, &out->filter[out->n]))
         return false;
      out->n++;
   }
   return true;
}

size_t tg_recording_head(const char *text, size_t n, tlb_strength *out, tlb_thp_mode *thp,
                         const char **why)
{
   static const char first[] = "# tlbgrind recording\n";
   size_t at = sizeof first - 1;
   *out = (tlb_strength){ .n = 0 };
   *thp = TLB_THP_NEVER;
   *why = "it is no recording of tlbgrind";
   if (n < at || memcmp(text, first, at) != 0)
      return 0;
   while (at < n) {
      const char *const line = text + at, *const end = memchr(line, '\n', n - at);
      if (end == NULL)
         break;
      at = (size_t)(end - text) + 1;
      if (end == line) {
         *why = "its head has no base page, or no filters";
         return out->base_page_shift != 0 && out->n > 0 ? at : 0;
      }
      if (!take_line(line, (size_t)(end - line), out, thp, why))
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
   if (tg_recording_head(text, n, &r->strength, &r->thp, &why) == 0)
      tg_load_refuse("%s: %s", r->name, why);
   free(text);
}

TgRecording *tg_recording_open(const char *name)
{
   TgRecording *const r = calloc(1, sizeof *r);
   if (r == NULL)
      tg_load_refuse("no memory");
   r->name = name;
   r->fd = open(name, O_RDONLY | O_NONBLOCK);
   if (r->fd < 0)
      tg_load_refuse("%s: the file cannot be opened: %s", name, strerror(errno));
   look_whether_packed(r);
   read_head(r);
   tlb_stream_open(&r->stream, get, r);
   return r;
}

TgRecording *tg_recording_of_run(int fd, tg_recording_copy *copy, void *opaque)
{
   TgRecording *const r = calloc(1, sizeof *r);
   if (r == NULL)
      tg_load_refuse("no memory");
   r->name = "the run";
   r->fd = fd;
   r->copy = copy;
   r->opaque = opaque;
   read_head(r);
   tlb_stream_open(&r->stream, get, r);
   return r;
}

const tlb_strength *tg_recording_strength(const TgRecording *r)
{
   return &r->strength;
}

tlb_thp_mode tg_recording_thp(const TgRecording *r)
{
   return r->thp;
}

tlb_stream_reader *tg_recording_stream(TgRecording *r)
{
   return &r->stream;
}

void tg_recording_close(TgRecording *r)
{
   int status;
   close(r->fd);
   if (r->zstd > 0)
      waitpid(r->zstd, &status, 0);
   free(r);
}
