/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by role*.c. */
#ifndef RD_ANALYSE_ROLE_PRIV_H
#define RD_ANALYSE_ROLE_PRIV_H

#include "analyse/nicmap/role.h"

/* Gbit/s: up to this rate, beside NICs four times as fast, a NIC is a server's on-board interface. */
#define RD_ROLE_SLOW_GBPS 25.0
#define RD_ROLE_MUCH_FASTER 4

/* From here on the number of NICs is evidence: with one or two accelerators any number of cards is "one each". */
#define RD_ROLE_GPUS_MANY 4

/* How near a NIC must be to be assigned to an accelerator, the strictest first. */
enum rd_role_reach {
	RD_REACH_SWITCH, /* below the same PCIe switch or root port */
	RD_REACH_SOCKET, /* same host bridge or NUMA node: machines without switches */
	RD_REACH_GUEST,	 /* the bridges between are not visible, as in a virtual machine */
	RD_REACH_ANY,
};

/* Evidence that an interface is the host's front-end, the weakest first. */
enum rd_role_front { RD_FRONT_NONE = 0, RD_FRONT_BOND, RD_FRONT_ROUTE };

enum rd_role_kind_is { RD_KIND_OTHER = 0, RD_KIND_COMPUTE, RD_KIND_UNSURE };

/* NICs of one kind: same chip, same number of ports per card. Not link layer, rate and state, which may be wrong on one. */
struct rd_role_kind {
	bool known; /* identified by its PCI function; else by `type` */
	uint16_t vendor, device;
	const char *type;
	unsigned ports;
	size_t n_cards;
	double rate;	/* Gbit/s, of the fastest port that is up; 0: all are down */
	unsigned near;	/* accelerators that have one within reach */
	unsigned own;	/* accelerators that could each have a separate one within reach */
	bool all_front; /* each card has a port with the default route */
	bool ib;	/* at least one port is InfiniBand */
	enum rd_role_kind_is is;
	char why[160];
};

struct rd_role_card {
	int ibdev; /* the first of its devices */
	int kind;
	enum rd_role_front front; /* the strongest evidence of its ports */
	bool chosen;		  /* belongs to the compute NICs */
	bool odd;		  /* of that kind and as near, but surplus: role unknown */
};

struct rd_role_state {
	const struct rd_host *host;
	const struct rd_nicmap *map;
	struct rd_port_view *views; /* of each port */
	struct rd_role_kind *kinds; /* as many as cards at most */
	size_t n_kinds;
	struct rd_role_card *cards;
	size_t n_cards;
	int *card_of; /* of each device; -1: not a card (soft, virtual function …) */
	struct {
		enum rd_role_front sign;
		char text[96];
	} * front; /* of each port */
	double fastest;
	enum rd_role_reach reach; /* by which the compute NICs were chosen; only with accelerators */
};

/* Up; in a topology file, which may have no states, not known to be down. */
bool rd_role_usable(const struct rd_role_state *st, const struct rd_port *port);
/* Gbit/s of a port that is up; 0: not up, or unknown. */
double rd_role_rate(const struct rd_role_state *st, const struct rd_port *port);

/* Whether the port is the host's front-end; `text` describes the evidence. */
void rd_role_front(const struct rd_host *host, const struct rd_port *port, enum rd_role_front *sign, char *text,
		   size_t size);

/* Decide which cards are compute NICs: on hosts with accelerators, and without. */
void rd_role_choose_near(struct rd_role_state *st);
void rd_role_choose_alone(struct rd_role_state *st);

/* Removes from the compute ports those that may be down (spare) and those that are the front-end. */
void rd_role_ports(struct rd_role_state *st);

#endif
