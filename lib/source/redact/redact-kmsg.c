/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel command line, and the kernel log, which contains it as well. */
#include "base/klog-form.h"
#include "base/memory.h"
#include "base/number.h"
#include "source/redact/redact.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The kernel command line: parameters of PCI, NUMA and RDMA are kept; others may contain anything. */
void rd_redact_kernel_command(struct rd_redact *redact, const char *text, struct rd_buf *out)
{
	static const char *const kept[] = { "iommu",
					    "intel_iommu",
					    "amd_iommu",
					    "pci",
					    "pcie_",
					    "pcie_aspm",
					    "numa",
					    "numa_balancing",
					    "isolcpus",
					    "nohz",
					    "rcu_nocbs",
					    "hugepages",
					    "hugepagesz",
					    "default_hugepagesz",
					    "transparent_hugepage",
					    "mitigations",
					    "quiet",
					    "ro",
					    "rw",
					    "intel_idle.max_cstate",
					    "processor.max_cstate",
					    "cgroup",
					    "systemd.unified_cgroup_hierarchy",
					    "selinux",
					    "ib_core",
					    "rdma" };

	for (const char *at = text; *at;) {
		size_t blank = strspn(at, " \n"), n = strcspn(at + blank, " \n"), key = strcspn(at + blank, "= \n");
		_cleanup_free_ char *word = rd_dup_part(at + blank, n);
		bool keep = false;

		for (size_t i = 0; i < RD_ARRAY_SIZE(kept); i++)
			keep |= strlen(kept[i]) == key && strncmp(kept[i], at + blank, key) == 0;
		rd_buf_add(out, at, blank);
		if (n && keep)
			rd_buf_str(out, word);
		else if (n)
			rd_redact_whole(redact, "cmd-", word, n, out);
		at += blank + n;
	}
}

/* A serial number that a driver prints ("usb 1-2: SerialNumber: …"). */
static void learn_serial(struct rd_redact *redact, const char *text)
{
	static const char word[] = "SerialNumber: ";
	const char *found = strstr(text, word);
	_cleanup_free_ char *value = NULL;

	if (!found)
		return;
	value = rd_dup(found + sizeof(word) - 1);
	rd_redact_add_serial(redact, value);
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Characters between words. */
static bool in_token(char c)
{
	return in_word(c) || (c && strchr("-.:@", c));
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
	for (size_t i = 0; i < size; i++)
		if (!(hex ? isxdigit((unsigned char)text[i]) : isdigit((unsigned char)text[i])))
			return false;
	return size > 0 && size <= most;
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
		else if (!rd_klog_is_term(text, n) && !rd_redact_is_name(redact, text, n))
			return false;
	}
	return parts > 1 && (number || !function);
}

static bool says_nobody(const struct rd_redact *redact, const char *text, size_t size)
{
	return is_pci(text, size) || is_number(text, size) || rd_klog_is_term(text, size) ||
	       rd_redact_is_name(redact, text, size) || is_joined(redact, text, size);
}

/* The length of a word; the number of a queue pair is a separate word. */
static size_t token_size(const char *line, const char *at, const char *end)
{
	const char *from = at;
	uint32_t qpn;

	while (at < end && in_token(*at) && (at == from || !rd_klog_qp_at(line, at, &qpn)))
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
		if (!in_word(*at)) {
			/* A backslash would need escaping. */
			rd_buf_add(out, isprint((unsigned char)*at) && *at != '\\' ? at : "*", n = 1);
			continue;
		}
		n = token_size(line, at, end);
		for (bare = n; !in_word(at[bare - 1]);)
			bare--;
		if (says_nobody(redact, at, bare))
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

struct log {
	struct rd_redact *redact;
	struct rd_buf *out;
	bool kept; /* the previous record was kept */
};

/* The first and the last record are kept, at least their number and time: they show whether records were lost, and when the log
 * ended. */
static void redact_record(struct log *log, char *line, bool edge)
{
	char *text = NULL, *head;
	enum rd_klog_form form;
	bool foreign;

	learn_serial(log->redact, line);
	if (*line == ' ') {
		if (log->kept && is_key_kept(line))
			rd_buf_printf(log->out, "%s\n", line);
		return;
	}
	head = head_of(line, &text, &foreign);
	if (head)
		rd_klog_unescape(text);
	form = head && !foreign ? rd_klog_form_of(text) : RD_KLOG_NO_FORM;
	log->kept = form;
	if (form || (head && edge)) {
		rd_buf_add(log->out, line, (size_t)(head - line));
		rd_buf_str(log->out, ",-;");
	}
	if (form)
		redact_line(log->redact, text, form, log->out);
	if (form || (head && edge))
		rd_buf_str(log->out, form ? "\n" : "*\n");
	log->redact->log_kept += form != RD_KLOG_NO_FORM;
	log->redact->log_dropped += form == RD_KLOG_NO_FORM;
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
	struct log log = { redact, out, false };
	size_t last;

	/* Readers stop at a NUL, which the kernel does not write. */
	size = strnlen(text, size);
	last = last_record(text, size);
	for (size_t at = 0; at < size;) {
		const char *stop = memchr(text + at, '\n', size - at);
		size_t n = stop ? (size_t)(stop - text) - at : size - at;
		_cleanup_free_ char *line = rd_dup_part(text + at, n);

		if (n)
			redact_record(&log, line, at == 0 || at == last);
		at += n + 1;
	}
}
