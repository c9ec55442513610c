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

/* Without the library, requests stay empty and are not sent: rd_netlink. */
#define CALL(type, name, parameters, arguments, missing) \
	type name parameters { return rd_libmnl.name ? rd_libmnl.name arguments : (missing); }
#define CALL_VOID(name, parameters, arguments) \
	void name parameters { if (rd_libmnl.name) rd_libmnl.name arguments; }
CALL(void *, mnl_attr_get_payload, (const struct nlattr *attr), (attr), NULL)
CALL(uint16_t, mnl_attr_get_payload_len, (const struct nlattr *attr), (attr), 0)
CALL(const char *, mnl_attr_get_str, (const struct nlattr *attr), (attr), NULL)
CALL(uint16_t, mnl_attr_get_type, (const struct nlattr *attr), (attr), 0)
CALL(uint16_t, mnl_attr_get_u16, (const struct nlattr *attr), (attr), 0)
CALL(uint32_t, mnl_attr_get_u32, (const struct nlattr *attr), (attr), 0)
CALL(uint64_t, mnl_attr_get_u64, (const struct nlattr *attr), (attr), 0)
CALL(uint8_t, mnl_attr_get_u8, (const struct nlattr *attr), (attr), 0)
CALL_VOID(mnl_attr_nest_end, (struct nlmsghdr *nlh, struct nlattr *start), (nlh, start))
CALL(struct nlattr *, mnl_attr_nest_start_check, (struct nlmsghdr *nlh, size_t buflen, uint16_t type), (nlh, buflen, type), NULL)
CALL(struct nlattr *, mnl_attr_next, (const struct nlattr *attr), (attr), NULL)
CALL(bool, mnl_attr_ok, (const struct nlattr *attr, int len), (attr, len), false)
CALL(int, mnl_attr_parse_payload, (const void *payload, size_t payload_len, mnl_attr_cb_t cb, void *data), (payload, payload_len, cb, data), -1)
CALL_VOID(mnl_attr_put, (struct nlmsghdr *nlh, uint16_t type, size_t len, const void *data), (nlh, type, len, data))
CALL(bool, mnl_attr_put_check, (struct nlmsghdr *nlh, size_t buflen, uint16_t type, size_t len, const void *data), (nlh, buflen, type, len, data), false)
CALL_VOID(mnl_attr_put_strz, (struct nlmsghdr *nlh, uint16_t type, const char *data), (nlh, type, data))
CALL(bool, mnl_attr_put_strz_check, (struct nlmsghdr *nlh, size_t buflen, uint16_t type, const char *data), (nlh, buflen, type, data), false)
CALL_VOID(mnl_attr_put_u32, (struct nlmsghdr *nlh, uint16_t type, uint32_t data), (nlh, type, data))
CALL(bool, mnl_attr_put_u32_check, (struct nlmsghdr *nlh, size_t buflen, uint16_t type, uint32_t data), (nlh, buflen, type, data), false)
CALL(int, mnl_attr_validate, (const struct nlattr *attr, enum mnl_attr_data_type type), (attr, type), -1)
CALL(void *, mnl_nlmsg_put_extra_header, (struct nlmsghdr *nlh, size_t size), (nlh, size), nlh + 1)
CALL(struct nlmsghdr *, mnl_nlmsg_put_header, (void *buf), (buf), buf)
CALL(int, mnl_socket_bind, (struct mnl_socket *nl, unsigned int groups, pid_t pid), (nl, groups, pid), -1)
CALL(int, mnl_socket_close, (struct mnl_socket *nl), (nl), -1)
CALL(int, mnl_socket_get_fd, (const struct mnl_socket *nl), (nl), -1)
CALL(struct mnl_socket *, mnl_socket_open2, (int bus, int flags), (bus, flags), (errno = ELIBACC, NULL))
CALL(ssize_t, mnl_socket_recvfrom, (const struct mnl_socket *nl, void *buf, size_t siz), (nl, buf, siz), -1)
CALL(ssize_t, mnl_socket_sendto, (const struct mnl_socket *nl, const void *req, size_t siz), (nl, req, siz), -1)
/* clang-format on */

#endif
