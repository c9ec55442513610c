/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a driver adds to the kernel's list of queue pairs (RDMA_NLDEV_ATTR_DRIVER): a name, for some numbers how to print it, and a
 * value, in turn. The kernel sends it unasked, to every user.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "collect/rdma/nldev-priv.h"

/* The value as text, in `text` (32 bytes) or the attribute itself; false: not a value. */
static bool value_of(const struct nlattr *attr, bool hex, char *text, const char **ret)
{
	size_t size = mnl_attr_get_payload_len(attr);
	uint64_t number;

	*ret = text;
	switch (mnl_attr_get_type(attr)) {
	case RDMA_NLDEV_ATTR_DRIVER_STRING:
		*ret = mnl_attr_get_str(attr);
		return true;
	case RDMA_NLDEV_ATTR_DRIVER_S32:
	case RDMA_NLDEV_ATTR_DRIVER_S64:
		if ((size != 4 && size != 8) || !rd_nla_uint(attr, &number))
			return false;
		snprintf(text, 32, "%" PRId64, size == 4 ? (int64_t)(int32_t)number : (int64_t)number);
		return true;
	case RDMA_NLDEV_ATTR_DRIVER_U32:
	case RDMA_NLDEV_ATTR_DRIVER_U64:
		if (!rd_nla_uint(attr, &number))
			return false;
		snprintf(text, 32, hex ? "0x%" PRIx64 : "%" PRIu64, number);
		return true;
	default:
		return false;
	}
}

static bool is_text(const struct nlattr *attr)
{
	return mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DRIVER_STRING &&
	       mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0;
}

/*
 * Values whose name alone does not tell what they are, but whose driver's source does. bnxt_re: the code of the local ACK timeout
 * that modify_qp set, which RTS requires.
 */
static void take_known(const struct rd_res_dev *dev, const struct rd_qp *qp, const char *name,
		       const struct nlattr *value, struct rd_qp_context *context)
{
	bool sends = qp->type.known == RD_OK && qp->type.v == RD_QPT_RC && qp->state.known == RD_OK &&
		     (qp->state.v == RD_QPS_RTS || qp->state.v == RD_QPS_SQD);
	uint64_t number;

	if (dev->driver_id.known != RD_OK || dev->driver_id.v != RD_DRIVER_BNXT_RE || strcmp(name, "timeout") != 0 ||
	    !sends || mnl_attr_get_type(value) != RDMA_NLDEV_ATTR_DRIVER_U32 || !rd_nla_uint(value, &number) ||
	    number > 31)
		return;
	RD_SET(context->attrs.timeout, (uint8_t)number);
}

int rd_nldev_take_driver(const struct nlattr *nest, const struct rd_res_dev *dev, struct rd_qp *qp)
{
	_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;
	const struct nlattr *attr = NULL;
	const char *name = NULL, *value;
	bool hex = false;
	char text[32];

	while (rd_nla_next_nested(nest, &attr)) {
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_PAD) /* before 64 bits, on some architectures */
			continue;
		if (!name) {
			name = is_text(attr) ? mnl_attr_get_str(attr) : NULL;
			hex = false;
		} else if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE) {
			uint64_t type = 0;

			hex = rd_nla_uint(attr, &type) && type == RDMA_NLDEV_PRINT_TYPE_HEX;
		} else {
			bool string = mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DRIVER_STRING;

			if ((!string || is_text(attr)) && value_of(attr, hex, text, &value)) {
				rd_buf_add(&out, name, strlen(name) + 1);
				rd_buf_add(&out, value, strlen(value) + 1);
				take_known(dev, qp, name, attr, rd_qp_need_context(qp));
			}
			name = NULL;
		}
	}
	if (out.failed)
		return -ENOMEM;
	if (!out.len)
		return 0;
	qp->context->driver_size = out.len;
	qp->context->driver = RD_TAKE(out.data);
	return 0;
}
