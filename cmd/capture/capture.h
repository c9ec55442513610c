/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_CAPTURE_H
#define RD_CAPTURE_H

#include "cmd/repeat.h"

struct capture_state {
	struct rd_repeat repeat;
	bool redact;		/* also set if there is a key */
	bool force;		/* replace an existing file */
	const char *redact_key; /* a file; NULL: a random key that is not kept */
	bool fabric;		/* also the counters of the InfiniBand fabric */
};

/* Calls `record` of every command with the recording `source`, once per sample: the count in ctx->state, or those of a bundle. */
int capture_record(struct rd_ctx *ctx, struct rd_source *source, struct rd_err *err);

/* Shows the current step on a line that is overwritten; NULL clears it. Only on a terminal. */
void capture_progress(const char *what, uint64_t sample, uint64_t samples);

#endif
