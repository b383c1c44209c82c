/* Names of system calls. See arch/syscall_names.h.

   Some calls exist on some architectures only. */

#include "pub_tool_basics.h"

#include "pub_tool_vkiscnums.h"

#include "arch/syscall_names.h"

static const struct {
   UInt number;
   const HChar* name;
} calls[] = {
#ifdef __NR__llseek
   { __NR__llseek, "_llseek" },
#endif
#ifdef __NR_accept
   { __NR_accept, "accept" },
#endif
#ifdef __NR_accept4
   { __NR_accept4, "accept4" },
#endif
#ifdef __NR_access
   { __NR_access, "access" },
#endif
#ifdef __NR_arch_prctl
   { __NR_arch_prctl, "arch_prctl" },
#endif
#ifdef __NR_bind
   { __NR_bind, "bind" },
#endif
#ifdef __NR_brk
   { __NR_brk, "brk" },
#endif
#ifdef __NR_chdir
   { __NR_chdir, "chdir" },
#endif
#ifdef __NR_chmod
   { __NR_chmod, "chmod" },
#endif
#ifdef __NR_chown
   { __NR_chown, "chown" },
#endif
#ifdef __NR_clock_getres
   { __NR_clock_getres, "clock_getres" },
#endif
#ifdef __NR_clock_gettime
   { __NR_clock_gettime, "clock_gettime" },
#endif
#ifdef __NR_clock_nanosleep
   { __NR_clock_nanosleep, "clock_nanosleep" },
#endif
#ifdef __NR_clock_settime
   { __NR_clock_settime, "clock_settime" },
#endif
#ifdef __NR_clone
   { __NR_clone, "clone" },
#endif
#ifdef __NR_clone3
   { __NR_clone3, "clone3" },
#endif
#ifdef __NR_close
   { __NR_close, "close" },
#endif
#ifdef __NR_connect
   { __NR_connect, "connect" },
#endif
#ifdef __NR_copy_file_range
   { __NR_copy_file_range, "copy_file_range" },
#endif
#ifdef __NR_creat
   { __NR_creat, "creat" },
#endif
#ifdef __NR_epoll_ctl
   { __NR_epoll_ctl, "epoll_ctl" },
#endif
#ifdef __NR_epoll_pwait
   { __NR_epoll_pwait, "epoll_pwait" },
#endif
#ifdef __NR_epoll_wait
   { __NR_epoll_wait, "epoll_wait" },
#endif
#ifdef __NR_eventfd2
   { __NR_eventfd2, "eventfd2" },
#endif
#ifdef __NR_execve
   { __NR_execve, "execve" },
#endif
#ifdef __NR_execveat
   { __NR_execveat, "execveat" },
#endif
#ifdef __NR_exit
   { __NR_exit, "exit" },
#endif
#ifdef __NR_exit_group
   { __NR_exit_group, "exit_group" },
#endif
#ifdef __NR_faccessat
   { __NR_faccessat, "faccessat" },
#endif
#ifdef __NR_faccessat2
   { __NR_faccessat2, "faccessat2" },
#endif
#ifdef __NR_fchmodat
   { __NR_fchmodat, "fchmodat" },
#endif
#ifdef __NR_fcntl
   { __NR_fcntl, "fcntl" },
#endif
#ifdef __NR_fgetxattr
   { __NR_fgetxattr, "fgetxattr" },
#endif
#ifdef __NR_fork
   { __NR_fork, "fork" },
#endif
#ifdef __NR_fstat
   { __NR_fstat, "fstat" },
#endif
#ifdef __NR_fstat64
   { __NR_fstat64, "fstat64" },
#endif
#ifdef __NR_fstatat64
   { __NR_fstatat64, "fstatat64" },
#endif
#ifdef __NR_fstatfs
   { __NR_fstatfs, "fstatfs" },
#endif
#ifdef __NR_futex
   { __NR_futex, "futex" },
#endif
#ifdef __NR_get_robust_list
   { __NR_get_robust_list, "get_robust_list" },
#endif
#ifdef __NR_getcpu
   { __NR_getcpu, "getcpu" },
#endif
#ifdef __NR_getcwd
   { __NR_getcwd, "getcwd" },
#endif
#ifdef __NR_getdents
   { __NR_getdents, "getdents" },
#endif
#ifdef __NR_getdents64
   { __NR_getdents64, "getdents64" },
#endif
#ifdef __NR_getgroups
   { __NR_getgroups, "getgroups" },
#endif
#ifdef __NR_getitimer
   { __NR_getitimer, "getitimer" },
#endif
#ifdef __NR_getpeername
   { __NR_getpeername, "getpeername" },
#endif
#ifdef __NR_getrandom
   { __NR_getrandom, "getrandom" },
#endif
#ifdef __NR_getrlimit
   { __NR_getrlimit, "getrlimit" },
#endif
#ifdef __NR_getrusage
   { __NR_getrusage, "getrusage" },
#endif
#ifdef __NR_getsockname
   { __NR_getsockname, "getsockname" },
#endif
#ifdef __NR_getsockopt
   { __NR_getsockopt, "getsockopt" },
#endif
#ifdef __NR_gettid
   { __NR_gettid, "gettid" },
#endif
#ifdef __NR_gettimeofday
   { __NR_gettimeofday, "gettimeofday" },
#endif
#ifdef __NR_getxattr
   { __NR_getxattr, "getxattr" },
#endif
#ifdef __NR_io_getevents
   { __NR_io_getevents, "io_getevents" },
#endif
#ifdef __NR_ioctl
   { __NR_ioctl, "ioctl" },
#endif
#ifdef __NR_ipc
   { __NR_ipc, "ipc" },
#endif
#ifdef __NR_lgetxattr
   { __NR_lgetxattr, "lgetxattr" },
#endif
#ifdef __NR_link
   { __NR_link, "link" },
#endif
#ifdef __NR_linkat
   { __NR_linkat, "linkat" },
#endif
#ifdef __NR_listxattr
   { __NR_listxattr, "listxattr" },
#endif
#ifdef __NR_lstat
   { __NR_lstat, "lstat" },
#endif
#ifdef __NR_lstat64
   { __NR_lstat64, "lstat64" },
#endif
#ifdef __NR_madvise
   { __NR_madvise, "madvise" },
#endif
#ifdef __NR_memfd_create
   { __NR_memfd_create, "memfd_create" },
#endif
#ifdef __NR_mincore
   { __NR_mincore, "mincore" },
#endif
#ifdef __NR_mkdir
   { __NR_mkdir, "mkdir" },
#endif
#ifdef __NR_mkdirat
   { __NR_mkdirat, "mkdirat" },
#endif
#ifdef __NR_mlock
   { __NR_mlock, "mlock" },
#endif
#ifdef __NR_mmap
   { __NR_mmap, "mmap" },
#endif
#ifdef __NR_mmap2
   { __NR_mmap2, "mmap2" },
#endif
#ifdef __NR_mount
   { __NR_mount, "mount" },
#endif
#ifdef __NR_mprotect
   { __NR_mprotect, "mprotect" },
#endif
#ifdef __NR_mremap
   { __NR_mremap, "mremap" },
#endif
#ifdef __NR_msgrcv
   { __NR_msgrcv, "msgrcv" },
#endif
#ifdef __NR_msgsnd
   { __NR_msgsnd, "msgsnd" },
#endif
#ifdef __NR_munmap
   { __NR_munmap, "munmap" },
#endif
#ifdef __NR_nanosleep
   { __NR_nanosleep, "nanosleep" },
#endif
#ifdef __NR_newfstatat
   { __NR_newfstatat, "newfstatat" },
#endif
#ifdef __NR_open
   { __NR_open, "open" },
#endif
#ifdef __NR_openat
   { __NR_openat, "openat" },
#endif
#ifdef __NR_openat2
   { __NR_openat2, "openat2" },
#endif
#ifdef __NR_pipe
   { __NR_pipe, "pipe" },
#endif
#ifdef __NR_pipe2
   { __NR_pipe2, "pipe2" },
#endif
#ifdef __NR_poll
   { __NR_poll, "poll" },
#endif
#ifdef __NR_ppoll
   { __NR_ppoll, "ppoll" },
#endif
#ifdef __NR_prctl
   { __NR_prctl, "prctl" },
#endif
#ifdef __NR_pread64
   { __NR_pread64, "pread64" },
#endif
#ifdef __NR_preadv
   { __NR_preadv, "preadv" },
#endif
#ifdef __NR_preadv2
   { __NR_preadv2, "preadv2" },
#endif
#ifdef __NR_prlimit64
   { __NR_prlimit64, "prlimit64" },
#endif
#ifdef __NR_process_vm_readv
   { __NR_process_vm_readv, "process_vm_readv" },
#endif
#ifdef __NR_process_vm_writev
   { __NR_process_vm_writev, "process_vm_writev" },
#endif
#ifdef __NR_pselect6
   { __NR_pselect6, "pselect6" },
#endif
#ifdef __NR_pwrite64
   { __NR_pwrite64, "pwrite64" },
#endif
#ifdef __NR_pwritev
   { __NR_pwritev, "pwritev" },
#endif
#ifdef __NR_pwritev2
   { __NR_pwritev2, "pwritev2" },
#endif
#ifdef __NR_read
   { __NR_read, "read" },
#endif
#ifdef __NR_readlink
   { __NR_readlink, "readlink" },
#endif
#ifdef __NR_readlinkat
   { __NR_readlinkat, "readlinkat" },
#endif
#ifdef __NR_readv
   { __NR_readv, "readv" },
#endif
#ifdef __NR_recvfrom
   { __NR_recvfrom, "recvfrom" },
#endif
#ifdef __NR_recvmmsg
   { __NR_recvmmsg, "recvmmsg" },
#endif
#ifdef __NR_recvmsg
   { __NR_recvmsg, "recvmsg" },
#endif
#ifdef __NR_rename
   { __NR_rename, "rename" },
#endif
#ifdef __NR_renameat
   { __NR_renameat, "renameat" },
#endif
#ifdef __NR_renameat2
   { __NR_renameat2, "renameat2" },
#endif
#ifdef __NR_rmdir
   { __NR_rmdir, "rmdir" },
#endif
#ifdef __NR_rseq
   { __NR_rseq, "rseq" },
#endif
#ifdef __NR_rt_sigaction
   { __NR_rt_sigaction, "rt_sigaction" },
#endif
#ifdef __NR_rt_sigpending
   { __NR_rt_sigpending, "rt_sigpending" },
#endif
#ifdef __NR_rt_sigprocmask
   { __NR_rt_sigprocmask, "rt_sigprocmask" },
#endif
#ifdef __NR_rt_sigreturn
   { __NR_rt_sigreturn, "rt_sigreturn" },
#endif
#ifdef __NR_rt_sigtimedwait
   { __NR_rt_sigtimedwait, "rt_sigtimedwait" },
#endif
#ifdef __NR_sched_getaffinity
   { __NR_sched_getaffinity, "sched_getaffinity" },
#endif
#ifdef __NR_sched_getparam
   { __NR_sched_getparam, "sched_getparam" },
#endif
#ifdef __NR_sched_setaffinity
   { __NR_sched_setaffinity, "sched_setaffinity" },
#endif
#ifdef __NR_select
   { __NR_select, "select" },
#endif
#ifdef __NR_semop
   { __NR_semop, "semop" },
#endif
#ifdef __NR_sendfile
   { __NR_sendfile, "sendfile" },
#endif
#ifdef __NR_sendmmsg
   { __NR_sendmmsg, "sendmmsg" },
#endif
#ifdef __NR_sendmsg
   { __NR_sendmsg, "sendmsg" },
#endif
#ifdef __NR_sendto
   { __NR_sendto, "sendto" },
#endif
#ifdef __NR_set_robust_list
   { __NR_set_robust_list, "set_robust_list" },
#endif
#ifdef __NR_set_tid_address
   { __NR_set_tid_address, "set_tid_address" },
#endif
#ifdef __NR_setgroups
   { __NR_setgroups, "setgroups" },
#endif
#ifdef __NR_setitimer
   { __NR_setitimer, "setitimer" },
#endif
#ifdef __NR_setrlimit
   { __NR_setrlimit, "setrlimit" },
#endif
#ifdef __NR_setsockopt
   { __NR_setsockopt, "setsockopt" },
#endif
#ifdef __NR_shmat
   { __NR_shmat, "shmat" },
#endif
#ifdef __NR_shmctl
   { __NR_shmctl, "shmctl" },
#endif
#ifdef __NR_shmdt
   { __NR_shmdt, "shmdt" },
#endif
#ifdef __NR_sigaction
   { __NR_sigaction, "sigaction" },
#endif
#ifdef __NR_sigaltstack
   { __NR_sigaltstack, "sigaltstack" },
#endif
#ifdef __NR_sigreturn
   { __NR_sigreturn, "sigreturn" },
#endif
#ifdef __NR_socket
   { __NR_socket, "socket" },
#endif
#ifdef __NR_socketcall
   { __NR_socketcall, "socketcall" },
#endif
#ifdef __NR_socketpair
   { __NR_socketpair, "socketpair" },
#endif
#ifdef __NR_stat
   { __NR_stat, "stat" },
#endif
#ifdef __NR_stat64
   { __NR_stat64, "stat64" },
#endif
#ifdef __NR_statfs
   { __NR_statfs, "statfs" },
#endif
#ifdef __NR_statx
   { __NR_statx, "statx" },
#endif
#ifdef __NR_symlink
   { __NR_symlink, "symlink" },
#endif
#ifdef __NR_symlinkat
   { __NR_symlinkat, "symlinkat" },
#endif
#ifdef __NR_sysinfo
   { __NR_sysinfo, "sysinfo" },
#endif
#ifdef __NR_time
   { __NR_time, "time" },
#endif
#ifdef __NR_timerfd_gettime
   { __NR_timerfd_gettime, "timerfd_gettime" },
#endif
#ifdef __NR_timerfd_settime
   { __NR_timerfd_settime, "timerfd_settime" },
#endif
#ifdef __NR_times
   { __NR_times, "times" },
#endif
#ifdef __NR_truncate
   { __NR_truncate, "truncate" },
#endif
#ifdef __NR_ugetrlimit
   { __NR_ugetrlimit, "ugetrlimit" },
#endif
#ifdef __NR_uname
   { __NR_uname, "uname" },
#endif
#ifdef __NR_unlink
   { __NR_unlink, "unlink" },
#endif
#ifdef __NR_unlinkat
   { __NR_unlinkat, "unlinkat" },
#endif
#ifdef __NR_utime
   { __NR_utime, "utime" },
#endif
#ifdef __NR_utimensat
   { __NR_utimensat, "utimensat" },
#endif
#ifdef __NR_utimes
   { __NR_utimes, "utimes" },
#endif
#ifdef __NR_vfork
   { __NR_vfork, "vfork" },
#endif
#ifdef __NR_wait4
   { __NR_wait4, "wait4" },
#endif
#ifdef __NR_waitid
   { __NR_waitid, "waitid" },
#endif
#ifdef __NR_write
   { __NR_write, "write" },
#endif
#ifdef __NR_writev
   { __NR_writev, "writev" },
#endif
};

const HChar* tg_syscall_name(UInt number)
{
   for (UInt i = 0; i < sizeof calls / sizeof calls[0]; i++) {
      if (calls[i].number == number)
         return calls[i].name;
   }
   return NULL;
}
