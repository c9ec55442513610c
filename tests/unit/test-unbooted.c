/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a kernel that is not booted: directories and packages that are wrong, and modules that a compiler makes now. */
#include "unit.h"

#include "fake-host.h"
#include "source/package/package.h"
#include "tar.h"
#include "trace/select/select.h"

/* Opens `path` below the host's folder, or a path of its own if there is no host; errors go to `err`. */
static int open_path(const struct fake_host *host, const char *path, struct rd_errlist *notes, struct rd_err *err)
{
	struct rd_source *source = NULL;
	char full[512];
	int r;

	snprintf(full, sizeof(full), "%s%s", host ? host->root : "", path);
	*err = (struct rd_err){ 0 };
	r = rd_unbooted_open((const char *[]){ full }, 1, &source, notes, err);
	if (!r)
		rd_source_closep(&source);
	assert_int_equal(r, -err->code);
	return r;
}

/* It fails with this errno, and the error names the object, which is below the host's folder. */
static void assert_fails(const struct fake_host *host, const char *path, int code, const char *object)
{
	struct rd_err err;
	char full[512];

	snprintf(full, sizeof(full), "%s%s", host ? host->root : "", object);
	if (open_path(host, path, NULL, &err) != -code)
		fail_msg("%s: %d, not %d: %s", path, err.code, code, err.message);
	assert_string_equal(err.object, full);
	assert_true(err.message[0]);
}

TEST(what_has_no_module_is_refused_by_name)
{
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();

	assert_int_equal(fake_host_run(&host, "mkdir -p empty lib/modules/9.9/kernel/net && touch text ko .ko"), 0);
	fake_host_text(&host, "/lib/modules/9.9/kernel/net/other.ko", "not wanted, so not read");
	fake_host_text(&host, "/lib/modules/9.9/modules.dep", "");
	assert_fails(&host, "/empty", ENODEV, "/empty");
	assert_fails(&host, "/lib", ENODEV, "/lib");
	assert_fails(&host, "/absent", ENOENT, "/absent");
	assert_fails(&host, "/text/x", ENOTDIR, "/text/x");
	assert_fails(NULL, "", ENOENT, "\"\"");
	assert_fails(NULL, "/dev/null", EINVAL, "/dev/null");
	assert_true(open_path(&host, "/text", NULL, &(struct rd_err){ 0 }) < 0);
	assert_true(open_path(&host, "/ko", NULL, &(struct rd_err){ 0 }) < 0);
	assert_true(open_path(&host, "/.ko", NULL, &(struct rd_err){ 0 }) < 0);
	assert_int_equal(fake_host_run(&host, "mkfifo pipe"), 0);
	assert_fails(&host, "/pipe", EINVAL, "/pipe");
}

TEST(a_module_file_that_is_none_is_named)
{
	static const struct {
		const char *name, *text;
	} files[] = {
		{ "/x.ko", "not ELF" },
		{ "/x.ko", "" },
		{ "/x.ko", "\177ELF\2\1\1" },
		{ "/x.ko.gz", "\x1f\x8b\x08" },
		{ "/x.ko.zst", "\x28\xb5\x2f\xfd" },
		{ "/dir/kernel/drivers/infiniband/x-y.ko", "not ELF" },
		{ "/dir/extra/x.ko.xz", "\xfd\x37zXZ" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(files); i++) {
		struct fake_host host = fake_host_make();

		fake_host_text(&host, files[i].name, files[i].text);
		assert_fails(&host, "", EBADMSG, files[i].name);
		assert_fails(&host, files[i].name, EBADMSG, files[i].name);
		fake_host_deinit(&host);
	}
}

TEST(directories_end_and_links_to_them_are_not_followed)
{
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();

	assert_int_equal(fake_host_run(&host, "mkdir loop && ln -s . loop/self && ln -s loop loop/loop && "
					      "ln -s absent loop/x.ko && mkfifo loop/y.ko && "
					      "ln -s loop link"),
			 0);
	assert_fails(&host, "/loop", ENODEV, "/loop");
	assert_fails(&host, "/link", ENODEV, "/link");
	/* Modules may be links. */
	assert_int_equal(fake_host_run(&host, "echo bad > bad && ln -s ../bad loop/z.ko"), 0);
	assert_fails(&host, "/loop", EBADMSG, "/loop/z.ko");
	assert_int_equal(fake_host_run(&host, "d=deep; for i in $(seq 30); do d=$d/d; done; mkdir -p $d"), 0);
	assert_fails(&host, "/deep", ENODEV, "/deep");
	assert_int_equal(fake_host_run(&host, "d=deep; for i in $(seq 300); do d=$d/d; done; mkdir -p $d"), 0);
	assert_int_equal(open_path(&host, "/deep", NULL, &(struct rd_err){ 0 }), -ELOOP);
}

static void add_member(struct rd_buf *deb, const char *name, const void *data, size_t size)
{
	rd_buf_printf(deb, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "100644", size);
	rd_buf_add(deb, data, size);
	rd_buf_add(deb, "\n", size % 2);
}

static void assert_bad_package(const void *data, size_t size)
{
	struct rd_err err;
	char path[64];
	int r;

	file_make(path, data, size);
	r = open_path(NULL, path, NULL, &err);
	unlink(path);
	ASSERT_EACH(IS(r == -EBADMSG || r == -ENODEV, true), READS(err.object, path));
}

TEST(a_damaged_package_is_named)
{
	_cleanup_buf_ struct rd_buf deb = { 0 };
	char rpm[200] = "\xed\xab\xee\xdb\3";

	rd_buf_str(&deb, "!<arch>\n");
	assert_bad_package(deb.data, deb.len);
	add_member(&deb, "debian-binary", "2.0\n", 4);
	add_member(&deb, "control.tar", "\x1f\x8b not read", 11);
	for (size_t size = 1; size <= deb.len; size++)
		assert_bad_package(deb.data, size);
	add_member(&deb, "data.tar.gz", "\x1f\x8b\x08 damaged", 11);
	assert_bad_package(deb.data, deb.len);
	for (size_t size = 4; size <= sizeof(rpm); size += 28)
		assert_bad_package(rpm, size);
}

/* --- modules --- */

#define CORE "/lib/modules/9.9-unit/kernel/drivers/infiniband/core/ib_core.ko"
#define DRIVER "/lib/modules/9.9-unit/kernel/drivers/infiniband/hw/drv-ib.ko"
#define BELOW "/lib/modules/9.9-unit/kernel/drivers/net/drv_core.ko"
#define UPDATE "/lib/modules/9.9-unit/updates/dkms/drv-ib.ko"

/* `info`: fields of .modinfo, each ended by "\\0". False if there is no compiler. */
static bool add_module(struct fake_host *host, const char *path, const char *info)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "command -v cc >/dev/null && mkdir -p $(dirname .%s) && echo 'int f(int x) { return x; } const char "
		 "info[] __attribute__((section(\".modinfo\"), used)) = \"%s\";' | cc -w -x c -c -o .%s -",
		 path, info, path);
	return fake_host_run(host, command) == 0;
}

static void add_modules(struct fake_host *host)
{
	*host = fake_host_make();
	fake_host_text(host, "/lib/modules/9.9-unit/kernel/drivers/net/other.ko", "not needed, so not read");
	if (!add_module(host, CORE, "intree=Y\\0vermagic=9.9-unit SMP mod_unload") ||
	    !add_module(host, DRIVER,
			"intree=Y\\0version=1\\0depends=ib-core,drv-core\\0alias=pci:v000015B3d*\\0vermagic=9.9-unit ") ||
	    !add_module(host, BELOW, "intree=Y\\0vermagic=9.9-unit ") ||
	    !add_module(host, UPDATE, "version=2\\0depends=ib_core,drv_core\\0vermagic=9.8-unit ")) {
		fake_host_deinit(host);
		SKIP("no compiler");
	}
}

static struct rd_source *open_modules(const struct fake_host *host, const char *path, const char *more,
				      struct rd_errlist *notes)
{
	struct rd_source *source = NULL;
	char full[2][512];
	struct rd_err err = { 0 };

	snprintf(full[0], sizeof(full[0]), "%s%s", host->root, path);
	snprintf(full[1], sizeof(full[1]), "%s%s", host->root, more ? more : "");
	if (rd_unbooted_open((const char *[]){ full[0], full[1] }, more ? 2 : 1, &source, notes, &err))
		fail_msg("%s: %s", err.object, err.message);
	return source;
}

/* The version of the driver that counts. */
static void assert_version(const struct fake_host *host, const char *path, const char *more, const char *version)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	struct rd_source *source = open_modules(host, path, more, &notes);

	assert_string_equal(text_at(source, "/sys/module/drv_ib/version"), version);
	rd_source_closep(&source);
}

TEST(modules_look_as_if_they_were_loaded)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	struct rd_source *source;
	_cleanup_(fake_host_deinit) struct fake_host host;
	const char *modules;

	add_modules(&host);
	source = open_modules(&host, "/lib/modules/9.9-unit", NULL, &notes);
	assert_string_equal(text_at(source, "/proc/sys/kernel/osrelease"), "9.9-unit");
	modules = text_at(source, "/proc/modules");
	ASSERT_HAS(modules, "ib_core ", " 0 drv_ib, Live 0x0\n", " 0 - Live 0x0 (O)\n");
	assert_null(strstr(modules, "other"));
	assert_non_null(strstr(text_at(source, "/lib/modules/9.9-unit/modules.dep"), UPDATE ":\n"));
	assert_string_equal(text_at(source, "/sys/module/drv_ib/version"), "2");
	assert_string_equal(text_at(source, "/sys/module/ib_core/version"), "(ENOENT)");
	assert_string_equal(text_at(source, "/sys/module/other/version"), "(ENOENT)");
	assert_string_equal(text_at(source, "/sys/kernel/btf/vmlinux"), "(ENOENT)");
	assert_string_equal(text_at(source, "/etc/passwd"), "(ENOENT)");
	/* Built for another kernel, and no image. */
	assert_int_equal(notes.n, 2);
	ASSERT_EACH(IS(notes.v[0].code, ENOEXEC), HAS(notes.v[0].object, UPDATE), IS(notes.v[1].code, ENOENT),
		    READS(notes.v[1].object, "9.9-unit"));
	rd_source_closep(&source);
}

TEST(only_a_driver_of_devices_has_drivers_and_a_hidden_module_is_not_loaded)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	struct rd_texts names = { 0 };
	struct rd_source *source;
	_cleanup_(fake_host_deinit) struct fake_host host;

	add_modules(&host);
	source = open_modules(&host, "/lib/modules/9.9-unit/kernel", NULL, &notes);
	assert_int_equal(rd_list_dir(source, "/sys/module/drv_ib/drivers", &names, NULL), 0);
	assert_int_equal(names.n, 1);
	rd_texts_deinit(&names);
	assert_int_equal(rd_list_dir(source, "/sys/module/ib_core/drivers", &names, NULL), -ENOENT);
	rd_unbooted_hide(source, "drv_ib");
	rd_unbooted_hide(source, "absent");
	assert_null(strstr(text_at(source, "/proc/modules"), "drv_ib"));
	assert_non_null(strstr(text_at(source, "/proc/modules"), "drv_core "));
	rd_source_closep(&source);
}

TEST(of_two_modules_of_a_name_the_last_path_counts_then_updates)
{
	_cleanup_(fake_host_deinit) struct fake_host host;

	add_modules(&host);
	assert_version(&host, "/lib/modules/9.9-unit", NULL, "2");
	assert_version(&host, "/lib/modules/9.9-unit", DRIVER, "1");
	assert_version(&host, DRIVER, "/lib/modules/9.9-unit", "2");
	assert_version(&host, "/lib/modules/9.9-unit/kernel", UPDATE, "2");
}

TEST(the_image_of_the_same_root_has_the_types)
{
	static const char image[] =
		"Linux version 9.9-unit (cc)\n\x9f\xeb\1\0\x18\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0t";
	static const char other[] = "Linux version 9.9-other (cc)\n";
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	static const char *const paths[] = { "/lib/modules/9.9-unit/kernel", "/usr/lib/modules/9.9-unit", "" };
	struct rd_source *source;
	_cleanup_(fake_host_deinit) struct fake_host host;
	char path[512];

	add_modules(&host);
	fake_host_write(&host, "/boot/vmlinuz-9.9-unit", image, sizeof(image));
	fake_host_text(&host, "/usr/lib/debug/boot/vmlinux-9.9-unit", "not read");
	assert_int_equal(fake_host_run(&host, "rm -r lib/modules/*/updates && cp -r lib usr"), 0);
	for (size_t i = 0; i < RD_ARRAY_SIZE(paths); i++) {
		_cleanup_bytes_ struct rd_bytes btf = { 0 };

		source = open_modules(&host, paths[i], NULL, &notes);
		assert_int_equal(notes.n, 0);
		assert_int_equal(rd_read_file(source, "/sys/kernel/btf/vmlinux", &btf, NULL), 0);
		assert_int_equal(btf.size, 26);
		rd_source_closep(&source);
	}
	fake_host_write(&host, "/boot/vmlinuz-9.9-unit", other, sizeof(other));
	source = open_modules(&host, "/lib/modules/9.9-unit/kernel", NULL, &notes);
	rd_source_closep(&source);
	assert_int_equal(notes.n, 1);
	assert_int_equal(notes.v[0].code, ENOEXEC);
	snprintf(path, sizeof(path), "%s/boot/vmlinuz-9.9-unit", host.root);
	assert_string_equal(notes.v[0].object, path);
}

TEST(a_package_is_read_to_its_end)
{
	_cleanup_buf_ struct rd_buf deb = { 0 }, tar = { 0 };
	_cleanup_bytes_ struct rd_bytes module = { 0 }, read = { 0 };
	_cleanup_(fake_host_deinit) struct fake_host host;
	struct rd_source *source;
	size_t needed;

	add_modules(&host);
	assert_int_equal(rd_read_file(host.source, CORE, &module, NULL), 0);
	tar_add(&tar, "./usr/share/doc/x.ko/README", "not a module");
	tar_link(&tar, "./lib/modules/9.9-unit/extra/link.ko", "/etc/passwd");
	tar_add_raw(&tar, '0', "." CORE, NULL, module.data, module.size, module.size);
	rd_buf_str(&deb, "!<arch>\n");
	add_member(&deb, "debian-binary", "2.0\n", 4);
	needed = deb.len + 60 + tar.len - 512;
	tar_end(&tar);
	add_member(&deb, "data.tar", tar.data, tar.len);
	for (size_t size = 8; size < needed; size += 61)
		assert_bad_package(deb.data, size);
	fake_host_write(&host, "/image.deb", deb.data, deb.len);
	source = open_modules(&host, "/image.deb", NULL, NULL);
	assert_int_equal(rd_read_file(source, CORE, &read, NULL), 0);
	assert_int_equal(read.size, module.size);
	assert_memory_equal(read.data, module.data, module.size);
	assert_string_equal(text_at(source, "/proc/sys/kernel/osrelease"), "9.9-unit");
	assert_string_equal(text_at(source, "/lib/modules/9.9-unit/modules.dep"), CORE ":\n");
	rd_source_closep(&source);
}
