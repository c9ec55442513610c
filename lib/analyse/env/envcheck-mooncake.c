/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables of Mooncake's transfer engine: mooncake-transfer-engine/src/config.cpp, topology.cpp,
 * transfer_engine_impl.cpp. */

#include "analyse/env/envcheck-priv.h"

/* For variables that only have to be set, whatever the value: the effect is the text of the rule. */
static void check_set(struct rd_check_env *check)
{
	static const char *const off[] = { "0", "false", "no", "off", "" };

	rd_envcheck_effect(check, "%s", check->values->text);
	for (size_t i = 0; i < RD_ARRAY_SIZE(off); i++)
		if (strcmp(check->effect->value, off[i]) == 0)
			return rd_envcheck_finding_fix(
				check, RD_SEV_WARNING, "env-set-is-on", "Any value enables it",
				"Mooncake checks only whether it is set, not its value", NULL, NULL,
				rd_text("# unset %s in the job's environment", check->effect->name));
}

static void check_force_tcp(struct rd_check_env *check)
{
	check_set(check);
	if (rd_envcheck_has_rdma(check, true))
		rd_envcheck_finding_fix(check, RD_SEV_CRITICAL, "env-rdma-off", "RDMA is disabled",
					"Mooncake uses TCP, at a fraction of the rate", NULL, NULL,
					rd_text("# unset MC_FORCE_TCP in the job's environment"));
}

static void check_force_hca(struct rd_check_env *check)
{
	const char *value = check->effect->value;

	check_set(check);
	if (rd_host_find_ibdev(check->host, value) >= 0)
		rd_envcheck_finding_fix(
			check, RD_SEV_WARNING, "env-no-selection", "MC_FORCE_HCA does not select the NIC that it names",
			"Mooncake checks only whether it is set, not its value, and uses all NICs", NULL, NULL,
			rd_text("# set MC_TE_FILTERS=%s in the job's environment instead of MC_FORCE_HCA", value));
}

static void check_topo(struct rd_check_env *check)
{
	rd_envcheck_effect(
		check, "the preferred NICs of each memory location come from this file; if it is not readable, they "
		       "are detected (the file was not checked)");
}

static void check_filters(struct rd_check_env *check)
{
	rd_envcheck_names(check, RD_ENV_BY_TRIMMED, "No such device");
	rd_envcheck_selection(check);
}

/* Parsed by atoi; a value outside 0 to 255 is ignored. */
static void check_gid(struct rd_check_env *check)
{
	long index;

	if (!rd_envcheck_value(check, RD_ENV_ATOI, -1, &index))
		return;
	if (index >= 0 && index <= 255)
		return rd_envcheck_gid_index(check);
	rd_envcheck_effect(check, "ignored: Mooncake selects the GID");
	rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "Value out of range", "Mooncake ignores it",
			    rd_text("%ld", index), rd_text("0 to 255"));
}

static void check_mtu(struct rd_check_env *check)
{
	long mtu;

	if (!rd_envcheck_value(check, RD_ENV_ATOI, 4096, &mtu))
		return;
	if (mtu == 512 || mtu == 1024 || mtu == 2048 || mtu == 4096)
		return rd_envcheck_effect(check, "path MTU of %ld bytes, or the port's MTU if that is smaller%s", mtu,
					  mtu == 4096 ? " (the default)" : "");
	rd_envcheck_effect(check, "ignored: 4096 bytes, or the port's MTU if that is smaller");
	rd_envcheck_finding(check, RD_SEV_WARNING, "env-ignored", "Invalid value",
			    "Mooncake uses 4096; the value is the RDMA path MTU, not the interface MTU",
			    rd_text("%ld", mtu), rd_text("512, 1024, 2048 or 4096"));
}

static void check_port(struct rd_check_env *check)
{
	_cleanup_env_list_ struct rd_env_list lacking = { 0 };
	const struct rd_host *host = check->host;
	long port;

	if (!rd_envcheck_value(check, RD_ENV_ATOI, 1, &port))
		return;
	if (port < 1 || port > 255) {
		rd_envcheck_effect(check, "ignored: Mooncake uses port 1");
		return rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "Value out of range",
					   "Mooncake ignores it", rd_text("%ld", port), rd_text("1 to 255"));
	}
	rd_envcheck_effect(check, "port %ld of each device%s", port, port == 1 ? " (the default)" : "");
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_ibdev *ibdev = &host->ibdevs[host->ports[p].ibdev];

		if (rd_envcheck_uses(check, p) && (size_t)ibdev->first_port == p && ibdev->n_ports < (unsigned long)port)
			rd_env_list_add(&lacking, rd_ibdev_label(host, host->ports[p].ibdev),
					strlen(rd_ibdev_label(host, host->ports[p].ibdev)));
	}
	if (lacking.n)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-port", "Device has no such port",
				    "Mooncake does not use these devices", rd_env_list_take(&lacking), NULL);
}

static const char *unused_by(const struct rd_effects *all, const char *name)
{
	static const char *const about[] = { "MC_IB_",	      "MC_GID_INDEX",	    "MC_PKEY_INDEX",
					     "MC_MTU",	      "MC_NUM_QP_PER_EP",   "MC_MLX5_",
					     "MC_TE_FILTERS", "MC_FORCE_HCA",	    "MC_NUM_CQ_PER_CTX",
					     "MC_MAX_WR",     "MC_PATH_ROUNDROBIN", "MC_WORKERS_PER_CTX" };

	if (!rd_effects_find(all, "MC_FORCE_TCP"))
		return NULL;
	for (size_t i = 0; i < RD_ARRAY_SIZE(about); i++)
		if (rd_starts_with(name, about[i]))
			return "MC_FORCE_TCP";
	return NULL;
}

/* clang-format off */
static const struct rd_env_rule rules[] = {
	{ "MC_TE_FILTERS", check_filters, .hca = true },
	{ "MC_FORCE_TCP", check_force_tcp, { .text = "TCP only: no other transport is installed" } },
	{ "MC_FORCE_HCA", check_force_hca, { .text =
		"installs the RDMA transport even if no NIC was found; does not select a NIC (MC_TE_FILTERS does)" } },
	{ "MC_FORCE_MNNVL", check_set, { .text = "NVLink between hosts, in builds that support it: NICs are not used there" } },
	{ "MC_INTRANODE_NVLINK", check_set, { .text = "NVLink within the host, in builds that support it" } },
	{ "MC_GID_INDEX", check_gid },
	{ "MC_IB_PORT", check_port },
	{ "MC_PKEY_INDEX", rd_envcheck_pkey },
	{ "MC_IB_TC", rd_envcheck_traffic_class },
	{ "MC_IB_SL", rd_envcheck_service_level },
	{ "MC_MTU", check_mtu },
	{ "MC_NUM_QP_PER_EP", NULL, { RD_ENV_ATOI, 2, 1, 255, NULL, "%ld queue pairs to each NIC of a peer", "Mooncake keeps 2" } },
	{ "MC_NUM_CQ_PER_CTX", NULL, { RD_ENV_ATOI, 1, 1, 255, NULL, "%ld completion queues per NIC", "Mooncake keeps 1" } },
	{ "MC_WORKERS_PER_CTX", NULL, { RD_ENV_ATOI, 2, 1, 8, NULL, "%ld worker threads per NIC", "Mooncake keeps 2" } },
	{ "MC_MAX_WR", NULL, { RD_ENV_ATOI, 256, 1, 65535, NULL, "%ld work requests per queue pair", "Mooncake keeps 256" } },
	{ "MC_SLICE_SIZE", NULL, { RD_ENV_ATOI, 65536, 1, 2147483647, NULL,
		"transfers are split into slices of %ld bytes, spread over NICs", "Mooncake keeps 65536" } },
	{ "MC_SLICE_TIMEOUT", NULL, { RD_ENV_ATOI, -1, 1, 65535, NULL,
		"a slice times out after %ld s", "Mooncake waits without a timeout" } },
	{ "MC_RETRY_CNT", NULL, { RD_ENV_ATOI, 9, 1, 127, NULL,
		"a failed slice is tried up to %ld times, on other NICs (the QP retry count stays 7)", "Mooncake keeps 9" } },
	{ "MC_IB_PCI_RELAXED_ORDERING", NULL, { RD_ENV_ATOI, 1, 0, 2, RD_ENV_MEANINGS(
		{ 0, "no PCI relaxed ordering" },
		{ 1, "PCI relaxed ordering if libibverbs supports it" },
		{ 2, "PCI relaxed ordering if libibverbs supports it" }), NULL, "Mooncake keeps 1" } },
	{ "MC_PATH_ROUNDROBIN", NULL, { RD_ENV_TRUE, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "each slice uses a random NIC among the nearest" },
		{ 1, "the nearest NICs are used round-robin" }) } },
	{ "MC_MLX5_QP_LAG_PORT_BALANCE", NULL, { RD_ENV_TRUE, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "the NIC spreads queue pairs over the ports of a LAG" },
		{ 1, "queue pairs are pinned to the ports of a LAG round-robin (mlx5)" }) } },
	{ "MC_CUSTOM_TOPO_JSON", check_topo },
	{ "MC_DISABLE_METACACHE", check_set, { .text = "peer metadata is fetched each time instead of cached" } },
	{ "MC_USE_IPV6", check_set, { .text = "IPv6 for handshakes" } },
	{ "MC_ENABLE_DEST_DEVICE_AFFINITY", check_set, { .text = "a transfer uses the peer's NIC of the same name" } },
};
/* clang-format on */
const struct rd_env_rules rd_env_mooncake = { rules, RD_ARRAY_SIZE(rules), unused_by };
