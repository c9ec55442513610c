/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that owns the hooks. The command forks it before the first hook exists and talks to it over a socket; when
 * the command is gone, however it went, the holder switches the programs off and takes the hooks away, for as long as that
 * may need. It does so, too, when it is asked to (SIGTERM), when nobody reads the events, and when the programs take too much
 * time: then it says why. When the holder is gone, the kernel does the same with its descriptors.
 */
#ifndef RD_TRACE_HOLDER_H
#define RD_TRACE_HOLDER_H

#include "trace/attach/attach.h"

#define RD_HOLDER_NAME "rdmadiag-hold"

enum rd_msg_type {
	RD_MSG_PROGRESS,   /* holder: done of total */
	RD_MSG_NOTE,	   /* holder: an error that does not end the trace */
	RD_MSG_FAILED,	   /* holder: an error that does; it ends */
	RD_MSG_READY,	   /* holder: attached; the file descriptors come along */
	RD_MSG_READING,	   /* command: events are being read */
	RD_MSG_ASK_COUNTS, /* command */
	RD_MSG_COUNTS,	   /* holder: what the kernel has counted */
	RD_MSG_LET_GO,	   /* holder: the hooks are being taken away, why, and what was counted; it ends */
	RD_MSG_STOP,	   /* command: take the hooks away */
};

struct rd_msg {
	enum rd_msg_type type;
	enum rd_let_go why;
	uint64_t a, b; /* done, total; offset of the switch in its map */
	struct rd_attach_counts counts;
	double seconds;
	struct rd_err err;
	char text[256]; /* reason */
};

/* One message, with descriptors on READY. Returns 0, -EPIPE when the other side has gone, or -errno. */
int rd_msg_send(int sock, const struct rd_msg *msg, const int *fds, size_t n_fds);
int rd_msg_recv(int sock, struct rd_msg *msg, int *fds, size_t n_fds, int timeout_ms);

/* The holder's whole life; never returns. `backends` is memory shared with the command: one byte per function. */
_Noreturn void rd_holder_run(int sock, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends);

#endif
