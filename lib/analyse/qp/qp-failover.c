/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failing over: what there is for it, which paths died, and where their traffic went. */
#include "analyse/qp/qp-failover.h"

#include <stdio.h>
#include <string.h>

#include "analyse/qp/qp-timers.h"
#include "analyse/qp/qp.h"
#include "analyse/shared/distance.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/host/netstate.h"

#define FAILURES_MAX 1024    /* processes and NICs */
#define EVENTS_MAX 1024	     /* of one sample */
#define WEIGHT 0.2	     /* of an interval in the average of packets */
#define LOST 0.25	     /* of the usual rate: below that it is silent; a retransmission advances the PSN, too */
#define GAINED 0.5	     /* of the lost rate: that moved */
#define WOKEN 5.0	     /* times its usual rate: so did what a slower NIC took over */
#define SILENT_SECONDS 138.0 /* the longest that timeout 20 and retry_cnt 7 take; where the timers are unknown */
#define STAYS_SECONDS 10.0   /* after the NIC is back */
#define PORT_ARMED 3	     /* enum ib_port_state */

/* A queue pair. */
struct path {
	char ibdev[64];
	uint32_t lqpn, dev_index, pid, rqpn;
	int dev, proc; /* in this sample */
	bool has_peer, kept;
	uint8_t peer[16];
	enum { HEALTHY, SUSPECT, DEAD, CLOSED } health;
	bool news;			/* it died in this sample */
	uint64_t first_ns;		/* the first sample that had it */
	uint64_t busy_from_ns, busy_ns; /* the last interval with packets; 0: none yet */
	double now, usual;		/* packets per second */
	double gbps;			/* of its NIC, when it last had packets; below 0: unknown */
	double died_from, died_to;	/* seconds after the last packet */
	struct rd_giveup giveup;
};

/* By device and number, as in rd_res. */
struct paths {
	struct path *v;
	size_t n, cap;
};

enum stage { SUSPECTED, WAITING, MOVED, STAYING, RETURNED };

/* A NIC whose paths died, of one process. */
struct failure {
	struct rd_failover_event last; /* text: of the last event; owned */
	enum stage stage;
	double lost;	    /* packets per second */
	uint64_t silent_ns; /* the last sample in which they had packets */
	uint64_t back_ns;
	bool was_down;
};

struct rd_failover {
	struct paths paths;
	struct failure *v;
	size_t n, cap;
	uint64_t sample_ns;
};

/* Of failures, by stage; then what is missing before one. */
enum lack { NO_BACKUP = RETURNED + 1, UNUSABLE, PEERS, UNDETECTED, SHARED, UNCLEAR };

static const struct kind {
	const char *id;
	enum rd_severity severity;
	const char *title, *why, *fix; /* %s: the device */
} kinds[] = {
	[WAITING] = { "failover-none", RD_SEV_CRITICAL, "path died, and no other NIC took its traffic over",
		      "the process waits for what was lost, or ends with an error",
		      "rdmadiag counters %s --filter 'link*'" },
	[MOVED] = { "failover-moved", RD_SEV_WARNING, "path died; its traffic moved to another NIC",
		    "that NIC carries the traffic of two, and a second failure has no backup",
		    "rdmadiag counters %s --filter 'link*'\n# repair the path while the process runs on" },
	[STAYING] = { "failover-stays", RD_SEV_WARNING, "NIC is back, but its traffic stays on another",
		      "the process runs on with less bandwidth, and a second failure has no backup",
		      "rdmadiag counters %s -i 1 -c 2\n# leave the process running: only it can rebuild its queue pairs" },
	[RETURNED] = { "failover-returned", RD_SEV_WARNING, "path died; it was rebuilt and has traffic again",
		       "the process was silent until the failure was detected",
		       "rdmadiag counters %s --filter 'link*'" },
	[NO_BACKUP] = { "failover-no-backup", RD_SEV_WARNING, "process has queue pairs on one NIC only",
			"if that NIC or its link fails, the process has no path left", "rdmadiag nic-map --assignment" },
	[UNUSABLE] = { "failover-unusable", RD_SEV_WARNING, "queue pairs on the backup NIC cannot be used",
		       "if the NIC fails, its traffic has nowhere to go", "rdmadiag qp-state -i 1 -c 2" },
	[PEERS] = { "failover-peers", RD_SEV_WARNING, "the backup NIC reaches fewer peers",
		    "if the NIC fails, some peers are lost", "rdmadiag qp-state --by peer" },
	[UNDETECTED] = { "failover-undetected", RD_SEV_WARNING, "a dead path is never detected",
			 "queue pairs retry without end: nothing fails over unless the program has a timer of its own",
			 "rdmadiag qp-state --timeouts" },
	[SHARED] = { "failover-shared", RD_SEV_WARNING, "NIC and backup are on one card",
		     "they fail together: firmware, power and slot are shared", "rdmadiag nic-map --assignment" },
	[UNCLEAR] = { "failover-unknown", RD_SEV_UNKNOWN, "not known whether the process can fail over",
		      "what is not known may be what is missing",
		      "# start rdmadiag qp-state --trace before the job, as root" },
};

static void add_finding(int kind, const char *ibdev, uint32_t pid, char *observed, struct rd_findings *findings)
{
	const struct kind *of = &kinds[kind];
	const char *at = strstr(of->fix, "%s");
	struct rd_finding finding = { .id = of->id, .severity = of->severity, .title = of->title, .why = of->why };

	finding.subject = rd_text("%s process %u", ibdev, pid);
	finding.observed = observed;
	finding.fix = at ? rd_text("%.*s%s%s", (int)(at - of->fix), of->fix, ibdev, at + 2) : rd_dup(of->fix);
	rd_finding_add(findings, &finding);
}

struct rd_failover *rd_failover_create(void)
{
	return rd_alloc(1, sizeof(struct rd_failover));
}

void rd_failover_destroy(struct rd_failover *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].last.text);
	RD_FREE(f->paths.v, f->v, f);
}

static double seconds(uint64_t to, uint64_t from)
{
	return to > from ? (double)(to - from) / 1e9 : 0;
}

static bool is_watched(const struct rd_qp *qp)
{
	return qp->dev >= 0 && qp->proc >= 0 && qp->lqpn.known == RD_OK && qp->owner.pid.known == RD_OK &&
	       qp->state.known == RD_OK && qp->state.v >= RD_QPS_RTR && rd_qp_is_connected_type(qp);
}

static struct rd_giveup giveup_of(const struct rd_qp_views *views, size_t i)
{
	const struct rd_qp_seen attrs = rd_qp_attributes(&views->v[i]);
	struct rd_timeouts values = { .rxe = rd_res_dev_is_rxe(&views->res->devs[views->res->qps[i].dev]) };

	RD_COPY(values.timeout, attrs.timeout);
	RD_COPY(values.retry_cnt, attrs.retry_cnt);
	return rd_qp_giveup(&values);
}

static bool names_backup(const struct rd_host *host, int port, const char *to)
{
	return port >= 0 && strcmp(rd_ibdev_label(host, host->ports[port].ibdev), to) == 0;
}

/* Sets whether nic-map names `to` as a backup of `from`; false: it names none. */
static bool is_planned(const struct rd_failover_sample *s, const char *from, const char *to, bool *ret)
{
	const struct rd_choices *of[] = { &s->map->nvshmem, &s->map->nccl };
	bool named = false;

	*ret = false;
	for (size_t k = 0; k < RD_ARRAY_SIZE(of); k++) {
		for (size_t i = 0; i < of[k]->n; i++) {
			const struct rd_choice *choice = &of[k]->v[i];

			for (size_t n = 0; n < choice->n_ports; n++) {
				if (!names_backup(s->host, choice->ports[n], from))
					continue;
				named |= choice->backup >= 0 || choice->library_backup >= 0;
				*ret |= names_backup(s->host, choice->backup, to) ||
					names_backup(s->host, choice->library_backup, to);
			}
		}
	}
	return named;
}

/* "card", or the path between them as nic-map names it; NULL: unknown. */
static const char *shared_by(const struct rd_host *host, const char *a, const char *b)
{
	int da = rd_host_find_ibdev(host, a), db = rd_host_find_ibdev(host, b);
	int pa = da < 0 ? -1 : host->ibdevs[da].pci, pb = db < 0 ? -1 : host->ibdevs[db].pci;
	const struct rd_pci *x = pa < 0 ? NULL : &host->pcis[pa], *y = pb < 0 ? NULL : &host->pcis[pb];

	if (!x || !y)
		return NULL;
	if (x->domain == y->domain && x->bus == y->bus && x->dev == y->dev)
		return "card";
	return rd_path_name(rd_distance_pci(host, pa, pb, NULL));
}

/* Whether a port of the device has a link, or may have. */
static bool has_link(const struct rd_res *res, int dev)
{
	bool known = false;

	for (size_t i = 0; i < res->n_ports; i++) {
		const struct rd_res_port *port = &res->ports[i];

		if (port->dev != dev || port->state.known != RD_OK)
			continue;
		if (port->state.v >= PORT_ARMED)
			return true;
		known = true;
	}
	return !known;
}

/* Something shows that its packets are lost, which a remote QP on this host that is gone does not: so jobs end. */
static bool is_suspect(const struct rd_qp_views *views, size_t i)
{
	const struct rd_qp_view *view = &views->v[i];
	const struct rd_qp *qp = &views->res->qps[i];

	return view->verdict->kind == RD_QPV_RETRYING || view->past->retried || !has_link(views->res, qp->dev) ||
	       (qp->state.v == RD_QPS_RTS && views->notes && views->notes[qp->dev].retries);
}

/* It failed between these times. */
static void set_died(struct path *p, uint64_t first, uint64_t last)
{
	p->health = DEAD;
	p->died_from = seconds(first, p->busy_ns);
	p->died_to = seconds(last, p->busy_from_ns);
}

/* What the sample shows of a queue pair that existed before. */
static void judge_path(const struct rd_failover *f, const struct rd_failover_sample *s, size_t i, struct path *p)
{
	const struct rd_qp *qp = &s->views->res->qps[i];
	const struct rd_qp_past *past = s->views->v[i].past;
	bool packets = p->now * seconds(s->mono_ns, f->sample_ns) >= 2 && !past->psn_fell;
	uint64_t first = f->sample_ns, last = s->mono_ns;
	double gbps = s->gbps[qp->dev];

	if (rd_qp_has_failed(qp)) {
		p->news = p->health < DEAD &&
			  (p->health == SUSPECT || s->views->v[i].verdict->cause == RD_QP_CAUSE_RETRIES ||
			   !has_link(s->views->res, qp->dev));
		if (p->health < DEAD)
			p->health = CLOSED;
		if (past->age_max_seconds.known == RD_OK) {
			last -= (uint64_t)(past->age_seconds.v * 1e9);
			first = s->mono_ns - (uint64_t)(past->age_max_seconds.v * 1e9);
		}
		if (p->news)
			set_died(p, first, last);
	} else if (packets && p->now > LOST * p->usual) {
		p->health = HEALTHY;
		p->busy_from_ns = f->sample_ns;
		p->busy_ns = s->mono_ns;
		/* In the interval of the failure there was less. */
		if (gbps >= 0)
			p->gbps += gbps < p->gbps ? WEIGHT * (gbps - p->gbps) : gbps - p->gbps;
	} else if (p->health == HEALTHY && p->usual > 0 && is_suspect(s->views, i)) {
		p->health = SUSPECT;
	}
}

/* `at`: where the search among those of the sample before goes on. */
static void take_path(struct rd_failover *f, const struct rd_failover_sample *s, size_t i, size_t *at, struct paths *now)
{
	const struct rd_res *res = s->views->res;
	const struct rd_qp *qp = &res->qps[i];
	const struct rd_qp_past *past = s->views->v[i].past;
	struct path one = { .lqpn = qp->lqpn.v,
			    .dev_index = res->devs[qp->dev].index,
			    .pid = qp->owner.pid.v,
			    .rqpn = qp->rqpn.known == RD_OK ? qp->rqpn.v : 0,
			    .first_ns = s->mono_ns,
			    .gbps = -1,
			    .health = rd_qp_has_failed(qp) ? CLOSED : HEALTHY };
	struct path *old, *p;

	while (*at < f->paths.n &&
	       RD_FIRST(RD_CMP(f->paths.v[*at].dev_index, one.dev_index), RD_CMP(f->paths.v[*at].lqpn, one.lqpn)) < 0)
		++*at;
	/* Numbers are reused. */
	old = *at < f->paths.n ? &f->paths.v[*at] : NULL;
	if (old && (old->dev_index != one.dev_index || old->lqpn != one.lqpn || old->pid != one.pid ||
		    (old->rqpn && one.rqpn && old->rqpn != one.rqpn)))
		old = NULL;
	snprintf(one.ibdev, sizeof(one.ibdev), "%s", res->devs[qp->dev].name);
	rd_reserve(&now->v, &now->cap, now->n + 1, sizeof(*now->v));
	p = &now->v[now->n++];
	*p = old ? *old : one;
	p->dev = qp->dev;
	p->proc = qp->proc;
	p->news = p->kept = false;
	p->now = past->psn_per_second.known == RD_OK ? past->psn_per_second.v : 0;
	p->has_peer = p->has_peer || rd_qp_peer(s->views, i, p->peer);
	p->giveup = giveup_of(s->views, i);
	if (!old)
		return;
	old->kept = true;
	judge_path(f, s, i, p);
}

static bool is_of(const struct path *p, const struct failure *failure)
{
	return p->pid == failure->last.pid && strcmp(p->ibdev, failure->last.ibdev) == 0;
}

/* The failure that the path belongs to, which is created if there is none; NULL: too many. */
static struct failure *need_failure(struct rd_failover *f, const struct path *p)
{
	struct failure *ret;

	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].stage != RETURNED && is_of(p, &f->v[i]))
			return &f->v[i];
	if (f->n >= FAILURES_MAX)
		return NULL;
	rd_reserve(&f->v, &f->cap, f->n + 1, sizeof(*f->v));
	ret = &f->v[f->n++];
	*ret = (struct failure){ .last = { .pid = p->pid } };
	memcpy(ret->last.ibdev, p->ibdev, sizeof(p->ibdev));
	return ret;
}

/* "mlx5_0: 2 queue pairs …". Caller frees. */
static char *text_of(const struct rd_failover_event *e)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	bool is_v6 = memcmp(e->peer, v4, sizeof(v4)) != 0;
	_cleanup_free_ char *more = NULL;
	char peer[46] = "an unknown peer";

	switch (e->kind) {
	case RD_FAILOVER_DIED:
		if (e->has_peer)
			rd_ip_text(is_v6, is_v6 ? e->peer : e->peer + 12, peer);
		if (e->most.known == RD_OK)
			more = rd_text("its timeout and retry_cnt take %.3g to %.3g s%s", e->least.v, e->most.v,
				       e->detected_max.v < e->least.v ? "; sooner, by an error or by its program" :
				       e->detected.v > e->most.v      ? "; later" :
									"");
		return rd_text(
			"%s: %zu queue pair%s of process %u to %s died %.1f to %.1f s after the last packet, first: QP %u; %s",
			e->ibdev, e->qps, e->qps == 1 ? "" : "s", e->pid, peer, e->detected.v, e->detected_max.v,
			e->lqpn, more ? more : "its timeout and retry_cnt are unknown, or never end");
	case RD_FAILOVER_MOVED:
		more = e->gbps.known == RD_OK ? rd_text("%.3g Gbit/s", e->gbps.v) : rd_dup("a rate that is unknown");
		return rd_text("%s: traffic of process %u moved to %s at most %.1f s after the last packet: %s; %s",
			       e->ibdev, e->pid, e->to, e->after.v, more,
			       e->expected_backup.known != RD_OK ? "unknown whether nic-map's backup" :
			       e->expected_backup.v		 ? "the backup that nic-map names" :
								   "not the backup that nic-map names");
	case RD_FAILOVER_BACK:
		return rd_text("%s is back: %s", e->ibdev,
			       e->rebuilt.v ? "its queue pairs were rebuilt" : "its port has a link");
	default:
		return rd_text(
			"%s has been back for %.0f s, and traffic of process %u stays on %s; queue pairs were %srebuilt",
			e->ibdev, STAYS_SECONDS, e->pid, e->to, e->rebuilt.v ? "" : "not ");
	}
}

/* The text is added at the end of the sample. */
static struct rd_failover_event *add_event(struct failure *failure, enum rd_failover_kind kind,
					   struct rd_failover_events *ret)
{
	struct rd_failover_event *e;

	rd_reserve(&ret->v, &ret->cap, ret->n + 1, sizeof(*ret->v));
	e = &ret->v[ret->n++];
	*e = (struct rd_failover_event){ .kind = kind, .pid = failure->last.pid };
	memcpy(e->ibdev, failure->last.ibdev, sizeof(e->ibdev));
	memcpy(e->to, failure->last.to, sizeof(e->to));
	if (kind != RD_FAILOVER_DIED)
		RD_COPY(e->gbps_before, failure->last.gbps_before);
	return e;
}

static void set_first_qp(struct rd_failover_event *e, const struct path *p)
{
	if (e->qps++)
		return;
	e->lqpn = p->lqpn;
	e->has_peer = p->has_peer;
	memcpy(e->peer, p->peer, sizeof(e->peer));
}

/* Adds a path that died to the event of its NIC, process and peer. */
static void report_death(struct rd_failover *f, const struct path *p, size_t first, struct rd_failover_events *ret)
{
	struct failure *failure = need_failure(f, p);
	struct rd_failover_event *e = NULL;

	if (!failure)
		return;
	if (failure->stage == SUSPECTED)
		failure->stage = WAITING;
	failure->lost += p->usual;
	if (p->busy_ns > failure->silent_ns)
		failure->silent_ns = p->busy_ns;
	if (p->gbps >= 0)
		RD_SET(failure->last.gbps_before, p->gbps);
	for (size_t i = first; i < ret->n && !e; i++)
		if (ret->v[i].kind == RD_FAILOVER_DIED && ret->v[i].has_peer == p->has_peer &&
		    memcmp(ret->v[i].peer, p->peer, sizeof(p->peer)) == 0 && ret->v[i].pid == p->pid &&
		    strcmp(ret->v[i].ibdev, p->ibdev) == 0)
			e = &ret->v[i];
	if (!e && ret->n - first >= EVENTS_MAX)
		return;
	if (!e) {
		e = add_event(failure, RD_FAILOVER_DIED, ret);
		RD_SET(e->detected, p->died_from);
		RD_SET(e->detected_max, p->died_to);
		RD_COPY(e->least, p->giveup.ack_least);
		RD_COPY(e->most, p->giveup.ack_most);
	}
	set_first_qp(e, p);
	e->detected.v = p->died_from < e->detected.v ? p->died_from : e->detected.v;
	e->detected_max.v = p->died_to > e->detected_max.v ? p->died_to : e->detected_max.v;
}

/* What its traffic would be if nothing had failed: kept while the process as a whole is silent, as long as its timers take. */
static void update_usual(const struct rd_res *res, uint64_t mono_ns, struct paths *now)
{
	struct of_proc {
		double now, usual, longest;
		uint64_t busy_ns;
	} *procs = rd_alloc(res->n_procs + 1, sizeof(*procs));

	for (size_t i = 0; i < now->n; i++) {
		const struct path *p = &now->v[i];
		struct of_proc *proc = &procs[p->proc];
		double most = p->giveup.ack_most.known == RD_OK ? p->giveup.ack_most.v : SILENT_SECONDS;

		proc->now += p->now;
		proc->usual += p->usual;
		proc->longest = most > proc->longest ? most : proc->longest;
		proc->busy_ns = p->busy_ns > proc->busy_ns ? p->busy_ns : proc->busy_ns;
	}
	for (size_t i = 0; i < now->n; i++) {
		struct path *p = &now->v[i];
		const struct of_proc *proc = &procs[p->proc];

		if (p->health == HEALTHY &&
		    (proc->now >= LOST * proc->usual || seconds(mono_ns, proc->busy_ns) >= proc->longest))
			p->usual = p->usual > 0 ? p->usual + WEIGHT * (p->now - p->usual) : p->now;
	}
	free(procs);
}

/* The device over which the process continues; -1: none. */
static int successor_of(const struct rd_res *res, const struct paths *now, const struct failure *failure)
{
	struct of_dev {
		double now, usual;
	} *devs = rd_alloc(res->n_devs + 1, sizeof(*devs));
	double most = 0, lost = failure->lost;
	int ret = -1;

	for (size_t i = 0; i < now->n; i++) {
		const struct path *p = &now->v[i];

		if (is_of(p, failure)) {
			lost += p->health == SUSPECT ? p->usual : 0;
		} else if (p->pid == failure->last.pid && p->health == HEALTHY) {
			devs[p->dev].now += p->busy_ns > failure->silent_ns ? p->now : 0;
			devs[p->dev].usual += p->usual;
		}
	}
	for (size_t d = 0; d < res->n_devs && lost > 0; d++) {
		double gain = devs[d].now - devs[d].usual;
		bool woke = devs[d].now > WOKEN * devs[d].usual && gain > LOST * LOST * lost;

		if (gain <= most || !(woke || gain > GAINED * lost))
			continue;
		most = gain;
		ret = (int)d;
	}
	free(devs);
	return ret;
}

static void report_move(struct rd_failover *f, const struct rd_failover_sample *s, struct paths *now, size_t at, int to,
			size_t first, struct rd_failover_events *ret)
{
	struct failure *failure = &f->v[at];
	struct rd_failover_event *e;

	/* Its program did not wait for the end of the retries. */
	for (size_t i = 0; i < now->n; i++) {
		if (now->v[i].health != SUSPECT || !is_of(&now->v[i], failure))
			continue;
		set_died(&now->v[i], f->sample_ns, s->mono_ns);
		report_death(f, &now->v[i], first, ret);
	}
	failure->stage = MOVED;
	snprintf(failure->last.to, sizeof(failure->last.to), "%s", s->views->res->devs[to].name);
	e = add_event(failure, RD_FAILOVER_MOVED, ret);
	RD_SET(e->after, seconds(s->mono_ns, failure->silent_ns));
	if (s->gbps[to] >= 0)
		RD_SET(e->gbps, s->gbps[to]);
	if (is_planned(s, e->ibdev, e->to, &e->expected_backup.v))
		e->expected_backup.known = RD_OK;
	for (size_t i = 0; i < now->n; i++)
		if (now->v[i].dev == to && now->v[i].pid == e->pid && now->v[i].busy_ns == s->mono_ns)
			set_first_qp(e, &now->v[i]);
}

/* Whether the NIC that failed has a link again, or new queue pairs; and whether these have traffic. */
static void follow_return(const struct rd_failover_sample *s, const struct paths *now, struct failure *failure,
			  struct rd_failover_events *ret)
{
	const struct rd_res *res = s->views->res;
	int dev = rd_res_find_dev(res, failure->last.ibdev), to = rd_res_find_dev(res, failure->last.to);
	bool link = dev >= 0 && has_link(res, dev), rebuilt = false, busy = false;
	struct rd_failover_event *e;

	for (size_t i = 0; i < now->n; i++) {
		const struct path *p = &now->v[i];

		if (!is_of(p, failure) || p->health != HEALTHY || p->first_ns <= failure->silent_ns)
			continue;
		rebuilt = true;
		busy |= p->busy_ns == s->mono_ns;
	}
	failure->was_down |= !link;
	if (!failure->back_ns && ((failure->was_down && link) || rebuilt)) {
		failure->back_ns = s->mono_ns;
		e = add_event(failure, RD_FAILOVER_BACK, ret);
		RD_SET(e->rebuilt, rebuilt);
	}
	if (failure->back_ns && busy) {
		failure->stage = RETURNED;
	} else if (failure->back_ns && failure->stage == MOVED &&
		   seconds(s->mono_ns, failure->back_ns) >= STAYS_SECONDS) {
		failure->stage = STAYING;
		e = add_event(failure, RD_FAILOVER_STAYS, ret);
		RD_SET(e->rebuilt, rebuilt);
		if (to >= 0 && s->gbps[to] >= 0)
			RD_SET(e->gbps, s->gbps[to]);
	}
}

/* Begins failures of what is suspect, and forgets those that were none. */
static void update_suspected(struct rd_failover *f, const struct paths *now)
{
	size_t n = 0;

	for (size_t i = 0; i < now->n; i++) {
		struct failure *failure = now->v[i].health == SUSPECT ? need_failure(f, &now->v[i]) : NULL;

		if (failure && failure->stage == SUSPECTED && now->v[i].busy_ns > failure->silent_ns)
			failure->silent_ns = now->v[i].busy_ns;
	}
	for (size_t k = 0; k < f->n; k++) {
		bool keep = f->v[k].stage != SUSPECTED;

		for (size_t i = 0; i < now->n && !keep; i++)
			keep = now->v[i].health == SUSPECT && is_of(&now->v[i], &f->v[k]);
		if (keep)
			f->v[n++] = f->v[k];
	}
	f->n = n;
}

void rd_failover_update(struct rd_failover *f, const struct rd_failover_sample *s, struct rd_failover_events *ret)
{
	const struct rd_res *res = s->views->res;
	size_t first = ret->n, at = 0;
	struct paths now = { 0 };

	for (size_t i = 0; i < res->n_qps; i++)
		if (is_watched(&res->qps[i]))
			take_path(f, s, i, &at, &now);
	/* Those destroyed while they retried: their program did not wait for the end. */
	for (size_t i = 0; i < f->paths.n; i++) {
		struct path *p = &f->paths.v[i];

		if (p->kept || p->health != SUSPECT)
			continue;
		set_died(p, f->sample_ns, s->mono_ns);
		report_death(f, p, first, ret);
	}
	for (size_t i = 0; i < now.n; i++)
		if (now.v[i].news)
			report_death(f, &now.v[i], first, ret);
	update_suspected(f, &now);
	for (size_t k = 0; k < f->n; k++) {
		int to = f->v[k].stage <= WAITING ? successor_of(res, &now, &f->v[k]) : -1;

		if (to >= 0)
			report_move(f, s, &now, k, to, first, ret);
		if (f->v[k].stage >= WAITING && f->v[k].stage != RETURNED)
			follow_return(s, &now, &f->v[k], ret);
	}
	for (size_t i = first; i < ret->n; i++) {
		ret->v[i].text = text_of(&ret->v[i]);
		for (size_t k = 0; k < f->n; k++) {
			struct rd_failover_event *last = &f->v[k].last;

			if (last->pid != ret->v[i].pid || strcmp(last->ibdev, ret->v[i].ibdev) != 0)
				continue;
			free(last->text);
			last->text = rd_dup(ret->v[i].text);
		}
	}
	update_usual(res, s->mono_ns, &now);
	free(f->paths.v);
	f->paths = now;
	f->sample_ns = s->mono_ns;
}

void rd_failover_findings(const struct rd_failover *f, struct rd_findings *findings)
{
	for (size_t k = 0; k < f->n; k++)
		if (f->v[k].stage != SUSPECTED)
			add_finding(f->v[k].stage, f->v[k].last.ibdev, f->v[k].last.pid, rd_dup(f->v[k].last.text),
				    findings);
}

/* A connected queue pair, for counting. */
struct use {
	int proc, dev;
	bool has_peer;
	uint8_t peer[16];
	size_t at;
};

static int compare_uses(const void *pa, const void *pb)
{
	const struct use *a = pa, *b = pb;

	return RD_FIRST(RD_CMP(a->proc, b->proc), RD_CMP(a->dev, b->dev), RD_CMP(a->has_peer, b->has_peer),
			memcmp(a->peer, b->peer, sizeof(a->peer)), RD_CMP(a->at, b->at));
}

/* It cannot carry what another NIC loses. */
static bool is_unusable(const struct rd_qp_verdict *verdict)
{
	return verdict->trouble || verdict->kind == RD_QPV_FAILED || verdict->kind == RD_QPV_EXHAUSTED ||
	       verdict->kind == RD_QPV_CUT_OFF || verdict->kind == RD_QPV_STUCK || verdict->kind == RD_QPV_FLUSHED;
}

/* `before`: the one before it, of the same process and device; NULL: it is the first one. */
static void count_use(const struct rd_failover_sample *s, const struct use *before, const struct use *use,
		      struct rd_failover_path *path)
{
	struct rd_giveup giveup = giveup_of(s->views, use->at);

	path->qps++;
	path->unusable += is_unusable(s->views->v[use->at].verdict);
	path->peers.v += !before || memcmp(before->peer, use->peer, sizeof(use->peer)) != 0;
	path->for_ever |= giveup.ack_for_ever;
	/* Unknown of one: unknown of all. */
	if (!use->has_peer)
		path->peers.known = RD_ABSENT;
	if (giveup.ack_most.known != RD_OK)
		path->least.known = path->most.known = RD_ABSENT;
	if (giveup.ack_most.v > path->most.v) {
		path->least.v = giveup.ack_least.v;
		path->most.v = giveup.ack_most.v;
	}
}

/* The other NIC of the process: the one that nic-map names, or the only one. NULL: none, or unknown which. */
static const struct rd_failover_path *find_backup(const struct rd_failover_sample *s,
						  const struct rd_failover_paths *paths, struct rd_failover_path *path)
{
	const struct rd_res_dev *devs = s->views->res->devs;
	const struct rd_failover_path *other = NULL, *named = NULL;

	for (size_t k = 0; k < paths->n; k++) {
		bool planned;

		if (paths->v[k].proc != path->proc || &paths->v[k] == path)
			continue;
		other = path->others++ ? NULL : &paths->v[k];
		if (!is_planned(s, devs[path->dev].name, devs[paths->v[k].dev].name, &planned))
			continue;
		RD_SET(path->expected_backup, planned || path->expected_backup.v);
		named = planned ? &paths->v[k] : named;
	}
	other = named ? named : other;
	path->backup = other ? other->dev : -1;
	if (other)
		path->shared = shared_by(s->host, devs[path->dev].name, devs[other->dev].name);
	return other;
}

static void judge_before(const struct rd_failover_sample *s, const struct rd_failover_path *path,
			 const struct rd_failover_path *backup, struct rd_findings *findings)
{
	const char *ibdev = s->views->res->devs[path->dev].name;
	const char *to = backup ? s->views->res->devs[backup->dev].name : NULL;
	const struct rd_proc *proc = &s->views->res->procs[path->proc];
	uint32_t pid = proc->pid;

	if (!path->others && proc->devx_libs && *proc->devx_libs)
		return add_finding(UNCLEAR, ibdev, pid,
				   rd_text("queue pairs of %.200s, which are not listed", proc->devx_libs), findings);
	if (!path->others)
		return add_finding(NO_BACKUP, ibdev, pid, rd_text("connected queue pairs: %zu", path->qps), findings);
	if (!backup)
		return add_finding(UNCLEAR, ibdev, pid,
				   rd_text("which of its %zu other NICs is the backup", path->others), findings);
	if (backup->unusable)
		add_finding(UNUSABLE, ibdev, pid, rd_text("%zu of %zu on %s", backup->unusable, backup->qps, to),
			    findings);
	if (path->peers.known != RD_OK || backup->peers.known != RD_OK)
		add_finding(UNCLEAR, ibdev, pid, rd_text("peers of its queue pairs, or of those on %s", to), findings);
	else if (backup->peers.v < path->peers.v)
		add_finding(PEERS, ibdev, pid, rd_text("%zu peers, %zu via %s", path->peers.v, backup->peers.v, to),
			    findings);
	if (path->for_ever)
		add_finding(UNDETECTED, ibdev, pid, rd_text("timeout 0, or retry_cnt 7 of soft-RoCE"), findings);
	else if (path->most.known != RD_OK)
		add_finding(UNCLEAR, ibdev, pid, rd_text("timeout and retry_cnt of its queue pairs"), findings);
	if (path->shared && strcmp(path->shared, "card") == 0)
		add_finding(SHARED, ibdev, pid, rd_text("with %s", to), findings);
}

void rd_failover_before(const struct rd_failover_sample *s, const bool *chosen, struct rd_failover_paths *ret,
			struct rd_findings *findings)
{
	const struct rd_res *res = s->views->res;
	struct use *uses = rd_alloc(res->n_qps + 1, sizeof(*uses));
	size_t n = 0;

	for (size_t i = 0; i < res->n_qps; i++) {
		if (!is_watched(&res->qps[i]) || !chosen[i])
			continue;
		uses[n] = (struct use){ .proc = res->qps[i].proc, .dev = res->qps[i].dev, .at = i };
		uses[n].has_peer = rd_qp_peer(s->views, i, uses[n].peer);
		n++;
	}
	qsort(uses, n, sizeof(*uses), compare_uses);
	for (size_t i = 0; i < n; i++) {
		bool same = i && uses[i - 1].proc == uses[i].proc && uses[i - 1].dev == uses[i].dev;

		if (!same) {
			rd_reserve(&ret->v, &ret->cap, ret->n + 1, sizeof(*ret->v));
			ret->v[ret->n++] = (struct rd_failover_path){ .proc = uses[i].proc,
								      .dev = uses[i].dev,
								      .peers.known = RD_OK,
								      .least.known = RD_OK,
								      .most.known = RD_OK };
		}
		count_use(s, same ? &uses[i - 1] : NULL, &uses[i], &ret->v[ret->n - 1]);
	}
	free(uses);
	for (size_t i = 0; i < ret->n; i++)
		judge_before(s, &ret->v[i], find_backup(s, ret, &ret->v[i]), findings);
}
