/* The program's limit of its address space. See tool/address_limit.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"
#include "tool/address_limit.h"

typedef struct vki_rlimit64 Limit;

/* asm-generic/resource.h, of all architectures that the tool is for. */
enum { LINUX_RLIMIT_AS = 9 };
#define NO_LIMIT (~(ULong)0)

/* For the tool to grow, in bytes. */
#define ROOM ((ULong)(sizeof(UWord) == 8 ? 1024 : 256) << 20)

static Bool is_told; /* the program has set its limit, */
static Limit own;    /* to this */
/* Of the call at hand: */
static Limit given;    /* what it sets, */
static Limit* changed; /* which stands there, and has been changed; NULL: it is as it was */
static Limit asked;    /* the limit before the call, */
static Bool was_told;  /* if it is one of the program's */

/* What C libraries set it with. */
static Bool is_prlimit(UInt number, const UWord* args)
{
   return number == __NR_prlimit64 && args[1] == LINUX_RLIMIT_AS
          && ((Int)args[0] == 0 || (Int)args[0] == VG_(getpid)());
}

/* What 32-bit ones ask for it with. */
static Bool is_getrlimit(UInt number, const UWord* args)
{
   return number == tg_arch.syscalls.getrlimit && args[0] == LINUX_RLIMIT_AS;
}

/* What the tool has mapped, in bytes. */
static ULong mapped(void)
{
   const UInt kinds = SkAnonV | SkFileV;
   Int room = 256, n;
   Addr* start = VG_(malloc)("tg.address_limit", (SizeT)room * sizeof *start);
   while ((n = VG_(am_get_segment_starts)(kinds, start, room)) < 0) {
      room = -n;
      start = VG_(realloc)("tg.address_limit", start, (SizeT)room * sizeof *start);
   }
   ULong bytes = 0;
   for (Int i = 0; i < n; i++) {
      const NSegment* s = VG_(am_find_nsegment)(start[i]);
      bytes += s == NULL ? 0 : (ULong)(s->end - s->start) + 1;
   }
   VG_(free)(start);
   return bytes;
}

static ULong raised(ULong limit, ULong by)
{
   return limit > NO_LIMIT - by ? NO_LIMIT : limit + by;
}

/* Not above the hard limit of now, unless the program's is above its own: that is the kernel's to
   refuse or to allow. */
static Limit with_room(Limit l, ULong by)
{
   const Bool is_above = is_told && l.rlim_max > own.rlim_max;
   struct vki_rlimit now;
   Limit out = { raised(l.rlim_cur, by), raised(l.rlim_max, by) };
   if (VG_(getrlimit)(LINUX_RLIMIT_AS, &now) == 0 && now.rlim_max != ~0ul) {
      if (is_above && out.rlim_max <= now.rlim_max)
         out.rlim_max = (ULong)now.rlim_max + 1;
      else if (!is_above && l.rlim_max <= now.rlim_max && out.rlim_max > now.rlim_max)
         out.rlim_max = now.rlim_max;
   }
   out.rlim_cur = out.rlim_cur < out.rlim_max ? out.rlim_cur : out.rlim_max;
   return out;
}

/* Says that the limit is the tool's, too, or leaves it too little. */
static void warn(void)
{
   static Bool said;
   if (said || VG_(clo_verbosity) == 0)
      return;
   said = True;
   VG_(umsg)("The program limits its address space, and so the tool's: if Valgrind gets no more\n");
   VG_(umsg)("memory, there is no out-file; docs/troubleshooting.md has more.\n");
}

void tg_address_limit_pre_syscall(UInt number, const UWord* args)
{
   if (!is_prlimit(number, args))
      return;
   was_told = is_told;
   asked = own;
   changed = NULL;
   if (args[2] == 0 || !VG_(am_is_valid_for_client)(args[2], sizeof(Limit), VKI_PROT_READ))
      return;
   given = *(const Limit*)args[2];
   if (given.rlim_cur > given.rlim_max) /* the kernel refuses it */
      return;
   if (!VG_(am_is_valid_for_client)(args[2], sizeof(Limit), VKI_PROT_WRITE)) {
      warn();
      return;
   }
   const ULong needed = mapped();
   changed = (Limit*)args[2];
   *changed = with_room(given, needed + ROOM);
   if (changed->rlim_cur < raised(given.rlim_cur, needed))
      warn();
}

void tg_address_limit_post_syscall(UInt number, const UWord* args, SysRes result)
{
   if (is_getrlimit(number, args) && is_told && !sr_isError(result)) {
      struct vki_rlimit* out = (struct vki_rlimit*)args[1];
      out->rlim_cur = (unsigned long)own.rlim_cur;
      out->rlim_max = (unsigned long)own.rlim_max;
   }
   if (!is_prlimit(number, args))
      return;
   /* Not over the limit before, if it is given back in the same place. */
   if (changed != NULL && (sr_isError(result) || args[3] != args[2]))
      *changed = given;
   if (sr_isError(result))
      return;
   if (args[2] != 0) {
      own = given;
      is_told = changed != NULL;
   }
   if (was_told && args[3] != 0)
      *(Limit*)args[3] = asked;
}
