/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters via RDMA netlink (include/uapi/rdma/rdma_netlink.h): one request for all counters of a port, which a driver reads from
 * the hardware at once; each file of hw_counters/ may cost a separate hardware read. */
#include "collect/counters/counters-priv.h"
#include "collect/shared/nlattr.h"
#include "collect/shared/uapi.h"

#include <linux/netlink.h>

#define BOUND_MAX 4096
#define ATTRS RD_NLDEV_ATTRS

static const uint8_t policy[ATTRS] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_DEV_NAME] = MNL_TYPE_NUL_STRING,
	[RDMA_NLDEV_ATTR_PORT_INDEX] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_STAT_COUNTER] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME] = MNL_TYPE_NUL_STRING,
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE] = MNL_TYPE_U64,
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC] = MNL_TYPE_U8,
};

/* Sends a request for a port; 0 omits an attribute. */
static int request_stats(struct rd_counter_reader *reader, uint32_t command, uint16_t flags, const uint32_t *ibdev,
			 uint32_t port, uint32_t resource, struct rd_bytes *ret)
{
	union {
		struct nlmsghdr head;
		uint8_t data[64];
	} request = { 0 };

	mnl_nlmsg_put_header(request.data);
	request.head.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	request.head.nlmsg_flags = NLM_F_REQUEST | flags;
	if (ibdev)
		mnl_attr_put_u32(&request.head, RDMA_NLDEV_ATTR_DEV_INDEX, *ibdev);
	if (port)
		mnl_attr_put_u32(&request.head, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	if (resource)
		mnl_attr_put_u32(&request.head, RDMA_NLDEV_ATTR_STAT_RES, resource);
	return rd_netlink(reader->fs.src, NETLINK_RDMA, request.data, request.head.nlmsg_len, ret, NULL);
}

/* A walk over replies: adds counters, or reads their values. */
struct walk {
	struct rd_counter_reader *reader;
	struct rd_counter_read *read;
	struct rd_counter_sample *sample; /* NULL: adding counters */
	enum rd_counter_group group;	  /* adding: of these; RD_GROUP_QP: those that queue pairs are bound to */
	uint32_t ibdev, port;		  /* RD_GROUP_QP: of the response to use */
	uint32_t id;			  /* of the bound counter */
	uint32_t hint, seen;
};

/* `value` NULL: it has none. `optional`: it counts only once enabled. */
static void take_stat(struct walk *walk, const char *name, const struct nlattr *value, bool optional)
{
	struct rd_counter_set *set = &walk->reader->set;
	struct rd_counter_value *slot = NULL;

	if (!walk->sample && walk->group == RD_GROUP_QP) {
		rd_counter_read_add(walk->reader, RD_GROUP_QP, name, NULL);
		set->counters[set->n - 1].counter = walk->id;
	} else if (!walk->sample && optional == (walk->group == RD_GROUP_OPTIONAL)) {
		rd_counter_read_add(walk->reader, walk->group, name, NULL);
	}
	if (!walk->sample || (!value && walk->group != RD_GROUP_QP))
		return;
	if (walk->group != RD_GROUP_QP) {
		slot = rd_counter_slot(walk->reader, walk->read, walk->sample, name, &walk->hint);
	} else if (walk->seen < walk->read->n) {
		/* The same counters in the same order, as long as no binding changed. */
		const struct rd_counter *counter = &set->counters[walk->read->first + walk->seen];

		if (counter->counter == walk->id && strcmp(counter->name, name) == 0)
			slot = &walk->sample->values[walk->read->first + walk->seen];
		walk->seen++;
	}
	if (!slot)
		walk->reader->changed = true;
	else if (value)
		*slot = (struct rd_counter_value){ mnl_attr_get_u64(value), RD_OK, 0 };
}

static void take_list(struct walk *walk, const struct nlattr *list)
{
	const struct nlattr *entry = NULL;

	while (rd_nla_next_nested(list, &entry)) {
		const struct nlattr *of[ATTRS];

		if (mnl_attr_get_type(entry) != RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY)
			continue;
		rd_nla_nested(entry, policy, ATTRS, of);
		if (of[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME])
			take_stat(walk, mnl_attr_get_str(of[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME]),
				  of[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE],
				  of[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC] != NULL);
	}
}

static void take_port(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const struct nlattr *of[ATTRS];

	rd_nla_table(body, size, policy, ATTRS, of);
	take_list(arg, of[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS]);
}

struct named {
	const char *name;
	uint32_t index;
	bool found;
};

static void take_device(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	struct named *named = arg;
	const struct nlattr *of[ATTRS];

	rd_nla_table(body, size, policy, ATTRS, of);
	if (of[RDMA_NLDEV_ATTR_DEV_NAME] && of[RDMA_NLDEV_ATTR_DEV_INDEX] &&
	    strcmp(mnl_attr_get_str(of[RDMA_NLDEV_ATTR_DEV_NAME]), named->name) == 0) {
		named->index = mnl_attr_get_u32(of[RDMA_NLDEV_ATTR_DEV_INDEX]);
		named->found = true;
	}
}

static bool index_of(struct rd_counter_reader *reader, const char *ibdev, uint32_t *ret)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct named named = { .name = ibdev };

	if (request_stats(reader, RDMA_NLDEV_CMD_GET, NLM_F_DUMP, NULL, 0, 0, &reply) < 0)
		return false;
	rd_nlmsgs_each(&reply, take_device, &named);
	*ret = named.index;
	return named.found;
}

bool rd_counters_find_rdma(struct rd_counter_reader *reader, uint32_t port)
{
	_cleanup_bytes_ struct rd_bytes values = { 0 }, status = { 0 };
	const struct rd_counter_port *of = &reader->set.ports[port];
	struct walk walk = { .reader = reader, .group = RD_GROUP_HW };
	uint32_t ibdev;
	bool found;

	if (!index_of(reader, of->ibdev, &ibdev) ||
	    request_stats(reader, RDMA_NLDEV_CMD_STAT_GET, 0, &ibdev, of->port, 0, &values) < 0)
		return false;
	walk.read = rd_counter_read_begin(reader, RD_HOW_NLDEV, port, of->ibdev);
	walk.read->ibdev = ibdev;
	/* The status list distinguishes optional counters from others; kernels before 5.16 have neither. */
	if (request_stats(reader, RDMA_NLDEV_CMD_STAT_GET_STATUS, 0, &ibdev, of->port, 0, &status) < 0) {
		rd_nlmsgs_each(&values, take_port, &walk);
	} else {
		rd_nlmsgs_each(&status, take_port, &walk);
		walk.group = RD_GROUP_OPTIONAL;
		rd_nlmsgs_each(&status, take_port, &walk);
	}
	found = walk.read->n > 0;
	rd_counter_read_end(reader);
	return found;
}

static void take_bound(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	struct walk *walk = arg;
	const struct nlattr *of[ATTRS], *entry = NULL;
	unsigned counters = 0;

	rd_nla_table(body, size, policy, ATTRS, of);
	if (!of[RDMA_NLDEV_ATTR_DEV_INDEX] || !of[RDMA_NLDEV_ATTR_PORT_INDEX] || !of[RDMA_NLDEV_ATTR_STAT_COUNTER] ||
	    mnl_attr_get_u32(of[RDMA_NLDEV_ATTR_DEV_INDEX]) != walk->ibdev ||
	    mnl_attr_get_u32(of[RDMA_NLDEV_ATTR_PORT_INDEX]) != walk->port)
		return;
	while (counters++ < BOUND_MAX && rd_nla_next_nested(of[RDMA_NLDEV_ATTR_STAT_COUNTER], &entry)) {
		const struct nlattr *in[ATTRS];

		rd_nla_nested(entry, policy, ATTRS, in);
		if (!in[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] || !in[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
			continue;
		walk->id = mnl_attr_get_u32(in[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]);
		take_list(walk, in[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS]);
	}
}

static int request_bound(struct rd_counter_reader *reader, uint32_t ibdev, uint32_t port, struct rd_bytes *ret)
{
	return request_stats(reader, RDMA_NLDEV_CMD_STAT_GET, NLM_F_DUMP, &ibdev, port, RDMA_NLDEV_ATTR_RES_QP, ret);
}

void rd_counters_find_bound(struct rd_counter_reader *reader, uint32_t port)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	const struct rd_counter_port *of = &reader->set.ports[port];
	struct walk walk = { .reader = reader, .group = RD_GROUP_QP, .port = of->port };

	if (!index_of(reader, of->ibdev, &walk.ibdev) || request_bound(reader, walk.ibdev, walk.port, &reply) < 0)
		return;
	walk.read = rd_counter_read_begin(reader, RD_HOW_BOUND, port, of->ibdev);
	walk.read->ibdev = walk.ibdev;
	rd_nlmsgs_each(&reply, take_bound, &walk);
	rd_counter_read_end(reader);
}

void rd_counters_read_rdma(struct rd_counter_reader *reader, struct rd_counter_read *read,
			   struct rd_counter_sample *sample)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	bool bound = read->how == RD_HOW_BOUND;
	struct walk walk = { .reader = reader,
			     .read = read,
			     .sample = sample,
			     .group = bound ? RD_GROUP_QP : RD_GROUP_HW,
			     .ibdev = read->ibdev,
			     .port = reader->set.ports[read->port].port };
	int r = bound ? request_bound(reader, walk.ibdev, walk.port, &reply) :
			request_stats(reader, RDMA_NLDEV_CMD_STAT_GET, 0, &walk.ibdev, walk.port, 0, &reply);

	rd_counter_read_failed(read, sample, r < 0 ? -r : ENOENT);
	if (r < 0)
		return;
	/* Optional counters without a value are disabled. */
	for (uint32_t i = 0; i < read->n; i++)
		if (reader->set.counters[read->first + i].group == RD_GROUP_OPTIONAL)
			sample->values[read->first + i].code = RD_COUNTER_OFF;
	rd_nlmsgs_each(&reply, bound ? take_bound : take_port, &walk);
	if (bound && walk.seen < read->n)
		reader->changed = true;
}
