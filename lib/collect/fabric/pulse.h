/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A port of this host for MADs that calls a function while responses are waited for: a view then shows progress and handles keys. */
#ifndef RD_COLLECT_PULSE_H
#define RD_COLLECT_PULSE_H

#include "source/shared/mad.h"

#define RD_PULSE_MS 50

struct rd_pulse {
	/* Called every RD_PULSE_MS. `nodes`: those that responded to a walk so far. False: receiving fails with ECANCELED from now
	 * on, which ends the walk or the sweep. NULL: there is no such function. */
	bool (*beat)(void *arg, size_t nodes);
	void *arg;
};

/* Takes ownership of `mads`. */
struct rd_mads *rd_pulse_wrap(struct rd_mads *mads, const struct rd_pulse *pulse);

#endif
