/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a trace in the command. Private to session.c and session-extend.c. */
#ifndef RD_TRACE_SESSION_STATE_H
#define RD_TRACE_SESSION_STATE_H

#include "trace/attach/holder.h"

/* Hooks that are being added: lib/trace/attach/adder.c. */
struct adding {
	int sock;	   /* -1: none are */
	uint8_t *backends; /* shared with the process */
	bool *add;
	size_t n_fns;
	struct rd_errlist notes;
};

struct rd_session {
	int sock, poll; /* to the holder; epoll of all sockets */
	pid_t holder;
	struct adding adding;
	int fds[RD_FD_COUNT];
	volatile uint8_t *page;	    /* the map with the on switch, shared with the programs; NULL: not mapped */
	size_t switch_at, loads_at; /* offsets in it; loads_at: of struct rd_module_loads, SIZE_MAX: none */
	bool stopped;
	uint64_t reading_sent; /* CLOCK_MONOTONIC, ns: time of the last RD_MSG_READING */
	bool counted;
	struct rd_attach_counts counts; /* last counts from the holder */
	enum rd_early_end early_end;
	struct rd_err why;
	struct rd_session_info info;
};

/* session-extend.c. Sets .backend of the functions with add[i] (NULL: of all); returns how many have hooks. */
size_t rd_session_take_backends(struct rd_session *session, struct rd_fnset *set, const uint8_t *backends,
				const bool *add);
/* rd_session_holder_fd becomes readable with this socket. -errno. */
int rd_session_watch(const struct rd_session *session, int sock);
/* Cancels, if hooks are being added; else does nothing. */
void rd_session_adding_end(struct rd_session *session);

#endif
