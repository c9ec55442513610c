/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of ports in reports: values, rates, live views, metrics. */
#include "report/counters/report-counters.h"

#include <math.h>

#include "base/fix.h"

/* counters */

const struct rd_column rd_counter_columns[RD_CNT_COLUMNS] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	{ "port", "PORT", RD_T_UINT, "port number; empty for counters of the whole device" },
	{ "netdev", "NETDEV", RD_T_STR, "network interface on the port", .hidden = true },
	{ "group", "GROUP", RD_T_STR, "source: port, hw, optional, qp, ethtool, standard or netdev" },
	{ "name", "NAME", RD_T_STR, "name of the counter, as its source has it" },
	{ "value", "VALUE", RD_T_UINT, "current value" },
	{ "delta", "DELTA", RD_T_UINT, "increase since the previous sample, or since the one of --since" },
	{ "per_second", "PER-SECOND", RD_T_DOUBLE, "the increase per second", .decimals = 1 },
	{ "unit", "UNIT", RD_T_STR, "unit of the value" },
	{ "note", "NOTE", RD_T_STR, "reason why a value or delta is unknown or a lower bound" },
	{ "saturated", "SATURATED", RD_T_BOOL, "at its maximum: more events may have happened", .hidden = true },
	{ "overflow", "OVERFLOW", RD_T_STR, "saturates, wraps, 64-bit or gauge", .hidden = true },
	{ "bits", "BITS", RD_T_UINT, "width of the counter", .hidden = true },
	{ "delta_kind", "DELTA-KIND", RD_T_STR, "exact or at_least", .hidden = true },
	{ "delta_note", "DELTA-NOTE", RD_T_STR,
	  "saturated, wrapped, turns (may have wrapped more than once), reset, reboot, replaced, reloaded, new, gone, unread",
	  .hidden = true },
	{ "role", "ROLE", RD_T_STR, "load (traffic), cause or consequence of a fault, or sign of congestion",
	  .hidden = true },
	{ "driver", "DRIVER", RD_T_STR, "RDMA driver", .hidden = true },
	{ "counter", "COUNTER", RD_T_UINT, "group qp: id of the bound counter", .hidden = true },
	{ "error", "ERROR", RD_T_STR, "errno: why the value is unknown", .hidden = true },
	{ "meaning", "MEANING", RD_T_STR, "meaning of the counter", .hidden = true },
};

static const struct rd_column port_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	{ "port", "PORT", RD_T_UINT, "port number" },
	{ "netdev", "NETDEV", RD_T_STR, "network interface" },
	{ "driver", "DRIVER", RD_T_STR, "RDMA driver" },
	{ "pci", "PCI", RD_T_STR, "PCI address" },
	{ "guid", "GUID", RD_T_STR, "node GUID of the device" },
	{ "link_layer", "LINK", RD_T_STR, "InfiniBand or Ethernet" },
	{ "state", "STATE", RD_T_STR, "ACTIVE, DOWN ..." },
	{ "rate_gbps", "RATE", RD_T_DOUBLE, "line rate in Gbit/s", .decimals = 1 },
	{ "present", "PRESENT", RD_T_BOOL, "whether the port was present when it was sampled" },
	{ "instance", "INSTANCE", RD_T_UINT, "changes when the driver is reloaded" },
};

static const struct rd_column cause_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	{ "port", "PORT", RD_T_UINT, "port number" },
	{ "id", "CAUSE", RD_T_STR, "id of the cause" },
	{ "severity", "SEVERITY", RD_T_STR, "ok, warning, critical or unknown" },
	{ "confidence", "CONFIDENCE", RD_T_STR, "low, medium or high" },
	{ "title", "TITLE", RD_T_STR, "the fault" },
	{ "observed", "OBSERVED", RD_T_STR, "measured values" },
	{ "fix", "FIX", RD_T_STR, "commands that fix it" },
	{ "advice", "ADVICE", RD_T_STR, "what else to do" },
	{ "counters", NULL, RD_T_ROWS, "counters that indicate the cause" },
};

static const struct rd_column evidence_columns[] = {
	{ "group", NULL, RD_T_STR, "source of the counter" },
	{ "name", NULL, RD_T_STR, "name of the counter" },
	{ "delta", NULL, RD_T_UINT, "increase" },
	{ "at_least", NULL, RD_T_BOOL, "whether the increase is a lower bound" },
};

static const struct rd_column scalar_columns[] = {
	{ "boot_id", NULL, RD_T_STR, "boot ID of the host" },
	{ "monotonic_seconds", NULL, RD_T_DOUBLE, "seconds since boot", .decimals = 6 },
	{ "seconds", NULL, RD_T_DOUBLE, "seconds between the two samples", .decimals = 6 },
};

static const struct rd_column meaning_columns[] = {
	{ "name", "NAME", RD_T_STR, "name of the counter, or a pattern" },
	{ "driver", "DRIVER", RD_T_STR, "driver; * for any" },
	{ "unit", "UNIT", RD_T_STR, "unit of the value" },
	{ "overflow", "OVERFLOW", RD_T_STR, "behaviour at the maximum: saturates, wraps, 64-bit or gauge" },
	{ "bits", "BITS", RD_T_UINT, "width of the counter" },
	{ "role", "ROLE", RD_T_STR, "load (traffic), cause or consequence of a fault, or sign of congestion" },
	{ "summable", "SUM", RD_T_BOOL, "whether values may be added up over ports" },
	{ "meaning", "MEANING", RD_T_STR, "meaning of the counter" },
};

static const char *note_of(const struct rd_counter_value *value, bool saturated, const struct rd_delta *delta,
			   char *buf, size_t size)
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

static void add_counter(struct rd_section *section, const struct rd_counters_shown *shown, size_t i)
{
	static const struct rd_meaning nothing = { .unit = "-" };
	const struct rd_counter *counter = &shown->set->counters[i];
	const struct rd_counter_port *port = &shown->set->ports[counter->port];
	const struct rd_counter_value *value = &shown->now->values[i];
	const struct rd_delta *delta = shown->deltas ? &shown->deltas[i] : NULL;
	const struct rd_meaning *meaning = counter->meaning ?: &nothing;
	bool saturated = rd_counter_saturated(counter, value), known = value->known == RD_OK;
	bool compared = delta && delta->kind != RD_DELTA_UNKNOWN;
	char buf[64];
	struct rd_row *row = RD_ROW(
		section, RD_STR(port->ibdev), RD_POSITIVE(port->port), RD_STR(counter->netdev ?: port->netdev),
		RD_STR(rd_counter_group_name(counter->group)), RD_STR(counter->name),
		known ? RD_UINT(value->v) : RD_UNKNOWN_CELL, compared ? RD_UINT(delta->v) : RD_UNKNOWN_CELL,
		compared && shown->seconds > 0 ? RD_DOUBLE((double)delta->v / shown->seconds) : RD_UNKNOWN_CELL,
		RD_STR(strcmp(meaning->unit, "-") ? meaning->unit : NULL),
		RD_STR(note_of(value, saturated, delta, buf, sizeof(buf))),
		known && counter->overflow != RD_OVERFLOW_UNKNOWN ? RD_BOOL(saturated) : RD_UNKNOWN_CELL,
		RD_STR(rd_overflow_name(counter->overflow)), RD_POSITIVE(counter->bits),
		RD_STR(!compared		     ? NULL :
		       delta->kind == RD_DELTA_EXACT ? "exact" :
						       "at_least"),
		RD_STR(delta ? rd_delta_note_name(delta->note) : NULL), RD_STR(rd_counter_role_name(meaning->role)),
		RD_STR(port->driver), counter->group == RD_GROUP_QP ? RD_UINT(counter->counter) : RD_UNKNOWN_CELL,
		RD_STR(!known && value->code ? rd_errno_name(value->code) : NULL), RD_STR(meaning->text));

	if (!known)
		row->cells[RD_CNT_VALUE].known = value->known;
}

struct rd_section *rd_counters_section(const struct rd_counters_shown *shown)
{
	struct rd_section *section = RD_SECTION("counters", rd_counter_columns);

	for (size_t i = 0; i < shown->set->n; i++)
		if (!shown->selected || shown->selected[i])
			add_counter(section, shown, i);
	return section;
}

static struct rd_section *evidence_of(const struct rd_counters_shown *shown, const struct rd_cause *cause)
{
	struct rd_section *section = RD_SECTION("counters", evidence_columns);

	for (size_t i = 0; i < cause->n_evidence; i++) {
		const struct rd_counter *counter = &shown->set->counters[cause->evidence[i].counter];

		RD_ROW(section, RD_STR(rd_counter_group_name(counter->group)), RD_STR(counter->name),
		       RD_UINT(cause->evidence[i].delta), RD_BOOL(cause->evidence[i].at_least));
	}
	return section;
}

static void add_causes(struct rd_report *report, const struct rd_counters_shown *shown)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("causes", cause_columns));

	for (size_t i = 0; shown->causes && i < shown->causes->n; i++) {
		const struct rd_cause *cause = &shown->causes->v[i];
		const struct rd_counter_port *port = &shown->set->ports[cause->port];
		_cleanup_free_ char *fix = rd_fix_commands(cause->fix), *advice = rd_fix_advice(cause->fix);

		RD_ROW(section, RD_STR(port->ibdev), RD_POSITIVE(port->port), RD_STR(cause->id),
		       RD_STR(rd_severity_name(cause->severity)), RD_STR(rd_confidence_name(cause->confidence)),
		       RD_STR(cause->title), RD_STR(cause->observed), RD_STR(fix), RD_STR(advice),
		       RD_SUB(evidence_of(shown, cause)));
	}
}

void rd_report_counters(struct rd_report *report, const struct rd_counters_shown *shown)
{
	const struct rd_counter_sample *now = shown->now;
	struct rd_section *section;

	rd_report_add(report, rd_counters_section(shown));
	section = RD_SECTION("ports", port_columns);
	for (size_t i = 0; i < shown->set->n_ports; i++) {
		const struct rd_counter_port *port = &shown->set->ports[i];
		const struct rd_counter_state *state = &shown->now->states[i];

		RD_ROW(section, RD_STR(port->ibdev), RD_POSITIVE(port->port), RD_STR(port->netdev),
		       RD_STR(port->driver), RD_STR(port->pci), RD_STR(port->guid), RD_STR(port->link_layer),
		       RD_STR(state->state[0] ? state->state : NULL), RD_DOUBLE_OF(port->rate_gbps),
		       RD_BOOL(state->there), RD_POSITIVE(state->instance));
		if (state->code) {
			/* Without this an empty cell would be the only sign. */
			_cleanup_free_ char *object = rd_counter_port_label(port);
			struct rd_err err;

			rd_err_set(&err, state->code, object, "cannot read the %sstate", port->port ? "port " : "");
			rd_errlist_add(&report->errors, &err);
		}
	}
	rd_report_add(report, section);
	add_causes(report, shown);
	report->scalars = RD_OBJECT("scalars", scalar_columns, RD_STR(now->boot_id[0] ? now->boot_id : NULL),
				    now->monotonic_ns ? RD_DOUBLE((double)now->monotonic_ns / 1e9) : RD_UNKNOWN_CELL,
				    shown->deltas && shown->seconds > 0 ? RD_DOUBLE(shown->seconds) : RD_UNKNOWN_CELL);
	if (shown->causes)
		rd_report_add_findings(report, &shown->causes->findings);
}

void rd_report_meanings(struct rd_report *report, const struct rd_meaning *const *meanings, size_t n)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("meanings", meaning_columns));

	for (size_t i = 0; i < n; i++)
		RD_ROW(section, RD_STR(meanings[i]->name), RD_STR(meanings[i]->driver), RD_STR(meanings[i]->unit),
		       RD_STR(rd_overflow_name(meanings[i]->overflow)), RD_POSITIVE(meanings[i]->bits),
		       RD_STR(rd_counter_role_name(meanings[i]->role)), RD_BOOL(meanings[i]->summable),
		       RD_STR(meanings[i]->text));
}

static const struct rd_column rate_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	{ "port", "PORT", RD_T_UINT, "port number" },
	{ "netdev", "NETDEV", RD_T_STR, "network interface on the port", .hidden = true },
	{ "state", "STATE", RD_T_STR, "ACTIVE, DOWN ...; gone: the device is missing" },
	{ "rate_gbps", "RATE", RD_T_DOUBLE, "line rate in Gbit/s" },
	{ "tx_gbps", "TX-GBPS", RD_T_DOUBLE, "sent, in Gbit/s", .decimals = 3 },
	{ "tx_share", "TX", RD_T_SHARE, "sent, as share of the line rate", .decimals = 1 },
	{ "rx_gbps", "RX-GBPS", RD_T_DOUBLE, "received, in Gbit/s", .decimals = 3 },
	{ "rx_share", "RX", RD_T_SHARE, "received, as share of the line rate", .decimals = 1 },
	{ "tx_packets_per_second", "TX-PPS", RD_T_DOUBLE, "packets sent per second" },
	{ "rx_packets_per_second", "RX-PPS", RD_T_DOUBLE, "packets received per second" },
	{ "usual_gbps", "USUAL", RD_T_DOUBLE, "recent average of both directions in Gbit/s", .decimals = 3,
	  .hidden = true },
	{ "counted_by", "COUNTED-BY", RD_T_STR,
	  "counter that the rates come from; those of group netdev include other traffic", .hidden = true },
};

struct rd_section *rd_rates_section(const struct rd_rates *rates, const struct rd_counter_set *set,
				    const struct rd_counter_sample *now, const bool *selected)
{
	struct rd_section *section = RD_SECTION("rates", rate_columns);

	/* Port 0 is a device as a whole, without traffic of its own. */
	for (size_t p = 0; p < rates->n; p++)
		if (set->ports[p].port && (!selected || selected[p])) {
			const struct rd_counter_port *port = &set->ports[p];
			const struct rd_port_rate *rate = &rates->ports[p];
			const char *state = now->states[p].there ? now->states[p].state : "gone";
			const struct rd_counter *by = rate->counted_by;
			_cleanup_free_ char *counter =
				by ? rd_text("%s %s", rd_counter_group_name(by->group), by->name) : NULL;
			struct rd_row *row = RD_ROW(
				section, RD_STR(port->ibdev), RD_UINT(port->port), RD_STR(port->netdev),
				RD_STR(*state ? state : NULL), RD_DOUBLE_OF(port->rate_gbps),
				RD_DOUBLE_OF(rate->tx_gbps), RD_DOUBLE_OF(rate->tx_share), RD_DOUBLE_OF(rate->rx_gbps),
				RD_DOUBLE_OF(rate->rx_share), RD_DOUBLE_OF(rate->per_second[RD_LOAD_TX_PACKETS]),
				RD_DOUBLE_OF(rate->per_second[RD_LOAD_RX_PACKETS]),
				rate->usual_gbps > 0 ? RD_DOUBLE(rate->usual_gbps) : RD_UNKNOWN_CELL, RD_STR(counter));

			if (*state && *state != 'A')
				row->severity = RD_SEV_CRITICAL;
		}
	return section;
}

static const struct rd_column live_port_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	{ "port", "PORT", RD_T_UINT, "port number" },
	{ "state", "STATE", RD_T_STR, "state of the port" },
	{ "tx_share", "SENT", RD_T_SHARE, "traffic sent, as a share of the line rate" },
	{ "tx_gbps", "GBPS", RD_T_DOUBLE, "Gbit/s sent", .decimals = 1 },
	{ "tx_history", "OF LATE", RD_T_SPARK, "traffic sent, as a share of the line rate, in recent intervals" },
	{ "rx_share", "RECEIVED", RD_T_SHARE, "traffic received, as a share of the line rate" },
	{ "rx_gbps", "GBPS", RD_T_DOUBLE, "Gbit/s received", .decimals = 1 },
};
static const struct rd_column spark_column = { .key = "share", .type = RD_T_SHARE };

/* The first four identify a row, in both tables. */
enum { C_PORT, C_GROUP, C_NAME, C_NETDEV, C_VALUE, C_RATE, C_UNIT, C_SINCE, C_NOTE, C_COLUMNS };
static const struct rd_column counter_columns[C_COLUMNS] = {
	[C_PORT] = { "port", "PORT", RD_T_STR, "device and port" },
	[C_GROUP] = { "group", "GROUP", RD_T_STR, "where the counter was read" },
	[C_NAME] = { "name", "COUNTER", RD_T_STR, "name of the counter" },
	[C_NETDEV] = { "netdev", "NETDEV", RD_T_STR, "network interface", .hidden = true },
	[C_VALUE] = { "value", "VALUE", RD_T_UINT, "current value", .scaled = true },
	[C_RATE] = { "per_second", "PER-SECOND", RD_T_DOUBLE, "increase per second in the last interval", .decimals = 1,
		     .scaled = true },
	[C_UNIT] = { "unit", "UNIT", RD_T_STR, "unit of the value" },
	[C_SINCE] = { "moved_seconds_ago", "MOVED", RD_T_UINT, "seconds since the last change" },
	[C_NOTE] = { "note", "NOTE", RD_T_STR, "note on the value" },
};

static const struct rd_column owner_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	{ "pid", "PID", RD_T_UINT, "process; empty for the kernel" },
	{ "comm", "COMM", RD_T_STR, "name of the process" },
	{ "job", "JOB", RD_T_STR, "Slurm or Kubernetes job" },
	{ "qps", "QPS", RD_T_UINT, "queue pairs" },
	{ "rts", "RTS", RD_T_UINT, "queue pairs ready to send (RTS)" },
	{ "err", "ERR", RD_T_UINT, "queue pairs in an error state (SQE, ERR)" },
	{ "other", "OTHER", RD_T_UINT, "queue pairs in another state" },
};

enum { D_WHAT, D_NAME, D_VALUE, D_RATE, D_UNIT, D_MEANING, D_COLUMNS };
static const struct rd_column detail_columns[D_COLUMNS] = {
	[D_WHAT] = { "what", "WHAT", RD_T_STR, "group of the counter, or process" },
	[D_NAME] = { "name", "NAME", RD_T_STR, "name of the counter or process" },
	[D_VALUE] = { "value", "VALUE", RD_T_UINT, "current value, or number of queue pairs" },
	[D_RATE] = { "per_second", "PER-SECOND", RD_T_DOUBLE, "increase per second in the last interval",
		     .decimals = 1 },
	[D_UNIT] = { "unit", "UNIT", RD_T_STR, "unit of the value" },
	[D_MEANING] = { "meaning", "MEANING", RD_T_STR, "meaning of the counter, or states of the queue pairs" },
};

const int rd_live_keys[] = { 0, 1, 2, 3, -1 };
const int rd_live_restless[] = { C_SINCE, -1 };

static struct rd_section *history_section(const double *shares, const struct rd_live_history *history)
{
	struct rd_section *section = rd_section_create("history", &spark_column, 1);

	for (unsigned i = 0; i < history->n; i++) {
		double share = shares[(history->next + RD_LIVE_HISTORY - history->n + i) % RD_LIVE_HISTORY];
		struct rd_row *row = rd_section_add(section);

		if (isfinite(share))
			rd_row_set(row, 0, RD_DOUBLE(share));
	}
	return section;
}

struct rd_section *rd_live_ports(const struct rd_live *live)
{
	struct rd_section *section = RD_SECTION("ports", live_port_columns);

	for (size_t p = 0; p < live->set->n_ports; p++)
		if (live->set->ports[p].port && live->ports[p]) {
			const struct rd_port_rate *rate = &live->rates->ports[p];
			const char *state = live->now->states[p].there ? live->now->states[p].state : "gone";
			const struct rd_live_history *history = &live->history[p];
			struct rd_row *row = RD_ROW(section, RD_STR(live->set->ports[p].ibdev),
						    RD_UINT(live->set->ports[p].port), RD_STR(*state ? state : NULL),
						    RD_DOUBLE_OF(rate->tx_share), RD_DOUBLE_OF(rate->tx_gbps),
						    RD_SUB(history_section(history->tx, history)),
						    RD_DOUBLE_OF(rate->rx_share), RD_DOUBLE_OF(rate->rx_gbps));

			if (*state && strcmp(state, "ACTIVE") != 0)
				row->severity = RD_SEV_CRITICAL;
			else if (rate->lost)
				row->severity = RD_SEV_WARNING;
		}
	return section;
}

static void set_numbers(struct rd_row *row, size_t value, size_t rate, const struct rd_live *live, size_t i)
{
	const struct rd_meaning *meaning = live->set->counters[i].meaning;
	const struct rd_delta *delta = &live->deltas[i];
	bool moved = delta->kind != RD_DELTA_UNKNOWN && delta->v > 0;

	if (live->now->values[i].known == RD_OK)
		rd_row_set(row, value, RD_UINT(live->now->values[i].v));
	if (delta->kind != RD_DELTA_UNKNOWN && live->seconds > 0)
		rd_row_set(row, rate, RD_DOUBLE((double)delta->v / live->seconds));
	row->severity = moved && meaning && meaning->role == RD_ROLE_CAUSE ? RD_SEV_WARNING : RD_SEV_OK;
}

struct rd_section *rd_live_counters(const struct rd_live *live, const uint32_t *order, size_t n)
{
	struct rd_section *section = RD_SECTION("counters", counter_columns);

	for (size_t i = 0; i < n; i++) {
		struct rd_row *row = rd_section_add(section);
		const struct rd_counter *counter = &live->set->counters[order[i]];
		_cleanup_free_ char *label = rd_counter_port_label(&live->set->ports[counter->port]);

		rd_row_set(row, C_PORT, RD_STR(label));
		rd_row_set(row, C_GROUP, RD_STR(rd_counter_group_name(counter->group)));
		rd_row_set(row, C_NAME, RD_STR(counter->name));
		rd_row_set(row, C_NETDEV, RD_STR(counter->netdev));
		set_numbers(row, C_VALUE, C_RATE, live, order[i]);
		if (counter->meaning)
			rd_row_set(row, C_UNIT, RD_STR(counter->meaning->unit));
		if (live->moved_ns[order[i]] && live->moved_ns[order[i]] <= live->now->monotonic_ns)
			rd_row_set(row, C_SINCE,
				   RD_UINT((live->now->monotonic_ns - live->moved_ns[order[i]]) / 1000000000u));
		rd_row_set(row, C_NOTE, RD_STR(rd_delta_note_name(live->deltas[order[i]].note)));
	}
	return section;
}

/* QPs of a device that one process, or one kernel component, owns. */
struct tally {
	int dev, proc;
	const char *name;
	uint64_t qps, rts, err;
};

static bool same_owner(const struct tally *tally, const struct rd_qp *qp, const char *name)
{
	if (tally->dev != qp->dev || tally->proc != qp->proc)
		return false;
	return qp->proc >= 0 || strcmp(tally->name ?: "", name ?: "") == 0;
}

static int compare_tallies(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	return RD_CMP(y->err, x->err) ?: RD_CMP(y->qps, x->qps);
}

/* Counts QPs by owner, those with most errors first. Returns the number of tallies; the caller frees *ret. */
static size_t count_by_owner(const struct rd_res *res, const char *device, struct tally **ret)
{
	struct tally *tallies = NULL;
	size_t n = 0, cap = 0, at = 0;

	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];
		const char *name = rd_owner_name(res, &qp->owner, qp->proc);

		if (device && strcmp(res->devs[qp->dev].name, device) != 0)
			continue;
		/* QPs of one process usually follow each other. */
		if (at >= n || !same_owner(&tallies[at], qp, name))
			for (at = 0; at < n && !same_owner(&tallies[at], qp, name); at++)
				;
		if (at == n)
			*RD_ADD(tallies, n, cap) = (struct tally){ .dev = qp->dev, .proc = qp->proc, .name = name };
		tallies[at].qps++;
		tallies[at].rts += qp->state.known == RD_OK && qp->state.v == RD_QPS_RTS;
		tallies[at].err += qp->state.known == RD_OK && (qp->state.v == RD_QPS_ERR || qp->state.v == RD_QPS_SQE);
	}
	rd_sort(tallies, n, sizeof(*tallies), compare_tallies);
	*ret = tallies;
	return n;
}

struct rd_section *rd_live_owners(const struct rd_res *res)
{
	struct rd_section *section = RD_SECTION("owners", owner_columns);
	_cleanup_free_ struct tally *tallies = NULL;
	size_t n = count_by_owner(res, NULL, &tallies);

	for (size_t i = 0; i < n; i++) {
		const struct rd_proc *proc = tallies[i].proc >= 0 ? &res->procs[tallies[i].proc] : NULL;
		struct rd_row *row = RD_ROW(section, RD_STR(res->devs[tallies[i].dev].name),
					    proc ? RD_UINT(proc->pid) : RD_UNKNOWN_CELL, RD_STR(tallies[i].name),
					    RD_STR(proc ? proc->job : NULL), RD_UINT(tallies[i].qps),
					    RD_UINT(tallies[i].rts), RD_UINT(tallies[i].err),
					    RD_UINT(tallies[i].qps - tallies[i].rts - tallies[i].err));

		row->severity = tallies[i].err ? RD_SEV_WARNING : RD_SEV_OK;
	}
	return section;
}

struct rd_section *rd_live_port(const struct rd_live *live, uint32_t port, const struct rd_res *res)
{
	struct rd_section *section = RD_SECTION("port", detail_columns);

	if (res) {
		_cleanup_free_ struct tally *tallies = NULL;
		size_t n = count_by_owner(res, live->set->ports[port].ibdev, &tallies);

		for (size_t i = 0; i < n; i++) {
			const struct rd_proc *proc = tallies[i].proc >= 0 ? &res->procs[tallies[i].proc] : NULL;
			_cleanup_free_ char *name = proc ? rd_text("%s (%u)", tallies[i].name ?: "?", proc->pid) :
							   rd_text("%s", tallies[i].name ?: "?");
			_cleanup_free_ char *states = rd_text("%" PRIu64 " ready to send, %" PRIu64 " in error",
							      tallies[i].rts, tallies[i].err);
			struct rd_row *row = RD_ROW(section, RD_STR(proc ? "process" : "kernel"), RD_STR(name),
						    RD_UINT(tallies[i].qps), RD_UNKNOWN_CELL, RD_STR("QPs"),
						    RD_STR(states));

			row->severity = tallies[i].err ? RD_SEV_WARNING : RD_SEV_OK;
		}
	}
	for (size_t i = 0; i < live->set->n; i++) {
		const struct rd_counter *counter = &live->set->counters[i];
		struct rd_row *row;

		if (counter->port != port)
			continue;
		row = rd_section_add(section);
		rd_row_set(row, D_WHAT, RD_STR(rd_counter_group_name(counter->group)));
		rd_row_set(row, D_NAME, RD_STR(counter->name));
		set_numbers(row, D_VALUE, D_RATE, live, i);
		if (counter->meaning) {
			rd_row_set(row, D_UNIT, RD_STR(counter->meaning->unit));
			rd_row_set(row, D_MEANING, RD_STR(counter->meaning->text));
		}
	}
	return section;
}

/* Counters as metrics: one family per name, in base units if the table of meanings has the unit. */

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
	bool has_group = rd_starts_with(counter->name, group) && counter->name[strlen(group)] == '_';
	_cleanup_free_ char *name = has_group ? rd_text("%s", counter->name) : rd_text("%s_%s", group, counter->name);
	int unit = unit_of(counter->meaning);

	return rd_metrics_family(metrics, name, counter->overflow == RD_GAUGE ? RD_METRIC_GAUGE : RD_METRIC_COUNTER,
				 unit >= 0 ? units[unit].base : NULL,
				 counter->meaning ? counter->meaning->text : "Not in the table of counters.");
}

void rd_report_counter_metrics(struct rd_report *report, const struct rd_counter_set *set,
			       const struct rd_counter_sample *now, const bool *selected)
{
	for (size_t p = 0; p < set->n_ports; p++)
		if (set->ports[p].port) {
			char number[16];
			const struct rd_label labels[] = {
				{ "device", set->ports[p].ibdev },
				{ "port", number },
				{ "netdev", set->ports[p].netdev },
				{ "driver", set->ports[p].driver },
				{ "pci", set->ports[p].pci },
				{ "guid", set->ports[p].guid },
				{ "link_layer", set->ports[p].link_layer },
			};
			struct rd_metric *family;

			snprintf(number, sizeof(number), "%u", set->ports[p].port);
			family = rd_metrics_family(&report->metrics, "port_info", RD_METRIC_GAUGE, NULL,
						   "Always 1; the labels describe the port.");
			rd_metric_uint(family, 1, labels, RD_ARRAY_SIZE(labels));
			family = rd_metrics_family(&report->metrics, "port_active", RD_METRIC_GAUGE, NULL,
						   "1 if the port is present and ACTIVE, else 0.");
			if (!now->states[p].there || now->states[p].state[0])
				rd_metric_uint(family,
					       now->states[p].there && strcmp(now->states[p].state, "ACTIVE") == 0,
					       labels, 2);
			family = rd_metrics_family(&report->metrics, "port_rate", RD_METRIC_GAUGE, "bytes",
						   "Line rate of the port in bytes per second.");
			if (set->ports[p].rate_gbps.known == RD_OK)
				rd_metric_double(family, set->ports[p].rate_gbps.v * 1e9 / 8, labels, 2);
		}
	for (size_t i = 0; i < set->n; i++)
		if (now->values[i].known == RD_OK && (!selected || selected[i])) {
			const struct rd_counter_port *port = &set->ports[set->counters[i].port];
			int unit = unit_of(set->counters[i].meaning);
			char number[16] = "", bound[16] = "";
			const struct rd_label labels[] = {
				{ "device", port->ibdev },
				{ "port", number },
				{ "netdev", set->counters[i].netdev },
				{ "counter", set->counters[i].name },
				{ "bound_counter", bound },
			};

			if (port->port)
				snprintf(number, sizeof(number), "%u", port->port);
			if (set->counters[i].group == RD_GROUP_QP)
				snprintf(bound, sizeof(bound), "%u", set->counters[i].counter);
			if (unit >= 0 && units[unit].factor < 1)
				rd_metric_double(family_of(&report->metrics, &set->counters[i]),
						 (double)now->values[i].v * units[unit].factor, labels,
						 RD_ARRAY_SIZE(labels));
			else
				rd_metric_uint(family_of(&report->metrics, &set->counters[i]),
					       now->values[i].v * (unit >= 0 ? (uint64_t)units[unit].factor : 1),
					       labels, RD_ARRAY_SIZE(labels));
		}
}
