/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process as a user of RDMA: what it finds in its root and namespaces, what it has open, its limits; and conclusions: whether it can, whether
 * RDMA was requested, what carries its traffic. */
#ifndef RD_MODEL_JOB_H
#define RD_MODEL_JOB_H

#include "model/host/system.h"
#include "model/shared/finding.h"

/* A uverbs device of the kernel. */
struct rd_job_uverbs {
	char *name, *ibdev;	   /* "uverbs0", "mlx5_0" */
	char *number;		   /* "231:192"; NULL: unknown */
	RD_FIELD(uint32_t) abi;	   /* version of its interface */
	RD_FIELD(uint32_t) driver; /* enum rdma_driver_id */
};

struct rd_job_kernel {
	struct rd_job_uverbs *v;
	size_t n, cap;
	bool known; /* all could be listed */
};
void rd_job_kernel_deinit(struct rd_job_kernel *kernel);

/* A device file as seen from the root of a process: of RDMA devices; those of accelerators that are there ("nvidia0", "kfd", "renderD128", "accel0"), and,
 * if these were looked for, "nvidiactl" in any case. */
struct rd_job_node {
	char *name;
	bool there, unknown; /* neither: missing */
	char *number;	     /* "231:192"; "0:0": not a character device; NULL: unknown */
	RD_FIELD(unsigned) mode;
	uint32_t uid, gid;
	/* An access list decides as well: the tag, permissions and id of each entry, "2.6.1000,4.6.0,…"; "": it, or the owner, was not read; NULL: none. */
	char *acl;
};

/* A library in the directory of providers. */
struct rd_job_provider {
	char *name;			/* "mlx5" */
	RD_FIELD(uint32_t) min, max;	/* versions of the kernel's interface that it supports */
	RD_FIELD(uint32_t) private_abi; /* between it and libibverbs: 34 of "libmlx5-rdmav34.so" */
};

/* A TCP connection. */
struct rd_job_tcp {
	uint8_t remote[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint64_t bytes;	    /* sent and received since it began */
};

/* A limit of its control group and how much of it is in use. */
struct rd_job_limit {
	char *name; /* "rdma.max mlx5_0 hca_object" */
	uint64_t now, max;
};

struct rd_job_proc {
	uint32_t pid;
	bool here;	 /* not a process: what one that is started here would find */
	bool unrecorded; /* of a user: what a process of the host finds was not read, or not recorded */
	bool looked;	 /* the parts below were read, except those in `unread` */
	char *comm, *cgroup, *job;
	struct rd_texts unread; /* "fds EACCES" */
	struct rd_job_node *nodes;
	size_t n_nodes, cap_nodes;
	struct rd_job_provider *providers;
	size_t n_providers, cap_providers;
	bool providers_known;
	struct rd_job_tcp *tcp, *addrs; /* addrs: `remote` is an address of its network namespace */
	size_t n_tcp, cap_tcp, n_addrs, cap_addrs;
	struct rd_job_limit *limits;
	size_t n_limits, cap_limits;
	/* libs: paths of mapped transport libraries; opened: device files, once per descriptor; segments: kinds of shared memory; env:
	 * NAME=VALUE; rdma: devices in its network namespace; wheels: "libnccl 2.27.3", the version of a Python package with a library of that name. */
	struct rd_texts opened, libs, segments, env, rdma, wheels;
	bool net_other, mnt_other, user_other; /* in another namespace than this program */
	char *device_rules; /* of its control group, version 1; NULL: unknown, or version 2, which has programs that cannot be read */
	RD_FIELD(uint64_t) fds, nofile, memlock, locked, shm;
	/* Of a step of Slurm with a limit: its hard limit, and the limits of slurmd, from which it inherits. */
	RD_FIELD(uint64_t) memlock_hard, slurmd_memlock, slurmd_memlock_hard;
	char *memlock_from;	 /* where the limit comes from, or why it is unknown; NULL: of the process itself */
	RD_FIELD(bool) ipc_lock; /* the limit of locked memory does not apply */
	RD_FIELD(uint32_t) uid;	 /* those that decide about files */
	uint32_t gid;
	uint64_t *groups;
	size_t n_groups;
	RD_FIELD(uint64_t) caps; /* effective */
	bool seccomp;		 /* a filter is active */
};
void rd_job_proc_deinit(struct rd_job_proc *proc);

/* Whether a part ("fds", "maps", "env", "root", "tcp", "rdma", "addr") was read. */
bool rd_job_knows(const struct rd_job_proc *proc, const char *part);

/* The version of a mapped library: by its file's name, or of the Python package that it is part of; "2" if only that is known. NULL: unknown. Caller
 * frees. */
char *rd_job_lib_version(const struct rd_job_proc *proc, const char *path);

bool rd_job_in_group(const struct rd_job_proc *proc, uint64_t gid);

/* How many descriptors it has open of a device file ("uverbs0"), of all that begin with this. */
size_t rd_job_count_open(const struct rd_job_proc *proc, const char *prefix);

enum rd_job_asked { RD_JOB_ASKED_NOTHING, RD_JOB_ASKED_RDMA, RD_JOB_ASKED_TCP };

enum rd_job_verdict {
	RD_JOB_CANNOT_TELL,
	RD_JOB_IDLE,
	RD_JOB_HOST, /* shared memory, and what else stays inside the host */
	RD_JOB_RDMA,
	RD_JOB_TCP,
	RD_JOB_MIXED,
	RD_JOB_UNEVEN,
};

/* "cannot-tell", "idle", … */
const char *rd_job_verdict_name(enum rd_job_verdict verdict);

/* A port that carries queue pairs of the process. */
struct rd_job_nic {
	const char *ibdev; /* of rd_res */
	uint32_t port;
	size_t qps, peers; /* connected queue pairs; different known peers */
	uint8_t (*gids)[16];
	size_t cap_gids;
};

/* What a process sends over TCP to other hosts. */
struct rd_job_sockets {
	bool known;
	uint64_t connections, bytes, to_qp_peers; /* bytes: both directions, since each connection began */
	uint64_t local_bytes;			  /* between processes of this host */
};

struct rd_job_view {
	const struct rd_job_proc *proc;
	enum rd_job_asked asked;
	const char *asked_by; /* NAME=VALUE, of the process; NULL: none */
	enum rd_job_verdict verdict;
	enum rd_severity severity;
	RD_FIELD(bool) able;		   /* some device can be used */
	struct rd_findings can;		   /* what was judged, in the order of what a process needs */
	const struct rd_finding *obstacle; /* in `can`; NULL: none */
	char *reason, *fix;
	const char *runtime; /* what runs it, by its control group: "docker", "Kubernetes" …; static; NULL: none that is known */
	struct rd_job_nic *nics;
	size_t n_nics, cap_nics;
	size_t contexts; /* device files of RDMA devices that it has open */
	struct rd_job_sockets sockets;
};
void rd_job_view_deinit(struct rd_job_view *view);

#endif
