/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's command line, and the kernel log, in which it stands as well. */
#include "base/klog-form.h"
#include "source/redact.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The kernel's own command line: what decides about PCI, NUMA and RDMA stays, the rest could be anything. */
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
		_cleanup_free_ char *word = strndup(at + blank, n);
		bool keep = false;

		for (size_t i = 0; i < RD_ARRAY_SIZE(kept); i++)
			keep |= strlen(kept[i]) == key && strncmp(kept[i], at + blank, key) == 0;
		rd_buf_add(out, at, blank);
		if (word && n && keep)
			rd_buf_str(out, word);
		else if (word && n)
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
	value = strdup(found + sizeof(word) - 1);
	if (!value)
		redact->failed = true;
	else
		rd_redact_add_serial(redact, value);
}

/* Letters, digits and what holds them together; a backslash begins an escaped byte. */
static bool in_token(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-.:@\\", c));
}

static bool is_pci(const char *text, size_t size)
{
	static const char shape[] = "xxxx:xx:xx.x";

	if (size != sizeof(shape) - 1)
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

/* Short enough to count something, and no longer. `qp`: the number of a queue pair may stand here. */
static bool is_number(const char *text, size_t size, bool qp)
{
	size_t most = qp ? 8 : 5;
	bool hex = size > 2 && text[0] == '0' && text[1] == 'x';

	if (hex) {
		text += 2;
		size -= 2;
		most = 8;
	}
	for (size_t i = 0; i < size; i++)
		if (!(hex || qp ? isxdigit((unsigned char)text[i]) : isdigit((unsigned char)text[i])))
			return false;
	return size > 0 && size <= most;
}

/* "poll_health:825": a function of the kernel and the line; "mlx5_0:mr_umem_get:709" with a device before it. */
static bool is_place(const struct rd_redact *redact, const char *text, size_t size)
{
	const char *end = text + size, *colon;
	size_t n = 0;

	for (; (colon = memchr(text, ':', (size_t)(end - text))); text = colon + 1, n++)
		if (!is_identifier(text, (size_t)(colon - text)) &&
		    !rd_redact_is_name(redact, text, (size_t)(colon - text)))
			return false;
	return n > 0 && isdigit((unsigned char)*text) && is_number(text, (size_t)(end - text), false);
}

static bool says_nobody(const struct rd_redact *redact, const char *text, size_t size, bool qp)
{
	return is_pci(text, size) || is_number(text, size, qp) || rd_klog_is_term(text, size) ||
	       rd_redact_is_name(redact, text, size) || is_place(redact, text, size);
}

/* Text between the words of a form. In its first `head` bytes a line says whom it is about: a name that is not known has a
 * stand-in there, so that lines about one device stay so, and is dropped elsewhere. */
static void redact_gap(struct rd_redact *redact, const char *text, size_t size, size_t head, struct rd_buf *out)
{
	bool qp = false;

	for (size_t i = 0, n; i < size; i += n) {
		size_t bare;

		for (n = 0; i + n < size && in_token(text[i + n]);)
			n++;
		if (n == 0) {
			rd_buf_add(out, isprint((unsigned char)text[i]) ? text + i : "*", 1);
			n = 1;
			continue;
		}
		for (bare = n; bare > 0 && strchr(":.-", text[i + bare - 1]);)
			bare--;
		if (says_nobody(redact, text + i, bare, qp))
			rd_buf_add(out, text + i, bare);
		else if (i < head && bare > 0)
			rd_redact_whole(redact, "name-", text + i, bare, out);
		else if (bare > 0)
			rd_buf_str(out, "*");
		rd_buf_add(out, text + i + bare, n - bare);
		qp = bare >= 2 && strncasecmp(text + i, "qp", 2) == 0;
	}
}

/* What the kernel wrote and what has a form: its own words, and beside them what names nobody. */
static void redact_line(struct rd_redact *redact, const char *text, enum rd_klog_form form, struct rd_buf *out)
{
	struct rd_klog_span spans[RD_KLOG_SPANS];
	const char *colon = strstr(text, ": ");
	size_t n = rd_klog_form_spans(form, text, spans), at = 0, head = colon ? (size_t)(colon - text) : 0;

	for (size_t i = 0; i < n; i++) {
		redact_gap(redact, text + at, spans[i].at - at, head > at ? head - at : 0, out);
		rd_buf_add(out, text + spans[i].at, spans[i].size);
		at = spans[i].at + spans[i].size;
	}
	redact_gap(redact, text + at, strlen(text + at), head > at ? head - at : 0, out);
}

/* "6,339,5140900," of a record: its end, where the kernel wrote it; NULL: no record. */
static const char *head_of(const char *line, const char **text, bool *foreign)
{
	const char *at = line;

	*foreign = strtoul(line, NULL, 10) >> 3 != 0;
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

/* Of the keys that follow a record, the function or the interface that it is about. */
static bool is_key_kept(const char *line)
{
	static const char pci[] = " DEVICE=+pci:", index[] = " DEVICE=n";

	if (strncmp(line, pci, sizeof(pci) - 1) == 0)
		return is_pci(line + sizeof(pci) - 1, strlen(line + sizeof(pci) - 1));
	return strncmp(line, index, sizeof(index) - 1) == 0 &&
	       is_number(line + sizeof(index) - 1, strlen(line + sizeof(index) - 1), false);
}

struct log {
	struct rd_redact *redact;
	struct rd_buf *out;
	bool kept; /* the record before */
};

/* The first and the last record stay, if as no more than a number and a time: they say whether anything was lost, and when the
 * log ended. */
static void redact_record(struct log *log, const char *line, bool edge)
{
	const char *text = NULL, *head;
	enum rd_klog_form form;
	bool foreign;

	learn_serial(log->redact, line);
	if (*line == ' ') {
		if (log->kept && is_key_kept(line))
			rd_buf_printf(log->out, "%s\n", line);
		return;
	}
	head = head_of(line, &text, &foreign);
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

/* Where the last record begins; keys of it may follow. */
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
	size_t last = last_record(text, size);

	for (size_t at = 0; at < size;) {
		const char *stop = memchr(text + at, '\n', size - at);
		size_t n = stop ? (size_t)(stop - text) - at : size - at;
		_cleanup_free_ char *line = strndup(text + at, n);

		if (!line) {
			redact->failed = true;
			return;
		}
		if (n)
			redact_record(&log, line, at == 0 || at == last);
		at += n + 1;
	}
}
