/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first inputs of fuzz-record, as the programs of the tracer send them: record-seeds PREFIX writes PREFIX-NAME each. */
#include <linux/types.h>
#include <netinet/in.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/record.h"

static const char *prefix;

static struct rd_rec_moment moment(void)
{
	struct rd_rec_mapping mapping = { .start = 0x1000,
					  .end = 0x3000,
					  .flags = 0xb,
					  .at = 0x2000,
					  .file_size = 4096,
					  .mode = 0100644,
					  .name = "file" };
	struct rd_rec_moment ret = {
		.memlock = 65536,
		.nofile = 1024,
		.pinned = 16,
		.known = 0xff,
		.qp_mask = 0x12345,
		.qp_cur = 1,
		.qp_next = 2,
		.address = 0x1000,
		.length = 0x2000,
		.n_handles = 2,
		.mapped = RD_MAPPED_MORE,
		.response_what = RD_MAPPING_HOLE,
		.response = 0x7000,
		.fault = mapping,
		.special = mapping,
	};

	ret.fault.what = RD_MAPPING_PAST_END;
	ret.special.what = RD_MAPPING_FILE;
	for (int i = 0; i < RD_HANDLES_MAX; i++)
		ret.handles[i] =
			(struct rd_rec_handle){ .handle = 3 + i, .number = 17, .users = 1, .type = 4, .flags = 0xff };
	return ret;
}

static void put(const char *name, __u64 verb, const struct rd_rec_request *request, size_t size)
{
	static const __u64 frames[] = { 0x1000, 0x2000, 0x3000, 0x4000 };
	const struct rd_rec_moment m = moment();
	struct rd_rec rec = {
		.time = 1,
		.cgroup = 2,
		.verb = verb,
		.pid = 10,
		.tid = 11,
		.origin = 5,
		.dev = 231 << 20 | 192,
		.qpn = 17,
		.port = 1,
		.err = -14,
		.n_chain = 3,
		.flags = RD_REC_QPN | RD_REC_PORT,
		.n_kstack = 4,
		.n_user = 1,
		.num_attrs = 4,
		.n_moment = 1,
		.n_request = size,
		.comm = "comm",
		.ibdev = "dev0",
		.chain = { { 5, -14, 0 }, { 1, -14, RD_LINK_BRANCH }, { 0, -14, 0 } },
	};
	const struct rd_rec_user user = { .size = sizeof(frames) };
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s-%s", prefix, name);
	file = fopen(path, "wb");
	if (!file || !fwrite(&rec, offsetof(struct rd_rec, chain) + rec.n_chain * sizeof(rec.chain[0]), 1, file) ||
	    !fwrite(frames, sizeof(frames), 1, file) || !fwrite(&m, sizeof(m), 1, file) ||
	    (size && !fwrite(request, size, 1, file)) || !fwrite(&user, sizeof(user), 1, file) ||
	    !fwrite(frames, sizeof(frames), 1, file) || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static size_t up_to_blocks(const struct rd_rec_request *req)
{
	return offsetof(struct rd_rec_request, blocks) + req->n_blocks * sizeof(req->blocks[0]);
}

/* A command by ioctl. */
static void put_command(const char *name, __u32 number, const void *cmd, size_t size)
{
	struct rd_rec_request req = {
		.n_attrs = 3,
		.n_blocks = size > 8,
		.attrs = { { UVERBS_ATTR_CORE_IN, size, 1, 0, 0x5000 },
			   { UVERBS_ATTR_CORE_OUT, 12, 1, 0, 0x6000 },
			   { UVERBS_ATTR_WRITE_CMD, 8, 1, 0, number } },
		.blocks = { { .attr = 0, .len = size } },
	};

	memcpy(size > 8 ? (void *)req.blocks[0].bytes : &req.attrs[0].data, cmd, size);
	put(name, RD_VERB(RD_VERB_INVOKE_WRITE, number), &req, up_to_blocks(&req));
}

/* A command by write(2) on either device file. */
static void put_raw(const char *name, __u64 verb, const void *cmd, size_t size)
{
	struct rd_rec_request req = { .n_raw = size };

	memcpy(req.raw, cmd, size);
	put(name, verb, &req, offsetof(struct rd_rec_request, raw) + RD_REQUEST_RAW);
}

static void put_qp_create(void)
{
	const struct ib_uverbs_qp_cap cap = { 7, 8, 9, 10, 11 };
	struct rd_rec_request req = {
		.n_attrs = 5,
		.n_blocks = 1,
		.attrs = { { UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, 1, 0, 3 },
			   { UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, 1, 0, 4 },
			   { UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, 1, 0, 5 },
			   { UVERBS_ATTR_CREATE_QP_CAP, sizeof(cap), 1, 0, 0x5000 },
			   { UVERBS_ATTR_CREATE_QP_TYPE, 8, 1, 0, IB_UVERBS_QPT_RC } },
		.blocks = { { .attr = 3, .len = sizeof(cap) } },
	};

	memcpy(req.blocks[0].bytes, &cap, sizeof(cap));
	put("ioctl", RD_VERB(RD_VERB_IOCTL, UVERBS_OBJECT_QP << 16 | UVERBS_METHOD_QP_CREATE), &req, up_to_blocks(&req));
}

int main(int argc, char **argv)
{
	const struct ib_uverbs_reg_mr reg_mr = { .start = 0x1000, .length = 0x2000, .pd_handle = 3, .access_flags = 1 };
	const struct ib_uverbs_modify_qp modify = { .qp_handle = 3, .attr_mask = 1, .qp_state = 2, .port_num = 1 };
	const struct ib_uverbs_dereg_mr dereg = { .mr_handle = 3 };
	const struct rdma_ucm_connect connect = { .conn_param = { .qp_num = 17, .private_data_len = 56 }, .id = 9 };
	struct rdma_ucm_resolve_addr resolve = { .id = 5, .src_size = 28, .dst_size = 28 };

	if (argc != 2)
		return 2;
	prefix = argv[1];
	resolve.src_addr.ss_family = AF_INET;
	resolve.dst_addr.ss_family = AF_INET6;
	put_command("command", IB_USER_VERBS_CMD_REG_MR, &reg_mr, sizeof(reg_mr));
	put_command("modify", IB_USER_VERBS_CMD_MODIFY_QP, &modify, sizeof(modify));
	put_command("inline", IB_USER_VERBS_CMD_DEREG_MR, &dereg, sizeof(dereg));
	put_qp_create();
	/* The function with this id is its handler: fns[] of fuzz-record.c. */
	put_raw("write", RD_VERB(RD_VERB_WRITE, 1), &reg_mr, sizeof(reg_mr));
	put_raw("resolve", RD_VERB(RD_VERB_UCMA, RDMA_USER_CM_CMD_RESOLVE_ADDR), &resolve, sizeof(resolve));
	put_raw("connect", RD_VERB(RD_VERB_UCMA, RDMA_USER_CM_CMD_CONNECT), &connect, sizeof(connect));
	put("none", RD_VERB(RD_VERB_FOP, 1), NULL, 0);
	return 0;
}
