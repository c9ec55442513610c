/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all our BPF objects have: counts of records, and how an index or a size is bounded. */
#ifndef RD_BPF_TOTALS_H
#define RD_BPF_TOTALS_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

#include "record.h"

/*
 * n, which is below `limit`, a power of two, as an index or a size that every verifier accepts from every compiler. clang may check
 * one register and use another that it knows to be equal, omit a mask that cannot change a value, or use the value from before it;
 * the verifier knows the bound of the checked register only. The mask is an instruction whose result clang knows nothing about.
 *
 * Counters of loops are 64 bits wide: one of 32 bits may be kept on the stack beside a small variable, and is unknown after a helper
 * has written that one; then the loop never ends.
 */
#define BOUNDED(n, limit)                                                   \
	({                                                                  \
		_Static_assert(!((limit) & ((limit)-1)), "a power of two"); \
		__u64 bounded_ = (n);                                       \
		asm volatile("%0 &= %1" : "+r"(bounded_) : "i"((limit)-1)); \
		bounded_;                                                   \
	})

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

#define COUNT_ONE(member)                              \
	do {                                           \
		struct rd_totals *sum_ = get_totals(); \
		if (sum_)                              \
			sum_->member++;                \
	} while (0)

#endif
