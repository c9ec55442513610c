/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel lists as text: a source whose every file holds the same bytes. */
#include "answerer.h"
#include "tests/source-parts.h"

#include "collect/kernel/kernel.h"

static int same_read_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	const struct answerer *same = (const struct answerer *)src;

	return rd_bytes_copy(same->data, same->size, ret);
}

static const struct source_parts same_ops = { .ops.get = parts_get, .ops.name = "same", .read_file = same_read_file };

static bool want_all(void *arg, const char *module)
{
	return module != NULL;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct answerer same = { { &same_ops.ops }, data, size };
	struct rd_kmods mods = { 0 };
	struct rd_ksyms syms = { 0 };
	struct rd_moddep dep = { 0 };

	if (rd_kmods_read(&same.src, &mods, NULL) == 0) {
		_cleanup_free_ bool *marked = calloc(mods.n + 1, sizeof(*marked));

		if (marked && mods.n > 0)
			rd_kmods_mark_users(&mods, 0, marked);
		rd_kmods_deinit(&mods);
	}
	if (rd_ksyms_read(&same.src, want_all, NULL, &syms, NULL) == 0)
		rd_ksyms_deinit(&syms);
	if (rd_ksyms_read(&same.src, NULL, NULL, &syms, NULL) == 0)
		rd_ksyms_deinit(&syms);
	syms = (struct rd_ksyms){ 0 };
	if (rd_ksyms_read_filter(&same.src, want_all, NULL, &syms, NULL) == 0)
		rd_ksyms_deinit(&syms);
	if (rd_moddep_read(&same.src, "6.1.0", &dep, NULL) == 0) {
		for (size_t i = 0; i < 4; i++) {
			_cleanup_free_ char *path = rd_moddep_path(&dep, "ib_core", i);

			if (!path)
				break;
		}
		rd_moddep_deinit(&dep);
	}
}
