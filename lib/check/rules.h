/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every rule, for the table. */
#ifndef RD_CHECK_RULES_H
#define RD_CHECK_RULES_H

#include "check/check.h"

/* pcie-link.c */
extern const struct rd_check rd_check_pcie_link_width, rd_check_pcie_link_speed;

/* RoCE and the network below it */
extern const struct rd_check rd_check_roce_lossless, rd_check_roce_pause, rd_check_roce_trust, rd_check_roce_tclass,
	rd_check_roce_devx_tclass, rd_check_roce_ets, rd_check_roce_ecn, rd_check_roce_cnp,
	rd_check_roce_uniform; /* roce-dcb.c */
extern const struct rd_check rd_check_rp_filter, rd_check_arp_flux, rd_check_duplicate_address,
	rd_check_neighbour_failed, rd_check_rail_route, rd_check_firewall, rd_check_link_flaps; /* net-ip.c */
extern const struct rd_check rd_check_devlink_health, rd_check_devlink_firmware;		/* devlink.c */
extern const struct rd_check rd_check_devmem;							/* devmem.c */

/* Kernel log */
extern const struct rd_check rd_check_klog_health, rd_check_klog_mkeys, rd_check_klog_qps, rd_check_klog_uars,
	rd_check_klog_uar_pages, rd_check_klog_retry, rd_check_klog_slot_power, rd_check_klog_module,
	rd_check_klog_link, rd_check_klog_peermem_symbols, rd_check_klog_peermem, rd_check_klog_umem, rd_check_klog_oom,
	rd_check_klog_pcie; /* klog.c */

/* A prologue's */
extern const struct rd_check rd_check_leftovers, rd_check_answers; /* leftover.c */

#endif
