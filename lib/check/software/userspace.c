/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs need besides the kernel: device files and libibverbs providers. */

#include "check/shared/rules.h"
#include "model/host/system.h"

static bool has_uverbs(const struct rd_system *system, const char *ibdev)
{
	for (size_t i = 0; i < system->n_uverbs; i++)
		if (system->uverbs[i].ibdev && strcmp(system->uverbs[i].ibdev, ibdev) == 0)
			return true;
	return false;
}

/* A device that this host does not have: not what the kernel printed, or renamed meanwhile. */
static bool names_stranger(const struct rd_check_input *in)
{
	for (size_t i = 0; i < in->system->n_uverbs; i++)
		if (in->system->uverbs[i].ibdev && rd_host_find_ibdev(in->host, in->system->uverbs[i].ibdev) < 0)
			return true;
	return false;
}

/* A container is given the device files of some devices, and sysfs shows all. True: reported. */
static bool is_given_some(const struct rd_system *system, struct rd_check_out *out)
{
	size_t given;
	_cleanup_free_ char *names = rd_system_given(system, &given);

	if (!names)
		return false;
	if (system->processes == RD_OF_NOBODY) {
		_cleanup_free_ char *reason =
			rd_text("device files of %zu of %zu RDMA devices (%s): too few on a host, perhaps "
				"enough in a container",
				given, system->n_uverbs, names);

		rd_check_unknown(out, "/dev/infiniband", reason);
		return true;
	}
	rd_check_note(out, "/dev/infiniband",
		      rd_text("device files of %zu of %zu RDMA devices, as in a container that was given these: %s",
			      given, system->n_uverbs, names),
		      NULL, rd_text("# if the job needs the others: pass them in, too"));
	return true;
}

static void run_node(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;
	bool given, any = false; /* any: ib_uverbs and udev are at work */

	if (!system || !system->uverbs_known) {
		if (in->host->n_ibdevs > 0)
			rd_check_unknown(out, "/dev/infiniband",
					 "/sys/class/infiniband_verbs could not be read (is ib_uverbs loaded?)");
		return;
	}
	given = is_given_some(system, out);
	for (size_t i = 0; i < system->n_uverbs; i++)
		any |= system->uverbs[i].node;
	for (size_t i = 0; i < system->n_uverbs; i++) {
		const struct rd_uverbs *uverbs = &system->uverbs[i];
		char subject[96];

		snprintf(subject, sizeof(subject), "/dev/infiniband/%.64s", uverbs->name);
		if (!uverbs->node && given)
			continue;
		if (!uverbs->node && !system->dev_known)
			rd_check_unknown(out, subject, "/dev is not in this bundle");
		else if (!uverbs->node)
			rd_check_bad(
				out, RD_SEV_CRITICAL, subject,
				rd_text("missing (device of %s)", uverbs->ibdev ?: "a device"),
				rd_text("a character device"),
				!any ? NULL :
				       rd_text("mknod -m 0666 %s c $(tr : ' ' </sys/class/infiniband_verbs/%s/dev)\n"
					       "# until the next boot; in a container: pass in all of /dev/infiniband",
					       subject, uverbs->name));
		else
			rd_check_good(out, subject);
	}
	if (system->has_rdma_cm && !system->rdma_cm_node && system->dev_known && !given)
		rd_check_fail(out, "/dev/infiniband/rdma_cm", rd_text("missing"), rd_text("a character device"));
	/* RDMA devices without a uverbs device. */
	for (size_t d = 0; d < in->host->n_ibdevs; d++) {
		const char *name = in->host->ibdevs[d].name;

		if (!name || has_uverbs(system, name))
			continue;
		if (names_stranger(in))
			rd_check_unknown(out, name,
					 "an entry in /sys/class/infiniband_verbs names a device that is not listed");
		else
			rd_check_fail(out, name, rd_text("no uverbs device"),
				      rd_text("an entry in /sys/class/infiniband_verbs"));
	}
}

static void run_mode(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;

	if (in->user)
		return rd_check_not_asked(out, "user-rdma judges the modes for the user of --user");
	for (size_t i = 0; system && i < system->n_uverbs; i++) {
		const struct rd_uverbs *uverbs = &system->uverbs[i];
		char subject[96];

		snprintf(subject, sizeof(subject), "/dev/infiniband/%.64s", uverbs->name);
		if (!uverbs->node)
			continue;
		if (uverbs->mode.known != RD_OK)
			rd_check_unknown(out, subject, "the mode of device files is not in this bundle");
		else if ((uverbs->mode.v & 0006) != 0006)
			rd_check_warn(out, subject, rd_text("mode %04o", uverbs->mode.v),
				      rd_text("0666, as rdma-core's udev rule sets"));
		else
			rd_check_good(out, subject);
	}
	rd_check_skip(out, "no device file");
}

/* libibverbs provider for each driver, by the name of the driver up to the first "_". */
static const struct {
	const char *driver, *provider;
} providers[] = {
	{ "mlx5", "mlx5" },	 { "mlx4", "mlx4" },	  { "bnxt", "bnxt" },	{ "ice", "irdma" },
	{ "i40e", "irdma" },	 { "idpf", "irdma" },	  { "efa", "efa" },	{ "erdma", "erdma" },
	{ "hns3", "hns" },	 { "qede", "qedr" },	  { "cxgb4", "cxgb4" }, { "mana", "mana" },
	{ "hfi1", "hfi1verbs" }, { "qib", "ipathverbs" }, { "ionic", "ionic" }, { "be2net", "ocrdma" },
	{ "vmw", "vmw_pvrdma" },
};

static const char *provider_of(const struct rd_ibdev *dev)
{
	size_t n = dev->driver ? strcspn(dev->driver, "_") : 0;

	for (size_t i = 0; n && i < RD_ARRAY_SIZE(providers); i++)
		if (strlen(providers[i].driver) == n && strncmp(providers[i].driver, dev->driver, n) == 0)
			return providers[i].provider;
	return NULL;
}

/* `wanted` may be followed by "_": "bnxt" matches "bnxt_re". */
static bool has_provider(const struct rd_texts *list, const char *wanted)
{
	size_t n = strlen(wanted);

	for (size_t i = 0; i < list->n; i++)
		if (strncmp(list->v[i], wanted, n) == 0 && (!list->v[i][n] || list->v[i][n] == '_'))
			return true;
	return false;
}

static void run_provider(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;

	for (size_t d = 0; d < in->host->n_ibdevs; d++) {
		const struct rd_ibdev *dev = &in->host->ibdevs[d];
		/* A soft device has the driver of its interface, so its provider is unknown. */
		const char *provider = dev->parent_netdev ? NULL : provider_of(dev);

		if (!dev->name || !provider || (dev->n_ports > 0 && in->host->ports[dev->first_port].raw))
			continue;
		if (!system || !system->providers_known)
			rd_check_unknown(
				out, dev->name,
				"no libibverbs in the usual library directories: programs that do not bring it see no RDMA device");
		else if (!has_provider(&system->providers, provider) && has_provider(&system->providers_local, provider))
			rd_check_unknown(
				out, dev->name,
				"its libibverbs provider is in /usr/local alone, where the loader may look or not: "
				"ldconfig -p | grep rdmav");
		else if (!has_provider(&system->providers, provider))
			rd_check_fail(out, dev->name, rd_text("no libibverbs provider for %s", provider),
				      rd_text("lib%s-rdmav*.so", provider));
		else
			rd_check_good(out, dev->name);
	}
	rd_check_skip(out, "no device with a known provider");
}

const struct rd_check rd_check_dev_node = {
	.id = "dev-infiniband",
	.title = "RDMA device has no device file in /dev/infiniband",
	.why = "programs do not see the device; older libraries then see no device at all",
	.fix = "modprobe -a ib_uverbs rdma_ucm\n"
	       "# in a container: pass in all of /dev/infiniband",
	.needs = "/sys/class/infiniband_verbs, /dev/infiniband",
	.parts = { RD_PART_PROGRAMS | RD_PART_RDMA, 0 },
	.run = run_node,
};

const struct rd_check rd_check_dev_mode = {
	.id = "dev-mode",
	.title = "Device file in /dev/infiniband is not accessible to users",
	.why = "jobs of ordinary users fail to open the device with EACCES",
	.fix = "chmod 0666 /dev/infiniband/uverbs*\n"
	       "# until the next boot; permanently: install rdma-core with its udev rules, then udevadm trigger",
	.needs = "modes of /dev/infiniband/uverbsN",
	.parts = { 0, RD_PART_RDMA | RD_PART_PROGRAMS },
	.run = run_mode,
};

const struct rd_check rd_check_provider = {
	.id = "provider-library",
	.title = "User-space driver (libibverbs provider) of an RDMA device is missing",
	.why = "ibv_get_device_list returns no device: \"no userspace driver available\"",
	.fix = "# install the rdma-core providers (Debian: ibverbs-providers, Red Hat: libibverbs), also in the "
	       "container image",
	.needs = "driver of RDMA devices, libibverbs/*.so in the library directory, lib*-rdmav*.so in /usr/local/lib",
	.parts = { RD_PART_PROGRAMS | RD_PART_RDMA, 0 },
	.run = run_provider,
};
