/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters via RDMA netlink (include/uapi/rdma/rdma_netlink.h): one request for all counters of a port, which a driver reads from
 * the hardware at once; each file of hw_counters/ may cost a separate hardware read. */
#include "collect/counters/counters-priv.h"
#include "collect/shared/nlattr.h"
#include "collect/shared/uapi.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>

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

/* Calls fn for each counter of a list: its name, its value if it has one, and for an optional counter whether it is enabled. */
typedef void stat_fn(void *arg, const char *name, const struct nlattr *value, const struct nlattr *on);

static void each_stat(const struct nlattr *list, stat_fn *fn, void *arg)
{
	const struct nlattr *entry = NULL;

	while (rd_nla_next_nested(list, &entry)) {
		const struct nlattr *of[ATTRS];

		if (mnl_attr_get_type(entry) != RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY)
			continue;
		rd_nla_nested(entry, policy, ATTRS, of);
		if (of[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME])
			fn(arg, mnl_attr_get_str(of[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME]),
			   of[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE], of[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC]);
	}
}

struct stats {
	stat_fn *fn;
	void *arg;
};

static int take_port(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const struct stats *stats = arg;
	const struct nlattr *of[ATTRS];

	(void)type;
	rd_nla_table(body, size, policy, ATTRS, of);
	each_stat(of[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], stats->fn, stats->arg);
	return 0;
}

struct named {
	const char *name;
	uint32_t index;
	bool found;
};

static int take_device(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	struct named *named = arg;
	const struct nlattr *of[ATTRS];

	(void)type;
	rd_nla_table(body, size, policy, ATTRS, of);
	if (of[RDMA_NLDEV_ATTR_DEV_NAME] && of[RDMA_NLDEV_ATTR_DEV_INDEX] &&
	    strcmp(mnl_attr_get_str(of[RDMA_NLDEV_ATTR_DEV_NAME]), named->name) == 0) {
		named->index = mnl_attr_get_u32(of[RDMA_NLDEV_ATTR_DEV_INDEX]);
		named->found = true;
	}
	return 0;
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

static void add_default(void *arg, const char *name, const struct nlattr *value, const struct nlattr *on)
{
	(void)value;
	if (!on)
		rd_counter_read_add(arg, RD_GROUP_HW, name, NULL);
}

static void add_optional(void *arg, const char *name, const struct nlattr *value, const struct nlattr *on)
{
	(void)value;
	if (on)
		rd_counter_read_add(arg, RD_GROUP_OPTIONAL, name, NULL);
}

/* The status list distinguishes optional counters from others; kernels before 5.16 have neither. */
static void add_names(struct rd_counter_reader *reader, const struct rd_bytes *values, uint32_t ibdev, uint32_t port)
{
	_cleanup_bytes_ struct rd_bytes status = { 0 };
	struct stats stats = { add_default, reader };

	if (request_stats(reader, RDMA_NLDEV_CMD_STAT_GET_STATUS, 0, &ibdev, port, 0, &status) < 0) {
		rd_nlmsgs_each(values, take_port, &stats);
		return;
	}
	rd_nlmsgs_each(&status, take_port, &stats);
	stats.fn = add_optional;
	rd_nlmsgs_each(&status, take_port, &stats);
}

bool rd_counters_find_rdma(struct rd_counter_reader *reader, uint32_t port)
{
	_cleanup_bytes_ struct rd_bytes values = { 0 };
	const struct rd_counter_port *of = &reader->set.ports[port];
	struct rd_counter_read *read;
	uint32_t ibdev;
	bool found;

	if (!index_of(reader, of->ibdev, &ibdev) ||
	    request_stats(reader, RDMA_NLDEV_CMD_STAT_GET, 0, &ibdev, of->port, 0, &values) < 0)
		return false;
	read = rd_counter_read_begin(reader, RD_HOW_NLDEV, port, of->ibdev);
	read->ibdev = ibdev;
	add_names(reader, &values, ibdev, of->port);
	found = read->n > 0;
	rd_counter_read_end(reader);
	return found;
}

struct bound {
	struct rd_counter_reader *reader;
	struct rd_counter_read *read;
	struct rd_counter_sample *sample; /* NULL: adding counters */
	uint32_t ibdev, port;		  /* of the response to use */
	uint32_t id;
	uint32_t hint, seen;
};

static void take_bound_stat(void *arg, const char *name, const struct nlattr *value, const struct nlattr *on)
{
	struct bound *bound = arg;
	struct rd_counter_set *set = &bound->reader->set;

	(void)on;
	if (!bound->sample) {
		rd_counter_read_add(bound->reader, RD_GROUP_QP, name, NULL);
		set->counters[set->n - 1].counter = bound->id;
		return;
	}
	if (bound->seen >= bound->read->n) {
		bound->reader->changed = true;
		return;
	}
	/* The same counters in the same order, as long as no binding changed. */
	{
		const struct rd_counter *counter = &set->counters[bound->read->first + bound->seen];
		struct rd_counter_value *slot = &bound->sample->values[bound->read->first + bound->seen];

		if (counter->counter != bound->id || strcmp(counter->name, name) != 0)
			bound->reader->changed = true;
		else if (value)
			*slot = (struct rd_counter_value){ mnl_attr_get_u64(value), RD_OK, 0 };
	}
	bound->seen++;
}

static int take_bound(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	struct bound *bound = arg;
	const struct nlattr *of[ATTRS], *entry = NULL;
	unsigned counters = 0;

	(void)type;
	rd_nla_table(body, size, policy, ATTRS, of);
	if (!of[RDMA_NLDEV_ATTR_DEV_INDEX] || !of[RDMA_NLDEV_ATTR_PORT_INDEX] || !of[RDMA_NLDEV_ATTR_STAT_COUNTER] ||
	    mnl_attr_get_u32(of[RDMA_NLDEV_ATTR_DEV_INDEX]) != bound->ibdev ||
	    mnl_attr_get_u32(of[RDMA_NLDEV_ATTR_PORT_INDEX]) != bound->port)
		return 0;
	while (counters++ < BOUND_MAX && rd_nla_next_nested(of[RDMA_NLDEV_ATTR_STAT_COUNTER], &entry)) {
		const struct nlattr *in[ATTRS];

		rd_nla_nested(entry, policy, ATTRS, in);
		if (!in[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] || !in[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
			continue;
		bound->id = mnl_attr_get_u32(in[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]);
		each_stat(in[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], take_bound_stat, bound);
	}
	return 0;
}

static int request_bound(struct rd_counter_reader *reader, uint32_t ibdev, uint32_t port, struct rd_bytes *ret)
{
	return request_stats(reader, RDMA_NLDEV_CMD_STAT_GET, NLM_F_DUMP, &ibdev, port, RDMA_NLDEV_ATTR_RES_QP, ret);
}

void rd_counters_find_bound(struct rd_counter_reader *reader, uint32_t port)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	const struct rd_counter_port *of = &reader->set.ports[port];
	struct bound bound = { .reader = reader, .port = of->port };

	if (!index_of(reader, of->ibdev, &bound.ibdev) || request_bound(reader, bound.ibdev, bound.port, &reply) < 0)
		return;
	bound.read = rd_counter_read_begin(reader, RD_HOW_BOUND, port, of->ibdev);
	bound.read->ibdev = bound.ibdev;
	rd_nlmsgs_each(&reply, take_bound, &bound);
	rd_counter_read_end(reader);
}

struct taking {
	struct rd_counter_reader *reader;
	struct rd_counter_read *read;
	struct rd_counter_sample *sample;
	uint32_t hint;
};

static void take_value(void *arg, const char *name, const struct nlattr *value, const struct nlattr *on)
{
	struct taking *taking = arg;
	struct rd_counter_value *slot;

	(void)on;
	if (!value)
		return;
	slot = rd_counter_slot(taking->reader, taking->read, taking->sample, name, &taking->hint);
	if (slot)
		*slot = (struct rd_counter_value){ mnl_attr_get_u64(value), RD_OK, 0 };
	else
		taking->reader->changed = true;
}

/* Optional counters without a value are disabled. */
static void read_port(struct rd_counter_reader *reader, struct rd_counter_read *read, struct rd_counter_sample *sample)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct taking taking = { reader, read, sample, 0 };
	struct stats stats = { take_value, &taking };
	int r = request_stats(reader, RDMA_NLDEV_CMD_STAT_GET, 0, &read->ibdev, reader->set.ports[read->port].port, 0,
			      &reply);

	if (r < 0) {
		rd_counter_read_failed(read, sample, -r);
		return;
	}
	rd_counter_read_failed(read, sample, ENOENT);
	for (uint32_t i = 0; i < read->n; i++)
		if (reader->set.counters[read->first + i].group == RD_GROUP_OPTIONAL)
			sample->values[read->first + i].code = RD_COUNTER_OFF;
	rd_nlmsgs_each(&reply, take_port, &stats);
}

void rd_counters_read_rdma(struct rd_counter_reader *reader, struct rd_counter_read *read,
			   struct rd_counter_sample *sample)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct bound bound = { .reader = reader,
			       .read = read,
			       .sample = sample,
			       .ibdev = read->ibdev,
			       .port = reader->set.ports[read->port].port };
	int r;

	if (read->how == RD_HOW_NLDEV) {
		read_port(reader, read, sample);
		return;
	}
	r = request_bound(reader, bound.ibdev, bound.port, &reply);
	rd_counter_read_failed(read, sample, r < 0 ? -r : ENOENT);
	if (r < 0)
		return;
	rd_nlmsgs_each(&reply, take_bound, &bound);
	if (bound.seen < read->n)
		reader->changed = true;
}
