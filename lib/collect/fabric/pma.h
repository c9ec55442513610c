/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Performance management attributes: which to ask whom, and what their answers say. */
#ifndef RD_PMA_H
#define RD_PMA_H

#include "model/fabric/fabric.h"

#define RD_PMA_CLASS_PORT_INFO 0x0001
#define RD_PMA_DATA 192 /* bytes of an attribute, behind the 64 of the header */

/* Reads "counters,extended" or "all" into a mask of rd_pma_attributes. -EINVAL with the names that there are in the hint. */
int rd_pma_subsets(const char *list, uint64_t *ret, struct rd_err *err);

/* How many values a port keeps when these attributes are read. */
size_t rd_pma_n_values(uint64_t attributes);

/* Whether a node is to be asked for an attribute: not if ClassPortInfo says that it has none, if it refused before, or if
 * the attribute is of switches only and it is none. */
bool rd_pma_has(const struct rd_fabric_node *node, size_t attribute);

/* What ClassPortInfo says. `mad`: a whole answer of 256 bytes. */
void rd_pma_class_port_info(const uint8_t *mad, struct rd_fabric_node *node);

/* Takes the counters of an answer into `values`, `n` of them; where there is one already, the wider one stays. Fields that
 * the node's ClassPortInfo does not vouch for stay unknown. */
void rd_pma_decode(size_t attribute, const uint8_t *mad, const struct rd_fabric_node *node, struct rd_pma_value *values,
		   size_t n);

#endif
