/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Management datagrams of this host, through libibumad. */
#include "source/shared/mad.h"

#include "source/opener/child.h"
#include "source/shared/libibmad.h"

#include <time.h>

RD_LATE_DEFINE(rd_libibumad, RD_LIBIBUMAD_CALLS, RD_LIBIBUMAD)
RD_LATE_DEFINE(rd_libibmad, RD_LIBIBMAD_CALLS, RD_LIBIBMAD)

#define QP1_QKEY 0x80010000
#define CLASS_SMI 0x01
#define CLASS_SMI_ROUTE 0x81
#define CLASS_PERFORMANCE 0x04

static const uint8_t classes[] = { CLASS_SMI, CLASS_SMI_ROUTE, CLASS_PERFORMANCE };
#define AGENTS RD_ARRAY_SIZE(classes)

struct umad_mads {
	struct rd_mads mads;
	int fd;
	int agents[AGENTS];
	uint8_t *buf;
};

/* libibumad returns EIO for any error, with the reason in errno. */
static int umad_reason(int r)
{
	return r == -EIO && errno ? errno : -r;
}

static int mads_send(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err)
{
	struct umad_mads *umad = (struct umad_mads *)mads;
	bool smi = mad->data[1] != CLASS_PERFORMANCE;
	uint8_t *data = rd_libibumad.umad_get_mad(umad->buf);
	struct ib_mad_addr *addr;
	size_t agent = 0;
	int r;

	while (agent < AGENTS - 1 && classes[agent] != mad->data[1])
		agent++;
	memset(umad->buf, 0, rd_libibumad.umad_size());
	memcpy(data, mad->data, RD_MAD_SIZE);
	memset(data + 8, 0, 4);
	for (int i = 0; i < 4; i++)
		data[12 + i] = (uint8_t)(mad->tid >> (24 - 8 * i));
	rd_libibumad.umad_set_addr(umad->buf, mad->dest.lid, smi ? 0 : 1, mad->dest.sl, smi ? 0 : (int)QP1_QKEY);
	addr = rd_libibumad.umad_get_mad_addr(umad->buf);
	if (mad->dest.grh) {
		addr->grh_present = 1;
		addr->gid_index = mad->dest.gid_index;
		addr->hop_limit = 0xff;
		memcpy(addr->gid, mad->dest.gid, sizeof(addr->gid));
	}
	errno = 0;
	r = rd_libibumad.umad_send(umad->fd, umad->agents[agent], umad->buf, RD_MAD_SIZE, (int)timeout_ms, 0);
	if (r < 0) {
		r = umad_reason(r);
		return rd_err_set(err, r == ENOBUFS || r == ENOMEM ? EAGAIN : r, "MAD", "cannot send to LID %u",
				  mad->dest.lid);
	}
	return 0;
}

static int mads_recv(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	struct umad_mads *umad = (struct umad_mads *)mads;
	int length = RD_MAD_SIZE, r, status;
	const uint8_t *data;

	/* Poll first: umad_recv with a timeout of 0 would wait forever. */
	r = rd_libibumad.umad_poll(umad->fd, timeout_ms);
	if (r == -ETIMEDOUT || (r == -EIO && errno == EINTR))
		return 0;
	errno = 0;
	if (!r)
		r = rd_libibumad.umad_recv(umad->fd, umad->buf, &length, 0);
	if (r == -EWOULDBLOCK || (r < 0 && (errno == EINTR || errno == EAGAIN)))
		return 0;
	if (r < 0 && r != -ENOSPC)
		return rd_err_set(err, umad_reason(r), "MAD", "cannot receive from the port");
	data = rd_libibumad.umad_get_mad(umad->buf);
	status = rd_libibumad.umad_status(umad->buf);
	memset(ret, 0, sizeof(*ret));
	ret->status = status < 0 ? -status : status;
	ret->size = length < 0 || r == -ENOSPC ? 0 : (size_t)length < RD_MAD_SIZE ? (size_t)length : RD_MAD_SIZE;
	memcpy(ret->data, data, RD_MAD_SIZE);
	ret->tid = (uint32_t)data[12] << 24 | (uint32_t)data[13] << 16 | (uint32_t)data[14] << 8 | data[15];
	return 1;
}

static uint64_t mads_now(struct rd_mads *mads)
{
	return rd_clock_ns(CLOCK_MONOTONIC);
}

static void mads_close(struct rd_mads *mads)
{
	struct umad_mads *umad = (struct umad_mads *)mads;

	for (size_t i = 0; i < AGENTS; i++)
		if (umad->agents[i] >= 0)
			rd_libibumad.umad_unregister(umad->fd, umad->agents[i]);
	if (umad->fd >= 0)
		rd_libibumad.umad_close_port(umad->fd);
	RD_FREE(umad->buf, umad);
}

static const struct rd_mads_ops umad_ops = {
	.send = mads_send,
	.recv = mads_recv,
	.now = mads_now,
	.close = mads_close,
};

static int fail_open(struct umad_mads *umad, int code, const char *object, const char *what, struct rd_err *err)
{
	rd_err_set(err, code, object, "%s", what);
	if (code == EACCES || code == EPERM)
		rd_err_hint(err, "run as root: /dev/infiniband/umad* belongs to root");
	else if (code == ENODEV || code == ENOENT || code == ENXIO)
		rd_err_hint(err, "modprobe ib_umad; ibstat lists the available ports");
	mads_close(&umad->mads);
	return -code;
}

int rd_umad_open(const char *ibdev, unsigned port, struct rd_mads **ret, struct rd_err *err)
{
	struct umad_mads *umad;
	char object[96];
	int r;

	snprintf(object, sizeof(object), "%.64s port %u", ibdev, port);
	r = rd_libibumad_load(object, err);
	if (r < 0)
		return r;
	umad = rd_alloc(1, sizeof(*umad));
	umad->mads.ops = &umad_ops;
	memset(umad->agents, 0xff, sizeof(umad->agents)); /* none */
	umad->fd = -1;
	errno = 0;
	umad->fd = rd_libibumad.umad_open_port(ibdev, (int)port);
	if (umad->fd < 0) {
		int code = umad_reason(umad->fd);

		umad->fd = -1;
		return fail_open(umad, code, object, "cannot open its umad device", err);
	}
	/* umad_open_port determines the length of the kernel's header. */
	umad->buf = umad_alloc(1, rd_libibumad.umad_size() + RD_MAD_SIZE);
	if (!umad->buf)
		return fail_open(umad, ENOMEM, object, "no memory to open the port", err);
	for (size_t i = 0; i < AGENTS; i++) {
		errno = 0;
		umad->agents[i] = rd_libibumad.umad_register(umad->fd, classes[i], 1, 0, NULL);
		/* Ports with an Ethernet link layer have no subnet management. */
		if (umad->agents[i] < 0 && classes[i] == CLASS_PERFORMANCE)
			return fail_open(umad, errno ? errno : EIO, object,
					 "cannot register a performance management agent", err);
	}
	*ret = &umad->mads;
	return 0;
}

int rd_umad_ports(struct rd_bytes *ret, struct rd_err *err)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN] = { "" };
	_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;
	int n = rd_libibumad_load("MAD ports", err);

	if (n < 0)
		return n;
	if (rd_libibumad.umad_init() == 0)
		n = rd_libibumad.umad_get_cas_names(names, UMAD_MAX_DEVICES);
	rd_buf_str(&out, "");
	for (int i = 0; i < n; i++) {
		umad_ca_t ca;

		if (rd_libibumad.umad_get_ca(names[i], &ca) < 0)
			continue;
		for (int p = 0; p <= ca.numports && p < UMAD_CA_MAX_PORTS; p++) {
			const umad_port_t *port = ca.ports[p];

			if (port)
				rd_buf_printf(&out, "%.*s %d %016llx %016llx %u %u %u %u %u %u %.*s\n",
					      UMAD_CA_NAME_LEN, ca.ca_name, port->portnum,
					      (unsigned long long)be64toh(ca.node_guid),
					      (unsigned long long)be64toh(port->port_guid), port->base_lid, port->lmc,
					      port->sm_lid, port->state, port->phys_state, port->rate, UMAD_CA_NAME_LEN,
					      port->link_layer);
		}
		rd_libibumad.umad_release_ca(&ca);
	}
	if (!out.len && !out.failed) {
		rd_err_set(err, ENODEV, "libibumad", "no port can send management datagrams");
		return rd_err_hint(err, "modprobe ib_umad and the driver of the NIC; ibstat lists the available ports");
	}
	return rd_bytes_of_buf(&out, "MAD ports", ret, err);
}
