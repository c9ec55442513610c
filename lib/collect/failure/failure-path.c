// SPDX-License-Identifier: GPL-2.0-or-later
/* The route from the source GID of a request to its destination, as the kernel finds it: "ip route get". */
#include <arpa/inet.h>
#include <string.h>

#include "collect/failure/failure.h"
#include "collect/net/netstate.h"
#include "collect/shared/sysfs.h"

static bool is_v4(const uint8_t *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, prefix, sizeof(prefix));
}

static unsigned index_of(const struct rd_netstate *net, const char *netdev)
{
	const struct rd_netif *netif = netdev ? rd_netstate_find_name(net, netdev) : NULL;

	return netif ? netif->ifindex : 0;
}

/* Without its interface, the route to a link-local address is that of any interface. */
static bool is_link_local(bool v6, const uint8_t *addr)
{
	return v6 && addr[0] == 0xfe && (addr[1] & 0xc0) == 0x80;
}

/* Between the GIDs of an address vector, through the interface of the source. */
static void look_up_gids(const struct rd_sysfs *fs, struct rd_failure *f)
{
	const struct rd_request *request = &f->event->request;
	struct rd_route_query query = { .v6 = !is_v4(request->gid) };
	const uint8_t *dst = request->gid + (query.v6 ? 0 : 12), *src = f->gid.raw + (query.v6 ? 0 : 12);

	if (f->gid.known != RD_OK || !f->gid.netdev || is_v4(f->gid.raw) == query.v6)
		return;
	memcpy(query.dst, dst, query.v6 ? 16 : 4);
	memcpy(query.src, src, query.v6 ? 16 : 4);
	query.has_src = true;
	query.ifindex = index_of(&f->net, f->gid.netdev);
	if (is_link_local(query.v6, query.dst) && !query.ifindex)
		return;
	rd_collect_route(fs, &query, &f->route, &f->route_errno);
}

static void look_up_address(const struct rd_sysfs *fs, struct rd_failure *f)
{
	const struct rd_req_address *dst = &f->event->request.dst, *src = &f->event->request.src;
	struct rd_route_query query = { .v6 = dst->family == AF_INET6 };
	static const uint8_t none[16];

	if (dst->family != AF_INET && dst->family != AF_INET6)
		return;
	memcpy(query.dst, dst->addr, sizeof(query.dst));
	if (src->known && src->family == dst->family && memcmp(src->addr, none, sizeof(none)) != 0) {
		memcpy(query.src, src->addr, sizeof(query.src));
		query.has_src = true;
	}
	/* As cma_bind_addr() does: the scope of the source, if there is one. */
	if (is_link_local(query.v6, query.has_src ? query.src : query.dst))
		query.ifindex = query.has_src ? src->scope_id : dst->scope_id;
	if (is_link_local(query.v6, query.dst) && !query.ifindex)
		return;
	rd_collect_route(fs, &query, &f->route, &f->route_errno);
}

void rd_failure_read_path(const struct rd_sysfs *fs, struct rd_failure *f)
{
	f->route_errno = -1;
	if (f->other_net_ns)
		return;
	if (f->event->request.has_gid)
		look_up_gids(fs, f);
	else if (f->event->request.dst.known)
		look_up_address(fs, f);
}
