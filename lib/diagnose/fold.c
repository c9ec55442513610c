/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/fold.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* How the object of a consequence is connected with that of its cause. */
enum relation {
	SAME,  /* the same device, one of its ports, its interface or its PCI function */
	BELOW, /* its device hangs below the bridge, or is the same */
	ABOVE, /* its bridge has the device of the cause below it */
	NODE,  /* devices of both are on one NUMA node */
	HOST,  /* anything on the host */
};

static const struct rule {
	const char *cause, *effect;
	enum relation relation;
} rules[];
static const size_t n_rules;

/* PCI functions that a subject names, directly or by a device, interface or accelerator on them; and devices without a
 * PCI function. */
struct objects {
	bool *pcis;    /* [n_pcis] */
	bool *ibdevs;  /* [n_ibdevs] */
	bool *netdevs; /* [n_netdevs] */
};

struct state {
	const struct rd_host *host;
	struct rd_findings *findings;
	struct objects *objects; /* of each finding */
	bool *flags;		 /* what they point into */
};

/* "mlx5_1" is in "mlx5_1/1" and in "eth1, mlx5_1", and not in "mlx5_10". */
static bool names(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = text; n > 0 && (at = strstr(at, name)); at++) {
		bool begins = at == text || !(isalnum((unsigned char)at[-1]) || strchr("_.:-", at[-1]));
		unsigned char next = (unsigned char)at[n];

		if (begins && !isalnum(next) && next != '_' && !(next == '.' && isdigit((unsigned char)at[n + 1])))
			return true;
	}
	return false;
}

static void mark_ibdev(const struct rd_host *host, int ibdev, struct objects *objects)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	objects->ibdevs[ibdev] = true;
	if (dev->pci >= 0)
		objects->pcis[dev->pci] = true;
	for (unsigned p = 0; p < dev->n_ports; p++) {
		const struct rd_port *port = &host->ports[(unsigned)dev->first_port + p];

		for (size_t i = 0; i < port->n_netdevs; i++)
			objects->netdevs[port->netdevs[i]] = true;
	}
}

static void find_objects(const struct rd_host *host, const char *subject, struct objects *objects)
{
	char gpu[16];

	for (size_t i = 0; i < host->n_ibdevs; i++) {
		const struct rd_ibdev *dev = &host->ibdevs[i];

		if (names(subject, rd_ibdev_label(host, (int)i)) ||
		    (dev->pci >= 0 && names(subject, host->pcis[dev->pci].addr)))
			mark_ibdev(host, (int)i, objects);
	}
	for (size_t i = 0; i < host->n_netdevs; i++) {
		if (!host->netdevs[i].name || !names(subject, host->netdevs[i].name))
			continue;
		objects->netdevs[i] = true;
		for (size_t p = 0; p < host->n_ports; p++)
			for (size_t n = 0; n < host->ports[p].n_netdevs; n++)
				if (host->ports[p].netdevs[n] == (int)i)
					mark_ibdev(host, host->ports[p].ibdev, objects);
		if (host->netdevs[i].pci >= 0)
			objects->pcis[host->netdevs[i].pci] = true;
	}
	for (size_t i = 0; i < host->n_gpus; i++) {
		snprintf(gpu, sizeof(gpu), "GPU%u", host->gpus[i].index);
		if (names(subject, gpu))
			objects->pcis[host->gpus[i].pci] = true;
	}
	if (!strchr(subject, ':'))
		return;
	for (size_t i = 0; i < host->n_pcis; i++)
		objects->pcis[i] |= names(subject, host->pcis[i].addr);
}

static bool share_one(const bool *a, const bool *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] && b[i])
			return true;
	return false;
}

static bool is_below(const struct rd_host *host, const struct objects *effect, const struct objects *cause)
{
	for (size_t i = 0; i < host->n_pcis; i++) {
		if (!effect->pcis[i])
			continue;
		for (int up = (int)i; up >= 0; up = host->pcis[up].parent)
			if (cause->pcis[up])
				return true;
	}
	return false;
}

static bool share_node(const struct rd_host *host, const struct objects *a, const struct objects *b)
{
	for (size_t i = 0; i < host->n_pcis; i++)
		for (size_t j = 0; a->pcis[i] && j < host->n_pcis; j++)
			if (b->pcis[j] && host->pcis[i].numa.known == RD_OK && host->pcis[i].numa.v >= 0 &&
			    host->pcis[j].numa.known == RD_OK && host->pcis[j].numa.v == host->pcis[i].numa.v)
				return true;
	return false;
}

static bool is_connected(const struct state *st, enum relation relation, size_t effect, size_t cause)
{
	const struct objects *a = &st->objects[effect], *b = &st->objects[cause];
	const struct rd_host *host = st->host;

	switch (relation) {
	case HOST:
		return true;
	case BELOW:
		return is_below(host, a, b);
	case ABOVE:
		return is_below(host, b, a);
	case NODE:
		return share_node(host, a, b);
	case SAME:
		break;
	}
	return share_one(a->ibdevs, b->ibdevs, host->n_ibdevs) || share_one(a->pcis, b->pcis, host->n_pcis) ||
	       share_one(a->netdevs, b->netdevs, host->n_netdevs) ||
	       strcmp(st->findings->v[effect].subject, st->findings->v[cause].subject) == 0;
}

static bool is_fault(const struct rd_finding *finding)
{
	return finding->severity >= RD_SEV_WARNING && !finding->muted;
}

/* The finding that explains this one by the first rule that fits; -1: none. */
static int cause_of(const struct state *st, size_t effect)
{
	const struct rd_findings *findings = st->findings;

	for (size_t r = 0; r < n_rules; r++) {
		if (strcmp(rules[r].effect, findings->v[effect].id) != 0)
			continue;
		for (size_t c = 0; c < findings->n; c++)
			if (c != effect && is_fault(&findings->v[c]) &&
			    strcmp(findings->v[c].id, rules[r].cause) == 0 &&
			    is_connected(st, rules[r].relation, effect, c))
				return (int)c;
	}
	return -1;
}

static int blame_all(const struct state *st)
{
	struct rd_findings *findings = st->findings;
	_cleanup_free_ int *causes = calloc(findings->n + 1, sizeof(*causes));

	if (!causes)
		return -ENOMEM;
	for (size_t i = 0; i < findings->n; i++)
		causes[i] = findings->v[i].severity >= RD_SEV_UNKNOWN ? cause_of(st, i) : -1;
	for (size_t i = 0; i < findings->n; i++) {
		int cause = causes[i];

		/* No table of rules leads in a circle; a mistake in it must not hang. */
		for (size_t steps = 0; cause >= 0 && causes[cause] >= 0 && steps < findings->n; steps++)
			cause = causes[cause];
		if (cause >= 0 && cause != (int)i && rd_finding_blame(&findings->v[i], &findings->v[cause]) < 0)
			return -ENOMEM;
	}
	return 0;
}

int rd_findings_fold(const struct rd_host *host, struct rd_findings *findings)
{
	size_t each = host->n_pcis + host->n_ibdevs + host->n_netdevs;
	_cleanup_free_ struct objects *objects = calloc(findings->n + 1, sizeof(*objects));
	_cleanup_free_ bool *flags = calloc(findings->n * each + 1, sizeof(*flags));
	struct state st = { host, findings, objects, flags };

	if (!objects || !flags)
		return -ENOMEM;
	for (size_t i = 0; i < findings->n; i++) {
		objects[i].pcis = flags + i * each;
		objects[i].ibdevs = objects[i].pcis + host->n_pcis;
		objects[i].netdevs = objects[i].ibdevs + host->n_ibdevs;
		if (findings->v[i].severity >= RD_SEV_UNKNOWN)
			find_objects(host, findings->v[i].subject, &objects[i]);
	}
	return blame_all(&st);
}

/* The nearest cause first: where several fit, the first counts. */
static const struct rule rules[] = {
	/* A device that is not there, or not for RDMA. */
	{ "nic-driver", "port-state", SAME },
	{ "nic-driver", "switch-uneven", ABOVE },
	{ "log-nic-health", "port-state", SAME },
	{ "devlink-health", "port-state", SAME },
	/* A device that does not answer. */
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
	/* Another link layer than its twins': nothing of the other layer can be expected of it. */
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
	/* The link is up, and nobody has configured it. */
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
	/* GIDs. */
	{ "gid-netns", "gid-usable", SAME },
	{ "roce-netdev", "gid-usable", SAME },
	{ "gid-v2", "gid-usable", SAME },
	{ "gid-usable", "gid-uniform", SAME },
	{ "gid-usable", "job-env", SAME },
	/* PCI Express: what is narrow or slow holds back all that is below it. */
	{ "pcie-link-width", "pcie-bandwidth", BELOW },
	{ "pcie-link-speed", "pcie-bandwidth", BELOW },
	{ "aer-uncorrectable", "aer-correctable", SAME },
	{ "power-state", "pcie-link-speed", SAME },
	/* Where a device says it is. */
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
