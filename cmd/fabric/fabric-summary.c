/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: what repeated sweeps found, at their end. */
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "fabric-cmd.h"

#define LATCHES_SHOWN 20
#define SECOND UINT64_C(1000000000)
#define DAY (24 * 3600 * SECOND)

/* In the local time zone; with the date if the sweeps took a day or more. */
static void add_time(const struct rd_fabric_latches *latches, uint64_t ns, struct rd_buf *out)
{
	bool dated = latches->looks.last_ns >= latches->looks.first_ns + DAY;
	time_t seconds = (time_t)(ns / SECOND);
	char text[32];
	struct tm tm;

	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), dated ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &tm))
		rd_buf_str(out, text);
	else
		rd_buf_str(out, "?");
}

/* "07:12:03-07:14:10, 12 sweeps" */
static void add_looks(const struct rd_fabric_latches *latches, const struct rd_latched_looks *looks, struct rd_buf *out)
{
	add_time(latches, looks->first_ns, out);
	if (looks->n > 1) {
		rd_buf_str(out, "-");
		add_time(latches, looks->last_ns, out);
	}
	rd_buf_printf(out, ", %ju sweep%s", (uintmax_t)looks->n, looks->n == 1 ? "" : "s");
}

static void add_latch(const struct rd_fabric_latches *latches, const struct rd_fabric_latch *latch, struct rd_buf *out)
{
	rd_buf_printf(out, "%s ", rd_severity_name(latch->severity));
	add_looks(latches, &latch->looks, out);
	rd_buf_str(out, latch->current ? ", current: " : ", over: ");
	rd_buf_safe(out, latch->subject, strlen(latch->subject));
	rd_buf_printf(out, ": %s", latch->title);
	if (latch->observed) {
		rd_buf_str(out, "; ");
		rd_buf_safe(out, latch->observed, strlen(latch->observed));
	}
	rd_buf_printf(out, " [%s]\n", latch->id);
}

static void count_latches(const struct rd_fabric_latch *const *ranked, size_t n, size_t *critical, size_t *warning)
{
	*critical = *warning = 0;
	for (size_t i = 0; i < n; i++) {
		*critical += ranked[i]->severity == RD_SEV_CRITICAL;
		*warning += ranked[i]->severity == RD_SEV_WARNING;
	}
}

/* Findings that are alike have the same fix: it is printed once, below the last of them. */
static bool ends_run(const struct rd_fabric_latch *const *ranked, size_t i, size_t n)
{
	const char *fix = ranked[i]->fix, *next = i + 1 < n ? ranked[i + 1]->fix : NULL;

	return fix && (!next || strcmp(fix, next) != 0);
}

void fabric_summary(const struct fabric_session *s, struct rd_buf *out)
{
	const struct rd_fabric_latches *latches = &s->latches;
	_cleanup_free_ const struct rd_fabric_latch **ranked = rd_fabric_latches_ranked(latches);
	size_t critical, warning, shown = latches->n < LATCHES_SHOWN ? latches->n : LATCHES_SHOWN;

	if (latches->looks.n == 0)
		return;
	count_latches(ranked, latches->n, &critical, &warning);
	rd_buf_printf(out, "summary of ");
	add_looks(latches, &latches->looks, out);
	rd_buf_printf(out, ": exit status %d; found: %zu critical, %zu warning%s\n", s->worst, critical, warning,
		      warning == 1 ? "" : "s");
	for (size_t i = 0; i < shown; i++) {
		add_latch(latches, ranked[i], out);
		if (ends_run(ranked, i, shown))
			rd_render_fix((const char *const *)&ranked[i]->fix, 1, out);
	}
	if (shown < latches->n) {
		count_latches(ranked + shown, latches->n - shown, &critical, &warning);
		rd_buf_printf(out, "%zu more: %zu critical, %zu warning%s; --json lists all\n", latches->n - shown,
			      critical, warning, warning == 1 ? "" : "s");
	}
	if (latches->dropped)
		rd_buf_printf(out, "findings were dropped, as at most %d are remembered: %ju, counted at each sweep\n",
			      RD_LATCHES_MAX, (uintmax_t)latches->dropped);
	if (latches->failed.n) {
		rd_buf_str(out, "unknown ");
		add_looks(latches, &latches->failed, out);
		rd_buf_str(out, ": no port could be read\n");
	}
}
