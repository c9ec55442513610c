/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lookup of commands by name, and names nearest to a mistyped one. */
#include "opts.h"

#define NAME_MAX_LEN 31

size_t rd_name_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	size_t d[NAME_MAX_LEN + 1][NAME_MAX_LEN + 1];

	if (la > NAME_MAX_LEN || lb > NAME_MAX_LEN)
		return SIZE_MAX;
	for (size_t i = 0; i <= la; i++)
		for (size_t j = 0; j <= lb; j++) {
			size_t best;

			if (i == 0 || j == 0) {
				d[i][j] = i + j;
				continue;
			}
			best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	return d[la][lb];
}

const struct rd_cmd *rd_cmd_find(const char *name)
{
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		if (strcmp((*cmd)->name, name) == 0)
			return *cmd;
	return NULL;
}

int rd_cmd_choose(const char *name, const struct rd_cmd **ret, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf names = { 0 };
	const struct rd_cmd *near = NULL, *exact = rd_cmd_find(name);
	size_t n = 0, size = strlen(name), least = 3;

	*ret = exact;
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd && size && !exact; cmd++)
		if (!(*cmd)->hidden && strncmp((*cmd)->name, name, size) == 0) {
			rd_buf_printf(&names, "%s%s", n++ ? ", " : "", (*cmd)->name);
			*ret = *cmd;
		}
	if (exact || n == 1)
		return 0;
	*ret = NULL;
	if (n > 1)
		return rd_err_set(err, EINVAL, NULL, "ambiguous command '%s': %s", name, names.data);
	rd_err_set(err, EINVAL, NULL, "unknown command '%s'", name);
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++) {
		size_t distance = rd_name_distance(name, (*cmd)->name);

		if (!(*cmd)->hidden && distance < least && distance < size) {
			least = distance;
			near = *cmd;
		}
	}
	return near ? rd_err_hint(err, RD_PROGRAM " %s", near->name) : -EINVAL;
}

/* Adds the RDMA devices of a PCI function or an interface; false: there are none. */
static bool add_below(struct rd_source *source, const char *folder, const char *name, struct rd_buf *out)
{
	_cleanup_free_ char *path = rd_text("%s/%s/infiniband", folder, name);
	_cleanup_texts_ struct rd_texts devices = { 0 };

	if (rd_list_dir(source, path, &devices, NULL) < 0)
		return false;
	for (size_t i = 0; i < devices.n; i++)
		rd_buf_printf(out, "%s%s", out->len ? "," : "", devices.v[i]);
	return devices.n > 0;
}

/* Of a soft device, whose interface is below it, and not on its function. */
static bool add_of_gids(struct rd_source *source, const char *interface, struct rd_buf *out)
{
	_cleanup_texts_ struct rd_texts devices = { 0 };
	bool found = false;

	if (rd_list_dir(source, "/sys/class/infiniband", &devices, NULL) < 0)
		return false;
	for (size_t i = 0; i < devices.n; i++) {
		_cleanup_free_ char *own = NULL;

		if (rd_read_textf(source, &own, NULL, "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0",
				  devices.v[i]) < 0 ||
		    strcmp(own, interface) != 0)
			continue;
		rd_buf_printf(out, "%s%s", out->len ? "," : "", devices.v[i]);
		found = true;
	}
	return found;
}

static void add_device(struct rd_source *source, const char *name, bool plain, struct rd_buf *out)
{
	bool address = strchr(name, ':') && strchr(name, '.');
	_cleanup_free_ char *interface = rd_text("%.*s/device", (int)strcspn(name, "/"), name);
	_cleanup_free_ char *whole =
		rd_text("%s%s", address && strchr(name, ':') == strrchr(name, ':') ? "0000:" : "", name);

	if (address && add_below(source, "/sys/bus/pci/devices", whole, out))
		return;
	if (plain && (add_below(source, "/sys/class/net", interface, out) || add_of_gids(source, name, out)))
		return;
	rd_buf_printf(out, "%s%s", out->len ? "," : "", name);
}

int rd_devices(const struct rd_ctx *ctx, const char *list, char *const *operands, bool plain, char **ret,
	       struct rd_err *err)
{
	struct rd_buf out = { 0 };

	for (const char *at = list; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		add_device(ctx->source, name, plain, &out);
	}
	for (; *operands; operands++) {
		if (strstr(*operands, ".tar") || **operands == '/' || **operands == '.') {
			rd_buf_deinit(&out);
			rd_err_set(err, EINVAL, *operands, "expected a device, this looks like a bundle");
			return rd_err_hint(err, "--from %s", *operands);
		}
		add_device(ctx->source, *operands, plain, &out);
	}
	*ret = out.data;
	return 0;
}
