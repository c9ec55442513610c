/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol of the opener's socket. Both ends are the same program: native byte order. */
#ifndef RD_SOURCE_OPENER_PRIV_H
#define RD_SOURCE_OPENER_PRIV_H

#include <stdatomic.h>

#include "source/opener/opener.h"
#include "source/shared/mad.h"

enum opener_verb {
	OPENER_GET,    /* number: operation, and protocol above it; data: path or message. Reply: bytes or a number */
	OPENER_OPEN,   /* data: path. Reply: a descriptor */
	OPENER_WALK,   /* data: path. Reply: bytes */
	OPENER_UPDATE, /* data: path. Reply: a descriptor */
	OPENER_CHECK,  /* data: path; number: whether to replace */
	OPENER_CREATE, /* the same. Reply: a descriptor */
	OPENER_FINISH, /* number: the mode */
	OPENER_ABANDON,
	OPENER_FORK,	  /* Reply: a descriptor, and the pid in number */
	OPENER_LEAVE,	  /* number: a pid returned by OPENER_FORK */
	OPENER_MAD_PORTS, /* Reply: bytes */
	OPENER_MAD_OPEN, /* number: the port; data: the device. Reply: a handle, the number of the next three requests */
	OPENER_MAD_SEND,    /* data: a timeout in ms (4 bytes), a struct rd_mad */
	OPENER_MAD_RECEIVE, /* data: a timeout in ms. Reply: a struct rd_mad, or nothing */
	OPENER_MAD_CLOSE,
	OPENER_LOOK, /* number: a pid. Reply: a struct rd_child_state */
};

/* A request or a reply, followed by `size` bytes; those of a failure are a struct rd_err. */
struct opener_message {
	int64_t what; /* enum opener_verb, or 0 or -errno */
	uint64_t number, size;
};

#define OPENER_REQUEST_MAX ((size_t)1 << 20)

/* `fd`: a descriptor to send; -1: none. 0 or -errno. */
int rd_opener_send(int sock, const struct opener_message *message, const void *data, int fd);

/* Only the message; `fd` (may be NULL: none is accepted) is -1 if none was sent. 0 or -errno, -ECHILD at the end of the stream. */
int rd_opener_receive(int sock, struct opener_message *message, int *fd);

/* Exactly `size` bytes. 0 or -errno. */
int rd_opener_data(int sock, void *to, size_t size);

/* Sends a request about a path (may be NULL), a number or both. 0, a descriptor if it `opens` one, or -errno. */
int rd_opener_call(enum opener_verb verb, const char *path, uint64_t number, bool opens, struct rd_err *err);

/* A datagram to be sent. */
struct opener_timed_mad {
	int32_t ms;
	struct rd_mad mad;
};

/* Whether the datagram is a Get request. */
bool rd_opener_may_send(const struct rd_mad *mad);

/* The identity of an input when it was first opened, each number plus one; 0: not opened yet. In memory shared by all openers. */
struct opener_identity {
	_Atomic uint64_t device, inode;
};

#define OPENER_FAMILIES 3

/* The files and facts that may be requested. */
struct opener_names {
	struct opener_name {
		enum rd_opener_use use;
		char *path, *whole;		  /* as given, and as absolute path */
		struct opener_identity *identity; /* NULL: before rd_opener_start */
	} * v;
	size_t n, cap;
	bool host;			    /* facts of this host may be requested */
	uint16_t families[OPENER_FAMILIES]; /* numbers of generic netlink families; 0: not known */
	pid_t requester;		    /* the process that forked the opener */
};

/* The name of this use for `path`; NULL: none. */
const struct opener_name *rd_opener_find(const struct opener_names *names, enum rd_opener_use use, const char *path);

/* Whether the request is permitted. */
bool rd_opener_may_ask(const struct opener_names *names, const struct rd_query *query);

/* Fills names->families. */
void rd_opener_find_families(struct opener_names *names, struct rd_source *host);

/*
 * Ends this process by SIGTERM when the other end of the pipe is closed, also if it hangs in an interruptible read.
 * PR_SET_PDEATHSIG does not work: the parent has no permission to signal us.
 */
void rd_opener_end_with(int pipe);

/* The main loop of the opener. */
_Noreturn void rd_opener_serve(int sock, const struct opener_names *names);

#endif
