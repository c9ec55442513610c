/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/host/netstate.h"

#include <arpa/inet.h>
#include <linux/dcbnl.h>

void rd_netstate_deinit(struct rd_netstate *net)
{
	for (size_t i = 0; i < net->n_ifs; i++)
		RD_FREE(net->ifs[i].name, net->ifs[i].kind);
	for (size_t i = 0; i < net->n_devlinks; i++) {
		for (size_t j = 0; j < net->devlinks[i].n_versions; j++)
			RD_FREE(net->devlinks[i].versions[j].name, net->devlinks[i].versions[j].value);
		for (size_t j = 0; j < net->devlinks[i].n_reporters; j++)
			free(net->devlinks[i].reporters[j].name);
		RD_FREE(net->devlinks[i].versions, net->devlinks[i].reporters, net->devlinks[i].bus,
			net->devlinks[i].dev);
	}
	RD_FREE(net->ifs, net->addrs, net->routes, net->policies, net->neighs, net->devlinks);
	*net = (struct rd_netstate){ 0 };
}

const struct rd_netif *rd_netstate_find(const struct rd_netstate *net, unsigned ifindex)
{
	for (size_t i = 0; ifindex && i < net->n_ifs; i++)
		if (net->ifs[i].ifindex == ifindex)
			return &net->ifs[i];
	return NULL;
}

const struct rd_netif *rd_netstate_find_name(const struct rd_netstate *net, const char *name)
{
	for (size_t i = 0; name && i < net->n_ifs; i++)
		if (strcmp(net->ifs[i].name, name) == 0)
			return &net->ifs[i];
	return NULL;
}

const struct rd_netif *rd_netstate_next_carrier(const struct rd_netstate *net, const struct rd_netif *netif, size_t *at)
{
	if (!netif->kind || strcmp(netif->kind, "bond") != 0)
		return (*at)++ ? NULL : netif;
	while (*at < net->n_ifs)
		if (net->ifs[(*at)++].master == netif->ifindex)
			return &net->ifs[*at - 1];
	return NULL;
}

bool rd_dcb_trusts_dscp(const struct rd_dcb *dcb)
{
	for (size_t i = 0; i < dcb->trust.n; i++)
		if (dcb->trust.selectors[i] == IEEE_8021QAZ_APP_SEL_DSCP)
			return true;
	/* A driver that does not report its trust mode uses DSCP as soon as a map is set (mlx5 does so). */
	return dcb->trust.known != RD_OK && dcb->dscp_prio_set.known == RD_OK && dcb->dscp_prio_set.v;
}

unsigned rd_dcb_prio(const struct rd_dcb *dcb, unsigned tclass)
{
	unsigned dscp = tclass >> 2 & 63;

	return dcb->dscp_prio_set.known == RD_OK && dcb->dscp_prio_set.v >> dscp & 1 ? dcb->dscp_prio[dscp] : dscp >> 3;
}

void rd_ip_text(bool v6, const uint8_t *addr, char *ret)
{
	if (!inet_ntop(v6 ? AF_INET6 : AF_INET, addr, ret, INET6_ADDRSTRLEN))
		ret[0] = '\0';
}

bool rd_ip_within(const uint8_t *addr, const uint8_t *net, unsigned prefix)
{
	unsigned rest = prefix % 8;

	return prefix <= 128 && memcmp(addr, net, prefix / 8) == 0 &&
	       (!rest || !((addr[prefix / 8] ^ net[prefix / 8]) >> (8 - rest)));
}
