/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings where a stack's own selection is probably not what the operator wants. A warning only if that is certain, and one
 * finding for all ports that have the fault. */
#include <stdio.h>

#include "analyse/shared/gid.h"
#include "analyse/stacks/stack-priv.h"
#include "base/fix.h"
#include "base/text.h"

/* The ports that have the fault: the first one, and their number. */
struct port_count {
	int first;
	size_t n;
};

static void count_port(struct port_count *ports, size_t port)
{
	if (ports->n++ == 0)
		ports->first = (int)port;
}

/* "mlx5_0/1 and 7 more" */
static char *ports_of(const struct rd_host *host, const struct port_count *ports)
{
	const struct rd_port *port = &host->ports[ports->first];
	char number[16] = "", more[32] = "";

	/* A topology file may omit the port number. */
	if (port->num > 0)
		snprintf(number, sizeof(number), "/%u", port->num);
	if (ports->n > 1)
		snprintf(more, sizeof(more), " and %zu more", ports->n - 1);
	return rd_text("%s%s%s", rd_ibdev_label(host, port->ibdev), number, more);
}

static char *gid_text(const struct rd_port *port, int index)
{
	const struct rd_gid *gid = &port->gids[index];
	const char *type = rd_gid_type_name(gid->type);
	char ip[48];

	rd_gid_ip(gid, ip);
	return rd_text("index %u (%s, %s)", gid->index, ip, type ? type : "type not reported");
}

static bool is_bad(const struct rd_host *host, const struct rd_port *port, int gid)
{
	return rd_gid_fault(host, port, &port->gids[gid]) || rd_gid_is_v4_link_local(&port->gids[gid]);
}

/* The port has a usable GID, but the stack selects an unusable one. */
static bool takes_bad_gid(const struct rd_port_views *views, const struct rd_stack *stack, size_t p)
{
	const struct rd_port *port = &views->host->ports[p];
	int gid = stack->ports[p].gid, wanted = views->v[p].gid;

	return stack->ports[p].taken && rd_port_is_ethernet(port) && gid >= 0 && wanted >= 0 && gid != wanted &&
	       is_bad(views->host, port, gid) && !is_bad(views->host, port, wanted);
}

/* The variable sets one index for all ports: it is only a fix if all ports need the same index. */
static char *fix_of_gid(const struct rd_port_views *views, const char *variable, const struct rd_stack *stack, int index)
{
	for (size_t p = 0; p < views->n; p++)
		if (stack->ports[p].taken && rd_port_is_ethernet(&views->host->ports[p]) &&
		    rd_port_gid_index(views, p) != index)
			return rd_text(
				"rdmadiag nic-map --gids\n# one %s cannot fix all ports: the index to use differs between them",
				variable);
	return rd_text("# set %s=%d in the job's environment", variable, index);
}

static void judge_gid(const struct rd_port_views *views, enum rd_stack_id id, const struct rd_stack *stack,
		      struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
	struct rd_finding finding = {
		.id = "stack-gid",
		.severity = RD_SEV_WARNING,
		.title = "Stack selects an unusable GID although the port has a usable one",
		.why = "its queue pairs fail to connect (ETIMEDOUT from ibv_modify_qp), or connect but never receive an ACK",
	};
	_cleanup_free_ char *ports = NULL, *gid = NULL, *wanted = NULL;
	struct port_count count = { 0 };
	const struct rd_port *port;

	for (size_t p = 0; p < host->n_ports; p++)
		if (takes_bad_gid(views, stack, p))
			count_port(&count, p);
	if (count.n == 0)
		return;
	port = &host->ports[count.first];
	gid = gid_text(port, stack->ports[count.first].gid);
	wanted = gid_text(port, views->v[count.first].gid);
	ports = ports_of(host, &count);
	finding.subject = rd_text("%s", rd_stack_name(id));
	finding.observed = rd_text("%s: %s", ports, gid);
	finding.expected = rd_text("%s", wanted);
	finding.fix = fix_of_gid(views, id == RD_STACK_MOONCAKE ? "MC_GID_INDEX" : "UCX_IB_GID_INDEX", stack,
				 rd_port_gid_index(views, (size_t)count.first));
	rd_finding_add(ret, &finding);
}

/* Releases before 0.3.12 are still in use, and select the first IPv6 address. */
static void judge_older_gid(const struct rd_port_views *views, const struct rd_stack *stack, struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
	struct rd_finding finding = {
		.id = "stack-gid-older",
		.severity = RD_SEV_NOTE,
		.title = "Mooncake 0.3.10 and 0.3.11 select a link-local GID on this host",
		.why = "without an IPv4 address, they use the first IPv6 address, even if it is link-local",
	};
	_cleanup_free_ char *ports = NULL, *gid = NULL;
	struct port_count count = { 0 };
	const struct rd_port *port;
	int own = -1;

	for (size_t p = 0; p < host->n_ports; p++) {
		port = &host->ports[p];
		own = rd_gid_mooncake_0311(port);
		if (stack->ports[p].taken && rd_port_is_ethernet(port) && own >= 0 && views->v[p].gid >= 0 &&
		    own != stack->ports[p].gid && rd_gid_is_link_local(&port->gids[own]))
			count_port(&count, p);
	}
	if (count.n == 0)
		return;
	port = &host->ports[count.first];
	gid = gid_text(port, rd_gid_mooncake_0311(port));
	ports = ports_of(host, &count);
	finding.subject = rd_text("mooncake");
	finding.observed = rd_text("%s: %s", ports, gid);
	finding.expected =
		rd_text("index %d, as selected by 0.3.12 and later", rd_port_gid_index(views, (size_t)count.first));
	finding.fix = rd_text("# update Mooncake to 0.3.12 or later");
	rd_finding_add(ret, &finding);
}

static bool is_aside(const struct rd_port_view *port)
{
	return port->role == RD_ROLE_STORAGE || port->role == RD_ROLE_MANAGEMENT;
}

static bool is_first(const struct rd_stack *stack, int port, bool of_gpus)
{
	for (size_t i = 0; i < stack->n; i++)
		for (size_t p = 0; (!of_gpus || stack->v[i].gpu >= 0) && p < stack->v[i].n_first; p++)
			if (stack->v[i].ports[p] == port)
				return true;
	return false;
}

/* Whether all NICs that this memory uses first are storage or management NICs. */
static bool has_only_aside(const struct rd_port_views *views, const struct rd_stack_choice *choice)
{
	for (size_t i = 0; i < choice->n_first; i++)
		if (!is_aside(&views->v[choice->ports[i]]))
			return false;
	return choice->n_first > 0;
}

/* A NIC on its own root port is fewer steps away than one behind a switch, regardless of its role. */
static void judge_gpu_role(const struct rd_port_views *views, enum rd_stack_id id, const struct rd_stack *stack,
			   struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
	struct rd_finding finding = {
		.id = "stack-gpu-role",
		.severity = RD_SEV_WARNING,
		.title = "Accelerator gets only storage or management NICs",
		.why = "the stack selects NICs by PCI path alone, and these are nearer than the compute NICs",
	};
	const struct rd_stack_choice *first = NULL;
	bool compute = false;
	size_t n = 0;

	for (size_t p = 0; p < host->n_ports; p++)
		compute |= stack->ports[p].taken && views->v[p].role == RD_ROLE_COMPUTE;
	for (size_t i = 0; compute && i < stack->n; i++) {
		if (stack->v[i].gpu < 0 || !has_only_aside(views, &stack->v[i]))
			continue;
		first = n++ ? first : &stack->v[i];
	}
	if (n == 0)
		return;
	finding.subject = rd_text("%s", rd_stack_name(id));
	finding.observed = rd_text("%zu accelerator%s; first NIC of GPU%u: %s", n, n == 1 ? "" : "s",
				   host->gpus[first->gpu].index,
				   rd_ibdev_label(host, host->ports[first->ports[0]].ibdev));
	finding.expected = rd_text("compute NICs");
	finding.fix = rd_text("rdmadiag nic-map --env %s\n# set for the job what it prints",
			      id == RD_STACK_MOONCAKE ? "mooncake" : "nixl");
	rd_finding_add(ret, &finding);
}

static void judge_role(const struct rd_port_views *views, enum rd_stack_id id, const struct rd_stack *stack,
		       struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
	struct rd_finding finding = {
		.id = "stack-role",
		.severity = RD_SEV_NOTE,
		.title = "Stack also uses storage or management NICs",
		.why = "the stack uses all active NICs: slices sent through a slower NIC finish later than the rest",
	};
	_cleanup_free_ char *ports = NULL;
	struct port_count count = { 0 };
	bool compute = false;

	for (size_t p = 0; p < host->n_ports; p++) {
		compute |= stack->ports[p].taken && views->v[p].role == RD_ROLE_COMPUTE;
		if (is_aside(&views->v[p]) && is_first(stack, (int)p, false))
			count_port(&count, p);
	}
	if (count.n == 0 || !compute)
		return;
	ports = ports_of(host, &count);
	finding.subject = rd_text("%s", rd_stack_name(id));
	finding.observed = rd_text("%s (%s)", ports, rd_role_name(views->v[count.first].role));
	finding.expected = rd_text("compute NICs only");
	finding.fix = rd_text("rdmadiag nic-map --env %s\n# set for the job what it prints",
			      id == RD_STACK_MOONCAKE ? "mooncake" : "nixl");
	rd_finding_add(ret, &finding);
}

static bool is_usable(const struct rd_host *host, const struct rd_port *port)
{
	return rd_port_active(port) && !rd_ibdev_is_gaudi(host, port->ibdev);
}

/* The stack uses no active port: it falls back to TCP or fails to start. A host with only iWARP is assumed to be intended. */
static void judge_no_rdma(const struct rd_host *host, enum rd_stack_id id, const struct rd_stack *stack,
			  struct rd_findings *ret)
{
	struct rd_finding finding = {
		.id = "stack-no-rdma",
		.severity = RD_SEV_WARNING,
		.title = "Stack does not use RDMA on this host",
		.why = "transfers use TCP, which is many times slower, or the stack fails to start",
	};
	_cleanup_free_ char *ports = NULL;
	struct port_count count = { 0 };

	if (!stack->transport)
		return;
	for (size_t p = 0; p < host->n_ports; p++)
		if (is_usable(host, &host->ports[p]) && !host->ibdevs[host->ports[p].ibdev].iwarp)
			count_port(&count, p);
	if (count.n == 0)
		return;
	ports = ports_of(host, &count);
	finding.subject = rd_text("%s", rd_stack_name(id));
	finding.observed = rd_text("%s: %s", ports, stack->ports[count.first].why_not);
	finding.expected = rd_text("at least one port that it can use");
	finding.fix = rd_fix_fill(
		"rdmadiag nic-map --gids\nip link set IF up\n# give it an address: ip address add ADDRESS/PREFIX dev IF",
		&(struct rd_fix_word){ "IF", host->ports[count.first].netdev_name }, 1);
	rd_finding_add(ret, &finding);
}

static void judge_tcp(const struct rd_host *host, const struct rd_stacks *stacks, struct rd_findings *ret)
{
	const struct rd_stack *stack = &stacks->v[RD_STACK_NIXL_LIBFABRIC];
	struct rd_finding finding = {
		.id = "stack-tcp",
		.severity = RD_SEV_NOTE,
		.title = "NIXL's libfabric backend uses TCP on this host",
		.why = "it supports only the providers cxi, efa, tcp and sockets, not verbs",
	};

	if (!stack->transport || stacks->v[RD_STACK_LIBFABRIC].transport || host->n_ports == 0)
		return;
	finding.subject = rd_text("nixl_libfabric");
	finding.observed = rd_text("tcp, while other stacks use RDMA on this host");
	finding.fix = rd_text("# use NIXL's UCX backend on this host");
	rd_finding_add(ret, &finding);
}

static void judge_srd(const struct rd_host *host, const struct rd_stack *stack, struct rd_findings *ret)
{
	struct rd_finding finding = {
		.id = "stack-srd",
		.severity = RD_SEV_NOTE,
		.title = "NIXL over UCX uses RDMA on EFA only if UCX was built with EFA support",
		.why = "without the srd transport UCX uses TCP without a warning",
	};
	_cleanup_free_ char *ports = NULL;
	struct port_count count = { 0 };

	for (size_t p = 0; p < host->n_ports; p++)
		if (stack->ports[p].taken && rd_ibdev_is_efa(host, host->ports[p].ibdev))
			count_port(&count, p);
	if (count.n == 0)
		return;
	ports = ports_of(host, &count);
	finding.subject = rd_text("ucx");
	finding.observed = rd_text("%s: EFA; UCX build options unknown", ports);
	finding.expected = rd_text("ucx_info -d lists srd (UCX 1.19 or later, built with libefa)");
	finding.fix = rd_text("ucx_info -d | grep srd\n# if it prints nothing: use NIXL's LIBFABRIC backend");
	rd_finding_add(ret, &finding);
}

/* Mooncake uses one port per device: the others carry no traffic. */
static void judge_port(const struct rd_port_views *views, const struct rd_stack *stack, struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
	struct rd_finding finding = {
		.id = "stack-port",
		.severity = RD_SEV_WARNING,
		.title = "Mooncake does not use a compute port",
		.why = "it opens the same port number on all devices, 1 unless MC_IB_PORT is set",
	};
	_cleanup_free_ char *ports = NULL;
	struct port_count count = { 0 };

	for (size_t p = 0; p < host->n_ports; p++)
		if (views->v[p].role == RD_ROLE_COMPUTE && is_usable(host, &host->ports[p]) && host->ports[p].num > 1 &&
		    !stack->ports[p].taken)
			count_port(&count, p);
	if (count.n == 0)
		return;
	ports = ports_of(host, &count);
	finding.subject = rd_text("mooncake");
	finding.observed = rd_text("%s: active, but not used", ports);
	finding.expected = rd_text("used");
	finding.fix = rd_text("# if port 1 is not connected on any device: set MC_IB_PORT=%u in the job's environment",
			      host->ports[count.first].num);
	rd_finding_add(ret, &finding);
}

static void judge_idle(const struct rd_port_views *views, const struct rd_stack *stack, struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
	struct rd_finding finding = {
		.id = "stack-idle",
		.severity = RD_SEV_NOTE,
		.title = "Mooncake does not use a compute NIC for any accelerator",
		.why = "it uses only the nearest NICs; the others carry GPU memory only if those fail",
	};
	_cleanup_free_ char *ports = NULL;
	struct port_count count = { 0 };

	for (size_t p = 0; p < host->n_ports; p++)
		if (views->v[p].role == RD_ROLE_COMPUTE && stack->ports[p].taken && !is_first(stack, (int)p, true))
			count_port(&count, p);
	if (count.n == 0 || host->n_gpus == 0 || stack->transport)
		return;
	ports = ports_of(host, &count);
	finding.subject = rd_text("mooncake");
	finding.observed = rd_text("%s: not the nearest NIC of any of %zu accelerators", ports, host->n_gpus);
	finding.fix = rd_text(
		"# add it to the first list of an accelerator in a topology file\n# set MC_CUSTOM_TOPO_JSON=FILE, its name, in the job's environment");
	rd_finding_add(ret, &finding);
}

void rd_stacks_judge(const struct rd_port_views *views, struct rd_stacks *stacks)
{
	struct rd_findings *ret = &stacks->findings;
	const struct rd_stack *mooncake = &stacks->v[RD_STACK_MOONCAKE], *ucx = &stacks->v[RD_STACK_UCX];

	judge_gid(views, RD_STACK_MOONCAKE, mooncake, ret);
	judge_gid(views, RD_STACK_UCX, ucx, ret);
	judge_no_rdma(views->host, RD_STACK_MOONCAKE, mooncake, ret);
	judge_no_rdma(views->host, RD_STACK_UCX, ucx, ret);
	judge_gpu_role(views, RD_STACK_MOONCAKE, mooncake, ret);
	judge_gpu_role(views, RD_STACK_UCX, ucx, ret);
	judge_port(views, mooncake, ret);
	judge_older_gid(views, mooncake, ret);
	judge_role(views, RD_STACK_MOONCAKE, mooncake, ret);
	judge_role(views, RD_STACK_UCX, ucx, ret);
	judge_idle(views, mooncake, ret);
	judge_srd(views->host, ucx, ret);
	judge_tcp(views->host, stacks, ret);
}
