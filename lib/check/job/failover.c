/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a job can go on when a NIC fails. */
#include <stdio.h>
#include <string.h>

#include "check/shared/pcie.h"
#include "check/shared/port.h"
#include "check/shared/rules.h"

static const struct rd_choice *choice_in(const struct rd_choices *choices, size_t gpu)
{
	for (size_t i = 0; i < choices->n; i++)
		if (choices->v[i].gpu == (int)gpu && choices->v[i].n_ports > 0)
			return &choices->v[i];
	return NULL;
}

/* The choice with a NIC that failing takes from this accelerator. NCCL itself uses no EFA. */
static const struct rd_choice *choice_of(const struct rd_nicmap *map, size_t gpu)
{
	const struct rd_choice *choice = choice_in(&map->nccl, gpu);

	return choice ? choice : choice_in(&map->nvshmem, gpu);
}

/* Hosts whose plan has no spare: one card alone, no accelerator, or not known what for. */
static bool has_no_plan(const struct rd_check_input *in, struct rd_check_out *out)
{
	size_t cards = rd_check_compute_cards(in->ports);

	if (in->host->n_gpus > 0 && cards > 1)
		return false;
	rd_check_skip(out, in->host->n_gpus == 0 ? "there is no accelerator" :
			   cards == 1		 ? "one card is for computing: there is none to go on with" :
						   "no port is known to be for computing");
	return true;
}

static void run_backup(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t g = 0; !has_no_plan(in, out) && g < in->host->n_gpus; g++) {
		const struct rd_choice *choice = choice_of(in->map, g);
		char name[32];

		snprintf(name, sizeof(name), "GPU%zu", g);
		if (!choice)
			rd_check_unknown(out, name, "no library would give it a NIC, or its place is not known");
		else if (choice->backup < 0 && choice->n_ports < 2)
			rd_check_warn(out, name,
				      rd_text("none: %s",
					      choice->backup_why ? choice->backup_why : "no other NIC is up"),
				      rd_text("another active NIC on the same fabric"));
		else
			rd_check_good(out, name);
	}
}

/* The first half of a port's first GID: the subnet it is in. */
static const uint8_t *subnet_of(const struct rd_port *port)
{
	return port->n_gids > 0 && port->gids[0].index == 0 ? port->gids[0].raw : NULL;
}

/* Many subnets, or about as many ports of each link layer, are how the network was built. */
static bool has_several_fabrics(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	const uint8_t *seen[3];
	size_t n = 0, ib = 0, ethernet = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		const uint8_t *subnet = rd_port_is_ib(port) ? subnet_of(port) : NULL;
		bool is_new = subnet != NULL;

		if (views->v[p].role != RD_ROLE_COMPUTE || !port->link_layer)
			continue;
		ib += rd_port_is_ib(port);
		ethernet += rd_port_is_ethernet(port);
		for (size_t i = 0; i < n && is_new; i++)
			is_new = memcmp(seen[i], subnet, 8) != 0;
		if (is_new && n < RD_ARRAY_SIZE(seen))
			seen[n++] = subnet;
	}
	return n == RD_ARRAY_SIZE(seen) || (ib * 4 >= ib + ethernet && ethernet * 4 >= ib + ethernet);
}

static void run_fabric(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (has_several_fabrics(in->ports)) {
		rd_check_skip(out, "the compute ports are in several fabrics, each with its own accelerators");
		return;
	}
	for (size_t g = 0; !has_no_plan(in, out) && g < in->host->n_gpus; g++) {
		const struct rd_choice *choice = choice_of(in->map, g);
		const struct rd_port *own, *other;
		char name[32];

		snprintf(name, sizeof(name), "GPU%zu", g);
		if (!choice || choice->backup < 0)
			continue;
		own = &in->host->ports[choice->ports[0]];
		other = &in->host->ports[choice->backup];
		if (!own->link_layer || !other->link_layer)
			rd_check_unknown(out, name, "the link layer of its NICs is not told");
		else if (strcmp(own->link_layer, other->link_layer) != 0)
			rd_check_warn(out, name,
				      rd_text("%s is %s, its backup %s is %s", rd_ibdev_label(in->host, own->ibdev),
					      own->link_layer, rd_ibdev_label(in->host, other->ibdev),
					      other->link_layer),
				      rd_text("both on one fabric"));
		else if (rd_port_is_ib(own) && subnet_of(own) && subnet_of(other) &&
			 memcmp(subnet_of(own), subnet_of(other), 8) != 0)
			rd_check_warn(out, name,
				      rd_text("%s and its backup %s are in different InfiniBand subnets",
					      rd_ibdev_label(in->host, own->ibdev),
					      rd_ibdev_label(in->host, other->ibdev)),
				      rd_text("both in one"));
		else
			rd_check_good(out, name);
	}
}

static bool one_card(const struct rd_pci *a, const struct rd_pci *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->dev == b->dev;
}

/* Some NIC that could serve, up and on another card. */
static bool has_other_card(const struct rd_port_views *views, int pci)
{
	const struct rd_host *host = views->host;

	for (size_t p = 0; p < host->n_ports; p++) {
		int other = host->ibdevs[host->ports[p].ibdev].pci;
		enum rd_role role = views->v[p].role;

		if (rd_port_active(&host->ports[p]) && (role == RD_ROLE_COMPUTE || role == RD_ROLE_UNKNOWN) &&
		    other >= 0 && !one_card(&host->pcis[pci], &host->pcis[other]))
			return true;
	}
	return false;
}

static void run_card(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;

	for (size_t g = 0; !has_no_plan(in, out) && g < host->n_gpus; g++) {
		const struct rd_choice *choice = choice_of(in->map, g);
		char name[32];
		int own;

		snprintf(name, sizeof(name), "GPU%zu", g);
		if (!choice || (choice->backup < 0 && choice->n_ports < 2))
			continue;
		own = host->ibdevs[host->ports[choice->ports[0]].ibdev].pci;
		if (own < 0)
			rd_check_unknown(out, name, "where its NIC sits is not known");
		else if (!has_other_card(in->ports, own))
			rd_check_warn(out, name,
				      rd_text("%s, and all that could stand in for it, are one card",
					      rd_ibdev_label(host, host->ports[choice->ports[0]].ibdev)),
				      rd_text("another card that is up, better below another switch"));
		else
			rd_check_good(out, name);
	}
}

/* Cards of two ports: where most have both up, all should. */
static void run_dual(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	size_t both = 0, one = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < host->n_ibdevs; i++) {
			const struct rd_ibdev *dev = &host->ibdevs[i];
			const struct rd_port *a, *b;

			if (dev->n_ports != 2 || !dev->name)
				continue;
			a = &host->ports[dev->first_port];
			b = &host->ports[dev->first_port + 1];
			if (pass == 0) {
				both += rd_port_active(a) && rd_port_active(b);
				one += rd_port_active(a) != rd_port_active(b);
			} else if (!a->state || !b->state) {
				rd_check_unknown(out, dev->name, "the state of its ports is not told");
			} else if (both >= one && rd_port_active(a) != rd_port_active(b)) {
				int down = dev->first_port + rd_port_active(a);

				rd_check_port_bad(out, in->ports->v[down].role, RD_SEV_WARNING, dev->name,
						  rd_text("port %u is %s, port %u is %s", a->num, a->state, b->num,
							  b->state),
						  rd_text("both up, as on %zu other cards", both));
			} else {
				rd_check_good(out, dev->name);
			}
		}
	rd_check_skip(out, "no device has two ports");
}

const struct rd_check rd_check_failover_backup = {
	.id = "failover-backup",
	.title = "An accelerator has no other NIC to go on with",
	.why = "when its NIC or link fails, the job ends",
	.fix = "bring up another compute NIC: rdmadiag nic-map --assignment",
	.needs = "PCI tree, state and roles of ports",
	.quick = false,
	.whole = RD_PART_PCI | RD_PART_RDMA | RD_PART_NET | RD_PART_NUMA,
	.run = run_backup,
};

const struct rd_check rd_check_failover_fabric = {
	.id = "failover-fabric",
	.title = "An accelerator's backup NIC is on another fabric",
	.why = "the peers cannot be reached from there: the job ends all the same",
	.fix = "cable the backup to the same fabric: rdmadiag nic-map --assignment",
	.needs = "link layer and subnet prefix of ports",
	.quick = false,
	.whole = RD_PART_PCI | RD_PART_RDMA | RD_PART_NET | RD_PART_NUMA,
	.run = run_fabric,
};

const struct rd_check rd_check_failover_card = {
	.id = "failover-card",
	.title = "An accelerator's NIC and its backup are one card",
	.why = "they fail together: firmware, power and slot are shared",
	.fix = "bring up a NIC on another card: rdmadiag nic-map --assignment",
	.needs = "PCI addresses of devices",
	.quick = false,
	.whole = RD_PART_PCI | RD_PART_RDMA | RD_PART_NET | RD_PART_NUMA,
	.run = run_card,
};

const struct rd_check rd_check_dual_port = {
	.id = "dual-port",
	.title = "Of a card with two ports only one is wired",
	.why = "other cards of this host have both: the spare port is missing where it was planned",
	.fix = "cable the second port, or look at the switch it leads to",
	.needs = "state of ports",
	.quick = false,
	.whole = RD_PART_PCI | RD_PART_RDMA | RD_PART_NET | RD_PART_NUMA,
	.run = run_dual,
};
