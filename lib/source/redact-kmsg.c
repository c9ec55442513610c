/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's command line, and the kernel log, in which it stands as well. */
#include "source/redact.h"

#include <ctype.h>
#include <string.h>

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
		if (word && n)
			rd_buf_str(out, keep ? word : rd_redact_command(redact, word));
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

/* What a program wrote there (facility not 0) could be anything: "13" is the lowest priority of facility 1. */
static bool is_foreign(const char *line)
{
	return isdigit((unsigned char)*line) && strtoul(line, NULL, 10) >> 3 != 0;
}

static void redact_line(struct rd_redact *redact, const char *line, struct rd_buf *out)
{
	const char *text = strchr(line, ';'), *command = strstr(line, "ommand line");

	if (text && is_foreign(line)) {
		rd_buf_add(out, line, text + 1 - line);
		rd_buf_str(out, rd_redact_command(redact, text + 1));
		return;
	}
	learn_serial(redact, line);
	command = command ? strchr(command, ':') : NULL;
	if (!command) {
		rd_redact_text(redact, line, strlen(line), 0, out);
		return;
	}
	rd_redact_text(redact, line, command + 1 - line, 0, out);
	rd_redact_kernel_command(redact, command + 1, out);
}

void rd_redact_kmsg(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	for (size_t at = 0; at < size;) {
		size_t n = strcspn(text + at, "\n");
		_cleanup_free_ char *line = strndup(text + at, n);

		if (!line) {
			redact->failed = true;
			return;
		}
		redact_line(redact, line, out);
		at += n;
		/* A NUL, which the kernel does not write, ends nothing here. */
		if (at < size)
			rd_buf_str(out, "\n");
		at++;
	}
}
