/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names given by people: programs, users, jobs, containers, directories. Names common to all hosts are kept. */
#include "base/memory.h"
#include "base/programs.h"
#include "source/redact/redact.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_listed(const char *text, size_t size, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(v[i]) == size && memcmp(v[i], text, size) == 0)
			return true;
	return false;
}

static size_t span(const char *text, size_t size, int (*is)(int))
{
	size_t n = 0;

	while (n < size && is((unsigned char)text[n]))
		n++;
	return n;
}

void rd_redact_program(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	size_t n = strcspn(text, "\n");
	char comm[32] = "";

	n = n < size ? n : size;
	memcpy(comm, text, n < sizeof(comm) ? n : sizeof(comm) - 1);
	if (!n || rd_program_is_common(comm))
		rd_buf_add(out, text, n);
	else
		rd_redact_whole(redact, "proc-", text, n, out);
	rd_buf_add(out, text + n, size - n);
}

/* A pod UID with dashes, or with underscores as of the systemd cgroup driver; returns its length, or 0. */
static size_t try_uid(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	char uid[36];

	if (size < sizeof(uid))
		return 0;
	for (size_t i = 0; i < sizeof(uid); i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' && text[i] != '_' : !isxdigit((unsigned char)text[i]))
			return 0;
		uid[i] = dash ? '-' : text[i];
	}
	rd_redact_text(redact, uid, sizeof(uid), 0, out);
	for (size_t i = 0; text[8] == '_' && !out->failed && i < sizeof(uid); i++)
		if (out->data[out->len - 1 - i] == '-')
			out->data[out->len - 1 - i] = '_';
	return sizeof(uid);
}

/* A container ID: this number of digits. */
static void add_id(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	uint64_t number = rd_redact_number(redact, text, size);
	char digits[11];

	snprintf(digits, sizeof(digits), "%010llx", (unsigned long long)number);
	for (size_t i = 0; i < size; i++)
		rd_buf_add(out, &digits[i % 10], 1);
}

/* The number of a job or a user, which is its name: always replaced by thirteen digits. */
static void add_number(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	rd_buf_printf(out, "%llu", 1000000000000ull + (unsigned long long)rd_redact_number(redact, text, size));
}

static const char *const cgroup_words[] = {
	"kubepods",   "kubelet",   "besteffort", "burstable", "guaranteed", "pod",    "slice",	"scope",
	"service",    "system",	   "user",	 "session",   "machine",    "init",   "app",	"slurm",
	"slurmstepd", "slurmd",	   "job",	 "step",      "task",	    "batch",  "extern", "interactive",
	"uid",	      "docker",	   "containerd", "cri",	      "crio",	    "conmon", "libpod", "podman",
	"container",  "lxc",	   "payload",	 "monitor",   "pbs",	    "sge",    "lsf",	"htcondor",
	"special",    "kubeproxy", "root",	 "tasks",     "sshd",
};

static bool is_numbered(const char *word, size_t size)
{
	static const char *const counted[] = { "step", "task", "session" };

	return is_listed(word, size, counted, RD_ARRAY_SIZE(counted));
}

/* "pod5f1c…" has no separator between the word and the UID. */
static size_t after_pod(const char *text, size_t size)
{
	return size > 35 && memcmp(text, "pod", 3) == 0 && isxdigit((unsigned char)text[3]) ? 3 : 0;
}

/* Files that the kernel creates in each control group. */
static bool is_interface_file(const char *name, size_t size)
{
	static const char *const controllers[] = { "cgroup",  "memory", "cpu",	"cpuset", "io",	 "pids",
						   "hugetlb", "rdma",	"misc", "irq",	  "dmem" };
	const char *dot = memchr(name, '.', size);

	return dot && is_listed(name, (size_t)(dot - name), controllers, RD_ARRAY_SIZE(controllers));
}

/* One component of a control group path: "kubepods-burstable-pod5f1c….slice", "job_42", "node7_slurmstepd.scope". */
static void redact_group(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	const char *before = "";
	size_t before_size = 0;

	if (is_interface_file(text, size)) {
		rd_buf_add(out, text, size);
		return;
	}
	for (size_t i = 0, n; i < size; i += n) {
		const char *at = text + i;

		n = try_uid(redact, at, size - i, out);
		if (n)
			continue;
		n = after_pod(at, size - i);
		if (!n)
			n = span(at, size - i, isalnum);
		if (!n) {
			n = 1;
			rd_buf_add(out, at, n);
			continue;
		}
		if (is_listed(at, n, cgroup_words, RD_ARRAY_SIZE(cgroup_words)) ||
		    (n < 4 && span(at, n, isdigit) == n && is_numbered(before, before_size)))
			rd_buf_add(out, at, n);
		else if (span(at, n, isdigit) == n)
			add_number(redact, at, n, out);
		else if (n >= 12 && span(at, n, isxdigit) == n)
			add_id(redact, at, n, out);
		else
			rd_redact_whole(redact, "g", at, n, out);
		before = at;
		before_size = n;
	}
}

void rd_redact_groups(struct rd_redact *redact, const char *path, size_t size, struct rd_buf *out)
{
	for (size_t i = 0; i < size;) {
		const char *slash = memchr(path + i, '/', size - i);
		size_t n = slash ? (size_t)(slash - path) - i : size - i;

		redact_group(redact, path + i, n, out);
		i += n;
		if (i < size)
			rd_buf_add(out, path + i++, 1);
	}
}

/* "4:memory:/path" of each line of /proc/PID/cgroup. */
void rd_redact_cgroup_file(struct rd_redact *redact, const char *text, struct rd_buf *out)
{
	while (*text) {
		size_t n = strcspn(text, "\n"), head = strcspn(text, "/\n");

		rd_buf_add(out, text, head);
		rd_redact_groups(redact, text + head, n - head, out);
		text += n;
		if (*text)
			rd_buf_add(out, text++, 1);
	}
}

static const char *const folders[] = {
	"usr",
	"lib",
	"lib64",
	"local",
	"opt",
	"etc",
	"tmp",
	"var",
	"proc",
	"sys",
	"dev",
	"run",
	"bin",
	"sbin",
	"share",
	"home",
	"root",
	"nccl",
	"cuda",
	"log",
	"shm",
	"mnt",
	"virtual_topology.xml",
	"virtualTopology.xml",
	"nccl-topo.xml",
	"topo.xml",
};

/* System directories are kept, others may identify a user; the suffix of a file is kept. */
static void redact_folder(struct rd_redact *redact, const char *name, size_t size, struct rd_buf *out)
{
	static const char *const endings[] = { ".xml", ".so", ".conf", ".log", ".txt", ".json" };
	const char *ending = "";

	if (!size || is_listed(name, size, folders, RD_ARRAY_SIZE(folders)) || rd_redact_is_name(redact, name, size)) {
		rd_buf_add(out, name, size);
		return;
	}
	for (size_t i = 0; i < RD_ARRAY_SIZE(endings); i++) {
		size_t n = strlen(endings[i]);

		if (size > n && memcmp(name + size - n, endings[i], n) == 0)
			ending = endings[i];
	}
	rd_redact_whole(redact, "name-", name, size, out);
	rd_buf_str(out, ending);
}

static void redact_file_path(struct rd_redact *redact, const char *path, size_t size, struct rd_buf *out)
{
	bool home = false;

	for (size_t i = 0; i < size;) {
		const char *slash = memchr(path + i, '/', size - i);
		size_t n = slash ? (size_t)(slash - path) - i : size - i;

		if (home && n)
			rd_redact_add_user(redact, path + i, n);
		home = n == 4 && memcmp(path + i, "home", 4) == 0;
		redact_folder(redact, path + i, n, out);
		i += n;
		if (i < size)
			rd_buf_add(out, path + i++, 1);
	}
}

/* Whether the value of a variable is free text: a server, a file, an identifier. */
static bool is_free(const char *name, size_t size)
{
	static const char *const words[] = { "HOST", "SERVER", "COMM_ID", "USER",  "CLUSTER",
					     "JOB",  "URL",    "ADDR",	  "PREFIX" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(words); i++)
		if (memmem(name, size, words[i], strlen(words[i])))
			return true;
	return false;
}

void rd_redact_variable(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	const char *equals = memchr(text, '=', size), *value = equals ? equals + 1 : text + size, *end = text + size;
	size_t left;

	rd_buf_add(out, text, (size_t)(value - text));
	while (value < end && strchr("\"'", *value))
		rd_buf_add(out, value++, 1);
	while (value < end && (isspace((unsigned char)end[-1]) || strchr("\"'", end[-1])))
		end--;
	left = (size_t)(end - value);
	if (left && memchr(value, '/', left) && *value == '/')
		redact_file_path(redact, value, left, out);
	else if (equals && is_free(text, (size_t)(equals - text)) && span(value, left, isdigit) < left)
		rd_redact_whole(redact, "name-", value, left, out);
	else
		rd_redact_text(redact, value, left, 0, out);
	rd_buf_add(out, end, (size_t)(text + size - end));
}

/* Keeps the lines of a file that begin with one of these; all other lines are removed completely. */
void rd_redact_keep_lines(const char *text, const char *const *beginnings, struct rd_buf *out)
{
	while (*text) {
		size_t n = strcspn(text, "\n"), whole = n + (text[n] == '\n');

		for (const char *const *begin = beginnings; *begin; begin++)
			if (strncmp(text, *begin, strlen(*begin)) == 0) {
				rd_buf_add(out, text, whole);
				break;
			}
		text += whole;
	}
}

/* Keeps the file names of mappings, not their directories, which may identify a user. */
void rd_redact_maps(const char *text, struct rd_buf *out)
{
	while (*text) {
		size_t n = strcspn(text, "\n"), range = strcspn(text, " \n");

		rd_buf_add(out, text, range);
		text += n;
		rd_buf_add(out, text, *text != '\0');
		text += *text != '\0';
	}
}

/* "gpu-node-17 mlx5_0", "MT4129 ConnectX7 Mellanox Technologies": names of devices and of products are kept. */
void rd_redact_node_desc(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	static const char *const vendors[] = { "ConnectX",    "Mellanox", "Technologies", "HCA",  "MT",
					       "Infiniscale", "Quantum",  "InfiniBand",	  "hfi1", "mlx5",
					       "mlx4",	      "rxe",	  "siw" };

	for (size_t i = 0, n; i < size; i += n) {
		bool keep = false;

		n = strcspn(text + i, " \t\n:");
		n = n < size - i ? n : size - i;
		if (!n) {
			rd_buf_add(out, text + i, n = 1);
			continue;
		}
		for (size_t v = 0; v < RD_ARRAY_SIZE(vendors); v++)
			keep |= strncmp(text + i, vendors[v], strlen(vendors[v])) == 0;
		if (keep || rd_redact_is_name(redact, text + i, n) || span(text + i, n, isdigit) == n) {
			rd_buf_add(out, text + i, n);
		} else {
			_cleanup_free_ char *host = rd_dup_part(text + i, n);

			rd_redact_add_host(redact, host);
			rd_redact_text(redact, text + i, n, 0, out);
		}
	}
}
