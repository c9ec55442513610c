/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: opens a port, discovers the network and reads its counters. */
#include "fabric.h"

#include "analyse/fabric/fabric-update.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/datafile.h"
#include "collect/fabric/pma.h"
#include "collect/fabric/tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* SMPs are sent on VL15, which has no flow control and few buffers in switches: opensm keeps 4 in flight, ibnetdiscover 2, to the
 * whole network. The limit of each switch allows for more in all where routes do not meet. */
#define WALK_WINDOW 8
#define WALK_PER_SWITCH 2
/* Of the first try; 50, 100, 200 and 400 ms in all. Current devices respond within a millisecond: a lost datagram, whose place in the
 * windows stays occupied, is retried early, and a slow device has as much time as opensm gives it (200 ms), and more. */
#define WALK_TIMEOUT_MS 50
#define WALK_RETRIES 3
#define DEFAULT_MAP "/etc/opensm/ib-node-name-map"

static bool is_ethernet(const struct rd_mad_port *port)
{
	return strcmp(port->link_layer, "Ethernet") == 0;
}

static bool is_up(const struct rd_mad_port *port)
{
	return port->state == RD_LINK_ACTIVE || port->state == RD_LINK_ARMED;
}

/* Fills `err` with the reason why the network cannot be queried through this port, and a hint. */
static int set_port_error(const struct rd_mad_port *port, struct rd_err *err)
{
	char object[96];

	snprintf(object, sizeof(object), "%s port %u", port->ibdev, port->port);
	if (is_ethernet(port)) {
		rd_err_set(err, EPFNOSUPPORT, object, "link layer is Ethernet, --fabric needs InfiniBand");
		rd_err_hint(
			err,
			"read the counters of RoCE switches with the tools of their vendor; rdmadiag counters shows the "
			"counters of this host");
	} else if (port->state <= RD_LINK_DOWN) {
		rd_err_set(err, ENETDOWN, object, "port is down");
		rd_err_hint(err, "ibstat %s; check the cable and the switch port", port->ibdev);
	} else {
		rd_err_set(err, ENETUNREACH, object, "port is in state INIT: no subnet manager has configured it");
		rd_err_hint(err, "check whether a subnet manager is running: sminfo; systemctl status opensm");
	}
	return -err->code;
}

/* Selects the port `wanted` or, if NULL, the best one: InfiniBand, and up. */
static int choose_port(struct rd_source *source, const char *wanted, struct rd_mad_port *ret, struct rd_err *err)
{
	_cleanup_free_ struct rd_mad_port *ports = NULL;
	const struct rd_mad_port *best = NULL;
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
		rd_err_hint(err, "the first port is %s/%u; ibstat -l lists the devices", ports[0].ibdev, ports[0].port);
		return -ENODEV;
	}
	if (is_ethernet(best) || !is_up(best))
		return set_port_error(best, err);
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

int fabric_subsets(const struct fabric_opts *opts, uint64_t *ret, struct rd_err *err)
{
	return rd_pma_subsets(opts->subsets ? opts->subsets : RD_PMA_DEFAULT_SUBSETS, ret, err);
}

static uint64_t monotonic(struct rd_source *source)
{
	return source->ops->now(source, CLOCK_MONOTONIC);
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
	r = rd_fabric_probe(mads, &run->walk, &run->fabric, missing, responds, err);
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
	struct rd_sweep_limits plain = run->walk;
	struct rd_fabric other;
	uint64_t attributes;
	int r = fabric_subsets(&run->opts, &attributes, err);

	if (!r)
		r = rd_collect_fabric(mads, &run->from, &run->walk, attributes, ret, err);

	plain.per_switch = 0;
	if (r < 0 || strcmp(run->source->ops->name, "bundle") != 0 || !rd_fabric_is_incomplete(ret) ||
	    rd_collect_fabric(mads, &run->from, &plain, attributes, &other, NULL) < 0)
		return r;
	if (other.n_nodes > ret->n_nodes) {
		struct rd_fabric less = *ret;

		*ret = other;
		other = less;
	}
	rd_fabric_deinit(&other);
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
	run->discovered_ns = monotonic(run->source);
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
	run->discovered_ns = monotonic(run->source);
	if (found->reach)
		rd_fabric_update(&run->fabric, found->reach, &found->fabric);
	rd_fabric_deinit(&run->fabric);
	run->fabric = found->fabric;
	found->fabric = (struct rd_fabric){ 0 };
	run->fabric.by_need = !run->opts.subsets;
	run->fabric.traffic = run->opts.traffic;
	fabric_note_walk(run, found->hinted);
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
	run->limits.window = opts->window ? opts->window : limits.window;
	run->limits.timeout_ms = opts->timeout_ms ? opts->timeout_ms : limits.timeout_ms;
	run->walk = run->limits;
	run->walk.backoff = true;
	run->walk.per_switch = WALK_PER_SWITCH;
	run->walk.window = WALK_WINDOW;
	run->walk.retries = WALK_RETRIES;
	run->walk.timeout_ms = opts->timeout_ms ? opts->timeout_ms : WALK_TIMEOUT_MS;
	r = choose_port(source, opts->port, &run->from, err);
	if (!r)
		r = discover(run, err);
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
	if (!run->mads || (!begun && !fabric_walk_is_due(run)))
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

void fabric_refresh_sm_lid(struct fabric_run *run)
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

int fabric_sweep(struct fabric_run *run, struct rd_err *err)
{
	int r = open_port(run, err);

	if (!r)
		r = rd_fabric_sweep(run->mads, &run->limits, run->sweeps > 0, &run->fabric, err);
	if (!r)
		fabric_note_hints(run);
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
	struct fabric_opts opts = { 0 };
	struct rd_routes routes;
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
		r = rd_routes_read(run.mads, &run.limits, &run.walk, &run.fabric, NULL, 0, &routes, err);
	rd_routes_deinit(&routes);
	fabric_end(&run);
	return r;
}
