/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Software and limits of a host: kernel and modules, settings of the accelerator driver, limits, huge pages, device files of
 * RDMA devices. Plain data, one owner. Unknown text is NULL.
 */
#ifndef RD_MODEL_SYSTEM_H
#define RD_MODEL_SYSTEM_H

#include "base/klog-form.h"
#include "base/text.h"

#define RD_UNLIMITED UINT64_MAX

/* A loaded module. */
struct rd_loaded_module {
	char *name;
	char *version;	   /* its version attribute; most in-tree modules have none */
	bool out_of_tree;  /* sets the kernel's taint flag O */
	bool rdma;	   /* ib_core, or depends on it */
	bool in_tree_user; /* an in-tree module of these uses it */
};

/* A process that starts jobs, a daemon that serves storage to many hosts, or the process given by --pid. */
struct rd_launcher {
	int pid;
	char *comm;
	bool serves;		    /* such a daemon */
	RD_FIELD(uint64_t) nofile;  /* open files, the soft limit; RD_UNLIMITED */
	RD_FIELD(uint64_t) files;   /* open files; only for --pid */
	RD_FIELD(uint64_t) memlock; /* bytes, the soft limit; RD_UNLIMITED */
	RD_FIELD(uint64_t) memlock_hard;
	RD_FIELD(uint64_t) maps; /* mappings; only for --pid */
	/* The limit does not apply: CAP_IPC_LOCK is in its effective set, and it is in the initial user namespace, which
	 * the kernel requires (capable()). Only for --pid: children of launchers have other capability sets. */
	RD_FIELD(bool) ipc_lock;
};

/* A uverbs character device in the kernel and in /dev. */
struct rd_uverbs {
	char *name;		 /* "uverbs0" */
	char *ibdev;		 /* "mlx5_0" */
	bool node;		 /* /dev/infiniband/NAME exists */
	RD_FIELD(unsigned) mode; /* permission bits */
};

struct rd_huge {
	int node;	      /* NUMA node */
	uint64_t total, free; /* bytes, of all sizes */
};

struct rd_system {
	char *release; /* of the kernel */
	bool modules_known;
	struct rd_loaded_module *modules;
	size_t n_modules, cap_modules;
	/* Whose processes are shown: none, those of a container (kthreadd is not process 2), of the host. */
	enum { RD_OF_NOBODY, RD_OF_CONTAINER, RD_OF_HOST } processes;

	/* NVIDIA's driver: version, open or closed, parameters. */
	char *nvidia_version;
	RD_FIELD(bool) nvidia_open;
	char *nvidia_registry; /* "" for none */
	RD_FIELD(bool) nvidia_stream_memops;

	/* Providers of GPU memory to ib_core through the out-of-tree interface ("nv_mem", "nv_mem_nc", "amdkfd"),
	 * "nvidia_peermem" if its module has a version, and "efa" if its driver provides it for its devices. */
	struct rd_texts memory_peers;
	/* The loaded RDMA core supports DMA-BUF. */
	RD_FIELD(bool) dmabuf;
	/* CONFIG_PCI_P2PDMA: AMD's driver needs it for DMA-BUF that a NIC may reach, NVIDIA's perhaps. Read if one is loaded. */
	RD_FIELD(bool) p2pdma;

	struct rd_launcher *launchers;
	size_t n_launchers, cap_launchers;
	int asked_pid;			    /* 0: none */
	RD_FIELD(uint64_t) default_memlock; /* for services without a setting; bytes */
	const char *default_memlock_from;   /* static */

	RD_FIELD(uint64_t) max_map_count;
	char *thp_defrag; /* "always defer defer+madvise [madvise] never" */
	struct rd_huge *huge;
	size_t n_huge, cap_huge;

	bool uverbs_known, has_rdma_cm, rdma_cm_node;
	bool dev_known; /* /dev is available: not in a bare sysfs tree */
	struct rd_uverbs *uverbs;
	size_t n_uverbs, cap_uverbs;

	/* User space: providers of libibverbs ("mlx5"), by library and by configuration; version of libibverbs. */
	bool providers_known;
	struct rd_texts providers;
	struct rd_texts providers_local; /* below /usr/local, where the loader may look or not */
	char *libibverbs;

	/* NCCL's and UCX's settings for all jobs: NAME=VALUE lines. */
	struct rd_texts job_env;
};

void rd_system_deinit(struct rd_system *system);

/* NULL: not loaded (or unknown: system->modules_known). "-" and "_" are equal. */
const struct rd_loaded_module *rd_system_module(const struct rd_system *system, const char *name);

/* The names of the devices that have a device file, where some have none: a container is given some of the devices that sysfs shows. `ret_n`: how
 * many. NULL: none, or all of them, or on a host. Caller frees. */
char *rd_system_given(const struct rd_system *system, size_t *ret_n);

/* nvidia_peermem, which gives ib_core access to GPU memory, is loaded. */
bool rd_has_peermem(const struct rd_system *system);
/* nv_peer_mem, its predecessor by another vendor, is loaded. */
bool rd_has_old_peermem(const struct rd_system *system);
/* EFA reaches GPU memory: by its module efa_nv_peermem, or by the driver itself. What serves other NICs does not serve EFA. */
bool rd_gives_efa_peermem(const struct rd_system *system);
/* One of these, or a client of the out-of-tree interface that NCCL looks for. */
bool rd_gives_peermem(const struct rd_system *system);
/* DMA-BUF is available: NVIDIA's open driver (the closed one does not export DMA-BUFs), and support in the loaded RDMA core.
 * False if either is unknown. */
bool rd_has_dmabuf(const struct rd_system *system);
/* The NVIDIA driver lets GPUs write to the registers of NICs: PeerMappingOverride=1 in RegistryDwords. False if that is unknown. */
bool rd_maps_peers(const struct rd_system *system);
/* The kernel was built without CONFIG_PCI_P2PDMA. */
bool rd_lacks_p2pdma(const struct rd_system *system);

/* The kernel log, record by record, as far back as the kernel still has it. */

/* Facilities of syslog: records of others than the kernel were written to /dev/kmsg by a program. */
enum { RD_KLOG_KERN = 0 };

/* Levels of syslog: lower is more severe. */
enum { RD_KLOG_ERR = 3, RD_KLOG_WARNING = 4 };

struct rd_krecord {
	uint64_t seq; /* counts from 0 since boot */
	uint64_t time_ns; /* since boot, by the clock of the kernel log: CLOCK_MONOTONIC to within what it drifts, in steps of
			   * 1000 */
	uint8_t level, facility;
	enum rd_klog_form form; /* recognized message, if any */
	const char *text;	/* in klog->text; foreign: anything but NUL may be in it */
	const char *device;	/* DEVICE=: "+pci:0000:1b:00.0", "n5" (interface of that index); NULL: none named */
};

struct rd_klog {
	enum rd_known known;  /* RD_DENIED: no permission (dmesg_restrict); else none, or see code */
	int code;	      /* errno of reading; 0: read */
	struct rd_krecord *v; /* in the order of seq */
	size_t n, cap;
	bool lost;  /* earlier records were overwritten, or too many to read */
	char *text; /* owned: the records point into it */
};
void rd_klog_deinit(struct rd_klog *klog);

/* The PCI address of the record's device ("0000:1b:00.0"); NULL if it names none. */
const char *rd_krecord_pci(const struct rd_krecord *record);

#endif
