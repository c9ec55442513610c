/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process that has parsed foreign bytes may still have read. It may be in the hands of whoever wrote those. */
#include "opener-priv.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "source/netlink.h"

const struct opener_name *rd_opener_find(const struct opener_names *names, enum rd_opener_use use, const char *path)
{
	for (size_t i = 0; i < names->n; i++)
		if (names->v[i].use == use &&
		    (strcmp(names->v[i].path, path) == 0 || strcmp(names->v[i].whole, path) == 0))
			return &names->v[i];
	return NULL;
}

/* A file right in one of the folders. */
static bool in_folder(const struct opener_names *names, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder = slash ? strndup(path, (size_t)(slash - path)) : NULL;

	return folder && strcmp(slash, "/..") != 0 && rd_opener_find(names, RD_OPENER_FOLDER, folder);
}

/* Whether it is spelled in the one way that the lists here have: from the root, without "//", "." and ".." on it. */
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

/* Of these any plain path: links that lead elsewhere are in the kernel's own file systems only. */
static const char *const below[] = {
	"/sys/",
	"/ethtool/",
	"/verbs/",
	"/proc/sys/",
	"/proc/driver/",
	"/proc/net/",
	"/etc/systemd/system.conf.d/",
	"/run/systemd/system.conf.d/",
	"/usr/lib/systemd/system.conf.d/",
	"/usr/lib64/libibverbs",
	"/usr/lib/x86_64-linux-gnu/libibverbs",
	"/usr/lib/aarch64-linux-gnu/libibverbs",
	"/usr/lib/powerpc64le-linux-gnu/libibverbs",
};

static const char *const exactly[] = {
	"/proc",
	"/proc/cmdline",
	"/proc/cpuinfo",
	"/proc/kallsyms",
	"/proc/modules",
	"/proc/self/status",
	"/proc/sys",
	"/dev/kmsg",
	"/etc/environment",
	"/etc/nccl.conf",
	"/etc/systemd/system.conf",
	"/etc/systemd/system.conf.d",
	"/run/systemd/system.conf.d",
	"/usr/lib/systemd/system.conf.d",
	"/usr/share/hwdata/pci.ids",
	"/usr/share/misc/pci.ids",
	"/usr/lib64",
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib/powerpc64le-linux-gnu",
};

static const char *const of_process[] = { "cgroup",	  "comm",	  "environ",   "limits", "maps",
					  "net/fib_trie", "net/if_inet6", "net/route", "status", "uid_map" };

static bool is_process_file(const char *path)
{
	size_t n;

	if (strncmp(path, "/proc/", 6) != 0)
		return false;
	n = strspn(path + 6, "0123456789");
	if (n == 0 || path[6 + n] != '/')
		return false;
	for (size_t i = 0; i < RD_ARRAY_SIZE(of_process); i++)
		if (strcmp(path + 6 + n + 1, of_process[i]) == 0)
			return true;
	return false;
}

/* Looked at and not opened: that alone makes a port of issm* say that it is a subnet manager's. */
static bool is_device(const struct rd_question *question, const char *path)
{
	return (question->op == RD_OP_RDEV || question->op == RD_OP_INO || question->op == RD_OP_MODE) &&
	       (strncmp(path, "/dev/infiniband/", 16) == 0 || strcmp(path, "/dev/null") == 0);
}

/* What is read there is gone for others, or does not end. */
static bool is_trace(const char *path)
{
	return strncmp(path, "/sys/kernel/debug", 17) == 0 || strncmp(path, "/sys/kernel/tracing", 19) == 0;
}

static bool is_host_path(const struct rd_question *question, const char *path)
{
	if (!is_plain(path) || is_trace(path))
		return false;
	if (is_device(question, path))
		return true;
	for (size_t i = 0; i < RD_ARRAY_SIZE(below); i++)
		if (strncmp(path, below[i], strlen(below[i])) == 0)
			return true;
	for (size_t i = 0; i < RD_ARRAY_SIZE(exactly); i++)
		if (strcmp(path, exactly[i]) == 0)
			return true;
	return is_process_file(path);
}

static bool may_ask_path(const struct opener_names *names, const struct rd_question *question)
{
	const char *path = (const char *)question->data;

	if (question->size == 0 || path[question->size - 1] || strlen(path) + 1 != question->size)
		return false;
	if (question->op == RD_OP_READ && (rd_opener_find(names, RD_OPENER_INPUT, path) || in_folder(names, path)))
		return true;
	/* Where the tables lie that come with the program. */
	if (question->op == RD_OP_LINK && strcmp(path, "/proc/self/exe") == 0)
		return true;
	return names->host && is_host_path(question, path);
}

static const uint16_t rdma_gets[] = {
	RDMA_NLDEV_CMD_GET,	      RDMA_NLDEV_CMD_PORT_GET,	      RDMA_NLDEV_CMD_SYS_GET,
	RDMA_NLDEV_CMD_GET_CHARDEV,   RDMA_NLDEV_CMD_RES_GET,	      RDMA_NLDEV_CMD_RES_QP_GET,
	RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_CMD_RES_CQ_GET,      RDMA_NLDEV_CMD_RES_MR_GET,
	RDMA_NLDEV_CMD_RES_PD_GET,    RDMA_NLDEV_CMD_RES_CTX_GET,     RDMA_NLDEV_CMD_RES_SRQ_GET,
	RDMA_NLDEV_CMD_STAT_GET,      RDMA_NLDEV_CMD_STAT_GET_STATUS,
};

static bool is_rdma_get(uint16_t type)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(rdma_gets); i++)
		if (type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, rdma_gets[i]))
			return true;
	return false;
}

/* Which command a number stands for depends on the family, whose number is another on each host; so only ethtool's are taken
 * one by one, and of the other families what asks for a list, which changes nothing in any of them. */
static const uint8_t ethtool_gets[] = {
	ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_MSG_LINKSTATE_GET, ETHTOOL_MSG_FEATURES_GET, ETHTOOL_MSG_RINGS_GET,
	ETHTOOL_MSG_CHANNELS_GET,  ETHTOOL_MSG_PAUSE_GET,     ETHTOOL_MSG_FEC_GET,	ETHTOOL_MSG_STATS_GET,
};

static bool is_generic_get(const struct opener_names *names, const struct nlmsghdr *head, uint8_t command)
{
	if (head->nlmsg_type == GENL_ID_CTRL)
		return command == CTRL_CMD_GETFAMILY;
	if ((head->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		return true;
	return names->ethtool && head->nlmsg_type == names->ethtool &&
	       memchr(ethtool_gets, command, sizeof(ethtool_gets)) != NULL;
}

static bool may_ask_netlink(const struct opener_names *names, const struct rd_question *question)
{
	struct nlmsghdr head;

	if (!names->host || rd_nlrequest_check(question->data, question->size, NULL) < 0)
		return false;
	memcpy(&head, question->data, sizeof(head));
	switch (question->protocol) {
	case NETLINK_ROUTE: /* NEW, DEL, GET and SET of each kind have numbers in this order */
		return head.nlmsg_type >= RTM_BASE && head.nlmsg_type % 4 == RTM_GETLINK % 4;
	case NETLINK_NETFILTER:
		return head.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN) ||
		       head.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE);
	case NETLINK_RDMA:
		return is_rdma_get(head.nlmsg_type);
	case NETLINK_GENERIC:
		return question->size > NLMSG_HDRLEN && is_generic_get(names, &head, question->data[NLMSG_HDRLEN]);
	}
	return false;
}

bool rd_opener_may_ask(const struct opener_names *names, const struct rd_question *question)
{
	return question->op == RD_OP_NETLINK ? may_ask_netlink(names, question) : may_ask_path(names, question);
}
