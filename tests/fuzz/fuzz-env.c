/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The environment of a process, or a file that somebody wrote: taken apart and judged on a host with NICs of both kinds. */
#include "fuzz.h"

#include "analyse/env/envcheck.h"
#include "analyse/shared/gid.h"

static void add_gid(struct rd_port *port, unsigned index, enum rd_gid_type type, bool v4)
{
	struct rd_gid gid = { .index = index, .type = type, .raw = { 0xfe, 0x80 } };

	if (v4)
		memcpy(gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x01", sizeof(gid.raw));
	if (rd_grow(&port->gids, &port->cap_gids, port->n_gids + 1, sizeof(gid)) < 0)
		abort();
	port->gids[port->n_gids++] = gid;
}

static void add_port(struct rd_host *host, unsigned n, bool roce)
{
	struct rd_ibdev *ibdev = rd_host_add_ibdev(host);
	struct rd_port *port;
	char name[16];

	if (!ibdev)
		abort();
	snprintf(name, sizeof(name), "mlx5_%u", n);
	ibdev->name = strdup(name);
	port = rd_host_add_port(host, (int)n);
	if (!port)
		abort();
	port->num = 1;
	port->state = strdup("ACTIVE");
	port->link_layer = strdup(roce ? "Ethernet" : "InfiniBand");
	add_gid(port, 0, roce ? RD_GID_ROCE_V1 : RD_GID_IB, false);
	add_gid(port, 3, roce ? RD_GID_ROCE_V2 : RD_GID_IB, true);
}

static void judge(const struct rd_port_views *views, const uint8_t *data, size_t size, char separator)
{
	struct rd_effects effects = { .first_wins = separator == '\0' };
	struct rd_findings findings = { 0 };
	char *text = text_of(data, size);

	rd_effects_own(&effects, text, size, separator);
	rd_envcheck(views, &effects, &findings);
	for (size_t i = 0; i < effects.n; i++) {
		/* In order, each once, none without a library; and what was judged has something to say. */
		if (!effects.v[i].library || (i > 0 && strcmp(effects.v[i - 1].name, effects.v[i].name) >= 0) ||
		    (effects.v[i].judged == RD_JUDGED_YES && !effects.v[i].effect))
			__builtin_trap();
		if (rd_effects_get(&effects, effects.v[i].name) != effects.v[i].value)
			__builtin_trap();
	}
	for (size_t i = 0; i < findings.n; i++)
		if (findings.v[i].observed && strlen(findings.v[i].observed) > 4000)
			__builtin_trap();
	rd_findings_deinit(&findings);
	rd_effects_deinit(&effects);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct rd_host host = { 0 };
	struct rd_port_views views;

	for (unsigned n = 0; n < 4; n++)
		add_port(&host, n, n & 1);
	rd_port_views_init(&views, &host);
	for (size_t p = 0; p < views.n; p++)
		views.v[p].role = p < 3 ? RD_ROLE_COMPUTE : RD_ROLE_STORAGE;
	rd_gid_choose(&views);
	judge(&views, data, size, '\n');
	judge(&views, data, size, '\0');
	rd_port_views_deinit(&views);
	rd_host_deinit(&host);
}
