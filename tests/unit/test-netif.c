/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked about an interface by ethtool's netlink, and what is read of its files. */
#include "unit.h"

#include "collect/net/netstate.h"
#include "collect/shared/nlattr.h"
#include "fake-host.h"
#include "fake-netlink.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

/* The flags in the header that holds the interface's name, -1 without; NULL: no such header. */
static const struct nlattr *header_of(const struct fake_netlink *fake, uint16_t type, int64_t *flags)
{
	const struct nlmsghdr *asked = (const struct nlmsghdr *)fake->asked;
	const struct nlattr *header, *attr, *found = NULL;

	*flags = -1;
	mnl_attr_for_each(header, asked, sizeof(struct genlmsghdr))
	{
		if (mnl_attr_get_type(header) != type)
			continue;
		mnl_attr_for_each_nested(attr, header)
		{
			if (mnl_attr_get_type(attr) == ETHTOOL_A_HEADER_DEV_NAME)
				found = attr;
			else if (mnl_attr_get_type(attr) == ETHTOOL_A_HEADER_FLAGS)
				*flags = mnl_attr_get_u32(attr);
		}
	}
	return found;
}

TEST(statistics_are_asked_for_where_they_are_wanted)
{
	struct fake_netlink fake;
	struct rd_bytes answer;
	int64_t flags;

	fake_netlink_init(&fake, NULL);
	assert_int_equal(rd_ethtool_query(&fake.source, FAKE_FAMILY, ETHTOOL_MSG_PAUSE_GET, "eth2", true, 0, &answer,
					  NULL),
			 -EOPNOTSUPP);
	assert_string_equal(mnl_attr_get_str(header_of(&fake, ETHTOOL_A_PAUSE_HEADER, &flags)), "eth2");
	assert_int_equal(flags, ETHTOOL_FLAG_STATS);
	rd_ethtool_query(&fake.source, FAKE_FAMILY, ETHTOOL_MSG_PAUSE_GET, "eth2", false, 0, &answer, NULL);
	assert_non_null(header_of(&fake, ETHTOOL_A_PAUSE_HEADER, &flags));
	assert_int_equal(flags, -1);
	rd_ethtool_query(&fake.source, FAKE_FAMILY, ETHTOOL_MSG_STATS_GET, "eth2", false, 1, &answer, NULL);
	assert_non_null(header_of(&fake, ETHTOOL_A_STATS_HEADER, &flags));
	/* A request has room for any interface, and not for any text. */
	assert_int_equal(rd_ethtool_query(&fake.source, FAKE_FAMILY, ETHTOOL_MSG_PAUSE_GET,
					  (char[2048]){ [0 ... 2046] = 'e' }, true, 0, &answer, NULL),
			 -EINVAL);
}

static void add_link(struct fake_answer *answer, int index, const char *name, int below)
{
	struct ifinfomsg info = { .ifi_index = index };
	struct nlmsghdr *message = fake_message(answer, RTM_NEWLINK, &info, sizeof(info));

	mnl_attr_put_strz(message, IFLA_IFNAME, name);
	if (below)
		mnl_attr_put_u32(message, IFLA_LINK, (uint32_t)below);
	fake_message_end(answer, message);
}

/* A NIC's interface eth2, VLAN 7 on it, and eth9 that is none of RDMA. */
static void look_at(struct fake_host *files, struct rd_netstate *ret)
{
	struct rd_netdev netdev = { .name = (char[]){ "eth2" } };
	struct rd_ibdev ibdev = { .name = (char[]){ "mlx5_0" } };
	struct rd_port port = { .num = 1, .netdevs = (int[]){ 0 }, .n_netdevs = 1 };
	struct rd_host host = {
		.ibdevs = &ibdev, .n_ibdevs = 1, .ports = &port, .n_ports = 1, .netdevs = &netdev, .n_netdevs = 1
	};
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };
	struct fake_netlink fake;
	struct fake_answer *answer;

	fake_netlink_init(&fake, files->source);
	answer = fake_answer_add(&fake, NETLINK_ROUTE, RTM_GETLINK, -1);
	add_link(answer, 4, "eth2", 0);
	add_link(answer, 7, "eth2.7", 4);
	add_link(answer, 9, "eth9", 0);
	*ret = (struct rd_netstate){ 0 };
	rd_collect_netstate(&fake.source, &host, ret, &errors);
	assert_int_equal(ret->n_ifs, 3);
}

TEST(what_stands_in_the_files_of_an_interface)
{
	struct rd_netstate net;
	_cleanup_(fake_host_deinit) struct fake_host files = fake_host_make();
	char path[64];

	look_at(&files, &net);
	assert_true(net.ifs[0].rdma && net.ifs[1].rdma && !net.ifs[2].rdma);
	assert_int_equal(net.ifs[0].tclass.known, RD_ABSENT);
	ASSERT_EACH(IS(net.ifs[0].rp_filter.known, RD_ABSENT), IS(net.ifs[0].ecn_np.known, RD_ABSENT));
	rd_netstate_deinit(&net);

	/* Nothing is forced: an empty file. */
	fake_host_text(&files, "/sys/class/infiniband/mlx5_0/tc/1/traffic_class", "");
	for (int prio = 0; prio < 8; prio++) {
		snprintf(path, sizeof(path), "/sys/class/net/eth2/ecn/roce_np/enable/%d", prio);
		fake_host_text(&files, path, prio == 3 || prio == 7 ? "1\n" : "0\n");
		snprintf(path, sizeof(path), "/sys/class/net/eth2/ecn/roce_rp/enable/%d", prio);
		if (prio < 7)
			fake_host_text(&files, path, "1\n");
	}
	fake_host_text(&files, "/sys/class/net/eth2/ecn/roce_np/cnp_dscp", "63\n");
	fake_host_text(&files, "/sys/class/net/eth2/ecn/roce_np/cnp_802p_prio", "7\n");
	fake_host_text(&files, "/proc/sys/net/ipv4/conf/all/rp_filter", "1\n");
	fake_host_text(&files, "/proc/sys/net/ipv4/conf/eth2/rp_filter", "2\n");
	fake_host_text(&files, "/proc/sys/net/ipv4/conf/eth2.7/rp_filter", "0\n");
	fake_host_text(&files, "/proc/sys/net/ipv4/conf/eth9/rp_filter", "2\n");
	fake_host_text(&files, "/proc/sys/net/ipv4/conf/all/arp_ignore", "1\n");
	fake_host_text(&files, "/proc/sys/net/ipv4/conf/eth2/arp_ignore", "0\n");
	fake_host_text(&files, "/proc/sys/net/ipv4/conf/all/arp_announce", "0\n");
	fake_host_text(&files, "/proc/sys/net/ipv4/conf/eth2/arp_announce", "2\n");
	fake_host_text(&files, "/proc/sys/net/ipv4/conf/eth2/arp_filter", "1\n");
	look_at(&files, &net);
	assert_int_equal(net.ifs[0].tclass.known, RD_OK);
	ASSERT_EACH(IS(net.ifs[0].tclass.v, -1), IS(net.ifs[0].ecn_np.v, 1 << 3 | 1 << 7));
	assert_int_equal(net.ifs[0].ecn_rp.known, RD_ABSENT); /* of one priority it is not known */
	ASSERT_EACH(IS(net.ifs[0].cnp_dscp.v, 63), IS(net.ifs[0].cnp_prio.v, 7), IS(net.ifs[0].rp_filter.v, 2),
		    IS(net.ifs[1].rp_filter.v, 1), IS(net.ifs[2].rp_filter.known, RD_ABSENT),
		    IS(net.ifs[0].arp_ignore.v, 1), IS(net.ifs[0].arp_announce.v, 2));
	assert_int_equal(net.ifs[0].arp_filter.known, RD_ABSENT); /* what counts for all is not known */
	rd_netstate_deinit(&net);

	/* Forced; and values that cannot be. */
	fake_host_text(&files, "/sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=106\n");
	fake_host_text(&files, "/sys/class/net/eth2/ecn/roce_np/cnp_dscp", "64\n");
	fake_host_text(&files, "/sys/class/net/eth2/ecn/roce_np/cnp_802p_prio", "8\n");
	fake_host_text(&files, "/sys/class/net/eth2/ecn/roce_rp/enable/7", "0\n");
	look_at(&files, &net);
	ASSERT_EACH(IS(net.ifs[0].tclass.v, 106), IS(net.ifs[0].cnp_dscp.known, RD_ABSENT),
		    IS(net.ifs[0].cnp_prio.known, RD_ABSENT), IS(net.ifs[0].ecn_rp.v, 0x7f));
	rd_netstate_deinit(&net);

	fake_host_text(&files, "/sys/class/net/eth2/ecn/roce_np/cnp_dscp", "0\n");
	fake_host_text(&files, "/sys/class/net/eth2/ecn/roce_np/cnp_802p_prio", "0\n");
	look_at(&files, &net);
	ASSERT_EACH(IS(net.ifs[0].cnp_dscp.known, RD_OK), IS(net.ifs[0].cnp_prio.known, RD_OK));
	rd_netstate_deinit(&net);
}
