/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libibverbs, of which this program has its own: one whose devices may hang or kill. */
#include "unit.h"

#include <infiniband/verbs.h>
#include <linux/landlock.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "source/guard/source-guard.h"

static const char *const names[] = { "good0", "hang1", "good2", "hang3", "die4", "attack5", "work6" };
static struct ibv_device devices[RD_ARRAY_SIZE(names)];
static struct ibv_device *list[RD_ARRAY_SIZE(names) + 1];

struct ibv_device **ibv_get_device_list(int *n)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++) {
		snprintf(devices[i].name, sizeof(devices[i].name), "%s", names[i]);
		list[i] = &devices[i];
	}
	*n = (int)RD_ARRAY_SIZE(names);
	return list;
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

enum {
	READ_SYSFS = 1,
	READ_LIBRARY = 2,
	READ_OTHER = 4, /* which landlock alone refuses, where that is and everybody may read the file */
	READ_SHADOW = 8,
	WRITE_FILE = 16,
	EXECUTE = 32,
	START = 64,
	CONNECT = 128,
	KILL = 256,
	SECRET = 512,
};

static int secret = -1;

static uint64_t read_files(void)
{
	char byte;

	return (open("/sys/kernel", O_RDONLY) >= 0 ? READ_SYSFS : 0) |
	       (open("/etc/ld.so.cache", O_RDONLY) >= 0 ? READ_LIBRARY : 0) |
	       (open("/etc/passwd", O_RDONLY) >= 0 ? READ_OTHER : 0) |
	       (open("/etc/shadow", O_RDONLY) >= 0 ? READ_SHADOW : 0) | (read(secret, &byte, 1) == 1 ? SECRET : 0);
}

/* What a library of a device that is no friend can do. */
static uint64_t attack(void)
{
#ifdef RD_SANITIZED /* which leaves out landlock and seccomp: no uid, capability or descriptor of root's is left */
	return read_files();
#else
	char *const argv[] = { "true", NULL };
	pid_t started = fork();

	if (started == 0)
		_exit(0);
	return read_files() | (open("/tmp/rd-verbs-attack", O_WRONLY | O_CREAT, 0600) >= 0 ? WRITE_FILE : 0) |
	       (execv("/bin/true", argv) == 0 ? EXECUTE : 0) | (started > 0 ? START : 0) |
	       (socket(AF_INET, SOCK_STREAM, 0) >= 0 ? CONNECT : 0) | (kill(getppid(), 0) == 0 ? KILL : 0);
#endif
}

static uint64_t attacked;
/* Devices that were opened, by any process; NULL: nobody counts them. */
static int *opened;

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	static struct ibv_context context;

	if (opened)
		__atomic_add_fetch(opened, 1, __ATOMIC_SEQ_CST);
	while (strstr(device->name, "hang"))
		pause();
	if (strstr(device->name, "die"))
		raise(SIGKILL);
	while (strstr(device->name, "work"))
		continue;
	attacked = strstr(device->name, "attack") ? attack() : 0;
	context.device = device;
	return &context;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	attr->max_qp = 4711;
	attr->max_mr_size = attacked;
	attr->phys_port_cnt = 0;
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	return EINVAL;
}

static time_t later; /* s that the clocks are ahead */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);

	ret->tv_sec += later;
	return r;
}

static int ask(struct rd_source *src, const char *device)
{
	_cleanup_free_ char *text = NULL;
	int r = rd_read_textf(src, &text, NULL, RD_SOURCE_VERBS "/%s", device);

	if (r == 0)
		assert_non_null(strstr(text, "max_qp=4711\n"));
	return r;
}

/* It is waited for once, and not for each device. */
TEST(without_a_deadline_it_is_given_up_at_the_first_that_hangs)
{
	_cleanup_(rd_source_closep) struct rd_source *live = NULL, *again = NULL;
	int before;

	opened = mmap(NULL, sizeof(*opened), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(opened, MAP_FAILED);
	assert_int_equal(rd_source_live_open(NULL, &live, NULL), 0);
	assert_int_equal(ask(live, "good0"), 0);
	assert_int_equal(ask(live, "die4"), -ECHILD);
	assert_int_equal(ask(live, "good2"), 0);
	assert_int_equal(ask(live, "hang1"), -ETIMEDOUT);
	before = *opened;
	assert_true(before > 0);
	assert_int_equal(ask(live, "good2"), -ETIMEDOUT);
	assert_int_equal(ask(live, "hang3"), -ETIMEDOUT);
	assert_int_equal(*opened, before);
	later = 61; /* a trace goes on: the host was only busy then */
	assert_int_equal(ask(live, "good2"), 0);
	assert_int_equal(rd_source_live_open(NULL, &again, NULL), 0);
	assert_int_equal(ask(again, "good0"), 0);
	assert_true(*opened > before);
	munmap(opened, sizeof(*opened));
	opened = NULL;
}

static bool has_landlock(void)
{
#ifdef RD_SANITIZED
	return false;
#endif
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

static void check_attack(struct rd_source *src)
{
	_cleanup_free_ char *text = NULL;
	const char *mask;

	assert_int_equal(rd_read_textf(src, &text, NULL, RD_SOURCE_VERBS "/attack5"), 0);
	mask = strstr(text, "max_mr_size=");
	assert_non_null(mask);
	assert_int_equal(strtoul(mask + 12, NULL, 10), READ_SYSFS | READ_LIBRARY | (has_landlock() ? 0 : READ_OTHER));
}

TEST(a_library_of_a_device_can_open_what_it_needs)
{
	_cleanup_(rd_source_closep) struct rd_source *live = NULL;
	int fd = open("/etc/passwd", O_RDONLY);

	secret = fcntl(fd, F_DUPFD, 900);
	close(fd);
	assert_int_equal(rd_source_live_open(NULL, &live, NULL), 0);
	check_attack(live);
	close(secret);
}

static void ask_all(struct rd_source *src, void *arg)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++)
		ask(src, names[i]);
}

TEST(under_a_deadline_the_other_devices_answer)
{
	_cleanup_(rd_source_closep) struct rd_source *live = NULL, *guard = NULL;

	assert_int_equal(rd_source_live_open(NULL, &live, NULL), 0);
	guard = rd_source_guard_open(live, 12000);
	rd_source_guard_ahead(guard, ask_all, NULL);
	assert_true(rd_source_guard_left(guard) > 0);
	assert_int_equal(ask(guard, "good0"), 0);
	assert_int_equal(ask(guard, "hang1"), -ETIMEDOUT);
	assert_int_equal(ask(guard, "good2"), 0);
	assert_int_equal(ask(guard, "hang3"), -ETIMEDOUT);
	assert_int_equal(ask(guard, "die4"), -ECHILD);
	assert_int_equal(ask(guard, "work6"), -ETIMEDOUT);
	assert_int_equal(rd_stalls_count(rd_source_guard_stalls(guard), RD_STALL_BLOCKED), 2);
	check_attack(guard);
}
