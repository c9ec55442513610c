/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes into the attributes of queue pairs: timeouts, retries, service level, traffic class, P_Key. The fields are
 * those of ibv_modify_qp(3); NCCL fills them in src/transport/net_ib/connect.cc. */
#include <string.h>

#include "analyse/env/envcheck-priv.h"
#include "base/text.h"

#define WATCHDOG 600 /* seconds that PyTorch waits for a collective of NCCL, if nothing else was said */

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
		rd_envcheck_say(check, RD_SEV_WARNING, "env-timeout-long",
				"An unreachable peer is reported later than others give up",
				"the watchdog of PyTorch ends the job first (600 s), without naming the peer",
				rd_text("%.3g s", total), rd_text("20 to 23"));
		return;
	}
	if (total < 1) {
		rd_envcheck_say(check, RD_SEV_WARNING, "env-timeout-short", "A short pause of the network ends the job",
				"a link that comes back within seconds, or a switch that computes routes, takes longer",
				rd_text("an error after %.3g s, up to 4 times as long", total),
				rd_text("20 to 23 (%ld is set)", exponent));
		return;
	}
}

/* The timer is 4.096 us x 2^N; the specification lets a device take up to four times that. */
void rd_envcheck_timeout(struct rd_check_env *check)
{
	long exponent, retries = rd_envcheck_nccl_number(check, "NCCL_IB_RETRY_CNT", 7);
	double total;

	if (!rd_envcheck_value(check, RD_ENV_NCCL, 20, &exponent))
		return;
	if (exponent < 0 || exponent > 31) {
		rd_envcheck_effect(check, "%ld does not fit: the field has five bits", exponent);
		rd_envcheck_say(check, RD_SEV_WARNING, "env-out-of-range", "The value is out of range",
				"drivers refuse it, or cut it to five bits", rd_text("%ld", exponent),
				rd_text("0 to 31; 20 to 23 is usual"));
		return;
	}
	if (exponent == 0) {
		rd_envcheck_effect(check, "no timeout: a lost packet or an unreachable peer is never noticed");
		rd_envcheck_say(check, RD_SEV_WARNING, "env-timeout-none", "0 switches the timeout off",
				"a lost packet stops the connection for ever", NULL, rd_text("20 to 23"));
		return;
	}
	retries = retries < 0 || retries > 7 ? 7 : retries;
	total = ack_timeout(exponent) * (double)(retries + 1);
	rd_envcheck_effect(
		check,
		"local ACK timeout 4.096 us x 2^%ld = %.3g s; with %ld retries an unreachable peer is reported "
		"after %.3g s, up to 4 times as long",
		exponent, ack_timeout(exponent), retries, total);
	judge_timeout(check, exponent, total);
}

void rd_envcheck_retry_count(struct rd_check_env *check)
{
	long retries;

	if (!rd_envcheck_value(check, RD_ENV_NCCL, 7, &retries))
		return;
	if (retries < 0 || retries > 7) {
		rd_envcheck_effect(check, "%ld does not fit: the field has three bits", retries);
		rd_envcheck_say(check, RD_SEV_WARNING, "env-out-of-range", "The value is out of range",
				"drivers refuse it, or keep its lowest three bits",
				rd_text("%ld (its lowest bits: %ld)", retries, retries & 7), rd_text("0 to 7"));
		return;
	}
	rd_envcheck_effect(check, "a packet is sent up to %ld times more%s", retries,
			   retries == 7 ? " (the default)" : "");
	if (retries > 0)
		return;
	rd_envcheck_say(check, RD_SEV_WARNING, "env-no-retry", "Nothing is sent a second time",
			"one lost packet ends the connection", NULL, rd_text("7"));
}

/* On RoCE a service level is the priority of the VLAN tag, of which there are eight. */
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
		rd_envcheck_effect(check, "%ld is no %s", level, roce ? "priority of RoCE" : "service level");
		rd_envcheck_say(check, RD_SEV_WARNING, "env-out-of-range", "The value is out of range",
				"drivers refuse it, or cut it", rd_text("%ld", level),
				rd_text(roce ? "0 to 7: a RoCE port takes it for the priority of the VLAN tag" :
					       "0 to 15"));
		return;
	}
	if (ib || !roce)
		rd_envcheck_effect(check, "InfiniBand: service level %ld; the subnet manager says which virtual lane",
				   level);
	if (roce || !ib)
		rd_envcheck_effect(check,
				   "RoCE: priority %ld in a VLAN tag; ports that trust DSCP go by the traffic class",
				   level);
}

/* An IP header's byte: six bits of DSCP, two of ECN. */
static void tell_class(struct rd_check_env *check, long class)
{
	static const char *const ecn[] = { "not ECN-capable", "ECT(1)", "ECT(0)", "CE, congestion experienced" };

	rd_envcheck_effect(check, "RoCE: DSCP %ld, ECN bits %ld (%s)", class >> 2, class & 3, ecn[class & 3]);
}

static void judge_class(struct rd_check_env *check, long class)
{
	if ((class & 3) == 3) {
		rd_envcheck_say(check, RD_SEV_WARNING, "env-ecn-marked", "It marks every packet as congested",
				"the lowest two bits are ECN; 3 tells the receiver of congestion all the time",
				rd_text("%ld = DSCP %ld x 4 + 3", class, class >> 2),
				rd_text("%ld or %ld", (class >> 2) * 4, (class >> 2) * 4 + 2));
		return;
	}
	if (class > 0 && class < 64 && (class & 3)) {
		rd_envcheck_say(check, RD_SEV_WARNING, "env-tc-is-dscp",
				"It looks like a DSCP, not like a traffic class",
				"a traffic class is DSCP x 4, and 2 more to be ECN-capable; switches map the DSCP",
				rd_text("%ld is DSCP %ld", class, class >> 2),
				rd_text("for DSCP %ld: %ld", class, class * 4));
		return;
	}
}

/* It is a field of the GRH, which packets within a subnet lack. NVSHMEM's IBGDA sets it without one (nvshmem#45). */
static void judge_class_on_ib(struct rd_check_env *check, long class)
{
	rd_envcheck_effect(check, "not used within an InfiniBand subnet: no port that is selected is RoCE");
	if (class == 0 || strcmp(check->effect->name, "NVSHMEM_IB_TRAFFIC_CLASS") != 0)
		return;
	rd_envcheck_advise(check, RD_SEV_WARNING, "env-tc-on-ib", "IBGDA may fail to connect with it on InfiniBand",
			   "it sets the field without a GRH, which firmware refuses: INIT2RTR_QP fails with errno 121",
			   NULL, NULL, rd_text("unset NVSHMEM_IB_TRAFFIC_CLASS on InfiniBand hosts"));
}

void rd_envcheck_traffic_class(struct rd_check_env *check)
{
	size_t roce, ib;
	long class;

	if (!rd_envcheck_value(check, reader(check), -1, &class))
		return;
	if (class == -1 && strncmp(check->effect->name, "NCCL", 4) == 0) {
		rd_envcheck_effect(check, "traffic class 0, or what the program chose (the default)");
		return;
	}
	if (class < 0 || class > 255) {
		rd_envcheck_effect(check, "%ld does not fit: the field has eight bits", class);
		rd_envcheck_say(check, RD_SEV_WARNING, "env-out-of-range", "The value is out of range",
				"it is ignored, or cut to eight bits", rd_text("%ld", class),
				rd_text("0 to 255: DSCP x 4"));
		return;
	}
	rd_envcheck_count(check, &roce, &ib);
	if (ib && !roce) {
		judge_class_on_ib(check, class);
		return;
	}
	tell_class(check, class);
	judge_class(check, class);
}

/* An index into the port's table, and often taken for the key itself. */
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
	rd_envcheck_say(check, RD_SEV_WARNING, "env-pkey-index", "It is an index, not a P_Key",
			"tables of ports have no such index; moving the queue pair to INIT fails",
			rd_env_list_take(&none), rd_text("the place of the P_Key in the table, from 0"));
}
