// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions of the RDMA core that return an errno for one reason only (drivers/infiniband/core of Linux 6.1 to 7.2). Rules that have
 * values come first; this table is for what remains, mostly libraries and kernels that do not fit together.
 */
#include <stdio.h>
#include <string.h>

#include "diagnose/shared/rule.h"

#define MIXED                                                                                                             \
	"the library does not match the kernel: use libibverbs and provider of one rdma-core, not mixed with those of a " \
	"vendor's package"

static const struct check {
	const char *origin;
	int err;
	const char *id, *cause, *fix;
} checks[] = {
	{ "ib_uverbs_ioctl", EINVAL, "request-malformed",
	  "the length in the header of the request does not fit its number of attributes", MIXED },
	{ "ib_uverbs_ioctl", EPROTONOSUPPORT, "request-malformed",
	  "reserved fields in the header of the request are not 0", MIXED },
	{ "ib_uverbs_cmd_verbs", EINVAL, "request-malformed",
	  "the kernel refused the form of the request: a required attribute is missing, one has the wrong length or is passed "
	  "twice, or the request is for another driver",
	  MIXED },
	{ "ib_uverbs_run_method", EINVAL, "request-malformed",
	  "the request lacks an attribute that the kernel requires", MIXED },
	{ "uverbs_process_attr", EINVAL, "request-malformed", "an attribute of the request has the wrong length",
	  MIXED },
	{ "uverbs_set_attr", EINVAL, "request-malformed", "an attribute is passed twice", MIXED },
	{ "ib_uverbs_get_ucontext_file", EINVAL, "context-state",
	  "the open device file has no context yet, or none that this call could use",
	  "the context must be allocated first (ibv_open_device), and a command file descriptor that is passed on must belong "
	  "to an open device" },
	{ "ib_init_ucontext", EINVAL, "context-state", "the open device file has a context already",
	  "one context per open file: each ibv_open_device opens the file again" },
	{ "ib_uverbs_get_context", EINVAL, "context-state", "the open device file has a context already",
	  "one context per open file: each ibv_open_device opens the file again" },
	{ "ucma_write", EACCES, "credentials-changed",
	  "the process changed its user, groups or capabilities after it had opened /dev/infiniband/rdma_cm",
	  "create the event channel (rdma_create_event_channel) after changing credentials" },
	{ "ucma_write", ENOSYS, "not-supported", "this kernel does not know the command",
	  "the library is newer than the kernel: update the kernel, or configure the program not to use the feature" },
	{ "ucma_write", EINVAL, "request-malformed",
	  "the command does not exist, or its length is not the one in its header", MIXED },
	{ "ucma_query", ENOSYS, "not-supported", "this kernel does not know what is queried",
	  "the library is newer than the kernel: update the kernel, or configure the program not to use the feature" },
	{ "ucma_get_ctx", EINVAL, "cm-id-foreign", "the rdma_cm_id belongs to another event channel",
	  "use an rdma_cm_id only with the channel that it was created on, or that it was migrated to (rdma_migrate_id)" },
	{ "_ucma_find_context", EINVAL, "cm-id-foreign", "the rdma_cm_id belongs to another event channel",
	  "use an rdma_cm_id only with the channel that it was created on, or that it was migrated to (rdma_migrate_id)" },
	{ "rdma_set_ack_timeout", EINVAL, "qp-type",
	  "an ACK timeout can only be set on an rdma_cm_id for reliable connections",
	  "create it with RDMA_PS_TCP, or do not set the option" },
	{ "rdma_set_min_rnr_timer", EINVAL, "qp-type",
	  "the RNR timer is above 31, or the rdma_cm_id is not one for reliable connections",
	  "use values from 0 to 31, on an rdma_cm_id that was created with RDMA_PS_TCP" },
	{ "rdma_set_reuseaddr", EINVAL, "cm-id-state",
	  "the reuse of addresses (RDMA_OPTION_ID_REUSEADDR) can only be set before the rdma_cm_id is bound",
	  "set the option directly after rdma_create_id" },
	{ "rdma_set_afonly", EINVAL, "cm-id-state",
	  "RDMA_OPTION_ID_AFONLY can only be set before the rdma_cm_id listens or resolves an address",
	  "set the option directly after rdma_create_id" },
	{ "cma_acquire_dev_by_src_ip", EINVAL, "not-supported",
	  "port space RDMA_PS_IPOIB is for IPoIB interfaces, and the address is of another kind of interface",
	  "use RDMA_PS_TCP or RDMA_PS_UDP, or the address of an IPoIB interface" },
	{ "cma_ib_acquire_dev", EINVAL, "not-supported",
	  "port space RDMA_PS_IPOIB is for IPoIB interfaces, and the address is of another kind of interface",
	  "use RDMA_PS_TCP or RDMA_PS_UDP, or the address of an IPoIB interface" },
};

static bool find_check(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	if (!f->event->origin_exact)
		return false;
	for (size_t i = 0; i < RD_ARRAY_SIZE(checks); i++) {
		if (checks[i].err != -f->event->err || !rd_failure_origin_is(f, checks[i].origin))
			continue;
		rd_explain(ret, checks[i].id, RD_CONFIDENCE_HIGH, "%s", checks[i].cause);
		rd_explain_fact(ret, "%s returns %s for no other reason", checks[i].origin,
				rd_errno_name(checks[i].err));
		rd_explain_fix(ret, "# %s", checks[i].fix);
		return true;
	}
	return false;
}

const struct rd_cause_rule rd_cause_core_checks = { .errnos = { EINVAL, EPROTONOSUPPORT, EACCES, ENOSYS },
						    .find = find_check };
