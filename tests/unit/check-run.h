/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_CHECK_RUN_H
#define RD_CHECK_RUN_H

#include "check/shared/check.h"

/* The worst result of one rule over a model. */
enum rd_severity check_worst(const struct rd_check_input *in, const char *id);

#endif
