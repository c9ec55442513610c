/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A port of this host for MADs that is shared with work in the background, and watched while responses are waited for. */
#include <malloc.h>
#include <pthread.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>

#include "collect/fabric/fabric.h"

/* ---- shared with work */

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

static int side_recv(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	struct side *side = (struct side *)mads;
	struct rd_background *background = side->background;
	uint64_t end = now_of(background) + (uint64_t)timeout_ms * MS;
	int ms, r;

	do {
		if (side->mark) {
			/* In the thread: lets the caller go on, if its time has come. */
			while (!background->cancelled && now_of(background) >= background->until_ns) {
				sem_post(&background->paused);
				wait_for(&background->resumed);
			}
		}
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

/* ---- watched */

#define CLASS_SM_DIRECTED 0x81
#define METHOD_GET_RESP 0x81
#define ATTR_NODE_INFO 0x11
#define NODE_GUID_AT (64 + 12) /* in NodeInfo, which begins at byte 64 of an SMP */
#define NODES_MAX ((size_t)1 << 17)

struct pulse_mads {
	struct rd_mads mads; /* first */
	struct rd_mads *port;
	struct rd_pulse pulse;
	uint64_t beat_ns; /* of the latest call; 0: none */
	bool stopped;
	void *guids; /* of tsearch */
	size_t nodes;
};

/* Counts each node once: a switch responds at each of its cables. */
static void count_node(struct pulse_mads *p, const struct rd_mad *mad)
{
	const uint8_t *data = mad->data;
	uint64_t *guid;
	void *found;

	if (mad->status || mad->size < RD_MAD_SIZE || data[1] != CLASS_SM_DIRECTED || data[3] != METHOD_GET_RESP ||
	    data[16] != 0 || data[17] != ATTR_NODE_INFO || p->nodes >= NODES_MAX)
		return;
	guid = rd_alloc(1, sizeof(*guid));
	memcpy(guid, data + NODE_GUID_AT, sizeof(*guid));
	found = tsearch(guid, &p->guids, rd_compare_u64);
	if (found && *(uint64_t **)found == guid)
		p->nodes++;
	else
		free(guid);
}

static void beat(struct pulse_mads *p)
{
	uint64_t now = p->port->ops->now(p->port);

	if (p->beat_ns && now - p->beat_ns < RD_PULSE_MS * UINT64_C(1000000))
		return;
	p->stopped |= !p->pulse.beat(p->pulse.arg, p->nodes);
	p->beat_ns = p->port->ops->now(p->port);
}

static int pulse_send(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err)
{
	struct pulse_mads *p = (struct pulse_mads *)mads;

	return p->port->ops->send(p->port, mad, timeout_ms, err);
}

static int pulse_recv(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	struct pulse_mads *p = (struct pulse_mads *)mads;

	do {
		int ms = timeout_ms < RD_PULSE_MS ? timeout_ms : RD_PULSE_MS, r;

		beat(p);
		if (p->stopped)
			return rd_err_set(err, ECANCELED, "network", "reading was ended");
		r = p->port->ops->recv(p->port, ret, ms, err);
		if (r == 1)
			count_node(p, ret);
		if (r != 0)
			return r;
		timeout_ms -= ms;
	} while (timeout_ms > 0);
	return 0;
}

static uint64_t pulse_now(struct rd_mads *mads)
{
	struct pulse_mads *p = (struct pulse_mads *)mads;

	return p->port->ops->now(p->port);
}

static void pulse_close(struct rd_mads *mads)
{
	struct pulse_mads *p = (struct pulse_mads *)mads;

	p->port->ops->close(p->port);
	tdestroy(p->guids, free);
	free(p);
}

struct rd_mads *rd_pulse_wrap(struct rd_mads *mads, const struct rd_pulse *pulse)
{
	static const struct rd_mads_ops ops = {
		.send = pulse_send, .recv = pulse_recv, .now = pulse_now, .close = pulse_close
	};
	struct pulse_mads *p = rd_alloc(1, sizeof(*p));

	p->mads.ops = &ops;
	p->port = mads;
	p->pulse = *pulse;
	return &p->mads;
}
