/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/counters/topic.h"

#include <string.h>

static const char *const words[RD_TOPICS] = {
	[RD_TOPIC_LINK_DOWN] = "link-down",
	[RD_TOPIC_BIT_ERROR] = "bit-error",
	[RD_TOPIC_CORRECTED] = "corrected",
	[RD_TOPIC_REMOTE] = "remote-error",
	[RD_TOPIC_ICRC] = "icrc",
	[RD_TOPIC_PCI_STALL] = "pci-stall",
	[RD_TOPIC_PCI_ERROR] = "pci-error",
	[RD_TOPIC_MODULE] = "module",
	[RD_TOPIC_PAUSE_STORM] = "pause-storm",
	[RD_TOPIC_PAUSE_SENT] = "pause-sent",
	[RD_TOPIC_PAUSE_GOT] = "pause-received",
	[RD_TOPIC_PAUSED_US] = "pause-sent-time",
	[RD_TOPIC_HELD_US] = "pause-received-time",
	[RD_TOPIC_DROP] = "drop",
	[RD_TOPIC_DISCARDED] = "discarded",
	[RD_TOPIC_LIMITED] = "limited",
	[RD_TOPIC_PARTITION] = "partition",
	[RD_TOPIC_TOO_LONG] = "too-long",
	[RD_TOPIC_NOT_SENT] = "not-sent",
	[RD_TOPIC_MARKED] = "marked",
	[RD_TOPIC_CNP] = "cnp",
	[RD_TOPIC_CNP_OWN] = "cnp-own",
	[RD_TOPIC_CNP_ALL] = "cnp-all",
	[RD_TOPIC_RESTART] = "slow-restart",
	[RD_TOPIC_WAIT] = "wait",
	[RD_TOPIC_LOST] = "lost",
	[RD_TOPIC_REPLY_LOST] = "response-lost",
	[RD_TOPIC_RETRANSMITTED] = "retransmitted",
	[RD_TOPIC_TIMEOUT] = "timeout",
	[RD_TOPIC_RETRIES] = "retries-exceeded",
	[RD_TOPIC_RNR] = "rnr-sent",
	[RD_TOPIC_RNR_GOT] = "rnr-received",
	[RD_TOPIC_RNR_END] = "rnr-exceeded",
	[RD_TOPIC_KEY] = "refused",
	[RD_TOPIC_COMPLETION] = "completion-error",
	[RD_TOPIC_FLUSH] = "flushed",
	[RD_TOPIC_DATA_SENT] = "data-sent",
	[RD_TOPIC_DATA_GOT] = "data-received",
	[RD_TOPIC_PACKETS_SENT] = "packets-sent",
	[RD_TOPIC_PACKETS_GOT] = "packets-received",
	[RD_TOPIC_LINE_GOT] = "line-received",
	[RD_TOPIC_PRIORITY_DATA] = "priority-data",
};

bool rd_topic_parse(const char *word, enum rd_topic *ret)
{
	for (enum rd_topic topic = RD_TOPIC_NONE + 1; topic < RD_TOPICS; topic++)
		if (strcmp(word, words[topic]) == 0) {
			*ret = topic;
			return true;
		}
	return false;
}

bool rd_topic_is_load(enum rd_topic topic)
{
	return topic >= RD_TOPIC_DATA_SENT;
}
