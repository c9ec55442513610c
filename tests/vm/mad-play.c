/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sweep over a real kernel's ib_umad: mad-play DEVICE GID GID-INDEX. One process answers performance management questions
 * on a soft-RoCE port, as the number of the port that is asked for says; another asks them through our own source and
 * engine, at the same device. Prints what became of them.
 *
 * Questions to port 1 are answered, to 2 never, to 3 twice, to 4 when the time is over, to 5 at the second try, to 6 refused,
 * to 7 with another attribute.
 */
#include "collect/fabric/fabric.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAD_SIZE 256
#define QP1_QKEY 0x80010000
#define TIMEOUT_MS 400
#define ASKS 256

static int answer(int fd, int agent, void *in, uint8_t gid_index)
{
	char out[sizeof(struct ib_user_mad) + MAD_SIZE] = { 0 };
	struct ib_mad_addr *from = umad_get_mad_addr(in), *to = umad_get_mad_addr(out);
	uint8_t *mad = umad_get_mad(out);

	memcpy(mad, umad_get_mad(in), MAD_SIZE);
	mad[3] = 0x81;
	mad[5] = mad[65] == 6 ? 0x0c : 0;
	mad[17] = mad[65] == 7 ? 0x15 : mad[17];
	umad_set_addr(out, ntohs(from->lid), 1, from->sl, (int)QP1_QKEY);
	to->grh_present = 1;
	to->gid_index = gid_index;
	to->hop_limit = 0xff;
	memcpy(to->gid, from->gid, sizeof(to->gid));
	return umad_send(fd, agent, out, MAD_SIZE, 0, 0);
}

/* Answers until it is killed. Writes a byte to `ready` when it can. */
static int serve(const char *device, uint8_t gid_index, int ready)
{
	char in[sizeof(struct ib_user_mad) + MAD_SIZE];
	long methods[16 / sizeof(long)] = { 1 << 1 };
	int fd = umad_open_port(device, 1);
	int agent = fd < 0 ? -1 : umad_register(fd, 4, 1, 0, methods);
	unsigned fifth = 0;

	if (agent < 0) {
		perror("cannot serve");
		return 1;
	}
	if (write(ready, "", 1) != 1)
		return 1;
	for (;;) {
		int length = MAD_SIZE;
		const uint8_t *mad = umad_get_mad(in);

		memset(in, 0, sizeof(in));
		if (umad_recv(fd, in, &length, -1) < 0)
			continue;
		switch (mad[65]) {
		case 2:
			continue;
		case 3:
			answer(fd, agent, in, gid_index);
			break;
		case 4:
			usleep(TIMEOUT_MS * 1500);
			break;
		case 5:
			if (fifth++ == 0)
				continue;
			break;
		}
		answer(fd, agent, in, gid_index);
	}
}

struct outcome {
	const struct rd_sweep_query *asks;
	unsigned told[8], errors[8];
	int error[8];
};

static void done(void *arg, const struct rd_sweep_result *answer)
{
	struct outcome *outcome = arg;
	unsigned select = outcome->asks[answer->query].port_select;

	outcome->told[select]++;
	if (answer->error) {
		outcome->errors[select]++;
		outcome->error[select] = answer->error;
	}
}

static int sweep(const char *name, struct rd_mads *mads, const uint8_t *gid, uint8_t index, const uint8_t *selects,
		 size_t n, unsigned window)
{
	struct rd_sweep_query asks[ASKS] = { 0 };
	struct rd_sweep_limits limits = { .window = window, .per_lid = window, .timeout_ms = TIMEOUT_MS, .retries = 1 };
	struct outcome outcome = { .asks = asks };
	struct rd_sweep_callbacks calls = { .done = done, .arg = &outcome };
	struct rd_sweep_stats stats;
	struct rd_err err = { 0 };

	for (size_t i = 0; i < n; i++) {
		asks[i] = (struct rd_sweep_query){ .mad_class = 4, .attribute = 0x12, .port_select = selects[i] };
		asks[i].dest.grh = true;
		asks[i].dest.gid_index = index;
		memcpy(asks[i].dest.gid, gid, 16);
		/* Each an agent of its own: what is silent is to hold up itself only. */
		asks[i].lid = i;
	}
	if (rd_sweep_run(mads, &limits, asks, n, n, &calls, &stats, &err) < 0) {
		printf("%s: %s: %s: %s\n", name, err.object, err.message, strerror(err.code));
		return 1;
	}
	printf("%s: sent %llu received %llu retries %llu timeouts %llu stray %llu malformed %llu refused %llu\n", name,
	       (unsigned long long)stats.sent, (unsigned long long)stats.received, (unsigned long long)stats.retries,
	       (unsigned long long)stats.timeouts, (unsigned long long)stats.stray, (unsigned long long)stats.malformed,
	       (unsigned long long)stats.refused);
	for (unsigned i = 0; i < 8; i++)
		if (outcome.told[i])
			printf("%s: port %u: %u asked, %u without, %s\n", name, i, outcome.told[i], outcome.errors[i],
			       outcome.errors[i] ? rd_errno_name(outcome.error[i]) : "-");
	return 0;
}

int main(int argc, char **argv)
{
	static const uint8_t mixed[] = { 1, 2, 3, 5, 6, 7, 1 }, late[] = { 4 }, one[] = { 1 };
	uint8_t gid[16], index, many[ASKS];
	struct rd_mads *mads = NULL;
	struct rd_err err = { 0 };
	int ready[2], r;
	pid_t server;
	char byte;

	if (argc != 4 || inet_pton(AF_INET6, argv[2], gid) != 1 || pipe(ready) < 0)
		return 2;
	index = (uint8_t)strtoul(argv[3], NULL, 10);
	memset(many, 1, sizeof(many));
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(serve(argv[1], index, ready[1]));
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return 2;
	if (rd_umad_open(argv[1], 1, &mads, &err) < 0) {
		printf("%s: %s: %s\n", err.object, err.message, strerror(err.code));
		return 2;
	}
	r = sweep("many", mads, gid, index, many, sizeof(many), 64);
	r |= sweep("mixed", mads, gid, index, mixed, sizeof(mixed), 16);
	r |= sweep("late", mads, gid, index, late, sizeof(late), 16);
	r |= sweep("after", mads, gid, index, one, sizeof(one), 16);
	rd_mads_closep(&mads);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return r;
}
