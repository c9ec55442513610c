/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network as libibnetdisc finds it. */
#include "source/child.h"
#include "source/mad.h"

#include "base/buf.h"
#include "source/libibmad.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SIZE_LIMIT ((size_t)512 << 20)
/* A port answers a question about itself within microseconds. The child's own try is short, for where it cannot succeed it
 * only costs time; ours decides. */
#define PROBE_CHILD_MS 10
#define PROBE_MS 500
#define MKEY_SIZE 8 /* PortInfo begins with the key to the port, which is nobody's business */

struct walk {
	const char *ibdev;
	unsigned port;
	struct rd_mad_walk how;
};

static void add_node(const ibnd_node_t *node, struct rd_buf *out)
{
	struct rd_walk_node record = {
		.guid = node->guid,
		.kind = (uint32_t)node->type,
		.n_ports = (uint32_t)node->numports,
		.lid = node->smalid,
		.lmc = node->smalmc,
	};

	memcpy(record.node_info, node->info, RD_WALK_ATTR);
	memcpy(record.switch_info, node->switchinfo, RD_WALK_ATTR);
	memcpy(record.description, node->nodedesc, RD_WALK_ATTR);
	rd_buf_add(out, &record, sizeof(record));
}

static void add_port(const ibnd_port_t *port, struct rd_buf *out)
{
	struct rd_walk_port record = {
		.guid = port->node->guid,
		.number = (uint32_t)port->portnum,
		.lid = port->base_lid,
		.lmc = port->lmc,
	};

	if (port->remoteport && port->remoteport->node) {
		record.peer_guid = port->remoteport->node->guid;
		record.peer_number = (uint32_t)port->remoteport->portnum;
	}
	memcpy(record.port_info, port->info, RD_WALK_ATTR);
	memset(record.port_info, 0, MKEY_SIZE);
	memcpy(record.extended_info, port->ext_info, RD_WALK_ATTR);
	rd_buf_add(out, &record, sizeof(record));
}

static int write_fabric(const ibnd_fabric_t *fabric, struct rd_walk *head, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_buf_add(&out, head, sizeof(*head));
	for (const ibnd_node_t *node = fabric->nodes; node; node = node->next) {
		add_node(node, &out);
		head->n_nodes++;
	}
	for (const ibnd_node_t *node = fabric->nodes; node; node = node->next)
		for (int i = 0; node->ports && i <= node->numports; i++)
			if (node->ports[i] && node->ports[i]->node) {
				add_port(node->ports[i], &out);
				head->n_ports++;
			}
	if (out.failed)
		return rd_err_set(err, ENOMEM, "network", "no memory for what was found");
	memcpy(out.data, head, sizeof(*head));
	*ret = (struct rd_bytes){ .data = (uint8_t *)out.data, .size = out.len };
	out.data = NULL;
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int discover(const struct walk *walk, struct rd_bytes *ret, struct rd_err *err)
{
	struct ibnd_config config = {
		.max_smps = walk->how.window,
		.timeout_ms = walk->how.timeout_ms,
		.retries = walk->how.retries,
		.flags = IBND_CONFIG_MLX_EPI,
	};
	struct rd_walk head = { .magic = RD_WALK_MAGIC };
	uint64_t start = now_ns();
	char name[64];
	ibnd_fabric_t *fabric;
	int r;

	snprintf(name, sizeof(name), "%s", walk->ibdev);
	errno = 0;
	fabric = rd_libibnetdisc.ibnd_discover_fabric(name, (int)walk->port, NULL, &config);
	if (!fabric) {
		rd_err_set(err, errno ? errno : EIO, name, "cannot walk over the network from port %u", walk->port);
		rd_err_hint(err, "ibstat shows the state of the port; smpquery -D nodeinfo 0 asks the port itself");
		return err ? -err->code : -EIO;
	}
	head.duration_ns = now_ns() - start;
	head.mads = fabric->total_mads_used;
	head.self_port = (uint32_t)fabric->from_portnum;
	head.self_guid = fabric->from_node ? fabric->from_node->guid : 0;
	r = write_fabric(fabric, &head, ret, err);
	rd_libibnetdisc.ibnd_destroy_fabric(fabric);
	return r;
}

static struct ibmad_port *open_port(const struct walk *walk)
{
	int classes[] = { IB_SMI_DIRECT_CLASS };
	char name[64];

	snprintf(name, sizeof(name), "%s", walk->ibdev);
	return rd_libibmad.mad_rpc_open_port(name, (int)walk->port, classes, RD_ARRAY_SIZE(classes));
}

/* Whether the port answers a question about itself in this process. */
static bool answers(const struct walk *walk, unsigned timeout_ms)
{
	uint8_t info[IB_SMP_DATA_SIZE] = { 0 };
	ib_portid_t self = { 0 };
	struct ibmad_port *port = open_port(walk);
	bool ok;

	if (!port)
		return false;
	rd_libibmad.mad_rpc_set_retries(port, 1);
	ok = rd_libibmad.smp_query_via(info, &self, IB_ATTR_NODE_INFO, 0, timeout_ms, port) != NULL;
	rd_libibmad.mad_rpc_close_port(port);
	return ok;
}

static int work(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	const struct walk *walk = arg;

	if (!answers(walk, PROBE_CHILD_MS))
		return rd_err_set(err, ENOTCONN, walk->ibdev, "its port %u does not answer", walk->port);
	return discover(walk, ret, err);
}

/*
 * libibnetdisc and libibmad print, and can exit or hang: they work in a process of their own. Where the port does not answer
 * there, because what stands behind the library did not survive the fork, and does so here, it is done here. Meanwhile the
 * port is held open here, too: an answer that finds its way into the wrong process then meets somebody who drops it.
 */
int rd_umad_discover(const char *ibdev, unsigned port, const struct rd_mad_walk *how, struct rd_bytes *ret,
		     struct rd_err *err)
{
	struct walk walk = { ibdev, port, *how };
	int r = rd_libibnetdisc_load(ibdev, err);
	struct ibmad_port *held = r < 0 ? NULL : open_port(&walk);

	if (r < 0)
		return r;
	if (!held)
		return rd_err_set(err, errno ? errno : ENODEV, ibdev, "cannot open port %u", port);
	r = rd_child_run("network", work, &walk, how->limit_ms, SIZE_LIMIT, ret, err);
	rd_libibmad.mad_rpc_close_port(held);
	if ((r == -ENOTCONN || r == -ECHILD) && answers(&walk, PROBE_MS))
		r = discover(&walk, ret, err);
	return r;
}
