/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rule: one file per cause, or per group of causes that are decided by the same facts. Private to lib/diagnose. */
#ifndef RD_DIAGNOSE_RULE_H
#define RD_DIAGNOSE_RULE_H

#include <errno.h>

#include "model/trace/event.h"
#include "model/trace/failure.h"

/*
 * A rule sets `ret` (rd_explain) and returns true if it finds a cause. If not, it adds what it looked at to `looked`, if that rules
 * something out that an operator would suspect. A cause is of high confidence only if the kernel's own condition, evaluated with
 * the values of the failed call, holds, and nothing known contradicts it.
 */
struct rd_cause_rule {
	int errnos[8];	/* positive, ended by 0; empty: any */
	unsigned needs; /* enum rd_fact */
	bool (*find)(const struct rd_failure *failure, struct rd_explanation *ret, struct rd_explanation *looked);
};

extern const struct rd_cause_rule rd_cause_memlock, rd_cause_mapping, rd_cause_memory, rd_cause_user_buffer,
	rd_cause_region, rd_cause_queue_limits, rd_cause_qp_transition, rd_cause_qp_values, rd_cause_gid, rd_cause_path,
	rd_cause_handle, rd_cause_in_use, rd_cause_descriptors, rd_cause_descriptors_invalid, rd_cause_rdma_cgroup,
	rd_cause_cm_state, rd_cause_cm_device, rd_cause_cm_address, rd_cause_cm_request, rd_cause_multicast,
	rd_cause_support, rd_cause_removed, rd_cause_malformed, rd_cause_core_checks, rd_cause_create,
	rd_cause_exhausted, rd_cause_firmware, rd_cause_ports, rd_cause_out_of_memory;

/* --- words.c: names for texts. Static, or written to `ret` and returned --- */

/* The call: "ibv_reg_mr", or object and method. */
const char *rd_word_call(const struct rd_event *event);
/* "0x7f3a12000000" */
#define RD_WORD_ADDRESS 24
const char *rd_word_pointer(uint64_t address, char *ret);
/* A GID or IP address: IPv4-mapped GIDs as IPv4 address. */
#define RD_WORD_IP 48
const char *rd_word_gid(const uint8_t *gid, char *ret);
const char *rd_word_socket(const struct rd_req_address *address, char *ret);
/* "port 1 of mlx5_0", "mlx5_0/1" */
#define RD_WORD_PORT 96
const char *rd_word_port(const struct rd_failure *failure, char *ret);
/* "completion queue" of UVERBS_OBJECT_CQ */
const char *rd_word_object(unsigned type);
/* The type of object that a handle field must name; 0: any. */
unsigned rd_word_type_of(enum rd_req_field field);
/* Names of attributes in a mask of modify_qp: "IBV_QP_TIMEOUT, IBV_QP_RETRY_CNT". */
#define RD_WORD_MASK 512
const char *rd_word_mask(uint32_t mask, char *ret);
/* Whether it stands for nothing else in a shell. Names of control groups are the users'. */
bool rd_word_is_plain(const char *name);
bool rd_is_v4_gid(const uint8_t *gid);
bool rd_is_zero(const uint8_t *bytes, size_t n);

/* The handle with that index in the request, if the kernel looked it up. */
const struct rd_moment_handle *rd_handle_of(const struct rd_failure *failure, enum rd_req_field field);

/* Whether the call has the verb key of RD_VERB_* `kind` and `low`, or is the same command by write(2) or INVOKE_WRITE. */
bool rd_is_verb(const struct rd_event *event, const char *verb);

/* --- cm.c --- */

/* enum rdma_cm_state of the kernel */
enum {
	CM_IDLE,
	CM_ADDR_QUERY,
	CM_ADDR_RESOLVED,
	CM_ROUTE_QUERY,
	CM_ROUTE_RESOLVED,
	CM_CONNECT,
	CM_DISCONNECT,
	CM_ADDR_BOUND,
	CM_LISTEN,
	CM_DEVICE_REMOVAL,
	CM_DESTROYING,
};

/* Whether the call is one of librdmacm. */
bool rd_is_cm(const struct rd_event *event);

/* Adds which rdma_cm_id it is. */
void rd_cm_add_id(const struct rd_failure *failure, struct rd_explanation *ret);

/* fe80::/10: says nothing without its interface, sin6_scope_id. */
bool rd_is_link_local(const struct rd_req_address *address);

#endif
