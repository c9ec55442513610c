/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NCCL_IB_HCA (src/transport/net_ib/init.cc, src/misc/utils.cc). */
#include "analyse/nccl/nccl.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

void rd_hca_list_parse(const char *value, struct rd_hca_list *ret)
{
	rd_hca_list_parse_most(value, RD_NCCL_HCAS, ret);
}

void rd_hca_list_parse_most(const char *value, size_t most, struct rd_hca_list *ret)
{
	size_t cap = 1;

	*ret = (struct rd_hca_list){ 0 };
	ret->exclude = *value == '^';
	value += ret->exclude;
	ret->exact = *value == '=';
	value += ret->exact;
	for (const char *c = value; *c && cap < most; c++)
		cap += *c == ',';
	ret->v = rd_alloc(cap, sizeof(*ret->v));
	while (*value) {
		struct rd_hca_entry entry = { .port = -1 };
		size_t n = strcspn(value, ","), name = strcspn(value, ":,");

		snprintf(entry.name, sizeof(entry.name), "%.*s", (int)name, value);
		if (name < n && name + 1 < n && value[name + 1] != ':')
			entry.port = rd_as_atoi(value + name + 1);
		if (name > 0 && ret->n == most)
			ret->left++;
		else if (name > 0)
			ret->v[ret->n++] = entry;
		value += n + (value[n] == ',');
	}
}

void rd_hca_list_deinit(struct rd_hca_list *list)
{
	free(list->v);
	*list = (struct rd_hca_list){ 0 };
}

bool rd_hca_entry_matches(const struct rd_hca_list *list, const struct rd_hca_entry *entry, const char *name,
			  unsigned port)
{
	if (entry->port != -1 && entry->port != (int)port)
		return false;
	return list->exact ? strcmp(name, entry->name) == 0 : strncmp(name, entry->name, strlen(entry->name)) == 0;
}

bool rd_hca_list_allows(const struct rd_hca_list *list, const char *name, unsigned port)
{
	bool matches = list->n == 0;

	for (size_t i = 0; i < list->n && !matches; i++)
		matches = rd_hca_entry_matches(list, &list->v[i], name, port);
	return matches != list->exclude;
}
