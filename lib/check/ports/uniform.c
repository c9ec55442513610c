/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NICs of one host that should be alike: each is compared with its twins (struct rd_symmetry). */

#include "check/shared/rules.h"

#define MELLANOX 0x15b3

/* Whether the value of a port is compared: active ports; the link layer also of ports without a cable. */
static bool is_compared(const struct rd_host *host, const struct rd_port *port, enum rd_trait trait)
{
	return !rd_check_is_soft(host, port) && host->pcis[host->ibdevs[port->ibdev].pci].pf < 0 &&
	       (trait == RD_TRAIT_LAYER || rd_port_active(port));
}

static const struct rd_netdev *netdev_of(const struct rd_host *host, const struct rd_port *port)
{
	return port->n_netdevs > 0 ? &host->netdevs[port->netdevs[0]] : NULL;
}

/* The interface of a twin with the usual value; NULL: it has none. */
static const struct rd_netdev *netdev_like(const struct rd_host *host, const struct rd_odd *odd)
{
	for (size_t p = 0; p < host->n_ports; p++)
		if (host->ibdevs[host->ports[p].ibdev].pci == odd->like)
			return netdev_of(host, &host->ports[p]);
	return NULL;
}

/* Two groups without a clear majority are a note, not a fault. */
static void report_good_or_mixed(const struct rd_check_input *in, enum rd_trait trait, int pci, int port,
				 const char *subject, struct rd_check_out *out)
{
	const struct rd_odd *odd = rd_symmetry_odd(in->symmetry, trait, pci, port);

	if (odd && !odd->clear)
		rd_check_note(out, subject,
			      rd_text("%s; %s on %u of %u NICs like it", odd->is, odd->usual, odd->twins, odd->n), NULL,
			      NULL);
	else
		rd_check_good(out, subject);
}

/* A link of the port's LAG that has no carrier; NULL: none. */
static const struct rd_netdev *down_in_lag(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t i = 0; port->lag_active > 0 && i < host->n_netdevs; i++)
		for (size_t n = 0; n < port->n_netdevs; n++)
			if (host->netdevs[i].bond_state && host->netdevs[i].operstate && host->netdevs[i].master &&
			    strcmp(host->netdevs[i].operstate, "up") != 0 &&
			    strcmp(host->netdevs[i].master, host->netdevs[port->netdevs[n]].name) == 0)
				return &host->netdevs[i];
	return NULL;
}

#define SLOWER \
	"# check cable, transceiver and switch port: wrong cable, split port, or autonegotiation to a lower speed"

static void judge_speed(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];
	const struct rd_odd *odd = rd_check_odd(in, RD_TRAIT_RATE, -1, (int)p, true);

	if (!is_compared(in->host, port, RD_TRAIT_RATE))
		return;
	if (port->rate_gbps.known != RD_OK)
		rd_check_unknown(out, name, "rate not reported");
	else if (odd && down_in_lag(in->host, port)) {
		const struct rd_netdev *leg = down_in_lag(in->host, port);

		rd_check_bad(
			out, RD_SEV_WARNING, name,
			rd_text("%s: %s, a link of %s, is down", odd->is, leg->name, leg->master),
			rd_check_as_twins(odd),
			rd_text("cat /proc/net/bonding/%s\nip link show %s\n# check cable, transceiver and switch port of %s",
				leg->master, leg->name, leg->name));
	} else if (odd)
		rd_check_bad(out, RD_SEV_WARNING, name, rd_text("%s", odd->is), rd_check_as_twins(odd),
			     in->host->pcis[in->host->ibdevs[port->ibdev].pci].vendor.v == MELLANOX ?
				     NULL :
				     rd_text("ethtool -m IF\n" SLOWER));
	else
		report_good_or_mixed(in, RD_TRAIT_RATE, -1, (int)p, name, out);
}

#define POWER_CYCLE "# then power-cycle the host while no job runs"

/* mlx5 has a function for each port of a card, mlx4 one for both. */
static char *layer_fix(const struct rd_host *host, const struct rd_port *port, const struct rd_odd *odd)
{
	const struct rd_pci *pci = &host->pcis[odd->pci];

	if (pci->vendor.v != MELLANOX)
		return rd_text("# set the link layer to %s with the vendor's tool\n" POWER_CYCLE, odd->usual);
	return rd_text("mlxconfig -y -d ADDRESS set LINK_TYPE_P%u=%s\n" POWER_CYCLE, port->num + pci->fn,
		       strcmp(odd->usual, "InfiniBand") == 0 ? "1" : "2");
}

static void judge_layer(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];
	const struct rd_odd *odd = rd_check_odd(in, RD_TRAIT_LAYER, -1, (int)p, false);

	if (!is_compared(in->host, port, RD_TRAIT_LAYER) || !rd_port_layer_known(in->host, port, out))
		return;
	if (odd)
		rd_check_bad(out, RD_SEV_WARNING, name, rd_text("%s", odd->is), rd_check_as_twins(odd),
			     layer_fix(in->host, port, odd));
	else
		report_good_or_mixed(in, RD_TRAIT_LAYER, -1, (int)p, name, out);
}

#define MTU                                          \
	"# configure the switch port first\n"        \
	"# no job may use the interface meanwhile\n" \
	"# it lasts until the next boot; also in the network configuration"

static void judge_mtu(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	const struct rd_port *port = &host->ports[p];
	const struct rd_odd *odd = rd_check_odd(in, RD_TRAIT_MTU, -1, (int)p, true);
	const struct rd_netdev *netdev = netdev_of(host, port), *like = odd ? netdev_like(host, odd) : NULL;

	if (!is_compared(host, port, RD_TRAIT_MTU))
		return;
	if (port->mtu.known != RD_OK)
		rd_check_unknown(out, name, "MTU not reported (no interface in this network namespace)");
	else if (odd)
		rd_check_bad(out, RD_SEV_WARNING, name,
			     rd_text("RDMA MTU %u (%s has %u)", port->mtu.v, netdev ? netdev->name : "-",
				     netdev ? netdev->mtu.v : 0),
			     rd_check_as_twins(odd), like ? rd_text("ip link set IF mtu %u\n" MTU, like->mtu.v) : NULL);
	else
		report_good_or_mixed(in, RD_TRAIT_MTU, -1, (int)p, name, out);
}

static void judge_gid(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	const struct rd_port *port = &host->ports[p];
	const struct rd_odd *odd = rd_check_odd(in, RD_TRAIT_GID, -1, (int)p, false);

	if (!is_compared(host, port, RD_TRAIT_GID) || !rd_port_is_roce(host, port))
		return;
	if (!port->gids_known)
		rd_check_unknown(out, name, "not all of the GID table could be read");
	else if (odd && strncmp(odd->is, "no ", 3) != 0) /* reported by gid-usable and gid-v2 */
		rd_check_warn(out, name, rd_text("%s", odd->is), rd_check_as_twins(odd));
	else
		report_good_or_mixed(in, RD_TRAIT_GID, -1, (int)p, name, out);
}

static void run_firmware(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;

	for (size_t i = 0; i < host->n_ibdevs; i++) {
		const struct rd_ibdev *dev = &host->ibdevs[i];
		const struct rd_pci *pci = dev->pci >= 0 ? &host->pcis[dev->pci] : NULL;
		const struct rd_odd *odd = rd_check_odd(in, RD_TRAIT_FIRMWARE, dev->pci, -1, false);

		if (!dev->name || !pci || dev->parent_netdev || pci->pf >= 0)
			continue;
		if (!dev->firmware)
			rd_check_unknown(out, dev->name, "firmware version not reported");
		else if (odd)
			rd_check_warn(out, dev->name,
				      rd_text("firmware %s%s%s%s", odd->is, dev->board ? " (board " : "",
					      dev->board ?: "", dev->board ? ")" : ""),
				      rd_check_as_twins(odd));
		else
			report_good_or_mixed(in, RD_TRAIT_FIRMWARE, dev->pci, -1, dev->name, out);
	}
	rd_check_skip(out, "no RDMA device on PCI");
}

const struct rd_check rd_check_speed_uniform = {
	.id = "port-speed-uniform",
	.title = "Port is slower than those of comparable NICs",
	.why = "collectives stripe over all NICs and are as fast as the slowest",
	.fix = "mlxlink -d ADDRESS -m\n" SLOWER,
	.needs = "sysfs rate of ports; board and PCI location of NICs",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PORT, NULL, judge_speed, "no active port on a NIC" },
};

const struct rd_check rd_check_layer_uniform = {
	.id = "link-layer-uniform",
	.title = "Port has a different link layer than those of comparable NICs",
	.why = "InfiniBand and RoCE ports cannot communicate: which ranks connect depends on the NIC they use",
	.fix = "# set the link layer of the others: mlxconfig -d ADDRESS set LINK_TYPE_P1=1 (InfiniBand) or 2 "
	       "(Ethernet)\n" POWER_CYCLE,
	.needs = "sysfs link_layer of ports; board and PCI location of NICs",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PORT, NULL, judge_layer, "no NIC with a port" },
};

const struct rd_check rd_check_mtu_uniform = {
	.id = "mtu-uniform",
	.title = "Port has a smaller MTU than those of comparable NICs",
	.why = "large packets to the port are dropped: transports retry until they fail (completion status 12)",
	.fix = "ip link set IF mtu 9000\n" MTU,
	.needs = "mtu of the interfaces on ports; board and PCI location of NICs",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PORT, NULL, judge_mtu, "no active port on a NIC" },
};

const struct rd_check rd_check_firmware_uniform = {
	.id = "firmware-uniform",
	.title = "Firmware versions differ between identical boards",
	.why = "limits, defaults and bugs differ: what works on one NIC may fail on another",
	.fix = "devlink dev info pci/ADDRESS\n"
	       "# flash the version of the others: devlink dev flash pci/ADDRESS file FILE, or mlxfwmanager -d ADDRESS "
	       "-i FILE\n"
	       "# then reset the device or reboot; no job may use it meanwhile",
	.needs = "sysfs fw_ver and board_id of devices",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.run = run_firmware,
};

const struct rd_check rd_check_gid_uniform = {
	.id = "gid-uniform",
	.title = "GID table of a port differs from those of comparable NICs",
	.why = "a fixed index for all NICs (NCCL_IB_GID_INDEX) selects another kind of GID on this port, and its "
	       "connections fail",
	.fix = "rdmadiag nic-map --gids\n"
	       "# set the same kinds of addresses in the same order on all compute interfaces\n"
	       "# setting an interface down and up rebuilds its GID table; no job may use it meanwhile\n"
	       "# harmless unless a fixed index is used (NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX)",
	.needs = "sysfs gids and gid_attrs of RoCE ports; board and PCI location of NICs",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PORT, NULL, judge_gid, "no active RoCE port on a NIC" },
};
