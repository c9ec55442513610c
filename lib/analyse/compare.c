/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/compare.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyse/nicmap-findings.h"
#include "base/text.h"

struct state {
	const struct rd_compared *hosts;
	size_t n;
	struct rd_rails *rails;
	struct rd_findings *findings;
};

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* "10.1.0.0/16" of the interface's first IPv4 address. */
static char *subnet_of(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];

		for (size_t a = 0; a < netdev->n_addrs; a++) {
			const struct rd_addr *addr = &netdev->addrs[a];
			uint8_t net[4];
			char text[INET_ADDRSTRLEN];

			if (addr->v6 || addr->prefix == 0 || addr->prefix > 32)
				continue;
			for (unsigned b = 0; b < 4; b++) {
				unsigned bits = addr->prefix > 8 * b ? addr->prefix - 8 * b : 0;

				net[b] = bits >= 8 ? addr->raw[b] : (uint8_t)(addr->raw[b] & ~(0xff >> bits));
			}
			inet_ntop(AF_INET, net, text, sizeof(text));
			return rd_text("%s/%u", text, addr->prefix);
		}
	}
	return NULL;
}

static int add_rail(struct state *st, size_t h, const struct rd_choice *choice)
{
	const struct rd_host *host = st->hosts[h].host;
	const struct rd_port *port = &host->ports[choice->ports[0]];
	struct rd_rail *rail;
	char label[128];

	if (rd_grow(&st->rails->v, &st->rails->cap, st->rails->n + 1, sizeof(*rail)) < 0)
		return -ENOMEM;
	rd_port_label(host, port, label, sizeof(label));
	rail = &st->rails->v[st->rails->n++];
	*rail = (struct rd_rail){
		.host = h,
		.gpu = choice->gpu,
		.nic = strdup(label),
		.subnet = subnet_of(host, port),
		.rate = port->rate_gbps.known == RD_OK ? rd_text("%g", port->rate_gbps.v) : NULL,
		.firmware = copy(host->ibdevs[port->ibdev].firmware),
		.state = copy(port->state),
		.link_layer = copy(port->link_layer),
	};
	return 0;
}

/* The facts in which rails should agree, by offset into struct rd_rail. */
static const struct fact {
	size_t offset;
	const char *id, *title, *why;
} facts[] = {
	{ offsetof(struct rd_rail, nic), "rail-name", "The NIC of an accelerator has another name than elsewhere",
	  "NCCL_IB_HCA and its like mean another NIC on this host" },
	{ offsetof(struct rd_rail, subnet), "rail-subnet",
	  "The NIC of an accelerator is in another subnet than elsewhere",
	  "rails are crossed: peers of one rail may not reach each other" },
	{ offsetof(struct rd_rail, rate), "rail-rate", "The NIC of an accelerator has another rate than elsewhere",
	  "collectives go at the pace of the slowest" },
	{ offsetof(struct rd_rail, firmware), "rail-firmware",
	  "The NIC of an accelerator has other firmware than elsewhere", "versions behave differently" },
	{ offsetof(struct rd_rail, link_layer), "rail-layer",
	  "The NIC of an accelerator has another link layer than elsewhere", "the two cannot talk to each other" },
};

static const char *fact_of(const struct rd_rail *rail, const struct fact *fact)
{
	return *(char *const *)((const char *)rail + fact->offset);
}

static const char *usual(const struct state *st, int gpu, const struct fact *fact)
{
	const char *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < st->rails->n; i++) {
		const char *value = st->rails->v[i].gpu == gpu ? fact_of(&st->rails->v[i], fact) : NULL;
		size_t n = 0;

		for (size_t j = 0; value && j < st->rails->n; j++) {
			const char *other = st->rails->v[j].gpu == gpu ? fact_of(&st->rails->v[j], fact) : NULL;

			n += other && strcmp(other, value) == 0;
		}
		if (n > most) {
			most = n;
			best = value;
		}
	}
	return best;
}

static int judge_fact(struct state *st, const struct fact *fact)
{
	for (size_t i = 0; i < st->rails->n; i++) {
		const struct rd_rail *rail = &st->rails->v[i];
		const char *value = fact_of(rail, fact), *most = usual(st, rail->gpu, fact);
		struct rd_finding finding = {
			.id = fact->id, .severity = RD_SEV_WARNING, .title = fact->title, .why = fact->why
		};

		if (!value || !most || strcmp(value, most) == 0)
			continue;
		finding.subject = rd_text("%s GPU%d", st->hosts[rail->host].name, rail->gpu);
		finding.observed = rd_text("%s: %s", rail->nic, value);
		finding.expected = rd_text("%s", most);
		if (rd_finding_add(st->findings, &finding) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int judge_states(struct state *st)
{
	for (size_t h = 0; h < st->n; h++) {
		const struct rd_host *host = st->hosts[h].host;

		for (size_t p = 0; p < host->n_ports; p++) {
			const struct rd_port *port = &host->ports[p];
			struct rd_finding finding = {
				.id = "rail-state",
				.severity = RD_SEV_CRITICAL,
				.title = "A compute port is not active",
				.why = "the accelerators next to it use another rail than on other hosts",
			};
			char label[128];

			if (port->role != RD_ROLE_COMPUTE || !port->state || rd_port_active(port))
				continue;
			rd_port_label(host, port, label, sizeof(label));
			finding.subject = rd_text("%s %s", st->hosts[h].name, label);
			finding.observed = rd_text("%s", port->state);
			finding.expected = rd_text("ACTIVE");
			if (rd_finding_add(st->findings, &finding) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static const char *gpu_key(const struct rd_host *host, size_t i)
{
	return i < host->n_gpus ? host->pcis[host->gpus[i].pci].addr : NULL;
}

static const char *nic_key(const struct rd_host *host, size_t i)
{
	if (i >= host->n_ibdevs)
		return NULL;
	return host->ibdevs[i].pci >= 0 ? host->pcis[host->ibdevs[i].pci].addr : rd_ibdev_label(host, (int)i);
}

static bool has(const struct rd_host *host, const char *(*key)(const struct rd_host *, size_t), const char *wanted)
{
	const char *own;

	for (size_t i = 0; (own = key(host, i)); i++)
		if (strcmp(own, wanted) == 0)
			return true;
	return false;
}

/* Told once, by the first host that has it. */
static bool is_first(const struct state *st, const char *(*key)(const struct rd_host *, size_t), size_t h,
		     const char *wanted)
{
	for (size_t i = 0; i < h; i++)
		if (has(st->hosts[i].host, key, wanted))
			return false;
	return true;
}

static int judge_missing(struct state *st, const char *(*key)(const struct rd_host *, size_t), const char *what,
			 const char *id)
{
	for (size_t h = 0; h < st->n; h++) {
		const char *wanted;

		for (size_t i = 0; (wanted = key(st->hosts[h].host, i)); i++) {
			size_t with = 0;

			for (size_t o = 0; o < st->n; o++)
				with += has(st->hosts[o].host, key, wanted);
			if (2 * with < st->n || !is_first(st, key, h, wanted))
				continue;
			for (size_t o = 0; o < st->n; o++) {
				struct rd_finding finding = {
					.id = id,
					.severity = RD_SEV_CRITICAL,
					.title =
						"Other hosts have it, this one does not: fallen off the bus, or built otherwise",
					.why = "jobs that count on it fail, or run on fewer",
				};

				if (has(st->hosts[o].host, key, wanted))
					continue;
				finding.subject = rd_text("%s %s %s", st->hosts[o].name, what, wanted);
				finding.observed = rd_text("missing");
				finding.expected = rd_text("there, as on %zu of %zu hosts", with, st->n);
				if (rd_finding_add(st->findings, &finding) < 0)
					return -ENOMEM;
			}
		}
	}
	return 0;
}

int rd_compare(const struct rd_compared *hosts, size_t n, struct rd_rails *rails, struct rd_findings *findings)
{
	struct state st = { .hosts = hosts, .n = n, .rails = rails, .findings = findings };
	int r;

	for (size_t h = 0; h < n; h++)
		for (size_t i = 0; i < hosts[h].map->nccl.n; i++)
			if (hosts[h].map->nccl.v[i].n_ports > 0 && add_rail(&st, h, &hosts[h].map->nccl.v[i]) < 0)
				return -ENOMEM;
	r = judge_missing(&st, gpu_key, "GPU", "gpu-missing");
	if (!r)
		r = judge_missing(&st, nic_key, "NIC", "nic-missing");
	if (!r)
		r = judge_states(&st);
	for (size_t f = 0; !r && f < RD_ARRAY_SIZE(facts); f++)
		r = judge_fact(&st, &facts[f]);
	return r;
}
