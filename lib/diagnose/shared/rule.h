/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules: one function per cause, or per group of causes that are decided by the same facts. Private to lib/diagnose. */
#ifndef RD_DIAGNOSE_RULE_H
#define RD_DIAGNOSE_RULE_H

#include "model/trace/failure.h"

/*
 * A rule sets `ret` (rd_explain) and returns true if it finds a cause. If not, it adds what it looked at to `looked`, if that rules
 * something out that an operator would suspect. A cause is of high confidence only if the kernel's own condition, evaluated with
 * the values of the failed call, holds, and nothing known contradicts it. Errnos and facts that it needs: explain.c.
 */
typedef bool rd_cause_find(const struct rd_failure *failure, struct rd_explanation *ret, struct rd_explanation *looked);

rd_cause_find rd_find_handle, rd_find_descriptors_invalid, rd_find_create, rd_find_descriptors, rd_find_in_use,
	rd_find_memlock, rd_find_region, rd_find_mapping, rd_find_memory, rd_find_user_buffer, rd_find_ports,
	rd_find_qp_transition, rd_find_gid, rd_find_qp_values, rd_find_queue_limits, rd_find_multicast,
	rd_find_cm_state, rd_find_cm_request, rd_find_cm_device, rd_find_cm_address, rd_find_path, rd_find_rdma_cgroup,
	rd_find_removed, rd_find_core_checks, rd_find_support, rd_find_malformed, rd_find_exhausted, rd_find_firmware,
	rd_find_out_of_memory;

/* --- words.c: names for texts. Static, or written to `ret` and returned; the macros have a place for it that lasts as long as the block --- */

/* The call: "ibv_reg_mr", or object and method. */
const char *rd_word_call(const struct rd_event *event);
/* "0x7f3a12000000" */
#define RD_WORD_ADDRESS 24
#define RD_WORD_POINTER(address) rd_word_pointer(address, (char[RD_WORD_ADDRESS]){ 0 })
const char *rd_word_pointer(uint64_t address, char *ret);
/* A GID or IP address: IPv4-mapped GIDs as IPv4 address. */
#define RD_WORD_IP 48
#define RD_WORD_GID(gid) rd_word_gid(gid, (char[RD_WORD_IP]){ 0 })
#define RD_WORD_SOCKET(address) rd_word_socket(address, (char[RD_WORD_IP]){ 0 })
const char *rd_word_gid(const uint8_t *gid, char *ret);
const char *rd_word_socket(const struct rd_req_address *address, char *ret);
/* "port 1 of mlx5_0", "mlx5_0/1" */
#define RD_PORT_TEXT 96
#define RD_WORD_PORT(failure) rd_word_port(failure, (char[RD_PORT_TEXT]){ 0 })
const char *rd_word_port(const struct rd_failure *failure, char *ret);
/* "completion queue" of UVERBS_OBJECT_CQ */
const char *rd_word_object(unsigned type);
/* The type of object that a handle field must name; 0: any. */
unsigned rd_word_type_of(enum rd_req_field field);
/* Names of attributes in a mask of modify_qp: "IBV_QP_TIMEOUT, IBV_QP_RETRY_CNT". */
#define RD_MASK_TEXT 512
#define RD_WORD_MASK(mask) rd_word_mask(mask, (char[RD_MASK_TEXT]){ 0 })
const char *rd_word_mask(uint32_t mask, char *ret);
/* Whether it stands for nothing else in a shell. Names of control groups are the users'. */
bool rd_word_is_plain(const char *name);
/* ff00::/8, or an IPv4 group: rdma_is_multicast_addr(). */
bool rd_is_multicast_gid(const uint8_t *gid);
bool rd_is_zero(const uint8_t *bytes, size_t n);

/* The handle with that index in the request, if the kernel looked it up. */
const struct rd_moment_handle *rd_handle_of(const struct rd_failure *failure, enum rd_req_field field);

/* Whether the call is this verb, a shell pattern with @(one|another), by whatever way it reached the kernel. */
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
	CM_ADDRINFO_QUERY, /* since Linux 6.17 */
	CM_ADDRINFO_RESOLVED,
};

/* Whether the call is one of librdmacm. */
bool rd_is_cm(const struct rd_event *event);

/* Adds which rdma_cm_id it is. */
void rd_cm_add_id(const struct rd_failure *failure, struct rd_explanation *ret);

/* Explains an IPv4 address in the form of an IPv6 one, which rdma_cm takes for IPv6; false: it is not such an address. */
bool rd_find_mapped(const struct rd_req_address *address, struct rd_explanation *ret);

/* fe80::/10: says nothing without its interface, sin6_scope_id. */
bool rd_is_link_local(const struct rd_req_address *address);

#endif
