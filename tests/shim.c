/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into rdmadiag, to be a host that is not well; what of it, is in the environment:
 *   SHIM_EXIT=1      a process that ends hangs in that, and cannot be killed
 *   SHIM_OPEN_MS=20  opening a file takes so much time of a processor
 *   SHIM_VERBS=1     there is a libibverbs, which hangs at devices whose number is odd
 * cc -shared -fPIC -o shim.so tests/shim.c
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#define DEVICES 64

static pid_t first;

__attribute__((constructor)) static void begin(void)
{
	first = getpid();
}

/* The one that was started must be able to end, or nobody could tell when it did. */
void _exit(int status)
{
	while (getenv("SHIM_EXIT") && getpid() != first)
		pause();
	for (;;)
		syscall(SYS_exit_group, status);
}

int kill(pid_t pid, int sig)
{
	return getenv("SHIM_EXIT") ? 0 : (int)syscall(SYS_kill, pid, sig);
}

static long long processor_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static int open_slowly(int folder, const char *path, int flags, mode_t mode)
{
	const char *ms = getenv("SHIM_OPEN_MS");
	long long end = ms ? processor_ms() + atoi(ms) : 0;

	while (processor_ms() < end)
		continue;
	return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return open_slowly(folder, path, flags, mode);
}

/* What the header makes of it where it can see that no mode is needed. */
int __openat_2(int folder, const char *path, int flags);
int __openat_2(int folder, const char *path, int flags)
{
	return open_slowly(folder, path, flags, 0);
}

struct ibv_device **ibv_get_device_list(int *n)
{
	static struct ibv_device devices[DEVICES];
	static struct ibv_device *list[DEVICES + 1];

	for (int i = 0; i < DEVICES; i++) {
		snprintf(devices[i].name, sizeof(devices[i].name), "mlx5_%d", i);
		list[i] = &devices[i];
	}
	*n = getenv("SHIM_VERBS") ? DEVICES : 0;
	return list;
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	static struct ibv_context context;

	while (atoi(strrchr(device->name, '_') + 1) % 2)
		pause();
	context.device = device;
	return &context;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof(*attr));
	attr->max_qp = 131072;
	return 0;
}
