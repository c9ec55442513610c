/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lossless Ethernet: PFC, pause, trust, classes, congestion control. */

#include <inttypes.h>

#include "base/buf.h"
#include "check/shared/rules.h"
#include "model/host/system.h"

#define SWITCH                            \
	"# the same at the switch port\n" \
	"# it lasts until the next boot; also in the network configuration"
#define NO_DCB "the driver does not support Data Center Bridging (DCB)"
#define NOT_READ "interfaces could not be read (rtnetlink)"

/* The interface of a port over Ethernet, or of a member of its bond. */
struct carrier {
	const struct rd_check_input *in;
	const struct rd_netif *netif;
	const char *subject;
	size_t port;
};

/* A rule about each of them. */
struct each_port {
	void (*judge)(const struct carrier *at, struct rd_check_out *out);
	bool dcb; /* the rule needs DCB; ports whose driver has none are reported as unknown */
};

static bool is_down(const struct rd_port *port)
{
	return port->state && !rd_port_active(port);
}

/* A bond has no DCB and no pause frames; its members have. */
static void judge_carriers(const struct rd_check_input *in, struct rd_check_out *out, const struct each_port *rule,
			   size_t port, const struct rd_netif *netif)
{
	const struct rd_netif *carrier;
	char subject[160];

	for (size_t at = 0; (carrier = rd_netstate_next_carrier(in->net, netif, &at));) {
		rd_check_port_subject(in, port, carrier, subject);
		if (rule->dcb && carrier->dcb.pfc.known != RD_OK)
			rd_check_unknown(out, subject,
					 carrier->dcb.known == RD_DENIED ? "no permission to read DCB, or no response" :
									   NO_DCB);
		else
			rule->judge(&(struct carrier){ in, carrier, subject, port }, out);
	}
}

/* Calls the rule's own function for each port over Ethernet. */
static void run_ports(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_skip(out, "no RDMA port over Ethernet");
	if (!in->net || in->net->links_known != RD_OK)
		return rd_check_unknown(out, "host", NOT_READ);
	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_netif *netif = rd_check_roce_netif(in, p);
		char subject[160];

		if (!netif)
			continue;
		/* Switch settings do not matter here. */
		if (rd_check_is_soft(in->host, &in->host->ports[p])) {
			rd_check_skip(out,
				      "software RDMA devices only: the kernel's network stack carries their packets");
			continue;
		}
		/* A compute port is one with the default route, too: where there is no other. */
		if (in->ports->v[p].role == RD_ROLE_MANAGEMENT || is_down(&in->host->ports[p]) ||
		    (in->ports->v[p].role != RD_ROLE_COMPUTE && rd_port_route(in->host, &in->host->ports[p]))) {
			rd_check_skip(out, "no active RDMA port over Ethernet but those of management");
			continue;
		}
		rd_check_port_subject(in, p, netif, subject);
		if (in->ports->v[p].role == RD_ROLE_UNKNOWN)
			rd_check_unknown(out, subject, "role of the port is unknown");
		else
			judge_carriers(in, out, rd_check_of(out)->with, p, netif);
	}
}

static bool has_pause(const struct rd_netif *netif)
{
	return (netif->eth.pause_rx.known == RD_OK && netif->eth.pause_rx.v) ||
	       (netif->eth.pause_tx.known == RD_OK && netif->eth.pause_tx.v);
}

static void judge_lossless(const struct carrier *at, struct rd_check_out *out)
{
	if (at->netif->dcb.pfc.enable || has_pause(at->netif))
		rd_check_good(out, at->subject);
	else if (at->netif->eth.pause_rx.known != RD_OK)
		rd_check_unknown(out, at->subject, "PFC on no priority; pause frame setting not reported");
	else
		rd_check_warn(out, at->subject, rd_text("PFC on no priority, pause frames off"),
			      rd_text("PFC on the priority of RoCE, at host and switch"));
}

static void judge_one_flow_control(const struct carrier *at, struct rd_check_out *out)
{
	if (at->netif->dcb.pfc.enable && has_pause(at->netif))
		rd_check_warn(out, at->subject, rd_text("PFC and pause frames are both enabled"), rd_text("PFC only"));
	else
		rd_check_good(out, at->subject);
}

/* The kernel shows an empty DSCP map also of drivers that have none: the one of Gaudi. */
static bool may_map_dscp(const struct rd_check_input *in, const struct rd_netif *netif)
{
	for (size_t p = 0; p < in->host->n_ports; p++)
		if (rd_check_roce_netif(in, p) == netif && rd_ibdev_is_gaudi(in->host, in->host->ports[p].ibdev))
			return false;
	return true;
}

/* The GID that programs use is that of a VLAN: their packets have a tag. */
static bool is_tagged(const struct carrier *at)
{
	int gid = at->in->ports->v[at->port].gid;
	const struct rd_netif *netif =
		gid < 0 ? NULL : rd_netstate_find_name(at->in->net, at->in->host->ports[at->port].gids[gid].netdev);

	return netif && netif->vlan >= 0;
}

static void judge_trust(const struct carrier *at, struct rd_check_out *out)
{
	const struct rd_dcb *dcb = &at->netif->dcb;

	/* Without PFC, trust does not matter. */
	if (!dcb->pfc.enable || rd_dcb_trusts_dscp(dcb) || is_tagged(at))
		rd_check_good(out, at->subject);
	else if (dcb->trust.known != RD_OK && (dcb->dscp_prio_set.known != RD_OK || !may_map_dscp(at->in, at->netif)))
		rd_check_unknown(out, at->subject,
				 "the driver reports neither its trust mode nor a DSCP-to-priority map");
	else
		rd_check_warn(out, at->subject, rd_text("priority is taken from the VLAN tag (PCP)"),
			      rd_text("trust DSCP: RoCE v2 is routed, mostly without a VLAN tag"));
}

static uint64_t class_of(const struct rd_check_input *in, size_t p)
{
	const struct rd_netif *netif = rd_check_roce_netif(in, p);

	return netif && netif->tclass.known == RD_OK && netif->tclass.v > 0 ? (uint64_t)netif->tclass.v : 0;
}

static void judge_traffic_class(const struct carrier *at, struct rd_check_out *out)
{
	uint64_t usual = at->netif->tclass.known == RD_OK ? rd_check_usual(at->in, at->port, class_of) : 0;
	unsigned prio;

	if (usual && at->netif->tclass.v <= 0)
		return rd_check_bad(out, RD_SEV_WARNING, at->subject, rd_text("no traffic class is set"),
				    rd_text("%" PRIu64 ", as on all other compute ports", usual),
				    rd_text("echo %" PRIu64 " >/sys/class/infiniband/IBDEV/tc/1/traffic_class\n"
					    "# until the next boot; also in a boot script",
					    usual));
	if (at->netif->tclass.known != RD_OK || at->netif->tclass.v < 0)
		return rd_check_skip(out, "no traffic class override is set (tc/1/traffic_class)");
	prio = rd_dcb_prio(&at->netif->dcb, (unsigned)at->netif->tclass.v);
	if (!at->netif->dcb.pfc.enable || at->netif->dcb.pfc.enable & 1u << prio)
		rd_check_good(out, at->subject);
	else
		rd_check_warn(out, at->subject,
			      rd_text("traffic class %d (DSCP %d) maps to priority %u, which has no PFC",
				      at->netif->tclass.v, at->netif->tclass.v >> 2 & 63, prio),
			      rd_text("a traffic class that maps to a priority with PFC"));
}

static void judge_devx_class(const struct carrier *at, struct rd_check_out *out)
{
	if (at->netif->tclass.known != RD_OK || at->netif->tclass.v <= 0)
		return rd_check_skip(out, "no traffic class override is set (tc/1/traffic_class)");
	if (!at->in->system || !rd_maps_peers(at->in->system))
		return rd_check_skip(out, "the GPU driver is not configured for GPU-initiated RDMA");
	rd_check_warn(out, at->subject,
		      rd_text("traffic class %d applies to queue pairs that the kernel connects; queue pairs that "
			      "programs create themselves (NCCL GIN, IBGDA) use class 0",
			      at->netif->tclass.v),
		      rd_text("NCCL_IB_TC=%d and NVSHMEM_IB_TRAFFIC_CLASS=%d in the job's environment",
			      at->netif->tclass.v, at->netif->tclass.v));
}

static void judge_classes(const struct carrier *at, struct rd_check_out *out)
{
	const struct rd_dcb *dcb = &at->netif->dcb;

	if (dcb->ets.known != RD_OK)
		return rd_check_unknown(out, at->subject, "the driver does not report its traffic classes (ETS)");
	for (int i = 0; i < RD_PRIOS; i++)
		for (int k = 0; k < RD_PRIOS; k++)
			if ((dcb->pfc.enable >> i & 1) && !(dcb->pfc.enable >> k & 1) &&
			    dcb->ets.prio_tc[i] == dcb->ets.prio_tc[k])
				return rd_check_warn(
					out, at->subject,
					rd_text("priority %d with PFC and priority %d without PFC share traffic class "
						"%u",
						i, k, dcb->ets.prio_tc[i]),
					rd_text("a separate traffic class for lossless priorities"));
	rd_check_good(out, at->subject);
}

static void judge_congestion(const struct carrier *at, struct rd_check_out *out)
{
	uint8_t wanted = at->netif->dcb.pfc.known == RD_OK ? at->netif->dcb.pfc.enable : 0;

	if (at->netif->ecn_np.known != RD_OK || at->netif->ecn_rp.known != RD_OK)
		return rd_check_unknown(out, at->subject,
					"no congestion control files from the driver (ecn/ with NVIDIA's own "
					"packages; debugfs cc_params elsewhere)");
	if ((at->netif->ecn_np.v & wanted) == wanted && (at->netif->ecn_rp.v & wanted) == wanted &&
	    at->netif->ecn_np.v && at->netif->ecn_rp.v)
		rd_check_good(out, at->subject);
	else
		rd_check_warn(out, at->subject,
			      rd_text("notification point mask 0x%02x, reaction point mask 0x%02x (one bit per "
				      "priority)",
				      at->netif->ecn_np.v, at->netif->ecn_rp.v),
			      rd_text("both enabled for the priority of RoCE"));
}

static void judge_cnp(const struct carrier *at, struct rd_check_out *out)
{
	unsigned prio;

	if (at->netif->cnp_dscp.known != RD_OK)
		return rd_check_unknown(out, at->subject, "the driver does not report the DSCP of CNPs");
	prio = rd_dcb_prio(&at->netif->dcb, (unsigned)at->netif->cnp_dscp.v << 2);
	if (at->netif->dcb.pfc.enable & 1u << prio)
		rd_check_warn(out, at->subject,
			      rd_text("CNPs (DSCP %u) use priority %u, which PFC can pause", at->netif->cnp_dscp.v,
				      prio),
			      rd_text("a strict priority without PFC (often DSCP 48, priority 6)"));
	else
		rd_check_good(out, at->subject);
}

/* The interface of a compute port, if its PFC setting is known; else NULL. */
static const struct rd_netif *compute_pfc(const struct rd_check_input *in, size_t p)
{
	const struct rd_netif *netif = in->ports->v[p].role == RD_ROLE_COMPUTE && !is_down(&in->host->ports[p]) ?
					       rd_check_roce_netif(in, p) :
					       NULL;
	size_t at = 0;

	netif = netif ? rd_netstate_next_carrier(in->net, netif, &at) : NULL; /* members of a bond are set alike */
	/* Pause frames stand in for PFC. */
	return netif && netif->dcb.pfc.known == RD_OK && (netif->dcb.pfc.enable || !has_pause(netif)) ? netif : NULL;
}

/* A bit for each DSCP whose priority has PFC; all: the map is unknown or not used. */
static uint64_t lossless_dscps(const struct rd_dcb *dcb)
{
	uint64_t ret = dcb->dscp_prio_set.known == RD_OK && rd_dcb_trusts_dscp(dcb) ? 0 : UINT64_MAX;

	for (unsigned dscp = 0; dscp < 64; dscp++)
		ret |= (uint64_t)(dcb->pfc.enable >> rd_dcb_prio(dcb, dscp << 2) & 1) << dscp;
	return ret;
}

/* The DSCPs that are lossless on one of them alone. */
static uint64_t differing(const struct rd_netif *a, const struct rd_netif *b)
{
	uint64_t x = lossless_dscps(&a->dcb), y = lossless_dscps(&b->dcb);

	return x == UINT64_MAX || y == UINT64_MAX ? 0 : x ^ y;
}

/* The first interface with the most frequent PFC setting. */
static const struct rd_netif *usual_pfc(const struct rd_check_input *in)
{
	const struct rd_netif *usual = NULL;
	size_t most = 0;

	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_netif *netif = compute_pfc(in, p);
		size_t alike = 0;

		for (size_t o = p; netif && o < in->host->n_ports; o++) {
			const struct rd_netif *other = compute_pfc(in, o);

			alike += other && other->dcb.pfc.enable == netif->dcb.pfc.enable && !differing(netif, other);
		}
		if (alike > most) {
			most = alike;
			usual = netif;
		}
	}
	return usual;
}

static void run_uniform(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_netif *usual = in->net ? usual_pfc(in) : NULL;

	rd_check_skip(out, "fewer than two RDMA ports over Ethernet with PFC");
	for (size_t p = 0; usual && p < in->host->n_ports; p++) {
		const struct rd_netif *netif = compute_pfc(in, p);
		char subject[160];

		if (!netif || netif == usual)
			continue;
		rd_check_port_subject(in, p, netif, subject);
		if (netif->dcb.pfc.enable == usual->dcb.pfc.enable && differing(netif, usual)) {
			unsigned dscp = (unsigned)__builtin_ctzll(differing(netif, usual));

			rd_check_bad(
				out, RD_SEV_WARNING, subject,
				rd_text("DSCP %u has priority %u", dscp, rd_dcb_prio(&netif->dcb, dscp << 2)),
				rd_text("%u, as on %s", rd_dcb_prio(&usual->dcb, dscp << 2), usual->name),
				rd_text("dcb app show dev IF\n"
					"# use the same map on all, with dcb app replace dev IF dscp-prio\n" SWITCH));
		} else if (netif->dcb.pfc.enable == usual->dcb.pfc.enable) {
			rd_check_good(out, subject);
		} else {
			_cleanup_free_ char *mine = rd_check_prios(netif->dcb.pfc.enable),
					    *others = rd_check_prios(usual->dcb.pfc.enable);

			_cleanup_buf_ struct rd_buf map = { 0 };

			for (int i = 0; i < RD_PRIOS; i++)
				rd_buf_printf(&map, " %d:%s", i, usual->dcb.pfc.enable & 1 << i ? "on" : "off");
			rd_check_bad(out, RD_SEV_WARNING, subject, rd_text("PFC on priority %s", mine),
				     rd_text("%s, as on %s", others, usual->name),
				     rd_text("dcb pfc set dev IF prio-pfc%s\n" SWITCH, map.data));
		}
	}
}

#define NEEDS_DCB "DCB netlink (DCB_CMD_IEEE_GET) of the interfaces of RDMA ports"

const struct rd_check rd_check_roce_lossless = {
	.id = "roce-lossless",
	.title = "RoCE port is not lossless: no PFC and no pause frames",
	.why = "a full switch buffer drops packets; RoCE then retransmits whole messages, or fails with completion "
	       "status 12 (IBV_WC_RETRY_EXC_ERR)",
	.fix = "dcb pfc set dev IF prio-pfc 3:on\n"
	       "# 3 stands for the priority of RoCE\n"
	       "# without dcb: mlnx_qos --pfc 0,0,0,1,0,0,0,0\n"
	       "# on a network that is lossy by design: rdmadiag topo-check --skip roce-lossless\n" SWITCH,
	.needs = NEEDS_DCB "; pause settings from ethtool netlink",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_ports,
	.with = &(const struct each_port){ judge_lossless, true },
};

const struct rd_check rd_check_roce_pause = {
	.id = "roce-pause",
	.title = "PFC and pause frames are both enabled",
	.why = "a link can use only one of them: the device decides which, and the switch may decide differently",
	.fix = "ethtool -A IF rx off tx off\n"
	       "# no job may use the interface meanwhile\n" SWITCH,
	.needs = NEEDS_DCB "; pause settings from ethtool netlink",
	.thorough = true,
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_ports,
	.with = &(const struct each_port){ judge_one_flow_control, true },
};

const struct rd_check rd_check_roce_trust = {
	.id = "roce-trust",
	.title = "NIC does not trust DSCP",
	.why = "RoCE v2 packets carry their class in the DSCP; a NIC that trusts the VLAN tag puts those without one "
	       "in priority 0, which has no PFC",
	.fix = "dcb apptrust set dev IF order dscp\n"
	       "# where dcb has no apptrust: mlnx_qos --trust dscp\n" SWITCH,
	.needs = NEEDS_DCB ", with application table and trust",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_ports,
	.with = &(const struct each_port){ judge_trust, true },
};

const struct rd_check rd_check_roce_tclass = {
	.id = "roce-tclass",
	.title = "Traffic class set for all connections is missing, or maps to a priority without PFC",
	.why = "every connection that the kernel sets up then uses a priority where packets are dropped",
	.fix = "dcb pfc show dev IF\n"
	       "dcb app show dev IF\n"
	       "# write a traffic class whose DSCP maps to a priority with PFC to tc/1/traffic_class of the device in "
	       "/sys/class/infiniband (traffic class = 4 x DSCP)",
	.needs = "sysfs tc/1/traffic_class; " NEEDS_DCB,
	.thorough = true,
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_ports,
	.with = &(const struct each_port){ judge_traffic_class, true },
};

const struct rd_check rd_check_roce_devx_tclass = {
	.id = "roce-devx-tclass",
	.title = "GPU-initiated queue pairs bypass the traffic class set for all connections",
	.why = "the kernel applies the traffic class in modify_qp; queue pairs created through DEVX bypass it, and "
	       "use a lossy priority",
	.fix = "# set the traffic class in the job's environment as well: NCCL_IB_TC, NVSHMEM_IB_TRAFFIC_CLASS",
	.needs = "sysfs tc/1/traffic_class; RegistryDwords of the NVIDIA driver",
	.thorough = true,
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_ports,
	.with = &(const struct each_port){ judge_devx_class, false },
};

const struct rd_check rd_check_roce_ets = {
	.id = "roce-ets",
	.title = "Lossless and lossy priorities share a traffic class (ETS)",
	.why = "they share a queue: PFC delays the lossy traffic, and the lossless traffic waits behind it",
	.fix = "dcb ets set dev IF prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7\n"
	       "# without dcb: mlnx_qos --prio_tc 0,1,2,3,4,5,6,7\n" SWITCH,
	.needs = NEEDS_DCB,
	.thorough = true,
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_ports,
	.with = &(const struct each_port){ judge_classes, true },
};

const struct rd_check rd_check_roce_ecn = {
	.id = "roce-ecn",
	.title = "Congestion control (DCQCN) is off for the priority of RoCE",
	.why = "without it, senders slow down only when PFC stops them, and pauses spread through the network",
	.fix = "echo 1 >/sys/class/net/IF/ecn/roce_np/enable/3\n"
	       "echo 1 >/sys/class/net/IF/ecn/roce_rp/enable/3\n"
	       "# 3 stands for the priority of RoCE\n"
	       "# it lasts until the next boot; also in a boot script\n"
	       "# enable ECN marking at the switch",
	.needs = "sysfs ecn/roce_np and ecn/roce_rp",
	.thorough = true,
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_ports,
	.with = &(const struct each_port){ judge_congestion, false },
};

const struct rd_check rd_check_roce_cnp = {
	.id = "roce-cnp",
	.title = "CNPs (congestion notification packets) use a priority that PFC can pause",
	.why = "CNPs wait behind the congestion that they report, and senders slow down too late",
	.fix = "echo 48 >/sys/class/net/IF/ecn/roce_np/cnp_dscp\n"
	       "# until the next boot; also in a boot script",
	.needs = "sysfs ecn/roce_np/cnp_dscp; " NEEDS_DCB,
	.thorough = true,
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_ports,
	.with = &(const struct each_port){ judge_cnp, true },
};

const struct rd_check rd_check_roce_uniform = {
	.id = "roce-pfc-uniform",
	.title = "PFC settings differ between compute ports",
	.why = "a job uses all ports at once, and is as fast as the slowest",
	.fix = "dcb pfc show dev IF\n"
	       "# use the same setting on all, with dcb pfc set\n" SWITCH,
	.needs = NEEDS_DCB ", with application table",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_uniform,
};
