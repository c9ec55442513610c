/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a recording was redacted: what says whether pseudonyms of several recordings mean the same. */
#ifndef RD_REDACTION_H
#define RD_REDACTION_H

#include "source/shared/source.h"

/* A public IPv4 network: there are more of them than pseudonyms, so those of two recordings can collide. */
struct rd_redacted_net {
	uint16_t pseudonym; /* the first two bytes of its addresses */
	uint64_t id;	    /* a hash of the original with the key */
};

struct rd_redaction {
	bool redacted;
	RD_FIELD(uint64_t)
	key; /* a hash that only this key has, and that does not reveal it; absent in older recordings */
	struct rd_redacted_net *nets;
	size_t n_nets, cap_nets;
};

void rd_redaction_deinit(struct rd_redaction *redaction);

void rd_redaction_add_net(struct rd_redaction *redaction, uint16_t pseudonym, uint64_t id);

/* Of a source that rd_source_bundle_open returned; NULL: another source. Valid until the source is closed. */
const struct rd_redaction *rd_source_bundle_redaction(const struct rd_source *src);

/* Removes data that no recording may contain, redacted or not: environment variables other than those of RDMA libraries, and
 * keys. */

/* In an environment file (/proc/PID/environ, /etc/environment, /etc/nccl.conf), keeps only the NCCL_, NVSHMEM_, UCX_, GLOO_, FI_
 * and MC_ variables, except passwords, tokens and addresses that contain a user name; of /proc/PID/stat, what is before the
 * addresses in that process. Other paths are not changed. */
void rd_scrub_file(const char *path, struct rd_bytes *bytes);

/* Whether a variable of a process that somebody selected is shown and recorded: those, and RCCL_, UCCL_, MORI_, ROCSHMEM_, NIXL_, OMPI_MCA_,
 * I_MPI_, MOONCAKE_, MV2_ and PSM3_, with the same exceptions. */
bool rd_scrub_keeps_of_job(const char *entry, size_t size);

/* Replaces memory keys in NETLINK_RDMA messages by unspecified attributes, and by zeros what is not read of the dumps of queue pairs,
 * which contain other keys. In place. */
void rd_scrub_messages(int protocol, struct rd_bytes *bytes);

#endif
