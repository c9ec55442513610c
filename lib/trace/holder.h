/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that owns the hooks. The command forks it before the first hook exists and talks to it over a socket; when
 * the command is gone, however it went, the holder switches the programs off and takes the hooks away, for as long as that
 * may need. When the holder is gone, the kernel does the same with its descriptors.
 */
#ifndef RD_TRACE_HOLDER_H
#define RD_TRACE_HOLDER_H

#include "trace/attach.h"

enum rd_msg_type {
	RD_MSG_PROGRESS,   /* holder: done of total */
	RD_MSG_NOTE,	   /* holder: an error that does not end the trace */
	RD_MSG_FAILED,	   /* holder: an error that does; it ends */
	RD_MSG_READY,	   /* holder: attached; the file descriptors come along */
	RD_MSG_ASK_MISSED, /* command */
	RD_MSG_MISSED,	   /* holder: how many, and whether that is all */
	RD_MSG_STOP,	   /* command: take the hooks away */
};

struct rd_msg {
	enum rd_msg_type type;
	bool complete;
	uint64_t a, b; /* done, total; missed; offset of the switch in its map */
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
