/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/findings/fold.h"

#include <string.h>

#include "base/memory.h"
#include "diagnose/findings/objects.h"

/* Relation between the object of a consequence and that of its cause. */
enum relation {
	SAME,  /* the same device, one of its ports, its interface or its PCI function */
	BELOW, /* the device of the consequence is below the bridge of the cause, or the same */
	ABOVE, /* the device of the cause is below the bridge of the consequence */
	NODE,  /* both devices are on one NUMA node */
	HOST,  /* anything on the host */
};

static const struct rule {
	const char *cause, *effect;
	enum relation relation;
} rules[];
static const size_t n_rules;

struct state {
	const struct rd_host *host;
	struct rd_findings *findings;
	struct rd_objects *objects; /* of each finding */
	size_t *faults, n_faults;   /* findings that may be causes, sorted by id, then by index */
};

static bool is_below(const struct rd_host *host, const struct rd_objects *effect, const struct rd_objects *cause)
{
	for (size_t i = 0; i < effect->n && effect->v[i] < host->n_pcis; i++)
		for (int up = (int)effect->v[i]; up >= 0; up = host->pcis[up].parent)
			if (rd_objects_have(cause, (size_t)up))
				return true;
	return false;
}

static bool share_node(const struct rd_host *host, const struct rd_objects *a, const struct rd_objects *b)
{
	for (size_t i = 0; i < a->n && a->v[i] < host->n_pcis; i++)
		for (size_t k = 0; k < b->n && b->v[k] < host->n_pcis; k++)
			if (rd_pci_numa(host, (int)a->v[i]) >= 0 &&
			    rd_pci_numa(host, (int)a->v[i]) == rd_pci_numa(host, (int)b->v[k]))
				return true;
	return false;
}

static bool is_connected(const struct state *st, enum relation relation, size_t effect, size_t cause)
{
	const struct rd_objects *a = &st->objects[effect], *b = &st->objects[cause];

	switch (relation) {
	case HOST:
		return true;
	case BELOW:
		return is_below(st->host, a, b);
	case ABOVE:
		return is_below(st->host, b, a);
	case NODE:
		return share_node(st->host, a, b);
	case SAME:
		break;
	}
	return rd_objects_share(a, b) || strcmp(st->findings->v[effect].subject, st->findings->v[cause].subject) == 0;
}

static bool is_fault(const struct rd_finding *finding)
{
	return finding->severity >= RD_SEV_WARNING && !finding->muted;
}

/* The first fault whose id is not less than this one. */
static size_t find_fault(const struct state *st, const char *id)
{
	size_t low = 0, high = st->n_faults;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(st->findings->v[st->faults[middle]].id, id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The finding that explains this one, by the first matching rule; -1: none. */
static int cause_of(const struct state *st, size_t effect)
{
	const struct rd_findings *findings = st->findings;

	for (size_t r = 0; r < n_rules; r++) {
		if (strcmp(rules[r].effect, findings->v[effect].id) != 0)
			continue;
		for (size_t f = find_fault(st, rules[r].cause); f < st->n_faults; f++) {
			size_t cause = st->faults[f];

			if (strcmp(findings->v[cause].id, rules[r].cause) != 0)
				break;
			if (cause != effect && is_connected(st, rules[r].relation, effect, cause))
				return (int)cause;
		}
	}
	return -1;
}

static void blame_all(const struct state *st)
{
	struct rd_findings *findings = st->findings;
	_cleanup_free_ int *causes = rd_alloc(findings->n + 1, sizeof(*causes));

	for (size_t i = 0; i < findings->n; i++)
		causes[i] = findings->v[i].severity >= RD_SEV_UNKNOWN ? cause_of(st, i) : -1;
	for (size_t i = 0; i < findings->n; i++) {
		int cause = causes[i];

		/* The rules must have no cycle; if they do, do not loop forever. */
		for (size_t steps = 0; cause >= 0 && causes[cause] >= 0 && steps < findings->n; steps++)
			cause = causes[cause];
		if (cause < 0 || cause == (int)i)
			continue;
		rd_finding_blame(&findings->v[i], &findings->v[cause]);
		/* A cause is as severe as what it causes. */
		if (findings->v[i].severity > findings->v[cause].severity)
			findings->v[cause].severity = findings->v[i].severity;
	}
}

static int by_id(const void *pa, const void *pb, void *arg)
{
	const struct rd_findings *findings = arg;
	const size_t *a = pa, *b = pb;

	return strcmp(findings->v[*a].id, findings->v[*b].id) ?: RD_CMP(*a, *b);
}

static void prepare(const struct rd_object_names *names, struct state *st)
{
	struct rd_findings *findings = st->findings;

	for (size_t i = 0; i < findings->n; i++) {
		if (findings->v[i].severity >= RD_SEV_UNKNOWN)
			rd_objects_find(names, findings->v[i].subject, &st->objects[i]);
		if (is_fault(&findings->v[i]))
			st->faults[st->n_faults++] = i;
	}
	if (st->n_faults > 0)
		qsort_r(st->faults, st->n_faults, sizeof(*st->faults), by_id, findings);
}

void rd_findings_fold(const struct rd_host *host, struct rd_findings *findings)
{
	_cleanup_free_ struct rd_objects *objects = rd_alloc(findings->n + 1, sizeof(*objects));
	_cleanup_free_ size_t *faults = rd_alloc(findings->n + 1, sizeof(*faults));
	_cleanup_(rd_object_names_deinit) struct rd_object_names names = { 0 };
	struct state st = { .host = host, .findings = findings, .objects = objects, .faults = faults };

	rd_object_names_of(host, &names);
	prepare(&names, &st);
	blame_all(&st);
	for (size_t i = 0; i < findings->n; i++)
		rd_objects_deinit(&objects[i]);
}

/* Nearest cause first: the first match is used. */
static const struct rule rules[] = {
	/* A device without a driver, or that failed. */
	{ "nic-driver", "port-state", SAME },
	{ "nic-driver", "switch-uneven", ABOVE },
	{ "nic-driver", "failover-backup", HOST },
	{ "nic-driver", "failover-fabric", HOST },
	{ "nic-driver", "failover-card", HOST },
	{ "nic-driver", "backend-default-route", HOST },
	{ "nic-driver", "nic-shared", HOST },
	{ "nic-driver", "nic-not-compute", HOST },
	{ "gpu-driver", "peermem", HOST },
	{ "gpu-driver", "amd-peer", HOST },
	{ "gpu-driver", "dmabuf", HOST },
	{ "log-nic-health", "port-state", SAME },
	{ "log-slot-power", "port-state", SAME },
	{ "devlink-health", "port-state", SAME },
	/* A PCI function that does not respond. */
	{ "pcie-no-answer", "pcie-link-width", SAME },
	{ "pcie-no-answer", "pcie-link-speed", SAME },
	{ "pcie-no-answer", "pcie-bandwidth", SAME },
	{ "pcie-no-answer", "port-state", SAME },
	{ "pcie-no-answer", "nic-driver", SAME },
	{ "pcie-no-answer", "gpu-driver", SAME },
	{ "pcie-no-answer", "power-state", SAME },
	{ "pcie-no-answer", "pcie-mps", SAME },
	{ "pcie-no-answer", "pcie-mrrs", SAME },
	{ "pcie-no-answer", "relaxed-ordering", SAME },
	/* A port with a different link layer than its twins: values of the other layer do not apply. */
	{ "link-layer-uniform", "ib-no-sm", SAME },
	{ "link-layer-uniform", "ib-lid", SAME },
	{ "link-layer-uniform", "ib-sm-lid", SAME },
	{ "link-layer-uniform", "port-state", SAME },
	{ "link-layer-uniform", "switch-uneven", ABOVE },
	{ "link-layer-uniform", "gid-usable", SAME },
	{ "link-layer-uniform", "gid-v2", SAME },
	{ "link-layer-uniform", "gid-uniform", SAME },
	{ "link-layer-uniform", "mtu-uniform", SAME },
	{ "link-layer-uniform", "roce-mtu", SAME },
	{ "link-layer-uniform", "roce-lossless", SAME },
	{ "link-layer-uniform", "port-speed-uniform", SAME },
	/* The link is up, but no subnet manager has configured it. */
	{ "ib-no-sm", "port-state", SAME },
	{ "ib-no-sm", "ib-lid", SAME },
	{ "ib-no-sm", "ib-sm-lid", SAME },
	{ "ib-no-sm", "ib-pkey", SAME },
	{ "ib-no-sm", "failover-backup", HOST },
	{ "ib-no-sm", "failover-card", HOST },
	{ "ib-no-sm", "switch-uneven", ABOVE },
	{ "ib-no-sm", "nic-shared", HOST },
	{ "ib-no-sm", "nic-not-compute", HOST },
	{ "ib-lid", "ib-sm-lid", SAME },
	/* A port that is down. */
	{ "port-state", "gid-usable", SAME },
	{ "port-state", "gid-v2", SAME },
	{ "port-state", "gid-uniform", SAME },
	{ "port-state", "roce-netdev", SAME },
	{ "port-state", "port-speed-uniform", SAME },
	{ "port-state", "mtu-uniform", SAME },
	{ "port-state", "ib-width", SAME },
	{ "port-state", "ib-lid", SAME },
	{ "port-state", "ib-sm-lid", SAME },
	{ "port-state", "failover-backup", HOST },
	{ "port-state", "failover-card", HOST },
	{ "port-state", "failover-fabric", HOST },
	{ "port-state", "switch-uneven", ABOVE },
	{ "port-state", "dual-port", SAME },
	{ "port-state", "neighbour-failed", SAME },
	{ "port-state", "rail-route", SAME },
	{ "port-state", "link-flaps", SAME },
	{ "port-state", "link-downed", SAME },
	{ "port-state", "log-link-flaps", SAME },
	{ "port-state", "nic-shared", HOST },
	{ "port-state", "nic-not-compute", HOST },
	{ "port-state", "job-env", SAME },
	{ "port-state", "profile-value", SAME },
	/* Addresses and bonds. */
	{ "rail-address", "arp-flux", HOST },
	{ "rail-address", "rp-filter", HOST },
	{ "rail-address", "neighbour-failed", SAME },
	{ "bond-mode", "port-speed-uniform", SAME },
	{ "bond-aggregator", "port-speed-uniform", SAME },
	{ "mtu-uniform", "roce-mtu", SAME },
	/* GIDs. */
	{ "gid-netns", "gid-usable", SAME },
	{ "roce-netdev", "gid-usable", SAME },
	{ "gid-v2", "gid-usable", SAME },
	{ "gid-usable", "gid-uniform", SAME },
	{ "gid-usable", "job-env", SAME },
	/* PCI Express: a narrow or slow link limits all devices below it. */
	{ "pcie-link-width", "pcie-bandwidth", BELOW },
	{ "pcie-link-speed", "pcie-bandwidth", BELOW },
	{ "aer-uncorrectable", "aer-correctable", SAME },
	{ "power-state", "pcie-link-speed", SAME },
	/* NUMA node of a device. */
	{ "numa-switch", "numa-node", SAME },
	{ "numa-switch", "gpu-nic-socket", SAME },
	{ "numa-node", "gpu-nic-socket", SAME },
	{ "nic-driver", "gpu-nic-socket", NODE },
	{ "port-state", "gpu-nic-socket", NODE },
	{ "ib-no-sm", "gpu-nic-socket", NODE },
	/* Modules that did not load. */
	{ "log-peermem-symbols", "peermem", HOST },
	{ "log-peermem", "peermem", HOST },
	/* A card or accelerator that is missing. */
	{ "profile-gpu", "gpu-missing", HOST },
	{ "gpu-missing", "switch-uneven", HOST },
	{ "profile-nic", "nic-missing", HOST },
	{ "nic-missing", "switch-uneven", HOST },
	{ "nic-missing", "gpu-nic-socket", HOST },
	{ "nic-missing", "failover-backup", HOST },
	{ "nic-missing", "nic-shared", HOST },
	{ "nic-missing", "nic-not-compute", HOST },
	{ "profile-nic", "profile-value", SAME },
};
static const size_t n_rules = RD_ARRAY_SIZE(rules);
