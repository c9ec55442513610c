/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "select-host.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

/* Compiles one module; files it as module, its build-id as the kernel's note. */
static bool build_module(struct fake_host *host, const char *name, const char *source)
{
	char command[1024], path[64];

	snprintf(path, sizeof(path), "/%s.c", name);
	fake_host_text(host, path, source);
	snprintf(command, sizeof(command),
		 "cc -w -O2 -fno-pie -fno-ipa-sra -fno-ipa-cp -fpatchable-function-entry=2 -nostdlib -r "
		 "-Wl,--build-id=sha1 -o lib/modules/9.9/%s.ko %s.c && "
		 "objcopy --rename-section __patchable_function_entries=__mcount_loc lib/modules/9.9/%s.ko && "
		 "mkdir -p sys/module/%s/notes sys/module/%s/sections && "
		 "objcopy -O binary --only-section=.note.gnu.build-id --set-section-flags .note.gnu.build-id=alloc "
		 "lib/modules/9.9/%s.ko sys/module/%s/notes/.note.gnu.build-id && "
		 "echo 0xffffffffc%zx00000 > sys/module/%s/sections/.text",
		 name, name, name, name, name, name, name, strlen(name), name);
	return fake_host_run(host, command) == 0;
}

/* What clang says of the types of a source, as BTF; on top of `base` unless that is NULL. */
static struct btf *build_btf(struct fake_host *host, const char *name, struct btf *base)
{
	char command[256], object[128];
	struct btf *own, *ret;

	snprintf(command, sizeof(command), "clang -w -target bpf -g -O1 -c -o %s.bpf.o %s.c 2>/dev/null", name, name);
	assert_int_equal(fake_host_run(host, command), 0);
	snprintf(object, sizeof(object), "%s/%s.bpf.o", host->root, name);
	own = btf__parse_elf(object, NULL);
	assert_non_null(own);
	if (base) {
		char path[64];
		uint32_t size;
		const void *raw;

		ret = btf__new_empty_split(base);
		assert_non_null(ret);
		assert_true(btf__add_btf(ret, own) > 0);
		raw = btf__raw_data(ret, &size);
		snprintf(path, sizeof(path), "/sys/kernel/btf/%s", name);
		fake_host_write(host, path, raw, size);
		btf__free(ret);
		btf__free(own);
		return NULL;
	}
	return own;
}

bool select_host_build(struct fake_host *host, const char *types, const char *vmlinux,
		       const struct select_module *modules, size_t n)
{
	struct btf *base;
	const void *raw;
	uint32_t size;

	if (fake_host_run(host, "command -v cc objcopy clang >/dev/null") != 0)
		return false;
	fake_host_text(host, "/types.h", types);
	fake_host_text(host, "/vmlinux.c", vmlinux);
	fake_host_text(host, "/lib/modules/9.9/modules.alias", "");
	for (size_t i = 0; i < n; i++)
		if (!build_module(host, modules[i].name, modules[i].source))
			return false;
	base = build_btf(host, "vmlinux", NULL);
	raw = btf__raw_data(base, &size);
	fake_host_write(host, "/sys/kernel/btf/vmlinux", raw, size);
	for (size_t i = 0; i < n; i++)
		build_btf(host, modules[i].name, base);
	btf__free(base);
	return true;
}

struct rd_fnset select_host_run(struct fake_host *host, struct rd_errlist *notes)
{
	struct rd_fnset set = { 0 };
	struct rd_err err = { 0 };
	int rc = rd_select(host->source, &set, notes, &err);

	if (rc)
		fail_msg("%d: %s: %s", rc, err.object, err.message);
	return set;
}

const struct rd_fn *select_host_fn(const struct rd_fnset *set, const char *name)
{
	int i = rd_fnset_find(set, name);

	if (i < 0)
		fail_msg("no function %s", name);
	return &set->fns[i];
}

bool select_host_reached(const struct rd_fnset *set, const char *name, const char *via)
{
	const struct rd_fn *fn = select_host_fn(set, name);

	for (uint32_t i = 0; i < fn->n_roots; i++)
		if (!strcmp(set->roots[fn->roots[i]].via, via))
			return true;
	return false;
}
