/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To be preloaded before a program that uses libibumad: a network that loses datagrams, and agents whose responses are damaged.
 * What is lost comes back to its sender when its time is over, as from the kernel.
 *
 *   MADLOSS_SMP=5       of a hundred subnet management datagrams, how many are lost, each way and retry included
 *   MADLOSS_GMP=5       the same for all others
 *   MADLOSS_GARBLE=5    of a hundred responses, how many have a damaged header
 *   MADLOSS_TRUNCATE=5  of a hundred responses, how many are cut short
 *   MADLOSS_SEED=7      other ones (1)
 *   MADLOSS_COUNT=f     at the end, how many were sent, lost, damaged and cut is written to this file
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOST_MAX 4096
#define MAD_SIZE 256
#define HEADER 24
#define CLASS_SUBNET 0x01
#define CLASS_DIRECTED 0x81
#define METHOD_RESPONSE 0x80

/* A datagram whose sender gets it back. */
struct lost {
	uint64_t due; /* ns; 0: free */
	int fd, agent;
	char umad[sizeof(struct ib_user_mad) + MAD_SIZE];
};

static struct {
	unsigned smp, gmp, garble, truncate; /* percent */
	uint64_t random;
	unsigned long sent, dropped, garbled, truncated;
	struct lost lost[LOST_MAX];
	int (*send)(int, int, void *, int, int, int);
	int (*recv)(int, void *, int *, int);
	int (*poll)(int, int);
} net;

static unsigned number(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void begin(void)
{
	net.smp = number("MADLOSS_SMP", 0);
	net.gmp = number("MADLOSS_GMP", 0);
	net.garble = number("MADLOSS_GARBLE", 0);
	net.truncate = number("MADLOSS_TRUNCATE", 0);
	net.random = number("MADLOSS_SEED", 1) * 0x9e3779b97f4a7c15u;
	*(void **)&net.send = dlsym(RTLD_NEXT, "umad_send");
	*(void **)&net.recv = dlsym(RTLD_NEXT, "umad_recv");
	*(void **)&net.poll = dlsym(RTLD_NEXT, "umad_poll");
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("MADLOSS_COUNT");
	FILE *file = path && net.sent ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%lu %lu %lu %lu\n", net.sent, net.dropped, net.garbled, net.truncated);
	fclose(file);
}

/* xorshift64 */
static unsigned random_below(unsigned n)
{
	net.random ^= net.random << 13;
	net.random ^= net.random >> 7;
	net.random ^= net.random << 17;
	return (unsigned)((net.random >> 11) % n);
}

static bool happens(unsigned percent)
{
	return random_below(100) < percent;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* All tries of the kernel are lost. */
static bool is_lost(const uint8_t *mad, int retries)
{
	unsigned percent = mad[1] == CLASS_DIRECTED || mad[1] == CLASS_SUBNET ? net.smp : net.gmp;

	for (int i = 0; i <= retries; i++)
		if (!happens(percent))
			return false;
	return true;
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	struct lost *lost = net.lost;

	net.sent++;
	if (length > MAD_SIZE || !is_lost(umad_get_mad(umad), retries))
		return net.send(fd, agent, umad, length, timeout_ms, retries);
	while (lost < net.lost + LOST_MAX && lost->due)
		lost++;
	if (lost == net.lost + LOST_MAX) {
		errno = ENOMEM;
		return -EIO;
	}
	net.dropped++;
	lost->due = now_ns() + (uint64_t)timeout_ms * 1000000 * (uint64_t)(retries + 1);
	lost->fd = fd;
	lost->agent = agent;
	memset(lost->umad, 0, sizeof(lost->umad));
	memcpy(lost->umad, umad, umad_size() + (size_t)length);
	return 0;
}

/* The one that comes back first; NULL: none. */
static struct lost *first_lost(int fd)
{
	struct lost *first = NULL;

	for (struct lost *lost = net.lost; lost < net.lost + LOST_MAX; lost++)
		if (lost->due && lost->fd == fd && (!first || lost->due < first->due))
			first = lost;
	return first;
}

/* Waits for a response, or for a lost datagram that comes back: then it is returned. */
static struct lost *wait_for(int fd, int timeout_ms, int *status)
{
	uint64_t end = timeout_ms < 0 ? UINT64_MAX : now_ns() + (uint64_t)timeout_ms * 1000000;

	for (;;) {
		struct lost *first = first_lost(fd);
		uint64_t now = now_ns(), until = first && first->due < end ? first->due : end;

		if (first && first->due <= now)
			return first;
		*status = net.poll(fd, until == UINT64_MAX ? -1 :
				       until <= now	   ? 0 :
							     (int)((until - now + 999999) / 1000000));
		if (*status == 0 || (*status != -ETIMEDOUT && *status != -ENODEV) || now >= end)
			return NULL;
	}
}

/* What a reader can tell: not the contents of a response whose header is right. */
static void damage(uint8_t *mad)
{
	switch (random_below(6)) {
	case 0:
		mad[0] = (uint8_t)(2 + random_below(200)); /* base version */
		break;
	case 1:
		mad[1] ^= 0x02; /* class */
		break;
	case 2:
		mad[2] = 0x7f; /* version of the class */
		break;
	case 3:
		mad[3] &= (uint8_t)~METHOD_RESPONSE;
		break;
	case 4:
		mad[17] ^= 0x40; /* attribute */
		break;
	default:
		for (int i = 0; i < MAD_SIZE; i++)
			mad[i] = (uint8_t)random_below(256);
	}
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	int status = 0, agent;
	struct lost *lost = wait_for(fd, timeout_ms, &status);

	if (lost) {
		memcpy(umad, lost->umad, sizeof(lost->umad));
		((struct ib_user_mad *)umad)->status = ETIMEDOUT;
		*length = HEADER;
		lost->due = 0;
		return lost->agent;
	}
	if (status < 0)
		return status;
	agent = net.recv(fd, umad, length, 0);
	if (agent < 0 || ((struct ib_user_mad *)umad)->status)
		return agent;
	if (happens(net.garble)) {
		net.garbled++;
		damage(umad_get_mad(umad));
	} else if (happens(net.truncate)) {
		net.truncated++;
		*length = (int)random_below(MAD_SIZE);
		memset((uint8_t *)umad_get_mad(umad) + *length, 0, MAD_SIZE - (size_t)*length);
	}
	return agent;
}

int umad_poll(int fd, int timeout_ms)
{
	int status = 0;

	return wait_for(fd, timeout_ms, &status) ? 0 : status;
}
