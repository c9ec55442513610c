/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/qp/qp.h"

#include <inttypes.h>

#include "analyse/qp/qp-verdict.h"
#include "base/text.h"
#include "model/host/host.h"

/* The key of a group. QPs of one group have equal keys. */
struct key {
	uint64_t number; /* UINT64_MAX: unknown */
	const char *text;
	bool has_peer;
	uint8_t peer[16];
	int dev;
	const struct rd_qp *qp; /* one of them */
};

static struct key key_of(const struct rd_qp_views *views, size_t i, enum rd_qp_by by)
{
	const struct rd_qp *qp = &views->res->qps[i];
	struct key key = { .number = UINT64_MAX, .dev = -1, .qp = qp };

	switch (by) {
	case RD_BY_STATE:
		key.number = qp->state.known == RD_OK ? qp->state.v : UINT64_MAX;
		break;
	case RD_BY_PID:
		/* Kernel-owned QPs: by kernel component. */
		key.number = qp->owner.pid.known == RD_OK ? qp->owner.pid.v : UINT64_MAX - (qp->owner.kernel != NULL);
		key.text = qp->owner.kernel;
		break;
	case RD_BY_DEVICE:
		key.dev = qp->dev;
		break;
	case RD_BY_PEER:
		key.dev = qp->dev;
		key.has_peer = rd_qp_peer(views, i, key.peer);
		break;
	default:
		key.text = qp->proc >= 0 ? views->res->procs[qp->proc].job : NULL;
		break;
	}
	return key;
}

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return RD_FIRST(RD_CMP(x->dev, y->dev), RD_CMP(x->number, y->number), RD_CMP(!x->text, !y->text),
			RD_CMP(y->has_peer, x->has_peer), x->text && y->text ? strcmp(x->text, y->text) : 0,
			memcmp(x->peer, y->peer, 16));
}

static char *label_of(const struct rd_res *res, const struct key *key, enum rd_qp_by by)
{
	struct rd_gid gid;
	char text[48];

	switch (by) {
	case RD_BY_STATE:
		return rd_text("%s", key->qp->state.known == RD_OK && rd_qp_state_name(key->qp->state.v) ?
					     rd_qp_state_name(key->qp->state.v) :
					     "unknown");
	case RD_BY_PID:
		if (key->qp->owner.pid.known == RD_OK)
			return rd_text("%u", key->qp->owner.pid.v);
		return key->text ? rd_text("[%s]", key->text) : NULL;
	case RD_BY_DEVICE:
		return rd_dup(res->devs[key->dev].name);
	case RD_BY_PEER:
		if (!key->has_peer)
			return NULL;
		memcpy(gid.raw, key->peer, 16);
		if (rd_gid_is_v4(&gid))
			rd_gid_ip(&gid, text);
		else
			rd_gid_text(&gid, text);
		return rd_dup(text);
	default:
		return rd_dup_if(key->text);
	}
}

/* Queue pairs of one process are mostly adjacent; merging the same addresses again may only make the number of others inexact. */
static void add_proc_peers(struct rd_qp_group *group, const struct rd_res *res, const struct rd_qp *qp)
{
	const struct rd_proc_peers *peers = qp->proc >= 0 ? res->procs[qp->proc].peers : NULL;

	if (!peers || (group->peers && group->peers_of == qp->proc))
		return;
	if (!group->peers)
		group->peers = rd_alloc(1, sizeof(*group->peers));
	group->peers_of = qp->proc;
	rd_proc_peers_merge(group->peers, peers);
}

static void count_qp(struct rd_qp_group *group, const struct rd_qp *qp, const struct rd_qp_view *view)
{
	enum rd_severity severity = rd_qp_verdicts[view->verdict->kind].finding.severity;

	group->qps++;
	if (qp->state.known == RD_OK && qp->state.v < RD_QPS_N)
		group->by_state[qp->state.v]++;
	else
		group->unknown++;
	group->judged |= view->verdict->kind != RD_QPV_NONE;
	group->sampled_twice |= view->past->psn_per_second.known == RD_OK;
	group->stuck += view->verdict->kind == RD_QPV_STUCK;
	group->retrying += view->verdict->kind == RD_QPV_RETRYING;
	group->impaired += view->verdict->kind == RD_QPV_CUT_OFF || view->verdict->kind == RD_QPV_NO_RECEIVES ||
			   view->verdict->kind == RD_QPV_SLOW;
	group->closed += view->verdict->kind == RD_QPV_FLUSHED;
	group->worst = severity > group->worst ? severity : group->worst;
}

static enum rd_path_health health_of(const struct rd_qp_group *group)
{
	uint64_t failed = group->by_state[RD_QPS_SQE] + group->by_state[RD_QPS_ERR] - group->closed;
	uint64_t connected = group->by_state[RD_QPS_RTS] + group->by_state[RD_QPS_RTR] + group->by_state[RD_QPS_SQD];

	/* Unknown peers may be several: none of them is proven to be cut off. */
	if (failed > 0)
		return failed + group->closed == group->qps && group->label ? RD_HEALTH_DEAD : RD_HEALTH_DEGRADED;
	if (group->stuck > 0 || group->retrying > 0 || group->impaired > 0)
		return RD_HEALTH_DEGRADED;
	/* One that a program has closed says nothing about the path. */
	if (connected > 0 && connected + group->closed == group->qps)
		return RD_HEALTH_OK;
	return group->unknown > 0 || group->closed == group->qps ? RD_HEALTH_UNKNOWN : RD_HEALTH_STARTING;
}

static int compare_groups(const void *a, const void *b)
{
	const struct rd_qp_group *x = a, *y = b;

	if (!x->label != !y->label)
		return x->label ? -1 : 1;
	/* Worst health first, then the largest group. */
	return RD_FIRST(RD_CMP(y->health, x->health), RD_CMP(y->qps, x->qps),
			x->label ? strcmp(x->label, y->label) : x->dev - y->dev);
}

static bool is_grouped(const struct rd_qp_views *views, size_t i, const bool *chosen, enum rd_qp_by by)
{
	return (!chosen || chosen[i]) && (by != RD_BY_PEER || rd_qp_is_connected_type(&views->res->qps[i]));
}

/* The keys that occur, each once, in order. */
static struct key *list_keys(const struct rd_qp_views *views, const bool *chosen, enum rd_qp_by by, size_t *n)
{
	struct key *keys = NULL;
	size_t all = 0, cap = 0;

	for (size_t i = 0; i < views->res->n_qps; i++) {
		struct key key = key_of(views, i, by);

		/* Queue pairs of one group are mostly adjacent. */
		if (is_grouped(views, i, chosen, by) && (!all || compare_keys(&keys[all - 1], &key) != 0))
			*RD_ADD(keys, all, cap) = key;
	}
	rd_sort(keys, all, sizeof(*keys), compare_keys);
	*n = 0;
	for (size_t i = 0; i < all; i++)
		if (!*n || compare_keys(&keys[*n - 1], &keys[i]) != 0)
			keys[(*n)++] = keys[i];
	return keys;
}

void rd_qp_group_by(const struct rd_qp_views *views, const bool *chosen, enum rd_qp_by by, struct rd_qp_groups *ret)
{
	const struct rd_res *res = views->res;
	size_t n;
	_cleanup_free_ struct key *keys = list_keys(views, chosen, by, &n);

	*ret = (struct rd_qp_groups){ .by = by };
	for (size_t i = 0; i < n; i++)
		*RD_ADD(ret->v, ret->n, ret->cap) =
			(struct rd_qp_group){ .label = label_of(res, &keys[i], by),
					      .dev = keys[i].dev,
					      .proc = by == RD_BY_PID ? keys[i].qp->proc : -1 };
	for (size_t i = 0; i < res->n_qps; i++) {
		struct key key = key_of(views, i, by);
		const struct key *of;
		struct rd_qp_group *group;

		if (!is_grouped(views, i, chosen, by))
			continue;
		of = bsearch(&key, keys, n, sizeof(key), compare_keys);
		group = &ret->v[of - keys];
		count_qp(group, &res->qps[i], &views->v[i]);
		if (by == RD_BY_PEER && !group->label)
			add_proc_peers(group, res, &res->qps[i]);
	}
	for (size_t i = 0; by == RD_BY_PEER && i < views->res->n_qps; i++)
		ret->without_peer += (!chosen || chosen[i]) && !rd_qp_is_connected_type(&views->res->qps[i]);
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i].health = by == RD_BY_PEER ? health_of(&ret->v[i]) : RD_HEALTH_NONE;
	if (by != RD_BY_STATE)
		rd_sort(ret->v, ret->n, sizeof(*ret->v), compare_groups);
}

void rd_qp_groups_findings(const struct rd_res *res, const struct rd_qp_groups *groups, struct rd_findings *findings)
{
	for (size_t i = 0; i < groups->n; i++) {
		const struct rd_qp_group *group = &groups->v[i];
		bool dead = group->health == RD_HEALTH_DEAD;
		const struct rd_finding kind = {
			dead ? "path-dead" : "path-degraded",
			dead	     ? "all queue pairs to this peer have failed" :
			group->label ? "some queue pairs to this peer do not work" :
				       "some queue pairs to unknown peers do not work",
			"Other peers of the same NIC may work: check the network path and the remote host.",
			dead ? RD_SEV_CRITICAL : RD_SEV_WARNING,
		};
		const char *ibdev = res->devs[group->dev].name;
		uint64_t failed = group->by_state[RD_QPS_SQE] + group->by_state[RD_QPS_ERR];

		if (!dead && group->health != RD_HEALTH_DEGRADED)
			continue;
		rd_finding_put(findings, &kind, rd_text("%s to %s", ibdev, group->label ?: "unknown peers"),
			       rd_text("%" PRIu64 " of %" PRIu64 " in ERR or SQE, %" PRIu64 " stuck, %" PRIu64
				       " retrying, %" PRIu64 " cut off, slow or without receives",
				       failed, group->qps, group->stuck, group->retrying, group->impaired),
			       group->label ? rd_text("rdmadiag qp-state --device %s --peer %s", ibdev, group->label) :
					      rd_text("rdmadiag qp-state --device %s%s", ibdev,
						      group->stuck || group->retrying || group->impaired ?
							      " -i 2 -c 3" :
							      " --state ERR,SQE"));
	}
}

static int compare_holders(const void *a, const void *b)
{
	const struct rd_res_holder *x = a, *y = b;

	return RD_FIRST(RD_CMP(x->dev, y->dev), RD_CMP(y->held[RD_RES_QP], x->held[RD_RES_QP]),
			RD_CMP(!y->kernel, !x->kernel), x->kernel ? strcmp(x->kernel, y->kernel) : x->proc - y->proc);
}

static int compare_owners(const void *a, const void *b)
{
	const struct rd_res_holder *x = a, *y = b;

	return RD_FIRST(RD_CMP(x->dev, y->dev), RD_CMP(x->proc, y->proc), RD_CMP(!y->kernel, !x->kernel),
			x->kernel && y->kernel ? strcmp(x->kernel, y->kernel) : 0);
}

static void count_held(struct rd_res_holders *ret, enum rd_res_kind kind, int dev, int proc,
		       const struct rd_owner *owner)
{
	struct rd_res_holder holder = { .dev = dev, .proc = proc, .kernel = owner->kernel };

	/* Objects of one process are mostly adjacent. */
	if (!ret->n || compare_owners(&ret->v[ret->n - 1], &holder) != 0)
		*RD_ADD(ret->v, ret->n, ret->cap) = holder;
	ret->v[ret->n - 1].held[kind]++;
}

void rd_res_count_holders(const struct rd_res *res, struct rd_res_holders *ret)
{
	size_t n = 0;

	*ret = (struct rd_res_holders){ 0 };
	for (size_t i = 0; i < res->n_qps; i++)
		count_held(ret, RD_RES_QP, res->qps[i].dev, res->qps[i].proc, &res->qps[i].owner);
	for (size_t i = 0; i < res->n_cm_ids; i++)
		count_held(ret, RD_RES_CM_ID, res->cm_ids[i].dev, res->cm_ids[i].proc, &res->cm_ids[i].owner);
	for (size_t i = 0; i < res->n_objects; i++)
		count_held(ret, res->objects[i].kind, res->objects[i].dev, res->objects[i].proc, &res->objects[i].owner);
	if (!ret->n)
		return;
	/* Those of one owner become one. */
	rd_sort(ret->v, ret->n, sizeof(*ret->v), compare_owners);
	for (size_t i = 1; i < ret->n; i++) {
		if (compare_owners(&ret->v[n], &ret->v[i]) != 0) {
			ret->v[++n] = ret->v[i];
			continue;
		}
		for (size_t kind = 0; kind < RD_RES_KINDS; kind++)
			ret->v[n].held[kind] += ret->v[i].held[kind];
	}
	ret->n = n + 1;
	rd_sort(ret->v, ret->n, sizeof(*ret->v), compare_holders);
}
