/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "fake-host.h"
#include "source/opener/opener.h"

struct place {
	struct fake_host host;
	char path[96];
};

static void make_place(struct place *place)
{
	place->host = fake_host_make();
	snprintf(place->path, sizeof(place->path), "%s/file", place->host.root);
}

static void remove_place(struct place *place)
{
	fake_host_deinit(&place->host);
}

/* What the folder holds, and the file's contents. */
static void assert_holds(const struct place *place, const char *names, const char *contents)
{
	char command[256], said[256] = "";
	FILE *f;

	snprintf(command, sizeof(command), "cd %s && ls -A | tr '\\n' ' ' && cat file 2>/dev/null", place->host.root);
	f = popen(command, "re");
	assert_non_null(f);
	said[fread(said, 1, sizeof(said) - 1, f)] = '\0';
	pclose(f);
	snprintf(command, sizeof(command), "%s%s", names, contents);
	assert_string_equal(said, command);
}

static void put(const char *path, const char *text)
{
	_cleanup_(rd_buf_deinit) struct rd_buf contents = { 0 };

	rd_buf_str(&contents, text);
	assert_int_equal(rd_replace_file(path, &contents, NULL), 0);
}

#define PLACE_TEST(name) TEST_BEGUN(name, struct place, place, make_place, remove_place)

PLACE_TEST(a_file_is_replaced_whole_and_readable_for_others)
{
	mode_t mask = umask(022);
	struct stat st;

	put(place->path, "old");
	put(place->path, "new");
	umask(mask);
	assert_holds(place, "file ", "new");
	assert_int_equal(stat(place->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
}

PLACE_TEST(what_fails_leaves_what_was_there)
{
	struct rd_buf contents = { .failed = true };
	struct rd_err err = { 0 };

	put(place->path, "old");
	assert_int_equal(rd_replace_file(place->path, &contents, &err), -ENOMEM);
	assert_string_equal(err.object, place->path);
	assert_int_equal(rd_replace_file(place->host.root, &contents, &err), -EINVAL);
	assert_holds(place, "file ", "old");
}

/* Also one that came after the name was found free. */
PLACE_TEST(a_file_is_not_replaced_unasked)
{
	struct rd_new_file file;
	struct rd_err err = { 0 };

	assert_int_equal(rd_new_file_open(&file, place->path, false, &err), 0);
	assert_int_equal(symlink("/nowhere", place->path), 0);
	assert_int_equal(rd_new_file_finish(&file, 0600, &err), -EEXIST);
	rd_new_file_deinit(&file);
	assert_int_equal(err.code, EEXIST);
	assert_int_equal(rd_new_file_check(place->path, false, NULL), -EEXIST);
	assert_int_equal(rd_new_file_check(place->path, true, NULL), 0);
	assert_int_equal(rd_new_file_open(&file, place->path, false, &err), -EEXIST);
	rd_new_file_deinit(&file);
	assert_holds(place, "file ", "");
}

/* A process that gets the signal in the midst of writing. Returns the signal that it died of, or 0. */
static int write_under(const struct place *place, int signal, bool finish)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct rd_new_file file;
		int r = rd_new_file_open(&file, place->path, true, NULL);

		if (!r)
			r = rd_write_all(file.fd, "half", 4);
		raise(signal);
		if (!r)
			r = rd_write_all(file.fd, "half", 4);
		if (!r && finish)
			r = rd_new_file_finish(&file, 0600, NULL);
		rd_new_file_deinit(&file);
		_exit(r < 0 ? 1 : 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

PLACE_TEST(a_signal_leaves_no_half_of_a_file)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ };

	for (size_t i = 0; i < RD_ARRAY_SIZE(signals); i++) {
		assert_int_equal(write_under(place, signals[i], false), signals[i]);
		assert_holds(place, "", "");
	}
	assert_int_equal(write_under(place, SIGTERM, true), SIGTERM);
	assert_holds(place, "file ", "halfhalf");
}

PLACE_TEST(a_file_that_is_given_up_is_gone)
{
	struct rd_new_file file;

	rd_new_file_abandon();
	assert_int_equal(rd_new_file_open(&file, place->path, true, NULL), 0);
	rd_new_file_abandon();
	assert_holds(place, "", "");
	rd_new_file_deinit(&file);
	put(place->path, "whole");
	rd_new_file_abandon();
	assert_holds(place, "file ", "whole");
}
