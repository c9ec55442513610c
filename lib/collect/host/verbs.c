/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/host/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

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

static void take_mtus(const char *text, const struct rd_ibdev *dev, struct rd_host *host)
{
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
		take_mtus(text, dev, host);
		take_data_direct(text, host, dev);
	}
}
