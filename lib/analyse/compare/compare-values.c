/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the usual value, and hosts that have another. */
#include "analyse/compare/compare-priv.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

/* One value of one port (or accelerator) of one host. */
struct seen {
	size_t kind, host;
	const char *place; /* what it is compared by */
	const char *value, *label, *board;
	bool compute;
};

struct seens {
	struct rd_compare *cmp;
	enum rd_differs what;
	struct seen *v;
	size_t n, cap;
	struct seen *boards; /* the same sorted by kind of card; only for rates */
	char **splits;	     /* owned: distribution of values if none is usual, per place */
	char **split_labels; /* owned */
	size_t n_splits, cap_splits, cap_labels;
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

static const char *value_of(const struct rd_compared_port *port, enum rd_differs what)
{
	switch (what) {
	case RD_DIFFERS_STATE:
		return port->state;
	case RD_DIFFERS_LAYER:
		return port->link_layer;
	case RD_DIFFERS_RATE:
		return port->rate;
	case RD_DIFFERS_MTU:
		return port->mtu;
	case RD_DIFFERS_NAME:
		return port->label;
	case RD_DIFFERS_SUBNET:
		return port->subnet;
	case RD_DIFFERS_FIRMWARE:
		return port->firmware;
	default:
		return NULL;
	}
}

static void add_seen(struct seens *all, const struct seen *seen)
{
	*RD_ADD(all->v, all->n, all->cap) = *seen;
}

static void gather(struct seens *all)
{
	const struct rd_compare *cmp = all->cmp;

	for (size_t h = 0; h < cmp->n; h++) {
		const struct rd_compared *host = &cmp->hosts[h];

		for (size_t p = 0;
		     all->what != RD_DIFFERS_CHOICE && all->what != RD_DIFFERS_SETTING && p < host->n_ports; p++) {
			const struct rd_compared_port *port = &host->ports[p];

			add_seen(all, &(struct seen){ cmp->kinds[h], h, port->place, value_of(port, all->what),
						      port->label, port->board, port->compute });
		}
		for (size_t i = 0; all->what == RD_DIFFERS_SETTING && i < host->n_settings; i++) {
			const struct rd_compared_setting *setting = &host->settings[i];

			add_seen(all, &(struct seen){ cmp->kinds[h], h, setting->place, setting->value,
						      setting->label ? setting->label : setting->place, NULL, true });
		}
		/* Compared by the place of the NIC, not by its name. */
		for (size_t i = 0; all->what == RD_DIFFERS_CHOICE && i < host->n_rails; i++) {
			const struct rd_rail *rail = &host->rails[i];

			add_seen(all,
				 &(struct seen){ cmp->kinds[h], h, host->gpus[rail->gpu], host->ports[rail->port].place,
						 host->ports[rail->port].label, NULL, true });
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

/* A port that is faster than others is not a fault. */
static bool is_worse(const struct seens *all, const char *value, const char *usual)
{
	return all->what != RD_DIFFERS_RATE || rate_of(value) < rate_of(usual);
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

static void add_split(struct seens *all, const struct seen *v, size_t n)
{
	char *text = spread(all, v, n), *label = rd_dup(all->what == RD_DIFFERS_CHOICE ? v->place : v->label);

	rd_reserve(&all->splits, &all->cap_splits, all->n_splits + 1, sizeof(*all->splits));
	rd_reserve(&all->split_labels, &all->cap_labels, all->n_splits + 1, sizeof(*all->split_labels));
	all->splits[all->n_splits] = text;
	all->split_labels[all->n_splits++] = label;
}

/* No value is usual. A compute port that is down is reported all the same, unless it is down on most hosts; subnets often
 * differ on each host. */
static void judge_split(struct seens *all, const struct seen *v, size_t n)
{
	size_t active = 0, known = 0;

	if (all->what == RD_DIFFERS_SUBNET)
		return;
	if (all->what != RD_DIFFERS_STATE) {
		add_split(all, v, n);
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
		if (!v[i].value || strcmp(v[i].value, best->value) == 0 || !is_worse(all, v[i].value, best->value))
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

	return strcmp(((char **)splits)[a], ((char **)splits)[b]) ?: RD_CMP(a, b);
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
		for (k = i + 1; k < all->n_splits && strcmp(all->splits[order[i]], all->splits[order[k]]) == 0; k++)
			more[order[k]] = SIZE_MAX;
		more[order[i]] = k - i - 1;
	}
	free(order);
	return more;
}

static void report_splits(struct seens *all)
{
	static const struct {
		const char *id, *title;
	} words[RD_DIFFERS] = {
		[RD_DIFFERS_LAYER] = { "rail-layer",
				       "Link layer differs between hosts, and no value has a clear majority" },
		[RD_DIFFERS_RATE] = { "rail-rate", "Rate differs between hosts, and no value has a clear majority" },
		[RD_DIFFERS_MTU] = { "rail-mtu", "MTU differs between hosts, and no value has a clear majority" },
		[RD_DIFFERS_CHOICE] = { "rail-name",
					"NIC selected by NCCL differs between hosts, and no choice has a clear majority" },
		[RD_DIFFERS_NAME] = { "nic-name", "Name differs between hosts, and no value has a clear majority" },
		[RD_DIFFERS_FIRMWARE] = { "rail-firmware",
					  "Firmware differs between hosts, and no value has a clear majority" },
		[RD_DIFFERS_SETTING] = { "host-setting",
					 "Setting differs between hosts, and no value has a clear majority" },
	};
	_cleanup_free_ size_t *more = count_alike(all);

	for (size_t i = 0; i < all->n_splits; i++) {
		struct rd_finding finding = {
			.id = words[all->what].id,
			/* One of both is wrong, whichever. */
			.severity = all->what == RD_DIFFERS_MTU ? RD_SEV_WARNING : RD_SEV_UNKNOWN,
			.title = words[all->what].title,
			.why = "cannot determine from these hosts which value is right",
		};

		if (more[i] == SIZE_MAX)
			continue;
		finding.subject = more[i] ? rd_text("%s and %zu more", all->split_labels[i], more[i]) :
					    rd_text("%s", all->split_labels[i]);
		finding.observed = rd_text("%s", all->splits[i]);
		rd_compare_report(all->cmp, &finding, SIZE_MAX);
	}
}

static void seens_deinit(struct seens *all)
{
	for (size_t i = 0; i < all->n_splits; i++)
		RD_FREE(all->splits[i], all->split_labels[i]);
	RD_FREE(all->splits, all->split_labels, all->boards, all->v);
}

void rd_compare_values(struct rd_compare *cmp, enum rd_differs what)
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
