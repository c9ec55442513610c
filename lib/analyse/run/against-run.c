/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the run used: the network, devices, which NICs NCCL merged, which NIC each GPU used and whether with GPUDirect RDMA; and what
 * UCX, Mooncake and NVSHMEM used. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analyse/run/against-priv.h"
#include "analyse/shared/gid.h"
#include "base/buf.h"
#include "base/number.h"
#include "base/text.h"

/* Network, devices, and which NICs NCCL merged. */

static const struct rd_against_problem tcp = {
	"against-tcp", "The run used TCP sockets although RDMA ports are active",
	"all traffic between hosts went through the kernel's TCP stack, at a fraction of the link rate", RD_SEV_CRITICAL
};
static const struct rd_against_problem rdma = { "against-rdma",
						"The run used RDMA, but no port of this host is active now",
						"a new run would use TCP sockets", RD_SEV_CRITICAL };
static const struct rd_against_problem not_used = { "against-not-used",
						    "The run did not use NICs that are active on this host",
						    "GPUs near these NICs use and share NICs that are farther away",
						    RD_SEV_WARNING };
static const struct rd_against_problem link_layer = { "against-link", "Link layer of ports was different in the run",
						      "InfiniBand and Ethernet ports cannot reach each other",
						      RD_SEV_WARNING };
static const struct rd_against_problem order = { "against-order", "NCCL numbered the NICs in a different order",
						 "NCCL assigns NICs to GPUs in that order", RD_SEV_WARNING };
static const struct rd_against_problem merged = { "against-merged", "NCCL merged different NICs",
						  "merging determines which ports carry the traffic of a GPU",
						  RD_SEV_WARNING };

static size_t count_usable(const struct rd_against_state *st, bool allowed_only, bool compute_only)
{
	size_t n = 0;

	for (size_t p = 0; p < st->host->n_ports; p++)
		n += rd_against_usable(st->host, p) && (!allowed_only || st->allowed[p]) &&
		     (!compute_only || st->map->ports.v[p].role == RD_ROLE_COMPUTE);
	return n;
}

static bool has_efa(const struct rd_host *host)
{
	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (rd_ibdev_is_efa(host, (int)d))
			return true;
	return false;
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
	struct rd_against_problem problem = tcp;
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

/* A network plugin: RDMA by rules other than NCCL's. */
static void report_plugin(struct rd_against_state *st, struct rd_against_pair network)
{
	if (rd_against_is_ib(network.observed) && strcmp(network.predicted, "IB") == 0) {
		rd_against_same(st, &network,
				rd_text("%s is a plugin that uses the same devices, by its own rules",
					network.observed));
	} else if (has_efa(st->host) && strstr(network.observed, "Libfabric")) {
		network.predicted = "a plugin";
		rd_against_same(st, &network, rd_text("NCCL itself does not use EFA; the aws-ofi-nccl plugin does"));
	} else {
		rd_against_unknown(st, &network, rd_text("the network plugin chooses: %s", network.observed));
	}
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
		report_plugin(st, network);
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
				   rd_text("its port is %s now, and was active then", state ? state : "not active"),
				   rd_text("rdma link show %s", device->subject));
}

static void compare_port(struct rd_against_state *st, size_t p)
{
	const struct rd_port *port = &st->host->ports[p];
	const char *name = st->host->ibdevs[port->ibdev].name, *hca = rd_run_var(st->run, "NCCL_IB_HCA");
	const struct rd_run_dev *dev = name ? find_dev(st->run, name, port->num) : NULL;
	bool wanted = rd_against_usable(st->host, p) && st->allowed[p];
	char label[128];
	struct rd_against_pair device = { "device", label, wanted ? "used" : "not used",
					  dev ? "used" : "not in the list" };
	struct rd_against_pair link = { "link", label,
					rd_port_is_ethernet(port) ? "RoCE" :
					rd_port_is_ib(port)	  ? "IB" :
								    NULL,
					dev ? dev->link : NULL };

	rd_port_label(st->host, port, label, sizeof(label));
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

static void compare_devices(struct rd_against_state *st)
{
	const char *network = rd_against_observed(st->run);

	if (network && !rd_against_is_ib(network) && st->run->devs.n == 0)
		return;
	if (st->run->devs.n > 0) {
		for (size_t p = 0; p < st->host->n_ports; p++)
			compare_port(st, p);
		compare_unknown_devices(st);
		compare_order(st);
	}
	compare_merged(st);
}

/* Which NIC each GPU used, and whether with GPUDirect RDMA. */

static const struct rd_against_problem missing_gpu = { "against-gpu", "The run used GPUs that this host does not have",
						       "their NICs and GPUDirect use cannot be compared",
						       RD_SEV_WARNING };
static const struct rd_against_problem bounced = {
	"against-gpudirect", "The run copied GPU memory through host memory",
	"the copy costs host memory bandwidth and latency, which GPUDirect RDMA avoids", RD_SEV_WARNING
};
static const struct rd_against_problem direct = {
	"against-gpudirect-lost", "The run used GPUDirect RDMA, which is not available on this host now",
	"a new run would copy GPU memory through host memory", RD_SEV_WARNING
};
static const struct rd_against_problem other_nic = { "against-nic",
						     "GPUs used different NICs than NCCL selects on this host",
						     "a NIC that is farther away, or shared, is slower",
						     RD_SEV_WARNING };

static const char *label_of(const struct rd_host *host, int gpu, char ret[RD_PCI_ADDR + 16])
{
	snprintf(ret, RD_PCI_ADDR + 16, "GPU%u", host->gpus[gpu].index);
	return ret;
}

/* One row for all GPUs: whether the numbers and addresses in the log are those of this host's GPUs. */
static void compare_presence(struct rd_against_state *st)
{
	_cleanup_buf_ struct rd_buf missing = { 0 };
	size_t n = 0, found = 0;
	char count[40];

	for (size_t i = 0; i < st->run->ranks.n; i++) {
		const struct rd_run_rank *rank = &st->run->ranks.v[i];

		if (rank->bus.known != RD_OK)
			continue;
		n++;
		if (rd_against_gpu_of_rank(st, rank->rank) >= 0) {
			found++;
			continue;
		}
		rd_buf_printf(&missing, "%s%04x:%02x:%02x.%x", missing.len ? ", " : "", (unsigned)(rank->bus.v >> 20),
			      (unsigned)(rank->bus.v >> 12) & 0xff, (unsigned)(rank->bus.v >> 4) & 0xff,
			      (unsigned)rank->bus.v & 0xf);
		if (missing.len > 200)
			break;
	}
	if (n == 0 || st->host->n_gpus == 0)
		return;
	snprintf(count, sizeof(count), "%zu GPU%s", found, found == 1 ? "" : "s");
	if (!missing.len)
		rd_against_same(st, &(struct rd_against_pair){ "gpu", count, "present", "used" }, NULL);
	else
		rd_against_differs(
			st, &(struct rd_against_pair){ "gpu", missing.data, NULL, "used" }, &missing_gpu,
			rd_against_other_name(st) ?
				rd_text("the log names host %s: a virtual machine with different PCI addresses, or another host",
					st->run->name) :
				rd_text("GPUs were removed, or their addresses have changed since"),
			rd_text("nvidia-smi --query-gpu=index,pci.bus_id --format=csv"));
}

static char *net_name(const struct rd_against_state *st, unsigned number)
{
	const struct rd_run_net *net = rd_run_net(st->run, number);

	return net && net->name ? rd_text("%s", net->name) : rd_text("NIC %u", number);
}

static int net_ibdev(const struct rd_against_state *st, unsigned number)
{
	const struct rd_run_net *net = rd_run_net(st->run, number);

	return net && net->name ? rd_against_ibdev(st->host, net->name) : -1;
}

static const struct rd_choice *choice_of(const struct rd_against_state *st, int gpu)
{
	for (size_t i = 0; i < st->own.nccl.n; i++)
		if (st->own.nccl.v[i].gpu == gpu && st->own.nccl.v[i].n_ports > 0)
			return &st->own.nccl.v[i];
	return NULL;
}

static bool is_chosen(const struct rd_against_state *st, int gpu, int ibdev)
{
	const struct rd_choice *choice = choice_of(st, gpu);

	for (size_t p = 0; choice && p < choice->n_ports; p++)
		if (st->host->ports[choice->ports[p]].ibdev == ibdev)
			return true;
	return false;
}

/* What the channels of one GPU show. */
struct seen {
	bool local, proxy_local, peer_beyond, first_beyond, as_near;
	char proxies[64];
	struct rd_buf nets;
};

static void add_seen_net(const struct rd_against_state *st, const struct rd_run_channel *channel, struct seen *seen)
{
	_cleanup_free_ char *name = net_name(st, channel->net);
	const char *at = name && seen->nets.data ? strstr(seen->nets.data, name) : NULL;
	size_t size = name ? strlen(name) : 0;

	while (at && ((at > seen->nets.data && at[-1] != ' ') || (at[size] && at[size] != ' ')))
		at = strstr(at + 1, name);
	if (name && !at)
		rd_buf_printf(&seen->nets, "%s%s", seen->nets.len ? " " : "", name);
}

static void add_seen_channel(const struct rd_against_state *st, int gpu, const struct rd_run_channel *channel,
			     struct seen *seen)
{
	const struct rd_choice *choice = choice_of(st, gpu);
	int ibdev = net_ibdev(st, channel->net);
	int proxy = channel->proxy >= 0 ? rd_against_gpu_of_rank(st, (unsigned)channel->proxy) : -1;

	if (ibdev < 0)
		return;

	add_seen_net(st, channel, seen);
	if (channel->proxy >= 0) {
		seen->proxy_local |= proxy >= 0 && is_chosen(st, proxy, ibdev);
		snprintf(seen->proxies, sizeof(seen->proxies), "rank %d", channel->proxy);
		return;
	}
	if (is_chosen(st, gpu, ibdev)) {
		seen->local = true;
		return;
	}
	seen->peer_beyond |= channel->peer;
	seen->first_beyond |= channel->first;
	if (choice)
		seen->as_near |=
			rd_nicmap_pair(&st->own, (size_t)gpu, (size_t)ibdev)->nccl ==
			rd_nicmap_pair(&st->own, (size_t)gpu, (size_t)st->host->ports[choice->ports[0]].ibdev)->nccl;
}

static size_t ranks_here(const struct rd_against_state *st)
{
	size_t n = 0;

	for (size_t i = 0; i < st->run->channels.n; i++) {
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again |= st->run->channels.v[k].gpu.rank.v == st->run->channels.v[i].gpu.rank.v;
		n += !again;
	}
	return n > st->run->ranks.n ? n : st->run->ranks.n;
}

/* No channel of the GPU used the predicted NIC. */
static void nic_differs(struct rd_against_state *st, int gpu, const struct rd_against_pair *nic, const struct seen *seen)
{
	/* Variables that make NCCL use other NICs than a GPU's own. */
	static const char *const names[] = { "NCCL_TOPO_FILE",	    "NCCL_GRAPH_FILE", "NCCL_NETDEVS_POLICY",
					     "NCCL_CROSS_NIC",	    "NCCL_P2P_LEVEL",  "NCCL_P2P_DISABLE",
					     "NCCL_NET_FORCE_MERGE" };
	const char *network = rd_against_observed(st->run);
	char *reason = rd_against_variable(st, names, RD_ARRAY_SIZE(names)) ?: rd_against_lacks(st->log, RD_NCCL_DEAL);
	bool certain = seen->peer_beyond || (seen->first_beyond && ranks_here(st) == 1);

	if (reason)
		rd_against_unknown(st, nic, reason);
	else if (network && strcmp(network, "IB") != 0)
		rd_against_unknown(st, nic, rd_text("the network plugin chooses: %s", network));
	else if (seen->as_near)
		rd_against_unknown(st, nic,
				   rd_text("as near as the predicted NIC: NCCL distributes NICs by GPU and channel"));
	else if (!certain)
		rd_against_unknown(
			st, nic,
			rd_text("a ring enters and leaves a host through one NIC, which is near only one of the two "
				"GPUs; the log has no further information"));
	else
		rd_against_differs(
			st, nic, &other_nic,
			rd_text(st->log->version[0] == 0 ? "NCCL version not in the log" :
							   "PCI topology, link speeds or GPUDirect were different then"),
			rd_text("rdmadiag nic-map --path GPU%u %s", st->host->gpus[gpu].index,
				rd_ibdev_label(st->host, st->host->ports[choice_of(st, gpu)->ports[0]].ibdev)));
}

static void compare_nic(struct rd_against_state *st, int gpu)
{
	const struct rd_choice *choice = choice_of(st, gpu);
	_cleanup_buf_ struct rd_buf here = { 0 };
	char label[RD_PCI_ADDR + 16];
	struct rd_against_pair nic = { "nic", label_of(st->host, gpu, label), NULL, NULL };
	struct seen seen = { 0 };

	for (size_t i = 0; i < st->run->channels.n; i++) {
		const struct rd_run_channel *channel = &st->run->channels.v[i];

		if (rd_against_is_ib(channel->transport) && rd_against_gpu(st, &channel->gpu) == gpu)
			add_seen_channel(st, gpu, channel, &seen);
	}
	for (size_t p = 0; choice && p < choice->n_ports; p++)
		rd_buf_printf(&here, "%s%s", p ? " " : "",
			      rd_ibdev_label(st->host, st->host->ports[choice->ports[p]].ibdev));
	nic.predicted = here.data;
	nic.observed = seen.nets.data;
	if (nic.observed && choice) {
		bool others = strchr(nic.observed, ' ') != NULL;

		if (seen.local)
			rd_against_same(st, &nic,
					others ? rd_text("rings and trees may also use NICs of other GPUs") : NULL);
		else if (seen.proxy_local && !seen.peer_beyond && !seen.first_beyond)
			rd_against_same(st, &nic,
					rd_text("PXN: through NVLink to %s, whose GPU is near this NIC", seen.proxies));
		else
			nic_differs(st, gpu, &nic, &seen);
	}
	rd_buf_deinit(&seen.nets);
}

/* A variable or a release that explains a difference in GPUDirect use; NULL: none. */
static char *gpudirect_cause(const struct rd_against_state *st, bool observed, enum rd_path path)
{
	static const char *const names[] = { "NCCL_NET_GDR_READ", "NCCL_NET_GDR_C2C", "NCCL_DMABUF_ENABLE",
					     "NCCL_IB_DATA_DIRECT", "NCCL_IB_CUDA_SUPPORT" };
	char *cause = rd_against_variable(st, names, RD_ARRAY_SIZE(names));

	if (!cause && !observed)
		cause = rd_against_lacks(st->log, RD_NCCL_DMABUF);
	return cause || observed || path != RD_PATH_P2C ? cause : rd_against_lacks(st->log, RD_NCCL_C2C);
}

/* What the map predicts for the GPU and the device: 1, 0; -1: unknown. */
static int predicted_gpudirect(const struct rd_against_state *st, int gpu, int ibdev)
{
	const struct rd_pair *pair;

	if (gpu < 0 || ibdev < 0)
		return -1;
	pair = rd_nicmap_pair(&st->own, (size_t)gpu, (size_t)ibdev);
	return pair->gpudirect.known == RD_OK ? pair->gpudirect.v : -1;
}

/* `here`: 1, 0; -1: unknown. `note`: reason if both agree, or `here` is unknown; taken over; may be NULL. `path`: distance
 * between GPU and NIC, RD_PATH_UNKNOWN if the row is about a NIC alone. */
static void add_gpudirect(struct rd_against_state *st, const char *subject, int here, bool observed, char *note,
			  enum rd_path path)
{
	const struct rd_against_pair pair = { "gpudirect", subject,
					      here < 0 ? NULL :
					      here     ? "yes" :
							 "no",
					      observed ? "yes" : "no" };
	char *cause;

	if (here >= 0 && (here != 0) == observed) {
		rd_against_same(st, &pair, note);
		return;
	}
	if (here < 0) {
		rd_against_unknown(st, &pair, note ?: rd_text("GPUDirect support of this host is unknown"));
		return;
	}
	free(note);
	cause = gpudirect_cause(st, observed, path);
	if (cause)
		rd_against_unknown(st, &pair, cause);
	else
		rd_against_differs(
			st, &pair, observed ? &direct : &bounced,
			rd_text(observed ?
					"nvidia_peermem or DMA-BUF was available then, and is not now" :
				rd_against_other_name(st) ?
					"nvidia_peermem or DMA-BUF was not visible to the process: a container, or loaded since" :
					"nvidia_peermem was not loaded then, or the run's CUDA and NCCL do not support DMA-BUF"),
			rd_text("modprobe nvidia_peermem\n# until the next boot; also in /etc/modules-load.d/%s",
				observed ? "" : "\n# where the job runs: lsmod | grep peermem"));
}

/* A row for a GPU and a NIC. */
static void add_pair(struct rd_against_state *st, int gpu, int ibdev, unsigned number, bool observed, char *note)
{
	_cleanup_free_ char *name = net_name(st, number), *subject = NULL;
	char label[RD_PCI_ADDR + 16];

	subject = rd_text("%s and %s", label_of(st->host, gpu, label), name);
	add_gpudirect(st, subject, predicted_gpudirect(st, gpu, ibdev), observed, note,
		      rd_nicmap_pair(&st->own, (size_t)gpu, (size_t)ibdev)->nccl);
}

/* "GPU Direct RDMA Enabled for HCA 0 'mlx5_0'": the NIC supports it, whatever the distance to a GPU. */
static void compare_support(struct rd_against_state *st)
{
	for (size_t i = 0; i < st->run->nets.n; i++) {
		const struct rd_run_net *net = &st->run->nets.v[i];
		int ibdev = net->name ? rd_against_ibdev(st->host, net->name) : -1, here = -1;
		bool too_far = false;

		if (net->gpudirect.known != RD_OK || ibdev < 0)
			continue;
		for (size_t g = 0; g < st->host->n_gpus && here != 1; g++) {
			int of_gpu = predicted_gpudirect(st, (int)g, ibdev);

			too_far |= of_gpu == 0;
			if (of_gpu == 1)
				here = 1;
		}
		/* Without a GPU near enough, nothing can be concluded about the NIC. */
		add_gpudirect(
			st, net->name, here, net->gpudirect.v,
			here < 0 && too_far ?
				rd_text("no GPU of this host uses GPUDirect with this NIC, so its support is unknown") :
				NULL,
			RD_PATH_UNKNOWN);
	}
}

static bool counted_before(const struct rd_against_state *st, size_t i, int gpu)
{
	for (size_t k = 0; k < i; k++) {
		const struct rd_run_channel *other = &st->run->channels.v[k];

		if (other->net == st->run->channels.v[i].net && other->proxy < 0 &&
		    rd_against_gpu(st, &other->gpu) == gpu && other->gpudirect == st->run->channels.v[i].gpudirect)
			return true;
	}
	return false;
}

static void compare_channels(struct rd_against_state *st)
{
	for (size_t i = 0; i < st->run->channels.n; i++) {
		const struct rd_run_channel *channel = &st->run->channels.v[i];
		int gpu = rd_against_gpu(st, &channel->gpu), ibdev = net_ibdev(st, channel->net);
		const struct rd_pair *pair;

		if (gpu < 0 || ibdev < 0 || channel->proxy >= 0 || !rd_against_is_ib(channel->transport) ||
		    counted_before(st, i, gpu))
			continue;
		/* Why it is unknown, if it is and a reason is known. */
		pair = rd_nicmap_pair(&st->own, (size_t)gpu, (size_t)ibdev);
		add_pair(st, gpu, ibdev, channel->net, channel->gpudirect,
			 pair->gpudirect.known != RD_OK && pair->gpudirect_why ? rd_text("%s", pair->gpudirect_why) :
										 NULL);
	}
}

/* Before 2.24 the bracket is a busId, then a rank. */
static int gpu_of_pair(const struct rd_against_state *st, const struct rd_run_pair *pair)
{
	uint32_t rank;

	if (strlen(pair->gpu.text) < 4 && rd_parse_u32(pair->gpu.text, RD_DECIMAL, 999, &rank) == 0 &&
	    !rd_runlog_before(st->log, 24, 3))
		return rd_against_gpu_of_rank(st, rank);
	return rd_against_gpu(st, &pair->gpu);
}

static void compare_pairs(struct rd_against_state *st)
{
	for (size_t i = 0; i < st->run->pairs.n; i++) {
		const struct rd_run_pair *pair = &st->run->pairs.v[i];
		int gpu = gpu_of_pair(st, pair), ibdev = net_ibdev(st, pair->net);

		if (gpu < 0 || ibdev < 0)
			continue;
		add_pair(st, gpu, ibdev, pair->net, pair->gpudirect,
			 pair->distance.known == RD_OK && pair->level.known == RD_OK ?
				 rd_text("NCCL computed distance %u, and allows up to %u", pair->distance.v,
					 pair->level.v) :
				 NULL);
	}
}

static void compare_all_gpus(struct rd_against_state *st)
{
	static const struct rd_against_pair channels = { "nic", "channels", NULL, "by number" };
	const struct rd_run_host *run = st->run;
	bool any = false;

	compare_presence(st);
	if (run->nets_vary) {
		rd_against_unknown(
			st, &channels,
			rd_text("processes had different lists of devices, so a NIC number is ambiguous: use the log of "
				"a single process"));
		return;
	}
	for (size_t i = 0; i < run->channels.n; i++)
		any |= rd_against_is_ib(run->channels.v[i].transport);
	if (any && run->nets.n == 0) {
		rd_against_unknown(
			st, &channels,
			rd_text("the log has no line \"NET/IB : Using\", so NIC numbers cannot be resolved to names"));
		return;
	}
	for (size_t g = 0; g < st->host->n_gpus; g++)
		compare_nic(st, (int)g);
	compare_support(st);
	compare_channels(st);
	compare_pairs(st);
}

/* What UCX, Mooncake and NVSHMEM used. */

static const struct rd_against_problem bad_gid = { "against-gid", "The run used an unusable GID",
						   "connections to other hosts time out", RD_SEV_WARNING };
static const struct rd_against_problem far_nic = { "against-nic",
						   "GPUs used different NICs than predicted for this host",
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

/* A device that the stack used, or did not use because its port was not active. */
static void compare_device(struct rd_against_state *st, const struct rd_run_use *use, const char *label, int port)
{
	bool active = port >= 0 && (rd_port_active(&st->host->ports[port]) ||
				    (st->host->from_topology_file && !st->host->ports[port].state));
	const struct rd_against_pair device = { rd_run_stack_name(use->stack), label,
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

	if (use->gid < 0 || !port->gids_known || !rd_port_is_ethernet(port))
		return;
	if (own == use->gid)
		rd_against_same(st, &index, NULL);
	else if (fault)
		rd_against_differs(st, &index, &bad_gid, rd_text("%s", fault),
				   own >= 0 ? rd_text("# set MC_GID_INDEX=%d in the job's environment", own) : NULL);
	else
		rd_against_unknown(st, &index,
				   rd_text("this GID can also be used: %s chooses by its own rules",
					   rd_run_stack_name(use->stack)));
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

static void compare_stacks(struct rd_against_state *st)
{
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

void rd_against_run(struct rd_against_state *st)
{
	compare_network(st);
	compare_devices(st);
	compare_all_gpus(st);
	compare_stacks(st);
}
