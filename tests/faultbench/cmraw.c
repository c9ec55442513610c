/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connection manager by write(2): calls in the wrong state, which librdmacm would not survive, ids that are gone,
 * and commands that are no commands.
 */
#include "fault.h"
#include <rdma/rdma_user_cm.h>

static int ucma(int fd, uint32_t cmd, const void *in, size_t in_len, size_t out_len)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		uint8_t body[1024];
	} msg = { .hdr = { cmd, in_len, out_len } };

	memcpy(msg.body, in, in_len);
	return write(fd, &msg, sizeof(msg.hdr) + in_len) < 0 ? errno : 0;
}

static int open_cm(void)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);

	return fd < 0 ? unready("/dev/infiniband/rdma_cm") : fd;
}

static int create_id(int fd, int ps)
{
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_create_id cmd = { .response = (uintptr_t)&resp, .ps = ps };

	errno = fd < 0 ? EBADF : ucma(fd, RDMA_USER_CM_CMD_CREATE_ID, &cmd, sizeof(cmd), sizeof(resp));
	return errno ? unready("CREATE_ID") : (int)resp.id;
}

static struct rdma_ucm_bind bind_cmd(int id, const char *address)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct rdma_ucm_bind cmd = { .id = id, .addr_size = sizeof(sin) };

	inet_pton(AF_INET, address, &sin.sin_addr);
	memcpy(&cmd.addr, &sin, sizeof(sin));
	return cmd;
}

/* An id of ours in a state */
enum state { UNBOUND, BOUND, LISTENING };

static int id_in(int fd, enum state state, int ps)
{
	int id = create_id(fd, ps);
	struct rdma_ucm_bind cmd = bind_cmd(id, "10.9.0.1");
	struct rdma_ucm_listen listen = { .id = id, .backlog = 4 };

	if (id < 0)
		return -1;
	errno = 0;
	if (state >= BOUND)
		errno = ucma(fd, RDMA_USER_CM_CMD_BIND, &cmd, sizeof(cmd), 0);
	if (state >= LISTENING && !errno)
		errno = ucma(fd, RDMA_USER_CM_CMD_LISTEN, &listen, sizeof(listen), 0);
	truth("cm_id", "%d", id);
	truth("cm_state", "%s", state == UNBOUND ? "IDLE" : state == BOUND ? "ADDR_BOUND" : "LISTEN");
	return errno ? unready("BIND") : id;
}

/* Each command that wants another state. `arg`: which, and whether the id is bound. */
#define IN(state, command) ((state) << 8 | RDMA_USER_CM_CMD_##command)

static int wrong_state(struct env *env)
{
	int fd = open_cm(), command = env->fault->arg & 255, id = id_in(fd, env->fault->arg >> 8, RDMA_PS_TCP);
	struct ib_uverbs_qp_attr resp;
	struct rdma_ucm_resolve_route route = { .id = id, .timeout_ms = 1000 };
	struct rdma_ucm_accept accept = { .conn_param = { .valid = 1 }, .id = id };
	struct rdma_ucm_reject reject = { .id = id };
	struct rdma_ucm_disconnect disconnect = { .id = id };
	struct rdma_ucm_connect connect = { .conn_param = { .valid = 1 }, .id = id };
	struct rdma_ucm_init_qp_attr init = { .response = (uintptr_t)&resp, .id = id, .qp_state = IBV_QPS_RTR };
	struct rdma_ucm_notify notify = { .id = id, .event = IBV_EVENT_COMM_EST };

	if (id < 0)
		return -1;
	switch (command) {
	case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
		return ucma(fd, command, &route, sizeof(route), 0);
	case RDMA_USER_CM_CMD_ACCEPT:
		return ucma(fd, command, &accept, sizeof(accept), 0);
	case RDMA_USER_CM_CMD_REJECT:
		return ucma(fd, command, &reject, sizeof(reject), 0);
	case RDMA_USER_CM_CMD_DISCONNECT:
		return ucma(fd, command, &disconnect, sizeof(disconnect), 0);
	case RDMA_USER_CM_CMD_CONNECT:
		return ucma(fd, command, &connect, sizeof(connect), 0);
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
		return ucma(fd, command, &init, sizeof(init), sizeof(resp));
	}
	return ucma(fd, RDMA_USER_CM_CMD_NOTIFY, &notify, sizeof(notify), 0);
}

enum value { REJECT_REASON, QP_STATE, EVENT, PORT_SPACE, FAMILY, ADDRESS_SIZE, QUERY_OPTION };

static int wrong_value(struct env *env)
{
	enum value what = env->fault->arg;
	int fd = open_cm(),
	    id = what == PORT_SPACE ? 0 : id_in(fd, what == EVENT ? LISTENING : what == REJECT_REASON, RDMA_PS_TCP);
	uint8_t resp[512];
	struct rdma_ucm_reject reject = { .id = id, .reason = 99 };
	struct rdma_ucm_init_qp_attr init = { .response = (uintptr_t)resp, .id = id, .qp_state = 99 };
	struct rdma_ucm_notify notify = { .id = id, .event = 99 };
	struct rdma_ucm_create_id create = { .response = (uintptr_t)resp, .ps = 0x999 };
	struct rdma_ucm_query query = { .response = (uintptr_t)resp, .id = id, .option = 99 };
	struct rdma_ucm_bind bind = bind_cmd(id, "10.9.0.1");

	if (id < 0)
		return -1;
	switch (what) {
	case REJECT_REASON:
		truth("reason", "99");
		return ucma(fd, RDMA_USER_CM_CMD_REJECT, &reject, sizeof(reject), 0);
	case QP_STATE:
		truth("qp_state", "99");
		return ucma(fd, RDMA_USER_CM_CMD_INIT_QP_ATTR, &init, sizeof(init), sizeof(resp));
	case EVENT:
		truth("event", "99");
		return ucma(fd, RDMA_USER_CM_CMD_NOTIFY, &notify, sizeof(notify), 0);
	case PORT_SPACE:
		truth("port_space", "0x999");
		return ucma(fd, RDMA_USER_CM_CMD_CREATE_ID, &create, sizeof(create), sizeof(resp));
	case FAMILY:
		bind.addr.ss_family = AF_UNIX;
		truth("family", "%d", AF_UNIX);
		return ucma(fd, RDMA_USER_CM_CMD_BIND, &bind, sizeof(bind), 0);
	case ADDRESS_SIZE:
		bind.addr_size = 3;
		truth("addr_size", "3");
		return ucma(fd, RDMA_USER_CM_CMD_BIND, &bind, sizeof(bind), 0);
	case QUERY_OPTION:
		truth("option", "99");
		return ucma(fd, RDMA_USER_CM_CMD_QUERY, &query, sizeof(query), sizeof(resp));
	}
	return -1;
}

enum join { JOIN_UNBOUND, JOIN_RC, JOIN_ZERO, JOIN_IPV6, JOIN_FLAGS };

static int join(struct env *env)
{
	enum join how = env->fault->arg;
	int fd = open_cm(), id = id_in(fd, how != JOIN_UNBOUND, how == JOIN_RC ? RDMA_PS_TCP : RDMA_PS_UDP);
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_join_mcast cmd = {
		.response = (uintptr_t)&resp,
		.id = id,
		.addr_size = how == JOIN_IPV6 ? sizeof(sin6) : sizeof(sin),
		.join_flags = how == JOIN_FLAGS ? 7 : RDMA_MC_JOIN_FLAG_FULLMEMBER,
	};

	inet_pton(AF_INET, how == JOIN_ZERO ? "0.0.0.0" : "239.1.2.3", &sin.sin_addr);
	inet_pton(AF_INET6, "ff0e::1:203", &sin6.sin6_addr);
	if (how == JOIN_IPV6)
		memcpy(&cmd.addr, &sin6, sizeof(sin6));
	else
		memcpy(&cmd.addr, &sin, sizeof(sin));
	truth("group", "%s", how == JOIN_IPV6 ? "ff0e::1:203" : inet_ntoa(sin.sin_addr));
	truth("join_flags", "%u", cmd.join_flags);
	return id < 0 ? -1 : ucma(fd, RDMA_USER_CM_CMD_JOIN_MCAST, &cmd, sizeof(cmd), sizeof(resp));
}

/* Options: no such option, no such level, a wrong length, too late, a value that is not mapped. */
enum option { NO_OPTION, NO_LEVEL, LENGTH, TOO_LATE, TIMEOUT_UD, VALUE_UNMAPPED, HUGE };

static int option(struct env *env)
{
	enum option what = env->fault->arg;
	int fd = open_cm(), value = 1;
	int id = id_in(fd, what == TOO_LATE ? LISTENING : UNBOUND, what == TIMEOUT_UD ? RDMA_PS_UDP : RDMA_PS_TCP);
	struct rdma_ucm_set_option cmd = {
		.optval = what == VALUE_UNMAPPED ? (uintptr_t)UNMAPPED : (uintptr_t)&value,
		.id = id,
		.level = what == NO_LEVEL ? 9 : RDMA_OPTION_ID,
		.optname = what == NO_OPTION  ? 77 :
			   what == TIMEOUT_UD ? RDMA_OPTION_ID_ACK_TIMEOUT :
						RDMA_OPTION_ID_REUSEADDR,
		.optlen = what == LENGTH     ? 2 :
			  what == TIMEOUT_UD ? 1 :
			  what == HUGE	     ? 1U << 30 :
					       sizeof(value),
	};

	truth("level", "%u", cmd.level);
	truth("optname", "%u", cmd.optname);
	truth("optlen", "%u", cmd.optlen);
	if (what == VALUE_UNMAPPED)
		truth("hole", "%p", UNMAPPED);
	return id < 0 ? -1 : ucma(fd, RDMA_USER_CM_CMD_SET_OPTION, &cmd, sizeof(cmd), 0);
}

/* Ids that are gone, never were, or are another channel's */
enum stale { DESTROYED, FOREIGN, GROUP, MIGRATE_ID, MIGRATE_FD, MIGRATE_NOT_CM };

static int stale_id(struct env *env)
{
	enum stale how = env->fault->arg;
	int fd = open_cm(), other = how == FOREIGN ? open_cm() : fd, id = create_id(other, RDMA_PS_TCP);
	struct rdma_ucm_destroy_id_resp resp;
	struct rdma_ucm_destroy_id destroy = { .response = (uintptr_t)&resp, .id = id };
	struct rdma_ucm_migrate_id migrate = { .response = (uintptr_t)&resp, .id = id, .fd = fd };
	struct rdma_ucm_bind bind = bind_cmd(id, "10.9.0.1");

	if (id < 0)
		return -1;
	if (how == DESTROYED || how == MIGRATE_ID) {
		errno = ucma(fd, RDMA_USER_CM_CMD_DESTROY_ID, &destroy, sizeof(destroy), sizeof(resp));
		if (errno)
			return unready("DESTROY_ID");
	}
	if (how == MIGRATE_FD || how == MIGRATE_NOT_CM) {
		migrate.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (how == MIGRATE_FD)
			close(migrate.fd);
		truth("fd", "%u", migrate.fd);
	}
	if (how == GROUP)
		destroy.id = 4711;
	truth("cm_id", "%u", how == GROUP ? destroy.id : (uint32_t)id);
	if (how == GROUP)
		return ucma(fd, RDMA_USER_CM_CMD_LEAVE_MCAST, &destroy, sizeof(destroy), sizeof(resp));
	if (how >= MIGRATE_ID)
		return ucma(fd, RDMA_USER_CM_CMD_MIGRATE_ID, &migrate, sizeof(migrate), sizeof(resp));
	return ucma(fd, RDMA_USER_CM_CMD_BIND, &bind, sizeof(bind), 0);
}

/* What is no command */
enum malformed { COMMAND_200, SHORT, LENGTH_ABOVE, NO_FUNCTION, RESPONSE_SHORT, RESPONSE_READONLY, BUFFER_UNMAPPED };

static int malformed(struct env *env)
{
	enum malformed how = env->fault->arg;
	struct rdma_ucm_create_id_resp resp;
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_create_id cmd;
	} msg = {
		.hdr = { RDMA_USER_CM_CMD_CREATE_ID, sizeof(msg.cmd), sizeof(resp) },
		.cmd = { .response = (uintptr_t)&resp, .ps = RDMA_PS_TCP },
	};
	int fd = open_cm();
	size_t length = sizeof(msg);
	void *buffer = &msg, *map;

	if (fd < 0)
		return -1;
	if (how == COMMAND_200)
		msg.hdr.cmd = 200;
	if (how == SHORT)
		length = 4;
	if (how == LENGTH_ABOVE)
		msg.hdr.in = 2000;
	if (how == NO_FUNCTION)
		msg.hdr.cmd = RDMA_USER_CM_CMD_GET_OPTION;
	if (how == RESPONSE_SHORT)
		msg.hdr.out = 1;
	if (how == RESPONSE_READONLY) {
		map = pages(1, PROT_READ);
		msg.cmd.response = (uintptr_t)map;
		truth("response", "%p", map);
	}
	if (how == BUFFER_UNMAPPED) {
		buffer = UNMAPPED;
		truth("hole", "%p", UNMAPPED);
	}
	truth("command", "%u", msg.hdr.cmd);
	truth("write_bytes", "%zu", length);
	truth("fd", "%d", fd);
	return write(fd, buffer, length) < 0 ? errno : 0;
}

const struct fault cm_raw_faults[] = {
	{ "cm-route-unbound", "rdma_resolve_route", "cm-id-state", "no address is resolved, not bound", NOTHING,
	  wrong_state, IN(UNBOUND, RESOLVE_ROUTE) },
	{ "cm-route-bound", "rdma_resolve_route", "cm-id-state", "no address is resolved, bound", NOTHING, wrong_state,
	  IN(BOUND, RESOLVE_ROUTE) },
	{ "cm-connect-unbound", "rdma_connect", "cm-id-state", "not bound", NOTHING, wrong_state, IN(UNBOUND, CONNECT) },
	{ "cm-accept-idle", "rdma_accept", "cm-id-state", "no connection request", NOTHING, wrong_state,
	  IN(BOUND, ACCEPT) },
	{ "cm-reject-idle", "rdma_reject", "cm-id-state", "no connection request", NOTHING, wrong_state,
	  IN(BOUND, REJECT) },
	{ "cm-disconnect-idle", "rdma_disconnect", "cm-id-state", "no connection", NOTHING, wrong_state,
	  IN(BOUND, DISCONNECT) },
	{ "cm-disconnect-unbound", "rdma_disconnect", "cm-id-state", "not bound", NOTHING, wrong_state,
	  IN(UNBOUND, DISCONNECT) },
	{ "cm-qp-attr-listen", "rdma_init_qp_attr", "cm-id-state", "attributes for RTR of a listener", NOTHING,
	  wrong_state, IN(LISTENING, INIT_QP_ATTR) },
	{ "cm-qp-attr-unbound", "rdma_init_qp_attr", "cm-id-state", "not bound", NOTHING, wrong_state,
	  IN(UNBOUND, INIT_QP_ATTR) },
	{ "cm-notify-unbound", "rdma_notify", "cm-id-state", "not bound", NOTHING, wrong_state, IN(UNBOUND, NOTIFY) },
	{ "cm-notify-listen", "rdma_notify", "cm-id-state", "established, says a listener", NOTHING, wrong_state,
	  IN(LISTENING, NOTIFY) },
	{ "cm-notify-event", "rdma_notify", "attribute-value", "an event that does not exist", NOTHING, wrong_value,
	  EVENT },
	{ "cm-reject-reason", "rdma_reject", "attribute-value", "a reason that does not exist", NOTHING, wrong_value,
	  REJECT_REASON },
	{ "cm-qp-attr-state", "rdma_init_qp_attr", "attribute-value", "a state that does not exist", NOTHING,
	  wrong_value, QP_STATE },
	{ "cm-port-space", "rdma_create_id", "attribute-value", "a port space that does not exist", NOTHING,
	  wrong_value, PORT_SPACE },
	{ "cm-bind-family", "rdma_bind_addr", "address-family", "AF_UNIX", NOTHING, wrong_value, FAMILY },
	{ "cm-bind-size", "rdma_bind_addr", "request-malformed", "an address of three bytes", NOTHING, wrong_value,
	  ADDRESS_SIZE },
	{ "cm-query-option", "write(QUERY)", "not-supported", "a query that does not exist: ENOSYS", NOTHING,
	  wrong_value, QUERY_OPTION },
	{ "cm-join-unbound", "rdma_join_multicast", "cm-id-state", "not bound", NOTHING, join, JOIN_UNBOUND },
	{ "cm-join-rc", "rdma_join_multicast", "qp-type", "an id for RC", NOTHING, join, JOIN_RC },
	{ "cm-join-zero", "rdma_join_multicast", "multicast-address", "0.0.0.0", NOTHING, join, JOIN_ZERO },
	{ "cm-join-v6", "rdma_join_multicast", "not-supported", "IPv6 on RoCEv2: errno 524", NOTHING, join, JOIN_IPV6 },
	{ "cm-join-flags", "rdma_join_multicast", "attribute-value", "join flags that do not exist", NOTHING, join,
	  JOIN_FLAGS },
	{ "cm-option", "rdma_set_option", "not-supported", "an option that does not exist: ENOSYS", NOTHING, option,
	  NO_OPTION },
	{ "cm-option-level", "rdma_set_option", "not-supported", "a level that does not exist: ENOSYS", NOTHING, option,
	  NO_LEVEL },
	{ "cm-option-length", "rdma_set_option", "attribute-value", "a value of the wrong length", NOTHING, option,
	  LENGTH },
	{ "cm-option-late", "rdma_set_option", "cm-id-state", "REUSEADDR of a listener", NOTHING, option, TOO_LATE },
	{ "cm-option-ud", "rdma_set_option", "qp-type", "an ACK timeout for UD", NOTHING, option, TIMEOUT_UD },
	{ "cm-option-unmapped", "rdma_set_option", "user-buffer", "a value that is not mapped", NOTHING, option,
	  VALUE_UNMAPPED },
	{ "cm-option-huge", "rdma_set_option", "attribute-value", "a value of 1 GiB", NOTHING, option, HUGE },
	{ "cm-stale", "rdma_bind_addr", "cm-id-stale", "an id that was destroyed", NOTHING, stale_id, DESTROYED },
	{ "cm-foreign", "rdma_bind_addr", "cm-id-foreign", "an id of another channel", NOTHING, stale_id, FOREIGN },
	{ "cm-leave-stale", "rdma_leave_multicast", "cm-id-stale", "a group that was never joined", NOTHING, stale_id,
	  GROUP },
	{ "cm-migrate-stale", "rdma_migrate_id", "cm-id-stale", "an id that was destroyed", NOTHING, stale_id,
	  MIGRATE_ID },
	{ "cm-migrate-closed", "rdma_migrate_id", "descriptor-invalid", "from a closed channel: ENOENT", NOTHING,
	  stale_id, MIGRATE_FD },
	{ "cm-migrate-not-cm", "rdma_migrate_id", "descriptor-invalid", "from a descriptor that is no channel", NOTHING,
	  stale_id, MIGRATE_NOT_CM },
	{ "cm-command-200", "write(rdma_cm)", "request-malformed", "a command that does not exist", NOTHING, malformed,
	  COMMAND_200 },
	{ "cm-get-option", "write(GET_OPTION)", "not-supported", "a command without a function: ENOSYS", NOTHING,
	  malformed, NO_FUNCTION },
	{ "cm-short", "write(rdma_cm)", "request-malformed", "four bytes", NOTHING, malformed, SHORT },
	{ "cm-length-above", "write(rdma_cm)", "request-malformed", "longer than what is written", NOTHING, malformed,
	  LENGTH_ABOVE },
	{ "cm-response-short", "write(CREATE_ID)", "request-malformed", "no room for the response", NOTHING, malformed,
	  RESPONSE_SHORT },
	{ "cm-response-readonly", "write(CREATE_ID)", "user-buffer", "a response that cannot be written", NOTHING,
	  malformed, RESPONSE_READONLY },
	{ "cm-unmapped", "write(rdma_cm)", "user-buffer", "a command that is not mapped", NOTHING, malformed,
	  BUFFER_UNMAPPED },
	{ 0 },
};
