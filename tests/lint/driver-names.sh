#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A driver that nobody here has heard of must be traced like any other: no function of a driver is named in the product.
cd "$(dirname "$0")/../.." || exit 1
drivers='rxe|siw|mlx4|mlx5|mthca|irdma|i40iw|bnxt|bnxt_re|hns|efa|qedr|mana|mana_ib|erdma|ionic|hfi1|qib|rdmavt|rvt|usnic|ocrdma|pvrdma|vmw_pvrdma|cxgb4|c4iw|iw_cxgb4|xsc|nes|opa_vnic|bng_re'
# "mlx5_0" and "rxe0" are names of devices, not of functions; these are names of modules. data/counters is about counters,
# and which driver has them, data/explain* about lines of logs, and which function prints them: nothing is traced by these.
# base/klog-lines.h names the files of drivers that print a line, collect/rdma/qp-event.c the functions that its table was read from.
# Nor is anything by the calls of a library that is asked for a fact.
modules='efa_nv_peermem|mlx5_core|mlx5_ib|mlx4_core|mlx4_ib|bnxt_en|bnxt_re|mana_ib|ionic_rdma|hns_roce_hw_v2'
if grep -rnEI --exclude={counters,explain,explain-jobs,explain-services,explain-kernel,klog-lines.h,qp-event.c} "\\b($drivers)_[a-z]" lib bpf data cmd 2>/dev/null | sed -E "s/\\b($modules)\\b//g; s/\\bmlx5dv_[a-z_]+//g" |
	grep -E ":.*\\b($drivers)_[a-z]"; then
	exit 1
fi
exit 0
