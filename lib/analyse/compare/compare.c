/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/compare/compare-priv.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

/* Names listed before "and 41 more". */
#define NAMES_MAX 3
#define LABELS_MAX 16

static const struct {
	const char *id, *title, *why;
} words[RD_DIFFERS] = {
	[RD_DIFFERS_GPU] = { "gpu-missing", "GPU is missing: other hosts have it at this PCI address",
			     "jobs fail or run on fewer GPUs; it fell off the bus, or the host is built differently" },
	[RD_DIFFERS_NIC] = { "nic-missing", "NIC is missing: other hosts have it at this PCI address",
			     "jobs fail or run on fewer NICs; it fell off the bus, or the host is built differently" },
	[RD_DIFFERS_STATE] = { "port-state", "Port is not active, but is on other hosts",
			       "accelerators near this port use a different rail than on other hosts" },
	[RD_DIFFERS_LAYER] = { "rail-layer", "Link layer of a port differs from other hosts",
			       "InfiniBand and Ethernet ports cannot communicate" },
	[RD_DIFFERS_RATE] = { "rail-rate", "Port runs slower than on other hosts",
			      "collectives run at the speed of the slowest port" },
	[RD_DIFFERS_MTU] = { "rail-mtu", "MTU of a port differs from other hosts",
			     "packets above the MTU of the peer are dropped (completion status 12) unless both ends agree on "
			     "the smaller one" },
	[RD_DIFFERS_CHOICE] = { "rail-name", "NCCL selects a different NIC for an accelerator than on other hosts",
				"peers of one rail then use different rails" },
	[RD_DIFFERS_NAME] = { "nic-name", "Name of a NIC differs from other hosts",
			      "NCCL_IB_HCA and similar variables select a different NIC on this host" },
	[RD_DIFFERS_SUBNET] = { "rail-subnet", "Subnet of a port differs from other hosts",
				"rails are cross-cabled: peers of one rail may not reach each other" },
	[RD_DIFFERS_FIRMWARE] = { "rail-firmware", "Firmware of a NIC differs from other hosts",
				  "firmware versions may behave differently" },
	[RD_DIFFERS_SETTING] = { "host-setting", "Setting differs from other hosts",
				 "jobs fail or slow down on hosts that are set up differently" },
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
	return !text.data ? NULL : rd_dup(text.data);
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
	return !text.data ? NULL : rd_dup(text.data);
}

static char *signature_of(const struct rd_difference *d, size_t n)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	rd_buf_printf(&text, "%d\n%zu\n%s\n%s", (int)d->severity, d->cause, d->is ? d->is : "",
		      d->usual ? d->usual : "");
	for (size_t i = 0; i < n; i++)
		rd_buf_printf(&text, "\n%s", d[i].label);
	return !text.data ? NULL : rd_dup(text.data);
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

static void compare_value(struct rd_compare *cmp, enum rd_differs what)
{
	size_t from = cmp->n_v;

	rd_compare_values(cmp, what);
	find_causes(cmp, from);
	rd_compare_fold(cmp, from);
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
	for (enum rd_differs what = RD_DIFFERS_STATE; what < RD_DIFFERS; what++)
		compare_value(&cmp, what);
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
