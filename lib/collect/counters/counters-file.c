/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters with one file each: counters/, hw_counters/, statistics/. */
#include "collect/counters/counters-priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

/* So many refusals in a row, from the first file of mlx5's counters/ on, mean that this function may not read any of them. Each
 * costs a firmware command that is refused, and a line "ACCESS_REG … failed" in the kernel log. */
#define REFUSALS 3

/* A number as printed by sysfs, up to trailing blanks; -EBADMSG for any other text ("N/A (no PMA)"). */
static int parse_value(const char *text, uint64_t *ret)
{
	text += strspn(text, " \t");
	return rd_take_uint(&text, RD_AS_C, UINT64_MAX, ret) < 0 || text[strspn(text, " \t\r\n")] ? -EBADMSG : 0;
}

/* "lifespan" is among the counters: how long the driver caches values. */
static bool is_counter(const char *name)
{
	return strcmp(name, "lifespan") != 0;
}

void rd_counters_find_files(struct rd_counter_reader *reader, uint32_t port, enum rd_counter_group group,
			    const char *netdev, const char *dir)
{
	_cleanup_names_ struct rd_names names = { 0 };

	if (rd_sysfs_list(&reader->fs, &names, "%s", dir) < 0 || names.n == 0)
		return;
	rd_counter_read_begin(reader, RD_HOW_FILES, port, dir);
	for (size_t i = 0; i < names.n; i++)
		if (is_counter(names.v[i]))
			rd_counter_read_add(reader, group, names.v[i], netdev);
	rd_counter_read_end(reader);
}

/* Retransmitted and duplicate messages of the connection manager, by type: "cm_tx_retries/req". */
void rd_counters_find_cm(struct rd_counter_reader *reader, uint32_t port, const char *dir)
{
	static const char *const kinds[] = { "cm_tx_retries", "cm_rx_duplicates" };

	rd_counter_read_begin(reader, RD_HOW_FILES, port, dir);
	for (size_t k = 0; k < RD_ARRAY_SIZE(kinds); k++) {
		_cleanup_names_ struct rd_names names = { 0 };

		if (rd_sysfs_list(&reader->fs, &names, "%s/%s", dir, kinds[k]) < 0)
			continue;
		for (size_t i = 0; i < names.n; i++) {
			_cleanup_free_ char *name = rd_text("%s/%s", kinds[k], names.v[i]);

			rd_counter_read_add(reader, RD_GROUP_PORT, name, NULL);
		}
	}
	rd_counter_read_end(reader);
}

static bool is_refusal(int code)
{
	return code == EINVAL || code == EIO || code == EREMOTEIO || code == EOPNOTSUPP;
}

/* The path is needed only if the file is not open yet. */
static int read_text(struct rd_counter_reader *reader, const struct rd_counter_read *read, uint32_t i, char *text,
		     size_t size)
{
	struct rd_source *src = reader->fs.src;
	uint32_t *slot = &read->slots[i];
	char path[512];
	int r = *slot ? rd_read_again(src, NULL, slot, text, size) : -ESTALE;

	if (r != -ESTALE)
		return r;
	snprintf(path, sizeof(path), "%s/%s", read->object, reader->set.counters[read->first + i].name);
	return rd_read_again(src, path, slot, text, size);
}

static void read_one(struct rd_counter_reader *reader, const struct rd_counter_read *read, uint32_t i,
		     struct rd_counter_value *value)
{
	char text[64];
	int r = read_text(reader, read, i, text, sizeof(text));

	if (r < 0) {
		struct rd_err err = { 0 };

		value->known = r == -EACCES || r == -EPERM ? RD_DENIED : RD_ABSENT;
		value->code = -r;
		if (value->known != RD_DENIED)
			return;
		rd_err_set(&err, -r, reader->set.counters[read->first + i].name, "cannot read counter in %s",
			   read->object);
		rd_errlist_add(reader->fs.errors, &err);
		return;
	}
	if (parse_value(text, &value->v) < 0)
		value->code = RD_COUNTER_NO_NUMBER;
	else
		value->known = RD_OK;
}

void rd_counters_read_files(struct rd_counter_reader *reader, struct rd_counter_read *read,
			    struct rd_counter_sample *sample)
{
	const char *driver = reader->set.ports[read->port].driver;
	bool counting = driver && strcmp(driver, "mlx5") == 0;

	if (!read->slots)
		read->slots = rd_alloc(read->n, sizeof(*read->slots));

	read->refused = 0;
	for (uint32_t i = 0; i < read->n; i++) {
		struct rd_counter_value *value = &sample->values[read->first + i];

		read_one(reader, read, i, value);
		if (value->known == RD_OK || !is_refusal(value->code))
			counting = false;
		if (!counting || ++read->refused < REFUSALS)
			continue;
		read->skipped = true;
		read->code = value->code;
		rd_counter_read_failed(read, sample, read->code);
		break;
	}
}
