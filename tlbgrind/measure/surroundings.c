/* What the program runs on and in. See measure/surroundings.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "measure/clock.h"
#include "measure/surroundings.h"

#if defined(__x86_64__)
#define ISA "x86-64"
#define OWN_LINE "flags\t"
#elif defined(__aarch64__)
#define ISA "aarch64"
#define OWN_LINE "CPU implementer"
#elif defined(__powerpc64__)
#define ISA "ppc64"
#define OWN_LINE "cpu\t"
#else
#define ISA "riscv64"
#define OWN_LINE "hart\t"
#endif

/* The value behind the colon of the first line that begins so, without control characters. */
static bool cpuinfo_line(const char *begin, char *out, size_t size)
{
   FILE *const f = fopen("/proc/cpuinfo", "r");
   static char line[16384];
   bool found = false;
   if (f == NULL)
      return false;
   while (!found && fgets(line, sizeof line, f) != NULL) {
      const char *value = strchr(line, ':');
      if (strncmp(line, begin, strlen(begin)) != 0 || value == NULL)
         continue;
      found = true;
      while (*++value == ' ') {}
      size_t n = 0;
      for (; *value != '\0' && n + 1 < size; value++)
         if (!iscntrl((unsigned char)*value))
            out[n++] = *value;
      out[n] = '\0';
   }
   fclose(f);
   return found;
}

bool tg_other_cpuinfo(void)
{
   /* A file that cannot be read, or without any known line, proves nothing. */
   static const char *const lines[] = { "flags\t", "CPU implementer", "hart\t", "vendor_id" };
   char value[8];
   if (cpuinfo_line(OWN_LINE, value, sizeof value))
      return false;
   for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
      if (cpuinfo_line(lines[i], value, sizeof value))
         return true;
   return false;
}

static bool is_virtual(void)
{
#if defined(__x86_64__)
   unsigned a, b, c, d;
   if (__get_cpuid(1, &a, &b, &c, &d) && c >> 31 != 0)
      return true;
#endif
   static const char *const signs[] = { "/proc/device-tree/hypervisor", "/sys/hypervisor/type" };
   for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
      if (access(signs[i], F_OK) == 0)
         return true;
   static const char *const vendors[] = { "QEMU", "VMware", "Xen", "Amazon EC2", "Google",
                                          "Microsoft Corporation Virtual", "KVM", "Parallels" };
   char vendor[128] = "";
   FILE *const f = fopen("/sys/class/dmi/id/sys_vendor", "r");
   if (f != NULL) {
      if (fgets(vendor, sizeof vendor, f) == NULL)
         vendor[0] = '\0';
      fclose(f);
   }
   for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
      if (strncmp(vendor, vendors[i], strlen(vendors[i])) == 0)
         return true;
   return false;
}

void tg_surroundings(TgSurroundings *out)
{
   static const char *const names[] = { "model name", "Model Name", "cpu\t", "uarch" };
   memset(out, 0, sizeof *out);
   out->isa = ISA;
   out->virtual_machine = is_virtual();
   for (size_t i = 0; i < sizeof names / sizeof *names && out->processor[0] == '\0'; i++)
      if (!cpuinfo_line(names[i], out->processor, sizeof out->processor))
         out->processor[0] = '\0';
}

void tg_busy_look(TgBusyLook *out)
{
   unsigned long long user, nice, kernel, idle, wait, interrupts, soft, stolen;
   struct rusage r;
   FILE *const f = fopen("/proc/stat", "r");
   *out = (TgBusyLook){ .seconds = tg_seconds(), .all = -1.0 };
   if (f == NULL)
      return;
   if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &kernel, &idle,
              &wait, &interrupts, &soft, &stolen) == 8)
      out->all = (double)(user + nice + kernel + interrupts + soft + stolen)
                 / (double)sysconf(_SC_CLK_TCK);
   fclose(f);
   getrusage(RUSAGE_SELF, &r);
   out->own = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec)
              + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
}

double tg_busy_between(const TgBusyLook *before, const TgBusyLook *after)
{
   const double seconds = after->seconds - before->seconds;
   if (before->all < 0.0 || after->all < 0.0 || seconds <= 0.0)
      return -1.0;
   const double others = (after->all - before->all) - (after->own - before->own);
   return others > 0.0 ? others / seconds : 0.0;
}
