/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log of a run, per host: lines of NCCL_DEBUG=INFO, of UCX, Mooncake and NVSHMEM. Only the content of the log;
 * analyse/run/against.h compares it with this host.
 */
#ifndef RD_MODEL_RUNLOG_H
#define RD_MODEL_RUNLOG_H

#include "model/shared/finding.h"

/* Limits on foreign input. The excess is ignored, and `cut` set. */
#define RD_RUN_HOSTS 1024
#define RD_RUN_LIST 1024 /* devices, NICs, ranks, channels, variables of one host, each */

/* A port in the list that NET/IB logs when it starts: "[0]mlx5_0:1/IB". */
struct rd_run_dev {
	char *name;	   /* owned */
	unsigned port;	   /* 0: not in the log */
	const char *link;  /* "IB", "RoCE"; static; NULL: not in the log */
	unsigned position; /* in the list, from 0 */
};

/* A NIC by its number in lines about channels and GPUDirect. */
struct rd_run_net {
	unsigned number;
	char *name; /* "mlx5_0", merged "mlx5_0+mlx5_1"; owned; NULL: not in the log */
	RD_FIELD(bool) gpudirect;
};

/* A process's GPU. */
struct rd_run_rank {
	unsigned rank;
	RD_FIELD(unsigned) nvml; /* GPU's number, as nvidia-smi counts */
	RD_FIELD(uint64_t) bus;	 /* busId: domain, bus, device and function in 16+, 8, 8 and 4 bits */
};

/* The GPU in brackets after a rank, or after "GPU": busId or number, depending on the version. */
struct rd_run_gpu {
	RD_FIELD(unsigned) rank;
	char text[20]; /* "87000", "0"; "": none */
};

/* All channels of one rank over one NIC, in one direction. */
struct rd_run_channel {
	struct rd_run_gpu gpu; /* on this host */
	char *transport;       /* "IB", "Socket", "AWS Libfabric", "IBext_v8"; owned */
	unsigned net;	       /* a NIC's number */
	bool send, gpudirect;
	bool peer;  /* point-to-point, not ring or tree: the second number of "00/1" is not 0 */
	int proxy;  /* rank whose GPU sends instead (PXN); -1: none */
	bool first; /* channel 0 is among them */
	size_t n;
};

/* "GPU Direct RDMA Disabled for GPU 87000 / HCA 0 (distance 5 > 4)", until NCCL 2.25. */
struct rd_run_pair {
	struct rd_run_gpu gpu;
	unsigned net;
	bool gpudirect;
	RD_FIELD(unsigned) distance, level; /* NCCL's numbers of path types */
};

struct rd_run_var {
	char *name, *value; /* owned; the last logged value */
	bool varies;	    /* processes had different values */
};

/* A device that another library used. */
enum rd_run_stack { RD_RUN_UCX, RD_RUN_MOONCAKE, RD_RUN_NVSHMEM };

struct rd_run_use {
	enum rd_run_stack stack;
	char *transport; /* "rc_mlx5", "tcp"; owned; NULL: not in the log */
	char *device;	 /* RDMA device, or interface; owned */
	unsigned port;	 /* 0: not in the log */
	bool refused;	 /* not used because its port was not active */
	int gid;	 /* GID index; -1: not in the log */
	int pe;		 /* PE of NVSHMEM; -1: not in the log */
};

/* Mooncake: devices preferred for a place. */
struct rd_run_prefer {
	char *place; /* "cuda:0", "cpu:1"; owned */
	char *names; /* "mlx5_0 mlx5_1"; owned */
};

#define RD_RUN_ARRAY(type)     \
	struct {               \
		type *v;       \
		size_t n, cap; \
	}

struct rd_run_host {
	char *name; /* "": lines without a host name; owned */
	RD_RUN_ARRAY(struct rd_run_dev) devs;
	RD_RUN_ARRAY(struct rd_run_net) nets;
	RD_RUN_ARRAY(struct rd_run_rank) ranks;
	RD_RUN_ARRAY(struct rd_run_channel) channels;
	RD_RUN_ARRAY(struct rd_run_pair) pairs;
	RD_RUN_ARRAY(struct rd_run_var) vars;
	RD_RUN_ARRAY(struct rd_run_use) uses;
	RD_RUN_ARRAY(struct rd_run_prefer) prefers;
	char *network;		      /* "IB", "Socket", "AWS Libfabric"; owned; NULL: not in the log */
	size_t n_networks, n_sockets; /* lines that name a network; of these "Socket" */
	char *plugin;		      /* a network plugin that was loaded; owned; NULL: none, or not in the log */
	bool no_device;		      /* "NET/IB : No device found" */
	bool no_interface;	      /* "NET/IB : No IP interface found" */
	bool list_whole;	      /* the list of devices has NCCL's end mark: it was not truncated */
	bool tells_nets;	      /* it logs each NIC of the topology, including merged ones */
	bool nets_vary;		      /* a NIC number is ambiguous: processes had different lists */
};

struct rd_runlog {
	struct rd_run_host *v;
	size_t n, cap;
	unsigned version[3]; /* NCCL's: 2, 27, 6; the first 0: not in the log */
	char abi[96]; /* "ionic does not support the kernel ABI of 4 (supports 1 to 1)", said by libibverbs; "": not in the log */
	bool rccl;
	bool cut;
	size_t lines, known; /* number of lines, and of lines with content that is kept */
};
void rd_runlog_deinit(struct rd_runlog *log);

/* The host of that name, up to its first dot; NULL: none. */
const struct rd_run_host *rd_runlog_find(const struct rd_runlog *log, const char *name);

/* The value of a variable; NULL: not in the log. */
const char *rd_run_var(const struct rd_run_host *host, const char *name);

/* Whether processes had different values of a variable. */
bool rd_run_var_varies(const struct rd_run_host *host, const char *name);

/* The NIC of that number; NULL: not in the log, or ambiguous. */
const struct rd_run_net *rd_run_net(const struct rd_run_host *host, unsigned number);

/* Whether the log is of an NCCL older than 2.`minor`.`patch`; false if the version is unknown. */
bool rd_runlog_before(const struct rd_runlog *log, unsigned minor, unsigned patch);

/* Comparison of a prediction with a run. */

enum rd_verdict { RD_VERDICT_SAME, RD_VERDICT_DIFFERS, RD_VERDICT_UNKNOWN };
#define RD_VERDICTS (RD_VERDICT_UNKNOWN + 1)
const char *rd_verdict_name(enum rd_verdict verdict); /* "same", "differs", "unknown" */

struct rd_against_row {
	const char *topic;	    /* "network", "device", "gpudirect" …; static */
	char *subject;		    /* "mlx5_0/1", "GPU0"; owned */
	char *predicted, *observed; /* owned; NULL: none */
	char *reason;		    /* why they differ, or why the verdict is unknown; owned; NULL: none */
	enum rd_verdict verdict;
};

struct rd_against {
	struct rd_against_row *v;
	size_t n, cap;
	size_t n_of[RD_VERDICTS];
	struct rd_findings findings;
};
void rd_against_deinit(struct rd_against *against);

#endif
