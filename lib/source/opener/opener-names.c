/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that were declared before the first untrusted byte was read. */
#include "opener-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const struct opener_name *rd_opener_find(const struct opener_names *names, enum rd_opener_use use, const char *path)
{
	for (size_t i = 0; i < names->n; i++)
		if (names->v[i].use == use &&
		    (strcmp(names->v[i].path, path) == 0 || strcmp(names->v[i].whole, path) == 0))
			return &names->v[i];
	return NULL;
}

int rd_opener_share_identities(struct opener_names *names)
{
	struct opener_identity *all = NULL;

	if (names->n > 0)
		all = mmap(NULL, names->n * sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return -errno;
	for (size_t i = 0; i < names->n; i++)
		names->v[i].identity = &all[i];
	return 0;
}

/* Sets the number if it is unset. Returns false if it was set to another value. */
static bool is_same(_Atomic uint64_t *number, uint64_t value)
{
	uint64_t none = 0;

	return atomic_compare_exchange_strong(number, &none, value + 1) || none == value + 1;
}

int rd_opener_open_input(const struct opener_name *name)
{
	_cleanup_close_ int fd = open(name->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (name->identity &&
	    (!is_same(&name->identity->device, st.st_dev) || !is_same(&name->identity->inode, st.st_ino)))
		return -ESTALE;
	return RD_TAKE_FD(fd);
}
