/* Writes files whole or not at all. See base/file.h. */

#include "pub_tool_basics.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "base/file.h"
#include "base/path.h"
#include "base/streams.h"

/* The core's, without a header for tools: 0 if the real user may access the file so. */
extern Int VG_(access)(const HChar* path, Bool irusr, Bool iwusr, Bool ixusr);

/* The same: a duplicate of the descriptor that the program does not use and that is closed at exec.
   Closes the old one. */
extern Int VG_(safe_fd)(Int oldfd);

/* Linux' NAME_MAX. */
enum { MAX_NAME = 255 };

struct _TgFile {
   Int fd;
   Bool is_stream;
   const HChar* failure; /* the first one; NULL: none */
   HChar* name;
   HChar* temporary; /* NULL: written directly */
   TgFilePut* put;   /* gets the text instead of a file; NULL: nobody */
   void* opaque;
   UInt sum, sum_of_sums; /* of Adler-32, below its modulus */
   Int used;
   HChar buffer[64 * 1024];
};

/* A symbolic link is special, whatever its target: renaming over it would destroy the link. */
Bool tg_file_is_special(const HChar* name)
{
   struct vg_stat st;
   HChar target;
   if (VG_(readlink)(name, &target, sizeof target) > 0)
      return True;
   return !sr_isError(VG_(stat)(name, &st)) && !VKI_S_ISREG(st.mode);
}

const HChar* tg_file_why(UWord error)
{
   switch (error) {
   case VKI_EACCES: return "permission denied";
   case VKI_EFBIG: return "the file would be too large";
   case VKI_EIO: return "input/output error";
   case VKI_EISDIR: return "it is a folder";
   case VKI_EMFILE: case VKI_ENFILE: return "too many open files";
   case VKI_ENOENT: case VKI_ENOTDIR: return "there is no such folder";
   case VKI_ENOSPC: return "no space is left on the device";
   case VKI_EPIPE: return "nobody reads the pipe";
   case VKI_EPERM: return "the operation is not permitted";
   case VKI_EROFS: return "the file system is read-only";
   default: return "the kernel refused it";
   }
}

static const HChar too_long[] = "the name is too long";

/* The name of its folder. To be freed. */
static HChar* folder_of(const HChar* name)
{
   const SizeT n = (SizeT)(tg_path_file(name) - name);
   HChar* folder = VG_(strdup)("tg.file", n == 0 ? "." : name);
   if (n > 0)
      folder[n] = '\0';
   return folder;
}

/* Of a link the link itself. */
static Bool look_at(const HChar* name, struct vg_stat* st)
{
   /* Valgrind has no lstat() for tools, and the headers lack these. O_NOFOLLOW has one of two
      numbers, by architecture; beside O_PATH the kernel ignores what the other one is. */
   enum { O_PATH = 010000000, O_NOFOLLOW = 0400000 | 0100000 };
   const SysRes r = VG_(open)(name, O_PATH | O_NOFOLLOW, 0);
   if (sr_isError(r))
      return False;
   const Bool seen = VG_(fstat)((Int)sr_Res(r), st) == 0;
   VG_(close)((Int)sr_Res(r));
   return seen;
}

/* Where several users may make files, one can put a link to a file of another's, or a pipe, into
   the place of a name that can be guessed. As the kernel does it (fs.protected_symlinks), but in
   each such folder: what is there has to be the user's own, root's, or of the folder's owner. */
static const HChar* obstacle_of_others(const HChar* name)
{
   struct vg_stat st, place;
   HChar* folder = folder_of(name);
   const Bool seen = look_at(name, &st) && !sr_isError(VG_(stat)(folder, &place));
   VG_(free)(folder);
   const UInt user = (UInt)VG_(geteuid)();
   if (!seen || st.uid == user || st.uid == place.uid)
      return NULL;
   if (VKI_S_ISREG(st.mode))
      return (place.mode & VKI_S_ISVTX) != 0 && user != 0 && place.uid != user
                ? "it is another user's file, which only they may replace" : NULL;
   return st.uid != 0 && (place.mode & (VKI_S_IWGRP | VKI_S_IWOTH)) != 0
             ? "it is no file but another user's link or pipe, in a folder of several users" : NULL;
}

/* The same for the folder of a name that is neither a stream nor a folder itself. */
static const HChar* obstacle_in_folder(const HChar* name)
{
   struct vg_stat st;
   HChar* folder = folder_of(name);
   const HChar* why = NULL;
   if (sr_isError(VG_(stat)(folder, &st)))
      why = "there is no such folder";
   else if (VG_(access)(folder, False, True, True) != 0)
      why = "no file may be made in that folder";
   VG_(free)(folder);
   return why;
}

const HChar* tg_file_obstacle(const HChar* name)
{
   struct vg_stat st;
   if (VG_(strlen)(tg_path_file(name)) > MAX_NAME)
      return too_long;
   const Bool is_there = !sr_isError(VG_(stat)(name, &st));
   if (is_there && VKI_S_ISDIR(st.mode))
      return "it is a folder";
   const HChar* others = obstacle_of_others(name);
   if (others != NULL || tg_streams_has(name))
      return others;
   HChar* target = tg_streams_target(name);
   /* The target of a link is overwritten, any other file is replaced. */
   const Bool is_kept = is_there && tg_file_is_special(name);
   const HChar* why = NULL;
   if (!is_kept)
      why = obstacle_in_folder(target);
   else if (VG_(access)(target, False, True, False) != 0)
      why = "the file that the link leads to may not be written";
   VG_(free)(target);
   return why;
}

/* Makes temporary names unique: processes of two containers can have the same pid. */
static ULong random_number(void)
{
   ULong number = 0;
   const Int fd = VG_(fd_open)("/dev/urandom", VKI_O_RDONLY, 0);
   const Bool read = fd >= 0 && VG_(read)(fd, &number, sizeof number) == sizeof number;
   if (fd >= 0)
      VG_(close)(fd);
   if (read)
      return number;
   static UInt seed;
   seed += (UInt)VG_(getpid)() * 65537 + VG_(read_millisecond_timer)();
   number = (ULong)VG_(random)(&seed) << 32;
   return number | VG_(random)(&seed);
}

/* ".NAME.RANDOM.part" in the same folder, of at most MAX_NAME bytes. To be freed. */
static HChar* temporary_name(const HChar* name)
{
   static const SizeT around = sizeof "..0123456789abcdef.part" - 1;
   const HChar* last = tg_path_file(name);
   const SizeT folder = (SizeT)(last - name);
   SizeT n = VG_(strlen)(last);
   if (n > MAX_NAME - around)
      n = MAX_NAME - around;
   HChar* temporary = VG_(malloc)("tg.file", folder + n + around + 1);
   VG_(memcpy)(temporary, name, folder);
   temporary[folder] = '.';
   VG_(memcpy)(temporary + folder + 1, last, n);
   VG_(sprintf)(temporary + folder + 1 + n, ".%016llx.part", random_number());
   return temporary;
}

/* Creates a file with a new name. An existing file or link is never written or removed: another run
   may be writing it. */
static SysRes open_temporary(const HChar* name, HChar** temporary)
{
   SysRes r;
   UInt tries = 0;
   do {
      VG_(free)(*temporary);
      *temporary = temporary_name(name);
      r = VG_(open)(*temporary, VKI_O_CREAT | VKI_O_EXCL | VKI_O_WRONLY,
                    VKI_S_IRUSR | VKI_S_IWUSR);
   } while (sr_isError(r) && sr_Err(r) == VKI_EEXIST && ++tries < 100);
   return r;
}

/* Opens the file or its temporary one. Returns the descriptor, or -1 with the error. */
static Int open_for(TgFile* f, UWord* error)
{
   if (f->is_stream)
      return tg_streams_open(f->name, error);
   const SysRes r = tg_file_is_special(f->name)
                       ? VG_(open)(f->name, VKI_O_CREAT | VKI_O_TRUNC | VKI_O_WRONLY,
                                   VKI_S_IRUSR | VKI_S_IWUSR)
                       : open_temporary(f->name, &f->temporary);
   if (!sr_isError(r))
      return (Int)sr_Res(r);
   *error = sr_Err(r);
   return -1;
}

TgFile* tg_file_open(const HChar* name, const HChar** why)
{
   /* The core has no name for the error. */
   *why = VG_(strlen)(tg_path_file(name)) > MAX_NAME ? too_long : obstacle_of_others(name);
   if (*why != NULL)
      return NULL;
   TgFile* f = VG_(malloc)("tg.file", sizeof *f);
   UWord error;
   f->failure = NULL;
   f->used = 0;
   f->sum = 1;
   f->sum_of_sums = 0;
   f->name = VG_(strdup)("tg.file", name);
   f->temporary = NULL;
   f->put = NULL;
   f->is_stream = tg_streams_has(name);
   f->fd = open_for(f, &error);
   if (f->fd < 0) {
      *why = tg_file_why(error);
      VG_(free)(f->temporary);
      VG_(free)(f->name);
      VG_(free)(f);
      return NULL;
   }
   return f;
}

TgFile* tg_file_to(TgFilePut* put, void* opaque)
{
   TgFile* f = VG_(calloc)("tg.file", 1, sizeof *f);
   f->put = put;
   f->opaque = opaque;
   return f;
}

Int tg_file_create(const HChar* name, const HChar** why)
{
   HChar* temporary = NULL;
   *why = VG_(strlen)(tg_path_file(name)) > MAX_NAME ? too_long : obstacle_of_others(name);
   if (*why == NULL && (tg_file_is_special(name) || tg_streams_has(name)))
      *why = "it is no regular file";
   if (*why != NULL)
      return -1;
   const SysRes r = open_temporary(name, &temporary);
   if (sr_isError(r))
      *why = tg_file_why(sr_Err(r));
   else if (VG_(rename)(temporary, name) != 0)
      *why = "the new file could not be renamed";
   if (*why != NULL && !sr_isError(r)) {
      VG_(unlink)(temporary);
      VG_(close)((Int)sr_Res(r));
   }
   VG_(free)(temporary);
   return *why == NULL ? VG_(safe_fd)((Int)sr_Res(r)) : -1;
}

static void add_to_checksum(TgFile* f)
{
   /* Of no more bytes than AT_ONCE the sums fit into 32 bits. */
   enum { MODULUS = 65521, AT_ONCE = 5552 };
   for (Int i = 0; i < f->used; i++) {
      f->sum += (UChar)f->buffer[i];
      f->sum_of_sums += f->sum;
      if (i % AT_ONCE == AT_ONCE - 1 || i == f->used - 1) {
         f->sum %= MODULUS;
         f->sum_of_sums %= MODULUS;
      }
   }
}

static void flush(TgFile* f)
{
   Int done = 0;
   if (f->put != NULL) {
      f->put(f->opaque, f->buffer, (SizeT)f->used);
      f->used = 0;
      return;
   }
   add_to_checksum(f);
   while (done < f->used && f->failure == NULL) {
      const Int n = VG_(write)(f->fd, f->buffer + done, f->used - done);
      if (n == -VKI_EINTR)
         continue;
      if (n <= 0)
         f->failure = n == 0 ? "nothing could be written" : tg_file_why((UWord)-n);
      else
         done += n;
   }
   f->used = 0;
}

static void put(HChar c, void* opaque)
{
   TgFile* f = opaque;
   if (f->used == sizeof f->buffer)
      flush(f);
   f->buffer[f->used++] = c;
}

void tg_file_print(TgFile* f, const HChar* format, ...)
{
   va_list args;
   va_start(args, format);
   VG_(vcbprintf)(put, f, format, args);
   va_end(args);
}

void tg_file_number(TgFile* f, ULong n, HChar after)
{
   HChar digits[20]; /* enough for 2^64; the last one first */
   Int n_digits = 0;
   do {
      digits[n_digits++] = (HChar)('0' + n % 10);
      n /= 10;
   } while (n != 0);
   if (f->used + n_digits >= (Int)sizeof f->buffer)
      flush(f);
   while (n_digits > 0)
      f->buffer[f->used++] = digits[--n_digits];
   f->buffer[f->used++] = after;
}

void tg_file_text(TgFile* f, const HChar* text)
{
   for (; *text != '\0'; text++)
      put((UChar)*text < 0x20 || *text == 0x7f ? '?' : *text, f);
}

void tg_file_command(TgFile* f)
{
   tg_file_text(f, VG_(args_the_exename));
   for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_client)); i++) {
      tg_file_print(f, " ");
      tg_file_text(f, *(HChar**)VG_(indexXA)(VG_(args_for_client), i));
   }
}

const HChar* tg_file_close(TgFile* f)
{
   flush(f);
   if (f->put != NULL) {
      VG_(free)(f);
      return NULL;
   }
   tg_file_print(f, "# checksum: %04x%04x\n", f->sum_of_sums, f->sum);
   flush(f);
   if (!f->is_stream)
      VG_(close)(f->fd);
   const HChar* failure = f->failure;
   if (f->temporary != NULL) {
      if (failure == NULL && VG_(rename)(f->temporary, f->name) != 0)
         failure = "the finished file could not be renamed";
      if (failure != NULL)
         VG_(unlink)(f->temporary);
   }
   VG_(free)(f->temporary);
   VG_(free)(f->name);
   VG_(free)(f);
   return failure;
}
