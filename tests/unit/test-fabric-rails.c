/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adapters at switches where all others have another name, and networks that differ on purpose. */
#include "unit.h"

#include "analyse/fabric/fabric.h"
#include "collect/fabric/fabric.h"
#include "fabric-text.h"

#define RAILS 4
#define UNITS 2
#define HOSTS 6
#define LEAF(unit, rail) ((unit)*RAILS + (rail))

struct setup {
	struct rd_buf text;
	unsigned used[UNITS * RAILS], guid;
	struct rd_fabric fabric;
	struct rd_findings findings;
};

static void plug(struct setup *s, unsigned leaf, const char *host, const char *name)
{
	unsigned guid = 0x1000000 + s->guid++;

	rd_buf_printf(&s->text, "node 0x%x ca 1 \"%s %s\"\nlink 0x%x %u 0x%x 1 4xNDR\n", guid, host, name, 0x100 + leaf,
		      ++s->used[leaf], guid);
}

/* The leaf of an adapter, unless a test decides otherwise. */
static unsigned in_order(unsigned unit, unsigned host, unsigned rail)
{
	return LEAF(unit, rail);
}

static void begin(struct setup *s)
{
	memset(s->used, 0, sizeof(s->used));
	s->guid = 0;
	s->text.len = 0;
	rd_buf_str(&s->text, RD_TOPOLOGY_MAGIC "\nnode 0x1 switch 64 \"spine\"\n");
	for (unsigned i = 0; i < UNITS * RAILS; i++)
		rd_buf_printf(&s->text, "node 0x%x switch 64 \"leaf%u\"\nlink 0x%x 60 0x1 %u 4xNDR\n", 0x100 + i, i,
			      0x100 + i, i + 1);
}

static void make(struct setup *s, const char *name, unsigned (*leaf)(unsigned unit, unsigned host, unsigned rail))
{
	begin(s);
	for (unsigned unit = 0; unit < UNITS; unit++)
		for (unsigned host = 0; host < HOSTS; host++)
			for (unsigned rail = 0; rail < RAILS; rail++) {
				char node[32], adapter[32];

				snprintf(node, sizeof(node), "node%u%u", unit, host);
				snprintf(adapter, sizeof(adapter), name, rail);
				plug(s, leaf(unit, host, rail), node, adapter);
			}
}

/* "subject|observed|expected" of the findings, in lines. */
static const char *said(struct setup *s)
{
	static char text[2048];
	struct rd_fabric_limits limits;
	size_t len = 0;

	rd_findings_deinit(&s->findings);
	rd_fabric_deinit(&s->fabric);
	fabric_from_text(s->text.data, &s->fabric);
	s->fabric.self = 0;
	rd_fabric_limits_init(&limits);
	rd_fabric_judge(&s->fabric, &limits, NULL, &s->findings);
	text[0] = '\0';
	for (size_t i = 0; i < s->findings.n; i++) {
		const struct rd_finding *f = &s->findings.v[i];

		assert_string_equal(f->id, "fabric-rail-odd");
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s|%s|%s", i > 0 ? "\n" : "", f->subject,
					f->observed, f->expected);
	}
	return text;
}

static unsigned exchanged(unsigned unit, unsigned host, unsigned rail)
{
	return LEAF(unit, unit == 1 && host == 3 && (rail == 1 || rail == 2) ? 3 - rail : rail);
}

static unsigned one_moved(unsigned unit, unsigned host, unsigned rail)
{
	return LEAF(unit, unit == 0 && host == 5 && rail == 3 ? 0 : rail);
}

static const char moved[] =
	"leaf0 port 7, to node05 HCA-3 port 1|HCA-3, where nearly all adapters are HCA-0|at leaf3, as node00 HCA-3";

static void tear_down(struct setup *s)
{
	rd_findings_deinit(&s->findings);
	rd_fabric_deinit(&s->fabric);
	rd_buf_deinit(&s->text);
}

#define SETUP_TEST(name) TEST_ON(name, struct setup, s, { 0 }, tear_down)

SETUP_TEST(an_adapter_at_another_rail_is_found)
{
	make(s, "mlx5_%u", in_order);
	assert_string_equal(said(s), "");
	make(s, "HCA-%u", one_moved);
	assert_string_equal(said(s), moved);
	/* Two cables that are exchanged are one finding. */
	make(s, "mlx5_%u", exchanged);
	assert_string_equal(
		said(s),
		"leaf6 port 4, to node13 mlx5_1 port 1|mlx5_1, where nearly all adapters are mlx5_2|at leaf5, as node10 mlx5_1");
	assert_non_null(strstr(s->findings.v[0].fix, "exchanged"));
}

/* A saved topology that has it so is the stronger one. */
SETUP_TEST(what_is_so_in_the_saved_topology_is_a_note)
{
	_cleanup_(rd_fabric_deinit) struct rd_fabric plan = { 0 };

	make(s, "HCA-%u", in_order);
	fabric_from_text(s->text.data, &plan);
	make(s, "HCA-%u", one_moved);
	assert_string_equal(said(s), moved);
	rd_fabric_accept_uplinks(&s->findings);
	assert_int_equal(s->findings.v[0].severity, RD_SEV_NOTE);
	/* One that does not makes one cause of both. */
	assert_string_equal(said(s), moved);
	rd_fabric_compare(&plan, &s->fabric, &s->findings);
	assert_string_equal(s->findings.v[0].caused_by.id, "fabric-cable-moved");
}

/* All adapters of a host at one switch. */
static unsigned by_rack(unsigned unit, unsigned host, unsigned rail)
{
	return LEAF(unit, host % RAILS);
}

/* One host has its adapters numbered from the other end. */
static unsigned reversed(unsigned unit, unsigned host, unsigned rail)
{
	return LEAF(unit, unit == 0 && host == 2 ? RAILS - 1 - rail : rail);
}

/* Two rails share a switch. */
static unsigned shared(unsigned unit, unsigned host, unsigned rail)
{
	return LEAF(unit, rail / 2);
}

SETUP_TEST(networks_that_differ_on_purpose_are_silent)
{
	make(s, "mlx5_%u", by_rack);
	assert_string_equal(said(s), "");
	make(s, "mlx5_%u", reversed);
	assert_string_equal(said(s), "");
	make(s, "mlx5_%u", shared);
	assert_string_equal(said(s), "");
	/* All have the same name, and one has a second adapter. */
	make(s, "HCA-1", in_order);
	plug(s, 2, "storage", "HCA-2");
	assert_string_equal(said(s), "");
	/* Hosts with fewer adapters: for management, for storage, and to log in. */
	make(s, "mlx5_%u", in_order);
	plug(s, 3, "ufm", "mlx5_0");
	plug(s, 2, "storage", "mlx5_0");
	plug(s, 3, "storage", "mlx5_1");
	assert_string_equal(said(s), "");
	make(s, "mlx5_%u", in_order);
	plug(s, 0, "login", "mlx5_0");
	plug(s, 1, "login", "mlx5_3");
	assert_string_equal(said(s), "");
	/* The vendor's names, which are no names. */
	make(s, "Technologies", in_order);
	plug(s, 1, "MT4129 ConnectX7", "Nvidia");
	assert_string_equal(said(s), "");
	/* Hosts of two kinds with other names, each at leaves of their own; one is at a leaf of the others. */
	begin(s);
	for (unsigned leaf = 0; leaf < UNITS * RAILS; leaf++)
		for (unsigned host = 0; host < HOSTS; host++) {
			char node[32];

			snprintf(node, sizeof(node), "node%u-%u", leaf, host);
			plug(s, leaf, node, (leaf < 4) == (leaf != 2 || host != 3) ? "mlx5_0" : "mlx5_2");
		}
	assert_string_equal(said(s), "");
}
