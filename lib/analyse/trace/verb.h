/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of uverbs and rdma_ucm calls. */
#ifndef RD_ANALYSE_VERB_H
#define RD_ANALYSE_VERB_H

#include "model/trace/event.h"
#include "model/trace/fnset.h"

/*
 * Empty string: unknown.
 *
 * An ioctl has the names of the kernel ("QP", "QP_CREATE"). A legacy write command is shown with the object it operates on, not
 * the DEVICE it is sent to, and its interface as prefix: object "MR", method "INVOKE_WRITE:REG_MR" (ioctl) or "WRITE:REG_MR"
 * (write(2)). The rdma_ucm commands have the object "RDMA_CM". Unknown numbers, such as driver-specific objects, are shown as
 * "0x1003", without a verb.
 */
struct rd_verb {
	char object[24];
	char method[48];
	char verb[40]; /* the library call: "ibv_reg_mr", "rdma_bind_addr" */
};

/* `key` is an RD_VERB_* of bpf/record.h. `set` names the write handlers; may be NULL. */
void rd_verb_name(uint64_t key, const struct rd_fnset *set, struct rd_verb *ret);

/* Fills object, method and verb of an event from its verb_key. */
void rd_verb_resolve(struct rd_event *event, const struct rd_fnset *set);

#endif
