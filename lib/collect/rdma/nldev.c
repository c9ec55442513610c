/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries of nldev, and their order. */
#include "collect/rdma/nldev.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/no-rdma.h"
#include "base/text.h"
#include "collect/host/verbs.h"
#include "collect/rdma/nldev-priv.h"
#include "collect/rdma/procs.h"
#include "collect/rdma/qp-event.h"
#include "collect/shared/sysfs.h"

#define DEVICES_MAX 4096
/* Numbers to try after a dump that ended early: one request each, about 1 us. */
#define NUMBERS_MAX 65536u
/* A request with up to three attributes. */
struct request {
	uint8_t bytes[MNL_NLMSG_HDRLEN + 64] __attribute__((aligned(MNL_ALIGNTO)));
	struct nlmsghdr *head; /* within `bytes` */
};

static void request_init(struct request *request, unsigned command, uint16_t flags)
{
	*request = (struct request){ 0 };
	request->head = mnl_nlmsg_put_header(request->bytes);
	request->head->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	request->head->nlmsg_flags = NLM_F_REQUEST | flags;
}

static int send_request(struct rd_source *src, const struct request *request, struct rd_bytes *ret, struct rd_err *err)
{
	return rd_netlink(src, NETLINK_RDMA, request->head, request->head->nlmsg_len, ret, err);
}

struct nldev {
	struct rd_source *src;
	struct rd_res *res;
	struct rd_errlist *errors;
};

static int query_device(const struct nldev *nl, unsigned command, uint16_t flags, int dev, struct rd_bytes *ret,
			struct rd_err *err)
{
	struct request request;

	request_init(&request, command, flags);
	mnl_attr_put_u32(request.head, RDMA_NLDEV_ATTR_DEV_INDEX, nl->res->devs[dev].index);
	return send_request(nl->src, &request, ret, err);
}

struct named {
	struct rd_res *res;
	const char *wanted; /* NULL: all */
};

static int take_device(void *arg, const struct rd_nldev_attrs *attrs)
{
	const struct named *named = arg;
	struct rd_res *res = named->res;
	struct rd_res_dev *dev;
	const char *name;

	if (!attrs->v[RDMA_NLDEV_ATTR_DEV_INDEX] || !attrs->v[RDMA_NLDEV_ATTR_DEV_NAME] || res->n_devs >= DEVICES_MAX)
		return 0;
	name = mnl_attr_get_str(attrs->v[RDMA_NLDEV_ATTR_DEV_NAME]);
	if ((named->wanted && strcmp(name, named->wanted) != 0) || rd_res_find_dev(res, name) >= 0)
		return 0;
	dev = RD_ADD(res->devs, res->n_devs, res->cap_devs);
	*dev = (struct rd_res_dev){ .index = mnl_attr_get_u32(attrs->v[RDMA_NLDEV_ATTR_DEV_INDEX]),
				    .name = rd_dup(name) };
	if (attrs->v[RDMA_NLDEV_ATTR_PORT_INDEX])
		dev->n_ports = mnl_attr_get_u32(attrs->v[RDMA_NLDEV_ATTR_PORT_INDEX]);
	RD_NLDEV_U64(attrs, RDMA_NLDEV_ATTR_NODE_GUID, dev->node_guid);
	RD_NLDEV_U8(attrs, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, dev->node_type);
	rd_nldev_text(attrs, RDMA_NLDEV_ATTR_FW_VERSION, &dev->firmware);
	rd_nldev_text(attrs, RDMA_NLDEV_ATTR_DEV_PROTOCOL, &dev->protocol);
	return 0;
}

static int compare_devices(const void *a, const void *b)
{
	const struct rd_res_dev *x = a, *y = b;

	return rd_natural_compare(x->name, y->name);
}

/* Opening a socket of this protocol would load ib_core: reading must not change the host. */
static int check_stack(struct rd_source *src, struct rd_err *err)
{
	_cleanup_names_ struct rd_names names = { 0 };
	int r = rd_list_dir(src, "/sys/class/infiniband", &names, err);

	return r == -ENOENT ? rd_no_rdma_stack(err) : r;
}

static int collect_devices(const struct nldev *nl, const char *wanted, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct named named = { nl->res, wanted };
	struct request request;
	int r;

	request_init(&request, RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	r = send_request(nl->src, &request, &reply, err);
	if (r == -ENOENT) {
		rd_err_set(err, ENOENT, "RDMA netlink", "the bundle contains no queue pairs");
		rd_err_hint(err, "run rdmadiag capture to record queue pairs; a plain sysfs tree does not contain them");
	}
	if (r < 0)
		return r;
	rd_nldev_each(&reply, RDMA_NLDEV_CMD_GET, take_device, &named);
	if (nl->res->n_devs > 0)
		qsort(nl->res->devs, nl->res->n_devs, sizeof(*nl->res->devs), compare_devices);
	else if (wanted)
		return rd_err_set(err, ENODEV, wanted, "no such RDMA device in this network namespace");
	return 0;
}

static int take_mode(void *arg, const struct rd_nldev_attrs *attrs)
{
	struct rd_res *res = arg;

	if (attrs->v[RDMA_NLDEV_SYS_ATTR_NETNS_MODE])
		RD_SET(res->netns_shared, mnl_attr_get_u8(attrs->v[RDMA_NLDEV_SYS_ATTR_NETNS_MODE]) == 1);
	return 0;
}

/* Whether all network namespaces see all devices. Kernels before 5.2 do not report it; there, they do. */
static void collect_mode(const struct nldev *nl)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct request request;

	request_init(&request, RDMA_NLDEV_CMD_SYS_GET, 0);
	if (send_request(nl->src, &request, &reply, NULL) == 0)
		rd_nldev_each(&reply, RDMA_NLDEV_CMD_SYS_GET, take_mode, nl->res);
}

static int take_counts(void *arg, const struct rd_nldev_attrs *attrs)
{
	const struct nlattr *entry = NULL;
	struct rd_nldev_attrs one = { 0 };
	struct rd_res_dev *dev = arg;

	while (rd_nla_next_nested(attrs->v[RDMA_NLDEV_ATTR_RES_SUMMARY], &entry)) {
		rd_nla_nested(entry, rd_nldev_policy, RD_NLDEV_ATTRS, one.v);
		if (!one.v[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME])
			continue;
		for (int kind = 0; kind < RD_RES_KINDS; kind++)
			if (strcmp(mnl_attr_get_str(one.v[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME]),
				   rd_res_kind_name(kind)) == 0)
				RD_NLDEV_U64(&one, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, dev->used[kind]);
	}
	return 0;
}

static void collect_counts(const struct nldev *nl, int dev)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct rd_err err = { 0 };

	if (query_device(nl, RDMA_NLDEV_CMD_RES_GET, 0, dev, &reply, &err) == 0)
		rd_nldev_each(&reply, RDMA_NLDEV_CMD_RES_GET, take_counts, &nl->res->devs[dev]);
	else
		rd_errlist_add(nl->errors, &err);
}

static int take_driver(void *arg, const struct rd_nldev_attrs *attrs)
{
	struct rd_res_dev *dev = arg;

	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, dev->driver_id);
	return 0;
}

/* The driver of the device. Without ib_uverbs, skipped: the query would load the module. */
static void collect_driver(const struct nldev *nl, int dev)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct request request;
	uint64_t ino;

	if (rd_stat(nl->src, RD_OP_INO, "/sys/class/infiniband_verbs", &ino, NULL) < 0)
		return;
	request_init(&request, RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	mnl_attr_put_u32(request.head, RDMA_NLDEV_ATTR_DEV_INDEX, nl->res->devs[dev].index);
	mnl_attr_put_strz(request.head, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	if (send_request(nl->src, &request, &reply, NULL) == 0)
		rd_nldev_each(&reply, RDMA_NLDEV_CMD_GET_CHARDEV, take_driver, &nl->res->devs[dev]);
}

struct ports {
	struct rd_res *res;
	int dev;
};

static int take_port(void *arg, const struct rd_nldev_attrs *attrs)
{
	const struct ports *ports = arg;
	struct rd_res *res = ports->res;
	struct rd_res_port *port;

	if (!attrs->v[RDMA_NLDEV_ATTR_PORT_INDEX])
		return 0;
	port = RD_ADD(res->ports, res->n_ports, res->cap_ports);
	*port = (struct rd_res_port){ .dev = ports->dev, .num = mnl_attr_get_u32(attrs->v[RDMA_NLDEV_ATTR_PORT_INDEX]) };
	RD_NLDEV_U8(attrs, RDMA_NLDEV_ATTR_PORT_STATE, port->state);
	RD_NLDEV_U8(attrs, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, port->phys_state);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_LID, port->lid);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_NDEV_INDEX, port->netdev_index);
	rd_nldev_text(attrs, RDMA_NLDEV_ATTR_NDEV_NAME, &port->netdev);
	return 0;
}

static void collect_ports(const struct nldev *nl, int dev)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct ports ports = { nl->res, dev };
	struct rd_err err = { 0 };

	if (query_device(nl, RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP, dev, &reply, &err) == 0)
		rd_nldev_each(&reply, RDMA_NLDEV_CMD_PORT_GET, take_port, &ports);
	else
		rd_errlist_add(nl->errors, &err);
}

/* -errno; -ENOENT: no QP with this number; -EAGAIN: the QP has another port or, before INIT, none. */
static int query_number(const struct nldev *nl, int dev, uint32_t port, uint32_t id, struct rd_bytes *ret)
{
	struct request request;

	request_init(&request, RDMA_NLDEV_CMD_RES_QP_GET, 0);
	mnl_attr_put_u32(request.head, RDMA_NLDEV_ATTR_DEV_INDEX, nl->res->devs[dev].index);
	mnl_attr_put_u32(request.head, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	mnl_attr_put_u32(request.head, RDMA_NLDEV_ATTR_RES_LQPN, id);
	return send_request(nl->src, &request, ret, NULL);
}

/* Whether the kernel supports queries by number, and the device still exists. 0xffffff is the multicast QPN: no QP has it. */
static bool supports_query_by_number(const struct nldev *nl, int dev)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };

	return query_number(nl, dev, 1, 0xffffff, &reply) == -ENOENT;
}

/* Adds a QP that exists, but whose query failed. */
static int add_unknown(struct rd_res *res, int dev, uint32_t id, int code)
{
	struct rd_qp *qp = RD_ADD(res->qps, res->n_qps, res->cap_qps);

	*qp = (struct rd_qp){ .dev = dev, .proc = -1, .query_errno = code };
	RD_SET(qp->lqpn, id & 0xffffff);
	if (id >> 24)
		RD_SET(qp->port, id >> 24);
	return 1;
}

/* Queries one QP by its number in the kernel's table. 1: found, 0: no such QP, -ENODEV: no reply any more. */
static int collect_number(const struct nldev *nl, int dev, uint32_t id)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct rd_res *res = nl->res;
	uint32_t port = id >> 24 ? id >> 24 : 1, last = id >> 24 ? id >> 24 : res->devs[dev].n_ports;
	size_t before = res->n_qps;
	int r;

	do
		r = query_number(nl, dev, port, id, &reply);
	while (r == -EAGAIN && port++ < last);
	if (r == -ENOENT)
		return 0;
	if (r == 0) {
		rd_nldev_take(&reply, RD_RES_QP, dev, res);
		return res->n_qps > before;
	}
	return r == -EAGAIN || supports_query_by_number(nl, dev) ? add_unknown(res, dev, id, -r) : -ENODEV;
}

/*
 * The dump ended at a QP whose query failed. It is in ascending order, so all QPs after the last listed one are missing,
 * including those of the message that the kernel was filling. Order of queries: special QPs, which the kernel indexes by port;
 * then the following numbers; then numbers of connections. Ends when as many QPs are known as the kernel counts.
 */
static void collect_by_number(const struct nldev *nl, int dev, size_t first)
{
	struct rd_res *res = nl->res;
	struct rd_res_dev *of = &res->devs[dev];
	uint64_t all = of->used[RD_RES_QP].known == RD_OK ? of->used[RD_RES_QP].v : UINT64_MAX,
		 have = res->n_qps - first;
	uint32_t from = 0, below = 0;
	int r = 0;

	for (size_t i = first; i < res->n_qps; i++)
		if (res->qps[i].lqpn.v >= from)
			from = res->qps[i].lqpn.v + 1;
	for (unsigned port = 1; port <= of->n_ports && port < 255 && have < all && r >= 0; port++)
		for (uint32_t id = 0; id <= 1 && r >= 0; id++) {
			r = collect_number(nl, dev, port << 24 | id);
			have += r > 0;
		}
	below = from < NUMBERS_MAX ? NUMBERS_MAX : from + NUMBERS_MAX;
	for (uint32_t id = from; id < below && have < all && r >= 0; id++) {
		r = collect_number(nl, dev, id);
		have += r > 0;
	}
	for (size_t i = 0; i < res->n_cm_ids && have < all && r >= 0; i++) {
		const struct rd_cm_id *cm_id = &res->cm_ids[i];

		if (cm_id->dev != dev || cm_id->lqpn.known != RD_OK || cm_id->lqpn.v < below)
			continue;
		r = collect_number(nl, dev, cm_id->lqpn.v);
		have += r > 0;
	}
}

/* After a dump that ended early: queries the rest by number, and reports an error. */
static void collect_rest(const struct nldev *nl, int dev, size_t first)
{
	const struct rd_res_dev *of = &nl->res->devs[dev];
	size_t listed = nl->res->n_qps - first;
	bool numbers = of->n_ports > 0 && supports_query_by_number(nl, dev);
	struct rd_err err = { 0 };

	if (numbers)
		collect_by_number(nl, dev, first);
	rd_err_set(&err, of->gaps[RD_RES_QP].code, of->name,
		   "the kernel ended its dump of queue pairs after %zu; queries by number found %zu more%s", listed,
		   nl->res->n_qps - first - listed, numbers ? "" : ": the kernel does not support them");
	rd_errlist_add(nl->errors, &err);
}

static int compare_qps(const void *a, const void *b)
{
	const struct rd_qp *x = a, *y = b;

	return RD_CMP(x->dev, y->dev) ?: RD_CMP(x->lqpn.v, y->lqpn.v) ?: RD_CMP(x->port.v, y->port.v);
}

/* A dump resumes by position: if a QP is destroyed meanwhile, the next message may repeat another one. */
static void sort_qps(struct rd_res *res)
{
	size_t kept = 0, sorted = 1;

	/* The kernel's order, mostly. qsort would use as much memory again. */
	while (sorted < res->n_qps && compare_qps(&res->qps[sorted - 1], &res->qps[sorted]) <= 0)
		sorted++;
	if (sorted < res->n_qps)
		qsort(res->qps, res->n_qps, sizeof(*res->qps), compare_qps);
	for (size_t i = 0; i < res->n_qps; i++) {
		if (kept > 0 && compare_qps(&res->qps[kept - 1], &res->qps[i]) == 0) {
			rd_qp_deinit(&res->qps[i]);
		} else {
			res->qps[kept++] = res->qps[i];
		}
	}
	res->n_qps = kept;
}

static void collect_kind(const struct nldev *nl, enum rd_res_kind kind, int dev)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct rd_res_gap *gap = &nl->res->devs[dev].gaps[kind];
	size_t first = nl->res->n_qps;
	struct rd_err err = { 0 };
	int r = query_device(nl, rd_nldev_command(kind), NLM_F_DUMP, dev, &reply, &err);

	nl->res->devs[dev].requested[kind] = true;
	/* Old kernels do not support all kinds (EOPNOTSUPP, EINVAL): not an error, but not zero either. */
	if (r < 0)
		gap->code = -r;
	else
		rd_nldev_consume(&reply, kind, dev, nl->res);
	if (gap->code && kind == RD_RES_QP)
		collect_rest(nl, dev, first);
}

static void count_listed(struct rd_res *res)
{
	for (size_t i = 0; i < res->n_qps; i++)
		res->devs[res->qps[i].dev].listed[RD_RES_QP]++;
	for (size_t i = 0; i < res->n_cm_ids; i++)
		res->devs[res->cm_ids[i].dev].listed[RD_RES_CM_ID]++;
	for (size_t i = 0; i < res->n_objects; i++)
		res->devs[res->objects[i].dev].listed[res->objects[i].kind]++;
}

/* QPs destroyed between the count and the dump are not missing from the list. */
static void update_count(const struct nldev *nl, int dev, size_t listed)
{
	struct rd_res_dev *of = &nl->res->devs[dev];
	uint64_t before = of->used[RD_RES_QP].v;

	if (of->used[RD_RES_QP].known != RD_OK || before <= listed)
		return;
	collect_counts(nl, dev);
	/* Nor are QPs created since. */
	if (of->used[RD_RES_QP].v > before)
		of->used[RD_RES_QP].v = before;
}

static void collect_of_device(const struct nldev *nl, unsigned want, int dev)
{
	/* QPs last: queries by number use the numbers of connections. */
	static const enum rd_res_kind order[] = { RD_RES_CM_ID, RD_RES_CQ,  RD_RES_MR, RD_RES_PD,
						  RD_RES_CTX,	RD_RES_SRQ, RD_RES_QP };
	size_t first = nl->res->n_qps;

	collect_counts(nl, dev);
	collect_driver(nl, dev);
	if (want & RD_WANT_PORTS)
		collect_ports(nl, dev);
	for (size_t i = 0; i < RD_ARRAY_SIZE(order); i++)
		if (want & 1u << order[i])
			collect_kind(nl, order[i], dev);
	if (want & RD_WANT_QPS)
		update_count(nl, dev, nl->res->n_qps - first);
}

int rd_collect_res(struct rd_source *src, unsigned want, const char *device, struct rd_res *ret,
		   struct rd_errlist *errors, struct rd_err *err)
{
	struct nldev nl = { .src = src, .res = ret, .errors = errors };
	int r = check_stack(src, err);

	if (!r)
		r = collect_devices(&nl, device, err);
	if (r < 0)
		return r;
	collect_mode(&nl);
	for (size_t i = 0; i < ret->n_devs; i++)
		collect_of_device(&nl, want, (int)i);
	sort_qps(ret);
	count_listed(ret);
	/* After the counts: the child process opens a context of its own. */
	if (want & RD_WANT_LIMITS)
		rd_collect_res_limits(src, ret, errors);
	if (want & RD_WANT_PROCS)
		rd_collect_res_procs(src, ret);
	/* After the list: a queue pair that is created in between is not missing here. */
	if (want & RD_WANT_RECORDED)
		rd_collect_qp_recorded(src, ret, errors);
	rd_collect_qp_queries(src, ret, errors);
	return 0;
}
