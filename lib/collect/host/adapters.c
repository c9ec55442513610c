/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/host/host.h"

#define CRAY 0x17db /* HPE Slingshot: driver cxi, used through libfabric */

/* Drivers of network functions, and the module that adds RDMA to each (modinfo; `driver` of auxiliary devices). */
static const struct adapter {
	const char *driver, *module;
	/* IDs of functions without driver that only this one drives; 0: IDs do not tell */
	uint32_t vendor, least, most;
} adapters[] = {
	{ "mlx5_core", "mlx5_ib", 0x15b3, 0x1011, 0xffff },
	{ "mlx4_core", "mlx4_ib", 0x15b3, 0x1002, 0x1010 },
	{ "ionic", "ionic_rdma", 0x1dd8, 0x1002, 0x1003 },
	{ .driver = "bnxt_en", .module = "bnxt_re" },
	{ .driver = "ice", .module = "irdma" },
	{ .driver = "i40e", .module = "irdma" },
	{ .driver = "qede", .module = "qedr" },
	{ .driver = "cxgb4", .module = "iw_cxgb4" },
	{ .driver = "hns3", .module = "hns_roce_hw_v2" },
	{ .driver = "mana", .module = "mana_ib" },
};

/* Functions that lack the same. */
struct lack {
	size_t n;
	char first[RD_PCI_ADDR];
};

static void count(struct lack *lack, const char *addr)
{
	if (lack->n++ == 0)
		snprintf(lack->first, sizeof(lack->first), "%s", addr);
}

static void add_lack(const struct lack *lack, struct rd_buf *out)
{
	rd_buf_part(out, out->len ? "; " : "", lack->first);
	if (lack->n > 1)
		rd_buf_printf(out, " and %zu more", lack->n - 1);
}

void rd_no_rdma_reason(struct rd_source *source, bool recorded, struct rd_err *err)
{
	const struct rd_sysfs fs = { .src = source };
	struct lack modules[RD_ARRAY_SIZE(adapters)] = { 0 }, drivers[RD_ARRAY_SIZE(adapters)] = { 0 }, cxi = { 0 };
	const char *what = NULL, *program = recorded ? "on that host: modprobe" : "modprobe";
	_cleanup_texts_ struct rd_texts names = { 0 };
	_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;
	size_t used;

	if (recorded)
		rd_err_hint(err, "read the recording of another host: --from BUNDLE");
	if (rd_sysfs_list(&fs, &names, "/sys/bus/pci/devices") < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		const char *addr = names.v[i];
		_cleanup_free_ char *driver = NULL;
		int64_t class, vendor, device;

		if (rd_sysfs_int(&fs, &class, "/sys/bus/pci/devices/%s/class", addr) != RD_OK || class >> 16 != 2 ||
		    rd_sysfs_int(&fs, &vendor, "/sys/bus/pci/devices/%s/vendor", addr) != RD_OK ||
		    rd_sysfs_int(&fs, &device, "/sys/bus/pci/devices/%s/device", addr) != RD_OK)
			continue;
		driver = rd_sysfs_link(&fs, "/sys/bus/pci/devices/%s/driver", addr);
		if (vendor == CRAY)
			count(&cxi, addr);
		for (size_t a = 0; a < RD_ARRAY_SIZE(adapters); a++)
			if (driver ? strcmp(rd_basename(driver), adapters[a].driver) == 0 :
				     (adapters[a].vendor == vendor && device >= adapters[a].least &&
				      device <= adapters[a].most))
				count(driver ? &modules[a] : &drivers[a], addr);
	}
	for (size_t a = 0; a < RD_ARRAY_SIZE(adapters); a++) {
		if (drivers[a].n > 0) {
			add_lack(&drivers[a], &out);
			rd_buf_printf(&out, " %s no driver", drivers[a].n > 1 ? "have" : "has");
			what = what ? what : adapters[a].driver;
		}
		if (modules[a].n > 0) {
			add_lack(&modules[a], &out);
			rd_buf_printf(&out, " %s driver %s, RDMA would need module %s",
				      modules[a].n > 1 ? "have" : "has", adapters[a].driver, adapters[a].module);
			what = what ? what : adapters[a].module;
		}
	}
	if (cxi.n > 0) {
		add_lack(&cxi, &out);
		rd_buf_str(&out, " is HPE Slingshot (cxi): not an RDMA device of the kernel, used through libfabric");
	}
	if (what)
		rd_err_hint(err, "%s %s", program, what);
	else if (cxi.n > 0)
		rd_err_hint(err, "fi_info -p cxi");
	else if (!recorded)
		rd_err_hint(
			err,
			"read another host: --from BUNDLE; or add a software device: rdma link add rxe0 type rxe netdev eth0");
	used = strlen(err->message);
	snprintf(err->message + used, sizeof(err->message) - used, ": %s",
		 out.data && !out.failed ? out.data : "no adapter known to do RDMA is on PCI");
}
