/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filter is a list of numbers, most frequent first. What is not in it fails with EPERM rather than killing, because
 * libraries open files on the side whose absence they can bear.
 */
#include "confine-priv.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCH AUDIT_ARCH_PPC64LE
#endif

/* A system call, or only with this value of one of its arguments (counted from 1; 0: whatever they are). */
struct call {
	int number;
	unsigned argument;
	uint32_t value;
};

#define CALL(name)               \
	{                        \
		SYS_##name, 0, 0 \
	}
#define IOCTL(request)                \
	{                             \
		SYS_ioctl, 2, request \
	}

/* Memory, what is open, time, signals of its own, its end. */
static const struct call always[] = {
	CALL(read),
	CALL(write),
	CALL(sendmsg),
	CALL(recvmsg),
	CALL(close),
	CALL(pread64),
	CALL(lseek),
	CALL(mmap),
	CALL(munmap),
	CALL(mremap),
	CALL(brk),
	CALL(madvise),
	CALL(mprotect),
	CALL(clock_gettime),
	CALL(gettimeofday),
	{ SYS_newfstatat, 4, AT_EMPTY_PATH }, /* which is what fstat is */
	CALL(fstat),
	CALL(futex),
	CALL(getrandom),
	CALL(ppoll),
	CALL(pselect6),
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigreturn),
	CALL(rt_sigpending),
	CALL(rt_sigtimedwait),
	CALL(sigaltstack),
	CALL(writev),
	CALL(readv),
	CALL(pwrite64),
	CALL(ftruncate),
	CALL(fsync),
	CALL(fcntl),
	CALL(dup),
	CALL(dup3),
	CALL(getdents64),
	CALL(umask),
	CALL(getcwd),
	CALL(uname),
	CALL(getpid),
	CALL(getppid),
	CALL(gettid),
	CALL(getuid),
	CALL(geteuid),
	CALL(getgid),
	CALL(getegid),
	CALL(nanosleep),
	CALL(clock_nanosleep),
	CALL(clock_getres),
	CALL(restart_syscall),
	CALL(sched_yield),
	CALL(sched_getaffinity),
	CALL(getrusage),
	{ SYS_prlimit64, 3, 0 }, /* which is what getrlimit is */
	CALL(tgkill),
	CALL(exit),
	CALL(exit_group),
	IOCTL(TCGETS),
	IOCTL(TIOCGWINSZ),
#ifdef SYS_poll
	CALL(poll),
#endif
#ifdef SYS_select
	CALL(select),
#endif
#ifdef SYS_dup2
	CALL(dup2),
#endif
#ifdef SYS_time
	CALL(time),
#endif
};

static const struct call children[] = {
	CALL(clone), CALL(wait4), CALL(waitid),		 CALL(kill),
	CALL(pipe2), CALL(rseq),  CALL(set_robust_list), { SYS_prctl, 1, PR_SET_PDEATHSIG },
};

/* TIOCSTI is not among them. */
static const struct call terminal[] = {
	IOCTL(TCSETS), IOCTL(TCSETSW), IOCTL(TCSETSF), IOCTL(TIOCGPGRP), IOCTL(TIOCSPGRP), IOCTL(TCFLSH), CALL(kill),
};

/* What may be opened is landlock's to say. */
static const struct call reading[] = {
	CALL(openat),	CALL(newfstatat), CALL(faccessat), CALL(readlinkat),
#ifdef SYS_open
	CALL(open),
#endif
#ifdef SYS_stat
	CALL(stat),
#endif
#ifdef SYS_access
	CALL(access),
#endif
#ifdef SYS_readlink
	CALL(readlink),
#endif
};

static const struct list {
	unsigned need; /* 0: always */
	const struct call *calls;
	size_t n;
} lists[] = {
	{ 0, always, RD_ARRAY_SIZE(always) },
	{ RD_CONFINE_CHILDREN, children, RD_ARRAY_SIZE(children) },
	{ RD_CONFINE_TERMINAL, terminal, RD_ARRAY_SIZE(terminal) },
	{ RD_CONFINE_READ, reading, RD_ARRAY_SIZE(reading) },
};

#define CALLS_MAX (RD_ARRAY_SIZE(always) + RD_ARRAY_SIZE(children) + RD_ARRAY_SIZE(terminal) + RD_ARRAY_SIZE(reading))

struct filter {
	struct sock_filter v[8 + 5 * CALLS_MAX];
	unsigned short n;
};

static void add(struct filter *filter, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false)
{
	filter->v[filter->n++] = (struct sock_filter){ code, if_true, if_false, k };
}

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define IF_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define RETURN (BPF_RET | BPF_K)

/* The lower half of the argument; all that are compared are of 32 bits for the kernel. */
static uint32_t argument_at(unsigned argument)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + (argument - 1) * sizeof(uint64_t) +
			  (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0));
}

/* The number is in the accumulator before and behind it. */
static void allow(struct filter *filter, const struct call *call)
{
	if (!call->argument) {
		add(filter, IF_EQUAL, (uint32_t)call->number, 0, 1);
		add(filter, RETURN, SECCOMP_RET_ALLOW, 0, 0);
		return;
	}
	add(filter, IF_EQUAL, (uint32_t)call->number, 0, 4);
	add(filter, LOAD, argument_at(call->argument), 0, 0);
	add(filter, IF_EQUAL, call->value, 0, 1);
	add(filter, RETURN, SECCOMP_RET_ALLOW, 0, 0);
	add(filter, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
}

int rd_seccomp_apply(unsigned needs)
{
	struct filter filter = { .n = 0 };
	struct sock_fprog program = { .filter = filter.v };

	/* Numbers of another architecture's calls mean something else. */
	add(&filter, LOAD, offsetof(struct seccomp_data, arch), 0, 0);
	add(&filter, IF_EQUAL, ARCH, 1, 0);
	add(&filter, RETURN, SECCOMP_RET_KILL_PROCESS, 0, 0);
	add(&filter, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
	for (size_t i = 0; i < RD_ARRAY_SIZE(lists); i++)
		for (size_t j = 0; j < lists[i].n && (lists[i].need & needs) == lists[i].need; j++)
			allow(&filter, &lists[i].calls[j]);
	add(&filter, RETURN, SECCOMP_RET_ERRNO | EPERM, 0, 0);
	program.len = filter.n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}
