/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wrappers with the names of libmnl's functions that call the loaded library. */
#include "source/shared/libmnl.h"

#ifdef RD_STATIC

#include <libmnl/libmnl.h>

/* clang-format off */
#define RD_LIBMNL_CALLS(x) \
	x(mnl_attr_get_payload) x(mnl_attr_get_payload_len) x(mnl_attr_get_str) x(mnl_attr_get_type) \
	x(mnl_attr_get_u16) x(mnl_attr_get_u32) x(mnl_attr_get_u64) x(mnl_attr_get_u8) x(mnl_attr_nest_end) \
	x(mnl_attr_nest_start_check) x(mnl_attr_next) x(mnl_attr_ok) x(mnl_attr_parse_payload) \
	x(mnl_attr_put) x(mnl_attr_put_check) x(mnl_attr_put_strz) x(mnl_attr_put_strz_check) x(mnl_attr_put_u32) \
	x(mnl_attr_put_u32_check) x(mnl_attr_validate) x(mnl_nlmsg_put_extra_header) x(mnl_nlmsg_put_header) \
	x(mnl_socket_bind) x(mnl_socket_close) x(mnl_socket_get_fd) x(mnl_socket_open2) x(mnl_socket_recvfrom) \
	x(mnl_socket_sendto)

RD_LATE_DECLARE(rd_libmnl, RD_LIBMNL_CALLS);
RD_LATE_DEFINE(rd_libmnl, RD_LIBMNL_CALLS, RD_LIBMNL)

#define CALL(type, name, parameters, arguments) type name parameters { return rd_libmnl.name arguments; }
CALL(void *, mnl_attr_get_payload, (const struct nlattr *attr), (attr))
CALL(uint16_t, mnl_attr_get_payload_len, (const struct nlattr *attr), (attr))
CALL(const char *, mnl_attr_get_str, (const struct nlattr *attr), (attr))
CALL(uint16_t, mnl_attr_get_type, (const struct nlattr *attr), (attr))
CALL(uint16_t, mnl_attr_get_u16, (const struct nlattr *attr), (attr))
CALL(uint32_t, mnl_attr_get_u32, (const struct nlattr *attr), (attr))
CALL(uint64_t, mnl_attr_get_u64, (const struct nlattr *attr), (attr))
CALL(uint8_t, mnl_attr_get_u8, (const struct nlattr *attr), (attr))
CALL(void, mnl_attr_nest_end, (struct nlmsghdr *nlh, struct nlattr *start), (nlh, start))
CALL(struct nlattr *, mnl_attr_nest_start_check, (struct nlmsghdr *nlh, size_t buflen, uint16_t type), (nlh, buflen, type))
CALL(struct nlattr *, mnl_attr_next, (const struct nlattr *attr), (attr))
CALL(bool, mnl_attr_ok, (const struct nlattr *attr, int len), (attr, len))
CALL(int, mnl_attr_parse_payload, (const void *payload, size_t payload_len, mnl_attr_cb_t cb, void *data), (payload, payload_len, cb, data))
CALL(void, mnl_attr_put, (struct nlmsghdr *nlh, uint16_t type, size_t len, const void *data), (nlh, type, len, data))
CALL(bool, mnl_attr_put_check, (struct nlmsghdr *nlh, size_t buflen, uint16_t type, size_t len, const void *data), (nlh, buflen, type, len, data))
CALL(void, mnl_attr_put_strz, (struct nlmsghdr *nlh, uint16_t type, const char *data), (nlh, type, data))
CALL(bool, mnl_attr_put_strz_check, (struct nlmsghdr *nlh, size_t buflen, uint16_t type, const char *data), (nlh, buflen, type, data))
CALL(void, mnl_attr_put_u32, (struct nlmsghdr *nlh, uint16_t type, uint32_t data), (nlh, type, data))
CALL(bool, mnl_attr_put_u32_check, (struct nlmsghdr *nlh, size_t buflen, uint16_t type, uint32_t data), (nlh, buflen, type, data))
CALL(int, mnl_attr_validate, (const struct nlattr *attr, enum mnl_attr_data_type type), (attr, type))
CALL(void *, mnl_nlmsg_put_extra_header, (struct nlmsghdr *nlh, size_t size), (nlh, size))
CALL(struct nlmsghdr *, mnl_nlmsg_put_header, (void *buf), (buf))
CALL(int, mnl_socket_bind, (struct mnl_socket *nl, unsigned int groups, pid_t pid), (nl, groups, pid))
CALL(int, mnl_socket_close, (struct mnl_socket *nl), (nl))
CALL(int, mnl_socket_get_fd, (const struct mnl_socket *nl), (nl))
CALL(struct mnl_socket *, mnl_socket_open2, (int bus, int flags), (bus, flags))
CALL(ssize_t, mnl_socket_recvfrom, (const struct mnl_socket *nl, void *buf, size_t siz), (nl, buf, siz))
CALL(ssize_t, mnl_socket_sendto, (const struct mnl_socket *nl, const void *req, size_t siz), (nl, req, siz))
/* clang-format on */

#endif
