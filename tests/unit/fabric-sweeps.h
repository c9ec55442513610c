/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tree of 4 leaves, 3 spines and 5 hosts a leaf that is swept, judged, and swept again. */
#ifndef RD_UNIT_FABRIC_SWEEPS_H
#define RD_UNIT_FABRIC_SWEEPS_H

#include "analyse/fabric/fabric.h"
#include "model/fabric/fabric.h"
#include "model/shared/finding.h"

#define SPINE(n) (0x10000 + (n))
#define LEAF(n) (0x20000 + (n))
#define HOST(l, h) (0x1000000 + (l)*256 + (h))

struct setup {
	struct rd_fabric fabric;
	struct rd_fabric_limits limits;
	struct rd_fabric_history history;
	struct rd_findings findings;
	unsigned seconds;
};

/* With these limits, and after a first sweep. */
void sweeps_set_up(struct setup *s, const char *limits_text);
void sweeps_tear_down(struct setup *s);

/* Counters as after a sweep at the time of `setup`; sweep() moves it. */
void give_counters(struct setup *s);
void sweep(struct setup *s, unsigned seconds);

struct rd_fabric_port *at(struct setup *s, uint64_t guid, unsigned port);
void count(struct setup *s, uint64_t guid, unsigned port, size_t counter, uint64_t more);

/* A discovery after this sweep found the node, which was not there before. */
void discovered(struct setup *s, uint64_t guid);

/* Judges: the number of findings above notes; the first is findings.v[0]. */
size_t faults(struct setup *s);
/* The first has this id, its subject begins so, and this is in what was observed (NULL: any). */
void first_is(const struct setup *s, const char *id, const char *subject, const char *observed);
/* Judges, and requires that it is the only one above notes. */
void one_fault(struct setup *s, const char *id, const char *subject, const char *observed);

#endif
