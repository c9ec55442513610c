// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/kernel/moment.h"

#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/record.h"

/* include/linux/mm.h */
#define VM_WRITE 0x2
#define VM_SHARED 0x8
#define VM_NORESERVE 0x200000

static void take_limits(const struct rd_rec_moment *rec, struct rd_moment *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE); /* records are of this host */

	ret->page_size = page;
	if (rec->known & RD_MOMENT_LIMITS) {
		RD_SET(ret->memlock, rec->memlock);
		RD_SET(ret->nofile, rec->nofile);
	}
	if (rec->known & RD_MOMENT_MEMORY && rec->pinned < UINT64_MAX / page && rec->locked < UINT64_MAX / page) {
		RD_SET(ret->pinned, rec->pinned * page);
		RD_SET(ret->locked, rec->locked * page);
	}
	if (rec->known & RD_MOMENT_CREDS) {
		RD_SET(ret->caps, rec->caps);
		RD_SET(ret->user_ns_level, rec->user_ns_level);
	}
	if (rec->known & RD_MOMENT_NET)
		RD_SET(ret->net_ns, rec->net_ns);
	if (rec->known & RD_MOMENT_FILES)
		RD_SET(ret->next_fd, rec->next_fd);
}

static void take_notes(const struct rd_rec_moment *rec, struct rd_moment *ret)
{
	if (rec->known & RD_MOMENT_QP) {
		ret->qp.known = true;
		ret->qp.cur = rec->qp_cur;
		ret->qp.next = rec->qp_next;
		ret->qp.type = rec->qp_type;
		ret->qp.mask = rec->qp_mask;
	}
	if (rec->known & RD_MOMENT_CM)
		RD_SET(ret->cm_state, rec->cm_state);
	ret->fd_known = rec->fd_what == RD_CALLER_FD_OPEN   ? RD_OK :
			rec->fd_what == RD_CALLER_FD_CLOSED ? RD_ABSENT :
							      RD_DENIED;
	snprintf(ret->fd_name, sizeof(ret->fd_name), "%.*s", (int)sizeof(rec->fd_name), rec->fd_name);
}

static void take_mapping(const struct rd_rec_mapping *rec, struct rd_mapping *ret)
{
	static const enum rd_mapping_kind kinds[] = {
		[RD_MAPPING_NONE] = RD_MAP_NONE,	   [RD_MAPPING_HOLE] = RD_MAP_HOLE,
		[RD_MAPPING_NO_ACCESS] = RD_MAP_NO_ACCESS, [RD_MAPPING_READ_ONLY] = RD_MAP_READ_ONLY,
		[RD_MAPPING_DEVICE] = RD_MAP_DEVICE,	   [RD_MAPPING_PAST_END] = RD_MAP_PAST_END,
		[RD_MAPPING_FILE] = RD_MAP_FILE,	   [RD_MAPPING_HUGE] = RD_MAP_HUGE,
	};

	if (rec->what >= RD_ARRAY_SIZE(kinds))
		return;
	*ret = (struct rd_mapping){
		.kind = kinds[rec->what],
		.at = rec->at,
		.start = rec->start,
		.end = rec->end,
		.writable = rec->flags & VM_WRITE,
		.shared = rec->flags & VM_SHARED,
		.reserved = !(rec->flags & VM_NORESERVE),
		.has_file = rec->mode,
		.mode = rec->mode,
		.file_size = rec->file_size,
		.inode = rec->inode,
		.magic = rec->magic,
		.rdev = rec->rdev,
	};
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)sizeof(rec->name), rec->name);
}

static void take_handle(const struct rd_rec_handle *rec, struct rd_moment_handle *ret)
{
	*ret = (struct rd_moment_handle){
		.handle = rec->handle,
		.looked_up = rec->flags & RD_HANDLE_LOOKED_UP,
		.found = rec->flags & RD_HANDLE_FOUND,
		.locked = rec->flags & RD_HANDLE_LOCKED,
		.type = rec->type,
	};
	if (rec->flags & RD_HANDLE_NUMBER)
		RD_SET(ret->number, rec->number);
	if (rec->flags & RD_HANDLE_USERS)
		RD_SET(ret->users, rec->users);
	if (rec->flags & RD_HANDLE_PORT)
		RD_SET(ret->port, rec->port);
	if (rec->flags & RD_HANDLE_DETAIL && rec->type == RD_OBJ_QP)
		RD_SET(ret->qp_type, rec->detail);
}

void rd_moment_decode(const void *data, struct rd_moment *ret)
{
	struct rd_rec_moment rec;

	memcpy(&rec, data, sizeof(rec));
	memset(ret, 0, sizeof(*ret));
	take_limits(&rec, ret);
	take_notes(&rec, ret);
	ret->mapped_all = rec.mapped == RD_MAPPED_ALL;
	ret->mapped_in_part = rec.mapped == RD_MAPPED_MORE;
	take_mapping(&rec.fault, &ret->fault);
	take_mapping(&rec.special, &ret->special);
	if (rec.response_what == RD_MAPPING_HOLE || rec.response_what == RD_MAPPING_READ_ONLY) {
		ret->response.kind = rec.response_what == RD_MAPPING_HOLE ? RD_MAP_HOLE : RD_MAP_READ_ONLY;
		ret->response.at = rec.response;
	}
	for (size_t i = 0; i < rec.n_handles && i < RD_MOMENT_HANDLES; i++)
		take_handle(&rec.handles[i], &ret->handles[ret->n_handles++]);
}
