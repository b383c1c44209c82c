/* Reads files with names of code. See attribution/code_files.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "attribution/code_files.h"
#include "attribution/code_names.h"
#include "attribution/jitdump.h"
#include "attribution/lines.h"
#include "attribution/perf_map.h"
#include "base/elf_file.h"
#include "base/path.h"
#include "base/shown.h"

/* The most that is read of a file: what is behind it is said to be left out. The core ends the tool
   where there is no memory, of which a 32-bit program leaves little. */
static const ULong MOST_BYTES = sizeof(UWord) == 8 ? 1 << 28 : 1 << 25;

enum { PIECE = 1 << 16, END_BYTES = 32 };

typedef struct _File {
   struct _File* next; /* an older one, whose names are worth less */
   HChar* path;
   Bool is_dump;
   ULong not_before;   /* the time, in seconds */
   ULong device, inode;
   ULong read;         /* so many bytes */
   UChar end[END_BYTES]; /* the last of them, and how many */
   UInt n_end;
   Bool is_full;       /* the rest is left out */
   TgPerfMap line;
   TgJitdump dump;
   TgCodeNames names;
} File;

static File* files;
static void (*when_added)(const TgCodeName* name);

static File* new_file(const HChar* path, Bool is_dump)
{
   struct vki_timeval now;
   File* f = VG_(calloc)("tg.code_files", 1, sizeof *f);
   VG_(gettimeofday)(&now, NULL);
   f->path = VG_(strdup)("tg.code_files", path);
   f->is_dump = is_dump;
   f->not_before = (ULong)now.tv_sec;
   tg_code_names_init(&f->names);
   tg_perf_map_begin(&f->line);
   f->next = files;
   files = f;
   return f;
}

void tg_code_files_begin(Int pid, void (*added)(const TgCodeName* name))
{
   HChar path[40];
   VG_(sprintf)(path, "/tmp/perf-%d.map", pid);
   new_file(path, False);
   when_added = added;
}

void tg_code_files_add_dump(const HChar* path)
{
   for (const File* f = files; f != NULL; f = f->next) {
      if (VG_(strcmp)(f->path, path) == 0)
         return;
   }
   /* It was opened before the program maps it. */
   new_file(path, True)->not_before = 0;
}

Bool tg_code_files_have_lines(void)
{
   for (const File* f = files; f != NULL; f = f->next) {
      if (f->is_dump)
         return True;
   }
   return False;
}

Bool tg_code_files_have(const HChar* path)
{
   for (const File* f = files; f != NULL; f = f->next) {
      if (VG_(strcmp)(tg_path_file(f->path), tg_path_file(path)) == 0)
         return True;
   }
   return False;
}

const TgCodeName* tg_code_files_name_at(Addr a)
{
   const TgCodeName* name = NULL;
   for (const File* f = files; f != NULL && name == NULL; f = f->next)
      name = tg_code_names_at(&f->names, a);
   return name;
}

/* --- Opening --- */

static Int open_file(const File* f, struct vg_stat* st)
{
   HChar target[4];
   /* A link in a folder that all may write to can lead to any file of the user's. */
   if (VG_(readlink)(f->path, target, sizeof target) >= 0)
      return -1;
   /* Opening a pipe would block until its other end is open. */
   const SysRes r = VG_(open)(f->path, VKI_O_RDONLY | VKI_O_NONBLOCK, 0);
   if (sr_isError(r))
      return -1;
   const Int fd = (Int)sr_Res(r);
   if (VG_(fstat)(fd, st) != 0 || !VKI_S_ISREG(st->mode)
       || (st->uid != 0 && st->uid != (UInt)VG_(geteuid)()) || st->mtime < f->not_before) {
      VG_(close)(fd);
      return -1;
   }
   return fd;
}

/* Whether the file begins with what has been read of it; its last bytes are compared. */
static Bool goes_on(const File* f, Int fd, const struct vg_stat* st)
{
   UChar end[END_BYTES];
   return f->device == st->dev && f->inode == st->ino && f->read <= (ULong)st->size
          && tg_elf_read(fd, f->read - f->n_end, end, f->n_end)
          && VG_(memcmp)(end, f->end, f->n_end) == 0;
}

static void note_end(File* f, const HChar* piece, UInt n)
{
   f->n_end = n < END_BYTES ? n : END_BYTES;
   VG_(memcpy)(f->end, piece + n - f->n_end, f->n_end);
}

static void from_the_begin(File* f, const struct vg_stat* st)
{
   f->device = st->dev;
   f->inode = st->ino;
   f->read = 0;
   f->n_end = 0;
   tg_perf_map_begin(&f->line);
   f->dump.at = 0;
}

/* --- Names --- */

static void is_full(File* f)
{
   if (!f->is_full)
      VG_(umsg)("Only the begin of %s is read, which is too large: code can be without its name.\n",
                tg_shown(f->path));
   f->is_full = True;
}

static Bool keep(File* f, const TgCodeName* name)
{
   if (tg_code_names_add(&f->names, name))
      return True;
   is_full(f);
   return False;
}

static void add(File* f, const TgCodeName* name)
{
   if (keep(f, name))
      when_added(name);
}

static void add_symbol(File* f, const TgPerfSymbol* s)
{
   if ((ULong)(Addr)s->last == s->last)
      add(f, &(TgCodeName){ .first = (Addr)s->first, .last = (Addr)s->last,
                            .name = tg_intern(s->name) });
}

/* --- Perf maps --- */

static void read_map(File* f, Int fd, Bool at_end)
{
   static HChar piece[PIECE];
   TgPerfSymbol symbol;
   Int n;
   if (VG_(lseek)(fd, (OffT)f->read, VKI_SEEK_SET) < 0)
      return;
   while (!f->is_full && (n = VG_(read)(fd, piece, PIECE)) > 0) {
      const HChar* at = piece;
      while (!f->is_full && tg_perf_map_next(&f->line, &at, piece + n, &symbol))
         add_symbol(f, &symbol);
      f->read += (ULong)n;
      note_end(f, piece, (UInt)n);
      if (f->read >= MOST_BYTES)
         is_full(f);
   }
   TgPerfMap rest = f->line;
   if (at_end && !f->is_full && tg_perf_map_last(&rest, &symbol))
      add_symbol(f, &symbol);
}

/* --- Jitdump files --- */

/* The file that is being read, in pieces: records are short. */
static struct {
   Int fd;
   ULong at;
   UInt n;
   UChar bytes[PIECE];
} window;

static bool read_window(void* opaque, uint64_t at, void* to, size_t n)
{
   (void)opaque;
   if (at < window.at || at + n > window.at + window.n) {
      window.at = at;
      window.n = 0;
      if (VG_(lseek)(window.fd, (OffT)at, VKI_SEEK_SET) != (OffT)at)
         return false;
      const Int got = VG_(read)(window.fd, window.bytes, PIECE);
      window.n = got < 0 ? 0 : (UInt)got;
      if (n > window.n)
         return false;
   }
   VG_(memcpy)(to, window.bytes + (at - window.at), n);
   return true;
}

/* Divides code by its lines, which the record has. Each reaches to the next one. */
static void add_lines(File* f, TgCodeName whole, TgJitdumpRecord* lines)
{
   static TgJitdumpLine line;
   TgCodeName piece = whole;
   line.file[0] = '\0';
   while (!f->is_full && tg_jitdump_line(&f->dump, lines, &line)) {
      const Addr start = (Addr)line.start;
      if (start < piece.first || start > whole.last)
         continue; /* in another order, or elsewhere: not in any known file */
      if (start > piece.first && piece.file != NULL) {
         piece.last = start - 1;
         add(f, &piece);
      }
      piece.first = start;
      piece.last = whole.last;
      piece.line = line.line;
      piece.file = line.line == 0 ? NULL : tg_intern(line.file);
   }
   if (piece.file != NULL)
      add(f, &piece);
}

static void add_code(File* f, const TgJitdumpRecord* r, const TgJitdumpRecord* lines)
{
   static TgJitdumpLine line;
   TgJitdumpRecord all = *lines;
   TgCodeName whole = { .first = (Addr)r->first, .last = (Addr)r->last,
                        .name = tg_intern(r->name) };
   if ((ULong)whole.last != r->last)
      return;
   const Bool has_lines = lines->n > 0 && lines->first == r->first;
   line.file[0] = '\0';
   if (has_lines && tg_jitdump_line(&f->dump, &all, &line) && line.file[0] != '\0')
      whole.own_file = tg_intern(line.file);
   /* The lines take their places in the whole, so they come later; but code without a name that is
      gone by now gets the first that comes, which has to be that with the line. */
   const Bool is_kept = keep(f, &whole);
   all = *lines;
   if (has_lines)
      add_lines(f, whole, &all);
   if (is_kept)
      when_added(&whole);
}

static void read_dump(File* f, Int fd, const struct vg_stat* st)
{
   static TgJitdumpRecord record, lines;
   const ULong before = f->dump.at;
   f->dump.read = read_window;
   f->dump.size = (ULong)st->size < MOST_BYTES ? (ULong)st->size : MOST_BYTES;
   window.fd = fd;
   window.n = 0;
   /* The lines of code stand before it, so a record of lines is read again with its code. */
   ULong again = before;
   lines.n = 0;
   while (!f->is_full && tg_jitdump_next(&f->dump, &record)) {
      if (record.kind == TG_JITDUMP_LINES) {
         lines = record;
         continue;
      }
      again = f->dump.at;
      if (record.kind == TG_JITDUMP_LOAD)
         add_code(f, &record, &lines);
      else if ((ULong)(Addr)record.last == record.last)
         tg_code_names_move(&f->names, (Addr)record.from, (Addr)record.first, (Addr)record.last);
      lines.n = 0;
   }
   if (lines.n > 0 && again != 0)
      f->dump.at = again;
   if ((ULong)st->size > MOST_BYTES && f->dump.at + PIECE >= MOST_BYTES)
      is_full(f);
}

/* --- Reading --- */

static void read_file(File* f, Bool at_end)
{
   struct vg_stat st;
   const Int fd = open_file(f, &st);
   if (fd < 0)
      return;
   if (!goes_on(f, fd, &st))
      from_the_begin(f, &st);
   if (f->is_dump)
      read_dump(f, fd, &st);
   else
      read_map(f, fd, at_end);
   VG_(close)(fd);
}

void tg_code_files_read(Bool at_end)
{
   for (File* f = files; f != NULL; f = f->next)
      read_file(f, at_end);
}
