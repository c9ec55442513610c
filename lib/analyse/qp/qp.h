/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conclusions from the kernel's RDMA resource tracking: connections, peers, missing entries, resources that run out; selection, time,
 * groups, timeouts and spread of queue pairs. */
#ifndef RD_ANALYSE_QP_H
#define RD_ANALYSE_QP_H

#include "base/err.h"
#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

/* Links each QP to its rdma_cm connection, and takes the peer's GID from the connection where its address is a GID
 * (RoCE, AF_IB); and to what its device or driver reports. */
void rd_qp_link(struct rd_qp_views *views);

/* Whether a QP of this type has one peer once connected. */
bool rd_qp_is_connected_type(const struct rd_qp *qp);

/* The GID of the peer; if unknown, the destination address of the connection, IPv4 as ::ffff:a.b.c.d. False: both unknown. */
bool rd_qp_peer(const struct rd_qp_views *views, size_t i, uint8_t ret[16]);

/* An address as 16 bytes: on RoCE, the GID; IPv4 as ::ffff:a.b.c.d. */
void rd_qp_address(const struct rd_sockaddr *addr, uint8_t ret[16]);

/* The IP address in a GID of RoCE. `ret`: 46 bytes. */
void rd_qp_gid_ip(const uint8_t gid[16], char *ret);

/* In SQE or ERR; false if the state is unknown. */
bool rd_qp_has_failed(const struct rd_qp *qp);

/* The device failed to report the state. (With EAGAIN the device was not queried.) */
bool rd_qp_query_failed(const struct rd_qp *qp);

/*
 * Programs can create queue pairs of this device that the kernel does not track (mlx5: through DEVX, as UCX's DC transport,
 * DOCA and NVSHMEM's IBGDA do). Conclusions from the absence of a QP must take this into account.
 */
bool rd_res_dev_hides_qps(const struct rd_res_dev *dev);

/* Whether the device is soft-RoCE, which retries forever with retry_cnt 7. */
bool rd_res_dev_is_rxe(const struct rd_res_dev *dev);

/* Findings about entries missing from the list (other namespaces, dumps that ended early, devices that did not respond) and,
 * from the summary, about resources that are nearly exhausted. */
void rd_res_findings(const struct rd_res *res, struct rd_findings *findings);

/* Selection (qp-filter.c). */

#define RD_QP_FILTER_MAX 64 /* numbers in a list */

/* A set of states or types: a bit for each, and one for "unknown". */
struct rd_qp_kinds {
	uint32_t bits; /* 0: all */
	bool negated;
};

struct rd_qp_numbers {
	uint32_t v[RD_QP_FILTER_MAX];
	size_t n; /* 0: all */
};

/* The caller owns the text, which must stay in place. */
struct rd_qp_filter {
	const char *devices; /* names, separated by commas; NULL: all */
	const char *comm;    /* a shell pattern, as is `job` */
	const char *job;     /* "slurm:42" includes its steps */
	struct rd_qp_kinds states, types;
	struct rd_qp_numbers pids, lqpns, rqpns;
	bool has_peer;
	uint8_t peer[16]; /* a GID; an IPv4 address as ::ffff:a.b.c.d */
};

/*
 * Parses the argument of an option: "device", "pid", "comm", "job", "state", "type", "lqpn", "rqpn", "peer". Lists are separated
 * by commas; a leading ! or ^ negates states and types; numbers with 0x are hexadecimal. -EINVAL with `err` filled.
 */
int rd_qp_filter_set(struct rd_qp_filter *filter, const char *option, const char *arg, struct rd_err *err);

/* Whether queue pair `i` matches. An unknown field matches only negated sets. */
bool rd_qp_filter_matches(const struct rd_qp_filter *filter, const struct rd_qp_views *views, size_t i);

/* Whether a job (NULL: none) matches a shell pattern. A step is part of its job: "slurm:42.0" of "slurm:42". */
bool rd_qp_job_matches(const char *pattern, const char *job);

/*
 * Adds an error (ENOENT) for each number of --lqpn that the kernel lists on none of the selected devices, whatever the other
 * filters select, and copies the last one to `err`. Both may be NULL. Returns how many are not listed.
 */
size_t rd_qp_filter_missing(const struct rd_qp_filter *filter, const struct rd_res *res, struct rd_errlist *errors,
			    struct rd_err *err);

/*
 * Queue pairs over time (qp-track.c): changes between two samples, and events recorded in between. How long each queue pair has been in its
 * state, and how well that is known:
 *   exact      the transition was recorded: a modify_qp call, the creation, or an event that reports the failure
 *   interval   two samples differ, and no transition was recorded (the device changed the state, or no recorder ran)
 *   at_least   it was in this state in the first sample
 * A reused number is detected by device, process, PD and type; a queue pair that was reconnected between two samples by the
 * number of its remote QP.
 */

struct rd_qp_track;

struct rd_qp_track *rd_qp_track_create(void);
void rd_qp_track_destroy(struct rd_qp_track *track);

/* Takes a sample of all queue pairs, read between `began_ns` and `mono_ns` (CLOCK_MONOTONIC). Fills the past of each view; drops
 * queue pairs that no longer exist. Tracks at most 2^18 queue pairs. */
void rd_qp_track_sample(struct rd_qp_track *track, struct rd_qp_views *views, uint64_t began_ns, uint64_t mono_ns);

/* The same for a sample that no other follows: keeps nothing. */
void rd_qp_track_last(struct rd_qp_track *track, struct rd_qp_views *views, uint64_t began_ns, uint64_t mono_ns);

/* Keeps the causes of failures, which later samples cannot determine. */
void rd_qp_track_keep(struct rd_qp_track *track, const struct rd_qp_views *views);

/* Takes an event, in chronological order. Fills `before` if the caller did not set it, and the time spent in that state. */
void rd_qp_track_event(struct rd_qp_track *track, struct rd_qp_event *event);

/* Whether a queue pair is in ERR after this event (enum ib_event_type). */
bool rd_qp_event_fails(uint32_t code);

/*
 * Fills the past of each view where nothing better is known: attributes, exact age, last errno and event. `now_ns`
 * (CLOCK_MONOTONIC): when the sample ended; 0: no ages. An entry that contradicts the list (another type, process, remote QP or state)
 * is of an earlier queue pair with this number, or outdated, and is not used.
 */
void rd_qp_apply_recorded(struct rd_qp_views *views, uint64_t now_ns);

/* Groups and owners (qp-groups.c). */

/* Groups the queue pairs for which `chosen` (n_qps entries; NULL: all) is true. By peer: connected types only; queue pairs with
 * an unknown peer form one group per device. */
void rd_qp_group_by(const struct rd_qp_views *views, const bool *chosen, enum rd_qp_by by, struct rd_qp_groups *ret);

/* Findings: dead and degraded paths. */
void rd_qp_groups_findings(const struct rd_res *res, const struct rd_qp_groups *groups, struct rd_findings *findings);

/* Counts listed objects by owner. The caller frees `ret->v`. */
void rd_res_count_holders(const struct rd_res *res, struct rd_res_holders *ret);

/* Timeouts, and what is unknown (qp-timers.c). */

/* Of the queue pairs selected by `chosen` (NULL: all): timers that are off, or longest; retries without end. One finding per
 * device. */
void rd_qp_timer_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/* A note if the peer of connected queue pairs is unknown: how many, why, and how to learn it. */
void rd_qp_peer_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/* A finding if the local ACK timeout of queue pairs that have one is unknown. Returns whether it is known of none of them. */
bool rd_qp_timeout_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/*
 * InfiniBand Architecture Specification, volume 1, 9.7.6.1.3 (local ACK timeout: 4.096 us x 2^timeout; a device may let it run
 * up to four times as long), 9.7.5.2.8 and the table "Encoding for RNR NAK Timer Field" (a minimum). retry_cnt counts the
 * retransmissions after the first transmission: R takes R + 1 timeouts. timeout 0 and rnr_retry 7 mean forever.
 */
struct rd_giveup rd_qp_giveup(struct rd_timeouts in);

/* iWARP reports INIT for an interface without an IPv4 address: one with IPv6 alone passes packets. */
bool rd_qp_port_lacks_ipv4(const struct rd_res *res, const struct rd_res_port *port);

/* Whether it sends requests that are acknowledged, or did: RC, and XRC from its initiator, from RTS on. Others have no timeout set. */
bool rd_qp_times_out(const struct rd_qp *qp);

/* The timeouts of a queue pair, but for the RNR timer: that of the remote QP applies. */
struct rd_timeouts rd_qp_timeouts(const struct rd_qp_views *views, size_t i);

/* Seconds of a code of the RNR timer; 0 for an invalid code (above 31). */
double rd_rnr_timer_seconds(unsigned code);

/* Sets `ret` (res->n_procs entries): whether the process has a device open through which programs can create queue pairs that the
 * kernel does not track. Needs the lists of contexts and queue pairs. */
void rd_qp_procs_that_may_hide(const struct rd_res *res, bool *ret);

/* Findings about such processes: with libraries that create queue pairs in that way (rd_proc.devx_libs), or without a listed queue pair
 * on such a device. There is no count: no source has it. */
void rd_qp_hidden_findings(const struct rd_res *res, struct rd_findings *findings);

/* Counts, for each process (`ret`: res->n_procs entries), the queue pairs of connected types for which `chosen` (NULL: all) is true
 * and whose peer is unknown. */
void rd_qp_count_unknown_peers(const struct rd_qp_views *views, const bool *chosen, size_t *ret);

/* Findings: the TCP connections of these processes (rd_proc.peers), as far as they were read. They never tell which queue pair is
 * connected to which host. */
void rd_qp_proc_peers_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/* How evenly RoCE v2 flows spread over equal-cost links (qp-entropy.c). */

/*
 * A flow is a connected queue pair. Its five-tuple: the two addresses, UDP, port 4791, and the source port (as recorded, else
 * by the kernel's rule, see below). Switches do not publish their hash, so many good hashes model it: the share of the fullest
 * of `links` links is given as the mean and the maximum over them. Flows with the same five-tuple share a link with any hash of
 * the five-tuple only. Only queue pairs for which `chosen` (NULL: all) is true.
 */
void rd_qp_spread(const struct rd_qp_views *views, const bool *chosen, unsigned links, struct rd_spreads *ret);

/* Findings: colliding flows, and flows left out. */
void rd_qp_spread_findings(const struct rd_res *res, const struct rd_spreads *spreads, struct rd_findings *findings);

#endif
