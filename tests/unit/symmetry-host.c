/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "symmetry-host.h"

#include "analyse/nicmap/nicmap.h"
#include "analyse/shared/symmetry.h"
#include "check-run.h"
#include "nicmap-host.h"

/* Every rule that a pattern has a part in. */
static const char *const rules[] = {
	"gpu-missing", "nic-missing",	"pcie-link-width",  "pcie-link-speed",	  "pcie-bandwidth",
	"pcie-mps",    "pcie-mrrs",	"relaxed-ordering", "numa-switch",	  "gpu-driver",
	"nic-driver",  "switch-uneven", "firmware-uniform", "link-layer-uniform", "port-speed-uniform",
	"mtu-uniform", "gid-uniform",
};

struct rd_pci *pattern_pci(struct pattern *m, int index)
{
	return &m->host.pcis[index];
}

struct rd_pci *pattern_gpu(struct pattern *m, unsigned n)
{
	return pattern_pci(m, m->gpus[n]);
}

struct rd_pci *pattern_nic(struct pattern *m, unsigned n)
{
	return pattern_pci(m, m->host.ibdevs[m->nics[n]].pci);
}

struct rd_port *pattern_port(struct pattern *m, unsigned n)
{
	return made_port(&m->host, m->nics[n]);
}

/* Payload of 256, relaxed ordering, read requests of 4096; able to take payloads of 512. */
void pattern_ids(struct pattern *m, int index, unsigned vendor, unsigned device, unsigned sub, const char *driver)
{
	struct rd_pci *pci = pattern_pci(m, index);

	RD_SET(pci->vendor, (uint16_t)vendor);
	RD_SET(pci->device, (uint16_t)device);
	RD_SET(pci->subvendor, (uint16_t)vendor);
	RD_SET(pci->subdevice, (uint16_t)sub);
	RD_SET(pci->config.dev_cap, 2);
	RD_SET(pci->config.dev_ctl, 0x5030);
	pci->config_read = pci->detailed = true;
	free(pci->driver);
	pci->driver = driver ? strdup(driver) : NULL;
}

void pattern_text(char **text, const char *value)
{
	free(*text);
	*text = value ? strdup(value) : NULL;
}

void pattern_add_gpu(struct pattern *m, const char *addr, int parent, const char *root, int numa)
{
	int gpu = made_gpu(&m->host, addr, parent, root, numa), pci = m->host.gpus[gpu].pci;

	m->host.gpus[gpu].vendor = "NVIDIA";
	pattern_ids(m, pci, 0x10de, 0x2330, 0x16c1, "nvidia");
	m->gpus[m->n_gpus++] = pci;
}

void pattern_add_nic(struct pattern *m, const char *addr, int parent, const char *root, int numa, unsigned sub,
		     double gbps)
{
	struct rd_ibdev *dev;
	struct rd_port *port;
	char name[16];
	int nic;

	snprintf(name, sizeof(name), "mlx5_%zu", m->host.n_ibdevs);
	nic = made_nic(&m->host, name, addr, parent, root, numa, gbps);
	dev = &m->host.ibdevs[nic];
	pattern_ids(m, dev->pci, 0x15b3, 0x1021, sub, "mlx5_core");
	snprintf(name, sizeof(name), "MT_%08u", sub);
	dev->board = strdup(name);
	dev->firmware = strdup("28.41.1000");
	port = made_port(&m->host, nic);
	RD_SET(port->mtu, 4096);
	port->gids_known = true;
	m->nics[m->n_nics++] = nic;
}

void pattern_slot(struct pattern *m, int up, unsigned n, char *addr, char *root, int *port)
{
	const struct rd_pci *bridge = pattern_pci(m, up);
	unsigned bus = bridge->bus;

	snprintf(root, 32, "%s", bridge->root);
	*port = made_port_of(&m->host, up, n);
	pattern_ids(m, *port, 0x1000, 0xc030, 1, "pcieport");
	snprintf(addr, 32, "%02x:00.0", bus + 2 + n);
}

int pattern_add_switch(struct pattern *m, unsigned bus, int numa)
{
	char root[32];
	int up;

	snprintf(root, sizeof(root), "pci0000:%02x", bus);
	up = made_switch(&m->host, bus, root, numa);
	pattern_ids(m, up, 0x1000, 0xc030, 1, "pcieport");
	pattern_ids(m, pattern_pci(m, up)->parent, 0x8086, 0x352a, 0, "pcieport");
	m->ups[m->n_ups++] = up;
	return up;
}

/* Switches with two accelerators and two NICs each; leaves out accelerator and NIC of these numbers (-1: none). */
void pattern_done(struct pattern *m)
{
	rd_host_deinit(&m->host);
	*m = (struct pattern){ 0 };
}

struct pattern pattern_of_eight(void)
{
	struct pattern m = { 0 };

	pattern_eight(&m, -1, -1);
	return m;
}

void pattern_server(struct pattern *m, unsigned switches, unsigned gpus, unsigned nics, int no_gpu, int no_nic)
{
	char addr[32], root[32];
	int port;

	pattern_done(m);
	for (unsigned s = 0; s < switches; s++) {
		int numa = s >= switches / 2, up = pattern_add_switch(m, 0x10 + s * 0x18, numa);

		for (unsigned g = 0; g < gpus; g++) {
			pattern_slot(m, up, g, addr, root, &port);
			if ((int)(s * gpus + g) != no_gpu)
				pattern_add_gpu(m, addr, port, root, numa);
		}
		for (unsigned n = 0; n < nics; n++) {
			pattern_slot(m, up, gpus + n, addr, root, &port);
			if ((int)(s * nics + n) != no_nic)
				pattern_add_nic(m, addr, port, root, numa, 0x41, 400);
		}
	}
	for (int n = 0; n < 2; n++)
		rd_host_add_numa(&m->host)->id = n;
}

/* As DGX H100: four switches, eight accelerators, eight NICs. */
void pattern_eight(struct pattern *m, int no_gpu, int no_nic)
{
	pattern_server(m, 4, 2, 2, no_gpu, no_nic);
}

/* A switch of each accelerator's own, with its NIC, below one of four that two share, as HGX boards have them. */
void pattern_nested(struct pattern *m, int no_gpu, int no_nic)
{
	char addr[32], root[32];
	int port;

	pattern_done(m);
	for (int s = 0; s < 4; s++) {
		int up = pattern_add_switch(m, 0x10 + (unsigned)s * 0x30, s / 2);

		for (int i = 0; i < 2; i++) {
			unsigned bus = 0x10 + (unsigned)s * 0x30 + 6 + (unsigned)i * 8;
			int inner, down;

			pattern_slot(m, up, (unsigned)i, addr, root, &down);
			snprintf(addr, sizeof(addr), "%02x:00.0", bus);
			inner = made_bridge(&m->host, addr, down, root, s / 2);
			pattern_ids(m, inner, 0x1000, 0xc030, 1, "pcieport");
			m->ups[m->n_ups++] = inner;
			pattern_slot(m, inner, 0, addr, root, &port);
			if (s * 2 + i != no_gpu)
				pattern_add_gpu(m, addr, port, root, s / 2);
			pattern_slot(m, inner, 1, addr, root, &port);
			if (s * 2 + i != no_nic)
				pattern_add_nic(m, addr, port, root, s / 2, 0x41, 400);
		}
	}
}

void pattern_add_nic_below(struct pattern *m, unsigned sw, unsigned n, unsigned sub, double gbps)
{
	char addr[32], root[32];
	int port;

	pattern_slot(m, m->ups[sw], n, addr, root, &port);
	pattern_add_nic(m, addr, port, root, pattern_pci(m, m->ups[sw])->numa.v, sub, gbps);
}

enum rd_severity pattern_says(struct pattern *m, const char *rule)
{
	struct rd_nicmap map = { 0 };
	struct rd_symmetry symmetry = { 0 };
	struct rd_check_input in = { .host = &m->host, .ports = &map.ports, .map = &map, .symmetry = &symmetry };
	enum rd_severity result;

	rd_nicmap_analyse(&m->host, NULL, 0, &map);
	rd_symmetry_find(&map.ports, &symmetry);
	result = check_worst(&in, rule);
	rd_symmetry_deinit(&symmetry);
	rd_nicmap_deinit(&map);
	return result;
}

void pattern_wrong(struct pattern *m, const char *rule, enum rd_severity result)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(rules); i++) {
		enum rd_severity said = pattern_says(m, rules[i]);

		if (rule && strcmp(rules[i], rule) == 0) {
			if (said != result)
				fail_msg("%s: %s, not %s", rule, rd_severity_result(said), rd_severity_result(result));
		} else if (said >= RD_SEV_WARNING) {
			fail_msg("%s says %s as well", rules[i], rd_severity_result(said));
		}
	}
	pattern_eight(m, -1, -1);
}

void pattern_quiet(struct pattern *m)
{
	pattern_wrong(m, NULL, RD_SEV_OK);
}
