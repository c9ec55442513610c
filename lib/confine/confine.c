/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Privileges of a process, dropped: uid and capabilities, files (landlock), system calls (seccomp). */
#include "confine/confine.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* ---- files */

/* Rights that each ABI version added; build headers may be older than the kernel. */
#define ACCESS_FS_1 ((UINT64_C(1) << 13) - 1)	/* EXECUTE to MAKE_SYM */
#define ACCESS_FS_REFER (UINT64_C(1) << 13)	/* 2 */
#define ACCESS_FS_TRUNCATE (UINT64_C(1) << 14)	/* 3 */
#define ACCESS_FS_IOCTL_DEV (UINT64_C(1) << 15) /* 5 */
#define ACCESS_NET_TCP UINT64_C(3)		/* 4: bind, connect */
#define SCOPE_ALL UINT64_C(3)			/* 6: abstract sockets, signals */

/* struct landlock_ruleset_attr of version 6; older kernels get a smaller size. */
struct ruleset {
	uint64_t fs, net, scoped;
};

/* A missing directory needs no rule. Directory rights are refused for a file. */
static int allow_below(int ruleset, const struct rd_confine_dir *dir, bool may_write, unsigned abi)
{
	_cleanup_close_ int fd = open(dir->path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr beneath = { .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE, .parent_fd = fd };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		beneath.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
	if (dir->write && may_write)
		beneath.allowed_access |= LANDLOCK_ACCESS_FS_WRITE_FILE | (abi >= 5 ? ACCESS_FS_IOCTL_DEV : 0);
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0 ? -errno : 0;
}

/* Restricts open to files below `dirs` (may be NULL): for reading, and for writing if the directory and `may_write` allow it.
 * 0 with the landlock ABI version in `abi`, or -errno. Requires no_new_privs. */
static int apply_landlock(const struct rd_confine_dir *dirs, bool may_write, unsigned *abi)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	_cleanup_close_ int fd = -1;
	struct ruleset ruleset;
	size_t size;
	int r = 0;

	if (version < 1)
		return version < 0 ? -errno : -EOPNOTSUPP;
	*abi = (unsigned)version;
	/* Signals to children stay possible: they share the domain. */
	ruleset =
		(struct ruleset){ ACCESS_FS_1 | (*abi >= 2 ? ACCESS_FS_REFER : 0) |
					  (*abi >= 3 ? ACCESS_FS_TRUNCATE : 0) | (*abi >= 5 ? ACCESS_FS_IOCTL_DEV : 0),
				  *abi >= 4 ? ACCESS_NET_TCP : 0, *abi >= 6 ? SCOPE_ALL : 0 };
	size = *abi >= 6 ? sizeof(ruleset) : *abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
	fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset, size, 0);
	if (fd < 0)
		return -errno;
	for (; dirs && dirs->path && !r; dirs++)
		r = allow_below(fd, dirs, may_write, *abi);
	if (!r && syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		r = -errno;
	return r;
}

/* ---- system calls */

/*
 * The filter is a list of system calls, most frequent first. Other calls fail instead of killing the process, because libraries
 * open optional files. They fail with EPERM; calls added since Linux 5.1 fail with ENOSYS as on an older kernel, because libraries
 * then use the older calls (clone3, faccessat2, close_range).
 */
#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCH AUDIT_ARCH_PPC64LE
#else
#define ARCH 0 /* no filter */
#endif

/* Calls from this number on (Linux 5.1) have the same number on all architectures. */
#define FIRST_COMMON_NUMBER 424

enum test {
	ANY,	 /* any arguments */
	IS,	 /* the argument has this value; 32 bits */
	IS_NULL, /* the argument is a null pointer */
	IS_SELF, /* the argument is the ID of this process */
	NONE_OF, /* the argument has none of these bits; 32 bits */
};

/* A system call that is allowed if one of its arguments, counted from 0, passes the test. */
struct call {
	int number;
	enum test test;
	unsigned argument;
	uint32_t value;
};

#define CALL(name)          \
	{                   \
		SYS_##name, \
	}
#define IOCTL(request)                    \
	{                                 \
		SYS_ioctl, IS, 1, request \
	}
#define FCNTL(command)                    \
	{                                 \
		SYS_fcntl, IS, 1, command \
	}

/* Memory, open files, time, own signals, exit. */
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
	{ SYS_newfstatat, IS, 3, AT_EMPTY_PATH }, /* fstat of glibc 2.33 to 2.38; lets file sizes and owners be seen */
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
	CALL(rt_sigsuspend),
	CALL(sigaltstack),
	CALL(writev),
	CALL(readv),
	CALL(pwrite64),
	CALL(ftruncate),
	CALL(fsync),
	FCNTL(F_DUPFD),
	FCNTL(F_DUPFD_CLOEXEC),
	FCNTL(F_GETFD),
	FCNTL(F_SETFD),
	FCNTL(F_GETFL),
	FCNTL(F_SETFL),
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
	CALL(sysinfo),		       /* qsort of glibc before 2.37 */
	{ SYS_prlimit64, IS_NULL, 2 }, /* used by getrlimit */
	{ SYS_tgkill, IS_SELF, 0 },    /* used by abort */
	CALL(exit),
	CALL(exit_group),
	IOCTL(TCGETS),
#ifdef TCGETS2 /* glibc from 2.42 on */
	IOCTL(TCGETS2),
#endif
	IOCTL(TIOCGWINSZ),
#ifdef SYS_pause
	CALL(pause),
#endif
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

/* The flags of glibc's fork: no threads, and no new namespace, in which the process would have capabilities again. */
#define FORK (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

static const struct call children[] = {
	{ SYS_clone, IS, 0, FORK },
	CALL(wait4),
	CALL(waitid),
	CALL(kill),
	CALL(tgkill),
	CALL(pipe2),
	CALL(set_robust_list),
	{ SYS_prctl, IS, 0, PR_SET_PDEATHSIG },
};

/* The flags of glibc's pthread_create. */
#define THREAD                                                                                             \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | \
	 CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

static const struct call threads[] = {
	{ SYS_clone, IS, 0, THREAD }, CALL(set_robust_list), CALL(rseq), /* glibc ends the process if it is refused */
};

/* Without TIOCSTI. */
static const struct call terminal[] = {
	IOCTL(TCSETS),	  IOCTL(TCSETSW),   IOCTL(TCSETSF),
#ifdef TCSETS2
	IOCTL(TCSETS2),	  IOCTL(TCSETSW2),  IOCTL(TCSETSF2),
#endif
	IOCTL(TIOCGPGRP), IOCTL(TIOCSPGRP), IOCTL(TCFLSH),   { SYS_kill, IS_SELF, 0 },
};

/* landlock restricts which files can be opened; without it, this still restricts them to reading. */
#define CREATING (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))
#define WRITING (O_WRONLY | O_RDWR | CREATING)

static const struct call reading[] = {
	{ SYS_openat, NONE_OF, 2, WRITING },
	CALL(newfstatat),
	CALL(faccessat),
	CALL(readlinkat),
#ifdef SYS_open
	{ SYS_open, NONE_OF, 1, WRITING },
#endif
#ifdef SYS_stat
	CALL(stat),
#endif
#ifdef SYS_lstat
	CALL(lstat),
#endif
#ifdef SYS_access
	CALL(access),
#endif
#ifdef SYS_readlink
	CALL(readlink),
#endif
};

/* Verbs are ioctls; before Linux 4.20, and in older libraries, they are writes to the device. */
static const struct call verbs[] = {
	{ SYS_openat, NONE_OF, 2, CREATING },
	IOCTL(RDMA_VERBS_IOCTL),
};

static const struct list {
	unsigned need; /* 0: always */
	const struct call *calls;
	size_t n;
} lists[] = {
	{ 0, always, RD_ARRAY_SIZE(always) },
	{ RD_CONFINE_CHILDREN, children, RD_ARRAY_SIZE(children) },
	{ RD_CONFINE_THREADS, threads, RD_ARRAY_SIZE(threads) },
	{ RD_CONFINE_TERMINAL, terminal, RD_ARRAY_SIZE(terminal) },
	{ RD_CONFINE_READ, reading, RD_ARRAY_SIZE(reading) },
	{ RD_CONFINE_VERBS, verbs, RD_ARRAY_SIZE(verbs) },
};

#define CALLS_MAX                                                                                             \
	(RD_ARRAY_SIZE(always) + RD_ARRAY_SIZE(children) + RD_ARRAY_SIZE(threads) + RD_ARRAY_SIZE(terminal) + \
	 RD_ARRAY_SIZE(reading) + RD_ARRAY_SIZE(verbs))

struct filter {
	struct sock_filter v[8 + 7 * CALLS_MAX];
	unsigned short n;
};

static void add_instruction(struct filter *filter, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false)
{
	filter->v[filter->n++] = (struct sock_filter){ code, if_true, if_false, k };
}

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define IF_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define IF_ANY_OF (BPF_JMP | BPF_JSET | BPF_K)
#define IF_NOT_BELOW (BPF_JMP | BPF_JGE | BPF_K)
#define RETURN (BPF_RET | BPF_K)

/* Skips the following instruction if the argument does not pass. */
static void add_test(struct filter *filter, const struct call *call)
{
	/* The lower half: little endian, as all of ARCH are. */
	uint32_t argument = (uint32_t)(offsetof(struct seccomp_data, args) + call->argument * sizeof(uint64_t));

	if (call->test == IS_NULL) {
		add_instruction(filter, LOAD, argument + sizeof(uint32_t), 0, 0);
		add_instruction(filter, IF_EQUAL, 0, 0, 3);
	}
	add_instruction(filter, LOAD, argument, 0, 0);
	if (call->test == NONE_OF)
		add_instruction(filter, IF_ANY_OF, call->value, 1, 0);
	else
		add_instruction(filter, IF_EQUAL, call->test == IS_SELF ? (uint32_t)getpid() : call->value, 0, 1);
}

/* The system call number is in the accumulator before and after it. */
static void allow_call(struct filter *filter, const struct call *call)
{
	add_instruction(filter, IF_EQUAL, (uint32_t)call->number, 0,
			call->test == ANY     ? 1 :
			call->test == IS_NULL ? 6 :
						4);
	if (call->test != ANY)
		add_test(filter, call);
	add_instruction(filter, RETURN, SECCOMP_RET_ALLOW, 0, 0);
	if (call->test != ANY)
		add_instruction(filter, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
}

/* Allows only the system calls for `needs`; all others fail with EPERM or ENOSYS. 0 or -errno. Requires no_new_privs. */
static int apply_seccomp(unsigned needs)
{
	struct filter filter = { .n = 0 };
	struct sock_fprog program = { .filter = filter.v };

	if (!ARCH)
		return -EOPNOTSUPP;
	/* System call numbers of another architecture have other meanings. */
	add_instruction(&filter, LOAD, offsetof(struct seccomp_data, arch), 0, 0);
	add_instruction(&filter, IF_EQUAL, ARCH, 1, 0);
	add_instruction(&filter, RETURN, SECCOMP_RET_KILL_PROCESS, 0, 0);
	add_instruction(&filter, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
	for (size_t i = 0; i < RD_ARRAY_SIZE(lists); i++)
		for (size_t j = 0; j < lists[i].n && (lists[i].need & needs) == lists[i].need; j++)
			allow_call(&filter, &lists[i].calls[j]);
	add_instruction(&filter, IF_NOT_BELOW, FIRST_COMMON_NUMBER, 0, 1);
	add_instruction(&filter, RETURN, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
	add_instruction(&filter, RETURN, SECCOMP_RET_ERRNO | EPERM, 0, 0);
	program.len = filter.n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

/* ---- all of them */

/* At exit a sanitizer starts another process that inspects this one, with files and calls that no list could cover. */
#ifdef RD_SANITIZED
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

#define NOBODY 65534 /* the kernel's overflow uid, which owns nothing */

static struct rd_confined state;

const struct rd_confined *rd_confined(void)
{
	return &state;
}

/*
 * If that is refused (the uid is not mapped in this user namespace, the container's root may not change it), the remaining
 * privilege of root is the ownership of files.
 */
static int drop_uid(void)
{
	int signal = 0, groups, group, user;
	uid_t real = 0, effective = 0, saved = 0;
	pid_t parent = getppid();

	if (getresuid(&real, &effective, &saved) == 0 && real && effective && saved)
		return 0;
	/* A change of the uid resets it. */
	prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0);
	groups = setgroups(0, NULL) < 0 ? errno : 0;
	group = setresgid(NOBODY, NOBODY, NOBODY) < 0 ? errno : 0;
	user = setresuid(NOBODY, NOBODY, NOBODY) < 0 ? errno : 0;
	prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0);
	if (signal && getppid() != parent)
		raise(signal);
	state.uid_dropped = !user;
	return user ? user : group ? group : groups;
}

int rd_confine(unsigned needs, const struct rd_confine_dir *dirs, struct rd_err *err)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	state.active = true;
	if (!(needs & RD_CONFINE_UID))
		state.uid = drop_uid();
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &head, none) < 0)
		return rd_err_set(err, errno, "capabilities", "cannot drop");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return rd_err_set(err, errno, "no_new_privs", "cannot set");
	if (needs & RD_CONFINE_PROGRAM)
		return 0;
	if (IS_SANITIZED) {
		prctl(PR_SET_DUMPABLE, 1);
		state.landlock = state.seccomp = EOPNOTSUPP;
		return 0;
	}
	state.landlock =
		-apply_landlock(needs & RD_CONFINE_READ ? dirs : NULL, needs & RD_CONFINE_VERBS, &state.landlock_abi);
	state.seccomp = -apply_seccomp(needs);
	return 0;
}

static void add_mechanism(struct rd_buf *out, const char *name, int code)
{
	rd_buf_printf(out, "%s%s%s", out->len ? ", " : "", code ? "no " : "", name);
	if (code)
		rd_buf_printf(out, " (%s)", rd_errno_text(code));
}

void rd_confined_text(const struct rd_confined *confined, struct rd_buf *out)
{
	char landlock[40];

	snprintf(landlock, sizeof(landlock), "landlock ABI %u", confined->landlock_abi);
	if (confined->uid_dropped)
		rd_buf_printf(out, "uid %d", NOBODY);
	if (confined->uid)
		rd_buf_printf(out, "%sroot's %s kept (%s)", out->len ? ", " : "",
			      confined->uid_dropped ? "groups" : "uid", rd_errno_text(confined->uid));
	add_mechanism(out, "no capabilities", 0);
	add_mechanism(out, "no new privileges", 0);
	add_mechanism(out, confined->landlock ? "landlock" : landlock, confined->landlock);
	add_mechanism(out, "seccomp", confined->seccomp);
}
