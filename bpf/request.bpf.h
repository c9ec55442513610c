/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the request of a failed call from user memory, and looks up the objects that its handles refer to. */
#ifndef RD_BPF_REQUEST_H
#define RD_BPF_REQUEST_H

#include "thread.bpf.h"

/* The head of an uverbs ioctl's argument, as in <rdma/rdma_user_ioctl_cmds.h>; its attributes are struct rd_rec_attr. */
struct ioctl_header {
	__u16 length, object, method, num_attrs;
	__u64 reserved1;
	__u32 driver, reserved2;
};
#define ATTR_WRITE_CMD 2      /* of method INVOKE_WRITE (0) of object DEVICE (0) */
#define ATTR_CORE_IN 0	      /* likewise: the command */
#define ATTR_CORE_OUT 1	      /* likewise: the buffer for the response */
#define ATTR_DRIVER_NS 0x1000 /* attributes of a driver */
#define ATTR_INLINE 8	      /* longer data is behind a pointer */

/* The header of a rdma_ucm command, as in <rdma/rdma_user_cm.h>. */
struct ucm_header {
	__u32 cmd;
	__u16 in, out;
};

/* Tags and sizes of include/linux/xarray.h. */
#define XA_NODE_MIN 4096
#define XA_DEPTH 6
#define XA_SLOT_MASK 63

static __always_inline void copy_block(struct rd_rec_request *req, __u32 attr, __u64 from, __u32 len)
{
	__u32 n = req->n_blocks;
	struct rd_rec_block *block;

	if (n >= RD_REQUEST_BLOCKS)
		return;
	if (len > RD_REQUEST_BLOCK)
		len = RD_REQUEST_BLOCK;
	block = &req->blocks[BOUNDED(n, RD_REQUEST_BLOCK_SLOTS)];
	block->attr = attr;
	block->len = 0;
	if (bpf_probe_read_user(block->bytes, BOUNDED(len, 256), (void *)from))
		return;
	block->len = len;
	req->n_blocks = n + 1;
}

/* The command in an INVOKE_WRITE becomes the verb. */
GLOBAL int copy_ioctl(struct thread *t)
{
	struct rd_rec_request *req;
	struct ioctl_header head;
	__u64 i;

	if (!t || !cfg.read_kernel || bpf_probe_read_user(&head, sizeof(head), (void *)t->args[1]))
		return 0;
	req = &t->request;
	t->rec.num_attrs = head.num_attrs;
	t->rec.verb = RD_VERB(RD_VERB_IOCTL, (__u32)head.object << 16 | head.method);
	for (i = 0; i < RD_REQUEST_ATTRS && i < head.num_attrs; i++) {
		struct rd_rec_attr *attr = &req->attrs[i];

		if (bpf_probe_read_user(attr, sizeof(*attr), (void *)(t->args[1] + sizeof(head) + i * sizeof(*attr))))
			break;
		if (!head.object && !head.method && attr->id == ATTR_WRITE_CMD)
			t->rec.verb = RD_VERB(RD_VERB_INVOKE_WRITE, attr->data);
		if (attr->len > ATTR_INLINE && attr->id < ATTR_DRIVER_NS &&
		    (head.object || head.method || attr->id == ATTR_CORE_IN))
			copy_block(req, i, attr->data, attr->len);
	}
	req->n_attrs = i;
	req->truncated = head.num_attrs > i;
	return 0;
}

static __always_inline void copy_raw(struct thread *t, __u64 from, __u32 len)
{
	struct rd_rec_request *req = &t->request;

	if (len > RD_REQUEST_RAW)
		len = RD_REQUEST_RAW;
	if (cfg.read_kernel && len && !bpf_probe_read_user(req->raw, BOUNDED(len, 512), (void *)from))
		req->n_raw = len;
}

static __always_inline void copy_ucma(struct thread *t)
{
	struct ucm_header head;

	if (!cfg.read_kernel || bpf_probe_read_user(&head, sizeof(head), (void *)t->args[1]))
		return;
	t->rec.verb = RD_VERB(RD_VERB_UCMA, head.cmd);
	copy_raw(t, t->args[1] + sizeof(head), head.in);
}

/* The input of a write(2) command, from the struct uverbs_attr_bundle of its handler. */
static __always_inline void copy_write(struct thread *t)
{
	__u64 bundle = t->args[0], from = 0, len = 0;

	if (!cfg.read_kernel || cfg.off.bundle_in < 0 || cfg.off.bundle_in_len < 0 ||
	    bpf_probe_read_kernel(&from, sizeof(from), (void *)bundle + cfg.off.bundle_in) ||
	    bpf_probe_read_kernel(&len, sizeof(len), (void *)bundle + cfg.off.bundle_in_len))
		return;
	copy_raw(t, from, len);
}

/* The value at a place of the request: an attribute of an ioctl, or an offset in a command. */
GLOBAL __u64 value_of(struct thread *t, __u32 place, __u32 size)
{
	struct rd_rec_request *req;
	const __u8 *at;
	__u64 i;

	if (!t)
		return RD_NO_VALUE;
	req = &t->request;
	if (t->rec.verb >> 32 == RD_VERB_IOCTL) {
		for (i = 0; i < RD_REQUEST_ATTRS && i < req->n_attrs; i++)
			if (req->attrs[i].id == place && req->attrs[i].len <= ATTR_INLINE)
				return req->attrs[i].data;
		return RD_NO_VALUE;
	}
	if (t->rec.verb >> 32 == RD_VERB_INVOKE_WRITE) {
		for (i = 0; !req->n_blocks && i < RD_REQUEST_ATTRS && i < req->n_attrs; i++)
			if (req->attrs[i].id == ATTR_CORE_IN && place + size <= req->attrs[i].len &&
			    req->attrs[i].len <= ATTR_INLINE)
				return size == 8 ? req->attrs[i].data : (__u32)(req->attrs[i].data >> (place & 4) * 8);
		if (!req->n_blocks || place > RD_REQUEST_BLOCK - 8 || place + size > req->blocks[0].len)
			return RD_NO_VALUE;
		at = req->blocks[0].bytes + BOUNDED(place, 256);
		return size == 8 ? *(__u64 *)at : *(__u32 *)at;
	}
	if (place > RD_REQUEST_RAW - 8 || place + size > req->n_raw)
		return RD_NO_VALUE;
	at = req->raw + BOUNDED(place, 512);
	return size == 8 ? *(__u64 *)at : *(__u32 *)at;
}

/* xa_load() without its locks. 0: there is no entry; 1: the tree could not be read. */
GLOBAL __u64 load_entry(__u64 head, __u32 index)
{
	__u64 entry = 0;
	__u64 i;

	if (!cfg.read_kernel || bpf_probe_read_kernel(&entry, sizeof(entry), (void *)head))
		return 1;
	for (i = 0; i < XA_DEPTH; i++) {
		const struct xa_node *node;
		unsigned char shift = 0;

		if ((entry & 3) != 2 || entry < XA_NODE_MIN)
			return !i && index ? 0 : entry; /* a single entry has index 0 */
		node = (const struct xa_node *)(entry - 2);
		if (bpf_core_read(&shift, sizeof(shift), &node->shift))
			return 1;
		if (shift > 30 || (!i && shift < 26 && index >> (shift + 6)))
			return 0; /* beyond the tree */
		if (bpf_core_read(&entry, sizeof(entry), &node->slots[(index >> shift) & XA_SLOT_MASK]))
			return 1;
		if (!shift && ((entry & 3) != 2 || entry < XA_NODE_MIN))
			return entry;
	}
	return 1;
}

static __always_inline void read_object(struct rd_rec_handle *h, __u64 object)
{
	__u32 type = h->type, port = 0;
	__s32 number, users;

	if (type >= RD_OBJECTS)
		return;
	number = cfg.off.objects[BOUNDED(type, RD_OBJECT_SLOTS)].number;
	users = cfg.off.objects[BOUNDED(type, RD_OBJECT_SLOTS)].users;
	if (number >= 0 && !bpf_probe_read_kernel(&h->number, sizeof(h->number), (void *)object + number))
		h->flags |= RD_HANDLE_NUMBER;
	if (users >= 0 && !bpf_probe_read_kernel(&h->users, sizeof(h->users), (void *)object + users))
		h->flags |= RD_HANDLE_USERS;
	if (type != RD_OBJECT_QP)
		return;
	if (cfg.off.qp_type >= 0 &&
	    !bpf_probe_read_kernel(&h->detail, sizeof(h->detail), (void *)object + cfg.off.qp_type))
		h->flags |= RD_HANDLE_DETAIL;
	if (cfg.off.qp_port < 0)
		return;
	/* u32 in struct ib_qp since 5.13 */
	if (!bpf_probe_read_kernel(&port, sizeof(port), (void *)object + cfg.off.qp_port)) {
		h->port = port;
		h->flags |= RD_HANDLE_PORT;
	}
}

GLOBAL int look_up(struct thread *t, __u32 handle)
{
	struct rd_rec_moment *m;
	__u32 n, type = 0;
	__u64 uobject, api = 0, object = 0;
	struct rd_rec_handle *h;
	__s32 lock = 0;

	if (!t)
		return 0;
	m = &t->moment;
	n = m->n_handles;
	if (n >= RD_HANDLES_MAX)
		return 0;
	h = &m->handles[BOUNDED(n, RD_HANDLES_MAX)];
	__builtin_memset(h, 0, sizeof(*h));
	h->handle = handle;
	m->n_handles = n + 1;
	if (!cfg.read_kernel || cfg.off.ufile_idr < 0 || cfg.off.uobject_api < 0 || cfg.off.api_id < 0 || !t->ufile)
		return 0;
	uobject = load_entry(t->ufile + cfg.off.ufile_idr, handle);
	if (uobject == 1)
		return 0;
	h->flags = RD_HANDLE_LOOKED_UP;
	/* An internal entry: reserved, and not an object yet. */
	if (!uobject || uobject & 3)
		return 0;
	if (bpf_probe_read_kernel(&api, sizeof(api), (void *)uobject + cfg.off.uobject_api) ||
	    bpf_probe_read_kernel(&type, sizeof(type), (void *)api + cfg.off.api_id)) {
		h->flags = 0;
		return 0;
	}
	h->type = type;
	h->flags |= RD_HANDLE_FOUND;
	if (cfg.off.uobject_usecnt >= 0 &&
	    !bpf_probe_read_kernel(&lock, sizeof(lock), (void *)uobject + cfg.off.uobject_usecnt) && lock < 0)
		h->flags |= RD_HANDLE_LOCKED;
	if (cfg.off.uobject_object >= 0 &&
	    !bpf_probe_read_kernel(&object, sizeof(object), (void *)uobject + cfg.off.uobject_object) && object)
		read_object(h, object);
	return 0;
}

/* The objects that the request names. The number of the first queue pair is that of the event. */
static __always_inline void look_up_handles(struct thread *t, const struct rd_rec_layout *layout)
{
	struct rd_rec_moment *m = &t->moment;
	__u64 i;

	for (i = 0; i < RD_HANDLES_MAX; i++) {
		__u64 handle = layout->handles[i] == RD_NOWHERE ? RD_NO_VALUE : value_of(t, layout->handles[i], 4);

		if (handle != RD_NO_VALUE)
			look_up(t, handle);
	}
	for (i = 0; i < RD_HANDLES_MAX; i++)
		if (i < m->n_handles && m->handles[i].type == RD_OBJECT_QP && m->handles[i].flags & RD_HANDLE_NUMBER &&
		    !(t->rec.flags & RD_REC_QPN)) {
			t->rec.qpn = m->handles[i].number;
			t->rec.flags |= RD_REC_QPN;
			if (m->handles[i].port && !(t->rec.flags & RD_REC_PORT)) {
				t->rec.port = m->handles[i].port;
				t->rec.flags |= RD_REC_PORT;
			}
		}
}

#endif
