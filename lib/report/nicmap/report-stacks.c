/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/nicmap/report-stacks.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "model/nicmap/library-rules.h"

/* Characters: a row of the table lists NICs up to this width, and at least one, to fit a terminal; JSON has all. */
#define NICS_WIDTH 33
#define GIDS_SHOWN 4
/* Maximum number of fallback ports, and of unused ports, in a document: a card may have hundreds of virtual functions. */
#define OTHERS_SHOWN 64
/* No stack has more transports. */
#define TRANSPORTS 4

enum choice_column {
	CHOICE_GPU,
	CHOICE_NUMA,
	CHOICE_NICS,
	CHOICE_PORTS,
	CHOICE_FALLBACK,
	CHOICE_GIDS,
	CHOICE_TRANSPORT,
	CHOICE_WHY,
	CHOICE_COLUMNS
};
enum gid_column { GID_PORT, GID_INDEX, GID_TYPE, GID_IP, GID_TRANSPORT, GID_WHY, GID_COLUMNS };
enum row_column { ROW_STACK, ROW_MEMORY, ROW_NICS, ROW_GID, ROW_TRANSPORT, ROW_COLUMNS };

static const struct rd_column choice_columns[CHOICE_COLUMNS];
static const struct rd_column gid_columns[GID_COLUMNS];
static const struct rd_column row_columns[ROW_COLUMNS];
static const struct rd_column name_columns[1];
static const struct rd_column left_columns[2];
static const struct rd_column rule_columns[2];

/* Devices or ports of a choice, from `from` up to `to`. */
static struct rd_section *names_of(const struct rd_host *host, const struct rd_stack_choice *choice, size_t from,
				   size_t to, bool ports)
{
	struct rd_section *section = rd_section_create("names", name_columns, 1);

	for (size_t i = from; i < to; i++) {
		const struct rd_port *port = &host->ports[choice->ports[i]];
		char text[128];

		if (i > from && !ports && host->ports[choice->ports[i - 1]].ibdev == port->ibdev)
			continue;
		rd_port_label(host, port, text, sizeof(text));
		rd_row_str(rd_section_add(section), 0, ports ? text : rd_ibdev_label(host, port->ibdev));
	}
	return section;
}

static void add_gid(struct rd_section *section, const struct rd_host *host, const struct rd_stack *stack, int p)
{
	const struct rd_port *port = &host->ports[p];
	const struct rd_stack_port *own = &stack->ports[p];
	const struct rd_gid *gid = own->gid >= 0 ? &port->gids[own->gid] : NULL;
	struct rd_row *row = rd_section_add(section);
	char text[128];

	rd_port_label(host, port, text, sizeof(text));
	rd_row_str(row, GID_PORT, text);
	rd_row_str(row, GID_TRANSPORT, own->transport);
	rd_row_str(row, GID_WHY, own->gid_why);
	if (!gid)
		return;
	rd_row_uint(row, GID_INDEX, gid->index);
	rd_row_str(row, GID_TYPE, rd_gid_type_name(gid->type));
	if (!rd_port_is_ethernet(port))
		return;
	rd_gid_ip(gid, text);
	rd_row_str(row, GID_IP, text);
}

static struct rd_section *gids_of(const struct rd_host *host, const struct rd_stack *stack,
				  const struct rd_stack_choice *choice)
{
	struct rd_section *section = rd_section_create("gids", gid_columns, GID_COLUMNS);

	for (size_t i = 0; i < choice->n_first; i++)
		add_gid(section, host, stack, choice->ports[i]);
	return section;
}

/* "rc_mlx5"; "rc_verbs,rc_mlx5" if the NICs are of several vendors. */
static void transports(const struct rd_stack *stack, const struct rd_stack_choice *choice, struct rd_buf *ret)
{
	size_t n = choice->n_first > 0 ? choice->n_first : choice->n_ports;
	const char *seen[TRANSPORTS] = { NULL };
	size_t n_seen = 0;

	if (n == 0 && stack->transport)
		rd_buf_str(ret, stack->transport);
	for (size_t i = 0; i < n && n_seen < TRANSPORTS; i++) {
		const char *own = stack->ports[choice->ports[i]].transport;
		size_t at = 0;

		while (at < n_seen && strcmp(seen[at], own) != 0)
			at++;
		if (at < n_seen)
			continue;
		rd_buf_printf(ret, "%s%s", n_seen > 0 ? "," : "", own);
		seen[n_seen++] = own;
	}
}

static void add_choice(struct rd_section *section, const struct rd_host *host, const struct rd_stack *stack,
		       const struct rd_stack_choice *choice)
{
	struct rd_section *subs[] = {
		names_of(host, choice, 0, choice->n_first, false),
		names_of(host, choice, 0, choice->n_first, true),
		names_of(host, choice, choice->n_first,
			 choice->n_ports - choice->n_first > OTHERS_SHOWN ? choice->n_first + OTHERS_SHOWN :
									    choice->n_ports,
			 true),
		gids_of(host, stack, choice),
	};
	struct rd_row *row = rd_section_add(section);
	_cleanup_buf_ struct rd_buf transport = { 0 };

	for (size_t i = 0; i < RD_ARRAY_SIZE(subs); i++)
		rd_row_sub(row, CHOICE_NICS + i, subs[i]);
	if (choice->gpu >= 0)
		rd_row_str(row, CHOICE_GPU, host->pcis[host->gpus[choice->gpu].pci].addr);
	if (choice->numa >= 0)
		rd_row_int(row, CHOICE_NUMA, choice->numa);
	transports(stack, choice, &transport);
	rd_row_str(row, CHOICE_TRANSPORT, transport.data);
	rd_row_str(row, CHOICE_WHY, choice->why);
}

/* A stack that uses no port has one choice for all memory. */
static void add_stack(struct rd_section *section, const struct rd_host *host, const struct rd_stack *stack)
{
	const struct rd_stack_choice none = { .gpu = -1, .numa = -1, .why = stack->note };

	if (stack->transport)
		add_choice(section, host, stack, &none);
	for (size_t i = 0; !stack->transport && i < stack->n; i++)
		add_choice(section, host, stack, &stack->v[i]);
}

/* Active ports that the stack does not use, and why. */
static struct rd_section *left_out(const struct rd_host *host, const struct rd_stack *stack)
{
	struct rd_section *section = rd_section_create("left_out", left_columns, RD_ARRAY_SIZE(left_columns));

	for (size_t p = 0; p < host->n_ports && section->n < OTHERS_SHOWN; p++) {
		struct rd_row *row;
		char text[128];

		if (stack->ports[p].taken || !rd_port_active(&host->ports[p]))
			continue;
		row = rd_section_add(section);
		rd_port_label(host, &host->ports[p], text, sizeof(text));
		rd_row_str(row, 0, text);
		rd_row_str(row, 1, stack->ports[p].why_not);
	}
	return section;
}

void rd_report_stacks_set(struct rd_row *row, size_t first, const struct rd_host *host, const struct rd_nicmap *map)
{
	for (size_t s = 0; s < RD_STACKS; s++) {
		const struct rd_stack *stack = &map->stacks.v[s];
		struct rd_section *section = rd_section_create("choices", choice_columns, CHOICE_COLUMNS);

		add_stack(section, host, stack);
		rd_row_sub(row, first + RD_STACK_CELLS * s, section);
		rd_row_sub(row, first + RD_STACK_CELLS * s + 1, left_out(host, stack));
		rd_row_str(row, first + RD_STACK_CELLS * s + 2, stack->note);
	}
}

/* "3", "1,3"; "": none known. */
static void gid_list(const struct rd_host *host, const struct rd_stack *stack, const struct rd_stack_choice *choice,
		     struct rd_buf *ret)
{
	unsigned seen[GIDS_SHOWN];
	size_t n = 0;

	for (size_t i = 0; i < choice->n_first && n < GIDS_SHOWN; i++) {
		int p = choice->ports[i], gid = stack->ports[p].gid;
		size_t at = 0;

		if (gid < 0)
			continue;
		while (at < n && seen[at] != host->ports[p].gids[gid].index)
			at++;
		if (at < n)
			continue;
		seen[n] = host->ports[p].gids[gid].index;
		rd_buf_printf(ret, "%s%u", n > 0 ? "," : "", seen[n]);
		n++;
	}
}

static void nic_list(const struct rd_host *host, const struct rd_stack_choice *choice, struct rd_buf *ret)
{
	size_t n = 0;

	for (; n < choice->n_first; n++) {
		char text[128];

		rd_port_label(host, &host->ports[choice->ports[n]], text, sizeof(text));
		if (n > 0 && ret->len + 1 + strlen(text) > NICS_WIDTH)
			break;
		rd_buf_printf(ret, "%s%s", n > 0 ? "," : "", text);
	}
	if (choice->n_first > n)
		rd_buf_printf(ret, " +%zu", choice->n_first - n);
	if (choice->n_first == 0 && choice->n_ports > 0)
		rd_buf_printf(ret, "any of %zu", choice->n_ports);
}

/* Whether two choices are for the same kind of memory, with consecutive numbers and the same NICs. */
static bool continues_row(const struct rd_host *host, const struct rd_stack_choice *a, const struct rd_stack_choice *b)
{
	if ((a->gpu >= 0) != (b->gpu >= 0) || (a->numa >= 0) != (b->numa >= 0) || a->n_first != b->n_first)
		return false;
	if (a->gpu >= 0 && host->gpus[b->gpu].index != host->gpus[a->gpu].index + 1)
		return false;
	if (a->numa >= 0 && b->numa != a->numa + 1)
		return false;
	for (size_t i = 0; i < a->n_first; i++)
		if (a->ports[i] != b->ports[i])
			return false;
	return true;
}

/* "GPU0", "GPU0-3", "node1"; "host" or "all" if the choice does not depend on GPU or NUMA node. */
static void memory_text(const struct rd_host *host, const struct rd_stack_choice *from,
			const struct rd_stack_choice *to, bool host_only, char *ret, size_t size)
{
	unsigned first = from->gpu >= 0 ? host->gpus[from->gpu].index : (unsigned)from->numa;
	unsigned last = from->gpu >= 0 ? host->gpus[to->gpu].index : (unsigned)to->numa;
	const char *what = from->gpu >= 0 ? "GPU" : "node";

	if (from->gpu < 0 && from->numa < 0)
		snprintf(ret, size, "%s", host_only ? "host" : "all");
	else if (from == to)
		snprintf(ret, size, "%s%u", what, first);
	else
		snprintf(ret, size, "%s%u-%u", what, first, last);
}

static void add_row(struct rd_section *section, const struct rd_host *host, enum rd_stack_id id,
		    const struct rd_stack *stack, const struct rd_stack_choice *from, const struct rd_stack_choice *to)
{
	_cleanup_buf_ struct rd_buf nics = { 0 }, gids = { 0 }, transport = { 0 };
	struct rd_row *row = rd_section_add(section);
	char memory[40];

	/* Without GPU and node, UCX's row is for host memory; libfabric's is for all memory. */
	memory_text(host, from, to, id == RD_STACK_UCX && !stack->transport, memory, sizeof(memory));
	nic_list(host, from, &nics);
	gid_list(host, stack, from, &gids);
	rd_row_str(row, ROW_STACK, rd_stack_name(id));
	rd_row_str(row, ROW_MEMORY, memory);
	rd_row_str(row, ROW_NICS, nics.data);
	rd_row_str(row, ROW_GID, gids.data);
	transports(stack, from, &transport);
	rd_row_str(row, ROW_TRANSPORT, transport.data);
}

/* Memory with the same NICs is one row. */
static void add_rows(struct rd_section *section, const struct rd_host *host, enum rd_stack_id id,
		     const struct rd_stack *stack)
{
	for (size_t i = 0, end; i < stack->n; i = end) {
		for (end = i + 1; end < stack->n && continues_row(host, &stack->v[end - 1], &stack->v[end]); end++)
			;
		add_row(section, host, id, stack, &stack->v[i], &stack->v[end - 1]);
	}
}

void rd_report_stacks(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map)
{
	struct rd_section *section = rd_section_create("stacks", row_columns, ROW_COLUMNS);

	for (int s = 0; s < RD_STACKS; s++) {
		const struct rd_stack *stack = &map->stacks.v[s];
		const struct rd_stack_choice none = { .gpu = -1, .numa = -1 };

		if (stack->transport)
			add_row(section, host, s, stack, &none, &none);
		add_rows(section, host, s, stack);
	}
	rd_report_add(report, section);
}

struct rd_section *rd_report_library_rules(void)
{
	struct rd_section *section = rd_section_create("rules_read_from", rule_columns, 2);

	for (size_t i = 0; i < rd_n_library_rules; i++) {
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, 0, rd_library_rules[i].library);
		rd_row_str(row, 1, rd_library_rules[i].release);
	}
	return section;
}

/* clang-format off */
static const struct rd_column choice_columns[CHOICE_COLUMNS] = {
	[CHOICE_GPU] = { "gpu", "GPU", RD_T_STR, "PCI address of the accelerator; unknown for host memory, or all memory", 0, false },
	[CHOICE_NUMA] = { "numa_node", "NUMA", RD_T_INT, "NUMA node of the host memory", 0, false },
	[CHOICE_NICS] = { "nics", "NICS", RD_T_STRS, "RDMA devices selected for it", 0, false },
	[CHOICE_PORTS] = { "ports", "PORTS", RD_T_STRS, "ports selected for it", 0, false },
	[CHOICE_FALLBACK] = { "fallback", "FALLBACK", RD_T_STRS, "fallback ports, in order of preference", 0, false },
	[CHOICE_GIDS] = { "gids", "GIDS", RD_T_ROWS, "the GID used on each port", 0, false },
	[CHOICE_TRANSPORT] = { "transport", "TRANSPORT", RD_T_STR, "transport, by the stack's name", 0, false },
	[CHOICE_WHY] = { "reason", "REASON", RD_T_STR, "why these, and what the choice depends on", 0, false },
};

static const struct rd_column gid_columns[GID_COLUMNS] = {
	[GID_PORT] = { "port", "PORT", RD_T_STR, "port", 0, false },
	[GID_INDEX] = { "gid_index", "GIDX", RD_T_UINT, "index", 0, false },
	[GID_TYPE] = { "gid_type", "GIDTYPE", RD_T_STR, "IB, RoCE v1, RoCE v2", 0, false },
	[GID_IP] = { "ip", "IP", RD_T_STR, "IP address in the GID", 0, false },
	[GID_TRANSPORT] = { "transport", "TRANSPORT", RD_T_STR, "transport, by the stack's name", 0, false },
	[GID_WHY] = { "reason", "REASON", RD_T_STR, "why this GID, or why none", 0, false },
};

static const struct rd_column row_columns[ROW_COLUMNS] = {
	[ROW_STACK] = { "stack", "STACK", RD_T_STR, "mooncake, ucx (below NIXL), nixl_libfabric, libfabric", 0, false },
	[ROW_MEMORY] = { "memory", "MEMORY", RD_T_STR, "GPU memory, host memory of a NUMA node, all host memory, or all", 0, false },
	[ROW_NICS] = { "nics", "NICS", RD_T_STR, "ports selected for it", 0, false },
	[ROW_GID] = { "gid_index", "GIDX", RD_T_STR, "index of the GID that the stack uses", 0, false },
	[ROW_TRANSPORT] = { "transport", "TRANSPORT", RD_T_STR, "transport, by the stack's name", 0, false },
};

static const struct rd_column name_columns[1] = {
	{ "name", "NAME", RD_T_STR, "name", 0, false },
};

static const struct rd_column left_columns[2] = {
	{ "port", "PORT", RD_T_STR, "port", 0, false },
	{ "reason", "REASON", RD_T_STR, "why the stack does not use it", 0, false },
};

static const struct rd_column rule_columns[2] = {
	{ "library", "LIBRARY", RD_T_STR, "library", 0, false },
	{ "release", "RELEASE", RD_T_STR, "release and commit", 0, false },
};
/* clang-format on */
