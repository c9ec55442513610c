/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Health reporters and firmware versions of all devices, from devlink. */
#include "collect/net/netstate.h"
#include "collect/shared/genl.h"

#include <linux/devlink.h>
#include <linux/netlink.h>
#include <string.h>

#include "base/memory.h"

#define DEVICES_MAX 4096
#define PARTS_MAX 1024 /* versions and reporters per device; mlx5 has 20 */

enum { STATE_HEALTHY = 0 }; /* of DEVLINK_ATTR_HEALTH_REPORTER_STATE; 1: error */

static struct rd_devlink *device_of(struct rd_netstate *net, const struct nlattr *bus, const struct nlattr *dev)
{
	struct rd_devlink *devlink;

	if (!bus || !dev)
		return NULL;
	for (size_t i = 0; i < net->n_devlinks; i++)
		if (strcmp(net->devlinks[i].bus, mnl_attr_get_str(bus)) == 0 &&
		    strcmp(net->devlinks[i].dev, mnl_attr_get_str(dev)) == 0)
			return &net->devlinks[i];
	if (net->n_devlinks == DEVICES_MAX)
		return NULL;
	devlink = RD_ADD(net->devlinks, net->n_devlinks, net->cap_devlinks);
	*devlink = (struct rd_devlink){ .bus = rd_nla_text(bus), .dev = rd_nla_text(dev) };
	return devlink;
}

static void add_version(struct rd_devlink *devlink, enum rd_fwver_kind kind, const struct nlattr *attr)
{
	static const uint8_t policy[] = {
		[DEVLINK_ATTR_INFO_VERSION_NAME] = MNL_TYPE_NUL_STRING, [DEVLINK_ATTR_INFO_VERSION_VALUE] = MNL_TYPE_NUL_STRING
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];

	rd_nla_nested(attr, policy, RD_ARRAY_SIZE(policy), table);
	if (!table[DEVLINK_ATTR_INFO_VERSION_NAME] || !table[DEVLINK_ATTR_INFO_VERSION_VALUE] ||
	    devlink->n_versions == PARTS_MAX)
		return;
	*RD_ADD(devlink->versions, devlink->n_versions, devlink->cap_versions) =
		(struct rd_fwver){ .kind = kind,
				   .name = rd_nla_text(table[DEVLINK_ATTR_INFO_VERSION_NAME]),
				   .value = rd_nla_text(table[DEVLINK_ATTR_INFO_VERSION_VALUE]) };
}

static int take_info(void *arg, uint8_t command, const void *attrs, size_t size)
{
	static const uint8_t policy[] = { [DEVLINK_ATTR_BUS_NAME] = MNL_TYPE_NUL_STRING,
					  [DEVLINK_ATTR_DEV_NAME] = MNL_TYPE_NUL_STRING,
					  [DEVLINK_ATTR_INFO_DRIVER_NAME] = MNL_TYPE_NUL_STRING };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *attr = NULL;
	struct rd_devlink *devlink;

	if (command != DEVLINK_CMD_INFO_GET)
		return 0;
	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	devlink = device_of(arg, table[DEVLINK_ATTR_BUS_NAME], table[DEVLINK_ATTR_DEV_NAME]);
	if (!devlink)
		return 0;
	devlink->info_known = RD_OK;
	if (!devlink->driver)
		devlink->driver = rd_nla_text(table[DEVLINK_ATTR_INFO_DRIVER_NAME]);
	while (rd_nla_next(attrs, size, &attr)) {
		if (mnl_attr_get_type(attr) == DEVLINK_ATTR_INFO_VERSION_FIXED)
			add_version(devlink, RD_FWVER_FIXED, attr);
		else if (mnl_attr_get_type(attr) == DEVLINK_ATTR_INFO_VERSION_RUNNING)
			add_version(devlink, RD_FWVER_RUNNING, attr);
		else if (mnl_attr_get_type(attr) == DEVLINK_ATTR_INFO_VERSION_STORED)
			add_version(devlink, RD_FWVER_STORED, attr);
	}
	return 0;
}

static int take_reporter(void *arg, uint8_t command, const void *attrs, size_t size)
{
	static const uint8_t policy[] = { [DEVLINK_ATTR_BUS_NAME] = MNL_TYPE_NUL_STRING,
					  [DEVLINK_ATTR_DEV_NAME] = MNL_TYPE_NUL_STRING,
					  [DEVLINK_ATTR_PORT_INDEX] = MNL_TYPE_U32,
					  [DEVLINK_ATTR_HEALTH_REPORTER] = MNL_TYPE_NESTED };
	static const uint8_t inner_policy[] = { [DEVLINK_ATTR_HEALTH_REPORTER_NAME] = MNL_TYPE_NUL_STRING,
						[DEVLINK_ATTR_HEALTH_REPORTER_STATE] = MNL_TYPE_U8,
						[DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT] = MNL_TYPE_U64,
						[DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT] = MNL_TYPE_U64 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *inner[RD_ARRAY_SIZE(inner_policy)];
	struct rd_reporter reporter = { .port = -1 };
	struct rd_devlink *devlink;

	if (command != DEVLINK_CMD_HEALTH_REPORTER_GET)
		return 0;
	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	rd_nla_nested(table[DEVLINK_ATTR_HEALTH_REPORTER], inner_policy, RD_ARRAY_SIZE(inner_policy), inner);
	devlink = device_of(arg, table[DEVLINK_ATTR_BUS_NAME], table[DEVLINK_ATTR_DEV_NAME]);
	if (!devlink)
		return 0;
	/* A reporter without a state is ignored. */
	if (!inner[DEVLINK_ATTR_HEALTH_REPORTER_NAME] || !inner[DEVLINK_ATTR_HEALTH_REPORTER_STATE] ||
	    devlink->n_reporters == PARTS_MAX)
		return 0;
	devlink->health_known = RD_OK;
	reporter.healthy = mnl_attr_get_u8(inner[DEVLINK_ATTR_HEALTH_REPORTER_STATE]) == STATE_HEALTHY;
	rd_nla_uint(inner[DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT], &reporter.errors);
	rd_nla_uint(inner[DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT], &reporter.recoveries);
	if (table[DEVLINK_ATTR_PORT_INDEX])
		reporter.port = (int)(mnl_attr_get_u32(table[DEVLINK_ATTR_PORT_INDEX]) & INT32_MAX);
	reporter.name = rd_nla_text(inner[DEVLINK_ATTR_HEALTH_REPORTER_NAME]);
	*RD_ADD(devlink->reporters, devlink->n_reporters, devlink->cap_reporters) = reporter;
	return 0;
}

void rd_collect_devlink(const struct rd_sysfs *fs, struct rd_netstate *net)
{
	static const struct {
		uint8_t command;
		rd_genl_fn *take;
	} queries[] = { { DEVLINK_CMD_INFO_GET, take_info }, { DEVLINK_CMD_HEALTH_REPORTER_GET, take_reporter } };
	uint16_t family;

	if (rd_genl_family(fs->src, DEVLINK_GENL_NAME, &family, NULL) < 0)
		return;
	for (size_t i = 0; i < RD_ARRAY_SIZE(queries); i++) {
		_cleanup_bytes_ struct rd_bytes reply = { 0 };
		struct rd_genl_request request;
		struct rd_err why = { 0 };
		int r;

		rd_genl_begin(&request, family, queries[i].command, NLM_F_DUMP);
		r = rd_genl_query(fs->src, &request, &reply, &why);
		if (r == -EPERM) {
			rd_errlist_add(fs->errors, &why);
			net->devlink_known = RD_DENIED;
		}
		if (r < 0)
			continue;
		net->devlink_known = RD_OK;
		rd_genl_each(&reply, queries[i].take, net);
	}
}
