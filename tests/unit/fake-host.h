/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder that stands for a host: files are written into it, and a source opened on it. */
#ifndef RD_UNIT_FAKE_HOST_H
#define RD_UNIT_FAKE_HOST_H

#include "source/shared/source.h"

struct fake_host {
	char root[64];
	struct rd_source *source;
};

/* A new empty one. */
struct fake_host fake_host_make(void);
void fake_host_deinit(struct fake_host *host);

/* Writes a file, with the folders above it; `path` as on the host. */
void fake_host_write(struct fake_host *host, const char *path, const void *data, size_t size);
void fake_host_text(struct fake_host *host, const char *path, const char *text);
void fake_host_remove(struct fake_host *host, const char *path);

/* Runs a shell command in the host's folder; its exit status. */
int fake_host_run(struct fake_host *host, const char *command);

#endif
