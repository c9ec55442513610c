/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routes by the forwarding tables of switches: of one pair of ports, of all, and how evenly they lie over links. */

#ifndef RD_ANALYSE_FABRIC_ROUTES_H
#define RD_ANALYSE_FABRIC_ROUTES_H

#include "model/fabric/fabric.h"
#include "model/shared/finding.h"

/* From a port to a LID that the port `to` has. */
void rd_path_find(const struct rd_fabric *fabric, const struct rd_routes *routes, size_t from, size_t to, uint16_t lid,
		  struct rd_path *path);
void rd_path_deinit(struct rd_path *path);

/* Whether the way back passes the same ports in reverse. Both arrive. */
bool rd_path_is_reverse(const struct rd_path *path, const struct rd_path *back);

/* What is wrong, as a clause: "no route at leaf 3 for LID 17". NULL if it arrives. The caller frees it. */
char *rd_path_fault(const struct rd_fabric *fabric, const struct rd_path *path);

/* Adds a finding unless the path arrives: critical, or unknown. */
void rd_path_judge(const struct rd_fabric *fabric, const struct rd_path *path, struct rd_findings *findings);

/* A copy of the ports of the paths, their peers and nodes: to judge them alone. Values are shared with `fabric`; free the result with
 * rd_path_free_part. */
void rd_path_part(const struct rd_fabric *fabric, const struct rd_path *const *paths, size_t n, struct rd_fabric *ret);
void rd_path_free_part(struct rd_fabric *part);

/*
 * Follows the tables from each switch with a source to each destination LID; switches that an earlier source passed on the way to
 * the same LID are not followed again, so the time is proportional to switches times LIDs. Adds one finding per switch and kind of
 * fault, at the first switch where the route fails, and one for all uneven groups: a group is uneven if its busiest link carries
 * twice the mean and there are at least four LIDs more than links.
 */
void rd_routes_judge(const struct rd_fabric *fabric, const struct rd_routes *routes, struct rd_routes_verdict *verdict,
		     struct rd_findings *findings);
void rd_routes_verdict_deinit(struct rd_routes_verdict *verdict);

/*
 * The ports that an operator may mean: by LID (decimal), by node or port GUID (0x…), else by name, from the node-name-map or the
 * node description: equal, else with the text as its first words, else with the text as prefix; with "/N" at the end only port N.
 * Of an adapter, ports with a cable, or all if none has one; of a switch, its first port. Returns their number; the caller frees
 * *ret, which holds at most `max`.
 */
size_t rd_fabric_find_ports(const struct rd_fabric *fabric, const char *text, size_t max, size_t **ret);

#endif
