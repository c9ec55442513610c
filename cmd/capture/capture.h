/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_CAPTURE_H
#define RD_CAPTURE_H

#include "cmd/repeat.h"

struct capture_state {
	struct rd_repeat repeat;
	bool redact;		/* also where there is a key */
	bool force;		/* a file of that name is replaced */
	const char *redact_key; /* a file; NULL: a key that nobody keeps */
	bool fabric;		/* also the counters of the InfiniBand network */
};

/* Lets every command read through `source`, which records; as often as ctx->state says, or a bundle has samples. */
int capture_record(struct rd_ctx *ctx, struct rd_source *source, struct rd_err *err);

/* Says what is being done, on a line that is written over; NULL takes it away. Only for somebody who looks at it. */
void capture_progress(const char *what, uint64_t sample, uint64_t samples);

#endif
