/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_CAUSES_H
#define RD_ANALYSE_CAUSES_H

#include "analyse/counters/delta.h"
#include "model/shared/cause.h"

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
	RD_CAUSE_DISCARDS,
	RD_CAUSE_LIMITED,
	RD_CAUSE_PARTITION,
	RD_CAUSE_MTU,
	RD_CAUSE_MARKED,
	RD_CAUSE_CNP_UNCLEAR,
	RD_CAUSE_WAITING,
	RD_CAUSE_LOSS,
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
	double seconds;			  /* 0: unknown */
	bool compared;			  /* at least one delta is known */
	enum rd_delta_note note;	  /* why not, if the reason concerns the whole port */
	struct rd_moved_topic saturated;  /* at their maximum, without a known increase: the deltas are values */
	bool no_symbols;		  /* symbol errors are counted and did not increase */
	bool reset;			  /* a counter was reset */
};

/* Fills `moved` (zeroed by the caller) from the counters of one port, which start at *at; advances *at past them. */
void rd_moved_gather(const struct rd_counted *now, const struct rd_delta *deltas, double seconds, size_t *at,
		     struct rd_moved *moved);

#endif
