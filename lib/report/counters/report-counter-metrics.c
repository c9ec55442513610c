/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters as metrics: one family per name, in base units if the table of meanings has the unit. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/counters/report-rates.h"

/* Base units of the units in the table; other units count objects and have no base unit. */
static const struct {
	const char *unit, *base;
	double factor;
} units[] = {
	{ "4-octets", "bytes", 4 },
	{ "bytes", "bytes", 1 },
	{ "seconds", "seconds", 1 },
	{ "microseconds", "seconds", 1e-6 },
};

/* Index into `units`; -1: none. */
static int unit_of(const struct rd_meaning *meaning)
{
	for (size_t i = 0; meaning && i < RD_ARRAY_SIZE(units); i++)
		if (strcmp(meaning->unit, units[i].unit) == 0)
			return (int)i;
	return -1;
}

static struct rd_metric *family_of(struct rd_metrics *metrics, const struct rd_counter *counter)
{
	const char *group = rd_counter_group_name(counter->group);
	bool has_group = strncmp(counter->name, group, strlen(group)) == 0 && counter->name[strlen(group)] == '_';
	_cleanup_free_ char *name = has_group ? rd_text("%s", counter->name) : rd_text("%s_%s", group, counter->name);
	int unit = unit_of(counter->meaning);

	return rd_metrics_family(metrics, name, counter->overflow == RD_GAUGE ? RD_METRIC_GAUGE : RD_METRIC_COUNTER,
				 unit >= 0 ? units[unit].base : NULL,
				 counter->meaning ? counter->meaning->text : "Not in the table of counters.");
}

static void add_counter(struct rd_metrics *metrics, const struct rd_counter_set *set, const struct rd_counter *counter,
			uint64_t value)
{
	const struct rd_counter_port *port = &set->ports[counter->port];
	int unit = unit_of(counter->meaning);
	char number[16] = "", bound[16] = "";
	const struct rd_label labels[] = {
		{ "device", port->ibdev },    { "port", number },	  { "netdev", counter->netdev },
		{ "counter", counter->name }, { "bound_counter", bound },
	};

	if (port->port)
		snprintf(number, sizeof(number), "%u", port->port);
	if (counter->group == RD_GROUP_QP)
		snprintf(bound, sizeof(bound), "%u", counter->counter);
	if (unit >= 0 && units[unit].factor < 1)
		rd_metric_double(family_of(metrics, counter), (double)value * units[unit].factor, labels,
				 RD_ARRAY_SIZE(labels));
	else
		rd_metric_uint(family_of(metrics, counter), value * (unit >= 0 ? (uint64_t)units[unit].factor : 1),
			       labels, RD_ARRAY_SIZE(labels));
}

static void add_port(struct rd_metrics *metrics, const struct rd_counter_port *port,
		     const struct rd_counter_state *state)
{
	char number[16];
	const struct rd_label labels[] = {
		{ "device", port->ibdev },	    { "port", number },	  { "netdev", port->netdev },
		{ "driver", port->driver },	    { "pci", port->pci }, { "guid", port->guid },
		{ "link_layer", port->link_layer },
	};
	struct rd_metric *family;

	snprintf(number, sizeof(number), "%u", port->port);
	family = rd_metrics_family(metrics, "port_info", RD_METRIC_GAUGE, NULL,
				   "Always 1; the labels describe the port.");
	rd_metric_uint(family, 1, labels, RD_ARRAY_SIZE(labels));
	family = rd_metrics_family(metrics, "port_active", RD_METRIC_GAUGE, NULL,
				   "1 if the port is present and ACTIVE, else 0.");
	if (!state->there || state->state[0])
		rd_metric_uint(family, state->there && strcmp(state->state, "ACTIVE") == 0, labels, 2);
	family = rd_metrics_family(metrics, "port_rate", RD_METRIC_GAUGE, "bytes",
				   "Line rate of the port in bytes per second.");
	if (port->rate_gbps.known == RD_OK)
		rd_metric_double(family, port->rate_gbps.v * 1e9 / 8, labels, 2);
}

void rd_report_counter_metrics(struct rd_report *report, const struct rd_counter_set *set,
			       const struct rd_counter_sample *now, const bool *selected)
{
	for (size_t p = 0; p < set->n_ports; p++)
		if (set->ports[p].port)
			add_port(&report->metrics, &set->ports[p], &now->states[p]);
	for (size_t i = 0; i < set->n; i++)
		if (now->values[i].known == RD_OK && (!selected || selected[i]))
			add_counter(&report->metrics, set, &set->counters[i], now->values[i].v);
}
