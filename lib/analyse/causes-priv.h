/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_CAUSES_PRIV_H
#define RD_ANALYSE_CAUSES_PRIV_H

#include "analyse/delta.h"
#include "model/cause.h"

/* What counters of many names, of many drivers, are about. */
enum rd_topic {
	RD_TOPIC_NONE,
	RD_TOPIC_LINK_DOWN, /* the link went down, or trained anew */
	RD_TOPIC_BIT_ERROR, /* what arrived damaged, behind forward error correction */
	RD_TOPIC_CORRECTED, /* bits that it mended */
	RD_TOPIC_ICRC,	    /* damaged between the ends */
	RD_TOPIC_PCI_STALL, /* seconds in which PCI Express held the NIC back */
	RD_TOPIC_PCI_ERROR,
	RD_TOPIC_MODULE, /* transceiver */
	RD_TOPIC_PAUSE_STORM,
	RD_TOPIC_PAUSE_SENT, /* frames, one priority or all */
	RD_TOPIC_PAUSE_GOT,
	RD_TOPIC_PAUSED_US,  /* microseconds that this host held the switch */
	RD_TOPIC_HELD_US,    /* microseconds that the switch held this host */
	RD_TOPIC_DROP,	     /* dropped here for want of room */
	RD_TOPIC_TOO_LONG,   /* longer than the MTU */
	RD_TOPIC_NOT_SENT,   /* the interface did not take it */
	RD_TOPIC_MARKED,     /* packets that came with a congestion mark */
	RD_TOPIC_CNP,	     /* notices of congestion that lowered the rate */
	RD_TOPIC_CNP_OWN,    /* of these, what the NIC made up itself: a slow restart after loss */
	RD_TOPIC_RESTART,    /* packets sent again after a timeout, by the NIC's own transport */
	RD_TOPIC_WAIT,	     /* port_xmit_wait */
	RD_TOPIC_LOST,	     /* gaps in sequences */
	RD_TOPIC_TIMEOUT,    /* no acknowledgement in time */
	RD_TOPIC_RETRIES,    /* all retries used up */
	RD_TOPIC_RNR,	     /* receiver not ready */
	RD_TOPIC_RNR_END,    /* all waits for it used up */
	RD_TOPIC_KEY,	     /* wrong key, address, length */
	RD_TOPIC_COMPLETION, /* completions with an error, the flushed among them */
	RD_TOPIC_FLUSH,
	RD_TOPICS,
};

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

enum rd_topic rd_topic_of(const char *name);

/* The priority in a counter's name ("rx_prio3_pause"); -1: it names none. */
int rd_priority_of(const char *name);

/* What moved on one port. */
struct rd_moved {
	uint32_t port;
	struct rd_moved_topic {
		uint64_t most; /* the largest delta: several counters may have counted the same */
		struct rd_evidence evidence[8];
		size_t n;
	} topics[RD_TOPICS];
	uint64_t bits_in;		  /* received; 0: not known */
	uint64_t words_out;		  /* port_xmit_data */
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
