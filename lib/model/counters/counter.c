/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/counters/counter.h"

#include "base/text.h"

static const char *const groups[] = {
	[RD_GROUP_PORT] = "port",     [RD_GROUP_HW] = "hw",	      [RD_GROUP_OPTIONAL] = "optional",
	[RD_GROUP_QP] = "qp",	      [RD_GROUP_ETHTOOL] = "ethtool", [RD_GROUP_STANDARD] = "standard",
	[RD_GROUP_NETDEV] = "netdev",
};

const char *rd_counter_group_name(enum rd_counter_group group)
{
	return groups[group];
}

int rd_counter_group_parse(const char *word)
{
	for (int i = 0; i < RD_GROUPS; i++)
		if (strcmp(word, groups[i]) == 0)
			return i;
	return -1;
}

const char *rd_overflow_name(enum rd_overflow overflow)
{
	static const char *const names[] = {
		[RD_SATURATES] = "saturates", [RD_WRAPS] = "wraps", [RD_64BIT] = "64-bit", [RD_GAUGE] = "gauge"
	};

	return names[overflow];
}

const char *rd_counter_role_name(enum rd_counter_role role)
{
	static const char *const names[] = {
		[RD_ROLE_LOAD] = "load", [RD_ROLE_CAUSE] = "cause", [RD_ROLE_FOLLOWS] = "consequence", [RD_ROLE_SIGN] = "sign"
	};

	return names[role];
}

const char *rd_delta_note_name(enum rd_delta_note note)
{
	static const char *const names[] = {
		[RD_NOTE_SATURATED] = "saturated", [RD_NOTE_WRAPPED] = "wrapped", [RD_NOTE_TURNS] = "turns",
		[RD_NOTE_RESET] = "reset",	   [RD_NOTE_REBOOT] = "reboot",	  [RD_NOTE_REPLACED] = "replaced",
		[RD_NOTE_RELOADED] = "reloaded",   [RD_NOTE_NEW] = "new",	  [RD_NOTE_GONE] = "gone",
		[RD_NOTE_UNREAD] = "unread",
	};

	return names[note];
}

void rd_counter_set_deinit(struct rd_counter_set *set)
{
	for (size_t i = 0; i < set->n_ports; i++)
		RD_FREE(set->ports[i].ibdev, set->ports[i].netdev, set->ports[i].driver, set->ports[i].pci,
			set->ports[i].guid, set->ports[i].link_layer);
	for (size_t i = 0; i < set->n; i++)
		RD_FREE(set->counters[i].name, set->counters[i].netdev);
	RD_FREE(set->ports, set->counters);
	*set = (struct rd_counter_set){ 0 };
}

struct rd_counter_port *rd_counter_set_add_port(struct rd_counter_set *set)
{
	rd_reserve(&set->ports, &set->cap_ports, set->n_ports + 1, sizeof(*set->ports));
	set->ports[set->n_ports] = (struct rd_counter_port){ 0 };
	return &set->ports[set->n_ports++];
}

struct rd_counter *rd_counter_set_add(struct rd_counter_set *set, uint32_t port, enum rd_counter_group group,
				      const char *name)
{
	rd_reserve(&set->counters, &set->cap, set->n + 1, sizeof(*set->counters));
	set->counters[set->n] = (struct rd_counter){ .port = port, .group = group, .name = rd_dup(name) };
	return &set->counters[set->n++];
}

char *rd_counter_port_label(const struct rd_counter_port *port)
{
	const char *name = port->ibdev ?: port->netdev ? port->netdev : "?";

	return rd_text(port->port ? "%s/%u" : "%s", name, port->port);
}

bool rd_counter_saturated(const struct rd_counter *counter, const struct rd_counter_value *value)
{
	return counter->overflow == RD_SATURATES && counter->bits < 64 && value->known == RD_OK &&
	       value->v >= (UINT64_C(1) << counter->bits) - 1;
}

void rd_counter_sample_deinit(struct rd_counter_sample *sample)
{
	RD_FREE(sample->values, sample->states);
	*sample = (struct rd_counter_sample){ 0 };
}

void rd_counter_sample_fit(struct rd_counter_sample *sample, const struct rd_counter_set *set)
{
	if (sample->n != set->n || !sample->values) {
		free(sample->values);
		sample->values = rd_alloc(set->n, sizeof(*sample->values));
		sample->n = set->n;
	}
	if (sample->n_ports != set->n_ports || !sample->states) {
		free(sample->states);
		sample->states = rd_alloc(set->n_ports, sizeof(*sample->states));
		sample->n_ports = set->n_ports;
	}
	memset(sample->values, 0, sample->n * sizeof(*sample->values));
	memset(sample->states, 0, sample->n_ports * sizeof(*sample->states));
}

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
	[RD_TOPIC_PAUSE_SENT_TIME] = "pause-sent-time",
	[RD_TOPIC_PAUSE_GOT_TIME] = "pause-received-time",
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
