/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link that is slower than all others of its kind, and an adapter that is connected where all others have another name. */
#include "analyse/fabric/fabric-judge-priv.h"

#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/fabric/fabric-census.h"

#define LINKS 20  /* fewer links of a kind have no norm */
#define RARELY 50 /* at most one of so many may differ */
#define EXAMPLES 3
#define RAIL 5 /* fewer adapters at a switch have no common name */
#define MOST 8 /* at most one of so many adapters at a switch, or one, may have another name */

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

	return RD_CMP(a->kind, b->kind) ?: RD_CMP(a->vendor, b->vendor) ?: RD_CMP(a->device, b->device);
}

static int compare_kinds(const struct link *a, const struct link *b)
{
	return RD_FIRST(compare_ends(&a->ends[0], &b->ends[0]), compare_ends(&a->ends[1], &b->ends[1]),
			a->inside - b->inside);
}

/* By kind, then the largest value first. */
static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return compare_kinds(x, y) ?: RD_CMP(y->value, x->value) ?: RD_CMP(x->port, y->port);
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

/* ---- rails: in each unit a leaf has the adapters of one number */

/* An adapter with a name in two parts, "node17 mlx5_3". */
struct rail {
	const char *host, *name; /* the name begins after the last space of the host */
	size_t host_len;
	size_t leaf, port; /* the switch, and its port */
	bool odd;	   /* not the name that nearly all adapters at the switch have */
};

struct rails {
	struct rail *v; /* by switch */
	size_t n;
	struct rail **by_host;
	const char **of; /* per node: the name that nearly all adapters at the switch have; NULL: there is none */
};

static int by_leaf(const void *a, const void *b)
{
	const struct rail *x = a, *y = b;

	return RD_CMP(x->leaf, y->leaf) ?: strcmp(x->name, y->name);
}

static int by_host(const void *a, const void *b)
{
	const struct rail *const *x = a, *const *y = b;

	return RD_FIRST(strncmp((*x)->host, (*y)->host, (*x)->host_len), RD_CMP((*x)->host_len, (*y)->host_len),
			strcmp((*x)->name, (*y)->name));
}

static void list_adapters(const struct judge *j, struct rails *rails)
{
	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];
		const struct rd_fabric_node *node;
		const char *space;

		if (port->presence == RD_PORT_GONE || port->peer == RD_NONE || node_of(j, port)->kind != RD_NODE_SWITCH)
			continue;
		node = node_of(j, &j->fabric->ports[port->peer]);
		space = strrchr(node->description, ' ');
		if (node->kind != RD_NODE_CA || node->n_ports != 1 || rd_fabric_is_aggregation(node) || !space)
			continue;
		rails->v[rails->n++] = (struct rail){ .host = node->description,
						      .name = space + 1,
						      .host_len = (size_t)(space - node->description),
						      .leaf = port->node,
						      .port = i };
	}
	qsort(rails->v, rails->n, sizeof(*rails->v), by_leaf);
	for (size_t i = 0; i < rails->n; i++)
		rails->by_host[i] = &rails->v[i];
	qsort(rails->by_host, rails->n, sizeof(rails->by_host[0]), by_host);
}

/* The name of nearly all adapters at the switch of `v[0]`, and the number of adapters there. */
static const char *find_name(const struct rail *v, const struct rail *end, size_t *n)
{
	size_t most = 0, same = 0;
	const char *name = NULL;

	for (*n = 0; v + *n < end && v[*n].leaf == v[0].leaf; ++*n) {
		same = *n > 0 && strcmp(v[*n].name, v[*n - 1].name) == 0 ? same + 1 : 1;
		if (same > most) {
			most = same;
			name = v[*n].name;
		}
	}
	return *n >= RAIL && *n - most <= (*n / MOST > 1 ? *n / MOST : 1) ? name : NULL;
}

/* Finds the name at each switch. Whether adapters are connected by name: nearly all switches with adapters have one, not all the same. */
static bool find_names(struct rails *rails)
{
	size_t named = 0, leaves = 0, n;
	const char *first = NULL;
	bool differ = false;

	for (size_t from = 0; from < rails->n; from += n) {
		const char *name = find_name(&rails->v[from], &rails->v[rails->n], &n);

		rails->of[rails->v[from].leaf] = name;
		leaves += n >= RAIL;
		named += name != NULL;
		first = first ? first : name;
		differ |= name && strcmp(name, first) != 0;
		for (size_t i = from; name && i < from + n; i++)
			rails->v[i].odd = strcmp(rails->v[i].name, name) != 0;
	}
	return differ && named * MOST >= leaves * (MOST - 1);
}

/* Adapters of the host of `rail`: their number; how many are where adapters have their name; the one that is called `name`. */
static size_t look_at_host(const struct rails *rails, const struct rail *rail, const char *name, size_t *right,
			   const struct rail **called)
{
	struct rail key = { .host = rail->host, .host_len = rail->host_len, .name = "" };
	const struct rail *wanted = &key;
	size_t at = rd_lower_bound(&wanted, rails->by_host, rails->n, sizeof(wanted), by_host), n = 0;

	*called = NULL;
	*right = 0;
	for (; at + n < rails->n; n++) {
		const struct rail *other = rails->by_host[at + n];

		if (other->host_len != rail->host_len || strncmp(other->host, rail->host, rail->host_len) != 0)
			break;
		*right += !other->odd && rails->of[other->leaf];
		if (strcmp(other->name, name) == 0)
			*called = other;
	}
	return n;
}

static void report_rail(struct judge *j, const struct rail *odd, const char *usual, const struct rail *belongs,
			const struct rail *swapped)
{
	const struct rd_fabric_port *port = &j->fabric->ports[odd->port];
	const char *there = rd_fabric_name(&j->fabric->nodes[belongs->leaf]);
	struct rd_finding finding = {
		.id = "fabric-rail-odd",
		.severity = RD_SEV_WARNING,
		.title = "adapter is connected to a switch where the others have another name",
		.why = "traffic between adapters of the same number leaves the rail: it takes more hops, and shares links",
		.subject = rd_fabric_cable_text(j->fabric, port),
		.observed = rd_text("%s, where nearly all adapters are %s", odd->name, usual),
		.expected = rd_text("at %s, as %.*s %s", there, (int)belongs->host_len, belongs->host, belongs->name),
		.fix = rd_text("# check the cabling of the host%s", swapped ? ": two of its cables are exchanged" : ""),
	};

	rd_finding_add(j->findings, &finding);
}

/* Only hosts that have as many adapters as another at the switch, and half of them where they belong, are connected by name. */
static void judge_rail(struct judge *j, const struct rails *rails, const struct rail *odd)
{
	const char *usual = rails->of[odd->leaf];
	const struct rail *swapped, *belongs, *other = odd;
	size_t n, right, others, unused;

	while (other > rails->v && other[-1].leaf == odd->leaf)
		other--;
	while (other->odd)
		other++;
	n = look_at_host(rails, odd, usual, &right, &swapped);
	others = look_at_host(rails, other, odd->name, &unused, &belongs);
	if (n != others || 2 * right < n || !belongs || belongs->odd || !rails->of[belongs->leaf])
		return;
	swapped = swapped && swapped->odd && swapped->leaf == belongs->leaf ? swapped : NULL;
	/* Two cables that are exchanged are one finding. */
	if (!swapped || strcmp(odd->name, usual) < 0)
		report_rail(j, odd, usual, belongs, swapped);
}

void rd_judge_rails(struct judge *j)
{
	struct rails rails = {
		.v = rd_alloc(j->fabric->n_ports + 1, sizeof(*rails.v)),
		.by_host = rd_alloc(j->fabric->n_ports + 1, sizeof(rails.by_host[0])),
		.of = rd_alloc(j->fabric->n_nodes + 1, sizeof(rails.of[0])),
	};

	list_adapters(j, &rails);
	if (find_names(&rails))
		for (size_t i = 0; i < rails.n; i++)
			if (rails.v[i].odd)
				judge_rail(j, &rails, &rails.v[i]);
	RD_FREE(rails.v, rails.by_host, rails.of);
}
