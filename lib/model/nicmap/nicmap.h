/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conclusions of nic-map about a host: distances, the NIC that each library selects for each accelerator, and its backup.
 * Indices are those of struct rd_host. */
#ifndef RD_MODEL_NICMAP_H
#define RD_MODEL_NICMAP_H

#include "model/host/netstate.h"
#include "model/shared/finding.h"

/*
 * Conclusions about RDMA ports: a view per port, in the order of the collected ports (model/host/host.h), which are not
 * changed.
 */

/* What a port is used for. */
enum rd_role { RD_ROLE_UNKNOWN = 0, RD_ROLE_COMPUTE, RD_ROLE_STORAGE, RD_ROLE_MANAGEMENT };

/* "compute", "storage", "management"; NULL for unknown. */
const char *rd_role_name(enum rd_role role);

struct rd_port_view {
	int gid;	     /* index into the port's gids that RoCE programs should use; -1: none usable */
	const char *gid_why; /* static; NULL: not determined */
	int gid_nccl;	     /* index into gids that NCCL uses without a variable; -1: an empty one, or none */
	enum rd_role role;
	char *role_why; /* owned; NULL: not determined */
	bool spare; /* role unknown; down like the same port of every card of this kind, without cable and address: no fault */
};

struct rd_port_views {
	const struct rd_host *host; /* outlives the views, and is not moved */
	struct rd_port_view *v;	    /* v[p] is of host->ports[p] */
	size_t n;
	bool some_gid;			/* a compute port over RoCE has a usable GID */
	const struct rd_netstate *net;	/* NULL: not read */
	const struct rd_system *system; /* the same */
};

/* Views of all ports of `host`, without conclusions. */
void rd_port_views_init(struct rd_port_views *views, const struct rd_host *host);
/* Zeroed views need no release. */
void rd_port_views_deinit(struct rd_port_views *views);

/* Whether the port has no role and is not checked: spare, a virtual function of a device of this host, or a soft device. */
bool rd_port_is_aside(const struct rd_port_views *views, size_t port);

/* The GID index that programs should use; -1: none usable. */
int rd_port_gid_index(const struct rd_port_views *views, size_t port);

/* The GID of a RoCE port that NCCL uses without a variable: "index 0 (fe80::1, RoCE v1)". Caller frees. */
char *rd_port_nccl_gid(const struct rd_port_views *views, size_t port);

/*
 * Choices of stacks that move KV caches: the NICs for each kind of memory, the GID of each port, the transport. If a rule
 * depends on facts that are not visible on the host (how a library was built, the peer), the choice is the set of
 * candidates, and `why` states the dependency. Indices are those of struct rd_host.
 */

enum rd_stack_id {
	RD_STACK_MOONCAKE,
	RD_STACK_UCX,		 /* NIXL over UCX */
	RD_STACK_NIXL_LIBFABRIC, /* NIXL's libfabric backend */
	RD_STACK_LIBFABRIC,	 /* any program that leaves the choice to libfabric */
	RD_STACKS,
};

/* How a stack uses a port by default, without variables. */
struct rd_stack_port {
	bool taken;	       /* the stack can use it */
	int gid;	       /* index into the port's gids; -1: none, or unknown */
	const char *gid_why;   /* why this GID, or why none; static */
	const char *transport; /* "rc_mlx5", "srd", "verbs;ofi_rxm"; static; NULL: none */
	const char *why_not;   /* why it is not used; static; NULL: it is used */
};

/* The ports selected for some memory. */
struct rd_stack_choice {
	int gpu;    /* index; -1: not a GPU's memory */
	int numa;   /* node of host memory; -1: of a GPU, or all memory */
	int *ports; /* n_first ports that are used first, then fallback ports; owned */
	size_t n_first, n_ports;
	char *why; /* owned */
};

struct rd_stack {
	struct rd_stack_port *ports; /* one per port of the host; owned */
	struct rd_stack_choice *v;   /* owned */
	size_t n, cap;
	const char *transport; /* if it uses no port: "tcp", "none"; static; NULL: it uses ports */
	char *note;	       /* note about all choices; owned */
};

struct rd_stacks {
	struct rd_stack v[RD_STACKS];
	struct rd_findings findings;
};
void rd_stacks_deinit(struct rd_stacks *stacks);

/* Name in options, tables and `assignment`: "mooncake", "ucx", "nixl_libfabric", "libfabric". */
const char *rd_stack_name(enum rd_stack_id id);

/* Paths of `nvidia-smi topo -m`, and two of NCCL's; the nearest first, in NCCL's order. */
enum rd_path {
	RD_PATH_UNKNOWN = 0,
	RD_PATH_PIX,  /* at most one switch (or bridge) between them */
	RD_PATH_PXB,  /* several bridges, no host bridge */
	RD_PATH_P2C,  /* NCCL only: PCI to the CPU, C2C (Grace) from there to the accelerator */
	RD_PATH_PXN,  /* NCCL only: NVLink to another accelerator, which is near the NIC */
	RD_PATH_PHB,  /* through one host bridge */
	RD_PATH_NODE, /* through host bridges of one NUMA node; not in NCCL */
	RD_PATH_SYS,  /* between NUMA nodes */
};
const char *rd_path_name(enum rd_path path); /* NULL for unknown */

struct rd_pair {
	enum rd_path path;	   /* in the terms of nvidia-smi */
	enum rd_path nccl;	   /* by NCCL's rule: PIX, PXB, P2C, PXN, PHB, SYS */
	enum rd_path nvshmem;	   /* by NVSHMEM's */
	const char *reason;	   /* why `path` is unknown or ambiguous; static; NULL: neither */
	int via;		   /* if `nccl` is PXN: the accelerator near the NIC; else -1 */
	RD_FIELD(bool) gpudirect;  /* whether NCCL lets the NIC read and write the accelerator's memory */
	const char *gpudirect_why; /* mechanism, or why not, or why unknown; static */
};

/* A NIC as NCCL sees it: a port, or several that it merged into one. */
struct rd_nccl_net {
	int *ports; /* indices into host.ports, in NCCL's order; owned */
	size_t n_ports;
	char *name;  /* "mlx5_0+mlx5_1", as NCCL logs it; "mlx5_0_dma" with the data direct function; owned */
	int pci;     /* the function that NCCL attaches it to; -1: none, attached to a CPU */
	int numa;    /* node of the CPU above it */
	double gbps; /* total of its ports, as NCCL counts: 10 for each port without a speed */
	bool data_direct;
};

struct rd_nccl_nets {
	struct rd_nccl_net *v; /* in the order of NCCL's topology */
	size_t n;
	int *lost; /* ports that NCCL merges and then does not find; indices into host.ports; owned */
	size_t n_lost;
};

/* The ports that a library selects for an accelerator. */
struct rd_choice {
	int gpu;
	int *ports; /* indices into host.ports; owned */
	size_t n_ports;
	int backup;	    /* port to use if the first fails, as rdmadiag advises; index into host.ports; -1: none */
	int library_backup; /* port to which the library fails over; -1: none */
	char *why;	    /* reason of the choice; owned */
	char *backup_why;   /* reason, and what both have in common and could fail together; owned */
	const char *library_backup_why; /* by which rule; static */
};

struct rd_choices {
	struct rd_choice *v; /* one per accelerator that has NICs, in their order */
	size_t n;
	char *note; /* note about all choices, or why there are none; owned */
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
void rd_env_add(struct rd_env *env, const char *library, const char *name, char *value);

enum rd_judged {
	RD_JUDGED_NO = 0, /* the library reads it; its value is not checked */
	RD_JUDGED_YES,
	RD_JUDGED_UNKNOWN, /* no library reads a variable of this name */
};

/* A variable that is set, and its effect. */
struct rd_effect {
	const char *name, *value; /* in a text of rd_effects */
	const char *library;	  /* "NCCL"; static */
	enum rd_judged judged;
	char *selects; /* "mlx5_0/1 mlx5_1/1"; owned; NULL: none */
	char *effect;  /* a sentence; owned; NULL: none */
};

/* The libraries read about 1,400 variables; a job sets under a hundred. The kernel does not start programs with a longer
 * string (MAX_ARG_STRLEN). */
#define RD_EFFECTS_MAX 4096
#define RD_EFFECT_BYTES ((size_t)128 << 10)

/* The supported libraries and the prefixes of their variables, for messages. */
#define RD_ENV_LIBRARIES "NCCL, NVSHMEM, UCX, libfabric, Gloo or Mooncake"
#define RD_ENV_PREFIXES "NCCL_, NVSHMEM_, UCX_, FI_, GLOO_ or MC_"

struct rd_effects {
	struct rd_effect *v; /* sorted by name after rd_effects_sort */
	size_t n, cap;
	char **texts; /* owned: names and values point into these */
	size_t n_texts, cap_texts;
	size_t foreign;	 /* number of variables of other programs, which are ignored */
	size_t sorted;	 /* number of sorted elements at the start of `v` */
	bool first_wins; /* of duplicate names, the first counts (environment block); else the last (shell) */
};
void rd_effects_deinit(struct rd_effects *effects);

struct rd_nicmap {
	struct rd_port_views ports;
	struct rd_pair *pairs; /* [gpu * n_ibdevs + ibdev] */
	size_t n_gpus, n_ibdevs;
	struct rd_nccl_nets nccl_nets;
	struct rd_choices nccl, nvshmem;
	struct rd_stacks stacks; /* Mooncake, NIXL over UCX, libfabric */
	struct rd_env env;	 /* variables that select the compute NICs */
	struct rd_findings findings;
	struct rd_findings backup_findings; /* for libraries that fail over, shown on request */
};
void rd_nicmap_deinit(struct rd_nicmap *map);

static inline const struct rd_pair *rd_nicmap_pair(const struct rd_nicmap *map, size_t gpu, size_t ibdev)
{
	return &map->pairs[gpu * map->n_ibdevs + ibdev];
}

/* The part of a host that is compared with other hosts; about a thousandth of the size of a struct rd_host. */

struct rd_compared_port {
	char *place; /* "0000:15:00.0/1", the same on hosts that are built alike; the label if there is no PCI function */
	char *label;							   /* "mlx5_0/1" */
	char *board, *subnet, *rate, *mtu, *firmware, *state, *link_layer; /* NULL: unknown; rate in Gbit/s */
	bool compute;
};

/* The NIC that NCCL selects for an accelerator. */
struct rd_rail {
	int gpu;     /* index into gpus */
	size_t port; /* index into ports */
	char *nic;   /* "mlx5_0/1" */
};

/* A setting of a port, its interface, a PCI function or the host: see model/host/attributes.h. */
struct rd_compared_setting {
	char *place; /* as above, and the field: "0000:15:00.0/1 pkeys" */
	char *label; /* "mlx5_0/1 pkeys"; NULL: the same */
	char *value;
};

struct rd_compared {
	char *name;	     /* of the host, for messages */
	char **gpus, **nics; /* PCI addresses, else labels */
	struct rd_compared_port *ports;
	struct rd_rail *rails;
	struct rd_compared_setting *settings;
	size_t n_gpus, n_nics, n_ports, n_rails, n_settings;
};
void rd_compared_deinit(struct rd_compared *host);

/* Releases of the libraries from whose sources the rules in lib/analyse were taken. */

struct rd_library_rules {
	const char *library; /* "nccl" */
	const char *release; /* version and commit */
	const char *source;  /* directories of its sources that contain the rules */
};

extern const struct rd_library_rules rd_library_rules[];
extern const size_t rd_n_library_rules;

/* The release that the rules of a library were taken from; NULL: unknown library. */
const char *rd_library_release(const char *library);

#endif
