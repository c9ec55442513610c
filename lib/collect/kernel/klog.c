/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/kernel/kernel.h"

#define RECORDS_MAX ((size_t)1 << 18)

/* Parses a number that is followed by `end`, and skips both. */
static bool take_number(char **at, char end, uint64_t *ret)
{
	const char *behind = *at;

	if (rd_take_uint(&behind, RD_DECIMAL, UINT64_MAX, ret) < 0 || *behind != end)
		return false;
	*at += behind - *at + 1;
	return true;
}

/* "6,339,5140900,-;text" */
static bool parse_head(char *line, struct rd_krecord *ret)
{
	uint64_t priority, seq, us;
	char *text;

	if (!take_number(&line, ',', &priority) || !take_number(&line, ',', &seq))
		return false;
	text = strchr(line, ';');
	if (!text)
		return false;
	*text++ = '\0';
	/* More fields may follow the time. */
	line[strcspn(line, ",")] = '\0';
	if (!take_number(&line, '\0', &us) || us > UINT64_MAX / 1000)
		return false;
	rd_klog_unescape(text);
	*ret = (struct rd_krecord){ .seq = seq,
				    .time_ns = us * 1000,
				    .level = priority & 7,
				    .facility = (priority >> 3) & 0xff,
				    .form = rd_klog_form_of(text),
				    .text = text };
	return true;
}

void rd_klog_parse(struct rd_bytes *bytes, struct rd_klog *klog)
{
	struct rd_krecord record, *last = NULL;
	char *line, *rest;

	klog->text = (char *)RD_TAKE(bytes->data);
	bytes->size = 0;
	klog->known = RD_OK;
	rest = klog->text;
	while ((line = strsep(&rest, "\n")) && (*line || rest)) {
		if (*line == ' ') {
			if (last && !strncmp(line, " DEVICE=", 8)) {
				rd_klog_unescape(line);
				last->device = line + 8;
			}
			continue;
		}
		last = NULL;
		if (!parse_head(line, &record))
			continue;
		if (klog->n == RECORDS_MAX)
			break;
		last = RD_ADD(klog->v, klog->n, klog->cap);
		*last = record;
	}
	klog->lost = klog->n > 0 && klog->v[0].seq > 0;
}

void rd_collect_klog(struct rd_source *src, struct rd_klog *klog, struct rd_errlist *errors)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err why = { 0 };
	int r = rd_read_file(src, "/dev/kmsg", &bytes, &why);

	if (r < 0) {
		klog->code = -r;
		klog->known = r == -EACCES || r == -EPERM ? RD_DENIED : RD_ABSENT;
		if (klog->known == RD_DENIED)
			rd_err_hint(&why, "run as root, or allow all users to read it: sysctl kernel.dmesg_restrict=0");
		rd_errlist_add(errors, &why);
		return;
	}
	rd_klog_parse(&bytes, klog);
}
