/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands as the kernel gets them, for what libibverbs would refuse itself, has no function for, or does right.
 */
#include "fault.h"
#include <glob.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <sys/ioctl.h>

struct call call_of(uint16_t object, uint16_t method, uint32_t driver)
{
	return (struct call){ .hdr = { .object_id = object, .method_id = method, .driver_id = driver } };
}

static struct ib_uverbs_attr *next_attr(struct call *call, int id, size_t len)
{
	struct ib_uverbs_attr *attr = &call->attr[call->hdr.num_attrs++];

	*attr = (struct ib_uverbs_attr){ .attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY };
	return attr;
}

/* Input of up to eight bytes travels in the attribute itself. */
struct ib_uverbs_attr *call_in(struct call *call, int id, const void *data, size_t len)
{
	struct ib_uverbs_attr *attr = next_attr(call, id, len);
	uint64_t own = 0;

	if (len <= sizeof(own)) {
		memcpy(&own, data, len);
		attr->data = own;
	} else {
		attr->data = (uintptr_t)data;
	}
	return attr;
}

struct ib_uverbs_attr *call_out(struct call *call, int id, void *data, size_t len)
{
	struct ib_uverbs_attr *attr = next_attr(call, id, len);

	attr->data = (uintptr_t)data;
	return attr;
}

struct ib_uverbs_attr *call_obj(struct call *call, int id, int64_t handle)
{
	struct ib_uverbs_attr *attr = next_attr(call, id, 0);

	attr->data_s64 = handle;
	return attr;
}

struct ib_uverbs_attr *call_u32(struct call *call, int id, uint32_t value)
{
	return call_in(call, id, &value, sizeof(value));
}

struct ib_uverbs_attr *call_u64(struct call *call, int id, uint64_t value)
{
	return call_in(call, id, &value, sizeof(value));
}

int call_run(int fd, struct call *call)
{
	call->hdr.length = sizeof(call->hdr) + call->hdr.num_attrs * sizeof(call->attr[0]);
	return ioctl(fd, RDMA_VERBS_IOCTL, call) ? errno : 0;
}

int invoke_write(int fd, uint32_t driver, uint64_t command, const void *in, size_t in_len, void *out, size_t out_len)
{
	struct call call = call_of(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, driver);

	if (in_len)
		call_in(&call, UVERBS_ATTR_CORE_IN, in, in_len);
	if (out_len)
		call_out(&call, UVERBS_ATTR_CORE_OUT, out, out_len);
	call_u64(&call, UVERBS_ATTR_WRITE_CMD, command);
	return call_run(fd, &call);
}

int get_context(int fd, uint32_t driver)
{
	struct call call = call_of(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, driver);
	uint32_t vectors;
	uint64_t support;

	call_out(&call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	call_out(&call, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &support, sizeof(support));
	return call_run(fd, &call);
}

int open_uverbs(const char *ibdev)
{
	char name[64] = "", path[64];
	glob_t found;
	int fd = -1;

	errno = ENODEV;
	if (glob("/sys/class/infiniband_verbs/uverbs*/ibdev", 0, NULL, &found))
		return -1;
	for (size_t i = 0; i < found.gl_pathc && fd < 0; i++) {
		FILE *file = fopen(found.gl_pathv[i], "re");

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
