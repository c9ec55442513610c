/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Performance management attributes: which ones a node supports, and decoding of responses. */
#ifndef RD_PMA_H
#define RD_PMA_H

#include "model/fabric/fabric.h"

#define RD_PMA_CLASS_PORT_INFO 0x0001
#define RD_PMA_RCV_ERROR_DETAILS 0x0015
#define RD_PMA_XMIT_DISCARD_DETAILS 0x0016
#define RD_PMA_ALL_PORTS 255 /* PortSelect */
#define RD_PMA_DATA 192	     /* bytes of data, after 64 bytes of headers */

/* Parses "counters,extended" or "all" into a mask of rd_pma_attributes. -EINVAL with the valid names in the hint. */
int rd_pma_subsets(const char *list, uint64_t *ret, struct rd_err *err);

/* Number of values that a port has if these attributes are read. */
size_t rd_pma_n_values(uint64_t attributes);

/* Whether to query an attribute of a node: not if ClassPortInfo reports that it is unsupported, if the node rejected it before, or
 * if only switches have it and the node is not a switch. */
bool rd_pma_has(const struct rd_fabric_node *node, size_t attribute);

/* Whether its agent sums the counters of all ports for PortSelect 255, and whether PortCountersExtended has all counters of
 * PortCounters. False if ClassPortInfo is unknown. */
bool rd_pma_has_sums(const struct rd_fabric_node *node);
bool rd_pma_extended_errors(const struct rd_fabric_node *node);

/* Takes the capabilities from a ClassPortInfo response. `mad`: a response of 256 bytes. */
void rd_pma_class_port_info(const uint8_t *mad, struct rd_fabric_node *node);

/* Decodes the counters of a response into `values`, `n` of them; an existing value of a wider field stays. Fields that are not
 * valid according to the node's ClassPortInfo stay unknown. */
void rd_pma_decode(size_t attribute, const uint8_t *mad, const struct rd_fabric_node *node, struct rd_pma_value *values,
		   size_t n);

#endif
