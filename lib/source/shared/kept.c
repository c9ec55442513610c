/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/shared/kept.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/memory.h"

#define MOST 65536

void rd_kept_deinit(struct rd_kept *kept)
{
	for (size_t i = 0; i < kept->n; i++)
		if (kept->fds[i] >= 0)
			close(kept->fds[i]);
	free(kept->fds);
	*kept = (struct rd_kept){ 0 };
}

/* The usual soft limit of 1024 is for programs that use select; we can use the hard limit. */
static size_t raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 256;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max < 2 * MOST ? limit.rlim_max : 2 * MOST;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0 && getrlimit(RLIMIT_NOFILE, &limit) < 0)
			return 256;
	}
	return limit.rlim_cur / 2 < MOST ? limit.rlim_cur / 2 : MOST;
}

bool rd_kept_has_room(struct rd_kept *kept)
{
	if (!kept->most)
		kept->most = raise_limit();
	return kept->open < kept->most;
}

void rd_kept_add(struct rd_kept *kept, int fd, uint32_t *slot)
{
	if (!*slot) {
		rd_reserve(&kept->fds, &kept->cap, kept->n + 1, sizeof(*kept->fds));
		kept->n++;
		*slot = (uint32_t)kept->n;
	}
	kept->fds[*slot - 1] = fd;
	kept->open++;
}

int rd_kept_fd(const struct rd_kept *kept, uint32_t slot)
{
	return slot && slot <= kept->n ? kept->fds[slot - 1] : -1;
}

void rd_kept_drop(struct rd_kept *kept, uint32_t slot)
{
	int fd = rd_kept_fd(kept, slot);

	if (fd < 0)
		return;
	close(fd);
	kept->fds[slot - 1] = -1;
	kept->open--;
}
