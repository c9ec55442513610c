/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/shared/redaction.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

static bool contains(const char *text, size_t size, const char *word)
{
	return memmem(text, size, word, strlen(word)) != NULL;
}

/* Mooncake's Redis password, libfabric's token; hosts of the MinIO client, which have the same prefix as Mooncake's variables,
 * and addresses of services contain user and password before an @. */
static bool is_secret(const char *entry, size_t size)
{
	static const char *const words[] = { "PASSWORD", "PASSWD", "SECRET", "TOKEN", "CREDENTIAL", "MC_HOST_" };
	const char *value = memchr(entry, '=', size);
	size_t name = value ? (size_t)(value - entry) : size;

	for (size_t i = 0; i < RD_ARRAY_SIZE(words); i++)
		if (contains(entry, name, words[i]))
			return true;
	return contains(entry + name, size - name, "://") && contains(entry + name, size - name, "@");
}

/* Whether the entry begins with one of these, and is not secret. */
static bool has_prefix(const char *entry, size_t size, const char *const *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (size >= strlen(prefixes[i]) && memcmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
			return !is_secret(entry, size);
	return false;
}

static bool is_kept(const char *entry, size_t size)
{
	static const char *const prefixes[] = { "NCCL_", "NVSHMEM_", "UCX_", "GLOO_", "FI_", "MC_" };

	return has_prefix(entry, size, prefixes, RD_ARRAY_SIZE(prefixes));
}

bool rd_scrub_keeps_of_job(const char *entry, size_t size)
{
	static const char *const prefixes[] = { "RCCL_", "UCCL_", "MORI_", "ROCSHMEM_", "NIXL_", "OMPI_MCA_", "I_MPI_",
						"MOONCAKE_", "MV2_", "PSM3_",
						/* how many processes or hosts a job has */
						"OMPI_COMM_WORLD_SIZE=", "OMPI_COMM_WORLD_LOCAL_SIZE=", "PMI_SIZE=",
						"MPI_LOCALNRANKS=", "SLURM_STEP_NUM_NODES=" };

	return has_prefix(entry, size, prefixes, RD_ARRAY_SIZE(prefixes)) || is_kept(entry, size);
}

void rd_scrub_file(const char *path, struct rd_bytes *bytes)
{
	const char *name = strrchr(path, '/');
	bool proc = name && strncmp(path, "/proc/", 6) == 0;
	int end; /* the separator of variables */
	size_t kept = 0;
	/* Of /proc/PID/stat what follows the time at which the process started, the 20th field behind its name: addresses in it. */
	const char *rest =
		proc && path + 5 != name && strcmp(name, "/stat") == 0 ? rd_stat_field((char *)bytes->data, 23) : NULL;

	if (rest) {
		bytes->size = (size_t)(rest - 1 - (char *)bytes->data);
		bytes->data[bytes->size] = '\0';
	}
	if (proc && strcmp(name, "/environ") == 0)
		end = '\0';
	else if (strcmp(path, "/etc/environment") == 0 || strcmp(path, "/etc/nccl.conf") == 0)
		end = '\n'; /* applies to all logins, and may contain anything */
	else
		return;
	for (size_t at = 0; at < bytes->size;) {
		const uint8_t *stop = memchr(bytes->data + at, end, bytes->size - at);
		size_t size = stop ? (size_t)(stop - bytes->data) + 1 - at : bytes->size - at;

		if (is_kept((char *)bytes->data + at, size)) {
			memmove(bytes->data + kept, bytes->data + at, size);
			kept += size;
		}
		at += size;
	}
	bytes->size = kept;
	bytes->data[kept] = '\0';
}

static bool is_key(uint16_t type)
{
	return type == RDMA_NLDEV_ATTR_RES_RKEY || type == RDMA_NLDEV_ATTR_RES_LKEY ||
	       type == RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY || type == RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY;
}

/* Tables of resources; the kernel does not mark them as nested. */
static bool is_table(uint16_t type)
{
	return type == RDMA_NLDEV_ATTR_RES_MR || type == RDMA_NLDEV_ATTR_RES_MR_ENTRY ||
	       type == RDMA_NLDEV_ATTR_RES_PD || type == RDMA_NLDEV_ATTR_RES_PD_ENTRY;
}

static void scrub_attributes(uint8_t *data, size_t size, int depth)
{
	while (size >= NLA_HDRLEN) {
		struct nlattr attr;
		uint16_t type;
		size_t step;

		memcpy(&attr, data, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN || attr.nla_len > size)
			return;
		type = attr.nla_type & NLA_TYPE_MASK;
		if (is_key(type)) {
			/* Type 0 is RDMA_NLDEV_ATTR_UNSPEC, which all readers ignore. */
			attr.nla_type = 0;
			memcpy(data, &attr, sizeof(attr));
			memset(data + NLA_HDRLEN, 0, attr.nla_len - NLA_HDRLEN);
		} else if (type == RDMA_NLDEV_ATTR_RES_RAW) {
			/* A device's own dump: keys and addresses among it, at places that it alone knows. */
			memset(data + NLA_HDRLEN, 0, attr.nla_len - NLA_HDRLEN);
		} else if (is_table(type) && depth < 4) {
			scrub_attributes(data + NLA_HDRLEN, attr.nla_len - NLA_HDRLEN, depth + 1);
		}
		step = NLA_ALIGN((size_t)attr.nla_len);
		if (step > size)
			return;
		data += step;
		size -= step;
	}
}

void rd_scrub_messages(int protocol, struct rd_bytes *bytes)
{
	size_t length;

	if (protocol != NETLINK_RDMA)
		return;
	for (size_t at = 0; at < bytes->size; at += length) {
		struct nlmsghdr head;

		length = rd_nlmsg_length(bytes->data + at, bytes->size - at);
		if (!length)
			return;
		memcpy(&head, bytes->data + at, sizeof(head));
		scrub_attributes(bytes->data + at + NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN, 0);
	}
}
