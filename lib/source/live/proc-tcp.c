// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/live/proc-tcp.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define FILES_MAX (1u << 20)	      /* the default of fs.nr_open */
#define TABLE_MAX ((size_t)128 << 20) /* 800,000 sockets */
#define LINES_MAX 1024
#define ESTABLISHED 1

void rd_proc_tcp_deinit(struct rd_proc_tcp *tcp)
{
	free(tcp->inodes);
	free(tcp->local);
	free(tcp->remote);
	*tcp = (struct rd_proc_tcp){ 0 };
}

static int compare_inodes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int compare_addresses(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct rd_tcp_address));
}

/* "socket:[12345]" */
static int add_socket(struct rd_proc_tcp *tcp, int dir, const char *name)
{
	static const char begin[] = "socket:[";
	char target[64];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);
	const char *at = target + strlen(begin);
	uint64_t inode;

	if (n < 0)
		return errno == ENOENT ? 0 : -errno; /* closed meanwhile */
	target[n] = '\0';
	if (strncmp(target, begin, strlen(begin)) != 0 || rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &inode) < 0)
		return 0;
	if (rd_grow(&tcp->inodes, &tcp->cap_inodes, tcp->n_inodes + 1, sizeof(*tcp->inodes)) < 0)
		return -ENOMEM;
	tcp->inodes[tcp->n_inodes++] = inode;
	return 0;
}

static int list_sockets(struct rd_proc_tcp *tcp, const char *process)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%s/fd", process);
	dir = opendir(path);
	if (!dir)
		return -errno;
	for (unsigned n = 0; !r && (errno = 0, entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		r = ++n > FILES_MAX ? -E2BIG : add_socket(tcp, dirfd(dir), entry->d_name);
	}
	if (!r)
		r = -errno;
	closedir(dir);
	if (tcp->n_inodes)
		qsort(tcp->inodes, tcp->n_inodes, sizeof(*tcp->inodes), compare_inodes);
	return r;
}

/* " 0200A8C0:1F90": 8 or 32 digits, each word in host byte order, and a port. */
static int take_address(const char **at, struct rd_tcp_address *ret)
{
	size_t digits;
	uint64_t word;

	*at += strspn(*at, " ");
	digits = strcspn(*at, ": \n");
	if (digits != 8 && digits != 32)
		return -EINVAL;
	*ret = (struct rd_tcp_address){ 0 };
	if (digits == 8)
		memset(ret->ip + 10, 0xff, 2);
	for (size_t i = digits == 8 ? 12 : 0; i < 16; i += 4) {
		uint32_t part;

		if (rd_take_hex(at, 8, &word) < 0)
			return -EINVAL;
		part = (uint32_t)word;
		memcpy(ret->ip + i, &part, sizeof(part));
	}
	*at += strcspn(*at, " \n");
	return 0;
}

static const char *skip_columns(const char *at, int n)
{
	while (n--) {
		at += strspn(at, " ");
		at += strcspn(at, " \n");
	}
	return at + strspn(at, " ");
}

static int add_address(struct rd_tcp_address **v, size_t *n, size_t *cap, const struct rd_tcp_address *address)
{
	if (rd_grow(v, cap, *n + 1, sizeof(**v)) < 0)
		return -ENOMEM;
	(*v)[(*n)++] = *address;
	return 0;
}

/* sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode */
static int take_line(struct rd_proc_tcp *tcp, const char *at)
{
	struct rd_tcp_address local, remote;
	uint64_t state, inode;

	at = skip_columns(at, 1);
	if (take_address(&at, &local) < 0 || take_address(&at, &remote) < 0)
		return 0;
	at += strspn(at, " ");
	if (rd_take_hex(&at, 2, &state) < 0)
		return 0;
	at = skip_columns(at, 5);
	if (rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &inode) < 0)
		return 0;
	if (add_address(&tcp->local, &tcp->n_local, &tcp->cap_local, &local) < 0)
		return -ENOMEM;
	if (state != ESTABLISHED || !tcp->n_inodes ||
	    !bsearch(&inode, tcp->inodes, tcp->n_inodes, sizeof(inode), compare_inodes))
		return 0;
	return add_address(&tcp->remote, &tcp->n_remote, &tcp->cap_remote, &remote);
}

int rd_proc_tcp_take(struct rd_proc_tcp *tcp, const char *text)
{
	int r = 0;

	for (const char *line = text; line && !r; line = strchr(line, '\n')) {
		line += *line == '\n';
		r = take_line(tcp, line);
	}
	return r;
}

/* A host connects to its own addresses, too. */
static bool is_local(const struct rd_proc_tcp *tcp, const struct rd_tcp_address *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const struct rd_tcp_address loopback = { { [15] = 1 } };

	return (memcmp(address->ip, mapped, sizeof(mapped)) == 0 && address->ip[12] == 127) ||
	       compare_addresses(address, &loopback) == 0 ||
	       bsearch(address, tcp->local, tcp->n_local, sizeof(*address), compare_addresses);
}

static void print_line(const struct rd_tcp_address *address, size_t connections, struct rd_buf *out)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool v4 = memcmp(address->ip, mapped, sizeof(mapped)) == 0;
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(v4 ? AF_INET : AF_INET6, address->ip + (v4 ? 12 : 0), text, sizeof(text)))
		rd_buf_printf(out, "%s %zu\n", text, connections);
}

void rd_proc_tcp_print(struct rd_proc_tcp *tcp, struct rd_buf *out)
{
	size_t lines = 0, first = 0;

	if (tcp->n_local)
		qsort(tcp->local, tcp->n_local, sizeof(*tcp->local), compare_addresses);
	if (tcp->n_remote)
		qsort(tcp->remote, tcp->n_remote, sizeof(*tcp->remote), compare_addresses);
	rd_buf_str(out, "");
	for (size_t i = 1; i <= tcp->n_remote; i++) {
		if (i < tcp->n_remote && compare_addresses(&tcp->remote[i], &tcp->remote[first]) == 0)
			continue;
		if (!is_local(tcp, &tcp->remote[first]) && ++lines <= LINES_MAX)
			print_line(&tcp->remote[first], i - first, out);
		first = i;
	}
	if (lines > LINES_MAX)
		rd_buf_printf(out, "+%zu\n", lines - LINES_MAX);
}

/* Of the network namespace of the process. A kernel without IPv6 has no tcp6. */
static int read_table(struct rd_proc_tcp *tcp, const char *process, const char *name)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	_cleanup_close_ int fd = -1;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%s/net/%s", process, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	r = rd_read_fd(fd, TABLE_MAX, &text);
	return r < 0 ? r : rd_proc_tcp_take(tcp, (const char *)text.data);
}

int rd_proc_tcp_read(const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	const char *process = path + strlen(RD_SOURCE_TCP);
	_cleanup_(rd_proc_tcp_deinit) struct rd_proc_tcp tcp = { 0 };
	struct rd_buf out = RD_BUF_CHECKED;
	uint64_t pid;
	int r;

	if (!*process || rd_parse_uint(++process, RD_DECIMAL, UINT32_MAX, &pid) < 0)
		return rd_err_set(err, ENOENT, path, "cannot read");
	r = list_sockets(&tcp, process);
	if (!r && tcp.n_inodes)
		r = read_table(&tcp, process, "tcp");
	if (!r && tcp.n_inodes)
		r = read_table(&tcp, process, "tcp6");
	if (!r)
		rd_proc_tcp_print(&tcp, &out);
	if (!r && out.failed)
		r = -ENOMEM;
	if (r < 0)
		return rd_err_set(err, -r, path, "cannot read the TCP connections of the process");
	*ret = (struct rd_bytes){ (uint8_t *)out.data, out.len };
	return 0;
}
