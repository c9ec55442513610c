/* SPDX-License-Identifier: GPL-2.0-or-later */
/* As whom a traced command runs, and what it inherits. */
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "cmd/trace-errno/trace-child.h"
#include "unit.h"

/* The users of these tests: root, 1000 is alice, and one whose name is digits. */
static const struct passwd users[] = {
	{ .pw_name = "root", .pw_uid = 0, .pw_dir = "/root", .pw_shell = "/bin/bash" },
	{ .pw_name = "alice", .pw_uid = 1000, .pw_gid = 1001, .pw_dir = "/home/alice", .pw_shell = "" },
	{ .pw_name = "2000", .pw_uid = 1234, .pw_gid = 1234, .pw_dir = "/", .pw_shell = "" },
	{ .pw_name = "last", .pw_uid = UINT32_MAX - 1, .pw_dir = "/", .pw_shell = "" },
	/* Whom only a number that was cut to 32 bits, or that system calls take for none, finds. */
	{ .pw_name = "nobody-at-all", .pw_uid = UINT32_MAX, .pw_dir = "/", .pw_shell = "" },
};

static int look_up_fails;
static bool no_close_range;

static struct passwd *answer(const char *name, uid_t uid)
{
	static struct passwd pw;

	for (size_t i = 0; i < RD_ARRAY_SIZE(users) && !look_up_fails; i++)
		if (name ? !strcmp(name, users[i].pw_name) : uid == users[i].pw_uid) {
			pw = users[i];
			return &pw;
		}
	errno = look_up_fails;
	return NULL;
}

struct passwd *getpwnam(const char *name)
{
	return answer(name, 0);
}

struct passwd *getpwuid(uid_t uid)
{
	return answer(NULL, uid);
}

/* Alice has more groups than fit at first. */
int getgrouplist(const char *name, gid_t group, gid_t *groups, int *n)
{
	int room = *n, count = strcmp(name, "alice") ? 1 : 100;

	for (int i = 0; i < count && i < room; i++)
		groups[i] = i ? 5000 + (gid_t)i : group;
	*n = count;
	return count > room ? -1 : count;
}

int close_range(unsigned first, unsigned last, int flags)
{
	if (no_close_range) {
		errno = ENOSYS;
		return -1;
	}
	return (int)syscall(SYS_close_range, first, last, flags);
}

/* The uid that a name comes to; -errno if to none. */
static long found(const char *name)
{
	struct trace_user user = { 0 };
	struct rd_err err = { 0 };
	long r = trace_user_find(name, &user, &err);

	assert_int_equal(err.code, -r);
	if (!r)
		r = user.entry.pw_uid;
	trace_user_deinit(&user);
	return r;
}

TEST(users_are_found_by_name_and_by_number)
{
	ASSERT_EACH(IS(found("root"), 0), IS(found("alice"), 1000), IS(found("0"), 0), IS(found("1000"), 1000),
		    IS(found("4294967294"), UINT32_MAX - 1));
	/* As with chown(1): a name goes before a number. */
	ASSERT_EACH(IS(found("2000"), 1234), IS(found("1001"), -ENOENT));
}

TEST(a_number_that_is_none_is_nobody)
{
	static const char *const none[] = { "",	   " ",		  " 0",	       "0 ",	 "+0",	       "-0",
					    "-1",  "-4294967296", "0x0",       "1e3",	 "0.0",	       "#0",
					    "\t0", "0\n",	  "1000:1000", "alice ", "4294967296x" };
	static const char *const too_great[] = { "4294967295",		 "4294967296",
						 "4294968296",		 "18446744073709551615",
						 "18446744073709551616", "99999999999999999999999999" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(none); i++)
		assert_int_equal(found(none[i]), -ENOENT);
	for (size_t i = 0; i < RD_ARRAY_SIZE(too_great); i++)
		assert_int_equal(found(too_great[i]), -ERANGE);
}

TEST(users_that_cannot_be_looked_up_are_not_absent)
{
	look_up_fails = EIO;
	ASSERT_EACH(IS(found("alice"), -EIO), IS(found("1000"), -EIO));
	look_up_fails = ESRCH; /* how some services say that there is none */
	assert_int_equal(found("alice"), -ENOENT);
	look_up_fails = 0;
}

/* What a command prints that was started in this way; its descriptor 1 is a pipe. */
static const char *output_of(const struct trace_command *command)
{
	static char text[4096];
	struct trace_child child = TRACE_CHILD_INIT;
	struct rd_err err = { 0 };
	int out = dup(STDOUT_FILENO), pipes[2];
	size_t n = 0;
	ssize_t r;

	fflush(stdout);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	dup2(pipes[1], STDOUT_FILENO);
	close(pipes[1]);
	r = trace_child_start(&child, command, &err);
	if (!r)
		r = trace_child_go(&child, command->argv[0], &err);
	dup2(out, STDOUT_FILENO);
	close(out);
	if (r)
		print_error("%s: %s: %s\n", err.object, err.message, strerror(err.code));
	assert_int_equal(r, 0);
	for (struct pollfd fd = { .fd = pipes[0], .events = POLLIN }; poll(&fd, 1, 60000) > 0;) {
		r = read(pipes[0], text + n, sizeof(text) - 1 - n);
		n += r > 0 ? (size_t)r : 0;
		if (r <= 0 || (n && text[n - 1] == '.'))
			break;
	}
	text[n] = 0;
	close(pipes[0]);
	trace_child_deinit(&child);
	waitpid(child.pid, NULL, 0);
	return text;
}

/* What is printed ends with a full stop. */
#define SHELL(text)                                      \
	(char *[])                                       \
	{                                                \
		"/bin/sh", "-c", text "; printf .", NULL \
	}

TEST(no_descriptor_is_inherited)
{
	struct trace_user user = { .entry = users[1] };
	int low = open("/dev/null", O_RDONLY), high = fcntl(low, F_DUPFD, 700);

	assert_true(low > 2 && high >= 700);
	for (int i = 0; i < 4; i += getuid() ? 2 : 1) {
		struct trace_command command = { .argv = SHELL("ls /proc/$$/fd"), .user = i & 1 ? &user : NULL };

		no_close_range = i & 2;
		assert_string_equal(output_of(&command), "0\n1\n2\n.");
	}
	no_close_range = false;
	close(low);
	close(high);
}

static struct trace_user alice(void)
{
	struct trace_user user = { 0 };

	assert_int_equal(trace_user_find("alice", &user, NULL), 0);
	return user;
}

TEST(groups_are_the_users)
{
	struct trace_user user = alice();
	struct trace_command command = { .argv = SHELL("id -G | tr ' ' '\\n' | sed -n '1p;2p;$p' | tr '\\n' ' '; "
						       "id -G | wc -w"),
					 .user = &user };

	if (!getuid())
		assert_string_equal(output_of(&command), "1001 5001 5099 100\n.");
	trace_user_deinit(&user);
	if (getuid())
		SKIP("only root can become another user");
}

TEST(variables_are_the_users)
{
	struct trace_user user = { .entry = users[1] };
	struct trace_command command = { .argv = SHELL("echo $HOME $USER $LOGNAME $SHELL"), .user = &user };

	if (getuid())
		SKIP("only root can become another user");
	assert_string_equal(output_of(&command), "/home/alice alice alice /bin/sh\n.");
}

/* What is started may be privileged in ways that a change of uid does not end. */
static void give_it_capabilities(void)
{
	struct __user_cap_header_struct self = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &self, caps), 0);
	caps[0].inheritable = caps[0].permitted;
	assert_int_equal(syscall(SYS_capset, &self, caps), 0);
	assert_int_equal(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0), 0);
	/* A change of uid takes nothing away then. */
	assert_int_equal(prctl(PR_SET_SECUREBITS, 1 << 2 /* SECBIT_NO_SETUID_FIXUP */, 0, 0, 0), 0);
}

/* In a process of its own, whose capabilities are changed. */
static const char *privileges(const struct trace_command *command)
{
	static char text[4096];
	int pipes[2];
	pid_t pid;
	ssize_t n;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		give_it_capabilities();
		const char *said = output_of(command);
		_exit(write(pipes[1], said, strlen(said)) < 0);
	}
	close(pipes[1]);
	n = read(pipes[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	close(pipes[0]);
	waitpid(pid, NULL, 0);
	return text;
}

#define PRIVILEGES "grep -E '^(Uid|Gid|Cap(Inh|Prm|Eff|Amb)|NoNewPrivs):' /proc/self/status | tr '\\t\\n' '  '"
#define NO_CAPS "CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 CapAmb: 0000000000000000 "
#define ALICE "Uid: 1000 1000 1000 1000 Gid: 1001 1001 1001 1001 "

TEST(privileges_of_ours_are_gone)
{
	struct trace_user user = { .entry = users[1] };
	struct trace_command command = { .argv = SHELL(PRIVILEGES), .user = &user };

	if (getuid())
		SKIP("only root can become another user");
	assert_string_equal(privileges(&command), ALICE NO_CAPS "NoNewPrivs: 1 .");
	command.keep_privs = true;
	assert_string_equal(privileges(&command), ALICE NO_CAPS "NoNewPrivs: 0 .");
}

TEST(a_command_that_cannot_be_run_is_our_error)
{
	struct trace_user user = { .entry = users[1] };
	struct trace_command command = { .argv = (char *[]){ "/proc/self/maps", NULL } };
	struct trace_child child = TRACE_CHILD_INIT;
	struct rd_err err = { 0 };

	assert_int_equal(trace_child_start(&child, &command, &err), -EACCES);
	trace_child_deinit(&child);
	for (int session = 0; session < (getuid() ? 1 : 2); session++) {
		char path[] = "/tmp/rdmadiag-test-XXXXXX";
		int fd = mkstemp(path);

		/* This shows only when it is executed. */
		assert_true(fd >= 0 && write(fd, "#!/no/such\n", 11) == 11 && !fchmod(fd, 0755));
		close(fd);
		child = (struct trace_child)TRACE_CHILD_INIT;
		command = (struct trace_command){ .argv = (char *[]){ path, NULL }, .user = session ? &user : NULL };
		assert_int_equal(trace_child_start(&child, &command, &err), 0);
		assert_int_equal(trace_child_go(&child, path, &err), -ENOENT);
		assert_string_equal(err.object, path);
		trace_child_deinit(&child);
		waitpid(child.pid, NULL, 0);
		unlink(path);
	}
	if (!getuid())
		return;
	child = (struct trace_child)TRACE_CHILD_INIT;
	command = (struct trace_command){ .argv = SHELL(":"), .user = &user };
	assert_int_equal(trace_child_start(&child, &command, &err), 0);
	assert_int_equal(trace_child_go(&child, "sh", &err), -EPERM);
	assert_non_null(strstr(err.message, "change to the user"));
	trace_child_deinit(&child);
	waitpid(child.pid, NULL, 0);
}
