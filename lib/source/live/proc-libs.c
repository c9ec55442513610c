// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/live/proc-libs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "source/opener/child.h"

#define LIMIT_MS 1000
#define LIMIT_SIZE 4096
#define MAPS_MAX ((size_t)64 << 20) /* the default of vm.max_map_count is 65530 */

/*
 * Beginnings of the file names of libraries that create queue pairs through DEVX: UCX's DC transport and its GPU-initiated one, DOCA,
 * the GPU-initiated transports of NVSHMEM and NCCL. What is part of another library (NCCL's built-in GIN) has no name of its own.
 */
static const char *const libraries[] = {
	"libdoca_gpunetio.so", "libdoca_rdma.so", "libdoca_verbs.so",
	"libnccl-gin",	       "libuct_ib_mlx5",  "nvshmem_transport_ibgda.so",
};

/* The name of the file that a line ends with; NULL: another file. */
static const char *library_of(const char *line, size_t size)
{
	const char *slash = memrchr(line, '/', size);

	for (size_t i = 0; slash && i < RD_ARRAY_SIZE(libraries); i++) {
		size_t n = strlen(libraries[i]);

		if (size - (size_t)(slash + 1 - line) >= n && memcmp(slash + 1, libraries[i], n) == 0)
			return libraries[i];
	}
	return NULL;
}

void rd_proc_libs_print(const char *maps, struct rd_buf *out)
{
	bool found[RD_ARRAY_SIZE(libraries)] = { 0 };

	rd_buf_str(out, "");
	for (const char *line = maps; *line; line += line[0] == '\n') {
		size_t size = strcspn(line, "\n");
		const char *library = library_of(line, size);

		for (size_t i = 0; i < RD_ARRAY_SIZE(libraries); i++)
			found[i] |= library == libraries[i];
		line += size;
	}
	for (size_t i = 0; i < RD_ARRAY_SIZE(libraries); i++)
		if (found[i])
			rd_buf_printf(out, "%s\n", libraries[i]);
}

static int read_maps(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	const char *path = arg;
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct rd_buf out = RD_BUF_CHECKED;
	int r = fd < 0 ? -errno : rd_read_fd(fd, MAPS_MAX, &text);

	if (r < 0)
		return rd_err_set(err, -r, path, "cannot read");
	rd_proc_libs_print((const char *)text.data, &out);
	if (out.failed)
		return rd_err_set(err, ENOMEM, path, "no memory");
	*ret = (struct rd_bytes){ (uint8_t *)out.data, out.len };
	return 0;
}

int rd_proc_libs_read(const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	const char *process = path + strlen(RD_SOURCE_LIBS);
	char maps[64];
	uint64_t pid;

	if (!*process || rd_parse_uint(++process, RD_DECIMAL, UINT32_MAX, &pid) < 0)
		return rd_err_set(err, ENOENT, path, "cannot read");
	snprintf(maps, sizeof(maps), "/proc/%s/maps", process);
	return rd_child_run(path, read_maps, maps, LIMIT_MS, LIMIT_SIZE, ret, err);
}
