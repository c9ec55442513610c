/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading counters: whatever a file, a driver or the kernel says, it is a value or unknown, for that counter alone. */
#include "tests/source-parts.h"
#include "unit.h"

#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

#include "collect/counters/counters.h"
#include "fake-host.h"
#include "fake-netlink.h"

#define IB "/sys/class/infiniband/"

/* A host whose files with this in their path are refused; or where a command runs when the first of them is read. */
struct refusing {
	struct rd_source source;
	struct source_parts ops;
	const char *part;
	int code;
	unsigned asked;
	struct fake_host *host;
	const char *command;
};

static int refuse_read(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	struct refusing *refusing = (struct refusing *)src;

	if (!refusing->part || !strstr(path, refusing->part))
		return rd_read_file(refusing->ops.inner, path, ret, err);
	refusing->asked++;
	if (refusing->command) {
		if (refusing->asked == 1)
			fake_host_run(refusing->host, refusing->command);
		return rd_read_file(refusing->ops.inner, path, ret, err);
	}
	return rd_err_set(err, refusing->code, path, "refused");
}

static int no_netlink(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
		      struct rd_err *err)
{
	return rd_err_set(err, EOPNOTSUPP, "netlink", "none here");
}

static uint64_t hand_now(struct rd_source *src, int clock)
{
	struct rd_source *files = ((struct refusing *)src)->ops.inner;

	return files->ops->now(files, clock);
}

static void refusing_init(struct refusing *refusing, struct rd_source *files)
{
	*refusing = (struct refusing){ 0 };
	refusing->ops = (struct source_parts){ .ops.get = parts_get,
					       .ops.name = "live",
					       .ops.now = hand_now,
					       .read_file = refuse_read,
					       .netlink = no_netlink,
					       .inner = files };
	refusing->source.ops = &refusing->ops.ops;
}

struct read {
	struct fake_host host;
	struct rd_counter_reader *reader;
	const struct rd_counter_set *set;
	struct rd_counter_sample sample;
	int again; /* devices changed */
};

static void begin(struct read *read)
{
	*read = (struct read){ .host = fake_host_make() };
}

static void forget(struct read *read)
{
	rd_counter_sample_deinit(&read->sample);
	rd_counter_reader_destroy(read->reader);
	read->sample = (struct rd_counter_sample){ 0 };
	read->reader = NULL;
}

static void end(struct read *read)
{
	forget(read);
	fake_host_deinit(&read->host);
}

/* From the first, also a second time. */
static void read_all(struct read *read, struct rd_source *source)
{
	int rdma_error = -1;

	forget(read);
	assert_int_equal(rd_counter_reader_create(source, RD_COUNTERS_ALL, &read->reader, &rdma_error, NULL, NULL), 0);
	assert_int_equal(rdma_error, 0);
	read->set = rd_counter_reader_set(read->reader);
	read->again = rd_counter_reader_sample(read->reader, &read->sample);
	assert_in_range(read->again, 0, 1);
}

static const struct rd_counter_value *value_of(const struct read *read, const char *name)
{
	for (size_t i = 0; i < read->set->n; i++)
		if (strcmp(read->set->counters[i].name, name) == 0)
			return &read->sample.values[i];
	fail_msg("no counter %s", name);
	return NULL;
}

static size_t how_many(const struct read *read, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < read->set->n; i++)
		n += strcmp(read->set->counters[i].name, name) == 0;
	return n;
}

static void nic(struct fake_host *host, const char *name)
{
	static const char *const counters[] = { "VL15_dropped",	  "excessive_buffer_overrun_errors",
						"link_downed",	  "port_rcv_data",
						"port_xmit_wait", "symbol_error" };
	char path[256];

	snprintf(path, sizeof(path), IB "%s/ports/1/state", name);
	fake_host_text(host, path, "4: ACTIVE\n");
	snprintf(path, sizeof(path), IB "%s/ports/1/link_layer", name);
	fake_host_text(host, path, "InfiniBand\n");
	snprintf(path, sizeof(path), IB "%s/node_guid", name);
	fake_host_text(host, path, "0002:c903:0000:0001\n");
	for (size_t i = 0; i < RD_ARRAY_SIZE(counters); i++) {
		snprintf(path, sizeof(path), IB "%s/ports/1/counters/%s", name, counters[i]);
		fake_host_text(host, path, "7\n");
	}
}

#define READ_TEST(name) TEST_BEGUN(name, struct read, read, begin, end)

READ_TEST(what_a_file_says_is_a_number_or_unknown)
{
	static const struct {
		const char *name, *text;
		bool known;
		uint64_t value;
	} files[] = {
		{ "plain", "5\n", true, 5 },
		{ "large", "18446744073709551615\n", true, UINT64_MAX },
		{ "above 2^31", "3221225472\n", true, 3221225472u },
		{ "no pma", "N/A (no PMA)\n", false, 0 },
		{ "empty", "", false, 0 },
		{ "negative", "-1\n", false, 0 },
		{ "too large", "18446744073709551616\n", false, 0 },
		{ "more", "5 6\n", false, 0 },
		{ "RNR sent", "12\n", true, 12 },
	};
	char path[256];

	nic(&read->host, "mlx5_0");
	for (size_t i = 0; i < RD_ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), IB "mlx5_0/ports/1/hw_counters/%s", files[i].name);
		fake_host_text(&read->host, path, files[i].text);
	}
	fake_host_text(&read->host, IB "mlx5_0/ports/1/hw_counters/lifespan", "10\n");
	read_all(read, read->host.source);
	for (size_t i = 0; i < RD_ARRAY_SIZE(files); i++) {
		const struct rd_counter_value *value = value_of(read, files[i].name);

		assert_int_equal(value->known == RD_OK, files[i].known);
		if (files[i].known)
			assert_true(value->v == files[i].value);
		else
			assert_int_equal(value->code, RD_COUNTER_NO_NUMBER);
	}
	/* How long values are kept is no counter. */
	assert_int_equal(how_many(read, "lifespan"), 0);
}

READ_TEST(one_refused_file_leaves_the_others)
{
	static const struct {
		int code;
		enum rd_known known;
	} refusals[] = { { EINVAL, RD_ABSENT }, { EACCES, RD_DENIED }, { EIO, RD_ABSENT }, { ENODEV, RD_ABSENT } };
	struct refusing refusing;

	nic(&read->host, "mlx5_0");
	for (size_t i = 0; i < RD_ARRAY_SIZE(refusals); i++) {
		refusing_init(&refusing, read->host.source);
		refusing.part = "counters/link_downed";
		refusing.code = refusals[i].code;
		read_all(read, &refusing.source);
		assert_int_equal(value_of(read, "link_downed")->known, refusals[i].known);
		ASSERT_EACH(IS(value_of(read, "link_downed")->code, refusals[i].code),
			    IS(value_of(read, "symbol_error")->known, RD_OK), IS(value_of(read, "symbol_error")->v, 7));
	}
}

/* A restricted function refuses every read, and the kernel logs each. */
READ_TEST(a_restricted_function_is_left_alone)
{
	struct refusing refusing;

	nic(&read->host, "mlx5_0");
	nic(&read->host, "mlx5_1");
	refusing_init(&refusing, read->host.source);
	refusing.part = "mlx5_0/ports/1/counters/";
	refusing.code = EINVAL;
	read_all(read, &refusing.source);
	ASSERT_EACH(IS(refusing.asked, 3), IS(read->set->n, 12));
	for (size_t i = 0; i < 6; i++) {
		ASSERT_EACH(IS(read->sample.values[i].known, RD_ABSENT), IS(read->sample.values[i].code, EINVAL));
	}
	for (size_t i = 6; i < 12; i++)
		assert_int_equal(read->sample.values[i].known, RD_OK);
	/* Not once more, however often it is looked. */
	for (int i = 0; i < 5; i++)
		assert_false(rd_counter_reader_sample(read->reader, &read->sample));
	assert_int_equal(refusing.asked, 3);
}

READ_TEST(a_device_that_goes_away_is_noticed)
{
	struct refusing refusing;

	nic(&read->host, "mlx5_0");
	nic(&read->host, "mlx5_1");
	/* Files of sysfs are gone once their device is, also for who has them open; plain files are not: so by path. */
	refusing_init(&refusing, read->host.source);
	read_all(read, &refusing.source);
	assert_true(read->sample.states[0].there && read->sample.states[1].there);
	assert_string_equal(read->sample.states[0].state, "ACTIVE");
	fake_host_run(&read->host, "rm -r sys/class/infiniband/mlx5_0");
	assert_true(rd_counter_reader_sample(read->reader, &read->sample));
	ASSERT_EACH(IS(read->sample.states[0].there, false), IS(read->sample.values[0].known, RD_ABSENT),
		    IS(read->sample.values[0].code, ENOENT), IS(read->sample.values[11].known, RD_OK));
}

/* The sample that finds the list changed is the last that knows a device. */
READ_TEST(devices_come_and_go_while_they_are_read)
{
	struct refusing refusing;

	nic(&read->host, "mlx5_0");
	refusing_init(&refusing, read->host.source);
	refusing.host = &read->host;
	refusing.part = "mlx5_0/ports/1/state";
	refusing.command = "cp -r sys/class/infiniband/mlx5_0 sys/class/infiniband/mlx5_1";
	read_all(read, &refusing.source);
	ASSERT_EACH(IS(read->set->n_ports, 1), IS(read->again, 1));

	refusing.asked = 0;
	refusing.part = "mlx5_1/ports/1/counters/";
	refusing.command = "rm -r sys/class/infiniband/mlx5_0";
	read_all(read, &refusing.source);
	ASSERT_EACH(IS(read->again, 1), IS(read->sample.states[0].there, false), IS(read->sample.states[1].there, true));
}

/* i40iw and others show one set of counters for the device and for its only port. */
READ_TEST(doubled_folders_are_counted_once)
{
	nic(&read->host, "i40iw0");
	nic(&read->host, "efa_0");
	fake_host_text(&read->host, IB "i40iw0/hw_counters/ip4InOctets", "3\n");
	fake_host_text(&read->host, IB "i40iw0/hw_counters/tcpRetransSegs", "4\n");
	fake_host_text(&read->host, IB "i40iw0/ports/1/hw_counters/ip4InOctets", "3\n");
	fake_host_text(&read->host, IB "i40iw0/ports/1/hw_counters/tcpRetransSegs", "4\n");
	/* Others than those of the port: both are shown. */
	fake_host_text(&read->host, IB "efa_0/hw_counters/cmds_err", "3\n");
	fake_host_text(&read->host, IB "efa_0/ports/1/hw_counters/tx_bytes", "4\n");
	read_all(read, read->host.source);
	ASSERT_EACH(IS(how_many(read, "ip4InOctets"), 1), IS(how_many(read, "tcpRetransSegs"), 1),
		    IS(how_many(read, "cmds_err"), 1), IS(how_many(read, "tx_bytes"), 1), IS(read->set->n_ports, 3));
}

READ_TEST(a_driver_s_statistics_are_joined_with_their_names)
{
	char strings[3 * 32] = "";
	uint64_t stats[3] = { 1, UINT64_MAX, 3 };

	nic(&read->host, "mlx5_0");
	fake_host_text(&read->host, IB "mlx5_0/parent", "eth7\n");
	fake_host_text(&read->host, "/sys/class/net/eth7/ifindex", "9\n");
	fake_host_text(&read->host, "/sys/class/net/eth7/statistics/rx_dropped", "8\n");
	fake_host_text(&read->host, "/sys/class/net/eth7/carrier_changes", "5\n");
	fake_host_text(&read->host, "/sys/class/net/eth7/carrier_down_count", "3\n");
	fake_host_text(&read->host, "/sys/class/net/eth7/carrier_up_count", "2\n");
	strcpy(strings, "rx_prio0_pause");
	strcpy(strings + 32, "     rx_discards_phy");
	memset(strings + 64, 'x', 32); /* as long as it gets, without an end */
	fake_host_write(&read->host, "/ethtool/eth7/strings", strings, sizeof(strings));
	fake_host_write(&read->host, "/ethtool/eth7/stats", stats, sizeof(stats));
	read_all(read, read->host.source);
	ASSERT_EACH(IS(value_of(read, "rx_prio0_pause")->v, 1), IS(value_of(read, "rx_discards_phy")->v, UINT64_MAX),
		    IS(value_of(read, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")->v, 3),
		    IS(value_of(read, "rx_dropped")->v, 8), IS(value_of(read, "carrier_changes")->v, 5),
		    IS(value_of(read, "carrier_down_count")->v, 3), IS(value_of(read, "carrier_up_count")->v, 2));
	/* With another number of queues the third is no longer what it was. */
	fake_host_write(&read->host, "/ethtool/eth7/stats", stats, 2 * sizeof(stats[0]));
	assert_true(rd_counter_reader_sample(read->reader, &read->sample));
	assert_int_equal(value_of(read, "rx_prio0_pause")->known, RD_ABSENT);
	assert_int_equal(value_of(read, "rx_prio0_pause")->code, ESTALE);
}

/* One entry of a list of RDMA counters. */
static void put_stat(struct nlmsghdr *message, const char *name, int on, int64_t value)
{
	struct nlattr *entry = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);

	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	if (on >= 0)
		mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC, (uint8_t)on);
	if (value >= 0)
		mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, (uint64_t)value);
	mnl_attr_nest_end(message, entry);
}

static struct nlmsghdr *begin_stats(struct fake_netlink *fake, uint32_t command, struct fake_answer **answer,
				    struct nlattr **list)
{
	int type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	struct nlmsghdr *message;

	*answer = fake_answer_add(fake, NETLINK_RDMA, type, -1);
	message = fake_message(*answer, type, NULL, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, 4);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	*list = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	return message;
}

READ_TEST(rdma_counters_come_by_netlink_in_one_request)
{
	int get = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET);
	struct fake_netlink fake;
	struct fake_answer *answer;
	struct nlmsghdr *message;
	struct nlattr *list, *table, *entry;

	nic(&read->host, "mlx5_0");
	fake_host_text(&read->host, IB "mlx5_0/ports/1/hw_counters/out_of_buffer", "99\n");
	fake_netlink_init(&fake, read->host.source);
	answer = fake_answer_add(&fake, NETLINK_RDMA, get, -1);
	message = fake_message(answer, get, NULL, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, 4);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	fake_message_end(answer, message);

	message = begin_stats(&fake, RDMA_NLDEV_CMD_STAT_GET, &answer, &list);
	put_stat(message, "out_of_buffer", -1, 17);
	put_stat(message, "rdma_tx_bytes", -1, 18);
	mnl_attr_nest_end(message, list);
	fake_message_end(answer, message);
	/* Queue pairs that are bound to counter 9, as the same command tells it of all resources. */
	message = fake_message(answer, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET), NULL, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, 4);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	table = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_STAT_COUNTER);
	entry = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, 9);
	list = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	put_stat(message, "packet_seq_err", -1, 21);
	mnl_attr_nest_end(message, list);
	mnl_attr_nest_end(message, entry);
	mnl_attr_nest_end(message, table);
	fake_message_end(answer, message);

	message = begin_stats(&fake, RDMA_NLDEV_CMD_STAT_GET_STATUS, &answer, &list);
	put_stat(message, "out_of_buffer", -1, -1);
	put_stat(message, "rdma_tx_bytes", 1, -1);
	put_stat(message, "cc_rx_ce_pkts", 0, -1);
	mnl_attr_nest_end(message, list);
	fake_message_end(answer, message);

	read_all(read, &fake.source);
	/* Not the file's. */
	ASSERT_EACH(IS(how_many(read, "out_of_buffer"), 1), IS(value_of(read, "out_of_buffer")->v, 17),
		    IS(value_of(read, "rdma_tx_bytes")->v, 18), IS(value_of(read, "cc_rx_ce_pkts")->known, RD_ABSENT),
		    IS(value_of(read, "cc_rx_ce_pkts")->code, RD_COUNTER_OFF),
		    IS(value_of(read, "packet_seq_err")->v, 21));
	for (size_t i = 0; i < read->set->n; i++)
		if (strcmp(read->set->counters[i].name, "packet_seq_err") == 0) {
			assert_int_equal(read->set->counters[i].group, RD_GROUP_QP);
			assert_int_equal(read->set->counters[i].counter, 9);
		}
	for (size_t i = 0; i < read->set->n; i++)
		if (strcmp(read->set->counters[i].name, "rdma_tx_bytes") == 0)
			assert_int_equal(read->set->counters[i].group, RD_GROUP_OPTIONAL);
}

READ_TEST(standard_statistics_have_the_names_of_ethtool)
{
	struct fake_netlink fake;
	struct fake_answer *answer;
	struct nlmsghdr *message;
	struct ieee_pfc pfc = { .pfc_cap = 8, .requests = { [3] = 77 }, .indications = { [3] = 78 } };
	struct dcbmsg dcb = { .cmd = DCB_CMD_IEEE_GET };
	struct genlmsghdr genl = { 0 };
	struct nlattr *group, *stats;
	uint64_t lanes[3] = { 30, 10, 20 };

	nic(&read->host, "mlx5_0");
	fake_host_text(&read->host, IB "mlx5_0/parent", "eth7\n");
	fake_host_text(&read->host, "/sys/class/net/eth7/ifindex", "9\n");
	fake_netlink_init(&fake, read->host.source);
	answer = fake_answer_add(&fake, NETLINK_GENERIC, FAKE_FAMILY, ETHTOOL_MSG_STATS_GET);
	message = fake_message(answer, FAKE_FAMILY, &genl, sizeof(genl));
	group = mnl_attr_nest_start(message, ETHTOOL_A_STATS_GRP);
	mnl_attr_put_u32(message, ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_ETH_MAC);
	stats = mnl_attr_nest_start(message, ETHTOOL_A_STATS_GRP_STAT);
	mnl_attr_put_u64(message, ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR, 5);
	mnl_attr_put_u64(message, 60, 6); /* of a later kernel */
	mnl_attr_nest_end(message, stats);
	mnl_attr_nest_end(message, group);
	fake_message_end(answer, message);
	answer = fake_answer_add(&fake, NETLINK_GENERIC, FAKE_FAMILY, ETHTOOL_MSG_FEC_GET);
	message = fake_message(answer, FAKE_FAMILY, &genl, sizeof(genl));
	stats = mnl_attr_nest_start(message, ETHTOOL_A_FEC_STATS);
	mnl_attr_put(message, ETHTOOL_A_FEC_STAT_CORR_BITS, sizeof(lanes), lanes);
	mnl_attr_nest_end(message, stats);
	fake_message_end(answer, message);

	answer = fake_answer_add(&fake, NETLINK_ROUTE, RTM_GETDCB, -1);
	message = fake_message(answer, RTM_GETDCB, &dcb, sizeof(dcb));
	stats = mnl_attr_nest_start(message, DCB_ATTR_IEEE);
	mnl_attr_put(message, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
	mnl_attr_nest_end(message, stats);
	fake_message_end(answer, message);

	read_all(read, &fake.source);
	ASSERT_EACH(IS(value_of(read, "pfc-requests-prio3")->v, 77), IS(value_of(read, "pfc-indications-prio3")->v, 78),
		    IS(value_of(read, "eth-mac-FrameCheckSequenceErrors")->v, 5),
		    IS(value_of(read, "fec-corrected_bits")->v, 30),
		    IS(value_of(read, "fec-corrected_bits-lane1")->v, 20));
}

TEST(a_saved_sample_is_read_with_suspicion)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"{}",
		"null",
		"{\"schema\":\"rdmadiag/nic-map/1\",\"counters\":[]}",
		"{\"schema\":\"rdmadiag/counters/1\"}",
		"{\"schema\":\"rdmadiag/counters/1\",\"counters\":[1]}",
		"{\"schema\":\"rdmadiag/counters/1\",\"counters\":[{\"ibdev\":\"a\"}]}",
		"{\"schema\":\"rdmadiag/counters/1\",\"counters\":[{\"ibdev\":\"a\",\"group\":\"x\",\"name\":\"b\"}]}",
	};
	const char *good =
		"{\"schema\":\"rdmadiag/counters/1\",\"boot_id\":\"b\",\"time\":\"2026-01-02T03:04:05.5Z\","
		"\"counters\":[{\"ibdev\":\"a\",\"port\":1,\"group\":\"hw\",\"name\":\"x\","
		"\"value\":18446744073709551615},{\"ibdev\":\"a\",\"port\":1,\"group\":\"hw\",\"name\":\"y\","
		"\"value\":null},{\"ibdev\":\"a\",\"port\":1,\"group\":\"hw\",\"name\":\"z\",\"value\":-1}],"
		"\"ports\":[{\"ibdev\":\"a\",\"port\":1,\"guid\":\"g\",\"present\":false,\"instance\":7}]}";
	struct rd_counter_sample sample = { 0 };
	struct rd_counter_set set = { 0 };
	struct rd_err err;

	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++) {
		assert_int_equal(rd_counters_saved("f", bad[i], strlen(bad[i]), &set, &sample, &err), -EBADMSG);
		rd_counter_sample_deinit(&sample);
		rd_counter_set_deinit(&set);
	}
	assert_int_equal(rd_counters_saved("f", good, strlen(good), &set, &sample, &err), 0);
	ASSERT_EACH(IS(set.n, 3), IS(sample.values[0].known, RD_OK), IS(sample.values[0].v, UINT64_MAX),
		    IS(sample.values[1].known, RD_ABSENT), IS(sample.values[2].known, RD_ABSENT));
	ASSERT_EACH(READS(set.ports[0].guid, "g"), IS(sample.states[0].instance, 7), IS(sample.states[0].there, false),
		    IS(sample.realtime_ns, 1767323045500000000u));
	rd_counter_sample_deinit(&sample);
	rd_counter_set_deinit(&set);
}
