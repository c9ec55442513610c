/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two ends of the opener's socket share. Both are one program: native byte order. */
#ifndef RD_SOURCE_OPENER_PRIV_H
#define RD_SOURCE_OPENER_PRIV_H

#include <stdatomic.h>

#include "source/opener/opener.h"
#include "source/shared/mad.h"

enum opener_verb {
	OPENER_ASK,    /* data: a struct rd_question with its data. Answer: bytes or a number */
	OPENER_OPEN,   /* data: path, path below it. Answer: a descriptor */
	OPENER_WALK,   /* data: path. Answer: bytes */
	OPENER_UPDATE, /* data: path. Answer: a descriptor */
	OPENER_CHECK,  /* data: path; number: whether to replace */
	OPENER_CREATE, /* the same. Answer: a descriptor */
	OPENER_FINISH, /* number: the mode */
	OPENER_ABANDON,
	OPENER_FORK,	    /* Answer: a descriptor, and the pid in number */
	OPENER_LEAVE,	    /* number: a pid that OPENER_FORK gave */
	OPENER_MAD_PORTS,   /* Answer: bytes */
	OPENER_MAD_OPEN,    /* number: the port; data: the device. Answer: what the next three have in number */
	OPENER_MAD_SEND,    /* data: a time in ms (4 bytes), a struct rd_mad */
	OPENER_MAD_RECEIVE, /* data: a time in ms. Answer: a struct rd_mad, or nothing */
	OPENER_MAD_CLOSE,
	OPENER_LOOK, /* number: a pid. Answer: a struct rd_child_state */
};

/* A request, or the answer to one. Behind it `size` bytes; those of a failure are a struct rd_err. */
struct opener_message {
	int64_t what; /* enum opener_verb, or 0 or -errno */
	uint64_t number, size;
};

#define OPENER_REQUEST_MAX ((size_t)1 << 20)

/* `fd`: to be handed over; -1: none. 0 or -errno. */
int rd_opener_send(int sock, const struct opener_message *message, const void *data, int fd);

/* The message alone; `fd` (may be NULL: none is taken) is -1 where none came. 0 or -errno, -ECHILD at the end of the stream. */
int rd_opener_receive(int sock, struct opener_message *message, int *fd);

/* Exactly `size` bytes. 0 or -errno. */
int rd_opener_data(int sock, void *to, size_t size);

/* One request and its answer, in `message`. `fd`, `bytes` and `err` may be NULL. -errno with `err` filled. */
int rd_opener_request(struct opener_message *message, const void *data, int *fd, struct rd_bytes *bytes,
		      struct rd_err *err);

/* A datagram to be sent. */
struct opener_timed_mad {
	int32_t ms;
	struct rd_mad mad;
};

/* The opener's ports; see mad.h. */
int rd_opener_mad_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err);
int rd_opener_mad_open(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret,
		       struct rd_err *err);

/* Whether the datagram only asks. */
bool rd_opener_may_send(const struct rd_mad *mad);

/* Which file an input was when it was first opened, each number plus one; 0: not opened yet. In memory that all openers share. */
struct opener_identity {
	_Atomic uint64_t device, inode;
};

#define OPENER_FAMILIES 3

/* What may be asked for. */
struct opener_names {
	struct opener_name {
		enum rd_opener_use use;
		char *path, *whole;		  /* as it was named, and from the root */
		struct opener_identity *identity; /* NULL: before rd_opener_start */
	} * v;
	size_t n, cap;
	bool host;			    /* facts of this host may be asked for */
	uint16_t families[OPENER_FAMILIES]; /* the kernel's numbers of those of generic netlink; 0: not known */
	pid_t asker;			    /* who forked the opener */
};

/* Whether a name of this use stands for `path`. */
const struct opener_name *rd_opener_find(const struct opener_names *names, enum rd_opener_use use, const char *path);

/* Gives each name its identity, which forks share. 0 or -errno. */
int rd_opener_share_identities(struct opener_names *names);

/* Whether the question may be put to this host; the second of one that is for netlink. */
bool rd_opener_may_ask(const struct opener_names *names, const struct rd_question *question);
bool rd_opener_may_request(const struct opener_names *names, const struct rd_question *question);

/* Fills names->families. */
void rd_opener_find_families(struct opener_names *names, struct rd_source *host);

/*
 * Opens an input. -ESTALE where it is another file than when it was first opened: whoever may write to its folder could
 * otherwise have any file of root's read, in league with what has been parsed. A descriptor or -errno.
 */
int rd_opener_open_input(const struct opener_name *name);

/*
 * Ends this process by SIGTERM when the other end of the pipe is closed, also where it hangs in a read that can be interrupted
 * by that. PR_SET_PDEATHSIG would be a signal of a process that has no right to send one to us.
 */
void rd_opener_end_with(int pipe);

/* The opener's life. */
_Noreturn void rd_opener_serve(int sock, const struct opener_names *names);

#endif
