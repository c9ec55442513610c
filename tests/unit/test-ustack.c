/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for addresses of a process that this test starts: the real libdw reads the real files, in a process that has nothing. */
#include "unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "trace/symbols/ustack-priv.h"
#include "traced.h"

/* Long enough that the address is not its first. */
__attribute__((noinline)) static int a_function_of_the_test(int a)
{
	for (int i = 0; i < a; i++)
		a ^= i * 7;
	return a;
}

static uint64_t inside(void *function)
{
	return (uint64_t)(uintptr_t)function + 5;
}

/* Resolves, where nothing else matters; the stack is expected to stay whole. */
static int resolve(struct rd_ustack *us, pid_t pid, struct rd_frame *frames, size_t n)
{
	struct rd_ustack_cut cut = { .dropped = 1, .why = "" };
	struct rd_err err = { 0 };
	size_t kept = n;
	int r = rd_ustack_resolve(us, (uint32_t)pid, frames, &kept, &cut, &err);

	assert_int_equal(kept, n);
	assert_int_equal(cut.dropped, 0);
	assert_null(cut.why);
	return r;
}

static void functions_have_names(void **state)
{
	/* libc's debug information is asked for, if there is any, before the others are named. */
	struct rd_frame frames[4] = { { .addr = inside(getsubopt) },
				      { .addr = inside(a_function_of_the_test) },
				      { .addr = 1 } };
	struct rd_ustack *us = traced_ustack();
	struct rd_ustack_cut cut;
	struct rd_err err = { 0 };
	pid_t pid = traced_start();
	size_t n = 4;

	(void)state;
	assert_false(rd_ustack_confined(us)->active);
	assert_int_equal(rd_ustack_resolve(us, (uint32_t)pid, frames, &n, &cut, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(frames[1].function, "a_function_of_the_test");
	assert_int_equal(frames[1].offset, 5);
	assert_non_null(strstr(frames[1].object, "test-ustack"));
	assert_non_null(frames[0].function);
	assert_non_null(strstr(frames[0].function, "getsubopt"));
	assert_non_null(strstr(frames[0].object, "libc"));
	assert_null(frames[2].object);
	assert_null(frames[2].function);
	assert_true(rd_ustack_confined(us)->active);
	traced_free_frames(frames, 4);
	rd_ustack_destroy(us);
	traced_end(pid);
}

/* Whoever is asked again has read the files before. */
static void what_was_learned_stays_when_the_process_has_ended(void **state)
{
	struct rd_frame first[1] = { { .addr = inside(getsubopt) } },
			again[1] = { { .addr = inside(a_function_of_the_test) } };
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start();

	(void)state;
	assert_int_equal(resolve(us, pid, first, 1), 0);
	traced_end(pid);
	assert_int_equal(resolve(us, pid, again, 1), 0);
	assert_string_equal(again[0].function, "a_function_of_the_test");
	traced_free_frames(first, 1);
	traced_free_frames(again, 1);
	rd_ustack_destroy(us);
}

static void nobody_knows_a_process_that_is_not_there(void **state)
{
	struct rd_frame frames[1] = { { .addr = inside(getsubopt) } };
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start();

	(void)state;
	traced_end(pid);
	assert_int_equal(resolve(us, pid, frames, 1), 0);
	assert_null(frames[0].object);
	rd_ustack_destroy(us);
}

/* Where our function is in a copy of this program that is mapped as a whole; the file's name, unless it is taken away. */
static uint64_t map_copy(const char *path, bool unlinked)
{
	int from = open("/proc/self/exe", O_RDONLY), to = open(path, O_RDWR | O_CREAT | O_EXCL, 0755);
	const struct rd_area *code;
	struct rd_maps maps;
	char page[65536];
	size_t size = 0;
	ssize_t n;
	void *at;

	for (; (n = read(from, page, sizeof(page))) > 0; size += (size_t)n)
		assert_int_equal(write(to, page, (size_t)n), n);
	at = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, to, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	if (unlinked)
		unlink(path);
	assert_int_equal(rd_maps_read(getpid(), &maps), 0);
	code = rd_maps_code(&maps, inside(a_function_of_the_test));
	assert_non_null(code);
	return (uint64_t)(uintptr_t)at + inside(a_function_of_the_test) - maps.v[code->file].start;
}

/* A process that maps such a copy when it is told to; what `prepare` does it does before, and ends where that fails. */
struct mapper {
	pid_t pid;
	int go, address;
};

static struct mapper start_mapper(bool unlinked, bool (*prepare)(const char *path))
{
	char path[64];
	int go[2], address[2];
	uint64_t at;
	pid_t pid;

	snprintf(path, sizeof(path), "/tmp/rd-ustack-%d", (int)getpid());
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(address), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(address[0]);
		if (read(go[0], &at, 1) != 1 || (prepare && !prepare(path)))
			_exit(0);
		at = map_copy(path, unlinked);
		assert_int_equal(write(address[1], &at, sizeof(at)), sizeof(at));
		for (;;)
			pause();
	}
	close(go[0]);
	close(address[1]);
	return (struct mapper){ pid, go[1], address[0] };
}

/* 0: it ended. */
static uint64_t map_now(const struct mapper *mapper)
{
	uint64_t at = 0;

	assert_int_equal(write(mapper->go, "", 1), 1);
	return read(mapper->address, &at, sizeof(at)) == sizeof(at) ? at : 0;
}

static void end_mapper(const struct mapper *mapper)
{
	traced_end(mapper->pid);
	close(mapper->go);
	close(mapper->address);
}

static void a_file_that_was_mapped_later_and_deleted_is_found(void **state)
{
	struct rd_frame before[1] = { { .addr = inside(getsubopt) } }, after[1] = { { 0 } };
	struct mapper mapper = start_mapper(true, NULL);
	struct rd_ustack *us = traced_ustack();

	(void)state;
	assert_int_equal(resolve(us, mapper.pid, before, 1), 0);
	assert_non_null(before[0].function);
	after[0].addr = map_now(&mapper);
	assert_int_equal(resolve(us, mapper.pid, after, 1), 0);
	assert_non_null(strstr(after[0].object, " (deleted)"));
	/* For the kernel to say which file it was takes root. */
	if (geteuid() == 0)
		assert_string_equal(after[0].function, "a_function_of_the_test");
	else
		assert_null(after[0].function);
	traced_free_frames(before, 1);
	traced_free_frames(after, 1);
	rd_ustack_destroy(us);
	end_mapper(&mapper);
}

static bool write_proc(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool written = write(fd, text, strlen(text)) > 0;

	close(fd);
	return written;
}

/* A user becomes root of a name space. */
static bool enter_user_namespace(uid_t uid, gid_t gid)
{
	char users[32], groups[32];

	snprintf(users, sizeof(users), "0 %u 1", uid);
	snprintf(groups, sizeof(groups), "0 %u 1", gid);
	return unshare(CLONE_NEWUSER) == 0 && write_proc("/proc/self/uid_map", users) &&
	       write_proc("/proc/self/setgroups", "deny") && write_proc("/proc/self/gid_map", groups);
}

/* A file system over /tmp that only this process has. */
static bool enter_container(const char *path)
{
	(void)path;
	if ((geteuid() != 0 && !enter_user_namespace(geteuid(), getegid())) || unshare(CLONE_NEWNS) < 0)
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("none", "/tmp", "tmpfs", 0, NULL) == 0;
}

static void a_container_has_files_of_its_own(void **state)
{
	struct mapper mapper = start_mapper(false, enter_container);
	struct rd_ustack *us = traced_ustack();
	struct rd_frame frames[1] = { { .addr = map_now(&mapper) } };
	struct rd_maps maps;

	(void)state;
	assert_int_equal(rd_maps_read(getpid(), &maps), 0);
	assert_true(maps.ours);
	rd_maps_deinit(&maps);
	if (frames[0].addr) {
		assert_int_equal(rd_maps_read(mapper.pid, &maps), 0);
		assert_false(maps.ours);
		rd_maps_deinit(&maps);
		assert_int_equal(resolve(us, mapper.pid, frames, 1), 0);
		assert_string_equal(frames[0].function, "a_function_of_the_test");
		traced_free_frames(frames, 1);
	}
	rd_ustack_destroy(us);
	end_mapper(&mapper);
	if (!frames[0].addr)
		SKIP("no name spaces for this user");
}

/* Opening a device, or a pipe, does something. */
static void what_is_no_file_is_not_opened(void **state)
{
	const struct rd_mapped null = { .name = (char[]){ "/dev/null" } };
	struct rd_maps maps;
	uint64_t size;
	int fd = -1;

	(void)state;
	assert_int_equal(rd_maps_open(getpid(), &null, true, &size), -1);
	assert_int_equal(size, 0);
	assert_int_equal(rd_maps_read(getpid(), &maps), 0);
	for (size_t i = 0; i < maps.n && fd < 0; i++)
		if (maps.v[i].code)
			fd = rd_maps_open(getpid(), &maps.v[i], false, &size);
	assert_true(fd >= 0);
	assert_true(size > 0);
	close(fd);
	rd_maps_deinit(&maps);
}

/* Another file of the same path is another file. */
static void a_path_of_a_container_is_not_ours(void **state)
{
	struct rd_mapped other = { .name = (char[]){ "/proc/self/exe" }, .dev = 1, .ino = 1 };
	uint64_t size;
	int fd = rd_maps_open(0, &other, true, &size);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(size, 0);
	close(fd);
	assert_int_equal(rd_maps_open(0, &other, false, &size), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(functions_have_names),
		TEST(what_was_learned_stays_when_the_process_has_ended),
		TEST(nobody_knows_a_process_that_is_not_there),
		TEST(a_file_that_was_mapped_later_and_deleted_is_found),
		TEST(a_container_has_files_of_its_own),
		TEST(what_is_no_file_is_not_opened),
		TEST(a_path_of_a_container_is_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
