/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that are regular, made by hand; and what the rules that compare a host with itself say of them. */
#ifndef RD_UNIT_SYMMETRY_HOST_H
#define RD_UNIT_SYMMETRY_HOST_H

#include "model/host/host.h"
#include "model/shared/check.h"

struct pattern {
	struct rd_host host;
	int gpus[16], nics[16], ups[16]; /* functions; devices; upstream ports */
	unsigned n_gpus, n_nics, n_ups;
};

struct rd_pci *pattern_pci(struct pattern *m, int index);
struct rd_pci *pattern_gpu(struct pattern *m, unsigned n);
struct rd_pci *pattern_nic(struct pattern *m, unsigned n);
struct rd_port *pattern_port(struct pattern *m, unsigned n);
void pattern_text(char **text, const char *value);

/* Ids and driver; payload of 256, relaxed ordering, read requests of 4096; able to take payloads of 512. */
void pattern_ids(struct pattern *m, int index, unsigned vendor, unsigned device, unsigned sub, const char *driver);
void pattern_add_gpu(struct pattern *m, const char *addr, int parent, const char *root, int numa);
void pattern_add_nic(struct pattern *m, const char *addr, int parent, const char *root, int numa, unsigned sub,
		     double gbps);
/* A root port and a switch; its upstream port. */
int pattern_add_switch(struct pattern *m, unsigned bus, int numa);
/* A downstream port, and the address and host bridge (room for 32) of what would be behind it. */
void pattern_slot(struct pattern *m, int up, unsigned n, char *addr, char *root, int *port);
/* One NIC more, below the switch of this number. */
void pattern_add_nic_below(struct pattern *m, unsigned sw, unsigned n, unsigned sub, double gbps);

/* A pattern that was zeroed, or made by one of these, becomes another; pattern_done releases it. */
void pattern_done(struct pattern *m);
struct pattern pattern_of_eight(void);
/* Switches with so many accelerators and NICs each; leaves out those of these numbers (-1: none). */
void pattern_server(struct pattern *m, unsigned switches, unsigned gpus, unsigned nics, int no_gpu, int no_nic);
/* As DGX H100: four switches, eight accelerators, eight NICs. */
void pattern_eight(struct pattern *m, int no_gpu, int no_nic);
/* A switch for each accelerator and its NIC, below one of four that two share, as HGX boards have them. */
void pattern_nested(struct pattern *m, int no_gpu, int no_nic);

/* What a rule says at worst. */
enum rd_severity pattern_says(struct pattern *m, const char *rule);
/* Says `result` by this rule, and by no other that anything is wrong. The host is one of eight again. */
void pattern_wrong(struct pattern *m, const char *rule, enum rd_severity result);
/* Nothing is wrong by any of them. The host is one of eight again. */
void pattern_quiet(struct pattern *m);

#define PATTERN_TEST(name) TEST_ON(name, struct pattern, m, pattern_of_eight(), pattern_done)

#endif
