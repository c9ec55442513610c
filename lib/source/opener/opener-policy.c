/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a confined process may request: files that were declared before the first untrusted byte was read, facts of the host, and netlink
 * messages and datagrams that change nothing. It may be controlled by an attacker through the data it parsed. */
#include "opener-priv.h"

#include <ctype.h>
#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "source/shared/netlink.h"

#define METHOD_AT 3
#define METHOD_GET 1

const struct opener_name *rd_opener_find(const struct opener_names *names, enum rd_opener_use use, const char *path)
{
	for (size_t i = 0; i < names->n; i++)
		if (names->v[i].use == use &&
		    (strcmp(names->v[i].path, path) == 0 || strcmp(names->v[i].whole, path) == 0))
			return &names->v[i];
	return NULL;
}

/* A file directly in one of the directories. */
static bool in_folder(const struct opener_names *names, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder = slash ? strndup(path, (size_t)(slash - path)) : NULL;

	return folder && strcmp(slash, "/..") != 0 && rd_opener_find(names, RD_OPENER_FOLDER, folder);
}

/* Whether the path is in the canonical form of the lists here: absolute, without "//", "." and "..". */
static bool is_plain(const char *path)
{
	size_t length;

	if (*path != '/')
		return false;
	for (const char *at = path; *at; at += length) {
		at++;
		length = strcspn(at, "/");
		if (length == 0 || (length <= 2 && strspn(at, ".") >= length))
			return false;
	}
	return true;
}

/* Each with everything below it. Not all of sysfs: other file systems are mounted in it, and some files contain secrets. */
static const char *const trees[] = {
	"/ethtool",
	"/etc/systemd/system.conf.d",
	"/proc/driver/nvidia",
	"/proc/sys/net/ipv4/conf",
	"/proc/sys/net/ipv4/neigh/default",
	"/run/systemd/system.conf.d",
	"/sys/bus/pci",
	"/sys/class/dmi/id",
	"/sys/class/infiniband",
	"/sys/class/infiniband_verbs",
	"/sys/class/misc/rdma_cm",
	"/sys/class/net",
	"/sys/devices",
	"/sys/fs/cgroup",
	"/sys/kernel/btf",
	"/sys/kernel/debug/mlx5",
	"/sys/kernel/iommu_groups",
	"/sys/kernel/memory_peers",
	"/sys/kernel/mm",
	"/sys/memory_peers",
	"/sys/module",
	"/usr/lib/systemd/system.conf.d",
	"/verbs",
};

static const char *const exactly[] = {
	RD_SOURCE_MAPS "/rdmadiag_qps",
	"/dev/kmsg",
	"/etc/environment",
	"/etc/nccl.conf",
	"/etc/opensm/ib-node-name-map",
	"/etc/systemd/system.conf",
	"/proc",
	"/proc/cmdline",
	"/proc/cpuinfo",
	"/proc/modules",
	"/proc/net/fib_trie",
	"/proc/net/if_inet6",
	"/proc/net/route",
	"/proc/self/ns/pid",
	"/proc/self/status",
	"/proc/sys/kernel/hostname",
	"/proc/sys/kernel/numa_balancing",
	"/proc/sys/kernel/osrelease",
	"/proc/sys/kernel/random/boot_id",
	"/proc/sys/kernel/version",
	"/proc/sys/net/core/rmem_max",
	"/proc/sys/net/core/wmem_max",
	"/proc/sys/net/ipv4/ip_default_ttl",
	"/proc/sys/net/ipv4/ip_forward",
	"/proc/sys/vm/max_map_count",
	"/proc/sys/vm/nr_hugepages",
	"/proc/sys/vm/zone_reclaim_mode",
	"/sys/class",
	RD_SOURCE_NCCL_XML,
	"/usr/share/hwdata/pci.ids",
	"/usr/share/misc/pci.ids",
};

/* Directories in which libraries with this prefix are searched. */
static const char *const library_folders[] = {
	"/usr/lib64",
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib/powerpc64le-linux-gnu",
};
#define LIBRARY "/libibverbs"

/* Files that only root can read, or that have side effects when read. No collected fact has such a name. */
static const char *const closed[] = { "eeprom", "fifo", "key", "nvmem", "rom", "vpd" };

static bool is_closed(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	size_t length = strlen(name);

	for (size_t i = 0; i < RD_ARRAY_SIZE(closed); i++)
		if (strcmp(name, closed[i]) == 0)
			return true;
	/* "resource0" is the memory of a PCI device. */
	return strstr(name, "secret") || strstr(name, "passw") ||
	       (length > 4 && strcmp(name + length - 4, "_key") == 0) ||
	       (strncmp(name, "resource", 8) == 0 && isdigit((unsigned char)name[8])) || strstr(path, "/devcoredump/");
}

static bool is_within(const char *path, const char *tree)
{
	size_t length = strlen(tree);

	return strncmp(path, tree, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

static bool is_library(const char *path)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(library_folders); i++) {
		size_t length = strlen(library_folders[i]);

		if (is_within(path, library_folders[i]) &&
		    (path[length] == '\0' || strncmp(path + length, LIBRARY, strlen(LIBRARY)) == 0))
			return true;
	}
	return false;
}

/* Files of all processes; and further files of the process of --pid. */
static const char *const of_process[] = { "cgroup", "comm", "limits", "stat", "status", "uid_map" };
static const char *const of_named_process[] = { "environ", "fd", "maps" };

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool is_process_file(const struct opener_names *names, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *process = slash ? strndup(path, (size_t)(slash - path)) : NULL;

	if (!process || strncmp(process, "/proc/", 6) != 0 || !process[6] ||
	    strspn(process + 6, "0123456789") != strlen(process + 6))
		return false;
	return is_one_of(slash + 1, of_process, RD_ARRAY_SIZE(of_process)) ||
	       (rd_opener_find(names, RD_OPENER_PROCESS, process) &&
		is_one_of(slash + 1, of_named_process, RD_ARRAY_SIZE(of_named_process)));
}

/* stat only, not opened: opening an issm* device makes its port announce a subnet manager. */
static bool is_device(const struct rd_query *query, const char *path)
{
	return (query->op == RD_OP_RDEV || query->op == RD_OP_INO || query->op == RD_OP_MODE) &&
	       (is_within(path, "/dev/infiniband") || strcmp(path, "/dev/null") == 0);
}

static bool is_host_path(const struct opener_names *names, const struct rd_query *query, const char *path)
{
	/* Interfaces and control groups may have any name, but are directories. */
	if (!is_plain(path) || (query->op == RD_OP_READ && is_closed(path)))
		return false;
	if (strncmp(path, "/boot/config-", 13) == 0 && !strchr(path + 13, '/'))
		return true;
	for (size_t i = 0; i < RD_ARRAY_SIZE(trees); i++)
		if (is_within(path, trees[i]))
			return true;
	return is_one_of(path, exactly, RD_ARRAY_SIZE(exactly)) || is_device(query, path) || is_library(path) ||
	       is_process_file(names, path);
}

static bool may_ask_path(const struct opener_names *names, const struct rd_query *query)
{
	const char *path = query->data;

	if (query->size == 0 || path[query->size - 1] || strlen(path) + 1 != query->size)
		return false;
	if (query->op == RD_OP_READ && (rd_opener_find(names, RD_OPENER_INPUT, path) || in_folder(names, path)))
		return true;
	if (query->op == RD_OP_LIST && rd_opener_find(names, RD_OPENER_FOLDER, path))
		return true;
	/* Directories with the tables of the program. */
	if (query->op == RD_OP_LINK && strcmp(path, "/proc/self/exe") == 0)
		return true;
	return names->host && is_host_path(names, query, path);
}

static const uint16_t rdma_gets[] = {
	RDMA_NLDEV_CMD_GET,	      RDMA_NLDEV_CMD_PORT_GET,	      RDMA_NLDEV_CMD_SYS_GET,
	RDMA_NLDEV_CMD_GET_CHARDEV,   RDMA_NLDEV_CMD_RES_GET,	      RDMA_NLDEV_CMD_RES_QP_GET,
	RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_CMD_RES_CQ_GET,      RDMA_NLDEV_CMD_RES_MR_GET,
	RDMA_NLDEV_CMD_RES_PD_GET,    RDMA_NLDEV_CMD_RES_CTX_GET,     RDMA_NLDEV_CMD_RES_SRQ_GET,
	RDMA_NLDEV_CMD_STAT_GET,      RDMA_NLDEV_CMD_STAT_GET_STATUS, RDMA_NLDEV_CMD_RES_QP_GET_RAW,
};

static const uint16_t route_gets[] = { RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE, RTM_GETRULE, RTM_GETNEIGH };

/* In a DCB message the command determines whether it is read-only, not the message type. */
static bool is_dcb_get(const struct rd_query *query, const struct nlmsghdr *head)
{
	struct dcbmsg dcb;

	if (head->nlmsg_type != RTM_GETDCB || query->size < NLMSG_HDRLEN + sizeof(dcb))
		return false;
	memcpy(&dcb, (const uint8_t *)query->data + NLMSG_HDRLEN, sizeof(dcb));
	return dcb.cmd == DCB_CMD_IEEE_GET;
}

static bool is_one_of_types(uint16_t type, const uint16_t *types, size_t n, uint16_t base)
{
	for (size_t i = 0; i < n; i++)
		if (type == base + types[i])
			return true;
	return false;
}

static const uint8_t ethtool_gets[] = {
	ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_MSG_LINKSTATE_GET, ETHTOOL_MSG_FEATURES_GET,
	ETHTOOL_MSG_RINGS_GET,	   ETHTOOL_MSG_CHANNELS_GET,  ETHTOOL_MSG_PAUSE_GET,
	ETHTOOL_MSG_FEC_GET,	   ETHTOOL_MSG_STATS_GET,     RD_ETHTOOL_MSG_RSS_GET,
};
static const uint8_t devlink_gets[] = { DEVLINK_CMD_INFO_GET, DEVLINK_CMD_HEALTH_REPORTER_GET };
static const uint8_t netdev_gets[] = { RD_NETDEV_CMD_QUEUE_GET };

/* Generic netlink families; their numbers differ between hosts. */
static const struct family {
	const char *name;
	const uint8_t *gets;
	size_t n;
} families[OPENER_FAMILIES] = {
	{ ETHTOOL_GENL_NAME, ethtool_gets, RD_ARRAY_SIZE(ethtool_gets) },
	{ DEVLINK_GENL_NAME, devlink_gets, RD_ARRAY_SIZE(devlink_gets) },
	{ "netdev", netdev_gets, RD_ARRAY_SIZE(netdev_gets) },
};

static int take_family(const struct nlattr *attr, void *arg)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID && mnl_attr_get_payload_len(attr) >= sizeof(uint16_t))
		*(uint16_t *)arg = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static void find_family(struct rd_source *host, const char *name, uint16_t *ret)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	union {
		struct nlmsghdr head;
		char room[64];
	} request = { .head = { 0 } };
	struct genlmsghdr *command;

	mnl_nlmsg_put_header(&request);
	request.head.nlmsg_type = GENL_ID_CTRL;
	request.head.nlmsg_flags = NLM_F_REQUEST;
	command = mnl_nlmsg_put_extra_header(&request.head, sizeof(*command));
	command->cmd = CTRL_CMD_GETFAMILY;
	command->version = 1;
	mnl_attr_put_strz(&request.head, CTRL_ATTR_FAMILY_NAME, name);
	if (rd_netlink(host, NETLINK_GENERIC, &request, request.head.nlmsg_len, &reply, NULL) == 0 &&
	    reply.size > NLMSG_HDRLEN + GENL_HDRLEN)
		mnl_attr_parse_payload(reply.data + NLMSG_HDRLEN + GENL_HDRLEN, reply.size - NLMSG_HDRLEN - GENL_HDRLEN,
				       take_family, ret);
}

void rd_opener_find_families(struct opener_names *names, struct rd_source *host)
{
	for (size_t i = 0; i < OPENER_FAMILIES; i++)
		if (!names->families[i])
			find_family(host, families[i].name, &names->families[i]);
}

static bool is_generic_get(const struct opener_names *names, const struct nlmsghdr *head, uint8_t command)
{
	if (head->nlmsg_type == GENL_ID_CTRL)
		return command == CTRL_CMD_GETFAMILY;
	for (size_t i = 0; i < OPENER_FAMILIES; i++)
		if (names->families[i] && head->nlmsg_type == names->families[i])
			return memchr(families[i].gets, command, families[i].n) != NULL;
	return false;
}

static bool may_request(const struct opener_names *names, const struct rd_query *query)
{
	struct nlmsghdr head;

	if (!names->host || rd_nlrequest_check(query->data, query->size, NULL) < 0)
		return false;
	memcpy(&head, query->data, sizeof(head));
	switch (query->protocol) {
	case NETLINK_ROUTE:
		return is_one_of_types(head.nlmsg_type, route_gets, RD_ARRAY_SIZE(route_gets), 0) ||
		       is_dcb_get(query, &head);
	case NETLINK_NETFILTER:
		return head.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN) ||
		       head.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE);
	case NETLINK_RDMA:
		return is_one_of_types(head.nlmsg_type, rdma_gets, RD_ARRAY_SIZE(rdma_gets),
				       RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, 0));
	case NETLINK_GENERIC:
		return query->size > NLMSG_HDRLEN &&
		       is_generic_get(names, &head, ((const uint8_t *)query->data)[NLMSG_HDRLEN]);
	}
	return false;
}

bool rd_opener_may_send(const struct rd_mad *mad)
{
	return mad->data[METHOD_AT] == METHOD_GET;
}

bool rd_opener_may_ask(const struct opener_names *names, const struct rd_query *query)
{
	return query->op == RD_OP_NETLINK ? may_request(names, query) : may_ask_path(names, query);
}
