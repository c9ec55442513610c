/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failing over: what there is for it, which paths died, and where their traffic went. */
#include "analyse/qp/qp-failover.h"

#include "analyse/qp/qp.h"
#include "analyse/shared/distance.h"
#include "analyse/shared/gid.h"
#include "base/fix.h"
#include "base/map.h"
#include "base/text.h"

#define NICS_MAX 1024	     /* of processes */
#define EVENTS_MAX 1024	     /* of one sample */
#define WEIGHT 0.2	     /* of an interval in the average of packets */
#define LOST 0.25	     /* of the usual rate: below that it is silent; a retransmission advances the PSN, too */
#define GAINED 0.5	     /* of the lost rate: that moved */
#define WOKEN 5.0	     /* times its usual rate: so did what a slower NIC took over */
#define SILENT_SECONDS 138.0 /* the longest that timeout 20 and retry_cnt 7 take; where the timers are unknown */
#define STAYS_SECONDS 10.0   /* after the NIC is back */
#define PORT_ARMED 3	     /* enum ib_port_state */

/* Of a NIC, by what happened; then what is missing before anything did. */
enum stage { FINE, WAITING, MOVED, STAYING, RETURNED, ALONE, UNUSABLE, PEERS, ENDLESS, LATE, ROUTE, SHARED, UNCLEAR };

/* A NIC of a process. */
struct nic {
	struct rd_failover_event last; /* .pid, .ibdev, .to, .after, .gbps_before, .expected_backup: also of the next one */
	enum stage stage;
	double lost; /* packets per second */
	double gbps; /* when it last had packets; below 0: unknown */
	uint64_t silent_ns,
		back_ns; /* the last sample in which what died, or is suspect, had packets; it was back in */
	bool was_down;
	bool stalled; /* in the sample before, its process as a whole was silent */
	/* Of its queue pairs in this sample. */
	struct {
		size_t n;
		double now, usual, suspect, longest; /* packets per second, of healthy ones, suspect ones; seconds */
		uint64_t busy_ns;
		bool rebuilt, used; /* there are new ones; they have packets */
		bool kept;	    /* its process is silent: what is usual stays */
	} sum;
};

/* A queue pair. */
struct path {
	struct nic *nic;
	uint32_t dev_index, lqpn, rqpn;
	bool has_peer, cut; /* its port lost its link while it had packets */
	uint8_t peer[16];
	enum { HEALTHY, SUSPECT, DEAD, CLOSED } health;
	uint64_t first_ns;		/* the first sample that had it */
	uint64_t busy_from_ns, busy_ns; /* the last interval with packets; 0: none yet */
	double now, usual;		/* packets per second */
	struct rd_giveup giveup;
};

struct paths {
	struct path *v;
	size_t n, cap;
	struct rd_map map; /* by device and number */
};

struct rd_failover {
	struct paths paths;
	struct nic **v;
	size_t n, cap;
	struct rd_failover_event *events;
	size_t n_events, cap_events;
	uint64_t sample_ns;
	size_t unwatched; /* queue pairs, in the last sample */
};

static const struct {
	struct rd_finding finding;
	const char *fix;
} kinds[] = {
	[WAITING] = { { "failover-none", "path died, and no other NIC took its traffic over",
			"the process waits for what was lost, or ends with an error", RD_SEV_CRITICAL },
		      "rdmadiag counters IBDEV --filter 'link*'" },
	[MOVED] = { { "failover-moved", "path died; its traffic moved to another NIC",
		      "that NIC carries the traffic of two, and a second failure has no backup", RD_SEV_WARNING },
		    "rdmadiag counters IBDEV --filter 'link*'\n# repair the path while the process runs on" },
	[STAYING] = { { "failover-stays", "NIC is back, but its traffic stays on another",
			"the process runs on with less bandwidth, and a second failure has no backup", RD_SEV_WARNING },
		      "rdmadiag counters IBDEV -i 1 -c 2\n# leave the process running: only it can rebuild its queue pairs" },
	[RETURNED] = { { "failover-returned", "path died; it was rebuilt and has traffic again",
			 "the process was silent until the failure was detected", RD_SEV_WARNING },
		       "rdmadiag counters IBDEV --filter 'link*'" },
	[ALONE] = { { "failover-no-backup", "process has queue pairs on one NIC only",
		      "if that NIC or its link fails, the process has no path left", RD_SEV_WARNING },
		    "rdmadiag nic-map --assignment" },
	[UNUSABLE] = { { "failover-unusable", "queue pairs on the backup NIC cannot be used",
			 "if the NIC fails, its traffic has nowhere to go", RD_SEV_WARNING },
		       "rdmadiag qp-state -i 1 -c 2" },
	[PEERS] = { { "failover-peers", "the backup NIC reaches fewer peers", "if the NIC fails, some peers are lost",
		      RD_SEV_WARNING },
		    "rdmadiag qp-state --by peer" },
	[ENDLESS] = { { "failover-undetected", "a dead path is never detected",
			"queue pairs retry without end: nothing fails over unless the program has a timer of its own",
			RD_SEV_WARNING },
		      "rdmadiag qp-state --timeouts" },
	[LATE] = { { "failover-late", "the watchdog of the library fires before a dead path is detected",
		     "the job ends although another NIC could take over", RD_SEV_NOTE },
		   "rdmadiag qp-state --timeouts" },
	[ROUTE] = { { "failover-route", "no route to peers over this NIC",
		      "no queue pair can connect to them over it; those of soft-RoCE cannot send", RD_SEV_WARNING },
		    "ip rule\nip route show table all\nip -6 route show table all" },
	[SHARED] = { { "failover-shared", "NIC and backup are on one card",
		       "they fail together: firmware, power and slot are shared", RD_SEV_WARNING },
		     "rdmadiag nic-map --assignment" },
	[UNCLEAR] = { { "failover-unknown", "not known whether the process can fail over",
			"what is not known may be what is missing", RD_SEV_UNKNOWN },
		      "# start rdmadiag qp-state --trace before the job, as root" },
};

/* Takes ownership of `observed`. */
static void add_finding(enum stage kind, const char *ibdev, uint32_t pid, char *observed, struct rd_findings *findings)
{
	rd_finding_put(findings, &kinds[kind].finding, pid ? rd_text("%s process %u", ibdev, pid) : rd_dup(ibdev),
		       observed, rd_fix_fill(kinds[kind].fix, &(struct rd_fix_word){ "IBDEV", ibdev }, 1));
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
		free(f->v[i]);
	rd_map_deinit(&f->paths.map);
	RD_FREE(f->paths.v, f->v, f->events, f);
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

/* What fails at once: a device, or a port of one that has several, as "mlx4_0/2". */
static void name_nic(const struct rd_res *res, const struct rd_qp *qp, char ret[64])
{
	const char *name = res->devs[qp->dev].name;
	size_t ports = 0;

	for (size_t i = 0; i < res->n_ports; i++)
		ports += res->ports[i].dev == qp->dev;
	if (ports > 1 && qp->port.known == RD_OK)
		snprintf(ret, 64, "%.50s/%u", name, qp->port.v);
	else
		snprintf(ret, 64, "%s", name);
}

/* Its device, or -1; `*port` 0: all of it. */
static int find_nic(const struct rd_res *res, const char *nic, uint32_t *port)
{
	size_t n = strcspn(nic, "/");
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)n, nic);
	if (!nic[n] || rd_parse_u32(nic + n + 1, RD_DECIMAL, UINT32_MAX, port) != 0)
		*port = 0;
	return rd_res_find_dev(res, name);
}

static bool is_port_of(const struct rd_host *host, int port, const char *nic)
{
	size_t n = strcspn(nic, "/");
	const char *name = port < 0 ? "" : rd_ibdev_label(host, host->ports[port].ibdev);
	uint32_t num;

	if (strlen(name) != n || strncmp(name, nic, n) != 0)
		return false;
	return !nic[n] ||
	       (rd_parse_u32(nic + n + 1, RD_DECIMAL, UINT32_MAX, &num) == 0 && num == host->ports[port].num);
}

/* Sets whether nic-map names `to` as a backup of `from`; false: it names none. */
static bool is_planned(const struct rd_failover_sample *s, const char *from, const char *to, bool *ret)
{
	const struct rd_choices *of[] = { &s->map->nvshmem, &s->map->nccl };
	bool named = false;

	*ret = false;
	for (size_t k = 0; k < RD_ARRAY_SIZE(of); k++)
		for (size_t i = 0; i < of[k]->n; i++) {
			const struct rd_choice *choice = &of[k]->v[i];
			size_t n = 0;

			while (n < choice->n_ports && !is_port_of(s->host, choice->ports[n], from))
				n++;
			if (n == choice->n_ports)
				continue;
			named |= choice->backup >= 0 || choice->library_backup >= 0;
			*ret |= is_port_of(s->host, choice->backup, to) ||
				is_port_of(s->host, choice->library_backup, to);
		}
	return named;
}

/* Its paths died, and it is not used again. */
static bool is_lost(const struct nic *nic)
{
	return nic->stage != FINE && nic->stage != RETURNED;
}

/* Whether a port of it has a link, or may have. */
static bool has_link(const struct rd_res *res, const char *nic)
{
	uint32_t num;
	int dev = find_nic(res, nic, &num);
	bool known = dev < 0;

	for (size_t i = 0; i < res->n_ports; i++) {
		const struct rd_res_port *port = &res->ports[i];

		if (port->dev != dev || (num && port->num != num) || port->state.known != RD_OK)
			continue;
		if (port->state.v >= PORT_ARMED || rd_qp_port_lacks_ipv4(res, port))
			return true;
		known = true;
	}
	return !known;
}

/* Something shows that its packets are lost, which a remote QP on this host that is gone does not: so jobs end. */
static bool is_suspect(const struct rd_qp_views *views, size_t i, const char *nic)
{
	const struct rd_qp_view *view = &views->v[i];
	const struct rd_qp *qp = &views->res->qps[i];

	return view->verdict->kind == RD_QPV_RETRYING || view->past->retried || !has_link(views->res, nic) ||
	       (qp->state.v == RD_QPS_RTS && views->notes && views->notes[qp->dev].retries);
}

/* Gbit/s; below 0: unknown, as that of one of several ports. */
static double rate_of(const struct rd_failover_sample *s, const char *nic)
{
	uint32_t port;
	int dev = find_nic(s->views->res, nic, &port);

	return dev < 0 || port ? -1 : s->gbps[dev];
}

static struct rd_failover_event *add_event(struct rd_failover *f, const struct rd_failover_sample *s,
					   const struct nic *nic, enum rd_failover_kind kind)
{
	struct rd_failover_event *e = RD_ADD(f->events, f->n_events, f->cap_events);
	double gbps = rate_of(s, nic->last.to);

	*e = nic->last;
	e->kind = kind;
	e->qps = 0;
	e->has_peer = false;
	e->detected.known = e->least.known = e->most.known = e->gbps.known = RD_ABSENT;
	e->rebuilt = nic->sum.rebuilt;
	if (gbps >= 0)
		RD_SET(e->gbps, gbps);
	return e;
}

/* Also that of the finding at the end. */
static RD_PRINTF(3, 4) void set_text(struct nic *nic, struct rd_failover_event *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	memcpy(nic->last.text, e->text, sizeof(e->text));
}

static void count_qp(struct rd_failover_event *e, const struct path *p)
{
	if (e->qps++)
		return;
	e->lqpn = p->lqpn;
	e->has_peer = p->has_peer;
	memcpy(e->peer, p->peer, sizeof(e->peer));
}

static void describe_death(struct nic *nic, struct rd_failover_event *e)
{
	_cleanup_free_ char *bounds = e->most.known == RD_OK ? rd_text("%.3g to %.3g s", e->least.v, e->most.v) : NULL;
	char peer[46] = "an unknown peer";
	_cleanup_free_ char *when = e->detected.known == RD_OK ? rd_text("%.1f to %.1f s after the last packet",
									 e->detected.v, e->detected_max) :
								 rd_dup("without a packet since this began");

	if (e->has_peer)
		rd_qp_gid_ip(e->peer, peer);
	set_text(nic, e,
		 "%s: %zu queue pair%s of process %u to %s died %s, first: QP %u; its timeout and retry_cnt take %s%s",
		 e->ibdev, e->qps, e->qps == 1 ? "" : "s", e->pid, peer, when, e->lqpn,
		 bounds ?: "a time that is unknown, or no end",
		 !bounds || e->detected.known != RD_OK ? "" :
		 e->detected_max < e->least.v	       ? "; sooner, by an error or by its program" :
		 e->detected.v > e->most.v	       ? "; later" :
							 "");
}

/* It failed between these times: adds it to the event of its NIC, process and peer. */
static void report_death(struct rd_failover *f, const struct rd_failover_sample *s, struct path *p, uint64_t first_ns,
			 uint64_t last_ns)
{
	double least = seconds(first_ns, p->busy_ns), most = seconds(last_ns, p->busy_from_ns);
	struct rd_failover_event *e = NULL;
	struct nic *nic = p->nic;

	p->health = DEAD;
	if (!is_lost(nic)) {
		nic->stage = WAITING;
		nic->last.gbps_before.known = nic->gbps >= 0 ? RD_OK : RD_ABSENT;
		nic->last.gbps_before.v = nic->gbps;
	}
	nic->lost += p->usual;
	nic->silent_ns = p->busy_ns > nic->silent_ns ? p->busy_ns : nic->silent_ns;
	for (size_t i = 0; i < f->n_events && !e; i++)
		if (f->events[i].kind == RD_FAILOVER_DIED && f->events[i].has_peer == p->has_peer &&
		    memcmp(f->events[i].peer, p->peer, sizeof(p->peer)) == 0 && f->events[i].pid == nic->last.pid &&
		    strcmp(f->events[i].ibdev, nic->last.ibdev) == 0)
			e = &f->events[i];
	if (!e && f->n_events >= EVENTS_MAX)
		return;
	if (!e) {
		e = add_event(f, s, nic, RD_FAILOVER_DIED);
		RD_COPY(e->least, p->giveup.ack_least);
		RD_COPY(e->most, p->giveup.ack_most);
	}
	count_qp(e, p);
	/* One of a backup may never have had a packet. */
	if (p->busy_ns && (e->detected.known != RD_OK || least < e->detected.v))
		RD_SET(e->detected, least);
	if (p->busy_ns && most > e->detected_max)
		e->detected_max = most;
	describe_death(nic, e);
}

static double longest_silence(const struct path *p)
{
	return p->giveup.ack_most.known == RD_OK ? p->giveup.ack_most.v : SILENT_SECONDS;
}

/* What the sample shows of a queue pair that existed before. */
static void judge_path(struct rd_failover *f, const struct rd_failover_sample *s, size_t i, struct path *p)
{
	const struct rd_qp *qp = &s->views->res->qps[i];
	const struct rd_qp_past *past = s->views->v[i].past;
	bool packets = p->now * seconds(s->mono_ns, f->sample_ns) >= 2 && !past->psn_fell;
	uint64_t first = f->sample_ns, last = s->mono_ns;

	if (rd_qp_has_failed(qp)) {
		if (past->age_max_seconds.known == RD_OK) {
			last -= (uint64_t)(past->age_seconds.v * 1e9);
			first = s->mono_ns - (uint64_t)(past->age_max_seconds.v * 1e9);
		}
		if (p->health == SUSPECT ||
		    (p->health == HEALTHY && (s->views->v[i].verdict->cause == RD_QP_CAUSE_RETRIES ||
					      !has_link(s->views->res, p->nic->last.ibdev))))
			report_death(f, s, p, first, last);
		else if (p->health == HEALTHY)
			p->health = CLOSED;
	} else if (packets && p->now > LOST * p->usual) {
		p->health = HEALTHY;
		p->busy_from_ns = f->sample_ns;
		p->busy_ns = s->mono_ns;
	} else if (p->health == HEALTHY && p->usual > 0 && is_suspect(s->views, i, p->nic->last.ibdev)) {
		p->health = SUSPECT;
		p->cut = p->busy_ns == f->sample_ns && !has_link(s->views->res, p->nic->last.ibdev);
	} else if (p->health == SUSPECT && p->cut && !has_link(s->views->res, p->nic->last.ibdev) &&
		   seconds(s->mono_ns, p->busy_ns) > longest_silence(p)) {
		/* A responder does not fail: its peer has given up by now. */
		report_death(f, s, p, first, last);
	}
}

/* NULL: too many. */
static struct nic *need_nic(struct rd_failover *f, uint32_t pid, const char *ibdev)
{
	struct nic *ret;

	for (size_t k = 0; k < f->n; k++)
		if (f->v[k]->last.pid == pid && strcmp(f->v[k]->last.ibdev, ibdev) == 0)
			return f->v[k];
	if (f->n >= NICS_MAX)
		return NULL;
	ret = rd_alloc(1, sizeof(*ret));
	*ret = (struct nic){ .last.pid = pid, .gbps = -1 };
	snprintf(ret->last.ibdev, sizeof(ret->last.ibdev), "%s", ibdev);
	*RD_ADD(f->v, f->n, f->cap) = ret;
	return ret;
}

static void sum_up(const struct path *p, const struct rd_failover_sample *s)
{
	double longest = longest_silence(p);
	struct nic *nic = p->nic;

	nic->sum.n++;
	nic->sum.longest = longest > nic->sum.longest ? longest : nic->sum.longest;
	nic->sum.busy_ns = p->busy_ns > nic->sum.busy_ns ? p->busy_ns : nic->sum.busy_ns;
	if (p->health == HEALTHY) {
		nic->sum.now += p->now;
		nic->sum.usual += p->usual;
		nic->sum.rebuilt |= is_lost(nic) && p->first_ns > nic->silent_ns;
		nic->sum.used |= is_lost(nic) && p->first_ns > nic->silent_ns && p->busy_ns == s->mono_ns;
	} else if (p->health == SUSPECT) {
		nic->sum.suspect += p->usual;
		nic->silent_ns = p->busy_ns > nic->silent_ns ? p->busy_ns : nic->silent_ns;
	}
}

static void take_path(struct rd_failover *f, const struct rd_failover_sample *s, size_t i, struct paths *now)
{
	const struct rd_res *res = s->views->res;
	const struct rd_qp *qp = &res->qps[i];
	const struct rd_qp_past *past = s->views->v[i].past;
	uint32_t index = res->devs[qp->dev].index, rqpn = qp->rqpn.known == RD_OK ? qp->rqpn.v : 0;
	uint64_t hash = rd_hash(rd_hash(RD_HASH, &index, sizeof(index)), &qp->lqpn.v, sizeof(qp->lqpn.v));
	struct path *old = NULL, *p;
	char nic[64];

	/* Numbers are reused. */
	for (size_t probe = 0, at; (at = rd_map_next(&f->paths.map, hash, &probe)) != RD_MAP_END && !old;) {
		const struct path *o = &f->paths.v[at];

		if (o->dev_index == index && o->lqpn == qp->lqpn.v && o->nic->last.pid == qp->owner.pid.v &&
		    (!o->rqpn || !rqpn || o->rqpn == rqpn))
			old = &f->paths.v[at];
	}
	p = RD_ADD(now->v, now->n, now->cap);
	*p = (struct path){ .dev_index = index,
			    .lqpn = qp->lqpn.v,
			    .rqpn = rqpn,
			    .first_ns = s->mono_ns,
			    .health = rd_qp_has_failed(qp) ? CLOSED : HEALTHY };
	if (old)
		*p = *old;
	name_nic(res, qp, nic);
	if (!old)
		p->nic = need_nic(f, qp->owner.pid.v, nic);
	if (!p->nic) {
		f->unwatched++;
		now->n--;
		return;
	}
	rd_map_put(&now->map, hash, now->n - 1);
	p->now = past->psn_per_second.known == RD_OK ? past->psn_per_second.v : 0;
	p->has_peer = p->has_peer || rd_qp_peer(s->views, i, p->peer);
	p->giveup = rd_qp_giveup(rd_qp_timeouts(s->views, i));
	if (old) {
		old->health = CLOSED; /* it has not vanished */
		judge_path(f, s, i, p);
	}
	sum_up(p, s);
}

/* What its traffic would be if nothing had failed: kept while the process as a whole is silent, as long as its timers take. */
static void update_usual(const struct rd_failover *f, uint64_t mono_ns, struct paths *paths)
{
	for (size_t k = 0; k < f->n; k++) {
		double now = 0, usual = 0, longest = 0;
		uint64_t busy_ns = 0;

		for (size_t i = 0; i < f->n; i++) {
			const struct nic *of = f->v[i];

			if (of->last.pid != f->v[k]->last.pid)
				continue;
			now += of->sum.now;
			usual += of->sum.usual + of->sum.suspect;
			longest = of->sum.longest > longest ? of->sum.longest : longest;
			busy_ns = of->sum.busy_ns > busy_ns ? of->sum.busy_ns : busy_ns;
		}
		f->v[k]->sum.kept = f->v[k]->stalled = now < LOST * usual && seconds(mono_ns, busy_ns) < longest;
	}
	for (size_t i = 0; i < paths->n; i++) {
		struct path *p = &paths->v[i];

		if (p->health == HEALTHY && !p->nic->sum.kept)
			p->usual = p->usual > 0 ? p->usual + WEIGHT * (p->now - p->usual) : p->now;
	}
}

/* The NIC over which the process continues; NULL: none. */
static const struct nic *find_successor(const struct rd_failover *f, const struct nic *nic)
{
	double most = -1, lost = nic->lost + nic->sum.suspect;
	const struct nic *ret = NULL;

	for (size_t k = 0; k < f->n && lost > 0; k++) {
		const struct nic *to = f->v[k];
		double gain = to->sum.now - to->sum.usual;
		bool woke = to->sum.now > WOKEN * to->sum.usual && gain > LOST * LOST * lost;
		/* A NIC that had all it can carry has no more than that. */
		bool resumed = is_lost(nic) && to->stalled && to->sum.usual > LOST * lost &&
			       to->sum.now > GAINED * to->sum.usual;

		double weight = woke || gain > GAINED * lost ? gain : resumed ? 0 : -1;

		if (to == nic || to->last.pid != nic->last.pid || weight <= most)
			continue;
		most = weight;
		ret = to;
	}
	return ret;
}

static void report_move(struct rd_failover *f, const struct rd_failover_sample *s, struct nic *nic,
			const struct nic *to, struct paths *now)
{
	double gbps = rate_of(s, to->last.ibdev);
	_cleanup_free_ char *rate = gbps >= 0 ? rd_text("%.3g Gbit/s", gbps) : NULL;
	struct rd_failover_event *e;

	/* Its program did not wait for the end of the retries. */
	for (size_t i = 0; i < now->n; i++)
		if (now->v[i].health == SUSPECT && now->v[i].nic == nic)
			report_death(f, s, &now->v[i], f->sample_ns, s->mono_ns);
	nic->stage = MOVED;
	memcpy(nic->last.to, to->last.ibdev, sizeof(nic->last.to));
	RD_SET(nic->last.after, seconds(s->mono_ns, nic->silent_ns));
	/* Where no NIC gained, which one has what was lost is unknown. */
	if (to->sum.now - to->sum.usual > LOST * LOST * nic->lost &&
	    is_planned(s, nic->last.ibdev, nic->last.to, &nic->last.expected_backup.v))
		nic->last.expected_backup.known = RD_OK;
	e = add_event(f, s, nic, RD_FAILOVER_MOVED);
	for (size_t i = 0; i < now->n; i++)
		if (now->v[i].nic == to && now->v[i].busy_ns == s->mono_ns)
			count_qp(e, &now->v[i]);
	set_text(nic, e, "%s: traffic of process %u moved to %s at most %.1f s after the last packet: %s; %s", e->ibdev,
		 e->pid, e->to, e->after.v, rate ?: "a rate that is unknown",
		 e->expected_backup.known != RD_OK ? "unknown whether nic-map's backup" :
		 e->expected_backup.v		   ? "the backup that nic-map names" :
						     "not the backup that nic-map names");
}

/* Whether the NIC that failed has a link again, or new queue pairs; and whether these have traffic. */
static void follow_return(struct rd_failover *f, const struct rd_failover_sample *s, struct nic *nic)
{
	bool link = has_link(s->views->res, nic->last.ibdev);

	nic->was_down |= !link;
	if (!link && !nic->sum.rebuilt)
		nic->back_ns = 0;
	if (!nic->back_ns && ((nic->was_down && link) || nic->sum.rebuilt)) {
		nic->back_ns = s->mono_ns;
		set_text(nic, add_event(f, s, nic, RD_FAILOVER_BACK), "%s is back: %s", nic->last.ibdev,
			 nic->sum.rebuilt ? "its queue pairs were rebuilt" : "its port has a link");
	}
	if (nic->back_ns && nic->sum.used) {
		nic->stage = RETURNED;
		nic->lost = 0;
		nic->back_ns = 0;
		nic->was_down = false;
		nic->last.to[0] = '\0';
		nic->last.after.known = nic->last.expected_backup.known = RD_ABSENT;
	} else if (nic->back_ns && nic->stage == MOVED && seconds(s->mono_ns, nic->back_ns) >= STAYS_SECONDS) {
		nic->stage = STAYING;
		set_text(
			nic, add_event(f, s, nic, RD_FAILOVER_STAYS),
			"%s has been back for %.0f s, and traffic of process %u stays on %s; queue pairs were %srebuilt",
			nic->last.ibdev, STAYS_SECONDS, nic->last.pid, nic->last.to, nic->sum.rebuilt ? "" : "not ");
	}
}

const struct rd_failover_event *rd_failover_update(struct rd_failover *f, const struct rd_failover_sample *s, size_t *n)
{
	const struct rd_res *res = s->views->res;
	struct paths now = { 0 };
	size_t kept = 0;

	f->n_events = f->unwatched = 0;
	for (size_t k = 0; k < f->n; k++)
		memset(&f->v[k]->sum, 0, sizeof(f->v[k]->sum));
	for (size_t i = 0; i < res->n_qps; i++)
		if (is_watched(&res->qps[i]))
			take_path(f, s, i, &now);
	/* Those destroyed while they retried: their program did not wait for the end; or with their device. Jobs that end do both. */
	for (size_t i = 0; i < f->paths.n; i++) {
		struct path *p = &f->paths.v[i];
		uint32_t port;
		int dev = find_nic(res, p->nic->last.ibdev, &port);
		bool lives = false;

		for (size_t k = 0; k < f->n && p->health != CLOSED; k++)
			lives |= f->v[k]->last.pid == p->nic->last.pid && f->v[k]->sum.n;
		if ((p->health == SUSPECT && (lives || !has_link(res, p->nic->last.ibdev))) ||
		    (p->health == HEALTHY && p->usual > 0 && lives && dev < 0))
			report_death(f, s, p, f->sample_ns, s->mono_ns);
	}
	for (size_t k = 0; k < f->n; k++) {
		struct nic *nic = f->v[k];
		double gbps = nic->sum.busy_ns == s->mono_ns ? rate_of(s, nic->last.ibdev) : -1;
		const struct nic *to = nic->stage != MOVED && nic->stage != STAYING ? find_successor(f, nic) : NULL;

		if (to)
			report_move(f, s, nic, to, &now);
		if (is_lost(nic))
			follow_return(f, s, nic);
		/* In the interval of the failure there is less. */
		if (gbps >= 0)
			nic->gbps += gbps < nic->gbps ? WEIGHT * (gbps - nic->gbps) : gbps - nic->gbps;
	}
	update_usual(f, s->mono_ns, &now);
	for (size_t k = 0; k < f->n; k++) {
		if (f->v[k]->sum.n || f->v[k]->stage != FINE)
			f->v[kept++] = f->v[k];
		else
			free(f->v[k]);
	}
	f->n = kept;
	free(f->paths.v);
	rd_map_deinit(&f->paths.map);
	f->paths = now;
	f->sample_ns = s->mono_ns;
	*n = f->n_events;
	return f->events;
}

void rd_failover_findings(const struct rd_failover *f, struct rd_findings *findings)
{
	for (size_t k = 0; k < f->n; k++)
		if (f->v[k]->stage != FINE)
			add_finding(f->v[k]->stage, f->v[k]->last.ibdev, f->v[k]->last.pid, rd_dup(f->v[k]->last.text),
				    findings);
	if (f->unwatched)
		add_finding(UNCLEAR, "processes", 0,
			    rd_text("%zu queue pairs of more than %d NICs of processes", f->unwatched, NICS_MAX),
			    findings);
}

/* A connected queue pair, for counting. */
struct use {
	int proc, dev;
	char nic[64];
	bool has_peer;
	uint8_t peer[16];
	size_t at;
};

static int compare_uses(const void *pa, const void *pb)
{
	const struct use *a = pa, *b = pb;

	return RD_FIRST(RD_CMP(a->proc, b->proc), RD_CMP(a->dev, b->dev), strcmp(a->nic, b->nic),
			RD_CMP(a->has_peer, b->has_peer), memcmp(a->peer, b->peer, sizeof(a->peer)),
			RD_CMP(a->at, b->at));
}

/* Whether the host has a route from the GID of a queue pair to its peer: 1, 0; -1: unknown, or a path without IP addresses. */
static int find_route(const struct rd_failover_sample *s, const struct use *use)
{
	const struct rd_qp *qp = &s->views->res->qps[use->at];
	struct rd_qp_seen attrs = rd_qp_attributes(&s->views->v[use->at]);
	int dev = rd_host_find_ibdev(s->host, s->views->res->devs[use->dev].name);

	for (size_t p = 0; s->route && use->has_peer && dev >= 0 && p < s->host->n_ports; p++) {
		const struct rd_port *port = &s->host->ports[p];
		const struct rd_gid *own = port->ibdev == dev && port->num == qp->port.v &&
							   attrs.sgid_index.known == RD_OK ?
						   rd_gid_at(port, attrs.sgid_index.v) :
						   NULL;

		/* Interfaces of other network namespaces have names that mean others here, and routes of their own. */
		if (own && own->type == RD_GID_ROCE_V2 && !port->netns_other && !port->foreign_gids &&
		    (!attrs.has_sgid || !memcmp(attrs.sgid, own->raw, 16)))
			return s->route(s->arg, own, use->peer);
	}
	return -1;
}

/* PyTorch ends a process whose collective takes longer than the timeout of its process group: torch.distributed.init_process_group, 10
 * minutes since 2.2 with NCCL; DeepSpeed takes minutes from a variable (deepspeed/constants.py). */
static void find_watchdog(const struct rd_failover_sample *s, struct rd_failover_path *path)
{
	static const char minutes[] = "DEEPSPEED_TIMEOUT=";
	size_t size = 0;
	_cleanup_free_ char *env = s->environ ? s->environ(s->arg, s->views->res->procs[path->proc].pid, &size) : NULL;
	bool set = false;
	uint32_t value = 0;

	for (const char *entry = env; env && entry < env + size; entry += strlen(entry) + 1) {
		if (strcmp(entry, "TORCH_NCCL_ASYNC_ERROR_HANDLING=0") == 0) {
			path->watchdog.known = RD_ABSENT;
			return;
		}
		if (strncmp(entry, minutes, strlen(minutes)) == 0) {
			set = rd_parse_u32(entry + strlen(minutes), RD_DECIMAL, UINT32_MAX, &value) == 0;
			path->watchdog.known = set ? RD_OK : RD_ABSENT;
			path->watchdog.v = value * 60.0;
		} else if (!set && (strncmp(entry, "TORCHELASTIC_RUN_ID=", 20) == 0 ||
				    strncmp(entry, "TORCH_NCCL_", 11) == 0)) {
			RD_SET(path->watchdog, 600);
		}
	}
}

/* `before`: the one before it, of the same process and device; NULL: it is the first one. */
static void count_use(const struct rd_failover_sample *s, const struct use *before, const struct use *use,
		      struct rd_failover_path *path)
{
	const struct rd_qp_verdict *verdict = s->views->v[use->at].verdict;
	struct rd_giveup giveup = rd_qp_giveup(rd_qp_timeouts(s->views, use->at));

	path->qps++;
	/* It cannot carry what another NIC loses. */
	if ((verdict->trouble || (verdict->kind >= RD_QPV_FAILED && verdict->kind <= RD_QPV_STUCK) ||
	     verdict->kind == RD_QPV_FLUSHED) &&
	    !path->unusable++)
		path->why = verdict->why;
	if (!before || memcmp(before->peer, use->peer, sizeof(use->peer)) != 0) {
		int route = find_route(s, use);

		path->peers.v++;
		if (route == 0 && path->unrouted.v++ == 0)
			memcpy(path->no_route, use->peer, sizeof(use->peer));
		else if (route < 0)
			path->unrouted.known = RD_ABSENT;
	}
	if (!use->has_peer)
		path->peers.known = RD_ABSENT;
	if (!rd_qp_times_out(&s->views->res->qps[use->at]))
		return;
	path->for_ever |= giveup.ack_for_ever;
	/* Unknown of one: unknown of all. */
	if (giveup.ack_most.known != RD_OK)
		path->least.known = path->most.known = RD_ABSENT;
	if (giveup.ack_most.v > path->most.v) {
		path->least.v = giveup.ack_least.v;
		path->most.v = giveup.ack_most.v;
	}
}

/* "card", or the path between them as nic-map names it; NULL: unknown. */
static const char *shared_by(const struct rd_host *host, const char *a, const char *b)
{
	int da = rd_host_find_ibdev(host, a), db = rd_host_find_ibdev(host, b);
	int pa = da < 0 ? -1 : host->ibdevs[da].pci, pb = db < 0 ? -1 : host->ibdevs[db].pci;

	if (pa < 0 || pb < 0)
		return NULL;
	if (rd_pci_one_card(&host->pcis[pa], &host->pcis[pb]))
		return "card";
	return rd_path_name(rd_distance_pci(host, pa, pb, NULL));
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
		if (!is_planned(s, path->ibdev, paths->v[k].ibdev, &planned))
			continue;
		RD_SET(path->expected_backup, planned || path->expected_backup.v);
		named = planned ? &paths->v[k] : named;
	}
	other = named ? named : other;
	path->backup = other ? other->ibdev : NULL;
	if (other)
		path->shared = shared_by(s->host, devs[path->dev].name, devs[other->dev].name);
	return other;
}

static void judge_before(const struct rd_failover_sample *s, const struct rd_failover_path *path,
			 const struct rd_failover_path *backup, struct rd_findings *findings)
{
	const char *ibdev = path->ibdev, *to = path->backup;
	const struct rd_proc *proc = &s->views->res->procs[path->proc];
	bool hidden = proc->devx_libs && *proc->devx_libs;
	char peer[46];

	if (path->unrouted.v) {
		rd_qp_gid_ip(path->no_route, peer);
		add_finding(ROUTE, ibdev, proc->pid,
			    rd_text("%zu of %zu peers, first: %s", path->unrouted.v, path->peers.v, peer), findings);
	}
	if (path->watchdog.known == RD_OK && path->least.known == RD_OK && path->least.v > path->watchdog.v)
		add_finding(LATE, ibdev, proc->pid,
			    rd_text("at the earliest after %.3g s; watchdog: %.3g s, unless the program sets another",
				    path->least.v, path->watchdog.v),
			    findings);
	if (!backup)
		return add_finding(path->others || hidden ? UNCLEAR : ALONE, ibdev, proc->pid,
				   path->others ? rd_text("which of its %zu other NICs is the backup", path->others) :
				   hidden ? rd_text("queue pairs of %.200s, which are not listed", proc->devx_libs) :
					    rd_text("connected queue pairs: %zu", path->qps),
				   findings);
	if (backup->unusable)
		add_finding(UNUSABLE, ibdev, proc->pid,
			    rd_text("%zu of %zu on %s: %s", backup->unusable, backup->qps, to, backup->why), findings);
	if (path->peers.known != RD_OK || backup->peers.known != RD_OK)
		add_finding(UNCLEAR, ibdev, proc->pid, rd_text("peers of its queue pairs, or of those on %s", to),
			    findings);
	else if (backup->peers.v < path->peers.v)
		add_finding(PEERS, ibdev, proc->pid,
			    rd_text("%zu peers, %zu via %s", path->peers.v, backup->peers.v, to), findings);
	if (path->for_ever || path->most.known != RD_OK)
		add_finding(path->for_ever ? ENDLESS : UNCLEAR, ibdev, proc->pid,
			    rd_dup(path->for_ever ? "timeout 0, or retry_cnt 7 of soft-RoCE" :
						    "timeout and retry_cnt of its queue pairs"),
			    findings);
	if (path->shared && strcmp(path->shared, "card") == 0)
		add_finding(SHARED, ibdev, proc->pid, rd_text("with %s", to), findings);
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
		name_nic(res, &res->qps[i], uses[n].nic);
		uses[n].has_peer = rd_qp_peer(s->views, i, uses[n].peer);
		n++;
	}
	rd_sort(uses, n, sizeof(*uses), compare_uses);
	for (size_t i = 0; i < n; i++) {
		bool same = i && uses[i - 1].proc == uses[i].proc && uses[i - 1].dev == uses[i].dev &&
			    strcmp(uses[i - 1].nic, uses[i].nic) == 0;

		if (!same)
			*RD_ADD(ret->v, ret->n, ret->cap) =
				(struct rd_failover_path){ uses[i].proc,	 uses[i].dev,
							   .peers.known = RD_OK, .unrouted.known = RD_OK,
							   .least.known = RD_OK, .most.known = RD_OK };
		memcpy(ret->v[ret->n - 1].ibdev, uses[i].nic, sizeof(uses[i].nic));
		count_use(s, same ? &uses[i - 1] : NULL, &uses[i], &ret->v[ret->n - 1]);
	}
	free(uses);
	for (size_t i = 0; i < ret->n; i++) {
		/* None of its queue pairs sends requests. */
		if (ret->v[i].most.v <= 0)
			ret->v[i].least.known = ret->v[i].most.known = RD_ABSENT;
		find_watchdog(s, &ret->v[i]);
	}
	for (size_t i = 0; i < ret->n; i++)
		judge_before(s, &ret->v[i], find_backup(s, ret, &ret->v[i]), findings);
}
