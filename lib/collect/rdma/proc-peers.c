// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/rdma/proc-peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

/* "10.0.0.2 3": the address into `ip`; false: another line. */
static bool take_line(const char *line, uint8_t ip[16], uint64_t *connections)
{
	size_t n = strcspn(line, " \n");
	char text[INET6_ADDRSTRLEN];
	const char *at = line + n;

	if (*at != ' ' || n >= sizeof(text))
		return false;
	memcpy(text, line, n);
	text[n] = '\0';
	at++;
	memset(ip, 0, 10);
	memset(ip + 10, 0xff, 2);
	return (inet_pton(AF_INET, text, ip + 12) == 1 || inet_pton(AF_INET6, text, ip) == 1) &&
	       rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, connections) == 0;
}

/* Keeps those with most connections, in that order. */
static void insert(struct rd_proc_peers *ret, uint64_t counts[RD_PROC_PEERS], const uint8_t ip[16], uint64_t count)
{
	unsigned at = ret->n;

	while (at > 0 && counts[at - 1] < count)
		at--;
	if (ret->n == RD_PROC_PEERS)
		ret->more++;
	else
		ret->n++;
	if (at == RD_PROC_PEERS)
		return;
	for (unsigned i = ret->n - 1; i > at; i--) {
		memcpy(ret->ip[i], ret->ip[i - 1], 16);
		counts[i] = counts[i - 1];
	}
	memcpy(ret->ip[at], ip, 16);
	counts[at] = count;
}

void rd_proc_peers_take(const char *text, struct rd_proc_peers *ret)
{
	uint64_t counts[RD_PROC_PEERS] = { 0 }, count, more = 0;
	uint8_t ip[16];

	*ret = (struct rd_proc_peers){ 0 };
	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *at = line + 1;

		if (*line == '+' && rd_take_uint(&at, RD_DECIMAL, UINT32_MAX, &count) == 0)
			more = count;
		else if (take_line(line, ip, &count))
			insert(ret, counts, ip, count);
	}
	ret->more += more;
}

int rd_collect_proc_peers(struct rd_source *src, struct rd_proc *proc)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	char path[64];
	int r;

	if (proc->peers)
		return 0;
	snprintf(path, sizeof(path), RD_SOURCE_TCP "/%u", proc->pid);
	r = rd_read_file(src, path, &text, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	proc->peers = rd_alloc(1, sizeof(*proc->peers));
	rd_proc_peers_take((const char *)text.data, proc->peers);
	return 0;
}
