/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about a network: errors above their thresholds, and links that are slow, inactive or down. */
#include <fnmatch.h>

#include "analyse/fabric/fabric-judge-priv.h"
#include "base/fix.h"

/* ---- tables of thresholds */

#define BLANKS " \t\r"
#define WAIT_PERCENT "XmitWaitPercent"

void rd_fabric_limits_init(struct rd_fabric_limits *limits)
{
	for (size_t i = 0; i <= RD_PMA_COUNTERS; i++)
		limits->v[i] = (struct rd_fabric_limit){ -1, -1, -1 };
}

/* "-", or a number that is not negative. */
static bool take_limit(const char *word, double *ret)
{
	*ret = -1;
	return word && (strcmp(word, "-") == 0 || rd_parse_real(word, 0, 1e18, ret) == 0);
}

/* Sets the limit for all counters that match the pattern; false: none matches. */
static bool set_limit(struct rd_fabric_limits *limits, const char *pattern, const struct rd_fabric_limit *limit,
		      bool total_only)
{
	const char *star = strchr(pattern, '*');
	bool any = false;

	/* Many stars cost fnmatch a lot of time. */
	if (star && (star = strchr(star + 1, '*')) && strchr(star + 1, '*'))
		return false;
	for (size_t i = 0; i <= RD_PMA_COUNTERS; i++) {
		const char *name = i == RD_PMA_COUNTERS ? WAIT_PERCENT : rd_pma_counters[i].name;

		if (fnmatch(pattern, name, 0) != 0)
			continue;
		any = true;
		if (total_only)
			limits->v[i].total = limit->total;
		else
			limits->v[i] = *limit;
	}
	return any;
}

static const char *take_line(char *line, struct rd_fabric_limits *limits)
{
	struct rd_fabric_limit limit = { -1, -1, -1 };
	char *name, *equals, *rest = line;

	rest[strcspn(rest, "#")] = '\0';
	name = strsep(&rest, BLANKS);
	equals = strchr(name, '=');
	if (equals) {
		*equals = '\0';
		if (!take_limit(equals + 1, &limit.total) || (rest && rest[strspn(rest, BLANKS)]))
			return "expected NAME=TOTAL";
	} else {
		double *const values[] = { &limit.total, &limit.warning, &limit.critical };

		for (size_t i = 0; i < RD_ARRAY_SIZE(values); i++) {
			rest = rest ? rest + strspn(rest, BLANKS) : NULL;
			if (!take_limit(strsep(&rest, BLANKS), values[i]))
				return "expected COUNTER TOTAL WARNING CRITICAL, each a number or -";
		}
		if (rest && rest[strspn(rest, BLANKS)])
			return "expected COUNTER TOTAL WARNING CRITICAL, found more fields";
	}
	return set_limit(limits, name, &limit, equals != NULL) ? NULL :
								 "unknown counter, or a pattern with more than two '*'";
}

int rd_fabric_limits_parse(const char *name, const char *text, size_t size, struct rd_fabric_limits *limits,
			   struct rd_err *err)
{
	_cleanup_(rd_texts_deinit) struct rd_texts texts = { 0 };
	struct rd_lines lines;
	char *line;
	int r = rd_lines_init_table(&lines, &texts, "thresholds", name, text, size, err);

	while (!r && (line = rd_lines_next(&lines))) {
		const char *wrong = take_line(line, limits);

		if (wrong) {
			rd_lines_err(&lines, err, EBADMSG, ": %s", wrong);
			return rd_err_hint(
				err, "counter names are those of the specification: SymbolErrorCounter, PortRcvErrors");
		}
	}
	return r;
}

#define HOUR 3600.0
#define SHORTEST 60.0 /* seconds: one error in a second is not a rate of 3600 per hour */
#define FEWEST 2.0    /* errors: so few are not a rate, however short the time */
#define EXAMPLES 3
#define RESTART_DOWNS 3 /* times that a link goes down as firmware, boot loader and driver take it over */

bool rd_judge_is_uplink(const struct judge *j, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = rd_fabric_neighbour(j->fabric, port);

	return node_of(j, port)->kind == RD_NODE_SWITCH && peer && node_of(j, peer)->kind == RD_NODE_SWITCH;
}

/* ---- errors of a cable */

/* What a counter above its limit indicates: the first is the first thing to do something about. */
enum source {
	FROM_CABLE,
	FROM_LINK,
	FROM_ROUTES,
	FROM_FLOW_CONTROL,
	FROM_PARTITIONS,
	FROM_MTU,
	FROM_CONGESTION,
	FROM_MANAGEMENT,
	FROM_ELSEWHERE,
	FROM_LINK_DOWN,
	SOURCES
};

#define AGAIN "\n# then check whether they still increase\nrdmadiag counters --fabric --interval 10 --count 2"
static const char title_flaps[] = "link went down and came up again";
static const char title_elsewhere[] = "received packets that were damaged before they came here";

/* PORT and PEER: LID and number of the two ports. */
static const struct {
	const char *why, *fix;
} sources[SOURCES] = {
	[FROM_CABLE] = { "symbol errors, link recoveries and receive errors are usually caused by a bad cable, connector or "
			 "transceiver",
			 NULL },
	[FROM_LINK] = { "the link goes down and comes up again: a bad cable, connector or transceiver, or a node that restarts",
			"# compare with the peer port\n# clean, reseat or replace the cable" AGAIN },
	[FROM_ROUTES] = { "packets come here that this port cannot forward: the routes have a loop, or lead to the wrong port",
			  "rdmadiag counters --fabric --routes\n# not the cable: read the log of the subnet manager" AGAIN },
	[FROM_FLOW_CONTROL] = { "more packets came than there were credits for: flow control between the two ports fails",
				"# not the cable, at first: update the firmware of both nodes" AGAIN },
	[FROM_PARTITIONS] = { "packets of a partition that this port does not belong to are dropped",
			      "smpquery pkeys PORT\nsmpquery pkeys PEER\n# not the cable: compare both ends with the partitions of the subnet manager" AGAIN },
	[FROM_MTU] = { "packets larger than the MTU of the port at the other end are dropped",
		       "smpquery portinfo PORT\nsmpquery portinfo PEER\n# not the cable: compare the MTU of both ends" AGAIN },
	[FROM_CONGESTION] = { "packets were dropped because they waited too long: the port behind this one is slow or blocked",
			      "# not the cable: look for the port that is waited for, and for hosts that do not receive" AGAIN },
	[FROM_MANAGEMENT] = { "management packets were dropped: more came than the node could handle",
			      "# not the cable: look for programs that query the network often" AGAIN },
	[FROM_ELSEWHERE] = { "a switch on the way marked them as damaged: the error was at another port",
			     "# not this cable: look at the ports with symbol and receive errors first" AGAIN },
	[FROM_LINK_DOWN] = { "packets for a link that was down were dropped: a consequence of that", NULL },
};

/* What the error counters of a port say. */
struct errors {
	struct rd_buf text;  /* "SymbolErrorCounter +3 in 60 s (5000)" for each counter above its limit */
	struct rd_buf limit; /* "at most 10" */
	enum rd_severity severity;
	double degree; /* the highest excess of these: above INCREASES their rate per hour, else totals in units of their limits */
	uint64_t most; /* the highest increase of these; 0: none */
	bool receives; /* errors in what the port received: the other end, or the cable, causes them */
	bool flaps;    /* the link went down within the last hour */
	bool sources[SOURCES];
};
#define INCREASES 1e6

static void errors_deinit(struct errors *errors)
{
	rd_buf_deinit(&errors->text);
	rd_buf_deinit(&errors->limit);
}

/* The detail, of counters from `first` to `last`, that is more than half of them all; `none`: there is none, or it was not read. */
static size_t main_detail(const struct judge *j, const struct rd_fabric_port *port, size_t first, size_t last,
			  size_t none)
{
	struct rd_pma_value value;
	uint64_t sum = 0, most = 0;
	size_t which = none;

	for (size_t i = first; i <= last && i < j->fabric->n_values; i++) {
		if (!rd_fabric_value(j->fabric, port, i, &value))
			continue;
		sum += value.v;
		if (value.v > most) {
			most = value.v;
			which = i;
		}
	}
	return most > sum / 2 ? which : none;
}

static enum source source_of(const struct judge *j, const struct rd_fabric_port *port, size_t counter)
{
	static const enum source of[] = { [RD_C_LINK_DOWNED] = FROM_LINK,
					  [RD_C_LOOPING_ERRORS] = FROM_ROUTES,
					  [RD_C_DLID_MAPPING_ERRORS] = FROM_ROUTES,
					  [RD_C_VL_MAPPING_ERRORS] = FROM_ROUTES,
					  [RD_C_BUFFER_OVERRUN_ERRORS] = FROM_FLOW_CONTROL,
					  [RD_C_EXCESSIVE_BUFFER_OVERRUN_ERRORS] = FROM_FLOW_CONTROL,
					  [RD_C_XMIT_CONSTRAINT_ERRORS] = FROM_PARTITIONS,
					  [RD_C_RCV_CONSTRAINT_ERRORS] = FROM_PARTITIONS,
					  [RD_C_NEIGHBOR_MTU_DISCARDS] = FROM_MTU,
					  [RD_C_XMIT_DISCARDS] = FROM_CONGESTION,
					  [RD_C_SW_LIFETIME_LIMIT_DISCARDS] = FROM_CONGESTION,
					  [RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS] = FROM_CONGESTION,
					  [RD_C_VL15_DROPPED] = FROM_MANAGEMENT,
					  [RD_C_QP1_DROPPED] = FROM_MANAGEMENT,
					  [RD_C_INACTIVE_DISCARDS] = FROM_LINK_DOWN,
					  [RD_C_RCV_REMOTE_PHYSICAL_ERRORS] = FROM_ELSEWHERE };

	if (counter == RD_C_RCV_ERRORS)
		counter = main_detail(j, port, RD_C_LOCAL_PHYSICAL_ERRORS, RD_C_LOOPING_ERRORS, counter);
	else if (counter == RD_C_XMIT_DISCARDS)
		counter = main_detail(j, port, RD_C_INACTIVE_DISCARDS, RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS, counter);
	return counter < RD_ARRAY_SIZE(of) ? of[counter] : FROM_CABLE;
}

/* Whether a counter increased by more than `limit` per hour: by the increases within the last hour, or by the latest one, if
 * that is not just a few. */
static bool exceeds(double limit, double sum, double delta, double seconds)
{
	double allowed = limit * (seconds < SHORTEST ? SHORTEST : seconds) / HOUR;

	return limit >= 0 && (sum > limit || delta > (allowed > FEWEST ? allowed : FEWEST));
}

/* Whether the link of the port went down because a node restarts: the node at its other end is not there now, or either was found
 * again within the hour. A single time is also what a restart looks like, at an adapter. */
static bool is_restart(const struct judge *j, const struct rd_fabric_port *port, uint64_t times)
{
	const struct rd_fabric_port *peer = rd_fabric_neighbour(j->fabric, port);

	if (!peer)
		return false;
	if (j->fates[peer->node] == RD_FATE_GONE || (times == 1 && !rd_judge_is_uplink(j, port)))
		return true;
	return rd_fabric_history_restarted(j->history, node_of(j, peer)->guid) ||
	       rd_fabric_history_restarted(j->history, node_of(j, port)->guid);
}

/* Whether another finding has the reason why the link of the port went down: the node at its other end is gone or silent, or the
 * link is still down. */
static bool has_reason(const struct judge *j, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = rd_fabric_neighbour(j->fabric, port);

	return peer ? j->fates[peer->node] != RD_FATE_HERE || port->peer == RD_NONE || port->lost || peer->lost :
		      port->was_guid != 0;
}

/* What a port counted as its link was lost, for a reason that is known, or as a node restarts, says nothing about the cable. */
static uint64_t counted_at_loss(const struct judge *j, const struct rd_fabric_port *port, size_t counter)
{
	const struct rd_fabric_port *peer = rd_fabric_neighbour(j->fabric, port);
	uint64_t times = rd_fabric_history_sum(j->history, j->fabric, port, RD_C_LINK_DOWNED), there = 0;
	bool still = port->peer == RD_NONE || port->lost || (peer && peer->lost);

	if (peer)
		there = rd_fabric_history_sum(j->history, j->fabric, peer, RD_C_LINK_DOWNED);
	times = there > times ? there : times;
	if (counter == RD_C_LINK_DOWNED || times > RESTART_DOWNS)
		return 0;
	return rd_fabric_history_lost(j->history, j->fabric, port, peer, counter, still);
}

static void note_limit(struct errors *errors, double limit, bool per_hour)
{
	if (errors->limit.len == 0)
		rd_buf_printf(&errors->limit, "at most %g%s", limit, per_hour ? " per hour" : "");
}

/* The increase of a counter: its severity. SKIP: none above the limits. */
static enum rd_severity judge_increase(const struct judge *j, const struct rd_fabric_port *port, size_t counter,
				       const struct rd_pma_value *value, uint64_t excused, struct errors *errors)
{
	const struct rd_fabric_limit *limit = &j->limits->v[counter];
	uint64_t delta = 0, sum = rd_fabric_history_sum(j->history, j->fabric, port, counter);
	enum rd_severity severity = RD_SEV_WARNING;
	double seconds = 0, per_hour;

	rd_fabric_delta(j->fabric, port, counter, &delta, &seconds);
	sum = sum < delta ? delta : sum;
	sum -= excused < sum ? excused : sum;
	delta = delta < sum ? delta : sum;
	if (!exceeds(limit->warning, (double)sum, (double)delta, seconds))
		return RD_SEV_SKIP;
	/* Several times: it flaps, whatever its state is now. */
	if (counter == RD_C_LINK_DOWNED && sum < 2 && has_reason(j, port))
		return RD_SEV_SKIP;
	if (counter == RD_C_LINK_DOWNED && sum <= RESTART_DOWNS && is_restart(j, port, sum))
		severity = RD_SEV_NOTE;
	else if (exceeds(limit->critical, (double)sum, (double)delta, seconds))
		severity = RD_SEV_CRITICAL;
	errors->flaps |= counter == RD_C_LINK_DOWNED && severity > RD_SEV_NOTE;
	errors->severity = severity > errors->severity ? severity : errors->severity;
	per_hour = delta ? (double)delta * HOUR / (seconds < SHORTEST ? SHORTEST : seconds) : (double)sum;
	errors->degree = INCREASES + per_hour > errors->degree ? INCREASES + per_hour : errors->degree;
	errors->most = sum > errors->most ? sum : errors->most;
	note_limit(errors, limit->warning, true);
	rd_buf_printf(&errors->text, "%s%s +%" PRIu64, errors->text.len ? ", " : "", rd_pma_counters[counter].name, sum);
	if (sum == delta)
		rd_buf_printf(&errors->text, " in %.3g s (%" PRIu64 ")", seconds, value->v);
	else
		rd_buf_printf(&errors->text, " within the last hour (%" PRIu64 ")", value->v);
	return severity;
}

/* Compares a counter with its limits. */
static void judge_counter(const struct judge *j, const struct rd_fabric_port *port, size_t counter,
			  struct errors *errors)
{
	const struct rd_fabric_limit *limit = &j->limits->v[counter];
	enum rd_severity increase;
	struct rd_pma_value value;
	enum source source;
	uint64_t excused;
	double excess;
	bool total;

	if (!rd_fabric_value(j->fabric, port, counter, &value))
		return;
	excused = value.v ? counted_at_loss(j, port, counter) : 0;
	increase = judge_increase(j, port, counter, &value, excused, errors);
	/* A total stands until it is cleared: a later sweep must not conceal what the first one reported. */
	total = increase <= RD_SEV_NOTE && limit->total >= 0 &&
		(double)(value.v - (excused < value.v ? excused : value.v)) > limit->total;
	if (!total && increase == RD_SEV_SKIP)
		return;
	source = source_of(j, port, counter);
	errors->sources[source] = true;
	errors->receives |= source == FROM_CABLE &&
			    (counter == RD_C_SYMBOL_ERROR || counter == RD_C_LINK_ERROR_RECOVERY ||
			     counter == RD_C_RCV_ERRORS || counter == RD_C_LOCAL_LINK_INTEGRITY_ERRORS);
	if (!total)
		return;
	errors->severity = errors->severity > RD_SEV_WARNING ? errors->severity : RD_SEV_WARNING;
	excess = (double)value.v / (limit->total + 1);
	excess = excess < INCREASES ? excess : INCREASES - 1;
	errors->degree = excess > errors->degree ? excess : errors->degree;
	if (increase == RD_SEV_NOTE)
		errors->limit.len = 0; /* what it is a note for */
	note_limit(errors, limit->total, false);
	if (increase == RD_SEV_SKIP)
		rd_buf_printf(&errors->text, "%s%s %s%" PRIu64, errors->text.len ? ", " : "",
			      rd_pma_counters[counter].name, rd_pma_saturated(&value) ? "at least " : "", value.v);
}

static void judge_counters(const struct judge *j, const struct rd_fabric_port *port, struct errors *errors)
{
	for (size_t i = 0; port && port->fresh && i < j->fabric->n_values; i++)
		if (rd_pma_counters[i].kind != RD_PMA_DATA && rd_pma_counters[i].kind != RD_PMA_PACKETS)
			judge_counter(j, port, i, errors);
}

/* What to do about a cable. A port counts errors in what it receives: in what the other end drives. */
static char *cable_fix(const struct judge *j, const struct rd_fabric_port *port, const struct rd_fabric_port *peer,
		       const struct errors *here, const struct errors *there)
{
	const struct rd_fabric_port *counts = there->receives ? peer : port, *drives = there->receives ? port : peer;
	_cleanup_free_ char *at = NULL, *from = NULL;

	if (!peer || here->receives == there->receives)
		return rd_text("# clean, reseat or replace the cable%s" AGAIN,
			       peer && here->receives ? ": both ends receive errors" : "");
	at = rd_safe(rd_fabric_name(node_of(j, counts)));
	from = rd_safe(rd_fabric_name(node_of(j, drives)));
	return rd_text(
		"# %s port %u counts what %s port %u drives: clean and reseat the cable there first, then at the other end, then replace it" AGAIN,
		at, counts->number, from, drives->number);
}

/* The text of a finding: by what is to be done first. */
static void explain(const struct judge *j, const struct rd_fabric_port *port, const struct rd_fabric_port *peer,
		    const struct errors *here, const struct errors *there, struct rd_finding *finding)
{
	_cleanup_free_ char *near = rd_text("%u %u", port->lid, port->number);
	_cleanup_free_ char *far = peer ? rd_text("%u %u", peer->lid, peer->number) : NULL;
	const struct rd_fix_word words[] = { { "PORT", near }, { "PEER", far } };
	size_t source = 0;

	while (source + 1 < SOURCES && !here->sources[source] && !there->sources[source])
		source++;
	finding->why = sources[source].why;
	if (source == FROM_LINK_DOWN)
		finding->severity = RD_SEV_NOTE;
	if (source == FROM_ELSEWHERE)
		finding->title = title_elsewhere;
	if (!peer && rd_fabric_has_no_link(port) && !here->flaps && here->most <= RD_HISTORY_LOSS_ERRORS) {
		finding->severity = RD_SEV_NOTE;
		finding->title = here->most ? "port without a link counts errors" :
					      "port without a link has counted errors before";
		finding->why =
			here->most ?
				"at the latest discovery its link was down; so it counts while a cable is plugged in" :
				"they say nothing about a cable that is not there";
		finding->fix = rd_text(
			here->most ? "ibportstate %u %u query\n# if its link does not come up, reseat the cable" :
				     "perfquery -R %u %u",
			port->lid, port->number);
		return;
	}
	if (finding->severity == RD_SEV_NOTE)
		return;
	finding->fix = source == FROM_CABLE ? cable_fix(j, port, peer, here, there) :
					      rd_fix_fill(sources[source].fix, words, RD_ARRAY_SIZE(words));
}

/* The finding about a port of a node, or, with 0, about the node; NULL: none. */
static struct rd_finding *find_finding(const struct judge *j, const char *id, const struct rd_fabric_node *node,
				       unsigned port)
{
	for (size_t i = 0; i < j->findings->n; i++)
		if (strcmp(j->findings->v[i].id, id) == 0 && j->findings->v[i].node_guid == node->guid &&
		    j->findings->v[i].port == port)
			return &j->findings->v[i];
	return NULL;
}

/* Both ports of a cable, or of the latest one, once: at the one with the lower index. */
static void judge_errors(struct judge *j, size_t index)
{
	const struct rd_fabric_port *port = &j->fabric->ports[index], *peer = rd_fabric_neighbour(j->fabric, port);
	_cleanup_(errors_deinit) struct errors here = { .severity = RD_SEV_SKIP }, there = { .severity = RD_SEV_SKIP };

	/* The other end may have another cable now. */
	if (peer && rd_fabric_neighbour(j->fabric, peer) != port)
		peer = NULL;
	if (peer && peer < port)
		return;
	judge_counters(j, port, &here);
	judge_counters(j, peer, &there);
	j->told[index] = here.text.len > 0;
	if (peer)
		j->told[peer - j->fabric->ports] = there.text.len > 0;
	if (here.text.len || there.text.len) {
		bool flaps = here.flaps || there.flaps;
		double degree = here.degree > there.degree ? here.degree : there.degree;
		_cleanup_free_ char *other = NULL;
		struct rd_finding finding = {
			.id = "fabric-errors",
			.severity = here.severity > there.severity ? here.severity : there.severity,
			.title = flaps ? title_flaps : "error counters above their threshold",
		};

		if (finding.severity == RD_SEV_NOTE)
			finding.title = "link went down and came up again, as when a node restarts";
		explain(j, port, peer, &here, &there, &finding);
		finding.harm = rd_fabric_harm(finding.severity == RD_SEV_NOTE	   ? RD_HARM_NOTE :
					      flaps && rd_judge_is_uplink(j, port) ? RD_HARM_UPLINK_FLAPPING :
					      flaps				   ? RD_HARM_FLAPPING :
										     RD_HARM_ERRORS,
					      finding.title == title_elsewhere ? 0 : degree);
		rd_finding_at_port(&finding, j->fabric, here.text.len ? port : peer);
		if (here.text.len && there.text.len) {
			other = rd_fabric_port_text(j->fabric, peer);
			finding.observed = rd_text("%s; %s: %s", here.text.data, other, there.text.data);
		} else {
			finding.observed = rd_dup(here.text.len ? here.text.data : there.text.data);
		}
		finding.expected = rd_text("%s (data file fabric-thresholds, or --thresholds FILE)",
					   here.limit.len ? here.limit.data : there.limit.data);
		rd_finding_add(j->findings, &finding);
	}
}

/* The finding about the cable at this port, whichever end it names; NULL: none. */
static struct rd_finding *find_cable(const struct judge *j, const char *id, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = rd_fabric_neighbour(j->fabric, port);
	struct rd_finding *finding = find_finding(j, id, node_of(j, port), port->number);

	return finding || !peer ? finding : find_finding(j, id, node_of(j, peer), peer->number);
}

/* Errors of a cable whose link is down now, or whose other node is gone, are consequences; a link that goes down again and again is
 * not. */
static void blame_link(struct judge *j, size_t index)
{
	const struct rd_fabric_port *port = &j->fabric->ports[index];
	const struct rd_fabric_port *peer = rd_fabric_neighbour(j->fabric, port);
	struct rd_finding *errors, *down, *gone;

	if (!peer || !has_reason(j, port))
		return;
	errors = find_finding(j, "fabric-errors", node_of(j, port), port->number);
	if (!errors || errors->caused_by.id)
		return;
	down = find_cable(j, "fabric-link-down", port);
	gone = find_finding(j, "fabric-node-gone", node_of(j, peer), 0);
	/* Packets for a node that does not respond are dropped. */
	if (!gone && errors->why == sources[FROM_CONGESTION].why)
		gone = find_finding(j, "fabric-agent-silent", node_of(j, peer), 0);
	if (down && errors->title == title_flaps)
		rd_finding_blame(down, errors);
	else if (down)
		rd_finding_blame(errors, down);
	else if (gone)
		rd_finding_blame(errors, gone);
}

/* ---- saturated counters */

/* One finding for all ports: a warning if another finding does not name the errors of one of them, else a note. */
static void judge_saturated(struct judge *j)
{
	_cleanup_buf_ struct rd_buf examples = { 0 }, text = { 0 };
	const struct rd_fabric_port *first = NULL;
	size_t n = 0;
	struct rd_finding finding = { "fabric-saturated", "error counters are at their maximum",
				      "they do not count further, so new errors are not visible", RD_SEV_NOTE,
				      .harm = rd_fabric_harm(RD_HARM_SATURATED, 0) };

	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];
		_cleanup_free_ char *name = NULL;

		text.len = 0;
		/* "LocalLinkIntegrityErrors at least 15", for each error counter at its maximum. */
		for (size_t k = 0; port->fresh && k < j->fabric->n_values; k++) {
			struct rd_pma_value value;

			/* 32-bit data and packet counters saturate within seconds; the extended counters replace them. */
			if (rd_pma_counters[k].kind == RD_PMA_DATA || rd_pma_counters[k].kind == RD_PMA_PACKETS ||
			    rd_pma_counters[k].kind == RD_PMA_WAIT || rd_pma_counters[k].kind == RD_PMA_NOTE)
				continue;
			if (rd_fabric_value(j->fabric, port, k, &value) && rd_pma_saturated(&value))
				rd_buf_printf(&text, "%s%s at least %" PRIu64, text.len ? ", " : "",
					      rd_pma_counters[k].name, value.v);
		}
		if (text.len == 0)
			continue;
		first = first ?: port;
		if (!j->told[i])
			finding.severity = RD_SEV_WARNING;
		if (n++ >= EXAMPLES)
			continue;
		name = rd_fabric_port_text(j->fabric, port);
		rd_buf_printf(&examples, "%s%s: %s", n > 1 ? "; " : "", name, text.data);
		if (n == 1)
			finding.observed = rd_dup(text.data);
	}
	if (n == 0)
		return;
	if (n == 1) {
		rd_finding_at_port(&finding, j->fabric, first);
	} else {
		finding.subject = rd_text("%zu ports", n);
		free(finding.observed);
		finding.observed = rd_text("%s%s", examples.data, n > EXAMPLES ? "; ..." : "");
	}
	finding.expected = rd_dup("below the maximum");
	finding.fix = n == 1 ? rd_text("perfquery -R %u %u", first->lid, first->number) : rd_dup("ibqueryerrors -k");
	rd_finding_add(j->findings, &finding);
}

/* ---- links */

/* Lanes and their bits in PortInfo, widest first. */
static const struct {
	unsigned lanes, bit;
} widths[] = { { 12, 8 }, { 8, 4 }, { 4, 2 }, { 2, 16 }, { 1, 1 } };

/* The widest width (lanes) of a mask; 0: unknown. */
static unsigned widest(unsigned mask)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(widths); i++)
		if (mask & widths[i].bit)
			return widths[i].lanes;
	return 0;
}

static bool is_below(const struct rd_fabric_port *port, unsigned width_mask, unsigned speed_mask)
{
	return (port->width_active && port->width_active < widest(width_mask)) ||
	       (port->speed_active && port->speed_active < rd_link_fastest(speed_mask));
}

/* Of what is enabled 0 means all. */
static enum rd_link_limit judge_link(const struct rd_fabric_port *a, const struct rd_fabric_port *b)
{
	unsigned width = a->width_supported & b->width_supported, speed = a->speed_supported & b->speed_supported;

	if (!is_below(a, width, speed))
		return RD_LINK_BEST;
	width &= (a->width_enabled ?: ~0u) & (b->width_enabled ?: ~0u);
	speed &= (a->speed_enabled ?: ~0u) & (b->speed_enabled ?: ~0u);
	return is_below(a, width, speed) ? RD_LINK_FAULTY : RD_LINK_CONFIGURED;
}

static void add_link_finding(struct judge *j, const struct rd_fabric_port *port, struct rd_finding *finding)
{
	const struct rd_fabric_port *peer = &j->fabric->ports[port->peer];
	unsigned width = widest(port->width_supported & peer->width_supported);
	unsigned speed = rd_link_fastest(port->speed_supported & peer->speed_supported);

	if (!finding->subject)
		rd_finding_at_port(finding, j->fabric, port);
	if (!finding->observed)
		finding->observed = rd_text("%ux %s", port->width_active, rd_link_speed_name(port->speed_active));
	finding->expected =
		rd_text("%ux %s", width ?: port->width_active, rd_link_speed_name(speed ?: port->speed_active));
	rd_finding_add(j->findings, finding);
}

enum rd_link_limit rd_judge_limit(const struct rd_fabric_port *port, const struct rd_fabric_port *peer)
{
	if (!port->width_supported || !port->speed_supported || !peer->width_supported || !peer->speed_supported)
		return RD_LINK_UNKNOWN;
	return judge_link(port, peer);
}

/* A cable is judged once, at the port with the lower index. Links limited by configuration are not a fault; one finding covers
 * all of them. */
static void judge_rates(struct judge *j)
{
	const struct rd_fabric_port *example = NULL;
	size_t limited = 0;

	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];
		enum rd_link_limit limit;

		if (port->presence == RD_PORT_GONE || port->peer == RD_NONE || i >= port->peer)
			continue;
		limit = judge_link(port, &j->fabric->ports[port->peer]);
		if (limit == RD_LINK_FAULTY) {
			struct rd_finding finding = {
				.id = "fabric-link-degraded",
				.severity = RD_SEV_WARNING,
				.title = "link is narrower or slower than both ends support",
				.harm = rd_fabric_harm(RD_HARM_LINK_SLOW, 0),
				.why = "it limits all traffic routed over it, and with it the whole job",
				.fix = rd_dup(
					"# reseat the cable at both ends, then replace it\n# also check that the cable is rated for the speed"),
			};

			add_link_finding(j, port, &finding);
		}
		if (limit != RD_LINK_CONFIGURED)
			continue;
		example = example ?: port;
		limited++;
	}
	if (example) {
		struct rd_finding finding = {
			.id = "fabric-link-limited",
			.severity = RD_SEV_NOTE,
			.title = limited == 1 ? "link is limited by configuration: both ends support more" :
						"links are limited by configuration: both ends support more",
			.why = "PortInfo LinkWidthEnabled or LinkSpeedEnabled of one or both ends is less than supported",
			.observed = rd_text("%zu link%s, this one %ux %s", limited, limited == 1 ? "" : "s",
					    example->width_active, rd_link_speed_name(example->speed_active)),
			.fix = rd_text("ibportstate %u %u query\n# if not intended: ibportstate shows what is enabled",
				       example->lid, example->number),
		};

		add_link_finding(j, example, &finding);
	}
}

static bool is_inactive(const struct rd_fabric_port *port)
{
	return port->state == RD_LINK_INIT || port->state == RD_LINK_ARMED;
}

static void judge_state(struct judge *j, const struct rd_fabric_port *port)
{
	struct rd_finding finding = { "fabric-link-inactive", "link is up, but not ACTIVE",
				      "the subnet manager has not set it to ACTIVE: only management packets can pass",
				      RD_SEV_WARNING, .harm = rd_fabric_harm(RD_HARM_LINK_DOWN, 0) };

	if (port->number == 0 || !is_inactive(port))
		return;
	/* Once per cable. */
	if (port->peer != RD_NONE && &j->fabric->ports[port->peer] < port && is_inactive(&j->fabric->ports[port->peer]))
		return;
	rd_finding_at_port(&finding, j->fabric, port);
	finding.observed = rd_dup(rd_link_state_name(port->state));
	finding.expected = rd_dup("ACTIVE");
	finding.fix = rd_dup(
		"sminfo\n# repeat in a minute, as a sweep of the subnet manager may be in progress\n# then read the log of "
		"the subnet manager");
	rd_finding_add(j->findings, &finding);
}

/* ---- links that went down between two discoveries, although both nodes are there */

static bool is_down(const struct rd_fabric_port *port)
{
	if (port->lost)
		return true;
	return port->peer == RD_NONE &&
	       (port->presence == RD_PORT_GONE || (port->state == RD_LINK_DOWN && !rd_fabric_is_unsure(port)));
}

static void judge_lost(struct judge *j, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = rd_fabric_neighbour(j->fabric, port);
	struct rd_finding finding = {
		"fabric-link-down", "link went down, both nodes are still there",
		"the cable was pulled, or it or a transceiver failed; other links carry its traffic, if there are any",
		RD_SEV_WARNING, .harm = rd_fabric_harm(RD_HARM_LINK_DOWN, rd_judge_is_uplink(j, port))
	};

	if (!peer || !is_down(port) || !is_down(peer) || port->presence == RD_PORT_GONE ||
	    j->fates[port->node] != RD_FATE_HERE || j->fates[peer->node] != RD_FATE_HERE)
		return;
	/* Once per cable. */
	if (peer < port && peer->presence != RD_PORT_GONE && rd_fabric_neighbour(j->fabric, peer) == port)
		return;
	if (port->physical_state == RD_PHYSICAL_DISABLED || peer->physical_state == RD_PHYSICAL_DISABLED) {
		finding.severity = RD_SEV_NOTE;
		finding.title = "link was disabled";
		finding.why = "PortPhysicalState of one of the ports is Disabled";
	} else if (port->mute || peer->mute) {
		finding.severity = RD_SEV_NOTE;
		finding.title = "link went down, and the node at one end does not respond";
		finding.why = "whether it is gone is known after the next discovery";
	}
	rd_finding_at_port(&finding, j->fabric, port);
	finding.observed = rd_dup("DOWN");
	finding.expected = rd_dup("ACTIVE, as at an earlier discovery");
	if (finding.severity != RD_SEV_NOTE)
		finding.fix =
			rd_text("ibportstate %u %u query\n# reseat the cable at both ends", port->lid, port->number);
	rd_finding_add(j->findings, &finding);
}

/* ---- all */

void rd_fabric_judge(const struct rd_fabric *fabric, const struct rd_fabric_limits *limits,
		     const struct rd_fabric_history *history, struct rd_findings *findings)
{
	struct judge j = { .fabric = fabric, .limits = limits, .history = history, .findings = findings };
	const struct rd_finding *worst = NULL;

	j.told = rd_alloc(fabric->n_ports + 1, sizeof(*j.told));
	rd_judge_nodes(&j);
	for (size_t i = 0; i < fabric->n_ports; i++)
		judge_errors(&j, i);
	/* Damaged packets are counted wherever they go: if a port counts errors of its own, it is the cause. */
	for (size_t i = 0; i < j.findings->n; i++) {
		const struct rd_finding *f = &j.findings->v[i];

		if (strcmp(f->id, "fabric-errors") == 0 && f->severity > RD_SEV_NOTE && f->title != title_elsewhere &&
		    f->why == sources[FROM_CABLE].why && (!worst || f->harm > worst->harm))
			worst = f;
	}
	for (size_t i = 0; worst && i < j.findings->n; i++)
		if (j.findings->v[i].title == title_elsewhere)
			rd_finding_blame(&j.findings->v[i], worst);
	judge_saturated(&j);
	for (size_t i = 0; i < fabric->n_ports; i++) {
		if (fabric->ports[i].presence == RD_PORT_GONE)
			continue;
		judge_state(&j, &fabric->ports[i]);
		judge_lost(&j, &fabric->ports[i]);
	}
	judge_rates(&j);
	rd_judge_odd(&j);
	for (size_t i = 0; i < fabric->n_ports; i++)
		blame_link(&j, i);
	/* Nodes are cut off by a link that is down or not ACTIVE. */
	for (size_t i = 0; i < fabric->n_nodes; i++) {
		const struct rd_fabric_block *block = &fabric->nodes[i].blocked;
		size_t at = block->port ? rd_fabric_find_port(fabric, block->guid, block->port) : RD_NONE;
		struct rd_finding *finding =
			at == RD_NONE ? NULL : find_finding(&j, "fabric-node-cut-off", &fabric->nodes[i], 0);
		struct rd_finding *cause = finding ? find_cable(&j, "fabric-link-inactive", &fabric->ports[at]) : NULL;

		if (finding && !cause)
			cause = find_cable(&j, "fabric-link-down", &fabric->ports[at]);
		if (cause)
			rd_finding_blame(finding, cause);
	}
	rd_fabric_judge_trees(fabric, limits, findings);
	RD_FREE(j.fates, j.told);
}
