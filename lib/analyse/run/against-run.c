/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the run used: the network, devices, and which NICs NCCL merged; and what UCX, Mooncake and NVSHMEM used. */
#include <strings.h>

#include "analyse/run/against-priv.h"
#include "analyse/shared/gid.h"
#include "base/buf.h"

/* Network, devices, and which NICs NCCL merged. */

static const struct rd_finding tcp = {
	"against-tcp", "The run used TCP sockets although RDMA ports are active",
	"all traffic between hosts went through the kernel's TCP stack, at a fraction of the link rate", RD_SEV_CRITICAL
};
static const struct rd_finding rdma = { "against-rdma", "The run used RDMA, but no port of this host is active now",
					"a new run would use TCP sockets", RD_SEV_CRITICAL };
static const struct rd_finding not_used = { "against-not-used", "The run did not use NICs that are active on this host",
					    "GPUs near these NICs use and share NICs that are farther away",
					    RD_SEV_WARNING };
static const struct rd_finding link_layer = { "against-link", "Link layer of ports was different in the run",
					      "InfiniBand and Ethernet ports cannot reach each other", RD_SEV_WARNING };
static const struct rd_finding order = { "against-order", "NCCL numbered the NICs in a different order",
					 "NCCL assigns NICs to GPUs in that order", RD_SEV_WARNING };
static const struct rd_finding merged = { "against-merged", "NCCL merged different NICs",
					  "merging determines which ports carry the traffic of a GPU", RD_SEV_WARNING };

static size_t count_usable(const struct rd_against_state *st, bool allowed_only, bool compute_only)
{
	size_t n = 0;

	for (size_t p = 0; p < st->host->n_ports; p++)
		n += rd_against_usable(st->host, p) && (!allowed_only || st->allowed[p]) &&
		     (!compute_only || st->map->ports.v[p].role == RD_ROLE_COMPUTE);
	return n;
}

/* "NCCL_NET=Socket": a variable of the run that disables RDMA; NULL: none. */
static char *tcp_variable(const struct rd_against_state *st)
{
	const char *net = rd_run_var(st->run, "NCCL_NET"), *off = rd_run_var(st->run, "NCCL_IB_DISABLE");
	const char *hca = rd_run_var(st->run, "NCCL_IB_HCA");

	if (net && strcasecmp(net, "Socket") == 0)
		return rd_text("NCCL_NET=%s", net);
	if (off && rd_as_atoi(off) != 0)
		return rd_text("NCCL_IB_DISABLE=%s", off);
	if (hca && count_usable(st, true, false) == 0)
		return rd_text("NCCL_IB_HCA=%s", hca);
	return NULL;
}

static void report_tcp(struct rd_against_state *st, const char *observed)
{
	_cleanup_free_ char *variable = tcp_variable(st);
	struct rd_finding problem = tcp;
	char *reason, *fix;

	if (count_usable(st, false, true) == 0)
		problem.severity = RD_SEV_WARNING;
	if (variable) {
		reason = rd_text("the run had %s", variable);
		fix = rd_text("# unset %.*s in the job's environment", (int)strcspn(variable, "="), variable);
	} else if (st->run->no_interface) {
		reason = rd_text("NCCL found no IP interface for its bootstrap network, and did not use InfiniBand");
		fix = rd_text("# set NCCL_SOCKET_IFNAME=INTERFACE for the job, one that reaches the other hosts");
	} else if (st->run->no_device && st->log->abi[0]) {
		reason = rd_text("libibverbs: driver %s", st->log->abi);
		fix = rd_text(
			"# install in the image the rdma-core, or the vendor's provider library, that belongs to the "
			"kernel's driver: cat /sys/class/infiniband_verbs/uverbs*/abi_version");
	} else if (st->run->no_device) {
		reason = rd_text(
			"the process found no active RDMA device: a container without /dev/infiniband, ports that were down, or no libibverbs");
		fix = rd_text(
			"# start the container with --device=/dev/infiniband --ulimit memlock=-1\n# inside it: ibv_devinfo");
	} else {
		reason = rd_text("the log does not contain the reason");
		fix = rd_text("# run again with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET and look for NET/IB");
	}
	rd_against_differs(st, &(struct rd_against_pair){ "network", "NCCL", "IB", observed }, &problem, reason, fix);
}

static void compare_network(struct rd_against_state *st)
{
	const char *observed = rd_against_observed(st->run);
	bool usable = count_usable(st, false, false) > 0;
	struct rd_against_pair network = { "network", "NCCL", usable ? "IB" : "Socket", observed };

	if (!observed)
		return;
	if (usable && st->run->n_sockets > 0 && st->run->n_sockets < st->run->n_networks) {
		_cleanup_free_ char *mixed =
			rd_text("Socket in %zu of %zu communicators", st->run->n_sockets, st->run->n_networks);

		/* One communicator without RDMA slows down all. */
		report_tcp(st, mixed);
	} else if (strcmp(observed, "Socket") == 0 && usable) {
		report_tcp(st, observed);
	} else if (strcmp(observed, "Socket") == 0) {
		rd_against_same(st, &network, rd_text("no active port that NCCL can use"));
	} else if (strcmp(observed, "IB") != 0) {
		/* A network plugin: RDMA by rules other than NCCL's. */
		if (rd_against_is_ib(network.observed) && strcmp(network.predicted, "IB") == 0) {
			rd_against_same(st, &network,
					rd_text("%s is a plugin that uses the same devices, by its own rules",
						network.observed));
		} else if (rd_host_has_efa(st->host) && strstr(network.observed, "Libfabric")) {
			network.predicted = "a plugin";
			rd_against_same(st, &network,
					rd_text("NCCL itself does not use EFA; the aws-ofi-nccl plugin does"));
		} else {
			rd_against_unknown(st, &network, rd_text("the network plugin chooses: %s", network.observed));
		}
	} else if (usable) {
		rd_against_same(st, &network, NULL);
	} else {
		rd_against_differs(st, &network, &rdma, rd_text("the ports that the run used are not active now"),
				   rd_text("rdmadiag nic-map -o ibdev,port,state,phys_state"));
	}
}

static const struct rd_run_dev *find_dev(const struct rd_run_host *run, const char *name, unsigned port)
{
	for (size_t i = 0; i < run->devs.n; i++) {
		const struct rd_run_dev *dev = &run->devs.v[i];
		size_t size = strlen(name);

		if (strncmp(dev->name, name, size) == 0 &&
		    (!dev->name[size] || strcmp(dev->name + size, "_dma") == 0) &&
		    (!dev->port || !port || dev->port == port))
			return dev;
	}
	return NULL;
}

/* An active port is not in the run's list. Before 2.17 NCCL logs variables only with NCCL_DEBUG_SUBSYS=ENV. */
static void device_missing(struct rd_against_state *st, const struct rd_against_pair *device, const char *name)
{
	if (!st->run->list_whole)
		rd_against_unknown(st, device, rd_text("the list of devices in the log is truncated"));
	else if (rd_run_var_varies(st->run, "NCCL_IB_HCA"))
		rd_against_unknown(st, device, rd_text("processes of the run had different values of NCCL_IB_HCA"));
	else
		rd_against_differs(
			st, device, &not_used,
			st->run->vars.n == 0 ?
				rd_text("NCCL_IB_HCA was set but not logged (NCCL_DEBUG_SUBSYS=INIT,ENV,NET), a container "
					"without the device, or a port that was down") :
			rd_against_other_name(st) ?
				rd_text("the host name in the log is %s: a container may see only some of the devices",
					st->run->name) :
				rd_text("the port was down when the run started, or the process had no access to the "
					"device"),
			rd_text("# where the job runs: ibv_devinfo -d %s", name));
}

static void device_unexpected(struct rd_against_state *st, const struct rd_against_pair *device, size_t p)
{
	const char *hca = rd_run_var(st->run, "NCCL_IB_HCA"), *state = st->host->ports[p].state;

	if (rd_against_usable(st->host, p) && !st->allowed[p])
		rd_against_unknown(
			st, device,
			rd_text("NCCL_IB_HCA=%s excludes it: other processes of the run may have had a different value",
				hca));
	else if (rd_port_active(&st->host->ports[p]))
		rd_against_unknown(
			st, device,
			rd_text("NCCL's InfiniBand transport does not support its link layer: a plugin was used, or the "
				"driver has changed"));
	else
		rd_against_differs(st, device, &rd_against_down,
				   rd_text("its port is %s now, and was active then", state ?: "not active"),
				   rd_text("rdma link show %s", device->subject));
}

static void compare_port(struct rd_against_state *st, size_t p)
{
	const struct rd_port *port = &st->host->ports[p];
	const char *name = st->host->ibdevs[port->ibdev].name, *hca = rd_run_var(st->run, "NCCL_IB_HCA");
	const struct rd_run_dev *dev = name ? find_dev(st->run, name, port->num) : NULL;
	bool wanted = rd_against_usable(st->host, p) && st->allowed[p];
	struct rd_port_name label = rd_port_label(st->host, port);
	struct rd_against_pair device = { "device", label.text, wanted ? "used" : "not used",
					  dev ? "used" : "not in the list" };
	struct rd_against_pair link = { "link", label.text,
					rd_port_is_ethernet(port) ? "RoCE" :
					rd_port_is_ib(port)	  ? "IB" :
								    NULL,
					dev ? dev->link : NULL };

	if (wanted && !dev && name)
		device_missing(st, &device, name);
	else if (!wanted && dev)
		device_unexpected(st, &device, p);
	else if (dev)
		rd_against_same(st, &device, NULL);
	else if (hca && rd_against_usable(st->host, p))
		rd_against_same(st, &device, rd_text("NCCL_IB_HCA=%s", hca));
	if (link.predicted && link.observed && strcmp(link.predicted, link.observed) != 0)
		rd_against_differs(st, &link, &link_layer,
				   rd_text("the port type was changed since (mlxconfig LINK_TYPE_P1), "
					   "or another device has this name now"),
				   NULL);
}

static void compare_unknown_devices(struct rd_against_state *st)
{
	for (size_t i = 0; i < st->run->devs.n; i++) {
		const struct rd_run_dev *dev = &st->run->devs.v[i];
		_cleanup_free_ char *label = dev->port ? rd_text("%s/%u", dev->name, dev->port) :
							 rd_text("%s", dev->name);

		if (rd_against_ibdev(st->host, dev->name) < 0)
			rd_against_differs(
				st, &(struct rd_against_pair){ "device", label, NULL, "used" }, &rd_against_not_here,
				rd_against_other_name(st) ?
					rd_text("the host name in the log is %s: a container or virtual machine with other "
						"device names, or another host",
						st->run->name) :
					rd_text("the device was removed or renamed since"),
				rd_text("rdma dev\ndmesg | grep -i mlx5"));
	}
}

static uint64_t place_of(const struct rd_host *host, const struct rd_run_dev *dev)
{
	int ibdev = rd_against_ibdev(host, dev->name), pci = ibdev < 0 ? -1 : host->ibdevs[ibdev].pci;
	const struct rd_pci *at = pci < 0 ? NULL : &host->pcis[pci];

	if (!at)
		return UINT64_MAX;
	return (uint64_t)at->domain << 32 | (uint64_t)at->bus << 24 | (uint64_t)at->dev << 16 | (uint64_t)at->fn << 8 |
	       (dev->port & 0xff);
}

/* Whether the run's list is in the order of PCI addresses. */
static bool in_order(const struct rd_against_state *st)
{
	for (size_t i = 0; i < st->run->devs.n; i++)
		for (size_t j = 0; j < st->run->devs.n; j++) {
			const struct rd_run_dev *a = &st->run->devs.v[i], *b = &st->run->devs.v[j];

			if (a->position < b->position && place_of(st->host, a) > place_of(st->host, b))
				return false;
		}
	return true;
}

static void compare_order(struct rd_against_state *st)
{
	const char *off = rd_run_var(st->run, "NCCL_IB_DEVICE_PCI_ORDER");
	_cleanup_free_ char *subject = rd_text("%zu devices", st->run->devs.n), *observed = NULL;
	struct rd_against_pair pair = { "order", subject, "by PCI address", "by PCI address" };
	char *reason;

	if (st->run->devs.n < 2 || st->run->nets_vary)
		return;
	if (in_order(st)) {
		rd_against_same(st, &pair, NULL);
		return;
	}
	pair.observed = observed = rd_text("%s first", st->run->devs.v[0].name);
	if ((reason = rd_against_lacks(st->log, RD_NCCL_PCI_ORDER))) {
		rd_against_unknown(st, &pair, reason);
	} else if (off && rd_as_atoi(off) == 0) {
		pair.predicted = "as libibverbs lists them";
		rd_against_same(st, &pair, rd_text("NCCL_IB_DEVICE_PCI_ORDER=%s", off));
	} else if (rd_against_other_name(st)) {
		rd_against_unknown(st, &pair, rd_text("a virtual machine has different PCI addresses"));
	} else if (st->log->version[0] == 0 || st->log->rccl) {
		rd_against_unknown(
			st, &pair,
			rd_text("NCCL version not in the log: before 2.29.7 NCCL used the order of libibverbs"));
	} else {
		rd_against_differs(st, &pair, &order, rd_text("PCI addresses have changed since the run"), NULL);
	}
}

static bool is_net_of(const struct rd_nccl_net *net, const char *name)
{
	return net->name && strcmp(net->name, name) == 0;
}

/* Explains why the NICs that NCCL merged are not those predicted. */
static void merged_differs(struct rd_against_state *st, const char *subject, bool predicted)
{
	static const char *const names[] = { "NCCL_NET_FORCE_MERGE", "NCCL_NET_MERGE_POLICY" };
	const struct rd_against_pair pair = { "merged", subject, predicted ? "one NIC" : "separate",
					      predicted ? "separate" : "one NIC" };
	char *reason = rd_against_variable(st, names, RD_ARRAY_SIZE(names)) ?:
			       rd_against_lacks(st->log, RD_NCCL_MERGE_LEVEL);

	if (reason)
		rd_against_unknown(st, &pair, reason);
	else if (rd_against_other_name(st))
		rd_against_unknown(
			st, &pair,
			rd_text("depends on the PCI addresses in the virtual machine, which are not those of this host"));
	else
		rd_against_differs(st, &pair, &merged,
				   rd_text("PCI addresses or number of these NICs have changed since the run"), NULL);
}

/* Only if the log names each NIC of the topology. */
static void compare_merged(struct rd_against_state *st)
{
	const struct rd_nccl_nets *nets = &st->own.nccl_nets;

	if (!st->run->tells_nets || nets->n == 0)
		return;
	for (size_t i = 0; i < nets->n; i++) {
		bool seen = false;

		if (nets->v[i].n_ports < 2 || !nets->v[i].name)
			continue;
		for (size_t k = 0; k < st->run->nets.n; k++)
			seen |= st->run->nets.v[k].name && is_net_of(&nets->v[i], st->run->nets.v[k].name);
		if (seen)
			rd_against_same(
				st, &(struct rd_against_pair){ "merged", nets->v[i].name, "one NIC", "one NIC" }, NULL);
		else
			merged_differs(st, nets->v[i].name, true);
	}
	for (size_t k = 0; k < st->run->nets.n; k++) {
		const char *name = st->run->nets.v[k].name;
		bool here = false;

		for (size_t i = 0; name && i < nets->n; i++)
			here |= is_net_of(&nets->v[i], name);
		if (name && strchr(name, '+') && !here)
			merged_differs(st, name, false);
	}
}

/* What UCX, Mooncake and NVSHMEM used. */

static const struct rd_finding bad_gid = { "against-gid", "The run used an unusable GID",
					   "connections to other hosts time out", RD_SEV_WARNING };
static const struct rd_finding far_nic = { "against-nic", "GPUs used different NICs than predicted for this host",
					   "a NIC that is farther away, or shared, is slower", RD_SEV_WARNING };

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

/* "UCX", "Mooncake", "NVSHMEM" */
static const char *stack_name(enum rd_run_stack stack)
{
	static const char *const names[] = {
		[RD_RUN_UCX] = "UCX", [RD_RUN_MOONCAKE] = "Mooncake", [RD_RUN_NVSHMEM] = "NVSHMEM"
	};

	return (size_t)stack < RD_ARRAY_SIZE(names) ? names[stack] : NULL;
}

/* A device that the stack used, or did not use because its port was not active. */
static void compare_device(struct rd_against_state *st, const struct rd_run_use *use, const char *label, int port)
{
	bool active = port >= 0 && (rd_port_active(&st->host->ports[port]) ||
				    (st->host->from_topology_file && !st->host->ports[port].state));
	const struct rd_against_pair device = { stack_name(use->stack), label,
						port < 0 ? NULL :
						active	 ? "active" :
							   "not active",
						use->refused   ? "not active" :
						use->transport ? use->transport :
								 "used" };

	if (port < 0)
		rd_against_differs(st, &device, &rd_against_not_here,
				   rd_text("the device was removed or renamed since, or the log is from another host"),
				   rd_text("rdma dev"));
	else if (active == !use->refused)
		rd_against_same(st, &device, NULL);
	else if (use->refused)
		rd_against_differs(st, &device, &not_used, rd_text("its port became active since"),
				   rd_text("# restart the job"));
	else
		rd_against_differs(st, &device, &rd_against_down, rd_text("its port was active then"),
				   rd_text("rdma link show %s", use->device));
}

/* Mooncake logs the index of the GID that it uses. */
static void compare_gid(struct rd_against_state *st, const struct rd_run_use *use, const char *label,
			const struct rd_port *port)
{
	const struct rd_gid *gid = rd_gid_at(port, use->gid);
	const char *fault = gid ? rd_gid_fault(st->host, port, gid) : "no GID at this index";
	int own = rd_port_gid_index(&st->map->ports, (size_t)(port - st->host->ports));
	_cleanup_free_ char *here = own >= 0 ? rd_text("%d", own) : NULL, *seen = rd_text("%d", use->gid);
	const struct rd_against_pair index = { "gid", label, here, seen };

	if (use->gid < 0 || !port->gids_known || (port->gids_unread && (unsigned)use->gid >= port->gids_unread) ||
	    !rd_port_is_ethernet(port))
		return;
	if (own == use->gid)
		rd_against_same(st, &index, NULL);
	else if (fault)
		rd_against_differs(st, &index, &bad_gid, rd_text("%s", fault),
				   own >= 0 ? rd_text("# set MC_GID_INDEX=%d in the job's environment", own) : NULL);
	else
		rd_against_unknown(st, &index,
				   rd_text("this GID can also be used: %s chooses by its own rules",
					   stack_name(use->stack)));
}

/* NVSHMEM PEs numbered from 0 are those of this host; others cannot be assigned to a GPU. */
static void compare_pe(struct rd_against_state *st, const struct rd_run_use *use)
{
	const struct rd_choices *choices = &st->map->nvshmem;
	_cleanup_buf_ struct rd_buf here = { 0 };
	_cleanup_free_ char *subject = rd_text("PE %d", use->pe);
	struct rd_against_pair pair = { "NVSHMEM", subject, NULL, use->device };
	char *reason = NULL;
	bool same = false;

	if ((size_t)use->pe >= choices->n) {
		rd_against_unknown(st, &pair, rd_text("unknown which GPU this PE uses"));
		return;
	}
	for (size_t p = 0; p < choices->v[use->pe].n_ports; p++) {
		const char *name = rd_ibdev_label(st->host, st->host->ports[choices->v[use->pe].ports[p]].ibdev);

		same |= strcmp(name, use->device) == 0;
		rd_buf_printf(&here, "%s%s", here.len ? " " : "", name);
	}
	pair.predicted = here.len ? here.data : "none";
	if (rd_run_var(st->run, "NVSHMEM_ENABLE_NIC_PE_MAPPING") || rd_run_var(st->run, "NVSHMEM_HCA_LIST"))
		reason = rd_text("the run had its own list of NICs");
	if (same)
		rd_against_same(st, &pair, reason);
	else if (reason || rd_against_other_name(st))
		rd_against_unknown(st, &pair, reason ?: rd_text("the number of PEs on the host is unknown"));
	else
		rd_against_differs(st, &pair, &far_nic, rd_text("depends on the number of PEs on the host: --pes N"),
				   NULL);
}

/* "cuda:0" and the devices that Mooncake prefers: they should be the nearest ones. */
static void compare_preferred(struct rd_against_state *st, const struct rd_run_prefer *prefer)
{
	const char *number = strchr(prefer->place, ':'), *at = prefer->names;
	enum rd_path best = RD_PATH_UNKNOWN, worst = RD_PATH_UNKNOWN;
	struct rd_against_pair pair = { "Mooncake", prefer->place, NULL, prefer->names };
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
	if (best == RD_PATH_UNKNOWN || worst == RD_PATH_UNKNOWN) {
		rd_against_unknown(st, &pair, rd_text("the distance is unknown"));
		return;
	}
	pair.predicted = rd_path_name(best);
	if (worst == best)
		rd_against_same(st, &pair, NULL);
	else
		rd_against_unknown(
			st, &pair,
			rd_text("one of them is %s: Mooncake counts components of sysfs paths, and CUDA may number GPUs "
				"differently",
				rd_path_name(worst)));
}

/* UCX used only TCP. */
static void compare_tcp(struct rd_against_state *st, const char *label)
{
	const char *tls = rd_run_var(st->run, "UCX_TLS"), *devices = rd_run_var(st->run, "UCX_NET_DEVICES");
	struct rd_against_pair pair = { "UCX", label, "tcp", "tcp" };
	char *reason, *fix;

	for (size_t i = 0; i < st->run->uses.n; i++)
		if (st->run->uses.v[i].stack == RD_RUN_UCX && strcmp(st->run->uses.v[i].transport, "tcp") != 0)
			return;
	if (count_usable(st, false, false) == 0) {
		rd_against_same(st, &pair, rd_text("no RDMA port is active"));
		return;
	}
	pair.predicted = "rc, ud or dc";
	reason = tls	 ? rd_text("the run had UCX_TLS=%s", tls) :
		 devices ? rd_text("the run had UCX_NET_DEVICES=%s", devices) :
			   rd_text("the process found no RDMA device, or its UCX was built without verbs");
	fix = tls || devices ?
		      rd_text("# unset %s in the job's environment", tls ? "UCX_TLS" : "UCX_NET_DEVICES") :
		      rd_text("# where the job runs: ucx_info -d | grep -A3 Transport\n# there also: ls /dev/infiniband");
	rd_against_differs(st, &pair, &tcp, reason, fix);
}

void rd_against_run(struct rd_against_state *st)
{
	const char *network;

	compare_network(st);
	network = rd_against_observed(st->run);
	if (!network || rd_against_is_ib(network) || st->run->devs.n > 0) {
		if (st->run->devs.n > 0) {
			for (size_t p = 0; p < st->host->n_ports; p++)
				compare_port(st, p);
			compare_unknown_devices(st);
			compare_order(st);
		}
		compare_merged(st);
	}
	rd_against_gpus(st);
	for (size_t i = 0; i < st->run->uses.n; i++) {
		const struct rd_run_use *use = &st->run->uses.v[i];
		int port = port_of(st->host, use);
		_cleanup_free_ char *label = use->port ? rd_text("%s/%u", use->device, use->port) :
							 rd_text("%s", use->device);

		if (use->stack == RD_RUN_NVSHMEM) {
			compare_pe(st, use);
		} else if (use->transport && strcmp(use->transport, "tcp") == 0) {
			compare_tcp(st, label);
		} else {
			compare_device(st, use, label, port);
			if (port >= 0)
				compare_gid(st, use, label, &st->host->ports[port]);
		}
	}
	for (size_t i = 0; i < st->run->prefers.n; i++)
		compare_preferred(st, &st->run->prefers.v[i]);
}
