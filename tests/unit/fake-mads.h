/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A port behind which agents answer as a test wants, in a time of its own. */
#ifndef RD_FAKE_MADS_H
#define RD_FAKE_MADS_H

#include "source/shared/libibmad.h"
#include "source/shared/mad.h"

#define FAKE_LIDS 1024
#define FAKE_NOWHERE (FAKE_LIDS - 1) /* where routes lead that lead nowhere: silence */
#define FAKE_NODES 256
#define FAKE_PORTS 40
#define FAKE_KEY 0x5ec4e75ec4e7ULL /* that every port has */

struct fake_mads;

struct fake_agent {
	unsigned latency_us;	  /* of its answers */
	unsigned silent;	  /* does not answer that many questions, then does. UINT_MAX: never */
	uint8_t silent_attribute; /* a question that it never answers; 0: none */
	bool silent_route;	  /* neither answers nor forwards directed routes */
	bool twice;		  /* answers come twice */
	bool late;		  /* once, the failure comes first and the answer after it */
	uint64_t guid;		  /* for NodeInfo */
	/* Changes an answer before it is sent; NULL: nothing to change. */
	void (*change)(struct rd_mad *mad);
	unsigned in_flight, most_in_flight; /* out */
	unsigned passing, most_passing;	    /* out: of directed routes, to it or through it */
};

/* Of a network to walk over, along routes from nodes[0]. Its LID is its number in `agents`, which says how it answers. */
struct fake_node {
	uint64_t guid;
	unsigned kind, n_ports;
	uint16_t lid, device;
	struct {
		unsigned node, port; /* the other end; port 0: no cable */
	} peers[FAKE_PORTS + 1];
};

struct fake_event {
	uint64_t at;
	uint64_t order;
	uint16_t lid; /* 0: a copy, which is nobody's answer */
	struct rd_mad mad;
};

struct fake_mads {
	struct rd_mads mads;
	struct fake_agent agents[FAKE_LIDS];
	struct fake_node nodes[FAKE_NODES];
	unsigned n_nodes;
	uint64_t now, order;
	struct fake_event *events;
	size_t n, cap;
	unsigned in_flight, most_in_flight, sent;
	uint64_t last_answer, first_failure; /* when; 0: none */
	int fail_after;			     /* datagrams; then the port is gone. 0: never */
	uint32_t seed;			     /* not 0: latencies differ by chance */
	uint16_t capability;
	uint32_t capability2;
	unsigned loss_percent; /* of directed-route datagrams, by chance; seed: */
	uint32_t loss_seed;
	bool sm_stopped; /* the subnet manager answers, but does nothing else: its ActCount stands */
	uint32_t value;	 /* what every counter of an answer is made of */
};

void fake_mads_init(struct fake_mads *fake);
/* A node with a GUID of 0x1000 and its LID; returns its number. */
unsigned fake_node_add(struct fake_mads *fake, unsigned kind, unsigned n_ports, uint16_t lid);
void fake_cable(struct fake_mads *fake, unsigned node_a, unsigned port_a, unsigned node_b, unsigned port_b);
void fake_mads_deinit(struct fake_mads *fake);

#endif
