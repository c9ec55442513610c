/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which network NCCL uses: src/plugin/net.cc, src/plugin/plugin_open.cc. */
#include <string.h>
#include <strings.h>

#include "analyse/env/envcheck-priv.h"
#include "base/text.h"

/* "none" leaves NCCL with its own networks. Not set: libnccl-net.so, if there is one. */
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

/* Plugins that read NCCL_IB_* as NCCL itself does. */
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

const char *rd_envcheck_nccl_off(const struct rd_effects *all, const char *name)
{
	const char *net = rd_effects_get(all, "NCCL_NET");

	if (strcmp(name, "NCCL_IB_DISABLE") == 0)
		return net && strcasecmp(net, "Socket") == 0 ? "NCCL_NET=Socket chooses TCP anyway" : NULL;
	if (!depends_on_ib(name))
		return NULL;
	if (net && strcasecmp(net, "Socket") == 0)
		return "NCCL_NET=Socket chooses TCP";
	if (ib_disabled(all) && strncmp(name, "NCCL_IB_", 8) == 0)
		return "NCCL_IB_DISABLE switches NCCL's own InfiniBand and RoCE off";
	if (net && *net && !is_like_ib(net) && strncmp(name, "NCCL_IB_", 8) == 0)
		return "NCCL_NET chooses a plugin, and this is about NCCL's own InfiniBand and RoCE";
	return NULL;
}

static void rdma_off(struct rd_check_env *check, enum rd_severity severity, const char *title, const char *fix)
{
	if (!rd_envcheck_has_rdma(check, true))
		return;
	rd_envcheck_advise(check, severity, "env-rdma-off", title,
			   "NCCL goes over TCP between hosts, at a fraction of the rate, and without GPUDirect", NULL,
			   NULL, rd_text("%s", fix));
}

/* What people write in the belief that NCCL knows it. */
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
		rdma_off(check, RD_SEV_CRITICAL, "RDMA is switched off", "unset NCCL_NET");
		return;
	}
	if (ib && ib_disabled(check->all)) {
		rd_envcheck_effect(check, "NCCL's own InfiniBand and RoCE, which NCCL_IB_DISABLE switches off");
		rd_envcheck_advise(check, RD_SEV_CRITICAL, "env-no-network", "No network is left",
				   "NCCL stops: Failed to initialize any NET plugin", rd_text("NCCL_IB_DISABLE is set"),
				   NULL, rd_text("unset NCCL_IB_DISABLE"));
		return;
	}
	if (ib) {
		rd_envcheck_effect(check, "NCCL's own InfiniBand and RoCE");
		if (!rd_envcheck_has_efa(check->host) || rd_envcheck_has_rdma(check, false))
			return;
		rd_envcheck_advise(check, RD_SEV_CRITICAL, "env-no-network", "NCCL's own InfiniBand passes over EFA",
				   "NCCL finds no device, and stops", NULL, NULL,
				   rd_text("unset NCCL_NET: EFA needs the plugin aws-ofi-nccl"));
		return;
	}
	rd_envcheck_effect(check, "the plugin that calls itself \"%.*s\"; where none does, NCCL stops", RD_ENV_QUOTED,
			   net);
	if (*net && !no_plugin(check->all) && !is_misnomer(net))
		return;
	rd_envcheck_advise(check, RD_SEV_CRITICAL, "env-no-network", "NCCL has no network of this name",
			   "NCCL stops: Failed to initialize any NET plugin", NULL,
			   rd_text("IB, Socket, or the name of a plugin's network"), rd_text("unset NCCL_NET"));
}

void rd_envcheck_ib_disable(struct rd_check_env *check)
{
	bool alone = no_plugin(check->all);
	long off;

	if (!rd_envcheck_value(check, RD_ENV_NCCL, 0, &off))
		return;
	if (off == 0) {
		rd_envcheck_effect(check, "RDMA stays on%s",
				   strcmp(check->effect->value, "0") == 0 ? " (the default)" : "");
		return;
	}
	rd_envcheck_effect(check, "NCCL's own InfiniBand and RoCE are off; %s",
			   alone ? "what is left is TCP" : "what is left is TCP, or a plugin (libnccl-net.so)");
	if (!rd_envcheck_has_rdma(check, false))
		return; /* EFA is used through a plugin */
	rdma_off(check, alone ? RD_SEV_CRITICAL : RD_SEV_WARNING, "RDMA is switched off", "unset NCCL_IB_DISABLE");
}

/* NAME itself, and, where it is no path and no libX.so, libnccl-net-NAME.so. */
static void tell_plugin(struct rd_check_env *check, const char *name, size_t size)
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
		rd_envcheck_effect(check, "no plugin: NCCL's own InfiniBand and RoCE, else TCP");
		if (!rd_envcheck_has_efa(check->host) || rd_envcheck_has_rdma(check, false))
			return;
		rd_envcheck_advise(check, RD_SEV_CRITICAL, "env-rdma-off", "EFA needs a plugin",
				   "NCCL's own InfiniBand passes over EFA; TCP is what is left", NULL, NULL,
				   rd_text("unset NCCL_NET_PLUGIN, or set it to ofi (aws-ofi-nccl)"));
		return;
	}
	while (rd_env_entry(&at, &entry, &size))
		if (n++ < 4)
			tell_plugin(check, entry, size);
	rd_envcheck_effect(check, "where none loads, NCCL's own networks; a plugin may not read NCCL_IB_*");
}
