/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Increases of counters between two samples, their causes, and limits. */
#ifndef RD_ANALYSE_COUNTERS_H
#define RD_ANALYSE_COUNTERS_H

#include "base/text.h"
#include "model/counters/counter.h"
#include "model/shared/finding.h"

/* Upper bound of events per second on current ports: 400 million packets, about 1.6 Tbit/s of full-size ones. */
#define RD_EVENTS_PER_SECOND 4e8

/*
 * The increase of one counter. `bits` applies to RD_SATURATES and RD_WRAPS; `most` is the largest possible number of events
 * (UINT64_MAX: unknown).
 *
 * Saturating: a counter at its maximum has counted at least the difference to it. A counter that is smaller than before was
 * reset, and has counted at least its current value. Wrapping: only registering the device again resets such a counter, and
 * the samples show that, so a smaller value means that it wrapped; unless `most` rules it out, it may have wrapped more than
 * once, and the delta is a lower bound. Only a counter that is known to stay at its maximum can be saturated: others (an index,
 * a gauge) can have such a value, too.
 */
struct rd_delta rd_delta_of(enum rd_overflow overflow, unsigned bits, uint64_t before, uint64_t now, uint64_t most);

/* Index of a port by its device and number; SIZE_MAX: not in the set. */
size_t rd_counted_port(const struct rd_counter_set *set, const char *ibdev, unsigned port);

/* A set of counters with a sample of it. */
struct rd_counted {
	const struct rd_counter_set *set;
	const struct rd_counter_sample *sample;
};

/*
 * Deltas of all counters of `now`, matched with `before` by device, port, interface, group and name; `ret` has space for
 * now->set->n. After a reboot, with a different device under the name (GUID), or if the device was registered again, they are
 * unknown, with a note. If both moments use the same set, nothing is searched.
 */
void rd_deltas(const struct rd_counted *before, const struct rd_counted *now, struct rd_delta *ret);

/* Seconds between the two: by the monotonic clock if both are from the same boot, else by the wall clock; 0: unknown. */
double rd_moments_seconds(const struct rd_counted *before, const struct rd_counted *now);

/* Traffic of a port, from the counters that its driver has. */

/* Selects the counters by their topics. The set must outlive `rates`. */
void rd_rates_init(struct rd_rates *rates, const struct rd_counter_set *set);
void rd_rates_deinit(struct rd_rates *rates);

/* After devices were added or removed: copies the usual rates of the ports that are in both sets. */
void rd_rates_carry(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_rates *old,
		    const struct rd_counter_set *old_set);

/*
 * Rates of an interval of `seconds` from the deltas of all counters (rd_deltas). A counter whose delta is only a lower bound
 * gives no rate: an unknown rate must not look like a low one.
 */
void rd_rates_update(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_delta *deltas,
		     double seconds);

/*
 * Reports ports that carried traffic until this interval and carry (nearly) none now, if the host as a whole still has traffic
 * or the port is no longer active, and the port that took the traffic over, at once or after all were silent for as long as queue
 * pairs retry. Each loss is reported once, and once more when another port takes over. Call it after rd_rates_update.
 */
void rd_rates_findings(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_counter_sample *now,
		       struct rd_findings *findings);

/*
 * Derives causes from deltas over `seconds`. Link errors are judged per bit received, not by their number; counters that only
 * follow others (flushed work requests) are not a cause by themselves. Causes are ranked by severity, then confidence, then the
 * size of the increase. Findings hold each cause, ports of `before` (NULL: unknown) that are missing now, and what could not be
 * determined.
 */
void rd_causes_find(const struct rd_counted *before, const struct rd_counted *now, const struct rd_delta *deltas,
		    double seconds, struct rd_causes *ret);

/* Findings of one sample: error counters at their maximum, of the ports that are `wanted`. */
void rd_saturated_find(const struct rd_counted *now, const bool *wanted, struct rd_findings *findings);

/* Causes that can be reported for a port. */
enum rd_cause_id {
	RD_CAUSE_BAD_CABLE,
	RD_CAUSE_ELSEWHERE,
	RD_CAUSE_PCIE_STALL,
	RD_CAUSE_LINK_FLAP,
	RD_CAUSE_LINK_DOWN,
	RD_CAUSE_PCIE_ERRORS,
	RD_CAUSE_PAUSE_STORM,
	RD_CAUSE_PAUSED,
	RD_CAUSE_PFC_PRIORITY,
	RD_CAUSE_DROPS_NO_PFC,
	RD_CAUSE_DROPS_PFC,
	RD_CAUSE_DROPS_OTHER,
	RD_CAUSE_DISCARDS,
	RD_CAUSE_LIMITED,
	RD_CAUSE_PARTITION,
	RD_CAUSE_MTU,
	RD_CAUSE_MARKED,
	RD_CAUSE_CNP_UNCLEAR,
	RD_CAUSE_WAITING,
	RD_CAUSE_LOSS,
	RD_CAUSE_UNORDERED,
	RD_CAUSE_TIMEOUT,
	RD_CAUSE_RNR,
	RD_CAUSE_WORK_FAILED,
	RD_CAUSE_WEAK_SIGNAL,
	RD_CAUSE_TRANSCEIVER,
	RD_CAUSE_ICRC,
	RD_CAUSE_NOT_SENT,
	RD_CAUSE_PEER_GONE,
	RD_CAUSE_RNR_END,
	RD_CAUSE_KEY,
	RD_CAUSE_IDS,
};
struct rd_cause_words {
	const char *id, *title, *fix;
	enum rd_severity severity;
	enum rd_confidence confidence;
};
extern const struct rd_cause_words rd_cause_words[RD_CAUSE_IDS];

/* The priority in a counter's name ("rx_prio3_pause"); -1: the name has none. */
int rd_priority_of(const char *name);

/* Increases of the counters of one port. */
struct rd_moved {
	uint32_t port;
	const struct rd_counter_port *of; /* that port */
	struct rd_moved_topic {
		uint64_t most; /* the largest delta: several counters may count the same events */
		struct rd_evidence evidence[8];
		size_t n;
	} topics[RD_TOPICS];	   /* see judged_as */
	uint64_t gaps[2], naks[2]; /* packets lost, RNR NAKs: of responders, of requesters; each the largest delta */
	uint64_t bits_in;	   /* received; 0: unknown */
	uint64_t words_out;	   /* sent, if counted in units of 4 octets */
	uint64_t packets_in, packets_out; /* 0: unknown */
	uint64_t pause_of[8];		  /* frames, both directions, by priority */
	uint64_t bytes_of[8];		  /* both directions */
	uint64_t rdma_bytes;		  /* likewise; valid if rdma_counted */
	bool rdma_counted;
	double seconds;			 /* 0: unknown */
	bool compared;			 /* at least one delta is known */
	enum rd_delta_note note;	 /* why not, if the reason concerns the whole port */
	struct rd_moved_topic saturated; /* at their maximum, without a known increase: the deltas are values */
	bool no_symbols;		 /* symbol errors are counted and did not increase */
	bool reset;			 /* a counter was reset */
};

/* Fills `moved` (zeroed by the caller) from the counters of one port, which start at *at; advances *at past them. */
void rd_moved_gather(const struct rd_counted *now, const struct rd_delta *deltas, double seconds, size_t *at,
		     struct rd_moved *moved);

/* Compares counters with limits that a site sets (data/thresholds). */

struct rd_thresholds {
	struct rd_texts texts; /* the text that the fields point into */
	struct rd_threshold *v;
	size_t n, cap;
};

/*
 * Parses `text` (`size` bytes). A line holds
 *     NAME MEASURE LIMIT SEVERITY why, to the end of the line
 * NAME is a shell pattern; MEASURE is value (the current value), delta, per_second, per_bit or per_packet (of the bits and packets
 * that the port received). Above LIMIT the counter is reported with SEVERITY, warning or critical; "-" means no limit. Empty lines
 * and lines that begin with # are ignored. A line replaces lines of tables parsed before that have the same NAME, MEASURE and
 * SEVERITY. An invalid line is an error, because a limit that is silently not checked is worse than none. -EINVAL for an invalid
 * line or if there are no limits, -EFBIG; both fill `err`.
 */
int rd_thresholds_parse(const char *name, const char *text, size_t size, struct rd_thresholds *ret, struct rd_err *err);
void rd_thresholds_deinit(struct rd_thresholds *thresholds);

/* Whether one of them requires an earlier sample to compare with. */
bool rd_thresholds_compare(const struct rd_thresholds *thresholds);

/* Adds a finding for each counter that is above a limit: the most severe one. A counter that has a limit and could not be read
 * is a finding of severity unknown. `deltas` NULL: limits that require them are skipped. */
void rd_thresholds_judge(const struct rd_thresholds *thresholds, const struct rd_counted *now,
			 const struct rd_delta *deltas, double seconds, struct rd_findings *findings);

#endif
