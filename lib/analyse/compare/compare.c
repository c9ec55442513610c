/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the usual value of each place, and hosts that have another; equal differences become one finding. */
#include "analyse/compare/compare.h"

#include <stdio.h>
#include <string.h>

#include "analyse/compare/compare-priv.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

/* Names listed before "and 41 more". */
#define NAMES_MAX 3
#define LABELS_MAX 16

static const struct {
	const char *id, *title, *why;
	const char *split; /* title if no value is usual */
} words[RD_DIFFERS] = {
	[RD_DIFFERS_GPU] = { "gpu-missing", "GPU is missing: other hosts have it at this PCI address",
			     "jobs fail or run on fewer GPUs; it fell off the bus, or the host is built differently" },
	[RD_DIFFERS_NIC] = { "nic-missing", "NIC is missing: other hosts have it at this PCI address",
			     "jobs fail or run on fewer NICs; it fell off the bus, or the host is built differently" },
	[RD_DIFFERS_STATE] = { "port-state", "Port is not active, but is on other hosts",
			       "accelerators near this port use a different rail than on other hosts" },
	[RD_DIFFERS_LAYER] = { "rail-layer", "Link layer of a port differs from other hosts",
			       "InfiniBand and Ethernet ports cannot communicate",
			       "Link layer differs between hosts, and no value has a clear majority" },
	[RD_DIFFERS_RATE] = { "rail-rate", "Port runs slower than on other hosts",
			      "collectives run at the speed of the slowest port",
			      "Rate differs between hosts, and no value has a clear majority" },
	[RD_DIFFERS_MTU] = { "rail-mtu", "MTU of a port differs from other hosts",
			     "packets above the MTU of the peer are dropped (completion status 12) unless both ends agree on "
			     "the smaller one",
			     "MTU differs between hosts, and no value has a clear majority" },
	[RD_DIFFERS_CHOICE] = { "rail-name", "NCCL selects a different NIC for an accelerator than on other hosts",
				"peers of one rail then use different rails",
				"NIC selected by NCCL differs between hosts, and no choice has a clear majority" },
	[RD_DIFFERS_NAME] = { "nic-name", "Name of a NIC differs from other hosts",
			      "NCCL_IB_HCA and similar variables select a different NIC on this host",
			      "Name differs between hosts, and no value has a clear majority" },
	[RD_DIFFERS_SUBNET] = { "rail-subnet", "Subnet of a port differs from other hosts",
				"rails are cross-cabled: peers of one rail may not reach each other" },
	[RD_DIFFERS_FIRMWARE] = { "rail-firmware", "Firmware of a NIC differs from other hosts",
				  "firmware versions may behave differently",
				  "Firmware differs between hosts, and no value has a clear majority" },
	[RD_DIFFERS_SETTING] = { "host-setting", "Setting differs from other hosts",
				 "jobs fail or slow down on hosts that are set up differently",
				 "Setting differs between hosts, and no value has a clear majority" },
};

/* Differences of one host that become one finding. */
struct bundle {
	size_t host, from, n; /* index of the first difference, and number */
	char *signature;      /* the same for hosts that differ in the same way; owned */
};

/* Bundles with the same signature. */
struct run {
	const struct bundle *v;
	size_t n;
	enum rd_severity severity;
};

struct rd_difference *rd_compare_add(struct rd_compare *cmp, enum rd_differs what, size_t host)
{
	struct rd_difference *d = RD_ADD(cmp->v, cmp->n_v, cmp->cap_v);

	*d = (struct rd_difference){ .what = what, .host = host, .cause = SIZE_MAX, .finding = SIZE_MAX };
	return d;
}

void rd_compare_report(struct rd_compare *cmp, const struct rd_finding *finding, size_t cause)
{
	struct rd_findings *findings = &cmp->ret->findings;

	rd_finding_add(findings, finding);
	if (cause != SIZE_MAX)
		rd_finding_blame(&findings->v[findings->n - 1], &findings->v[cause]);
}

char *rd_compare_hosts(const struct rd_compare *cmp, const size_t *hosts, size_t n)
{
	size_t shown = n > NAMES_MAX ? NAMES_MAX - 1 : n;
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t i = 0; i < shown; i++)
		rd_buf_printf(&text, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", cmp->hosts[hosts[i]].name);
	if (n > shown)
		rd_buf_printf(&text, " and %zu more", n - shown);
	return RD_TAKE(text.data);
}

static int by_alike(const void *pa, const void *pb)
{
	const struct rd_difference *a = pa, *b = pb;

	return RD_FIRST(RD_CMP(a->host, b->host), RD_CMP(a->cause, b->cause), RD_CMP(b->severity, a->severity),
			strcmp(a->is ? a->is : "", b->is ? b->is : ""),
			strcmp(a->usual ? a->usual : "", b->usual ? b->usual : ""), strverscmp(a->label, b->label));
}

static bool is_alike(const struct rd_difference *a, const struct rd_difference *b)
{
	return a->host == b->host && a->cause == b->cause && a->severity == b->severity &&
	       strcmp(a->is ? a->is : "", b->is ? b->is : "") == 0 &&
	       strcmp(a->usual ? a->usual : "", b->usual ? b->usual : "") == 0;
}

static int by_signature(const void *pa, const void *pb)
{
	const struct bundle *a = pa, *b = pb;

	return strcmp(a->signature, b->signature) ?: RD_CMP(a->host, b->host);
}

/* The most severe first, then by number of hosts. */
static int by_weight(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;

	return RD_FIRST(RD_CMP(b->severity, a->severity), RD_CMP(b->n, a->n), RD_CMP(a->v[0].host, b->v[0].host),
			RD_CMP(a->v[0].from, b->v[0].from));
}

/* "mlx5_0/1, mlx5_1/1 and 6 more" */
static char *labels_of(const struct rd_difference *d, size_t n, size_t most)
{
	size_t shown = n > most ? most - 1 : n;
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t i = 0; i < shown; i++)
		rd_buf_printf(&text, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", d[i].label);
	if (n > shown)
		rd_buf_printf(&text, " and %zu more", n - shown);
	return RD_TAKE(text.data);
}

static char *signature_of(const struct rd_difference *d, size_t n)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	rd_buf_printf(&text, "%d\n%zu\n%s\n%s", (int)d->severity, d->cause, d->is ? d->is : "",
		      d->usual ? d->usual : "");
	for (size_t i = 0; i < n; i++)
		rd_buf_printf(&text, "\n%s", d[i].label);
	return RD_TAKE(text.data);
}

/* Text of `observed`, from the first of the hosts. */
static char *observed(const struct rd_difference *d, size_t n)
{
	_cleanup_free_ char *labels = labels_of(d, n, LABELS_MAX);

	if (!labels)
		return NULL;
	switch (d->what) {
	case RD_DIFFERS_GPU:
	case RD_DIFFERS_NIC:
		return n > NAMES_MAX ? rd_text("missing: %s", labels) : rd_text("missing");
	case RD_DIFFERS_RATE:
		return rd_text("%s %s at %s of %s Gbit/s", labels, n > 1 ? "run" : "runs", d->is, d->usual);
	case RD_DIFFERS_CHOICE:
		return rd_text("NCCL selects %s", d->is);
	case RD_DIFFERS_NAME:
		return rd_text("%s", d->is);
	default:
		return rd_text("%s: %s", labels, d->is);
	}
}

static char *expected(const struct rd_difference *d)
{
	if (!d->is)
		return rd_text("present, as on %zu of %zu hosts", d->with, d->of);
	if (d->by_board)
		return rd_text("%s, as on %zu of %zu ports of such cards", d->usual, d->with, d->of);
	return rd_text("%s, as on %zu of %zu hosts", d->usual, d->with, d->of);
}

/* Commands to run on the first of the hosts, with its device names. */
static char *fix(const struct rd_compare *cmp, const struct rd_difference *d)
{
	const char *host = cmp->hosts[d->host].name;
	char device[sizeof(d->label)];

	snprintf(device, sizeof(device), "%.*s", (int)strcspn(d->label, "/"), d->label);
	switch (d->what) {
	case RD_DIFFERS_GPU:
	case RD_DIFFERS_NIC:
		return rd_text(
			"# on %s: look for %s in lspci -D and in dmesg\n# power-cycle %s: no job may run there meanwhile\n# if it is still missing: reseat or replace the card",
			host, d->label + 4, host);
	case RD_DIFFERS_STATE:
		return rd_text("# on %s: rdmadiag topo-check --only port-state,ib-no-sm", host);
	case RD_DIFFERS_RATE:
		return rd_text("# on %s: rdmadiag counters %s\n# check cable, transceiver and switch port", host,
			       device);
	default:
		return NULL;
	}
}

static void report_run(struct rd_compare *cmp, const struct run *run)
{
	_cleanup_free_ size_t *hosts = rd_alloc(run->n, sizeof(*hosts));
	_cleanup_free_ char *names = NULL, *labels = NULL;
	const struct rd_difference *d = &cmp->v[run->v[0].from];
	struct rd_finding finding = { .severity = run->severity };
	size_t number = cmp->ret->findings.n;

	for (size_t i = 0; i < run->n; i++) {
		hosts[i] = run->v[i].host;
		for (size_t k = 0; k < run->v[i].n; k++)
			cmp->v[run->v[i].from + k].finding = number;
	}
	names = rd_compare_hosts(cmp, hosts, run->n);
	labels = labels_of(d, run->v[0].n, NAMES_MAX);
	finding.id = words[d->what].id;
	finding.title = words[d->what].title;
	finding.why = words[d->what].why;
	finding.subject = rd_text("%s%s %s", names, run->n > 1 ? ":" : "", labels);
	finding.observed = observed(d, run->v[0].n);
	finding.expected = expected(d);
	finding.fix = fix(cmp, d);
	/* caused_by: id and subject of ret->findings.v[d->cause]. */
	rd_compare_report(cmp, &finding, d->cause);
}

/* `v` is sorted by signature. */
static void report_runs(struct rd_compare *cmp, const struct bundle *v, size_t n)
{
	_cleanup_free_ struct run *runs = rd_alloc(n + 1, sizeof(*runs));
	size_t n_runs = 0;

	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && strcmp(v[k].signature, v[i].signature) == 0; k++)
			;
		runs[n_runs++] = (struct run){ &v[i], k - i, cmp->v[v[i].from].severity };
	}
	qsort(runs, n_runs, sizeof(*runs), by_weight);
	for (size_t i = 0; i < n_runs; i++)
		report_run(cmp, &runs[i]);
}

void rd_compare_fold(struct rd_compare *cmp, size_t from)
{
	struct rd_difference *d = from < cmp->n_v ? cmp->v + from : NULL;
	size_t n = cmp->n_v - from, n_bundles = 0;
	struct bundle *bundles = rd_alloc(n + 1, sizeof(*bundles));

	if (n > 0)
		qsort(d, n, sizeof(*d), by_alike);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && is_alike(&d[i], &d[k]); k++)
			;
		bundles[n_bundles++] = (struct bundle){ d[i].host, from + i, k - i, signature_of(&d[i], k - i) };
	}
	qsort(bundles, n_bundles, sizeof(*bundles), by_signature);
	report_runs(cmp, bundles, n_bundles);
	for (size_t i = 0; i < n_bundles; i++)
		free(bundles[i].signature);
	free(bundles);
}

/* Differences that have a finding, by host. */
struct reported {
	size_t host, at;
};

static int by_host(const void *pa, const void *pb)
{
	const struct reported *a = pa, *b = pb;

	return RD_CMP(a->host, b->host) ?: RD_CMP(a->at, b->at);
}

/* Whether one difference of a host explains another; higher: better. NCCL's choice: any problem of a NIC, most of all of the
 * one that NCCL would select; a name: a missing NIC; a rate: the link layer of the same port; an MTU:
 * one of an interface. */
static unsigned explains(const struct rd_difference *cause, const struct rd_difference *d)
{
	switch (d->what) {
	case RD_DIFFERS_CHOICE:
		return cause->what < RD_DIFFERS_CHOICE ? 1 + (strcmp(cause->label, d->usual) == 0) : 0;
	case RD_DIFFERS_NAME:
		return cause->what == RD_DIFFERS_NIC;
	case RD_DIFFERS_RATE:
		return cause->what == RD_DIFFERS_LAYER && strcmp(cause->label, d->label) == 0;
	case RD_DIFFERS_MTU:
		return cause->what == RD_DIFFERS_SETTING && strstr(cause->label, " mtu");
	default:
		return 0;
	}
}

/* Sets the causes of the differences from `from` on, from the differences before. */
static void find_causes(struct rd_compare *cmp, size_t from)
{
	_cleanup_free_ struct reported *reported = rd_alloc(from + 1, sizeof(*reported));

	for (size_t i = 0; i < from; i++)
		reported[i] = (struct reported){ cmp->v[i].host, i };
	qsort(reported, from, sizeof(*reported), by_host);
	for (size_t i = from; i < cmp->n_v; i++) {
		struct rd_difference *d = &cmp->v[i];
		const struct reported key = { .host = d->host };
		size_t low = rd_lower_bound(&key, reported, from, sizeof(key), by_host);
		unsigned best = 0;

		for (; low < from && reported[low].host == d->host; low++) {
			const struct rd_difference *cause = &cmp->v[reported[low].at];
			unsigned how = explains(cause, d);

			if (how > best) {
				best = how;
				d->cause = cause->finding;
			}
		}
	}
}

/* One value of one port (or accelerator) of one host. */
struct seen {
	size_t kind, host;
	const char *place; /* what it is compared by */
	const char *value, *label, *board;
	bool compute;
};

/* How the values of a place are distributed if none is usual. */
struct split {
	char *text, *label; /* owned */
};

struct seens {
	struct rd_compare *cmp;
	enum rd_differs what;
	struct seen *v;
	size_t n, cap;
	struct seen *boards; /* the same sorted by kind of card; only for rates */
	struct split *splits;
	size_t n_splits, cap_splits;
};

static int order_text(const char *a, const char *b)
{
	return !a || !b ? !!a - !!b : strcmp(a, b);
}

static int by_place(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;

	return RD_FIRST(RD_CMP(a->kind, b->kind), strcmp(a->place, b->place), order_text(a->value, b->value),
			RD_CMP(a->host, b->host));
}

static int by_board(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;

	return RD_CMP(a->kind, b->kind) ?: (int)a->compute - (int)b->compute ?: order_text(a->board, b->board);
}

static int by_board_value(const void *pa, const void *pb)
{
	return by_board(pa, pb) ?: order_text(((const struct seen *)pa)->value, ((const struct seen *)pb)->value);
}

/* The value of a port that is compared; of NCCL's choice and of settings there is none. */
static const char *value_of(const struct rd_compared_port *port, enum rd_differs what)
{
	static const size_t members[RD_DIFFERS] = {
		[RD_DIFFERS_STATE] = offsetof(struct rd_compared_port, state),
		[RD_DIFFERS_LAYER] = offsetof(struct rd_compared_port, link_layer),
		[RD_DIFFERS_RATE] = offsetof(struct rd_compared_port, rate),
		[RD_DIFFERS_MTU] = offsetof(struct rd_compared_port, mtu),
		[RD_DIFFERS_NAME] = offsetof(struct rd_compared_port, label),
		[RD_DIFFERS_SUBNET] = offsetof(struct rd_compared_port, subnet),
		[RD_DIFFERS_FIRMWARE] = offsetof(struct rd_compared_port, firmware),
	};

	return *(char *const *)((const char *)port + members[what]);
}

static void gather(struct seens *all)
{
	const struct rd_compare *cmp = all->cmp;

	for (size_t h = 0; h < cmp->n; h++) {
		const struct rd_compared *host = &cmp->hosts[h];

		for (size_t p = 0;
		     all->what != RD_DIFFERS_CHOICE && all->what != RD_DIFFERS_SETTING && p < host->n_ports; p++) {
			const struct rd_compared_port *port = &host->ports[p];

			*RD_ADD(all->v, all->n, all->cap) =
				(struct seen){ cmp->kinds[h], h,	   port->place,	 value_of(port, all->what),
					       port->label,   port->board, port->compute };
		}
		for (size_t i = 0; all->what == RD_DIFFERS_SETTING && i < host->n_settings; i++) {
			const struct rd_compared_setting *setting = &host->settings[i];

			*RD_ADD(all->v, all->n, all->cap) =
				(struct seen){ cmp->kinds[h],
					       h,
					       setting->place,
					       setting->value,
					       setting->label ? setting->label : setting->place,
					       NULL,
					       true };
		}
		/* Compared by the place of the NIC, not by its name. */
		for (size_t i = 0; all->what == RD_DIFFERS_CHOICE && i < host->n_rails; i++) {
			const struct rd_rail *rail = &host->rails[i];

			*RD_ADD(all->v, all->n, all->cap) = (struct seen){ cmp->kinds[h],
									   h,
									   host->gpus[rail->gpu],
									   host->ports[rail->port].place,
									   host->ports[rail->port].label,
									   NULL,
									   true };
		}
	}
}

/* The most frequent of a run of sorted values; `with`: its count, `of`: the count of known values. */
static const struct seen *most(const struct seen *v, size_t n, size_t *with, size_t *of)
{
	const struct seen *best = NULL;

	*with = *of = 0;
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && order_text(v[i].value, v[k].value) == 0; k++)
			;
		if (!v[i].value)
			continue;
		*of += k - i;
		if (k - i > *with) {
			*with = k - i;
			best = &v[i];
		}
	}
	return best;
}

/* At least two thirds, and more than one. */
static bool is_usual(size_t with, size_t of)
{
	return with >= 2 && 3 * with >= 2 * of;
}

/* The rate of most ports with the same role on cards of one kind; used if the hosts have no usual rate. */
static const struct seen *most_of_board(const struct seens *all, const struct seen *port, size_t *with, size_t *of)
{
	size_t low, end;

	if (!all->boards || !port->board)
		return NULL;
	low = rd_lower_bound(port, all->boards, all->n, sizeof(*port), by_board);
	for (end = low; end < all->n && by_board(&all->boards[end], port) == 0; end++)
		;
	return most(all->boards + low, end - low, with, of);
}

static double rate_of(const char *text)
{
	double value;

	return rd_take_real(&text, &value) < 0 ? 0 : value;
}

static void add_difference(struct seens *all, const struct seen *seen, const struct seen *usual, size_t with, size_t of,
			   bool board)
{
	struct rd_difference *d = rd_compare_add(all->cmp, all->what, seen->host);

	snprintf(d->label, sizeof(d->label), "%s", seen->label);
	if (all->what == RD_DIFFERS_CHOICE) {
		const struct rd_compared *host = &all->cmp->hosts[seen->host];

		for (size_t g = 0; g < host->n_gpus; g++)
			if (strcmp(host->gpus[g], seen->place) == 0)
				snprintf(d->label, sizeof(d->label), "GPU%zu", g);
		d->is = seen->label;
		d->usual = usual->label;
	} else {
		d->is = seen->value;
		d->usual = usual->value;
	}
	d->with = with;
	d->of = of;
	d->by_board = board;
	d->severity = all->what == RD_DIFFERS_STATE && seen->compute ? RD_SEV_CRITICAL : RD_SEV_WARNING;
}

/* "400 on 500 hosts (n0, n1 and 498 more), 200 on …": the values of a run of one place. */
static char *spread(struct seens *all, const struct seen *v, size_t n)
{
	_cleanup_free_ size_t *hosts = rd_alloc(n + 1, sizeof(*hosts));
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t i = 0, k; i < n; i = k) {
		_cleanup_free_ char *names = NULL;

		for (k = i; k < n && order_text(v[i].value, v[k].value) == 0; k++)
			hosts[k - i] = v[k].host;
		if (!v[i].value)
			continue;
		names = rd_compare_hosts(all->cmp, hosts, k - i);
		rd_buf_printf(&text, "%s%s on %s", text.len > 0 ? "; " : "",
			      all->what == RD_DIFFERS_CHOICE ? v[i].label : v[i].value, names);
	}
	return RD_TAKE(text.data);
}

/* No value is usual. A compute port that is down is reported all the same, unless it is down on most hosts; subnets often
 * differ on each host. */
static void judge_split(struct seens *all, const struct seen *v, size_t n)
{
	size_t active = 0, known = 0;

	if (all->what == RD_DIFFERS_SUBNET)
		return;
	if (all->what != RD_DIFFERS_STATE) {
		*RD_ADD(all->splits, all->n_splits, all->cap_splits) =
			(struct split){ spread(all, v, n),
					rd_dup(all->what == RD_DIFFERS_CHOICE ? v->place : v->label) };
		return;
	}
	for (size_t i = 0; i < n; i++) {
		known += v[i].value != NULL;
		active += v[i].value && strcmp(v[i].value, "ACTIVE") == 0;
	}
	for (size_t i = 0; i < n && 2 * active >= known; i++) {
		static const struct seen usual = { .value = "ACTIVE" };

		if (v[i].value && strcmp(v[i].value, "ACTIVE") != 0 && v[i].compute)
			add_difference(all, &v[i], &usual, active, known, false);
	}
}

/* A run of one place, sorted by value. */
static void judge_place(struct seens *all, const struct seen *v, size_t n)
{
	size_t with, of, board_with = 0, board_of = 0;
	const struct seen *best = most(v, n, &with, &of);
	bool by_board = false, any = false;

	if (!best || with == of)
		return;
	if (!is_usual(with, of)) {
		best = most_of_board(all, best, &board_with, &board_of);
		if (!best || !is_usual(board_with, board_of)) {
			judge_split(all, v, n);
			return;
		}
		by_board = true;
		with = board_with;
		of = board_of;
	}
	if (all->what == RD_DIFFERS_STATE && strcmp(best->value, "ACTIVE") != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (!v[i].value || strcmp(v[i].value, best->value) == 0 ||
		    /* A port that is faster than others is not a fault. */
		    (all->what == RD_DIFFERS_RATE && rate_of(v[i].value) >= rate_of(best->value)))
			continue;
		any = true;
		add_difference(all, &v[i], best, with, of, by_board);
	}
	if (!any && all->what != RD_DIFFERS_RATE)
		judge_split(all, v, n);
}

/* For qsort_r: texts of splits; the same in their order. */
static int by_split(const void *pa, const void *pb, void *splits)
{
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
	const struct split *v = splits;

	return strcmp(v[a].text, v[b].text) ?: RD_CMP(a, b);
}

/* For each split, how many later ones have the same text; SIZE_MAX: an earlier one has it. Caller frees. */
static size_t *count_alike(const struct seens *all)
{
	size_t *order = rd_alloc(all->n_splits + 1, sizeof(*order));
	size_t *more = rd_alloc(all->n_splits + 1, sizeof(*more));

	for (size_t i = 0; i < all->n_splits; i++)
		order[i] = i;
	qsort_r(order, all->n_splits, sizeof(*order), by_split, all->splits);
	for (size_t i = 0, k; i < all->n_splits; i = k) {
		for (k = i + 1;
		     k < all->n_splits && strcmp(all->splits[order[i]].text, all->splits[order[k]].text) == 0; k++)
			more[order[k]] = SIZE_MAX;
		more[order[i]] = k - i - 1;
	}
	free(order);
	return more;
}

static void report_splits(struct seens *all)
{
	_cleanup_free_ size_t *more = count_alike(all);

	for (size_t i = 0; i < all->n_splits; i++) {
		struct rd_finding finding = {
			.id = words[all->what].id,
			/* One of both is wrong, whichever. */
			.severity = all->what == RD_DIFFERS_MTU ? RD_SEV_WARNING : RD_SEV_UNKNOWN,
			.title = words[all->what].split,
			.why = "cannot determine from these hosts which value is right",
		};

		if (more[i] == SIZE_MAX)
			continue;
		finding.subject = more[i] ? rd_text("%s and %zu more", all->splits[i].label, more[i]) :
					    rd_text("%s", all->splits[i].label);
		finding.observed = rd_text("%s", all->splits[i].text);
		rd_compare_report(all->cmp, &finding, SIZE_MAX);
	}
}

static void seens_deinit(struct seens *all)
{
	for (size_t i = 0; i < all->n_splits; i++)
		RD_FREE(all->splits[i].text, all->splits[i].label);
	RD_FREE(all->splits, all->boards, all->v);
}

static void compare_values(struct rd_compare *cmp, enum rd_differs what)
{
	_cleanup_(seens_deinit) struct seens all = { .cmp = cmp, .what = what };

	gather(&all);
	if (all.n == 0)
		return;
	if (what == RD_DIFFERS_RATE) {
		all.boards = rd_alloc(all.n, sizeof(*all.boards));
		memcpy(all.boards, all.v, all.n * sizeof(*all.boards));
		qsort(all.boards, all.n, sizeof(*all.boards), by_board_value);
	}
	qsort(all.v, all.n, sizeof(*all.v), by_place);
	for (size_t i = 0, k; i < all.n; i = k) {
		for (k = i; k < all.n && all.v[k].kind == all.v[i].kind && strcmp(all.v[k].place, all.v[i].place) == 0;
		     k++)
			;
		judge_place(&all, &all.v[i], k - i);
	}
	report_splits(&all);
}

/* Marks the rails whose port or accelerator has a difference. */
static void mark_rails(struct rd_compare *cmp)
{
	struct rd_comparison *ret = cmp->ret;

	ret->rails = rd_alloc(cmp->n + 1, sizeof(*ret->rails));
	ret->n_hosts = cmp->n;
	for (size_t h = 0; h < ret->n_hosts; h++)
		ret->rails[h] = rd_alloc(cmp->hosts[h].n_rails + 1, sizeof(**ret->rails));
	for (size_t i = 0; i < cmp->n_v; i++) {
		const struct rd_difference *d = &cmp->v[i];
		const struct rd_compared *host = &cmp->hosts[d->host];

		for (size_t r = 0; r < host->n_rails; r++) {
			char gpu[24];

			snprintf(gpu, sizeof(gpu), "GPU%d", host->rails[r].gpu);
			if (strcmp(d->label, host->ports[host->rails[r].port].label) == 0 || strcmp(d->label, gpu) == 0)
				ret->rails[d->host][r] = true;
		}
	}
}

void rd_compare(const struct rd_compared *hosts, size_t n, struct rd_comparison *ret)
{
	struct rd_compare cmp = { .hosts = hosts, .n = n, .ret = ret, .kinds = rd_alloc(n + 1, sizeof(*cmp.kinds)) };

	rd_compare_kinds(&cmp);
	for (enum rd_differs what = RD_DIFFERS_STATE; what < RD_DIFFERS; what++) {
		size_t from = cmp.n_v;

		compare_values(&cmp, what);
		find_causes(&cmp, from);
		rd_compare_fold(&cmp, from);
	}
	mark_rails(&cmp);
	rd_findings_sort(&ret->findings);
	RD_FREE(cmp.kinds, cmp.v);
}

void rd_comparison_deinit(struct rd_comparison *comparison)
{
	for (size_t h = 0; h < comparison->n_hosts; h++)
		free(comparison->rails[h]);
	free(comparison->rails);
	rd_findings_deinit(&comparison->findings);
	*comparison = (struct rd_comparison){ 0 };
}
