// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "trace/attach/holder.h"

static int silent(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level, (void)fmt, (void)args;
	return 0;
}

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Sorts `keep`. */
static void close_others(int *keep, size_t n)
{
	unsigned first = 3;

	qsort(keep, n, sizeof(*keep), compare_fds);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] > (int)first)
			close_range(first, (unsigned)keep[i] - 1, 0);
		if (keep[i] >= (int)first)
			first = (unsigned)keep[i] + 1;
	}
	close_range(first, ~0U, 0);
}

void rd_holder_leave(int *keep, size_t n)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	prctl(PR_SET_NAME, RD_HOLDER_NAME);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	if (chdir("/"))
		return;
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	close_others(keep, n);
	libbpf_set_print(silent);
}
