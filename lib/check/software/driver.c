/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about drivers and modules. */
#include "check/shared/rules.h"

#include "model/host/system.h"
#include "model/rdma/qp.h"

/* Devices without a driver, or with the wrong one. */

#define CLASS_ETHERNET 0x0200
#define CLASS_INFINIBAND 0x0207
#define CLASS_3D 0x0302

/* Whether a function is expected to be an RDMA NIC: class InfiniBand, or the same model as another RDMA device here. */
static bool should_do_rdma(const struct rd_host *host, const struct rd_pci *pci)
{
	if (pci->class.v >> 8 == CLASS_INFINIBAND)
		return true;
	if (pci->class.v >> 16 != RD_PCI_NETWORK || pci->vendor.known != RD_OK)
		return false;
	/* The same model as a function with an RDMA device. */
	for (size_t i = 0; i < host->n_ibdevs; i++) {
		const struct rd_pci *other = host->ibdevs[i].pci < 0 ? NULL : &host->pcis[host->ibdevs[i].pci];

		if (other && !host->ibdevs[i].parent_netdev && other->vendor.v == pci->vendor.v &&
		    other->device.v == pci->device.v)
			return true;
	}
	return false;
}

/* RoCE LAG: when the interfaces of two functions are in one bond, one RDMA device serves both. */
static bool is_in_lag(const struct rd_host *host, size_t pci)
{
	int bond = rd_host_bond_of(host, (int)pci);

	for (size_t i = 0; bond >= 0 && i < host->n_ibdevs; i++) {
		int other = host->ibdevs[i].pci;

		if (other >= 0 && !host->ibdevs[i].parent_netdev && other != (int)pci &&
		    rd_pci_one_card(&host->pcis[other], &host->pcis[pci]) && rd_host_bond_of(host, other) == bond)
			return true;
	}
	return false;
}

/* The interfaces are not visible in a container; the RDMA device of a LAG has "bond" in its name. */
static bool may_be_in_lag(const struct rd_host *host, size_t pci)
{
	for (size_t i = 0; i < host->n_ibdevs; i++) {
		const struct rd_ibdev *dev = &host->ibdevs[i];

		if (dev->pci >= 0 && dev->name && strstr(dev->name, "bond") && dev->pci != (int)pci &&
		    rd_pci_one_card(&host->pcis[dev->pci], &host->pcis[pci]))
			return true;
	}
	return false;
}

/* Both are missing where they were moved to a container, or remain outside of this one; of an InfiniBand function the device alone,
 * where each network namespace has its own. */
static bool is_elsewhere(const struct rd_check_input *in, size_t pci)
{
	const struct rd_host *host = in->host;

	/* A bundle without /dev may lack processes, too. */
	if ((in->system && in->system->processes == RD_OF_CONTAINER && in->system->dev_known) ||
	    (in->res && in->res->netns_shared.known == RD_OK && !in->res->netns_shared.v))
		return true;
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].pci == (int)pci)
			return false;
	return host->n_netdevs > 0 && host->pcis[pci].class.v >> 8 == CLASS_ETHERNET;
}

/* Reports a function whose twins have another driver. False: nothing to report. */
static bool report_other_driver(const struct rd_check_input *in, size_t i, enum rd_trait trait, const char *what,
				struct rd_check_out *out)
{
	const struct rd_odd *odd = rd_check_odd(in, trait, (int)i, -1, false);
	const char *addr = in->host->pcis[i].addr;

	/* If at least half of them are assigned to virtual machines, that is intended. */
	if (!odd || strcmp(odd->usual, "none") == 0 || rd_driver_is_for_guests(odd->usual))
		return false;
	rd_check_bad(out, RD_SEV_WARNING, addr, rd_text("%s: driver %s", what, odd->is), rd_check_as_twins(odd),
		     rd_text("echo >/sys/bus/pci/devices/ADDRESS/driver_override\n"
			     "echo ADDRESS >/sys/bus/pci/devices/ADDRESS/driver/unbind\n"
			     "echo ADDRESS >/sys/bus/pci/drivers_probe\n"
			     "# only if it is not meant for a virtual machine\n"
			     "# no job and no virtual machine may use it meanwhile\n"
			     "# it lasts until the next boot; permanently: remove the configuration that binds it to %s "
			     "(driverctl list-overrides, vfio-pci.ids=)",
			     odd->is));
	return true;
}

static void judge_nic(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];

	/* IDs of ConnectX and BlueField without firmware, "[ConnectX-7 Flash Recovery]" in pci.ids. */
	if (pci->class.v >> 8 == RD_PCI_CLASS_MEMORY && pci->vendor.v == 0x15b3 && pci->device.v >= 0x0191 &&
	    pci->device.v <= 0x02ff)
		rd_check_bad(out, RD_SEV_CRITICAL, addr,
			     rd_text("device ID %04x: the NIC has started without its firmware (flash recovery)",
				     pci->device.v),
			     rd_text("a NIC with firmware, and an RDMA device"),
			     rd_text("mstflint -d ADDRESS query\n"
				     "# burn the firmware of this board (mstflint -i FILE burn), then power-cycle the "
				     "host while no job runs; else replace the card"));
	if (pci->pf >= 0 || !should_do_rdma(in->host, pci))
		return;
	if (rd_driver_is_for_guests(pci->driver))
		report_other_driver(in, i, RD_TRAIT_NIC_DRIVER, "NIC", out);
	else if (!pci->driver)
		rd_check_fail(out, addr, rd_text("no driver is bound"), rd_text("a driver and an RDMA device"));
	else if (rd_pci_is_nic(in->host, i) || is_in_lag(in->host, i))
		rd_check_good(out, addr);
	else if (may_be_in_lag(in->host, i))
		rd_check_unknown(out, addr,
				 "the other port of the card may be in a LAG: its interface is not visible here");
	else if (is_elsewhere(in, i))
		rd_check_unknown(out, addr,
				 "its RDMA device is not visible here: it may be in another network namespace");
	else
		rd_check_bad(out, RD_SEV_WARNING, addr, rd_text("driver %s, but no RDMA device", pci->driver),
			     rd_text("an RDMA device"),
			     rd_text("dmesg | grep ADDRESS\n"
				     "devlink dev param show pci/ADDRESS\n"
				     "rdma system\n"
				     "# the log has the reason if the driver failed to probe the device\n"
				     "# enable_roce or enable_rdma false: set it to true (cmode driverinit), then "
				     "devlink dev reload pci/ADDRESS; no job may use the NIC meanwhile\n"
				     "# with netns exclusive, a container may have taken the device along: in its "
				     "namespace, rdma dev set DEVICE netns 1\n"
				     "# else modprobe the RDMA module of the driver"));
}

/* Drivers of the kernel for displays, which no library computes with. Cards for screens are not listed as accelerators (collect/host/gpu.c). */
static bool is_for_display(const struct rd_pci *pci)
{
	return (pci->class.v >> 8 == CLASS_3D || pci->n_bars > 0) && pci->driver &&
	       (strcmp(pci->driver, "nouveau") == 0 || strcmp(pci->driver, "nova_core") == 0);
}

/* NULL: the driver is loaded, so the log has the reason; or which it is is unknown. */
static char *load_fix(const struct rd_check_input *in, const char *vendor)
{
	const char *module = strcmp(vendor, "NVIDIA") == 0 ? "nvidia" : strcmp(vendor, "AMD") == 0 ? "amdgpu" : NULL;

	if (!module || !in->system || !in->system->modules_known || rd_system_module(in->system, module))
		return NULL;
	return rd_text(
		"modprobe %s\n# if it is not found, it was not built for this kernel: dkms status, then install the "
		"driver for this kernel",
		module);
}

static void judge_gpu(const struct rd_check_input *in, size_t g, const char *name, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[in->host->gpus[g].pci];

	if (!in->host->gpus[g].vendor || !pci->detailed)
		return;
	if (!pci->driver)
		rd_check_bad(out, RD_SEV_CRITICAL, pci->addr, rd_text("%s: no driver is bound", name),
			     rd_text("a driver"), load_fix(in, in->host->gpus[g].vendor));
	else if (is_for_display(pci))
		rd_check_bad(
			out, RD_SEV_CRITICAL, pci->addr, rd_text("%s: driver %s, without CUDA", name, pci->driver),
			rd_text("driver nvidia"),
			rd_text("modinfo nvidia | head -3\n"
				"# install NVIDIA's driver, keep %s from loading (modprobe.d: blacklist %s), rebuild "
				"the initramfs, reboot while no job runs",
				pci->driver, pci->driver));
	else if (report_other_driver(in, (size_t)in->host->gpus[g].pci, RD_TRAIT_GPU_DRIVER, name, out))
		return;
	else if (!rd_driver_is_for_guests(pci->driver))
		rd_check_good(out, pci->addr);
}

const struct rd_check rd_check_nic_driver = {
	.id = "nic-driver",
	.title = "NIC lacks its RDMA driver",
	.why = "libraries see one NIC fewer: jobs run on the remaining NICs or do not start",
	.fix = "dmesg | grep ADDRESS\n"
	       "# the log has the reason if the driver failed to probe the device\n"
	       "# modprobe the driver, or its RDMA module",
	.needs = "sysfs class, vendor, device and driver of network functions",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PCI, NULL, judge_nic, NULL },
};

const struct rd_check rd_check_gpu_driver = {
	.id = "gpu-driver",
	.title = "Accelerator lacks its driver",
	.why = "jobs see one accelerator fewer, and fail or hang at start",
	.fix = "dmesg | grep -e ADDRESS -e GPUDRIVER\n"
	       "# the log has the reason why the driver failed to probe the device (nvidia: NVRM, Xid lines)",
	.needs = "sysfs driver of accelerators",
	.parts = { RD_PART_PCI, RD_PART_RDMA },
	.each = { RD_EACH_GPU, NULL, judge_gpu, "no accelerator" },
};

/* RDMA modules of different stacks. */

static bool drives_nic(const struct rd_host *host, const char *module)
{
	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (host->ibdevs[i].driver && !host->ibdevs[i].parent_netdev &&
		    strcmp(host->ibdevs[i].driver, module) == 0)
			return true;
	return false;
}

#define FIX                                                                                            \
	"# reinstall one stack for this kernel, rebuild the initramfs, and reboot while no job runs\n" \
	"# modinfo shows the origin of a module"

static char *fix_of(const struct rd_loaded_module *module)
{
	return rd_text("modinfo -n ib_core %s\n" FIX, module->name);
}

/* NVIDIA's driver brings an ib_core of its own. Other vendors ship drivers for that of the kernel, each with the RDMA module above it. */
static const char *strange_driver(const struct rd_loaded_module *module)
{
	if (strcmp(module->name, "mlx5_core") == 0 || strcmp(module->name, "mlx4_core") == 0)
		return "out-of-tree module on the kernel's in-tree ib_core";
	return module->in_tree_user ? "out-of-tree module below an in-tree RDMA module" : NULL;
}

/* ib_core determines the stack; the other RDMA modules should belong to it. nvidia_peermem is always built out of tree. */
static void run_modules(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;
	const struct rd_loaded_module *core = system ? rd_system_module(system, "ib_core") : NULL;

	if (!system || !system->modules_known)
		return rd_check_unknown(out, "ib_core", "/proc/modules could not be read");
	if (!core)
		return rd_check_skip(out, "ib_core is not a module on this host");
	for (size_t i = 0; i < system->n_modules; i++) {
		const struct rd_loaded_module *module = &system->modules[i];

		if (!module->rdma && !drives_nic(in->host, module->name))
			continue;
		if (module == core || strcmp(module->name, "nvidia_peermem") == 0 ||
		    strcmp(module->name, "nv_peer_mem") == 0)
			continue;
		if (core->out_of_tree && !module->out_of_tree)
			rd_check_bad(out, RD_SEV_CRITICAL, module->name,
				     rd_text("in-tree module on an out-of-tree ib_core"),
				     rd_text("all modules from one stack"), fix_of(module));
		else if (!core->out_of_tree && module->out_of_tree && drives_nic(in->host, module->name) &&
			 strange_driver(module))
			rd_check_bad(out, RD_SEV_WARNING, module->name, rd_text("%s", strange_driver(module)),
				     rd_text("all modules from one stack"), fix_of(module));
		else
			rd_check_good(out, module->name);
	}
}

const struct rd_check rd_check_modules_mixed = {
	.id = "modules-mixed",
	.title = "RDMA kernel modules come from different stacks",
	.why = "data structures differ between stacks: valid calls fail with EINVAL, symbols are missing, or the "
	       "kernel crashes",
	.fix = "modinfo -n ib_core\n" FIX,
	.needs = "/proc/modules with taint flags",
	.parts = { 0, RD_PART_MODULES },
	.run = run_modules,
};
