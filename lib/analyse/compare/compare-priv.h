/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of the comparison. */
#ifndef RD_ANALYSE_COMPARE_PRIV_H
#define RD_ANALYSE_COMPARE_PRIV_H

#include "analyse/compare/compare.h"

/* In the order of reporting: possible causes of others first. */
enum rd_differs {
	RD_DIFFERS_GPU,
	RD_DIFFERS_NIC,
	RD_DIFFERS_STATE,
	RD_DIFFERS_LAYER,
	RD_DIFFERS_RATE,
	RD_DIFFERS_CHOICE, /* the NIC that NCCL selects: from here on possible consequences of the others */
	RD_DIFFERS_NAME,
	RD_DIFFERS_SUBNET,
	RD_DIFFERS_FIRMWARE,
	RD_DIFFERS_SETTING,
	RD_DIFFERS_MTU,
	RD_DIFFERS,
};

/* One difference of one host. Texts belong to the hosts, or are static. */
struct rd_difference {
	enum rd_differs what;
	size_t host;
	char label[96];		/* "mlx5_0/1", "GPU 0000:1b:00.0" */
	const char *is, *usual; /* NULL: missing */
	size_t with, of;	/* `with` of `of` have the usual value */
	bool by_board;		/* with and of count ports of cards of this kind, not hosts */
	enum rd_severity severity;
	size_t cause;	/* index of a finding; SIZE_MAX: none */
	size_t finding; /* index of the finding that reports it */
};

struct rd_compare {
	const struct rd_compared *hosts;
	size_t n;
	size_t *kinds;		 /* of each host; hosts of one kind have the same number */
	struct rd_difference *v; /* in the order of `what` */
	size_t n_v, cap_v;
	struct rd_comparison *ret;
};

/* Sets the kinds, and adds what is missing. */
void rd_compare_kinds(struct rd_compare *cmp);

/* Valid until the next call. */
struct rd_difference *rd_compare_add(struct rd_compare *cmp, enum rd_differs what, size_t host);
/* Adds a finding; takes its texts over. */
void rd_compare_report(struct rd_compare *cmp, const struct rd_finding *finding, size_t cause);
/* Makes findings from the differences from `from` on; equal ones become one finding. */
void rd_compare_fold(struct rd_compare *cmp, size_t from);

/* "n7, n12 and 41 more", of these hosts; caller frees. */
char *rd_compare_hosts(const struct rd_compare *cmp, const size_t *hosts, size_t n);

#endif
