/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/opener/input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "source/bundle/bundle.h"

#define FOLDERS_MAX ((size_t)1 << 30) /* bytes of all directories together */

static struct {
	struct rd_input *v;
	size_t n, cap;
	bool opened;
} inputs;

void rd_input_name(const char *path)
{
	*RD_ADD(inputs.v, inputs.n, inputs.cap) = (struct rd_input){
		.path = rd_dup(path),
		.whole = rd_whole_path(path) ?: rd_dup(path),
		.fd = -1,
	};
}

static struct rd_input *find_input(const char *path)
{
	for (size_t i = 0; i < inputs.n && inputs.opened; i++)
		if (strcmp(inputs.v[i].path, path) == 0 || strcmp(inputs.v[i].whole, path) == 0)
			return &inputs.v[i];
	return NULL;
}

/* At most RD_FILE_MAX bytes. */
static int copy_file(int from, int to)
{
	static char some[64 << 10];
	size_t size = 0;
	ssize_t n;
	int r = 0;

	while (!r && (n = read(from, some, sizeof(some))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		r = n < 0 ? -errno : rd_write_all(to, some, (size_t)n);
		size += n < 0 ? 0 : (size_t)n;
		if (size > RD_FILE_MAX)
			r = -EFBIG;
	}
	return r;
}

static int make_memory(void)
{
	return memfd_create("input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/* `memory`: the contents go there; -1: a file is opened, only a directory goes into memory. */
static int open_input(const char *path, int memory, struct rd_input *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	ret->mode = st.st_mode;
	if (memory < 0)
		ret->fd = S_ISDIR(st.st_mode) ? make_memory() : RD_TAKE_FD(fd);
	else
		ret->fd = memory;
	if (ret->fd < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return rd_bundle_walk(fd, ret->fd);
	return memory < 0 ? 0 : copy_file(fd, memory);
}

/* In the child of a guard. */
static int get_now(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	const struct rd_input *copy = find_input(query->data);
	struct rd_input input = { .fd = -1 };
	int r = copy ? open_input(query->data, copy->fd, &input) : -EPERM;

	if (r < 0 && !S_ISDIR(input.mode))
		return rd_err_set(err, -r, query->data, "cannot open");
	/* What an error of reading a directory means depends on what it is read for. */
	ret->number = input.mode | (uint64_t)-r << 32;
	return 0;
}

static uint64_t now(struct rd_source *src, int clock)
{
	return 0;
}

static const struct rd_source_ops ops = { .name = "inputs", .get = get_now, .now = now };

struct rd_source rd_input_source = { &ops };

static int open_by(struct rd_source *source, struct rd_input *input)
{
	const struct rd_query query = { .op = RD_OP_READ, .size = strlen(input->path) + 1, .data = input->path };
	struct rd_reply reply = { 0 };
	int r;

	input->fd = make_memory();
	r = input->fd < 0 ? -errno : source->ops->get(source, &query, &reply, &input->err);
	input->mode = (mode_t)reply.number;
	rd_bytes_deinit(&reply.bytes);
	return r ?: -(int)(reply.number >> 32);
}

void rd_inputs_open(struct rd_source *source)
{
	static const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit files, limit;
	/* Memory counts as a file. */
	bool lifted = prlimit(0, RLIMIT_FSIZE, &none, &limit) == 0;
	size_t size = 0;

	/* One descriptor for each of many bundles. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max && inputs.n > files.rlim_cur / 2) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	inputs.opened = true;
	for (size_t i = 0; i < inputs.n; i++) {
		struct rd_input *input = &inputs.v[i];
		int r = source ? open_by(source, input) : open_input(input->path, -1, input);

		size += !r && S_ISDIR(input->mode) ? (size_t)lseek(input->fd, 0, SEEK_END) : 0;
		if (!r && size > FOLDERS_MAX)
			r = -EFBIG;
		/* What is in memory is complete. */
		if (r < 0)
			close(RD_TAKE_FD(input->fd));
		else
			fcntl(input->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
		input->code = -r;
		if (r < 0 && !input->err.code)
			rd_err_set(&input->err, -r, input->path, "cannot open");
	}
	if (lifted)
		setrlimit(RLIMIT_FSIZE, &limit);
}

/* Each reader begins at the beginning, but of a pipe. */
static int begin_again(int fd)
{
	return lseek(fd, 0, SEEK_SET) < 0 && errno != ESPIPE ? -errno : 0;
}

int rd_input_open(const char *path, struct rd_input *ret, struct rd_err *err)
{
	const struct rd_input *found = find_input(path);
	int r;

	*ret = found ? *found : (struct rd_input){ .fd = -1 };
	if (!found && inputs.opened)
		return rd_err_set(err, EPERM, path, "not a file named on the command line");
	ret->owned = !found;
	if (found && found->code) {
		if (err)
			*err = found->err;
		return -found->code;
	}
	r = found ? 0 : open_input(path, -1, ret);
	if (!r)
		r = begin_again(ret->fd);
	return r < 0 ? rd_err_set(err, -r, path, "cannot open") : 0;
}

void rd_input_close(struct rd_input *input)
{
	if (input->owned)
		rd_cleanup_close(&input->fd);
}

int rd_input_read(const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	const struct rd_input *input = find_input(path);
	int r;

	if (!input)
		return -ENXIO;
	if (input->code && !S_ISDIR(input->mode)) {
		if (err)
			*err = input->err;
		return -input->code;
	}
	r = S_ISDIR(input->mode) ? -EISDIR : RD_FIRST(begin_again(input->fd), rd_read_fd(input->fd, RD_FILE_MAX, ret));
	return r < 0 ? rd_err_set(err, -r, path, "cannot read") : 0;
}
