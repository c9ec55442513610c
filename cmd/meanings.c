/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/meanings.h"

#include "cmd/table.h"

int rd_read_meanings(struct rd_meanings *ret, struct rd_errlist *errors, struct rd_err *err)
{
	_cleanup_(rd_table_deinit) struct rd_table table = { 0 };
	struct rd_err too_large = { 0 };
	int r = rd_table_read_all("counters", &table, err);

	if (r < 0)
		rd_errlist_add(errors, err);
	for (size_t i = 0; i < table.n; i++)
		if (rd_meanings_parse(table.v[i].path, (char *)table.v[i].bytes.data, table.v[i].bytes.size, ret,
				      errors, &too_large) < 0)
			rd_errlist_add(errors, &too_large);
	return r;
}
