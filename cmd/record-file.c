/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record-file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "source/opener/new-file.h"

/* Only an existing recording may be overwritten. */
static int check_contents(int fd, enum rd_series_format format, const char *path, struct rd_err *err)
{
	char head[RD_SERIES_HEAD];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return rd_err_set(err, errno, path, "cannot write");
	if (!S_ISREG(st.st_mode))
		return rd_err_set(err, EINVAL, path, "not a regular file");
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0)
		return rd_err_set(err, errno, path, "cannot read");
	if (n == 0 || rd_series_is(format, head, (size_t)n))
		return 0;
	rd_err_set(err, EEXIST, path, "not a recording in this format: not overwritten");
	rd_err_hint(err, "use another file name");
	return -EEXIST;
}

int record_file_open(struct rd_ctx *ctx, const char *path, struct record_file *file, struct rd_err *err)
{
	enum rd_series_format format = 0;
	int r;

	*file = (struct record_file){ .ctx = ctx, .path = path, .fd = -1 };
	if (rd_series_format_of(path, &format) < 0) {
		rd_err_set(err, EINVAL, "--record", "unknown format of '%s'", path);
		rd_err_hint(err, "use a name that ends in .csv, .jsonl or .json");
		return -EINVAL;
	}
	file->format = format;
	file->fd = rd_open_for_update(path, err);
	if (file->fd < 0)
		return file->fd;
	r = check_contents(file->fd, format, path, err);
	if (!r && ftruncate(file->fd, 0) < 0)
		r = rd_err_set(err, errno, path, "cannot write");
	return r;
}

void record_file_close(struct record_file *file)
{
	rd_buf_deinit(&file->out);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void record_file_begin(struct record_file *file, uint64_t time_ns)
{
	struct rd_buf head = { 0 };
	char lost[64];

	if (!file->headed) {
		struct rd_report report;

		rd_output_init(file->ctx, &report);
		rd_series_begin(file->format, report.host, &head);
		rd_report_deinit(&report);
		rd_buf_add(&head, file->out.data, file->out.len);
		rd_buf_deinit(&file->out);
		file->out = head;
		file->headed = true;
	}
	if (file->lost == 0)
		return;
	snprintf(lost, sizeof(lost), "%" PRIu64 " samples were lost: no space to write them", file->lost);
	rd_series_mark(file->format, time_ns, NULL, 0, lost, &file->out);
}

/* Truncates the file to its last whole sample. */
static void write_failed(struct record_file *file, int code)
{
	if (!file->refused)
		rd_warn(file->ctx, "%s: cannot write: %s; samples are dropped until writing succeeds", file->path,
			rd_errno_text(code));
	file->refused = true;
	file->lost++;
	file->lost_in_all++;
	if (ftruncate(file->fd, (off_t)file->size) < 0 || lseek(file->fd, (off_t)file->size, SEEK_SET) < 0)
		rd_verbose(file->ctx, "%s: cannot remove a partial sample: %s", file->path, rd_errno_text(errno));
	file->headed = file->size > 0;
}

bool record_file_write(struct record_file *file)
{
	int r = rd_write_all(file->fd, file->out.data, file->out.len);

	if (r < 0) {
		write_failed(file, -r);
	} else {
		file->size += file->out.len;
		file->samples++;
		if (file->refused)
			rd_warn(file->ctx, "%s: recording continues; %" PRIu64 " samples were lost", file->path,
				file->lost);
		file->refused = false;
		file->lost = 0;
	}
	file->out.len = 0;
	return r >= 0;
}

int record_file_finish(struct record_file *file, size_t series, struct rd_err *err)
{
	rd_series_end(file->format, &file->out);
	record_file_write(file);
	file->samples -= !file->refused; /* the end of the file is not a sample */
	if (!file->refused && fsync(file->fd) < 0)
		return rd_err_set(err, errno, file->path, "cannot write");
	if (file->lost_in_all)
		return rd_err_set(err, ENOSPC, file->path, "%" PRIu64 " of %" PRIu64 " samples could not be written",
				  file->lost_in_all, file->lost_in_all + file->samples);
	rd_warn(file->ctx, "%s: %" PRIu64 " samples of %zu series, %" PRIu64 " bytes", file->path, file->samples,
		series, file->size);
	return 0;
}
