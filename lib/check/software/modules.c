/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One stack or two. */
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

/* ib_core decides what the stack is; what hangs on it should have come with it. NVIDIA's peermem is always built aside. */
static void run(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;
	const struct rd_module *core = system ? rd_system_module(system, "ib_core") : NULL;

	if (!system || !system->modules_known) {
		rd_check_unknown(out, "ib_core", "/proc/modules could not be read");
		return;
	}
	if (!core) {
		rd_check_skip(out, "ib_core is no module here");
		return;
	}
	for (size_t i = 0; i < system->n_modules; i++) {
		const struct rd_module *module = &system->modules[i];

		if (!module->rdma && !drives_nic(in->host, module->name))
			continue;
		if (module == core || strcmp(module->name, "nvidia_peermem") == 0 ||
		    strcmp(module->name, "nv_peer_mem") == 0)
			continue;
		/* An out-of-tree driver on the kernel's own core is how several makers ship theirs. */
		if (core->out_of_tree && !module->out_of_tree)
			rd_check_fail(out, module->name, rd_text("of the kernel, on an ib_core that is not"),
				      rd_text("all of one stack"));
		else if (!core->out_of_tree && module->out_of_tree && drives_nic(in->host, module->name))
			rd_check_warn(out, module->name, rd_text("built outside the kernel, on the kernel's ib_core"),
				      rd_text("all of one stack"));
		else
			rd_check_good(out, module->name);
	}
}

const struct rd_check rd_check_modules_mixed = {
	.id = "modules-mixed",
	.title = "RDMA modules of the kernel and of another stack are mixed",
	.why = "structures differ between them: EINVAL from calls that are right, missing symbols, or a crash",
	.fix = "reinstall one stack for this kernel, rebuild the initramfs, reboot; modinfo -n MODULE tells whose a module is",
	.needs = "/proc/modules with taints",
	.quick = true,
	.reads = RD_PART_MODULES,
	.run = run,
};
