/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text: addresses in all notations of sysfs, procfs and tools; names given by people, of programs, users, jobs, containers and directories;
 * the kernel command line, and the kernel log, which contains it as well. Names common to all hosts are kept. */
#include "source/redact/redact.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <strings.h>

#include "base/klog-form.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t span(const char *text, size_t size, int (*is)(int))
{
	size_t n = 0;

	while (n < size && is((unsigned char)text[n]))
		n++;
	return n;
}

/* Hexadecimal digits with `separator` after every `group` bytes; returns the number of bytes, 0: no match. */
static size_t parse_hex(const char *text, size_t size, size_t group, char separator, uint8_t *ret, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < size; n++) {
		if (n > 0 && group && n % group == 0)
			if (text[i++] != separator)
				return 0;
		if (n == max || i + 2 > size || rd_digit_value(text[i]) >= 16 || rd_digit_value(text[i + 1]) >= 16)
			return 0;
		ret[n] = (uint8_t)(rd_digit_value(text[i]) << 4 | rd_digit_value(text[i + 1]));
		i += 2;
	}
	return n;
}

static void add_hex(const uint8_t *bytes, size_t size, size_t group, char separator, bool upper, struct rd_buf *out)
{
	for (size_t i = 0; i < size; i++) {
		if (i > 0 && group && i % group == 0)
			rd_buf_add(out, &separator, 1);
		rd_buf_printf(out, upper ? "%02X" : "%02x", bytes[i]);
	}
}

static bool has_upper(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (isupper((unsigned char)text[i]))
			return true;
	return false;
}

/* Addresses of a fixed length: MACs, GUIDs and IPoIB addresses in pairs of digits, GUIDs and GIDs in groups of four. */
static const struct {
	size_t chars, group;
	char separator;
} notations[] = { { 17, 1, ':' }, { 17, 1, '-' }, { 23, 1, ':' }, { 59, 1, ':' }, { 19, 2, ':' }, { 39, 2, ':' } };

static bool try_notation(struct rd_redact *redact, const char *text, size_t size, char separator, struct rd_buf *out)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(notations); i++) {
		uint8_t bytes[20];
		size_t n = notations[i].chars == size && notations[i].separator == separator ?
				   parse_hex(text, size, notations[i].group, separator, bytes, sizeof(bytes)) :
				   0;

		if (!n)
			continue;
		if (n == 8)
			rd_redact_guid(redact, bytes);
		else if (n == 16)
			rd_redact_ip6(redact, bytes);
		else
			rd_redact_hardware(redact, bytes, n);
		add_hex(bytes, n, notations[i].group, separator, has_upper(text, size), out);
		return true;
	}
	return false;
}

static bool try_ip(struct rd_redact *redact, const char *text, size_t size, unsigned flags, struct rd_buf *out)
{
	char copy[INET6_ADDRSTRLEN], again[INET6_ADDRSTRLEN];
	uint8_t bytes[16];

	if (size >= sizeof(copy))
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (!(flags & RD_REDACT_VERSIONS) && inet_pton(AF_INET, copy, bytes) == 1) {
		rd_redact_ip4(redact, bytes);
		rd_buf_str(out, inet_ntop(AF_INET, bytes, again, sizeof(again)));
		return true;
	}
	if (strchr(copy, ':') && inet_pton(AF_INET6, copy, bytes) == 1) {
		rd_redact_ip6(redact, bytes);
		rd_buf_str(out, inet_ntop(AF_INET6, bytes, again, sizeof(again)));
		return true;
	}
	return false;
}

/* An address with colons or dots at this position; returns its length, 0: none. */
static size_t try_address(struct rd_redact *redact, const char *text, size_t size, unsigned flags, struct rd_buf *out)
{
	size_t n = 0;

	while (n < size && (isxdigit((unsigned char)text[n]) || text[n] == ':' || text[n] == '.'))
		n++;
	/* Trailing punctuation, or the colon of "address:port", does not belong to it. */
	for (; n >= 2; n--) {
		if (n < size && is_word(text[n]) && (text[n - 1] != ':' && text[n - 1] != '.'))
			continue;
		if (try_notation(redact, text, n, ':', out) || try_ip(redact, text, n, flags, out))
			return n;
		if (text[n - 1] != ':' && text[n - 1] != '.')
			break;
	}
	/* "address:port" */
	for (n = 0; n < size && (isdigit((unsigned char)text[n]) || text[n] == '.');)
		n++;
	while (n > 0 && text[n - 1] == '.')
		n--;
	if (n >= 7 && (n == size || !is_word(text[n])) && try_ip(redact, text, n, flags, out))
		return n;
	if (size >= 17 && (size == 17 || !is_word(text[17])) && try_notation(redact, text, 17, '-', out))
		return 17;
	return 0;
}

/* 8-4-4-4-12 digits. */
static size_t try_uuid(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	static const size_t groups[] = { 4, 2, 2, 2, 6 };
	uint8_t bytes[16];
	size_t at = 0, n = 0;

	if (size < 36 || (size > 36 && isxdigit((unsigned char)text[36])))
		return 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(groups); i++) {
		if (i > 0 && text[at++] != '-')
			return 0;
		if (parse_hex(text + at, 2 * groups[i], 0, 0, bytes + n, groups[i]) != groups[i])
			return 0;
		n += groups[i];
		at += 2 * groups[i];
	}
	rd_redact_uuid(redact, bytes);
	for (size_t i = 0, done = 0; i < RD_ARRAY_SIZE(groups); done += groups[i++]) {
		rd_buf_str(out, i ? "-" : "");
		add_hex(bytes + done, groups[i], 0, 0, has_upper(text, 36), out);
	}
	return 36;
}

/* Digits without separators are an address if that address is known ("enx0002c9a1b2c3"). */
static size_t try_digits(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	uint8_t bytes[16], stand_in[16];
	size_t n = span(text, size, isxdigit);
	bool known;

	if (n != 12 && n != 16 && n != 32)
		return 0;
	parse_hex(text, n, 0, 0, bytes, sizeof(bytes));
	if (n == 32)
		known = rd_redact_known(redact, RD_SECRET_IP6, bytes, 16, stand_in) ||
			rd_redact_known(redact, RD_SECRET_UUID, bytes, 16, stand_in);
	else
		known = rd_redact_known(redact, n == 12 ? RD_SECRET_MAC : RD_SECRET_GUID, bytes, n / 2, stand_in);
	if (!known)
		return 0;
	add_hex(stand_in, n / 2, 0, 0, has_upper(text, n), out);
	return n;
}

/* "kernel", "node0": may be a directory of sysfs, even if the host has that name. */
static bool may_be_folder(const char *name, size_t size)
{
	static const char *const counted[] = { "node", "cpu", "eth", "ib", "host", "card" };
	size_t letters = 0;

	while (letters < size && (islower((unsigned char)name[letters]) || name[letters] == '_'))
		letters++;
	if (letters == size)
		return true;
	if (letters + span(name + letters, size - letters, isdigit) < size)
		return false;
	for (size_t i = 0; i < RD_ARRAY_SIZE(counted); i++)
		if (strlen(counted[i]) == letters && memcmp(counted[i], name, letters) == 0)
			return true;
	return false;
}

/* The longest known word at this position. `whole`: the text is a path component. */
static size_t try_word(struct rd_redact *redact, const char *text, size_t size, bool whole, struct rd_buf *out)
{
	for (size_t n = size < redact->longest ? size : redact->longest; n > 0; n--) {
		const struct rd_secret_word *word;

		if (!redact->has_length[n] || (n < size && is_word(text[n])))
			continue;
		word = rd_redact_find_word(redact, text, n);
		if (!word || !word->out)
			continue;
		if (whole && n == size && word->kind == RD_WORD_HOST && may_be_folder(text, n))
			continue;
		rd_buf_str(out, word->out);
		return n;
	}
	return 0;
}

void rd_redact_text(struct rd_redact *redact, const char *text, size_t size, unsigned flags, struct rd_buf *out)
{
	for (size_t i = 0; i < size;) {
		bool begins = i == 0 || !is_word(text[i - 1]);
		bool digits = i == 0 || !isxdigit((unsigned char)text[i - 1]);
		size_t n = 0;

		if (begins && (isxdigit((unsigned char)text[i]) || text[i] == ':'))
			n = try_uuid(redact, text + i, size - i, out);
		if (!n && begins && (i == 0 || text[i - 1] != '.') &&
		    (isxdigit((unsigned char)text[i]) || text[i] == ':'))
			n = try_address(redact, text + i, size - i, flags, out);
		if (!n && digits && isxdigit((unsigned char)text[i]))
			n = try_digits(redact, text + i, size - i, out);
		if (!n && begins)
			n = try_word(redact, text + i, size - i, i == 0 && (flags & RD_REDACT_PATH), out);
		if (!n) {
			rd_buf_add(out, text + i, 1);
			n = 1;
		}
		i += n;
	}
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
	for (size_t i = 0; text[8] == '_' && i < sizeof(uid); i++)
		if (out->data[out->len - 1 - i] == '-')
			out->data[out->len - 1 - i] = '_';
	return sizeof(uid);
}

/* A container ID: this number of digits. */
static void add_id(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	char digits[11];

	snprintf(digits, sizeof(digits), "%010llx", (unsigned long long)rd_redact_number(redact, text, size));
	for (size_t i = 0; i < size; i++)
		rd_buf_add(out, &digits[i % 10], 1);
}

static const char cgroup_words[] =
	"kubepods kubelet besteffort burstable guaranteed pod slice scope service system user session "
	"machine init app slurm slurmstepd slurmd job step task batch extern interactive uid docker "
	"containerd cri crio conmon libpod podman container lxc payload monitor pbs sge lsf htcondor "
	"special kubeproxy root tasks sshd unified freezer";

/* One component of a control group path: "kubepods-burstable-pod5f1c….slice", "job_42", "node7_slurmstepd.scope". */
static void redact_group(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	const char *before = "", *dot = memchr(text, '.', size);
	size_t before_size = 0;

	/* A file that the kernel creates in each control group. */
	if (dot && rd_is_listed("cgroup memory cpu cpuset io pids hugetlb rdma misc irq dmem freezer", text,
				(size_t)(dot - text))) {
		rd_buf_add(out, text, size);
		return;
	}
	for (size_t i = 0, n; i < size; i += n) {
		const char *at = text + i;

		n = try_uid(redact, at, size - i, out);
		if (n)
			continue;
		/* "pod5f1c…" has no separator between the word and the UID. */
		n = size - i > 35 && memcmp(at, "pod", 3) == 0 && isxdigit((unsigned char)at[3]) ?
			    3 :
			    span(at, size - i, isalnum);
		if (!n) {
			n = 1;
			rd_buf_add(out, at, n);
			continue;
		}
		if (rd_is_listed(cgroup_words, at, n) ||
		    (n < 4 && span(at, n, isdigit) == n && rd_is_listed("step task session", before, before_size)))
			rd_buf_add(out, at, n);
		else if (span(at, n, isdigit) == n)
			/* The number of a job or a user, which is its name: always replaced by thirteen digits. */
			rd_buf_printf(out, "%llu",
				      1000000000000ull + (unsigned long long)rd_redact_number(redact, at, n));
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

static const char folders[] =
	"usr lib lib64 local opt etc tmp var proc sys dev run bin sbin share home root nccl cuda log shm "
	"mnt virtual_topology.xml virtualTopology.xml nccl-topo.xml topo.xml";

static bool is_name(const struct rd_redact *redact, const char *text, size_t size)
{
	const struct rd_secret_word *word = rd_redact_find_word(redact, text, size);

	return word && word->kind == RD_WORD_NAME;
}

/* System directories are kept, others may identify a user; the suffix of a file is kept. */
static void redact_folder(struct rd_redact *redact, const char *name, size_t size, struct rd_buf *out)
{
	static const char *const endings[] = { ".xml", ".so", ".conf", ".log", ".txt", ".json" };
	const char *ending = "";

	if (!size || rd_is_listed(folders, name, size) || is_name(redact, name, size)) {
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
			keep |= rd_starts_with(text + i, vendors[v]);
		if (keep || is_name(redact, text + i, n) || span(text + i, n, isdigit) == n) {
			rd_buf_add(out, text + i, n);
		} else {
			_cleanup_free_ char *host = rd_dup_part(text + i, n);

			rd_redact_add_host(redact, host);
			rd_redact_text(redact, text + i, n, 0, out);
		}
	}
}

static bool is_pci(const char *text, size_t size)
{
	static const char whole[] = "xxxx:xx:xx.x";
	const char *shape = size == sizeof(whole) - 1 ? whole : whole + 5; /* of an IOMMU: "5c:00.0" */

	if (size != strlen(shape))
		return false;
	for (size_t i = 0; i < size; i++)
		if (shape[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != shape[i])
			return false;
	return true;
}

static bool is_identifier(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) && text[i] != '_')
			return false;
	return size > 0 && memchr(text, '_', size) && islower((unsigned char)*text);
}

/* Only short numbers, such as counts. */
static bool is_number(const char *text, size_t size)
{
	size_t most = 5;
	bool hex = size > 2 && text[0] == '0' && text[1] == 'x';

	if (hex) {
		text += 2;
		size -= 2;
		most = 8;
	}
	return size > 0 && size <= most && span(text, size, hex ? isxdigit : isdigit) == size;
}

/* "poll_health:825" is a kernel function and line number; "mlx5_0:mr_umem_get:709", "status:12". Not addresses, which begin with
 * digits. */
static bool is_joined(const struct rd_redact *redact, const char *text, size_t size)
{
	const char *end = text + size;
	bool function = false, number = false;
	size_t parts = 0;

	for (size_t n; text < end; text += n + 1, parts++) {
		const char *colon = memchr(text, ':', (size_t)(end - text));

		n = colon ? (size_t)(colon - text) : (size_t)(end - text);
		if (parts && is_number(text, n))
			number = true;
		else if (is_identifier(text, n))
			function = true;
		else if (!rd_klog_is_term(text, n) && !is_name(redact, text, n))
			return false;
	}
	return parts > 1 && (number || !function);
}

/* The length of a word; the number of a queue pair is a separate word. */
static size_t token_size(const char *line, const char *at, const char *end)
{
	const char *from = at;
	uint32_t qpn;

	while (at < end && (is_word(*at) || (*at && strchr("-.:@", *at))) &&
	       (at == from || !rd_klog_qp_at(line, at, &qpn)))
		at++;
	return (size_t)(at - from);
}

/* Text of a line between the words of its form. Before `head` is the subject of the line: an unknown name gets a pseudonym there,
 * so that lines about one device can still be related, and is dropped elsewhere. */
static void redact_gap(struct rd_redact *redact, const char *line, const char *at, const char *end, const char *head,
		       struct rd_buf *out)
{
	for (size_t n; at < end; at += n) {
		uint32_t qpn;
		size_t bare;

		n = rd_klog_qp_at(line, at, &qpn);
		if (n && n <= (size_t)(end - at)) {
			rd_buf_add(out, at, n);
			continue;
		}
		if (!is_word(*at)) {
			/* A backslash would need escaping. */
			rd_buf_add(out, isprint((unsigned char)*at) && *at != '\\' ? at : "*", n = 1);
			continue;
		}
		n = token_size(line, at, end);
		for (bare = n; !is_word(at[bare - 1]);)
			bare--;
		if (is_pci(at, bare) || is_number(at, bare) || rd_klog_is_term(at, bare) || is_name(redact, at, bare) ||
		    is_joined(redact, at, bare))
			rd_buf_add(out, at, bare);
		else if (at < head)
			rd_redact_whole(redact, "name-", at, bare, out);
		else
			rd_buf_str(out, "*");
		rd_buf_add(out, at + bare, n - bare);
	}
}

/* A kernel line of a known form: keeps the words of the form and text that identifies no host or user. */
static void redact_line(struct rd_redact *redact, const char *text, enum rd_klog_form form, struct rd_buf *out)
{
	struct rd_klog_span spans[RD_KLOG_SPANS];
	size_t n = rd_klog_form_spans(form, text, spans);
	const char *colon = strstr(text, ": "), *head = colon ? colon : text, *at = text;

	for (size_t i = 0; i < n; i++) {
		redact_gap(redact, text, at, text + spans[i].at, head, out);
		rd_buf_add(out, text + spans[i].at, spans[i].size);
		at = text + spans[i].at + spans[i].size;
	}
	redact_gap(redact, text, at, text + strlen(text), head, out);
}

/* The prefix "6,339,5140900," of a record: returns its end if the kernel wrote the record; NULL otherwise. */
static char *head_of(char *line, char **text, bool *foreign)
{
	const char *number = line;
	uint64_t priority;
	char *at = line;

	*foreign = rd_take_uint(&number, RD_DECIMAL, UINT64_MAX, &priority) < 0 || (priority >> 3 & 0xff) != 0;
	for (int i = 0; i < 3; i++) {
		size_t n = strspn(at, "0123456789");

		if (!n || (i < 2 && at[n] != ',') || !strchr(",;", at[n]))
			return NULL;
		at += n + (i < 2);
	}
	*text = strchr(at, ';');
	if (!*text)
		return NULL;
	++*text;
	return at;
}

/* Of the keys that follow a record, the PCI function or the interface of the message. */
static bool is_key_kept(const char *line)
{
	static const char pci[] = " DEVICE=+pci:", index[] = " DEVICE=n";

	if (strncmp(line, pci, sizeof(pci) - 1) == 0)
		return is_pci(line + sizeof(pci) - 1, strlen(line + sizeof(pci) - 1));
	return strncmp(line, index, sizeof(index) - 1) == 0 &&
	       is_number(line + sizeof(index) - 1, strlen(line + sizeof(index) - 1));
}

/* The first and the last record are kept, at least their number and time: they show whether records were lost, and when the log
 * ended. */
static void redact_record(struct rd_redact *redact, char *line, bool edge, bool *kept, struct rd_buf *out)
{
	static const char serial[] = "SerialNumber: ";
	const char *found = strstr(line, serial);
	char *text = NULL, *head;
	enum rd_klog_form form;
	bool foreign;

	/* A driver prints it: "usb 1-2: SerialNumber: …" */
	if (found)
		rd_redact_add_serial(redact, found + sizeof(serial) - 1);
	if (*line == ' ') {
		if (*kept && is_key_kept(line))
			rd_buf_printf(out, "%s\n", line);
		return;
	}
	head = head_of(line, &text, &foreign);
	if (head)
		rd_klog_unescape(text);
	form = head && !foreign ? rd_klog_form_of(text) : RD_KLOG_NO_FORM;
	*kept = form;
	if (form || (head && edge)) {
		rd_buf_add(out, line, (size_t)(head - line));
		rd_buf_str(out, ",-;");
		if (form)
			redact_line(redact, text, form, out);
		rd_buf_str(out, form ? "\n" : "*\n");
	}
	redact->log_kept += form != RD_KLOG_NO_FORM;
	redact->log_dropped += form == RD_KLOG_NO_FORM;
}

/* The beginning of the last record; its keys may follow. */
static size_t last_record(const char *text, size_t size)
{
	size_t end = size;

	while (end > 0) {
		const char *line = memrchr(text, '\n', end - 1);
		size_t at = line ? (size_t)(line - text) + 1 : 0;

		if (isdigit((unsigned char)text[at]))
			return at;
		end = at;
	}
	return 0;
}

void rd_redact_kmsg(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	bool kept = false; /* the previous record was kept */
	size_t last;

	/* Readers stop at a NUL, which the kernel does not write. */
	size = strnlen(text, size);
	last = last_record(text, size);
	for (size_t at = 0; at < size;) {
		const char *stop = memchr(text + at, '\n', size - at);
		size_t n = stop ? (size_t)(stop - text) - at : size - at;
		_cleanup_free_ char *line = rd_dup_part(text + at, n);

		if (n)
			redact_record(redact, line, at == 0 || at == last, &kept, out);
		at += n + 1;
	}
}
