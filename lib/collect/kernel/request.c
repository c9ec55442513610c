// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/kernel/request.h"

#include <linux/types.h>
#include <netinet/in.h>
#include <string.h>

#include "bpf/record.h"

#define ATTR_INLINE 8 /* longer data is behind a pointer */

/* The copied request, checked against its size. */
struct copy {
	struct rd_rec_request req;
	bool ioctl;	     /* attributes, else a command */
	const uint8_t *data; /* of the command */
	size_t size;
};

static bool check_copy(const void *data, size_t size, struct rd_rec_request *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (size > sizeof(*ret))
		size = sizeof(*ret);
	if (size < offsetof(struct rd_rec_request, attrs))
		return false;
	memcpy(ret, data, size);
	if (ret->n_raw) {
		ret->n_attrs = ret->n_blocks = 0; /* they share the place of the raw bytes */
		return ret->n_raw <= RD_REQUEST_RAW && size >= offsetof(struct rd_rec_request, raw) + ret->n_raw;
	}
	return ret->n_attrs <= RD_REQUEST_ATTRS && ret->n_blocks <= RD_REQUEST_BLOCKS &&
	       size >= offsetof(struct rd_rec_request, attrs) + ret->n_attrs * sizeof(ret->attrs[0]) &&
	       (!ret->n_blocks ||
		size >= offsetof(struct rd_rec_request, blocks) + ret->n_blocks * sizeof(ret->blocks[0]));
}

static const struct rd_rec_block *block_of(const struct copy *c, size_t attr)
{
	for (size_t i = 0; i < c->req.n_blocks; i++)
		if (c->req.blocks[i].attr == attr && c->req.blocks[i].len <= RD_REQUEST_BLOCK)
			return &c->req.blocks[i];
	return NULL;
}

/* Where the bytes of a place of an ioctl are, and how many. */
static const uint8_t *attr_bytes(const struct copy *c, const struct rd_req_place *place, size_t *ret)
{
	const struct rd_rec_block *block;

	for (size_t i = 0; i < c->req.n_attrs; i++) {
		const struct rd_rec_attr *attr = &c->req.attrs[i];

		if (attr->id != place->at)
			continue;
		if (!place->pointed && attr->len <= ATTR_INLINE) {
			/* A handle or a descriptor has no length. */
			*ret = attr->len ? attr->len : sizeof(attr->data);
			return (const uint8_t *)&attr->data;
		}
		block = place->pointed ? block_of(c, i) : NULL;
		if (!block || block->len < place->in)
			return NULL;
		*ret = block->len - place->in;
		return block->bytes + place->in;
	}
	return NULL;
}

static const uint8_t *place_bytes(const struct copy *c, const struct rd_req_place *place, size_t *ret)
{
	if (c->ioctl)
		return attr_bytes(c, place, ret);
	if (!c->data || place->at >= c->size)
		return NULL;
	*ret = c->size - place->at;
	return c->data + place->at;
}

static void take_address(const uint8_t *bytes, size_t size, struct rd_req_address *ret)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	sa_family_t family;

	if (size < sizeof(in6))
		return;
	memcpy(&family, bytes, sizeof(family));
	memcpy(&in, bytes, sizeof(in));
	memcpy(&in6, bytes, sizeof(in6));
	ret->known = true;
	ret->family = family;
	if (family == AF_INET) {
		ret->port = ntohs(in.sin_port);
		memcpy(ret->addr, &in.sin_addr, 4);
	} else if (family == AF_INET6) {
		ret->port = ntohs(in6.sin6_port);
		memcpy(ret->addr, &in6.sin6_addr, 16);
		ret->scope_id = in6.sin6_scope_id;
	}
}

static void take_place(const struct copy *c, const struct rd_req_place *place, struct rd_request *ret)
{
	size_t size = 0;
	const uint8_t *bytes = place_bytes(c, place, &size);
	uint64_t v = 0;

	if (!bytes)
		return;
	switch (place->field) {
	case RD_REQ_GID:
		ret->has_gid = size >= sizeof(ret->gid);
		if (ret->has_gid)
			memcpy(ret->gid, bytes, sizeof(ret->gid));
		return;
	case RD_REQ_SRC:
		take_address(bytes, size, &ret->src);
		return;
	case RD_REQ_DST:
		take_address(bytes, size, &ret->dst);
		return;
	default:
		break;
	}
	/* An ioctl may pass a shorter number than the kernel has; the rest is 0. */
	if (c->ioctl && !place->pointed && size < place->size)
		memcpy(&v, bytes, size);
	else if (size >= place->size && place->size <= sizeof(v))
		memcpy(&v, bytes, place->size);
	else
		return;
	ret->v[place->field] = v;
	ret->known[place->field] = true;
}

void rd_request_decode(uint64_t key, const struct rd_fnset *set, const void *data, size_t size, struct rd_request *ret)
{
	const struct rd_req_place *places = rd_request_layout(key, set);
	struct copy c = { 0 };

	memset(ret, 0, sizeof(*ret));
	if (!places || !check_copy(data, size, &c.req))
		return;
	c.ioctl = key >> 32 == RD_VERB_IOCTL;
	if (key >> 32 == RD_VERB_INVOKE_WRITE) {
		const struct rd_rec_block *block = c.req.n_blocks ? &c.req.blocks[0] : NULL;

		c.data = block && block->len <= RD_REQUEST_BLOCK ? block->bytes : NULL;
		c.size = c.data ? block->len : 0;
		/* Data of at most eight bytes stands in the attribute itself: the command has the id 0. */
		for (size_t i = 0; !c.data && i < c.req.n_attrs; i++)
			if (!c.req.attrs[i].id && c.req.attrs[i].len <= ATTR_INLINE) {
				c.data = (const uint8_t *)&c.req.attrs[i].data;
				c.size = c.req.attrs[i].len;
			}
	} else if (!c.ioctl) {
		c.data = c.req.raw;
		c.size = c.req.n_raw;
	}
	ret->readable = c.ioctl ? c.req.n_attrs : c.size;
	for (; places->size; places++)
		take_place(&c, places, ret);
}
