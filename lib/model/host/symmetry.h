/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What breaks the pattern of a host: devices of one kind and in like places are twins, switches of one model at one depth are
 * sisters, and what most of them have is what all of them should have. Who is compared with whom is said in
 * analyse/shared/symmetry.h.
 */
#ifndef RD_MODEL_SYMMETRY_H
#define RD_MODEL_SYMMETRY_H

#include "base/base.h"

/* What twins are compared by. */
enum rd_trait {
	RD_TRAIT_WIDTH = 0, /* lanes in use on the link up from this function */
	RD_TRAIT_SPEED,	    /* its speed; of accelerators not, which lower it when idle */
	RD_TRAIT_MAX_WIDTH, /* what both ends of it can */
	RD_TRAIT_MAX_SPEED,
	RD_TRAIT_MPS, /* Max Payload Size, where the path can the same */
	RD_TRAIT_MRRS,
	RD_TRAIT_RELAXED,
	RD_TRAIT_GPU_DRIVER,
	RD_TRAIT_NIC_DRIVER,
	RD_TRAIT_FIRMWARE,
	RD_TRAIT_LAYER, /* from here on of ports */
	RD_TRAIT_RATE,
	RD_TRAIT_MTU,
	RD_TRAIT_GID, /* index of the first RoCE v2 GID with an IPv4 address, types */
	RD_N_TRAITS,
};

/* One of some twins that is not as most of them are. */
struct rd_odd {
	enum rd_trait trait;
	int pci, port;	   /* port: -1 for traits of functions */
	unsigned n, twins; /* how many were compared, this one among them; how many of them have the usual value */
	bool clear;	   /* so many that this one stands out; else there are two groups, and neither is to blame */
	bool less;	   /* of numbers: has less than the usual value */
	char *is, *usual;  /* owned */
	int like;	   /* the function of a twin that has the usual value */
};

enum rd_missing_sure {
	RD_MISSING_MAYBE = 0, /* something is uneven; may be meant so */
	RD_MISSING_LIKELY,
	RD_MISSING_CLEAR,
};

/* Accelerators or NICs that the pattern has a place for, and that are not there. */
struct rd_missing {
	bool gpu;
	int bridge;		  /* the switch (its upstream port), or the empty port; -1: somewhere on the host */
	unsigned found, wanted;	  /* below it; -1: on the host */
	unsigned all, all_wanted; /* of this kind below all sisters */
	unsigned sisters, agree;  /* how many bridges were compared, how many of them have what is wanted */
	enum rd_missing_sure sure;
	int like;    /* a sister that is complete; -1: none */
	char *empty; /* addresses of ports below it that have nothing behind them; NULL: none. Owned */
};

struct rd_symmetry {
	struct rd_odd *odds;
	size_t n_odds, cap_odds;
	struct rd_missing *missing;
	size_t n_missing, cap_missing;
	unsigned compared[RD_N_TRAITS]; /* functions or ports that have a twin to be compared with */
	unsigned unread[RD_N_TRAITS];	/* those whose value is not known */
	unsigned sisters;		/* switches that were compared */
};

void rd_symmetry_deinit(struct rd_symmetry *symmetry);

/* What is odd about this function (port: -1) or port; NULL: nothing, or `symmetry` is. */
const struct rd_odd *rd_symmetry_odd(const struct rd_symmetry *symmetry, enum rd_trait trait, int pci, int port);

#endif
