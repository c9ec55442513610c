/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of a process that this test starts: the real libdw reads the real files, in a process that has nothing. */
#include "unit.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>

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

TEST(a_stack_leads_to_main_and_beyond)
{
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start(3);
	_cleanup_free_ struct rd_rec_user *user = traced_copy(pid);
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	size_t at;

	assert_false(rd_ustack_confined(us)->active);
	ev = traced_resolve(us, pid, user, 0);
	ASSERT_EACH(IS(ev.ustack_end == NULL, true), HAS(ev.ustack[0].object, "libc"));
	assert_int_equal(ev.ustack[0].addr, *traced_pc(user));
	at = traced_find(&ev, "traced_below");
	for (size_t i = at; i < at + 4; i++) {
		ASSERT_EACH(READS(ev.ustack[i].function, "traced_below"), HAS(ev.ustack[i].object, "test-ustack"));
		assert_in_range(ev.ustack[i].offset, 1, 4096);
	}
	ASSERT_EACH(IS(traced_find(&ev, "main"), traced_find(&ev, "_start") - 3),
		    IS(traced_find(&ev, "_start"), ev.n_ustack - 1), IS(rd_ustack_confined(us)->active, true));
	rd_ustack_destroy(us);
	traced_end(pid);
}

/* Whoever is asked again has read the files before. */
TEST(what_was_learned_stays_when_the_process_has_ended)
{
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start(1);
	_cleanup_free_ struct rd_rec_user *user = traced_copy(pid);
	_cleanup_(rd_event_deinit) struct rd_event first = traced_resolve(us, pid, user, 0), again = { 0 };

	traced_end(pid);
	again = traced_resolve(us, pid, user, 0);
	assert_null(again.ustack_end);
	ASSERT_EACH(IS(again.n_ustack, first.n_ustack), IS(traced_find(&again, "main") < again.n_ustack, true));
	rd_ustack_destroy(us);
}

TEST(of_a_process_that_is_not_there_is_one_address)
{
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start(1);
	_cleanup_free_ struct rd_rec_user *user = traced_copy(pid);
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

	traced_end(pid);
	ev = traced_resolve(us, pid, user, 0);
	assert_int_equal(ev.n_ustack, 1);
	ASSERT_EACH(IS(ev.ustack[0].object == NULL, true), HAS(ev.ustack_end, "it has ended"));
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

/* The first frame of a stack that begins at `addr`. */
static struct rd_event resolve_at(struct rd_ustack *us, pid_t pid, uint64_t addr)
{
	struct rd_rec_user user = { .end = RD_USER_PAGED_OUT };
	struct rd_event ev;

	*traced_pc(&user) = addr;
#ifdef __x86_64__
	user.regs[17] = 0x33;
#endif
	ev = traced_resolve(us, pid, &user, 0);
	assert_int_equal(ev.n_ustack, 1);
	return ev;
}

TEST(a_file_that_was_mapped_later_and_deleted_is_found)
{
	struct mapper mapper = start_mapper(true, NULL);
	struct rd_ustack *us = traced_ustack();
	_cleanup_(rd_event_deinit) struct rd_event before = { 0 }, after = { 0 };

	before = resolve_at(us, mapper.pid, inside(getsubopt));
	ASSERT_EACH(IS(before.ustack[0].function != NULL, true), HAS(before.ustack_end, "not in memory"));
	after = resolve_at(us, mapper.pid, map_now(&mapper));
	assert_non_null(strstr(after.ustack[0].object, " (deleted)"));
	/* For the kernel to say which file it was takes root. */
	if (geteuid() == 0)
		assert_string_equal(after.ustack[0].function, "a_function_of_the_test");
	else
		assert_non_null(strstr(after.ustack_end, "cannot be read"));
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
	if ((geteuid() != 0 && !enter_user_namespace(geteuid(), getegid())) || unshare(CLONE_NEWNS) < 0)
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("none", "/tmp", "tmpfs", 0, NULL) == 0;
}

TEST(a_container_has_files_of_its_own)
{
	struct mapper mapper = start_mapper(false, enter_container);
	struct rd_ustack *us = traced_ustack();
	uint64_t at = map_now(&mapper);
	struct rd_maps maps;

	assert_int_equal(rd_maps_read(getpid(), &maps), 0);
	assert_true(maps.ours);
	rd_maps_deinit(&maps);
	if (at) {
		_cleanup_(rd_event_deinit) struct rd_event ev = resolve_at(us, mapper.pid, at);

		assert_int_equal(rd_maps_read(mapper.pid, &maps), 0);
		assert_false(maps.ours);
		rd_maps_deinit(&maps);
		assert_string_equal(ev.ustack[0].function, "a_function_of_the_test");
	}
	rd_ustack_destroy(us);
	end_mapper(&mapper);
	if (!at)
		SKIP("no name spaces for this user");
}

/* Opening a device, or a pipe, does something. */
TEST(what_is_no_file_is_not_opened)
{
	const struct rd_mapped null = { .name = (char[]){ "/dev/null" } };
	_cleanup_(rd_maps_deinit) struct rd_maps maps;
	int fd = -1;

	assert_int_equal(rd_maps_open(getpid(), &null, true), -1);
	assert_int_equal(rd_maps_read(getpid(), &maps), 0);
	for (size_t i = 0; i < maps.n && fd < 0; i++)
		if (maps.v[i].code)
			fd = rd_maps_open(getpid(), &maps.v[i], false);
	assert_true(fd >= 0);
	close(fd);
}

/* Another file of the same path is another file. */
TEST(a_path_of_a_container_is_not_ours)
{
	struct rd_mapped other = { .name = (char[]){ "/proc/self/exe" }, .dev = 1, .ino = 1 };
	int fd = rd_maps_open(0, &other, true);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(rd_maps_open(0, &other, false), -1);
}
