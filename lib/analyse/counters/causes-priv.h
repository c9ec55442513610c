/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_CAUSES_PRIV_H
#define RD_ANALYSE_CAUSES_PRIV_H

#include "analyse/counters/delta.h"
#include "model/shared/cause.h"

/* What can be said of a port. */
enum rd_cause_id {
	RD_CAUSE_BAD_CABLE,
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

/* The priority in a counter's name ("rx_prio3_pause"); -1: it names none. */
int rd_priority_of(const char *name);

/* What moved on one port. */
struct rd_moved {
	uint32_t port;
	struct rd_moved_topic {
		uint64_t most; /* the largest delta: several counters may have counted the same */
		struct rd_evidence evidence[8];
		size_t n;
	} topics[RD_TOPICS];		  /* rnr-received is below RD_TOPIC_RNR, cnp-all below RD_TOPIC_CNP */
	uint64_t bits_in;		  /* received; 0: not known */
	uint64_t words_out;		  /* sent, where it is counted in units of 4 octets */
	uint64_t packets_in, packets_out; /* 0: not known */
	uint64_t pause_of[8];		  /* frames, both ways, by priority */
	uint64_t bytes_of[8];		  /* both ways */
	double seconds;			  /* 0: not known */
	bool compared;			  /* some delta was known */
	enum rd_delta_note note;	  /* why not, where it is of the whole port */
	struct rd_moved_topic stuck;	  /* stood at their end before, and do now: they count no more */
	bool reset;			  /* somebody reset a counter */
};

/* Fills `moved` (zeroed by the caller) from the counters of one port, which begin at *at; sets *at behind them. */
void rd_moved_gather(const struct rd_moment *now, const struct rd_delta *deltas, double seconds, size_t *at,
		     struct rd_moved *moved);

#endif
