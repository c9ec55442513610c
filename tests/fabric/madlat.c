/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To be preloaded before a program that uses libibumad: gives answers to datagrams a latency, and lets LIDs fall silent.
 * Each answer is handed out no earlier than its time after its request, requests independent of each other; the
 * simulator behind is given a few at a time, because its sockets hold few.
 *
 *   MADLAT_US=244    microseconds from request to answer
 *   MADLAT_WALK_US=9 the same for directed-route datagrams
 *   MADLAT_GATE=f    while this file is there, who asks for the info of a node over a directed route gets no answer, so that no
 *                    discovery ends; once one waits, f.waits is made
 *   MADLAT_DEAD=5,9  LIDs that never answer: the sender gets its datagram back when its time is over, as from the kernel
 *   MADLAT_DEAD_FROM=f   not before this file is there; set MADLAT_US as well
 *   MADLAT_DUP=7     LIDs that answer twice
 *   MADLAT_COUNT=f   at the end, the number of datagrams sent is written to this file
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MADS 4096
#define INSIDE 8
#define MAD_SIZE 256
#define CLASS_DIRECTED 0x81
#define ATTR_NODE_INFO 0x11

enum phase { FREE, WAITING, INSIDE_SIM, ANSWERED };

/* A datagram from its sending to its answer. */
struct held {
	enum phase phase;
	int fd, agent;
	uint32_t tid;
	bool twice, gated;
	int length;
	uint64_t due; /* ns: when its answer, or its failure, may be handed out */
	uint64_t order;
	char *umad;
};

static struct {
	struct held held[MADS];
	size_t top; /* all above are free */
	size_t inside;
	uint64_t orders, latency, walk_latency, sent;
	const char *gate, *dead_from;
	bool dead[65536], dup[65536];
	int (*send)(int, int, void *, int, int, int);
	int (*recv)(int, void *, int *, int);
	int (*poll)(int, int);
} lat;

static void take_list(const char *name, bool *ret)
{
	const char *at = getenv(name);

	while (at && *at) {
		char *end;
		unsigned long lid = strtoul(at, &end, 10);

		if (lid < 65536)
			ret[lid] = true;
		at = *end ? end + 1 : end;
	}
}

__attribute__((constructor)) static void begin(void)
{
	const char *us = getenv("MADLAT_US"), *walk_us = getenv("MADLAT_WALK_US");

	lat.latency = us ? strtoull(us, NULL, 10) * 1000 : 0;
	lat.walk_latency = walk_us ? strtoull(walk_us, NULL, 10) * 1000 : 0;
	lat.dead_from = getenv("MADLAT_DEAD_FROM");
	lat.gate = getenv("MADLAT_GATE");
	/* What is held and what is not would not go together. */
	if (lat.gate) {
		lat.latency += !lat.latency;
		lat.walk_latency += !lat.walk_latency;
	}
	take_list("MADLAT_DEAD", lat.dead);
	take_list("MADLAT_DUP", lat.dup);
	*(void **)&lat.send = dlsym(RTLD_NEXT, "umad_send");
	*(void **)&lat.recv = dlsym(RTLD_NEXT, "umad_recv");
	*(void **)&lat.poll = dlsym(RTLD_NEXT, "umad_poll");
	prctl(PR_SET_TIMERSLACK, 1);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("MADLAT_COUNT");
	FILE *file = path && lat.sent ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%llu\n", (unsigned long long)lat.sent);
	fclose(file);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint32_t tid_of(void *umad)
{
	const uint8_t *mad = umad_get_mad(umad);

	return (uint32_t)mad[12] << 24 | (uint32_t)mad[13] << 16 | (uint32_t)mad[14] << 8 | mad[15];
}

/* Lets in as many as the simulator bears, in the order they were sent. */
static void let_in(void)
{
	while (lat.inside < INSIDE) {
		struct held *next = NULL;

		for (size_t i = 0; i < lat.top; i++)
			if (lat.held[i].phase == WAITING && (!next || lat.held[i].order < next->order))
				next = &lat.held[i];
		if (!next)
			return;
		next->phase = INSIDE_SIM;
		lat.inside++;
		lat.send(next->fd, next->agent, next->umad, next->length, 2000, 0);
	}
}

/* Takes what the simulator has answered. */
static void take_answers(int fd, int wait_ms)
{
	char *umad = malloc(umad_size() + MAD_SIZE);

	while (lat.inside && lat.poll(fd, wait_ms) == 0) {
		int length = MAD_SIZE;
		int agent = lat.recv(fd, umad, &length, 0);
		uint32_t tid = tid_of(umad);

		wait_ms = 0;
		if (agent < 0)
			break;
		for (size_t i = 0; i < lat.top; i++) {
			struct held *held = &lat.held[i];

			if (held->phase != INSIDE_SIM || held->tid != tid || held->fd != fd)
				continue;
			memcpy(held->umad, umad, umad_size() + MAD_SIZE);
			held->phase = ANSWERED;
			held->agent = agent;
			held->length = length;
			lat.inside--;
			break;
		}
		let_in();
	}
	free(umad);
}

/* Whether the gate is closed; who waits before it says so. */
static bool is_held_back(void)
{
	char path[4096];
	FILE *file;

	if (!lat.gate || access(lat.gate, F_OK) < 0)
		return false;
	snprintf(path, sizeof(path), "%s.waits", lat.gate);
	file = fopen(path, "w");
	if (file)
		fclose(file);
	return true;
}

/* The answer that is due first; NULL: there is none. */
static struct held *first_due(int fd)
{
	struct held *first = NULL;

	for (size_t i = 0; i < lat.top; i++)
		if (lat.held[i].phase == ANSWERED && lat.held[i].fd == fd && (!first || lat.held[i].due < first->due) &&
		    !(lat.held[i].gated && is_held_back()))
			first = &lat.held[i];
	return first;
}

/* Waits until an answer may be handed out; NULL: none within the time. */
static struct held *wait_for(int fd, int timeout_ms)
{
	uint64_t end = timeout_ms < 0 ? UINT64_MAX : now_ns() + (uint64_t)timeout_ms * 1000000;

	for (;;) {
		struct held *first;
		uint64_t now, until;

		let_in();
		take_answers(fd, 0);
		first = first_due(fd);
		now = now_ns();
		if (first && first->due <= now)
			return first;
		if (now >= end)
			return NULL;
		until = first && first->due < end ? first->due : end;
		if (lat.inside) {
			/* The simulator answers in some ten microseconds; the library below counts milliseconds. */
			if (until - now > 2000000)
				take_answers(fd, 1);
		} else if (until != UINT64_MAX) {
			struct timespec ts = { 0, (long)((until - now) % 1000000000u) };

			ts.tv_sec = (time_t)((until - now) / 1000000000u);
			/* Nobody says when the gate opens. */
			if (lat.gate && (ts.tv_sec || ts.tv_nsec > 10000000))
				ts = (struct timespec){ 0, 10000000 };
			nanosleep(&ts, NULL);
		}
	}
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	const uint8_t *mad = umad_get_mad(umad);
	uint16_t lid = be16toh(umad_get_mad_addr(umad)->lid);
	bool directed = mad[1] == CLASS_DIRECTED; /* its LID is the permissive one */
	bool gated = lat.gate && directed && mad[16] == 0 && mad[17] == ATTR_NODE_INFO;
	uint64_t latency = directed ? lat.walk_latency : lat.latency;
	struct held *held = lat.held;

	lat.sent++;
	if ((!latency && (directed || (!lat.dead[lid] && !lat.dup[lid]))) || length > MAD_SIZE)
		return lat.send(fd, agent, umad, length, timeout_ms, retries);
	while (held < lat.held + MADS && held->phase != FREE)
		held++;
	if (held == lat.held + MADS) {
		errno = ENOMEM;
		return -EIO;
	}
	if ((size_t)(held - lat.held) >= lat.top)
		lat.top = (size_t)(held - lat.held) + 1;
	if (!held->umad)
		held->umad = malloc(umad_size() + MAD_SIZE);
	memcpy(held->umad, umad, umad_size() + (size_t)length);
	*held = (struct held){ WAITING,	     fd,	agent,	tid_of(umad),
			       lat.dup[lid], gated,	length, now_ns() + latency,
			       ++lat.orders, held->umad };
	if (lat.dead[lid] && (!lat.dead_from || access(lat.dead_from, F_OK) == 0)) {
		held->due = now_ns() + (uint64_t)timeout_ms * 1000000 * (uint64_t)(retries + 1);
		held->phase = ANSWERED;
		held->length = 24;
		((struct ib_user_mad *)held->umad)->status = ETIMEDOUT;
	}
	let_in();
	return 0;
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	struct held *held;
	bool any = false;
	int agent;

	for (size_t i = 0; i < lat.top; i++)
		any |= lat.held[i].phase != FREE && lat.held[i].fd == fd;
	if (!any)
		return lat.recv(fd, umad, length, timeout_ms);
	held = wait_for(fd, timeout_ms);
	if (!held)
		return -ETIMEDOUT;
	memcpy(umad, held->umad, umad_size() + MAD_SIZE);
	*length = held->length;
	agent = held->agent;
	if (held->twice)
		held->twice = false;
	else
		held->phase = FREE;
	while (lat.top && lat.held[lat.top - 1].phase == FREE)
		lat.top--;
	return agent;
}

int umad_poll(int fd, int timeout_ms)
{
	for (size_t i = 0; i < lat.top; i++)
		if (lat.held[i].phase != FREE && lat.held[i].fd == fd)
			return wait_for(fd, timeout_ms) ? 0 : -ETIMEDOUT;
	return lat.poll(fd, timeout_ms);
}
