/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An error that can be acted on: which errno, tried on which object, and what to do about it. */
#ifndef RD_ERR_H
#define RD_ERR_H

#include "base/base.h"

struct rd_err {
	int code;	   /* positive errno; 0: no error */
	char object[256];  /* the file, function, device or option it was about */
	char message[256]; /* what failed, without object and errno text */
	char hint[256];	   /* what to do about it; may be empty */
	bool listing;	   /* the object is a directory or a link: files below it may be missing from the result */
};

/* Fills `err` (may be NULL) and returns -code, so that a library function can `return rd_err_set(…)`. */
int rd_err_set(struct rd_err *err, int code, const char *object, const char *fmt, ...) RD_PRINTF(4, 5);
/* What to do about it. Returns -err->code (of NULL -EINVAL), so that a function can `return rd_err_hint(…)` after rd_err_set. */
int rd_err_hint(struct rd_err *err, const char *fmt, ...) RD_PRINTF(2, 3);

/* Errors that did not end the work, such as an unreadable file. Owned by the list. */
struct rd_errlist {
	struct rd_err *v;
	size_t n, cap;
	size_t more; /* errors counted in the last entry */
};

/* On a host with more errors they have one cause, and the first entries show it. */
#define RD_ERRORS_MAX 1000

/* Adds a copy of `err`. Errors beyond RD_ERRORS_MAX are counted in one more entry. NULL list: ignored. */
void rd_errlist_add(struct rd_errlist *list, const struct rd_err *err);
void rd_errlist_add_all(struct rd_errlist *list, const struct rd_errlist *from);
void rd_errlist_deinit(struct rd_errlist *list);

/* Whether a read that returned `r` failed without a reply (EACCES, EIO, EMFILE, ENOMEM, ETIMEDOUT …): the object may exist.
 * False for 0 and for errnos that mean that it does not exist (ENOENT, ENODEV, EINVAL, EOPNOTSUPP …), which
 * drivers and the kernel return for attributes that a device does not have. */
bool rd_could_not_look(int r);

/* The symbolic name of an errno as the kernel uses it, also those that user space never sees ("ERESTARTSYS",
 * "EPROBE_DEFER"). `code` may have either sign. NULL for a number that has no name. Static. */
const char *rd_errno_name(int code);

/* The number of an errno name ("EFAULT", "enomem") or of digits ("14"); -1 if it is neither. */
int rd_errno_parse(const char *name);

/* The usual text of an errno (strerror without its static buffer), also for kernel-internal ones. Static. */
const char *rd_errno_text(int code);

/* ---- messages of all commands about a host without RDMA */

#define RD_NO_RDMA_STACK "there is no RDMA stack"
#define RD_NO_RDMA_DEVICE "there is no RDMA device"
/* For commands that read modules: they cannot use a built-in stack. */
#define RD_NO_RDMA_MODULE "no RDMA module is loaded"

/* The RDMA stack is not loaded. Fills `err` (may be NULL) with a hint; -ENOENT. */
int rd_no_rdma_stack(struct rd_err *err);

/* The stack is loaded, but there is no device. The same; -ENODEV. */
int rd_no_rdma_device(struct rd_err *err);

/* ---- reads without a reply in time, and their likely cause */

enum rd_stall_kind {
	RD_STALL_UNASKED, /* not started before the deadline */
	RD_STALL_SLOW,	  /* running, or waiting for a CPU */
	RD_STALL_UNSURE,  /* cause unknown: it slept too short a time, or other reads were slow as well */
	RD_STALL_BLOCKED, /* slept without interruption, far longer than another read took at the same time */
	RD_STALL_DIED,	  /* terminated the reading process */
};

struct rd_stall {
	enum rd_stall_kind kind;
	unsigned ms;	   /* waiting time */
	struct rd_err err; /* err.object: what was read */
};

struct rd_stalls {
	struct rd_stall *v;
	size_t n, cap;
	unsigned limit_ms; /* for all reads together */
	size_t replied;	   /* reads with a reply */
};

/* Keeps a copy; a list that cannot grow drops it. */
void rd_stalls_add(struct rd_stalls *stalls, const struct rd_stall *stall);
void rd_stalls_deinit(struct rd_stalls *stalls);

/* The first of this kind; NULL: none. */
const struct rd_stall *rd_stalls_first(const struct rd_stalls *stalls, enum rd_stall_kind kind);
size_t rd_stalls_count(const struct rd_stalls *stalls, enum rd_stall_kind kind);

#endif
