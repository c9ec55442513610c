/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: opens a port, discovers the network and reads its counters, and discovers it again when that is due. */
#include <time.h>

#include "cmd/datafile.h"
#include "fabric.h"

/* ---- when to discover the network again */

/* A walk after a hint, or after one that was incomplete. Each that found no change doubles the time until the next. */
#define WALK_SOON_NS UINT64_C(5000000000)
#define WALK_HINT_MAX_NS UINT64_C(60000000000)
/* Without a hint. A link that comes up, goes down or is exchanged leaves a trace in what every sweep reads; what does not, such as a
 * node that was renamed, can wait. Each walk costs several queries per port. */
#define WALK_LATE_NS UINT64_C(600000000000)
/* opensm itself is active at least every 10 seconds, its default sweep interval. */
#define SM_CHECK_NS UINT64_C(10000000000)
/* A subnet manager that responded before may be restarting: it is then checked more often, and reported as silent only after so many
 * checks. */
#define SM_CHECK_SILENT_NS UINT64_C(2000000000)
#define SM_SILENCES 5
/* The subnet manager may have changed routes. */
#define TRACE_NS UINT64_C(10000000000)
#define RECENT_NS UINT64_C(1000000000)

static bool has_moved(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter)
{
	uint64_t delta;

	return rd_fabric_delta(fabric, port, counter, &delta, NULL) && delta > 0;
}

/* A link went down since the previous sweep, or a port whose link was down passes packets. */
static bool has_link_changed(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	if (!port->fresh || port->presence == RD_PORT_GONE)
		return false;
	if (has_moved(fabric, port, RD_C_LINK_DOWNED))
		return true;
	return port->number > 0 && port->peer == RD_NONE && port->state == RD_LINK_DOWN && !port->unread &&
	       (has_moved(fabric, port, RD_C_RCV_PKTS) || has_moved(fabric, port, RD_C_XMIT_PKTS));
}

/* Reads again which LID the subnet manager has. */
static void refresh_sm_lid(struct fabric_run *run)
{
	_cleanup_free_ struct rd_mad_port *ports = NULL;
	struct rd_err err = { 0 };
	size_t n = 0;

	if (rd_collect_mad_ports(run->source, &ports, &n, &err) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (ports[i].port == run->from.port && strcmp(ports[i].ibdev, run->from.ibdev) == 0 &&
		    run->from.sm_lid != ports[i].sm_lid) {
			run->from.sm_lid = ports[i].sm_lid;
			run->sm_silences = 0; /* those of another one */
		}
}

/* The subnet manager stopped, moved, or is no longer the master: it may have changed LIDs and routes. */
static bool has_manager_changed(struct fabric_run *run)
{
	struct rd_sm_info now = { 0 }, *before = &run->sm;
	bool changed, first = run->sm_checked_ns == 0;
	uint64_t wait = run->sm_silences ? SM_CHECK_SILENT_NS : SM_CHECK_NS;

	if (strcmp(run->source->ops->name, "live") != 0 || !run->from.sm_lid ||
	    fabric_now(run) - run->sm_checked_ns < wait)
		return false;
	run->sm_checked_ns = fabric_now(run);
	if (rd_fabric_query_sm(run->mads, &run->limits, (uint16_t)run->from.sm_lid, &now, NULL) < 0)
		return false;
	run->sm_silences = now.known ? 0 : run->sm_silences + (first ? SM_SILENCES : 1);
	now.stalled = now.known && before->known && now.guid == before->guid && now.activity == before->activity;
	changed = before->known && (!now.known || now.guid != before->guid || now.state != before->state ||
				    (now.stalled && !before->stalled));
	if (changed)
		refresh_sm_lid(run);
	*before = now;
	return changed;
}

/* The routes of nodes that do not respond: when there are more or fewer of these, and from time to time. */
static void trace_silent(struct fabric_run *run)
{
	uint64_t now = fabric_now(run);
	struct rd_sweep_limits limits = run->limits;
	size_t silent = 0;
	bool recent;

	for (size_t i = 0; i < run->fabric.n_ports; i++)
		silent += run->fabric.ports[i].selected && run->fabric.ports[i].error == ETIMEDOUT;
	if (silent == run->silent_ports && (!silent || now - run->traced_ns < TRACE_NS))
		return;
	/* A walk just before this sweep knows the LIDs, and so does one after the nodes became silent. */
	recent = now < run->discovered_ns + run->fabric.sweep.duration_ns + RECENT_NS;
	limits.retries = 1;
	limits.window = RD_SWEEP_WINDOW_LOSSY; /* directed routes, through the same switches */
	run->silent_ports = silent;
	run->traced_ns = now;
	rd_fabric_trace_silent(run->mads, &limits, recent || !run->fabric.changed, &run->fabric, NULL);
}

/* After a sweep: hints that the network changed. */
static void note_hints(struct fabric_run *run)
{
	struct rd_fabric *fabric = &run->fabric;

	trace_silent(run);
	if (strcmp(run->source->ops->name, "live") == 0 && run->sweeps > 0)
		rd_fabric_check_links(run->mads, &run->limits, fabric, NULL);
	run->changed |= has_manager_changed(run);
	run->changed |= fabric->changed;
	fabric->sm_silent = run->sm_silences >= SM_SILENCES;
	for (size_t i = 0; i < fabric->n_ports && !run->changed; i++)
		run->changed = has_link_changed(fabric, &fabric->ports[i]);
}

static bool walk_is_due(const struct fabric_run *run)
{
	uint64_t wait = WALK_LATE_NS;

	if (run->changed)
		wait = run->walk_wait_ns < WALK_HINT_MAX_NS ? run->walk_wait_ns : WALK_HINT_MAX_NS;
	else if (run->incomplete)
		wait = run->walk_wait_ns < WALK_LATE_NS ? run->walk_wait_ns : WALK_LATE_NS;
	return fabric_now(run) - run->discovered_ns >= wait;
}

/* After a walk; `hinted`: there was a reason for it. */
static void note_walk(struct fabric_run *run, bool hinted)
{
	const struct rd_fabric *fabric = &run->fabric;
	bool changed = false;
	size_t gone = 0;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		enum rd_presence presence = fabric->ports[i].presence;

		gone += presence == RD_PORT_GONE;
		changed |= presence == RD_PORT_NEW || presence == RD_PORT_REPLACED || presence == RD_PORT_MOVED;
	}
	changed |= gone != run->gone;
	run->gone = gone;
	run->incomplete = rd_fabric_is_incomplete(fabric);
	if (changed || !hinted || !run->walk_wait_ns)
		run->walk_wait_ns = WALK_SOON_NS;
	else if (run->walk_wait_ns < WALK_LATE_NS)
		run->walk_wait_ns *= 2;
}

/* ---- discovery and sweeps */

#define DEFAULT_MAP "/etc/opensm/ib-node-name-map"

static bool is_ethernet(const struct rd_mad_port *port)
{
	return strcmp(port->link_layer, "Ethernet") == 0;
}

static bool is_up(const struct rd_mad_port *port)
{
	return port->state == RD_LINK_ACTIVE || port->state == RD_LINK_ARMED;
}

/* Selects the port `wanted` or, if NULL, the best one: InfiniBand, and up. */
static int choose_port(struct rd_source *source, const char *wanted, struct rd_mad_port *ret, struct rd_err *err)
{
	_cleanup_free_ struct rd_mad_port *ports = NULL;
	const struct rd_mad_port *best = NULL;
	char object[96];
	size_t n = 0;
	int r = rd_collect_mad_ports(source, &ports, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		const struct rd_mad_port *port = &ports[i];

		if (wanted && !rd_port_fits(wanted, port->ibdev, port->port))
			continue;
		if (!best || (is_ethernet(best) && !is_ethernet(port)) ||
		    (is_ethernet(best) == is_ethernet(port) && !is_up(best) && port->state > best->state))
			best = port;
	}
	if (!best) {
		rd_err_set(err, ENODEV, wanted, "no such port on this host");
		return rd_err_hint(err, "the first port is %s/%u; ibstat -l lists the devices", ports[0].ibdev,
				   ports[0].port);
	}
	/* Why the network cannot be queried through this port. */
	snprintf(object, sizeof(object), "%s port %u", best->ibdev, best->port);
	if (is_ethernet(best)) {
		rd_err_set(err, EPFNOSUPPORT, object, "link layer is Ethernet, --fabric needs InfiniBand");
		return rd_err_hint(
			err,
			"read the counters of RoCE switches with the tools of their vendor; rdmadiag counters shows the counters of this host");
	}
	if (best->state <= RD_LINK_DOWN) {
		rd_err_set(err, ENETDOWN, object, "port is down");
		return rd_err_hint(err, "ibstat %s; check the cable and the switch port", best->ibdev);
	}
	if (!is_up(best)) {
		rd_err_set(err, ENETUNREACH, object, "port is in state INIT: no subnet manager has configured it");
		return rd_err_hint(err, "check whether a subnet manager is running: sminfo; systemctl status opensm");
	}
	*ret = *best;
	return 0;
}

static int name_nodes(struct fabric_run *run, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	const char *path = run->opts.node_name_map;
	size_t bad = 0;
	int r = path ? rd_read_local(path, &bytes, err) : rd_read_file(run->source, DEFAULT_MAP, &bytes, NULL);

	if (r < 0 && path)
		return r;
	if (r >= 0)
		rd_fabric_name_nodes(&run->fabric, (const char *)bytes.data, &bad);
	rd_fabric_tell_apart(&run->fabric);
	if (bad && path)
		return rd_err_set(err, EINVAL, path, "%zu invalid line%s: expected: 0x<node GUID> \"name\"", bad,
				  bad == 1 ? "" : "s");
	return 0;
}

/* The background shares the port below the pulse, which is for what the user waits for. */
static int open_port(struct fabric_run *run, struct rd_err *err)
{
	struct rd_mads *mads;
	int r = 0;

	if (run->mads)
		return 0;
	r = rd_mad_open(run->source, run->from.ibdev, run->from.port, &mads, err);
	if (r < 0)
		return r;
	if (strcmp(run->source->ops->name, "live") == 0) {
		run->background = rd_background_open(mads);
		mads = rd_background_port(run->background);
	}
	run->mads = run->opts.pulse.beat ? rd_pulse_wrap(mads, &run->opts.pulse) : mads;
	return 0;
}

static void found_deinit(struct fabric_found *found)
{
	rd_fabric_deinit(&found->fabric);
	free(found->reach);
	*found = (struct fabric_found){ 0 };
}

/* A discovery that has not ended still is to be done. */
static void close_port(struct fabric_run *run)
{
	if (run->background && rd_background_begun(run->background)) {
		rd_background_finish(run->background, NULL);
		run->changed |= run->found.changed;
	}
	found_deinit(&run->found);
	rd_mads_closep(&run->mads);
	run->mads = NULL;
	if (run->background)
		rd_background_close(run->background);
	run->background = NULL;
}

/* What became of the nodes that were known before. A node is gone only if the walk shows that it is not where it was, and it does not
 * respond at its LID either. */
static int find_reach(struct fabric_run *run, struct rd_mads *mads, struct fabric_found *found, struct rd_err *err)
{
	_cleanup_free_ bool *missing = rd_alloc(run->fabric.n_nodes + 1, sizeof(*missing));
	_cleanup_free_ bool *responds = rd_alloc(run->fabric.n_nodes + 1, sizeof(*responds));
	int r;

	found->reach = rd_fabric_reach(&run->fabric, &found->fabric);
	for (size_t i = 0; i < run->fabric.n_nodes; i++)
		missing[i] = found->reach[i] == RD_REACH_MISSING;
	r = rd_fabric_probe(mads, &run->limits, &run->fabric, missing, responds, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < run->fabric.n_nodes; i++)
		if (missing[i] && responds[i])
			found->reach[i] = RD_REACH_UNKNOWN;
	return 0;
}

/* A bundle of version 0.2 has responses to the routes of a walk that does not spread them. */
static int collect(struct fabric_run *run, struct rd_mads *mads, struct rd_fabric *ret, struct rd_err *err)
{
	struct rd_sweep_limits plain = run->limits;
	_cleanup_(rd_fabric_deinit) struct rd_fabric other = { 0 };
	uint64_t attributes;
	int r = rd_pma_subsets(run->opts.subsets, &attributes, err) ?:
			rd_collect_fabric(mads, &run->from, &run->limits, attributes, ret, err);

	plain.per_switch = 0;
	if (r < 0 || strcmp(run->source->ops->name, "bundle") != 0 || !rd_fabric_is_incomplete(ret) ||
	    rd_collect_fabric(mads, &run->from, &plain, attributes, &other, NULL) < 0)
		return r;
	if (other.n_nodes > ret->n_nodes) {
		struct rd_fabric less = *ret;

		*ret = other;
		other = less;
	}
	return 0;
}

/* Discovers the network; changes nothing but run->found. */
static int find_network(void *arg, struct rd_mads *mads, struct rd_err *err)
{
	struct fabric_run *run = arg;
	int r = collect(run, mads, &run->found.fabric, err);

	return r || !run->fabric.n_nodes ? r : find_reach(run, mads, &run->found, err);
}

static void begin_discovery(struct fabric_run *run)
{
	run->found = (struct fabric_found){ .hinted = run->changed || run->incomplete, .changed = run->changed };
	run->discovered_ns = fabric_now(run);
	run->changed = false;
}

/* Takes over what a discovery found, with the counters of the one before. `r`: its result. */
static int end_discovery(struct fabric_run *run, int r, struct rd_err *err)
{
	struct fabric_found *found = &run->found;

	if (r < 0) {
		run->changed |= found->changed; /* still to be discovered */
		close_port(run);
		return r;
	}
	run->discovered_ns = fabric_now(run);
	if (found->reach)
		rd_fabric_update(&run->fabric, found->reach, &found->fabric);
	rd_fabric_deinit(&run->fabric);
	run->fabric = found->fabric;
	found->fabric = (struct rd_fabric){ 0 };
	run->fabric.by_need = !run->opts.subsets;
	run->fabric.traffic = run->opts.traffic;
	note_walk(run, found->hinted);
	found_deinit(found);
	r = name_nodes(run, err);
	if (!r && run->opts.divide)
		r = run->opts.divide(run->opts.divide_arg, &run->fabric, err);
	return r;
}

static int discover(struct fabric_run *run, struct rd_err *err)
{
	int r = open_port(run, err);

	if (r < 0)
		return r;
	begin_discovery(run);
	return end_discovery(run, find_network(run, run->mads, err), err);
}

int fabric_begin(struct rd_source *source, const struct fabric_opts *opts, struct fabric_run *run, struct rd_err *err)
{
	struct rd_sweep_limits limits = RD_SWEEP_LIMITS_DEFAULT;
	int r;

	*run = (struct fabric_run){ .source = source, .opts = *opts, .limits = limits };
	run->limits.window = opts->window ?: limits.window;
	run->limits.timeout_ms = opts->timeout_ms ?: limits.timeout_ms;
	r = choose_port(source, opts->port, &run->from, err) ?: discover(run, err);
	if (r < 0)
		fabric_end(run);
	return r;
}

bool fabric_refresh(struct fabric_run *run, unsigned ms)
{
	struct rd_background *background = run->background;
	bool begun = background && rd_background_begun(background);
	struct rd_err err = { 0 };

	/* If discovery fails, the known ports are still queried: this shows which of them respond. */
	if (!run->mads || (!begun && !walk_is_due(run)))
		return false;
	if (!background)
		return discover(run, &err), true;
	if (!begun)
		begin_discovery(run);
	/* Without a thread, sweeps have to wait. */
	if (!begun && rd_background_begin(background, find_network, run, &err) < 0)
		return end_discovery(run, find_network(run, run->mads, &err), &err), true;
	if (rd_background_continue(background, ms))
		end_discovery(run, rd_background_finish(background, &err), &err);
	return true;
}

int fabric_sweep(struct fabric_run *run, struct rd_err *err)
{
	int r = open_port(run, err) ?: rd_fabric_sweep(run->mads, &run->limits, run->sweeps > 0, &run->fabric, err);

	if (!r)
		note_hints(run);
	/* The device may have been re-registered: the next sweep reopens the port. */
	if (r < 0)
		close_port(run);
	run->sweeps++;
	return r;
}

void fabric_end(struct fabric_run *run)
{
	rd_fabric_deinit(&run->fabric);
	close_port(run);
}

int fabric_record(struct rd_source *source, struct rd_err *err)
{
	_cleanup_(rd_routes_deinit) struct rd_routes routes = { 0 };
	struct fabric_opts opts = { 0 };
	struct fabric_run run;
	int r = fabric_begin(source, &opts, &run, err);

	if (r < 0)
		return r;
	r = fabric_sweep(&run, err);
	/* Then all that --subsets can ask for by default, of all ports. */
	run.fabric.by_need = false;
	if (!r)
		r = fabric_sweep(&run, err);
	/* For --path and --routes. */
	rd_routes_init(&run.fabric, &routes);
	if (!r)
		r = rd_routes_read(run.mads, &run.limits, &run.fabric, NULL, 0, &routes, err);
	fabric_end(&run);
	return r;
}
