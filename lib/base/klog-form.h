/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel log lines that rules use, in one table. Rules refer to a line by its form, so that every line that a rule reads has
 * one; a redacted recording keeps lines of these forms and drops all others.
 */
#ifndef RD_KLOG_FORM_H
#define RD_KLOG_FORM_H

#include "base/base.h"

enum rd_klog_form {
	RD_KLOG_NO_FORM,
	RD_KLOG_MLX5_HEALTH,
	RD_KLOG_MLX5_HEALTH_ISSUE,
	RD_KLOG_MLX5_COMMAND_LEAK,
	RD_KLOG_MLX4_INTERNAL_ERROR,
	RD_KLOG_BNXT_FATAL_RESET,
	RD_KLOG_IRDMA_RESET,
	RD_KLOG_MKEY_LIMIT,
	RD_KLOG_MKEY_NO_RESOURCES,
	RD_KLOG_QP_LIMIT,
	RD_KLOG_UAR_LIMIT,
	RD_KLOG_MLX4_UAR_PAGES,
	RD_KLOG_RETRY_COUNT,
	RD_KLOG_MODULE_HOT,
	RD_KLOG_MODULE_BUS_STUCK,
	RD_KLOG_MODULE_UNSUPPORTED,
	RD_KLOG_MLX5_PORT_DOWN,
	RD_KLOG_MLX5_LINK_DOWN,
	RD_KLOG_BNXT_LINK_DOWN,
	RD_KLOG_ICE_LINK_DOWN,
	RD_KLOG_PEERMEM_VERSION,
	RD_KLOG_IB_SYMBOL,
	RD_KLOG_RDMA_SYMBOL,
	RD_KLOG_PEERMEM_CLIENT,
	RD_KLOG_NV_PEER_MEM_SYMBOL,
	RD_KLOG_PEERMEM_CONTEXT,
	RD_KLOG_PEERMEM_CALLBACK,
	RD_KLOG_UMEM_PIN,
	RD_KLOG_UMEM_GET,
	RD_KLOG_OOM_CGROUP,
	RD_KLOG_OOM,
	RD_KLOG_PCIE_FATAL,
	RD_KLOG_PCIE_UNCORRECTED,
	RD_KLOG_FELL_OFF_BUS,
	RD_KLOG_FALLEN_OFF_BUS,
	RD_KLOG_PCIE_CARD_GONE,
	RD_KLOG_POWER_GOOD,
	RD_KLOG_POWER_LOW,
	RD_KLOG_POWER_UNKNOWN,
	RD_KLOG_QP, /* contains the number of a queue pair */
	RD_KLOG_FORMS,
};

/* Decodes \xNN in place, which the kernel prints for unprintable characters and the backslash. Forms apply to decoded lines. */
void rd_klog_unescape(char *text);

/* The form of a line; the first match in the table. */
enum rd_klog_form rd_klog_form_of(const char *text);

/* The positions of the fixed words of a form in a line, in order; none for RD_KLOG_QP. Returns their number; 0: not of this form. */
#define RD_KLOG_SPANS 4
struct rd_klog_span {
	size_t at, size;
};
size_t rd_klog_form_spans(enum rd_klog_form form, const char *text, struct rd_klog_span ret[RD_KLOG_SPANS]);

/*
 * The queue pair numbers in a line, as printed by drivers: "QP 1234", "qp#17", "qpn 0x1a2", "qp_num=5", "QPN:0x12".
 * Hexadecimal with 0x or with hexadecimal letters, else decimal. Returns the number found (at most `max`).
 */
size_t rd_klog_qps(const char *text, uint32_t *ret, size_t max);

/* The same for one that begins at `at` in the line `text`: its length including the text before the number; 0: none. */
size_t rd_klog_qp_at(const char *text, const char *at, uint32_t *ret);

/* Whether a word is a generic term of drivers, links and queue pairs, or made of such terms, and so identifies no host or user. */
bool rd_klog_is_term(const char *word, size_t size);

#endif
