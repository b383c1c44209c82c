/* Runs the program that its arguments name where personality(2) is forbidden, as in a container.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
   struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_personality, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
   };
   struct sock_fprog filter = { .len = sizeof rules / sizeof rules[0], .filter = rules };
   if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
       || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
      return 126;
   execv(argv[1], argv + 1);
   return 127;
}
