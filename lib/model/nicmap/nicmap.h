/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nic-map concludes about a host: distances, which NIC each library takes for each accelerator, what to do when that
 * one fails. Indices are those of struct rd_host. */
#ifndef RD_MODEL_NICMAP_H
#define RD_MODEL_NICMAP_H

#include "base/base.h"
#include "model/nicmap/port-view.h"
#include "model/nicmap/stacks.h"
#include "model/shared/finding.h"

/* As `nvidia-smi topo -m` has them, and two of NCCL's; the nearest first, in NCCL's order. */
enum rd_path {
	RD_PATH_UNKNOWN = 0,
	RD_PATH_PIX,  /* at most one switch (or bridge) between them */
	RD_PATH_PXB,  /* several bridges, no host bridge */
	RD_PATH_P2C,  /* NCCL only: PCI to the CPU, C2C (Grace) from there to the accelerator */
	RD_PATH_PXN,  /* NCCL only: NVLink to another accelerator, which lies next to the NIC */
	RD_PATH_PHB,  /* over one host bridge */
	RD_PATH_NODE, /* over host bridges of one NUMA node. NCCL has no such step */
	RD_PATH_SYS,  /* between NUMA nodes */
};
const char *rd_path_name(enum rd_path path); /* NULL for unknown */

struct rd_pair {
	enum rd_path path;	   /* in the terms of nvidia-smi */
	enum rd_path nccl;	   /* by NCCL's rule: PIX, PXB, P2C, PXN, PHB, SYS */
	enum rd_path nvshmem;	   /* by NVSHMEM's */
	const char *reason;	   /* why `path` is not known, or what it leaves open; static; NULL: nothing to say */
	int via;		   /* where `nccl` is PXN: the accelerator next to the NIC; else -1 */
	RD_FIELD(bool) gpudirect;  /* whether NCCL lets the NIC read and write the accelerator's memory */
	const char *gpudirect_why; /* by what, or why not, or why it is not known; static */
};

/* A NIC as NCCL sees it: a port, or several that it merged into one. */
struct rd_nccl_net {
	int *ports; /* indices into host.ports, in NCCL's order; owned */
	size_t n_ports;
	char *name;  /* "mlx5_0+mlx5_1", as NCCL logs it; "mlx5_0_dma" where it uses the data direct function; owned */
	int pci;     /* the function that NCCL hangs it on; -1: none, it stands on a CPU */
	int numa;    /* of the CPU above it */
	double gbps; /* of all its ports, as NCCL counts: 10 for each that names no speed */
	bool data_direct;
};

struct rd_nccl_nets {
	struct rd_nccl_net *v; /* in the order of NCCL's topology */
	size_t n;
	int *lost; /* ports that NCCL merges and then finds nowhere; indices into host.ports; owned */
	size_t n_lost;
};

/* Which ports a library gives an accelerator. */
struct rd_choice {
	int gpu;
	int *ports; /* indices into host.ports; owned */
	size_t n_ports;
	int backup;			/* what we advise when the first fails; index into host.ports; -1: none */
	int library_backup;		/* what the library takes then by itself; -1: nothing */
	char *why;			/* of the choice; owned */
	char *backup_why;		/* what it is, and what the two would share if they failed together; owned */
	const char *library_backup_why; /* by which rule; static */
};

struct rd_choices {
	struct rd_choice *v; /* one per accelerator that is served, in their order */
	size_t n;
	char *note; /* what holds for all of it, or why it is empty; owned */
};

/* An environment variable that a library reads. */
struct rd_env_var {
	const char *library; /* "nccl", "nvshmem", "ucx", "mooncake", "libfabric"; static */
	const char *name;    /* static */
	char *value;	     /* owned */
};

struct rd_env {
	struct rd_env_var *v;
	size_t n, cap;
};
void rd_env_deinit(struct rd_env *env);

enum rd_judged {
	RD_JUDGED_NO = 0, /* the library reads it; what its value does is not looked at */
	RD_JUDGED_YES,
	RD_JUDGED_UNKNOWN, /* the library reads no variable of this name */
};
const char *rd_judged_name(enum rd_judged judged); /* "no", "yes", "unknown" */

/* A variable that was set, and what it comes to. */
struct rd_effect {
	const char *name, *value; /* in a text of rd_effects */
	const char *library;	  /* "NCCL"; static */
	enum rd_judged judged;
	char *selects; /* "mlx5_0/1 mlx5_1/1"; owned; NULL: nothing that can be named */
	char *effect;  /* a sentence: what it comes to; owned; NULL: nothing to say */
};

/* All that these libraries read are 1,400; a job sets under a hundred. The kernel starts no program with a longer string
 * (MAX_ARG_STRLEN). */
#define RD_EFFECTS_MAX 4096
#define RD_EFFECT_BYTES ((size_t)128 << 10)

struct rd_effects {
	struct rd_effect *v; /* by name, once rd_effects_sort was there */
	size_t n, cap;
	char **texts; /* owned: names and values lie in these, and nowhere else */
	size_t n_texts, cap_texts;
	size_t foreign; /* variables of other programs that were passed over */
	size_t sorted;	/* so many of `v` are in order */
	bool first_wins; /* of a name that is there twice, as in a block of environment; else the last does, as in a shell */
};
void rd_effects_deinit(struct rd_effects *effects);

struct rd_nicmap {
	struct rd_port_views ports;
	struct rd_pair *pairs; /* [gpu * n_ibdevs + ibdev] */
	size_t n_gpus, n_ibdevs;
	struct rd_nccl_nets nccl_nets;
	struct rd_choices nccl, nvshmem;
	struct rd_stacks stacks; /* Mooncake, NIXL over UCX, libfabric */
	struct rd_env env;	 /* what would select the compute NICs */
	struct rd_findings findings;
};
void rd_nicmap_deinit(struct rd_nicmap *map);

static inline const struct rd_pair *rd_nicmap_pair(const struct rd_nicmap *map, size_t gpu, size_t ibdev)
{
	return &map->pairs[gpu * map->n_ibdevs + ibdev];
}

#endif
