/* Files that are written whole or not at all. */

#include "pub_tool_basics.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "tg_file.h"

struct _TgFile {
   Int fd;
   const HChar* failure; /* NULL while every byte has arrived */
   HChar* name;
   HChar* temporary; /* NULL: written directly */
   Int used;
   HChar buffer[64 * 1024];
};

/* A symbolic link is special whatever it leads to: to rename over it would
   destroy it, and /dev/stdout is one, even if the output goes to a file. */
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

/* The core's strrchr() does not look at the first character. */
const HChar* tg_file_in_folder(const HChar* name)
{
   const HChar* last = name;
   for (const HChar* at = name; *at != '\0'; at++) {
      if (*at == '/')
         last = at + 1;
   }
   return last;
}

TgFile* tg_file_open(const HChar* name, const HChar** why)
{
   /* Linux' NAME_MAX; the core has no name for the error. */
   if (VG_(strlen)(tg_file_in_folder(name)) > 255) {
      *why = "the name is too long";
      return NULL;
   }
   TgFile* f = VG_(malloc)("tg.file", sizeof *f);
   f->failure = NULL;
   f->used = 0;
   f->name = VG_(strdup)("tg.file", name);
   f->temporary = NULL;
   if (!tg_file_is_special(name)) {
      /* In the same folder, and no longer than any name may be. */
      const SizeT folder = (SizeT)(tg_file_in_folder(name) - name);
      f->temporary = VG_(malloc)("tg.file", folder + 40);
      VG_(strncpy)(f->temporary, name, folder);
      VG_(snprintf)(f->temporary + folder, 40, ".tlbgrind.%d.part",
                    VG_(getpid)());
   }
   SysRes r;
   if (f->temporary == NULL) {
      r = VG_(open)(name, VKI_O_CREAT | VKI_O_TRUNC | VKI_O_WRONLY,
                    VKI_S_IRUSR | VKI_S_IWUSR);
   } else {
      /* Nothing that lies there already is written to, nor through. */
      VG_(unlink)(f->temporary);
      r = VG_(open)(f->temporary, VKI_O_CREAT | VKI_O_EXCL | VKI_O_WRONLY,
                    VKI_S_IRUSR | VKI_S_IWUSR);
   }
   if (sr_isError(r)) {
      *why = tg_file_why(sr_Err(r));
      VG_(free)(f->temporary);
      VG_(free)(f->name);
      VG_(free)(f);
      return NULL;
   }
   f->fd = (Int)sr_Res(r);
   return f;
}

static void flush(TgFile* f)
{
   Int done = 0;
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
