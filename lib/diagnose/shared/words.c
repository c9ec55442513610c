// SPDX-License-Identifier: GPL-2.0-or-later
#include <fnmatch.h>
#include <sys/socket.h>

#include "diagnose/shared/rule.h"

/* UVERBS_OBJECT_*, from 0 on */
static const char *const objects[] = { "device context",
				       "protection domain",
				       "completion channel",
				       "completion queue",
				       "queue pair",
				       "shared receive queue",
				       "address handle",
				       "memory region",
				       "memory window",
				       "flow",
				       "XRC domain",
				       "receive work queue indirection table",
				       "work queue",
				       "flow action",
				       "device memory",
				       "counters",
				       "asynchronous event file" };

const char *rd_word_call(const struct rd_event *event)
{
	return event->verb ?: event->method ?: "the call";
}

const char *rd_word_pointer(uint64_t address, char *ret)
{
	snprintf(ret, RD_WORD_ADDRESS, "0x%" PRIx64, address);
	return ret;
}

bool rd_word_is_plain(const char *name)
{
	return !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@:._/-")];
}

bool rd_is_multicast_gid(const uint8_t *gid)
{
	return gid[0] == 0xff || (rd_is_v4_gid(gid) && gid[12] >> 4 == 0xe);
}

bool rd_is_zero(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

const char *rd_word_gid(const uint8_t *gid, char *ret)
{
	if (rd_is_v4_gid(gid))
		rd_ip_text(false, gid + 12, ret);
	else
		rd_ip_text(true, gid, ret);
	return ret;
}

const char *rd_word_socket(const struct rd_req_address *address, char *ret)
{
	if (address->family == AF_INET || address->family == AF_INET6)
		rd_ip_text(address->family == AF_INET6, address->addr, ret);
	else
		snprintf(ret, RD_WORD_IP, "address of family %u", address->family);
	return ret;
}

const char *rd_word_port(const struct rd_failure *f, char *ret)
{
	const char *ibdev = f->event->ibdev ?: "the device";

	if (f->dev.port)
		snprintf(ret, RD_PORT_TEXT, "%.80s/%u", ibdev, f->dev.port);
	else
		snprintf(ret, RD_PORT_TEXT, "%.80s", ibdev);
	return ret;
}

const char *rd_word_object(unsigned type)
{
	return type < RD_ARRAY_SIZE(objects) ? objects[type] : "object of the driver";
}

unsigned rd_word_type_of(enum rd_req_field field)
{
	static const uint8_t types[RD_REQ_HANDLES] = {
		[RD_REQ_H_PD] = RD_OBJ_PD,	[RD_REQ_H_MR] = RD_OBJ_MR,   [RD_REQ_H_MW] = RD_OBJ_MW,
		[RD_REQ_H_AH] = RD_OBJ_AH,	[RD_REQ_H_QP] = RD_OBJ_QP,   [RD_REQ_H_CQ] = RD_OBJ_CQ,
		[RD_REQ_H_RECV_CQ] = RD_OBJ_CQ, [RD_REQ_H_SRQ] = RD_OBJ_SRQ, [RD_REQ_H_XRCD] = RD_OBJ_XRCD,
		[RD_REQ_H_WQ] = RD_OBJ_WQ,
	};

	return (unsigned)field < RD_REQ_HANDLES ? types[field] : 0;
}

const char *rd_word_mask(uint32_t mask, char *ret)
{
	size_t at = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < 32 && at < RD_MASK_TEXT; i++) {
		const char *name = rd_qp_attr_name(i);

		if (!(mask >> i & 1))
			continue;
		if (name)
			at += (size_t)snprintf(ret + at, RD_MASK_TEXT - at, "%sIBV_QP_%s", at ? ", " : "", name);
		else
			at += (size_t)snprintf(ret + at, RD_MASK_TEXT - at, "%sbit %u", at ? ", " : "", i);
	}
	return ret;
}

const struct rd_moment_handle *rd_handle_of(const struct rd_failure *f, enum rd_req_field field)
{
	const struct rd_moment *m = &f->event->moment;

	if (!rd_req_has(&f->event->request, field))
		return NULL;
	for (size_t i = 0; i < m->n_handles; i++)
		if (m->handles[i].handle == (uint32_t)f->event->request.v[field] && m->handles[i].looked_up)
			return &m->handles[i];
	return NULL;
}

bool rd_is_verb(const struct rd_event *event, const char *verb)
{
	return event->verb && !fnmatch(verb, event->verb, FNM_EXTMATCH);
}
