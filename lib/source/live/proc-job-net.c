// SPDX-License-Identifier: GPL-2.0-or-later
/* What a process has in its network namespace: addresses, RDMA devices, TCP connections and their bytes. */
#include "source/live/proc-job.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <rdma/rdma_netlink.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "source/shared/netlink.h"

#define SOCKETS_MAX 4096
#define STATES (1u << 1 | 1u << 8) /* TCP_ESTABLISHED and TCP_CLOSE_WAIT of the kernel's net/tcp_states.h */
/* Of struct tcp_info (linux/tcp.h), since Linux 4.1. */
#define BYTES_ACKED 120
#define BYTES_RECEIVED 128

static void print_address(struct rd_proc_job *job, const char *key, int family, const void *ip)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, ip, text, sizeof(text));
	rd_buf_printf(&job->out, "%s %s", key, text);
}

/* The attribute of this type behind `offset` bytes of the payload; NULL: none. */
static const struct nlattr *find_attribute(const struct nlmsghdr *head, size_t offset, uint16_t type)
{
	const char *end = (const char *)head + head->nlmsg_len;
	const struct nlattr *attr = (const void *)((const char *)head + NLMSG_HDRLEN + NLMSG_ALIGN(offset));

	for (; mnl_attr_ok(attr, (int)(end - (const char *)attr)); attr = mnl_attr_next(attr))
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static unsigned long long bytes_at(const struct nlattr *info, size_t at)
{
	uint64_t value = 0;

	if (info && mnl_attr_get_payload_len(info) >= at + sizeof(value))
		memcpy(&value, (const char *)mnl_attr_get_payload(info) + at, sizeof(value));
	return value;
}

/* "tcp REMOTE SENT RECEIVED" for a socket of the process. */
static void add_socket(struct rd_proc_job *job, const struct nlmsghdr *head)
{
	const struct inet_diag_msg *msg = (const void *)((const char *)head + NLMSG_HDRLEN);
	const struct nlattr *info;

	if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY || head->nlmsg_len < NLMSG_HDRLEN + sizeof(*msg) ||
	    !job->n_inodes || !rd_find_u64(job->inodes, job->n_inodes, sizeof(*job->inodes), msg->idiag_inode))
		return;
	info = find_attribute(head, sizeof(*msg), INET_DIAG_INFO);
	if (++job->n_tcp > SOCKETS_MAX)
		return;
	print_address(job, "tcp", msg->idiag_family == AF_INET6 ? AF_INET6 : AF_INET, msg->id.idiag_dst);
	rd_buf_printf(&job->out, " %llu %llu\n", bytes_at(info, BYTES_ACKED), bytes_at(info, BYTES_RECEIVED));
}

/* In exclusive mode, those of its namespace. */
static void add_device(struct rd_proc_job *job, const struct nlmsghdr *head)
{
	const struct nlattr *attr = find_attribute(head, 0, RDMA_NLDEV_ATTR_DEV_NAME);

	if (attr && mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
		rd_buf_printf(&job->out, "rdma %.64s\n", mnl_attr_get_str(attr));
}

/* Requests a dump, and takes each message of the reply. */
static void dump(struct rd_proc_job *job, int protocol, struct nlmsghdr *request, const char *part,
		 void (*take)(struct rd_proc_job *job, const struct nlmsghdr *head))
{
	struct rd_nlsockets sockets = { 0 };
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	int r = rd_nlsockets_ask(&sockets, protocol, request, request->nlmsg_len, &reply, NULL);

	if (r < 0)
		rd_proc_job_error(job, part, -r);
	for (size_t at = 0, n; at < reply.size && (n = rd_nlmsg_length(reply.data + at, reply.size - at)); at += n)
		take(job, (const struct nlmsghdr *)(reply.data + at));
	rd_nlsockets_deinit(&sockets);
}

static void dump_sockets(struct rd_proc_job *job, uint8_t family)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 req;
	} request = { { sizeof(request), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 0, 0 },
		      { .sdiag_family = family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = 1u << (INET_DIAG_INFO - 1),
			.idiag_states = STATES } };

	dump(job, NETLINK_SOCK_DIAG, &request.head, "tcp", add_socket);
	if (job->n_tcp > SOCKETS_MAX)
		rd_proc_job_error(job, "tcp", E2BIG);
}

static void add_addresses(struct rd_proc_job *job)
{
	struct ifaddrs *list;
	unsigned n = 0;

	if (getifaddrs(&list) < 0)
		return rd_proc_job_error(job, "addr", errno);
	for (const struct ifaddrs *at = list; at && n < SOCKETS_MAX; at = at->ifa_next) {
		int family = at->ifa_addr ? at->ifa_addr->sa_family : AF_UNSPEC;
		const void *address = at->ifa_addr;

		if (family != AF_INET && family != AF_INET6)
			continue;
		print_address(job, "addr", family,
			      family == AF_INET ? (const void *)&((const struct sockaddr_in *)address)->sin_addr :
						  &((const struct sockaddr_in6 *)address)->sin6_addr);
		rd_buf_str(&job->out, "\n");
		n++;
	}
	freeifaddrs(list);
	if (n == SOCKETS_MAX)
		rd_proc_job_error(job, "addr", E2BIG);
}

/* "other net": in another namespace than this process. 1, 0; -1: unknown. */
static int is_elsewhere(struct rd_proc_job *job, const char *kind)
{
	struct stat own, other;
	char path[64], self[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", job->process, kind);
	snprintf(self, sizeof(self), "/proc/self/ns/%s", kind);
	if (stat(path, &other) < 0 || stat(self, &own) < 0) {
		rd_proc_job_error(job, kind, errno);
		return -1;
	}
	if (own.st_ino != other.st_ino)
		rd_buf_printf(&job->out, "other %s\n", kind);
	return own.st_ino != other.st_ino;
}

void rd_proc_job_network(struct rd_proc_job *job)
{
	struct nlmsghdr devices = { sizeof(devices), RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
				    NLM_F_REQUEST | NLM_F_DUMP, 0, 0 };
	_cleanup_close_ int fd = -1;
	char path[64];
	int elsewhere = is_elsewhere(job, "net");

	is_elsewhere(job, "mnt");
	is_elsewhere(job, "user");
	snprintf(path, sizeof(path), "/proc/%s/ns/net", job->process);
	if (elsewhere > 0 && ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0 || setns(fd, CLONE_NEWNET) < 0)) {
		rd_proc_job_error(job, "net", errno);
		return;
	}
	add_addresses(job);
	if (rd_libmnl_load("netlink", NULL) < 0)
		return rd_proc_job_error(job, "net", ELIBACC);
	dump_sockets(job, AF_INET);
	dump_sockets(job, AF_INET6);
	dump(job, NETLINK_RDMA, &devices, "rdma", add_device);
}
