/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/qp/qp.h"

#include <arpa/inet.h>
#include <fnmatch.h>
#include <strings.h>

#include "base/text.h"

#define UNKNOWN_BIT 31

typedef int parse_fn(const char *name);

/* Types have numbers up to 10, and 255: all numbers from 30 on share bit 30. */
static unsigned bit_of(int value)
{
	return value < 30 ? (unsigned)value : 30;
}

static int parse_kinds(struct rd_qp_kinds *kinds, const char *option, const char *arg, parse_fn *parse,
		       const char *known, struct rd_err *err)
{
	*kinds = (struct rd_qp_kinds){ .negated = *arg == '!' || *arg == '^' };
	for (const char *at = arg + kinds->negated;; at++) {
		size_t size = strcspn(at, ",");
		char name[32];
		int value;

		snprintf(name, sizeof(name), "%.*s", size < sizeof(name) ? (int)size : 0, at);
		value = parse(name);
		if (value >= 0) {
			kinds->bits |= 1u << bit_of(value);
		} else if (strcasecmp(name, "unknown") == 0) {
			kinds->bits |= 1u << UNKNOWN_BIT;
		} else {
			rd_err_set(err, EINVAL, option, "invalid name '%.*s'", (int)size, at);
			return rd_err_hint(err, "expected a comma-separated list of %s or unknown; '!%s' excludes it",
					   known, strrchr(known, ' ') + 1);
		}
		at += size;
		if (!*at)
			return 0;
	}
}

static int parse_numbers(struct rd_qp_numbers *numbers, const char *option, const char *arg, struct rd_err *err)
{
	numbers->n = 0;
	for (const char *at = arg;; at++) {
		const char *end = at;
		uint32_t value;

		if (rd_take_u32(&end, RD_AS_C, UINT32_MAX, &value) < 0 || (*end && *end != ','))
			return rd_err_set(err, EINVAL, option, "invalid number '%.*s'", (int)strcspn(at, ","), at);
		if (numbers->n == RD_QP_FILTER_MAX)
			return rd_err_set(err, EINVAL, option, "too many numbers: at most %d", RD_QP_FILTER_MAX);
		numbers->v[numbers->n++] = value;
		at = end;
		if (!*at)
			return 0;
	}
}

int rd_qp_filter_set(struct rd_qp_filter *filter, const char *option, const char *arg, struct rd_err *err)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	const struct {
		const char *name;
		const char **text;
	} texts[] = { { "device", &filter->devices }, { "comm", &filter->comm }, { "job", &filter->job } };
	const struct {
		const char *name, *shown;
		struct rd_qp_numbers *numbers;
	} lists[] = { { "pid", "--pid", &filter->pids },
		      { "lqpn", "--lqpn", &filter->lqpns },
		      { "rqpn", "--rqpn", &filter->rqpns } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(texts); i++) {
		if (strcmp(option, texts[i].name) != 0)
			continue;
		if (!*arg)
			return rd_err_set(err, EINVAL, option, "requires a name");
		*texts[i].text = arg;
		return 0;
	}
	for (size_t i = 0; i < RD_ARRAY_SIZE(lists); i++)
		if (strcmp(option, lists[i].name) == 0)
			return parse_numbers(lists[i].numbers, lists[i].shown, arg, err);
	if (strcmp(option, "state") == 0)
		return parse_kinds(&filter->states, "--state", arg, rd_qp_state_parse,
				   "RESET, INIT, RTR, SQD, SQE, ERR, RTS", err);
	if (strcmp(option, "type") == 0)
		return parse_kinds(&filter->types, "--type", arg, rd_qp_type_parse,
				   "SMI, GSI, UC, UD, RAW_PACKET, XRC_INI, XRC_TGT, DRIVER, RC", err);
	memcpy(filter->peer, mapped, sizeof(mapped));
	filter->has_peer = inet_pton(AF_INET, arg, filter->peer + 12) == 1 ||
			   inet_pton(AF_INET6, arg, filter->peer) == 1;
	if (filter->has_peer)
		return 0;
	rd_err_set(err, EINVAL, "--peer", "'%s' is neither a GID nor an IP address", arg);
	return rd_err_hint(err, "rdmadiag qp-state --by peer");
}

static bool kind_matches(const struct rd_qp_kinds *kinds, bool known, unsigned value)
{
	unsigned bit = known ? bit_of((int)value) : UNKNOWN_BIT;

	return !kinds->bits || !!(kinds->bits & 1u << bit) != kinds->negated;
}

static bool number_matches(const struct rd_qp_numbers *numbers, bool known, uint32_t value)
{
	if (!numbers->n)
		return true;
	for (size_t i = 0; known && i < numbers->n; i++)
		if (numbers->v[i] == value)
			return true;
	return false;
}

static bool name_in_list(const char *list, const char *name)
{
	for (;; list++) {
		size_t n = strcspn(list, ",");

		if (n == strlen(name) && memcmp(list, name, n) == 0)
			return true;
		list += n;
		if (!*list)
			return false;
	}
}

bool rd_qp_job_matches(const char *pattern, const char *job)
{
	size_t size = strlen(pattern);

	return job && (fnmatch(pattern, job, 0) == 0 || (strncmp(pattern, job, size) == 0 && job[size] == '.'));
}

bool rd_qp_filter_matches(const struct rd_qp_filter *filter, const struct rd_qp_views *views, size_t i)
{
	const struct rd_res *res = views->res;
	const struct rd_qp *qp = &res->qps[i];
	const struct rd_proc *proc = qp->proc >= 0 ? &res->procs[qp->proc] : NULL;
	const char *name = rd_owner_name(res, &qp->owner, qp->proc);
	uint8_t peer[16];

	return (!filter->devices || name_in_list(filter->devices, res->devs[qp->dev].name)) &&
	       kind_matches(&filter->states, qp->state.known == RD_OK, qp->state.v) &&
	       kind_matches(&filter->types, qp->type.known == RD_OK, qp->type.v) &&
	       number_matches(&filter->pids, qp->owner.pid.known == RD_OK, qp->owner.pid.v) &&
	       number_matches(&filter->lqpns, qp->lqpn.known == RD_OK, qp->lqpn.v) &&
	       number_matches(&filter->rqpns, qp->rqpn.known == RD_OK, qp->rqpn.v) &&
	       (!filter->comm || (name && fnmatch(filter->comm, name, 0) == 0)) &&
	       (!filter->job || rd_qp_job_matches(filter->job, proc ? proc->job : NULL)) &&
	       (!filter->has_peer || (rd_qp_peer(views, i, peer) && memcmp(peer, filter->peer, 16) == 0));
}

static bool selects_device(const struct rd_qp_filter *filter, const struct rd_res_dev *dev)
{
	return !filter->devices || name_in_list(filter->devices, dev->name);
}

static bool is_listed(const struct rd_qp_filter *filter, const struct rd_res *res, uint32_t lqpn)
{
	for (size_t d = 0; d < res->n_devs; d++)
		if (selects_device(filter, &res->devs[d]) && rd_res_find_qp(res, (int)d, lqpn) < res->n_qps)
			return true;
	return false;
}

/* Whether a queue pair may exist that is not in the list: the device has others, or the list is not complete. */
static const char *doubt_about(const struct rd_qp_filter *filter, const struct rd_res *res)
{
	const char *doubt = "";

	for (size_t d = 0; d < res->n_devs; d++) {
		const struct rd_res_dev *dev = &res->devs[d];

		if (!selects_device(filter, dev))
			continue;
		if (!rd_res_is_whole(dev, RD_RES_QP) ||
		    (dev->used[RD_RES_QP].known == RD_OK && dev->used[RD_RES_QP].v > dev->listed[RD_RES_QP]))
			return "; the list is incomplete";
		if (rd_res_dev_hides_qps(dev))
			doubt = "; queue pairs created through DEVX are not listed";
	}
	return doubt;
}

size_t rd_qp_filter_missing(const struct rd_qp_filter *filter, const struct rd_res *res, struct rd_errlist *errors,
			    struct rd_err *err)
{
	char names[128] = "", object[32];
	struct rd_err missing = { 0 };
	size_t used = 0, n = 0;

	for (size_t d = 0; d < res->n_devs && used < sizeof(names); d++)
		if (selects_device(filter, &res->devs[d]))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
						 res->devs[d].name);
	for (size_t i = 0; i < filter->lqpns.n; i++) {
		if (is_listed(filter, res, filter->lqpns.v[i]))
			continue;
		snprintf(object, sizeof(object), "queue pair %u", filter->lqpns.v[i]);
		rd_err_set(&missing, ENOENT, object, "not listed on %s%s%s", names, used < sizeof(names) ? "" : "...",
			   doubt_about(filter, res));
		rd_err_hint(&missing,
			    "without --lqpn, all are listed; a queue pair ends with the program that created it");
		rd_errlist_add(errors, &missing);
		n++;
	}
	if (n && err)
		*err = missing;
	return n;
}
