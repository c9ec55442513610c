// SPDX-License-Identifier: GPL-2.0-or-later
/* Failures that are expected from healthy programs. */
#include "analyse/trace/trace.h"

#include <linux/types.h>

#include "bpf/record.h"

/* Errnos that only the kernel knows (include/linux/errno.h). */
#define K_ERESTARTSYS 512
#define K_ENOIOCTLCMD 515

#define INVOKE_WRITE_HANDLER "ib_uverbs_handler_UVERBS_METHOD_INVOKE_WRITE"
#define GID_ENTRY_HANDLER "ib_uverbs_handler_UVERBS_METHOD_QUERY_GID_ENTRY"
#define IOCTL(object, method) RD_VERB(RD_VERB_IOCTL, (object) << 16 | (method))

struct rule {
	const char *reason;
	int err; /* positive */
	bool any_verb;
	bool unknown_verb;	    /* a verb that could not be read, as with lockdown=confidentiality */
	uint16_t num_attrs;	    /* 0: any */
	const uint64_t *keys;	    /* the calls, ended by 0 */
	const char *const *origins; /* ended by NULL */
};

static const uint64_t query_device[] = { RD_VERB(RD_VERB_INVOKE_WRITE, 1), 0 };
static const uint64_t query_gid_entry[] = { IOCTL(0, 6), 0 };
static const uint64_t get_event[] = { RD_VERB(RD_VERB_UCMA, 12), 0 };

/* Calls for which libibverbs falls back to the write interface if the kernel does not support them (cmd_fallback.c). Calls that
 * create objects are not included: there the same errno may mean that an attribute the program needs is not supported. */
static const uint64_t has_fallback[] = {
	IOCTL(0, 2),			  /* QUERY_PORT */
	IOCTL(0, 3),			  /* GET_CONTEXT */
	IOCTL(0, 5),			  /* QUERY_GID_TABLE */
	IOCTL(0, 6),			  /* QUERY_GID_ENTRY */
	IOCTL(1, 0),			  /* PD_DESTROY */
	IOCTL(3, 1),			  /* CQ_DESTROY */
	IOCTL(4, 1),			  /* QP_DESTROY */
	IOCTL(5, 1),			  /* SRQ_DESTROY */
	IOCTL(6, 0),			  /* AH_DESTROY */
	IOCTL(7, 1),			  /* MR_DESTROY */
	IOCTL(8, 0),			  /* MW_DESTROY */
	IOCTL(9, 0),			  /* FLOW_DESTROY */
	IOCTL(10, 0),			  /* XRCD_DESTROY */
	IOCTL(11, 0),			  /* RWQ_IND_TBL_DESTROY */
	IOCTL(12, 1),			  /* WQ_DESTROY */
	IOCTL(16, 0),			  /* ASYNC_EVENT_ALLOC */
	RD_VERB(RD_VERB_INVOKE_WRITE, 1), /* has_ioctl_write() of libibverbs */
	0,
};

static const char *const write_origins[] = { INVOKE_WRITE_HANDLER, "ib_uverbs_run_method", "ib_uverbs_cmd_verbs",
					     "ib_uverbs_ioctl", NULL };
static const char *const write_handler[] = { INVOKE_WRITE_HANDLER, NULL };
static const char *const gid_origins[] = { "rdma_get_gid_attr",	  GID_ENTRY_HANDLER, "ib_uverbs_run_method",
					   "ib_uverbs_cmd_verbs", "ib_uverbs_ioctl", NULL };
static const char *const gid_handler[] = { GID_ENTRY_HANDLER, NULL };
static const char *const dispatcher[] = { "ib_uverbs_run_method", "ib_uverbs_cmd_verbs", "ib_uverbs_ioctl", NULL };
static const char *const ioctl_itself[] = { "ib_uverbs_ioctl", NULL };
static const char *const event_origins[] = { "ucma_get_event", "ucma_write", NULL };

/* clang-format off */
static const struct rule rules[] = {
	{
		.reason = "when it opens a device, libibverbs sends a deliberately short request, to detect whether the kernel "
			  "supports write commands through ioctl: ENOSPC means that it does",
		.err = ENOSPC, .num_attrs = 1, .keys = query_device, .origins = write_origins,
	},
	{
		.reason = "when it opens a device, libibverbs sends a deliberately short request, to detect whether the kernel "
			  "supports write commands through ioctl (the verb could not be read)",
		.err = ENOSPC, .unknown_verb = true, .origins = write_handler,
	},
	{
		.reason = "unused entry of the GID table: expected in programs that read the whole table",
		.err = ENODATA, .keys = query_gid_entry, .origins = gid_origins,
	},
	{
		.reason = "unused entry of the GID table: expected in programs that read the whole table",
		.err = ENODATA, .unknown_verb = true, .origins = gid_handler,
	},
	{
		.reason = "a signal interrupted the wait for a connection event; the wait is restarted or ends",
		.err = K_ERESTARTSYS, .keys = get_event, .origins = event_origins,
	},
	{
		.reason = "no connection event is pending, and the program polls without blocking",
		.err = EAGAIN, .keys = get_event, .origins = event_origins,
	},
	{
		.reason = "the kernel does not support this call yet; libibverbs falls back to the older interface",
		.err = EPROTONOSUPPORT, .keys = has_fallback, .origins = dispatcher,
	},
	{
		.reason = "not an RDMA ioctl; for example, isatty() issues one on any file",
		.err = K_ENOIOCTLCMD, .any_verb = true, .origins = ioctl_itself,
	},
};
/* clang-format on */

static bool in_keys(const uint64_t *keys, uint64_t key)
{
	while (*keys && *keys != key)
		keys++;
	return *keys;
}

/* Ignores a suffix added by the compiler (.isra.0). */
static bool in_names(const char *const *names, const char *name)
{
	size_t n = strcspn(name, ".");

	for (; *names; names++)
		if (strlen(*names) == n && !memcmp(*names, name, n))
			return true;
	return false;
}

static bool matches(const struct rule *rule, const struct rd_event *ev, const char *origin)
{
	return ev->err == -rule->err && (!rule->num_attrs || ev->num_attrs == rule->num_attrs) &&
	       (rule->unknown_verb ? !ev->verb_key : rule->any_verb || in_keys(rule->keys, ev->verb_key)) &&
	       in_names(rule->origins, origin);
}

const char *rd_benign_reason(const struct rd_event *ev, const struct rd_fnset *set)
{
	if (ev->origin < 0 || (size_t)ev->origin >= set->n_fns)
		return NULL;
	/* A translated errno means that the original failure was a different one. */
	if (ev->n_chain && ev->chain[0].translated)
		return NULL;
	for (size_t i = 0; i < RD_ARRAY_SIZE(rules); i++)
		if (matches(&rules[i], ev, set->fns[ev->origin].name))
			return rules[i].reason;
	return NULL;
}

bool rd_benign_count(const struct rd_count *count, const struct rd_fnset *set)
{
	const struct rd_event ev = { .verb_key = count->verb, .err = count->err };

	if (count->origin < 0 || (size_t)count->origin >= set->n_fns)
		return false;
	for (size_t i = 0; i < RD_ARRAY_SIZE(rules); i++)
		if (!rules[i].num_attrs && matches(&rules[i], &ev, set->fns[count->origin].name))
			return true;
	return false;
}

static void add_key(struct rd_benign_rule **v, size_t *n, size_t *cap, const struct rule *rule, uint64_t verb,
		    int origin)
{
	rd_reserve(v, cap, *n + 1, sizeof(**v));
	(*v)[(*n)++] = (struct rd_benign_rule){ .verb = verb,
						.origin = origin,
						.err = -rule->err,
						.num_attrs = rule->num_attrs,
						.unknown_verb = rule->unknown_verb };
}

size_t rd_benign_list(const struct rd_fnset *set, struct rd_benign_rule **ret)
{
	size_t n = 0, cap = 0;

	*ret = NULL;
	for (size_t i = 0; i < set->n_fns; i++) {
		if (!set->fns[i].selected)
			continue;
		for (size_t r = 0; r < RD_ARRAY_SIZE(rules); r++) {
			if (!in_names(rules[r].origins, set->fns[i].name))
				continue;
			if (rules[r].any_verb || rules[r].unknown_verb)
				add_key(ret, &n, &cap, &rules[r], 0, (int)i);
			for (const uint64_t *key = rules[r].keys; key && *key; key++)
				add_key(ret, &n, &cap, &rules[r], *key, (int)i);
		}
	}
	return n;
}
