/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and reasons of --join; reasons become text when they are shown. */
#include "model/rdma/join.h"

#include <arpa/inet.h>

#include "base/text.h"
#include "model/rdma/qp.h"

/* The reasons that need no values. */
static const char *const fixed[] = {
	[RD_JOIN_BY_GID] = "QP numbers and GIDs match",
	[RD_JOIN_BY_ADDRESS] = "QP numbers and addresses match",
	[RD_JOIN_BY_NUMBER] = "QP numbers match; no GID known",
	[RD_JOIN_STATELESS] = "the device of the remote QP does not report its state",
	[RD_JOIN_NUMBERLESS] = "the remote QP does not report its own remote QP number",
	[RD_JOIN_NO_OWNER] = "no captured host has the peer's GID",
	[RD_JOIN_NO_ADDRESS] = "no captured host has the peer's address",
	[RD_JOIN_IS_CUT] = "not all queue pairs of the peer's device were captured",
	[RD_JOIN_IS_HIDDEN] = "the remote QP may have been created through DEVX, which the kernel does not track",
	[RD_JOIN_XRC_UNTRACKED] = "the kernel of the peer's host lists no XRC queue pairs",
	[RD_JOIN_LINKS_UNKNOWN] = "queue pairs of the peer's device have no known rdma_cm connection",
	[RD_JOIN_SEVERAL] = "several queue pairs match, and no known GID distinguishes them",
	[RD_JOIN_TOO_MANY] = "too many queue pairs have that number to compare them all",
	[RD_JOIN_ELSEWHERE] = "queue pairs with that number are connected elsewhere, and the peer's GID is unknown",
	[RD_JOIN_NOT_FOUND] = "no queue pair with that number was captured",
};

/* "10.9.1.2:7174", "[fd00::2]:7174" */
static void peer_text(const struct rd_join *join, const struct rd_join_qp *qp, char *ret, size_t size)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *ip = join->addrs[qp->dst].ip;
	char text[INET6_ADDRSTRLEN] = "";
	bool v4 = memcmp(ip, mapped, sizeof(mapped)) == 0;

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? ip + 12 : ip, text, sizeof(text));
	snprintf(ret, size, v4 ? "%s:%u" : "[%s]:%u", text, qp->dst_port);
}

static const char *state_here(const struct rd_join_qp *qp)
{
	return rd_qp_state_name(qp->state) ?: "unknown state";
}

static char *gone_text(const struct rd_join *join, const struct rd_join_pair *pair)
{
	const struct rd_join_qp *a = &join->qps[pair->a];
	const struct rd_join_owner *owner = &join->owners[pair->n];
	const struct rd_join_host *host = &join->hosts[owner->host];
	char peer[INET6_ADDRSTRLEN + 16];

	if (pair->why == RD_JOIN_GONE)
		return rd_text("peer QP %u no longer exists on %s %s; %s here", a->rqpn, host->name,
			       host->devs[owner->dev].name, state_here(a));
	peer_text(join, a, peer, sizeof(peer));
	return rd_text("peer connection %s no longer exists on %s %s; %s here", peer, host->name,
		       host->devs[owner->dev].name, state_here(a));
}

static char *plain_text(const struct rd_join *join, const struct rd_join_pair *pair)
{
	static const struct rd_join_qp none = { .state = RD_JOIN_UNKNOWN_STATE };
	const struct rd_join_qp *a = &join->qps[pair->a];
	const struct rd_join_qp *b = pair->b == RD_JOIN_NONE ? &none : &join->qps[pair->b];

	switch (pair->why) {
	case RD_JOIN_BY_ADDRESS:
		if (a->names == RD_JOIN_NAMES_LINK)
			return rd_dup("addresses and ports match");
		break;
	case RD_JOIN_FAILED:
		return rd_text("%s here, %s on the remote QP", state_here(a), state_here(b));
	case RD_JOIN_FAILED_MAYBE:
		return rd_text("%s here, %s on the remote QP, but only QP numbers link them", state_here(a),
			       state_here(b));
	case RD_JOIN_MTU:
		return rd_text("path MTU %u here, %u on the remote QP", a->path_mtu, b->path_mtu);
	case RD_JOIN_NOT_CONNECTED:
		return rd_text("%s here; the remote QP is in %s", state_here(a), state_here(b));
	case RD_JOIN_OTHER_ADDRESS:
		return rd_text("the remote QP is connected to a QP %u at another address", b->rqpn);
	case RD_JOIN_OTHER_NUMBER:
		return rd_text("the remote QP is connected to QP %u, not to QP %u", b->rqpn, a->lqpn);
	case RD_JOIN_GONE:
	case RD_JOIN_LINK_GONE:
		return gone_text(join, pair);
	case RD_JOIN_OWNERS:
		return rd_text("%u devices have the peer's %s", pair->n,
			       a->names == RD_JOIN_NAMES_LINK ? "address" : "GID");
	case RD_JOIN_SAME_NUMBER:
		return rd_text("%u queue pairs of the peer's device have that number", pair->n);
	default:
		break;
	}
	return rd_dup(fixed[pair->why]);
}

char *rd_join_reason(const struct rd_join *join, const struct rd_join_pair *pair)
{
	_cleanup_free_ char *text = NULL;
	size_t host;

	if (!pair->apart)
		return plain_text(join, pair);
	host = pair->b != RD_JOIN_NONE ? join->qps[pair->b].host : join->owners[pair->n].host;
	text = plain_text(join, pair);
	return rd_text("%s, but the captures are %.0f s apart: beyond 60 s this proves nothing", text,
		       rd_join_seconds_apart(join, join->qps[pair->a].host, host));
}

static void host_deinit(struct rd_join_host *host)
{
	for (size_t i = 0; i < host->n_devs; i++)
		free(host->devs[i].name);
	RD_FREE(host->devs, host->name);
}

void rd_join_deinit(struct rd_join *join)
{
	for (size_t i = 0; i < join->n_hosts; i++)
		host_deinit(&join->hosts[i]);
	for (size_t i = 0; i < join->n_jobs; i++)
		free(join->jobs[i]);
	RD_FREE(join->hosts, join->qps, join->addrs, join->owners, join->jobs);
	rd_map_deinit(&join->names_map);
	rd_map_deinit(&join->addrs_map);
	rd_map_deinit(&join->jobs_map);
	*join = (struct rd_join){ 0 };
}

void rd_join_pairs_deinit(struct rd_join_pairs *pairs)
{
	free(pairs->v);
	*pairs = (struct rd_join_pairs){ 0 };
}

const char *rd_join_verdict_name(enum rd_join_verdict verdict)
{
	static const char *const names[] = { "connected", "half-open", "mismatch", "ambiguous", "peer-not-visible" };

	return verdict < RD_ARRAY_SIZE(names) ? names[verdict] : NULL;
}

double rd_join_seconds_apart(const struct rd_join *join, size_t a, size_t b)
{
	uint64_t x = join->hosts[a].time_ns, y = join->hosts[b].time_ns;

	return x && y ? (double)(x > y ? x - y : y - x) / 1e9 : 0;
}
