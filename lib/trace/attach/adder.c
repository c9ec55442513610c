// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that adds hooks to a running trace. It passes their descriptors to the command, for the holder, and ends. */
#include <bpf/libbpf.h>
#include <poll.h>
#include <string.h>

#include "base/memory.h"
#include "trace/attach/holder-caps.h"
#include "trace/attach/holder.h"

/* Whether the command still runs. */
static int tick(void *arg, size_t done, size_t total)
{
	struct pollfd p = { .fd = *(int *)arg };

	(void)done, (void)total;
	return poll(&p, 1, 0) > 0;
}

/* Perf events share the templates, which count for them. */
static void keep_templates(struct rd_attach *attach)
{
	for (size_t i = 0; i < RD_HOOK_COUNT; i++) {
		struct bpf_program *prog = attach->programs.kprobe[i];
		int fd = prog && bpf_program__fd(prog) >= 0 ? dup(bpf_program__fd(prog)) : -1;

		if (fd >= 0)
			rd_attach_keep_prog(attach, fd);
	}
}

/* Passes the descriptors on, as many as fit at a time; with the first message the number of functions. */
static int send_hooks(int sock, const struct rd_attach *attach, const uint32_t functions[RD_BACKEND_COUNT])
{
	struct rd_msg msg = { .type = RD_MSG_HOOKS };
	int fds[RD_MSG_FDS], r = 0;

	memcpy(msg.functions, functions, sizeof(msg.functions));
	for (size_t i = 0; !r && i < attach->n_links + attach->n_progs;) {
		msg.a = msg.b = 0;
		for (; i < attach->n_links && msg.a < RD_MSG_FDS; i++)
			fds[msg.a++] = attach->links[i];
		for (; i >= attach->n_links && i < attach->n_links + attach->n_progs && msg.a + msg.b < RD_MSG_FDS; i++)
			fds[msg.a + msg.b++] = attach->progs[i - attach->n_links];
		r = rd_msg_send(sock, &msg, fds, msg.a + msg.b);
		memset(msg.functions, 0, sizeof(msg.functions));
	}
	return r;
}

static _Noreturn void add_hooks(int sock, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends)
{
	struct rd_attach attach = { .owner_map = -1 };
	struct rd_msg msg = { .type = RD_MSG_FAILED };
	uint32_t functions[RD_BACKEND_COUNT] = { 0 };
	_cleanup_free_ bool *had = rd_alloc(set->n_fns, sizeof(*had));
	struct rd_errlist notes = {};
	char *reason = NULL;
	int keep[RD_FD_COUNT + 1], r;

	memcpy(keep, opts->share, RD_FD_COUNT * sizeof(*keep));
	keep[RD_FD_COUNT] = sock;
	rd_holder_leave(keep, RD_ARRAY_SIZE(keep));
	for (size_t i = 0; i < set->n_fns; i++)
		had[i] = backends[i];
	r = rd_holder_caps_attach();
	if (r)
		rd_err_set(&msg.err, -r, "trace", "cannot prepare to hook functions");
	else
		r = rd_attach_open(&attach, set, opts, backends, &notes, &msg.err);
	attach.tick = tick;
	attach.tick_arg = &sock;
	if (!r)
		r = rd_attach_run(&attach, &reason, &msg.err);
	rd_msg_send_notes(sock, &notes);
	if (!r)
		keep_templates(&attach);
	for (size_t i = 0; !r && i < set->n_fns; i++)
		functions[backends[i]] += !had[i] && backends[i];
	if (!r && !send_hooks(sock, &attach, functions))
		msg.type = RD_MSG_ADDED;
	rd_msg_send(sock, &msg, NULL, 0);
	_exit(0);
}

/* The second process is not a child of the command, which does not wait for it: detaching may take long. */
pid_t rd_adder_start(int sock, struct rd_fnset *set, const bool *add, const struct rd_session_opts *opts,
		     uint8_t *backends)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!fork()) {
		for (size_t i = 0; i < set->n_fns; i++)
			set->fns[i].selected = add[i];
		add_hooks(sock, set, opts, backends);
	}
	_exit(0);
}
