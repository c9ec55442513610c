/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NICs of one host that should be alike. */
#include <stdio.h>

#include "check/port.h"
#include "check/rules.h"

static bool is_compute(const struct rd_port *port)
{
	return port->role == RD_ROLE_COMPUTE && rd_port_active(port);
}

/* NICs of one make: others may be slower by design. */
static bool alike(const struct rd_host *host, const struct rd_port *a, const struct rd_port *b)
{
	const char *x = host->ibdevs[a->ibdev].hca_type, *y = host->ibdevs[b->ibdev].hca_type;

	return is_compute(a) && is_compute(b) && (x && y ? strcmp(x, y) == 0 : x == y) && a->rate_gbps.known == RD_OK &&
	       b->rate_gbps.known == RD_OK;
}

/* The rate that most active compute ports of this make have; of equals the higher. 0: there is none. */
static double usual_rate(const struct rd_host *host, const struct rd_port *like)
{
	double best = 0;
	size_t most = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		double rate = host->ports[p].rate_gbps.v;
		size_t n = 0;

		if (!alike(host, like, &host->ports[p]))
			continue;
		for (size_t q = 0; q < host->n_ports; q++)
			n += alike(host, like, &host->ports[q]) && host->ports[q].rate_gbps.v == rate;
		if (n > most || (n == most && rate > best)) {
			most = n;
			best = rate;
		}
	}
	return best;
}

static void run_speed(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_port *port = &in->host->ports[p];
		struct rd_port_name name = rd_check_port_name(in->host, port);

		if (!is_compute(port))
			continue;
		if (port->rate_gbps.known != RD_OK)
			rd_check_unknown(out, name.text, "its rate is not told");
		else if (port->rate_gbps.v != usual_rate(in->host, port))
			rd_check_warn(out, name.text, rd_text("%g Gbit/s", port->rate_gbps.v),
				      rd_text("%g Gbit/s, as other compute ports", usual_rate(in->host, port)));
		else
			rd_check_good(out, name.text);
	}
	rd_check_skip(out, "no compute port is up");
}

static void run_layer(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_port *first = NULL;

	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_port *port = &in->host->ports[p];
		struct rd_port_name name = rd_check_port_name(in->host, port);

		if (!is_compute(port) || !rd_port_layer_known(in->host, port, out))
			continue;
		first = first ? first : port;
		if (strcmp(port->link_layer, first->link_layer) != 0)
			rd_check_warn(out, name.text, rd_text("%s", port->link_layer),
				      rd_text("%s, as other compute ports", first->link_layer));
		else
			rd_check_good(out, name.text);
	}
	rd_check_skip(out, "no compute port is up");
}

static const struct rd_netdev *netdev_of(const struct rd_host *host, const struct rd_port *port)
{
	return port->n_netdevs > 0 ? &host->netdevs[port->netdevs[0]] : NULL;
}

static void run_mtu(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	unsigned largest = 0;

	for (size_t p = 0; p < host->n_ports; p++)
		if (is_compute(&host->ports[p]) && host->ports[p].mtu.known == RD_OK && host->ports[p].mtu.v > largest)
			largest = host->ports[p].mtu.v;
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		struct rd_port_name name = rd_check_port_name(host, port);
		const struct rd_netdev *netdev = netdev_of(host, port);

		if (!is_compute(port))
			continue;
		if (port->mtu.known != RD_OK)
			rd_check_unknown(out, name.text, "its MTU is not told (no interface of this namespace on it)");
		else if (port->mtu.v < largest)
			rd_check_warn(out, name.text,
				      rd_text("RDMA MTU %u (%s has %u)", port->mtu.v, netdev ? netdev->name : "-",
					      netdev ? netdev->mtu.v : 0),
				      rd_text("%u, as other compute ports", largest));
		else
			rd_check_good(out, name.text);
	}
	rd_check_skip(out, "no compute port is up");
}

static void run_firmware(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;

	for (size_t i = 0; i < host->n_ibdevs; i++) {
		const struct rd_ibdev *dev = &host->ibdevs[i], *other = NULL;
		size_t same = 0, differ = 0;

		if (!dev->name || !dev->board || dev->parent_netdev)
			continue;
		if (!dev->firmware) {
			rd_check_unknown(out, dev->name, "its firmware version is not told");
			continue;
		}
		for (size_t j = 0; j < host->n_ibdevs; j++) {
			const struct rd_ibdev *like = &host->ibdevs[j];

			if (j == i || !like->board || !like->firmware || strcmp(like->board, dev->board) != 0)
				continue;
			if (strcmp(like->firmware, dev->firmware) == 0) {
				same++;
			} else {
				differ++;
				other = like;
			}
		}
		/* Of two that differ the first is as likely to be right: both are told. */
		if (other && differ > same)
			rd_check_warn(out, dev->name, rd_text("%s (board %s)", dev->firmware, dev->board),
				      rd_text("%s, as %s", other->firmware, other->name ? other->name : "its like"));
		else
			rd_check_good(out, dev->name);
	}
	rd_check_skip(out, "no board is named");
}

const struct rd_check rd_check_speed_uniform = {
	.id = "port-speed-uniform",
	.title = "A compute port has another rate than the others",
	.why = "collectives stripe over all NICs and go at the pace of the slowest",
	.fix = "look at cable and switch port: a wrong cable, a split port, autonegotiation that fell back",
	.needs = "sysfs rate of ports, their roles",
	.quick = true,
	.run = run_speed,
};

const struct rd_check rd_check_layer_uniform = {
	.id = "link-layer-uniform",
	.title = "Compute ports are of different link layers",
	.why = "InfiniBand and RoCE cannot talk to each other: which ranks connect depends on the NIC they take",
	.fix = "mlxconfig LINK_TYPE_P1=1 (InfiniBand) or 2 (Ethernet), then a cold boot",
	.needs = "sysfs link_layer of ports, their roles",
	.quick = true,
	.run = run_layer,
};

const struct rd_check rd_check_mtu_uniform = {
	.id = "mtu-uniform",
	.title = "A compute port has a smaller MTU than the others",
	.why = "large packets to it are dropped: transports retry until they give up (completion status 12)",
	.fix = "ip link set DEV mtu 9000 (4200 at least), and in the network's configuration; the switch port, too",
	.needs = "mtu of the interfaces on compute ports",
	.quick = true,
	.run = run_mtu,
};

const struct rd_check rd_check_firmware_uniform = {
	.id = "firmware-uniform",
	.title = "Equal boards have different firmware",
	.why = "limits, defaults and bugs differ: what works on one NIC fails on the next",
	.fix = "flash the same version on all (mlxfwmanager, devlink dev flash), then reset or reboot",
	.needs = "sysfs fw_ver and board_id of devices",
	.quick = true,
	.run = run_firmware,
};
