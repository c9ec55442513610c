/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/fabric/pma.h"
#include "source/shared/libibmad.h"

#include <errno.h>
#include <string.h>

#define DATA_AT 64

/* CapabilityMask and CapabilityMask2 of ClassPortInfo: InfiniBand Architecture Specification, volume 1, 16.1.3. */
#define CAP_ALL_PORT_SELECT (1u << 8)
#define CAP_EXTENDED_WIDTH (1u << 9)
#define CAP_EXTENDED_WIDTH_NO_IETF (1u << 10) /* without unicast and multicast packets */
#define CAP_XMIT_WAIT (1u << 12)
#define CAP_QP1_DROPPED (1u << 15)
#define CAP2_EXTENDED_ERRORS (1u << 1)

enum need { NEED_NOTHING, NEED_XMIT_WAIT, NEED_QP1_DROPPED, NEED_IETF, NEED_EXTENDED_ERRORS };

/* Counters that follow each other in rd_pma_counters and in libibmad's table of fields, and have the same width. */
struct field_run {
	uint16_t attribute;
	uint8_t bits;
	uint8_t n;
	uint16_t counter;
	enum MAD_FIELDS field;
	enum need need;
};

static const struct field_run runs[] = {
	{ 0x12, 16, 1, RD_C_SYMBOL_ERROR, IB_PC_ERR_SYM_F, NEED_NOTHING },
	{ 0x12, 8, 2, RD_C_LINK_ERROR_RECOVERY, IB_PC_LINK_RECOVERS_F, NEED_NOTHING },
	{ 0x12, 16, 4, RD_C_RCV_ERRORS, IB_PC_ERR_RCV_F, NEED_NOTHING },
	{ 0x12, 8, 2, RD_C_XMIT_CONSTRAINT_ERRORS, IB_PC_ERR_XMTCONSTR_F, NEED_NOTHING },
	{ 0x12, 4, 2, RD_C_LOCAL_LINK_INTEGRITY_ERRORS, IB_PC_ERR_LOCALINTEG_F, NEED_NOTHING },
	{ 0x12, 16, 1, RD_C_VL15_DROPPED, IB_PC_VL15_DROPPED_F, NEED_NOTHING },
	{ 0x12, 16, 1, RD_C_QP1_DROPPED, IB_PC_QP1_DROP_F, NEED_QP1_DROPPED },
	{ 0x12, 32, 1, RD_C_XMIT_WAIT, IB_PC_XMT_WAIT_F, NEED_XMIT_WAIT },
	{ 0x12, 32, 4, RD_C_XMIT_DATA, IB_PC_XMT_BYTES_F, NEED_NOTHING },
	{ 0x1d, 64, 4, RD_C_XMIT_DATA, IB_PC_EXT_XMT_BYTES_F, NEED_NOTHING },
	{ 0x1d, 64, 4, RD_C_UNICAST_XMIT_PKTS, IB_PC_EXT_XMT_UPKTS_F, NEED_IETF },
	{ 0x1d, 64, 12, RD_C_SYMBOL_ERROR, IB_PC_EXT_ERR_SYM_F, NEED_EXTENDED_ERRORS },
	{ 0x1d, 64, 1, RD_C_XMIT_WAIT, IB_PC_EXT_XMT_WAIT_F, NEED_EXTENDED_ERRORS },
	{ 0x1d, 64, 1, RD_C_QP1_DROPPED, IB_PC_EXT_QP1_DROP_F, NEED_EXTENDED_ERRORS },
	{ 0x15, 16, 6, RD_C_LOCAL_PHYSICAL_ERRORS, IB_PC_RCV_LOCAL_PHY_ERR_F, NEED_NOTHING },
	{ 0x16, 16, 4, RD_C_INACTIVE_DISCARDS, IB_PC_XMT_INACT_DISC_F, NEED_NOTHING },
	{ 0x17, 32, 2, RD_C_OP_RCV_PKTS, IB_PC_PORT_OP_RCV_PKTS_F, NEED_NOTHING },
	{ 0x18, 32, 2, RD_C_XMIT_FLOW_PKTS, IB_PC_PORT_XMIT_FLOW_PKTS_F, NEED_NOTHING },
	{ 0x19, 16, 16, RD_C_VL_OP_PACKETS_0, IB_PC_PORT_VL_OP_PACKETS0_F, NEED_NOTHING },
	{ 0x1a, 32, 16, RD_C_VL_OP_DATA_0, IB_PC_PORT_VL_OP_DATA0_F, NEED_NOTHING },
	{ 0x1b, 2, 16, RD_C_VL_XMIT_FLOW_CTL_UPDATE_ERRORS_0, IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS0_F,
	  NEED_NOTHING },
	{ 0x1c, 16, 16, RD_C_VL_XMIT_WAIT_0, IB_PC_PORT_VL_XMIT_WAIT0_F, NEED_NOTHING },
	{ 0x30, 16, 16, RD_C_SW_PORT_VL_CONGESTION_0, IB_PC_SW_PORT_VL_CONGESTION0_F, NEED_NOTHING },
	{ 0x31, 32, 2, RD_C_PKT_RCV_FECN, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F, NEED_NOTHING },
	{ 0x32, 32, 16, RD_C_SL_RCV_FECN_0, IB_PC_SL_RCV_FECN0_F, NEED_NOTHING },
	{ 0x33, 32, 16, RD_C_SL_RCV_BECN_0, IB_PC_SL_RCV_BECN0_F, NEED_NOTHING },
	{ 0x34, 32, 1, RD_C_XMIT_TIME_CONG, IB_PC_XMIT_CON_CTRL_TIME_CONG_F, NEED_NOTHING },
	{ 0x35, 32, 15, RD_C_VL_XMIT_TIME_CONG_0, IB_PC_VL_XMIT_TIME_CONG0_F, NEED_NOTHING },
	{ 0x36, 32, 16, RD_C_XMIT_DATA_SL_0, IB_PC_XMT_DATA_SL0_F, NEED_NOTHING },
	{ 0x37, 32, 16, RD_C_RCV_DATA_SL_0, IB_PC_RCV_DATA_SL0_F, NEED_NOTHING },
};

static int unknown_subset(const char *word, size_t n, struct rd_err *err)
{
	char names[200] = "all";

	for (size_t i = 0; i < rd_pma_n_attributes; i++)
		if (!strstr(names, rd_pma_attributes[i].subset) &&
		    strlen(names) + strlen(rd_pma_attributes[i].subset) + 3 < sizeof(names))
			strcat(strcat(names, ", "), rd_pma_attributes[i].subset);
	rd_err_set(err, EINVAL, "--subsets", "unknown group of attributes '%.*s'", (int)(n < 40 ? n : 40), word);
	rd_err_hint(err, "groups: %s", names);
	return -EINVAL;
}

int rd_pma_subsets(const char *list, uint64_t *ret, struct rd_err *err)
{
	uint64_t mask = 0;

	for (const char *word = list;; word++) {
		size_t n = strcspn(word, ",");
		uint64_t found = 0;

		for (size_t i = 0; i < rd_pma_n_attributes; i++) {
			const char *subset = rd_pma_attributes[i].subset;

			if ((strlen(subset) == n && strncmp(subset, word, n) == 0) ||
			    (n == 3 && strncmp(word, "all", 3) == 0))
				found |= UINT64_C(1) << i;
		}
		if (!found)
			return unknown_subset(word, n, err);
		mask |= found;
		word += n;
		if (!*word)
			break;
	}
	*ret = mask;
	return 0;
}

size_t rd_pma_n_values(uint64_t attributes)
{
	size_t n = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(runs); i++) {
		size_t attribute = rd_pma_find_attribute(runs[i].attribute);

		if (attributes >> attribute & 1 && runs[i].counter + runs[i].n > n)
			n = runs[i].counter + runs[i].n;
	}
	return n;
}

bool rd_pma_has(const struct rd_fabric_node *node, size_t attribute)
{
	unsigned id = rd_pma_attributes[attribute].id;

	if (node->unsupported >> attribute & 1)
		return false;
	if (id == IB_GSI_SW_PORT_VL_CONGESTION)
		return node->kind == RD_NODE_SWITCH;
	if (id == IB_GSI_PORT_COUNTERS_EXT && node->capability.known == RD_OK)
		return node->capability.v & (CAP_EXTENDED_WIDTH | CAP_EXTENDED_WIDTH_NO_IETF);
	return true;
}

bool rd_pma_has_sums(const struct rd_fabric_node *node)
{
	return node->capability.known == RD_OK && node->capability.v & CAP_ALL_PORT_SELECT;
}

bool rd_pma_extended_errors(const struct rd_fabric_node *node)
{
	return node->capability2.known == RD_OK && node->capability2.v & CAP2_EXTENDED_ERRORS &&
	       rd_pma_has(node, rd_pma_find_attribute(IB_GSI_PORT_COUNTERS_EXT));
}

void rd_pma_class_port_info(const uint8_t *mad, struct rd_fabric_node *node)
{
	uint8_t data[RD_PMA_DATA];

	memcpy(data, mad + DATA_AT, sizeof(data));
	RD_SET(node->capability, (uint16_t)rd_libibmad.mad_get_field(data, 0, IB_CPI_CAPMASK_F));
	RD_SET(node->capability2, rd_libibmad.mad_get_field(data, 0, IB_CPI_CAPMASK2_F));
}

/* Whether ClassPortInfo reports that the fields are valid. */
static bool is_valid(const struct rd_fabric_node *node, enum need need)
{
	unsigned cap = node->capability.known == RD_OK ? node->capability.v : 0;
	unsigned cap2 = node->capability2.known == RD_OK ? node->capability2.v : 0;

	switch (need) {
	case NEED_NOTHING:
		return true;
	case NEED_XMIT_WAIT:
		return cap & CAP_XMIT_WAIT;
	case NEED_QP1_DROPPED:
		return cap & CAP_QP1_DROPPED;
	case NEED_IETF:
		return cap & CAP_EXTENDED_WIDTH;
	case NEED_EXTENDED_ERRORS:
		return cap2 & CAP2_EXTENDED_ERRORS;
	}
	return false;
}

void rd_pma_decode(size_t attribute, const uint8_t *mad, const struct rd_fabric_node *node, struct rd_pma_value *values,
		   size_t n)
{
	unsigned id = rd_pma_attributes[attribute].id;
	uint8_t data[RD_PMA_DATA];

	memcpy(data, mad + DATA_AT, sizeof(data));
	for (size_t i = 0; i < RD_ARRAY_SIZE(runs); i++) {
		const struct field_run *run = &runs[i];

		if (run->attribute != id || !is_valid(node, run->need) || (size_t)run->counter + run->n > n)
			continue;
		for (unsigned k = 0; k < run->n; k++) {
			struct rd_pma_value *value = &values[run->counter + k];
			enum MAD_FIELDS field = run->field + k;

			if (value->bits > run->bits)
				continue;
			value->bits = run->bits;
			value->v = run->bits == 64 ? rd_libibmad.mad_get_field64(data, 0, field) :
						     rd_libibmad.mad_get_field(data, 0, field);
		}
	}
}
