/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Archives made by hand, so that they can be wrong in any way, and folders to put them in. */
#ifndef RD_TEST_TAR_H
#define RD_TEST_TAR_H

#include "base/buf.h"
#include "source/shared/source.h"

/* Adds a member: type '0' file, '1' hard link, '2' link, '3' device, '5' directory, '6' FIFO. `claimed`: the size that its
 * header says. */
void tar_add_raw(struct rd_buf *tar, char type, const char *name, const char *link, const void *data, size_t size,
		 size_t claimed);
void tar_add(struct rd_buf *tar, const char *name, const char *text);
void tar_link(struct rd_buf *tar, const char *name, const char *target);
void tar_end(struct rd_buf *tar);

/* Writes bytes to a new file below /tmp; `path` has 64 bytes. The caller unlinks it. */
void file_make(char *path, const void *data, size_t size);

/* Opens the archive as a source; the file has gone when this returns. */
int tar_open(const struct rd_buf *tar, struct rd_source **ret, struct rd_err *err);

/* The text of a file of a source, or its errno as "(ENOENT)"; static, until eight more were read. */
const char *text_at(struct rd_source *source, const char *path);

#endif
