/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the frequency of this machine's time stamp counter in kHz, which is that of the virtual machines, too. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define SECOND 1000000000ull

struct moment {
	uint64_t ns, ticks;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* Of many readings the one between the two clocks of which the least time passed. */
static struct moment read_both(void)
{
	struct moment best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t before = __rdtsc(), ns = now_ns(), after = __rdtsc();

		if (after - before < least) {
			least = after - before;
			best = (struct moment){ ns, before + least / 2 };
		}
	}
	return best;
}

int main(void)
{
	struct moment first = read_both(), last;

	nanosleep(&(struct timespec){ .tv_nsec = 200 * 1000 * 1000 }, NULL);
	last = read_both();
	printf("%.0f\n", (double)(last.ticks - first.ticks) * 1e6 / (double)(last.ns - first.ns));
	return 0;
}
