/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of records, kept by each of our BPF objects. */
#ifndef RD_BPF_TOTALS_H
#define RD_BPF_TOTALS_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

#include "record.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rd_totals);
} totals SEC(".maps");

static __always_inline struct rd_totals *get_totals(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&totals, &zero);
}

#endif
