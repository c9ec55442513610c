/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_CHECK_RUN_H
#define RD_CHECK_RUN_H

#include "check/shared/check.h"

/* The worst result of one rule over a model. */
enum rd_severity check_worst(const struct rd_check_input *in, const char *id);

/* All results of it. */
void check_run(const struct rd_check_input *in, const char *id, struct rd_findings *findings);

/* Port 1 of mlx5_N on PCI function 0000:N:00.0, N being those that there are; it has interface N, IFN. */
struct rd_port *check_add_port(struct rd_host *host, const char *interface, const char *link_layer);

#endif
