/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the numbers of an uverbs or rdma_ucm call to the names people know. */
#ifndef RD_ANALYSE_VERB_H
#define RD_ANALYSE_VERB_H

#include "model/trace/event.h"
#include "model/trace/fnset.h"

/*
 * Empty text: not known.
 *
 * An ioctl keeps the kernel's names ("QP", "QP_CREATE"). A legacy write command is shown as the object it is about, not
 * as the DEVICE it is sent to, with the door it came through before its name: object "MR", method "INVOKE_WRITE:REG_MR"
 * (ioctl) or "WRITE:REG_MR" (write(2)). The rdma_ucm commands are object "RDMA_CM". Numbers without a name in the
 * headers of this build, such as the objects that drivers define for themselves, are shown as "0x1003", and then no
 * verb is claimed.
 */
struct rd_verb {
	char object[24];
	char method[48];
	char verb[40]; /* what the program called: "ibv_reg_mr", "rdma_bind_addr" */
};

/* `key` is an RD_VERB_* of bpf/record.h. `set` names the write handlers; may be NULL. */
void rd_verb_name(uint64_t key, const struct rd_fnset *set, struct rd_verb *ret);

/* Fills object, method and verb of an event from its verb_key. */
void rd_verb_resolve(struct rd_event *event, const struct rd_fnset *set);

#endif
