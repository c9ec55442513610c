// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about a failed call: device and port, limits of control groups, memory, the route. */
#include <arpa/inet.h>

#include "collect/failure/failure.h"
#include "collect/host/host.h"
#include "collect/kernel/kernel.h"
#include "collect/net/netstate.h"
#include "collect/rdma/rdma.h"
#include "collect/shared/sysfs.h"

/* The device and the port of a failed call, from sysfs. */

#define CLASS "/sys/class/infiniband"

/* The directory of a port; false: the event names no device or port. */
static bool port_dir(const struct rd_failure *f, char *ret, size_t size)
{
	return f->event->ibdev && f->dev.port &&
	       (size_t)snprintf(ret, size, CLASS "/%s/ports/%u", f->event->ibdev, f->dev.port) < size;
}

static unsigned count_entries(const struct rd_sysfs *fs, const char *dir, const char *sub)
{
	_cleanup_texts_ struct rd_texts names = { 0 };

	return rd_sysfs_list(fs, &names, "%s/%s", dir, sub) < 0 ? 0 : (unsigned)names.n;
}

/* The port that the request names, if the device has it; else that of the queue pair; else the only one. */
static unsigned choose_port(const struct rd_failure *f)
{
	static const enum rd_req_field fields[] = { RD_REQ_AV_PORT, RD_REQ_PORT };
	const struct rd_event *ev = f->event;

	for (size_t i = 0; i < RD_ARRAY_SIZE(fields); i++) {
		uint64_t port = ev->request.v[fields[i]];

		if (rd_req_has(&ev->request, fields[i]) && port && port <= f->dev.n_ports)
			return (unsigned)port;
	}
	if (ev->port.known == RD_OK && ev->port.v <= f->dev.n_ports)
		return ev->port.v;
	return f->dev.n_ports ? 1 : 0;
}

static void read_device(const struct rd_sysfs *fs, struct rd_failure *f)
{
	_cleanup_texts_ struct rd_texts ports = { 0 };
	_cleanup_free_ char *link = NULL, *type = NULL;
	char dir[160];

	f->dev.known = RD_DENIED;
	if (!f->event->ibdev)
		return;
	type = rd_sysfs_text(fs, &f->dev.known, CLASS "/%s/node_type", f->event->ibdev);
	f->dev.other_type = type && strncmp(type, "1:", 2) != 0;
	if (rd_sysfs_list(fs, &ports, CLASS "/%s/ports", f->event->ibdev) < 0)
		return;
	f->dev.n_ports = (unsigned)ports.n;
	f->dev.port = choose_port(f);
	link = rd_sysfs_link(fs, CLASS "/%s/device/driver", f->event->ibdev);
	if (link)
		f->dev.driver = rd_dup(rd_basename(link));
	free(link);
	link = rd_sysfs_link(fs, CLASS "/%s/device", f->event->ibdev);
	if (link && strchr(rd_basename(link), ':'))
		f->dev.pci = rd_dup(rd_basename(link));
	if (!port_dir(f, dir, sizeof(dir)))
		return;
	f->dev.link_layer = rd_sysfs_text(fs, NULL, "%s/link_layer", dir);
	f->dev.state = rd_collect_state(fs, dir, "state");
	f->dev.phys_state = rd_collect_state(fs, dir, "phys_state");
	f->dev.n_gids = count_entries(fs, dir, "gids");
	f->dev.n_pkeys = count_entries(fs, dir, "pkeys");
	/* Interface of the first GID that has one here. */
	for (unsigned i = 0; i < 4 && !f->dev.netdev; i++)
		f->dev.netdev = rd_sysfs_text(fs, NULL, "%s/gid_attrs/ndevs/%u", dir, i);
}

/* Limits of control groups, and memory. */

#define CGROUPS "/sys/fs/cgroup"
#define DEPTH_MAX 64

/* Modules through which a NIC driver pins memory of accelerators by address. */
static const char *const peer_modules[] = { "nvidia_peermem", "nv_peer_mem" };

/* "max" or a number. */
static bool take_limit(const char *text, uint64_t *ret)
{
	if (!strncmp(text, "max", 3)) {
		*ret = UINT64_MAX;
		return true;
	}
	return rd_take_uint(&text, RD_DECIMAL, UINT64_MAX, ret) == 0;
}

/* The value of a key in a line "rxe0 hca_handle=2 hca_object=max". */
static bool take_resource(const char *text, const char *ibdev, const char *key, uint64_t *ret)
{
	size_t n = strlen(ibdev);

	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *end = strchrnul(line, '\n'), *at;

		if (strncmp(line, ibdev, n) != 0 || line[n] != ' ')
			continue;
		at = strstr(line, key);
		return at && at < end && at[strlen(key)] == '=' && take_limit(at + strlen(key) + 1, ret);
	}
	return false;
}

static void read_resources(const struct rd_sysfs *fs, const char *ibdev, struct rd_rdma_cgroup *ret)
{
	static const char *const keys[RD_RDMA_RESOURCES] = { "hca_handle", "hca_object" };
	_cleanup_free_ char *max = rd_sysfs_text(fs, NULL, CGROUPS "%s/rdma.max", ret->path);
	_cleanup_free_ char *current = rd_sysfs_text(fs, NULL, CGROUPS "%s/rdma.current", ret->path);
	uint64_t v;

	for (size_t i = 0; i < RD_RDMA_RESOURCES; i++) {
		if (max && take_resource(max, ibdev, keys[i], &v))
			RD_SET(ret->of[i].max, v);
		if (current && take_resource(current, ibdev, keys[i], &v))
			RD_SET(ret->of[i].now, v);
	}
}

/* Cuts the last part off a path; false: it was the root. */
static bool to_parent(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !path[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

static void read_cgroups(const struct rd_sysfs *fs, struct rd_failure *f)
{
	_cleanup_free_ char *path = NULL;

	f->cgroups_known = RD_DENIED;
	if (!f->event->cgroup || !f->event->ibdev)
		return;
	path = rd_dup(f->event->cgroup);
	f->cgroups_known = RD_OK;
	for (int i = 0; i < DEPTH_MAX; i++) {
		struct rd_rdma_cgroup *group = RD_ADD(f->cgroups, f->n_cgroups, f->cap_cgroups);

		*group = (struct rd_rdma_cgroup){ .path = rd_dup(path) };
		read_resources(fs, f->event->ibdev, group);
		if (!to_parent(path))
			break;
	}
}

/* The number after `key` in a text; false: it is not there. */
static bool take_after(const char *text, const char *key, uint64_t *ret)
{
	const char *at = text ? strstr(text, key) : NULL;

	at = at ? at + strlen(key) : "";
	at += strspn(at, " ");
	return rd_take_uint(&at, RD_DECIMAL, UINT64_MAX / 1024, ret) == 0;
}

/* `kind`: "memory", "hugetlb.2MB" */
static void read_group(const struct rd_sysfs *fs, const char *cgroup, const char *kind, struct rd_memory_group *ret)
{
	_cleanup_free_ char *path = rd_dup(cgroup), *text = NULL, *events = NULL;
	uint64_t least = UINT64_MAX, v;

	for (int i = 0; i < DEPTH_MAX && path[1]; i++) {
		_cleanup_free_ char *max = rd_sysfs_text(fs, NULL, CGROUPS "%s/%s.max", path, kind);
		_cleanup_free_ char *current = rd_sysfs_text(fs, NULL, CGROUPS "%s/%s.current", path, kind);
		uint64_t most, now;

		if (max && take_limit(max, &most) && most != UINT64_MAX && current && take_limit(current, &now) &&
		    (now > most ? 0 : most - now) < least) {
			least = now > most ? 0 : most - now;
			free(ret->path);
			ret->path = rd_dup(path);
			RD_SET(ret->max, most);
			RD_SET(ret->current, now);
		}
		if (!to_parent(path))
			break;
	}
	if (ret->path)
		text = rd_sysfs_text(fs, NULL, CGROUPS "%s/%s.events", ret->path, kind);
	events = rd_text("\n%s", text ? text : "");
	if (take_after(events, "\nmax ", &v))
		RD_SET(ret->failures, v);
}

/* Huge pages of the size of the mapping, and what limits them. */
static void read_huge(const struct rd_sysfs *fs, const struct rd_failure *f, struct rd_fail_memory *ret)
{
	static const char *const files[] = { "nr_hugepages", "free_hugepages", "resv_hugepages" };
	const struct rd_mapping *special = &f->event->moment.special;
	uint64_t size = special->kind == RD_MAPPING_HUGE && special->block ? special->block : 2u << 20, found[3];
	char kind[48];

	for (size_t i = 0; i < RD_ARRAY_SIZE(files); i++) {
		int64_t v;

		if (rd_sysfs_int(fs, &v, "/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB/%s", size >> 10, files[i]) !=
			    RD_OK ||
		    v < 0)
			return;
		found[i] = (uint64_t)v;
	}
	RD_SET(ret->huge_total, found[0]);
	RD_SET(ret->huge_free, found[1]);
	RD_SET(ret->huge_reserved, found[2]);
	snprintf(kind, sizeof(kind), "hugetlb.%" PRIu64 "%s",
		 size >> (size >> 30 ? 30 :
			  size >> 20 ? 20 :
				       10),
		 size >> 30 ? "GB" :
		 size >> 20 ? "MB" :
			      "KB");
	if (f->event->cgroup && special->kind == RD_MAPPING_HUGE)
		read_group(fs, f->event->cgroup, kind, &ret->huge_group);
}

static void read_memory(const struct rd_sysfs *fs, struct rd_failure *f)
{
	_cleanup_free_ char *meminfo = rd_sysfs_text(fs, NULL, "/proc/meminfo");
	struct rd_fail_memory *m = &f->memory;
	bool loaded = false;
	uint64_t v;

	if (f->event->cgroup)
		read_group(fs, f->event->cgroup, "memory", &m->group);
	read_huge(fs, f, m);
	for (size_t i = 0; i < RD_ARRAY_SIZE(peer_modules); i++) {
		uint64_t ino;
		char path[64];

		snprintf(path, sizeof(path), "/sys/module/%s", peer_modules[i]);
		loaded = loaded || !rd_stat(fs->src, RD_OP_INO, path, &ino, NULL);
	}
	RD_SET(m->peer_module, loaded);
	if (take_after(meminfo, "\nHardwareCorrupted:", &v))
		RD_SET(m->corrupted, v * 1024);
}

/* The route from the source GID of a request to its destination, as the kernel finds it: "ip route get". */

/* Without its interface, the route to a link-local address is that of any interface. */
static bool is_link_local(bool v6, const uint8_t *addr)
{
	return v6 && addr[0] == 0xfe && (addr[1] & 0xc0) == 0x80;
}

/* Between the GIDs of an address vector, through the interface of the source. */
static void look_up_gids(const struct rd_sysfs *fs, struct rd_failure *f)
{
	const struct rd_request *request = &f->event->request;
	struct rd_route_query query = { .v6 = !rd_is_v4_gid(request->gid) };
	const uint8_t *dst = request->gid + (query.v6 ? 0 : 12), *src = f->gid.raw + (query.v6 ? 0 : 12);
	const struct rd_netif *netif;

	if (f->gid.known != RD_OK || !f->gid.netdev || rd_is_v4_gid(f->gid.raw) == query.v6)
		return;
	memcpy(query.dst, dst, query.v6 ? 16 : 4);
	memcpy(query.src, src, query.v6 ? 16 : 4);
	query.has_src = true;
	netif = rd_netstate_find_name(&f->net, f->gid.netdev);
	query.ifindex = netif ? netif->ifindex : 0;
	if (is_link_local(query.v6, query.dst) && !query.ifindex)
		return;
	rd_collect_route(fs, &query, &f->route, &f->route_errno);
}

static void look_up_address(const struct rd_sysfs *fs, struct rd_failure *f)
{
	const struct rd_req_address *dst = &f->event->request.dst, *src = &f->event->request.src;
	struct rd_route_query query = { .v6 = dst->family == AF_INET6 };
	static const uint8_t none[16];

	if (dst->family != AF_INET && dst->family != AF_INET6)
		return;
	memcpy(query.dst, dst->addr, sizeof(query.dst));
	if (src->known && src->family == dst->family && memcmp(src->addr, none, sizeof(none)) != 0) {
		memcpy(query.src, src->addr, sizeof(query.src));
		query.has_src = true;
	}
	/* As cma_bind_addr() does: the scope of the source, if there is one. */
	if (is_link_local(query.v6, query.has_src ? query.src : query.dst))
		query.ifindex = query.has_src ? src->scope_id : dst->scope_id;
	if (is_link_local(query.v6, query.dst) && !query.ifindex)
		return;
	rd_collect_route(fs, &query, &f->route, &f->route_errno);
}

static void read_path(const struct rd_sysfs *fs, struct rd_failure *f)
{
	f->route_errno = -1;
	if (f->other_net_ns)
		return;
	if (f->event->request.has_gid)
		look_up_gids(fs, f);
	else if (f->event->request.dst.known)
		look_up_address(fs, f);
}

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
			*RD_ADD(r->gids, r->n_gids, r->cap_gids) =
				(struct kept_gid){ rd_dup(ibdev), number, guid, gid };
			empty = 0;
		}
	}
}

static void keep_gids(struct rd_failure_reader *r)
{
	const struct rd_sysfs fs = { .src = r->src };
	_cleanup_texts_ struct rd_texts devices = { 0 };

	if (rd_sysfs_list(&fs, &devices, "/sys/class/infiniband") < 0)
		return;
	for (size_t i = 0; i < devices.n && i < DEVICES_MAX; i++) {
		_cleanup_texts_ struct rd_texts ports = { 0 };

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

void rd_failure_reader_destroy(struct rd_failure_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_attrs; i++) {
		for (size_t a = 0; a < r->attrs[i].n; a++)
			free(r->attrs[i].v[a].name);
		RD_FREE(r->attrs[i].v, r->attrs[i].ibdev);
	}
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
	if (!rd_req_has(&f->event->request, field) || !port_dir(f, dir, sizeof(dir)))
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

	if (f->event->moment.special.kind != RD_MAPPING_FILE)
		return;
	if (!r->looked && !rd_read_file(r->src, "/sys/kernel/btf/vmlinux", &btf, NULL))
		RD_SET(r->refuses_files, memmem(btf.data, btf.size, function, sizeof(function)) != NULL);
	r->looked = true;
	RD_COPY(f->memory.refuses_files, r->refuses_files);
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
	f->other_net_ns = f->event->moment.net_ns.known == RD_OK && reader->net_ns.known == RD_OK &&
			  f->event->moment.net_ns.v != reader->net_ns.v;
	if (add & RD_FACT_DEVICE)
		read_device(&fs, f);
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
		read_path(&fs, f);
	if (add & RD_FACT_OBJECTS && f->event->ibdev)
		read_objects(reader, RD_WANT_QPS | RD_WANT_MRS | RD_WANT_SRQS | RD_WANT_CQS | RD_WANT_PROCS,
			     f->event->ibdev, f, errors);
	else if (add & RD_FACT_CM_IDS)
		read_objects(reader, RD_WANT_CM_IDS | RD_WANT_PORTS | RD_WANT_PROCS, NULL, f, errors);
	if (add & (RD_FACT_CGROUP | RD_FACT_MEMORY)) {
		_cleanup_free_ char *own = rd_sysfs_text(&fs, NULL, "/proc/self/cgroup");

		/* Each process has a line of each hierarchy of version 1, whatever a container shows of /sys/fs/cgroup. */
		f->cgroups_v1 |= own && ((add & RD_FACT_CGROUP && strstr(own, ":rdma:")) ||
					 (add & RD_FACT_MEMORY && strstr(own, ":memory:")));
	}
	if (add & RD_FACT_CGROUP)
		read_cgroups(&fs, f);
	if (add & RD_FACT_LOG) {
		rd_collect_klog(fs.src, &f->log, NULL);
		while (f->log_first < f->log.n && f->log.v[f->log_first].time_ns + CALL_NS < f->event->at_ns)
			f->log_first++;
	}
	if (add & RD_FACT_MEMORY) {
		read_memory(&fs, f);
		read_refuses_files(reader, f);
	}
}
