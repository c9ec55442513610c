/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link that is slower than all others of its kind. */
#include "analyse/fabric/fabric-judge-priv.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/fabric/fabric-census.h"

#define LINKS 20  /* fewer links of a kind have no norm */
#define RARELY 50 /* at most one of so many may differ */
#define EXAMPLES 3

/* One end of a link: what its node is. */
struct end {
	unsigned kind;
	uint32_t vendor, device;
};

/* Links of the same kind have the same ends, and are inside of one system or not. */
struct link {
	struct end ends[2]; /* sorted */
	bool inside;	    /* of a director: its internal links may be wider */
	unsigned value;	    /* its width or its speed: what is compared */
	size_t port;
};

static int compare_ends(const void *x, const void *y)
{
	const struct end *a = x, *b = y;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->vendor != b->vendor)
		return a->vendor < b->vendor ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

static int compare_kinds(const struct link *a, const struct link *b)
{
	int order = compare_ends(&a->ends[0], &b->ends[0]);

	if (!order)
		order = compare_ends(&a->ends[1], &b->ends[1]);
	return order ? order : a->inside - b->inside;
}

/* By kind, then the largest value first. */
static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	int order = compare_kinds(x, y);

	if (order)
		return order;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

/* `speed`: compare speeds, not widths. */
static size_t list_links(const struct judge *j, bool speed, struct link *links)
{
	size_t n = 0;

	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i], *peer;
		const struct rd_fabric_node *a, *b;
		struct link *link = &links[n];

		if (port->presence == RD_PORT_GONE || port->peer == RD_NONE || i >= port->peer || !port->width_active ||
		    !port->speed_active)
			continue;
		peer = &j->fabric->ports[port->peer];
		a = node_of(j, port);
		b = node_of(j, peer);
		if (rd_fabric_is_aggregation(a) || rd_fabric_is_aggregation(b))
			continue;
		link->ends[0] = (struct end){ a->kind, a->vendor, a->device };
		link->ends[1] = (struct end){ b->kind, b->vendor, b->device };
		qsort(link->ends, 2, sizeof(link->ends[0]), compare_ends);
		*link = (struct link){ .ends = { link->ends[0], link->ends[1] },
				       .inside = a->system_guid && a->system_guid == b->system_guid,
				       .value = speed ? port->speed_active : port->width_active,
				       .port = i };
		n++;
	}
	return n;
}

static char *rate_text(const struct judge *j, const struct link *link)
{
	const struct rd_fabric_port *port = &j->fabric->ports[link->port];

	return rd_text("%ux %s", port->width_active, rd_link_speed_name(port->speed_active));
}

/* Adds a finding about `k` of `n` links of a kind, which have the same value; `usual`: one of the others. */
static void report_odd(struct judge *j, const struct link *odd, size_t k, const struct link *usual, size_t n)
{
	const struct rd_fabric_port *port = &j->fabric->ports[odd->port];
	enum rd_link_limit limit = rd_judge_limit(port, &j->fabric->ports[port->peer]);
	/* Several alike, and what the ends do not support, may be intended: split ports, older devices. 1x never is. */
	bool intended = k > 1 || (limit == RD_LINK_BEST && port->width_active > 1);
	_cleanup_free_ char *rate = rate_text(j, odd), *others = rate_text(j, usual);
	_cleanup_buf_ struct rd_buf names = { 0 };
	struct rd_finding finding = {
		.id = "fabric-link-odd",
		.severity = intended ? RD_SEV_NOTE : RD_SEV_WARNING,
		.title = k == 1 ? "link is slower than all others of its kind" :
				  "links are slower than all others of their kind",
		.why = "links between the same kinds of devices usually have the same rate",
		.harm = rd_fabric_harm(RD_HARM_LINK_SLOW, 0),
	};

	/* Faults have a finding of their own. */
	if (limit == RD_LINK_FAULTY)
		return;
	for (size_t i = 0; i < k && i < EXAMPLES; i++) {
		_cleanup_free_ char *name = rd_fabric_cable_text(j->fabric, &j->fabric->ports[odd[i].port]);

		rd_buf_printf(&names, "%s%s", i > 0 ? "; " : "", name);
	}
	finding.subject = k == 1 ? rd_dup(names.data) : rd_text("%zu links", k);
	finding.observed = k == 1 ? rd_dup(rate) : rd_text("%s: %s%s", rate, names.data, k > EXAMPLES ? "; ..." : "");
	finding.expected = rd_text("like %zu others of %zu, e.g. %s", n - k, n, others);
	if (!intended)
		finding.fix = rd_text(
			"ibportstate %u %u query\n# reseat or replace the cable\n# ibportstate shows what is enabled at both ends",
			port->lid, port->number);
	rd_finding_add(j->findings, &finding);
}

/* `n` links of one kind, the largest value first: the last are odd if they are few and all others have the same value. Those that
 * are `reported` are not again. */
static void judge_kind(struct judge *j, const struct link *links, size_t n, bool *reported)
{
	size_t most = n / RARELY > 1 ? n / RARELY : 1, odd = n;

	while (odd > 0 && links[odd - 1].value == links[n - 1].value)
		odd--;
	if (n < LINKS || odd == 0 || n - odd > most || links[0].value != links[odd - 1].value ||
	    reported[links[odd].port])
		return;
	for (size_t i = odd; i < n; i++)
		reported[links[i].port] = true;
	report_odd(j, &links[odd], n - odd, &links[0], n);
}

void rd_judge_odd_links(struct judge *j)
{
	_cleanup_free_ struct link *links = rd_alloc(j->fabric->n_ports + 1, sizeof(*links));
	_cleanup_free_ bool *reported = rd_alloc(j->fabric->n_ports + 1, sizeof(*reported));

	for (int speed = 0; speed < 2; speed++) {
		size_t n = list_links(j, speed, links);

		qsort(links, n, sizeof(*links), compare_links);
		for (size_t from = 0, to; from < n; from = to) {
			for (to = from + 1; to < n && compare_kinds(&links[from], &links[to]) == 0;)
				to++;
			judge_kind(j, &links[from], to - from, reported);
		}
	}
}
