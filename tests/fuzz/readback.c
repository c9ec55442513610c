/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "readback.h"

#include "collect/counters/counters.h"
#include "collect/host/host.h"
#include "model/host/profile.h"
#include "source/shared/source.h"

#include <errno.h>
#include <string.h>

static int read_whole(const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *here = NULL;
	_cleanup_free_ char *whole = realpath(path, NULL);
	int r = whole ? rd_source_live_open(NULL, &here, err) : rd_err_set(err, errno, path, "is not there");

	return r < 0 ? r : rd_read_file(here, whole, ret, err);
}

static int open_bundle(const char *path, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;

	return rd_source_bundle_open(path, &source, err);
}

static int read_topology(const char *path, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_host host = { 0 };
	int r = rd_source_bundle_open(path, &source, err);

	if (!r)
		r = rd_read_file(source, RD_SOURCE_NCCL_XML, &bytes, err);
	if (!r)
		r = rd_collect_nccl_xml(path, (const char *)bytes.data, bytes.size, &host, err);
	rd_host_deinit(&host);
	return r == -E2BIG ? 0 : r; /* names that are escaped can be too long */
}

/* Of a host without a name that could be written, nothing is left to expect. */
static int read_profile(const char *path, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_profile profile = { 0 };
	int r = read_whole(path, &bytes, err);

	if (!r && strstr((char *)bytes.data, " = "))
		r = rd_profile_parse((char *)bytes.data, bytes.size, path, &profile, err);
	rd_profile_deinit(&profile);
	return r;
}

static int read_counters(const char *path, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_counter_set set = { 0 };
	struct rd_counter_sample sample = { 0 };
	int r = read_whole(path, &bytes, err);

	if (!r)
		r = rd_counters_saved(path, (char *)bytes.data, bytes.size, &set, &sample, err);
	rd_counter_set_deinit(&set);
	rd_counter_sample_deinit(&sample);
	return r;
}

read_back_fn *reader_of_output(const char *words)
{
	return strstr(words, "--nccl-xml") ? read_topology : strstr(words, "--learn") ? read_profile : NULL;
}

read_back_fn *reader_of_file(const char *words)
{
	return strncmp(words, "capture", 7) == 0 ? open_bundle : strstr(words, "--save") ? read_counters : NULL;
}
