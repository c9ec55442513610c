/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_NLDEV_PRIV_H
#define RD_COLLECT_NLDEV_PRIV_H

#include "collect/rdma/nldev.h"
#include "collect/shared/nlattr.h"
#include "collect/shared/uapi.h"

/* The expected type of each attribute. */
extern const uint8_t rd_nldev_policy[RD_NLDEV_ATTRS];

struct rd_nldev_attrs {
	const struct nlattr *v[RD_NLDEV_ATTRS];
};

/* The nldev command that lists a kind. */
unsigned rd_nldev_command(enum rd_res_kind kind);

/* Calls fn for each message of a reply to this command with valid attributes. A negative return of fn ends the loop. */
typedef int rd_nldev_fn(void *arg, const struct rd_nldev_attrs *attrs);
int rd_nldev_each(const struct rd_bytes *reply, unsigned command, rd_nldev_fn *fn, void *arg);

/* Copies a string attribute to *ret; keeps *ret if the attribute is missing. */
void rd_nldev_text(const struct rd_nldev_attrs *attrs, unsigned type, char **ret);

#define RD_NLDEV_U8(attrs, type, field)                                   \
	do {                                                              \
		if ((attrs)->v[type])                                     \
			RD_SET(field, mnl_attr_get_u8((attrs)->v[type])); \
	} while (0)
#define RD_NLDEV_U32(attrs, type, field)                                   \
	do {                                                               \
		if ((attrs)->v[type])                                      \
			RD_SET(field, mnl_attr_get_u32((attrs)->v[type])); \
	} while (0)
#define RD_NLDEV_U64(attrs, type, field)                                   \
	do {                                                               \
		if ((attrs)->v[type])                                      \
			RD_SET(field, mnl_attr_get_u64((attrs)->v[type])); \
	} while (0)

#endif
