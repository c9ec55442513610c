/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the usual value of each place, and hosts that have another; equal differences become one finding. */
#include "analyse/compare/compare.h"

#include "base/map.h"
#include "base/siphash.h"

/* Names listed before "and 41 more". */
#define NAMES_MAX 3
#define LABELS_MAX 16

/* In the order of reporting: possible causes of others first. */
enum differs {
	DIFFERS_GPU,
	DIFFERS_NIC,
	DIFFERS_STATE,
	DIFFERS_LAYER,
	DIFFERS_RATE,
	DIFFERS_CHOICE, /* the NIC that NCCL selects: from here on possible consequences of the others */
	DIFFERS_NAME,
	DIFFERS_SUBNET,
	DIFFERS_FIRMWARE,
	DIFFERS_SETTING,
	DIFFERS_MTU,
	DIFFERS,
};

/* One difference of one host. Texts belong to the hosts, or are static. */
struct difference {
	enum differs what;
	size_t host;
	char label[96];		/* "mlx5_0/1", "GPU 0000:1b:00.0" */
	const char *is, *usual; /* NULL: missing */
	size_t with, of;	/* `with` of `of` have the usual value */
	bool by_board;		/* with and of count ports of cards of this kind, not hosts */
	enum rd_severity severity;
	size_t cause;	/* index of a finding; SIZE_MAX: none */
	size_t finding; /* index of the finding that reports it */
	size_t before;	/* number of the difference of the same host before it, from 1; 0: none */
};

struct compare {
	const struct rd_compared *hosts;
	size_t n;
	size_t *kinds;	      /* of each host; hosts of one kind have the same number */
	struct difference *v; /* in the order of `what` */
	size_t n_v, cap_v;
	size_t *last; /* of each host: number of its last difference that has a finding, from 1; 0: none */
	struct rd_comparison *ret;
};

static const struct {
	const char *id, *title, *why;
	const char *split; /* title if no value is usual */
} words[DIFFERS] = {
	[DIFFERS_GPU] = { "gpu-missing", "GPU is missing: other hosts have it at this PCI address",
			  "jobs fail or run on fewer GPUs; it fell off the bus, or the host is built differently" },
	[DIFFERS_NIC] = { "nic-missing", "NIC is missing: other hosts have it at this PCI address",
			  "jobs fail or run on fewer NICs; it fell off the bus, or the host is built differently" },
	[DIFFERS_STATE] = { "port-state", "Port is not active, but is on other hosts",
			    "accelerators near this port use a different rail than on other hosts" },
	[DIFFERS_LAYER] = { "rail-layer", "Link layer of a port differs from other hosts",
			    "InfiniBand and Ethernet ports cannot communicate",
			    "Link layer differs between hosts, and no value has a clear majority" },
	[DIFFERS_RATE] = { "rail-rate", "Port runs slower than on other hosts",
			   "collectives run at the speed of the slowest port",
			   "Rate differs between hosts, and no value has a clear majority" },
	[DIFFERS_MTU] = { "rail-mtu", "MTU of a port differs from other hosts",
			  "packets above the MTU of the peer are dropped (completion status 12) unless both ends agree on "
			  "the smaller one",
			  "MTU differs between hosts, and no value has a clear majority" },
	[DIFFERS_CHOICE] = { "rail-name", "NCCL selects a different NIC for an accelerator than on other hosts",
			     "peers of one rail then use different rails",
			     "NIC selected by NCCL differs between hosts, and no choice has a clear majority" },
	[DIFFERS_NAME] = { "nic-name", "Name of a NIC differs from other hosts",
			   "NCCL_IB_HCA and similar variables select a different NIC on this host",
			   "Name differs between hosts, and no value has a clear majority" },
	[DIFFERS_SUBNET] = { "rail-subnet", "Subnet of a port differs from other hosts",
			     "rails are cross-cabled: peers of one rail may not reach each other" },
	[DIFFERS_FIRMWARE] = { "rail-firmware", "Firmware of a NIC differs from other hosts",
			       "firmware versions may behave differently",
			       "Firmware differs between hosts, and no value has a clear majority" },
	[DIFFERS_SETTING] = { "host-setting", "Setting differs from other hosts",
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
	const struct difference *first;
};

/* Valid until the next call. */
static struct difference *new_difference(struct compare *cmp, enum differs what, size_t host)
{
	struct difference *d = RD_ADD(cmp->v, cmp->n_v, cmp->cap_v);

	*d = (struct difference){ .what = what, .host = host, .cause = SIZE_MAX, .finding = SIZE_MAX };
	return d;
}

/* Takes the texts of the finding over. */
static void add_finding(struct compare *cmp, const struct rd_finding *finding, size_t cause)
{
	struct rd_findings *findings = &cmp->ret->findings;

	rd_finding_add(findings, finding);
	if (cause != SIZE_MAX)
		rd_finding_blame(&findings->v[findings->n - 1], &findings->v[cause]);
}

/* "n7, n12 and 41 more", of these hosts; caller frees. */
static char *list_hosts(const struct compare *cmp, const size_t *hosts, size_t n)
{
	size_t shown = n > NAMES_MAX ? NAMES_MAX - 1 : n;
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t i = 0; i < shown; i++)
		rd_buf_printf(&text, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", cmp->hosts[hosts[i]].name);
	if (n > shown)
		rd_buf_printf(&text, " and %zu more", n - shown);
	return RD_TAKE(text.data);
}

/* NULL is the first. */
static int order_text(const char *a, const char *b)
{
	return !a || !b ? !!a - !!b : strcmp(a, b);
}

/* 0: they become one finding. */
static int order_differences(const struct difference *a, const struct difference *b)
{
	return RD_FIRST(RD_CMP(a->what, b->what), RD_CMP(a->host, b->host), RD_CMP(a->cause, b->cause),
			RD_CMP(b->severity, a->severity), order_text(a->is, b->is), order_text(a->usual, b->usual));
}

static int by_alike(const void *pa, const void *pb)
{
	const struct difference *a = pa, *b = pb;

	return order_differences(a, b) ?: strverscmp(a->label, b->label);
}

static int by_signature(const void *pa, const void *pb)
{
	const struct bundle *a = pa, *b = pb;

	return strcmp(a->signature, b->signature) ?: RD_CMP(a->host, b->host);
}

/* The most severe of a kind first, then by number of hosts. */
static int by_weight(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;

	return RD_FIRST(RD_CMP(a->first->what, b->first->what), RD_CMP(b->first->severity, a->first->severity),
			RD_CMP(b->n, a->n), RD_CMP(a->v[0].host, b->v[0].host), RD_CMP(a->v[0].from, b->v[0].from));
}

/* "mlx5_0/1, mlx5_1/1 and 6 more" */
static char *labels_of(const struct difference *d, size_t n, size_t most)
{
	size_t shown = n > most ? most - 1 : n;
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t i = 0; i < shown; i++)
		rd_buf_printf(&text, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", d[i].label);
	if (n > shown)
		rd_buf_printf(&text, " and %zu more", n - shown);
	return RD_TAKE(text.data);
}

static char *signature_of(const struct difference *d, size_t n)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	rd_buf_printf(&text, "%d\n%zu\n%s\n%s", (int)d->severity, d->cause, d->is ?: "", d->usual ?: "");
	for (size_t i = 0; i < n; i++)
		rd_buf_printf(&text, "\n%s", d[i].label);
	return RD_TAKE(text.data);
}

/* Text of `observed`, from the first of the hosts. */
static char *observed(const struct difference *d, size_t n)
{
	_cleanup_free_ char *labels = labels_of(d, n, LABELS_MAX);

	switch (d->what) {
	case DIFFERS_GPU:
	case DIFFERS_NIC:
		return n > NAMES_MAX ? rd_text("missing: %s", labels) : rd_text("missing");
	case DIFFERS_RATE:
		return rd_text("%s %s at %s of %s Gbit/s", labels, n > 1 ? "run" : "runs", d->is, d->usual);
	case DIFFERS_CHOICE:
		return rd_text("NCCL selects %s", d->is);
	case DIFFERS_NAME:
		return rd_text("%s", d->is);
	default:
		return rd_text("%s: %s", labels, d->is);
	}
}

/* Commands to run on the first of the hosts, with its device names. */
static char *fix(const struct compare *cmp, const struct difference *d)
{
	const char *host = cmp->hosts[d->host].name;
	char device[sizeof(d->label)];

	snprintf(device, sizeof(device), "%.*s", (int)strcspn(d->label, "/"), d->label);
	switch (d->what) {
	case DIFFERS_GPU:
	case DIFFERS_NIC:
		return rd_text(
			"# on %s: look for %s in lspci -D and in dmesg\n# power-cycle %s: no job may run there meanwhile\n# if it is still missing: reseat or replace the card",
			host, d->label + 4, host);
	case DIFFERS_STATE:
		return rd_text("# on %s: rdmadiag topo-check --only port-state,ib-no-sm", host);
	case DIFFERS_RATE:
		return rd_text("# on %s: rdmadiag counters %s\n# check cable, transceiver and switch port", host,
			       device);
	default:
		return NULL;
	}
}

static void report_run(struct compare *cmp, const struct run *run)
{
	_cleanup_free_ size_t *hosts = rd_alloc(run->n, sizeof(*hosts));
	_cleanup_free_ char *names = NULL, *labels = NULL;
	const struct difference *d = run->first;
	struct rd_finding finding = { .severity = d->severity };
	size_t number = cmp->ret->findings.n;

	for (size_t i = 0; i < run->n; i++) {
		hosts[i] = run->v[i].host;
		for (size_t k = 0; k < run->v[i].n; k++)
			cmp->v[run->v[i].from + k].finding = number;
	}
	names = list_hosts(cmp, hosts, run->n);
	labels = labels_of(d, run->v[0].n, NAMES_MAX);
	finding.id = words[d->what].id;
	finding.title = words[d->what].title;
	finding.why = words[d->what].why;
	finding.subject = rd_text("%s%s %s", names, run->n > 1 ? ":" : "", labels);
	finding.observed = observed(d, run->v[0].n);
	finding.expected = rd_text("%s, as on %zu of %zu %s", d->is ? d->usual : "present", d->with, d->of,
				   d->by_board ? "ports of such cards" : "hosts");
	finding.fix = fix(cmp, d);
	/* caused_by: id and subject of ret->findings.v[d->cause]. */
	add_finding(cmp, &finding, d->cause);
}

/* Makes findings from the differences from `from` on; equal ones become one finding. */
static void fold_differences(struct compare *cmp, size_t from)
{
	struct difference *d = from < cmp->n_v ? cmp->v + from : NULL;
	size_t n = cmp->n_v - from, n_bundles = 0, n_runs = 0;
	_cleanup_free_ struct bundle *bundles = rd_alloc(n + 1, sizeof(*bundles));
	_cleanup_free_ struct run *runs = rd_alloc(n + 1, sizeof(*runs));

	rd_sort(d, n, sizeof(*d), by_alike);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && order_differences(&d[i], &d[k]) == 0; k++)
			;
		bundles[n_bundles++] = (struct bundle){ d[i].host, from + i, k - i, signature_of(&d[i], k - i) };
	}
	qsort(bundles, n_bundles, sizeof(*bundles), by_signature);
	for (size_t i = 0, k; i < n_bundles; i = k) {
		for (k = i; k < n_bundles && strcmp(bundles[k].signature, bundles[i].signature) == 0; k++)
			;
		runs[n_runs++] = (struct run){ &bundles[i], k - i, &cmp->v[bundles[i].from] };
	}
	qsort(runs, n_runs, sizeof(*runs), by_weight);
	for (size_t i = 0; i < n_runs; i++)
		report_run(cmp, &runs[i]);
	for (size_t i = 0; i < n_bundles; i++)
		free(bundles[i].signature);
	for (size_t i = from; i < cmp->n_v; i++) {
		cmp->v[i].before = cmp->last[cmp->v[i].host];
		cmp->last[cmp->v[i].host] = i + 1;
	}
}

/* Kinds of hosts that are built alike, and devices missing from a host. */

struct item {
	bool nic;
	const char *place;
};

/* Hosts with the same accelerators and NICs. */
struct group {
	size_t *hosts, n; /* into kinds.order */
	size_t first;	  /* of the hosts */
	struct item *items;
	size_t n_items, n_gpus;
	bool usual; /* large enough to compare others with */
};

struct kinds {
	struct compare *cmp;
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

static int order_items(const struct group *a, const struct group *b)
{
	int r = RD_CMP(a->n_items, b->n_items);

	for (size_t i = 0; !r && i < a->n_items; i++)
		r = by_item(&a->items[i], &b->items[i]);
	return r;
}

static int by_items(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	return order_items(a, b) ?: RD_CMP(a->first, b->first);
}

/* The largest first; then by number of items; then by first host. */
static int by_size(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	return RD_CMP(b->n, a->n) ?: RD_CMP(b->n_items, a->n_items) ?: RD_CMP(a->first, b->first);
}

static void kinds_deinit(struct kinds *kinds)
{
	for (size_t i = 0; i < kinds->n; i++)
		free(kinds->v[i].items);
	RD_FREE(kinds->common.items, kinds->v, kinds->order, kinds->odd);
}

/* Sorts the hosts by what they have, and makes one group of those that have the same. */
static void make_groups(struct kinds *kinds)
{
	const struct compare *cmp = kinds->cmp;
	struct group *v = kinds->v = rd_alloc(cmp->n + 1, sizeof(*v));

	kinds->order = rd_alloc(cmp->n + 1, sizeof(*kinds->order));
	kinds->odd = rd_alloc(cmp->n + 1, sizeof(*kinds->odd));
	for (size_t h = 0; h < cmp->n; h++) {
		v[h] = (struct group){ .first = h, .n_gpus = cmp->hosts[h].n_gpus };
		v[h].items = items_of(&cmp->hosts[h], &v[h].n_items);
	}
	qsort(v, cmp->n, sizeof(*v), by_items);
	for (size_t h = 0; h < cmp->n; h++) {
		kinds->order[h] = v[h].first;
		if (kinds->n > 0 && order_items(&v[kinds->n - 1], &v[h]) == 0) {
			free(v[h].items);
		} else {
			v[kinds->n] = v[h];
			v[kinds->n++].hosts = &kinds->order[h];
		}
		v[kinds->n - 1].n++;
	}
	for (size_t i = 0; i < kinds->n; i++)
		v[i].usual = v[i].n >= 2 && v[i].n * 20 >= cmp->n;
	qsort(v, kinds->n, sizeof(*v), by_size);
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
	struct compare *cmp = kinds->cmp;
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

/* Fewer devices than on other hosts, at other PCI addresses: unknown which one is missing. */
static void report_fewer(struct kinds *kinds, const struct group *own, const struct group *other, bool nic)
{
	size_t is = nic ? own->n_items - own->n_gpus : own->n_gpus;
	size_t usual = nic ? other->n_items - other->n_gpus : other->n_gpus;
	_cleanup_free_ char *hosts = list_hosts(kinds->cmp, own->hosts, own->n);
	struct rd_finding finding = {
		nic ? "nic-missing" : "gpu-missing", "Fewer devices than on other hosts",
		"jobs fail or run on fewer devices; devices fell off the bus, or the host is built differently",
		RD_SEV_CRITICAL
	};

	if (is >= usual)
		return;
	finding.subject = rd_text("%s %s", hosts, nic ? "NICs" : "GPUs");
	finding.observed = rd_text("%zu, at different PCI addresses than on other hosts", is);
	finding.expected = rd_text("%zu, as on %zu of %zu hosts", usual, other->n, kinds->cmp->n);
	finding.fix = rd_text(
		"# on %s: look at lspci and dmesg\n# power-cycle: no job may run there meanwhile\n# if devices are still missing: reseat or replace the card",
		hosts);
	add_finding(kinds->cmp, &finding, SIZE_MAX);
}

static void report_kind(struct kinds *kinds, const size_t *hosts, size_t n, const struct group *usual)
{
	const struct rd_compared *host = &kinds->cmp->hosts[hosts[0]];
	_cleanup_free_ char *names = list_hosts(kinds->cmp, hosts, n);
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
	add_finding(kinds->cmp, &finding, SIZE_MAX);
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
	struct compare *cmp = kinds->cmp;
	size_t missing = 0, extra = 0, kind = number;
	const struct group *other = nearest(kinds, own, &missing, &extra);
	bool few = other && (own->n == 1 ? other->n > 1 : own->n * 3 <= other->n), reported = !other;

	if (other && extra == 0 && (missing == 0 || has_lost(kinds, own, other, missing))) {
		for (size_t h = 0; h < own->n; h++) {
			size_t i = 0;

			for (size_t k = 0; k < other->n_items; k++) {
				const struct item *item = &other->items[k];
				struct difference *d;

				while (i < own->n_items && by_item(&own->items[i], item) < 0)
					i++;
				if (i < own->n_items && by_item(&own->items[i], item) == 0)
					continue;
				d = new_difference(kinds->cmp, item->nic ? DIFFERS_NIC : DIFFERS_GPU, own->hosts[h]);
				snprintf(d->label, sizeof(d->label), "%s %.80s", item->nic ? "NIC" : "GPU", item->place);
				d->severity = RD_SEV_CRITICAL;
				d->with = other->n;
				d->of = kinds->cmp->n;
			}
		}
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

static void find_kinds(struct compare *cmp)
{
	_cleanup_(kinds_deinit) struct kinds kinds = { .cmp = cmp };

	make_groups(&kinds);
	make_common(&kinds);
	for (size_t i = 0; i < kinds.n; i++)
		place_group(&kinds, &kinds.v[i], i);
	fold_differences(cmp, 0);
	if (kinds.n_odd > 0)
		report_kind(&kinds, kinds.odd, kinds.n_odd, kinds.n > 0 && kinds.v[0].usual ? &kinds.v[0] : NULL);
}

/* Values. */

/* Whether one difference of a host explains another; higher: better. NCCL's choice: any problem of a NIC, most of all of the
 * one that NCCL would select; a name: a missing NIC; a rate: the link layer of the same port; an MTU:
 * one of an interface. */
static unsigned explains(const struct difference *cause, const struct difference *d)
{
	switch (d->what) {
	case DIFFERS_CHOICE:
		return cause->what < DIFFERS_CHOICE ? 1 + (strcmp(cause->label, d->usual) == 0) : 0;
	case DIFFERS_NAME:
		return cause->what == DIFFERS_NIC;
	case DIFFERS_RATE:
		return cause->what == DIFFERS_LAYER && strcmp(cause->label, d->label) == 0;
	case DIFFERS_MTU:
		return cause->what == DIFFERS_SETTING && strstr(cause->label, " mtu");
	default:
		return 0;
	}
}

/* One value of one port (or accelerator) of one host. */
struct seen {
	size_t kind, host;
	const char *place; /* what it is compared by */
	const char *value, *label, *board;
	bool compute;
};

/* How the values of places are distributed if none is usual. */
struct split {
	char *text, *label; /* owned; the label is that of the first place */
	size_t more;	    /* further places with the same text */
};

struct seens {
	struct compare *cmp;
	enum differs what;
	struct seen *v;
	size_t n, cap;
	struct seen *boards; /* the same sorted by kind of card; only for rates */
	struct split *splits;
	size_t n_splits, cap_splits;
	struct rd_map splits_by_text;
};

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

static struct seen *add_seen(struct seens *all, size_t host, const char *place, const char *value, const char *label)
{
	struct seen *seen = RD_ADD(all->v, all->n, all->cap);

	*seen = (struct seen){ all->cmp->kinds[host], host, place, value, label, .compute = true };
	return seen;
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
	struct difference *d = new_difference(all->cmp, all->what, seen->host);
	const struct rd_compared *host = &all->cmp->hosts[seen->host];
	bool choice = all->what == DIFFERS_CHOICE;

	snprintf(d->label, sizeof(d->label), "%s", seen->label);
	for (size_t g = 0; choice && g < host->n_gpus; g++)
		if (strcmp(host->gpus[g], seen->place) == 0)
			snprintf(d->label, sizeof(d->label), "GPU%zu", g);
	d->is = choice ? seen->label : seen->value;
	d->usual = choice ? usual->label : usual->value;
	d->with = with;
	d->of = of;
	d->by_board = board;
	d->severity = all->what == DIFFERS_STATE && seen->compute ? RD_SEV_CRITICAL : RD_SEV_WARNING;
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
		names = list_hosts(all->cmp, hosts, k - i);
		rd_buf_printf(&text, "%s%s on %s", text.len > 0 ? "; " : "",
			      all->what == DIFFERS_CHOICE ? v[i].label : v[i].value, names);
	}
	return RD_TAKE(text.data);
}

/* Takes ownership of the text. */
static void add_split(struct seens *all, char *text, const char *label)
{
	struct rd_sipkey key;
	uint64_t hash;
	size_t probe = 0, i;

	rd_sipkey_of_process(&key);
	hash = rd_siphash(&key, text, strlen(text));
	do
		i = rd_map_next(&all->splits_by_text, hash, &probe);
	while (i != RD_MAP_END && strcmp(all->splits[i].text, text) != 0);
	if (i != RD_MAP_END) {
		all->splits[i].more++;
		free(text);
		return;
	}
	rd_map_put(&all->splits_by_text, hash, all->n_splits);
	*RD_ADD(all->splits, all->n_splits, all->cap_splits) = (struct split){ text, rd_dup(label), 0 };
}

/* No value is usual. A compute port that is down is reported all the same, unless it is down on most hosts; subnets often
 * differ on each host. */
static void judge_split(struct seens *all, const struct seen *v, size_t n)
{
	size_t active = 0, known = 0;

	if (all->what == DIFFERS_SUBNET)
		return;
	if (all->what != DIFFERS_STATE) {
		add_split(all, spread(all, v, n), all->what == DIFFERS_CHOICE ? v->place : v->label);
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
	if (all->what == DIFFERS_STATE && strcmp(best->value, "ACTIVE") != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (!v[i].value || strcmp(v[i].value, best->value) == 0 ||
		    /* A port that is faster than others is not a fault. */
		    (all->what == DIFFERS_RATE && rate_of(v[i].value) >= rate_of(best->value)))
			continue;
		any = true;
		add_difference(all, &v[i], best, with, of, by_board);
	}
	if (!any && all->what != DIFFERS_RATE)
		judge_split(all, v, n);
}

static void report_splits(struct seens *all)
{
	for (size_t i = 0; i < all->n_splits; i++) {
		const struct split *split = &all->splits[i];
		struct rd_finding finding = {
			.id = words[all->what].id,
			/* One of both is wrong, whichever. */
			.severity = all->what == DIFFERS_MTU ? RD_SEV_WARNING : RD_SEV_UNKNOWN,
			.title = words[all->what].split,
			.why = "cannot determine from these hosts which value is right",
		};

		finding.subject = split->more ? rd_text("%s and %zu more", split->label, split->more) :
						rd_dup(split->label);
		finding.observed = rd_dup(split->text);
		add_finding(all->cmp, &finding, SIZE_MAX);
	}
}

static void seens_deinit(struct seens *all)
{
	for (size_t i = 0; i < all->n_splits; i++)
		RD_FREE(all->splits[i].text, all->splits[i].label);
	RD_FREE(all->splits, all->boards, all->v);
	rd_map_deinit(&all->splits_by_text);
}

static void compare_values(struct compare *cmp, enum differs what)
{
	_cleanup_(seens_deinit) struct seens all = { .cmp = cmp, .what = what };

	for (size_t h = 0; h < all.cmp->n; h++) {
		const struct rd_compared *host = &all.cmp->hosts[h];

		if (all.what != DIFFERS_CHOICE && all.what != DIFFERS_SETTING) {
			static const size_t members[DIFFERS] = {
				[DIFFERS_STATE] = offsetof(struct rd_compared_port, state),
				[DIFFERS_LAYER] = offsetof(struct rd_compared_port, link_layer),
				[DIFFERS_RATE] = offsetof(struct rd_compared_port, rate),
				[DIFFERS_MTU] = offsetof(struct rd_compared_port, mtu),
				[DIFFERS_NAME] = offsetof(struct rd_compared_port, label),
				[DIFFERS_SUBNET] = offsetof(struct rd_compared_port, subnet),
				[DIFFERS_FIRMWARE] = offsetof(struct rd_compared_port, firmware),
			};

			for (size_t p = 0; p < all.cmp->hosts[h].n_ports; p++) {
				const struct rd_compared_port *port = &all.cmp->hosts[h].ports[p];
				const char *value = *(char *const *)((const char *)port + members[all.what]);
				struct seen *seen = add_seen(&all, h, port->place, value, port->label);

				seen->board = port->board;
				seen->compute = port->compute;
			}
		}
		for (size_t i = 0; all.what == DIFFERS_SETTING && i < host->n_settings; i++) {
			const struct rd_compared_setting *setting = &host->settings[i];

			add_seen(&all, h, setting->place, setting->value, setting->label ?: setting->place);
		}
		/* Compared by the place of the NIC, not by its name. */
		for (size_t i = 0; all.what == DIFFERS_CHOICE && i < host->n_rails; i++) {
			const struct rd_compared_port *port = &host->ports[host->rails[i].port];

			add_seen(&all, h, host->gpus[host->rails[i].gpu], port->place, port->label);
		}
	}
	if (all.n == 0)
		return;
	if (what == DIFFERS_RATE) {
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
static void mark_rails(struct compare *cmp)
{
	struct rd_comparison *ret = cmp->ret;

	ret->rails = rd_alloc(cmp->n + 1, sizeof(*ret->rails));
	ret->n_hosts = cmp->n;
	for (size_t h = 0; h < ret->n_hosts; h++)
		ret->rails[h] = rd_alloc(cmp->hosts[h].n_rails + 1, sizeof(**ret->rails));
	for (size_t i = 0; i < cmp->n_v; i++) {
		const struct difference *d = &cmp->v[i];
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
	struct compare cmp = { .hosts = hosts, .n = n, .ret = ret };

	cmp.kinds = rd_alloc(n + 1, sizeof(*cmp.kinds));
	cmp.last = rd_alloc(n + 1, sizeof(*cmp.last));
	find_kinds(&cmp);
	for (enum differs what = DIFFERS_STATE; what < DIFFERS; what++) {
		size_t from = cmp.n_v;

		compare_values(&cmp, what);
		/* Sets the causes of the differences from `from` on: of those before that explain one equally well, the first. */
		for (size_t i = from; i < cmp.n_v; i++) {
			struct difference *d = &cmp.v[i];
			unsigned best = 1;

			for (size_t k = cmp.last[d->host]; k; k = cmp.v[k - 1].before) {
				unsigned how = explains(&cmp.v[k - 1], d);

				if (how >= best) {
					best = how;
					d->cause = cmp.v[k - 1].finding;
				}
			}
		}
		fold_differences(&cmp, from);
	}
	mark_rails(&cmp);
	rd_findings_sort(&ret->findings);
	RD_FREE(cmp.kinds, cmp.last, cmp.v);
}

void rd_comparison_deinit(struct rd_comparison *comparison)
{
	for (size_t h = 0; h < comparison->n_hosts; h++)
		free(comparison->rails[h]);
	free(comparison->rails);
	rd_findings_deinit(&comparison->findings);
	*comparison = (struct rd_comparison){ 0 };
}
