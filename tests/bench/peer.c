// SPDX-License-Identifier: GPL-2.0-or-later
#include "peer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRIPT "/tmp/bench-peer.bt"

struct peer {
	pid_t pid;
	FILE *out;
};

bool peer_takes(const struct rd_fn *fn)
{
	return !strchr(fn->name, '.') && !fn->ambiguous;
}

static bool write_script(const struct rd_fnset *set)
{
	FILE *file = fopen(SCRIPT, "w");
	size_t n = 0;

	if (!file)
		return false;
	fputs("BEGIN { printf(\"ready\\n\"); }\n", file);
	for (size_t i = 0; i < set->n_fns; i++)
		if (set->fns[i].selected)
			fprintf(file, "%skretprobe:%s", n++ ? ",\n" : "", set->fns[i].name);
	fputs("\n/(int32)retval < 0 && (int32)retval >= -4095/ { @[probe, (int32)retval] = count(); }\n", file);
	return !fclose(file) && n;
}

static void run_peer(int out)
{
	dup2(out, STDOUT_FILENO);
	setenv("BPFTRACE_MAX_PROBES", "4096", 1);
	execlp("bpftrace", "bpftrace", SCRIPT, NULL);
	_exit(127);
}

struct peer *peer_start(const struct rd_fnset *set)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	char line[256];
	int fds[2];

	if (!peer || !write_script(set) || pipe(fds))
		exit(1);
	peer->pid = fork();
	if (!peer->pid)
		run_peer(fds[1]);
	close(fds[1]);
	peer->out = fdopen(fds[0], "r");
	while (peer->out && fgets(line, sizeof(line), peer->out))
		if (!strcmp(line, "ready\n"))
			return peer;
	peer_stop(peer);
	return NULL;
}

void peer_stop(struct peer *peer)
{
	char line[256];

	kill(peer->pid, SIGINT);
	while (peer->out && fgets(line, sizeof(line), peer->out))
		;
	if (peer->out)
		fclose(peer->out);
	waitpid(peer->pid, NULL, 0);
	free(peer);
}
