/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel that answers netlink requests with messages made by hand, for what no test machine's kernel can show. */
#ifndef RD_FAKE_NETLINK_H
#define RD_FAKE_NETLINK_H

#include <libmnl/libmnl.h>

#include "base/buf.h"
#include "tests/source-parts.h"

enum { FAKE_FAMILY = 30 }; /* the number that every family of generic netlink has */

struct fake_netlink {
	struct rd_source source; /* files and folders: of `files` of fake_netlink_init, if there is one */
	struct source_parts ops;
	struct fake_answer {
		int protocol, type, command; /* of the request; command: of generic netlink, else -1 */
		int code;		     /* refused with this errno */
		uint8_t data[4096] __attribute__((aligned(4)));
		size_t size;
	} answers[24];
	size_t n;
	uint8_t asked[1024] __attribute__((aligned(4))); /* the newest request that was not for a family's number */
};

void fake_netlink_init(struct fake_netlink *fake, struct rd_source *files);

/* Adds an answer without messages. */
struct fake_answer *fake_answer_add(struct fake_netlink *fake, int protocol, int type, int command);

/* Begins a message in it; `head` bytes of the family's own header, zeroed, are at mnl_nlmsg_get_payload. The answer grows by
 * fake_message_end. */
struct nlmsghdr *fake_message(struct fake_answer *answer, int type, const void *head, size_t size);
void fake_message_end(struct fake_answer *answer, struct nlmsghdr *message);

/* Adds an attribute, padded, to bytes that are no answer of a fake_netlink. */
void fake_attr(struct rd_buf *out, uint16_t type, const void *data, size_t size);

#endif
