/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpftrace as an operator would use it for the same question: kretprobes that count errnos, on the same functions. */
#ifndef PEER_H
#define PEER_H

#include "model/trace/fnset.h"

struct peer;

/* Whether bpftrace takes a function of this name: not with a suffix added by the compiler. */
bool peer_takes(const struct rd_fn *fn);

/* Starts it on the selected functions of the set, and waits until they are hooked. NULL: it is not installed, or cannot. */
struct peer *peer_start(const struct rd_fnset *set);
/* Ends it, and waits. */
void peer_stop(struct peer *peer);

#endif
