/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters */
#include "report/counters/report-counters.h"

#include <stdio.h>
#include <string.h>

#include "report/shared/finding.h"

const struct rd_column rd_counter_columns[RD_CNT_COLUMNS] = {
	[RD_CNT_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	[RD_CNT_PORT] = { "port", "PORT", RD_T_UINT, "port number; empty for counters of the whole device" },
	[RD_CNT_NETDEV] = { "netdev", "NETDEV", RD_T_STR, "network interface on the port", .hidden = true },
	[RD_CNT_GROUP] = { "group", "GROUP", RD_T_STR, "source: port, hw, optional, qp, ethtool, standard or netdev" },
	[RD_CNT_NAME] = { "name", "NAME", RD_T_STR, "name of the counter, as its source has it" },
	[RD_CNT_VALUE] = { "value", "VALUE", RD_T_UINT, "current value" },
	[RD_CNT_DELTA] = { "delta", "DELTA", RD_T_UINT,
			   "increase since the previous sample, or since the one of --since" },
	[RD_CNT_PER_SECOND] = { "per_second", "PER-SECOND", RD_T_DOUBLE, "the increase per second", .decimals = 1 },
	[RD_CNT_UNIT] = { "unit", "UNIT", RD_T_STR, "unit of the value" },
	[RD_CNT_NOTE] = { "note", "NOTE", RD_T_STR, "reason why a value or delta is unknown or a lower bound" },
	[RD_CNT_SATURATED] = { "saturated", "SATURATED", RD_T_BOOL, "at its maximum: more events may have happened",
			       .hidden = true },
	[RD_CNT_OVERFLOW] = { "overflow", "OVERFLOW", RD_T_STR, "saturates, wraps, 64-bit or gauge", .hidden = true },
	[RD_CNT_BITS] = { "bits", "BITS", RD_T_UINT, "width of the counter", .hidden = true },
	[RD_CNT_DELTA_KIND] = { "delta_kind", "DELTA-KIND", RD_T_STR, "exact or at_least", .hidden = true },
	[RD_CNT_DELTA_NOTE] = { "delta_note", "DELTA-NOTE", RD_T_STR,
				"saturated, wrapped, turns (may have wrapped more than once), reset, reboot, replaced, reloaded, new, gone, unread",
				.hidden = true },
	[RD_CNT_ROLE] = { "role", "ROLE", RD_T_STR,
			  "load (traffic), cause or consequence of a fault, or sign of congestion", .hidden = true },
	[RD_CNT_DRIVER] = { "driver", "DRIVER", RD_T_STR, "RDMA driver", .hidden = true },
	[RD_CNT_COUNTER] = { "counter", "COUNTER", RD_T_UINT, "group qp: id of the bound counter", .hidden = true },
	[RD_CNT_ERROR] = { "error", "ERROR", RD_T_STR, "errno: why the value is unknown", .hidden = true },
	[RD_CNT_MEANING] = { "meaning", "MEANING", RD_T_STR, "meaning of the counter", .hidden = true },
};

enum {
	PORT_IBDEV,
	PORT_PORT,
	PORT_NETDEV,
	PORT_DRIVER,
	PORT_PCI,
	PORT_GUID,
	PORT_LAYER,
	PORT_STATE,
	PORT_RATE,
	PORT_THERE,
	PORT_INSTANCE,
	PORT_COLUMNS
};
static const struct rd_column port_columns[PORT_COLUMNS] = {
	[PORT_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	[PORT_PORT] = { "port", "PORT", RD_T_UINT, "port number" },
	[PORT_NETDEV] = { "netdev", "NETDEV", RD_T_STR, "network interface" },
	[PORT_DRIVER] = { "driver", "DRIVER", RD_T_STR, "RDMA driver" },
	[PORT_PCI] = { "pci", "PCI", RD_T_STR, "PCI address" },
	[PORT_GUID] = { "guid", "GUID", RD_T_STR, "node GUID of the device" },
	[PORT_LAYER] = { "link_layer", "LINK", RD_T_STR, "InfiniBand or Ethernet" },
	[PORT_STATE] = { "state", "STATE", RD_T_STR, "ACTIVE, DOWN ..." },
	[PORT_RATE] = { "rate_gbps", "RATE", RD_T_DOUBLE, "line rate in Gbit/s", .decimals = 1 },
	[PORT_THERE] = { "present", "PRESENT", RD_T_BOOL, "whether the port was present when it was sampled" },
	[PORT_INSTANCE] = { "instance", "INSTANCE", RD_T_UINT, "changes when the driver is reloaded" },
};

enum {
	CAUSE_IBDEV,
	CAUSE_PORT,
	CAUSE_ID,
	CAUSE_SEVERITY,
	CAUSE_CONFIDENCE,
	CAUSE_TITLE,
	CAUSE_OBSERVED,
	CAUSE_FIX,
	CAUSE_ADVICE,
	CAUSE_COUNTERS,
	CAUSE_COLUMNS
};
static const struct rd_column cause_columns[CAUSE_COLUMNS] = {
	[CAUSE_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	[CAUSE_PORT] = { "port", "PORT", RD_T_UINT, "port number" },
	[CAUSE_ID] = { "id", "CAUSE", RD_T_STR, "id of the cause" },
	[CAUSE_SEVERITY] = { "severity", "SEVERITY", RD_T_STR, "ok, warning, critical or unknown" },
	[CAUSE_CONFIDENCE] = { "confidence", "CONFIDENCE", RD_T_STR, "low, medium or high" },
	[CAUSE_TITLE] = { "title", "TITLE", RD_T_STR, "the fault" },
	[CAUSE_OBSERVED] = { "observed", "OBSERVED", RD_T_STR, "measured values" },
	[CAUSE_FIX] = { "fix", "FIX", RD_T_STR, "commands that fix it" },
	[CAUSE_ADVICE] = { "advice", "ADVICE", RD_T_STR, "what else to do" },
	[CAUSE_COUNTERS] = { "counters", NULL, RD_T_ROWS, "counters that indicate the cause" },
};

enum { EVIDENCE_GROUP, EVIDENCE_NAME, EVIDENCE_DELTA, EVIDENCE_AT_LEAST, EVIDENCE_COLUMNS };
static const struct rd_column evidence_columns[EVIDENCE_COLUMNS] = {
	[EVIDENCE_GROUP] = { "group", NULL, RD_T_STR, "source of the counter" },
	[EVIDENCE_NAME] = { "name", NULL, RD_T_STR, "name of the counter" },
	[EVIDENCE_DELTA] = { "delta", NULL, RD_T_UINT, "increase" },
	[EVIDENCE_AT_LEAST] = { "at_least", NULL, RD_T_BOOL, "whether the increase is a lower bound" },
};

enum { SCALAR_BOOT, SCALAR_MONOTONIC, SCALAR_SECONDS, SCALAR_COLUMNS };
static const struct rd_column scalar_columns[SCALAR_COLUMNS] = {
	[SCALAR_BOOT] = { "boot_id", NULL, RD_T_STR, "boot ID of the host" },
	[SCALAR_MONOTONIC] = { "monotonic_seconds", NULL, RD_T_DOUBLE, "seconds since boot", .decimals = 6 },
	[SCALAR_SECONDS] = { "seconds", NULL, RD_T_DOUBLE, "seconds between the two samples", .decimals = 6 },
};

enum {
	MEANING_NAME,
	MEANING_DRIVER,
	MEANING_UNIT,
	MEANING_OVERFLOW,
	MEANING_BITS,
	MEANING_ROLE,
	MEANING_SUM,
	MEANING_TEXT,
	MEANING_COLUMNS
};
static const struct rd_column meaning_columns[MEANING_COLUMNS] = {
	[MEANING_NAME] = { "name", "NAME", RD_T_STR, "name of the counter, or a pattern" },
	[MEANING_DRIVER] = { "driver", "DRIVER", RD_T_STR, "driver; * for any" },
	[MEANING_UNIT] = { "unit", "UNIT", RD_T_STR, "unit of the value" },
	[MEANING_OVERFLOW] = { "overflow", "OVERFLOW", RD_T_STR,
			       "behaviour at the maximum: saturates, wraps, 64-bit or gauge" },
	[MEANING_BITS] = { "bits", "BITS", RD_T_UINT, "width of the counter" },
	[MEANING_ROLE] = { "role", "ROLE", RD_T_STR,
			   "load (traffic), cause or consequence of a fault, or sign of congestion" },
	[MEANING_SUM] = { "summable", "SUM", RD_T_BOOL, "whether values may be added up over ports" },
	[MEANING_TEXT] = { "meaning", "MEANING", RD_T_STR, "meaning of the counter" },
};

static const char *note_of(const struct rd_counter *counter, const struct rd_counter_value *value, bool saturated,
			   const struct rd_delta *delta, char *buf, size_t size)
{
	static const char *const notes[] = {
		[RD_NOTE_SATURATED] = "saturated: at least",
		[RD_NOTE_WRAPPED] = "wrapped",
		[RD_NOTE_TURNS] = "may have wrapped: at least",
		[RD_NOTE_RESET] = "was reset: at least",
		[RD_NOTE_REBOOT] = "rebooted since",
		[RD_NOTE_REPLACED] = "different device since",
		[RD_NOTE_RELOADED] = "driver reloaded since",
		[RD_NOTE_NEW] = "new since",
		[RD_NOTE_GONE] = "device missing",
		[RD_NOTE_UNREAD] = "not read before",
	};

	(void)counter;
	if (value->known != RD_OK) {
		if (value->code == RD_COUNTER_NO_NUMBER)
			return "not a number";
		if (value->code == RD_COUNTER_OFF)
			return "disabled";
		if (!value->code)
			return NULL;
		snprintf(buf, size, "unreadable: %s", rd_errno_name(value->code) ? rd_errno_name(value->code) : "?");
		return buf;
	}
	if (delta && notes[delta->note])
		return notes[delta->note];
	return saturated ? "saturated: at least" : NULL;
}

static void fill_counter(struct rd_row *row, const struct rd_counters_shown *shown, size_t i)
{
	const struct rd_counter *counter = &shown->set->counters[i];
	const struct rd_counter_port *port = &shown->set->ports[counter->port];
	const struct rd_counter_value *value = &shown->now->values[i];
	const struct rd_delta *delta = shown->deltas ? &shown->deltas[i] : NULL;
	bool saturated = rd_counter_saturated(counter, value);
	char buf[64];

	rd_row_str(row, RD_CNT_IBDEV, port->ibdev);
	if (port->port)
		rd_row_uint(row, RD_CNT_PORT, port->port);
	rd_row_str(row, RD_CNT_NETDEV, counter->netdev ? counter->netdev : port->netdev);
	rd_row_str(row, RD_CNT_GROUP, rd_counter_group_name(counter->group));
	rd_row_str(row, RD_CNT_NAME, counter->name);
	rd_row_str(row, RD_CNT_DRIVER, port->driver);
	rd_row_str(row, RD_CNT_OVERFLOW, rd_overflow_name(counter->overflow));
	if (counter->bits)
		rd_row_uint(row, RD_CNT_BITS, counter->bits);
	if (counter->group == RD_GROUP_QP)
		rd_row_uint(row, RD_CNT_COUNTER, counter->counter);
	if (counter->meaning) {
		rd_row_str(row, RD_CNT_UNIT, strcmp(counter->meaning->unit, "-") ? counter->meaning->unit : NULL);
		rd_row_str(row, RD_CNT_ROLE, rd_counter_role_name(counter->meaning->role));
		rd_row_str(row, RD_CNT_MEANING, counter->meaning->text);
	}
	rd_row_str(row, RD_CNT_NOTE, note_of(counter, value, saturated, delta, buf, sizeof(buf)));
	if (value->known == RD_OK) {
		rd_row_uint(row, RD_CNT_VALUE, value->v);
		if (counter->overflow != RD_OVERFLOW_UNKNOWN)
			rd_row_bool(row, RD_CNT_SATURATED, saturated);
	} else {
		rd_row_known(row, RD_CNT_VALUE, value->known);
		if (value->code)
			rd_row_str(row, RD_CNT_ERROR, rd_errno_name(value->code));
	}
	if (!delta)
		return;
	rd_row_str(row, RD_CNT_DELTA_NOTE, rd_delta_note_name(delta->note));
	if (delta->kind == RD_DELTA_UNKNOWN)
		return;
	rd_row_uint(row, RD_CNT_DELTA, delta->v);
	rd_row_str(row, RD_CNT_DELTA_KIND, delta->kind == RD_DELTA_EXACT ? "exact" : "at_least");
	if (shown->seconds > 0)
		rd_row_double(row, RD_CNT_PER_SECOND, (double)delta->v / shown->seconds);
}

struct rd_section *rd_counters_section(const struct rd_counters_shown *shown)
{
	struct rd_section *section = rd_section_create("counters", rd_counter_columns, RD_CNT_COLUMNS);

	for (size_t i = 0; i < shown->set->n; i++)
		if (!shown->selected || shown->selected[i])
			fill_counter(rd_section_add(section), shown, i);
	return section;
}

/* Without this an empty cell would be the only sign. */
static void add_unread_state(struct rd_report *report, const struct rd_counter_port *port, int code)
{
	struct rd_err err;
	char object[128];

	if (port->port)
		snprintf(object, sizeof(object), "%s/%u", port->ibdev, port->port);
	else
		snprintf(object, sizeof(object), "%s", port->ibdev);
	rd_err_set(&err, code, object, "cannot read the %sstate", port->port ? "port " : "");
	rd_errlist_add(&report->errors, &err);
}

static void add_ports(struct rd_report *report, const struct rd_counters_shown *shown)
{
	struct rd_section *section = rd_section_create("ports", port_columns, PORT_COLUMNS);

	for (size_t i = 0; i < shown->set->n_ports; i++) {
		const struct rd_counter_port *port = &shown->set->ports[i];
		const struct rd_counter_state *state = &shown->now->states[i];
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, PORT_IBDEV, port->ibdev);
		if (port->port)
			rd_row_uint(row, PORT_PORT, port->port);
		rd_row_str(row, PORT_NETDEV, port->netdev);
		rd_row_str(row, PORT_DRIVER, port->driver);
		rd_row_str(row, PORT_PCI, port->pci);
		rd_row_str(row, PORT_GUID, port->guid);
		rd_row_str(row, PORT_LAYER, port->link_layer);
		rd_row_str(row, PORT_STATE, state->state[0] ? state->state : NULL);
		if (state->code)
			add_unread_state(report, port, state->code);
		if (port->rate_gbps.known == RD_OK)
			rd_row_double(row, PORT_RATE, port->rate_gbps.v);
		rd_row_bool(row, PORT_THERE, state->there);
		if (state->instance)
			rd_row_uint(row, PORT_INSTANCE, state->instance);
	}
	rd_report_add(report, section);
}

static struct rd_section *evidence_of(const struct rd_counters_shown *shown, const struct rd_cause *cause)
{
	struct rd_section *section = rd_section_create("counters", evidence_columns, EVIDENCE_COLUMNS);

	for (size_t i = 0; i < cause->n_evidence; i++) {
		const struct rd_counter *counter = &shown->set->counters[cause->evidence[i].counter];
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, EVIDENCE_GROUP, rd_counter_group_name(counter->group));
		rd_row_str(row, EVIDENCE_NAME, counter->name);
		rd_row_uint(row, EVIDENCE_DELTA, cause->evidence[i].delta);
		rd_row_bool(row, EVIDENCE_AT_LEAST, cause->evidence[i].at_least);
	}
	return section;
}

static void add_causes(struct rd_report *report, const struct rd_counters_shown *shown)
{
	struct rd_section *section = rd_section_create("causes", cause_columns, CAUSE_COLUMNS);

	for (size_t i = 0; shown->causes && i < shown->causes->n; i++) {
		const struct rd_cause *cause = &shown->causes->v[i];
		const struct rd_counter_port *port = &shown->set->ports[cause->port];
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, CAUSE_IBDEV, port->ibdev);
		if (port->port)
			rd_row_uint(row, CAUSE_PORT, port->port);
		rd_row_str(row, CAUSE_ID, cause->id);
		rd_row_str(row, CAUSE_SEVERITY, rd_severity_name(cause->severity));
		rd_row_str(row, CAUSE_CONFIDENCE, rd_confidence_name(cause->confidence));
		rd_row_str(row, CAUSE_TITLE, cause->title);
		rd_row_str(row, CAUSE_OBSERVED, cause->observed);
		rd_row_fix(row, CAUSE_FIX, cause->fix);
		rd_row_sub(row, CAUSE_COUNTERS, evidence_of(shown, cause));
	}
	rd_report_add(report, section);
}

static void add_scalars(struct rd_report *report, const struct rd_counters_shown *shown)
{
	struct rd_row *row;

	report->scalars = rd_section_create("scalars", scalar_columns, SCALAR_COLUMNS);
	row = rd_section_add(report->scalars);
	if (shown->now->boot_id[0])
		rd_row_str(row, SCALAR_BOOT, shown->now->boot_id);
	if (shown->now->monotonic_ns)
		rd_row_double(row, SCALAR_MONOTONIC, (double)shown->now->monotonic_ns / 1e9);
	if (shown->deltas && shown->seconds > 0)
		rd_row_double(row, SCALAR_SECONDS, shown->seconds);
}

void rd_report_counters(struct rd_report *report, const struct rd_counters_shown *shown)
{
	rd_report_add(report, rd_counters_section(shown));
	add_ports(report, shown);
	add_causes(report, shown);
	add_scalars(report, shown);
	if (shown->causes)
		rd_report_add_findings(report, &shown->causes->findings);
}

void rd_report_meanings(struct rd_report *report, const struct rd_meaning *const *meanings, size_t n)
{
	struct rd_section *section = rd_section_create("meanings", meaning_columns, MEANING_COLUMNS);

	for (size_t i = 0; i < n; i++) {
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, MEANING_NAME, meanings[i]->name);
		rd_row_str(row, MEANING_DRIVER, meanings[i]->driver);
		rd_row_str(row, MEANING_UNIT, meanings[i]->unit);
		rd_row_str(row, MEANING_OVERFLOW, rd_overflow_name(meanings[i]->overflow));
		if (meanings[i]->bits)
			rd_row_uint(row, MEANING_BITS, meanings[i]->bits);
		rd_row_str(row, MEANING_ROLE, rd_counter_role_name(meanings[i]->role));
		rd_row_bool(row, MEANING_SUM, meanings[i]->summable);
		rd_row_str(row, MEANING_TEXT, meanings[i]->text);
	}
	rd_report_add(report, section);
}
