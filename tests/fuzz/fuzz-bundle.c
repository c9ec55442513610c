/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are a bundle: opened, walked through, and gone on to its next samples. */
#include "fuzz.h"

#include "source/bundle/bundle.h"

#include <sys/mman.h>
#include <unistd.h>

static void walk(struct rd_source *source, const char *path, int depth, int *left)
{
	_cleanup_texts_ struct rd_texts names = { 0 };

	if (depth > 8 || rd_list_dir(source, path, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.n && --*left > 0; i++) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };
		_cleanup_free_ char *target = NULL;
		char below[1024];
		uint64_t value;

		if (strlen(path) + strlen(names.v[i]) + 2 > sizeof(below))
			continue;
		strcat(strcat(strcpy(below, path), "/"), names.v[i]);
		rd_read_file(source, below, &bytes, NULL);
		rd_read_link(source, below, &target, NULL);
		rd_stat(source, RD_OP_RDEV, below, &value, NULL);
		rd_stat(source, RD_OP_INO, below, &value, NULL);
		walk(source, below, depth + 1, left);
	}
}

/* As from standard input: an archive that is read the same way, but must not be followed by another one. */
static void read_from_memory(const uint8_t *data, size_t size)
{
	const struct rd_bytes bytes = { .data = (uint8_t *)data, .size = size };
	struct rd_tree *tree = rd_tree_create();

	rd_bundle_read_tar(-1, &bytes, "fuzz", tree, NULL);
	rd_tree_destroy(tree);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	int fd = memfd_create("bundle", MFD_CLOEXEC), left = 500;
	struct rd_source *source;
	char path[32];

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size && rd_source_bundle_open(path, &source, NULL) == 0) {
		do
			walk(source, "", 0, &left);
		while (left > 0 && rd_source_bundle_next(source, NULL) == 0);
		source->ops->close(source);
	}
	close(fd);
	read_from_memory(data, size);
}
