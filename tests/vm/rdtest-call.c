/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls verbs of the driver in module/, which libibverbs does not know, by raw ioctls: open, GET_CONTEXT, ALLOC_PD,
 * REG_MR. Says what errno REG_MR gave, in the words of verbs-fail. With --removed the device goes away before REG_MR.
 * Build: cc -O2 -Wall -Wextra -o rdtest-call rdtest-call.c
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PRESENT "/sys/module/rdtest/parameters/present"

struct call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr[3];
};

static void add_attr(struct call *call, int id, const void *data, size_t len, bool out)
{
	struct ib_uverbs_attr *attr = &call->attr[call->hdr.num_attrs++];

	*attr = (struct ib_uverbs_attr){ .attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY };
	/* Input of up to eight bytes travels in the attribute itself. */
	if (!out && len <= sizeof(attr->data)) {
		__u64 inline_data = 0;

		memcpy(&inline_data, data, len);
		attr->data = inline_data;
	} else {
		attr->data = (uintptr_t)data;
	}
}

static int device_ioctl(int fd, struct call *call, int method)
{
	call->hdr.object_id = UVERBS_OBJECT_DEVICE;
	call->hdr.method_id = method;
	call->hdr.driver_id = RDMA_DRIVER_UNKNOWN;
	call->hdr.length = sizeof(call->hdr) + call->hdr.num_attrs * sizeof(call->attr[0]);
	return ioctl(fd, RDMA_VERBS_IOCTL, call) ? errno : 0;
}

static int invoke_write(int fd, __u64 command, const void *in, size_t in_len, void *out, size_t out_len)
{
	struct call call = { 0 };

	add_attr(&call, UVERBS_ATTR_CORE_IN, in, in_len, false);
	add_attr(&call, UVERBS_ATTR_CORE_OUT, out, out_len, true);
	add_attr(&call, UVERBS_ATTR_WRITE_CMD, &command, sizeof(command), false);
	return device_ioctl(fd, &call, UVERBS_METHOD_INVOKE_WRITE);
}

static int get_context(int fd)
{
	__u32 vectors;
	__u64 support;
	struct call call = { 0 };

	add_attr(&call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors), true);
	add_attr(&call, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &support, sizeof(support), true);
	return device_ioctl(fd, &call, UVERBS_METHOD_GET_CONTEXT);
}

static int open_uverbs(const char *ibdev)
{
	char name[64] = "", path[64];
	glob_t found;
	int fd = -1;

	if (glob("/sys/class/infiniband_verbs/uverbs*/ibdev", 0, NULL, &found))
		return -1;
	for (size_t i = 0; i < found.gl_pathc && fd < 0; i++) {
		FILE *file = fopen(found.gl_pathv[i], "r");

		if (!file)
			continue;
		if (fscanf(file, "%63s", name) == 1 && !strcmp(name, ibdev)) {
			sscanf(found.gl_pathv[i], "/sys/class/infiniband_verbs/%31[^/]", name);
			snprintf(path, sizeof(path), "/dev/infiniband/%.31s", name);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
		fclose(file);
	}
	globfree(&found);
	return fd;
}

static int give_up(const char *what, int err)
{
	fprintf(stderr, "rdtest-call: %s: %s\n", what, strerror(err));
	return 2;
}

int main(int argc, char **argv)
{
	static char memory[4096];
	bool removed = argc > 1 && !strcmp(argv[1], "--removed");
	struct ib_uverbs_alloc_pd pd = { 0 };
	struct ib_uverbs_alloc_pd_resp pd_resp = { 0 };
	struct ib_uverbs_reg_mr mr = { .length = sizeof(memory), .access_flags = 1 };
	struct ib_uverbs_reg_mr_resp mr_resp;
	int repeat = argc > 1 && !removed ? atoi(argv[1]) : 1;
	int fd = open_uverbs("rdtest0"), err;

	if (fd < 0)
		return give_up("rdtest0", errno);
	err = get_context(fd);
	if (err)
		return give_up("ioctl(GET_CONTEXT)", err);
	err = invoke_write(fd, IB_USER_VERBS_CMD_ALLOC_PD, &pd, sizeof(pd), &pd_resp, sizeof(pd_resp));
	if (err)
		return give_up("ioctl(ALLOC_PD)", err);
	if (removed) {
		int present = open(PRESENT, O_WRONLY);

		if (present < 0 || write(present, "0", 1) != 1)
			return give_up(PRESENT, errno);
		close(present);
	}
	mr.start = mr.hca_va = (uintptr_t)memory;
	mr.pd_handle = pd_resp.pd_handle;
	for (int i = 0; i < repeat; i++)
		err = invoke_write(fd, IB_USER_VERBS_CMD_REG_MR, &mr, sizeof(mr), &mr_resp, sizeof(mr_resp));
	printf("ioctl(REG_MR): %s (%s)\n", err ? strerror(err) : "did not fail", strerrorname_np(err));
	return err ? 0 : 1;
}
