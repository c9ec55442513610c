/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "fake-host.h"

struct fake_host fake_host_make(void)
{
	struct fake_host host = { .root = "/tmp/rdmadiag-unit-XXXXXX" };

	assert_non_null(mkdtemp(host.root));
	assert_int_equal(rd_source_live_open(host.root, &host.source, NULL), 0);
	return host;
}

void fake_host_deinit(struct fake_host *host)
{
	rd_source_closep(&host->source);
	fake_host_run(host, "rm -rf \"$PWD\"");
}

void fake_host_write(struct fake_host *host, const char *path, const void *data, size_t size)
{
	char full[512];
	FILE *file;

	assert_true((size_t)snprintf(full, sizeof(full), "%s%s", host->root, path) < sizeof(full));
	for (char *p = full + strlen(host->root) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(full, 0755);
		*p = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

void fake_host_text(struct fake_host *host, const char *path, const char *text)
{
	fake_host_write(host, path, text, strlen(text));
}

void fake_host_remove(struct fake_host *host, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", host->root, path);
	assert_int_equal(remove(full), 0);
}

int fake_host_run(struct fake_host *host, const char *command)
{
	char line[8192];
	int status;

	assert_true((size_t)snprintf(line, sizeof(line), "cd %s && { %s; }", host->root, command) < sizeof(line));
	status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
