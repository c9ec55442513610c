/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "repeat.h"

#include "privileges.h"

bool rd_repeat_next(struct rd_repeat *repeat)
{
	if (repeat->count && repeat->looks >= repeat->count)
		return false;
	if (repeat->looks++)
		rd_privileges_renew();
	rd_ticks_advance(&repeat->ticks);
	return true;
}

int rd_repeat(struct rd_ctx *ctx, struct rd_repeat *repeat, double seconds, rd_look_fn *look, void *arg)
{
	int status;

	if (rd_repeat_wanted(repeat)) {
		ctx->lines = true;
		rd_ticks_catch_signals();
	}
	rd_repeat_begin(repeat, seconds);
	do {
		ctx->printed = false;
		if (repeat->looks)
			rd_privileges_renew();
		status = look(ctx, arg);
		repeat->looks++;
	} while (status >= 0 && rd_repeat_wanted(repeat) && repeat->looks != repeat->count && !rd_out_failure() &&
		 (ctx->globals.from ? rd_source_bundle_next(ctx->source, NULL) :
				      rd_ticks_wait_doing(&repeat->ticks, repeat->meanwhile, arg)) == 0);
	return status < 0 ? RD_EXIT_UNKNOWN : status;
}

void rd_repeat_head(const struct rd_ctx *ctx, const struct rd_repeat *repeat, uint64_t realtime_ns)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	char when[RD_CLOCK_SIZE];

	if (!rd_repeat_wanted(repeat) || ctx->globals.json || ctx->globals.rows_only || rd_metrics_wanted(ctx))
		return;
	rd_buf_printf(&out, "%s%s\n", repeat->looks ? "\n" : "", rd_clock(realtime_ns, when));
	rd_out(&out);
}
