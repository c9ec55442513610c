/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/run/against.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analyse/run/against-priv.h"
#include "base/buf.h"
#include "base/number.h"
#include "base/text.h"

const struct rd_against_problem rd_against_not_here = {
	.id = "against-not-here",
	.title = "The run used NICs that this host does not have",
	.why = "a new run cannot use them",
	.severity = RD_SEV_WARNING,
};
const struct rd_against_problem rd_against_down = {
	.id = "against-down",
	.title = "The run used NICs whose ports are not active now",
	.why = "a new run cannot use them",
	.severity = RD_SEV_WARNING,
};

static void add_row(struct rd_against_state *st, const char *topic, enum rd_verdict verdict, char *subject,
		    char *predicted, char *observed, char *reason)
{
	struct rd_against_row row = {
		.topic = topic,
		.subject = subject,
		.predicted = predicted,
		.observed = observed,
		.reason = reason,
		.verdict = verdict,
	};

	rd_against_add(st->ret, &row);
}

void rd_against_same(struct rd_against_state *st, const char *topic, char *subject, char *predicted, char *observed,
		     char *reason)
{
	add_row(st, topic, RD_VERDICT_SAME, subject, predicted, observed, reason);
}

void rd_against_unknown(struct rd_against_state *st, const char *topic, char *subject, char *predicted, char *observed,
			char *reason)
{
	add_row(st, topic, RD_VERDICT_UNKNOWN, subject, predicted, observed, reason);
}

/* Findings of one problem are merged when they are printed. */
static void add_finding(struct rd_findings *findings, const struct rd_against_problem *problem, const char *subject,
			const char *observed, char *fix)
{
	struct rd_finding finding = {
		.id = problem->id,
		.title = problem->title,
		.why = problem->why,
		.severity = problem->severity,
		.subject = rd_text("%s", subject),
		.observed = observed ? rd_text("%s", observed) : NULL,
		.fix = fix,
	};

	rd_finding_add(findings, &finding);
}

void rd_against_differs(struct rd_against_state *st, const char *topic, const struct rd_against_problem *problem,
			char *subject, char *predicted, char *observed, char *reason, char *fix)
{
	add_finding(&st->ret->findings, problem, subject, reason ? reason : observed, fix);
	add_row(st, topic, RD_VERDICT_DIFFERS, subject, predicted, observed, reason);
}

bool rd_against_usable(const struct rd_host *host, size_t p)
{
	const struct rd_port *port = &host->ports[p];

	if (!rd_port_active(port) && !(host->from_topology_file && !port->state))
		return false;
	return !port->link_layer || rd_port_is_ethernet(port) || rd_port_is_ib(port);
}

int rd_against_ibdev(const struct rd_host *host, const char *name)
{
	size_t size = strcspn(name, "+");
	char one[128];
	int ibdev;

	snprintf(one, sizeof(one), "%.*s", (int)(size < sizeof(one) ? size : sizeof(one) - 1), name);
	ibdev = rd_host_find_ibdev(host, one);
	size = strlen(one);
	if (ibdev < 0 && size > 4 && strcmp(one + size - 4, "_dma") == 0) {
		one[size - 4] = '\0';
		ibdev = rd_host_find_ibdev(host, one);
	}
	return ibdev;
}

const char *rd_against_observed(const struct rd_run_host *run)
{
	if (run->network)
		return run->network;
	if (run->channels.n > 0)
		return run->channels.v[0].transport;
	/* NCCL before 2.6 does not log the name of the network. */
	if (run->devs.n > 0)
		return "IB";
	return run->no_device || run->no_interface ? "Socket" : NULL;
}

bool rd_against_is_ib(const char *network)
{
	return network && strncmp(network, "IB", 2) == 0;
}

bool rd_against_other_name(const struct rd_against_state *st)
{
	size_t size = st->name ? strcspn(st->name, ".") : 0;
	const char *name = st->run->name;

	return size > 0 && *name && (strcspn(name, ".") != size || strncmp(name, st->name, size) != 0);
}

static int gpu_at_bus(const struct rd_host *host, uint64_t bus)
{
	for (size_t g = 0; g < host->n_gpus; g++) {
		const struct rd_pci *pci = &host->pcis[host->gpus[g].pci];
		uint64_t id = (uint64_t)pci->domain << 20 | (uint64_t)pci->bus << 12 | (uint64_t)pci->dev << 4 |
			      pci->fn;

		if (id == bus)
			return (int)g;
	}
	return -1;
}

static int gpu_of_number(const struct rd_host *host, unsigned number)
{
	for (size_t g = 0; g < host->n_gpus; g++)
		if (host->gpus[g].index == number)
			return (int)g;
	return -1;
}

int rd_against_gpu_of_rank(const struct rd_against_state *st, unsigned number)
{
	for (size_t i = 0; i < st->run->ranks.n; i++) {
		const struct rd_run_rank *rank = &st->run->ranks.v[i];

		if (rank->rank != number)
			continue;
		if (rank->bus.known == RD_OK)
			return gpu_at_bus(st->host, rank->bus.v);
		return rank->nvml.known == RD_OK ? gpu_of_number(st->host, rank->nvml.v) : -1;
	}
	return -1;
}

/* Until 2.18 NCCL logs a busId, then the GPU's number, of at most two digits; most busIds have four or more. */
static int gpu_of_text(const struct rd_against_state *st, const char *text)
{
	uint64_t bus;
	uint32_t number;

	if (strlen(text) >= 4 || rd_runlog_before(st->log, 19, 1))
		return rd_take_uint(&text, RD_HEX, UINT64_MAX, &bus) < 0 ? -1 : gpu_at_bus(st->host, bus);
	return rd_parse_u32(text, RD_DECIMAL, 999, &number) < 0 ? -1 : gpu_of_number(st->host, number);
}

int rd_against_gpu(const struct rd_against_state *st, const struct rd_run_gpu *gpu)
{
	int found = gpu->rank.known == RD_OK ? rd_against_gpu_of_rank(st, gpu->rank.v) : -1;

	return found >= 0 ? found : gpu_of_text(st, gpu->text);
}

char *rd_against_variable(const struct rd_against_state *st, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rd_run_var(st->run, names[i]))
			return rd_text("the run had %s=%s", names[i], rd_run_var(st->run, names[i]));
	return NULL;
}

/* Whether this host has any device, NIC or GPU named in the log. `named`: how many it names. */
static bool any_here(const struct rd_against_state *st, size_t *named)
{
	const struct rd_run_host *run = st->run;
	bool any = false;

	*named = 0;
	for (size_t i = 0; i < run->devs.n; i++, ++*named)
		any |= rd_against_ibdev(st->host, run->devs.v[i].name) >= 0;
	for (size_t i = 0; i < run->nets.n; i++)
		if (run->nets.v[i].name) {
			any |= rd_against_ibdev(st->host, run->nets.v[i].name) >= 0;
			++*named;
		}
	for (size_t i = 0; i < run->ranks.n; i++)
		if (run->ranks.v[i].bus.known == RD_OK && st->host->n_gpus > 0) {
			any |= rd_against_gpu_of_rank(st, run->ranks.v[i].rank) >= 0;
			++*named;
		}
	return any;
}

/* Whether the log is of another host: no device named in it is on this host, and its host name is another. */
static bool is_other_host(const struct rd_against_state *st)
{
	size_t named;

	if (st->name && *st->run->name && !rd_against_other_name(st))
		return false;
	return !any_here(st, &named) && named > 0;
}

static void report_other_host(struct rd_against_state *st)
{
	struct rd_finding finding = {
		.id = "against-elsewhere",
		.severity = RD_SEV_UNKNOWN,
		.title = "Log is not from this host",
		.why = "no device and no GPU named in the log is on this host",
		.subject = rd_text("%s", *st->run->name ? st->run->name : "log"),
		.observed = rd_text("the log names %s", st->run->devs.n > 0 ? st->run->devs.v[0].name :
							st->run->nets.n > 0 && st->run->nets.v[0].name ?
									      st->run->nets.v[0].name :
									      "GPUs at other addresses"),
		.fix = rd_text("# use a bundle of that host: rdmadiag --from %s.tar.zst nic-map --against FILE",
			       *st->run->name ? st->run->name : "HOST"),
	};

	rd_finding_add(&st->ret->findings, &finding);
}

void rd_against_log(const struct rd_host *host, const struct rd_system *system, const struct rd_nicmap *map,
		    const struct rd_runlog *log, const struct rd_run_host *run, const char *name,
		    struct rd_against *ret)
{
	struct rd_against_state st = {
		.host = host,
		.map = map,
		.log = log,
		.run = run,
		.name = name,
		.ret = ret,
	};

	rd_against_recompute(&st, system);
	if (is_other_host(&st)) {
		report_other_host(&st);
	} else {
		rd_against_network(&st);
		rd_against_devices(&st);
		rd_against_gpus(&st);
		rd_against_stacks(&st);
	}
	free(st.allowed);
	rd_nicmap_deinit(&st.own);
}
