/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/counters/report-counters-live.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { P_IBDEV, P_PORT, P_STATE, P_TX, P_TX_GBPS, P_TX_SPARK, P_RX, P_RX_GBPS, P_COLUMNS };
static const struct rd_column port_columns[P_COLUMNS] = {
	[P_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	[P_PORT] = { "port", "PORT", RD_T_UINT, "port number" },
	[P_STATE] = { "state", "STATE", RD_T_STR, "state of the port" },
	[P_TX] = { "tx_share", "SENT", RD_T_SHARE, "traffic sent, as a share of the line rate" },
	[P_TX_GBPS] = { "tx_gbps", "GBPS", RD_T_DOUBLE, "Gbit/s sent", .decimals = 1 },
	[P_TX_SPARK] = { "tx_history", "OF LATE", RD_T_SPARK,
			 "traffic sent, as a share of the line rate, in recent intervals" },
	[P_RX] = { "rx_share", "RECEIVED", RD_T_SHARE, "traffic received, as a share of the line rate" },
	[P_RX_GBPS] = { "rx_gbps", "GBPS", RD_T_DOUBLE, "Gbit/s received", .decimals = 1 },
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

enum { O_DEVICE, O_PID, O_COMM, O_JOB, O_QPS, O_RTS, O_ERR, O_OTHER, O_COLUMNS };
static const struct rd_column owner_columns[O_COLUMNS] = {
	[O_DEVICE] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	[O_PID] = { "pid", "PID", RD_T_UINT, "process; empty for the kernel" },
	[O_COMM] = { "comm", "COMM", RD_T_STR, "name of the process" },
	[O_JOB] = { "job", "JOB", RD_T_STR, "Slurm or Kubernetes job" },
	[O_QPS] = { "qps", "QPS", RD_T_UINT, "queue pairs" },
	[O_RTS] = { "rts", "RTS", RD_T_UINT, "queue pairs ready to send (RTS)" },
	[O_ERR] = { "err", "ERR", RD_T_UINT, "queue pairs in an error state (SQE, ERR)" },
	[O_OTHER] = { "other", "OTHER", RD_T_UINT, "queue pairs in another state" },
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
			rd_row_double(row, 0, share);
	}
	return section;
}

static void fill_port(struct rd_row *row, const struct rd_live *live, size_t p)
{
	const struct rd_port_rate *rate = &live->rates->ports[p];
	const struct rd_counter_state *state = &live->now->states[p];

	rd_row_str(row, P_IBDEV, live->set->ports[p].ibdev);
	rd_row_uint(row, P_PORT, live->set->ports[p].port);
	rd_row_str(row, P_STATE, !state->there ? "gone" : state->state[0] ? state->state : NULL);
	if (rate->tx_share.known == RD_OK)
		rd_row_double(row, P_TX, rate->tx_share.v);
	if (rate->tx_gbps.known == RD_OK)
		rd_row_double(row, P_TX_GBPS, rate->tx_gbps.v);
	rd_row_sub(row, P_TX_SPARK, history_section(live->history[p].tx, &live->history[p]));
	if (rate->rx_share.known == RD_OK)
		rd_row_double(row, P_RX, rate->rx_share.v);
	if (rate->rx_gbps.known == RD_OK)
		rd_row_double(row, P_RX_GBPS, rate->rx_gbps.v);
	if (!state->there || (state->state[0] && strcmp(state->state, "ACTIVE") != 0))
		rd_row_severity(row, RD_SEV_CRITICAL);
	else if (rate->lost)
		rd_row_severity(row, RD_SEV_WARNING);
}

struct rd_section *rd_live_ports(const struct rd_live *live)
{
	struct rd_section *section = rd_section_create("ports", port_columns, P_COLUMNS);

	for (size_t p = 0; p < live->set->n_ports; p++)
		if (live->set->ports[p].port && live->ports[p])
			fill_port(rd_section_add(section), live, p);
	return section;
}

static enum rd_severity severity_of(const struct rd_counter *counter, const struct rd_delta *delta)
{
	bool moved = delta->kind != RD_DELTA_UNKNOWN && delta->v > 0;

	return moved && counter->meaning && counter->meaning->role == RD_ROLE_CAUSE ? RD_SEV_WARNING : RD_SEV_OK;
}

static void set_numbers(struct rd_row *row, size_t value, size_t rate, const struct rd_live *live, size_t i)
{
	const struct rd_delta *delta = &live->deltas[i];

	if (live->now->values[i].known == RD_OK)
		rd_row_uint(row, value, live->now->values[i].v);
	if (delta->kind != RD_DELTA_UNKNOWN && live->seconds > 0)
		rd_row_double(row, rate, (double)delta->v / live->seconds);
	rd_row_severity(row, severity_of(&live->set->counters[i], delta));
}

static void fill_counter(struct rd_row *row, const struct rd_live *live, size_t i)
{
	const struct rd_counter *counter = &live->set->counters[i];
	char label[96];

	rd_counter_port_label(&live->set->ports[counter->port], label, sizeof(label));
	rd_row_str(row, C_PORT, label);
	rd_row_str(row, C_GROUP, rd_counter_group_name(counter->group));
	rd_row_str(row, C_NAME, counter->name);
	rd_row_str(row, C_NETDEV, counter->netdev);
	set_numbers(row, C_VALUE, C_RATE, live, i);
	if (counter->meaning)
		rd_row_str(row, C_UNIT, counter->meaning->unit);
	if (live->moved_ns[i] && live->moved_ns[i] <= live->now->monotonic_ns)
		rd_row_uint(row, C_SINCE, (live->now->monotonic_ns - live->moved_ns[i]) / 1000000000u);
	rd_row_str(row, C_NOTE, rd_delta_note_name(live->deltas[i].note));
}

struct rd_section *rd_live_counters(const struct rd_live *live, const uint32_t *order, size_t n)
{
	struct rd_section *section = rd_section_create("counters", counter_columns, C_COLUMNS);

	for (size_t i = 0; i < n; i++)
		fill_counter(rd_section_add(section), live, order[i]);
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
	return qp->proc >= 0 || strcmp(tally->name ? tally->name : "", name ? name : "") == 0;
}

/* Counts QPs by owner. Returns the number of tallies; the caller frees *ret. */
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
		if (at == n) {
			*RD_ADD(tallies, n, cap) = (struct tally){ .dev = qp->dev, .proc = qp->proc, .name = name };
		}
		tallies[at].qps++;
		tallies[at].rts += qp->state.known == RD_OK && qp->state.v == RD_QPS_RTS;
		tallies[at].err += qp->state.known == RD_OK && (qp->state.v == RD_QPS_ERR || qp->state.v == RD_QPS_SQE);
	}
	*ret = tallies;
	return n;
}

static int compare_tallies(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	return RD_CMP(y->err, x->err) ?: (x->qps < y->qps) - (x->qps > y->qps);
}

struct rd_section *rd_live_owners(const struct rd_res *res, const char *device)
{
	struct rd_section *section = rd_section_create("owners", owner_columns, O_COLUMNS);
	_cleanup_free_ struct tally *tallies = NULL;
	size_t n = count_by_owner(res, device, &tallies);

	if (n)
		qsort(tallies, n, sizeof(*tallies), compare_tallies);
	for (size_t i = 0; i < n; i++) {
		const struct rd_proc *proc = tallies[i].proc >= 0 ? &res->procs[tallies[i].proc] : NULL;
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, O_DEVICE, res->devs[tallies[i].dev].name);
		if (proc)
			rd_row_uint(row, O_PID, proc->pid);
		rd_row_str(row, O_COMM, tallies[i].name);
		rd_row_str(row, O_JOB, proc ? proc->job : NULL);
		rd_row_uint(row, O_QPS, tallies[i].qps);
		rd_row_uint(row, O_RTS, tallies[i].rts);
		rd_row_uint(row, O_ERR, tallies[i].err);
		rd_row_uint(row, O_OTHER, tallies[i].qps - tallies[i].rts - tallies[i].err);
		rd_row_severity(row, tallies[i].err ? RD_SEV_WARNING : RD_SEV_OK);
	}
	return section;
}

static void add_owners(struct rd_section *section, const struct rd_res *res, const char *device)
{
	_cleanup_free_ struct tally *tallies = NULL;
	size_t n = count_by_owner(res, device, &tallies);

	if (n)
		qsort(tallies, n, sizeof(*tallies), compare_tallies);
	for (size_t i = 0; i < n; i++) {
		const struct rd_proc *proc = tallies[i].proc >= 0 ? &res->procs[tallies[i].proc] : NULL;
		_cleanup_free_ char *name =
			proc ? rd_text("%s (%u)", tallies[i].name ? tallies[i].name : "?", proc->pid) :
			       rd_text("%s", tallies[i].name ? tallies[i].name : "?");
		_cleanup_free_ char *states =
			rd_text("%" PRIu64 " ready to send, %" PRIu64 " in error", tallies[i].rts, tallies[i].err);
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, D_WHAT, proc ? "process" : "kernel");
		rd_row_str(row, D_NAME, name);
		rd_row_uint(row, D_VALUE, tallies[i].qps);
		rd_row_str(row, D_UNIT, "QPs");
		rd_row_str(row, D_MEANING, states);
		rd_row_severity(row, tallies[i].err ? RD_SEV_WARNING : RD_SEV_OK);
	}
}

struct rd_section *rd_live_port(const struct rd_live *live, uint32_t port, const struct rd_res *res)
{
	struct rd_section *section = rd_section_create("port", detail_columns, D_COLUMNS);

	if (res)
		add_owners(section, res, live->set->ports[port].ibdev);
	for (size_t i = 0; i < live->set->n; i++) {
		const struct rd_counter *counter = &live->set->counters[i];
		struct rd_row *row;

		if (counter->port != port)
			continue;
		row = rd_section_add(section);
		rd_row_str(row, D_WHAT, rd_counter_group_name(counter->group));
		rd_row_str(row, D_NAME, counter->name);
		set_numbers(row, D_VALUE, D_RATE, live, i);
		if (counter->meaning) {
			rd_row_str(row, D_UNIT, counter->meaning->unit);
			rd_row_str(row, D_MEANING, counter->meaning->text);
		}
	}
	return section;
}
