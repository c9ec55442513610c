/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to uverbs that are no requests, and buffers of the program that the kernel cannot read or write.
 */
#include "fault.h"
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <sys/ioctl.h>

enum wrong {
	LENGTH,
	RESERVED,
	DRIVER,
	NUMBER,
	METHOD,
	OBJECT,
	MISSING,
	UNKNOWN_ATTR,
	DUPLICATE,
	ATTR_LENGTH,
	UNMAPPED_REQUEST,
	ATTRS_CUT,
	RESPONSE,
	DRIVER_RESPONSE,
};

/* A CQ, by ioctl(2) */
static int create_cq(struct env *env)
{
	enum wrong wrong = env->fault->arg;
	struct call call = call_of(wrong == OBJECT ? 90 : UVERBS_OBJECT_CQ,
				   wrong == METHOD ? 77 : UVERBS_METHOD_CQ_CREATE,
				   wrong == DRIVER ? RDMA_DRIVER_MLX5 : RDMA_DRIVER_RXE);
	uint64_t driver_out[8];
	uint32_t cqe;
	void *readonly = pages(1, PROT_READ), *request = &call;
	unsigned long number = RDMA_VERBS_IOCTL;
	size_t length;

	call_obj(&call, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	if (wrong == ATTR_LENGTH)
		call_u64(&call, UVERBS_ATTR_CREATE_CQ_CQE, 16);
	else if (wrong != MISSING)
		call_u32(&call, UVERBS_ATTR_CREATE_CQ_CQE, 16);
	call_u64(&call, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0);
	call_u32(&call, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0);
	call_out(&call, UVERBS_ATTR_CREATE_CQ_RESP_CQE, wrong == RESPONSE ? readonly : &cqe, sizeof(cqe));
	call_out(&call, UVERBS_ATTR_UHW_OUT, wrong == DRIVER_RESPONSE ? readonly : driver_out, sizeof(driver_out));
	if (wrong == DUPLICATE)
		call_u32(&call, UVERBS_ATTR_CREATE_CQ_CQE, 16);
	if (wrong == UNKNOWN_ATTR)
		call_u32(&call, 177, 16);
	length = sizeof(call.hdr) + call.hdr.num_attrs * sizeof(call.attr[0]);
	call.hdr.length = wrong == LENGTH ? length - 8 : length;
	call.hdr.reserved1 = wrong == RESERVED;
	if (wrong == NUMBER)
		number = _IO('u', 1);
	if (wrong == UNMAPPED_REQUEST)
		request = UNMAPPED;
	if (wrong == ATTRS_CUT) {
		request = before_hole(sizeof(call.hdr) + sizeof(call.attr[0]));
		memcpy(request, &call, sizeof(call.hdr) + sizeof(call.attr[0]));
		truth("hole", "%p", (char *)request + sizeof(call.hdr) + sizeof(call.attr[0]));
	}
	if (wrong == RESPONSE || wrong == DRIVER_RESPONSE)
		truth("response", "%p", readonly);
	truth("object", "%u", call.hdr.object_id);
	truth("method", "%u", call.hdr.method_id);
	truth("driver", "%u", call.hdr.driver_id);
	truth("request", "%p", request);
	truth("request_bytes", "%u", call.hdr.length);
	if (wrong == MISSING || wrong == DUPLICATE || wrong == ATTR_LENGTH)
		truth("attribute", "%d", UVERBS_ATTR_CREATE_CQ_CQE);
	if (wrong == UNKNOWN_ATTR)
		truth("attribute", "177");
	return ioctl(env->ctx->cmd_fd, number, request) ? errno : 0;
}

/* Memory that is good, registered by a request that is not */
enum buffer { RESPONSE_READONLY, REQUEST_CUT };

static int reg_mr(struct env *env)
{
	char *map = pages(1, PROT_READ | PROT_WRITE), *cut;
	void *readonly = pages(1, PROT_READ);
	struct ib_uverbs_reg_mr_resp resp;
	struct ib_uverbs_reg_mr cmd = {
		.start = (uintptr_t)map,
		.length = PAGE,
		.hca_va = (uintptr_t)map,
		.pd_handle = env->pd->handle,
		.access_flags = IBV_ACCESS_LOCAL_WRITE,
	};

	/* Last, or what is mapped next fills the hole. */
	cut = before_hole(16);
	if (!map || !readonly || !cut)
		return unready("mmap");
	memcpy(cut, &cmd, 16);
	truth("address", "%p", map);
	truth("length", "%lu", PAGE);
	if (env->fault->arg == REQUEST_CUT) {
		truth("request", "%p", cut);
		truth("hole", "%p", cut + 16);
	} else {
		truth("response", "%p", readonly);
	}
	return invoke_write(env->ctx->cmd_fd, RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_REG_MR,
			    env->fault->arg == REQUEST_CUT ? (void *)cut : &cmd, sizeof(cmd),
			    env->fault->arg == RESPONSE_READONLY ? readonly : &resp, sizeof(resp));
}

/* Commands by write(2) */
enum write { SHORT, WORDS, TOO_SHORT, RESPONSE_SHORT, NO_COMMAND, FLAGS, BUFFER, SETUID };

static int by_write(struct env *env)
{
	enum write wrong = env->fault->arg;
	char *map = pages(1, PROT_READ | PROT_WRITE);
	struct ib_uverbs_reg_mr_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_reg_mr cmd;
	} msg = {
		.hdr = { IB_USER_VERBS_CMD_REG_MR, sizeof(msg) / 4, sizeof(resp) / 4 },
		.cmd = {
			.response = (uintptr_t)&resp,
			.start = (uintptr_t)map,
			.length = PAGE,
			.hca_va = (uintptr_t)map,
			.pd_handle = env->pd->handle,
			.access_flags = IBV_ACCESS_LOCAL_WRITE,
		},
	};
	size_t length = sizeof(msg);
	void *buffer = &msg;

	if (wrong == SHORT)
		length = 4;
	if (wrong == WORDS)
		msg.hdr.in_words--;
	if (wrong == TOO_SHORT) {
		length -= 8;
		msg.hdr.in_words -= 2;
	}
	if (wrong == RESPONSE_SHORT)
		msg.hdr.out_words = 1;
	if (wrong == NO_COMMAND)
		msg.hdr.command = 200;
	if (wrong == FLAGS)
		msg.hdr.command |= 1 << 20;
	if (wrong == BUFFER) {
		buffer = UNMAPPED;
		truth("hole", "%p", UNMAPPED);
	}
	if (wrong == SETUID) {
		if (become_nobody())
			return -1;
		truth("uid", "%d", NOBODY);
		truth("opened_by_uid", "0");
	}
	truth("fd", "%d", env->ctx->cmd_fd);
	truth("command", "0x%x", msg.hdr.command);
	truth("in_words", "%u", msg.hdr.in_words);
	truth("out_words", "%u", msg.hdr.out_words);
	truth("write_bytes", "%zu", length);
	return write(env->ctx->cmd_fd, buffer, length) < 0 ? errno : 0;
}

/* 0: an object without a context. 1: a second context. */
static int context(struct env *env)
{
	int fd = open_uverbs(env->dev);
	struct ib_uverbs_alloc_pd cmd = { 0 };
	struct ib_uverbs_alloc_pd_resp resp;

	if (fd < 0)
		return unready(env->dev);
	truth("fd", "%d", fd);
	truth("contexts", "%d", env->fault->arg);
	if (!env->fault->arg)
		return invoke_write(fd, RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_ALLOC_PD, &cmd, sizeof(cmd), &resp,
				    sizeof(resp));
	if (get_context(fd, RDMA_DRIVER_RXE))
		return unready("GET_CONTEXT");
	return get_context(fd, RDMA_DRIVER_RXE);
}

const struct fault raw_faults[] = {
	{ "ioctl-length", "ioctl(CQ_CREATE)", "request-malformed", "a length that is not the attributes'", CONTEXT,
	  create_cq, LENGTH },
	{ "ioctl-reserved", "ioctl(CQ_CREATE)", "request-malformed", "a reserved field that is set", CONTEXT, create_cq,
	  RESERVED },
	{ "ioctl-driver", "ioctl(CQ_CREATE)", "request-malformed", "another driver's number", CONTEXT, create_cq,
	  DRIVER },
	{ "ioctl-number", "ioctl", "request-malformed", "a number that is no RDMA ioctl", CONTEXT, create_cq, NUMBER },
	{ "ioctl-method", "ioctl", "not-supported", "a method that does not exist", CONTEXT, create_cq, METHOD },
	{ "ioctl-object", "ioctl", "not-supported", "an object that does not exist", CONTEXT, create_cq, OBJECT },
	{ "ioctl-missing", "ioctl(CQ_CREATE)", "request-malformed", "without the number of entries", CONTEXT, create_cq,
	  MISSING },
	{ "ioctl-unknown", "ioctl(CQ_CREATE)", "not-supported", "a mandatory attribute that does not exist", CONTEXT,
	  create_cq, UNKNOWN_ATTR },
	{ "ioctl-duplicate", "ioctl(CQ_CREATE)", "request-malformed", "an attribute twice", CONTEXT, create_cq,
	  DUPLICATE },
	{ "ioctl-attr-length", "ioctl(CQ_CREATE)", "request-malformed", "an attribute of the wrong length", CONTEXT,
	  create_cq, ATTR_LENGTH },
	{ "ioctl-unmapped", "ioctl", "user-buffer", "a request that is not mapped", CONTEXT, create_cq,
	  UNMAPPED_REQUEST },
	{ "ioctl-attrs-cut", "ioctl(CQ_CREATE)", "user-buffer", "attributes that are not mapped", CONTEXT, create_cq,
	  ATTRS_CUT },
	{ "ioctl-response", "ioctl(CQ_CREATE)", "user-buffer", "a response that cannot be written", CONTEXT, create_cq,
	  RESPONSE },
	{ "ioctl-driver-response", "ioctl(CQ_CREATE)", "user-buffer", "a driver's response that cannot be written",
	  CONTEXT, create_cq, DRIVER_RESPONSE },
	{ "mr-response", "ioctl(REG_MR)", "user-buffer", "good memory, a response that cannot be written", PD, reg_mr,
	  RESPONSE_READONLY },
	{ "mr-request-cut", "ioctl(REG_MR)", "user-buffer", "good memory, a request that is not mapped", PD, reg_mr,
	  REQUEST_CUT },
	{ "write-short", "write(uverbs)", "request-malformed", "four bytes", PD, by_write, SHORT },
	{ "write-words", "write(REG_MR)", "request-malformed", "a length that is not the command's", PD, by_write,
	  WORDS },
	{ "write-too-short", "write(REG_MR)", "request-malformed", "a command cut short: ENOSPC", PD, by_write,
	  TOO_SHORT },
	{ "write-response-short", "write(REG_MR)", "request-malformed", "no room for the response: ENOSPC", PD,
	  by_write, RESPONSE_SHORT },
	{ "write-command-200", "write(uverbs)", "not-supported", "a command that does not exist", PD, by_write,
	  NO_COMMAND },
	{ "write-flags", "write(uverbs)", "request-malformed", "a flag of the command that does not exist", PD,
	  by_write, FLAGS },
	{ "write-unmapped", "write(uverbs)", "user-buffer", "a command that is not mapped", PD, by_write, BUFFER },
	{ "write-setuid", "write(REG_MR)", "credentials-changed", "privileges dropped after the device was opened", PD,
	  by_write, SETUID },
	{ "no-context", "ioctl(ALLOC_PD)", "context-state", "no context yet", NOTHING, context, 0 },
	{ "second-context", "ioctl(GET_CONTEXT)", "context-state", "a context already", NOTHING, context, 1 },
	{ 0 },
};
