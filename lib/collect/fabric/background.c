/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/fabric/background.h"

#include "base/memory.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>

/* Of a datagram that the work sent. */
#define WORK_TID (RD_MAD_TID_MAX + 1u)
/* Datagrams kept for one side. It has no more in flight. */
#define KEPT_MAX 4096
#define MS UINT64_C(1000000)

/* What one side sees of the port. */
struct side {
	struct rd_mads mads; /* first */
	struct rd_background *background;
	uint32_t mark; /* in the transaction IDs of its datagrams */
	/* Received by the other side: kept[first] to kept[n - 1]. */
	struct rd_mad *kept;
	size_t first, n, cap;
};

struct rd_background {
	struct rd_mads *port;
	struct side caller, work;
	rd_background_fn *run; /* NULL: nothing is begun */
	void *arg;
	pthread_t thread;
	sem_t resumed, paused;
	uint64_t until_ns; /* clock of the port: when the work has to pause */
	bool cancelled, ended;
	int result;
	struct rd_err err;
};

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0 && errno == EINTR)
		;
}

static int side_send(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err)
{
	struct side *side = (struct side *)mads;
	struct rd_mads *port = side->background->port;
	struct rd_mad marked = *mad;

	marked.tid |= side->mark;
	return port->ops->send(port, &marked, timeout_ms, err);
}

/* What is too much is as lost. */
static void keep(struct side *side, const struct rd_mad *mad)
{
	if (side->first == side->n)
		side->first = side->n = 0;
	if (side->n < KEPT_MAX)
		*RD_ADD(side->kept, side->n, side->cap) = *mad;
}

/* Receives what was kept, or a datagram of the port. 1, 0 on timeout or after one of the other side, -errno. */
static int receive(struct side *side, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	struct rd_background *background = side->background;
	int r;

	if (side->first < side->n) {
		*ret = side->kept[side->first++];
		return 1;
	}
	r = background->port->ops->recv(background->port, ret, timeout_ms, err);
	if (r != 1)
		return r;
	if ((ret->tid & WORK_TID) != side->mark) {
		ret->tid &= RD_MAD_TID_MAX;
		keep(side->mark ? &background->caller : &background->work, ret);
		return 0;
	}
	ret->tid &= RD_MAD_TID_MAX;
	return 1;
}

static uint64_t now_of(struct rd_background *background)
{
	return background->port->ops->now(background->port);
}

static int ms_until(struct rd_background *background, uint64_t ns)
{
	uint64_t now = now_of(background);

	return now >= ns ? 0 : (int)((ns - now + MS - 1) / MS);
}

/* In the thread: lets the caller go on, if its time has come. */
static void pause_work(struct rd_background *background)
{
	while (!background->cancelled && now_of(background) >= background->until_ns) {
		sem_post(&background->paused);
		wait_for(&background->resumed);
	}
}

static int side_recv(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	struct side *side = (struct side *)mads;
	struct rd_background *background = side->background;
	uint64_t end = now_of(background) + (uint64_t)timeout_ms * MS;
	int ms, r;

	do {
		if (side->mark)
			pause_work(background);
		if (side->mark && background->cancelled)
			return rd_err_set(err, ECANCELED, "network", "reading was ended");
		ms = ms_until(background, end);
		if (side->mark && ms > ms_until(background, background->until_ns))
			r = receive(side, ret, ms_until(background, background->until_ns), err);
		else
			r = receive(side, ret, ms, err);
	} while (r == 0 && ms > 0);
	return r;
}

static uint64_t side_now(struct rd_mads *mads)
{
	return now_of(((struct side *)mads)->background);
}

/* The port is closed by rd_background_close. */
static void side_close(struct rd_mads *mads)
{
	(void)mads;
}

static void side_init(struct side *side, struct rd_background *background, uint32_t mark)
{
	static const struct rd_mads_ops ops = {
		.send = side_send, .recv = side_recv, .now = side_now, .close = side_close
	};

	side->mads.ops = &ops;
	side->background = background;
	side->mark = mark;
}

struct rd_background *rd_background_open(struct rd_mads *mads)
{
	struct rd_background *background = rd_alloc(1, sizeof(*background));

	background->port = mads;
	side_init(&background->caller, background, 0);
	side_init(&background->work, background, WORK_TID);
	sem_init(&background->resumed, 0, 0);
	sem_init(&background->paused, 0, 0);
	return background;
}

void rd_background_close(struct rd_background *background)
{
	if (rd_background_begun(background))
		rd_background_finish(background, NULL);
	background->port->ops->close(background->port);
	sem_destroy(&background->resumed);
	sem_destroy(&background->paused);
	RD_FREE(background->caller.kept, background->work.kept, background);
}

struct rd_mads *rd_background_port(struct rd_background *background)
{
	return &background->caller.mads;
}

bool rd_background_begun(const struct rd_background *background)
{
	return background->run;
}

static void *run_work(void *arg)
{
	struct rd_background *background = arg;

	wait_for(&background->resumed);
	background->result = background->run(background->arg, &background->work.mads, &background->err);
	background->ended = true;
	sem_post(&background->paused);
	return NULL;
}

int rd_background_begin(struct rd_background *background, rd_background_fn *work, void *arg, struct rd_err *err)
{
	sigset_t all, before;
	int r;

	background->run = work;
	background->arg = arg;
	background->cancelled = background->ended = false;
	background->err = (struct rd_err){ 0 };
	/* Threads of which one runs at a time can share their free memory. */
	mallopt(M_ARENA_MAX, 1);
	/* Signals are for the caller. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&background->thread, NULL, run_work, background);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!r)
		return 0;
	background->run = NULL;
	return rd_err_set(err, r, "network", "cannot start a thread to discover it");
}

static void resume(struct rd_background *background, uint64_t until_ns)
{
	background->until_ns = until_ns;
	sem_post(&background->resumed);
	wait_for(&background->paused);
}

bool rd_background_continue(struct rd_background *background, unsigned ms)
{
	if (!background->ended)
		resume(background, now_of(background) + ms * MS);
	return background->ended;
}

int rd_background_finish(struct rd_background *background, struct rd_err *err)
{
	if (!background->ended) {
		background->cancelled = true;
		resume(background, 0);
	}
	pthread_join(background->thread, NULL);
	background->run = NULL;
	/* Responses that come later belong to nothing. */
	background->work.first = background->work.n = 0;
	if (background->result < 0 && err)
		*err = background->err;
	return background->result;
}
