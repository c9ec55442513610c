/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs of many hosts, to be matched with their remote QPs. Of each only what matching and its report need is kept, in 40
 * bytes: a job has millions of them, and the host they were read from can be released.
 */
#ifndef RD_MODEL_JOIN_H
#define RD_MODEL_JOIN_H

#include "base/map.h"
#include "base/siphash.h"

#define RD_JOIN_NONE UINT32_MAX
#define RD_JOIN_UNKNOWN_STATE 0xff /* also of a type */

/* How a queue pair names its peer. */
enum rd_join_names {
	RD_JOIN_NAMES_NOTHING, /* not connected, or its peer is unknown */
	RD_JOIN_NAMES_NUMBER,  /* the number of the remote QP, and perhaps its GID */
	RD_JOIN_NAMES_LINK, /* only the addresses and ports of its rdma_cm connection: iWARP has no remote QP numbers, and the
				* kernel does not list those of XRC */
};

struct rd_join_qp {
	uint32_t lqpn, rqpn;
	uint32_t peer;	   /* GID of the peer; index into addrs; 0: unknown */
	uint32_t src, dst; /* of its rdma_cm connection; index into addrs; both 0: unknown */
	uint32_t job;	   /* index into jobs; 0: unknown */
	uint16_t src_port, dst_port;
	uint16_t host, dev;
	uint16_t path_mtu;   /* bytes, as recorded; 0: not recorded */
	uint8_t type, state; /* RD_JOIN_UNKNOWN_STATE: unknown */
	uint8_t names;	     /* enum rd_join_names */
	bool reports;	     /* rqpn is known */
};

/* An IPv4 address is stored as ::ffff:a.b.c.d, as in the GID of RoCE. */
struct rd_join_addr {
	uint8_t ip[16];
	uint32_t owner, n_owners; /* from rd_join.owners on: the devices that have it */
};

struct rd_join_owner {
	uint32_t addr;
	uint16_t host, dev;
};

/* What the absence of a queue pair proves. */
enum rd_join_gap {
	RD_JOIN_COMPLETE, /* all queue pairs of the device were captured */
	RD_JOIN_CUT,	  /* not all of those that the kernel counts */
	RD_JOIN_HIDES,	  /* programs may have created some that the kernel does not track */
};

struct rd_join_dev {
	char *name;
	enum rd_join_gap gap;
	bool iwarp;
	bool lists_xrc;	    /* some XRC queue pair is listed; old kernels list none */
	bool links_unknown; /* connected queue pairs that only their rdma_cm connection identifies have none */
};

struct rd_join_host {
	char *name;
	uint64_t time_ns; /* when it was captured; 0: unknown */
	struct rd_join_dev *devs;
	size_t n_devs;
};

/* Owns everything. */
struct rd_join {
	struct rd_sipkey key; /* of the hash tables: set first, secret */
	struct rd_join_host *hosts;
	size_t n_hosts, cap_hosts;
	struct rd_join_qp *qps; /* by host, then as the host lists them */
	size_t n_qps, cap_qps;
	struct rd_join_addr *addrs; /* [0] is unused */
	size_t n_addrs, cap_addrs;
	struct rd_join_owner *owners; /* by address, host, device, once rd_join_match was called */
	size_t n_owners, cap_owners;
	char **jobs; /* without the step; [0] is unused */
	size_t n_jobs, cap_jobs;
	struct rd_map names_map, addrs_map, jobs_map;
};
void rd_join_deinit(struct rd_join *join);

enum rd_join_verdict {
	RD_JOIN_CONNECTED,
	RD_JOIN_HALF_OPEN,
	RD_JOIN_MISMATCH,
	RD_JOIN_AMBIGUOUS,
	RD_JOIN_NOT_VISIBLE,
	RD_JOIN_VERDICTS,
};
const char *rd_join_verdict_name(enum rd_join_verdict verdict); /* "connected", "half-open", … */

/* The reason for a verdict. */
enum rd_join_why {
	RD_JOIN_BY_GID,
	RD_JOIN_BY_ADDRESS,
	RD_JOIN_BY_NUMBER,
	RD_JOIN_FAILED,	       /* one of the two has failed */
	RD_JOIN_FAILED_MAYBE,  /* the same, but only numbers link them */
	RD_JOIN_MTU,	       /* different path MTUs were recorded */
	RD_JOIN_STATELESS,     /* the state of the remote QP is unknown */
	RD_JOIN_NOT_CONNECTED, /* the remote QP is not */
	RD_JOIN_NUMBERLESS,    /* the remote QP does not report its remote QP */
	RD_JOIN_OTHER_ADDRESS, /* the remote QP is connected to a QP of this number elsewhere */
	RD_JOIN_OTHER_NUMBER,  /* the remote QP is connected to another one */
	RD_JOIN_GONE,	       /* the device that has the peer's GID has no such queue pair; `n`: its owner */
	RD_JOIN_LINK_GONE,     /* the device that has the peer's address has no such connection; `n`: its owner */
	RD_JOIN_NO_OWNER,      /* no captured host has the peer's GID */
	RD_JOIN_NO_ADDRESS,    /* no captured host has the peer's address */
	RD_JOIN_OWNERS,	       /* `n` devices have it */
	RD_JOIN_SAME_NUMBER,   /* `n` queue pairs of the peer's device have this number */
	RD_JOIN_IS_CUT,
	RD_JOIN_IS_HIDDEN,
	RD_JOIN_XRC_UNTRACKED,
	RD_JOIN_LINKS_UNKNOWN,
	RD_JOIN_SEVERAL,   /* several queue pairs match */
	RD_JOIN_TOO_MANY,  /* too many candidates to compare all */
	RD_JOIN_ELSEWHERE, /* queue pairs of this number are connected elsewhere */
	RD_JOIN_NOT_FOUND, /* none of this number */
};

struct rd_join_pair {
	uint32_t a, b; /* indices into rd_join.qps; b may be RD_JOIN_NONE */
	uint32_t n;    /* of the reason */
	uint8_t verdict, why;
	bool apart; /* so far apart that the captures do not prove the reason: ambiguous */
};

struct rd_join_pairs {
	struct rd_join_pair *v; /* in the order of their first end */
	size_t n, cap;
	size_t count[RD_JOIN_VERDICTS];
	size_t n_gone; /* half-open because the remote QP no longer exists */
};
void rd_join_pairs_deinit(struct rd_join_pairs *pairs);

/* The remote QP no longer exists: what to say before anything else. */
static inline bool rd_join_is_gone(const struct rd_join_pair *pair)
{
	return pair->verdict == RD_JOIN_HALF_OPEN && (pair->why == RD_JOIN_GONE || pair->why == RD_JOIN_LINK_GONE);
}

/* Seconds between the captures of two hosts; 0 if unknown. */
double rd_join_seconds_apart(const struct rd_join *join, size_t a, size_t b);

/* The reason as text; caller frees. */
char *rd_join_reason(const struct rd_join *join, const struct rd_join_pair *pair);

#endif
