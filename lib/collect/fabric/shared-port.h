/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A port of this host for MADs that is shared with work in the background, and watched while responses are waited for. */

/*
 * A port of this host that the caller shares with work which takes long, such as a walk, and is done in pieces. The work has a thread
 * of its own, but runs only within rd_background_continue and rd_background_finish, while the caller waits: nothing needs a lock.
 */

#ifndef RD_COLLECT_SHARED_PORT_H
#define RD_COLLECT_SHARED_PORT_H

#include "source/shared/mad.h"

struct rd_background;

/* Sends and receives with `mads`, a port of its own; 0 or -errno with `err` filled. */
typedef int rd_background_fn(void *arg, struct rd_mads *mads, struct rd_err *err);

/* Takes ownership of `mads`. */
struct rd_background *rd_background_open(struct rd_mads *mads);

/* Ends what has not ended, and closes the port. */
void rd_background_close(struct rd_background *background);

/* The port of the caller. It is closed like any other, before the background or not at all. */
struct rd_mads *rd_background_port(struct rd_background *background);

/* Prepares work, of which there is one at a time; `arg` has to stay valid until it is finished. -errno with `err` filled. */
int rd_background_begin(struct rd_background *background, rd_background_fn *work, void *arg, struct rd_err *err);

/* Whether work was prepared, and not yet finished. */
bool rd_background_begun(const struct rd_background *background);

/* Lets the work go on for that long, or until it waits for responses that late. Whether it has ended. */
bool rd_background_continue(struct rd_background *background, unsigned ms);

/* The result of the work. If it has not ended, it can receive nothing any more: it fails with -ECANCELED. */
int rd_background_finish(struct rd_background *background, struct rd_err *err);

/* A port of this host for MADs that calls a function while responses are waited for: a view then shows progress and handles keys. */

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
