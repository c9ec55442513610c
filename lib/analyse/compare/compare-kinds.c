/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups hosts that are built alike, and finds devices missing from a host. */
#include "analyse/compare/compare-priv.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

struct item {
	bool nic;
	const char *place;
};

/* Hosts with the same accelerators and NICs. */
struct group {
	size_t *hosts, n; /* into kinds.order */
	struct item *items;
	size_t n_items, n_gpus;
	bool usual; /* large enough to compare others with */
};

struct kinds {
	struct rd_compare *cmp;
	struct group *v;
	size_t n;
	size_t *order;	     /* of hosts: group by group */
	struct group common; /* what more than half of the hosts have, if no group is usual */
	size_t *odd, n_odd;  /* hosts that are unlike all others */
};

static int by_item(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	return a->nic != b->nic ? (int)a->nic - (int)b->nic : strcmp(a->place, b->place);
}

static struct item *items_of(const struct rd_compared *host, size_t *ret)
{
	struct item *items = rd_alloc(host->n_gpus + host->n_nics + 1, sizeof(*items));
	size_t n = 0;

	*ret = 0;
	for (size_t i = 0; i < host->n_gpus; i++)
		items[n++] = (struct item){ false, host->gpus[i] };
	for (size_t i = 0; i < host->n_nics; i++)
		items[n++] = (struct item){ true, host->nics[i] };
	qsort(items, n, sizeof(*items), by_item);
	for (size_t i = 0; i < n; i++)
		if (*ret == 0 || by_item(&items[i], &items[*ret - 1]) != 0)
			items[(*ret)++] = items[i];
	return items;
}

static char *signature_of(const struct rd_compared *host)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	size_t n;
	_cleanup_free_ struct item *items = items_of(host, &n);

	for (size_t i = 0; i < n; i++)
		rd_buf_printf(&text, "%c%s\n", items[i].nic ? 'N' : 'G', items[i].place);
	return text.data ? RD_TAKE(text.data) : rd_dup("");
}

struct named {
	char *signature;
	size_t host;
};

static int by_signature(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;

	return strcmp(a->signature, b->signature) ?: RD_CMP(a->host, b->host);
}

/* The largest first; then by number of items; then by first host. */
static int by_size(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	return RD_CMP(b->n, a->n) ?: RD_CMP(b->n_items, a->n_items) ?: RD_CMP(a->hosts[0], b->hosts[0]);
}

static void kinds_deinit(struct kinds *kinds)
{
	for (size_t i = 0; i < kinds->n; i++)
		free(kinds->v[i].items);
	RD_FREE(kinds->common.items, kinds->v, kinds->order, kinds->odd);
}

static void group_hosts(struct kinds *kinds, const struct named *named)
{
	struct rd_compare *cmp = kinds->cmp;

	for (size_t i = 0; i < cmp->n; i++) {
		kinds->order[i] = named[i].host;
		if (i == 0 || strcmp(named[i].signature, named[i - 1].signature) != 0)
			kinds->v[kinds->n++] = (struct group){ .hosts = &kinds->order[i] };
		kinds->v[kinds->n - 1].n++;
	}
	for (size_t i = 0; i < kinds->n; i++) {
		struct group *group = &kinds->v[i];

		group->items = items_of(&cmp->hosts[group->hosts[0]], &group->n_items);
		group->n_gpus = cmp->hosts[group->hosts[0]].n_gpus;
		group->usual = group->n >= 2 && group->n * 20 >= cmp->n;
	}
	qsort(kinds->v, kinds->n, sizeof(*kinds->v), by_size);
}

static void make_groups(struct kinds *kinds)
{
	size_t n = kinds->cmp->n;
	_cleanup_free_ struct named *named = rd_alloc(n + 1, sizeof(*named));

	kinds->v = rd_alloc(n + 1, sizeof(*kinds->v));
	kinds->order = rd_alloc(n + 1, sizeof(*kinds->order));
	kinds->odd = rd_alloc(n + 1, sizeof(*kinds->odd));
	for (size_t h = 0; h < n; h++)
		named[h] = (struct named){ signature_of(&kinds->cmp->hosts[h]), h };
	qsort(named, n, sizeof(*named), by_signature);
	group_hosts(kinds, named);
	for (size_t h = 0; h < n; h++)
		free(named[h].signature);
}

static void count_differences(const struct group *own, const struct group *other, size_t *missing, size_t *extra)
{
	size_t i = 0, k = 0;

	*missing = *extra = 0;
	while (i < own->n_items || k < other->n_items) {
		int order = i == own->n_items	? 1 :
			    k == other->n_items ? -1 :
						  by_item(&own->items[i], &other->items[k]);

		*extra += order < 0;
		*missing += order > 0;
		i += order <= 0;
		k += order >= 0;
	}
}

/* Sets `common`, if no two hosts are built alike: items that more than half of the hosts have; of two hosts, the items of
 * the one that includes all of the other's. */
static void make_common(struct kinds *kinds)
{
	struct rd_compare *cmp = kinds->cmp;
	struct group *common = &kinds->common;
	size_t all = 0, n = 0, missing, extra;
	struct item *items;

	if (kinds->n > 0 && kinds->v[0].usual)
		return;
	for (size_t i = 0; i < kinds->n; i++)
		all += kinds->v[i].n_items;
	items = common->items = rd_alloc(all + 1, sizeof(*items));
	if (kinds->n == 2) {
		count_differences(&kinds->v[0], &kinds->v[1], &missing, &extra);
		if (missing && extra)
			return;
		common->n_items = kinds->v[missing > 0].n_items;
		memcpy(items, kinds->v[missing > 0].items, common->n_items * sizeof(*items));
		common->n = 1;
		return;
	}
	for (size_t i = 0; i < kinds->n; i++)
		for (size_t k = 0; k < kinds->v[i].n_items; k++)
			items[n++] = kinds->v[i].items[k];
	qsort(items, n, sizeof(*items), by_item);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && by_item(&items[i], &items[k]) == 0; k++)
			;
		if (2 * (k - i) > cmp->n)
			items[common->n_items++] = items[i];
	}
	common->n = common->n_items > 0 ? cmp->n / 2 + 1 : 0;
}

/* Whether hosts lost devices, or were built without them: a group of hosts that lack the same is a kind of its own if it is
 * more than a third as large as the other, or lacks much. */
static bool has_lost(const struct kinds *kinds, const struct group *own, const struct group *other, size_t missing)
{
	if (own->n >= 3 && own->n * 20 >= kinds->cmp->n && missing * 4 >= other->n_items)
		return false;
	if (own->n == 1 && other->n == 1)
		return missing * 2 < other->n_items;
	return own->n == 1 || own->n * 3 <= other->n;
}

static void add_missing(struct kinds *kinds, const struct group *own, const struct group *other)
{
	for (size_t h = 0; h < own->n; h++) {
		size_t i = 0;

		for (size_t k = 0; k < other->n_items; k++) {
			const struct item *item = &other->items[k];
			struct rd_difference *d;

			while (i < own->n_items && by_item(&own->items[i], item) < 0)
				i++;
			if (i < own->n_items && by_item(&own->items[i], item) == 0)
				continue;
			d = rd_compare_add(kinds->cmp, item->nic ? RD_DIFFERS_NIC : RD_DIFFERS_GPU, own->hosts[h]);
			snprintf(d->label, sizeof(d->label), "%s %.80s", item->nic ? "NIC" : "GPU", item->place);
			d->severity = RD_SEV_CRITICAL;
			d->with = other->n;
			d->of = kinds->cmp->n;
		}
	}
}

/* Fewer devices than on other hosts, at other PCI addresses: unknown which one is missing. */
static void report_fewer(struct kinds *kinds, const struct group *own, const struct group *other, bool nic)
{
	size_t is = nic ? own->n_items - own->n_gpus : own->n_gpus;
	size_t usual = nic ? other->n_items - other->n_gpus : other->n_gpus;
	_cleanup_free_ char *hosts = rd_compare_hosts(kinds->cmp, own->hosts, own->n);
	struct rd_finding finding = {
		.id = nic ? "nic-missing" : "gpu-missing",
		.severity = RD_SEV_CRITICAL,
		.title = "Fewer devices than on other hosts",
		.why = "jobs fail or run on fewer devices; devices fell off the bus, or the host is built differently",
	};

	if (is >= usual)
		return;
	finding.subject = rd_text("%s %s", hosts, nic ? "NICs" : "GPUs");
	finding.observed = rd_text("%zu, at different PCI addresses than on other hosts", is);
	finding.expected = rd_text("%zu, as on %zu of %zu hosts", usual, other->n, kinds->cmp->n);
	finding.fix = rd_text(
		"# on %s: look at lspci and dmesg\n# power-cycle: no job may run there meanwhile\n# if devices are still missing: reseat or replace the card",
		hosts);
	rd_compare_report(kinds->cmp, &finding, SIZE_MAX);
}

static void report_kind(struct kinds *kinds, const size_t *hosts, size_t n, const struct group *usual)
{
	const struct rd_compared *host = &kinds->cmp->hosts[hosts[0]];
	_cleanup_free_ char *names = rd_compare_hosts(kinds->cmp, hosts, n);
	struct rd_finding finding = {
		.id = "host-kinds",
		.severity = RD_SEV_NOTE, /* not a fault: clusters have hosts of several kinds */
		.title =
			"Hosts of different kinds: PCI addresses of accelerators and NICs differ; each kind is compared separately",
		.why = "hosts that are built differently are not comparable",
		.subject = names ? rd_text("%s", names) : NULL,
		.observed = rd_text("%zu accelerators, %zu NICs%s", host->n_gpus, host->n_nics,
				    n > 1 ? " on the first of them" : ""),
	};

	if (usual)
		finding.expected = rd_text("%zu accelerators, %zu NICs, as on %zu of %zu hosts", usual->n_gpus,
					   usual->n_items - usual->n_gpus, usual->n, kinds->cmp->n);
	rd_compare_report(kinds->cmp, &finding, SIZE_MAX);
}

/* The usual group that differs least from this one. */
static const struct group *nearest(const struct kinds *kinds, const struct group *own, size_t *missing, size_t *extra)
{
	const struct group *best = NULL;

	for (size_t i = 0; i < kinds->n && kinds->v[i].usual; i++) {
		size_t m, e;

		/* Usual groups are compared with larger ones only. */
		if (&kinds->v[i] == own)
			break;
		count_differences(own, &kinds->v[i], &m, &e);
		if (!best || m + e < *missing + *extra) {
			best = &kinds->v[i];
			*missing = m;
			*extra = e;
		}
	}
	if (best || kinds->common.n == 0)
		return best;
	count_differences(own, &kinds->common, missing, extra);
	return &kinds->common;
}

static void place_group(struct kinds *kinds, struct group *own, size_t number)
{
	struct rd_compare *cmp = kinds->cmp;
	size_t missing = 0, extra = 0, kind = number;
	const struct group *other = nearest(kinds, own, &missing, &extra);
	bool few = other && (own->n == 1 ? other->n > 1 : own->n * 3 <= other->n), reported = !other;

	if (other && extra == 0 && (missing == 0 || has_lost(kinds, own, other, missing))) {
		add_missing(kinds, own, other);
		kind = other == &kinds->common ? SIZE_MAX : cmp->kinds[other->hosts[0]];
		reported = true;
	} else if (other && missing > 0 && few && own->n_items < other->n_items && other != &kinds->common) {
		reported = own->n_gpus < other->n_gpus || own->n_items - own->n_gpus < other->n_items - other->n_gpus;
		report_fewer(kinds, own, other, false);
		report_fewer(kinds, own, other, true);
	}
	for (size_t h = 0; h < own->n; h++)
		cmp->kinds[own->hosts[h]] = kind;
	if (reported)
		return;
	if (own->n > 1)
		report_kind(kinds, own->hosts, own->n, other == &kinds->common ? NULL : other);
	else
		kinds->odd[kinds->n_odd++] = own->hosts[0];
}

static int by_what(const void *pa, const void *pb)
{
	const struct rd_difference *a = pa, *b = pb;

	return (int)a->what - (int)b->what;
}

/* Accelerators first. */
static void fold_missing(struct rd_compare *cmp)
{
	struct rd_difference *all = cmp->v;
	size_t n = cmp->n_v, gpus = 0;

	if (n > 0)
		qsort(all, n, sizeof(*all), by_what);
	while (gpus < n && all[gpus].what == RD_DIFFERS_GPU)
		gpus++;
	cmp->n_v = gpus;
	rd_compare_fold(cmp, 0);
	cmp->n_v = n;
	rd_compare_fold(cmp, gpus);
}

void rd_compare_kinds(struct rd_compare *cmp)
{
	_cleanup_(kinds_deinit) struct kinds kinds = { .cmp = cmp };

	make_groups(&kinds);
	make_common(&kinds);
	for (size_t i = 0; i < kinds.n; i++)
		place_group(&kinds, &kinds.v[i], i);
	fold_missing(cmp);
	if (kinds.n_odd > 0)
		report_kind(&kinds, kinds.odd, kinds.n_odd, kinds.n > 0 && kinds.v[0].usual ? &kinds.v[0] : NULL);
}
