/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a job can continue when a NIC fails. */

#include "check/shared/rules.h"

static const struct rd_choice *choice_in(const struct rd_choices *choices, size_t gpu)
{
	for (size_t i = 0; i < choices->n; i++)
		if (choices->v[i].gpu == (int)gpu && choices->v[i].n_ports > 0)
			return &choices->v[i];
	return NULL;
}

/* The NICs assigned to this accelerator: by NCCL, else by NVSHMEM, because NCCL itself does not use EFA. */
static const struct rd_choice *choice_of(const struct rd_nicmap *map, size_t gpu)
{
	const struct rd_choice *choice = choice_in(&map->nccl, gpu);

	return choice ?: choice_in(&map->nvshmem, gpu);
}

/* No backup is expected on hosts with no accelerator, only one compute card, or unknown roles. */
static void run_planned(const struct rd_check_input *in, struct rd_check_out *out)
{
	size_t cards = rd_check_compute_cards(in->ports);

	if (in->host->n_gpus > 0 && cards > 1)
		rd_check_each(in, out);
	else
		rd_check_skip(out, in->host->n_gpus == 0 ? "no accelerator" :
				   cards == 1		 ? "only one compute card: no other card to fail over to" :
							   "no port is known to be a compute port");
}

static void judge_backup(const struct rd_check_input *in, size_t g, const char *name, struct rd_check_out *out)
{
	const struct rd_choice *choice = choice_of(in->map, g);

	if (!choice)
		rd_check_unknown(out, name, "no library assigns it a NIC, or its PCI location is unknown");
	else if (choice->backup < 0 && choice->n_ports < 2)
		rd_check_warn(out, name, rd_text("no backup NIC: %s", choice->backup_why ?: "no other NIC is up"),
			      rd_text("another active NIC on the same fabric"));
	else
		rd_check_good(out, name);
}

/* Subnet prefix of a port: the first half of its first GID. NULL: unknown. */
static const uint8_t *subnet_of(const struct rd_port *port)
{
	return port->n_gids > 0 && port->gids[0].index == 0 ? port->gids[0].raw : NULL;
}

/* Three or more subnets, or similar numbers of ports of each link layer, are by design. */
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

static void judge_fabric(const struct rd_check_input *in, size_t g, const char *name, struct rd_check_out *out)
{
	const struct rd_choice *choice = choice_of(in->map, g);
	const struct rd_port *own, *other;

	if (!choice || choice->backup < 0)
		return;
	own = &in->host->ports[choice->ports[0]];
	other = &in->host->ports[choice->backup];
	if (!own->link_layer || !other->link_layer)
		rd_check_unknown(out, name, "link layer of its NICs not reported");
	else if (strcmp(own->link_layer, other->link_layer) != 0)
		rd_check_warn(out, name,
			      rd_text("%s is %s, its backup %s is %s", rd_ibdev_label(in->host, own->ibdev),
				      own->link_layer, rd_ibdev_label(in->host, other->ibdev), other->link_layer),
			      rd_text("both on the same fabric"));
	else if (rd_port_is_ib(own) && subnet_of(own) && subnet_of(other) &&
		 memcmp(subnet_of(own), subnet_of(other), 8) != 0)
		rd_check_warn(out, name,
			      rd_text("%s and its backup %s are in different InfiniBand subnets",
				      rd_ibdev_label(in->host, own->ibdev), rd_ibdev_label(in->host, other->ibdev)),
			      rd_text("both in the same subnet"));
	else
		rd_check_good(out, name);
}

static void run_fabric(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (has_several_fabrics(in->ports))
		rd_check_skip(out, "the compute ports are in several fabrics, each with its own accelerators");
	else
		run_planned(in, out);
}

/* Whether there is an active NIC on another card that could serve as backup. */
static bool has_other_card(const struct rd_port_views *views, int pci)
{
	const struct rd_host *host = views->host;

	for (size_t p = 0; p < host->n_ports; p++) {
		int other = host->ibdevs[host->ports[p].ibdev].pci;
		enum rd_role role = views->v[p].role;

		if (rd_port_active(&host->ports[p]) && (role == RD_ROLE_COMPUTE || role == RD_ROLE_UNKNOWN) &&
		    other >= 0 && !rd_pci_one_card(&host->pcis[pci], &host->pcis[other]))
			return true;
	}
	return false;
}

static void judge_card(const struct rd_check_input *in, size_t g, const char *name, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	const struct rd_choice *choice = choice_of(in->map, g);
	int own;

	if (!choice || (choice->backup < 0 && choice->n_ports < 2))
		return;
	own = host->ibdevs[host->ports[choice->ports[0]].ibdev].pci;
	if (own < 0)
		rd_check_unknown(out, name, "PCI location of its NIC is unknown");
	else if (!has_other_card(in->ports, own))
		rd_check_warn(out, name,
			      rd_text("%s and all its possible backups are on the same card",
				      rd_ibdev_label(host, host->ports[choice->ports[0]].ibdev)),
			      rd_text("an active NIC on another card, preferably below another switch"));
	else
		rd_check_good(out, name);
}

/* Cards with two ports: if most have both active, all should. */
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
				rd_check_unknown(out, dev->name, "port state not reported");
			} else if (both >= one && rd_port_active(a) != rd_port_active(b)) {
				int down = dev->first_port + rd_port_active(a);

				rd_check_port_bad(out, in->ports->v[down].role, RD_SEV_WARNING, dev->name,
						  rd_text("port %u is %s, port %u is %s", a->num, a->state, b->num,
							  b->state),
						  rd_text("both active, as on %zu other cards", both));
			} else {
				rd_check_good(out, dev->name);
			}
		}
	rd_check_skip(out, "no device with two ports");
}

const struct rd_check rd_check_failover_backup = {
	.id = "failover-backup",
	.title = "Accelerator has no backup NIC",
	.why = "if its NIC or link fails, the job fails",
	.fix = "rdmadiag nic-map --assignment\n"
	       "# bring up another compute NIC",
	.needs = "PCI tree, state and roles of ports",
	.thorough = true,
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET | RD_PART_NUMA, 0 },
	.run = run_planned,
	.each = { RD_EACH_GPU, NULL, judge_backup, NULL },
};

const struct rd_check rd_check_failover_fabric = {
	.id = "failover-fabric",
	.title = "Backup NIC of an accelerator is on a different fabric",
	.why = "peers cannot be reached from the backup NIC: the job fails despite the backup",
	.fix = "rdmadiag nic-map --assignment\n"
	       "# cable the backup NIC to the same fabric",
	.needs = "link layer and subnet prefix of ports",
	.thorough = true,
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET | RD_PART_NUMA, 0 },
	.run = run_fabric,
	.each = { RD_EACH_GPU, NULL, judge_fabric, NULL },
};

const struct rd_check rd_check_failover_card = {
	.id = "failover-card",
	.title = "NIC and backup NIC of an accelerator are on the same card",
	.why = "they fail together: firmware, power and slot are shared",
	.fix = "rdmadiag nic-map --assignment\n"
	       "# bring up a NIC on another card",
	.needs = "PCI addresses of devices",
	.thorough = true,
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET | RD_PART_NUMA, 0 },
	.run = run_planned,
	.each = { RD_EACH_GPU, NULL, judge_card, NULL },
};

const struct rd_check rd_check_dual_port = {
	.id = "dual-port",
	.title = "Only one port of a dual-port card is active",
	.why = "other cards of this host have both ports active: the planned redundancy is missing here",
	.fix = "# cable the second port, or check the switch port it is connected to",
	.needs = "state of ports",
	.thorough = true,
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET | RD_PART_NUMA, 0 },
	.run = run_dual,
};
