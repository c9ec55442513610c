/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two ends of the opener's socket share. Both are one program: native byte order. */
#ifndef RD_SOURCE_OPENER_PRIV_H
#define RD_SOURCE_OPENER_PRIV_H

#include "source/opener.h"

enum opener_verb {
	OPENER_ASK,    /* data: a struct rd_question with its data. Answer: bytes or a number */
	OPENER_OPEN,   /* data: path, path below it. Answer: a descriptor */
	OPENER_WALK,   /* data: path. Answer: bytes */
	OPENER_UPDATE, /* data: path. Answer: a descriptor */
	OPENER_CHECK,  /* data: path; number: whether to replace */
	OPENER_CREATE, /* the same. Answer: a descriptor */
	OPENER_FINISH, /* number: the mode */
	OPENER_ABANDON,
	OPENER_FORK, /* Answer: a descriptor, and the pid in number */
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

/* What may be asked for. */
struct opener_names {
	struct opener_name {
		enum rd_opener_use use;
		char *path, *whole; /* as it was named, and from the root */
	} * v;
	size_t n, cap;
	bool host;	  /* facts of this host may be asked for */
	uint16_t ethtool; /* what the kernel calls this family of generic netlink; 0: not known */
};

/* Whether a name of this use stands for `path`. */
const struct opener_name *rd_opener_find(const struct opener_names *names, enum rd_opener_use use, const char *path);

/* Whether the question may be put to this host. */
bool rd_opener_may_ask(const struct opener_names *names, const struct rd_question *question);

/* The opener's life. */
_Noreturn void rd_opener_serve(int sock, const struct opener_names *names);

#endif
