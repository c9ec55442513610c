// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls that fail on purpose, for trace-errno --audit --probe: handles and attributes that do not exist. They change nothing on
 * the device. Run by a hidden command in a process of its own, because providers of libibverbs may hang or crash.
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "trace.h"

#define NO_HANDLE 0x7ffffff0u
#define NO_PORT 77
#define NO_OBJECT 0x0ff0
#define PAGE 4096
#define DRIVERS 64

/* Not with the header's prototypes, some of which belong to inline wrappers. */
static struct {
	struct ibv_device **(*get_device_list)(int *n);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, int access);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *arg, struct ibv_comp_channel *channel,
				    int vector);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
} lib;

static const char *const names[] = { "ibv_get_device_list", "ibv_get_device_name", "ibv_open_device",
				     "ibv_alloc_pd",	    "ibv_reg_mr",	   "ibv_create_cq",
				     "ibv_create_qp",	    "ibv_modify_qp",	   "ibv_attach_mcast" };
_Static_assert(sizeof(lib) == RD_ARRAY_SIZE(names) * sizeof(void *), "one name per pointer, in the same order");

static struct rd_late late = {
	.library = &rd_libraries[RD_LIBIBVERBS],
	.names = names,
	.n = RD_ARRAY_SIZE(names),
	.table = &lib,
};

struct device {
	uint32_t driver; /* enum rdma_driver_id: the kernel refuses requests of other drivers */
	struct ibv_context *context;
	struct ibv_pd *pd; /* NULL, as those below: could not be created */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

#define ATTRS_MAX 2

static uint8_t response[256];

struct call {
	const char *name;
	int (*make)(const struct device *device); /* NULL: an ioctl */
	uint16_t object, method, n_attrs;
	/* The first attribute, and the second, which is for the response. */
	uint16_t id, len;
	uint64_t data;
	uint16_t response, response_len;
};

/* An ioctl without anything that depends on the driver. Returns the errno. */
static int request(const struct device *device, const struct call *call)
{
	struct {
		struct ib_uverbs_ioctl_hdr head;
		struct ib_uverbs_attr attrs[ATTRS_MAX];
	} req = { .head = { .length = sizeof(req.head) + call->n_attrs * sizeof(req.attrs[0]),
			    .object_id = call->object,
			    .method_id = call->method,
			    .num_attrs = call->n_attrs,
			    .driver_id = device->driver },
		  .attrs = {
			  { .attr_id = call->id, .len = call->len, .flags = UVERBS_ATTR_F_MANDATORY, .data = call->data },
			  { .attr_id = call->response,
			    .len = call->response_len,
			    .flags = UVERBS_ATTR_F_MANDATORY,
			    .data = (uintptr_t)response } } };

	return ioctl(device->context->cmd_fd, RDMA_VERBS_IOCTL, &req) ? errno : 0;
}

static int header_length(const struct device *device)
{
	struct ib_uverbs_ioctl_hdr head = { .length = 1, .driver_id = device->driver };

	return ioctl(device->context->cmd_fd, RDMA_VERBS_IOCTL, &head) ? errno : 0;
}

static int unmapped(const struct device *device)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!device->pd || page == MAP_FAILED)
		return -1;
	munmap(page, PAGE);
	return lib.reg_mr(device->pd, page, PAGE, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno;
}

static int access_flags(const struct device *device)
{
	static char page[PAGE];

	if (!device->pd)
		return -1;
	return lib.reg_mr(device->pd, page, PAGE, IBV_ACCESS_REMOTE_WRITE) ? 0 : errno;
}

static int vector(const struct device *device)
{
	return lib.create_cq(device->context, 16, NULL, NULL, INT32_MAX) ? 0 : errno;
}

static int state(const struct device *device)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	return device->qp ? lib.modify_qp(device->qp, &attr, IBV_QP_STATE) : -1;
}

static int multicast(const struct device *device)
{
	union ibv_gid gid = { .raw = { 0xff } };

	return device->qp ? lib.attach_mcast(device->qp, &gid, 0) : -1;
}

/* What each call is, and what makes it: a function, or an ioctl. */
static const struct call calls[PROBES] = {
	{ "destroy a protection domain that does not exist", NULL, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 1,
	  UVERBS_ATTR_DESTROY_PD_HANDLE, 0, NO_HANDLE },
	{ "deregister a memory region that does not exist", NULL, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, 1,
	  UVERBS_ATTR_DESTROY_MR_HANDLE, 0, NO_HANDLE },
	{ "destroy a completion queue that does not exist", NULL, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, 2,
	  UVERBS_ATTR_DESTROY_CQ_HANDLE, 0, NO_HANDLE, UVERBS_ATTR_DESTROY_CQ_RESP,
	  sizeof(struct ib_uverbs_destroy_cq_resp) },
	{ "destroy a protection domain without naming one", NULL, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY },
	{ "an attribute that does not exist", NULL, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 1, NO_OBJECT, 0,
	  NO_HANDLE },
	{ "an object type that does not exist", NULL, NO_OBJECT },
	{ "a method that does not exist", NULL, UVERBS_OBJECT_PD, NO_OBJECT },
	{ "a request shorter than its header", header_length },
	{ "query a port that does not exist", NULL, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 2,
	  UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, NO_PORT, UVERBS_ATTR_QUERY_PORT_RESP,
	  sizeof(struct ib_uverbs_query_port_resp_ex) },
	{ "register memory that is not mapped", unmapped },
	{ "register memory for remote write without local write", access_flags },
	{ "create a completion queue on a vector that does not exist", vector },
	{ "move a queue pair from RESET to RTS", state },
	{ "attach an RC queue pair to a multicast group", multicast },
};

const char *probe_name(size_t i)
{
	return calls[i].name;
}

static int open_device(const char *name, struct device *ret, struct rd_err *err)
{
	struct ibv_device **list;
	int n = 0, r = rd_late_load(&late, "libibverbs", err);

	if (r < 0)
		return r;
	list = lib.get_device_list(&n);
	for (int i = 0; list && i < n && !ret->context; i++)
		if (!strcmp(lib.get_device_name(list[i]), name))
			ret->context = lib.open_device(list[i]);
	if (!ret->context)
		return rd_err_set(err, ENODEV, name, "libibverbs does not know the device, or cannot open it");
	/* Requests of another driver fail with EINVAL, whatever they name. */
	for (ret->driver = 0; ret->driver < DRIVERS && request(ret, &(struct call){ .object = NO_OBJECT }) == EINVAL;)
		ret->driver++;
	ret->pd = lib.alloc_pd(ret->context);
	ret->cq = lib.create_cq(ret->context, 16, NULL, NULL, 0);
	if (ret->pd && ret->cq)
		ret->qp = lib.create_qp(ret->pd, &(struct ibv_qp_init_attr){
							 .send_cq = ret->cq,
							 .recv_cq = ret->cq,
							 .cap = { 4, 4, 1, 1, 0 },
							 .qp_type = IBV_QPT_RC,
						 });
	return 0;
}

static int make_calls(struct rd_ctx *ctx, int argc, char **argv)
{
	struct device device = { 0 };
	_cleanup_close_ int fd = argc == 2 ? open(argv[1], O_WRONLY | O_CLOEXEC) : -1;
	struct rd_err err = { 0 };

	if (fd < 0)
		return RD_EXIT_UNKNOWN;
	if (open_device(argv[0], &device, &err))
		return rd_fail(ctx, &err);
	for (unsigned i = 0; i < PROBES; i++) {
		struct probe_result result = { .probe = i,
					       .err = calls[i].make ? calls[i].make(&device) :
								      request(&device, &calls[i]) };

		if (write(fd, &result, sizeof(result)) != sizeof(result))
			return RD_EXIT_UNKNOWN;
	}
	/* The kernel destroys what was created: a hook on that would report it. */
	return RD_EXIT_OK;
}

const struct rd_cmd rd_cmd_probe_calls = {
	.name = "probe-calls",
	.summary = "make calls that fail on purpose, for trace-errno --audit --probe",
	.operands = "IBDEV FILE",
	.description =
		"Makes calls that fail on a device, and writes their errors to FILE. Run by trace-errno --audit --probe.",
	.hidden = true,
	.live_only = true,
	.run = make_calls,
};
