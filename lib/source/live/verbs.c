/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/live/live.h"

#include <dirent.h>
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <sys/stat.h>

#include "base/environ.h"
#include "confine/confine.h"
#include "source/opener/child.h"

#define LIMIT_MS 3000
#define SILENT_MS 60000 /* a trace runs for weeks, and the host may only have been busy */
#define LIMIT_SIZE ((size_t)64 << 10)
#define PORTS_MAX 254

/* Functions that are called. Not with the header's prototypes, which belong to inline wrappers. */
static struct {
	struct ibv_device **(*get_device_list)(int *n);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*query_device)(struct ibv_context *context, struct ibv_device_attr *attr);
	int (*query_port)(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr);
} libibverbs;

static const char *const names[] = { "ibv_get_device_list", "ibv_get_device_name", "ibv_open_device",
				     "ibv_query_device", "ibv_query_port" };
_Static_assert(sizeof(libibverbs) == RD_ARRAY_SIZE(names) * sizeof(void *), "one name per pointer, in the same order");

static struct rd_late late = {
	.library = &rd_libraries[RD_LIBIBVERBS],
	.names = names,
	.n = RD_ARRAY_SIZE(names),
	.table = &libibverbs,
};

static struct {
	bool (*is_supported)(struct ibv_device *device);
	int (*get_data_direct_sysfs_path)(struct ibv_context *context, char *path, size_t size);
} direct;

static const char *const direct_names[] = { "mlx5dv_is_supported", "mlx5dv_get_data_direct_sysfs_path" };
_Static_assert(sizeof(direct) == RD_ARRAY_SIZE(direct_names) * sizeof(void *),
	       "one name per pointer, in the same order");

static struct rd_late late_direct = {
	.library = &rd_libraries[RD_LIBMLX5],
	.names = direct_names,
	.n = RD_ARRAY_SIZE(direct_names),
	.table = &direct,
};

/* The path is relative to /sys (mlx5dv_get_data_direct_sysfs_path(3)). Most devices have none, and older libraries lack the call. */
static void add_data_direct(struct ibv_context *context, struct rd_buf *out)
{
	char path[4096] = "";

	if (rd_late_load(&late_direct, "libmlx5", NULL) < 0 || !direct.is_supported(context->device) ||
	    direct.get_data_direct_sysfs_path(context, path, sizeof(path) - 1) != 0)
		return;
	if (*path == '/' && !strchr(path, '\n'))
		rd_buf_printf(out, "data_direct=%s\n", path);
}

static void add_device(const struct ibv_device_attr *attr, struct rd_buf *out)
{
	const struct {
		const char *name;
		uint64_t value;
	} values[] = {
		{ "max_qp", (unsigned)attr->max_qp },
		{ "max_cq", (unsigned)attr->max_cq },
		{ "max_mr", (unsigned)attr->max_mr },
		{ "max_pd", (unsigned)attr->max_pd },
		{ "max_srq", (unsigned)attr->max_srq },
		{ "max_ah", (unsigned)attr->max_ah },
		{ "max_qp_wr", (unsigned)attr->max_qp_wr },
		{ "max_cqe", (unsigned)attr->max_cqe },
		{ "max_sge", (unsigned)attr->max_sge },
		{ "max_mr_size", attr->max_mr_size },
		{ "max_qp_rd_atom", (unsigned)attr->max_qp_rd_atom },
		{ "max_qp_init_rd_atom", (unsigned)attr->max_qp_init_rd_atom },
		{ "max_mw", (unsigned)attr->max_mw },
		{ "max_srq_wr", (unsigned)attr->max_srq_wr },
		{ "max_srq_sge", (unsigned)attr->max_srq_sge },
		{ "max_mcast_grp", (unsigned)attr->max_mcast_grp },
		{ "max_mcast_qp_attach", (unsigned)attr->max_mcast_qp_attach },
		{ "max_total_mcast_qp_attach", (unsigned)attr->max_total_mcast_qp_attach },
		{ "max_pkeys", attr->max_pkeys },
		{ "local_ca_ack_delay", attr->local_ca_ack_delay },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(values); i++)
		rd_buf_printf(out, "%s=%llu\n", values[i].name, (unsigned long long)values[i].value);
}

/* enum ibv_mtu: 1 is 256 bytes, 5 is 4096. */
static unsigned mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

static int query(struct ibv_context *context, const char *object, struct rd_bytes *ret, struct rd_err *err)
{
	struct rd_buf out = RD_BUF_CHECKED;
	struct ibv_device_attr device = { 0 };
	int code = libibverbs.query_device(context, &device);

	if (code)
		return rd_err_set(err, code, object, "cannot query the device attributes");
	add_device(&device, &out);
	rd_buf_printf(&out, "num_comp_vectors=%d\n", context->num_comp_vectors);
	for (unsigned port = 1; port <= device.phys_port_cnt && port <= PORTS_MAX; port++) {
		struct ibv_port_attr attr = { 0 };

		if (libibverbs.query_port(context, (uint8_t)port, &attr) != 0)
			continue;
		if (mtu_bytes(attr.active_mtu))
			rd_buf_printf(&out, "port%u.active_mtu_bytes=%u\n", port, mtu_bytes(attr.active_mtu));
		if (mtu_bytes(attr.max_mtu))
			rd_buf_printf(&out, "port%u.max_mtu_bytes=%u\n", port, mtu_bytes(attr.max_mtu));
	}
	add_data_direct(context, &out);
	return rd_bytes_of_buf(&out, object, ret, err);
}

/* Whether all users can open all devices, which is the default. */
static bool open_to_all_users(const char *path)
{
	_cleanup_dir_ DIR *dir = opendir(path);
	struct stat st;
	bool all;

	if (!dir)
		return true;
	all = fstat(dirfd(dir), &st) == 0 && (st.st_mode & S_IXOTH);
	for (struct dirent *entry; all && (entry = readdir(dir));)
		all = strncmp(entry->d_name, "uverbs", 6) != 0 ||
		      (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && (st.st_mode & 06) == 06);
	return all;
}

#define DEVICES "/dev/infiniband"

/* Files opened by libibverbs, its providers and the loader, with the paths of rdma-core. */
static const struct rd_confine_dir usual[] = {
	{ "/sys", false },
	{ DEVICES, true },
	{ "/etc/libibverbs.d", false },
	{ "/etc/ld.so.cache", false },
	{ "/lib", false },
	{ "/lib64", false },
	{ "/usr/lib", false },
	{ "/usr/lib64", false },
	{ "/usr/local/lib", false },
	{ "/proc/cpuinfo", false },
};

#define DIRS_MAX 64 /* with those of LD_LIBRARY_PATH */

/* A libibverbs outside the system directories has its settings and providers in the same place. */
static void add_own(struct rd_confine_dir *dirs, size_t n)
{
	static char dir[4096], settings[4096 + 32];
	const char *path = secure_getenv("LD_LIBRARY_PATH");
	Dl_info info;

	if (dladdr((void *)libibverbs.get_device_list, &info) && info.dli_fname && strchr(info.dli_fname, '/')) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(info.dli_fname, '/') - info.dli_fname), info.dli_fname);
		snprintf(settings, sizeof(settings), "%s/../etc/libibverbs.d", dir);
		dirs[n++].path = dir;
		dirs[n++].path = settings;
	}
	for (char *rest = path ? strdup(path) : NULL, *each; n < DIRS_MAX && (each = strsep(&rest, ":;"));)
		if (*each)
			dirs[n++].path = each;
}

/* If only root can open a device, and there is no landlock, other files of root can be opened, too. */
static int confine(struct rd_err *err)
{
	struct rd_confine_dir dirs[DIRS_MAX + 1] = { 0 };
	unsigned needs = RD_CONFINE_READ | RD_CONFINE_VERBS;

	memcpy(dirs, usual, sizeof(usual));
	add_own(dirs, RD_ARRAY_SIZE(usual));
	if (!open_to_all_users(DEVICES))
		needs |= RD_CONFINE_UID;
	rd_child_close_others();
	return rd_confine(needs, dirs, err);
}

/* In the child, whose exit frees all resources. */
static int query_device(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	const char *object = arg, *name = strrchr(object, '/') + 1;
	struct ibv_device **devices;
	int n = 0, r;

	rd_environ_hide();
	r = rd_late_load(&late, object, err);
	if (r == 0)
		r = confine(err);
	if (r < 0)
		return r;
	devices = libibverbs.get_device_list(&n);
	for (int i = 0; devices && i < n; i++) {
		struct ibv_context *context;

		if (strcmp(libibverbs.get_device_name(devices[i]), name) != 0)
			continue;
		errno = ENODEV;
		context = libibverbs.open_device(devices[i]);
		if (!context)
			return rd_err_set(err, errno, object, "libibverbs cannot open the device");
		return query(context, object, ret, err);
	}
	rd_err_set(err, ENODEV, object, "libibverbs does not know the device");
	return rd_err_hint(err, "modprobe ib_uverbs; ibv_devinfo -l");
}

int rd_verbs_read(int64_t *silent, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	int r;

	if (!path[strlen(RD_SOURCE_VERBS)])
		return rd_err_set(err, EISDIR, path, "cannot read");
	if (rd_monotonic_ms() < *silent)
		return rd_err_set(err, ETIMEDOUT, path, "not queried: libibverbs did not reply to an earlier query");
	r = rd_child_run(path, query_device, (void *)path, LIMIT_MS, LIMIT_SIZE, ret, err);
	*silent = r == -ETIMEDOUT ? rd_monotonic_ms() + SILENT_MS : 0;
	return r;
}
