/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lossless Ethernet: PFC, pause, trust, classes, congestion control. */
#include <string.h>

#include "check/shared/port.h"
#include "check/shared/rules.h"
#include "model/host/system.h"

#define NO_DCB "the driver offers no Data Center Bridging"
#define NOT_READ "interfaces could not be read"

enum { SELECTOR_DSCP = 5 }; /* IEEE_8021QAZ_APP_SEL_DSCP */

typedef void port_fn(const struct rd_check_input *in, const struct rd_netif *netif, const char *subject,
		     struct rd_check_out *out);

/* Each port over Ethernet; where its driver has no DCB, that is said if the rule asks for it. */
static void each_port(const struct rd_check_input *in, struct rd_check_out *out, bool dcb, port_fn *fn)
{
	rd_check_skip(out, "no RDMA port over Ethernet");
	if (!in->net || in->net->links_known != RD_OK)
		return rd_check_unknown(out, "host", NOT_READ);
	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_netif *netif = rd_check_roce_netif(in, p);
		char subject[160];

		if (!netif)
			continue;
		/* There is no switch to agree with. */
		if (rd_check_is_soft(in->host, &in->host->ports[p])) {
			rd_check_skip(out, "soft devices only: the kernel's own stack carries their packets");
			continue;
		}
		rd_check_port_subject(in, p, netif, subject);
		if (in->ports->v[p].role == RD_ROLE_UNKNOWN) {
			if (!in->ports->v[p].spare)
				rd_check_unknown(out, subject, "what the port is for is not known");
			continue;
		}
		if (dcb && netif->dcb.pfc.known != RD_OK)
			rd_check_unknown(out, subject,
					 netif->dcb.known == RD_DENIED ? "DCB may not be read, or did not answer" :
									 NO_DCB);
		else
			fn(in, netif, subject, out);
	}
}

static bool pauses(const struct rd_netif *netif)
{
	return (netif->eth.pause_rx.known == RD_OK && netif->eth.pause_rx.v) ||
	       (netif->eth.pause_tx.known == RD_OK && netif->eth.pause_tx.v);
}

static void lossless(const struct rd_check_input *in, const struct rd_netif *netif, const char *subject,
		     struct rd_check_out *out)
{
	(void)in;
	if (netif->dcb.pfc.enable || pauses(netif))
		rd_check_good(out, subject);
	else if (netif->eth.pause_rx.known != RD_OK)
		rd_check_unknown(out, subject, "no priority has PFC, and whether pause frames are on is not told");
	else
		rd_check_bad(
			out, RD_SEV_WARNING, subject, rd_text("PFC on no priority, pause frames off"),
			rd_text("PFC on the priority that RoCE uses, at host and switch"),
			rd_text("PFC on the priority of RoCE: dcb pfc set dev %s prio-pfc 3:on (or mlnx_qos -i %s --pfc "
				"0,0,0,1,0,0,0,0), and the same at the switch; on a network that is lossy by design: "
				"--skip roce-lossless",
				netif->name, netif->name));
}

static void run_lossless(const struct rd_check_input *in, struct rd_check_out *out)
{
	each_port(in, out, true, lossless);
}

static void one_flow_control(const struct rd_check_input *in, const struct rd_netif *netif, const char *subject,
			     struct rd_check_out *out)
{
	(void)in;
	if (netif->dcb.pfc.enable && pauses(netif))
		rd_check_bad(out, RD_SEV_WARNING, subject, rd_text("both PFC and pause frames are on"),
			     rd_text("PFC only"), rd_text("ethtool -A %s rx off tx off", netif->name));
	else
		rd_check_good(out, subject);
}

static void run_one_flow_control(const struct rd_check_input *in, struct rd_check_out *out)
{
	each_port(in, out, true, one_flow_control);
}

static bool trusts_dscp(const struct rd_dcb *dcb)
{
	for (size_t i = 0; i < dcb->trust.n; i++)
		if (dcb->trust.selectors[i] == SELECTOR_DSCP)
			return true;
	return false;
}

/* A driver that cannot be asked for its trust goes by DSCP as soon as there is a map of DSCPs (mlx5 does so). */
static void trust(const struct rd_check_input *in, const struct rd_netif *netif, const char *subject,
		  struct rd_check_out *out)
{
	const struct rd_dcb *dcb = &netif->dcb;

	(void)in;
	if (!dcb->pfc.enable)
		rd_check_good(out, subject); /* then nothing hangs on it */
	else if (dcb->trust.known == RD_OK ? trusts_dscp(dcb) :
					     dcb->dscp_prio_set.known == RD_OK && dcb->dscp_prio_set.v)
		rd_check_good(out, subject);
	else if (dcb->trust.known != RD_OK && dcb->dscp_prio_set.known != RD_OK)
		rd_check_unknown(out, subject, "the driver tells neither its trust nor a map of DSCPs");
	else
		rd_check_bad(
			out, RD_SEV_WARNING, subject, rd_text("priorities are taken from the VLAN tag (PCP)"),
			rd_text("trust DSCP: RoCE v2 is routed, and mostly without a tag"),
			rd_text("dcb apptrust set dev %s order dscp, or mlnx_qos -i %s --trust dscp; and the same at "
				"the switch",
				netif->name, netif->name));
}

static void run_trust(const struct rd_check_input *in, struct rd_check_out *out)
{
	each_port(in, out, true, trust);
}

/* Which priority a packet of this traffic class gets. Without a map a driver takes the upper three bits of the DSCP. */
static uint8_t prio_of(const struct rd_dcb *dcb, int tclass)
{
	unsigned dscp = (unsigned)tclass >> 2 & 63;

	return dcb->dscp_prio_set.known == RD_OK && dcb->dscp_prio_set.v >> dscp & 1 ? dcb->dscp_prio[dscp] :
										       (uint8_t)(dscp >> 3);
}

static void traffic_class(const struct rd_check_input *in, const struct rd_netif *netif, const char *subject,
			  struct rd_check_out *out)
{
	uint8_t prio;

	(void)in;
	if (netif->tclass.known != RD_OK || netif->tclass.v < 0)
		return rd_check_skip(out, "no traffic class is set for all connections");
	if (!netif->dcb.pfc.enable)
		return rd_check_good(out, subject);
	prio = prio_of(&netif->dcb, netif->tclass.v);
	if (netif->dcb.pfc.enable & 1 << prio)
		rd_check_good(out, subject);
	else
		rd_check_warn(out, subject,
			      rd_text("traffic class %d is DSCP %d, priority %u: without PFC", netif->tclass.v,
				      netif->tclass.v >> 2 & 63, prio),
			      rd_text("a traffic class whose priority has PFC"));
}

static void run_traffic_class(const struct rd_check_input *in, struct rd_check_out *out)
{
	each_port(in, out, true, traffic_class);
}

static void devx_class(const struct rd_check_input *in, const struct rd_netif *netif, const char *subject,
		       struct rd_check_out *out)
{
	const char *registry = in->system ? in->system->nvidia_registry : NULL;

	if (netif->tclass.known != RD_OK || netif->tclass.v <= 0)
		return rd_check_skip(out, "no traffic class is set for all connections");
	if (!registry || !strstr(registry, "PeerMappingOverride=1"))
		return rd_check_skip(out, "the GPU driver is not set up for GPU-initiated RDMA");
	rd_check_warn(out, subject,
		      rd_text("traffic class %d is set for what the kernel connects; queue pairs that programs build "
			      "themselves (NCCL GIN, IBGDA) run in class 0",
			      netif->tclass.v),
		      rd_text("NCCL_IB_TC=%d and NVSHMEM_IB_TRAFFIC_CLASS=%d in the job's environment", netif->tclass.v,
			      netif->tclass.v));
}

static void run_devx_class(const struct rd_check_input *in, struct rd_check_out *out)
{
	each_port(in, out, false, devx_class);
}

static void classes(const struct rd_check_input *in, const struct rd_netif *netif, const char *subject,
		    struct rd_check_out *out)
{
	const struct rd_dcb *dcb = &netif->dcb;

	(void)in;
	if (dcb->ets.known != RD_OK)
		return rd_check_unknown(out, subject, "the driver does not tell its traffic classes (ETS)");
	for (int i = 0; i < RD_PRIOS; i++)
		for (int k = 0; k < RD_PRIOS; k++)
			if ((dcb->pfc.enable >> i & 1) && !(dcb->pfc.enable >> k & 1) &&
			    dcb->ets.prio_tc[i] == dcb->ets.prio_tc[k])
				return rd_check_warn(
					out, subject,
					rd_text("priority %d with PFC and priority %d without share class %u", i, k,
						dcb->ets.prio_tc[i]),
					rd_text("a traffic class of its own for what is lossless"));
	rd_check_good(out, subject);
}

static void run_classes(const struct rd_check_input *in, struct rd_check_out *out)
{
	each_port(in, out, true, classes);
}

static void congestion(const struct rd_check_input *in, const struct rd_netif *netif, const char *subject,
		       struct rd_check_out *out)
{
	uint8_t wanted = netif->dcb.pfc.known == RD_OK ? netif->dcb.pfc.enable : 0;

	(void)in;
	if (netif->ecn_np.known != RD_OK || netif->ecn_rp.known != RD_OK)
		return rd_check_unknown(out, subject,
					"the driver has no files for congestion control (ecn/: NVIDIA's own packages; "
					"debugfs cc_params elsewhere)");
	if ((netif->ecn_np.v & wanted) == wanted && (netif->ecn_rp.v & wanted) == wanted && netif->ecn_np.v &&
	    netif->ecn_rp.v)
		rd_check_good(out, subject);
	else
		rd_check_bad(out, RD_SEV_WARNING, subject,
			     rd_text("notification point 0x%02x, reaction point 0x%02x (a bit for each priority)",
				     netif->ecn_np.v, netif->ecn_rp.v),
			     rd_text("both on, for the priority of RoCE"),
			     rd_text("for priority 3: echo 1 >/sys/class/net/%s/ecn/roce_np/enable/3; echo 1 "
				     ">/sys/class/net/%s/ecn/roce_rp/enable/3; ECN marking at the switch",
				     netif->name, netif->name));
}

static void run_congestion(const struct rd_check_input *in, struct rd_check_out *out)
{
	each_port(in, out, false, congestion);
}

static void cnp(const struct rd_check_input *in, const struct rd_netif *netif, const char *subject,
		struct rd_check_out *out)
{
	uint8_t prio;

	(void)in;
	if (netif->cnp_dscp.known != RD_OK)
		return rd_check_unknown(out, subject, "the driver does not tell the DSCP of its CNPs");
	prio = prio_of(&netif->dcb, netif->cnp_dscp.v << 2);
	if (netif->dcb.pfc.enable & 1 << prio)
		rd_check_bad(out, RD_SEV_WARNING, subject,
			     rd_text("CNPs (DSCP %u) use priority %u, which PFC can pause", netif->cnp_dscp.v, prio),
			     rd_text("a strict priority without PFC (often DSCP 48, priority 6)"),
			     rd_text("echo 48 >/sys/class/net/%s/ecn/roce_np/cnp_dscp", netif->name));
	else
		rd_check_good(out, subject);
}

static void run_cnp(const struct rd_check_input *in, struct rd_check_out *out)
{
	each_port(in, out, true, cnp);
}

/* The interface of a port that a job uses together with others, if its PFC is known. */
static const struct rd_netif *compute_pfc(const struct rd_check_input *in, size_t p)
{
	const struct rd_netif *netif = in->ports->v[p].role == RD_ROLE_COMPUTE ? rd_check_roce_netif(in, p) : NULL;

	return netif && netif->dcb.pfc.known == RD_OK ? netif : NULL;
}

/* The first interface that has the PFC of most. */
static const struct rd_netif *usual_pfc(const struct rd_check_input *in)
{
	const struct rd_netif *usual = NULL;
	size_t most = 0;

	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_netif *netif = compute_pfc(in, p);
		size_t alike = 0;

		for (size_t o = p; netif && o < in->host->n_ports; o++) {
			const struct rd_netif *other = compute_pfc(in, o);

			alike += other && other->dcb.pfc.enable == netif->dcb.pfc.enable;
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

	rd_check_skip(out, "fewer than two RDMA ports over Ethernet that have PFC");
	for (size_t p = 0; usual && p < in->host->n_ports; p++) {
		const struct rd_netif *netif = compute_pfc(in, p);
		char subject[160];

		if (!netif || netif == usual)
			continue;
		rd_check_port_subject(in, p, netif, subject);
		if (netif->dcb.pfc.enable == usual->dcb.pfc.enable) {
			rd_check_good(out, subject);
		} else {
			_cleanup_free_ char *mine = rd_check_prios(netif->dcb.pfc.enable),
					    *others = rd_check_prios(usual->dcb.pfc.enable);

			rd_check_bad(
				out, RD_SEV_WARNING, subject, rd_text("PFC on priority %s", mine),
				rd_text("%s, as %s has", others, usual->name),
				rd_text("dcb pfc show dev %s; dcb pfc show dev %s; set both alike: dcb pfc set dev %s "
					"prio-pfc …",
					netif->name, usual->name, netif->name));
		}
	}
}

#define NEEDS_DCB "DCB netlink (DCB_CMD_IEEE_GET) of the interfaces of RDMA ports"

const struct rd_check rd_check_roce_lossless = {
	.id = "roce-lossless",
	.title = "Nothing keeps RoCE packets from being dropped under load",
	.why = "a full switch buffer drops packets; RoCE then retries whole messages, or fails with status 12",
	.fix = "PFC on the priority of RoCE: dcb pfc set dev IF prio-pfc 3:on (or mlnx_qos -i IF --pfc 0,0,0,1,0,0,0,0), "
	       "and the same at the switch; on a network that is lossy by design: --skip roce-lossless",
	.needs = NEEDS_DCB "; pause settings by ethtool netlink",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_lossless,
};

const struct rd_check rd_check_roce_pause = {
	.id = "roce-pause",
	.title = "Pause frames and PFC are both switched on",
	.why = "a link has one of them: which one wins is up to the device, and the switch may think otherwise",
	.fix = "ethtool -A IF rx off tx off",
	.needs = NEEDS_DCB "; pause settings by ethtool netlink",
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_one_flow_control,
};

const struct rd_check rd_check_roce_trust = {
	.id = "roce-trust",
	.title = "The NIC does not trust DSCP",
	.why = "RoCE v2 packets carry their class in the DSCP; a NIC that trusts the VLAN tag puts them all in priority 0, "
	       "which has no PFC",
	.fix = "dcb apptrust set dev IF order dscp, or mlnx_qos -i IF --trust dscp; and the same at the switch",
	.needs = NEEDS_DCB ", with its application table and trust",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_trust,
};

const struct rd_check rd_check_roce_tclass = {
	.id = "roce-tclass",
	.title = "The traffic class set for all connections has a priority without PFC",
	.why = "every connection that the kernel makes then runs where packets are dropped",
	.fix = "write a class with the right DSCP (tclass = 4 x DSCP) to /sys/class/infiniband/DEV/tc/1/traffic_class",
	.needs = "sysfs tc/1/traffic_class; " NEEDS_DCB,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_traffic_class,
};

const struct rd_check rd_check_roce_devx_tclass = {
	.id = "roce-devx-tclass",
	.title = "GPU-initiated queue pairs do not get the traffic class set for all connections",
	.why = "the kernel applies it in modify_qp; queue pairs built by DEVX never come there, and run lossy",
	.fix = "give the class to the program as well: NCCL_IB_TC, NVSHMEM_IB_TRAFFIC_CLASS",
	.needs = "sysfs tc/1/traffic_class; RegistryDwords of NVIDIA's driver",
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_devx_class,
};

const struct rd_check rd_check_roce_ets = {
	.id = "roce-ets",
	.title = "Lossless and lossy traffic share a traffic class",
	.why = "they share a queue: the lossy part is held up by PFC, and the lossless part waits behind it",
	.fix = "dcb ets set dev IF prio-tc …, or mlnx_qos -i IF --prio_tc 0,1,2,3,4,5,6,7",
	.needs = NEEDS_DCB,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_classes,
};

const struct rd_check rd_check_roce_ecn = {
	.id = "roce-ecn",
	.title = "Congestion control (DCQCN) is not on for RoCE's priority",
	.why = "without it senders slow down only when PFC stops them, and pauses spread through the network",
	.fix = "echo 1 > /sys/class/net/IF/ecn/roce_np/enable/3 and …/roce_rp/enable/3; ECN marking at the switch",
	.needs = "sysfs ecn/roce_np and ecn/roce_rp",
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_congestion,
};

const struct rd_check rd_check_roce_cnp = {
	.id = "roce-cnp",
	.title = "Congestion notification packets (CNP) use a priority that PFC can pause",
	.why = "the CNP waits behind the congestion that it reports, and senders slow down too late",
	.fix = "echo 48 > /sys/class/net/IF/ecn/roce_np/cnp_dscp",
	.needs = "sysfs ecn/roce_np/cnp_dscp; " NEEDS_DCB,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_cnp,
};

const struct rd_check rd_check_roce_uniform = {
	.id = "roce-pfc-uniform",
	.title = "Compute ports differ in their PFC",
	.why = "a job uses all of them at once, and is as fast as the worst",
	.fix = "set all alike: dcb pfc set dev IF prio-pfc …",
	.needs = NEEDS_DCB,
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_uniform,
};
