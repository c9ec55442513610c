/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host runs and allows: kernel and modules, the accelerator driver's settings, limits, huge pages, the files by which
 * programs reach RDMA devices. Plain data, one owner. Text is NULL where it is not known.
 */
#ifndef RD_MODEL_SYSTEM_H
#define RD_MODEL_SYSTEM_H

#include "base/base.h"

#define RD_UNLIMITED UINT64_MAX

/* A loaded module. */
struct rd_module {
	char *name;
	char *version;	  /* what it says of itself; in-tree modules mostly say nothing */
	bool out_of_tree; /* taints the kernel so */
	bool rdma;	  /* ib_core, or depends on it */
};

/* A process that starts jobs, or the one that was asked for. */
struct rd_launcher {
	int pid;
	char *comm;
	RD_FIELD(uint64_t) memlock; /* bytes, the soft limit; RD_UNLIMITED */
	RD_FIELD(uint64_t) maps;    /* mappings; only of one that was asked for */
	/* Its limit does not hold: CAP_IPC_LOCK is in its effective set, and it is in the first user namespace, in which
	 * the kernel looks (capable()). Only of one that was asked for: what others start has sets of its own. */
	RD_FIELD(bool) ipc_lock;
};

/* A character device of uverbs, as the kernel has it and as /dev has it. */
struct rd_uverbs {
	char *name;		 /* "uverbs0" */
	char *ibdev;		 /* "mlx5_0" */
	bool node;		 /* /dev/infiniband/NAME is there */
	RD_FIELD(unsigned) mode; /* permission bits */
};

struct rd_huge {
	int node;	      /* NUMA node */
	uint64_t total, free; /* bytes, of all sizes */
};

struct rd_text_list {
	char **v; /* owned */
	size_t n, cap;
};

struct rd_system {
	char *release; /* of the kernel */
	bool modules_known;
	struct rd_module *modules;
	size_t n_modules, cap_modules;

	/* NVIDIA's driver: which of its two flavours, and what it was loaded with. */
	char *nvidia_version;
	RD_FIELD(bool) nvidia_open;
	char *nvidia_registry; /* "" for none */
	RD_FIELD(bool) nvidia_stream_memops;

	/* Who offers GPU memory to ib_core by the out-of-tree interface ("nv_mem", "nv_mem_nc", "amdkfd"). */
	struct rd_text_list memory_peers;
	/* The loaded RDMA core takes DMA-BUFs. */
	RD_FIELD(bool) dmabuf;

	struct rd_launcher *launchers;
	size_t n_launchers, cap_launchers;
	int asked_pid;			    /* 0: none */
	RD_FIELD(uint64_t) default_memlock; /* of services that set none; bytes */
	const char *default_memlock_from;   /* static */

	RD_FIELD(uint64_t) max_map_count;
	RD_FIELD(uint64_t) page_size;
	struct rd_huge *huge;
	size_t n_huge, cap_huge;

	bool uverbs_known, has_rdma_cm, rdma_cm_node;
	bool dev_known; /* /dev could be looked into: a bare sysfs tree has none */
	struct rd_uverbs *uverbs;
	size_t n_uverbs, cap_uverbs;

	/* User space: providers of libibverbs ("mlx5"), by library and by configuration; version of libibverbs. */
	bool providers_known;
	struct rd_text_list providers;
	char *libibverbs;

	/* NCCL's and UCX's settings for all jobs: NAME=VALUE lines. */
	struct rd_text_list job_env;
};

void rd_system_deinit(struct rd_system *system);

/* NULL: not loaded (or not known: system->modules_known). "-" and "_" are the same. */
const struct rd_module *rd_system_module(const struct rd_system *system, const char *name);

/* Copies. */
void rd_text_list_add(struct rd_text_list *list, const char *text);
bool rd_text_list_has(const struct rd_text_list *list, const char *text);

/* NVIDIA's module that offers its memory to ib_core is loaded. */
bool rd_has_peermem(const struct rd_system *system);
/* A module of somebody else's that did so before. */
bool rd_has_old_peermem(const struct rd_system *system);
/* Of NVIDIA's two drivers only the open one hands out DMA-BUFs, and the loaded RDMA core must support them. False also where
 * either is not known. */
bool rd_has_dmabuf(const struct rd_system *system);

#endif
