/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "role-host.h"

#include "analyse/nicmap/nicmap.h"
#include "analyse/shared/symmetry.h"
#include "check-run.h"
#include "nicmap-host.h"

void role_done(struct role_place *at)
{
	rd_nicmap_deinit(&at->map);
	rd_symmetry_deinit(&at->symmetry);
	rd_host_deinit(&at->host);
}

void role_look(struct role_place *at)
{
	rd_nicmap_deinit(&at->map);
	rd_symmetry_deinit(&at->symmetry);
	rd_symmetry_deinit(&at->symmetry);
	at->map = (struct rd_nicmap){ 0 };
	at->symmetry = (struct rd_symmetry){ 0 };
	rd_nicmap_analyse(&at->host, NULL, 0, &at->map);
	rd_symmetry_find(&at->map.ports, &at->symmetry);
	at->in = (struct rd_check_input){
		.host = &at->host, .ports = &at->map.ports, .map = &at->map, .symmetry = &at->symmetry
	};
}

/* How the rules judge that look at roles, state and link layer. */
enum rd_severity role_worst(const struct role_place *at)
{
	static const char *const rules[] = {
		"port-state", "ib-no-sm", "ib-lid", "ib-sm-lid", "ib-width", "dual-port", "backend-default-route",
		"nic-driver"
	};
	enum rd_severity most = RD_SEV_SKIP;

	for (size_t i = 0; i < RD_ARRAY_SIZE(rules); i++) {
		enum rd_severity result = check_worst(&at->in, rules[i]);

		most = result > most ? result : most;
	}
	return most;
}

struct rd_port *role_port(struct rd_host *host, const char *name)
{
	int ibdev = rd_host_find_ibdev(host, name);

	assert_true(ibdev >= 0);
	return made_port(host, ibdev);
}

void role_set_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
}

void role_set_state(struct rd_port *port, const char *state, const char *phys)
{
	role_set_text(&port->state, state);
	role_set_text(&port->phys_state, phys);
}

void role_go_down(struct rd_port *port)
{
	role_set_state(port, "DOWN", "Polling");
}

/* A NIC with all that a healthy one has. Returns its port. */
struct rd_port *role_add_nic(struct rd_host *host, const char *name, const char *addr, int parent, const char *root,
			     int numa, double gbps, uint16_t device, const char *layer)
{
	int ibdev = made_nic(host, name, addr, parent, root, numa, gbps);
	struct rd_port *port = made_port(host, ibdev);
	struct rd_pci *pci = &host->pcis[host->ibdevs[ibdev].pci];

	RD_SET(pci->device, device);
	pci->class.v = strcmp(layer, "Ethernet") == 0 ? 0x020000 : 0x020700;
	pci->driver = strdup("mlx5_core");
	role_set_text(&port->link_layer, layer);
	role_set_state(port, "ACTIVE", "LinkUp");
	RD_SET(port->lid, strcmp(layer, "Ethernet") == 0 ? 0 : 17);
	RD_SET(port->sm_lid, strcmp(layer, "Ethernet") == 0 ? 0 : 1);
	port->width = 4;
	return port;
}

/* An interface on the port's function. */
struct rd_netdev *role_add_netdev(struct rd_host *host, const char *ibdev, const char *name)
{
	int index = made_netdev(host, name);
	struct rd_port *port = role_port(host, ibdev);
	struct rd_netdev *netdev = &host->netdevs[index];

	netdev->pci = host->ibdevs[port->ibdev].pci;
	netdev->operstate = strdup("up");
	assert_int_equal(rd_grow(&port->netdevs, &port->cap_netdevs, port->n_netdevs + 1, sizeof(int)), 0);
	port->netdevs[port->n_netdevs++] = index;
	return netdev;
}

void role_add_address(struct rd_netdev *netdev, uint8_t net, uint8_t last)
{
	struct rd_addr addr = { .raw = { 10, net, 0, last }, .prefix = 24 };

	assert_int_equal(rd_grow(&netdev->addrs, &netdev->cap_addrs, netdev->n_addrs + 1, sizeof(addr)), 0);
	netdev->addrs[netdev->n_addrs++] = addr;
}

/* A root port of its own host bridge. */
int role_own_bridge(struct rd_host *host, unsigned bus, char *root, size_t size, int numa)
{
	char addr[16];

	snprintf(root, size, "pci0000:%02x", bus);
	snprintf(addr, sizeof(addr), "%02x:00.0", bus);
	return made_bridge(host, addr, -1, root, numa);
}

void role_far_nic(struct rd_host *host, const char *name, unsigned bus, unsigned fn, int numa, double gbps,
		  uint16_t device, const char *layer)
{
	char root[16], addr[16];
	int port = -1;

	snprintf(addr, sizeof(addr), "%02x:00.0", bus);
	port = rd_host_find_pci(host, addr);
	snprintf(root, sizeof(root), "pci0000:%02x", bus);
	if (port < 0)
		port = role_own_bridge(host, bus, root, sizeof(root), numa);
	snprintf(addr, sizeof(addr), "%02x:00.%u", bus + 1, fn);
	role_add_nic(host, name, addr, port, root, numa, gbps, device, layer);
}

/* `n` switches from bus 0x10 on, each with so many accelerators and NICs mlx5_0, mlx5_1 … of one port. */
void role_add_switches(struct rd_host *host, unsigned n, unsigned gpus, unsigned nics, double gbps, const char *layer)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned bus = 0x10 * (i + 1);
		int numa = i >= n / 2, up;
		char root[16], addr[16], name[16];

		snprintf(root, sizeof(root), "pci0000:%02x", bus);
		up = made_switch(host, bus, root, numa);
		for (unsigned g = 0; g < gpus; g++) {
			snprintf(addr, sizeof(addr), "%02x:00.0", bus + 3 + g);
			made_gpu(host, addr, made_port_of(host, up, g), root, numa);
		}
		for (unsigned k = 0; k < nics; k++) {
			snprintf(addr, sizeof(addr), "%02x:00.0", bus + 3 + gpus + k);
			snprintf(name, sizeof(name), "mlx5_%zu", host->n_ibdevs);
			role_add_nic(host, name, addr, made_port_of(host, up, gpus + k), root, numa, gbps, CX7, layer);
		}
	}
}

const struct rd_port_view *role_view(struct role_place *at, const char *name)
{
	return &at->map.ports.v[role_port(&at->host, name) - at->host.ports];
}

void role_assert(struct role_place *at, const char *name, enum rd_role role)
{
	const struct rd_port_view *port = role_view(at, name);

	if (port->role != role)
		fail_msg("%s: role %d instead of %d: %s", name, (int)port->role, (int)role, port->role_why);
	assert_non_null(port->role_why);
}

size_t role_count(const struct role_place *at, enum rd_role role)
{
	size_t n = 0;

	for (size_t p = 0; p < at->host.n_ports; p++)
		n += at->map.ports.v[p].role == role;
	return n;
}

void role_computing(struct role_place *at, size_t n)
{
	role_look(at);
	assert_int_equal(role_count(at, RD_ROLE_COMPUTE), n);
}

void role_becomes(struct role_place *at, const char *name, enum rd_role role)
{
	role_look(at);
	role_assert(at, name, role);
}

/* One RDMA device on the first function of a card, interfaces of both bound into one bond. */
void role_add_lag(struct rd_host *host, const char *ibdev, const char *bond, const char *second_state)
{
	struct rd_port *port = role_port(host, ibdev);
	int first = host->ibdevs[port->ibdev].pci, bound = made_netdev(host, bond);
	struct rd_pci *second = rd_host_add_pci(host);
	char name[32], addr[RD_PCI_ADDR];

	host->netdevs[bound].is_bond = true;
	host->netdevs[bound].operstate = strdup("up");
	snprintf(addr, sizeof(addr), "%.11s1", host->pcis[first].addr);
	assert_int_equal(rd_pci_parse(addr, second), 0);
	second->parent = host->pcis[first].parent;
	second->root = strdup(host->pcis[first].root);
	second->vendor = host->pcis[first].vendor;
	second->device = host->pcis[first].device;
	second->class = host->pcis[first].class;
	second->numa = host->pcis[first].numa;
	second->max = second->now = host->pcis[first].max;
	second->driver = strdup("mlx5_core");
	for (int i = 0; i < 2; i++) {
		struct rd_netdev *slave;

		snprintf(name, sizeof(name), "%s_p%d", bond, i);
		made_netdev(host, name);
		slave = &host->netdevs[host->n_netdevs - 1];
		slave->pci = i ? (int)host->n_pcis - 1 : first;
		slave->master = strdup(bond);
		slave->operstate = strdup("up");
		slave->bond_state = second_state || !i ? strdup(i ? second_state : "active") : NULL;
	}
	rd_host_fill_lags(host);
}
