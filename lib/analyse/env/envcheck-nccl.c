/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NCCL's variables: levels, topology, network transports; the table of rules. */
#include <strings.h>

#include "analyse/env/envcheck-priv.h"
#include "analyse/shared/distance.h"

/* Levels of NCCL_NET_GDR_LEVEL and NCCL_NET_MERGE_LEVEL, numbered in NCCL's order; -1: invalid. */
enum rd_nccl_level {
	RD_LEVEL_LOC = 0,
	RD_LEVEL_PIX = 4,
	RD_LEVEL_PXB,
	RD_LEVEL_P2C,
	RD_LEVEL_PXN,
	RD_LEVEL_PHB,
	RD_LEVEL_SYS,
};

/* In NCCL's order, nearest first (src/graph/topo.cc, topoPathTypeStr). */
static const char *const levels[] = { "LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS" };

/* An exact name, or a number as in older releases (src/graph/paths.cc, ncclGetLevel). */
static int parse_level(const char *text)
{
	static const int old[] = { RD_LEVEL_LOC, RD_LEVEL_PIX, RD_LEVEL_PXB, RD_LEVEL_PHB, RD_LEVEL_SYS, RD_LEVEL_SYS };

	for (size_t i = 0; i < RD_ARRAY_SIZE(levels); i++)
		if (strcmp(text, levels[i]) == 0)
			return (int)i;
	if (*text >= '0' && *text <= '9') {
		uint64_t number;

		return old[rd_take_uint(&text, RD_AS_C, 5, &number) < 0 ? 5 : number];
	}
	return -1;
}

static const char *parse_merge_level(const char *text)
{
	static const char *const known[] = { "LOC", "PORT", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(known); i++)
		if (rd_starts_with(text, known[i]))
			return known[i];
	return NULL;
}

/* No NIC is nearer than PIX. */
static const enum rd_path paths[RD_ARRAY_SIZE(levels)] = {
	[RD_LEVEL_PIX] = RD_PATH_PIX, [RD_LEVEL_PXB] = RD_PATH_PXB, [RD_LEVEL_P2C] = RD_PATH_P2C,
	[RD_LEVEL_PXN] = RD_PATH_PXN, [RD_LEVEL_PHB] = RD_PATH_PHB, [RD_LEVEL_SYS] = RD_PATH_SYS,
};

/* Reads an on/off variable as NCCL does: a value that is not a number leaves the default. */
static bool is_switch_on(const struct rd_effects *effects, const char *name, bool standard, bool *any)
{
	bool on = rd_env_number(effects, RD_ENV_NCCL, name, standard) != 0;

	*any |= on != standard;
	return on;
}

/* NCCL's distance levels, merged NICs and topology files (src/graph/paths.cc, topo.cc, xml.h). */

#define MERGED_MAX 8 /* NCCL_NET_MAX_DEVS_PER_NIC */

/* The distance level of the nearest NIC in use; -1: unknown. */
static int nearest_level(struct rd_check_env *check, size_t gpu)
{
	int best = -1;

	for (size_t p = 0; p < check->host->n_ports; p++) {
		enum rd_path path;

		if (!rd_envcheck_uses(check, p))
			continue;
		path = rd_distance_nccl(check->host, (int)gpu, check->host->ports[p].ibdev);
		for (int level = RD_LEVEL_PIX; level <= RD_LEVEL_SYS; level++)
			if (paths[level] == path && (best < 0 || level < best))
				best = level;
	}
	return best;
}

static void check_gdr_level(struct rd_check_env *check, int level)
{
	_cleanup_env_list_ struct rd_env_list lost = { 0 };
	size_t within = 0, known = 0;

	for (size_t g = 0; g < check->host->n_gpus; g++) {
		int nearest = nearest_level(check, g);
		_cleanup_free_ char *name = rd_text("GPU%u", check->host->gpus[g].index);

		if (nearest < 0)
			continue;
		known++;
		within += nearest <= level;
		if (nearest > level && nearest <= RD_LEVEL_P2C)
			rd_env_list_add(&lost, name, strlen(name));
	}
	if (known)
		rd_envcheck_effect(check, "%zu of %zu GPUs have their nearest NIC within this distance", within, known);
	if (!lost.n && level > RD_LEVEL_LOC)
		return;
	rd_envcheck_finding(check, RD_SEV_WARNING, "env-gdr-off", "GPUDirect RDMA is disabled for the nearest NICs",
			    "data is copied through host memory, at a fraction of the rate",
			    lost.n ? rd_env_list_take(&lost) : rd_text("all"), rd_text("PXB, or unset"));
}

static void check_level(struct rd_check_env *check)
{
	int level = parse_level(check->effect->value);

	if (level < 0)
		return rd_envcheck_unknown_value(check, NULL,
						 rd_text("LOC, NVL, PIX, PXB, PXN, PHB or SYS, in upper case"));
	if (strcmp(check->effect->name, "NCCL_NET_GDR_LEVEL") == 0) {
		rd_envcheck_effect(check,
				   "GPUDirect RDMA, if the driver supports it, where GPU and NIC are %s or nearer%s",
				   levels[level],
				   level == RD_LEVEL_P2C || level == RD_LEVEL_PXB ? " (as by default)" : "");
		return check_gdr_level(check, level);
	}
	if (level == RD_LEVEL_LOC)
		rd_envcheck_effect(check, "no direct traffic between GPUs: data goes through host memory");
	else
		rd_envcheck_effect(check, "direct traffic between GPUs that are %s or nearer", levels[level]);
}

static void check_merge_level(struct rd_check_env *check)
{
	const char *level = parse_merge_level(check->effect->value);

	if (!level) {
		rd_envcheck_unknown_value(check, NULL, rd_text("LOC, PORT, PIX, PXB, PXN, PHB or SYS"));
		return rd_envcheck_effect(check, "a release that does not know the value merges no NICs");
	}
	if (strcmp(level, "LOC") == 0)
		rd_envcheck_effect(check, "NICs are not merged");
	else if (strcmp(level, "PORT") == 0)
		rd_envcheck_effect(check, "ports of one card are merged into one NIC (the default)");
	else
		rd_envcheck_effect(check, "NICs that are %s or nearer to each other are merged into one, up to %d",
				   level, MERGED_MAX);
}

static void check_merge_policy(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	bool rail = strcasecmp(value, "RAIL") == 0;

	if (!rail && strcasecmp(value, "ALL") != 0)
		return rd_envcheck_unknown_value(check, NULL, rd_text("ALL or RAIL"));
	rd_envcheck_effect(check, rail ? "only NICs of the same rail are merged: NCCL_IB_HCA must name the rails" :
					 "NICs are merged regardless of their rail (the default)");
}

static bool is_active(const struct rd_host *host, const struct rd_hca_entry *entry)
{
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_port_active(&host->ports[p]) &&
		    strcmp(rd_ibdev_label(host, host->ports[p].ibdev), entry->name) == 0 &&
		    (entry->port == -1 || entry->port == (int)host->ports[p].num))
			return true;
	return false;
}

static void check_force_merge(struct rd_check_env *check)
{
	_cleanup_env_list_ struct rd_env_list missing = { 0 };
	const char *at = check->effect->value;
	size_t groups = 0;

	while (*at) {
		size_t size = strcspn(at, ";");
		_cleanup_free_ char *group =
			rd_dup_part(at, size); /* "mlx5_0,mlx5_1": all of its NICs must be active */
		struct rd_hca_list list;

		groups += size > 0;
		rd_hca_list_parse_most(group, MERGED_MAX, &list);
		for (size_t i = 0; size > 0 && i < list.n; i++)
			if (!is_active(check->host, &list.v[i]))
				rd_env_list_add(&missing, list.v[i].name, strlen(list.v[i].name));
		rd_hca_list_deinit(&list);
		at += size + (at[size] == ';');
	}
	rd_envcheck_effect(check, "%zu group%s of NICs, each merged into one", groups, groups == 1 ? "" : "s");
	if (missing.n)
		rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-no-device", "No such active device",
				    "NCCL fails: Only matched N devices", rd_env_list_take(&missing), NULL);
}

/* The path is that of the process, perhaps in a container: the file is not opened here. */
static void check_topo_file(struct rd_check_env *check)
{
	if (!*check->effect->value)
		rd_envcheck_effect(check, "empty file name, which cannot be opened: NCCL detects the topology as usual");
	else
		rd_envcheck_effect(
			check, "NCCL loads this file first and does not detect what the file contains; if it cannot "
			       "open the file, it logs that at NCCL_DEBUG=INFO only (the file was not checked)");
}

static void check_netdevs_policy(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	int most = strncasecmp(value, "MAX:", 4) == 0 ? rd_as_atoi(value + 4) : 0;

	if (strcasecmp(value, "AUTO") == 0)
		rd_envcheck_effect(check, "GPUs near the same NICs divide these NICs among them (the default)");
	else if (strcasecmp(value, "ALL") == 0)
		rd_envcheck_effect(check, "each GPU uses all NICs that are as near and as fast as its best one");
	else if (most > 0)
		rd_envcheck_effect(check, "each GPU uses up to %d of the NICs near it", most);
	else
		rd_envcheck_unknown_value(check, NULL, rd_text("AUTO, ALL or MAX:N"));
}

/* Which network transport NCCL uses: src/plugin/net.cc, src/plugin/plugin_open.cc. */

/* "none" leaves NCCL with its built-in networks. Not set: libnccl-net.so, if it is installed. */
static bool no_plugin(const struct rd_effects *all)
{
	const char *plugin = rd_effects_get(all, "NCCL_NET_PLUGIN");

	return plugin && (!*plugin || strcasecmp(plugin, "none") == 0);
}

static bool depends_on_ib(const char *name)
{
	if (strncmp(name, "NCCL_IB_", 8) == 0)
		return strcmp(name, "NCCL_IB_DISABLE") != 0;
	return rd_envcheck_listed(" NCCL_NET_GDR_LEVEL NCCL_NET_GDR_READ NCCL_NET_GDR_C2C NCCL_GDR_FLUSH_DISABLE "
				  "NCCL_DMABUF_ENABLE NCCL_GIN_IB_TC ",
				  name, strlen(name), true);
}

static const char *unused_by(const struct rd_effects *all, const char *name)
{
	const char *net = rd_effects_get(all, "NCCL_NET");

	if (strcmp(name, "NCCL_IB_DISABLE") == 0)
		return net && strcasecmp(net, "Socket") == 0 ? "NCCL_NET=Socket selects TCP anyway" : NULL;
	if (!depends_on_ib(name))
		return NULL;
	if (net && strcasecmp(net, "Socket") == 0)
		return "NCCL_NET=Socket selects TCP";
	if (rd_env_number(all, RD_ENV_NCCL, "NCCL_IB_DISABLE", 0) && strncmp(name, "NCCL_IB_", 8) == 0)
		return "NCCL_IB_DISABLE disables NCCL's built-in IB/RoCE transport";
	/* These read NCCL_IB_* as NCCL's built-in IB transport does. */
	if (net && (strcasecmp(net, "IB") == 0 || strncasecmp(net, "IBext", 5) == 0 || strcasecmp(net, "gIB") == 0))
		return NULL;
	if (net && *net && strncmp(name, "NCCL_IB_", 8) == 0)
		return "NCCL_NET selects a plugin, and this variable is for NCCL's built-in IB/RoCE transport";
	return NULL;
}

static void report_rdma_off(struct rd_check_env *check, enum rd_severity severity)
{
	if (!rd_envcheck_has_rdma(check, true))
		return;
	rd_envcheck_finding_fix(check, severity, "env-rdma-off", "RDMA is disabled",
				"NCCL uses TCP between hosts, at a fraction of the rate and without GPUDirect RDMA",
				NULL, NULL, rd_text("# unset %s in the job's environment", check->effect->name));
}

static void check_net(struct rd_check_env *check)
{
	const char *net = check->effect->value;
	bool ib = strcasecmp(net, "IB") == 0;

	if (strcasecmp(net, "Socket") == 0) {
		rd_envcheck_effect(check, "TCP between hosts, no RDMA");
		return report_rdma_off(check, RD_SEV_CRITICAL);
	}
	if (ib && rd_env_number(check->all, RD_ENV_NCCL, "NCCL_IB_DISABLE", 0)) {
		rd_envcheck_effect(check, "NCCL's built-in IB/RoCE transport, which NCCL_IB_DISABLE disables");
		return rd_envcheck_finding_fix(check, RD_SEV_CRITICAL, "env-no-network", "No network transport is left",
					       "NCCL fails: Failed to initialize any NET plugin",
					       rd_text("NCCL_IB_DISABLE is set"), NULL,
					       rd_text("# unset NCCL_IB_DISABLE in the job's environment"));
	}
	if (ib) {
		rd_envcheck_effect(check, "NCCL's built-in IB/RoCE transport");
		if (!rd_host_has_efa(check->host) || rd_envcheck_has_rdma(check, false))
			return;
		return rd_envcheck_finding_fix(
			check, RD_SEV_CRITICAL, "env-no-network",
			"NCCL's built-in IB/RoCE transport does not support EFA", "NCCL finds no device and fails",
			NULL, NULL,
			rd_text("# unset NCCL_NET in the job's environment\n# EFA needs the aws-ofi-nccl plugin"));
	}
	rd_envcheck_effect(check, "the plugin whose network is named '%.*s'; NCCL fails if there is none",
			   RD_ENV_QUOTED, net);
	/* Words that users write although NCCL has no network of that name. */
	if (*net && !no_plugin(check->all) &&
	    !rd_envcheck_listed(" tcp rdma verbs roce infiniband sockets ethernet eth ibverbs rocev2 net mlx5 ", net,
				strlen(net), false))
		return;
	rd_envcheck_finding_fix(check, RD_SEV_CRITICAL, "env-no-network", "NCCL has no network of this name",
				"NCCL fails: Failed to initialize any NET plugin", NULL,
				rd_text("IB, Socket, or the network name of a plugin"),
				rd_text("# unset NCCL_NET in the job's environment"));
}

static void check_ib_disable(struct rd_check_env *check)
{
	bool alone = no_plugin(check->all);
	long off;

	if (!rd_envcheck_value(check, RD_ENV_NCCL, 0, &off))
		return;
	if (off == 0)
		return rd_envcheck_effect(check, "RDMA stays enabled%s",
					  strcmp(check->effect->value, "0") == 0 ? " (the default)" : "");
	rd_envcheck_effect(check, "NCCL's built-in IB/RoCE transport is disabled; %s",
			   alone ? "only TCP is left" : "only TCP or a plugin (libnccl-net.so) is left");
	if (!rd_envcheck_has_rdma(check, false))
		return; /* EFA is used through a plugin */
	report_rdma_off(check, alone ? RD_SEV_CRITICAL : RD_SEV_WARNING);
}

/* NAME itself; unless it is a path or libX.so, also libnccl-net-NAME.so. */
static void show_plugin(struct rd_check_env *check, const char *name, size_t size)
{
	bool is_library = size >= 6 && memcmp(name, "lib", 3) == 0 && memcmp(name + size - 3, ".so", 3) == 0;
	int n = (int)(size < RD_ENV_QUOTED ? size : RD_ENV_QUOTED);

	if (memchr(name, '/', size) || is_library)
		rd_envcheck_effect(check, "loads %.*s", n, name);
	else
		rd_envcheck_effect(check, "loads %.*s, else libnccl-net-%.*s.so", n, name, n, name);
}

static void check_net_plugin(struct rd_check_env *check)
{
	const char *at = check->effect->value, *entry;
	size_t size, n = 0;

	if (no_plugin(check->all)) {
		rd_envcheck_effect(check, "no plugin: NCCL's built-in IB/RoCE transport, else TCP");
		if (!rd_host_has_efa(check->host) || rd_envcheck_has_rdma(check, false))
			return;
		return rd_envcheck_finding_fix(
			check, RD_SEV_CRITICAL, "env-rdma-off", "EFA needs a plugin",
			"NCCL's built-in IB/RoCE transport does not support EFA; only TCP is left", NULL, NULL,
			rd_text("# set NCCL_NET_PLUGIN=ofi (aws-ofi-nccl) in the job's environment, or unset it"));
	}
	while (rd_env_entry(&at, &entry, &size))
		if (n++ < 4)
			show_plugin(check, entry, size);
	rd_envcheck_effect(check, "if none loads, NCCL's built-in networks; a plugin may ignore NCCL_IB_*");
}

/* NCCL's variables: the table of rules, and the rules that are the same on every host. */

#define QPS_MAX 128 /* NCCL_IB_MAX_QPS */

/* Each NIC of a merged NIC has this many. */
static void check_queue_pairs(struct rd_check_env *check)
{
	long n;

	if (!rd_envcheck_value(check, RD_ENV_NCCL, 1, &n))
		return;
	if (n < 1 || n > QPS_MAX) {
		rd_envcheck_effect(check,
				   "NCCL supports 1 to %d queue pairs per connection, and does not check the value",
				   QPS_MAX);
		return rd_envcheck_finding(
			check, RD_SEV_CRITICAL, "env-out-of-range", "Value out of range",
			"NCCL does not check it: the process crashes, or connects without queue pairs",
			rd_text("%ld", n), rd_text("1 to %d", QPS_MAX));
	}
	rd_envcheck_effect(check, "%ld queue pair%s per connection (channel and peer) and NIC%s", n, n == 1 ? "" : "s",
			   n == 1 ? " (the default)" : ", and as many per NIC that is merged with it");
	if (n > 1)
		rd_envcheck_effect(
			check,
			rd_env_number(check->all, RD_ENV_NCCL, "NCCL_IB_SPLIT_DATA_ON_QPS", 0) == 1 ?
				"each message is split across them" :
				"messages use them round-robin (NCCL_IB_SPLIT_DATA_ON_QPS=1 splits each message)");
}

static void check_split(struct rd_check_env *check)
{
	long qps = rd_env_number(check->all, RD_ENV_NCCL, "NCCL_IB_QPS_PER_CONNECTION", 1), split;

	if (!rd_envcheck_value(check, RD_ENV_NCCL, 0, &split))
		return;
	if (split == 1 && qps == 1)
		rd_envcheck_effect(check, "no effect unless NICs are merged: a connection has one queue pair "
					  "(NCCL_IB_QPS_PER_CONNECTION)");
	else if (split == 1)
		rd_envcheck_effect(check, "each message is split across all queue pairs of the connection");
	else
		rd_envcheck_effect(check, "messages use the queue pairs round-robin%s",
				   split == 0 ? " (the default)" : "");
}

static void check_family(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	bool v6 = strcmp(value, "AF_INET6") == 0, known = v6 || strcmp(value, "AF_INET") == 0;

	rd_envcheck_effect(
		check, known ? "%s addresses for socket connections" : "invalid: the first address found, of %s family",
		v6    ? "IPv6" :
		known ? "IPv4" :
			"any");
	if (!known && *value)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-ignored", "Invalid value",
				    "NCCL behaves as if it were not set", NULL, rd_text("AF_INET or AF_INET6"));
}

static void check_subsystems(struct rd_check_env *check)
{
	static const char known[] =
		" INIT COLL P2P SHM NET GRAPH TUNING ENV ALLOC ALLOC_HOST CALL PROXY NVLS BOOTSTRAP REG "
		"PROFILE RAS VERBS DESTROY DIAG ALL ";
	_cleanup_env_list_ struct rd_env_list unknown = { 0 };
	const char *at = check->effect->value + (*check->effect->value == '^'), *entry;
	size_t size;

	while (rd_env_entry(&at, &entry, &size))
		if (!rd_envcheck_listed(known, entry, size, false))
			rd_env_list_add(&unknown, entry, size);
	rd_envcheck_effect(check, "selects what NCCL_DEBUG=INFO logs");
	if (unknown.n)
		rd_envcheck_unknown_value(check, rd_env_list_take(&unknown), NULL);
}

/* RCCL, GPUDirect RDMA in net_ib.cc: not on Hyper-V with automatic NUMA balancing, unless ordering is relaxed. */
static void check_relaxed(struct rd_check_env *check)
{
	const struct rd_host *host = check->host;
	bool amd = false;

	rd_envcheck_values(check);
	for (size_t g = 0; g < host->n_gpus; g++)
		amd |= host->gpus[g].vendor && strcmp(host->gpus[g].vendor, "AMD") == 0;
	if (!amd || !host->hyper_v || host->numa_balancing.known != RD_OK || !host->numa_balancing.v ||
	    rd_env_number(check->all, RD_ENV_NCCL, check->effect->name, 2) != 0)
		return;
	rd_envcheck_finding_fix(
		check, RD_SEV_WARNING, "env-numa-balancing", "RCCL does not use GPUDirect RDMA on this guest",
		"on Hyper-V, RCCL leaves GPUDirect RDMA off if kernel.numa_balancing is 1 and PCI relaxed "
		"ordering is off: data goes through host memory",
		rd_text("kernel.numa_balancing 1, and no PCI relaxed ordering"),
		rd_text("kernel.numa_balancing 0, or relaxed ordering"),
		rd_text("sysctl -w kernel.numa_balancing=0\n"
			"# until the next boot; also in /etc/sysctl.d/\n"
			"# or leave NCCL_IB_PCI_RELAXED_ORDERING unset"));
}

/* EFA-GDA needs the mapping; whether GDAKI does depends on the release of NCCL and of the driver. */
static void check_gin_type(struct rd_check_env *check)
{
	const struct rd_system *system = check->views->system;
	bool efa = rd_env_number(check->all, RD_ENV_NCCL, check->effect->name, -1) == 5;

	rd_envcheck_values(check);
	if (efa && rd_host_has_efa(check->host) && system && system->nvidia_registry && !rd_maps_peers(system))
		rd_envcheck_finding_fix(
			check, RD_SEV_CRITICAL, "env-gin-mapping", "NVIDIA driver does not let GPUs write to NICs",
			"EFA-GDA (aws-ofi-nccl) fails as its context is created",
			rd_text("RegistryDwords \"%s\" in /proc/driver/nvidia/params", system->nvidia_registry),
			rd_text("PeerMappingOverride=1"),
			rd_text("# set NCCL_GIN_TYPE=2 in the job's environment\n"
				"# or give the nvidia module NVreg_RegistryDwords=\"PeerMappingOverride=1;\" (/etc/modprobe.d), "
				"rebuild the initramfs, and reboot while no job runs"));
}

/* clang-format off */
static const struct rd_env_rule rules[] = {
	{ "NCCL_IB_HCA", rd_envcheck_nccl_hca, .hca = true },
	{ "NCCL_NET", check_net },
	{ "NCCL_NET_PLUGIN", check_net_plugin },
	{ "NCCL_IB_DISABLE", check_ib_disable },
	{ "NCCL_SOCKET_IFNAME", rd_envcheck_interfaces },
	{ "NCCL_SOCKET_FAMILY", check_family },
	{ "NCCL_IB_GID_INDEX", rd_envcheck_gid_index },
	{ "NCCL_IB_ADDR_FAMILY", rd_envcheck_addr_family },
	{ "NCCL_IB_ADDR_RANGE", rd_envcheck_addr_range },
	{ "NCCL_IB_ROCE_VERSION_NUM", rd_envcheck_roce_version },
	{ "NCCL_IB_TIMEOUT", rd_envcheck_timeout },
	{ "NCCL_IB_RETRY_CNT", rd_envcheck_retry_count },
	{ "NCCL_IB_SL", rd_envcheck_service_level },
	{ "NCCL_IB_TC", rd_envcheck_traffic_class },
	{ "NCCL_IB_FIFO_TC", rd_envcheck_traffic_class },
	{ "NCCL_GIN_IB_TC", rd_envcheck_traffic_class },
	{ "NCCL_IB_PKEY", rd_envcheck_pkey },
	{ "NCCL_IB_QPS_PER_CONNECTION", check_queue_pairs },
	{ "NCCL_IB_SPLIT_DATA_ON_QPS", check_split },
	{ "NCCL_IB_MERGE_VFS", NULL, { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
		{ 0, "virtual functions are separate NICs; only the ports of one device are merged" },
		{ 1, "the device and function numbers of PCI addresses are ignored: virtual functions on the same bus are merged" }), "same as 1" } },
	{ "NCCL_IB_MERGE_NICS", NULL, { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
		{ 0, "NICs are not merged: each port is a separate NIC" },
		{ 1, "ports of one card are merged into one NIC, up to NCCL_NET_MERGE_LEVEL" }), "same as 1" } },
	{ "NCCL_NET_MERGE_LEVEL", check_merge_level },
	{ "NCCL_NET_MERGE_POLICY", check_merge_policy },
	{ "NCCL_NET_FORCE_MERGE", check_force_merge },
	{ "NCCL_NETDEVS_POLICY", check_netdevs_policy },
	{ "NCCL_TOPO_FILE", check_topo_file },
	{ "NCCL_CROSS_NIC", NULL, { RD_ENV_NCCL, 2, 0, 2, RD_ENV_MEANINGS(
		{ 0, "a ring or tree uses the NIC of the same number on all hosts: for rails that do not reach each other" },
		{ 1, "a ring or tree may use different NICs on each host: every NIC must reach every other" },
		{ 2, "a ring or tree uses the NIC of the same number on all hosts where that is as fast" }), NULL, "NCCL searches for rings as with 0" } },
	{ "NCCL_PXN_DISABLE", NULL, { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "GPUs may send through another GPU's NIC over NVLink (PXN)" },
		{ 1, "no sending through another GPU's NIC (PXN): if a GPU has no near NIC, or rails are separate, traffic crosses the CPU" }), "same as 0" } },
	{ "NCCL_P2P_PXN_LEVEL", NULL, { RD_ENV_NCCL, 2, 0, 2, RD_ENV_MEANINGS(
		{ 0, "point-to-point operations (ncclSend, ncclRecv) do not use another GPU's NIC (PXN)" },
		{ 1, "point-to-point operations (ncclSend, ncclRecv) use another GPU's NIC (PXN) where that avoids the CPU" },
		{ 2, "point-to-point operations (ncclSend, ncclRecv) use the NIC of the receiver's rail (PXN)" }) } },
	{ "NCCL_IB_DATA_DIRECT", NULL, { RD_ENV_NCCL, 1, 0, 2, RD_ENV_MEANINGS(
		{ 0, "Data Direct is not used: data takes the PCI path of the NIC" },
		{ 1, "if a NIC has a Data Direct function, only that is used" },
		{ 2, "a NIC with a Data Direct function is listed twice: with it and without" }) } },
	{ "NCCL_NET_GDR_LEVEL", check_level },
	{ "NCCL_NET_GDR_READ", NULL, { RD_ENV_NCCL, -2, 0, 0, RD_ENV_MEANINGS(
		{ -2, "NICs read GPU memory directly to send, on Ampere and later or with NVLink" },
		{ 0, "data to send is copied through host memory", RD_SEV_WARNING, "env-gdr-off", "GPUDirect RDMA is disabled for sending", "data is copied through host memory first", "# unset NCCL_NET_GDR_READ in the job's environment" },
		{ 1, "NICs read GPU memory directly to send" }), "same as 1" } },
	{ "NCCL_NET_GDR_C2C", NULL, { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
		{ 0, "GPUDirect RDMA up to PXB only, also where C2C connects GPU and CPU" },
		{ 1, "GPUDirect RDMA over C2C, too" }), "same as 1" } },
	{ "NCCL_DMABUF_ENABLE", NULL, { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
		{ 0, "GPU memory is registered through nvidia_peermem only, which must be loaded" },
		{ 1, "GPU memory is registered as DMA-BUF if the kernel and the driver support it" }), "same as 1" } },
	{ "NCCL_P2P_LEVEL", check_level },
	{ "NCCL_P2P_DISABLE", NULL, { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "GPUs of this host access each other directly (P2P)" },
		{ 1, "no P2P between GPUs, NVLink included: data goes through host memory" }), "same as 0: only 1 disables P2P" } },
	{ "NCCL_SHM_DISABLE", NULL, { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "processes of this host use shared memory where GPUs have no P2P access" },
		{ 1, "no shared memory: processes of this host without P2P access use the network" }), "same as 0" } },
	{ "NCCL_IB_ADAPTIVE_ROUTING", NULL, { RD_ENV_NCCL, -2, 0, 0, RD_ENV_MEANINGS(
		{ -2, "on for InfiniBand, off for RoCE" },
		{ 0, "off: data and its completion signal are one RDMA write" },
		{ 1, "on: larger messages are sent as an RDMA write, and a second one signals completion, so packets may arrive out of order" }), "same as 1" } },
	{ "NCCL_IB_AR_THRESHOLD", NULL, { RD_ENV_NCCL, 8192, 0, 0, NULL,
		"with adaptive routing, a second RDMA write signals messages above %ld bytes" } },
	{ "NCCL_IB_PCI_RELAXED_ORDERING", check_relaxed, { RD_ENV_NCCL, 2, 0, 2, RD_ENV_MEANINGS(
		{ 0, "no PCI relaxed ordering: slow in virtual machines and on some AMD processors" },
		{ 1, "PCI relaxed ordering if libibverbs supports it" },
		{ 2, "PCI relaxed ordering if libibverbs supports it" }), NULL, "NCCL treats it as 0" } },
	{ "NCCL_IB_USE_INLINE", NULL, { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "control messages are not sent inline: the NIC reads them from memory" },
		{ 1, "control messages are sent inline" }), "same as 1" } },
	{ "NCCL_IB_ECE_ENABLE", NULL, { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
		{ 0, "no enhanced connection establishment (ECE): the two NICs do not negotiate features" },
		{ 1, "the NICs negotiate features such as congestion control" }), "same as 1" } },
	{ "NCCL_IB_RETURN_ASYNC_EVENTS", NULL, { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
		{ 0, "fatal events of a NIC are logged, and the job continues", RD_SEV_WARNING, "env-events-ignored", "Fatal asynchronous events of NICs do not fail the job", "the job may hang instead", "# unset NCCL_IB_RETURN_ASYNC_EVENTS in the job's environment" },
		{ 1, "a fatal event of a NIC fails the job" }), "same as 1" } },
	{ "NCCL_GDR_FLUSH_DISABLE", NULL, { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "a flush (RDMA read) after a receive ensures that the data is in GPU memory" },
		{ 1, "no flush after a receive: GPUs that need it (before Hopper) may read stale data" }), "same as 1" } },
	{ "NCCL_IB_RESILIENCY_PORT_FAILOVER", NULL, { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "a port failure fails the job" },
		{ 1, "a failed port of a merged NIC is no longer used" }), "same as 0" } },
	{ "NCCL_IB_SUBNET_AWARE_ROUTING", NULL, { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "a NIC connects to the peer's NIC regardless of the subnet" },
		{ 1, "a NIC in the peer's subnet is preferred" }), "same as 1" } },
	{ "NCCL_IB_OOO_RQ", NULL, { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "receives complete in order" },
		{ 1, "receives complete out of order: the NIC must support it" }), "same as 1" } },
	{ "NCCL_MNNVL_ENABLE", NULL, { RD_ENV_NCCL, 2, 0, 2, RD_ENV_MEANINGS(
		{ 0, "NVLink between hosts (MNNVL) is not used: traffic uses NICs" },
		{ 1, "NVLink between hosts (MNNVL) must work, or NCCL fails" },
		{ 2, "NVLink between hosts (MNNVL) is used where available" }) } },
	{ "NCCL_NET_DISABLE_INTRA", NULL, { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "the network may be used within the host" },
		{ 1, "the network is not used within the host" }), "same as 1" } },
	{ "NCCL_GIN_TYPE", check_gin_type, { RD_ENV_NCCL, -1, -1, 5, RD_ENV_MEANINGS(
		{ -1, "NCCL takes the kind of GPU-initiated transfers (GIN) that the network offers" },
		{ 2, "GPU-initiated transfers (GIN) are posted by a thread of the CPU (proxy)" },
		{ 3, "GPU-initiated transfers (GIN) are posted by the GPU (GDAKI): mlx5 only" },
		{ 4, "GPU-initiated transfers (GIN) are posted by the GPU (GPI)" },
		{ 5, "GPU-initiated transfers (GIN) are posted by the GPU (EFA-GDA): EFA with aws-ofi-nccl, PeerMappingOverride=1 and gdrdrv" }),
		"NCCL has no kind %ld of GPU-initiated transfers (GIN)", "a release that does not know the kind has no GPU-initiated transfers (GIN)" } },
	{ "NCCL_DEBUG_SUBSYS", check_subsystems },
};
/* clang-format on */
const struct rd_env_rules rd_env_nccl = { rules, RD_ARRAY_SIZE(rules), unused_by };

bool rd_env_nccl_settings(const struct rd_host *host, const struct rd_effects *effects, bool *allowed,
			  struct rd_nccl_settings *ret)
{
	const char *hca = rd_effects_get(effects, "NCCL_IB_HCA"),
		   *text = rd_effects_get(effects, "NCCL_NET_MERGE_LEVEL");
	const char *merge = text ? parse_merge_level(text) : "PORT",
		   *gdr = rd_effects_get(effects, "NCCL_NET_GDR_LEVEL");
	int level = gdr ? parse_level(gdr) : -1;
	bool any = hca != NULL;

	*ret = rd_nccl_defaults();
	/* Without RDMA there is no NIC to choose; that is reported elsewhere. */
	if (unused_by(effects, "NCCL_IB_HCA"))
		return false;
	if (hca) {
		struct rd_hca_list list;

		rd_hca_list_parse(hca, &list);
		for (size_t p = 0; p < host->n_ports; p++)
			allowed[p] = rd_hca_list_allows(&list, rd_ibdev_label(host, host->ports[p].ibdev),
							host->ports[p].num);
		rd_hca_list_deinit(&list);
		ret->allowed = allowed;
	}
	ret->merge_vfs = is_switch_on(effects, "NCCL_IB_MERGE_VFS", true, &any);
	ret->merge = is_switch_on(effects, "NCCL_IB_MERGE_NICS", true, &any);
	if (!merge || strcmp(merge, "LOC") == 0)
		ret->merge = false;
	else if (strcmp(merge, "PORT") != 0)
		ret->merge_level = paths[parse_level(merge)];
	any |= !merge || strcmp(merge, "PORT") != 0;
	if (!is_switch_on(effects, "NCCL_NET_GDR_C2C", true, &any))
		ret->gdr_level = RD_PATH_PXB;
	if (level >= 0) {
		any |= paths[level] != ret->gdr_level;
		ret->gdr_level = paths[level];
	}
	ret->pxn = !is_switch_on(effects, "NCCL_PXN_DISABLE", false, &any);
	ret->pxn_c2c = is_switch_on(effects, "NCCL_PXN_C2C", true, &any);
	return any;
}
