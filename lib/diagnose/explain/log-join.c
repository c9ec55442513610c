/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/explain/log-join.h"

#include <arpa/inet.h>

#include "analyse/explain/log.h"
#include "diagnose/findings/findings.h"

/* Findings about the device of a line that are shown with it. */
#define FINDINGS_MOST 3

static void add_fact(struct rd_log_join *join, char *text)
{
	_cleanup_free_ char *owned = text;

	rd_texts_keep(&join->facts, owned, strlen(owned));
}

/* Of "gpu-a.example.org" and "gpu-a", the first parts are compared. */
static bool is_other_host(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return n != strcspn(b, ".") || strncasecmp(a, b, n) != 0;
}

/* The device of the line on this host: by its name, port's interface or PCI address. -1: the line names none; -2: none here. */
static int find_device(const struct rd_host *host, const struct rd_log_line *line)
{
	static const enum rd_log_field fields[] = { RD_LOG_IBDEV, RD_LOG_NETDEV, RD_LOG_PCI };

	for (size_t i = 0; i < RD_ARRAY_SIZE(fields); i++)
		if (line->values[fields[i]]) {
			int found = rd_subject_ibdev(host, line->values[fields[i]]);

			return found < 0 ? -2 : found;
		}
	return -1;
}

static void add_ports(const struct rd_host *host, int device, const struct rd_log_line *line, struct rd_log_join *join)
{
	const struct rd_ibdev *dev = &host->ibdevs[device];

	for (unsigned i = 0; i < dev->n_ports; i++) {
		const struct rd_port *port = &host->ports[(unsigned)dev->first_port + i];
		const char *netdev = port->n_netdevs ? host->netdevs[port->netdevs[0]].name : NULL;

		if (line->numbers[RD_LOG_PORT].known == RD_OK && line->numbers[RD_LOG_PORT].v != port->num)
			continue;
		add_fact(join, rd_text("%s/%u%s%s%s: %s", dev->name, port->num, netdev ? " (" : "", netdev ?: "",
				       netdev ? ")" : "", port->state ?: "state unknown"));
	}
}

static void add_qp(const struct rd_res *res, const char *ibdev, uint64_t number, struct rd_log_join *join)
{
	int dev = res && ibdev ? rd_res_find_dev(res, ibdev) : -1;
	size_t i = dev >= 0 && number <= 0xffffff ? rd_res_find_qp(res, dev, (uint32_t)number) : SIZE_MAX;
	char pid[32] = "";
	const struct rd_qp *qp;
	const char *owner, *state;

	if (dev < 0 || number > 0xffffff || res->devs[dev].gaps[RD_RES_QP].code)
		return;
	if (i >= res->n_qps) {
		add_fact(join, rd_text("queue pair %llu of %s is not in the kernel's list now: destroyed since, created "
				       "by user space alone (DEVX), or of another host",
				       (unsigned long long)number, ibdev));
		return;
	}
	qp = &res->qps[i];
	owner = rd_owner_name(res, &qp->owner, qp->proc);
	state = qp->state.known == RD_OK ? rd_qp_state_name(qp->state.v) : NULL;
	if (qp->owner.pid.known == RD_OK)
		snprintf(pid, sizeof(pid), " (pid %u)", qp->owner.pid.v);
	add_fact(join, rd_text("queue pair %llu of %s now: %s, of %s%s", (unsigned long long)number, ibdev,
			       state ?: "state unknown", owner ?: "an unknown process", pid));
}

static bool parse_address(const char *text, bool *v6, uint8_t ret[16])
{
	_cleanup_free_ char *v4 = rd_dup_part(text, strcspn(text, ":"));

	*v6 = false;
	if (inet_pton(AF_INET, v4, ret) == 1)
		return true;
	if (strncasecmp(text, "::ffff:", 7) == 0 && inet_pton(AF_INET, text + 7, ret) == 1)
		return true;
	*v6 = true;
	return inet_pton(AF_INET6, text, ret) == 1;
}

static void add_peer(const struct rd_netstate *net, const char *peer, struct rd_log_join *join)
{
	uint8_t address[16] = { 0 };
	bool v6;

	if (!peer || !net || !parse_address(peer, &v6, address))
		return;
	for (size_t i = 0; i < net->n_neighs; i++) {
		const struct rd_neigh *neigh = &net->neighs[i];
		const struct rd_netif *netif = rd_netstate_find(net, neigh->ifindex);

		if (neigh->v6 == v6 && memcmp(neigh->addr, address, v6 ? 16 : 4) == 0)
			add_fact(join,
				 rd_text("neighbour %s on %s: %s", peer, netif ? netif->name : "an interface",
					 neigh->state & RD_NEIGH_FAILED	    ? "FAILED: it does not respond" :
					 neigh->state & RD_NEIGH_INCOMPLETE ? "INCOMPLETE: it has not responded yet" :
					 neigh->state & RD_NEIGH_REACHED    ? "known" :
									      "unknown"));
	}
}

static void add_findings(const struct rd_log_here *here, int device, struct rd_log_join *join)
{
	size_t n = 0;

	for (size_t i = 0; i < here->findings->n && n < FINDINGS_MOST; i++) {
		const struct rd_finding *finding = &here->findings->v[i];

		if (finding->severity < RD_SEV_WARNING || !rd_finding_stands(finding) ||
		    rd_subject_ibdev(here->host, finding->subject) != device)
			continue;
		add_fact(join, rd_text("%s %s: %s: %s", rd_severity_name(finding->severity), finding->id,
				       finding->subject, finding->observed ?: finding->title));
		n++;
	}
}

static bool has_errno(const struct rd_log_line *line, int err)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(line->codes) && line->codes[i]; i++)
		if (strcmp(line->codes[i]->table, "errno") == 0 && line->codes[i]->value.known == RD_OK &&
		    line->codes[i]->value.v == (uint64_t)-err)
			return true;
	return false;
}

/* The most frequent failure of the last hour with the errno of the line and the verb that it names, on its device. */
static void add_failure(const struct rd_recent *recent, const char *ibdev, const struct rd_log_line *line,
			struct rd_log_join *join)
{
	for (size_t i = 0; i < recent->n; i++) {
		const struct rd_recent_failure *f = &recent->file->v[i];

		if (!*f->where.verb || !strstr(line->text, f->where.verb) || !has_errno(line, f->where.err) ||
		    (ibdev && strcmp(ibdev, f->where.ibdev) != 0))
			continue;
		return add_fact(join, rd_recent_text(recent, f));
	}
}

/* A rule that warns shows the cause; one that passed excludes it; else it is undecided. */
static void judge(const struct rd_log_here *here, int device, struct rd_log_cause *cause)
{
	bool passed = false, other = false;
	int of;

	for (size_t i = 0; i < here->findings->n; i++) {
		const struct rd_finding *finding = &here->findings->v[i];

		if (strcmp(finding->id, cause->part->v[0]) != 0)
			continue;
		/* About another device than this one (-1: any), and not about the host. */
		of = device < 0 ? -1 : rd_subject_ibdev(here->host, finding->subject);
		if (of >= 0 && of != device) {
			passed |= finding->severity >= RD_SEV_WARNING;
			continue;
		}
		passed |= finding->severity == RD_SEV_OK;
		other |= finding->severity == RD_SEV_UNKNOWN || finding->severity == RD_SEV_NOTE;
		if (finding->severity < RD_SEV_WARNING || cause->evidence)
			continue;
		RD_SET(cause->here, true);
		cause->evidence = rd_text("%s%s%s", finding->subject ?: "", finding->subject ? ": " : "",
					  finding->observed ?: finding->title);
	}
	if (cause->here.known != RD_OK && passed && !other)
		RD_SET(cause->here, false);
}

static bool has_cause(const struct rd_log_join *join, const char *id)
{
	for (size_t i = 0; i < join->n; i++)
		if (strcmp(join->causes[i].part->v[0], id) == 0)
			return true;
	return false;
}

static void add_causes(const struct rd_log_here *here, int device, const struct rd_log_form *form,
		       struct rd_log_join *join)
{
	for (size_t i = 0; i < form->n; i++) {
		const struct rd_log_part *part = &form->parts[i];
		struct rd_log_cause *cause;

		if (part->kind != RD_LOG_CAUSE || has_cause(join, part->v[0]))
			continue;
		cause = RD_ADD(join->causes, join->n, join->cap);
		*cause = (struct rd_log_cause){ .part = part };
		if (here && device > -2)
			judge(here, device, cause);
	}
}

/* Of the form, else of its codes: the first whose values are all known. */
static char *next_of(const struct rd_log_line *line, const struct rd_log_form *form)
{
	char *ret = NULL;

	for (size_t i = 0; i < form->n && !ret; i++)
		if (form->parts[i].kind == RD_LOG_NEXT)
			ret = rd_log_fill(line, form->parts[i].v[0]);
	return ret;
}

/* Those that this host shows come first, then those that are undecided. */
static int rank_of(const struct rd_log_cause *cause)
{
	return cause->here.known != RD_OK ? 1 : cause->here.v ? 0 : 2;
}

static int compare_causes(const void *a, const void *b)
{
	const struct rd_log_cause *x = a, *y = b;

	return RD_CMP(rank_of(x), rank_of(y)) ?: RD_CMP(x->part, y->part);
}

static void join_line(const struct rd_log_here *here, const struct rd_log_line *line, struct rd_log_join *join)
{
	int device = here ? find_device(here->host, line) : -1;

	if (here && here->name && line->host && is_other_host(line->host, here->name)) {
		add_fact(join, rd_text("%s printed this line: it is not compared with %s", line->host, here->name));
		here = NULL;
	} else if (device == -2) {
		add_fact(join, rd_text("this host has no such device: the line is of another host, or of another time"));
	}
	if (here && device > -2) {
		const char *ibdev = device >= 0 ? here->host->ibdevs[device].name : NULL;

		if (device >= 0)
			add_ports(here->host, device, line, join);
		if (line->numbers[RD_LOG_QPN].known == RD_OK)
			add_qp(here->res, ibdev, line->numbers[RD_LOG_QPN].v, join);
		add_peer(here->net, line->values[RD_LOG_PEER], join);
		add_peer(here->net, line->values[RD_LOG_PGID], join);
		if (here->recent)
			add_failure(here->recent, ibdev, line, join);
		if (device >= 0)
			add_findings(here, device, join);
	}
	add_causes(here, device, line->form, join);
	join->next = next_of(line, line->form);
	for (size_t i = 0; i < RD_ARRAY_SIZE(line->codes) && line->codes[i]; i++) {
		/* An errno has causes for any call, of which few are of this one. */
		if (line->form->table || strcmp(line->codes[i]->table, "errno") != 0)
			add_causes(here, device, line->codes[i], join);
		join->next = join->next ?: next_of(line, line->codes[i]);
	}
	rd_sort(join->causes, join->n, sizeof(*join->causes), compare_causes);
}

void rd_log_join(struct rd_log *log, const struct rd_log_here *here)
{
	log->joins = rd_alloc(log->n + 1, sizeof(*log->joins));
	for (size_t i = 0; i < log->n; i++)
		join_line(here, &log->v[i], &log->joins[i]);
}
