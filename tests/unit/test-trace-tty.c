/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A traced command in a session of its own, seen from the terminal that trace-errno was started on. */
#include <linux/keyctl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <termios.h>

#include "outer-tty.h"
#include "unit.h"

#define KEY(letter)                \
	(char[])                   \
	{                          \
		(letter) & 0x1f, 0 \
	}
#define BURST 1000000

static struct outer o;

/* The command ends with this status, and all with it. */
static void ends(int status)
{
	assert_int_equal(outer_status(&o), status);
	outer_end(&o);
}

TEST(typing_into_our_shell_is_not_possible)
{
	/* Shows that the test sees it where it is. */
	outer_start(&o, &(struct job){ .play = "type", .shared = true });
	struct report shared = outer_report(&o);
	outer_end(&o);
	for (int i = 0; i < 8; i++) {
		int pipes[2];
		assert_int_equal(pipe(pipes), 0);
		outer_start(&o, &(struct job){ .play = "type",
					       .input = i & 1 ? pipes[0] : 0,
					       .output = i & 2 ? pipes[1] : 0,
					       .errors = i & 4 ? pipes[1] : 0 });
		struct report report = outer_report(&o);
		ASSERT_EACH(IS(WEXITSTATUS(report.status), 0), IS(report.typed, 0));
		outer_end(&o);
		close(pipes[0]);
		close(pipes[1]);
	}
	if (!shared.typed)
		SKIP("this kernel lets nobody type by TIOCSTI");
}

TEST(the_terminal_is_another_one)
{
	outer_start(&o, &(struct job){ .command = "test -t 0 && test -t 1 && test -t 2 && : <>/dev/tty && echo yes; "
						  "tty; stty size; echo again >/dev/tty" });
	assert_true(outer_shows(&o, "yes\r\n/dev/pts/"));
	assert_true(strncmp(o.seen, ptsname(o.master) + strlen("/dev/pts/"), strcspn(o.seen, "\r")) != 0);
	assert_true(outer_shows(&o, "24 80\r\n"));
	assert_true(outer_shows(&o, "again\r\n"));
	ends(0);
}

TEST(exit_status_and_signals_are_passed_on)
{
	static const struct {
		const char *command;
		int status;
	} cases[] = {
		{ "exit 0", 0 },	  { "exit 3", 3 },	    { "exit 255", 255 },
		{ "kill -TERM $$", 143 }, { "kill -KILL $$", 137 }, { "ulimit -c 0; kill -SEGV $$", 139 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		outer_start(&o, &(struct job){ .command = cases[i].command });
		ends(cases[i].status);
	}
}

/* The process that stands for trace-errno: the foreground group of the terminal. */
static pid_t tracer(void)
{
	pid_t group = 0;

	assert_int_equal(ioctl(o.master, TIOCGPGRP, &group), 0);
	return group;
}

TEST(keys_and_signals_of_the_terminal_reach_the_command)
{
	outer_start(&o, &(struct job){ .command = "echo ready; read line; echo got $line; cat; echo end" });
	assert_true(outer_shows(&o, "ready\r\n"));
	assert_false(outer_is_cooked(&o));
	outer_type(&o, "hello\r");
	assert_true(outer_shows(&o, "hello\r\ngot hello\r\n"));
	outer_type(&o, KEY('D'));
	assert_true(outer_shows(&o, "end\r\n"));
	ends(0);
	for (int i = 0; i < 2; i++) {
		outer_start(&o, &(struct job){ .command = "ulimit -c 0; echo ready; exec sleep 600" });
		assert_true(outer_shows(&o, "ready\r\n"));
		outer_type(&o, i ? KEY('\\') : KEY('C'));
		ends(128 + (i ? SIGQUIT : SIGINT));
	}
}

TEST(signals_that_we_are_sent_reach_the_command)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < RD_ARRAY_SIZE(signals); i++) {
		outer_start(&o,
			    &(struct job){
				    .command = "for s in INT QUIT TERM HUP; do trap \"echo got $s; exit 7\" $s; done; "
					       "echo ready; while :; do sleep 0.05; done",
				    .input = null });
		assert_true(outer_shows(&o, "ready\r\n"));
		kill(tracer(), signals[i]);
		assert_true(outer_shows(&o, "got "));
		ends(7);
	}
	/* What it has started in its group, too: it waits for that. */
	outer_start(&o, &(struct job){ .command = "trap : TERM; sh -c 'echo ready; exec sleep 600'; exit 5",
				       .input = null });
	assert_true(outer_shows(&o, "ready\r\n"));
	kill(tracer(), SIGTERM);
	ends(5);
	/* On a terminal of its own it is ended. */
	outer_start(&o, &(struct job){ .command = "echo ready; exec sleep 600" });
	assert_true(outer_shows(&o, "ready\r\n"));
	kill(tracer(), SIGTERM);
	assert_true(outer_status(&o) >= 128);
	outer_end(&o);
	close(null);
}

TEST(what_is_typed_for_others_cannot_be_read)
{
	int pipes[2];
	char text[64];

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	for (int i = 0; i < 2; i++) {
		outer_start(&o, &(struct job){ .command = "cat; cat <&2; (: </dev/stderr); echo end >&2; echo out",
					       .output = i ? 0 : pipes[1],
					       .background = i == 1 });
		outer_type(&o, "word\r");
		assert_true(outer_shows(&o, "end\r\n"));
		assert_true(outer_is_cooked(&o));
		ends(0);
	}
	assert_int_equal(read(pipes[0], text, sizeof(text)), 4);
	assert_memory_equal(text, "out\n", 4);
	close(pipes[0]);
	close(pipes[1]);
}

TEST(limits_are_ours_and_keys_are_not)
{
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){ 123, 234 < before.rlim_max ? 234 : before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &limit);
	syscall(SYS_add_key, "user", "ours", "x", 1, KEY_SPEC_SESSION_KEYRING);
	for (int i = 0; i < 2; i++) {
		outer_start(
			&o,
			&(struct job){ .command = "ulimit -n; ulimit -Hn; grep -q 'user *ours' /proc/keys && echo key; "
						  "echo end",
				       .background = i == 1 });
		assert_true(outer_shows(&o, "123\r\n234\r\nend\r\n"));
		ends(0);
	}
	setrlimit(RLIMIT_NOFILE, &before);
}

TEST(pipes_stay_pipes)
{
	int pipes[2];
	char text[64];

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	outer_start(&o, &(struct job){ .command = "test -t 1 || exit 1; test -t 2 && exit 2; echo out; echo errors >&2",
				       .errors = pipes[1] });
	assert_int_equal(outer_status(&o), 0);
	assert_string_equal(o.seen, "out\r\n");
	assert_int_equal(read(pipes[0], text, sizeof(text)), 7);
	assert_memory_equal(text, "errors\n", 7);
	outer_end(&o);
	outer_start(&o, &(struct job){ .command = "test -t 1 && exit 1; test -t 2 || exit 2; echo out; echo errors >&2",
				       .output = pipes[1] });
	assert_int_equal(outer_status(&o), 0);
	assert_string_equal(o.seen, "errors\r\n");
	assert_int_equal(read(pipes[0], text, sizeof(text)), 4);
	assert_memory_equal(text, "out\n", 4);
	outer_end(&o);
	close(pipes[0]);
	close(pipes[1]);
}

TEST(all_output_arrives)
{
	for (int i = 0; i < 3; i++) {
		outer_start(&o, &(struct job){ .play = "burst", .background = i == 1 });
		assert_int_equal(outer_status(&o), 6);
		ASSERT_EACH(IS(o.n, BURST + 5), READS(o.seen + BURST, "end\r\n"));
		outer_end(&o);
	}
}

/* Each newline is translated once, whoever writes it, whatever the terminal's state. The command waits for our line: a file goes then. */
TEST(lines_of_ours_and_of_the_command_look_as_ever)
{
	static const char *const commands[] = { "echo theirs; stty -opost; echo raw; stty opost; echo theirs",
						"echo theirs" };
	static const char *const theirs[] = { "theirs\r\nraw\ntheirs\r\n", "theirs\r\n" };
	char path[32], command[256];

	for (int i = 0; i < 2; i++) {
		strcpy(path, "/tmp/rdmadiag-test-XXXXXX");
		close(mkstemp(path));
		snprintf(command, sizeof(command), "while [ -e %s ]; do sleep 0.05; done; %s", path, commands[i]);
		outer_start(&o, &(struct job){ .command = command, .says = true, .background = i == 1 });
		assert_true(outer_shows(&o, "ours\r\n"));
		unlink(path);
		assert_int_equal(outer_status(&o), 0);
		assert_string_equal(o.seen, theirs[i]);
		outer_end(&o);
	}
}

/* Waits until a command that prints all the time does so, or does not. */
static bool comes_to_print(int fd, bool wanted)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char text[4096];

	for (int i = 0; i < 120; i++) {
		/* What it printed before is read first. */
		while (poll(&p, 1, 0) > 0)
			assert_true(read(fd, text, sizeof(text)) > 0);
		if ((poll(&p, 1, 500) > 0) == wanted)
			return true;
	}
	return false;
}

TEST(without_a_terminal_there_is_none)
{
	struct report report;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), pipes[2];

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	outer_start(&o,
		    &(struct job){ .command = "(: <>/dev/tty) 2>/dev/null && exit 1; while echo .; do sleep 0.02; done",
				   .input = null,
				   .output = pipes[1],
				   .errors = null });
	assert_int_equal(poll(&(struct pollfd){ .fd = pipes[0], .events = POLLIN }, 1, 60000), 1);
	/* Typed on the terminal, which still is ours: the command goes on. */
	outer_type(&o, KEY('Z'));
	report = outer_report(&o);
	ASSERT_EACH(IS(WIFSTOPPED(report.status), true), IS(WSTOPSIG(report.status), SIGTSTP));
	assert_true(comes_to_print(pipes[0], true));
	outer_continue(&o);
	for (int i = 0; i < 6000 && tracer() == o.shell; i++)
		usleep(10000);
	outer_type(&o, KEY('C'));
	ends(128 + SIGINT);
	assert_true(comes_to_print(pipes[0], false));
	/* What the terminal sends goes to all that the command runs. */
	outer_start(&o, &(struct job){ .command = "trap : INT; sh -c 'echo ready; exec sleep 600'; exit 5",
				       .input = null,
				       .output = pipes[1],
				       .errors = null });
	assert_int_equal(poll(&(struct pollfd){ .fd = pipes[0], .events = POLLIN }, 1, 60000), 1);
	outer_type(&o, KEY('C'));
	ends(5);
	close(null);
	close(pipes[0]);
	close(pipes[1]);
}

TEST(the_terminal_is_given_back_where_memory_ran_out)
{
	outer_start(&o, &(struct job){ .command = "sleep 600", .dies = true });
	assert_int_equal(outer_status(&o), 3);
	assert_true(outer_is_cooked(&o));
	outer_end(&o);
}

/* What a command wrote to a file, once it is there. */
static const char *written(int fd, const char *text)
{
	static char said[32];

	for (int i = 0; i < 600; i++) {
		ssize_t n = pread(fd, said, sizeof(said) - 1, 0);

		said[n > 0 ? n : 0] = 0;
		if (!strcmp(said, text))
			break;
		usleep(100000);
	}
	return said;
}

TEST(a_command_is_hung_up_when_we_are_killed)
{
	char path[] = "/tmp/rdmadiag-test-XXXXXX", command[256];
	int fd = mkstemp(path), null = open("/dev/null", O_RDWR | O_CLOEXEC);

	fchmod(fd, 0666);
	snprintf(command, sizeof(command),
		 "trap 'echo hung up >%s; exit' HUP TERM; echo ready >%s; while :; do sleep 0.05; done", path, path);
	for (int i = 0; i < 2; i++) {
		outer_start(&o, &(struct job){ .command = command,
					       .input = i ? null : 0,
					       .output = i ? null : 0,
					       .errors = i ? null : 0 });
		assert_string_equal(written(fd, "ready\n"), "ready\n");
		kill(tracer(), SIGKILL);
		assert_string_equal(written(fd, "hung up\n"), "hung up\n");
		outer_end(&o);
	}
	close(null);
	close(fd);
	unlink(path);
}

/* As after a command that shared the terminal. */
TEST(what_is_left_running_is_not_hung_up)
{
	char path[] = "/tmp/rdmadiag-test-XXXXXX", command[256];
	int fd = mkstemp(path), null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	fchmod(fd, 0666);
	snprintf(command, sizeof(command),
		 "trap 'echo hung up >%s; exit' HUP; echo start; (sleep 1; echo lives >%s) & exit 2", path, path);
	outer_start(&o, &(struct job){ .command = command, .input = null });
	assert_int_equal(outer_status(&o), 2);
	assert_string_equal(written(fd, "lives\n"), "lives\n");
	outer_end(&o);
	close(null);
	close(fd);
	unlink(path);
}

/* The roles of this program as a command. */
static int play(const char *role)
{
	static char burst[BURST];
	int terminals[] = { open("/dev/tty", O_RDWR), 0, 1, 2 };

	if (!strcmp(role, "type")) {
		for (size_t i = 0; i < RD_ARRAY_SIZE(terminals); i++)
			for (const char *c = "id\n"; *c; c++)
				ioctl(terminals[i], TIOCSTI, c);
		return 0;
	}
	memset(burst, 'x', sizeof(burst));
	return rd_write_all(1, burst, sizeof(burst)) || rd_write_all(1, "end\n", 4) ? 1 : 6;
}

int main(int argc, char **argv)
{
	int r;

	if (argc == 3 && !strcmp(argv[1], "play"))
		return play(argv[2]);
	if (getuid()) {
		puts("1..0 # SKIP only root can become another user");
		return 0;
	}
	r = unit_run(NULL, NULL);
	outer_remove_player();
	return r;
}
