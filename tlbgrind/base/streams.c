/* Opens and keeps streams. See base/streams.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "base/path.h"
#include "base/proc_file.h"
#include "base/streams.h"

/* The core's, without a header for tools: duplicates a descriptor to a number that the program does
   not use, closed at exec. */
extern Int VG_(safe_fd)(Int oldfd);

typedef struct {
   Int own;        /* the program's descriptor, or -1 */
   ULong dev, ino; /* if own is -1 */
   Int fd;
} Stream;

static XArray* streams; /* Stream; NULL: none is open */

/* The kernel's limit. */
enum { MAX_LINKS = 40 };

/* The number after /dev/fd/ or /proc/self/fd/; -1: the name is none of these. (/dev/stdout and the
   like are symbolic links to them.) */
static Int number_of_open(const HChar* target)
{
   static const HChar* const folders[] = { "/proc/self/fd/", "/dev/fd/" };
   for (UInt i = 0; i < sizeof folders / sizeof folders[0]; i++) {
      const SizeT n = VG_(strlen)(folders[i]);
      HChar* end;
      if (VG_(strncmp)(target, folders[i], n) != 0 || !VG_(isdigit)(target[n]))
         continue;
      const Long fd = VG_(strtoll10)(target + n, &end);
      if (*end == '\0' && fd >= 0 && fd < 1 << 20)
         return (Int)fd;
   }
   return -1;
}

HChar* tg_streams_target(const HChar* name)
{
   HChar* at = VG_(strdup)("tg.streams", name);
   for (UInt i = 0; i < MAX_LINKS && number_of_open(at) < 0; i++) {
      HChar link[VKI_PATH_MAX];
      const SizeT n = tg_proc_link(at, link, sizeof link);
      if (n == 0)
         break;
      const SizeT folder = link[0] == '/' ? 0 : (SizeT)(tg_path_file(at) - at);
      HChar* next = VG_(malloc)("tg.streams", folder + n + 1);
      VG_(memcpy)(next, at, folder);
      VG_(strcpy)(next + folder, link);
      VG_(free)(at);
      at = next;
   }
   return at;
}

/* Sets s to the stream with that name. False: the name is a regular file or a folder, or does not
   exist. */
static Bool look_at(const HChar* target, Stream* s)
{
   struct vg_stat st;
   s->own = number_of_open(target);
   s->dev = s->ino = 0;
   s->fd = -1;
   for (Word i = 0; s->own >= 0 && streams != NULL && i < VG_(sizeXA)(streams); i++) {
      if (((Stream*)VG_(indexXA)(streams, i))->own == s->own)
         return True;
   }
   if (s->own >= 0)
      return VG_(fstat)(s->own, &st) == 0;
   if (sr_isError(VG_(stat)(target, &st)) || VKI_S_ISREG(st.mode) || VKI_S_ISDIR(st.mode))
      return False;
   s->dev = st.dev;
   s->ino = st.ino;
   return True;
}

static Bool describe(const HChar* name, Stream* s)
{
   HChar* target = tg_streams_target(name);
   const Bool is_stream = look_at(target, s);
   VG_(free)(target);
   return is_stream;
}

Bool tg_streams_has(const HChar* name)
{
   Stream s;
   return describe(name, &s);
}

static Stream* find(const Stream* key)
{
   for (Word i = 0; streams != NULL && i < VG_(sizeXA)(streams); i++) {
      Stream* s = VG_(indexXA)(streams, i);
      if (s->own == key->own && s->dev == key->dev && s->ino == key->ino)
         return s;
   }
   return NULL;
}

/* Adds the stream, with a duplicate of the descriptor `low` that the program does not use and that
   is closed at exec. Closes `low`. */
static Int add(Stream s, Int low)
{
   s.fd = VG_(safe_fd)(low);
   if (streams == NULL)
      streams = VG_(newXA)(VG_(malloc), "tg.streams", VG_(free), sizeof s);
   VG_(addToXA)(streams, &s);
   return s.fd;
}

void tg_streams_keep(const HChar* name)
{
   Stream s;
   if (!describe(name, &s) || s.own < 0 || find(&s) != NULL)
      return;
   const SysRes r = VG_(dup)(s.own);
   if (!sr_isError(r))
      add(s, (Int)sr_Res(r));
}

Int tg_streams_open(const HChar* name, UWord* error)
{
   Stream s;
   describe(name, &s);
   const Stream* there = find(&s);
   if (there != NULL)
      return there->fd;
   const SysRes r = s.own >= 0 ? VG_(dup)(s.own) : VG_(open)(name, VKI_O_WRONLY, 0);
   if (sr_isError(r)) {
      *error = sr_Err(r);
      return -1;
   }
   return add(s, (Int)sr_Res(r));
}
