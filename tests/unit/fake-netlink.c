/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "fake-netlink.h"
#include "source/bundle/tree.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>

static uint64_t fake_now(struct rd_source *src, int clock)
{
	return (uint64_t)clock + 1;
}

static int family_answer(struct rd_bytes *ret)
{
	uint8_t data[64] __attribute__((aligned(4))) = { 0 };
	struct genlmsghdr genl = { .cmd = CTRL_CMD_NEWFAMILY };
	struct nlmsghdr *head = mnl_nlmsg_put_header(data);

	head->nlmsg_type = GENL_ID_CTRL;
	memcpy(mnl_nlmsg_put_extra_header(head, sizeof(genl)), &genl, sizeof(genl));
	mnl_attr_put_u16(head, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY);
	return rd_bytes_copy(data, head->nlmsg_len, ret);
}

static int fake_ask(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
		    struct rd_err *err)
{
	struct fake_netlink *fake = (struct fake_netlink *)src;
	struct genlmsghdr genl = { 0 };
	struct nlmsghdr head;

	memcpy(&head, request, sizeof(head));
	if (protocol == NETLINK_GENERIC && size >= sizeof(head) + sizeof(genl))
		memcpy(&genl, (const uint8_t *)request + sizeof(head), sizeof(genl));
	if (protocol == NETLINK_GENERIC && head.nlmsg_type == GENL_ID_CTRL)
		return family_answer(ret);
	assert_in_range(size, sizeof(head), sizeof(fake->asked));
	memcpy(fake->asked, request, size);
	for (size_t i = 0; i < fake->n; i++) {
		const struct fake_answer *answer = &fake->answers[i];

		if (answer->protocol != protocol || answer->type != head.nlmsg_type ||
		    (answer->command >= 0 && answer->command != genl.cmd))
			continue;
		if (answer->code)
			return rd_err_set(err, answer->code, "netlink", "refused");
		return rd_bytes_copy(answer->data, answer->size, ret);
	}
	return rd_err_set(err, EOPNOTSUPP, "netlink", "nobody answers that");
}

void fake_netlink_init(struct fake_netlink *fake, struct rd_source *files)
{
	*fake = (struct fake_netlink){ 0 };
	fake->ops = (struct source_parts){
		.ops.get = parts_get, .ops.name = "live", .ops.now = fake_now, .netlink = fake_ask, .inner = files
	};
	fake->source.ops = &fake->ops.ops;
}

struct fake_answer *fake_answer_add(struct fake_netlink *fake, int protocol, int type, int command)
{
	struct fake_answer *answer = &fake->answers[fake->n++];

	assert_true(fake->n <= RD_ARRAY_SIZE(fake->answers));
	answer->protocol = protocol;
	answer->type = type;
	answer->command = command;
	return answer;
}

struct nlmsghdr *fake_message(struct fake_answer *answer, int type, const void *head, size_t size)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(answer->data + answer->size);

	message->nlmsg_type = (uint16_t)type;
	if (size > 0)
		memcpy(mnl_nlmsg_put_extra_header(message, size), head, size);
	return message;
}

void fake_message_end(struct fake_answer *answer, struct nlmsghdr *message)
{
	answer->size += MNL_ALIGN(message->nlmsg_len);
	assert_true(answer->size + 1024 < sizeof(answer->data));
}

void fake_attr(struct rd_buf *out, uint16_t type, const void *data, size_t size)
{
	struct nlattr attr = { .nla_len = (uint16_t)(NLA_HDRLEN + size), .nla_type = type };
	static const char zeros[4];

	rd_buf_add(out, &attr, sizeof(attr));
	rd_buf_add(out, data, size);
	rd_buf_add(out, zeros, -size & (NLA_ALIGNTO - 1));
}
