/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What UCX, Mooncake and NVSHMEM used. */
#include <stdio.h>
#include <string.h>

#include "analyse/run/against-priv.h"
#include "analyse/shared/gid.h"
#include "base/buf.h"
#include "base/number.h"
#include "base/text.h"

static const struct rd_against_problem passed_over = {
	.id = "against-not-used",
	.title = "The run did not use NICs that are active on this host",
	.why = "GPUs near these NICs use and share NICs that are farther away",
	.severity = RD_SEV_WARNING,
};
static const struct rd_against_problem tcp = {
	.id = "against-tcp",
	.title = "The run used TCP sockets although RDMA ports are active",
	.why = "all traffic between hosts went through the kernel's TCP stack, at a fraction of the link rate",
	.severity = RD_SEV_CRITICAL,
};
static const struct rd_against_problem bad_gid = {
	.id = "against-gid",
	.title = "The run used an unusable GID",
	.why = "connections to other hosts time out",
	.severity = RD_SEV_WARNING,
};
static const struct rd_against_problem far_nic = {
	.id = "against-nic",
	.title = "GPUs used different NICs than predicted for this host",
	.why = "a NIC that is farther away, or shared, is slower",
	.severity = RD_SEV_WARNING,
};

/* The port that the stack names, or the first port of the device if it names none; -1: not found. */
static int port_of(const struct rd_host *host, const struct rd_run_use *use)
{
	for (size_t p = 0; p < host->n_ports; p++) {
		const char *name = host->ibdevs[host->ports[p].ibdev].name;

		if (name && strcmp(name, use->device) == 0 && (!use->port || host->ports[p].num == use->port))
			return (int)p;
	}
	return -1;
}

static char *label_of(const struct rd_run_use *use)
{
	return use->port ? rd_text("%s/%u", use->device, use->port) : rd_text("%s", use->device);
}

static bool is_active(const struct rd_host *host, int port)
{
	return rd_port_active(&host->ports[port]) || (host->from_topology_file && !host->ports[port].state);
}

/* A device that the stack used, or did not use because its port was not active. */
static void compare_device(struct rd_against_state *st, const struct rd_run_use *use, int port)
{
	const char *topic = rd_run_stack_name(use->stack);
	char *seen = use->refused   ? rd_text("not active") :
		     use->transport ? rd_text("%s", use->transport) :
				      rd_text("used");

	if (port < 0)
		rd_against_differs(st, topic, &rd_against_not_here, label_of(use), NULL, seen,
				   rd_text("the device was removed or renamed since, or the log is from another host"),
				   rd_text("rdma dev"));
	else if (is_active(st->host, port) == !use->refused)
		rd_against_same(st, topic, label_of(use), rd_text("%s", use->refused ? "not active" : "active"), seen,
				NULL);
	else if (use->refused)
		rd_against_differs(st, topic, &passed_over, label_of(use), rd_text("active"), seen,
				   rd_text("its port became active since"), rd_text("# restart the job"));
	else
		rd_against_differs(st, topic, &rd_against_down, label_of(use), rd_text("not active"), seen,
				   rd_text("its port was active then"), rd_text("rdma link show %s", use->device));
}

/* Mooncake logs the index of the GID that it uses. */
static void compare_gid(struct rd_against_state *st, const struct rd_run_use *use, const struct rd_port *port)
{
	const struct rd_gid *gid;
	const char *fault;
	char *here, *seen;
	int own;

	if (use->gid < 0 || !port->gids_known || !rd_port_is_ethernet(port))
		return;
	gid = rd_gid_at(port, (unsigned)use->gid);
	fault = gid ? rd_gid_fault(st->host, port, gid) : "no GID at this index";
	own = rd_port_gid_index(&st->map->ports, (size_t)(port - st->host->ports));
	here = own >= 0 ? rd_text("%d", own) : NULL;
	seen = rd_text("%d", use->gid);
	if (own == use->gid)
		rd_against_same(st, "gid", label_of(use), here, seen, NULL);
	else if (fault)
		rd_against_differs(st, "gid", &bad_gid, label_of(use), here, seen, rd_text("%s", fault),
				   own >= 0 ? rd_text("# set MC_GID_INDEX=%d in the job's environment", own) : NULL);
	else
		rd_against_unknown(st, "gid", label_of(use), here, seen,
				   rd_text("this GID can also be used: %s chooses by its own rules",
					   rd_run_stack_name(use->stack)));
}

/* NVSHMEM PEs numbered from 0 are those of this host; others cannot be assigned to a GPU. */
static void compare_pe(struct rd_against_state *st, const struct rd_run_use *use)
{
	const struct rd_choices *choices = &st->map->nvshmem;
	_cleanup_buf_ struct rd_buf here = { 0 };
	char *subject = rd_text("PE %d", use->pe), *seen = rd_text("%s", use->device), *reason;
	bool same = false;

	if ((size_t)use->pe >= choices->n) {
		rd_against_unknown(st, "NVSHMEM", subject, NULL, seen, rd_text("unknown which GPU this PE uses"));
		return;
	}
	for (size_t p = 0; p < choices->v[use->pe].n_ports; p++) {
		const char *name = rd_ibdev_label(st->host, st->host->ports[choices->v[use->pe].ports[p]].ibdev);

		same |= strcmp(name, use->device) == 0;
		rd_buf_printf(&here, "%s%s", here.len ? " " : "", name);
	}
	reason = rd_run_var(st->run, "NVSHMEM_ENABLE_NIC_PE_MAPPING") || rd_run_var(st->run, "NVSHMEM_HCA_LIST") ?
			 rd_text("the run had its own list of NICs") :
			 NULL;
	if (same)
		rd_against_same(st, "NVSHMEM", subject, rd_text("%s", here.data), seen, reason);
	else if (reason || rd_against_other_name(st))
		rd_against_unknown(st, "NVSHMEM", subject, rd_text("%s", here.len ? here.data : "none"), seen,
				   reason ? reason : rd_text("the number of PEs on the host is unknown"));
	else
		rd_against_differs(st, "NVSHMEM", &far_nic, subject, rd_text("%s", here.len ? here.data : "none"), seen,
				   rd_text("depends on the number of PEs on the host: --pes N"), NULL);
}

/* "cuda:0" and the devices that Mooncake prefers: they should be the nearest ones. */
static void compare_preferred(struct rd_against_state *st, const struct rd_run_prefer *prefer)
{
	const char *number = strchr(prefer->place, ':'), *at = prefer->names;
	enum rd_path best = RD_PATH_UNKNOWN, worst = RD_PATH_UNKNOWN;
	char *subject, *seen;
	uint32_t gpu;

	if (!number || strncmp(prefer->place, "cpu", 3) == 0 ||
	    rd_parse_u32(number + 1, RD_DECIMAL, INT32_MAX, &gpu) < 0 || gpu >= st->host->n_gpus)
		return;
	for (size_t d = 0; d < st->host->n_ibdevs; d++) {
		enum rd_path path = rd_nicmap_pair(st->map, (size_t)gpu, d)->path;

		if (path != RD_PATH_UNKNOWN && (best == RD_PATH_UNKNOWN || path < best))
			best = path;
	}
	while (*at) {
		size_t size = strcspn(at, " ");
		char name[128];
		int ibdev;

		snprintf(name, sizeof(name), "%.*s", (int)(size < 127 ? size : 127), at);
		ibdev = rd_host_find_ibdev(st->host, name);
		if (ibdev < 0)
			return;
		if (rd_nicmap_pair(st->map, (size_t)gpu, (size_t)ibdev)->path > worst)
			worst = rd_nicmap_pair(st->map, (size_t)gpu, (size_t)ibdev)->path;
		at += size + (at[size] == ' ');
	}
	subject = rd_text("%s", prefer->place);
	seen = rd_text("%s", prefer->names);
	if (best == RD_PATH_UNKNOWN || worst == RD_PATH_UNKNOWN)
		rd_against_unknown(st, "Mooncake", subject, NULL, seen, rd_text("the distance is unknown"));
	else if (worst == best)
		rd_against_same(st, "Mooncake", subject, rd_text("%s", rd_path_name(best)), seen, NULL);
	else
		rd_against_unknown(
			st, "Mooncake", subject, rd_text("%s", rd_path_name(best)), seen,
			rd_text("one of them is %s: Mooncake counts components of sysfs paths, and CUDA may number GPUs "
				"differently",
				rd_path_name(worst)));
}

static bool has_rdma_use(const struct rd_run_host *run)
{
	for (size_t i = 0; i < run->uses.n; i++)
		if (run->uses.v[i].stack == RD_RUN_UCX && strcmp(run->uses.v[i].transport, "tcp") != 0)
			return true;
	return false;
}

/* UCX used only TCP. */
static void compare_tcp(struct rd_against_state *st, const struct rd_run_use *use)
{
	const char *tls = rd_run_var(st->run, "UCX_TLS"), *devices = rd_run_var(st->run, "UCX_NET_DEVICES");
	size_t n = 0;
	char *reason, *fix;

	for (size_t p = 0; p < st->host->n_ports; p++)
		n += rd_against_usable(st->host, p);
	if (has_rdma_use(st->run))
		return;
	if (n == 0) {
		rd_against_same(st, "UCX", label_of(use), rd_text("tcp"), rd_text("tcp"),
				rd_text("no RDMA port is active"));
		return;
	}
	reason = tls	 ? rd_text("the run had UCX_TLS=%s", tls) :
		 devices ? rd_text("the run had UCX_NET_DEVICES=%s", devices) :
			   rd_text("the process found no RDMA device, or its UCX was built without verbs");
	fix = tls || devices ?
		      rd_text("# unset %s in the job's environment", tls ? "UCX_TLS" : "UCX_NET_DEVICES") :
		      rd_text("# where the job runs: ucx_info -d | grep -A3 Transport\n# there also: ls /dev/infiniband");
	rd_against_differs(st, "UCX", &tcp, label_of(use), rd_text("rc, ud or dc"), rd_text("tcp"), reason, fix);
}

void rd_against_stacks(struct rd_against_state *st)
{
	for (size_t i = 0; i < st->run->uses.n; i++) {
		const struct rd_run_use *use = &st->run->uses.v[i];
		int port = port_of(st->host, use);

		if (use->stack == RD_RUN_NVSHMEM) {
			compare_pe(st, use);
		} else if (use->transport && strcmp(use->transport, "tcp") == 0) {
			compare_tcp(st, use);
		} else {
			compare_device(st, use, port);
			if (port >= 0)
				compare_gid(st, use, &st->host->ports[port]);
		}
	}
	for (size_t i = 0; i < st->run->prefers.n; i++)
		compare_preferred(st, &st->run->prefers.v[i]);
}
