/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RDMA modules of different stacks. */
#include <string.h>

#include "check/shared/rules.h"
#include "model/host/host.h"
#include "model/host/system.h"

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

static char *fix_of(const struct rd_module *module)
{
	return rd_text("modinfo -n ib_core %s\n" FIX, module->name);
}

/* ib_core determines the stack; the other RDMA modules should belong to it. nvidia_peermem is always built out of tree. */
static void run_modules(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;
	const struct rd_module *core = system ? rd_system_module(system, "ib_core") : NULL;

	if (!system || !system->modules_known) {
		rd_check_unknown(out, "ib_core", "/proc/modules could not be read");
		return;
	}
	if (!core) {
		rd_check_skip(out, "ib_core is not a module on this host");
		return;
	}
	for (size_t i = 0; i < system->n_modules; i++) {
		const struct rd_module *module = &system->modules[i];

		if (!module->rdma && !drives_nic(in->host, module->name))
			continue;
		if (module == core || strcmp(module->name, "nvidia_peermem") == 0 ||
		    strcmp(module->name, "nv_peer_mem") == 0)
			continue;
		/* Several vendors ship an out-of-tree driver for the in-tree ib_core: only a warning. */
		if (core->out_of_tree && !module->out_of_tree)
			rd_check_bad(out, RD_SEV_CRITICAL, module->name,
				     rd_text("in-tree module on an out-of-tree ib_core"),
				     rd_text("all modules from one stack"), fix_of(module));
		else if (!core->out_of_tree && module->out_of_tree && drives_nic(in->host, module->name))
			rd_check_bad(out, RD_SEV_WARNING, module->name,
				     rd_text("out-of-tree module on the kernel's in-tree ib_core"),
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
	.reads = RD_PART_MODULES,
	.run = run_modules,
};
