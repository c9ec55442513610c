/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choices of the stacks in turn, their variables, and findings about them. */
#include "analyse/stacks/stacks.h"

#include "analyse/env/envcheck.h"
#include "analyse/shared/distance.h"
#include "analyse/shared/gid.h"
#include "analyse/stacks/stack-priv.h"
#include "base/fix.h"

static bool is_first_of_device(const struct rd_port_views *views, size_t p)
{
	const struct rd_host *host = views->host;
	for (size_t o = 0; o < p; o++)
		if (rd_env_wants(views, o) && host->ports[o].ibdev == host->ports[p].ibdev)
			return false;
	return true;
}

/* "mlx5_0,mlx5_1": the devices of the selected ports. */
static char *device_list(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	_cleanup_buf_ struct rd_buf list = { 0 };

	rd_buf_str(&list, "");
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_env_wants(views, p) && is_first_of_device(views, p))
			rd_buf_printf(&list, "%s%s", list.len ? "," : "", host->ibdevs[host->ports[p].ibdev].name);
	return RD_TAKE(list.data);
}

/* The port number of all selected ports; 0: they differ. */
static unsigned common_port(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	unsigned common = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		if (!rd_env_wants(views, p))
			continue;
		if (common && common != host->ports[p].num)
			return 0;
		common = host->ports[p].num;
	}
	return common;
}

/* libfabric compares prefixes: mlx5_1 also matches mlx5_10. */
static bool matches_others(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	for (size_t p = 0; p < host->n_ports; p++) {
		const char *name = host->ibdevs[host->ports[p].ibdev].name;

		for (size_t o = 0; name && !rd_env_wants(views, p) && o < host->n_ports; o++) {
			const char *wanted = host->ibdevs[host->ports[o].ibdev].name;

			if (rd_env_wants(views, o) && host->ports[o].ibdev != host->ports[p].ibdev &&
			    strncasecmp(name, wanted, strlen(wanted)) == 0)
				return true;
		}
	}
	return false;
}

/* The network interfaces of the selected ports; libfabric prefers an exact name match. "" if one port has no interface or no
 * address: libfabric then skips the device without trying its GIDs. */
static char *interface_list(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	_cleanup_buf_ struct rd_buf list = { 0 };

	rd_buf_str(&list, "");
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];

		if (!rd_env_wants(views, p))
			continue;
		if (port->n_netdevs == 0 || host->netdevs[port->netdevs[0]].n_addrs == 0)
			return rd_dup("");
		rd_buf_printf(&list, "%s%s", list.len ? "," : "", host->netdevs[port->netdevs[0]].name);
	}
	return RD_TAKE(list.data);
}

void rd_stack_env_fill(struct rd_nicmap *map)
{
	const struct rd_port_views *views = &map->ports;
	struct rd_env *env = &map->env;
	unsigned port = common_port(views);
	int gid_index = rd_env_gid_index(views);
	_cleanup_free_ char *interfaces = NULL;

	/* No port is selected. */
	if (env->n == 0)
		return;
	rd_env_add(env, "mooncake", "MC_TE_FILTERS", device_list(views));
	if (gid_index >= 0)
		rd_env_add(env, "mooncake", "MC_GID_INDEX", rd_text("%d", gid_index));
	if (port > 1)
		rd_env_add(env, "mooncake", "MC_IB_PORT", rd_text("%u", port));
	if (!matches_others(views)) {
		rd_env_add(env, "libfabric", "FI_VERBS_DEVICE_NAME", device_list(views));
		return;
	}
	interfaces = interface_list(views);
	if (*interfaces)
		rd_env_add(env, "libfabric", "FI_VERBS_IFACE", RD_TAKE(interfaces));
}

void rd_stack_env_efa(const struct rd_host *host, struct rd_env *ret)
{
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_ibdev_is_efa(host, host->ports[p].ibdev)) {
			rd_env_add(ret, "libfabric", "FI_PROVIDER", rd_text("efa"));
			return;
		}
}

/* The selected ports that NIXL's UCX backend would use for this accelerator. */
static void add_gpu_note(const struct rd_port_views *views, const struct rd_stack_choice *choice, struct rd_buf *ret)
{
	const struct rd_host *host = views->host;
	size_t n = 0;

	for (size_t i = 0; i < choice->n_first; i++) {
		const struct rd_port *port = &host->ports[choice->ports[i]];

		if (!rd_env_wants(views, (size_t)choice->ports[i]))
			continue;
		if (n++ == 0)
			rd_buf_printf(ret, "for a process on GPU%u (%s) only: UCX_NET_DEVICES=",
				      host->gpus[choice->gpu].index, host->pcis[host->gpus[choice->gpu].pci].addr);
		rd_buf_printf(ret, "%s%s:%u", n > 1 ? "," : "", rd_ibdev_label(host, port->ibdev), port->num);
	}
	if (n > 0)
		rd_buf_str(ret, "\n");
}

void rd_stack_env_notes(const struct rd_nicmap *map, const char *library, struct rd_buf *ret)
{
	const struct rd_stack *ucx = &map->stacks.v[RD_STACK_UCX];

	if (strcmp(library, "mooncake") == 0) {
		rd_buf_str(
			ret,
			"Mooncake 0.3.12 and later read MC_TE_FILTERS when they detect the topology; a device list given to the API or in a "
			"configuration file applies in addition\n");
		if (common_port(&map->ports) == 0)
			rd_buf_str(
				ret,
				"Mooncake opens the same port number on all devices: MC_IB_PORT cannot select these ports\n");
	} else if (strcmp(library, "nixl") == 0) {
		rd_buf_str(ret, "the device_list parameter of NIXL's UCX backend overrides UCX_NET_DEVICES\n");
		rd_buf_str(ret, "the list contains no network interface, so UCX fails instead of using TCP\n");
		for (size_t i = 0; i < ucx->n; i++)
			if (ucx->v[i].gpu >= 0)
				add_gpu_note(&map->ports, &ucx->v[i], ret);
	} else if (strcmp(library, "libfabric") == 0) {
		rd_buf_str(
			ret,
			"FI_PROVIDER=verbs prevents a fallback to TCP; NIXL's LIBFABRIC backend does not support verbs "
			"and fails to start with it\n");
	}
}

/* Findings where a stack's own selection is probably not what the operator wants. A warning only if that is certain, and one
 * finding for all ports that have the fault. */

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

/* Adds a finding about a stack. Takes over `observed`, `expected` and `fix`. */
static void report(struct rd_findings *ret, enum rd_severity severity, const char *id, const char *stack,
		   const char *title, const char *why, char *observed, char *expected, char *fix)
{
	const struct rd_finding finding = {
		.id = id,
		.severity = severity,
		.title = title,
		.why = why,
		.subject = rd_dup(stack),
		.observed = observed,
		.expected = expected,
		.fix = fix,
	};

	rd_finding_add(ret, &finding);
}

static char *gid_text(const struct rd_port *port, int index)
{
	const struct rd_gid *gid = &port->gids[index];
	const char *type = rd_gid_type_name(gid->type);
	char ip[48];

	rd_gid_ip(gid, ip);
	return rd_text("index %u (%s, %s)", gid->index, ip, type ?: "type not reported");
}

/* Also one of 169.254.0.0/16. */
static bool is_bad(const struct rd_host *host, const struct rd_port *port, int index)
{
	const struct rd_gid *gid = &port->gids[index];

	return rd_gid_fault(host, port, gid) || (rd_gid_is_v4(gid) && gid->raw[12] == 169 && gid->raw[13] == 254);
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
	report(ret, RD_SEV_WARNING, "stack-gid", rd_stack_name(id),
	       "Stack selects an unusable GID although the port has a usable one",
	       "its queue pairs fail to connect (ETIMEDOUT from ibv_modify_qp), or connect but never receive an ACK",
	       rd_text("%s: %s", ports, gid), RD_TAKE(wanted),
	       fix_of_gid(views, id == RD_STACK_MOONCAKE ? "MC_GID_INDEX" : "UCX_IB_GID_INDEX", stack,
			  rd_port_gid_index(views, (size_t)count.first)));
}

/* Releases before 0.3.12 are still in use, and select the first IPv6 address. */
static void judge_older_gid(const struct rd_port_views *views, const struct rd_stack *stack, struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
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
	report(ret, RD_SEV_NOTE, "stack-gid-older", "mooncake",
	       "Mooncake 0.3.10 and 0.3.11 select a link-local GID on this host",
	       "without an IPv4 address, they use the first IPv6 address, even if it is link-local",
	       rd_text("%s: %s", ports, gid),
	       rd_text("index %d, as selected by 0.3.12 and later", rd_port_gid_index(views, (size_t)count.first)),
	       rd_text("# update Mooncake to 0.3.12 or later"));
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
	report(ret, RD_SEV_WARNING, "stack-gpu-role", rd_stack_name(id),
	       "Accelerator gets only storage or management NICs",
	       "the stack selects NICs by PCI path alone, and these are nearer than the compute NICs",
	       rd_text("%zu accelerator%s; first NIC of GPU%u: %s", n, n == 1 ? "" : "s", host->gpus[first->gpu].index,
		       rd_ibdev_label(host, host->ports[first->ports[0]].ibdev)),
	       rd_text("compute NICs"),
	       rd_text("rdmadiag nic-map --env %s\n# set for the job what it prints",
		       id == RD_STACK_MOONCAKE ? "mooncake" : "nixl"));
}

static void judge_role(const struct rd_port_views *views, enum rd_stack_id id, const struct rd_stack *stack,
		       struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
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
	report(ret, RD_SEV_NOTE, "stack-role", rd_stack_name(id), "Stack also uses storage or management NICs",
	       "the stack uses all active NICs: slices sent through a slower NIC finish later than the rest",
	       rd_text("%s (%s)", ports, rd_role_name(views->v[count.first].role)), rd_text("compute NICs only"),
	       rd_text("rdmadiag nic-map --env %s\n# set for the job what it prints",
		       id == RD_STACK_MOONCAKE ? "mooncake" : "nixl"));
}

static bool is_usable(const struct rd_host *host, const struct rd_port *port)
{
	return rd_port_active(port) && !rd_ibdev_is_gaudi(host, port->ibdev);
}

/* The stack uses no active port: it falls back to TCP or fails to start. A host with only iWARP is assumed to be intended. */
static void judge_no_rdma(const struct rd_host *host, enum rd_stack_id id, const struct rd_stack *stack,
			  struct rd_findings *ret)
{
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
	report(ret, RD_SEV_WARNING, "stack-no-rdma", rd_stack_name(id), "Stack does not use RDMA on this host",
	       "transfers use TCP, which is many times slower, or the stack fails to start",
	       rd_text("%s: %s", ports, stack->ports[count.first].why_not),
	       rd_text("at least one port that it can use"),
	       rd_fix_fill(
		       "rdmadiag nic-map --gids\nip link set IF up\n# give it an address: ip address add ADDRESS/PREFIX dev IF",
		       &(struct rd_fix_word){ "IF", host->ports[count.first].netdev_name }, 1));
}

static void judge_tcp(const struct rd_host *host, const struct rd_stacks *stacks, struct rd_findings *ret)
{
	const struct rd_stack *stack = &stacks->v[RD_STACK_NIXL_LIBFABRIC];

	if (!stack->transport || stacks->v[RD_STACK_LIBFABRIC].transport || host->n_ports == 0)
		return;
	report(ret, RD_SEV_NOTE, "stack-tcp", "nixl_libfabric", "NIXL's libfabric backend uses TCP on this host",
	       "it supports only the providers cxi, efa, tcp and sockets, not verbs",
	       rd_text("tcp, while other stacks use RDMA on this host"), NULL,
	       rd_text("# use NIXL's UCX backend on this host"));
}

static void judge_srd(const struct rd_host *host, const struct rd_stack *stack, struct rd_findings *ret)
{
	_cleanup_free_ char *ports = NULL;
	struct port_count count = { 0 };

	for (size_t p = 0; p < host->n_ports; p++)
		if (stack->ports[p].taken && rd_ibdev_is_efa(host, host->ports[p].ibdev))
			count_port(&count, p);
	if (count.n == 0)
		return;
	ports = ports_of(host, &count);
	report(ret, RD_SEV_NOTE, "stack-srd", "ucx",
	       "NIXL over UCX uses RDMA on EFA only if UCX was built with EFA support",
	       "without the srd transport UCX uses TCP without a warning",
	       rd_text("%s: EFA; UCX build options unknown", ports),
	       rd_text("ucx_info -d lists srd (UCX 1.19 or later, built with libefa)"),
	       rd_text("ucx_info -d | grep srd\n# if it prints nothing: use NIXL's LIBFABRIC backend"));
}

/* Mooncake uses one port per device: the others carry no traffic. */
static void judge_port(const struct rd_port_views *views, const struct rd_stack *stack, struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
	_cleanup_free_ char *ports = NULL;
	struct port_count count = { 0 };

	for (size_t p = 0; p < host->n_ports; p++)
		if (views->v[p].role == RD_ROLE_COMPUTE && is_usable(host, &host->ports[p]) && host->ports[p].num > 1 &&
		    !stack->ports[p].taken)
			count_port(&count, p);
	if (count.n == 0)
		return;
	ports = ports_of(host, &count);
	report(ret, RD_SEV_WARNING, "stack-port", "mooncake", "Mooncake does not use a compute port",
	       "it opens the same port number on all devices, 1 unless MC_IB_PORT is set",
	       rd_text("%s: active, but not used", ports), rd_text("used"),
	       rd_text("# if port 1 is not connected on any device: set MC_IB_PORT=%u in the job's environment",
		       host->ports[count.first].num));
}

static void judge_idle(const struct rd_port_views *views, const struct rd_stack *stack, struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
	_cleanup_free_ char *ports = NULL;
	struct port_count count = { 0 };

	for (size_t p = 0; p < host->n_ports; p++)
		if (views->v[p].role == RD_ROLE_COMPUTE && stack->ports[p].taken && !is_first(stack, (int)p, true))
			count_port(&count, p);
	if (count.n == 0 || host->n_gpus == 0 || stack->transport)
		return;
	ports = ports_of(host, &count);
	report(ret, RD_SEV_NOTE, "stack-idle", "mooncake", "Mooncake does not use a compute NIC for any accelerator",
	       "it uses only the nearest NICs; the others carry GPU memory only if those fail",
	       rd_text("%s: not the nearest NIC of any of %zu accelerators", ports, host->n_gpus), NULL,
	       rd_text("# add it to the first list of an accelerator in a topology file\n# set MC_CUSTOM_TOPO_JSON=FILE, its name, in the job's environment"));
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

#define PCI_NVIDIA 0x10de
#define PCI_HABANA 0x1da3

struct rd_place rd_stack_place(const struct rd_host *host, int a, int b)
{
	struct rd_place place = { 0 };
	size_t na, nb;
	const char *ra = a >= 0 ? host->pcis[a].root : NULL, *rb = b >= 0 ? host->pcis[b].root : NULL;

	if (a < 0 || b < 0)
		return place;
	place.common = rd_distance_common(host, a, b, &na, &nb);
	place.same_root = place.common > 0 || (ra && rb && strcmp(ra, rb) == 0);
	place.own[0] = na - place.common;
	place.own[1] = nb - place.common;
	return place;
}

struct rd_stack_choice *rd_stack_add(const struct rd_host *host, struct rd_stack *stack, int gpu, int numa)
{
	struct rd_stack_choice *choice = RD_ADD(stack->v, stack->n, stack->cap);

	*choice = (struct rd_stack_choice){ .gpu = gpu, .numa = numa };
	choice->ports = rd_alloc(host->n_ports + 1, sizeof(*choice->ports));
	return choice;
}

void rd_stack_rank(const struct rd_host *host, const struct rd_stack *stack, const unsigned *ranks, unsigned best,
		   struct rd_stack_choice *choice)
{
	for (size_t p = 0; p < host->n_ports; p++) {
		size_t at = choice->n_ports;

		if (!stack->ports[p].taken)
			continue;
		for (; at > 0 && ranks[choice->ports[at - 1]] > ranks[p]; at--)
			choice->ports[at] = choice->ports[at - 1];
		choice->ports[at] = (int)p;
		choice->n_ports++;
		choice->n_first += ranks[p] <= best;
	}
}

void rd_stack_add_all(const struct rd_host *host, struct rd_stack *stack, unsigned *ranks, const char *why)
{
	struct rd_stack_choice *choice = rd_stack_add(host, stack, -1, -1);

	memset(ranks, 0, host->n_ports * sizeof(*ranks));
	rd_stack_rank(host, stack, ranks, 0, choice);
	choice->why = rd_dup(why);
}

bool rd_stack_port_up(const struct rd_host *host, const struct rd_port *port)
{
	return rd_port_active(port) || (host->from_topology_file && !port->state);
}

bool rd_stack_serves(const struct rd_host *host, size_t gpu)
{
	const struct rd_pci *pci = &host->pcis[host->gpus[gpu].pci];

	return pci->vendor.known != RD_OK || pci->vendor.v != PCI_HABANA;
}

bool rd_stack_is_nvidia(const struct rd_host *host, size_t gpu)
{
	const struct rd_pci *pci = &host->pcis[host->gpus[gpu].pci];

	return pci->vendor.known != RD_OK || pci->vendor.v == PCI_NVIDIA;
}

int rd_stack_pci(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	return dev->via && strcmp(dev->via, "netdev") == 0 ? -1 : dev->pci;
}

void rd_stacks_fill(const struct rd_host *host, struct rd_nicmap *map)
{
	static void (*const fill[RD_STACKS])(const struct rd_port_views *views, struct rd_stack *ret) = {
		[RD_STACK_MOONCAKE] = rd_stack_mooncake,
		[RD_STACK_UCX] = rd_stack_ucx,
		[RD_STACK_NIXL_LIBFABRIC] = rd_stack_nixl_libfabric,
		[RD_STACK_LIBFABRIC] = rd_stack_libfabric,
	};

	for (size_t i = 0; i < RD_STACKS; i++) {
		struct rd_stack *stack = &map->stacks.v[i];

		stack->ports = rd_alloc(host->n_ports + 1, sizeof(*stack->ports));
		for (size_t p = 0; p < host->n_ports; p++)
			stack->ports[p].gid = -1;
		fill[i](&map->ports, stack);
	}
	rd_stacks_judge(&map->ports, &map->stacks);
}
