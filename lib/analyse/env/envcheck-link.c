/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pair attributes: timeout, retry count, service level, traffic class, P_Key index. The fields are those of
 * ibv_modify_qp(3); NCCL sets them in src/transport/net_ib/connect.cc. */
#include <string.h>

#include "analyse/env/envcheck-priv.h"
#include "base/text.h"

#define CODE_POINTS \
	UINT64_C(0x0101515555555503) /* bits of the DSCPs with names: CS0 to CS7, AF11 to AF43, VA, EF, LE */
#define WATCHDOG 600		     /* seconds: PyTorch's default timeout of an NCCL collective */

static enum rd_env_read reader(const struct rd_check_env *check)
{
	const char *name = check->effect->name;

	if (strncmp(name, "UCX_", 4) == 0)
		return RD_ENV_UCX_AUTO;
	if (strncmp(name, "NVSHMEM_", 8) == 0)
		return RD_ENV_ANY_BASE;
	return strncmp(name, "MC_", 3) == 0 ? RD_ENV_STOI : RD_ENV_NCCL;
}

static double ack_timeout(long exponent)
{
	return 4.096e-6 * (double)(UINT64_C(1) << exponent);
}

static void judge_timeout(struct rd_check_env *check, long exponent, double total)
{
	if (total > WATCHDOG) {
		rd_envcheck_finding(check, RD_SEV_NOTE, "env-timeout-long",
				    "Unreachable peer is reported only after the PyTorch watchdog fires",
				    "PyTorch's watchdog (600 s) aborts the job first, without naming the peer",
				    rd_text("%.3g s", total), rd_text("20 to 23"));
		return;
	}
	if (total < 1) {
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-timeout-short",
				    "Short network interruption fails the job",
				    "a link flap or a reroute in the fabric takes longer than this timeout",
				    rd_text("error after %.3g s at the earliest, 4 times that at the latest", total),
				    rd_text("20 to 23 (%ld is set)", exponent));
		return;
	}
}

/* The timer is 4.096 us x 2^N; the specification allows a device up to four times that. */
void rd_envcheck_timeout(struct rd_check_env *check)
{
	bool nccl = reader(check) == RD_ENV_NCCL;
	long exponent, retries = rd_envcheck_nccl_number(check, nccl ? "NCCL_IB_RETRY_CNT" : "NVSHMEM_IB_RETRY_CNT", 7);
	double total;

	if (!rd_envcheck_value(check, reader(check), 20, &exponent))
		return;
	if (exponent < 0 || exponent > 31) {
		rd_envcheck_effect(check, "%ld does not fit the 5-bit field", exponent);
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "Value out of range",
				    "the driver rejects it or truncates it to 5 bits", rd_text("%ld", exponent),
				    rd_text("0 to 31; 20 to 23 is usual"));
		return;
	}
	if (exponent == 0) {
		rd_envcheck_effect(check, "no timeout: a lost packet or an unreachable peer is never detected");
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-timeout-none", "0 disables the timeout",
				    "a lost packet hangs the connection forever", NULL, rd_text("20 to 23"));
		return;
	}
	retries = retries < 0 || retries > 7 ? 7 : retries;
	total = ack_timeout(exponent) * (double)(retries + 1);
	rd_envcheck_effect(
		check,
		"local ACK timeout 4.096 us x 2^%ld = %.3g s; with %ld retries an unreachable peer is reported "
		"after %.3g s at the earliest, 4 times that at the latest",
		exponent, ack_timeout(exponent), retries, total);
	judge_timeout(check, exponent, total);
}

void rd_envcheck_retry_count(struct rd_check_env *check)
{
	long retries;

	if (!rd_envcheck_value(check, reader(check), 7, &retries))
		return;
	if (retries < 0 || retries > 7) {
		rd_envcheck_effect(check, "%ld does not fit the 3-bit field", retries);
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "Value out of range",
				    "the driver rejects it or truncates it to 3 bits",
				    rd_text("%ld (lowest 3 bits: %ld)", retries, retries & 7), rd_text("0 to 7"));
		return;
	}
	rd_envcheck_effect(check, "a packet is retransmitted up to %ld times%s", retries,
			   retries == 7 ? " (the default)" : "");
	if (retries > 0)
		return;
	rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-retry", "Retransmission is disabled",
			    "one lost packet breaks the connection", NULL, rd_text("7"));
}

/* On RoCE the service level is the 3-bit priority in the VLAN tag. */
void rd_envcheck_service_level(struct rd_check_env *check)
{
	size_t roce, ib;
	long level;

	if (!rd_envcheck_value(check, reader(check), -1, &level))
		return;
	rd_envcheck_count(check, &roce, &ib);
	if (level == -1 && reader(check) == RD_ENV_NCCL) {
		rd_envcheck_effect(check, "service level 0 (the default)");
		return;
	}
	if (level < 0 || level > 15 || (level > 7 && roce)) {
		rd_envcheck_effect(check, "%ld is not a %s", level, roce ? "RoCE priority" : "service level");
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "Value out of range",
				    "the driver rejects or truncates it", rd_text("%ld", level),
				    rd_text(roce ? "0 to 7: on RoCE it is the priority in the VLAN tag" : "0 to 15"));
		return;
	}
	if (ib || !roce)
		rd_envcheck_effect(check, "InfiniBand: service level %ld; the SL2VL tables map it to a virtual lane",
				   level);
	if (roce || !ib)
		rd_envcheck_effect(check,
				   "RoCE: priority %ld in the VLAN tag; ports that trust DSCP use the traffic class",
				   level);
}

/* The traffic class byte of the IP header: 6 bits of DSCP, 2 bits of ECN. */
static void show_class(struct rd_check_env *check, long class)
{
	static const char *const ecn[] = { "not ECN-capable", "ECT(1)", "ECT(0)", "CE, congestion experienced" };

	rd_envcheck_effect(check, "RoCE: DSCP %ld, ECN bits %ld (%s)", class >> 2, class & 3, ecn[class & 3]);
}

static void judge_class(struct rd_check_env *check, long class)
{
	if ((class & 3) == 3) {
		rd_envcheck_finding(
			check, RD_SEV_WARNING, "env-ecn-marked", "Traffic class marks every packet as congested",
			"the lowest two bits are the ECN field; 3 (CE) signals congestion to the receiver on every packet",
			rd_text("%ld = DSCP %ld x 4 + 3", class, class >> 2),
			rd_text("%ld or %ld", (class >> 2) * 4, (class >> 2) * 4 + 2));
		return;
	}
	if (class < 64 && (class & 3) && (CODE_POINTS >> class & 1) && !(CODE_POINTS >> (class >> 2) & 1)) {
		rd_envcheck_finding(
			check, RD_SEV_WARNING, "env-tc-is-dscp", "Value looks like a DSCP, not a traffic class",
			"a traffic class is DSCP x 4, plus 2 for ECN-capable; switches classify packets by DSCP",
			rd_text("%ld is DSCP %ld", class, class >> 2), rd_text("for DSCP %ld: %ld", class, class * 4));
		return;
	}
}

/* Ports that would send this class with a priority without PFC, while another has it. Of a class that the
 * host forces, which takes precedence, rule roce-tclass tells. */
static void judge_priority(struct rd_check_env *check, long class)
{
	_cleanup_env_list_ struct rd_env_list ports = { 0 };
	_cleanup_free_ char *list = NULL;
	unsigned prio = 0, pfc = 0;
	char label[128];

	for (size_t p = 0; check->views->net && !strstr(check->effect->name, "FIFO") && p < check->host->n_ports; p++) {
		const struct rd_port *port = &check->host->ports[p];
		const struct rd_netif *netif =
			port->n_netdevs == 0 ?
				NULL :
				rd_netstate_find_name(check->views->net, check->host->netdevs[port->netdevs[0]].name);
		const struct rd_netif *carrier;

		if (!netif || !rd_envcheck_uses(check, p) || !rd_port_is_roce(check->host, port))
			continue;
		for (size_t at = 0; (carrier = rd_netstate_next_carrier(check->views->net, netif, &at));) {
			const struct rd_dcb *dcb = &carrier->dcb;
			bool forced = carrier->tclass.known == RD_OK && carrier->tclass.v >= 0;

			if (forced || dcb->pfc.known != RD_OK || !dcb->pfc.enable || !rd_dcb_trusts_dscp(dcb) ||
			    dcb->pfc.enable >> rd_dcb_prio(dcb, (unsigned)class) & 1)
				continue;
			prio = rd_dcb_prio(dcb, (unsigned)class);
			pfc = dcb->pfc.enable;
			rd_port_label(check->host, port, label, sizeof(label));
			rd_env_list_add(&ports, label, strlen(label));
			break;
		}
	}
	list = rd_env_list_take(&ports);
	if (list)
		rd_envcheck_finding(
			check, RD_SEV_WARNING, "env-tc-no-pfc", "Traffic class maps to a priority without PFC",
			"packets are dropped under congestion and retransmitted, although the network was made lossless for "
			"another priority",
			rd_text("DSCP %ld is priority %u on %s; PFC is on priority %d", class >> 2, prio, list,
				__builtin_ctz(pfc)),
			rd_text("DSCP x 4 of priority %d, as at the switch", __builtin_ctz(pfc)));
}

/* The traffic class is a field of the GRH, which packets within a subnet do not have. NVSHMEM's IBGDA sets it without a GRH
 * (nvshmem#45). */
static void judge_class_on_ib(struct rd_check_env *check, long class)
{
	rd_envcheck_effect(check, "not used within an InfiniBand subnet: no selected port is RoCE");
	if (class == 0 || strcmp(check->effect->name, "NVSHMEM_IB_TRAFFIC_CLASS") != 0)
		return;
	rd_envcheck_finding_fix(
		check, RD_SEV_WARNING, "env-tc-on-ib", "IBGDA may fail to connect with a traffic class on InfiniBand",
		"IBGDA sets the field without a GRH, and the firmware rejects it: INIT2RTR_QP fails with errno 121",
		NULL, NULL, rd_text("# unset NVSHMEM_IB_TRAFFIC_CLASS in the environment of jobs on InfiniBand hosts"));
}

void rd_envcheck_traffic_class(struct rd_check_env *check)
{
	size_t roce, ib;
	long class;

	if (!rd_envcheck_value(check, reader(check), -1, &class))
		return;
	if (class == -1 && strncmp(check->effect->name, "NCCL", 4) == 0) {
		rd_envcheck_effect(check, "traffic class 0, or the one that the program sets (the default)");
		return;
	}
	if (class < 0 || class > 255) {
		rd_envcheck_effect(check, "%ld does not fit the 8-bit field", class);
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "Value out of range",
				    "it is ignored or truncated to 8 bits", rd_text("%ld", class),
				    rd_text("0 to 255: DSCP x 4"));
		return;
	}
	rd_envcheck_count(check, &roce, &ib);
	if (ib && !roce) {
		judge_class_on_ib(check, class);
		return;
	}
	show_class(check, class);
	judge_class(check, class);
	judge_priority(check, class);
}

/* An index into the port's P_Key table, often mistaken for the P_Key itself. */
void rd_envcheck_pkey(struct rd_check_env *check)
{
	_cleanup_env_list_ struct rd_env_list none = { 0 };
	const struct rd_host *host = check->host;
	long index;

	if (!rd_envcheck_value(check, reader(check), 0, &index))
		return;
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		char label[128];

		if (!rd_envcheck_uses(check, p) || !port->pkeys_known || port->n_pkeys == 0 ||
		    (index >= 0 && index < 128))
			continue;
		rd_port_label(host, port, label, sizeof(label));
		rd_env_list_add(&none, label, strlen(label));
	}
	rd_envcheck_effect(check, "the P_Key at index %ld of each port's table%s", index,
			   index == 0 ? " (the default)" : "");
	if (!none.n)
		return;
	rd_envcheck_finding(check, RD_SEV_WARNING, "env-pkey-index", "P_Key index is out of range",
			    "the value is an index, not a P_Key; the transition of the queue pair to INIT fails",
			    rd_env_list_take(&none), rd_text("the index of the P_Key in the table, from 0"));
}
