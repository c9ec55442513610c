/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/shared/sysfs.h"

#include <ctype.h>
#include <regex.h>
#include <stdarg.h>

static int path_of(char *path, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(path, size, fmt, ap);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

#define IB "/sys/class/infiniband/"
#define NET "/sys/class/net/"
#define PCI "/sys/bus/pci/devices/"
#define HEX "^(0x[0-9a-fA-F]+|[0-9]+)$"
#define HEX16 "^(0x[0-9a-fA-F]{1,4}|[0-9]{1,4})$"
#define NUMBER "^[0-9]+$"
#define SIGNED "^-?[0-9]+$"
#define GUID "^[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3}$"
#define NAME NULL /* of an interface or device: any bytes, but no slash and no blank */

/* What kernels print into files by which rules decide: extended regular expressions. Sources: Documentation/ABI of the kernel,
 * drivers/infiniband/core/sysfs.c, drivers/pci/pci-sysfs.c, net/core/net-sysfs.c. The last "/N" of a path stands for any number. */
static const struct printed {
	const char *folder, *file, *pattern;
} printed[] = {
	{ PCI, "/class", HEX },
	{ PCI, "/vendor", HEX16 },
	{ PCI, "/device", HEX16 },
	{ PCI, "/subsystem_vendor", HEX16 },
	{ PCI, "/subsystem_device", HEX16 },
	{ PCI, "/numa_node", "^(-1|[0-9]+)$" },
	{ PCI, "/current_link_width", NUMBER },
	{ PCI, "/max_link_width", NUMBER },
	{ PCI, "/current_link_speed", "^Unknown|^[0-9.]+ GT/s" },
	{ PCI, "/max_link_speed", "^Unknown|^[0-9.]+ GT/s" },
	{ PCI, "/power_state", "^(unknown|error|D[0-3][a-z]*)$" },
	{ "/sys/kernel/iommu_groups/", "/type", "^(blocked|identity|unmanaged|unknown|DMA|DMA-FQ)$" },
	{ IB, "/state", "^([0-9]+: )?[A-Z_]+$" },
	{ IB, "/phys_state", "^([0-9]+: )?[A-Z<]" },
	{ IB, "/link_layer", "^(InfiniBand|Ethernet|Unknown|Unspecified)$" },
	{ IB, "/rate", "^[0-9.]+ Gb/sec" },
	{ IB, "/lid", HEX },
	{ IB, "/sm_lid", HEX },
	{ IB, "/node_type", "^[0-9]+: ." },
	{ IB, "/fw_ver", "^$|^(N/A|unknown)$|^([^-].*)?[0-9]" }, /* a soft device has none */
	{ IB, "/node_guid", GUID },
	{ IB, "/sys_image_guid", GUID },
	{ IB, "/gids/N", "^[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){7}$" },
	{ IB, "/types/N", "^(IB|RoCE|Invalid)" },
	{ IB, "/ndevs/N", NAME },
	{ IB, "/pkeys/N", HEX16 },
	{ IB, "/parent", NAME },
	{ "/sys/class/infiniband_verbs/", "/ibdev", NAME },
	{ NET, "/mtu", NUMBER },
	{ NET, "/type", NUMBER },
	{ NET, "/dev_port", NUMBER },
	{ NET, "/dev_id", HEX },
	{ NET, "/ifindex", NUMBER },
	{ NET, "/speed", SIGNED },
	{ NET, "/operstate", "^(unknown|notpresent|down|lowerlayerdown|testing|dormant|up)$" },
	{ NET, "/bonding_slave/state", "^(active|backup)$" },
	{ NET, "/bonding/mode", "^(balance-(rr|xor|tlb|alb)|active-backup|broadcast|802.3ad) [0-6]$" },
	{ NET, "/mode", "^(datagram|connected)$" },
	{ "/proc/sys/vm/", "", NUMBER },
	{ "/proc/sys/net/", "", SIGNED },
};

/* path: ends in "/N" or a number where `file` ends in "/N". */
static bool is_file(const char *path, const char *file)
{
	const char *slash = strrchr(path, '/');
	size_t n = strlen(file), end = strlen(path);

	if (n > 2 && strcmp(file + n - 2, "/N") == 0) {
		if (!slash || strspn(slash + 1, "0123456789") != strlen(slash + 1))
			return false;
		n -= 2;
		end = (size_t)(slash - path);
	}
	return end >= n && strncmp(path + end - n, file, n) == 0;
}

/* Whether a kernel may have printed this: anything into a file that is not in the table. */
static bool is_printed(const char *path, const char *text)
{
	static regex_t compiled[RD_ARRAY_SIZE(printed)];
	static bool is_compiled[RD_ARRAY_SIZE(printed)];

	for (size_t i = 0; i < RD_ARRAY_SIZE(printed); i++) {
		if (!rd_starts_with(path, printed[i].folder) || !is_file(path, printed[i].file))
			continue;
		if (!printed[i].pattern)
			return *text && text[strcspn(text, "/ \t\n\r\v\f")] == '\0';
		is_compiled[i] = is_compiled[i] ||
				 regcomp(&compiled[i], printed[i].pattern, REG_EXTENDED | REG_NOSUB) == 0;
		return !is_compiled[i] || regexec(&compiled[i], text, 0, NULL, 0) == 0;
	}
	return true;
}

static char *read_text(const struct rd_sysfs *fs, enum rd_known *known, const char *fmt, va_list ap)
{
	_cleanup_free_ char *text = NULL;
	struct rd_err err = { 0 };
	char path[512];
	int r = path_of(path, sizeof(path), fmt, ap);

	*known = RD_ABSENT;
	if (!r)
		r = rd_read_textf(fs->src, &text, &err, "%s", path);
	if (!r && !is_printed(path, text))
		r = rd_err_set(&err, EBADMSG, path, "contains what no kernel prints there");
	if (rd_could_not_look(r)) {
		*known = RD_DENIED;
		rd_errlist_add(fs->errors, &err);
		return NULL;
	}
	if (r < 0 || !*text)
		return NULL;
	*known = RD_OK;
	return RD_TAKE(text);
}

char *rd_sysfs_text(const struct rd_sysfs *fs, enum rd_known *known, const char *fmt, ...)
{
	enum rd_known ignored;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = read_text(fs, known ? known : &ignored, fmt, ap);
	va_end(ap);
	return text;
}

enum rd_known rd_sysfs_int(const struct rd_sysfs *fs, int64_t *ret, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	enum rd_known known;
	va_list ap;

	va_start(ap, fmt);
	text = read_text(fs, &known, fmt, ap);
	va_end(ap);
	if (!text)
		return known;
	return rd_parse_int(text + strspn(text, " \t"), RD_AS_C, INT64_MIN, INT64_MAX, ret) < 0 ? RD_ABSENT : RD_OK;
}

/* Records the error of a directory or link that could not be read. */
static int record_listing_error(const struct rd_sysfs *fs, int r, struct rd_err *err)
{
	if (rd_could_not_look(r)) {
		err->listing = true;
		rd_errlist_add(fs->errors, err);
	}
	return r;
}

char *rd_sysfs_link(const struct rd_sysfs *fs, const char *fmt, ...)
{
	char path[512], *target = NULL;
	struct rd_err err = { 0 };
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = path_of(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (!r)
		r = record_listing_error(fs, rd_read_link(fs->src, path, &target, &err), &err);
	return r < 0 ? NULL : target;
}

int rd_sysfs_list(const struct rd_sysfs *fs, struct rd_texts *ret, const char *fmt, ...)
{
	struct rd_err err = { 0 };
	char path[512];
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = path_of(path, sizeof(path), fmt, ap);
	va_end(ap);
	return r < 0 ? r : record_listing_error(fs, rd_list_dir(fs->src, path, ret, &err), &err);
}

int rd_natural_compare(const char *a, const char *b)
{
	while (*a && *b)
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			size_t na, nb;
			int r;

			while (*a == '0' && isdigit((unsigned char)a[1]))
				a++;
			while (*b == '0' && isdigit((unsigned char)b[1]))
				b++;
			na = strspn(a, "0123456789");
			nb = strspn(b, "0123456789");
			r = na != nb ? (na < nb ? -1 : 1) : strncmp(a, b, na);
			if (r)
				return r;
			a += na;
			b += nb;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	return *a ? 1 : *b ? -1 : 0;
}

static int compare_natural(const void *a, const void *b)
{
	return rd_natural_compare(*(char *const *)a, *(char *const *)b);
}

void rd_texts_sort_natural(struct rd_texts *names)
{
	rd_sort(names->v, names->n, sizeof(*names->v), compare_natural);
}

const char *rd_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
