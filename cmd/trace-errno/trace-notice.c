// SPDX-License-Identifier: GPL-2.0-or-later
/* What others learn of --service: systemd by sd_notify(3), other commands by a file with the failures of the last hour. */
#include <sys/socket.h>
#include <sys/un.h>

#include "analyse/trace/trace.h"
#include "source/opener/opener.h"
#include "trace.h"

#define MINUTE UINT64_C(60000000000)

void trace_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = path ? strlen(path) : 0;
	_cleanup_close_ int fd = -1;

	if (!len || len >= sizeof(to.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(to.sun_path, path, len);
	if (*path == '@')
		to.sun_path[0] = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&to,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
}

/* Makes the minutes since the latest failure empty. */
static void forget_minutes(struct rd_recent_failure *f, uint64_t now)
{
	const size_t n = RD_ARRAY_SIZE(f->minutes);

	for (uint64_t k = f->last_ns / MINUTE + 1, end = k + n; k <= now / MINUTE && k < end; k++)
		f->minutes[k % n] = 0;
	if (now > f->last_ns)
		f->last_ns = now;
}

struct rd_recent_failure *trace_recent_add(struct rd_recent_file *file, const struct rd_failure_count *where,
					   const struct rd_event *ev, uint64_t count, const struct rd_crash_loop *loop)
{
	uint64_t key = rd_hash(RD_HASH, where, offsetof(struct rd_failure_count, err) + sizeof(where->err));
	struct rd_recent_failure *f = file->v;

	key = rd_hash(key, ev->comm, strnlen(ev->comm, sizeof(ev->comm))) | 1;
	for (struct rd_recent_failure *k = file->v; k < file->v + RD_RECENT_MAX && f->key != key; k++)
		if (k->key == key || k->last_ns < f->last_ns)
			f = k;
	if (f->key != key) {
		*f = (struct rd_recent_failure){ .key = key, .where = *where, .last_ns = ev->at_ns };
		memcpy(f->comm, ev->comm, sizeof(f->comm) - 1);
	}
	forget_minutes(f, ev->at_ns);
	f->minutes[ev->at_ns / MINUTE % RD_ARRAY_SIZE(f->minutes)] += (uint32_t)count;
	f->pid = ev->pid;
	if (loop && rd_crash_loop_is(loop)) {
		f->failed = loop->where.count;
		f->starts = loop->starts;
		f->at_ns = loop->at_ns;
		f->gap_ns = loop->gap_ns;
	}
	return f;
}

void trace_recent_write(const struct trace *t, struct rd_recent_file *file, struct trace_box *box, uint64_t valid_ns)
{
	const struct rd_buf bytes = { .data = (char *)file, .len = sizeof(*file) };
	struct rd_err err = { 0 };
	static bool warned;

	memcpy(file->magic, RD_RECENT_MAGIC, sizeof(file->magic));
	file->version = RD_RECENT_VERSION;
	file->size = sizeof(*file);
	file->since_ns = t->started;
	file->written_ns = trace_now(t);
	file->until_ns = file->written_ns + valid_ns + MINUTE / 2;
	box->written = false;
	snprintf(file->box, sizeof(file->box), "%s", box->path);
	if (rd_replace_file(RD_SOURCE_RECENT, &bytes, &err) < 0 && !warned)
		rd_warn(t->ctx, "%s: %s: %s", err.object, err.message, rd_errno_text(err.code));
	warned |= err.code != 0;
}
