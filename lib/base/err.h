/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An error that can be acted on: which errno, tried on which object, and what to do about it. */
#ifndef RD_ERR_H
#define RD_ERR_H

#include "base/base.h"

struct rd_err {
	int code;	   /* positive errno; 0: no error */
	char object[256];  /* the file, function, device or option it was about */
	char message[256]; /* what was tried and how it went, without object and errno text */
	char hint[256];	   /* what to do about it; empty where there is nothing to say */
	bool listing;	   /* the object names others (a folder, a link): they may be missing from what was read */
};

/* Fills `err` (may be NULL) and returns -code, so that a library function can `return rd_err_set(…)`. */
int rd_err_set(struct rd_err *err, int code, const char *object, const char *fmt, ...) RD_PRINTF(4, 5);
void rd_err_hint(struct rd_err *err, const char *fmt, ...) RD_PRINTF(2, 3);

/* Errors that did not end the work: one unreadable file never does. Owned by the list. */
struct rd_errlist {
	struct rd_err *v;
	size_t n, cap;
	size_t more; /* that the last entry stands for */
};

/* A host on which more fails fails in one way, which the first tell. */
#define RD_ERRORS_MAX 1000

/* Keeps a copy of `err`. What comes behind RD_ERRORS_MAX is counted in one more entry. NULL list: nothing is kept. */
void rd_errlist_add(struct rd_errlist *list, const struct rd_err *err);
void rd_errlist_deinit(struct rd_errlist *list);

/* Whether a read that returned `r` failed without an answer (EACCES, EIO, EMFILE, ENOMEM, ETIMEDOUT …): what was asked for may
 * be there. False for 0 and for the errnos that say there is no such thing (ENOENT, ENODEV, EINVAL, EOPNOTSUPP …), which
 * drivers and the kernel return for attributes that a device does not have. */
bool rd_could_not_look(int r);

/* The symbolic name of an errno as the kernel uses it, also those that user space never sees ("ERESTARTSYS",
 * "EPROBE_DEFER"). `code` may have either sign. NULL for a number that has no name. Static. */
const char *rd_errno_name(int code);

/* The number of an errno name ("EFAULT", "enomem") or of digits ("14"); -1 if it is neither. */
int rd_errno_parse(const char *name);

/* The usual text of an errno (strerror without its static buffer), also for kernel-internal ones. Static. */
const char *rd_errno_text(int code);

#endif
