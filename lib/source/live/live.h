/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The virtual files of a live host, which are described in source.h: what makes each of them. */
#ifndef RD_SOURCE_LIVE_H
#define RD_SOURCE_LIVE_H

#include "source/shared/source.h"

/* RD_SOURCE_VERBS. The library is loaded, and the device opened, in a child process that is abandoned after three seconds (in a child of the
 * guard: together with that): a provider can hang in its device, or crash. The child can open libraries, sysfs and RDMA devices
 * only. `*silent` is 0 before the first call, and belongs to the source: for a minute after one missing reply every device is -ETIMEDOUT
 * without a query (rd_monotonic_ms). -EOPNOTSUPP without libibverbs, -ENODEV if it does not know the device. */
int rd_verbs_read(int64_t *silent, const char *path, struct rd_bytes *ret, struct rd_err *err);

/* RD_SOURCE_TCP, RD_SOURCE_LIBS, RD_SOURCE_JOB. The last two in a child, which is abandoned: the memory map of a process can be locked for as
 * long as the process hangs. */
int rd_proc_tcp_read(const char *path, struct rd_bytes *ret, struct rd_err *err);
int rd_proc_libs_read(const char *path, struct rd_bytes *ret, struct rd_err *err);
int rd_proc_job_read(const char *path, struct rd_bytes *ret, struct rd_err *err);

/* RD_SOURCE_USER, RD_SOURCE_GROUP: in a child, as the services of nsswitch.conf(5) load code, and can hang. */
int rd_user_read(const char *path, struct rd_bytes *ret, struct rd_err *err);

/* Adds the lines of RD_SOURCE_LIBS, from the text of /proc/PID/maps. */
void rd_proc_libs_print(const char *maps, struct rd_buf *out);

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

/* Takes the text of /proc/PID/net/tcp or tcp6; skips lines that are not of this format. */
void rd_proc_tcp_take(struct rd_proc_tcp *tcp, const char *text);

/* Adds the lines of the file. */
void rd_proc_tcp_print(struct rd_proc_tcp *tcp, struct rd_buf *out);

/* While RD_SOURCE_JOB is made. */
struct rd_proc_job {
	const char *process; /* "1234", "self" */
	bool self, host;     /* host: without the environment */
	struct rd_buf out;
	struct rd_proc_tcp sockets; /* their inodes */
	unsigned n_tcp;
	int root; /* O_PATH */
};

/* Adds lines "lib PATH" and "shm NAME" for a text in the format of /proc/PID/maps. */
void rd_proc_job_maps(struct rd_proc_job *job, const char *text);

/* Finds struct verbs_device_ops of the provider `name` in its ELF file: foreign bytes, nothing is loaded. False: not found, or not the
 * only one. */
bool rd_provider_abi(const uint8_t *data, size_t size, const char *name, uint32_t *ret_min, uint32_t *ret_max);

#endif
