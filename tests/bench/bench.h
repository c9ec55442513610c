/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two programs of the benchmark share. Run as root in a throw-away machine; on trouble they say so and exit. */
#ifndef BENCH_H
#define BENCH_H

#include "trace/attach/session.h"

_Noreturn void bench_fail(const char *what, int code);
_Noreturn void bench_fail_err(const struct rd_err *err);

double bench_now(void); /* seconds of CLOCK_MONOTONIC */

/* The functions of the loaded modules, by the product's own rules. */
void bench_select(struct rd_fnset *set);

/* How many BPF programs and links the kernel has. */
size_t bench_bpf_objects(void);

/* Waits until there are no more of them than `before`. Returns the seconds that it took. */
double bench_wait_gone(size_t before);

#endif
