/* Keeps payloads of system calls until these return. See faults/payload.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"

#include "base/devices.h"
#include "faults/payload.h"

typedef struct {
   Addr start;
   SizeT len;
} Part;

typedef struct {
   Bool is_write;  /* the current call writes to a descriptor */
   Int fd;
   Addr source;    /* the call's second argument */
   Bool is_vector; /* it points to an array of struct iovec, else to the bytes themselves */
   XArray* parts;  /* Part, in the kernel's order */
} Payload;

static Payload* payload_of; /* by thread */

void tg_payload_init(void)
{
   payload_of = VG_(calloc)("tg.faults.payloads", VG_N_THREADS, sizeof *payload_of);
}

void tg_payload_begin(ThreadId tid, UInt number, const UWord* args)
{
   Payload* p = &payload_of[tid];
   p->is_write = p->is_vector = False;
   if (p->parts != NULL)
      VG_(dropTailXA)(p->parts, VG_(sizeXA)(p->parts));
   switch (number) {
   case __NR_writev: case __NR_pwritev: case __NR_pwritev2:
      p->is_vector = True;
      break;
   case __NR_write: case __NR_pwrite64: case __NR_sendto:
      break;
   default: return;
   }
   p->is_write = True;
   p->fd = (Int)args[0];
   p->source = args[1];
}

Bool tg_payload_keeps(ThreadId tid, Addr a, SizeT len)
{
   Payload* p = &payload_of[tid];
   const Part part = { a, len };
   /* sendto() has an address, too, which the core tells of last. */
   if (!p->is_write || (!p->is_vector && a != p->source))
      return False;
   if (p->parts == NULL)
      p->parts = VG_(newXA)(VG_(malloc), "tg.faults.payload", VG_(free), sizeof(Part));
   VG_(addToXA)(p->parts, &part);
   return True;
}

void tg_payload_end(ThreadId tid, SysRes result, void (*each)(ThreadId tid, Addr a, SizeT len))
{
   Payload* p = &payload_of[tid];
   const Bool fails = sr_isError(result);
   if (!p->is_write || p->parts == NULL || (fails && sr_Err(result) == VKI_EBADF))
      return;
   SizeT rest = fails || tg_devices_read_nothing(p->fd) ? 0 : sr_Res(result);
   for (Word i = 0; i < VG_(sizeXA)(p->parts); i++) {
      const Part* part = VG_(indexXA)(p->parts, i);
      const Bool is_array = p->is_vector && part->start == p->source;
      const SizeT n = is_array || part->len < rest ? part->len : rest;
      each(tid, part->start, n);
      rest -= is_array ? 0 : n;
   }
   p->is_write = False;
}
