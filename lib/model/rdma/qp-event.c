// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/rdma/qp-event.h"

void rd_qp_event_deinit(struct rd_qp_event *event)
{
	RD_FREE(event->cgroup, event->job);
	*event = (struct rd_qp_event){ 0 };
}

/* enum ib_event_type (rdma/ib_verbs.h); the first 20 are those of libibverbs. */
static const char *const event_names[] = {
	"CQ_ERR",
	"QP_FATAL",
	"QP_REQ_ERR",
	"QP_ACCESS_ERR",
	"COMM_EST",
	"SQ_DRAINED",
	"PATH_MIG",
	"PATH_MIG_ERR",
	"DEVICE_FATAL",
	"PORT_ACTIVE",
	"PORT_ERR",
	"LID_CHANGE",
	"PKEY_CHANGE",
	"SM_CHANGE",
	"SRQ_ERR",
	"SRQ_LIMIT_REACHED",
	"QP_LAST_WQE_REACHED",
	"CLIENT_REREGISTER",
	"GID_CHANGE",
	"WQ_FATAL",
};

/* enum ib_qp_attr_mask: the kernel's user interface. */
static const char *const attr_names[] = {
	"STATE",
	"CUR_STATE",
	"EN_SQD_ASYNC_NOTIFY",
	"ACCESS_FLAGS",
	"PKEY_INDEX",
	"PORT",
	"QKEY",
	"AV",
	"PATH_MTU",
	"TIMEOUT",
	"RETRY_CNT",
	"RNR_RETRY",
	"RQ_PSN",
	"MAX_QP_RD_ATOMIC",
	"ALT_PATH",
	"MIN_RNR_TIMER",
	"SQ_PSN",
	"MAX_DEST_RD_ATOMIC",
	"PATH_MIG_STATE",
	"CAP",
	"DEST_QPN",
	NULL,
	NULL,
	NULL,
	NULL,
	"RATE_LIMIT",
	"QP_RESERVED1",
};

const char *rd_qp_what_name(enum rd_qp_what what)
{
	static const char *const names[] = { NULL, "modify", "create", "destroy", "event", "device-event" };

	return (unsigned)what < RD_ARRAY_SIZE(names) ? names[what] : NULL;
}

const char *rd_ib_event_name(unsigned code)
{
	return code < RD_ARRAY_SIZE(event_names) ? event_names[code] : NULL;
}

const char *rd_qp_attr_name(unsigned bit)
{
	return bit < RD_ARRAY_SIZE(attr_names) ? attr_names[bit] : NULL;
}
