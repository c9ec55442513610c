/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts made by hand, with what rules about roles look at. Out of memory fails the test. */
#ifndef RD_UNIT_ROLE_HOST_H
#define RD_UNIT_ROLE_HOST_H

#include "check/shared/check.h"
#include "model/nicmap/nicmap.h"

/* Device IDs. */
enum { CX7 = 0x1021, BF3 = 0xa2dc, CX6 = 0x101b };

struct role_place {
	struct rd_host host;
	struct rd_nicmap map;
	struct rd_symmetry symmetry;
	struct rd_check_input in;
};

void role_done(struct role_place *at);
/* Draws all conclusions anew. */
void role_look(struct role_place *at);
/* How the rules judge that go by roles, state and link layer. */
enum rd_severity role_worst(const struct role_place *at);
struct rd_port *role_port(struct rd_host *host, const char *name);
/* What was concluded about it, by the last role_look. */
const struct rd_port_view *role_view(struct role_place *at, const char *name);
void role_set_text(char **text, const char *value);
void role_set_state(struct rd_port *port, const char *state, const char *phys);
void role_go_down(struct rd_port *port);
/* A NIC with all that a healthy one has. Returns its port. */
struct rd_port *role_add_nic(struct rd_host *host, const char *name, const char *addr, int parent, const char *root,
			     int numa, double gbps, uint16_t device, const char *layer);
/* An interface on the port's function. */
struct rd_netdev *role_add_netdev(struct rd_host *host, const char *ibdev, const char *name);
void role_add_address(struct rd_netdev *netdev, uint8_t net, uint8_t last);
/* A root port on a host bridge of its own; its name goes to `root`. Returns the port. */
int role_own_bridge(struct rd_host *host, unsigned bus, char *root, size_t size, int numa);
/* A function of a card behind such a port. */
void role_far_nic(struct rd_host *host, const char *name, unsigned bus, unsigned fn, int numa, double gbps,
		  uint16_t device, const char *layer);
/* `n` switches from bus 0x10 on, each with so many accelerators and NICs mlx5_0, mlx5_1 … of one port. */
void role_add_switches(struct rd_host *host, unsigned n, unsigned gpus, unsigned nics, double gbps, const char *layer);
/* Binds the interfaces of two functions of the device's card into one bond. `second_state` NULL: the slave tells nothing. */
void role_add_lag(struct rd_host *host, const char *ibdev, const char *bond, const char *second_state);
void role_assert(struct role_place *at, const char *name, enum rd_role role);
size_t role_count(const struct role_place *at, enum rd_role role);
/* Draws all conclusions again, and requires that so many ports are for computing, or that this one has this role. */
void role_computing(struct role_place *at, size_t n);
void role_becomes(struct role_place *at, const char *name, enum rd_role role);

#define ROLE_TEST(name) TEST_ON(name, struct role_place, at, { 0 }, role_done)

#endif
