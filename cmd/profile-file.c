/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/profile-file.h"

#include "check/shared/check.h"
#include "cmd/table.h"

static bool exists(const char *id)
{
	return rd_check_find(id) != NULL;
}

int rd_profile_load(const char *path, struct rd_profile *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	return RD_FIRST(rd_table_read_named("profiles", path, &bytes, err),
			rd_profile_parse((char *)bytes.data, bytes.size, path, ret, err),
			rd_profile_check_ignores(ret, exists, path, err));
}
