/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/live/live.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/memory.h"

/* mlx5 has about 1,500 on a host of 64 queues. */
#define STATS_MAX 65536
/* Queues that are added between the two calls may make the reply longer than announced. */
#define STATS_SPARE 4096

static int call_ethtool(int fd, const char *netdev, void *data)
{
	struct ifreq request = { .ifr_data = data };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", netdev);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

static int read_driver(int fd, const char *netdev, struct rd_bytes *ret)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	int r = call_ethtool(fd, netdev, &info);

	return r < 0 ? r : rd_bytes_copy(&info, sizeof(info), ret);
}

/* The number of statistics. */
static int count_stats(int fd, const char *netdev, uint32_t *ret)
{
	_Alignas(struct ethtool_sset_info) uint8_t request[sizeof(struct ethtool_sset_info) + sizeof(*ret)] = { 0 };
	struct ethtool_sset_info *info = (struct ethtool_sset_info *)request;
	int r;

	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1ull << ETH_SS_STATS;
	r = call_ethtool(fd, netdev, request);
	if (r < 0)
		return r;
	/* The number follows the head, if the set is still in the mask. */
	*ret = 0;
	if (info->sset_mask)
		memcpy(ret, request + sizeof(*info), sizeof(*ret));
	return *ret > STATS_MAX ? -EFBIG : 0;
}

static int read_strings(int fd, const char *netdev, uint32_t count, struct rd_bytes *ret)
{
	size_t room = (size_t)count + STATS_SPARE;
	_cleanup_free_ struct ethtool_gstrings *strings = rd_alloc(1, sizeof(*strings) + room * ETH_GSTRING_LEN);
	int r;

	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = count;
	r = call_ethtool(fd, netdev, strings);
	if (r < 0)
		return r;
	return strings->len > room ? -EBADMSG :
				     rd_bytes_copy(strings->data, (size_t)strings->len * ETH_GSTRING_LEN, ret);
}

static int read_stats(int fd, const char *netdev, uint32_t count, struct rd_bytes *ret)
{
	size_t room = (size_t)count + STATS_SPARE;
	_cleanup_free_ struct ethtool_stats *stats = rd_alloc(1, sizeof(*stats) + room * sizeof(uint64_t));
	int r;

	stats->cmd = ETHTOOL_GSTATS;
	stats->n_stats = count;
	r = call_ethtool(fd, netdev, stats);
	if (r < 0)
		return r;
	return stats->n_stats > room ? -EBADMSG : rd_bytes_copy(stats->data, stats->n_stats * sizeof(uint64_t), ret);
}

int rd_ethtool_read(int *fd, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	char netdev[IFNAMSIZ], what[16];
	bool names;
	uint32_t count = 0;
	int r;

	if (sscanf(path, RD_SOURCE_ETHTOOL "/%15[^/]/%15[a-z]", netdev, what) != 2)
		return rd_err_set(err, ENOENT, path, "unknown ethtool file");
	if (*fd < 0)
		*fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return rd_err_set(err, errno, path, "cannot open a socket");
	names = strcmp(what, "strings") == 0;
	if (strcmp(what, "driver") == 0) {
		r = read_driver(*fd, netdev, ret);
	} else if (names || strcmp(what, "stats") == 0) {
		r = count_stats(*fd, netdev, &count);
		if (!r && !count)
			r = -EOPNOTSUPP;
		if (!r)
			r = names ? read_strings(*fd, netdev, count, ret) : read_stats(*fd, netdev, count, ret);
	} else {
		r = -ENOENT;
	}
	return r < 0 ? rd_err_set(err, -r, path, "ethtool ioctl failed") : 0;
}
