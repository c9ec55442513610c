/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits logs into lines, finds the host of each line and the parser for it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collect/nccl/runlog-priv.h"

#include "base/memory.h"
#include "base/number.h"

/* The longest line of these libraries is NCCL's device list, of 2 KB. */
#define LINE_MAX_SIZE 8192

void *rd_run_grow(struct rd_run_reader *reader, void *v, size_t *n, size_t *cap, size_t elem_size)
{
	char *base;

	if (*n >= RD_RUN_LIST) {
		reader->log->cut = true;
		return NULL;
	}
	rd_reserve(v, cap, *n + 1, elem_size);
	base = *(char **)v + *n * elem_size;
	memset(base, 0, elem_size);
	++*n;
	return base;
}

void rd_run_set(char **ret, const char *text, size_t size)
{
	free(*ret);
	*ret = rd_dup_part(text, size);
}

void rd_run_set_var(struct rd_run_reader *reader, struct rd_run_host *host, const char *name, size_t name_size,
		    const char *value, size_t value_size)
{
	struct rd_run_var *var = NULL;

	for (size_t i = 0; i < host->vars.n && !var; i++)
		if (strlen(host->vars.v[i].name) == name_size && strncmp(host->vars.v[i].name, name, name_size) == 0)
			var = &host->vars.v[i];
	if (!var) {
		var = rd_run_new(reader, &host->vars);
		if (!var)
			return;
		var->name = rd_dup_part(name, name_size);
	}
	var->varies |= var->value && (strlen(var->value) != value_size || strncmp(var->value, value, value_size) != 0);
	rd_run_set(&var->value, value, value_size);
}

const char *rd_run_begins(const char *text, const char *what)
{
	size_t size = strlen(what);

	return strncmp(text, what, size) == 0 ? text + size : NULL;
}

const char *rd_run_after(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	return at ? at + strlen(what) : NULL;
}

bool rd_run_number(const char **at, unsigned *ret)
{
	return rd_take_u32(at, RD_DECIMAL, 999999999, ret) == 0;
}

struct rd_run_host *rd_run_reader_host(struct rd_run_reader *reader, const char *name, size_t size)
{
	struct rd_runlog *log = reader->log;

	for (size_t i = 0, at = reader->last; i < log->n; i++, at = at + 1 < log->n ? at + 1 : 0)
		if (strncmp(log->v[at].name, name, size) == 0 && !log->v[at].name[size]) {
			reader->last = at;
			return &log->v[at];
		}
	if (log->n >= RD_RUN_HOSTS) {
		log->cut = true;
		return NULL;
	}
	reader->last = log->n;
	*RD_ADD(log->v, log->n, log->cap) = (struct rd_run_host){ .name = rd_dup_part(name, size) };
	return &log->v[reader->last];
}

/* Whether the `size` characters end in ":pid:tid"; the host name before it is from `*begin` to `*end`. */
static bool is_origin(const char *text, size_t size, size_t *begin, size_t *end)
{
	size_t at = size;

	for (int i = 0; i < 2; i++) {
		size_t digits = at;

		while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
			digits--;
		if (digits == at || digits == 0 || text[digits - 1] != ':')
			return false;
		at = digits - 1;
	}
	*end = at;
	/* mpirun adds "[1,4]<stdout>:"; "<node>" is an anonymised name. */
	for (*begin = at; *begin > 0 && !isspace((unsigned char)text[*begin - 1]); --*begin)
		if (strchr(">|)]=", text[*begin - 1]) && *begin < at)
			break;
	while (*begin < at && text[*begin] == ':')
		++*begin;
	return true;
}

/* The host name in "… host:pid:tid [0] " before a message; empty if there is none. */
static void find_host(const char *prefix, size_t size, size_t *begin, size_t *end)
{
	*begin = *end = 0;
	while (size > 0) {
		size_t word = size;

		while (word > 0 && !isspace((unsigned char)prefix[word - 1]))
			word--;
		if (word < size && is_origin(prefix + word, size - word, begin, end)) {
			*begin += word;
			*end += word;
			return;
		}
		size = word > 0 ? word - 1 : 0;
	}
}

static bool parse_version(struct rd_run_reader *reader, const char *line)
{
	const char *at = rd_run_after(line, "NCCL version "), *r = strstr(line, "RCCL version ");
	unsigned version[3];

	if (r)
		at = r + strlen("RCCL version ");
	for (size_t i = 0; i < 3; i++) {
		if (!at || !rd_run_number(&at, &version[i]) || (i < 2 && *at++ != '.'))
			return false;
	}
	memcpy(reader->log->version, version, sizeof(version));
	reader->log->rccl = r != NULL;
	return true;
}

/* "libibverbs: Warning: Driver ionic does not support the kernel ABI of 4 (supports 1 to 1) for device /sys/class/…" */
static bool parse_abi(struct rd_run_reader *reader, const char *line)
{
	const char *at = rd_run_after(line, "libibverbs: Warning: Driver ");
	const char *end = at ? strstr(at, " for device ") : NULL;

	if (!end || !strstr(at, " does not support the kernel ABI"))
		return false;
	snprintf(reader->log->abi, sizeof(reader->log->abi), "%.*s", (int)(end - at < 90 ? end - at : 90), at);
	return true;
}

/* Parses the message after `mark`; the host name is before it. */
static bool parse_marked(struct rd_run_reader *reader, const char *line, const char *mark,
			 bool (*parse)(struct rd_run_reader *, struct rd_run_host *, const char *))
{
	const char *at = strstr(line, mark);
	struct rd_run_host *host;
	size_t begin, end;

	if (!at)
		return false;
	find_host(line, (size_t)(at - line), &begin, &end);
	host = rd_run_reader_host(reader, line + begin, end - begin);
	return host && parse(reader, host, at + strlen(mark));
}

static bool parse_line(struct rd_run_reader *reader, const char *line)
{
	bool version = parse_version(reader, line);

	if (strstr(line, ": device used "))
		return rd_run_take_nvshmem(reader, line);
	if (parse_abi(reader, line))
		return true;
	if (strstr(line, "NCCL "))
		return parse_marked(reader, line, " NCCL INFO ", rd_run_take_nccl) ||
		       parse_marked(reader, line, " NCCL WARN ", rd_run_take_nccl) || version;
	return rd_run_take_ucx(reader, line) || rd_run_take_mooncake(reader, line);
}

/* Copies at most 8 KB of the line, with control characters as blanks, and without trailing blanks. */
static void copy_line(const char *text, size_t size, char line[LINE_MAX_SIZE])
{
	size = size < LINE_MAX_SIZE - 1 ? size : LINE_MAX_SIZE - 1;
	for (size_t i = 0; i < size; i++)
		line[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
	while (size > 0 && line[size - 1] == ' ')
		size--;
	line[size] = '\0';
}

/* Removes hosts without facts: they only appeared in lines that were not recognised. */
static void drop_empty(struct rd_runlog *log)
{
	size_t kept = 0;

	for (size_t i = 0; i < log->n; i++) {
		struct rd_run_host *host = &log->v[i];
		bool empty = !host->devs.n && !host->nets.n && !host->channels.n && !host->pairs.n && !host->uses.n &&
			     !host->prefers.n && !host->network && !host->no_device && !host->no_interface;

		if (empty && !host->ranks.n && !host->vars.n && !host->plugin)
			free(host->name);
		else
			log->v[kept++] = *host;
	}
	log->n = kept;
}

int rd_runlog_parse(const char *name, const char *text, size_t size, struct rd_runlog *ret, struct rd_err *err)
{
	struct rd_run_reader reader = { .log = ret };
	char line[LINE_MAX_SIZE];

	*ret = (struct rd_runlog){ 0 };
	for (size_t at = 0; at < size; ret->lines++) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;

		copy_line(text + at, length, line);
		ret->known += parse_line(&reader, line);
		at += length + 1;
	}
	ret->known += rd_run_take_topology(&reader, text, size);
	drop_empty(ret);
	if (ret->n > 0)
		return 0;
	rd_err_set(err, EBADMSG, name, "no line reports which NIC a run used");
	rd_err_hint(err,
		    "run the job with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET, or with NCCL_TOPO_DUMP_FILE=FILE");
	return -EBADMSG;
}
