/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs from all others of its kind: slow links, adapters at the wrong rail, switches that lack a link. */

#include "analyse/fabric/fabric-judge-priv.h"

#define LINKS 20	/* fewer links of a kind have no norm */
#define LINKS_RARELY 50 /* at most one of so many may differ */
#define LINKS_NAMED 3
#define RAIL 5	    /* fewer adapters at a switch have no common name */
#define RAIL_MOST 8 /* at most one of so many adapters at a switch, or one, may have another name */

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

static int compare_link_kinds(const struct link *a, const struct link *b)
{
	return RD_FIRST(compare_ends(&a->ends[0], &b->ends[0]), compare_ends(&a->ends[1], &b->ends[1]),
			a->inside - b->inside);
}

/* By kind, then the largest value first. */
static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return compare_link_kinds(x, y) ?: RD_CMP(y->value, x->value) ?: RD_CMP(x->port, y->port);
}

/* `speed`: compare speeds, not widths. */
static size_t list_links(const struct judge *j, bool speed, struct link *links)
{
	size_t n = 0;

	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i], *peer;
		const struct rd_fabric_node *a, *b;

		if (port->presence == RD_PORT_GONE || port->peer == RD_NONE || i >= port->peer || !port->width_active ||
		    !port->speed_active)
			continue;
		peer = &j->fabric->ports[port->peer];
		a = node_of(j, port);
		b = node_of(j, peer);
		if (rd_fabric_is_aggregation(a) || rd_fabric_is_aggregation(b))
			continue;
		links[n] =
			(struct link){ .ends = { { a->kind, a->vendor, a->device }, { b->kind, b->vendor, b->device } },
				       .inside = a->system_guid && a->system_guid == b->system_guid,
				       .value = speed ? port->speed_active : port->width_active,
				       .port = i };
		qsort(links[n++].ends, 2, sizeof(struct end), compare_ends);
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
	for (size_t i = 0; i < k && i < LINKS_NAMED; i++) {
		_cleanup_free_ char *name = rd_fabric_cable_text(j->fabric, &j->fabric->ports[odd[i].port]);

		rd_buf_printf(&names, "%s%s", i > 0 ? "; " : "", name);
	}
	finding.subject = k == 1 ? rd_dup(names.data) : rd_text("%zu links", k);
	finding.observed = k == 1 ? rd_dup(rate) :
				    rd_text("%s: %s%s", rate, names.data, k > LINKS_NAMED ? "; ..." : "");
	finding.expected = rd_text("like %zu others of %zu, e.g. %s", n - k, n, others);
	if (!intended)
		finding.fix = rd_text(
			"ibportstate %u %u query\n# reseat or replace the cable\n# ibportstate shows what is enabled at both ends",
			port->lid, port->number);
	rd_finding_add(j->findings, &finding);
}

/* `n` links of one kind, the largest value first: the last are odd if they are few and all others have the same value. Those that
 * are `reported` are not again. */
static void judge_link_kind(struct judge *j, const struct link *links, size_t n, bool *reported)
{
	size_t most = n / LINKS_RARELY > 1 ? n / LINKS_RARELY : 1, odd = n;

	while (odd > 0 && links[odd - 1].value == links[n - 1].value)
		odd--;
	if (n < LINKS || odd == 0 || n - odd > most || links[0].value != links[odd - 1].value ||
	    reported[links[odd].port])
		return;
	for (size_t i = odd; i < n; i++)
		reported[links[i].port] = true;
	report_odd(j, &links[odd], n - odd, &links[0], n);
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
	return *n >= RAIL && *n - most <= (*n / RAIL_MOST > 1 ? *n / RAIL_MOST : 1) ? name : NULL;
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
		first = first ?: name;
		differ |= name && strcmp(name, first) != 0;
		for (size_t i = from; name && i < from + n; i++)
			rails->v[i].odd = strcmp(rails->v[i].name, name) != 0;
	}
	return differ && named * RAIL_MOST >= leaves * (RAIL_MOST - 1);
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
	if (!swapped || strcmp(odd->name, usual) < 0) {
		const struct rd_fabric_port *port = &j->fabric->ports[odd->port];
		const char *there = rd_fabric_name(&j->fabric->nodes[belongs->leaf]);
		struct rd_finding finding = {
			.id = "fabric-rail-odd",
			.severity = RD_SEV_WARNING,
			.title = "adapter is connected to a switch where the others have another name",
			.why = "traffic between adapters of the same number leaves the rail: it takes more hops, and shares links",
			.node_guid = node_of(j, port)->guid,
			.port = port->number,
			.subject = rd_fabric_cable_text(j->fabric, port),
			.observed = rd_text("%s, where nearly all adapters are %s", odd->name, usual),
			.expected = rd_text("at %s, as %.*s %s", there, (int)belongs->host_len, belongs->host,
					    belongs->name),
			.fix = rd_text("# check the cabling of the host%s",
				       swapped ? ": two of its cables are exchanged" : ""),
		};

		rd_finding_add(j->findings, &finding);
	}
}

static void judge_rails(struct judge *j)
{
	struct rails rails = {
		.v = rd_alloc(j->fabric->n_ports + 1, sizeof(*rails.v)),
		.by_host = rd_alloc(j->fabric->n_ports + 1, sizeof(rails.by_host[0])),
		.of = rd_alloc(j->fabric->n_nodes + 1, sizeof(rails.of[0])),
	};

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
		rails.v[rails.n++] = (struct rail){ .host = node->description,
						    .name = space + 1,
						    .host_len = (size_t)(space - node->description),
						    .leaf = port->node,
						    .port = i };
	}
	qsort(rails.v, rails.n, sizeof(*rails.v), by_leaf);
	for (size_t i = 0; i < rails.n; i++)
		rails.by_host[i] = &rails.v[i];
	qsort(rails.by_host, rails.n, sizeof(rails.by_host[0]), by_host);
	if (find_names(&rails))
		for (size_t i = 0; i < rails.n; i++)
			if (rails.v[i].odd)
				judge_rail(j, &rails, &rails.v[i]);
	RD_FREE(rails.v, rails.by_host, rails.of);
}

/* ---- uplinks */

/*
 * A switch without one of the links that others like it have: 19 of 20 uplinks, or one of two cables to a switch. Its sisters are the
 * switches of the same device with the same neighbours, but for a quarter; so many links as most of them have is the norm. If there
 * are too few, it is what nearly all switches of the device in the network have. Switches without sisters, in a torus or between the
 * groups of a dragonfly, have links to others of their kind: two that each lack one lack the same cable, if all others have as many.
 * Without a saved topology a missing link is a fault only if nothing else explains it: the links that the switch lacks are just those
 * that nearly all sisters have, it has no more adapters than they have, and both ends have a port without a link.
 */
#define SISTERS 3 /* fewer with the same number of links have no norm */
#define ALIKE 8	  /* the same, of a network or where one link of few is missing */
#define PORTION 4 /* at most one link of so many may be missing: more is a different design */
#define RARELY 10 /* at most one sister of so many may lack the same links: more is a different design */
#define INNER 36  /* a switch with more ports, and an odd number, has its aggregation node at the last */
#define MOST 256  /* ports of a switch */
#define EXAMPLES 4

/* Links from one switch to another. */
struct pair {
	size_t from, to; /* indices of nodes */
	size_t n;
};

struct sw {
	const struct pair *pairs; /* sorted by the other switch */
	size_t n_pairs;
	size_t uplinks, adapters, free; /* links to switches, to others, ports without a link */
	size_t level;			/* links to switches of its kind */
	bool unsure;			/* the walk did not see all of its links, or one went down meanwhile */
};

struct uplinks {
	struct judge *j;
	struct pair *pairs;
	size_t n_pairs;
	struct sw *of;	 /* per node */
	size_t *order;	 /* the switches by kind */
	size_t *sisters; /* of the switch that is judged */
	size_t n, n_sisters;
	size_t *seen, stamp; /* per node: the last stamp at which it was seen */
};

/* How many links most of a number of switches have. */
struct norm {
	size_t of[MOST]; /* per number of links: switches that have so many */
	size_t n, links, alike, adapters;
	size_t has; /* links of the switch that is judged */
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return RD_CMP(x->from, y->from) ?: RD_CMP(x->to, y->to);
}

static bool is_free(const struct judge *j, const struct rd_fabric_port *port)
{
	const struct rd_fabric_node *node = node_of(j, port);

	return port->number != 0 && port->peer == RD_NONE && port->state == RD_LINK_DOWN &&
	       port->physical_state != RD_PHYSICAL_DISABLED &&
	       (port->number < node->n_ports || node->n_ports <= INNER || node->n_ports % 2 == 0);
}

static int compare_kinds(const struct uplinks *u, size_t a, size_t b)
{
	const struct rd_fabric_node *x = &u->j->fabric->nodes[a], *y = &u->j->fabric->nodes[b];

	return RD_FIRST(RD_CMP(x->vendor, y->vendor), RD_CMP(x->device, y->device), RD_CMP(x->n_ports, y->n_ports),
			(u->of[a].adapters > 0) - (u->of[b].adapters > 0));
}

static int compare_order(const void *a, const void *b, void *uplinks)
{
	const size_t *x = a, *y = b;

	return compare_kinds(uplinks, *x, *y) ?: RD_CMP(*x, *y);
}

static void describe_switches(struct uplinks *u)
{
	const struct judge *j = u->j;
	size_t at = 0;

	for (size_t i = 0; i < j->fabric->n_nodes; i++) {
		struct sw *sw = &u->of[i];

		for (sw->pairs = &u->pairs[at]; at < u->n_pairs && u->pairs[at].from == i; at++)
			sw->n_pairs++;
		if (j->fabric->nodes[i].kind != RD_NODE_SWITCH || j->fates[i] == RD_FATE_GONE)
			continue;
		sw->unsure = j->fabric->nodes[i].unread > 0;
		for (size_t k = j->fabric->nodes[i].first; k < j->fabric->nodes[i].end; k++) {
			const struct rd_fabric_port *port = &j->fabric->ports[k];
			bool uplink = rd_judge_is_uplink(j, port);

			if (port->number == 0)
				continue;
			sw->free += is_free(j, port);
			/* A link that went down has a finding of its own. */
			if (port->peer == RD_NONE)
				sw->unsure |= uplink || rd_fabric_is_unsure(port);
			else if (uplink)
				sw->uplinks++;
			else
				sw->adapters += !rd_fabric_is_aggregation(node_of(j, &j->fabric->ports[port->peer]));
		}
		u->order[u->n++] = i;
	}
	for (size_t i = 0; i < u->n_pairs; i++)
		if (compare_kinds(u, u->pairs[i].from, u->pairs[i].to) == 0)
			u->of[u->pairs[i].from].level += u->pairs[i].n;
	qsort_r(u->order, u->n, sizeof(*u->order), compare_order, u);
}

static size_t links_to(const struct uplinks *u, size_t from, size_t to)
{
	const struct sw *sw = &u->of[from];
	struct pair key = { from, to, 0 };
	size_t at = rd_lower_bound(&key, sw->pairs, sw->n_pairs, sizeof(key), compare_pairs);

	return at < sw->n_pairs && sw->pairs[at].to == to ? sw->pairs[at].n : 0;
}

static void norm_add(struct norm *norm, const struct sw *sw, size_t links)
{
	links = links < MOST ? links : MOST - 1;
	norm->n++;
	norm->of[links]++;
	norm->adapters = sw->adapters > norm->adapters ? sw->adapters : norm->adapters;
	if (norm->of[links] > norm->alike || (norm->of[links] == norm->alike && links > norm->links)) {
		norm->links = links;
		norm->alike = norm->of[links];
	}
}

static bool are_sisters(const struct uplinks *u, size_t a, size_t b)
{
	const struct sw *x = &u->of[a], *y = &u->of[b];
	size_t shared = 0;

	if (y->unsure || x->n_pairs > 2 * y->n_pairs || y->n_pairs > 2 * x->n_pairs)
		return false;
	for (size_t i = 0; i < x->n_pairs; i++)
		shared += links_to(u, b, x->pairs[i].to) > 0;
	return 4 * shared >= 3 * x->n_pairs && 4 * shared >= 3 * y->n_pairs;
}

/* Lists the neighbours of neighbours that are sisters; with `more`, only whether one may be that has more links. */
static bool list_sisters(struct uplinks *u, size_t node, bool more)
{
	const struct rd_fabric_node *nodes = u->j->fabric->nodes;
	const struct sw *sw = &u->of[node];

	u->stamp++;
	u->n_sisters = 0;
	for (size_t i = 0; i < sw->n_pairs; i++) {
		const struct sw *via = &u->of[sw->pairs[i].to];

		for (size_t k = 0; k < via->n_pairs; k++) {
			size_t other = via->pairs[k].to;

			if (other == node || u->seen[other] == u->stamp || nodes[other].vendor != nodes[node].vendor ||
			    nodes[other].device != nodes[node].device || nodes[other].n_ports != nodes[node].n_ports)
				continue;
			u->seen[other] = u->stamp;
			if (more && u->of[other].uplinks > sw->uplinks)
				return true;
			if (!more && are_sisters(u, node, other))
				u->sisters[u->n_sisters++] = other;
		}
	}
	return u->n_sisters > 0;
}

/* How many links a switch like this has: false if none can be determined. */
static bool find_norm(const struct uplinks *u, size_t node, struct norm *norm)
{
	struct norm network = { 0 };

	for (size_t i = 0; i < u->n_sisters; i++)
		norm_add(norm, &u->of[u->sisters[i]], u->of[u->sisters[i]].uplinks);
	if (norm->alike >= SISTERS)
		return 2 * norm->alike >= norm->n;
	for (size_t i = 0; i < u->n; i++)
		if (u->order[i] != node && compare_kinds(u, node, u->order[i]) == 0)
			norm_add(&network, &u->of[u->order[i]], u->of[u->order[i]].uplinks);
	if (norm->alike < norm->n || norm->links != network.links || network.alike < ALIKE ||
	    4 * network.alike < 3 * network.n)
		return false;
	*norm = network;
	return true;
}

static void ports_text(const struct judge *j, size_t node, struct rd_buf *out)
{
	_cleanup_free_ char *name = rd_safe(rd_fabric_name(&j->fabric->nodes[node]));
	size_t n = 0;

	for (size_t i = j->fabric->nodes[node].first; i < j->fabric->nodes[node].end; i++)
		if (is_free(j, &j->fabric->ports[i]) && n++ < EXAMPLES)
			rd_buf_printf(out, "%s%u", n > 1 ? ", " : "", j->fabric->ports[i].number);
	rd_buf_printf(out, "%s of %s", n > EXAMPLES ? ", ..." : "", name);
}

static const char missing[] = "fabric-uplink-missing";

/* Adds a finding, unless there is one about the same two switches. */
static void report_missing(struct uplinks *u, size_t node, size_t to, size_t usual, const struct norm *norm,
			   const char *like)
{
	struct judge *j = u->j;
	const char *here = rd_fabric_name(&j->fabric->nodes[node]), *there = rd_fabric_name(&j->fabric->nodes[to]);
	_cleanup_free_ char *back = rd_text("%s, to %s", there, here), *forth = rd_text("%s, to %s", here, there);
	_cleanup_buf_ struct rd_buf ports = { 0 };
	struct rd_finding finding;

	for (size_t i = 0; i < j->findings->n; i++)
		if (strcmp(j->findings->v[i].id, missing) == 0 &&
		    (strcmp(j->findings->v[i].subject, back) == 0 || strcmp(j->findings->v[i].subject, forth) == 0))
			return;
	finding = (struct rd_finding){
		.id = missing,
		.severity = RD_SEV_WARNING,
		.title = "switch lacks a link that others like it have",
		.why = "a cable is missing, unplugged or dead: the adapters at this switch have less bandwidth",
		.harm = rd_fabric_harm(RD_HARM_LINK_DOWN, 1),
		.node_guid = j->fabric->nodes[node].guid,
		.subject = rd_dup(forth),
		.observed = rd_text("%zu of %zu links to %s, %zu of %zu to all switches", links_to(u, node, to), usual,
				    there, norm->has, norm->links),
		.expected = rd_text("all of them, as %zu of %zu switches %s have", norm->alike, norm->n, like),
	};

	ports_text(j, node, &ports);
	rd_buf_str(&ports, "; ");
	ports_text(j, to, &ports);
	finding.fix = rd_text("iblinkinfo -S 0x%016" PRIx64 "\n# check the ports without a link: %s",
			      j->fabric->nodes[node].guid, ports.data);
	rd_finding_add(j->findings, &finding);
}

/* Whether two switches have the same links, but for those to each other. */
static bool is_same_design(const struct uplinks *u, size_t a, size_t b)
{
	const struct sw *sw = &u->of[a];

	for (size_t i = 0; i < sw->n_pairs; i++)
		if (sw->pairs[i].to != b && links_to(u, b, sw->pairs[i].to) != sw->pairs[i].n)
			return false;
	return sw->uplinks == u->of[b].uplinks;
}

static size_t count_same(const struct uplinks *u, size_t node)
{
	size_t n = 0;

	for (size_t i = 0; i < u->n_sisters; i++)
		n += is_same_design(u, node, u->sisters[i]);
	return n;
}

/* A sister that has the links of nearly all of those that have as many as the norm; RD_NONE: they differ. */
static size_t find_design(const struct uplinks *u, const struct norm *norm)
{
	size_t all = 0;

	for (size_t i = 0; i < u->n_sisters; i++)
		all += u->of[u->sisters[i]].uplinks == norm->links;
	for (size_t i = 0; i < u->n_sisters; i++)
		if (u->of[u->sisters[i]].uplinks == norm->links && 4 * count_same(u, u->sisters[i]) >= 3 * all)
			return u->sisters[i];
	return RD_NONE;
}

/* Whether a switch has the links of the design but for some that nearly all sisters have. */
static bool is_part_of(const struct uplinks *u, size_t node, size_t design)
{
	const struct sw *sw = &u->of[node], *whole = &u->of[design];

	for (size_t i = 0; i < sw->n_pairs; i++)
		if (sw->pairs[i].to != design && links_to(u, design, sw->pairs[i].to) < sw->pairs[i].n)
			return false;
	for (size_t i = 0; i < whole->n_pairs; i++) {
		size_t to = whole->pairs[i].to, n = 0;

		for (size_t k = 0; k < u->n_sisters; k++)
			n += u->sisters[k] == to || links_to(u, u->sisters[k], to) >= whole->pairs[i].n;
		if (to != node && links_to(u, node, to) < whole->pairs[i].n && 4 * n < 3 * u->n_sisters)
			return false;
	}
	return true;
}

/* Of sisters that have all links: the number of adapters, if it is the same; 0: it differs. */
static size_t usual_adapters(const struct uplinks *u, const struct norm *norm)
{
	size_t adapters = 0;

	for (size_t i = 0; i < u->n_sisters; i++) {
		const struct sw *sister = &u->of[u->sisters[i]];

		if (sister->uplinks != norm->links)
			continue;
		if (adapters > 0 && sister->adapters != adapters)
			return 0;
		adapters = sister->adapters;
	}
	return adapters;
}

/* Whether a switch has what belongs to it: as many links as its sisters, or more adapters, or fewer of both in the same ratio: 11 where
 * they have 12. If a sister is such a smaller one, another with fewer adapters may be, too. */
static bool is_complete(const struct uplinks *u, size_t node, const struct norm *norm)
{
	const struct sw *sw = &u->of[node];
	size_t adapters = usual_adapters(u, norm);

	if (sw->uplinks >= norm->links || sw->adapters > norm->adapters)
		return true;
	if (sw->adapters >= adapters)
		return false;
	for (size_t i = 0; i < u->n_sisters; i++) {
		const struct sw *sister = &u->of[u->sisters[i]];

		if (sister->uplinks < norm->links && sister->adapters * norm->links == adapters * sister->uplinks)
			return true;
	}
	return sw->adapters * norm->links == adapters * sw->uplinks;
}

static bool lacks_none(struct uplinks *u, size_t node)
{
	struct norm norm = { 0 };

	list_sisters(u, node, false);
	return find_norm(u, node, &norm) && is_complete(u, node, &norm);
}

static void judge_switch(struct uplinks *u, size_t node)
{
	const struct sw *sw = &u->of[node], *design;
	struct norm norm = { 0 };
	size_t lacks, most, at;

	if (sw->free == 0 || sw->unsure || sw->n_pairs == 0 || !list_sisters(u, node, true))
		return;
	list_sisters(u, node, false);
	if (!find_norm(u, node, &norm) || is_complete(u, node, &norm))
		return;
	norm.has = sw->uplinks;
	lacks = norm.links - norm.has;
	most = norm.links < PORTION && norm.alike >= ALIKE ? 1 : norm.links / PORTION;
	at = find_design(u, &norm);
	if (lacks > most || lacks > sw->free || count_same(u, node) * RARELY > norm.n || at == RD_NONE ||
	    !is_part_of(u, node, at))
		return;
	design = &u->of[at];
	for (size_t i = 0; i < design->n_pairs; i++) {
		const struct pair *pair = &design->pairs[i];
		size_t has = links_to(u, node, pair->to);

		if (pair->to != node && has < pair->n && u->of[pair->to].free >= pair->n - has &&
		    !u->of[pair->to].unsure && (u->of[pair->to].adapters <= sw->adapters || !lacks_none(u, pair->to)))
			report_missing(u, node, pair->to, pair->n, &norm, "like it");
	}
}

static void judge_uplinks(struct judge *j)
{
	struct uplinks u = {
		.j = j,
		.pairs = rd_alloc(j->fabric->n_ports + 1, sizeof(*u.pairs)),
		.of = rd_alloc(j->fabric->n_nodes + 1, sizeof(*u.of)),
		.order = rd_alloc(j->fabric->n_nodes + 1, sizeof(*u.order)),
		.sisters = rd_alloc(j->fabric->n_nodes + 1, sizeof(*u.sisters)),
		.seen = rd_alloc(j->fabric->n_nodes + 1, sizeof(*u.seen)),
	};
	size_t k = 0;

	/* Lists the pairs of switches with links in each direction, sorted. */
	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];

		if (port->presence != RD_PORT_GONE && port->peer != RD_NONE && rd_judge_is_uplink(j, port))
			u.pairs[k++] = (struct pair){ port->node, j->fabric->ports[port->peer].node, 1 };
	}
	qsort(u.pairs, k, sizeof(*u.pairs), compare_pairs);
	for (size_t i = 0; i < k; i++)
		if (u.n_pairs > 0 && compare_pairs(&u.pairs[u.n_pairs - 1], &u.pairs[i]) == 0)
			u.pairs[u.n_pairs - 1].n++;
		else
			u.pairs[u.n_pairs++] = u.pairs[i];
	describe_switches(&u);
	/* A cable is reported at the lower end. */
	for (int leaves = 1; leaves >= 0; leaves--)
		for (size_t i = 0; i < u.n; i++)
			if ((u.of[u.order[i]].adapters > 0) == leaves)
				judge_switch(&u, u.order[i]);
	for (size_t from = 0, to; from < u.n; from = to) {
		struct norm norm = { 0 };
		size_t lacking[2], n = 0;

		for (to = from + 1; to < u.n && compare_kinds(&u, u.order[from], u.order[to]) == 0;)
			to++;
		/* Switches of one kind: whether two of them lack one link to each other. */
		for (size_t i = from; i < to; i++)
			norm_add(&norm, &u.of[u.order[i]], u.of[u.order[i]].level);
		for (size_t i = from; i < to && n < 2; i++) {
			const struct sw *sw = &u.of[u.order[i]];

			if (sw->level + 1 == norm.links && sw->free > 0 && !sw->unsure && sw->adapters <= norm.adapters)
				lacking[n++] = u.order[i];
		}
		norm.n -= n;
		norm.has = norm.links - 1;
		/* Two links at a switch of its kind are a chain or a ring: a chain has two ends. */
		if (n == 2 && norm.links > 2 && norm.alike >= ALIKE - 2 && 8 * norm.alike >= 7 * norm.n)
			report_missing(&u, lacking[0], lacking[1], links_to(&u, lacking[0], lacking[1]) + 1, &norm,
				       "of this kind");
	}
	RD_FREE(u.pairs, u.of, u.order, u.sisters, u.seen);
}

void rd_judge_odd(struct judge *j)
{
	_cleanup_free_ struct link *links = rd_alloc(j->fabric->n_ports + 1, sizeof(*links));
	_cleanup_free_ bool *reported = rd_alloc(j->fabric->n_ports + 1, sizeof(*reported));

	for (int speed = 0; speed < 2; speed++) {
		size_t n = list_links(j, speed, links);

		qsort(links, n, sizeof(*links), compare_links);
		for (size_t from = 0, to; from < n; from = to) {
			for (to = from + 1; to < n && compare_link_kinds(&links[from], &links[to]) == 0;)
				to++;
			judge_link_kind(j, &links[from], to - from, reported);
		}
	}
	judge_uplinks(j);
	judge_rails(j);
}

void rd_fabric_accept_uplinks(struct rd_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		struct rd_finding *finding = &findings->v[i];
		bool uplink = strcmp(finding->id, missing) == 0;

		if ((!uplink && strcmp(finding->id, "fabric-rail-odd") != 0) || finding->caused_by.id)
			continue;
		finding->severity = RD_SEV_NOTE;
		finding->title =
			uplink ?
				"switch lacks a link that others like it have, and so it is in the saved topology" :
				"adapter is connected where the others have another name, and so it is in the saved topology";
		finding->harm = rd_fabric_harm(RD_HARM_NOTE, 0);
	}
}
