/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding and reading the counters of a host; those in files. */
#include "collect/counters/counters.h"

#include <linux/ethtool_netlink.h>
#include <time.h>

#include "collect/counters/counters-priv.h"
#include "collect/host/host.h"
#include "collect/shared/nlattr.h"

/* Requests, and the counters that they return. */

struct rd_counter_read *rd_counter_read_begin(struct rd_counter_reader *reader, enum rd_counter_how how, uint32_t port,
					      const char *object)
{
	struct rd_counter_read *read = RD_ADD(reader->reads, reader->n_reads, reader->cap_reads);

	*read = (struct rd_counter_read){
		.how = how, .port = port, .first = (uint32_t)reader->set.n, .object = rd_dup(object)
	};
	return read;
}

static void rd_counter_read_deinit(struct rd_counter_read *read)
{
	RD_FREE(read->object, read->slots);
}

void rd_counter_read_end(struct rd_counter_reader *reader)
{
	if (reader->reads[reader->n_reads - 1].n == 0)
		rd_counter_read_deinit(&reader->reads[--reader->n_reads]);
}

void rd_counter_read_add(struct rd_counter_reader *reader, enum rd_counter_group group, const char *name,
			 const char *netdev)
{
	struct rd_counter_read *read = &reader->reads[reader->n_reads - 1];
	struct rd_counter *counter;

	reader->too_many |= reader->set.n >= RD_COUNTERS_MAX;
	if (reader->too_many)
		return;
	counter = rd_counter_set_add(&reader->set, read->port, group, name);
	counter->netdev = rd_dup_if(netdev);
	read->n++;
}

struct rd_counter_value *rd_counter_slot(struct rd_counter_reader *reader, const struct rd_counter_read *read,
					 struct rd_counter_sample *sample, const char *name, uint32_t *hint)
{
	for (uint32_t i = 0; i < read->n; i++) {
		uint32_t at = (*hint + i) % read->n;

		if (strcmp(reader->set.counters[read->first + at].name, name) != 0)
			continue;
		*hint = at + 1;
		return &sample->values[read->first + at];
	}
	return NULL;
}

void rd_counter_read_failed(const struct rd_counter_read *read, struct rd_counter_sample *sample, int code)
{
	for (uint32_t i = 0; i < read->n; i++)
		sample->values[read->first + i] =
			(struct rd_counter_value){ .known = code == EACCES || code == EPERM ? RD_DENIED : RD_ABSENT,
						   .code = code };
}

/* Counters with one file each: counters/, hw_counters/, statistics/. */

/* So many refusals in a row, from the first file of mlx5's counters/ on, mean that this function may not read any of them. Each
 * costs a firmware command that is refused, and a line "ACCESS_REG … failed" in the kernel log. */
#define REFUSALS 3

static void rd_counters_find_files(struct rd_counter_reader *reader, uint32_t port, enum rd_counter_group group,
				   const char *netdev, const char *dir)
{
	_cleanup_texts_ struct rd_texts names = { 0 };

	if (rd_sysfs_list(&reader->fs, &names, "%s", dir) < 0 || names.n == 0)
		return;
	rd_counter_read_begin(reader, RD_HOW_FILES, port, dir);
	/* "lifespan" is among the counters: how long the driver caches values. */
	for (size_t i = 0; i < names.n; i++)
		if (strcmp(names.v[i], "lifespan") != 0)
			rd_counter_read_add(reader, group, names.v[i], netdev);
	rd_counter_read_end(reader);
}

/* The path is needed only if the file is not open yet. */
static int read_text(struct rd_counter_reader *reader, const struct rd_counter_read *read, uint32_t i, char *text,
		     size_t size)
{
	struct rd_source *src = reader->fs.src;
	uint32_t *slot = &read->slots[i];
	char path[512];
	int r = *slot ? rd_read_again(src, NULL, slot, text, size) : -ESTALE;

	if (r != -ESTALE)
		return r;
	snprintf(path, sizeof(path), "%s/%s", read->object, reader->set.counters[read->first + i].name);
	return rd_read_again(src, path, slot, text, size);
}

static void read_one(struct rd_counter_reader *reader, const struct rd_counter_read *read, uint32_t i,
		     struct rd_counter_value *value)
{
	char text[64];
	const char *at = text;
	int r = read_text(reader, read, i, text, sizeof(text));

	if (r < 0) {
		struct rd_err err = { 0 };

		value->known = r == -EACCES || r == -EPERM ? RD_DENIED : RD_ABSENT;
		value->code = -r;
		if (value->known != RD_DENIED)
			return;
		rd_err_set(&err, -r, reader->set.counters[read->first + i].name, "cannot read counter in %s",
			   read->object);
		rd_errlist_add(reader->fs.errors, &err);
		return;
	}
	/* A number as printed by sysfs, up to trailing blanks, or any other text ("N/A (no PMA)"). */
	at += strspn(at, " \t");
	if (rd_take_uint(&at, RD_AS_C, UINT64_MAX, &value->v) < 0 || at[strspn(at, " \t\r\n")])
		value->code = RD_COUNTER_NO_NUMBER;
	else
		value->known = RD_OK;
}

static void rd_counters_read_files(struct rd_counter_reader *reader, struct rd_counter_read *read,
				   struct rd_counter_sample *sample)
{
	const char *driver = reader->set.ports[read->port].driver;
	bool counting = driver && strcmp(driver, "mlx5") == 0;

	if (!read->slots)
		read->slots = rd_alloc(read->n, sizeof(*read->slots));

	read->refused = 0;
	for (uint32_t i = 0; i < read->n; i++) {
		struct rd_counter_value *value = &sample->values[read->first + i];

		read_one(reader, read, i, value);
		counting = counting && value->known != RD_OK &&
			   (value->code == EINVAL || value->code == EIO || value->code == EREMOTEIO ||
			    value->code == EOPNOTSUPP);
		if (!counting || ++read->refused < REFUSALS)
			continue;
		read->skipped = true;
		read->code = value->code;
		rd_counter_read_failed(read, sample, read->code);
		break;
	}
}

/* The RDMA driver (named as in rdma-core), by the driver of its PCI function (named as in the kernel). */
static const char *driver_of(const struct rd_ibdev *dev)
{
	static const struct {
		const char *pci, *name, *rdma; /* `name`: prefix of device names, unless renamed */
	} drivers[] = {
		{ "mlx5_core", "mlx5_", "mlx5" },
		{ "mlx4_core", "mlx4_", "mlx4" },
		{ "bnxt_en", "bnxt_re", "bnxt_re" },
		{ "ice", "irdma", "irdma" },
		{ "i40e", "i40iw", "irdma" },
		{ "idpf", "rocep", "irdma" },
		{ "efa", "efa_", "efa" },
		{ "hfi1", "hfi1_", "hfi1" },
		{ "ib_qib", "qib", "qib" },
		{ "mana", "mana_", "mana" },
		{ "-", "siw", "siw" },
		{ "-", "rxe", "rxe" },
	};

	for (size_t i = 0; dev->driver && i < RD_ARRAY_SIZE(drivers); i++)
		if (strcmp(dev->driver, drivers[i].pci) == 0)
			return drivers[i].rdma;
	/* Only Soft-RoCE reports its underlying interface. */
	if (dev->parent_netdev)
		return "rxe";
	for (size_t i = 0; i < RD_ARRAY_SIZE(drivers); i++)
		if (rd_starts_with(dev->name, drivers[i].name))
			return drivers[i].rdma;
	return dev->driver;
}

/* `port` NULL: the device as a whole. */
static void add_port(struct rd_counter_reader *reader, const struct rd_host *host, const struct rd_ibdev *dev,
		     const struct rd_port *port)
{
	struct rd_counter_port *to = rd_counter_set_add_port(&reader->set);
	const struct rd_pci *pci = dev->pci >= 0 ? &host->pcis[dev->pci] : NULL;

	to->ibdev = rd_dup(dev->name);
	to->driver = rd_dup_if(driver_of(dev));
	to->guid = rd_dup_if(dev->node_guid);
	to->pci = pci ? rd_dup(pci->addr) : NULL;
	if (pci)
		RD_SET(to->vf, pci->pf >= 0);
	if (!port)
		return;
	to->port = port->num;
	to->rate_gbps.v = port->rate_gbps.v;
	to->rate_gbps.known = port->rate_gbps.known;
	to->netdev = rd_dup_if(port->netdev_name);
	to->link_layer = rd_dup_if(port->link_layer);
}

/* Whether an earlier port has the interface: it belongs to the first. */
static bool is_taken(const struct rd_counter_reader *reader, const char *netdev)
{
	for (size_t i = 0; i < reader->set.n; i++)
		if (reader->set.counters[i].netdev && strcmp(reader->set.counters[i].netdev, netdev) == 0)
			return true;
	return false;
}

static void find_carrier(struct rd_counter_reader *reader, uint32_t port, const char *netdev)
{
	static const char *const names[] = { "carrier_changes", "carrier_down_count", "carrier_up_count" };
	char dir[128];

	snprintf(dir, sizeof(dir), "/sys/class/net/%s", netdev);
	rd_counter_read_begin(reader, RD_HOW_FILES, port, dir);
	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++) {
		int64_t value;

		if (rd_sysfs_int(&reader->fs, &value, "%s/%s", dir, names[i]) == RD_OK)
			rd_counter_read_add(reader, RD_GROUP_NETDEV, names[i], netdev);
	}
	rd_counter_read_end(reader);
}

static void find_netdev(struct rd_counter_reader *reader, uint32_t port, const char *netdev)
{
	char dir[128];

	if (is_taken(reader, netdev))
		return;
	if (reader->groups & 1u << RD_GROUP_NETDEV) {
		snprintf(dir, sizeof(dir), "/sys/class/net/%s/statistics", netdev);
		rd_counters_find_files(reader, port, RD_GROUP_NETDEV, netdev, dir);
		find_carrier(reader, port, netdev);
	}
	rd_counters_find_ethtool(reader, port, netdev);
}

static void find_port(struct rd_counter_reader *reader, const struct rd_host *host, const struct rd_port *port)
{
	/* diag_counters are those of qib; counters_ext had the 64-bit ones of mlx4. */
	static const char *const dirs[] = { "counters", "counters_ext", "diag_counters" };
	uint32_t index = (uint32_t)reader->set.n_ports - 1;
	char dir[256];

	for (size_t i = 0; reader->groups & 1u << RD_GROUP_PORT && i < RD_ARRAY_SIZE(dirs); i++) {
		snprintf(dir, sizeof(dir), RD_IB "/%s/ports/%u/%s", reader->set.ports[index].ibdev, port->num, dirs[i]);
		rd_counters_find_files(reader, index, RD_GROUP_PORT, NULL, dir);
	}
	if (reader->groups & 1u << RD_GROUP_PORT) {
		static const char *const kinds[] = { "cm_tx_retries", "cm_rx_duplicates" };

		snprintf(dir, sizeof(dir), RD_IB "/%s/ports/%u", reader->set.ports[index].ibdev, port->num);
		/* Retransmitted and duplicate messages of the connection manager, by type: "cm_tx_retries/req". */
		rd_counter_read_begin(reader, RD_HOW_FILES, index, dir);
		for (size_t k = 0; k < RD_ARRAY_SIZE(kinds); k++) {
			_cleanup_texts_ struct rd_texts names = { 0 };

			if (rd_sysfs_list(&reader->fs, &names, "%s/%s", dir, kinds[k]) < 0)
				continue;
			for (size_t j = 0; j < names.n; j++) {
				_cleanup_free_ char *name = rd_text("%s/%s", kinds[k], names.v[j]);

				rd_counter_read_add(reader, RD_GROUP_PORT, name, NULL);
			}
		}
		rd_counter_read_end(reader);
	}
	/* Via netlink, or files if netlink has none. */
	if (reader->groups & (1u << RD_GROUP_HW | 1u << RD_GROUP_OPTIONAL | 1u << RD_GROUP_QP) &&
	    !rd_counters_find_rdma(reader, index)) {
		snprintf(dir, sizeof(dir), RD_IB "/%s/ports/%u/hw_counters", reader->set.ports[index].ibdev, port->num);
		rd_counters_find_files(reader, index, RD_GROUP_HW, NULL, dir);
	}
	if (reader->groups & 1u << RD_GROUP_QP)
		rd_counters_find_bound(reader, index);
	for (size_t i = 0; i < port->n_netdevs; i++)
		find_netdev(reader, index, host->netdevs[port->netdevs[i]].name);
}

/* Whether the counters from `first` on have the same names as those of a port of the same device: old drivers for Intel
 * adapters show one set of counters twice, for the device and for its only port. */
static bool is_doubled(const struct rd_counter_set *set, size_t first, size_t port_first, size_t port_end)
{
	size_t n = 0;

	for (size_t i = port_first; i < port_end; i++) {
		if (set->counters[i].group != RD_GROUP_HW)
			continue;
		if (first + n >= set->n || strcmp(set->counters[first + n].name, set->counters[i].name) != 0)
			return false;
		n++;
	}
	return n > 0 && first + n == set->n;
}

/* Counters of the device as a whole follow those of its ports. */
static void find_device_level(struct rd_counter_reader *reader, const struct rd_host *host, const struct rd_ibdev *dev,
			      size_t ports_first)
{
	size_t first = reader->set.n;
	char dir[256];

	if (!(reader->groups & 1u << RD_GROUP_HW))
		return;
	add_port(reader, host, dev, NULL);
	snprintf(dir, sizeof(dir), RD_IB "/%s/hw_counters", dev->name);
	rd_counters_find_files(reader, (uint32_t)reader->set.n_ports - 1, RD_GROUP_HW, NULL, dir);
	if (dev->n_ports == 1 && reader->set.n > first && is_doubled(&reader->set, first, ports_first, first)) {
		while (reader->set.n > first) {
			struct rd_counter *counter = &reader->set.counters[--reader->set.n];

			RD_FREE(counter->name, counter->netdev);
		}
		rd_counter_read_deinit(&reader->reads[--reader->n_reads]);
	}
	if (reader->set.n == first) {
		struct rd_counter_port *port = &reader->set.ports[--reader->set.n_ports];

		RD_FREE(port->ibdev, port->driver, port->guid, port->pci);
	}
}

static uint64_t hash_devices(const struct rd_sysfs *fs)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	uint64_t hash = RD_HASH;

	rd_sysfs_list(fs, &names, RD_IB);
	for (size_t i = 0; i < names.n; i++)
		hash = rd_hash(hash, names.v[i], strlen(names.v[i]) + 1);
	return hash;
}

int rd_counter_reader_create(struct rd_source *src, unsigned groups, struct rd_counter_reader **ret, int *rdma_error,
			     struct rd_errlist *errors, struct rd_err *err)
{
	struct rd_counter_reader *reader = rd_alloc(1, sizeof(*reader));
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	int r;

	reader->fs = (struct rd_sysfs){ .src = src, .errors = errors };
	reader->groups = groups;
	reader->devices = hash_devices(&reader->fs); /* before they are read: one that comes meanwhile is noticed */
	r = rd_collect_host(src, 0, &host, errors, err);
	if (!r) {
		*rdma_error = host.rdma_error;
		rd_genl_family(src, ETHTOOL_GENL_NAME, &reader->ethtool, NULL);
		for (size_t d = 0; d < host.n_ibdevs; d++) {
			const struct rd_ibdev *dev = &host.ibdevs[d];
			size_t first = reader->set.n;

			for (unsigned p = 0; p < dev->n_ports; p++) {
				const struct rd_port *port = &host.ports[(unsigned)dev->first_port + p];

				add_port(reader, &host, dev, port);
				find_port(reader, &host, port);
			}
			find_device_level(reader, &host, dev, first);
		}
		reader->states = rd_alloc(reader->set.n_ports + 1, sizeof(*reader->states));
		if (reader->too_many)
			r = rd_err_set(err, EFBIG, "counters", "cannot store counters");
	}
	if (r < 0) {
		rd_counter_reader_destroy(reader);
		return r;
	}
	reader->fs.errors = NULL;
	*ret = reader;
	return 0;
}

void rd_counter_reader_destroy(struct rd_counter_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->n_reads; i++)
		rd_counter_read_deinit(&reader->reads[i]);
	RD_FREE(reader->reads, reader->states);
	rd_counter_set_deinit(&reader->set);
	free(reader);
}

struct rd_counter_set *rd_counter_reader_set(struct rd_counter_reader *reader)
{
	return &reader->set;
}

/* "4: ACTIVE" */
static void read_state(struct rd_counter_reader *reader, const struct rd_counter_port *port, uint32_t *slot,
		       struct rd_counter_state *state)
{
	struct rd_source *src = reader->fs.src;
	char path[256], text[32];
	const char *word;
	size_t n;
	int r;

	snprintf(path, sizeof(path), port->port ? RD_IB "/%s/ports/%u" : RD_IB "/%s", port->ibdev, port->port);
	/* A device that is registered again has new directories. */
	r = rd_stat(src, RD_OP_INO, path, &state->instance, NULL);
	if (r < 0)
		state->instance = 0;
	state->there = r == 0 || rd_could_not_look(r);
	state->code = r < 0 && rd_could_not_look(r) ? -r : 0;
	if (!port->port)
		return;
	n = strlen(path);
	snprintf(path + n, sizeof(path) - n, "/state");
	r = rd_read_again(src, path, slot, text, sizeof(text));
	state->there |= r >= 0 || rd_could_not_look(r);
	if (r < 0 && rd_could_not_look(r))
		state->code = -r;
	word = r >= 0 ? strchr(text, ':') : NULL;
	if (!word)
		return;
	word += 1 + strspn(word + 1, " ");
	snprintf(state->state, sizeof(state->state), "%.*s", (int)strcspn(word, " \n"), word);
}

bool rd_counter_reader_sample(struct rd_counter_reader *reader, struct rd_counter_sample *sample)
{
	struct rd_source *src = reader->fs.src;
	char boot[64] = "";
	bool changed;

	rd_counter_sample_fit(sample, &reader->set);
	sample->realtime_ns = src->ops->now(src, CLOCK_REALTIME);
	sample->monotonic_ns = src->ops->now(src, CLOCK_MONOTONIC);
	if (rd_read_again(src, "/proc/sys/kernel/random/boot_id", &reader->boot_id, boot, sizeof(boot)) < 0)
		boot[0] = '\0';
	snprintf(sample->boot_id, sizeof(sample->boot_id), "%.*s", (int)strcspn(boot, "\n"), boot);
	for (size_t i = 0; i < reader->set.n_ports; i++)
		read_state(reader, &reader->set.ports[i], &reader->states[i], &sample->states[i]);
	for (size_t i = 0; i < reader->n_reads; i++) {
		struct rd_counter_read *read = &reader->reads[i];

		if (read->skipped)
			rd_counter_read_failed(read, sample, read->code);
		else if (read->how == RD_HOW_FILES)
			rd_counters_read_files(reader, read, sample);
		else if (read->how == RD_HOW_NLDEV || read->how == RD_HOW_BOUND)
			rd_counters_read_rdma(reader, read, sample);
		else
			rd_counters_read_ethtool(reader, read, sample);
	}
	changed = reader->changed || hash_devices(&reader->fs) != reader->devices;
	/* The next set lacks what was removed while values were read: it is gone in this sample. */
	for (size_t i = 0; changed && i < reader->set.n_ports; i++)
		read_state(reader, &reader->set.ports[i], &reader->states[i], &sample->states[i]);
	return changed;
}
