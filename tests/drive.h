/* Helpers of the programs in tests/model and tests/machines that drive the simulator.
   DRIVER is the program's name, defined before this is included.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef DRIVE_H
#define DRIVE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/machine/machine_file.h"

_Noreturn static inline void die(const char *what, const char *why)
{
   fprintf(stderr, DRIVER ": %s: %s\n", what, why);
   exit(1);
}

/* Memory full of rubbish, so that the results tell what is not initialised. */
static inline void *take(size_t bytes, void *opaque)
{
   (void)opaque;
   void *const got = malloc(bytes + (bytes == 0));
   if (got == NULL)
      die("malloc", "out of memory");
   memset(got, 0xA5, bytes);
   return got;
}

static inline void give(void *memory, void *opaque)
{
   (void)opaque;
   free(memory);
}

static inline tlb_memory all_memory(void)
{
   return (tlb_memory){ take, give, NULL };
}

/* Ends with status 1 and FILE:LINE: the reason if the machine file is refused. */
static inline void read_machine(const char *file, tlb_machine *out)
{
   static char text[TLB_MACHINE_FILE_SIZE + 1];
   uint32_t line;
   tlb_reason why;
   FILE *const f = fopen(file, "rb");
   if (f == NULL) {
      perror(file);
      exit(2);
   }
   const size_t length = fread(text, 1, sizeof text, f);
   fclose(f);
   if (!tlb_machine_parse(text, length, out, &line, &why)) {
      fprintf(stderr, "%s:%" PRIu32 ": %s\n", file, line, why.text);
      exit(1);
   }
}

#endif
