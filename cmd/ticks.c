/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "repeat.h"

#include <signal.h>
#include <time.h>

#include "source/opener/child.h"

#define SECOND 1000000000u
#define MEANWHILE_NS 100000000u
/* A difference of more than this many intervals means that the clock was set, or the machine was suspended. */
#define JUMP 1000
#define SET_NS 200000000 /* a smaller change is of NTP */

/* How far the wall clock was set, or a suspended machine slept, since ticks->offset_ns was noted. */
static uint64_t was_set_ns(const struct rd_ticks *ticks, int64_t offset_ns)
{
	return offset_ns > ticks->offset_ns ? (uint64_t)(offset_ns - ticks->offset_ns) :
					      (uint64_t)(ticks->offset_ns - offset_ns);
}

static int64_t offset_ns(void)
{
	return (int64_t)(rd_clock_ns(CLOCK_REALTIME) - rd_clock_ns(CLOCK_MONOTONIC));
}

/* The next tick by the wall clock as it is now. After it was set, ticks start over. */
static uint64_t next_tick(struct rd_ticks *ticks)
{
	int64_t offset = offset_ns();

	if (was_set_ns(ticks, offset) > SET_NS)
		ticks->next_ns = 0;
	ticks->offset_ns = offset;
	return rd_ticks_next(ticks, rd_clock_ns(CLOCK_REALTIME));
}

void rd_ticks_init(struct rd_ticks *ticks, double seconds)
{
	*ticks = (struct rd_ticks){ .interval_ns = (uint64_t)(seconds * SECOND + 0.5) };
}

uint64_t rd_ticks_next(struct rd_ticks *ticks, uint64_t now)
{
	uint64_t step = ticks->interval_ns, first = (now / step + 1) * step;

	if (!ticks->next_ns || now + JUMP * step < ticks->next_ns || now > ticks->next_ns + JUMP * step) {
		ticks->next_ns = first;
		return first;
	}
	ticks->next_ns += step;
	if (ticks->next_ns <= now) {
		ticks->missed += (first - ticks->next_ns) / step;
		ticks->next_ns = first;
	} else if (ticks->next_ns > first + step) {
		ticks->next_ns = first; /* set back a little */
	}
	return ticks->next_ns;
}

void rd_ticks_advance(struct rd_ticks *ticks)
{
	next_tick(ticks);
}

int rd_ticks_left_ms(const struct rd_ticks *ticks)
{
	uint64_t now = rd_clock_ns(CLOCK_REALTIME), left;

	if (!ticks->next_ns || now >= ticks->next_ns || was_set_ns(ticks, offset_ns()) > SET_NS)
		return 0;
	left = (ticks->next_ns - now + 999999) / 1000000;
	return left > 3600000 ? 3600000 : (int)left;
}

const char *rd_clock(uint64_t realtime_ns, char *buf)
{
	time_t seconds = (time_t)(realtime_ns / SECOND);
	struct tm tm;

	if (!seconds || !localtime_r(&seconds, &tm) || !strftime(buf, RD_CLOCK_SIZE, "%H:%M:%S", &tm))
		strcpy(buf, "-");
	return buf;
}

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = 1;
}

void rd_ticks_catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop, .sa_flags = SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!rd_hangup_ignored())
		sigaction(SIGHUP, &action, NULL);
}

bool rd_ticks_stopped(void)
{
	return stopped;
}

/* By the monotonic clock: the wall clock may be set back meanwhile. */
static int sleep_until(uint64_t ns)
{
	const struct timespec until = { .tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND) };

	return stopped || clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0 ? -EINTR : 0;
}

int rd_ticks_wait_doing(struct rd_ticks *ticks, bool (*meanwhile)(void *arg, unsigned ms), void *arg)
{
	uint64_t next = next_tick(ticks) - (uint64_t)ticks->offset_ns, now;

	for (now = rd_clock_ns(CLOCK_MONOTONIC); meanwhile && !stopped && now < next;
	     now = rd_clock_ns(CLOCK_MONOTONIC)) {
		uint64_t ns = next - now < MEANWHILE_NS ? next - now : MEANWHILE_NS;

		if (!meanwhile(arg, (unsigned)(ns / 1000000)) && sleep_until(now + ns) < 0)
			return -EINTR;
	}
	if (sleep_until(next) < 0)
		return -EINTR;
	now = rd_clock_ns(CLOCK_MONOTONIC);
	ticks->late_ns = now > next ? now - next : 0;
	return 0;
}

int rd_ticks_wait(struct rd_ticks *ticks)
{
	return rd_ticks_wait_doing(ticks, NULL, NULL);
}
