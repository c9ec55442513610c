/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that a confined process may make. They are listed here once more, by hand: whoever makes the list longer
 * does so twice. All numbers are tried.
 */
#include "unit.h"

#include <asm/ioctls.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "confined.h"

#define CHILDREN RD_CONFINE_CHILDREN
#define TERMINAL RD_CONFINE_TERMINAL
#define THREADS RD_CONFINE_THREADS
#define READ RD_CONFINE_READ
#define VERBS RD_CONFINE_VERBS
#define GLIBC_THREAD 0x3d0f00	/* the flags of pthread_create, as strace shows them */
#define FIRST_COMMON_NUMBER 424 /* from here on a call is ENOSYS, so that libraries use an older one */

/* With arguments of which the kernel makes something harmless, or which it refuses otherwise than by EPERM. */
static const struct permitted {
	unsigned needs; /* any of them; 0: always */
	long number, args[4];
} permitted[] = {
#define ANYHOW -1, -1, -1, -1
	{ 0, SYS_brk, { ANYHOW } },
	{ 0, SYS_clock_getres, { ANYHOW } },
	{ 0, SYS_clock_gettime, { ANYHOW } },
	{ 0, SYS_clock_nanosleep, { ANYHOW } },
	{ 0, SYS_close, { ANYHOW } },
	{ 0, SYS_dup, { ANYHOW } },
	{ 0, SYS_dup3, { ANYHOW } },
	{ 0, SYS_exit, { 0 } },
	{ 0, SYS_exit_group, { 0 } },
	{ 0, SYS_fcntl, { -1, F_DUPFD, 0 } },
	{ 0, SYS_fcntl, { -1, F_DUPFD_CLOEXEC, 0 } },
	{ 0, SYS_fcntl, { -1, F_GETFD } },
	{ 0, SYS_fcntl, { -1, F_SETFD, 0 } },
	{ 0, SYS_fcntl, { -1, F_GETFL } },
	{ 0, SYS_fcntl, { -1, F_SETFL, 0 } },
	{ 0, SYS_fstat, { ANYHOW } },
	{ 0, SYS_fsync, { ANYHOW } },
	{ 0, SYS_ftruncate, { ANYHOW } },
	{ 0, SYS_futex, { ANYHOW } },
	{ 0, SYS_getcwd, { ANYHOW } },
	{ 0, SYS_getdents64, { ANYHOW } },
	{ 0, SYS_getegid, { ANYHOW } },
	{ 0, SYS_geteuid, { ANYHOW } },
	{ 0, SYS_getgid, { ANYHOW } },
	{ 0, SYS_getpid, { ANYHOW } },
	{ 0, SYS_getppid, { ANYHOW } },
	{ 0, SYS_getrandom, { ANYHOW } },
	{ 0, SYS_getrusage, { ANYHOW } },
	{ 0, SYS_gettid, { ANYHOW } },
	{ 0, SYS_gettimeofday, { ANYHOW } },
	{ 0, SYS_getuid, { ANYHOW } },
	{ 0, SYS_ioctl, { -1, TCGETS } },
	{ 0, SYS_ioctl, { -1, TIOCGWINSZ } },
	{ 0, SYS_lseek, { ANYHOW } },
	{ 0, SYS_madvise, { ANYHOW } },
	{ 0, SYS_mmap, { ANYHOW } },
	{ 0, SYS_mprotect, { ANYHOW } },
	{ 0, SYS_mremap, { ANYHOW } },
	{ 0, SYS_munmap, { ANYHOW } },
	{ 0, SYS_nanosleep, { ANYHOW } },
	{ 0, SYS_newfstatat, { -1, (long)"", -1, AT_EMPTY_PATH } },
	{ 0, SYS_ppoll, { ANYHOW } },
	{ 0, SYS_pread64, { ANYHOW } },
	{ 0, SYS_prlimit64, { 0, RLIMIT_NOFILE, 0, 0 } },
	{ 0, SYS_pselect6, { ANYHOW } },
	{ 0, SYS_pwrite64, { ANYHOW } },
	{ 0, SYS_read, { ANYHOW } },
	{ 0, SYS_readv, { ANYHOW } },
	{ 0, SYS_recvmsg, { ANYHOW } },
	{ 0, SYS_restart_syscall, { ANYHOW } },
	{ 0, SYS_rt_sigaction, { ANYHOW } },
	{ 0, SYS_rt_sigpending, { ANYHOW } },
	{ 0, SYS_rt_sigprocmask, { ANYHOW } },
	{ 0, SYS_rt_sigreturn, { ANYHOW } },
	{ 0, SYS_rt_sigsuspend, { ANYHOW } },
	{ 0, SYS_rt_sigtimedwait, { ANYHOW } },
	{ 0, SYS_sched_getaffinity, { ANYHOW } },
	{ 0, SYS_sched_yield, { ANYHOW } },
	{ 0, SYS_sendmsg, { ANYHOW } },
	{ 0, SYS_sigaltstack, { ANYHOW } },
	{ 0, SYS_sysinfo, { ANYHOW } },
	{ 0, SYS_tgkill, { 0, -1, 0 } }, /* 0: put in, this process */
	{ 0, SYS_umask, { 0 } },
	{ 0, SYS_uname, { ANYHOW } },
	{ 0, SYS_write, { ANYHOW } },
	{ 0, SYS_writev, { ANYHOW } },
#ifdef SYS_dup2
	{ 0, SYS_dup2, { ANYHOW } },
#endif
#ifdef SYS_pause
	{ 0, SYS_pause, { ANYHOW } },
#endif
#ifdef SYS_poll
	{ 0, SYS_poll, { ANYHOW } },
#endif
#ifdef SYS_select
	{ 0, SYS_select, { ANYHOW } },
#endif
#ifdef SYS_time
	{ 0, SYS_time, { ANYHOW } },
#endif
	{ CHILDREN, SYS_clone, { CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, 0, 0, 0 } },
	{ CHILDREN, SYS_pipe2, { ANYHOW } },
	{ CHILDREN, SYS_prctl, { PR_SET_PDEATHSIG, 0 } },
	{ CHILDREN | THREADS, SYS_set_robust_list, { ANYHOW } },
	{ THREADS, SYS_rseq, { ANYHOW } },
	{ CHILDREN, SYS_wait4, { ANYHOW } },
	{ CHILDREN, SYS_waitid, { ANYHOW } },
	{ CHILDREN | TERMINAL, SYS_kill, { 0, -1 } }, /* 0: put in, this process */
	{ TERMINAL, SYS_ioctl, { -1, TCSETS } },
	{ TERMINAL, SYS_ioctl, { -1, TCSETSW } },
	{ TERMINAL, SYS_ioctl, { -1, TCSETSF } },
	{ TERMINAL, SYS_ioctl, { -1, TIOCGPGRP } },
	{ TERMINAL, SYS_ioctl, { -1, TIOCSPGRP } },
	{ TERMINAL, SYS_ioctl, { -1, TCFLSH } },
	{ READ, SYS_faccessat, { ANYHOW } },
	{ READ, SYS_newfstatat, { ANYHOW } },
	{ READ, SYS_openat, { AT_FDCWD, (long)"/nowhere", O_RDONLY | O_CLOEXEC | O_DIRECTORY } },
	{ READ, SYS_readlinkat, { ANYHOW } },
#ifdef SYS_access
	{ READ, SYS_access, { ANYHOW } },
#endif
#ifdef SYS_lstat
	{ READ, SYS_lstat, { ANYHOW } },
#endif
#ifdef SYS_open
	{ READ, SYS_open, { (long)"/nowhere", O_RDONLY | O_CLOEXEC } },
#endif
#ifdef SYS_readlink
	{ READ, SYS_readlink, { ANYHOW } },
#endif
#ifdef SYS_stat
	{ READ, SYS_stat, { ANYHOW } },
#endif
	{ VERBS, SYS_openat, { AT_FDCWD, (long)"/nowhere", O_RDWR | O_CLOEXEC } },
	{ VERBS, SYS_ioctl, { -1, (long)0xc0181b01 } }, /* RDMA_VERBS_IOCTL */
};

static const unsigned sets[] = { 0, CHILDREN, THREADS, READ, READ | VERBS, TERMINAL, CHILDREN | TERMINAL | READ };
static unsigned needs_now;
static const struct permitted *now;

static bool is_permitted(const struct permitted *p, unsigned needs)
{
	return !p->needs || (p->needs & needs);
}

static bool is_listed(long number)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(permitted); i++)
		if (permitted[i].number == number && is_permitted(&permitted[i], needs_now))
			return true;
	return false;
}

/* The kernel's own, by which it comes back from probes: no filter sees them (from Linux 6.14 on), and who makes them dies. */
static bool is_of_probes(long number)
{
#ifdef __x86_64__
	return number == 335 || number == 336; /* uretprobe, uprobe */
#else
	return false;
#endif
}

static bool refused(long number, long r, int code)
{
	return r == -1 && code == (number < FIRST_COMMON_NUMBER ? EPERM : ENOSYS);
}

/* Stops at the first that is not. */
static void call_what_is_not_listed(void)
{
	for (long number = 0; number < 1024; number++) {
		long r;

		found->number = number;
		if (is_listed(number) || is_of_probes(number))
			continue;
		r = syscall((int)number, ANYHOW, -1, -1);
		if (!refused(number, r, errno))
			_exit(1);
#ifdef __x86_64__
		/* Of the 32 bit interface of this architecture. */
		r = syscall((int)number | 0x40000000, ANYHOW, -1, -1);
		if (r != -1 || errno != ENOSYS)
			_exit(2);
#endif
	}
	found->number = -1;
}

TEST(no_other_system_call_is_let_through)
{
#ifdef RD_SANITIZED
	SKIP("sanitizers leave out seccomp");
#endif
	for (size_t i = 0; i < RD_ARRAY_SIZE(sets); i++) {
		int status;

		needs_now = sets[i];
		status = run_confined(0, sets[i], NULL, NULL, call_what_is_not_listed);
		if (status || found->number != -1)
			fail_msg("needs %u: number %ld was let through (status %d)", sets[i], found->number, status);
	}
}

/* What does not come back (exit, pause) was let through as well: `number` stays. */
static void call_what_is_listed(void)
{
	long args[4], r;

	memcpy(args, now->args, sizeof(args));
	if ((now->number == SYS_kill || now->number == SYS_tgkill) && !args[0])
		args[0] = getpid();
	r = syscall(now->number, args[0], args[1], args[2], args[3], -1, -1);
	if (now->number == SYS_clone && r == 0)
		_exit(0);
	if (refused(now->number, r, errno))
		found->number = -1;
}

/* So that what waits is ended soon. */
static void wait_little(void)
{
	const struct itimerval little = { .it_value = { .tv_usec = 100000 } };

	if (now->number == SYS_rt_sigsuspend || now->number == SYS_futex
#ifdef SYS_pause
	    || now->number == SYS_pause
#endif
	)
		setitimer(ITIMER_REAL, &little, NULL);
}

TEST(every_system_call_on_the_list_is_let_through)
{
#ifdef RD_SANITIZED
	SKIP("sanitizers leave out seccomp");
#endif
	for (size_t i = 0; i < RD_ARRAY_SIZE(permitted); i++) {
		unsigned needs = permitted[i].needs & VERBS ? READ | VERBS : permitted[i].needs;

		now = &permitted[i];
		run_confined(0, needs, NULL, wait_little, call_what_is_listed);
		if (found->number == -1)
			fail_msg("number %ld, argument %ld, is refused", now->number, now->args[1]);
	}
}

static void *do_nothing(void *arg)
{
	return arg;
}

static void start_thread(void)
{
	pthread_t thread;

	found->number = -1;
	if (pthread_create(&thread, NULL, do_nothing, NULL) == 0 && pthread_join(thread, NULL) == 0)
		found->number = 0;
}

TEST(threads_can_be_started_where_they_are_needed)
{
#ifdef RD_SANITIZED
	SKIP("sanitizers leave out seccomp");
#endif
	run_confined(0, THREADS, NULL, NULL, start_thread);
	assert_int_equal(found->number, 0);
	run_confined(0, CHILDREN, NULL, NULL, start_thread);
	assert_int_equal(found->number, -1);
}

/* The same numbers with other arguments. */
static const struct permitted forbidden[] = {
	{ 0, SYS_fcntl, { -1, F_SETOWN, 1 } },
	{ 0, SYS_fcntl, { -1, F_SETLEASE, 0 } },
	{ 0, SYS_fcntl, { -1, F_NOTIFY, 0 } },
	{ 0, SYS_ioctl, { -1, TIOCSTI } },
	{ 0, SYS_ioctl, { -1, TIOCLINUX } },
	{ 0, SYS_ioctl, { -1, (long)0xc0181b01 } },
	{ 0, SYS_newfstatat, { -1, -1, -1, 0 } },
	{ 0, SYS_prlimit64, { 0, RLIMIT_NOFILE, 1, 0 } },
	{ 0, SYS_prlimit64, { 0, RLIMIT_NOFILE, INT64_C(1) << 32, 0 } },
	{ 0, SYS_tgkill, { 1, 1, 0 } },
	{ TERMINAL, SYS_kill, { 1, 0 } },
	{ TERMINAL, SYS_ioctl, { -1, TIOCSTI } },
	{ TERMINAL, SYS_ioctl, { -1, TIOCSCTTY } },
	{ CHILDREN, SYS_clone, { SIGCHLD | CLONE_NEWUSER } },
	{ CHILDREN, SYS_clone, { SIGCHLD | CLONE_VM } },
	{ CHILDREN, SYS_clone, { GLIBC_THREAD } },
	{ THREADS, SYS_clone, { GLIBC_THREAD | CLONE_NEWUSER } },
	{ THREADS, SYS_clone, { SIGCHLD } },
	{ CHILDREN, SYS_prctl, { PR_SET_DUMPABLE, 1 } },
	{ CHILDREN, SYS_prctl, { PR_SET_SECCOMP, 0 } },
	{ READ, SYS_openat, { AT_FDCWD, (long)"/nowhere", O_WRONLY } },
	{ READ, SYS_openat, { AT_FDCWD, (long)"/nowhere", O_RDWR } },
	{ READ, SYS_openat, { AT_FDCWD, (long)"/nowhere", O_RDONLY | O_CREAT } },
	{ READ, SYS_openat, { AT_FDCWD, (long)"/nowhere", O_RDONLY | O_TRUNC } },
	{ VERBS, SYS_openat, { AT_FDCWD, (long)"/nowhere", O_RDWR | O_CREAT } },
	{ VERBS, SYS_openat, { AT_FDCWD, (long)"/nowhere", O_RDWR | O_TRUNC } },
	{ VERBS, SYS_openat, { AT_FDCWD, (long)"/", O_RDWR | O_TMPFILE } },
#ifdef SYS_open
	{ READ, SYS_open, { (long)"/nowhere", O_RDWR } },
	{ VERBS, SYS_open, { (long)"/nowhere", O_RDWR } },
#endif
};

TEST(other_arguments_are_refused)
{
#ifdef RD_SANITIZED
	SKIP("sanitizers leave out seccomp");
#endif
	for (size_t i = 0; i < RD_ARRAY_SIZE(forbidden); i++) {
		unsigned needs = forbidden[i].needs & VERBS ? READ | VERBS : forbidden[i].needs;

		now = &forbidden[i];
		assert_int_equal(run_confined(0, needs, NULL, NULL, call_what_is_listed), 0);
		if (found->number != -1)
			fail_msg("number %ld, arguments %ld, %ld, %ld, is let through", now->number, now->args[0],
				 now->args[1], now->args[2]);
	}
}

#ifdef __x86_64__
static void call_by_interrupt(void)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory"); /* getpid */
	found->number = r;
}

TEST(the_calls_of_another_architecture_end_the_process)
{
	int status;

#ifdef RD_SANITIZED
	SKIP("sanitizers leave out seccomp");
#endif
	status = run_confined(0, 0, NULL, NULL, call_by_interrupt);
	/* SIGSEGV where the kernel has no such calls. */
	assert_true(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV));
}
#endif
