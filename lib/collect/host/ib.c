/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RDMA devices, ports and GIDs: sysfs and libibverbs. */
#include "collect/host/host.h"

#include <ctype.h>

/* /sys/class/infiniband */

#define IB "/sys/class/infiniband"
#define DEVICES_MAX 4096
#define PORTS_MAX 254
#define SPEED_LONGEST 15
/* GID tables have up to 256 entries, of which a few at the start are used. After this many empty ones the rest is assumed
 * empty. */
#define GIDS_EMPTY 16
#define GID_LENGTH 39 /* "fe80:0000:0000:0000:0000:0000:0000:0000" */
#define PKEYS_MAX 256

char *rd_collect_state(const struct rd_sysfs *fs, const char *dir, const char *file)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "%s/%s", dir, file);
	const char *colon = text ? strchr(text, ':') : NULL;

	return colon ? rd_dup(colon + 1 + strspn(colon + 1, " ")) : RD_TAKE(text);
}

static bool parse_gid(const char *text, uint8_t *raw)
{
	bool any = false;
	uint64_t value;

	for (int i = 0; i < 16; i++) {
		if (rd_take_hex(&text, 2, &value) < 0)
			return false;
		if (i % 2 == 1 && i < 15 && *text++ != ':')
			return false;
		raw[i] = (uint8_t)value;
		/* An unset GUID leaves only the default subnet prefix. */
		any |= value && i >= 8;
		any |= value && !(i == 0 && value == 0xfe) && !(i == 1 && value == 0x80);
	}
	return any && !*text;
}

enum rd_known rd_collect_gid(const struct rd_sysfs *fs, const char *dir, const char *link_layer, unsigned index,
			     bool *empty, struct rd_gid *ret)
{
	_cleanup_free_ char *type = NULL, *text = NULL;
	enum rd_known known;

	*ret = (struct rd_gid){ .index = index };
	text = rd_sysfs_text(fs, &known, "%s/gids/%u", dir, index);
	/* An empty entry has zeros, or only the default subnet prefix. */
	if (empty)
		*empty = text && strlen(text) == GID_LENGTH && strspn(text, "0:fe8") == GID_LENGTH;
	if (!text || !parse_gid(text, ret->raw))
		return known == RD_DENIED ? RD_DENIED : RD_ABSENT;
	/* Reading either fails with EINVAL if the interface is in another network namespace. */
	type = rd_sysfs_text(fs, NULL, "%s/gid_attrs/types/%u", dir, index);
	ret->netdev = rd_sysfs_text(fs, NULL, "%s/gid_attrs/ndevs/%u", dir, index);
	/* EFA has no link layer ("Unknown"), but its types file contains "IB/RoCE v1". */
	if (link_layer && strcmp(link_layer, "InfiniBand") == 0)
		ret->type = RD_GID_IB;
	else if (link_layer && strcmp(link_layer, "Ethernet") == 0 && type)
		ret->type = strcmp(type, "RoCE v2") == 0 ? RD_GID_ROCE_V2 :
			    strncmp(type, "IB", 2) == 0	 ? RD_GID_ROCE_V1 :
							   RD_GID_UNKNOWN;
	return RD_OK;
}

/* "400 Gb/sec (4X NDR)" */
static void read_width(const char *rate, struct rd_port *port)
{
	const char *open = rate ? strchr(rate, '(') : NULL, *at = open ? open + 1 : "";
	unsigned width;
	size_t n = 0;

	if (rd_take_u32(&at, RD_DECIMAL, 16, &width) < 0 || *at++ != 'X')
		return;
	port->width = width;
	at += strspn(at, " ");
	while (isalnum((unsigned char)at[n]))
		n++;
	if (n)
		port->speed = rd_dup_part(at, n < SPEED_LONGEST ? n : SPEED_LONGEST);
}

/* The partition table: a few entries are used, of up to 128. */
static void read_pkeys(const struct rd_sysfs *fs, const char *dir, struct rd_port *port)
{
	_cleanup_texts_ struct rd_texts names = { 0 };

	if (rd_sysfs_list(fs, &names, "%s/pkeys", dir) < 0)
		return;
	rd_texts_sort_natural(&names);
	for (size_t i = 0; i < names.n && i < PKEYS_MAX; i++) {
		int64_t value;

		if (rd_sysfs_int(fs, &value, "%s/pkeys/%s", dir, names.v[i]) != RD_OK)
			continue;
		port->pkeys_known = true;
		if (value > 0 && value <= 0xffff)
			*RD_ADD(port->pkeys, port->n_pkeys, port->cap_pkeys) = (uint16_t)value;
	}
}

static void read_port(const struct rd_sysfs *fs, const char *dir, unsigned what, struct rd_port *port)
{
	_cleanup_free_ char *rate = rd_sysfs_text(fs, NULL, "%s/rate", dir);
	const char *at = rate;
	double gbps;
	int64_t lid;
	_cleanup_texts_ struct rd_texts names = { 0 };
	unsigned empty = 0;
	bool all;

	port->link_layer = rd_sysfs_text(fs, NULL, "%s/link_layer", dir);
	port->state = rd_collect_state(fs, dir, "state");
	port->phys_state = rd_collect_state(fs, dir, "phys_state");
	/* "400 Gb/sec (4X NDR)" */
	if (rate && rd_take_real(&at, &gbps) == 0 && gbps < 1e6)
		RD_SET(port->rate_gbps, gbps);
	if (rd_sysfs_int(fs, &lid, "%s/lid", dir) == RD_OK && lid >= 0 && lid <= 0xffff)
		RD_SET(port->lid, (unsigned)lid);
	read_width(rate, port);
	if (what & RD_COLLECT_IB) {
		int64_t value;

		if (rd_sysfs_int(fs, &value, "%s/sm_lid", dir) == RD_OK && value >= 0 && value <= 0xffff)
			RD_SET(port->sm_lid, (unsigned)value);
		if (rd_sysfs_int(fs, &value, "%s/counters/link_downed", dir) == RD_OK && value >= 0)
			RD_SET(port->link_downed, (uint64_t)value);
		if (!rd_port_is_ethernet(port))
			read_pkeys(fs, dir, port);
	}
	all = what & RD_COLLECT_ALL_GIDS ||
	      (what & RD_COLLECT_GIDS && rd_port_active(port) && rd_port_is_ethernet(port));
	if (rd_sysfs_list(fs, &names, "%s/gids", dir) < 0)
		return;
	port->gids_known = true;
	port->raw = names.n == 0;
	rd_texts_sort_natural(&names);
	for (size_t i = 0; i < names.n && i < 4096; i++) {
		enum rd_known known;
		struct rd_gid gid;
		uint32_t index;

		if (rd_parse_u32(names.v[i], RD_DECIMAL, 65535, &index) < 0)
			continue;
		if (!all && empty >= GIDS_EMPTY) {
			port->gids_unread = index;
			break;
		}
		known = rd_collect_gid(fs, dir, port->link_layer, index, NULL, &gid);
		if (known == RD_OK)
			*RD_ADD(port->gids, port->n_gids, port->cap_gids) = gid;
		/* What a rule could say without it is decided. */
		if (known == RD_OK && gid.netdev && gid.type == RD_GID_ROCE_V2 && rd_gid_is_v4(&gid))
			all = what & RD_COLLECT_ALL_GIDS;
		empty = known == RD_ABSENT ? empty + 1 : 0;
		port->gids_known &= known != RD_DENIED;
	}
}

static void read_ports(const struct rd_sysfs *fs, const char *name, unsigned what, struct rd_host *host, int ibdev)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	int listed = rd_sysfs_list(fs, &names, IB "/%s/ports", name);

	host->ibdevs[ibdev].ports_unread = rd_could_not_look(listed);
	if (listed < 0)
		return;
	rd_texts_sort_natural(&names);
	for (size_t i = 0; i < names.n && i < PORTS_MAX; i++) {
		struct rd_port *port;
		char dir[256];
		uint32_t num;
		char text[40];

		if (rd_parse_u32(names.v[i], RD_DECIMAL, PORTS_MAX, &num) < 0 || num < 1)
			continue;
		port = rd_host_add_port(host, ibdev);
		port->num = num;
		snprintf(dir, sizeof(dir), IB "/%s/ports/%s", name, names.v[i]);
		read_port(fs, dir, what, port);
		/* InfiniBand: the lower half of the port's first GID. */
		if (rd_port_is_ethernet(port) || port->n_gids == 0 || port->gids[0].index != 0)
			continue;
		rd_gid_text(&port->gids[0], text);
		port->guid = rd_dup(text + 20);
	}
}

void rd_collect_ib(const struct rd_sysfs *fs, unsigned what, struct rd_host *host)
{
	_cleanup_texts_ struct rd_texts names = { 0 };

	host->rdma_error = -rd_sysfs_list(fs, &names, IB);
	if (host->rdma_error)
		return;
	rd_texts_sort_natural(&names);
	for (size_t i = 0; i < names.n && i < DEVICES_MAX; i++) {
		struct rd_ibdev *dev = rd_host_add_ibdev(host);
		_cleanup_free_ char *link = NULL;
		_cleanup_free_ char *device = NULL, *type = rd_sysfs_text(fs, NULL, IB "/%s/node_type", names.v[i]);
		struct rd_pci_place place = { 0 };

		dev->name = rd_dup(names.v[i]);
		dev->firmware = rd_sysfs_text(fs, NULL, IB "/%s/fw_ver", names.v[i]);
		dev->board = rd_sysfs_text(fs, NULL, IB "/%s/board_id", names.v[i]);
		dev->hca_type = rd_sysfs_text(fs, NULL, IB "/%s/hca_type", names.v[i]);
		dev->node_guid = rd_sysfs_text(fs, NULL, IB "/%s/node_guid", names.v[i]);
		dev->sys_image_guid = rd_sysfs_text(fs, NULL, IB "/%s/sys_image_guid", names.v[i]);
		dev->node_desc = rd_sysfs_text(fs, NULL, IB "/%s/node_desc", names.v[i]);
		/* "4: RNIC"; "5: usNIC" and "6: usNIC UDP" are not RoCE either. */
		dev->iwarp = type && strchr("456", type[0]) && type[1] == ':';
		/* Soft devices have no `device` link, but the name of the interface below. A device on an auxiliary bus has no PCI address;
		 * the class link contains the PCI function above it. */
		link = rd_sysfs_link(fs, IB "/%s", dev->name);
		device = rd_sysfs_link(fs, IB "/%s/device", dev->name);
		if (link && rd_pci_place_parse(link, &place))
			dev->pci = rd_host_find_pci(host, place.self);
		dev->sf = place.sf;
		if (dev->pci < 0 && device && rd_pci_place_parse(device, &place))
			dev->pci = rd_host_find_pci(host, place.self);
		if (dev->pci >= 0)
			dev->via = "device";
		else
			dev->parent_netdev = rd_sysfs_text(fs, NULL, IB "/%s/parent", dev->name);
		/* Of debugfs, which only root can read: nothing is missing without it. */
		if (dev->pci >= 0 &&
		    rd_read_textf(fs->src, &dev->lag_mode, NULL, "/sys/kernel/debug/mlx5/%s/lag/port_sel_mode",
				  host->pcis[dev->pci].addr) == 0)
			dev->lag_mode[strcspn(dev->lag_mode, "\n")] = '\0';
		read_ports(fs, names.v[i], what, host, (int)host->n_ibdevs - 1);
	}
}

/* The number after "key=" at the start of a line; false: none. */
static bool value_of(const char *text, const char *key, uint64_t *ret)
{
	size_t size = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *at = line + size + 1;

		if (strncmp(line, key, size) != 0 || line[size] != '=' || rd_digit_value(*at) >= 10)
			continue;
		return rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, ret) == 0 && (*at == '\n' || !*at);
	}
	return false;
}

static char *read_device(struct rd_source *src, const char *name, struct rd_errlist *errors)
{
	struct rd_err err = { 0 };
	char *text = NULL;

	/* Not in every bundle, nor in a bare directory. */
	if (rd_read_textf(src, &text, &err, RD_SOURCE_VERBS "/%s", name) < 0 && err.code != ENOENT)
		rd_errlist_add(errors, &err);
	return text;
}

void rd_collect_res_limits(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors)
{
	static const struct {
		enum rd_res_kind kind;
		const char *key;
	} keys[] = { { RD_RES_QP, "max_qp" },
		     { RD_RES_CQ, "max_cq" },
		     { RD_RES_MR, "max_mr" },
		     { RD_RES_PD, "max_pd" },
		     { RD_RES_SRQ, "max_srq" } };

	for (size_t i = 0; i < res->n_devs; i++) {
		_cleanup_free_ char *text = read_device(src, res->devs[i].name, errors);
		uint64_t value;

		for (size_t k = 0; text && k < RD_ARRAY_SIZE(keys); k++)
			if (value_of(text, keys[k].key, &value))
				RD_SET(res->devs[i].limits.max[keys[k].kind], value);
	}
}

static bool lacks_mtu(const struct rd_host *host, const struct rd_ibdev *dev)
{
	for (unsigned p = 0; p < dev->n_ports; p++) {
		const struct rd_port *port = &host->ports[(unsigned)dev->first_port + p];

		if (rd_port_active(port) && port->mtu.known != RD_OK)
			return true;
	}
	return false;
}

/* "data_direct=/devices/pci0009:00/0009:00:00.0/0009:01:00.0": the last component is the function. */
static void take_data_direct(const char *text, const struct rd_host *host, struct rd_ibdev *dev)
{
	static const char key[] = "\ndata_direct=";
	const char *at = strstr(text, key), *end;
	char addr[RD_PCI_ADDR];

	if (!at)
		return;
	at += strlen(key);
	end = at + strcspn(at, "\n");
	for (const char *c = at; c < end; c++)
		at = *c == '/' ? c + 1 : at;
	if ((size_t)(end - at) >= sizeof(addr))
		return;
	memcpy(addr, at, (size_t)(end - at));
	addr[end - at] = '\0';
	dev->data_direct = rd_host_find_pci(host, addr);
}

void rd_collect_verbs(struct rd_source *src, bool all, struct rd_host *host, struct rd_errlist *errors)
{
	for (size_t i = 0; i < host->n_ibdevs; i++) {
		struct rd_ibdev *dev = &host->ibdevs[i];
		_cleanup_free_ char *text = NULL;

		if (!dev->name || !(all || host->has_data_direct || lacks_mtu(host, dev)))
			continue;
		text = read_device(src, dev->name, errors);
		if (!text)
			continue;
		for (unsigned p = 0; p < dev->n_ports; p++) {
			struct rd_port *port = &host->ports[(unsigned)dev->first_port + p];
			char key[48];
			uint64_t value;

			snprintf(key, sizeof(key), "port%u.active_mtu_bytes", port->num);
			if (value_of(text, key, &value) && value <= 65536)
				RD_SET(port->mtu, (unsigned)value);
			snprintf(key, sizeof(key), "port%u.max_mtu_bytes", port->num);
			if (value_of(text, key, &value) && value <= 65536)
				RD_SET(port->max_mtu, (unsigned)value);
		}
		take_data_direct(text, host, dev);
	}
}
