/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traced command: as whom it runs, what it inherits, and, where it has a session of its own, the terminal between
 * it and us. */
#ifndef RD_CMD_TRACE_CHILD_H
#define RD_CMD_TRACE_CHILD_H

#include <poll.h>
#include <pwd.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include "base/err.h"

/* A user of this host, as passwd(5) has it. */
struct trace_user {
	struct passwd entry;
	char *text; /* what `entry` points into; NULL: no user */
	gid_t *groups;
	int n_groups;
};

/* trace-user.c: by name, or, where no user has that name, by number in decimal digits. -errno with err filled. */
int trace_user_find(const char *name, struct trace_user *ret, struct rd_err *err);
void trace_user_deinit(struct trace_user *user);
/* For the process that is about to run the command: takes on ids, groups and variables of the user, gives up all
 * capabilities unless the user is root and, unless `keep_privs`, the means to gain any. Opens nothing. 0 or -errno. */
int trace_user_become(const struct trace_user *user, bool keep_privs);

struct trace_command {
	char **argv;
	const struct trace_user *user; /* NULL: the one who started us */
	bool keep_privs;	       /* programs that give privileges (setuid, file capabilities) work as ever */
	bool session;		       /* a session of its own, on ptys where our input and output are terminals */
};

struct trace_tty;

struct trace_child {
	pid_t pid;  /* the command, or the monitor of its session; 0: there is none */
	int go;	    /* closed: the child gives up; a byte: it runs the command */
	int failed; /* why the command could not be run arrives here */
	bool ended;
	int status;	       /* as waitpid has it */
	struct trace_tty *tty; /* NULL: the command shares our session */
};

#define TRACE_CHILD_INIT               \
	{                              \
		.go = -1, .failed = -1 \
	}

/* trace-child.c: -errno with err filled. The command does not run before trace_child_go. Where it has a session of its own that
 * may make our terminal raw, and all signals that trace_child_signal is to see must be blocked by then. */
int trace_child_start(struct trace_child *child, const struct trace_command *command, struct rd_err *err);
int trace_child_go(struct trace_child *child, const char *name, struct rd_err *err);
/* Collects all that have ended, the command among them. */
void trace_child_reap(struct trace_child *child);
/* A signal that we got while the command runs. */
void trace_child_signal(struct trace_child *child, const struct signalfd_siginfo *info);
/* What to poll for before trace_child_serve; returns how many of the TRACE_CHILD_FDS were filled. */
#define TRACE_CHILD_FDS 5
size_t trace_child_fds(const struct trace_child *child, struct pollfd fds[TRACE_CHILD_FDS]);
/* Copies input and output, as far as that goes without waiting, and stops us when the command was stopped. */
void trace_child_serve(struct trace_child *child);
/* As a shell shows it: the exit status, or 128 + the signal. */
int trace_child_exit_code(const struct trace_child *child);
void trace_child_deinit(struct trace_child *child);

/* For the child and the monitor. Closes all descriptors but 0, 1, 2 and these, which become 3, 4, … in their order and are closed
 * by exec; -1 stays. 0 or -errno. */
int trace_keep_only(int *fds, size_t n);
/* Tells trace_child_go why the command does not run, and ends this process. */
_Noreturn void trace_give_up(int failed, int err, const char *what);
/* Becomes the command. */
_Noreturn void trace_command_run(const struct trace_command *command, int failed);

/* What we ask of the monitor. */
struct trace_order {
	enum {
		TRACE_ORDER_SIGNAL, /* `signal` to the command and what it runs in its process group */
		TRACE_ORDER_FRONT,  /* goes on, in the foreground of its terminal */
		TRACE_ORDER_BACK,   /* goes on, in the background */
	} kind;
	int signal;
};

/* What the monitor has of us. */
struct trace_monitor {
	int socket; /* orders come, and each status of the command as waitpid has it goes; closed: we have gone */
	int failed;
	int std[3]; /* terminals for 0, 1, 2; -1: ours */
	bool front; /* the command begins in the foreground of its terminal */
};

/* trace-monitor.c: leads the session, starts the command and waits for it. */
_Noreturn void trace_monitor_run(const struct trace_command *command, struct trace_monitor *monitor);

/* trace-tty.c: our side of the session. Ptys belong to `owner`, unless that is -1. -errno with err filled. */
int trace_tty_create(uid_t owner, struct trace_tty **ret, struct rd_err *err);
void trace_tty_destroy(struct trace_tty *tty);
/* In the child: the ends that are the monitor's. */
void trace_tty_monitor(const struct trace_tty *tty, struct trace_monitor *ret);
/* In the parent, once the child is forked: lets go of the monitor's ends. */
void trace_tty_forked(struct trace_tty *tty);
/* Right before the command begins: whether it shall be in the foreground; our terminal is raw then. */
bool trace_tty_begin(struct trace_tty *tty);
size_t trace_tty_fds(const struct trace_tty *tty, struct pollfd fds[TRACE_CHILD_FDS]);
/* True: the command has ended, with this status. */
bool trace_tty_serve(struct trace_tty *tty, int *status);
void trace_tty_signal(struct trace_tty *tty, const struct signalfd_siginfo *info);
/* The command has ended: copies the rest of its output and gives the terminal back. */
void trace_tty_end(struct trace_tty *tty);

#endif
