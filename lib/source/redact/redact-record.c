/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Redaction of a recording, in two passes: the first collects identifying data. Files, paths, and netlink messages and other bytes, which
 * keep their length. */
#include "bpf/qp.h"
#include "source/record/record.h"
#include "source/redact/redact.h"
#include "source/shared/netlink.h"

#include <ctype.h>
#include <endian.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <strings.h>
#include <sys/socket.h>

#define PCI_CONFIG_SIZE 4096
#define PCI_EXT_CAPS 0x100
#define PCI_EXT_CAP_DSN 3

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

static void redact_bytes(const struct rd_redact *redact, uint8_t *data, size_t size)
{
	for (size_t i = 0; i + 1 < size;) {
		size_t n = redact->begins[data[i] << 5 | data[i + 1] >> 3] >> data[i + 1] % 8 & 1 ?
				   try_bytes(redact, data + i, size - i) :
				   0;

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
	else if (size >= 24) /* AF_INET6; AF_IB: its address is at the same offset */
		rd_redact_ip6(redact, data + 8);
}

static void redact_guid_number(struct rd_redact *redact, uint8_t *data, size_t size)
{
	uint64_t guid;

	if (size != sizeof(guid))
		return;
	memcpy(&guid, data, sizeof(guid));
	guid = htobe64(guid);
	rd_redact_guid(redact, (uint8_t *)&guid);
	guid = be64toh(guid);
	memcpy(data, &guid, sizeof(guid));
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
	_cleanup_buf_ struct rd_buf out = { 0 };

	if (!is_protocol(in, "route") || in->type < RTM_NEWLINK || in->type > RTM_SETLINK || type != IFLA_IFALIAS)
		return false;
	rd_redact_whole(in->redact, "name-", (char *)data, strnlen((char *)data, size), &out);
	memset(data, 0, size);
	memcpy(data, out.data, out.len < size ? out.len : size);
	return true;
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
		/* A device's own dump, which bundles of older versions have: nothing of it is kept. */
		memset(data, 0, size);
		return true;
	}
	return false;
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
	_cleanup_buf_ struct rd_buf out = { 0 };
	size_t n = strnlen((char *)data, size);

	if (!n || n == size)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isprint(data[i]))
			return false;
	rd_redact_text(in->redact, (char *)data, n, RD_REDACT_VERSIONS, &out);
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
		/* Serial numbers in devlink replies. Family numbers are assigned at boot, but no other recorded family has attributes with
		 * these numbers at the top level. */
		if (top && is_protocol(in, "generic") &&
		    (type == DEVLINK_ATTR_INFO_SERIAL_NUMBER || type == DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER)) {
			_cleanup_free_ char *serial = rd_dup_part((const char *)payload, n);

			rd_redact_add_serial(in->redact, serial);
		}
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
			redact_bytes(redact, data + skip, length - skip);
		data += length;
		size -= length;
	}
}

void rd_redact_qps(struct rd_redact *redact, const uint8_t *data, size_t size, bool query, struct rd_buf *out)
{
	const size_t key = sizeof(struct rd_qp_key);
	const size_t one = key + (query ? sizeof(struct rd_query_value) : sizeof(struct rd_qp_value));

	for (size_t at = 0; size - at >= sizeof(struct rd_source_map);) {
		struct rd_source_map map;
		size_t left;

		memcpy(&map, data + at, sizeof(map));
		at += sizeof(map);
		left = (size - at) / one;
		/* Of another layout: it is unknown what identifies hosts. */
		if (map.key_size != key || map.value_size != one - key || map.entries > left)
			return;
		rd_buf_add(out, &map, sizeof(map));
		for (uint32_t i = 0; i < map.entries; i++, at += one) {
			uint8_t entry[sizeof(struct rd_qp_key) + sizeof(struct rd_query_value)];

			memcpy(entry, data + at, one);
			rd_redact_ip6(redact, entry + key + offsetof(struct rd_qp_value, dgid));
			if (query)
				rd_redact_ip6(redact, entry + key + offsetof(struct rd_query_value, alt_dgid));
			rd_buf_add(out, entry, one);
		}
	}
}

/* Files whose line is a serial number, or the name of a host; those in which four numbers with dots are a version. */
static const char serials[] = "serial serial_number product_serial board_serial chassis_serial product_uuid unique_id "
			      "chassis_asset_tag machine-id board_asset_tag vpd_serial_number";
static const char host_names[] = "hostname domainname";
static const char versions[] =
	"fw_ver version srcversion osrelease firmware_version hw_rev bios_version modules board_id";

static bool is_text(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] < 0x20 && !isspace(data[i]))
			return false;
	return true;
}

/* "Serial Number: 0123456789" and the like, in text of several lines. */
static void learn_serials(struct rd_redact *redact, const char *text)
{
	const char *line;
	size_t n;

	while (rd_next_line(&text, &line, &n)) {
		_cleanup_free_ char *value = NULL;
		const char *colon;

		if (strncasecmp(line, "serial", 6) != 0)
			continue;
		colon = line + strcspn(line, ":=\n");
		if (*colon != ':' && *colon != '=')
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		value = rd_dup_part(colon, strcspn(colon, " \t\n"));
		rd_redact_add_serial(redact, value);
	}
}

/* /proc/net/route has addresses as numbers of eight digits, in host byte order, in its second and third column. */
static void redact_route_table(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	size_t column = 0;

	for (size_t i = 0; i < size;) {
		size_t n = strcspn(text + i, "\t\n");
		const char *at = text + i;
		uint64_t value;

		if ((column == 1 || column == 2) && n == 8 && rd_take_hex(&at, 8, &value) == 0) {
			uint32_t address = (uint32_t)value;

			rd_redact_ip4(redact, (uint8_t *)&address);
			rd_buf_printf(out, "%08X", address);
		} else {
			rd_buf_add(out, text + i, n);
		}
		i += n;
		column = i < size && text[i] == '\t' ? column + 1 : 0;
		if (i < size)
			rd_buf_add(out, text + i++, 1);
	}
}

/* /proc/net/if_inet6 begins its lines with an address of 32 digits. */
static void learn_if_inet6(struct rd_redact *redact, const char *text)
{
	const char *at;
	size_t n, i;

	while (rd_next_line(&text, &at, &n)) {
		uint64_t value;
		uint8_t ip[16];

		for (i = 0; i < 16 && rd_take_hex(&at, 2, &value) == 0; i++)
			ip[i] = (uint8_t)value;
		if (i == 16)
			rd_redact_ip6(redact, ip);
	}
}

/* Numbers of 16 digits in an NCCL topology ("guid", "host_hash") have no distinguishing format. */
static void learn_xml(struct rd_redact *redact, const char *text)
{
	for (const char *at = text; (at = strstr(at, "\"0x"));) {
		uint64_t value;

		at += 3;
		if (rd_take_hex(&at, 16, &value) < 0 || rd_digit_value(*at) < 16)
			continue;
		value = htobe64(value);
		rd_redact_guid(redact, (uint8_t *)&value);
	}
}

/* The device serial number of a PCI function is usually derived from its MAC. */
static void redact_config(struct rd_redact *redact, uint8_t *data, size_t size)
{
	size_t at = PCI_EXT_CAPS;

	for (int caps = 0; caps < 64 && at >= PCI_EXT_CAPS && at + 12 <= size && size <= PCI_CONFIG_SIZE; caps++) {
		uint32_t head = data[at] | data[at + 1] << 8 | (uint32_t)data[at + 2] << 16 |
				(uint32_t)data[at + 3] << 24;

		if ((head & 0xffff) == PCI_EXT_CAP_DSN) {
			uint8_t guid[8];

			/* Two numbers, the lower half first. */
			reverse(data + at + 4, guid, 8);
			rd_redact_guid(redact, guid);
			reverse(guid, data + at + 4, 8);
		}
		at = head >> 20;
	}
}

/* Variables, each terminated by `end`. */
static void redact_variables(struct rd_redact *redact, const char *text, size_t size, char end, struct rd_buf *out)
{
	for (size_t at = 0; at < size;) {
		const char *stop = memchr(text + at, end, size - at);
		size_t n = stop ? (size_t)(stop - text) - at : size - at;

		rd_redact_variable(redact, text + at, n, out);
		at += n;
		if (at < size)
			rd_buf_add(out, text + at++, 1);
	}
}

/* Of a process: variables, and libraries, whose directories may have the names of users. */
static void redact_job(struct rd_redact *redact, const char *text, struct rd_buf *out)
{
	const char *line;
	size_t n;

	while (rd_next_line(&text, &line, &n)) {
		const char *slash = memrchr(line, '/', n), *value = memchr(line, '=', n);
		size_t whole = (size_t)(text - line);

		/* Launchers of MPI put names of hosts and addresses of services into these. */
		if (value && memmem(line, (size_t)(value - line), "MPI_", 4) &&
		    value + strcspn(value, "-.:@/") < line + n) {
			rd_buf_add(out, line, (size_t)(value + 1 - line));
			rd_redact_whole(redact, "name-", value + 1, (size_t)(line + n - value - 1), out);
			rd_buf_add(out, line + n, whole - n);
		} else if (strncmp(line, "env ", 4) == 0) {
			rd_buf_str(out, "env ");
			rd_redact_variable(redact, line + 4, n - 4, out);
			rd_buf_add(out, line + n, whole - n);
		} else if (strncmp(line, "dev ", 4) == 0 && value) {
			rd_buf_add(out, line, (size_t)(value - line)); /* users and groups of an access list */
			rd_buf_str(out, "\n");
		} else if (strncmp(line, "lib ", 4) == 0 && slash) {
			rd_buf_str(out, "lib ");
			rd_buf_add(out, slash, whole - (size_t)(slash - line));
		} else {
			rd_redact_text(redact, line, whole, 0, out);
		}
	}
}

/* Product names are kept even if a host has the same name: rules of NCCL use them. */
static void redact_gpu(struct rd_redact *redact, const char *text, struct rd_buf *out)
{
	static const char model[] = "Model:";
	const char *line;
	size_t n;

	learn_serials(redact, text);
	while (rd_next_line(&text, &line, &n))
		if (rd_starts_with(line, model))
			rd_buf_add(out, line, (size_t)(text - line));
		else
			rd_redact_text(redact, line, (size_t)(text - line), 0, out);
}

/* Up to the start time, before the addresses (proc_pid_stat(5)). Without the name of the process, which is in parentheses and may contain
 * any character. */
static void redact_process_stat(const char *text, struct rd_buf *out)
{
	const char *from = strrchr(text, ')'), *addresses = rd_stat_field(text, 23);

	if (from)
		rd_buf_add(out, from, addresses ? (size_t)(addresses - 1 - from) : strlen(from));
}

/* Of /proc/PID/comm. */
static void redact_program(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	size_t n = strcspn(text, "\n");
	char comm[32] = "";

	n = n < size ? n : size;
	memcpy(comm, text, n < sizeof(comm) ? n : sizeof(comm) - 1);
	if (!n || rd_program_is_common(comm))
		rd_buf_add(out, text, n);
	else
		rd_redact_whole(redact, "proc-", text, n, out);
	rd_buf_add(out, text + n, size - n);
}

/* "4:memory:/path" of each line of /proc/PID/cgroup. */
static void redact_cgroup_file(struct rd_redact *redact, const char *text, struct rd_buf *out)
{
	const char *line;
	size_t n;

	while (rd_next_line(&text, &line, &n)) {
		size_t head = strcspn(line, "/\n");

		rd_buf_add(out, line, head);
		rd_redact_groups(redact, line + head, n - head, out);
		rd_buf_add(out, line + n, (size_t)(text - line) - n);
	}
}

/* Keeps the lines of a file that begin with one of these; all other lines are removed completely. */
static void redact_keep_lines(const char *text, const char *const *beginnings, struct rd_buf *out)
{
	const char *line;
	size_t n;

	while (rd_next_line(&text, &line, &n))
		for (const char *const *begin = beginnings; *begin; begin++)
			if (rd_starts_with(line, *begin)) {
				rd_buf_add(out, line, (size_t)(text - line));
				break;
			}
}

/* Keeps the file names of mappings, not their directories, which may identify a user. */
static void redact_maps(const char *text, struct rd_buf *out)
{
	const char *line;
	size_t n;

	while (rd_next_line(&text, &line, &n)) {
		rd_buf_add(out, line, strcspn(line, " \n"));
		rd_buf_add(out, line + n, (size_t)(text - line) - n);
	}
}

/* The kernel command line: parameters of PCI, NUMA and RDMA are kept; others may contain anything. */
static void redact_kernel_command(struct rd_redact *redact, const char *text, struct rd_buf *out)
{
	static const char kept[] =
		"iommu intel_iommu amd_iommu pci pcie_ pcie_aspm numa numa_balancing isolcpus nohz rcu_nocbs "
		"hugepages hugepagesz default_hugepagesz transparent_hugepage mitigations quiet ro rw "
		"intel_idle.max_cstate processor.max_cstate cgroup systemd.unified_cgroup_hierarchy selinux "
		"ib_core rdma";

	for (const char *at = text; *at;) {
		size_t blank = strspn(at, " \n"), n = strcspn(at + blank, " \n"), key = strcspn(at + blank, "= \n");
		_cleanup_free_ char *word = rd_dup_part(at + blank, n);

		rd_buf_add(out, at, blank);
		if (n && rd_is_listed(kept, at + blank, key))
			rd_buf_str(out, word);
		else if (n)
			rd_redact_whole(redact, "cmd-", word, n, out);
		at += blank + n;
	}
}

/* Files with a special format; false: none of these. */
static bool redact_special(struct rd_redact *redact, const char *path, const char *name, const uint8_t *data,
			   size_t size, struct rd_buf *out)
{
	static const char *const limits[] = { "[", "DefaultLimit", NULL };
	static const char *const of_status[] = { "Cap", "State:", "TracerPid:", NULL };
	const char *text = (const char *)data;

	if (strcmp(path, "root/proc/cmdline") == 0)
		redact_kernel_command(redact, text, out);
	else if (rd_is_listed("vpd cmdline", name, strlen(name)) || strcmp(path, "root" RD_SOURCE_RECENT) == 0)
		return true; /* vital product data, arguments of a process, names of programs and jobs: nothing is kept */
	else if (strcmp(path, "root" RD_SOURCE_MAPS "/rdmadiag_qps") == 0)
		rd_redact_qps(redact, data, size, false, out);
	else if (strcmp(path, "root" RD_SOURCE_QUERIES) == 0)
		rd_redact_qps(redact, data, size, true, out);
	else if (strncmp(path, "root" RD_SOURCE_JOB "/", strlen("root" RD_SOURCE_JOB "/")) == 0)
		redact_job(redact, text, out);
	else if (strcmp(path, "root/dev/kmsg") == 0)
		rd_redact_kmsg(redact, text, size, out);
	else if (strcmp(name, "route") == 0 && strstr(path, "/net/"))
		redact_route_table(redact, text, size, out);
	else if (strcmp(path, "root/etc/environment") == 0 || strcmp(path, "root/etc/nccl.conf") == 0)
		redact_variables(redact, text, size, '\n', out);
	else if (strncmp(path, "root/etc/security/limits.", 25) == 0)
		rd_buf_str(out, strstr(text, "memlock") ? "somebody - memlock 0\n" : ""); /* users and groups */
	else if (strstr(path, "/systemd/system.conf"))
		redact_keep_lines(text, limits, out);
	else if (strcmp(name, "information") == 0 && strstr(path, "/driver/nvidia/gpus/"))
		redact_gpu(redact, text, out);
	else if (strcmp(name, "node_desc") == 0)
		rd_redact_node_desc(redact, text, size, out);
	else if (strcmp(name, "ifalias") == 0)
		rd_redact_whole(redact, "name-", text, size, out);
	else if (strncmp(path, "root/proc/", 10) != 0 ||
		 (!isdigit((unsigned char)path[10]) && strncmp(path + 10, "self/", 5) != 0))
		return false;
	else if (strcmp(name, "comm") == 0)
		redact_program(redact, text, size, out);
	else if (strcmp(name, "cgroup") == 0)
		redact_cgroup_file(redact, text, out);
	else if (strcmp(name, "environ") == 0)
		redact_variables(redact, text, size, '\0', out);
	else if (strcmp(name, "status") == 0)
		redact_keep_lines(text, of_status, out);
	else if (strcmp(name, "stat") == 0)
		redact_process_stat(text, out);
	else if (strcmp(name, "maps") == 0)
		redact_maps(text, out);
	else
		return false;
	return true;
}

static void redact_content(struct rd_redact *redact, const char *path, const uint8_t *data, size_t size,
			   struct rd_buf *out)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	_cleanup_free_ char *line = rd_dup_part((const char *)data, strcspn((const char *)data, "\n"));

	if (rd_is_listed(serials, name, strlen(name)))
		rd_redact_add_serial(redact, line);
	if (rd_is_listed(host_names, name, strlen(name)))
		rd_redact_add_host(redact, line);
	if (redact_special(redact, path, name, data, size, out))
		return;
	if (is_text(data, size)) {
		learn_serials(redact, (const char *)data);
		if (strcmp(name, "if_inet6") == 0)
			learn_if_inet6(redact, (const char *)data);
		if (strcmp(path, "root" RD_SOURCE_NCCL_XML) == 0)
			learn_xml(redact, (const char *)data);
		rd_redact_text(redact, (const char *)data, size,
			       rd_is_listed(versions, name, strlen(name)) ? RD_REDACT_VERSIONS : 0, out);
		return;
	}
	rd_buf_add(out, data, size);
	if (strcmp(name, "config") == 0)
		redact_config(redact, (uint8_t *)out->data, out->len);
	redact_bytes(redact, (uint8_t *)out->data, out->len);
}

#define CGROUPS "root/sys/fs/cgroup/"

/* Redacts a path component by component. `dir`: its parent, "" for a complete path. Caller frees. */
static char *redact_path(struct rd_redact *redact, const char *dir, const char *path)
{
	struct rd_buf out = { 0 };

	rd_buf_str(&out, "");
	if (rd_starts_with(path, CGROUPS)) {
		rd_buf_str(&out, CGROUPS);
		path += strlen(CGROUPS);
		dir = CGROUPS;
	}
	if (strncmp(dir, CGROUPS, strlen(CGROUPS) - 1) == 0) {
		rd_redact_groups(redact, path, strlen(path), &out);
		path += strlen(path);
	}
	while (*path) {
		size_t n = strcspn(path, "/");

		rd_redact_text(redact, path, n, RD_REDACT_PATH | RD_REDACT_VERSIONS, &out);
		path += n;
		if (*path)
			rd_buf_add(&out, path++, 1);
	}
	return out.data;
}

/* State of a pass over a sample: the new tree for its nodes; NULL in the first pass. */
struct pass {
	struct rd_redact *redact;
	struct rd_record_sample *from, *to;
	uint32_t *moved;
};

static int put_node(struct pass *pass, uint32_t node, const char *path, enum rd_node_type type, const void *data,
		    size_t size)
{
	uint32_t at;
	int r = rd_tree_enter(pass->to->tree, RD_TREE_TOP, path, &at);

	/* A request below a path that turned out to be a file: the file determines its error. */
	if (r == -EBADMSG && type == RD_NODE_NONE) {
		pass->moved[node] = pass->moved[rd_tree_node(pass->from->tree, node)->parent];
		return 0;
	}
	if (r < 0)
		return r;
	pass->moved[node] = at;
	if (type == RD_NODE_FILE || type == RD_NODE_LINK)
		return rd_tree_set(pass->to->tree, at, type, data, size);
	if (type == RD_NODE_DIR)
		rd_tree_node(pass->to->tree, at)->type = RD_NODE_DIR;
	return 0;
}

/* `path`: of the node, before redaction. */
static void put_more(struct pass *pass, uint32_t node, const char *path)
{
	const struct rd_node_more *from = rd_tree_node(pass->from->tree, node)->more;
	struct rd_node_more *more;

	if (!from)
		return;
	more = rd_tree_more(pass->to->tree, pass->moved[node]);
	*more = *from;
	more->names = (struct rd_texts){ 0 };
	more->target = NULL;
	for (size_t i = 0; i < from->names.n; i++)
		*RD_ADD(more->names.v, more->names.n, more->names.cap) =
			redact_path(pass->redact, path, from->names.v[i]);
	if (from->target)
		more->target = redact_path(pass->redact, "", from->target);
}

/* The file contains the request and the reply; its name is derived from the request. */
static int redact_answer(struct pass *pass, uint32_t node, const char *path)
{
	const struct rd_node *of = rd_tree_node(pass->from->tree, node);
	_cleanup_free_ char *protocol = rd_dup_part(path + 3, strcspn(path + 3, "/"));
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	char name[64], whole[80], number[16];
	uint32_t size = 0;

	rd_bytes_copy(of->data, of->size, &bytes);
	rd_redact_messages(pass->redact, protocol, bytes.data, bytes.size);
	if (!pass->to)
		return 0;
	memcpy(&size, bytes.data, bytes.size >= 16 ? sizeof(size) : 0);
	for (int i = 0; i < 32; i++) {
		if (size > bytes.size || strcmp(rd_nlprotocol_name(i, number), protocol) != 0)
			continue;
		rd_nlrequest_path(i, bytes.data, size, name, sizeof(name));
		snprintf(whole, sizeof(whole), "nl/%s", name);
		return put_node(pass, node, whole, RD_NODE_FILE, bytes.data, bytes.size);
	}
	return -EBADMSG;
}

static int redact_node(struct pass *pass, uint32_t node)
{
	const struct rd_node *of = rd_tree_node(pass->from->tree, node);
	_cleanup_free_ char *path = rd_tree_path(pass->from->tree, RD_TREE_TOP, node);
	_cleanup_free_ char *new_path = redact_path(pass->redact, "", path);
	_cleanup_free_ char *target = NULL;
	_cleanup_buf_ struct rd_buf out = { 0 };
	const void *data = NULL;
	size_t size = 0;
	int r;

	if (strncmp(path, "nl/", 3) == 0 && of->type == RD_NODE_FILE) {
		r = redact_answer(pass, node, path);
		if (!r && pass->to)
			put_more(pass, node, path);
		return r;
	}
	if (of->type == RD_NODE_FILE) {
		rd_buf_str(&out, "");
		redact_content(pass->redact, path, of->data, of->size, &out);
		data = out.data;
		size = out.len;
	} else if (of->type == RD_NODE_LINK) {
		target = redact_path(pass->redact, "", (const char *)of->data);
		data = target;
		size = strlen(target);
	}
	if (pass->redact->failed)
		return -E2BIG;
	if (!pass->to)
		return 0;
	r = put_node(pass, node, new_path, of->type, data, size);
	if (!r)
		put_more(pass, node, path);
	return r;
}

static int redact_below(struct pass *pass, uint32_t dir)
{
	for (uint32_t i = rd_tree_node(pass->from->tree, dir)->child; i; i = rd_tree_node(pass->from->tree, i)->next) {
		int r = redact_node(pass, i);

		if (!r)
			r = redact_below(pass, i);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Device names, as used in the kernel log. */
static void learn_names(struct pass *pass, const char *path)
{
	const struct rd_query query = { .op = RD_OP_LIST, .data = path };
	struct rd_reply names = { 0 };
	int dir = rd_tree_resolve(pass->from->tree, pass->from->root, path, true);

	if (dir >= 0)
		rd_node_get(pass->from->tree, (uint32_t)dir, &query, true, &names, NULL);
	for (size_t i = 0; i < names.bytes.size; i += strlen((char *)names.bytes.data + i) + 1)
		rd_redact_add_name(pass->redact, (char *)names.bytes.data + i);
	rd_bytes_deinit(&names.bytes);
}

static int redact_sample(struct rd_redact *redact, struct rd_record_sample *sample)
{
	struct rd_record_sample to;
	struct pass pass = { .redact = redact, .from = sample, .to = &to };
	_cleanup_free_ uint32_t *moved = rd_alloc(RD_TREE_NODES_MAX, sizeof(*moved));
	int r;

	rd_record_sample_init(&to);
	pass.moved = moved;
	to.realtime_ns = sample->realtime_ns;
	to.monotonic_ns = sample->monotonic_ns;
	r = redact_below(&pass, RD_TREE_TOP);
	for (size_t i = 0; !r && i < sample->n_requests; i++) {
		const struct rd_recorded_request *request = &sample->requests[i];

		rd_record_sample_log(&to, moved[request->node], request->query, request->at_ns);
	}
	if (r < 0) {
		rd_record_sample_deinit(&to);
		return r;
	}
	rd_record_sample_deinit(sample);
	*sample = to;
	return 0;
}

/* Names the key, and the networks whose pseudonyms can be those of others in another recording. What was redacted before has
 * pseudonyms of pseudonyms: those of both keys. */
static void set_redaction(const struct rd_redact *redact, struct rd_redaction *redaction)
{
	uint64_t before[2] = { redaction->redacted, redaction->key.known == RD_OK ? redaction->key.v : 0 };

	redaction->redacted = true;
	RD_SET(redaction->key, rd_siphash(&redact->key, before, sizeof(before)));
	for (size_t i = 0; i < redact->n_entries; i++) {
		const struct rd_secret_entry *entry = &redact->entries[i];
		uint8_t bytes[5] = "net";

		if (entry->kind != RD_SECRET_IP4_2 || entry->out[0] < RD_REDACT_PUBLIC)
			continue;
		memcpy(bytes + 3, entry->in, 2);
		rd_redaction_add_net(redaction, (uint16_t)(entry->out[0] << 8 | entry->out[1]),
				     rd_siphash(&redact->key, bytes, sizeof(bytes)));
	}
}

int rd_record_redact(struct rd_recording *recording, const struct rd_sipkey *key, struct rd_redacted *ret,
		     struct rd_err *err)
{
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { .key = *key };
	int r = 0;

	for (size_t i = 0; !r && i < recording->n_samples; i++) {
		struct pass pass = { .redact = &redact, .from = &recording->samples[i] };

		learn_names(&pass, "/sys/class/net");
		learn_names(&pass, "/sys/class/infiniband");
		r = redact_below(&pass, RD_TREE_TOP);
	}
	redact.log_kept = redact.log_dropped = 0;
	for (size_t i = 0; !r && i < recording->n_samples; i++)
		r = redact_sample(&redact, &recording->samples[i]);
	if (!r && redact.failed)
		r = -E2BIG;
	if (r < 0)
		return rd_err_set(err, -r, "redaction", "cannot replace everything: no file written");
	set_redaction(&redact, &recording->redaction);
	*ret = (struct rd_redacted){ redact.log_kept, redact.log_dropped };
	return 0;
}
