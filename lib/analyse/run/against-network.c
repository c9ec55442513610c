/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network, devices, and which NICs NCCL merged. */
#include <string.h>
#include <strings.h>

#include "analyse/run/against-priv.h"
#include "base/buf.h"
#include "base/number.h"
#include "base/text.h"

static const struct rd_against_problem tcp = {
	.id = "against-tcp",
	.title = "The run used TCP sockets although RDMA ports are active",
	.why = "all traffic between hosts went through the kernel's TCP stack, at a fraction of the link rate",
	.severity = RD_SEV_CRITICAL,
};
static const struct rd_against_problem rdma = {
	.id = "against-rdma",
	.title = "The run used RDMA, but no port of this host is active now",
	.why = "a new run would use TCP sockets",
	.severity = RD_SEV_CRITICAL,
};
static const struct rd_against_problem not_used = {
	.id = "against-not-used",
	.title = "The run did not use NICs that are active on this host",
	.why = "GPUs near these NICs use and share NICs that are farther away",
	.severity = RD_SEV_WARNING,
};
static const struct rd_against_problem link_layer = {
	.id = "against-link",
	.title = "Link layer of ports was different in the run",
	.why = "InfiniBand and Ethernet ports cannot reach each other",
	.severity = RD_SEV_WARNING,
};
static const struct rd_against_problem order = {
	.id = "against-order",
	.title = "NCCL numbered the NICs in a different order",
	.why = "NCCL assigns NICs to GPUs in that order",
	.severity = RD_SEV_WARNING,
};
static const struct rd_against_problem merged = {
	.id = "against-merged",
	.title = "NCCL merged different NICs",
	.why = "merging determines which ports carry the traffic of a GPU",
	.severity = RD_SEV_WARNING,
};

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
	rd_against_differs(st, "network", &problem, rd_text("NCCL"), rd_text("IB"), rd_text("%s", observed), reason,
			   fix);
}

/* A network plugin: RDMA by rules other than NCCL's. */
static void report_plugin(struct rd_against_state *st, const char *observed, bool usable)
{
	char *subject = rd_text("NCCL"), *seen = rd_text("%s", observed);

	if (rd_against_is_ib(observed) && usable)
		rd_against_same(st, "network", subject, rd_text("IB"), seen,
				rd_text("%s is a plugin that uses the same devices, by its own rules", observed));
	else if (has_efa(st->host) && strstr(observed, "Libfabric"))
		rd_against_same(st, "network", subject, rd_text("a plugin"), seen,
				rd_text("NCCL itself does not use EFA; the aws-ofi-nccl plugin does"));
	else
		rd_against_unknown(st, "network", subject, rd_text("%s", usable ? "IB" : "Socket"), seen,
				   rd_text("the network plugin chooses: %s", observed));
}

void rd_against_network(struct rd_against_state *st)
{
	const char *observed = rd_against_observed(st->run);
	bool usable = count_usable(st, false, false) > 0;

	if (!observed)
		return;
	if (usable && st->run->n_sockets > 0 && st->run->n_sockets < st->run->n_networks) {
		_cleanup_free_ char *mixed =
			rd_text("Socket in %zu of %zu communicators", st->run->n_sockets, st->run->n_networks);

		/* One communicator without RDMA slows down all. */
		report_tcp(st, mixed ? mixed : "Socket");
	} else if (strcmp(observed, "Socket") == 0 && usable) {
		report_tcp(st, observed);
	} else if (strcmp(observed, "Socket") == 0) {
		rd_against_same(st, "network", rd_text("NCCL"), rd_text("Socket"), rd_text("Socket"),
				rd_text("no active port that NCCL can use"));
	} else if (strcmp(observed, "IB") != 0) {
		report_plugin(st, observed, usable);
	} else if (usable) {
		rd_against_same(st, "network", rd_text("NCCL"), rd_text("IB"), rd_text("IB"), NULL);
	} else {
		rd_against_differs(st, "network", &rdma, rd_text("NCCL"), rd_text("Socket"), rd_text("IB"),
				   rd_text("the ports that the run used are not active now"),
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

/* Why an active port is not in the run's list. Before 2.17 NCCL logs variables only with NCCL_DEBUG_SUBSYS=ENV. */
static char *missing_reason(const struct rd_against_state *st)
{
	if (st->run->vars.n == 0)
		return rd_text(
			"NCCL_IB_HCA was set but not logged (NCCL_DEBUG_SUBSYS=INIT,ENV,NET), a container without "
			"the device, or a port that was down");
	if (rd_against_other_name(st))
		return rd_text("the host name in the log is %s: a container may see only some of the devices",
			       st->run->name);
	return rd_text("the port was down when the run started, or the process had no access to the device");
}

static void device_missing(struct rd_against_state *st, const char *label, const struct rd_port *port)
{
	const char *doubt = !st->run->list_whole ? "the list of devices in the log is truncated" :
			    rd_run_var_varies(st->run, "NCCL_IB_HCA") ?
						   "processes of the run had different values of NCCL_IB_HCA" :
						   NULL;

	if (doubt)
		rd_against_unknown(st, "device", rd_text("%s", label), rd_text("used"), rd_text("not in the list"),
				   rd_text("%s", doubt));
	else
		rd_against_differs(st, "device", &not_used, rd_text("%s", label), rd_text("used"),
				   rd_text("not in the list"), missing_reason(st),
				   rd_text("# where the job runs: ibv_devinfo -d %s",
					   rd_ibdev_label(st->host, port->ibdev)));
}

static void device_unexpected(struct rd_against_state *st, const char *label, const struct rd_port *port, size_t p)
{
	const char *hca = rd_run_var(st->run, "NCCL_IB_HCA");

	if (rd_against_usable(st->host, p) && !st->allowed[p])
		rd_against_unknown(
			st, "device", rd_text("%s", label), rd_text("not used"), rd_text("used"),
			rd_text("NCCL_IB_HCA=%s excludes it: other processes of the run may have had a different value",
				hca));
	else if (rd_port_active(port))
		rd_against_unknown(
			st, "device", rd_text("%s", label), rd_text("not used"), rd_text("used"),
			rd_text("NCCL's InfiniBand transport does not support its link layer: a plugin was used, or the "
				"driver has changed"));
	else
		rd_against_differs(
			st, "device", &rd_against_down, rd_text("%s", label), rd_text("not used"), rd_text("used"),
			rd_text("its port is %s now, and was active then", port->state ? port->state : "not active"),
			rd_text("rdma link show %s", label));
}

static void compare_link(struct rd_against_state *st, const char *label, const struct rd_port *port,
			 const struct rd_run_dev *dev)
{
	const char *here = rd_port_is_ethernet(port) ? "RoCE" : rd_port_is_ib(port) ? "IB" : NULL;

	if (here && dev->link && strcmp(here, dev->link) != 0)
		rd_against_differs(st, "link", &link_layer, rd_text("%s", label), rd_text("%s", here),
				   rd_text("%s", dev->link),
				   rd_text("the port type was changed since (mlxconfig LINK_TYPE_P1), "
					   "or another device has this name now"),
				   NULL);
}

static void compare_port(struct rd_against_state *st, size_t p)
{
	const struct rd_port *port = &st->host->ports[p];
	const char *name = st->host->ibdevs[port->ibdev].name, *hca = rd_run_var(st->run, "NCCL_IB_HCA");
	const struct rd_run_dev *dev = name ? find_dev(st->run, name, port->num) : NULL;
	bool wanted = rd_against_usable(st->host, p) && st->allowed[p];
	char label[128];

	rd_port_label(st->host, port, label, sizeof(label));
	if (wanted && !dev && name)
		device_missing(st, label, port);
	else if (!wanted && dev)
		device_unexpected(st, label, port, p);
	else if (dev)
		rd_against_same(st, "device", rd_text("%s", label), rd_text("used"), rd_text("used"), NULL);
	else if (hca && rd_against_usable(st->host, p))
		rd_against_same(st, "device", rd_text("%s", label), rd_text("not used"), rd_text("not in the list"),
				rd_text("NCCL_IB_HCA=%s", hca));
	if (dev)
		compare_link(st, label, port, dev);
}

static void compare_unknown_devices(struct rd_against_state *st)
{
	for (size_t i = 0; i < st->run->devs.n; i++) {
		const struct rd_run_dev *dev = &st->run->devs.v[i];
		char *label = dev->port ? rd_text("%s/%u", dev->name, dev->port) : rd_text("%s", dev->name);

		if (rd_against_ibdev(st->host, dev->name) >= 0)
			free(label);
		else
			rd_against_differs(
				st, "device", &rd_against_not_here, label, NULL, rd_text("used"),
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
	char *reason = NULL, *subject, *observed;

	if (st->run->devs.n < 2 || st->run->nets_vary)
		return;
	subject = rd_text("%zu devices", st->run->devs.n);
	if (in_order(st)) {
		rd_against_same(st, "order", subject, rd_text("by PCI address"), rd_text("by PCI address"), NULL);
		return;
	}
	observed = rd_text("%s first", st->run->devs.v[0].name);
	if (rd_nccl_lacks(st->log, RD_NCCL_PCI_ORDER, &reason))
		rd_against_unknown(st, "order", subject, rd_text("by PCI address"), observed, reason);
	else if (off && rd_as_atoi(off) == 0)
		rd_against_same(st, "order", subject, rd_text("as libibverbs lists them"), observed,
				rd_text("NCCL_IB_DEVICE_PCI_ORDER=%s", off));
	else if (st->log->version[0] == 0 || st->log->rccl || rd_against_other_name(st))
		rd_against_unknown(
			st, "order", subject, rd_text("by PCI address"), observed,
			rd_text("%s",
				rd_against_other_name(st) ?
					"a virtual machine has different PCI addresses" :
					"NCCL version not in the log: before 2.29.7 NCCL used the order of libibverbs"));
	else
		rd_against_differs(st, "order", &order, subject, rd_text("by PCI address"), observed,
				   rd_text("PCI addresses have changed since the run"), NULL);
}

static bool is_net_of(const struct rd_nccl_net *net, const char *name)
{
	return net->name && strcmp(net->name, name) == 0;
}

/* Explains why the NICs that NCCL merged are not those predicted. */
static void merged_differs(struct rd_against_state *st, char *subject, bool predicted)
{
	static const char *const names[] = { "NCCL_NET_FORCE_MERGE", "NCCL_NET_MERGE_POLICY" };
	char *here = rd_text("%s", predicted ? "one NIC" : "separate"),
	     *seen = rd_text("%s", predicted ? "separate" : "one NIC");
	char *reason = NULL;

	reason = rd_against_variable(st, names, RD_ARRAY_SIZE(names));
	if (reason || rd_nccl_lacks(st->log, RD_NCCL_MERGE_LEVEL, &reason))
		rd_against_unknown(st, "merged", subject, here, seen, reason);
	else if (rd_against_other_name(st))
		rd_against_unknown(
			st, "merged", subject, here, seen,
			rd_text("depends on the PCI addresses in the virtual machine, which are not those of this host"));
	else
		rd_against_differs(st, "merged", &merged, subject, here, seen,
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
			rd_against_same(st, "merged", rd_text("%s", nets->v[i].name), rd_text("one NIC"),
					rd_text("one NIC"), NULL);
		else
			merged_differs(st, rd_text("%s", nets->v[i].name), true);
	}
	for (size_t k = 0; k < st->run->nets.n; k++) {
		const char *name = st->run->nets.v[k].name;
		bool here = false;

		for (size_t i = 0; name && i < nets->n; i++)
			here |= is_net_of(&nets->v[i], name);
		if (name && strchr(name, '+') && !here)
			merged_differs(st, rd_text("%s", name), false);
	}
}

void rd_against_devices(struct rd_against_state *st)
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
