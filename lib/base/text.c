/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short texts, tables of lines, and names of programs. */
#include "base/text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <locale.h>

static bool charset_missing;

void rd_charset_init(void)
{
	charset_missing = true;
}

void rd_charset_load(void)
{
	if (charset_missing)
		setlocale(LC_CTYPE, "");
	charset_missing = false;
}

char *rd_vtext(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		rd_out_of_memory();
	return text;
}

char *rd_text(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = rd_vtext(fmt, ap);
	va_end(ap);
	return text;
}

char *rd_trim(char *text)
{
	size_t size;

	while (isspace((unsigned char)*text))
		text++;
	size = strlen(text);
	while (size > 0 && isspace((unsigned char)text[size - 1]))
		size--;
	text[size] = 0;
	return text;
}

char *rd_word(char **line)
{
	char *word = *line + strspn(*line, " \t");
	size_t n = strcspn(word, " \t");

	if (!n)
		return NULL;
	*line = word + n;
	if (**line)
		*(*line)++ = '\0';
	return word;
}

size_t rd_words(char **line, char **ret, size_t n)
{
	size_t found = 0;

	while (found < n && (ret[found] = rd_word(line)))
		found++;
	return found;
}

char *rd_next_part(const char **at, char separator)
{
	const char *end = *at ? strchr(*at, separator) : NULL;
	char *part = NULL;

	if (*at)
		part = rd_dup_part(*at, end ? (size_t)(end - *at) : strlen(*at));
	*at = end ? end + 1 : NULL;
	return part;
}

bool rd_is_listed(const char *words, const char *text, size_t size)
{
	for (const char *at = words; *at; at += *at == ' ') {
		size_t n = strcspn(at, " ");

		if (n == size && memcmp(at, text, n) == 0)
			return true;
		at += n;
	}
	return false;
}

bool rd_next_line(const char **at, const char **ret, size_t *ret_size)
{
	if (!*at || !**at)
		return false;
	*ret = *at;
	*ret_size = strcspn(*at, "\n");
	*at += *ret_size + ((*at)[*ret_size] == '\n');
	return true;
}

char *rd_whole_path(const char *path)
{
	_cleanup_free_ char *here = *path == '/' ? NULL : getcwd(NULL, 0);

	return *path == '/' ? rd_dup(path) : here ? rd_text("%s/%s", here, path) : NULL;
}

const char *rd_stat_field(const char *text, unsigned number)
{
	const char *before = strrchr(text, ')');

	for (unsigned i = 3; before && i <= number; i++)
		before = strchr(before + 1, ' ');
	return before ? before + 1 : NULL;
}

bool rd_port_fits(const char *wanted, const char *device, unsigned port)
{
	size_t end = strlen(wanted);
	_cleanup_free_ char *pattern = NULL;
	uint32_t number;
	char text[16];

	while (end > 0 && wanted[end - 1] != '/' && wanted[end - 1] != ':')
		end--;
	/* A device name may contain a colon: nic:0. */
	if (fnmatch(wanted, device, 0) == 0)
		return true;
	if (end == 0)
		return false;
	pattern = rd_dup_part(wanted, end - 1);
	if (!port || (*pattern && fnmatch(pattern, device, 0) != 0))
		return false;
	if (rd_parse_u32(wanted + end, RD_DECIMAL, UINT32_MAX, &number) == 0)
		return number == port;
	snprintf(text, sizeof(text), "%u", port);
	return fnmatch(wanted + end, text, 0) == 0;
}

char *rd_texts_keep(struct rd_texts *texts, const char *text, size_t size)
{
	char *copy = rd_dup_part(text, size);

	*RD_ADD(texts->v, texts->n, texts->cap) = copy;
	return copy;
}

void rd_texts_add(struct rd_texts *texts, const char *text)
{
	rd_texts_keep(texts, text, strlen(text));
}

bool rd_texts_has(const struct rd_texts *texts, const char *text)
{
	for (size_t i = 0; i < texts->n; i++)
		if (strcmp(texts->v[i], text) == 0)
			return true;
	return false;
}

void rd_texts_copy(const struct rd_texts *from, struct rd_texts *ret)
{
	*ret = (struct rd_texts){ 0 };
	for (size_t i = 0; i < from->n; i++)
		rd_texts_add(ret, from->v[i]);
}

void rd_texts_sort(struct rd_texts *texts)
{
	rd_sort(texts->v, texts->n, sizeof(*texts->v), rd_compare_texts);
}

void rd_texts_deinit(struct rd_texts *texts)
{
	for (size_t i = 0; i < texts->n; i++)
		free(texts->v[i]);
	free(texts->v);
	*texts = (struct rd_texts){ 0 };
}

#define BLANKS " \t"

void rd_lines_init(struct rd_lines *ret, struct rd_texts *texts, const char *name, const char *text, size_t size)
{
	*ret = (struct rd_lines){ .name = name, .rest = rd_texts_keep(texts, text, size) };
}

int rd_lines_init_table(struct rd_lines *ret, struct rd_texts *texts, const char *what, const char *name,
			const char *text, size_t size, struct rd_err *err)
{
	*ret = (struct rd_lines){ 0 };
	if (size > RD_TABLE_BYTES)
		return rd_err_set(err, EFBIG, name, "table of %s exceeds the limit of %zu bytes", what, RD_TABLE_BYTES);
	rd_lines_init(ret, texts, name, text, size);
	return 0;
}

/* Line ends before continuation lines are replaced by spaces. */
static char *cut_line(struct rd_lines *lines)
{
	char *line = lines->rest, *end = strchr(line, '\n');

	lines->number = ++lines->last;
	while (end && lines->continued && *line != '#' && end[1] && strchr(BLANKS, end[1])) {
		*end = ' ';
		lines->last++;
		end = strchr(end, '\n');
	}
	if (end)
		*end++ = '\0';
	lines->rest = end;
	return line;
}

char *rd_lines_next(struct rd_lines *lines)
{
	while (lines->rest) {
		char *line = rd_trim(cut_line(lines));

		if (*line && *line != '#')
			return line;
	}
	return NULL;
}

int rd_lines_err(const struct rd_lines *lines, struct rd_err *err, int code, const char *fmt, ...)
{
	_cleanup_free_ char *message = NULL;
	va_list ap;

	va_start(ap, fmt);
	message = rd_vtext(fmt, ap);
	va_end(ap);
	return rd_err_set(err, code, lines->name, "line %u%s", lines->number, message);
}

static const char launchers[] = "slurmd pbs_mom sge_execd lim sbatchd raylet htcondor_star condor_startd flux-broker-0";
static const char container_launchers[] = "kubelet containerd dockerd crio podman";

/* Daemons that have a connection, and files for it, per client. */
static const char servers[] = "ceph-osd ceph-mon ceph-mds ceph-mgr glusterfsd daos_engine beegfs-storage beegfs-meta "
			      "nvmf_tgt spdk_tgt";

static const char common[] =
	"systemd init sh bash sshd slurmstepd srun mpirun mpiexec prted orted python python3 torchrun opensm "
	"containerd-shim runc nvidia-smi nv-hostengine dcgmi ib_write_bw ib_read_bw ib_send_bw rping ibv_rc_pingpong "
	"ibv_ud_pingpong ucx_perftest all_reduce_perf";

bool rd_program_starts_jobs(const char *comm)
{
	return rd_is_listed(launchers, comm, strlen(comm)) || rd_program_starts_containers(comm);
}

bool rd_program_starts_containers(const char *comm)
{
	return rd_is_listed(container_launchers, comm, strlen(comm));
}

bool rd_program_serves_storage(const char *comm)
{
	return rd_is_listed(servers, comm, strlen(comm));
}

bool rd_program_is_common(const char *comm)
{
	return rd_program_starts_jobs(comm) || rd_program_serves_storage(comm) ||
	       rd_is_listed(common, comm, strlen(comm));
}
