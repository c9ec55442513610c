/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts together what hosts read of their shares of a network. */
#include "analyse/shares/fabric-shard.h"

#include "base/buf.h"

#define NAMED_MAX 8	     /* shares named in a finding */
#define OLD_NS 600000000000u /* the views of ten minutes ago and now are of different networks */

/* ---- ports */

static int by_port(const void *a, const void *b)
{
	const struct rd_share_row *x = *(const struct rd_share_row *const *)a,
				  *y = *(const struct rd_share_row *const *)b;

	return RD_FIRST(RD_CMP(x->guid, y->guid), RD_CMP(x->port, y->port), RD_CMP(y->read_ns, x->read_ns),
			RD_CMP(y->fresh, x->fresh), RD_CMP(x->share, y->share));
}

static void set_port(struct rd_fabric_port *port, const struct rd_share_row *row)
{
	port->lid = row->lid;
	port->state = row->state;
	port->width_active = row->width;
	port->speed_active = row->speed;
	port->selected = true;
	port->fresh = row->fresh;
	port->read_ns = row->read_ns;
	if (row->error) {
		const char *colon = strstr(row->error, ": ");

		/* "PortRcvErrorDetails: ETIMEDOUT", "ETIMEDOUT", "status 0x000c" */
		for (size_t i = 0; colon && i < rd_pma_n_attributes; i++)
			if (strncmp(row->error, rd_pma_attributes[i].name, (size_t)(colon - row->error)) == 0 &&
			    strlen(rd_pma_attributes[i].name) == (size_t)(colon - row->error))
				port->error_attribute = rd_pma_attributes[i].id;
		port->error = rd_errno_parse(colon ? colon + 2 : row->error);
		if (port->error <= 0)
			port->error = EIO;
	}
	port->values = rd_alloc(RD_SHARE_COUNTERS, sizeof(*port->values));
	for (size_t i = 0; i < RD_SHARE_COUNTERS; i++)
		if (row->known >> i & 1)
			port->values[i] = (struct rd_pma_value){ row->values[i], 64 };
}

/* ---- shares */

static int by_topology(const void *a, const void *b)
{
	const struct rd_share *x = *(const struct rd_share *const *)a, *y = *(const struct rd_share *const *)b;

	return RD_CMP(x->topology.v, y->topology.v) ?: RD_CMP(x->of, y->of);
}

static bool is_usual(const struct rd_merge *merge, const struct rd_share *share)
{
	return share->index > 0 && share->of == merge->shares && share->topology.v == merge->topology;
}

static void count_shares(const struct rd_share_files *files, struct rd_merge *merge)
{
	_cleanup_free_ const struct rd_share **sorted = rd_alloc(files->n + 1, sizeof(*sorted));
	size_t n = 0, most = 0;

	/* The topology, and the number of shares, of most files. */
	for (size_t i = 0; i < files->n; i++)
		if (files->v[i].index > 0)
			sorted[n++] = &files->v[i];
	qsort(sorted, n, sizeof(*sorted), by_topology);
	for (size_t i = 0, first = 0; i < n; i++) {
		if (by_topology(&sorted[i], &sorted[first]) != 0)
			first = i;
		if (i - first + 1 <= most)
			continue;
		most = i - first + 1;
		merge->topology = sorted[i]->topology.v;
		merge->shares = sorted[i]->of;
	}
	merge->have = rd_alloc((size_t)merge->shares + 1, sizeof(*merge->have));
	merge->missing = merge->shares;
	for (size_t i = 0; i < files->n; i++) {
		const struct rd_share *share = &files->v[i];

		if (merge->oldest_ns == 0 || share->time_ns < merge->oldest_ns) {
			merge->oldest_ns = share->time_ns;
			merge->oldest = i;
		}
		if (share->time_ns > merge->newest_ns)
			merge->newest_ns = share->time_ns;
		if (!is_usual(merge, share) || merge->have[share->index - 1])
			continue;
		merge->have[share->index - 1] = true;
		merge->missing--;
		if (share->all_ports.known)
			RD_SET(merge->uncovered, share->all_ports.v);
	}
	if (merge->missing == 0)
		RD_SET(merge->uncovered, 0);
	else if (merge->uncovered.known)
		merge->uncovered.v = merge->uncovered.v > merge->ports ? merge->uncovered.v - merge->ports : 0;
}

void rd_fabric_merge(const struct rd_share_files *files, struct rd_fabric *ret, struct rd_merge *merge)
{
	_cleanup_free_ const struct rd_share_row **rows = rd_alloc(files->n_rows + 1, sizeof(*rows));
	size_t n = 0;

	/* The latest reading of each port, sorted. */
	for (size_t i = 0; i < files->n_rows; i++)
		rows[i] = &files->rows[i];
	qsort(rows, files->n_rows, sizeof(*rows), by_port);
	for (size_t i = 0; i < files->n_rows; i++)
		if (n == 0 || rows[n - 1]->guid != rows[i]->guid || rows[n - 1]->port != rows[i]->port)
			rows[n++] = rows[i];

	*ret = (struct rd_fabric){ .self = RD_NONE, .n_values = RD_SHARE_COUNTERS };
	*merge = (struct rd_merge){ .ports = n, .duplicates = files->n_rows - n };
	for (size_t i = 0; i < RD_SHARE_COUNTERS; i++)
		ret->attributes |= UINT64_C(1) << rd_pma_counters[i].attribute;
	for (size_t i = 0; i < n;) {
		size_t end = i;

		while (end < n && rows[end]->guid == rows[i]->guid)
			end++;
		rd_fabric_add_node(ret, rows[i]->guid, rows[i]->kind, rows[end - 1]->port, rows[i]->node ?: "");
		i = end;
	}
	rd_fabric_sort_nodes(ret);
	for (size_t i = 0; i < n; i++)
		set_port(rd_fabric_add_port(ret, rows[i]->guid, rows[i]->port), rows[i]);
	rd_fabric_sort_ports(ret);
	for (size_t i = 0; i < n; i++) {
		if (rows[i]->peer_guid)
			ret->ports[i].peer = rd_fabric_find_port(ret, rows[i]->peer_guid, rows[i]->peer_port);
		merge->fresh += rows[i]->fresh;
	}
	count_shares(files, merge);
	ret->swept_ns = merge->newest_ns;
}

void rd_merge_deinit(struct rd_merge *merge)
{
	free(merge->have);
	*merge = (struct rd_merge){ 0 };
}

/* ---- findings */

/* A finding of a file, and its place among all. */
struct told {
	const struct rd_finding *finding;
	size_t place;
};

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ?: "", b ?: "");
}

/* Equal ones side by side, the worst first. */
static int by_subject(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	return RD_FIRST(compare_text(x->finding->id, y->finding->id),
			compare_text(x->finding->subject, y->finding->subject),
			RD_CMP(y->finding->severity, x->finding->severity), RD_CMP(x->place, y->place));
}

static int by_place(const void *a, const void *b)
{
	return RD_CMP(((const struct told *)a)->place, ((const struct told *)b)->place);
}

static void judge_missing(const struct rd_merge *merge, const char *const *hosts, struct rd_findings *findings)
{
	struct rd_finding finding = { "fabric-share-missing", "no file has these shares: their ports are not read",
				      "each host reads only its own share", RD_SEV_WARNING };
	_cleanup_buf_ struct rd_buf names = { 0 };
	unsigned named = 0;

	for (unsigned i = 0; i < merge->shares && named < NAMED_MAX; i++) {
		if (merge->have[i])
			continue;
		rd_buf_printf(&names, "%s%u", named++ ? ", " : "", i + 1);
		if (hosts)
			rd_buf_printf(&names, " (%s)", hosts[i]);
	}
	if (merge->missing == 0)
		return;
	if (merge->missing > named)
		rd_buf_printf(&names, " and %u more", merge->missing - named);
	finding.subject = rd_text("share%s %s of %u", merge->missing > 1 ? "s" : "", names.data, merge->shares);
	finding.observed = merge->uncovered.known ? rd_text("%" PRIu64 " ports not read", merge->uncovered.v) :
						    rd_dup("number of their ports unknown");
	finding.expected = rd_text("files of all %u shares", merge->shares);
	finding.fix = rd_text("# run counters --fabric --shards FILE --json on %s, and merge its output, too",
			      hosts ? "these hosts" : "the hosts of these shares (--plan lists them)");
	rd_finding_add(findings, &finding);
}

/* A share of another network, or of another list of hosts. */
static void judge_topology(const struct rd_share_files *files, const struct rd_merge *merge,
			   struct rd_findings *findings)
{
	_cleanup_buf_ struct rd_buf names = { 0 };
	struct rd_finding finding = {
		"fabric-share-topology",
		"hosts divided different ports or had different lists of hosts: ports may be unread or read twice",
		"the hash of topology and hosts must be the same on all hosts, otherwise their shares do not fit",
		RD_SEV_WARNING
	};
	size_t n = 0;

	for (size_t i = 0; i < files->n; i++) {
		const struct rd_share *share = &files->v[i];

		if (is_usual(merge, share) || merge->shares == 0)
			continue;
		if (n++ < NAMED_MAX)
			rd_buf_printf(&names, "%s%s (%s)", n > 1 ? ", " : "", share->host, share->file);
	}
	if (n == 0)
		return;
	if (n > NAMED_MAX)
		rd_buf_printf(&names, " and %zu more", n - NAMED_MAX);
	finding.subject = rd_text("%s", names.data);
	finding.observed = rd_text("%zu of %zu shares are not of topology 0x%016" PRIx64 " in %u shares", n, files->n,
				   merge->topology, merge->shares);
	finding.expected = rd_dup("the same topology on all hosts");
	finding.fix = rd_dup("# give all hosts the same list, wait until the network is stable, and read again");
	rd_finding_add(findings, &finding);
}

static void judge_age(const struct rd_share_files *files, const struct rd_merge *merge, struct rd_findings *findings)
{
	struct rd_finding finding = { "fabric-share-old", "shares were read at very different times",
				      "faults may have come or gone between the two; or the clock of a host is wrong",
				      RD_SEV_WARNING };
	double seconds = (double)(merge->newest_ns - merge->oldest_ns) / 1e9;

	if (merge->newest_ns - merge->oldest_ns < OLD_NS)
		return;
	finding.subject = rd_text("%s (%s)", files->v[merge->oldest].host, files->v[merge->oldest].file);
	finding.observed = rd_text("read %.0f s before the newest share", seconds);
	finding.expected = rd_text("less than %u s", (unsigned)(OLD_NS / 1000000000u));
	finding.fix = rd_dup("# read all shares at the same time\n# compare the clocks of the hosts");
	rd_finding_add(findings, &finding);
}

void rd_fabric_merge_judge(const struct rd_share_files *files, const struct rd_merge *merge, const char *const *hosts,
			   struct rd_findings *findings)
{
	_cleanup_free_ struct told *told = NULL;
	size_t n = 0, cap = 0, kept = 0;

	/* Adds what several hosts found once, as the worst of them has it, in the order of the files. */
	for (size_t i = 0; i < files->n; i++)
		for (size_t k = 0; k < files->v[i].findings.n; k++) {
			rd_reserve(&told, &cap, n + 1, sizeof(*told));
			told[n] = (struct told){ &files->v[i].findings.v[k], n };
			n++;
		}
	rd_sort(told, n, sizeof(*told), by_subject);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || strcmp(told[kept - 1].finding->id, told[i].finding->id) != 0 ||
		    compare_text(told[kept - 1].finding->subject, told[i].finding->subject) != 0)
			told[kept++] = told[i];
	rd_sort(told, kept, sizeof(*told), by_place);
	for (size_t i = 0; i < kept; i++)
		rd_finding_copy(findings, told[i].finding);
	judge_missing(merge, hosts, findings);
	judge_topology(files, merge, findings);
	judge_age(files, merge, findings);
	for (size_t i = 0; i < files->n; i++) {
		const struct rd_share *share = &files->v[i];
		struct rd_finding finding = { "fabric-share-incomplete", "the file lacks ports of the share",
					      "ports that are not in a file are unknown", RD_SEV_WARNING };

		if (share->found >= share->ports)
			continue;
		finding.subject = rd_text("%s (%s)", share->host, share->file);
		finding.observed = rd_text("%zu of %zu ports", share->found, share->ports);
		finding.expected = rd_dup("a row for each port");
		finding.fix = rd_dup("# write the file again, or copy it again once it is complete");
		rd_finding_add(findings, &finding);
	}
}
