/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What speaks against a queue pair besides packets: ports, GIDs, remote QPs on this host, neighbours, MTUs; and healthy hosts where
 * none of it may. */
#include "qp-host.h"

#include <linux/neighbour.h>
#include <sys/socket.h>

#include "analyse/qp/qp.h"
#include "collect/rdma/rdma.h"
#include "fake-host.h"

/* Two soft-RoCE devices, 10.9.0.1 and 10.9.0.2. Queue pair 17 of the first is connected to 18 of the second. */
struct two {
	struct host h;
	struct rd_res_port ports[2];
	struct rd_qp_port more[2];
	struct rd_qp_gid gids[4];
	struct rd_qp_ports qp_ports;
	struct rd_neigh neighs[2];
	struct rd_netstate net;
	struct rd_qp_seen seen[2];
};

static const uint8_t gid_1[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 1 },
		     gid_2[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 2 };

static void set_gid(struct two *t, size_t i, const uint8_t *gid, int dev)
{
	t->gids[i] = (struct rd_qp_gid){ .dev = dev, .port = 1, .here = true };
	memcpy(t->gids[i].raw, gid, 16);
}

static void connect_qp(struct two *t, size_t i, uint32_t rqpn, const uint8_t *from, const uint8_t *to)
{
	struct rd_qp *qp = &t->h.qps[i];

	RD_SET(qp->port, 1);
	RD_SET(qp->rqpn, rqpn);
	/* The views free it. */
	t->h.past[i].seen = rd_alloc(1, sizeof(struct rd_qp_seen));
	t->h.past[i].seen->has_sgid = t->h.past[i].seen->has_dgid = true;
	memcpy(t->h.past[i].seen->sgid, from, 16);
	memcpy(t->h.past[i].seen->dgid, to, 16);
}

static void two_init(struct two *t)
{
	*t = (struct two){ 0 };
	host_init(&t->h);
	for (int d = 0; d < 2; d++) {
		t->h.devs[d].name = (char *)(d ? "rxe1" : "rxe0");
		t->h.devs[d].protocol = (char *)"roce";
		RD_SET(t->h.devs[d].used[RD_RES_QP], 1);
		t->h.devs[d].listed[RD_RES_QP] = 1;
		t->ports[d] = (struct rd_res_port){ .dev = d, .num = 1, .netdev = (char *)(d ? "v1" : "v0") };
		RD_SET(t->ports[d].state, 4);
		t->more[d] = (struct rd_qp_port){ .dev = d, .num = 1, .at = (size_t)d, .gids_complete = true };
		RD_SET(t->more[d].admin_up, true);
		RD_SET(t->more[d].carrier, true);
		RD_SET(t->more[d].mtu, 1500);
	}
	set_gid(t, 0, gid_1, 0);
	set_gid(t, 1, gid_2, 1);
	t->qp_ports = (struct rd_qp_ports){ .v = t->more, .n = 2, .gids = t->gids, .n_gids = 2 };
	t->net = (struct rd_netstate){ .neighs = t->neighs };
	t->h.res.ports = t->ports;
	t->h.res.n_ports = 2;
	put(&t->h, 17, RD_QPS_RTS);
	put(&t->h, 18, RD_QPS_RTS)->dev = 1;
	connect_qp(t, 0, 18, gid_1, gid_2);
	connect_qp(t, 1, 17, gid_2, gid_1);
	two_looks(&t->h, 1);
	t->h.judge.ports = &t->qp_ports;
	t->h.judge.net = &t->net;
}

static void two_deinit(struct two *t)
{
	host_deinit(&t->h);
}

static void add_neighbour(struct two *t, const uint8_t *ip, unsigned ifindex, uint16_t state)
{
	struct rd_neigh *neigh = &t->neighs[t->net.n_neighs++];

	*neigh = (struct rd_neigh){ .ifindex = ifindex, .state = state };
	memcpy(neigh->addr, ip, 4);
}

/* Judges; what is said of the first queue pair contains this, or does not. */
static void says(struct two *t, const char *what)
{
	judge(&t->h);
	assert_non_null(strstr(t->h.v[0].verdict->why, what));
}

static void says_not(struct two *t, const char *what)
{
	judge(&t->h);
	assert_null(strstr(t->h.v[0].verdict->why, what));
}

/* Of the first port. */
static void no_carrier(struct two *t)
{
	RD_SET(t->ports[0].state, 1);
	RD_SET(t->more[0].carrier, false);
}

#define TWO_TEST(name) TEST_BEGUN(name, struct two, t, two_init, two_deinit)

TWO_TEST(healthy_and_idle)
{
	add_neighbour(t, gid_2 + 12, 2, NUD_STALE);
	judge(&t->h);
	assert_string_equal(t->h.v[0].verdict->why, "no packet in 1.0 s; rxe0 did not retransmit");
	is(t->h.v[1].verdict, "idle", "did not retransmit");
	/* It names the program and the peer. */
	RD_SET(t->h.qps[0].owner.pid, 235);
	judge(&t->h);
	ASSERT_HAS(t->h.v[0].verdict->fix, "gdb -p 235", "ssh 10.9.0.2 rdmadiag qp-state --lqpn 18 -i 1 -c 2");
}

TWO_TEST(a_port_that_is_down)
{
	no_carrier(t);
	judged(&t->h, 0, "cut-off", "port rxe0/1 is DOWN: interface v0 has no carrier; no packet");
	is(t->h.v[1].verdict, "idle", "did not retransmit");
	/* With an alternate path, it may go on. */
	RD_SET(t->h.qps[0].path_mig, 2);
	judged(&t->h, 0, "idle", "port rxe0/1 is DOWN");
	RD_SET(t->h.qps[0].path_mig, 0);
	t->more[0].carrier.known = RD_ABSENT;
	RD_SET(t->more[0].admin_up, false);
	judged(&t->h, 0, "cut-off", "interface v0 is down");
	assert_non_null(strstr(t->h.v[0].verdict->fix, "ip link set v0 up"));
	/* One sample is enough. */
	t->h.past[0].psn_per_second.known = RD_ABSENT;
	judged(&t->h, 0, "cut-off", "port rxe0/1 is DOWN");
	/* It explains a failure, too. */
	RD_SET(t->h.qps[0].state, RD_QPS_ERR);
	judged(&t->h, 0, "failed", "cause unknown; port rxe0/1 is DOWN");
}

/* Broken: the port went down at the end of a long interval. */
TWO_TEST(a_port_that_went_down_after_packets)
{
	t->h.judge.seconds = 60;
	no_carrier(t);
	RD_SET(t->h.past[0].psn_per_second, 1000);
	judged(&t->h, 0, "cut-off",
	       "port rxe0/1 is DOWN: interface v0 has no carrier; in the 60.0 s before: 1000 packets per second");
	assert_non_null(strstr(t->h.v[0].verdict->fix, "ethtool v0"));
	/* One that only receives. */
	RD_SET(t->h.qps[0].state, RD_QPS_RTR);
	judged(&t->h, 0, "cut-off", "port rxe0/1 is DOWN");
	/* Without the address of the peer, and no such number on this device; on InfiniBand. */
	RD_SET(t->h.qps[0].state, RD_QPS_RTS);
	t->h.past[0].seen->has_dgid = false;
	t->h.devs[0].protocol = (char *)"ib";
	t->ports[0].netdev = NULL;
	t->more[0].carrier.known = t->more[0].admin_up.known = RD_ABSENT;
	judged(&t->h, 0, "cut-off", "port rxe0/1 is DOWN; in the 60.0 s before");
}

/* Healthy: packets that need no link, or a port that is not down any more; and what cannot be told apart from it. */
TWO_TEST(packets_without_a_link)
{
	no_carrier(t);
	RD_SET(t->h.past[0].psn_per_second, 1000);
	/* It moves packets although its port was DOWN all the time. */
	t->more[0].was_down = true;
	judged(&t->h, 0, "cannot-tell", "1000 packets per second; port rxe0/1 is DOWN: interface v0 has no carrier");
	t->more[0].was_down = false;
	/* It may move to its alternate path. */
	RD_SET(t->h.qps[0].path_mig, 2);
	judged(&t->h, 0, "cannot-tell", "port rxe0/1 is DOWN");
	RD_SET(t->h.qps[0].path_mig, 0);
	/* To the same device. */
	set_gid(t, 1, gid_2, 0);
	judged(&t->h, 0, "ok", "1000 packets");
	set_gid(t, 1, gid_2, 1);
	/* Perhaps to the same device: two of its queue pairs are connected to each other's numbers. */
	t->h.past[0].seen->has_dgid = false;
	t->h.qps[1].dev = 0;
	judged(&t->h, 0, "cannot-tell", "port rxe0/1 is DOWN");
	/* In ARMED, packets flow until the subnet manager is done; and the link came back while the sample was taken. */
	t->h.qps[1].dev = 1;
	RD_SET(t->ports[0].state, 3);
	judged(&t->h, 0, "ok", "1000 packets");
	RD_SET(t->ports[0].state, 1);
	RD_SET(t->more[0].carrier, true);
	judged(&t->h, 0, "ok", "1000 packets");
}

/* UD has no connection, but cannot send without a port. */
TWO_TEST(datagrams_through_a_port_that_is_down)
{
	RD_SET(t->ports[0].state, 1);
	RD_SET(t->more[0].admin_up, false);
	RD_SET(t->h.qps[0].type, RD_QPT_UD);
	t->h.qps[0].rqpn.known = RD_ABSENT;
	RD_SET(t->h.past[0].psn_per_second, 500);
	judged(&t->h, 0, "cut-off",
	       "port rxe0/1 is DOWN: interface v0 is down: datagrams reach no other device; it sends 500 packets per second");
	/* It waits for a reply now. */
	t->h.past[0].psn_per_second.v = 0;
	RD_SET(t->h.past[0].best_per_second, 300);
	judged(&t->h, 0, "cut-off", "it sent 300 packets per second");
	/* Another one of the device may be its peer. */
	RD_SET(put(&t->h, 19, RD_QPS_RTS)->type, RD_QPT_UD);
	judged(&t->h, 0, "cannot-tell", "port rxe0/1 is DOWN");
	/* Healthy: programs open all ports, and use some. */
	t->h.past[0].best_per_second.v = 0;
	judged(&t->h, 0, "ok", "no connection that could fail; port rxe0/1 is DOWN");
	t->h.past[0].psn_per_second.known = t->h.past[0].best_per_second.known = RD_ABSENT;
	judged(&t->h, 0, "cannot-tell", "port rxe0/1 is DOWN");
	/* Healthy: the kernel has one on each port. */
	t->h.qps[0].owner.kernel = (char *)"ib_core";
	judge(&t->h);
	assert_string_equal(t->h.v[0].verdict->why, "in RTS; this type has no connection that could fail");
}

/* Healthy: one leg of a bond is down, but the RDMA port is ACTIVE; the interface is in another namespace; the port of another
 * device is down; the state is unknown. */
TWO_TEST(ports_that_are_not_down)
{
	RD_SET(t->more[0].carrier, false);
	RD_SET(t->ports[1].state, 1);
	judged(&t->h, 0, "idle", "did not retransmit");
	says_not(t, "DOWN");
	t->ports[0].state.known = RD_ABSENT;
	t->ports[0].netdev = NULL;
	judged(&t->h, 0, "idle", "did not retransmit");
}

TWO_TEST(a_link_that_flapped)
{
	judged(counted(&t->h, "link-downed 1"), 0, "idle", "the link of rxe0 went down 1 time in 1.0 s");
}

TWO_TEST(a_gid_that_was_removed)
{
	t->gids[0].raw[15] = 7;
	judged(&t->h, 0, "cut-off", "its source address 10.9.0.1 was removed: it is not in the GID table of rxe0/1");
	/* A table that was not read to its end proves nothing. */
	t->more[0].gids_complete = false;
	judged(&t->h, 0, "idle", "did not retransmit");
	assert_false(rd_qp_ports_suffice(&t->h.views, &t->qp_ports));
	t->more[0].gids_complete = true;
	assert_true(rd_qp_ports_suffice(&t->h.views, &t->qp_ports));
	/* On InfiniBand, an rdma_cm address is one of IPoIB. */
	t->h.devs[0].protocol = (char *)"ib";
	judged(&t->h, 0, "idle", "did not retransmit");
	/* Without a recorder or rdma_cm, the source is unknown. */
	t->h.devs[0].protocol = (char *)"roce";
	t->h.past[0].seen->has_sgid = false;
	judged(&t->h, 0, "idle", "did not retransmit");
}

/* rdma_cm: the address of the connection; but connections over loopback have no such GID. */
TWO_TEST(an_address_of_rdma_cm)
{
	struct rd_cm_id cm_id = { .src = { .family = AF_INET, .ip = { 10, 9, 0, 1 } } };

	t->h.res.cm_ids = &cm_id;
	t->h.res.n_cm_ids = 1;
	t->h.link[0].cm_id = 0;
	t->h.past[0].seen->has_sgid = false;
	judged(&t->h, 0, "idle", "did not retransmit");
	cm_id.src.ip[3] = 9;
	judged(&t->h, 0, "cut-off", "its source address 10.9.0.9 was removed");
	memcpy(cm_id.src.ip, (uint8_t[]){ 127, 0, 0, 1 }, 4);
	judged(&t->h, 0, "idle", "did not retransmit");
	cm_id.src = (struct rd_sockaddr){ .family = AF_INET6, .ip = { [15] = 1 } };
	judged(&t->h, 0, "idle", "did not retransmit");
}

/* A recorder knows the index: the entry is empty as long as the queue pair exists. */
TWO_TEST(an_entry_that_is_empty)
{
	t->h.past[0].seen->has_sgid = false;
	RD_SET(t->h.past[0].seen->sgid_index, 9);
	judged(&t->h, 0, "idle", "did not retransmit");
	t->more[0].gids_empty[1] = 2;
	judged(&t->h, 0, "cut-off", "its source address was removed: GID index 9 of rxe0/1 is empty");
	/* An index behind those that are read first. */
	t->more[0].gids_complete = false;
	assert_true(rd_qp_ports_suffice(&t->h.views, &t->qp_ports));
	RD_SET(t->h.past[0].seen->sgid_index, 40);
	assert_false(rd_qp_ports_suffice(&t->h.views, &t->qp_ports));
	judged(&t->h, 0, "idle", "did not retransmit");
}

TWO_TEST(a_remote_qp_on_this_host)
{
	counted(&t->h, "retries 12");
	RD_SET(t->h.qps[1].state, RD_QPS_ERR);
	judged(&t->h, 0, "cut-off", "its remote QP 18 of rxe1, on this host, is in ERR; no packet");
	assert_non_null(strstr(t->h.v[0].verdict->fix, "rdmadiag qp-state rxe1 --lqpn 18"));
	/* Its number belongs to another connection. */
	RD_SET(t->h.qps[1].state, RD_QPS_RTS);
	RD_SET(t->h.qps[1].rqpn, 99);
	judged(&t->h, 0, "cut-off", "QP 18 of rxe1, on this host, is connected to QP 99");
	/* Another number: it does not exist. */
	RD_SET(t->h.qps[1].lqpn, 20);
	judged(&t->h, 0, "cut-off", "its remote QP 18 of rxe1, on this host, no longer exists");
}

/* Whether a queue pair is missing can be told only of a complete list, and of a host that has this address alone. */
TWO_TEST(a_remote_qp_that_may_exist)
{
	RD_SET(t->h.qps[1].lqpn, 20);
	RD_SET(t->h.devs[1].used[RD_RES_QP], 2);
	says_not(t, "no longer exists");
	RD_SET(t->h.devs[1].used[RD_RES_QP], 1);
	t->h.devs[1].gaps[RD_RES_QP].interrupted = true;
	says_not(t, "no longer exists");
	t->h.devs[1].gaps[RD_RES_QP].interrupted = false;
	t->h.devs[1].name = (char *)"mlx5_1";
	says_not(t, "no longer exists");
	t->h.devs[1].name = (char *)"rxe1";
	t->gids[1].here = false;
	says_not(t, "no longer exists");
	/* Two devices with one address, as ports of a bond and namespaces can have. */
	t->gids[1].here = true;
	set_gid(t, 2, gid_2, 2);
	t->qp_ports.n_gids = 3;
	says_not(t, "no longer exists");
	/* Another host's address. */
	t->qp_ports.n_gids = 1;
	says_not(t, "no longer exists");
}

TWO_TEST(a_neighbour_that_does_not_respond)
{
	add_neighbour(t, gid_2 + 12, 2, NUD_FAILED);
	judged(&t->h, 0, "idle", "its peer 10.9.0.2 does not respond to ARP: neighbour entry FAILED");
	assert_non_null(strstr(t->h.v[0].verdict->fix, "ping -c 3 -I v0 10.9.0.2"));
	/* On another interface, it responds. */
	add_neighbour(t, gid_2 + 12, 3, NUD_REACHABLE);
	says_not(t, "neighbour");
	/* That may be another network: packets leave through the interface of its source GID. */
	t->gids[0].ifindex = 2;
	t->more[0].ifs[0] = 2;
	t->more[0].ifs[1] = 3;
	t->more[0].n_ifs = 2;
	says(t, "its peer 10.9.0.2 does not respond to ARP");
	t->gids[0].ifindex = 3;
	says_not(t, "neighbour");
	/* Without it, through any interface of the GIDs of its port: one of them has it. */
	t->h.past[0].seen->has_sgid = false;
	says_not(t, "neighbour");
	/* Healthy: it failed on an interface that has nothing to do with the port. */
	t->neighs[1].state = NUD_FAILED;
	t->more[0].ifs[0] = 7;
	t->more[0].ifs[1] = 8;
	says_not(t, "neighbour");
	RD_SET(t->ports[0].netdev_index, 3);
	says(t, "its peer 10.9.0.2 does not respond to ARP");
	/* More interfaces than are kept. */
	t->ports[0].netdev_index.v = 9;
	t->more[0].n_ifs = RD_QP_PORT_IFS + 1;
	says(t, "its peer 10.9.0.2 does not respond to ARP");
	/* With packets, the entry does not matter. */
	t->net.n_neighs = 1;
	RD_SET(t->h.past[0].psn_per_second, 1000);
	judged(&t->h, 0, "ok", "1000 packets");
}

TWO_TEST(a_path_mtu_that_is_too_large)
{
	RD_SET(t->h.past[0].seen->path_mtu, 4096);
	says(t, "its path MTU of 4096 bytes, with headers, exceeds the MTU of 1500 bytes of v0");
	/* Healthy: jumbo frames. */
	RD_SET(t->more[0].mtu, 9000);
	says_not(t, "MTU");
	RD_SET(t->more[0].mtu, 4200);
	says_not(t, "MTU");
}

/* Healthy: an iWARP device whose interface has IPv6 addresses only. */
TWO_TEST(iwarp_without_ipv4_is_not_cut_off)
{
	t->h.devs[0].protocol = (char *)"iw";
	RD_SET(t->ports[0].state, 2);
	judged(&t->h, 0, "idle", "no packet");
	says_not(t, "INIT");
	RD_SET(t->ports[0].state, 1);
	judged(&t->h, 0, "cut-off", "is DOWN");
}

/* A link-local address is reached with its interface only. */
TWO_TEST(a_link_local_peer_is_reached_through_an_interface)
{
	static const uint8_t far[16] = { 0xfe, 0x80, [15] = 9 };

	t->h.judge.seconds = 1;
	memcpy(t->h.past[0].seen->dgid, far, 16);
	judge(&t->h);
	assert_non_null(strstr(t->h.v[0].verdict->fix, "ssh fe80::9%v0 rdmadiag qp-state --lqpn 18"));
	t->ports[0].netdev = NULL;
	judge(&t->h);
	assert_null(strstr(t->h.v[0].verdict->fix, "fe80"));
	assert_non_null(strstr(t->h.v[0].verdict->fix, "# on the remote host: rdmadiag qp-state --lqpn 18"));
}

/* A name that a shell would interpret is not in a command to paste. */
TWO_TEST(names_are_not_commands)
{
	t->ports[0].netdev = (char *)"v0;reboot";
	RD_SET(t->ports[0].state, 1);
	RD_SET(t->more[0].admin_up, false);
	judge(&t->h);
	assert_null(strstr(t->h.v[0].verdict->fix, "reboot"));
}

TEST(ports_are_read)
{
	struct rd_res_dev dev = { .name = (char *)"rxe0" };
	struct rd_res_port port = { .num = 1, .netdev = (char *)"v0" }, gone = { .num = 2 };
	struct rd_res res = { .devs = &dev, .n_devs = 1, .ports = &port, .n_ports = 1 };
	struct rd_qp_ports ports = { 0 };
	const struct rd_qp_port *found;
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();
	size_t n;

	fake_host_text(&host, "/sys/class/net/v0/flags", "0x1003\n");
	fake_host_text(&host, "/sys/class/net/v0/carrier", "0\n");
	fake_host_text(&host, "/sys/class/net/v0/mtu", "1500\n");
	fake_host_text(&host, "/sys/class/net/v0/ifindex", "7\n");
	for (int i = 0; i < 40; i++) {
		char path[80];

		snprintf(path, sizeof(path), "/sys/class/infiniband/rxe0/ports/1/gids/%d", i);
		fake_host_text(&host, path,
			       i == 1  ? "0000:0000:0000:0000:0000:ffff:0a09:0001\n" :
			       i == 30 ? "0000:0000:0000:0000:0000:ffff:0a09:0002\n" :
					 "0000:0000:0000:0000:0000:0000:0000:0000\n");
	}
	fake_host_text(&host, "/sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/1", "v0\n");
	fake_host_text(&host, "/sys/class/infiniband/rxe0/ports/1/rate", "2.5 Gb/sec (1X SDR)\n");
	rd_collect_qp_ports(host.source, &res, false, &ports);
	rd_collect_qp_rates(host.source, &res, &ports);
	assert_true(ports.v[0].rate_gbps.known == RD_OK && ports.v[0].rate_gbps.v == 2.5);
	found = rd_qp_ports_find(&ports, 0, 1);
	assert_non_null(found);
	assert_true(found->admin_up.v && !found->carrier.v && found->mtu.v == 1500 && !found->gids_complete);
	assert_int_equal(found->gids_empty[0], 0xfd);
	assert_null(rd_qp_ports_find(&ports, 0, 2));
	assert_true(rd_qp_ports_gids(&ports, gid_1, &n)->here);
	assert_int_equal(rd_qp_ports_gids(&ports, gid_1, &n)->ifindex, 7);
	assert_true(found->n_ifs == 1 && found->ifs[0] == 7);
	assert_null(rd_qp_ports_gids(&ports, gid_2, &n));
	rd_qp_ports_deinit(&ports);
	rd_collect_qp_ports(host.source, &res, true, &ports);
	assert_true(rd_qp_ports_find(&ports, 0, 1)->gids_complete);
	assert_false(rd_qp_ports_gids(&ports, gid_2, &n)->here);
	assert_int_equal(n, 1);
	rd_qp_ports_deinit(&ports);
	/* Nothing, not even how many there are. */
	rd_collect_qp_ports(host.source, &(struct rd_res){ .devs = &dev, .n_devs = 1, .ports = &gone, .n_ports = 1 },
			    true, &ports);
	assert_false(ports.v[0].gids_complete);
	assert_int_equal(ports.n_gids, 0);
	rd_qp_ports_deinit(&ports);
	/* What cannot be read is not empty. */
	fake_host_remove(&host, "/sys/class/infiniband/rxe0/ports/1/gids/3");
	fake_host_run(&host, "mkdir sys/class/infiniband/rxe0/ports/1/gids/3");
	rd_collect_qp_ports(host.source, &res, true, &ports);
	assert_int_equal(ports.v[0].gids_empty[0], 0xf5);
	assert_false(ports.v[0].gids_complete);
	rd_qp_ports_deinit(&ports);
}
