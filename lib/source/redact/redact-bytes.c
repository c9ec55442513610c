/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses in netlink messages and other bytes. Nothing changes its length. */
#include "base/memory.h"
#include "source/redact/redact.h"
#include "source/shared/mlx5-dump.h"
#include "source/shared/netlink.h"

#include <ctype.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/socket.h>

static void reverse(const uint8_t *in, uint8_t *out, size_t size)
{
	for (size_t i = 0; i < size; i++)
		out[size - 1 - i] = in[i];
}

/* Replaces a known original at this position, in memory order or reversed (little endian). Returns its length; 0: not known. */
static size_t try_bytes(const struct rd_redact *redact, uint8_t *at, size_t left)
{
	static const struct {
		enum rd_secret kind;
		size_t size;
	} kinds[] = { { RD_SECRET_IP6, 16 }, { RD_SECRET_UUID, 16 }, { RD_SECRET_GUID, 8 }, { RD_SECRET_MAC, 6 } };

	/* Four bytes or fewer are ambiguous, so only these kinds are replaced. */
	for (size_t i = 0; i < RD_ARRAY_SIZE(kinds); i++) {
		size_t n = kinds[i].size;
		uint8_t in[16], out[16];

		if (left < n)
			continue;
		if (rd_redact_known(redact, kinds[i].kind, at, n, at))
			return n;
		reverse(at, in, n);
		if (rd_redact_known(redact, kinds[i].kind, in, n, out)) {
			reverse(out, at, n);
			return n;
		}
	}
	return 0;
}

void rd_redact_bytes(const struct rd_redact *redact, uint8_t *data, size_t size)
{
	for (size_t i = 0; i + 1 < size;) {
		size_t n = rd_redact_may_begin(redact, data + i) ? try_bytes(redact, data + i, size - i) : 0;

		i += n ? n : 1;
	}
}

struct messages {
	struct rd_redact *redact;
	const char *protocol;
	uint16_t type;
};

static bool is_protocol(const struct messages *in, const char *name)
{
	return strcmp(in->protocol, name) == 0;
}

static void redact_address(struct rd_redact *redact, uint8_t *data, size_t size)
{
	if (size == 4)
		rd_redact_ip4(redact, data);
	else if (size == 16)
		rd_redact_ip6(redact, data);
	else
		rd_redact_hardware(redact, data, size);
}

static void redact_sockaddr(struct rd_redact *redact, uint8_t *data, size_t size)
{
	uint16_t family;

	if (size < 8)
		return;
	memcpy(&family, data, sizeof(family));
	if (family == AF_INET)
		rd_redact_ip4(redact, data + 4);
	else if (family == AF_INET6 && size >= 24)
		rd_redact_ip6(redact, data + 8);
	else if (size >= 24) /* AF_IB: its address is at the same offset */
		rd_redact_ip6(redact, data + 8);
}

static void redact_guid_number(struct rd_redact *redact, uint8_t *data, size_t size)
{
	uint8_t guid[8];

	if (size != 8)
		return;
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		reverse(data, guid, 8);
	else
		memcpy(guid, data, 8);
	rd_redact_guid(redact, guid);
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		reverse(guid, data, 8);
	else
		memcpy(data, guid, 8);
}

/* Attributes with addresses, at the top level of an rtnetlink message. */
static bool redact_route(const struct messages *in, uint16_t type, uint8_t *data, size_t size)
{
	bool address = false;

	if (in->type >= RTM_NEWLINK && in->type <= RTM_SETLINK)
		address = type == IFLA_ADDRESS || type == IFLA_BROADCAST || type == IFLA_PERM_ADDRESS;
	else if (in->type >= RTM_NEWADDR && in->type <= RTM_GETADDR)
		address = type == IFA_ADDRESS || type == IFA_LOCAL || type == IFA_BROADCAST || type == IFA_ANYCAST;
	else if (in->type >= RTM_NEWROUTE && in->type <= RTM_GETROUTE)
		address = type == RTA_DST || type == RTA_SRC || type == RTA_GATEWAY || type == RTA_PREFSRC;
	else if (in->type >= RTM_NEWNEIGH && in->type <= RTM_GETNEIGH)
		address = type == NDA_DST || type == NDA_LLADDR;
	if (in->type >= RTM_NEWROUTE && in->type <= RTM_GETROUTE && type == RTA_VIA && size > 2) {
		redact_address(in->redact, data + 2, size - 2);
		return true;
	}
	if (address)
		redact_address(in->redact, data, size);
	return address;
}

/* The alias of an interface, truncated or padded with NULs. */
static bool redact_alias(const struct messages *in, uint16_t type, uint8_t *data, size_t size)
{
	_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;

	if (!is_protocol(in, "route") || in->type < RTM_NEWLINK || in->type > RTM_SETLINK || type != IFLA_IFALIAS)
		return false;
	rd_redact_whole(in->redact, "name-", (char *)data, strnlen((char *)data, size), &out);
	memset(data, 0, size);
	memcpy(data, out.data ? out.data : "", out.len < size ? out.len : size);
	return true;
}

/* The remote end's addresses in the dump of a queue pair. Of a dump with another layout, nothing is kept. */
static void redact_dump(struct rd_redact *redact, uint8_t *data, size_t size)
{
	uint32_t qpn;
	size_t at = rd_mlx5_find_qpc(data, size, &qpn);

	if (!at) {
		memset(data, 0, size);
		return;
	}
	rd_redact_ip6(redact, data + at + RD_MLX5_GID_AT);
	rd_redact_ip6(redact, data + at + RD_MLX5_SECOND_GID_AT);
	rd_redact_hardware(redact, data + at + RD_MLX5_MAC_AT, 6);
	rd_redact_hardware(redact, data + at + RD_MLX5_SECOND_MAC_AT, 6);
}

static bool redact_rdma(const struct messages *in, uint16_t type, uint8_t *data, size_t size)
{
	switch (type) {
	case RDMA_NLDEV_ATTR_NODE_GUID:
	case RDMA_NLDEV_ATTR_SYS_IMAGE_GUID:
	case RDMA_NLDEV_ATTR_SUBNET_PREFIX:
		redact_guid_number(in->redact, data, size);
		return true;
	case RDMA_NLDEV_ATTR_RES_SRC_ADDR:
	case RDMA_NLDEV_ATTR_RES_DST_ADDR:
		redact_sockaddr(in->redact, data, size);
		return true;
	case RDMA_NLDEV_ATTR_RES_RAW:
		redact_dump(in->redact, data, size);
		return true;
	}
	return false;
}

/* Serial numbers in devlink replies. Family numbers are assigned at boot, but no other recorded family has
 * attributes with these numbers at the top level. */
static void learn_serial(const struct messages *in, uint16_t type, const uint8_t *data, size_t size)
{
	_cleanup_free_ char *serial = NULL;

	if (!is_protocol(in, "generic") ||
	    (type != DEVLINK_ATTR_INFO_SERIAL_NUMBER && type != DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER))
		return;
	serial = rd_dup_part((const char *)data, size);
	rd_redact_add_serial(in->redact, serial);
}

/* The operand of an nftables rule is a separate attribute with a single value. With the length of an address, it is treated as
 * one. */
static bool redact_value(const struct messages *in, uint8_t *data, size_t size)
{
	struct nlattr attr;

	if (!is_protocol(in, "12") || (size != NLA_HDRLEN + 4 && size != NLA_HDRLEN + 16))
		return false;
	memcpy(&attr, data, sizeof(attr));
	if (attr.nla_len != size || (attr.nla_type & NLA_TYPE_MASK) != 1)
		return false;
	redact_address(in->redact, data + NLA_HDRLEN, size - NLA_HDRLEN);
	return true;
}

/* In place, truncated or padded with NULs. */
static bool redact_string(const struct messages *in, uint8_t *data, size_t size)
{
	_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;
	size_t n = strnlen((char *)data, size);

	if (!n || n == size)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isprint(data[i]))
			return false;
	rd_redact_text(in->redact, (char *)data, n, RD_REDACT_VERSIONS, &out);
	if (!out.data)
		return true;
	memset(data, 0, n);
	memcpy(data, out.data, out.len < size - 1 ? out.len : size - 1);
	return true;
}

/* Redacts attributes by type; unknown ones are parsed recursively as nested attributes if possible. Returns false if the bytes are
 * not attributes. */
static bool redact_attributes(const struct messages *in, uint8_t *data, size_t size, bool top, size_t depth)
{
	struct nlattr attr;

	for (size_t at = 0; at < size; at += NLA_ALIGN(attr.nla_len)) {
		if (size - at < sizeof(attr))
			return false;
		memcpy(&attr, data + at, sizeof(attr));
		if (attr.nla_len < sizeof(attr) || attr.nla_len > size - at || (attr.nla_type & NLA_TYPE_MASK) > 1024)
			return false;
	}
	for (size_t at = 0; at < size; at += NLA_ALIGN(attr.nla_len)) {
		uint8_t *payload = data + at + NLA_HDRLEN;
		uint16_t type;
		size_t n;

		memcpy(&attr, data + at, sizeof(attr));
		type = attr.nla_type & NLA_TYPE_MASK;
		n = attr.nla_len - NLA_HDRLEN;
		if (top)
			learn_serial(in, type, payload, n);
		if (top && (redact_alias(in, type, payload, n) ||
			    (is_protocol(in, "route") && redact_route(in, type, payload, n))))
			continue;
		if (is_protocol(in, "rdma") && redact_rdma(in, type, payload, n))
			continue;
		if (redact_value(in, payload, n) || redact_string(in, payload, n) || depth > 8)
			continue;
		redact_attributes(in, payload, n, false, depth + 1);
	}
	return true;
}

/* The family's own header before the attributes. */
static size_t header_size(const struct messages *in)
{
	if (is_protocol(in, "generic"))
		return GENL_HDRLEN;
	if (is_protocol(in, "12"))
		return NLMSG_ALIGN(sizeof(struct nfgenmsg));
	if (!is_protocol(in, "route"))
		return 0;
	if (in->type >= RTM_NEWLINK && in->type <= RTM_SETLINK)
		return NLMSG_ALIGN(sizeof(struct ifinfomsg));
	if (in->type >= RTM_NEWADDR && in->type <= RTM_GETADDR)
		return NLMSG_ALIGN(sizeof(struct ifaddrmsg));
	return NLMSG_ALIGN(sizeof(struct rtmsg)); /* as large as that of neighbours and rules */
}

void rd_redact_messages(struct rd_redact *redact, const char *protocol, uint8_t *data, size_t size)
{
	struct messages in = { .redact = redact, .protocol = protocol };

	while (size > 0) {
		size_t length = rd_nlmsg_length(data, size), skip;
		struct nlmsghdr head;

		if (!length)
			return;
		memcpy(&head, data, sizeof(head));
		in.type = head.nlmsg_type;
		skip = NLMSG_HDRLEN + header_size(&in);
		if (head.nlmsg_len > skip)
			redact_attributes(&in, data + skip, head.nlmsg_len - skip, true, 0);
		/* Addresses in attributes that are not listed here. */
		if (length > skip)
			rd_redact_bytes(redact, data + skip, length - skip);
		data += length;
		size -= length;
	}
}
