/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recorded host, from a directory, an archive or standard input. The format is described in rdmadiag-bundle(5). */
#include "source/bundle/bundle.h"
#include "source/opener/input.h"
#include "source/shared/netlink.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

/* ---- a directory, read completely: first into memory, by a process that may open its files, then to a tree */

/* One name of a directory, followed by the name with its NUL, and by `size` bytes with a NUL: of a file, or the target of a link. The members
 * of a directory follow it, up to an entry of RD_NODE_NONE. */
struct entry {
	uint32_t type; /* enum rd_node_type */
	int32_t code;  /* positive errno: it cannot be read */
	uint64_t size;
};

struct walk {
	struct rd_buf out; /* what is not in the file yet */
	size_t size;
	int to;
};

static int flush_walk(struct walk *walk)
{
	int r = walk->out.failed ? -ENOMEM : rd_write_all(walk->to, walk->out.data, walk->out.len);

	walk->out.len = 0;
	return r;
}

static int add_entry(struct walk *walk, enum rd_node_type type, int code, const char *name, const void *data,
		     size_t size)
{
	const struct entry entry = { type, code, size };

	walk->size += sizeof(entry) + strlen(name) + size + 2;
	if (walk->size > RD_TREE_BYTES_MAX)
		return -EFBIG;
	rd_buf_add(&walk->out, &entry, sizeof(entry));
	rd_buf_add(&walk->out, name, strlen(name) + 1);
	rd_buf_add(&walk->out, data, size);
	rd_buf_add(&walk->out, "", 1);
	return walk->out.len < RD_BUF_PIECE ? 0 : flush_walk(walk);
}

/* A name of a directory: follows no link, and stays in the file system. */
static int open_name(int dir, const char *name, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));

	/* Before Linux 5.6. */
	return fd < 0 && errno == ENOSYS ? openat(dir, name, (int)how.flags) : fd;
}

static int walk_file(int dir, const char *name, struct walk *walk)
{
	_cleanup_close_ int fd = open_name(dir, name, 0);
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	char room[4096];
	struct stat st;
	ssize_t n;
	int r;

	if (fd < 0)
		return add_entry(walk, RD_NODE_FILE, errno, name, NULL, 0);
	/* Nearly all are small: one read has all of it. */
	n = read(fd, room, sizeof(room));
	if (n >= 0 && n < (ssize_t)sizeof(room))
		return add_entry(walk, RD_NODE_FILE, 0, name, room, (size_t)n);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EBADMSG;
	r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : rd_read_fd(fd, RD_TREE_FILE_MAX, &bytes);
	return r == -EFBIG ? r : add_entry(walk, RD_NODE_FILE, -r, name, bytes.data, bytes.size);
}

static int walk_link(int dir, const char *name, struct walk *walk)
{
	char target[4096];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n < 0 && errno == EACCES)
		return add_entry(walk, RD_NODE_LINK, EACCES, name, NULL, 0);
	return n < 0 || (size_t)n == sizeof(target) ? -EBADMSG :
						      add_entry(walk, RD_NODE_LINK, 0, name, target, (size_t)n);
}

static int walk_dir(int dir, struct walk *walk, size_t depth);

/* `type`: as of readdir. */
static int walk_name(int dir, const char *name, unsigned type, struct walk *walk, size_t depth)
{
	_cleanup_close_ int below = -1;
	struct stat st;
	int r = 0;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	if (type == DT_UNKNOWN && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		type = IFTODT(st.st_mode);
	if (type == DT_REG)
		return walk_file(dir, name, walk);
	if (type == DT_LNK)
		return walk_link(dir, name, walk);
	if (type != DT_DIR)
		return -EBADMSG;
	below = open_name(dir, name, O_DIRECTORY);
	/* Another file system is not entered. */
	if (below < 0 && errno != EACCES && errno != EXDEV)
		return -errno;
	r = add_entry(walk, RD_NODE_DIR, below < 0 ? errno : 0, name, NULL, 0);
	if (!r && below >= 0)
		r = walk_dir(below, walk, depth + 1);
	return r ? r : add_entry(walk, RD_NODE_NONE, 0, "", NULL, 0);
}

static int walk_dir(int dir, struct walk *walk, size_t depth)
{
	_Alignas(struct dirent64) char some[16 << 10];
	ssize_t size;

	if (depth > RD_TREE_DEPTH_MAX)
		return -EBADMSG;
	while ((size = getdents64(dir, some, sizeof(some))) > 0)
		for (char *at = some; at < some + size; at += ((struct dirent64 *)at)->d_reclen) {
			const struct dirent64 *entry = (struct dirent64 *)at;
			int r = walk_name(dir, entry->d_name, entry->d_type, walk, depth);

			if (r < 0)
				return r;
		}
	return size < 0 ? -errno : 0;
}

int rd_bundle_walk(int dir, int to)
{
	struct walk walk = { .out = RD_BUF_CHECKED, .to = to };
	int r = RD_FIRST(walk_dir(dir, &walk, 0), add_entry(&walk, RD_NODE_NONE, 0, "", NULL, 0), flush_walk(&walk));

	rd_buf_deinit(&walk.out);
	return r;
}

/* Puts what rd_bundle_walk wrote into the tree, which refers to it. */
static int index_walk(int fd, struct rd_tree *tree)
{
	uint32_t folder = RD_TREE_TOP, node;
	struct rd_bytes walk = { 0 };
	int r = rd_tree_map(tree, fd, &walk);

	for (uint8_t *at = walk.data, *end = at + walk.size; at < end && !r;) {
		struct entry entry;
		const char *name = (char *)at + sizeof(entry);
		uint8_t *data = at + sizeof(entry) + strlen(name) + 1;

		memcpy(&entry, at, sizeof(entry));
		at = data + entry.size + 1;
		if (entry.type == RD_NODE_NONE) {
			folder = rd_tree_node(tree, folder)->parent;
			continue;
		}
		r = rd_tree_enter(tree, folder, name, &node);
		if (!r && entry.code) {
			struct rd_node_more *more = rd_tree_more(tree, node);

			/* What cannot be read is neither empty nor missing: requests get the errno; of a link, all of them. */
			rd_tree_node(tree, node)->type = entry.type == RD_NODE_LINK ? RD_NODE_DIR : entry.type;
			for (enum rd_op query = 0; query < RD_OP_PATHS; query++)
				if (entry.type == RD_NODE_LINK ||
				    query == (entry.type == RD_NODE_DIR ? RD_OP_LIST : RD_OP_READ)) {
					more->queried[query] = true;
					more->code[query] = entry.code;
				}
		} else if (!r && entry.type != RD_NODE_DIR) {
			r = rd_tree_refer(tree, node, entry.type, data, entry.size);
		}
		if (!r && entry.type == RD_NODE_DIR) {
			rd_tree_node(tree, node)->type = RD_NODE_DIR;
			folder = node;
		}
	}
	return r;
}

/* `r`: of rd_bundle_walk; `name`: as given by the user. */
static int read_dir(int r, int fd, const char *name, struct rd_tree *tree, struct rd_err *err)
{
	r = r ?: index_walk(fd, tree);
	if (r == -EFBIG)
		return rd_err_set(
			err, EFBIG, name,
			"contains more than %zu files, %zu MB, a file above %zu MB, or more than ulimit -f allows",
			RD_TREE_NODES_MAX, RD_TREE_BYTES_MAX >> 20, RD_TREE_FILE_MAX >> 20);
	if (r == -EBADMSG)
		return rd_err_set(err, EBADMSG, name,
				  "not a bundle: contains a device node, or directories are nested too deep");
	return r < 0 ? rd_err_set(err, -r, name, "cannot read the directory") : 0;
}

/* ---- a source of what was read */

#define HOSTNAME_PATH "proc/sys/kernel/hostname" /* below root/ */

struct bundle {
	struct rd_source src;
	struct rd_tree *tree;
	struct rd_manifest manifest; /* without samples: a bare tree */
	uint32_t top;		     /* the directory that contains everything */
	uint32_t root, nl;	     /* nl 0: no netlink replies */
	size_t sample;
};

/* The file of a netlink query contains the recorded request, then its reply. */
static int get_messages(struct bundle *bundle, const struct rd_query *query, struct rd_bytes *ret, struct rd_err *err)
{
	size_t whole = NLMSG_ALIGN(query->size);
	const struct rd_node *node;
	char name[64], path[80];
	int at;

	rd_nlrequest_path(query->protocol, query->data, query->size, name, sizeof(name));
	snprintf(path, sizeof(path), "/%s", name);
	at = bundle->nl ? rd_tree_resolve(bundle->tree, bundle->nl, path, false) : -ENOENT;
	if (at < 0)
		return rd_err_set(err, ENOENT, path, "the bundle has no reply to this request");
	node = rd_tree_node(bundle->tree, (uint32_t)at);
	if (node->more && node->more->code[RD_OP_READ])
		return rd_err_set(err, node->more->code[RD_OP_READ], path, "recorded error");
	if (node->type != RD_NODE_FILE)
		return rd_err_set(err, node->type == RD_NODE_DIR ? EISDIR : ENOENT, path, "cannot read from the bundle");
	if (node->size < whole || memcmp(node->data, query->data, query->size) != 0)
		return rd_err_set(err, ENOENT, path, "the bundle has no reply to this request");
	if (!rd_nlmsgs_sound(node->data + whole, node->size - whole))
		return rd_err_set(err, EBADMSG, path, "truncated message in the bundle");
	return rd_bytes_copy(node->data + whole, node->size - whole, ret);
}

static int bundle_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	struct bundle *bundle = (struct bundle *)src;
	const char *path = query->data;
	int node;

	if (query->op == RD_OP_NETLINK)
		return get_messages(bundle, query, &ret->bytes, err);
	node = rd_tree_resolve(bundle->tree, bundle->root, path, query->op != RD_OP_LINK);
	if (node < 0)
		return rd_err_set(err, -node, path, "%s",
				  node == -EBADMSG ? "a link in the path points outside the bundle" :
				  node == -ENOENT  ? "the bundle does not have it" :
						     "cannot be read from the bundle");
	return rd_node_get(bundle->tree, (uint32_t)node, query, !bundle->manifest.n_samples, ret, err);
}

static uint64_t bundle_now(struct rd_source *src, int clock)
{
	struct bundle *bundle = (struct bundle *)src;
	const struct rd_bundle_sample *sample;

	if (!bundle->manifest.n_samples)
		return 0; /* the time when a bare tree was copied is unknown */
	sample = &bundle->manifest.samples[bundle->sample];
	return clock == CLOCK_REALTIME ? sample->realtime_ns : sample->monotonic_ns;
}

static void bundle_close(struct rd_source *src)
{
	struct bundle *bundle = (struct bundle *)src;

	rd_tree_destroy(bundle->tree);
	rd_manifest_deinit(&bundle->manifest);
	free(bundle);
}

static int bundle_next(struct rd_source *src, struct rd_err *err);

static const struct rd_source_ops bundle_ops = {
	.name = "bundle",
	.get = bundle_get,
	.now = bundle_now,
	.next = bundle_next,
	.close = bundle_close,
};

const struct rd_redaction *rd_source_bundle_redaction(const struct rd_source *src)
{
	return src->ops == &bundle_ops ? &((const struct bundle *)src)->manifest.redaction : NULL;
}

static uint32_t child(struct bundle *bundle, uint32_t dir, const char *name)
{
	return rd_tree_child(bundle->tree, dir, name, strlen(name));
}

/* Links are recorded facts, but none may point outside the tree. */
static int check_links(struct bundle *bundle, uint32_t dir, size_t depth, const char *name, struct rd_err *err)
{
	for (uint32_t i = rd_tree_node(bundle->tree, dir)->child; i; i = rd_tree_node(bundle->tree, i)->next) {
		const struct rd_node *node = rd_tree_node(bundle->tree, i);
		int r = 0;

		if (node->type == RD_NODE_LINK && !rd_link_stays((const char *)node->data, depth))
			return rd_err_set(err, EBADMSG, name, "not a bundle: the link '%s' points outside it",
					  node->name);
		if (node->type == RD_NODE_DIR)
			r = check_links(bundle, i, depth + 1, name, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_host(struct bundle *bundle, uint32_t dir)
{
	return child(bundle, dir, "sys") || child(bundle, dir, "proc");
}

static uint32_t sample_folder(struct bundle *bundle, size_t sample, const char *name)
{
	char buf[16];
	uint32_t folder;

	rd_sample_folder(sample, "", buf);
	folder = rd_tree_child(bundle->tree, bundle->top, buf, strcspn(buf, "/"));
	return folder ? child(bundle, folder, name) : 0;
}

static int take_bundle(struct bundle *bundle, const char *name, struct rd_err *err)
{
	const struct rd_query query = { .op = RD_OP_READ, .data = "manifest.json" };
	uint32_t at = child(bundle, bundle->top, "manifest.json");
	struct rd_reply reply = { 0 };
	struct rd_err what = { 0 };
	const char *hostname;
	int r = rd_node_get(bundle->tree, at, &query, true, &reply, NULL);

	if (r < 0)
		return rd_err_set(err, -r, name, "cannot read its manifest.json");
	r = rd_manifest_read(&reply.bytes, bundle->tree, bundle->top, &bundle->manifest, &what);
	rd_bytes_deinit(&reply.bytes);
	if (r < 0)
		return rd_err_set(err, -r, name, "%s: %s", what.object, what.message);
	bundle->root = child(bundle, bundle->top, "root");
	bundle->nl = child(bundle, bundle->top, "nl");
	if (!bundle->root)
		return rd_err_set(err, EBADMSG, name, "not a bundle: no directory root/");
	r = check_links(bundle, bundle->root, 0, name, err);
	for (size_t sample = 1; !r && sample < bundle->manifest.n_samples; sample++) {
		uint32_t folder = sample_folder(bundle, sample, "root");

		r = folder ? check_links(bundle, folder, 0, name, err) : 0;
	}
	if (r < 0)
		return r;
	/* The host name of the manifest, if the file of the host name is missing. */
	hostname = bundle->manifest.hostname;
	r = hostname ? rd_tree_enter(bundle->tree, bundle->root, HOSTNAME_PATH, &at) : -EBADMSG;
	if (!r && rd_tree_node(bundle->tree, at)->type == RD_NODE_NONE && !rd_tree_node(bundle->tree, at)->more)
		r = rd_tree_set(bundle->tree, at, RD_NODE_FILE, hostname, strlen(hostname));
	return r < 0 && r != -EBADMSG ? rd_err_set(err, EFBIG, name, "larger than the limits") : 0;
}

/* Detects whether the tree is a bundle or a bare copy of sysfs. */
static int detect_layout(struct bundle *bundle, const char *name, struct rd_err *err)
{
	if (!child(bundle, bundle->top, "manifest.json") && !is_host(bundle, bundle->top)) {
		/* Its only member, if that is a directory itself. */
		uint32_t first = rd_tree_node(bundle->tree, bundle->top)->child;
		const struct rd_node *node = rd_tree_node(bundle->tree, first);

		bundle->top = first && !node->next && node->type == RD_NODE_DIR ? first : 0;
	}
	if (child(bundle, bundle->top, "manifest.json"))
		return take_bundle(bundle, name, err);
	bundle->root = bundle->top;
	if (!is_host(bundle, bundle->root))
		return rd_err_set(err, EBADMSG, name, "not a bundle: no manifest.json, and no directory sys/ or proc/");
	return check_links(bundle, bundle->root, 0, name, err);
}

/* An XML file is a host of which nothing else is known. */
static int store_xml(struct bundle *bundle, const uint8_t *data, size_t size, const char *name, struct rd_err *err)
{
	uint32_t node;
	int r;

	if (size > RD_SOURCE_XML_MAX)
		return rd_err_set(err, EFBIG, name, "XML file exceeds the limit of %zu bytes", RD_SOURCE_XML_MAX);
	r = rd_tree_enter(bundle->tree, RD_TREE_TOP, &RD_SOURCE_NCCL_XML[1], &node);
	if (!r)
		r = rd_tree_set(bundle->tree, node, RD_NODE_FILE, data, size);
	return r < 0 ? rd_err_set(err, -r, name, "cannot store the file") : 0;
}

/* `head`: its beginning, NUL-terminated. */
static bool is_xml(const char *head)
{
	if (strncmp(head, "\xef\xbb\xbf", 3) == 0)
		head += 3;
	return head[strspn(head, " \t\r\n")] == '<';
}

#define STANDARD_INPUT "standard input"
#define READ_SIZE ((size_t)64 << 10)

static struct rd_bytes input;
static bool is_read;

int rd_standard_input_read(struct rd_err *err)
{
	struct pollfd fd = { STDIN_FILENO, POLLIN, 0 };
	size_t cap = 0;
	ssize_t n;

	if (isatty(STDIN_FILENO)) {
		rd_err_set(err, ENOTTY, STANDARD_INPUT, "is a terminal, but '-' means a bundle from a pipe");
		return rd_err_hint(err, "ssh HOST rdmadiag capture - | rdmadiag --from - topo-check");
	}
	do {
		rd_reserve(&input.data, &cap, input.size + READ_SIZE + 1, 1);
		/* The flag O_NONBLOCK belongs to the pipe: another program may have set it. */
		while ((n = read(STDIN_FILENO, input.data + input.size, READ_SIZE)) < 0 &&
		       (errno == EINTR || errno == EAGAIN))
			if (errno == EAGAIN)
				poll(&fd, 1, -1);
		if (n < 0)
			return rd_err_set(err, errno, STANDARD_INPUT, "cannot read the bundle");
		input.size += (size_t)n;
		if (input.size > RD_FILE_MAX) {
			rd_err_set(err, EFBIG, STANDARD_INPUT, "larger than the limit of %zu MB", RD_FILE_MAX >> 20);
			return rd_err_hint(err, "write the bundle to a file, and name the file instead of '-'");
		}
	} while (n > 0);
	input.data[input.size] = '\0';
	is_read = true;
	if (input.size > 0)
		return 0;
	rd_err_set(err, ENODATA, STANDARD_INPUT, "is empty: the command before the pipe wrote no bundle");
	return rd_err_hint(err, "run that command alone; its error is on standard error");
}

const struct rd_bytes *rd_standard_input(void)
{
	return is_read ? &input : NULL;
}

static int read_standard_input(struct bundle *bundle, const char *name, struct rd_err *err)
{
	const struct rd_bytes *bytes = rd_standard_input();
	int r;

	if (!bytes)
		return rd_err_set(err, EBADF, name, "was not read");
	if (is_xml((const char *)bytes->data))
		return store_xml(bundle, bytes->data, bytes->size, name, err);
	r = rd_bundle_read_tar(-1, bytes, name, bundle->tree, err);
	return r < 0 ? r : detect_layout(bundle, name, err);
}

/* `r`: of opening it, with `err`. */
static int read_contents(struct bundle *bundle, const struct rd_input *file, int r, const char *name, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	char head[64] = "";

	if (S_ISDIR(file->mode)) {
		r = read_dir(r, file->fd, name, bundle->tree, err);
	} else if (r == -ETIMEDOUT) {
		return r;
	} else if (r < 0) {
		return rd_err_set(err, -r, name, "cannot open the bundle");
	} else if (!S_ISREG(file->mode)) {
		return rd_err_set(err, EBADMSG, name, "neither a directory nor a tar archive");
	} else if (pread(file->fd, head, sizeof(head) - 1, 0) > 0 && is_xml(head)) {
		r = rd_read_fd(file->fd, RD_SOURCE_XML_MAX, &bytes);
		if (r < 0 && r != -EFBIG)
			return rd_err_set(err, -r, name, "cannot read");
		return store_xml(bundle, bytes.data, r < 0 ? RD_SOURCE_XML_MAX + 1 : bytes.size, name, err);
	} else {
		r = rd_bundle_read_tar(file->fd, NULL, name, bundle->tree, err);
	}
	return r < 0 ? r : detect_layout(bundle, name, err);
}

int rd_source_bundle_open(const char *path, struct rd_source **ret, struct rd_err *err)
{
	bool standard_input = rd_is_standard_input(path);
	_cleanup_(rd_input_close) struct rd_input file = { .fd = -1 };
	struct bundle *bundle = rd_alloc(1, sizeof(*bundle));
	int r = standard_input ? 0 : rd_input_open(path, &file, err);

	bundle->tree = rd_tree_create();
	bundle->src.ops = &bundle_ops;
	r = standard_input ? read_standard_input(bundle, STANDARD_INPUT, err) :
			     read_contents(bundle, &file, r, path, err);
	if (r < 0) {
		bundle_close(&bundle->src);
		return r;
	}
	*ret = &bundle->src;
	return 0;
}

static int overlay(struct bundle *bundle, uint32_t from, uint32_t to, size_t depth);

/* New replies replace old ones; other replies stay. */
static void overlay_more(struct rd_node_more *above, struct rd_node_more *below)
{
	for (enum rd_op query = 0; query < RD_OP_PATHS; query++) {
		if (!above->queried[query])
			continue;
		below->queried[query] = true;
		below->code[query] = above->code[query];
		if (rd_node_value(below, query))
			*rd_node_value(below, query) = *rd_node_value(above, query);
	}
	if (above->has_names) {
		rd_texts_deinit(&below->names);
		below->names = above->names;
		below->has_names = true;
		above->names = (struct rd_texts){ 0 };
	}
	if (above->target) {
		free(below->target);
		below->target = RD_TAKE(above->target);
	}
}

/* Facts of a path in a later sample replace those of the earlier one. */
static int overlay_node(struct bundle *bundle, uint32_t from, uint32_t to_dir, size_t depth)
{
	struct rd_node *above, *below;
	uint32_t to;
	int r = rd_tree_enter(bundle->tree, to_dir, rd_tree_node(bundle->tree, from)->name, &to);

	if (r < 0)
		return r;
	above = rd_tree_node(bundle->tree, from);
	below = rd_tree_node(bundle->tree, to);
	/* Their presence is the only record that they can be read now. */
	if (above->type == RD_NODE_FILE && below->more)
		below->more->code[RD_OP_READ] = 0;
	if (above->type == RD_NODE_LINK && below->more)
		below->more->code[RD_OP_LINK] = 0;
	if (above->more && below->more)
		overlay_more(above->more, below->more);
	else if (above->more)
		below->more = RD_TAKE(above->more);
	if (above->type != RD_NODE_NONE) {
		below->type = above->type;
		below->data = above->data;
		below->size = above->size;
	}
	return overlay(bundle, from, to, depth + 1);
}

static int overlay(struct bundle *bundle, uint32_t from, uint32_t to, size_t depth)
{
	if (depth > RD_TREE_DEPTH_MAX)
		return -EBADMSG;
	for (uint32_t i = rd_tree_node(bundle->tree, from)->child; i; i = rd_tree_node(bundle->tree, i)->next) {
		int r = overlay_node(bundle, i, to, depth);

		if (r < 0)
			return r;
	}
	return 0;
}

static int bundle_next(struct rd_source *src, struct rd_err *err)
{
	struct bundle *bundle = (struct bundle *)src;
	uint32_t folder;
	int r = 0;

	if (bundle->sample + 1 >= bundle->manifest.n_samples)
		return rd_err_set(err, ENODATA, "bundle", "no more samples");
	bundle->sample++;
	folder = sample_folder(bundle, bundle->sample, "root");
	if (folder)
		r = overlay(bundle, folder, bundle->root, 0);
	folder = sample_folder(bundle, bundle->sample, "nl");
	if (!r && folder && bundle->nl)
		r = overlay(bundle, folder, bundle->nl, 0);
	return r < 0 ? rd_err_set(err, -r, "bundle", "sample %zu contradicts the previous one", bundle->sample) : 0;
}
