/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process that has given up its privileges can still have done for it, and what not. */
#include <sys/prctl.h>

#include "confine/confine.h"
#include "source/guard/source-guard.h"
#include "source/opener/input.h"
#include "source/opener/opener.h"
#include "unit.h"

/* In a process of its own, in a folder that is made for it. */
static char folder[] = "/tmp/test-opener.XXXXXX";

static char *in_folder(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int answer_of_child;

static int run(void (*fn)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		fn();
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

#define CHECK(what)                                                                        \
	do {                                                                               \
		if (!(what)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
			_exit(1);                                                          \
		}                                                                          \
	} while (0)

/* In the opener: reads one file that only its owner may read. */
static void read_secret(struct rd_source *source, void *arg)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };

	rd_read_file(source, in_folder("closed/file"), &bytes, NULL);
}

static void record(unsigned parts, unsigned limit_ms, struct rd_buf *out)
{
	struct rd_source *live, *guard;

	CHECK(rd_source_live_open(NULL, &live, NULL) == 0);
	guard = limit_ms ? rd_source_guard_open(live, limit_ms) : rd_source_guard_open_alone(live);
	if (parts & RD_OPENER_HOST)
		rd_source_guard_ahead(guard, read_secret, NULL);
	rd_source_guard_pack(guard, out);
}

static struct rd_source *facts;

static void give_up(void)
{
	struct rd_err err;

	signal(SIGPIPE, SIG_IGN); /* as main does */
	umask(027);
	rd_input_name(in_folder("in"));
	rd_input_name(in_folder("closed"));
	rd_input_name(in_folder("link"));
	rd_inputs_open(NULL);
	rd_opener_name(RD_OPENER_OUTPUT, in_folder("out"));
	rd_opener_name(RD_OPENER_NEW_FILE, in_folder("new"));
	rd_opener_name(RD_OPENER_BUNDLE, ".");
	facts = rd_source_guard_open_alone(NULL);
	CHECK(rd_opener_start(record, facts, &err) == 0);
	CHECK(rd_confine(RD_CONFINE_CHILDREN, NULL, &err) == 0);
}

static bool has_text(const char *name, const char *text)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err err;

	return rd_input_read(in_folder(name), &bytes, &err) == 0 && strcmp((char *)bytes.data, text) == 0;
}

static void read_what_was_named(void)
{
	struct rd_input file;
	struct rd_bytes bytes;
	struct rd_err err;

	give_up();
	CHECK(open(in_folder("in"), O_RDONLY | O_CLOEXEC) < 0);
	/* From the beginning each time. */
	CHECK(has_text("in", "in\n") && has_text("in", "in\n"));
	CHECK(rd_input_open(in_folder("other"), &file, &err) == -EPERM);
	CHECK(rd_input_open(in_folder("out"), &file, &err) == -EPERM);
	CHECK(rd_input_read(in_folder("out"), &bytes, &err) == -ENXIO);
	CHECK(rd_input_read(in_folder("closed"), &bytes, &err) == -EISDIR);
	/* Nobody but its owner may look into it. */
	CHECK(rd_input_open(in_folder("closed"), &file, &err) == 0 && S_ISDIR(file.mode));
	CHECK(rd_read_fd(file.fd, 4096, &bytes) == 0 && memmem(bytes.data, bytes.size, "file\0closed\n", 12));
	/* No child may change what another one reads. */
	CHECK(write(file.fd, "", 1) < 0 && ftruncate(file.fd, 0) < 0);
}

/* Whoever may write to the folder has it name another file meanwhile. */
static void read_another_file(void)
{
	int ready[2];
	char byte;
	pid_t other;

	CHECK(pipe(ready) == 0);
	other = fork();
	if (other == 0) {
		close(ready[1]);
		/* Ends when the first has read. */
		_exit(read(ready[0], &byte, 1) == 1 && unlink(in_folder("link")) == 0 &&
				      symlink("other", in_folder("link")) == 0 ?
			      0 :
			      1);
	}
	CHECK(other > 0);
	give_up();
	CHECK(has_text("link", "in\n"));
	CHECK(write(ready[1], "x", 1) == 1);
	CHECK(waitpid(other, NULL, 0) == other);
	CHECK(has_text("link", "in\n"));
}

static bool is_recorded(struct rd_source *source, const char *name, const char *text)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err err;
	int r = rd_read_file(source, in_folder(name), &bytes, &err);

	return text ? r == 0 && strcmp((char *)bytes.data, text) == 0 : r == -EPERM;
}

static void read_what_was_recorded(void)
{
	struct rd_source *live, *guard;
	int fd;

	fd = open(in_folder("closed/file"), O_WRONLY | O_CLOEXEC);
	give_up();
	CHECK(rd_source_live_open(NULL, &live, NULL) == 0);
	CHECK(is_recorded(live, "closed/file", "closed\n"));
	CHECK(is_recorded(live, "other", NULL));
	CHECK(is_recorded(live, "in", "in\n"));
	CHECK(pwrite(fd, "CLOSED", 6, 0) == 6);
	CHECK(is_recorded(live, "closed/file", "closed\n"));
	rd_source_guard_renew(facts, 0);
	CHECK(is_recorded(live, "closed/file", "CLOSED\n"));
	/* With a deadline, a child of the opener reads. */
	guard = rd_source_guard_open(live, 60000);
	rd_source_guard_ahead(guard, read_secret, NULL);
	CHECK(rd_source_guard_stalls(guard)->replied == 1);
	CHECK(is_recorded(guard, "closed/file", "CLOSED\n"));
	CHECK(is_recorded(guard, "other", NULL));
	CHECK(pwrite(fd, "closed", 6, 0) == 6);
}

static int make_and_name(const char *path, bool replace, mode_t mode)
{
	const struct rd_buf text = { .data = (char *)"made\n", .len = 5 };
	struct rd_err err;

	return rd_write_file(path, replace, mode, &text, &err);
}

static void make_what_may_be_made(void)
{
	CHECK(chdir(folder) == 0);
	give_up();
	CHECK(make_and_name(in_folder("new"), true, 0666) == -EPERM);
	CHECK(make_and_name(in_folder("new"), false, 07777) == 0);
	CHECK(make_and_name(in_folder("new"), false, 0666) == -EEXIST);
	CHECK(make_and_name("x.tar.zst", false, 0666) == -EPERM);
	CHECK(make_and_name("rdmadiag-x.so", false, 0666) == -EPERM);
	CHECK(make_and_name("rdmadiag-/x.tar.zst", false, 0666) == -EPERM);
	CHECK(make_and_name("rdmadiag-x.tar.zst", true, 0666) == -EPERM);
	CHECK(make_and_name("rdmadiag-x.tar.zst", false, 0666) == 0);
	CHECK(make_and_name("rdmadiag-y.tar.zst", false, 0666) == -EPERM);
}

/* A child that outlives us has no opener any more. */
static void leave_a_child(void)
{
	int ready[2], tries = 6000;
	char byte;

	give_up();
	/* Its other end is not the opener's. */
	CHECK(pipe(ready) == 0);
	CHECK(make_and_name(in_folder("out"), true, 0666) == 0);
	if (fork() == 0) {
		close(ready[1]);
		CHECK(read(ready[0], &byte, 1) == 0);
		/* Our end of the pipe closes a moment before we have ended. */
		while (make_and_name(in_folder("out"), true, 0666) == 0 && --tries > 0)
			usleep(10000);
		byte = tries > 0 ? 'n' : 'y';
		CHECK(write(answer_of_child, &byte, 1) == 1);
		_exit(0);
	}
}

static void write_what_was_named(void)
{
	const struct rd_buf text = { .data = (char *)"written\n", .len = 8 };
	sigset_t blocked;
	struct rd_err err;

	give_up();
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	CHECK(sigprocmask(SIG_BLOCK, &blocked, NULL) == 0);
	CHECK(rd_replace_file(in_folder("out"), &text, &err) == 0);
	CHECK(rd_replace_file(in_folder("other"), &text, &err) == -EPERM);
	CHECK(rd_open_for_update(in_folder("in"), &err) == -EPERM);
	/* Without replacing. */
	CHECK(rd_write_file(in_folder("out"), false, 0666, &text, &err) == -EEXIST);
	CHECK(rd_new_file_check(in_folder("out"), false, &err) == -EEXIST);
	/* The opener wrote: neither descriptors nor the blocked signals of this process were touched. */
	CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && sigismember(&blocked, SIGTERM) == 1);
}

TEST(what_was_named_is_opened)
{
	write_text("in", "in\n");
	write_text("other", "other\n");
	mkdir(in_folder("closed"), 0700);
	write_text("closed/file", "closed\n");
	chmod(in_folder("closed/file"), 0600);
	assert_int_equal(run(read_what_was_named), 0);
}

TEST(another_file_of_the_same_name_is_not_read)
{
	assert_int_equal(symlink("in", in_folder("link")), 0);
	assert_int_equal(run(read_another_file), 0);
}

TEST(what_the_opener_recorded_is_read)
{
	assert_int_equal(run(read_what_was_recorded), 0);
}

TEST(what_is_made_has_the_name_and_mode_it_may_have)
{
	struct stat st;

	assert_int_equal(run(make_what_may_be_made), 0);
	assert_int_equal(stat(in_folder("new"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

TEST(an_opener_ends_with_who_started_it)
{
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	answer_of_child = ends[1];
	assert_int_equal(run(leave_a_child), 0);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(byte, 'n');
	close(ends[0]);
}

TEST(what_was_named_is_written)
{
	char text[16] = "";
	int fd;

	assert_int_equal(run(write_what_was_named), 0);
	fd = open(in_folder("out"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), 8);
	close(fd);
}

static int make_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	return unit_run(make_folder, remove_folder);
}
