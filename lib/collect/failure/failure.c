// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/failure/failure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "collect/host/host.h"
#include "collect/kernel/klog.h"
#include "collect/net/netstate.h"
#include "collect/rdma/nldev.h"
#include "collect/shared/sysfs.h"

#define DEVICES_MAX 256
#define ATTRS_MAX 256
#define GIDS_KEPT 8192
#define GIDS_EMPTY 16 /* as in collect/host/ib.c: after so many empty entries the rest is empty */

/* How long a failing call may have taken. Moving a queue pair to RTR waits up to a second for a neighbour. */
#define CALL_NS 2000000000u

/* Attributes of a device, from libibverbs. */
struct attrs {
	char *ibdev;
	struct rd_dev_attr *v;
	size_t n, cap;
};

struct kept_gid {
	char *ibdev;
	unsigned port;
	uint64_t guid; /* of the node: a device of the same name may be another one later */
	struct rd_gid gid;
};

struct rd_failure_reader {
	struct rd_source *src;
	struct attrs *attrs;
	size_t n_attrs, cap_attrs;
	struct kept_gid *gids;
	size_t n_gids, cap_gids;
	RD_FIELD(uint32_t) net_ns;
	bool looked;
	RD_FIELD(bool) refuses_files;
};

/* The inode number in "net:[4026531840]". */
static void read_own_net_ns(struct rd_failure_reader *r)
{
	_cleanup_free_ char *link = NULL;
	uint32_t ino;
	const char *at;

	if (rd_read_link(r->src, "/proc/self/ns/net", &link, NULL))
		return;
	at = strchr(link, '[');
	if (at && at++ && rd_take_u32(&at, RD_DECIMAL, UINT32_MAX, &ino) == 0 && *at == ']')
		RD_SET(r->net_ns, ino);
}

/* "5054:00ff:fe00:0901"; 0: not readable. */
static uint64_t read_node_guid(struct rd_failure_reader *r, const char *ibdev)
{
	const struct rd_sysfs fs = { .src = r->src };
	_cleanup_free_ char *text = rd_sysfs_text(&fs, NULL, "/sys/class/infiniband/%s/node_guid", ibdev);
	const char *at = text ? text : "";
	uint64_t guid = 0, part;

	for (unsigned i = 0; i < 4; i++) {
		if ((i && *at++ != ':') || rd_take_hex(&at, 4, &part))
			return 0;
		guid = guid << 16 | part;
	}
	return guid;
}

static void keep_gid(struct rd_failure_reader *r, const char *ibdev, unsigned port, uint64_t guid, struct rd_gid *gid)
{
	*RD_ADD(r->gids, r->n_gids, r->cap_gids) =
		(struct kept_gid){ .ibdev = rd_dup(ibdev), .port = port, .guid = guid, .gid = *gid };
}

static void keep_gids_of_port(struct rd_failure_reader *r, const char *ibdev, const char *port)
{
	const struct rd_sysfs fs = { .src = r->src };
	_cleanup_free_ char *layer = NULL;
	uint64_t guid = read_node_guid(r, ibdev);
	unsigned empty = 0;
	uint32_t number;
	char dir[160];

	if (rd_parse_u32(port, RD_DECIMAL, 255, &number) < 0 ||
	    (size_t)snprintf(dir, sizeof(dir), "/sys/class/infiniband/%s/ports/%u", ibdev, number) >= sizeof(dir))
		return;
	layer = rd_sysfs_text(&fs, NULL, "%s/link_layer", dir);
	for (unsigned i = 0; i < 256 && empty < GIDS_EMPTY && r->n_gids < GIDS_KEPT; i++) {
		struct rd_gid gid;

		empty++;
		if (rd_collect_gid(&fs, dir, layer, i, NULL, &gid) == RD_OK) {
			keep_gid(r, ibdev, number, guid, &gid);
			empty = 0;
		}
	}
}

static void keep_gids(struct rd_failure_reader *r)
{
	const struct rd_sysfs fs = { .src = r->src };
	_cleanup_names_ struct rd_names devices = { 0 };

	if (rd_sysfs_list(&fs, &devices, "/sys/class/infiniband") < 0)
		return;
	for (size_t i = 0; i < devices.n && i < DEVICES_MAX; i++) {
		_cleanup_names_ struct rd_names ports = { 0 };

		if (rd_sysfs_list(&fs, &ports, "/sys/class/infiniband/%s/ports", devices.v[i]) < 0)
			continue;
		for (size_t p = 0; p < ports.n; p++)
			keep_gids_of_port(r, devices.v[i], ports.v[p]);
	}
}

struct rd_failure_reader *rd_failure_reader_create(struct rd_source *src)
{
	struct rd_failure_reader *r = rd_alloc(1, sizeof(*r));

	r->src = src;
	read_own_net_ns(r);
	keep_gids(r);
	return r;
}

static void attrs_deinit(struct attrs *attrs)
{
	for (size_t i = 0; i < attrs->n; i++)
		free(attrs->v[i].name);
	RD_FREE(attrs->v, attrs->ibdev);
}

void rd_failure_reader_destroy(struct rd_failure_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_attrs; i++)
		attrs_deinit(&r->attrs[i]);
	free(r->attrs);
	for (size_t i = 0; i < r->n_gids; i++)
		RD_FREE(r->gids[i].ibdev, r->gids[i].gid.netdev);
	RD_FREE(r->gids, r);
}

/* Lines "max_sge=32"; others are ignored. */
static void parse_attrs(char *text, struct attrs *ret)
{
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line && ret->n < ATTRS_MAX; line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, '=');
		uint64_t number;

		if (!value)
			continue;
		*value++ = '\0';
		if (rd_parse_uint(value, RD_DECIMAL, UINT64_MAX, &number) == 0)
			*RD_ADD(ret->v, ret->n, ret->cap) =
				(struct rd_dev_attr){ .name = rd_dup(line), .value = number };
	}
}

static void read_attrs(struct rd_failure_reader *r, struct rd_failure *f, struct rd_errlist *errors)
{
	const struct rd_sysfs fs = { r->src, errors };
	struct attrs attrs = { 0 };
	_cleanup_free_ char *text = NULL;

	if (!f->event->ibdev)
		return;
	for (size_t i = 0; i < r->n_attrs; i++)
		if (!strcmp(r->attrs[i].ibdev, f->event->ibdev)) {
			f->attrs = r->attrs[i].v;
			f->n_attrs = r->attrs[i].n;
			return;
		}
	text = rd_sysfs_text(&fs, NULL, RD_SOURCE_VERBS "/%s", f->event->ibdev);
	if (!text)
		return;
	attrs.ibdev = rd_dup(f->event->ibdev);
	parse_attrs(text, &attrs);
	*RD_ADD(r->attrs, r->n_attrs, r->cap_attrs) = attrs;
	f->attrs = attrs.v;
	f->n_attrs = attrs.n;
}

static void to_entry(const struct rd_gid *gid, struct rd_gid_entry *ret)
{
	ret->known = RD_OK;
	memcpy(ret->raw, gid->raw, sizeof(ret->raw));
	ret->type = gid->type;
	ret->netdev = rd_dup_if(gid->netdev);
}

static void read_gid_before(struct rd_failure_reader *r, struct rd_failure *f)
{
	uint64_t guid = read_node_guid(r, f->event->ibdev);

	f->gid_before.known = RD_ABSENT;
	for (size_t i = 0; i < r->n_gids; i++) {
		const struct kept_gid *kept = &r->gids[i];

		if (strcmp(kept->ibdev, f->event->ibdev) != 0 || kept->port != f->dev.port)
			continue;
		if (kept->guid != guid) {
			f->gid_before.known = RD_DENIED;
			return;
		}
		if (kept->gid.index == f->gid_index)
			to_entry(&kept->gid, &f->gid_before);
	}
}

static void read_gid(struct rd_failure_reader *r, const struct rd_sysfs *fs, struct rd_failure *f)
{
	enum rd_req_field field = rd_req_has(&f->event->request, RD_REQ_SGID_INDEX) ? RD_REQ_SGID_INDEX :
										      RD_REQ_GID_INDEX;
	struct rd_gid gid;
	char dir[160];

	f->gid.known = f->gid_before.known = RD_DENIED;
	if (!rd_req_has(&f->event->request, field) || !rd_failure_port_dir(f, dir, sizeof(dir)))
		return;
	f->gid_index = (unsigned)f->event->request.v[field];
	f->gid.known = rd_collect_gid(fs, dir, f->dev.link_layer, f->gid_index, NULL, &gid);
	if (f->gid.known == RD_OK)
		to_entry(&gid, &f->gid);
	free(gid.netdev);
	read_gid_before(r, f);
}

/* A device that is gone, or a kernel without RDMA netlink, leaves the lists empty. */
static void read_objects(struct rd_failure_reader *reader, unsigned want, const char *ibdev, struct rd_failure *f,
			 struct rd_errlist *errors)
{
	struct rd_err err = { 0 };

	if (rd_collect_res(reader->src, want, ibdev, &f->res, errors, &err))
		rd_errlist_add(errors, &err);
}

/* Since Linux 6.5 long-term pins are refused of pages that a file system writes back: with this function. */
static void read_refuses_files(struct rd_failure_reader *r, struct rd_failure *f)
{
	static const char function[] = "vma_needs_dirty_tracking";
	_cleanup_bytes_ struct rd_bytes btf = { 0 };

	if (f->event->moment.special.kind != RD_MAP_FILE)
		return;
	if (!r->looked && !rd_read_file(r->src, "/sys/kernel/btf/vmlinux", &btf, NULL))
		RD_SET(r->refuses_files, memmem(btf.data, btf.size, function, sizeof(function)) != NULL);
	r->looked = true;
	RD_COPY(f->memory.refuses_files, r->refuses_files);
}

static void read_log(const struct rd_sysfs *fs, struct rd_failure *f)
{
	rd_collect_klog(fs->src, &f->log, NULL);
	while (f->log_first < f->log.n && f->log.v[f->log_first].time_ns + CALL_NS < f->event->at_ns)
		f->log_first++;
}

void rd_failure_read(struct rd_failure_reader *reader, unsigned want, struct rd_failure *f, struct rd_errlist *errors)
{
	const struct rd_sysfs fs = { reader->src, errors };
	unsigned add;

	/* What the others are found by. */
	if (want & (RD_FACT_GID | RD_FACT_PATH))
		want |= RD_FACT_DEVICE;
	if (want & RD_FACT_PATH)
		want |= RD_FACT_NET | RD_FACT_GID;
	add = want & ~f->read;
	f->read |= want;
	RD_COPY(f->own_net_ns, reader->net_ns);
	f->other_net_ns = f->event->moment.net_ns.known == RD_OK && reader->net_ns.known == RD_OK &&
			  f->event->moment.net_ns.v != reader->net_ns.v;
	if (add & RD_FACT_DEVICE)
		rd_failure_read_device(&fs, f);
	if (add & RD_FACT_LIMITS)
		read_attrs(reader, f, errors);
	if (add & RD_FACT_GID)
		read_gid(reader, &fs, f);
	if (add & RD_FACT_NET) {
		rd_collect_links(&fs, &f->net);
		rd_collect_ifaddrs(&fs, &f->net);
		rd_collect_neighs(&fs, &f->net);
	}
	if (add & RD_FACT_PATH)
		rd_failure_read_path(&fs, f);
	if (add & RD_FACT_OBJECTS && f->event->ibdev)
		read_objects(reader, RD_WANT_QPS | RD_WANT_MRS | RD_WANT_SRQS | RD_WANT_CQS | RD_WANT_PROCS,
			     f->event->ibdev, f, errors);
	else if (add & RD_FACT_CM_IDS)
		read_objects(reader, RD_WANT_CM_IDS | RD_WANT_PORTS | RD_WANT_PROCS, NULL, f, errors);
	if (add & (RD_FACT_CGROUP | RD_FACT_MEMORY)) {
		_cleanup_free_ char *v2 = rd_sysfs_text(&fs, NULL, "/sys/fs/cgroup/cgroup.controllers");

		f->cgroups_v1 = !v2;
	}
	if (add & RD_FACT_CGROUP)
		rd_failure_read_cgroups(&fs, f);
	if (add & RD_FACT_LOG)
		read_log(&fs, f);
	if (add & RD_FACT_MEMORY) {
		rd_failure_read_memory(&fs, f);
		read_refuses_files(reader, f);
	}
}
