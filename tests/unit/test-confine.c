/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process that has confined itself can still do. Each try is in a process of its own.
 */
#include "unit.h"

#include <grp.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "confined.h"

#define CHILDREN RD_CONFINE_CHILDREN
#define TERMINAL RD_CONFINE_TERMINAL
#define READ RD_CONFINE_READ
#define VERBS RD_CONFINE_VERBS
#define UID RD_CONFINE_UID
#define USER 12345

/* A folder that may be read, one that may not, a file in each, a link from the first into the second. */
static char base[] = "/tmp/rd-confine-XXXXXX", allowed[64], written[64];
static struct rd_confine_dir folders[] = { { allowed, false }, { written, true }, { NULL, false } };

static const char *below(const char *path)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s/%s", base, path);
	return text;
}

static void put(const char *path)
{
	int fd = open(below(path), O_WRONLY | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
}

static int begin(void **state)
{
	assert_non_null(mkdtemp(base));
	assert_int_equal(chmod(base, 0755), 0);
	assert_int_equal(mkdir(below("allowed"), 0755), 0);
	assert_int_equal(mkdir(below("written"), 0777), 0);
	assert_int_equal(mkdir(below("other"), 0755), 0);
	put("allowed/file");
	put("other/file");
	put("written/file");
	assert_int_equal(chmod(below("written/file"), 0666), 0);
	assert_int_equal(chmod(below("written"), 0777), 0);
	snprintf(allowed, sizeof(allowed), "%s/allowed", base);
	snprintf(written, sizeof(written), "%s/written", base);
	assert_int_equal(symlink("../other/file", below("allowed/link")), 0);
	return 0;
}

static int end(void **state)
{
	static const char *const paths[] = { "allowed/link", "allowed/file", "other/file", "written/file",
					     "allowed",	     "other",	     "written",	   "" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(paths); i++)
		assert_int_equal(remove(below(paths[i])), 0);
	return 0;
}

static int opened(const char *path, int flags)
{
	int fd = open(path, flags, 0600);
	int code = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return code;
}

static int error_of(long r)
{
	return r < 0 ? errno : 0;
}

enum try {
	SHADOW,
	OTHER,
	THROUGH_LINK,
	ALLOWED,
	ALLOWED_WRITE,
	WRITTEN,
	WRITTEN_NEW,
	WRITE_ELSEWHERE,
	NO_NAME,
	EXECUTE,
	SOCKET,
	CONNECT,
	PTRACE,
	TYPE,
	KILL_PARENT,
	FORK,
	NAMESPACE,
	UNSHARE,
	OWNER,
	LIMIT,
	SETUID,
};

static int udp = -1;
static pid_t parent;

static void prepare(void)
{
	parent = getppid();
	udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static void try_all(void)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = 9,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rlimit *limit = mmap((void *)(UINT64_C(1) << 32), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *const argv[] = { "true", NULL };
	int *e = found->errors;
	pid_t pid;

	e[SHADOW] = opened("/etc/shadow", O_RDONLY);
	e[OTHER] = opened(below("other/file"), O_RDONLY);
	e[THROUGH_LINK] = opened(below("allowed/link"), O_RDONLY);
	e[ALLOWED] = opened(below("allowed/file"), O_RDONLY);
	e[ALLOWED_WRITE] = opened(below("allowed/file"), O_RDWR);
	e[WRITTEN] = opened(below("written/file"), O_RDWR);
	e[WRITTEN_NEW] = opened(below("written/new"), O_RDWR | O_CREAT);
	e[WRITE_ELSEWHERE] = opened(below("other/new"), O_WRONLY | O_CREAT);
	e[NO_NAME] = opened(written, O_RDWR | O_TMPFILE);
	e[SOCKET] = error_of(socket(AF_INET, SOCK_STREAM, 0));
	e[CONNECT] = error_of(connect(udp, (const struct sockaddr *)&to, sizeof(to)));
	e[PTRACE] = error_of(ptrace(PTRACE_ATTACH, parent, NULL, NULL));
	e[TYPE] = error_of(ioctl(STDIN_FILENO, TIOCSTI, "x"));
	e[KILL_PARENT] = error_of(kill(parent, 0));
	pid = fork();
	if (pid == 0)
		_exit(0);
	e[FORK] = error_of(pid);
	e[NAMESPACE] = error_of(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
	e[UNSHARE] = error_of(syscall(SYS_unshare, CLONE_NEWUSER));
	e[OWNER] = error_of(fcntl(udp, F_SETOWN, parent));
	/* The lower half of this pointer is zero. */
	e[LIMIT] = limit == MAP_FAILED ? EPERM : error_of(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, limit, NULL));
	e[SETUID] = error_of(setuid(0));
	e[EXECUTE] = error_of(execv("/bin/true", argv));
}

static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

/* As a kernel that was built without. */
static void prepare_without_landlock(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = RD_ARRAY_SIZE(filter), .filter = filter };

	prepare();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static bool is_root(void)
{
	return geteuid() == 0;
}

static void check_all(uid_t uid, unsigned needs, bool landlock)
{
	const int *e;
	bool reads = needs & READ, writes = reads && (needs & VERBS);
	static const enum try never[] = { EXECUTE,   SOCKET,  CONNECT, PTRACE, TYPE,
					  NAMESPACE, UNSHARE, OWNER,   LIMIT,  SETUID };

	assert_int_equal(run_confined(uid, needs, folders, landlock ? prepare : prepare_without_landlock, try_all), 0);
	e = found->errors;
	for (size_t i = 0; i < RD_ARRAY_SIZE(never); i++)
		assert_int_equal(e[never[i]], EPERM);
	/* Root's file: root that has to stay root may read it where there is no landlock. */
	ASSERT_EACH(IS(e[SHADOW] || (reads && !landlock && (needs & UID)), true), IS(e[ALLOWED], reads ? 0 : EPERM));
	assert_int_equal(e[OTHER], !reads ? EPERM : landlock ? EACCES : 0);
	ASSERT_EACH(IS(e[THROUGH_LINK], e[OTHER]), IS(e[WRITTEN], writes ? 0 : EPERM));
	assert_true(e[ALLOWED_WRITE] || (writes && !landlock && (needs & UID || !is_root())));
	ASSERT_EACH(IS(e[WRITTEN_NEW], EPERM), IS(e[WRITE_ELSEWHERE], EPERM), IS(e[NO_NAME], EPERM),
		    IS(e[FORK], needs & CHILDREN ? 0 : EPERM));
	if (!(needs & CHILDREN))
		assert_int_equal(e[KILL_PARENT], EPERM);
}

static void check_combinations(bool landlock)
{
	for (unsigned needs = 0; needs < 2 * UID; needs++) {
		if (needs & VERBS && !(needs & READ))
			continue;
		check_all(0, needs, landlock);
		if (is_root())
			check_all(USER, needs, landlock);
	}
}

TEST(no_combination_of_needs_allows_more)
{
#ifdef RD_SANITIZED
	SKIP("sanitizers leave out seccomp");
#endif
	check_combinations(has_landlock());
}

TEST(without_landlock_the_rest_holds_and_it_is_said)
{
#ifdef RD_SANITIZED
	SKIP("sanitizers leave out seccomp");
#endif
	check_combinations(false);
	assert_int_equal(run_confined(0, 0, folders, prepare_without_landlock, NULL), 0);
	assert_int_equal(found->confined.landlock, ENOSYS);
	assert_non_null(strstr(found->text, "no new privileges, no landlock (Function not implemented), seccomp"));
}

static void have_groups(void)
{
	const gid_t groups[] = { 4, 24 };

	if (setgroups(RD_ARRAY_SIZE(groups), groups) < 0 && is_root())
		_exit(1);
}

TEST(privileges_are_gone_and_it_is_said)
{
	char wanted[40];

	assert_int_equal(run_confined(0, 0, folders, have_groups, NULL), 0);
	ASSERT_EACH(IS(found->confined.active, true), HAS(found->text, "no capabilities, no new privileges, "),
		    HAS(found->status, "CapPrm:\t0000000000000000\n"),
		    HAS(found->status, "CapEff:\t0000000000000000\n"), HAS(found->status, "NoNewPrivs:\t1\n"));
#ifdef RD_SANITIZED
	assert_non_null(strstr(found->text, "no landlock (Operation not supported)"));
#else
	if (has_landlock())
		assert_non_null(strstr(found->text, "landlock ABI "));
#endif
	if (!is_root())
		return;
	ASSERT_EACH(HAS(found->text, "uid 65534, "), HAS(found->status, "Uid:\t65534\t65534\t65534\t65534\n"),
		    HAS(found->status, "Gid:\t65534\t65534\t65534\t65534\n"), HAS(found->status, "Groups:\t \n"));
	assert_int_equal(run_confined(0, UID, folders, NULL, NULL), 0);
	ASSERT_EACH(LACKS(found->text, "uid"), HAS(found->status, "Uid:\t0\t0\t0\t0\n"),
		    HAS(found->status, "CapEff:\t0000000000000000\n"));
	assert_int_equal(run_confined(USER, 0, folders, NULL, NULL), 0);
	snprintf(wanted, sizeof(wanted), "Uid:\t%d\t%d\t%d\t%d\n", USER, USER, USER, USER);
	assert_non_null(strstr(found->status, wanted));
}

/* A change of the uid unsets it. */
TEST(who_is_to_die_with_its_parent_still_does)
{
	int ends[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		int ready[2];

		if (pipe(ready) < 0 || fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(ready[0]);
			if (rd_confine(0, NULL, NULL) < 0 || write(ready[1], "", 1) != 1)
				_exit(1);
			poll(NULL, 0, 60000);
			_exit(write(ends[1], "", 1) != 1);
		}
		close(ready[1]);
		if (read(ready[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* Its end of the pipe is closed when it has ended; if it has not, it writes, later. */
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
}

int main(void)
{
	return unit_run(begin, end);
}
