/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about RoCE and the network below it: a host on which all is well, and one thing after the other that is not. */
#include "unit.h"

#include "check-run.h"
#include "model/host/netstate.h"
#include "model/host/system.h"
#include "model/nicmap/nicmap.h"
#include "model/rdma/qp.h"
#include "model/shared/finding.h"

struct fixture {
	struct rd_host host;
	struct rd_port_views ports;
	struct rd_netstate net;
	struct rd_system system;
	struct rd_res res;
	struct rd_stalls stalls;
	struct rd_check_input in;
};

static void add_nic(struct fixture *f, int n)
{
	struct rd_netif *netif;

	check_add_port(&f->host, "eth", "Ethernet");
	assert_int_equal(rd_grow(&f->net.ifs, &f->net.cap_ifs, f->net.n_ifs + 1, sizeof(*f->net.ifs)), 0);
	netif = &f->net.ifs[f->net.n_ifs++];
	*netif = (struct rd_netif){ .ifindex = (unsigned)n + 2, .name = strdup(f->host.netdevs[n].name), .rdma = true };
	netif->dcb.known = netif->dcb.pfc.known = netif->dcb.ets.known = RD_OK;
	netif->dcb.pfc.enable = 1 << 3;
	for (int i = 0; i < RD_PRIOS; i++)
		netif->dcb.ets.prio_tc[i] = (uint8_t)i;
	RD_SET(netif->dcb.dscp_prio_set, UINT64_C(1) << 26 | UINT64_C(1) << 48);
	netif->dcb.dscp_prio[26] = 3;
	netif->dcb.dscp_prio[48] = 6;
	RD_SET(netif->eth.pause_rx, false);
	RD_SET(netif->eth.pause_tx, false);
	RD_SET(netif->ecn_np, 8);
	RD_SET(netif->ecn_rp, 8);
	RD_SET(netif->cnp_dscp, 48);
	RD_SET(netif->tclass, 104);
	RD_SET(netif->rp_filter, 2);
	RD_SET(netif->arp_ignore, 1);
	RD_SET(netif->arp_announce, 2);
	RD_SET(netif->carrier_down, 1);
}

static void add_addr(struct fixture *f, unsigned ifindex, uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	struct rd_ifaddr addr = { .ifindex = ifindex, .addr = { .raw = { a, b, c, d }, .prefix = 24 } };

	assert_int_equal(rd_grow(&f->net.addrs, &f->net.cap_addrs, f->net.n_addrs + 1, sizeof(addr)), 0);
	f->net.addrs[f->net.n_addrs++] = addr;
}

static void setup(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	f->in = (struct rd_check_input){ .host = &f->host,
					 .ports = &f->ports,
					 .net = &f->net,
					 .system = &f->system,
					 .res = &f->res,
					 .stalls = &f->stalls };
	f->net.links_known = f->net.addrs_known = f->net.routes_known = f->net.policies_known = f->net.neighs_known =
		f->net.devlink_known = f->net.firewall.known = RD_OK;
	for (int i = 0; i < 3; i++) {
		add_nic(f, i);
		add_addr(f, (unsigned)i + 2, 10, 0, (uint8_t)i, 1);
	}
	rd_port_views_init(&f->ports, &f->host);
	for (size_t p = 0; p < f->ports.n; p++)
		f->ports.v[p].role = RD_ROLE_COMPUTE;
}

static void teardown(struct fixture *f)
{
	rd_port_views_deinit(&f->ports);
	rd_host_deinit(&f->host);
	rd_netstate_deinit(&f->net);
	rd_system_deinit(&f->system);
	rd_res_deinit(&f->res);
	rd_stalls_deinit(&f->stalls);
}

/* A rule is `wanted` on a host after one `change`; without it, it passes (or is about nothing). */
#define EXPECT(rule, name, wanted, ...)                                               \
	do {                                                                          \
		_cleanup_(teardown) struct fixture f;                                 \
                                                                                      \
		setup(&f);                                                            \
		assert_true(check_worst(&f.in, rule) <= RD_SEV_OK);                   \
		__VA_ARGS__;                                                          \
		if (check_worst(&f.in, rule) != wanted)                               \
			fail_msg("%s: %s: %d", rule, name, check_worst(&f.in, rule)); \
	} while (0)

static void no_dcb(struct fixture *f)
{
	for (size_t i = 0; i < f->net.n_ifs; i++)
		f->net.ifs[i].dcb = (struct rd_dcb){ 0 };
}

/* The port trusts the VLAN tag; its GID is that of an interface with this VLAN (-1: none). */
static void trust_pcp(struct fixture *f, int vlan)
{
	struct rd_port *port = &f->host.ports[2];

	RD_SET(f->net.ifs[2].dcb.dscp_prio_set, 0);
	f->net.ifs[2].vlan = vlan;
	f->ports.v[2].gid = (int)port->n_gids;
	*RD_ADD(port->gids, port->n_gids, port->cap_gids) =
		(struct rd_gid){ .netdev = strdup(f->net.ifs[2].name), .type = RD_GID_ROCE_V2 };
}

TEST(lossless_ethernet)
{
	EXPECT("roce-lossless", "no PFC", RD_SEV_WARNING, f.net.ifs[1].dcb.pfc.enable = 0);
	EXPECT("roce-lossless", "no DCB", RD_SEV_UNKNOWN, no_dcb(&f));
	EXPECT("roce-pause", "both flow controls", RD_SEV_WARNING, f.net.ifs[0].eth.pause_tx.v = true);
	EXPECT("roce-trust", "trust PCP", RD_SEV_WARNING, f.net.ifs[2].dcb.trust.known = RD_OK,
	       f.net.ifs[2].dcb.trust.n = 1, f.net.ifs[2].dcb.trust.selectors[0] = 255);
	EXPECT("roce-trust", "no DSCP map", RD_SEV_WARNING, f.net.ifs[2].dcb.dscp_prio_set.v = 0);
	EXPECT("roce-trust", "PCP, in a VLAN", RD_SEV_OK, trust_pcp(&f, 300));
	EXPECT("roce-trust", "PCP, in no VLAN", RD_SEV_WARNING, trust_pcp(&f, -1));
	EXPECT("roce-tclass", "class without PFC", RD_SEV_WARNING, f.net.ifs[0].tclass.v = 32);
	EXPECT("roce-devx-tclass", "GPU initiated", RD_SEV_WARNING,
	       f.system.nvidia_registry = strdup("PeerMappingOverride=1;"));
	EXPECT("roce-ets", "shared class", RD_SEV_WARNING, f.net.ifs[0].dcb.ets.prio_tc[3] = 0);
	EXPECT("roce-ets", "no classes", RD_SEV_UNKNOWN, f.net.ifs[0].dcb.ets.known = RD_ABSENT);
	EXPECT("roce-ecn", "no reaction", RD_SEV_WARNING, f.net.ifs[0].ecn_rp.v = 0);
	EXPECT("roce-ecn", "no ECN files", RD_SEV_UNKNOWN, f.net.ifs[0].ecn_rp.known = RD_ABSENT);
	EXPECT("roce-cnp", "CNP in PFC", RD_SEV_WARNING, f.net.ifs[0].cnp_dscp.v = 26);
	EXPECT("roce-pfc-uniform", "other PFC", RD_SEV_WARNING, f.net.ifs[1].dcb.pfc.enable = 1 << 4);
	EXPECT("roce-pfc-uniform", "a DSCP without PFC", RD_SEV_WARNING, f.net.ifs[1].dcb.dscp_prio[26] = 0);
	EXPECT("roce-pfc-uniform", "another lossy priority", RD_SEV_OK, f.net.ifs[1].dcb.dscp_prio[48] = 5);
	EXPECT("roce-pfc-uniform", "no DSCP map read", RD_SEV_OK, f.net.ifs[1].dcb.dscp_prio_set.known = RD_ABSENT);
}

/* What most have is taken for right, also where the first port is the other. */
TEST(the_port_that_differs_is_named)
{
	for (size_t odd = 0; odd < 3; odd++) {
		struct rd_findings findings = { 0 };
		size_t warned = 0;
		struct fixture f;

		setup(&f);
		f.net.ifs[odd].dcb.pfc.enable = 0;
		check_run(&f.in, "roce-pfc-uniform", &findings);
		for (size_t i = 0; i < findings.n; i++) {
			if (findings.v[i].severity != RD_SEV_WARNING)
				continue;
			warned++;
			assert_non_null(strstr(findings.v[i].subject, f.net.ifs[odd].name));
		}
		assert_int_equal(warned, 1);
		rd_findings_deinit(&findings);
		teardown(&f);
	}
}

/* The first two have addresses in one subnet. */
static void same_subnet(struct fixture *f)
{
	f->net.addrs[1].addr.raw[2] = 0;
	f->net.addrs[1].addr.raw[3] = 2;
}

static void set_arp(struct fixture *f, int ignore, int announce)
{
	same_subnet(f);
	for (size_t i = 0; i < f->net.n_ifs; i++) {
		f->net.ifs[i].rp_filter.v = 2;
		f->net.ifs[i].arp_ignore.v = ignore;
		f->net.ifs[i].arp_announce.v = announce;
	}
}

static void silent_neighbour(struct fixture *f)
{
	f->net.neighs = calloc(1, sizeof(*f->net.neighs));
	f->net.neighs[0] = (struct rd_neigh){ .ifindex = 3, .addr = { 10, 0, 1, 9 }, .state = RD_NEIGH_FAILED };
	f->net.n_neighs = 1;
}

static void all_flap_alike(struct fixture *f)
{
	for (size_t i = 0; i < f->net.n_ifs; i++)
		f->net.ifs[i].carrier_down.v = 40 + (uint32_t)i;
}

static void soft_and_dropped(struct fixture *f)
{
	for (size_t i = 0; i < f->host.n_ibdevs; i++)
		f->host.ibdevs[i].parent_netdev = strdup("eth0");
	f->net.firewall.drops = f->net.firewall.may_drop = true;
}

TEST(ip_below)
{
	EXPECT("rp-filter", "strict in one subnet", RD_SEV_WARNING, same_subnet(&f), f.net.ifs[0].rp_filter.v = 1);
	EXPECT("rp-filter", "strict in several", RD_SEV_SKIP, f.net.ifs[0].rp_filter.v = 1,
	       f.net.ifs[0].arp_ignore.v = 0);
	EXPECT("rp-filter", "no netlink", RD_SEV_UNKNOWN, f.net.links_known = RD_ABSENT);
	EXPECT("arp-flux", "ARP of all", RD_SEV_WARNING, same_subnet(&f), f.net.ifs[0].arp_ignore.v = 0);
	/* https://github.com/oracle-quickstart/oci-hpc samples/gpu/update_arp_settings.sh */
	EXPECT("arp-flux", "ARP of OCI", RD_SEV_NOTE, set_arp(&f, 2, 1));
	/* https://github.com/ofiwg/libfabric/wiki/Verbs-Provider-on-Multi%E2%80%90NIC-Systems */
	EXPECT("arp-flux", "ARP of libfabric", RD_SEV_NOTE, set_arp(&f, 2, 0));
	EXPECT("rp-filter", "ARP of OCI", RD_SEV_OK, set_arp(&f, 2, 1));
	EXPECT("arp-flux", "strict in several", RD_SEV_SKIP, f.net.ifs[0].rp_filter.v = 1,
	       f.net.ifs[0].arp_ignore.v = 0);
	EXPECT("duplicate-address", "same address", RD_SEV_CRITICAL, f.net.addrs[1].addr.raw[2] = 0);
	EXPECT("duplicate-address", "refused address", RD_SEV_CRITICAL, f.net.addrs[1].flags = 0x08);
	EXPECT("neighbour-failed", "silent neighbour", RD_SEV_WARNING, silent_neighbour(&f));
	EXPECT("link-flaps", "flapping", RD_SEV_WARNING, f.net.ifs[2].carrier_down.v = 40);
	EXPECT("link-flaps", "all flap alike", RD_SEV_OK, all_flap_alike(&f));
	EXPECT("roce-firewall", "soft and dropped", RD_SEV_WARNING, soft_and_dropped(&f));
	EXPECT("roce-firewall", "soft and may be dropped", RD_SEV_UNKNOWN,
	       f.host.ibdevs[0].parent_netdev = strdup("eth0"), f.net.firewall.may_drop = true);
	/* Left over beside NICs, maybe: its use is unknown. */
	EXPECT("roce-firewall", "soft beside hard and dropped", RD_SEV_UNKNOWN,
	       f.host.ibdevs[0].parent_netdev = strdup("eth0"), f.net.firewall.drops = f.net.firewall.may_drop = true);
	EXPECT("roce-firewall", "soft and denied", RD_SEV_UNKNOWN, f.host.ibdevs[0].parent_netdev = strdup("eth0"),
	       f.net.firewall.known = RD_DENIED);
	EXPECT("roce-firewall", "hard and dropped", RD_SEV_SKIP, f.net.firewall.drops = f.net.firewall.may_drop = true);
}

static struct rd_devlink *add_devlink(struct fixture *f)
{
	f->net.devlinks = calloc(1, sizeof(*f->net.devlinks));
	f->net.n_devlinks = 1;
	f->net.devlinks[0] =
		(struct rd_devlink){ .bus = strdup("pci"), .dev = strdup("0000:01:00.0"), .health_known = RD_OK };
	return &f->net.devlinks[0];
}

static void add_reporter(struct fixture *f, bool healthy)
{
	struct rd_devlink *devlink = add_devlink(f);

	devlink->reporters = calloc(1, sizeof(*devlink->reporters));
	devlink->n_reporters = 1;
	devlink->reporters[0] = (struct rd_reporter){ .name = strdup("fw_fatal"), .healthy = healthy };
}

static void add_firmware(struct fixture *f, const char *stored)
{
	struct rd_devlink *devlink = add_devlink(f);

	devlink->versions = calloc(2, sizeof(*devlink->versions));
	devlink->n_versions = 2;
	devlink->versions[0] =
		(struct rd_fwver){ .kind = RD_FWVER_RUNNING, .name = strdup("fw.version"), .value = strdup("28.39") };
	devlink->versions[1] =
		(struct rd_fwver){ .kind = RD_FWVER_STORED, .name = strdup("fw.version"), .value = strdup(stored) };
}

TEST(what_devlink_says)
{
	EXPECT("devlink-health", "sick", RD_SEV_CRITICAL, add_reporter(&f, false));
	EXPECT("devlink-health", "healthy", RD_SEV_OK, add_reporter(&f, true));
	EXPECT("firmware-pending", "burnt", RD_SEV_WARNING, add_firmware(&f, "28.40"));
	EXPECT("firmware-pending", "current", RD_SEV_OK, add_firmware(&f, "28.39"));
}

static void bound_queue(struct fixture *f)
{
	rd_host_add_gpu(&f->host)->pci = 0;
	for (size_t i = 0; i < f->net.n_ifs; i++) {
		f->net.ifs[i].queues = (struct rd_queues){ .known = RD_OK, .n_dmabuf = 1 };
		RD_SET(f->net.ifs[i].eth.data_split, 1);
	}
}

static void ready(struct fixture *f)
{
	bound_queue(f);
	for (size_t i = 0; i < f->net.n_ifs; i++) {
		RD_SET(f->net.ifs[i].eth.data_split, 2);
		RD_SET(f->net.ifs[i].eth.ntuple, true);
		RD_SET(f->net.ifs[i].eth.ntuple_able, true);
	}
}

static void unused(struct fixture *f)
{
	bound_queue(f);
	for (size_t i = 0; i < f->net.n_ifs; i++)
		f->net.ifs[i].queues.n_dmabuf = 0;
}

TEST(zero_copy_tcp)
{
	EXPECT("devmem-tcp", "bound queue", RD_SEV_WARNING, bound_queue(&f));
	EXPECT("devmem-tcp", "ready", RD_SEV_OK, ready(&f));
	EXPECT("devmem-tcp", "unused", RD_SEV_SKIP, unused(&f));
}

static struct rd_qp *add_qp(struct fixture *f)
{
	f->res.devs = calloc(1, sizeof(*f->res.devs));
	f->res.n_devs = 1;
	f->res.devs[0].name = strdup("mlx5_0");
	f->res.qps = calloc(1, sizeof(*f->res.qps));
	f->res.n_qps = 1;
	f->res.qps[0] = (struct rd_qp){ .dev = 0, .proc = -1 };
	RD_SET(f->res.qps[0].type, RD_QPT_RC);
	RD_SET(f->res.qps[0].state, RD_QPS_ERR);
	return &f->res.qps[0];
}

static void of_another_job(struct fixture *f)
{
	struct rd_qp *qp = add_qp(f);

	RD_SET(qp->owner.pid, 4711);
	RD_SET(qp->state, RD_QPS_RTS);
	qp->proc = 0;
	f->res.procs = calloc(1, sizeof(*f->res.procs));
	f->res.n_procs = 1;
	f->res.procs[0] = (struct rd_proc){ .pid = 4711,
					    .comm = strdup("python"),
					    .cgroup = strdup("/slurm/uid_1/job_12/step_0") };
}

/* Of a running program, which may be about to recreate it: no fault, unless no job should be here. */
static void failed_of_a_program(struct fixture *f)
{
	of_another_job(f);
	RD_SET(f->res.qps[0].state, RD_QPS_ERR);
	free(f->res.procs[0].cgroup);
	f->res.procs[0].cgroup = NULL;
}

static void stall(struct fixture *f, enum rd_stall_kind kind)
{
	struct rd_stall stall = { .kind = kind };

	rd_err_set(&stall.err, 110, "/sys/class/infiniband/mlx5_0/node_desc", "gave no answer");
	rd_stalls_add(&f->stalls, &stall);
	f->stalls.limit_ms = 1800;
}

static struct rd_findings moved;

static void grown(struct fixture *f)
{
	static struct rd_finding finding = { .severity = RD_SEV_WARNING,
					     .title = "A bad cable",
					     .subject = (char *)"mlx5_0/1",
					     .observed = (char *)"99" };

	moved = (struct rd_findings){ &finding, 1, 1 };
	f->in.moved = &moved;
}

TEST(leftovers_and_hangs)
{
	EXPECT("job-leftovers", "orphan", RD_SEV_WARNING, add_qp(&f));
	EXPECT("job-leftovers", "kernels own", RD_SEV_OK, add_qp(&f)->owner.kernel = strdup("nvme_rdma"));
	EXPECT("job-leftovers", "of another job", RD_SEV_OK, of_another_job(&f));
	EXPECT("job-leftovers", "of another job exclusive", RD_SEV_WARNING, of_another_job(&f), f.in.exclusive = true);
	EXPECT("job-leftovers", "failed of a program", RD_SEV_NOTE, failed_of_a_program(&f));
	EXPECT("job-leftovers", "failed of a program exclusive", RD_SEV_WARNING, failed_of_a_program(&f),
	       f.in.exclusive = true);
	EXPECT("job-leftovers", "not listed", RD_SEV_UNKNOWN, f.in.res = NULL);
	EXPECT("host-answers", "blocked", RD_SEV_WARNING, stall(&f, RD_STALL_BLOCKED));
	EXPECT("host-answers", "died", RD_SEV_WARNING, stall(&f, RD_STALL_DIED));
	EXPECT("host-answers", "slow", RD_SEV_OK, stall(&f, RD_STALL_SLOW));
	EXPECT("host-answers", "unsure", RD_SEV_OK, stall(&f, RD_STALL_UNSURE));
	EXPECT("host-answers", "unasked", RD_SEV_OK, stall(&f, RD_STALL_UNASKED));
	EXPECT("read-in-time", "blocked", RD_SEV_OK, stall(&f, RD_STALL_BLOCKED));
	EXPECT("read-in-time", "slow", RD_SEV_WARNING, stall(&f, RD_STALL_SLOW));
	EXPECT("read-in-time", "unsure", RD_SEV_WARNING, stall(&f, RD_STALL_UNSURE));
	EXPECT("read-in-time", "unasked", RD_SEV_WARNING, stall(&f, RD_STALL_UNASKED));
	EXPECT("counters-moved", "grown", RD_SEV_WARNING, grown(&f));
	EXPECT("counters-moved", "nothing grew", RD_SEV_OK, moved = (struct rd_findings){ 0 }, f.in.moved = &moved);
}
