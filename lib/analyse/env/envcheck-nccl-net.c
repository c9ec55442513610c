/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which network transport NCCL uses: src/plugin/net.cc, src/plugin/plugin_open.cc. */
#include <string.h>
#include <strings.h>

#include "analyse/env/envcheck-priv.h"
#include "base/text.h"

/* "none" leaves NCCL with its built-in networks. Not set: libnccl-net.so, if it is installed. */
static bool no_plugin(const struct rd_effects *all)
{
	const char *plugin = rd_effects_get(all, "NCCL_NET_PLUGIN");

	return plugin && (!*plugin || strcasecmp(plugin, "none") == 0);
}

static bool ib_disabled(const struct rd_effects *all)
{
	const char *text = rd_effects_get(all, "NCCL_IB_DISABLE");
	long value = 0;

	if (text)
		rd_envcheck_read(RD_ENV_NCCL, text, 0, &value);
	return value != 0;
}

/* Networks that read NCCL_IB_* as NCCL's built-in IB transport does. */
static bool is_like_ib(const char *net)
{
	return strcasecmp(net, "IB") == 0 || strncasecmp(net, "IBext", 5) == 0 || strcasecmp(net, "gIB") == 0;
}

static bool depends_on_ib(const char *name)
{
	static const char *const also[] = { "NCCL_NET_GDR_LEVEL",     "NCCL_NET_GDR_READ",  "NCCL_NET_GDR_C2C",
					    "NCCL_GDR_FLUSH_DISABLE", "NCCL_DMABUF_ENABLE", "NCCL_GIN_IB_TC" };

	if (strncmp(name, "NCCL_IB_", 8) == 0)
		return strcmp(name, "NCCL_IB_DISABLE") != 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(also); i++)
		if (strcmp(also[i], name) == 0)
			return true;
	return false;
}

const char *rd_envcheck_nccl_unused_by(const struct rd_effects *all, const char *name)
{
	const char *net = rd_effects_get(all, "NCCL_NET");

	if (strcmp(name, "NCCL_IB_DISABLE") == 0)
		return net && strcasecmp(net, "Socket") == 0 ? "NCCL_NET=Socket selects TCP anyway" : NULL;
	if (!depends_on_ib(name))
		return NULL;
	if (net && strcasecmp(net, "Socket") == 0)
		return "NCCL_NET=Socket selects TCP";
	if (ib_disabled(all) && strncmp(name, "NCCL_IB_", 8) == 0)
		return "NCCL_IB_DISABLE disables NCCL's built-in IB/RoCE transport";
	if (net && *net && !is_like_ib(net) && strncmp(name, "NCCL_IB_", 8) == 0)
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

/* Words that users write although NCCL has no network of that name. */
static bool is_misnomer(const char *net)
{
	static const char *const words[] = { "tcp",	 "rdma", "verbs",   "roce",   "infiniband", "sockets",
					     "ethernet", "eth",	 "ibverbs", "rocev2", "net",	    "mlx5" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(words); i++)
		if (strcasecmp(net, words[i]) == 0)
			return true;
	return false;
}

void rd_envcheck_net(struct rd_check_env *check)
{
	const char *net = check->effect->value;
	bool ib = strcasecmp(net, "IB") == 0;

	if (strcasecmp(net, "Socket") == 0) {
		rd_envcheck_effect(check, "TCP between hosts, no RDMA");
		report_rdma_off(check, RD_SEV_CRITICAL);
		return;
	}
	if (ib && ib_disabled(check->all)) {
		rd_envcheck_effect(check, "NCCL's built-in IB/RoCE transport, which NCCL_IB_DISABLE disables");
		rd_envcheck_finding_fix(check, RD_SEV_CRITICAL, "env-no-network", "No network transport is left",
					"NCCL fails: Failed to initialize any NET plugin",
					rd_text("NCCL_IB_DISABLE is set"), NULL,
					rd_text("# unset NCCL_IB_DISABLE in the job's environment"));
		return;
	}
	if (ib) {
		rd_envcheck_effect(check, "NCCL's built-in IB/RoCE transport");
		if (!rd_envcheck_has_efa(check->host) || rd_envcheck_has_rdma(check, false))
			return;
		rd_envcheck_finding_fix(
			check, RD_SEV_CRITICAL, "env-no-network",
			"NCCL's built-in IB/RoCE transport does not support EFA", "NCCL finds no device and fails",
			NULL, NULL,
			rd_text("# unset NCCL_NET in the job's environment\n# EFA needs the aws-ofi-nccl plugin"));
		return;
	}
	rd_envcheck_effect(check, "the plugin whose network is named '%.*s'; NCCL fails if there is none",
			   RD_ENV_QUOTED, net);
	if (*net && !no_plugin(check->all) && !is_misnomer(net))
		return;
	rd_envcheck_finding_fix(check, RD_SEV_CRITICAL, "env-no-network", "NCCL has no network of this name",
				"NCCL fails: Failed to initialize any NET plugin", NULL,
				rd_text("IB, Socket, or the network name of a plugin"),
				rd_text("# unset NCCL_NET in the job's environment"));
}

void rd_envcheck_ib_disable(struct rd_check_env *check)
{
	bool alone = no_plugin(check->all);
	long off;

	if (!rd_envcheck_value(check, RD_ENV_NCCL, 0, &off))
		return;
	if (off == 0) {
		rd_envcheck_effect(check, "RDMA stays enabled%s",
				   strcmp(check->effect->value, "0") == 0 ? " (the default)" : "");
		return;
	}
	rd_envcheck_effect(check, "NCCL's built-in IB/RoCE transport is disabled; %s",
			   alone ? "only TCP is left" : "only TCP or a plugin (libnccl-net.so) is left");
	if (!rd_envcheck_has_rdma(check, false))
		return; /* EFA is used through a plugin */
	report_rdma_off(check, alone ? RD_SEV_CRITICAL : RD_SEV_WARNING);
}

/* NAME itself; unless it is a path or libX.so, also libnccl-net-NAME.so. */
static void show_plugin(struct rd_check_env *check, const char *name, size_t size)
{
	bool is_path = memchr(name, '/', size) != NULL;
	bool is_library = size >= 6 && memcmp(name, "lib", 3) == 0 && memcmp(name + size - 3, ".so", 3) == 0;
	int n = (int)(size < RD_ENV_QUOTED ? size : RD_ENV_QUOTED);

	if (is_path || is_library)
		rd_envcheck_effect(check, "loads %.*s", n, name);
	else
		rd_envcheck_effect(check, "loads %.*s, else libnccl-net-%.*s.so", n, name, n, name);
}

void rd_envcheck_net_plugin(struct rd_check_env *check)
{
	const char *at = check->effect->value, *entry;
	size_t size, n = 0;

	if (no_plugin(check->all)) {
		rd_envcheck_effect(check, "no plugin: NCCL's built-in IB/RoCE transport, else TCP");
		if (!rd_envcheck_has_efa(check->host) || rd_envcheck_has_rdma(check, false))
			return;
		rd_envcheck_finding_fix(
			check, RD_SEV_CRITICAL, "env-rdma-off", "EFA needs a plugin",
			"NCCL's built-in IB/RoCE transport does not support EFA; only TCP is left", NULL, NULL,
			rd_text("# set NCCL_NET_PLUGIN=ofi (aws-ofi-nccl) in the job's environment, or unset it"));
		return;
	}
	while (rd_env_entry(&at, &entry, &size))
		if (n++ < 4)
			show_plugin(check, entry, size);
	rd_envcheck_effect(check, "if none loads, NCCL's built-in networks; a plugin may ignore NCCL_IB_*");
}
