// SPDX-License-Identifier: GPL-2.0-or-later
/* The device and the port of a failed call, from sysfs. */
#include "collect/failure/failure.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "collect/host/host.h"
#include "collect/shared/sysfs.h"

#define CLASS "/sys/class/infiniband"

bool rd_failure_port_dir(const struct rd_failure *f, char *ret, size_t size)
{
	return f->event->ibdev && f->dev.port &&
	       (size_t)snprintf(ret, size, CLASS "/%s/ports/%u", f->event->ibdev, f->dev.port) < size;
}

/* "4: ACTIVE" */
static char *read_state(const struct rd_sysfs *fs, const char *dir, const char *file)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "%s/%s", dir, file);
	const char *colon = text ? strchr(text, ':') : NULL;

	return colon ? rd_dup(colon + 1 + strspn(colon + 1, " ")) : RD_TAKE(text);
}

static unsigned count_entries(const struct rd_sysfs *fs, const char *dir, const char *sub)
{
	_cleanup_names_ struct rd_names names = { 0 };

	return rd_sysfs_list(fs, &names, "%s/%s", dir, sub) < 0 ? 0 : (unsigned)names.n;
}

/* Interface of the first GID that has one here. */
static char *read_netdev(const struct rd_sysfs *fs, const char *dir)
{
	for (unsigned i = 0; i < 4; i++) {
		char *netdev = rd_sysfs_text(fs, NULL, "%s/gid_attrs/ndevs/%u", dir, i);

		if (netdev)
			return netdev;
	}
	return NULL;
}

static void read_port(const struct rd_sysfs *fs, struct rd_fail_device *dev, const char *dir)
{
	dev->link_layer = rd_sysfs_text(fs, NULL, "%s/link_layer", dir);
	dev->state = read_state(fs, dir, "state");
	dev->phys_state = read_state(fs, dir, "phys_state");
	dev->n_gids = count_entries(fs, dir, "gids");
	dev->n_pkeys = count_entries(fs, dir, "pkeys");
	dev->netdev = read_netdev(fs, dir);
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

void rd_failure_read_device(const struct rd_sysfs *fs, struct rd_failure *f)
{
	_cleanup_names_ struct rd_names ports = { 0 };
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
	if (rd_failure_port_dir(f, dir, sizeof(dir)))
		read_port(fs, &f->dev, dir);
}
