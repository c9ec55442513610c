/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP connections of a process. The virtual files are described in source.h, at RD_SOURCE_TCP. */
#ifndef RD_SOURCE_PROC_TCP_H
#define RD_SOURCE_PROC_TCP_H

#include "base/buf.h"
#include "source/shared/source.h"

int rd_proc_tcp_read(const char *path, struct rd_bytes *ret, struct rd_err *err);

/* Sockets of a process, and the connections found for them. */
struct rd_proc_tcp {
	uint64_t *inodes; /* sorted */
	size_t n_inodes, cap_inodes;
	struct rd_tcp_address {
		uint8_t ip[16]; /* IPv4 as ::ffff:a.b.c.d */
	} * local, *remote; /* local: of all sockets in its network namespace; remote: of its established connections */
	size_t n_local, cap_local, n_remote, cap_remote;
};
void rd_proc_tcp_deinit(struct rd_proc_tcp *tcp);

/* Takes the text of /proc/PID/net/tcp or tcp6; skips lines that are not of this format. 0 or -ENOMEM. */
int rd_proc_tcp_take(struct rd_proc_tcp *tcp, const char *text);

/* Adds the lines of the file. */
void rd_proc_tcp_print(struct rd_proc_tcp *tcp, struct rd_buf *out);

#endif
