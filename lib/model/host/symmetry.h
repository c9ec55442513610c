/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices that differ from like devices of the same host: devices of one kind in like places are twins, switches of one model
 * at one depth are sisters. All should have what most of them have. See analyse/shared/symmetry.h.
 */
#ifndef RD_MODEL_SYMMETRY_H
#define RD_MODEL_SYMMETRY_H

#include "base/base.h"

/* Properties by which twins are compared. */
enum rd_trait {
	RD_TRAIT_WIDTH = 0, /* lanes in use on the link up from this function */
	RD_TRAIT_SPEED,	    /* its speed; not of accelerators, which lower it when idle */
	RD_TRAIT_MAX_WIDTH, /* supported by both ends */
	RD_TRAIT_MAX_SPEED,
	RD_TRAIT_MPS, /* Max Payload Size, among equal limits of the path */
	RD_TRAIT_MRRS,
	RD_TRAIT_RELAXED,
	RD_TRAIT_GPU_DRIVER,
	RD_TRAIT_NIC_DRIVER,
	RD_TRAIT_FIRMWARE,
	RD_TRAIT_LAYER, /* from here on properties of ports */
	RD_TRAIT_RATE,
	RD_TRAIT_MTU,
	RD_TRAIT_GID, /* index of the first RoCE v2 GID with an IPv4 address, types */
	RD_N_TRAITS,
};

/* A twin that differs from most of its twins. */
struct rd_odd {
	enum rd_trait trait;
	int pci, port;	   /* port: -1 for traits of functions */
	unsigned n, twins; /* number compared, including this one; number with the usual value */
	bool clear;	   /* clearly an exception; else there are two groups, and neither is at fault */
	bool less;	   /* a number below the usual value */
	char *is, *usual;  /* owned */
	int like;	   /* the function of a twin with the usual value */
};

enum rd_missing_sure {
	RD_MISSING_MAYBE = 0, /* uneven, but possibly by design */
	RD_MISSING_LIKELY,
	RD_MISSING_CLEAR,
};

/* Accelerators or NICs that are missing according to the pattern. */
struct rd_missing {
	bool gpu;
	int bridge;		  /* the switch (its upstream port), or the empty port; -1: unknown */
	unsigned found, wanted;	  /* below the bridge; with bridge -1: on the host */
	unsigned all, all_wanted; /* of this kind below all sisters */
	unsigned sisters, agree;  /* number of bridges compared, number of them with the wanted count */
	enum rd_missing_sure sure;
	int like;    /* a complete sister; -1: none */
	char *empty; /* addresses of empty ports below it; NULL: none. Owned */
};

struct rd_symmetry {
	struct rd_odd *odds;
	size_t n_odds, cap_odds;
	struct rd_missing *missing;
	size_t n_missing, cap_missing;
	unsigned compared[RD_N_TRAITS]; /* functions or ports that have a twin to be compared with */
	unsigned unread[RD_N_TRAITS];	/* those whose value is unknown */
	unsigned sisters;		/* switches that were compared */
};

void rd_symmetry_deinit(struct rd_symmetry *symmetry);

/* The difference of this function (port: -1) or port in this trait; NULL: none, or `symmetry` is NULL. */
const struct rd_odd *rd_symmetry_odd(const struct rd_symmetry *symmetry, enum rd_trait trait, int pci, int port);

#endif
