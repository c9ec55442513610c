/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traced command: the user it runs as, what it inherits, and, if it has its own session, the terminal between it and us. */
#ifndef RD_CMD_TRACE_CHILD_H
#define RD_CMD_TRACE_CHILD_H

#include <poll.h>
#include <pwd.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include "base/err.h"

/* A user of this host, as in passwd(5). */
struct trace_user {
	struct passwd entry;
	char *text; /* what `entry` points into; NULL: no user */
	gid_t *groups;
	int n_groups;
};

/* trace-user.c: by name, or, if no user has that name, by decimal user ID. -errno with err filled. */
int trace_user_find(const char *name, struct trace_user *ret, struct rd_err *err);
void trace_user_deinit(struct trace_user *user);
/* For the process that is about to execute the command: sets ids, groups and variables of the user, drops all capabilities
 * unless the user is root and, unless `keep_privs`, sets no_new_privs. Opens nothing. 0 or -errno. */
int trace_user_become(const struct trace_user *user, bool keep_privs);

struct trace_command {
	char **argv;
	const struct trace_user *user; /* NULL: our own */
	bool keep_privs;	       /* setuid programs and file capabilities still work */
	bool session;		       /* its own session, on ptys where our input and output are terminals */
};

struct trace_tty;

struct trace_child {
	pid_t pid;  /* the command, or the monitor of its session; 0: none */
	int go;	    /* closed: the child ends; a byte: it executes the command */
	int failed; /* carries the reason why the command could not be executed */
	bool ended;
	int status;	       /* as of waitpid */
	struct trace_tty *tty; /* NULL: the command shares our session */
};

#define TRACE_CHILD_INIT               \
	{                              \
		.go = -1, .failed = -1 \
	}

/* trace-child.c: -errno with err filled. The command is not executed before trace_child_go. If it has its own session,
 * trace_child_go may make our terminal raw, and all signals meant for trace_child_signal must be blocked by then. */
int trace_child_start(struct trace_child *child, const struct trace_command *command, struct rd_err *err);
int trace_child_go(struct trace_child *child, const char *name, struct rd_err *err);
/* Reaps all children that have ended, including the command. */
void trace_child_reap(struct trace_child *child);
/* Handles a signal that we received while the command runs. */
void trace_child_signal(struct trace_child *child, const struct signalfd_siginfo *info);
/* What to poll for before trace_child_serve; returns how many of the TRACE_CHILD_FDS were filled. */
#define TRACE_CHILD_FDS 5
size_t trace_child_fds(const struct trace_child *child, struct pollfd fds[TRACE_CHILD_FDS]);
/* Copies input and output without blocking, and stops us if the command was stopped. */
void trace_child_serve(struct trace_child *child);
/* As a shell reports it: the exit status, or 128 + the signal. */
int trace_child_exit_code(const struct trace_child *child);
void trace_child_deinit(struct trace_child *child);

/* For the child and the monitor. Closes all descriptors except 0, 1, 2 and `fds`, which become 3, 4, … in order, with
 * close-on-exec; -1 stays. 0 or -errno. */
int trace_keep_only(int *fds, size_t n);
/* Reports to trace_child_go why the command cannot be executed, and ends this process. */
_Noreturn void trace_child_fail(int failed, int err, const char *what);
/* Executes the command. */
_Noreturn void trace_command_run(const struct trace_command *command, int failed);

/* A request to the monitor. */
struct trace_order {
	enum {
		TRACE_ORDER_SIGNAL, /* send `signal` to the process group of the command */
		TRACE_ORDER_FRONT,  /* continue it in the foreground of its terminal */
		TRACE_ORDER_BACK,   /* continue it in the background */
	} kind;
	int signal;
};

/* What the monitor inherits from us. */
struct trace_monitor {
	int socket; /* receives orders, sends each status of the command as of waitpid; closed: we have ended */
	int failed;
	int std[3]; /* terminals for 0, 1, 2; -1: ours */
	bool front; /* the command starts in the foreground of its terminal */
};

/* trace-monitor.c: leads the session, starts the command and waits for it. */
_Noreturn void trace_monitor_run(const struct trace_command *command, struct trace_monitor *monitor);

/* trace-tty.c: our side of the session. The ptys are owned by `owner`, unless it is -1. -errno with err filled. */
int trace_tty_create(uid_t owner, struct trace_tty **ret, struct rd_err *err);
void trace_tty_destroy(struct trace_tty *tty);
/* In the child: the descriptors for the monitor. */
void trace_tty_monitor(const struct trace_tty *tty, struct trace_monitor *ret);
/* In the parent, after the fork: closes the descriptors of the monitor. */
void trace_tty_forked(struct trace_tty *tty);
/* Right before the command starts. True: it starts in the foreground, and our terminal is raw. */
bool trace_tty_begin(struct trace_tty *tty);
size_t trace_tty_fds(const struct trace_tty *tty, struct pollfd fds[TRACE_CHILD_FDS]);
/* True: the command has ended, with this status. */
bool trace_tty_serve(struct trace_tty *tty, int *status);
void trace_tty_signal(struct trace_tty *tty, const struct signalfd_siginfo *info);
/* The command has ended: copies the rest of its output and restores the terminal. */
void trace_tty_end(struct trace_tty *tty);

#endif
