/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/shared/netlink.h"

#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

/* The kernel fills at most 32 KiB per read. */
#define RECEIVE_SIZE ((size_t)64 << 10)
#define ANSWER_MAX ((size_t)64 << 20)
#define TRIES 5
#define PATIENCE_SECONDS 10
#define SOCKET_BUFFER (1 << 20)

size_t rd_nlmsg_length(const void *at, size_t size)
{
	struct nlmsghdr head;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, at, sizeof(head));
	if (head.nlmsg_len < sizeof(head) || NLMSG_ALIGN((size_t)head.nlmsg_len) > size)
		return 0;
	return NLMSG_ALIGN((size_t)head.nlmsg_len);
}

bool rd_nlmsgs_sound(const void *data, size_t size)
{
	const uint8_t *at = data, *end = at + size;

	while (at < end) {
		size_t length = rd_nlmsg_length(at, end - at);

		if (!length)
			return false;
		at += length;
	}
	return true;
}

int rd_nlrequest_check(const void *request, size_t size, struct rd_err *err)
{
	struct nlmsghdr head;

	if (size >= sizeof(head) && size <= UINT16_MAX) {
		memcpy(&head, request, sizeof(head));
		if (head.nlmsg_len == size && (head.nlmsg_flags & NLM_F_REQUEST) && !head.nlmsg_seq && !head.nlmsg_pid)
			return 0;
	}
	return rd_err_set(err, EINVAL, "netlink", "not exactly one complete request");
}

const char *rd_nlprotocol_name(int protocol, char *buf)
{
	const char *name = protocol == NETLINK_ROUTE   ? "route" :
			   protocol == NETLINK_RDMA    ? "rdma" :
			   protocol == NETLINK_GENERIC ? "generic" :
							 NULL;

	if (!name)
		snprintf(buf, 16, "%d", protocol);
	return name ? name : buf;
}

const char *rd_query_object(const struct rd_query *query, char *buf)
{
	struct nlmsghdr head = { 0 };
	char name[16];

	if (query->op != RD_OP_NETLINK)
		return query->data;
	memcpy(&head, query->data, query->size < sizeof(head) ? query->size : sizeof(head));
	snprintf(buf, RD_NLOBJECT, "netlink %s, request %u", rd_nlprotocol_name(query->protocol, name), head.nlmsg_type);
	return buf;
}

void rd_nlrequest_path(int protocol, const void *request, size_t size, char *buf, size_t buf_size)
{
	struct nlmsghdr head;
	char name[16];

	memcpy(&head, request, sizeof(head));
	snprintf(buf, buf_size, "%s/%u-%016llx", rd_nlprotocol_name(protocol, name), head.nlmsg_type,
		 (unsigned long long)rd_hash(RD_HASH, request, size));
}

void rd_nlsockets_deinit(struct rd_nlsockets *sockets)
{
	for (size_t i = 0; i < sockets->n; i++)
		mnl_socket_close(sockets->v[i].socket);
	sockets->n = 0;
}

static int open_socket(int protocol, struct mnl_socket **ret)
{
	struct timeval patience = { .tv_sec = PATIENCE_SECONDS };
	struct mnl_socket *socket = mnl_socket_open2(protocol, SOCK_CLOEXEC);
	int buffer = SOCKET_BUFFER, fd;

	if (!socket)
		return -errno;
	fd = mnl_socket_get_fd(socket);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		int code = errno;

		mnl_socket_close(socket);
		return -code;
	}
	*ret = socket;
	return 0;
}

static int socket_of(struct rd_nlsockets *sockets, int protocol, struct mnl_socket **ret)
{
	int r;

	for (size_t i = 0; i < sockets->n; i++)
		if (sockets->v[i].protocol == protocol) {
			*ret = sockets->v[i].socket;
			return 0;
		}
	if (sockets->n == RD_ARRAY_SIZE(sockets->v))
		return -EMFILE;
	r = open_socket(protocol, ret);
	if (r < 0)
		return r;
	sockets->v[sockets->n++] = (struct rd_nlsocket){ protocol, *ret };
	return 0;
}

/* A request and its reply. */
struct answer {
	uint32_t seq;
	bool dump;
	bool acked; /* the request has NLM_F_ACK */
	bool interrupted, done;
	bool refused; /* the error is from the kernel */
	struct rd_bytes bytes;
	size_t cap;
};

static int answer_add(struct answer *answer, const uint8_t *at, size_t length)
{
	struct nlmsghdr head;

	if (answer->bytes.size + length > ANSWER_MAX)
		return -EFBIG;
	rd_reserve(&answer->bytes.data, &answer->cap, answer->bytes.size + length + 1, 1);
	memcpy(&head, at, sizeof(head));
	head.nlmsg_seq = 0;
	head.nlmsg_pid = 0;
	memcpy(answer->bytes.data + answer->bytes.size, at, length);
	memcpy(answer->bytes.data + answer->bytes.size, &head, sizeof(head));
	answer->bytes.size += length;
	return 0;
}

/* The result that an NLMSG_ERROR or NLMSG_DONE carries: 0 or -errno. */
static int result_of(const uint8_t *at, size_t length)
{
	int code;

	if (length < NLMSG_HDRLEN + sizeof(code))
		return 0;
	memcpy(&code, at + NLMSG_HDRLEN, sizeof(code));
	return code < 0 && code >= -4095 ? code : 0;
}

static int answer_take(struct answer *answer, const uint8_t *data, size_t size)
{
	for (size_t length; size > 0; data += length, size -= length) {
		struct nlmsghdr head;
		int r;

		length = rd_nlmsg_length(data, size);
		if (!length)
			return -EBADMSG;
		memcpy(&head, data, sizeof(head));
		/* The rest of an abandoned exchange, or an unsolicited notification. */
		if (head.nlmsg_seq != answer->seq)
			continue;
		answer->interrupted |= (head.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
		if (head.nlmsg_type == NLMSG_NOOP)
			continue;
		if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_type == NLMSG_DONE) {
			int code = result_of(data, head.nlmsg_len);

			answer->done = true;
			answer->refused = code < 0;
			return code;
		}
		r = answer_add(answer, data, length);
		if (r < 0)
			return r;
		answer->done = !answer->dump && !answer->acked && !(head.nlmsg_flags & NLM_F_MULTI);
	}
	return 0;
}

static int receive(struct mnl_socket *socket, struct answer *answer)
{
	_cleanup_free_ uint8_t *room = rd_alloc(1, RECEIVE_SIZE);

	while (!answer->done) {
		ssize_t n = mnl_socket_recvfrom(socket, room, RECEIVE_SIZE);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			/* libmnl returns ENOSPC for a message that did not fit. */
			return errno == EAGAIN ? -ETIMEDOUT : errno == ENOSPC ? -EBADMSG : -errno;
		if (n == 0) /* nothing says that another one would have more */
			return -EBADMSG;
		r = answer_take(answer, room, n);
		if (r < 0)
			return r;
	}
	return 0;
}

/* An interrupted dump: the messages received so far are kept, followed by the error. */
static int keep_the_beginning(struct answer *answer, int code)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr body;
	} end = { .head = { .nlmsg_len = sizeof(end), .nlmsg_type = NLMSG_ERROR }, .body = { .error = code } };

	if (!answer->dump || !answer->refused || answer->bytes.size == 0)
		return code;
	return answer_add(answer, (const uint8_t *)&end, sizeof(end));
}

static int exchange(struct rd_nlsockets *sockets, struct mnl_socket *socket, const void *request, size_t size,
		    struct answer *answer)
{
	_cleanup_free_ uint8_t *message = rd_alloc(1, size);
	struct nlmsghdr head;

	memcpy(message, request, size);
	memcpy(&head, request, sizeof(head));
	answer->seq = head.nlmsg_seq = ++sockets->seq ? sockets->seq : ++sockets->seq;
	answer->dump = (head.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	answer->acked = !answer->dump && (head.nlmsg_flags & NLM_F_ACK);
	memcpy(message, &head, sizeof(head));
	if (mnl_socket_sendto(socket, message, size) < 0)
		return -errno;
	return receive(socket, answer);
}

int rd_nlsockets_ask(struct rd_nlsockets *sockets, int protocol, const void *request, size_t size, struct rd_bytes *ret,
		     struct rd_err *err)
{
	const struct rd_query query = { .op = RD_OP_NETLINK, .protocol = protocol, .size = size, .data = request };
	struct mnl_socket *socket = NULL;
	char object[RD_NLOBJECT];
	int r = rd_nlrequest_check(request, size, err);

	if (r < 0)
		return r;
	rd_query_object(&query, object);
	r = socket_of(sockets, protocol, &socket);
	if (r < 0)
		return rd_err_set(err, -r, object, "cannot open a socket");
	for (int tries = 0;; tries++) {
		struct answer answer = { 0 };

		r = exchange(sockets, socket, request, size, &answer);
		/* ENOBUFS: the receive buffer of the socket overflowed. */
		if (tries < TRIES && ((!r && answer.interrupted) || r == -ENOBUFS)) {
			free(answer.bytes.data);
			continue;
		}
		if (r < 0)
			r = keep_the_beginning(&answer, r);
		if (r < 0) {
			free(answer.bytes.data);
			return rd_err_set(err, -r, object, "request failed");
		}
		rd_reserve(&answer.bytes.data, &answer.cap, answer.bytes.size + 1, 1);
		answer.bytes.data[answer.bytes.size] = '\0';
		*ret = answer.bytes;
		return 0;
	}
}
