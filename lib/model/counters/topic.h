/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topics of counters, common to all drivers. data/counters explains each word. */
#ifndef RD_MODEL_TOPIC_H
#define RD_MODEL_TOPIC_H

#include "base/base.h"

enum rd_topic {
	RD_TOPIC_NONE,
	RD_TOPIC_LINK_DOWN,
	RD_TOPIC_BIT_ERROR,
	RD_TOPIC_CORRECTED,
	RD_TOPIC_REMOTE, /* damaged on an earlier link */
	RD_TOPIC_ICRC,
	RD_TOPIC_PCI_STALL,
	RD_TOPIC_PCI_ERROR,
	RD_TOPIC_MODULE,
	RD_TOPIC_PAUSE_STORM,
	RD_TOPIC_PAUSE_SENT,
	RD_TOPIC_PAUSE_GOT,
	RD_TOPIC_PAUSED_US, /* this host paused the link partner */
	RD_TOPIC_HELD_US,   /* the link partner paused this host */
	RD_TOPIC_DROP,
	RD_TOPIC_DISCARDED, /* not sent for lack of a link or of credits; RD_TOPIC_DROP: received */
	RD_TOPIC_LIMITED,
	RD_TOPIC_PARTITION,
	RD_TOPIC_TOO_LONG,
	RD_TOPIC_NOT_SENT,
	RD_TOPIC_MARKED,
	RD_TOPIC_CNP,
	RD_TOPIC_CNP_OWN,
	RD_TOPIC_CNP_ALL,
	RD_TOPIC_RESTART,
	RD_TOPIC_WAIT,
	RD_TOPIC_LOST,
	RD_TOPIC_REPLY_LOST,
	RD_TOPIC_RETRANSMITTED,
	RD_TOPIC_TIMEOUT,
	RD_TOPIC_RETRIES,
	RD_TOPIC_RNR, /* sent by this host */
	RD_TOPIC_RNR_GOT,
	RD_TOPIC_RNR_END,
	RD_TOPIC_KEY,
	RD_TOPIC_COMPLETION, /* including flushed ones */
	RD_TOPIC_FLUSH,
	/* Topics of load. */
	RD_TOPIC_DATA_SENT,
	RD_TOPIC_DATA_GOT,
	RD_TOPIC_PACKETS_SENT,
	RD_TOPIC_PACKETS_GOT,
	RD_TOPIC_LINE_GOT,
	RD_TOPIC_PRIORITY_DATA,
	RD_TOPICS,
};

/* False for an unknown word. */
bool rd_topic_parse(const char *word, enum rd_topic *ret);

/* Whether the topic is about traffic of a port. */
bool rd_topic_is_load(enum rd_topic topic);

#endif
