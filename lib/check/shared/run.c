/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of rules, and running them. */

#include <ctype.h>

#include "base/err.h"
#include "base/fix.h"
#include "check/shared/rules.h"

#define ENTRY(name) &rd_check_##name,
const struct rd_check *const rd_checks[] = { RD_RULES(ENTRY) };
const size_t rd_n_checks = RD_ARRAY_SIZE(rd_checks);

/* Maps failed reads to parts of the host, so that a rule does not report a fault for data that was not read. */

/* The first match counts. */
static const struct {
	const char *prefix;
	unsigned parts;
} places[] = {
	{ "/sys/bus/pci/", RD_PART_PCI },
	{ "/sys/devices/pci", RD_PART_PCI },
	{ "/sys/kernel/iommu_groups", RD_PART_PCI },
	{ "/sys/class/infiniband_verbs", RD_PART_PROGRAMS },
	{ "/sys/class/infiniband", RD_PART_RDMA },
	{ "netlink rdma", RD_PART_QPS },
	{ "/sys/class/net", RD_PART_NET },
	{ "/proc/net/", RD_PART_NET },
	{ "netlink route", RD_PART_NET },
	{ "/sys/devices/system/", RD_PART_NUMA },
	{ "/proc/cpuinfo", RD_PART_NUMA },
	{ "/proc/modules", RD_PART_MODULES },
	{ "/sys/module/", RD_PART_MODULES },
	{ "/proc/driver/", RD_PART_MODULES },
	{ "/sys/kernel/", RD_PART_MODULES },
	{ "/sys/class/misc/", RD_PART_PROGRAMS },
	{ "/bpf/", 0 },	    /* only root can read it; rules do without */
	{ "/dev/kmsg", 0 }, /* the kernel log: its rules know its state */
	{ "/dev/", RD_PART_PROGRAMS },
	{ "/usr/", RD_PART_PROGRAMS },
	{ "/etc/", RD_PART_PROGRAMS },
};

static unsigned parts_of(const char *object)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(places); i++)
		if (strncmp(object, places[i].prefix, strlen(places[i].prefix)) == 0)
			return places[i].parts;
	if (strcmp(object, "/proc") == 0 || (strncmp(object, "/proc/", 6) == 0 && isdigit((unsigned char)object[6])))
		return RD_PART_PROCESSES;
	return 0;
}

const struct rd_err *rd_check_unread(const struct rd_errlist *unread, unsigned parts)
{
	for (size_t i = 0; unread && i < unread->n; i++)
		if (parts_of(unread->v[i].object) & parts)
			return &unread->v[i];
	/* Reads beyond the end of the list may concern any part. */
	return unread && unread->more ? &unread->v[unread->n - 1] : NULL;
}

/* Subjects with one reason; only the first is named. */
struct doubt {
	char *subject, *reason;
	size_t n;
	bool undecided;
};

#define DOUBTS_MAX 16 /* different reasons of one rule; further ones are added to the last */
#define NAMED_MAX 256 /* subjects of one rule that are listed; further ones are only counted */

struct rd_check_out {
	const struct rd_check *check;
	const struct rd_host *host;
	struct rd_findings *findings;
	size_t good, bad, more[RD_SEVERITIES]; /* more: beyond NAMED_MAX */
	const struct rd_err *unread;	       /* a failed read among the parts in `whole`; NULL: none */
	char *last_good;		       /* owned */
	const char *skip;
	bool not_asked; /* skipped by the command line, not for lack of data */
	struct doubt doubts[DOUBTS_MAX];
	size_t n_doubts;
};

const struct rd_check *rd_check_of(const struct rd_check_out *out)
{
	return out->check;
}

const struct rd_check *rd_check_find(const char *id)
{
	for (size_t i = 0; i < rd_n_checks; i++)
		if (strcmp(rd_checks[i]->id, id) == 0)
			return rd_checks[i];
	return NULL;
}

/* A finding of the rule about one subject. */
static struct rd_finding begin_finding(const struct rd_check_out *out, enum rd_severity severity)
{
	return (struct rd_finding){
		.id = out->check->id, .title = out->check->title, .why = out->check->why, .severity = severity
	};
}

/* What a subject names, by index; -1: nothing of this kind. */
struct names {
	int pci, ibdev, netdev;
	int first; /* the interface of the port; a member of its bond may be named beside it */
};

/* "mlx5_0/1", "eth2", "0000:1b:00.0", "GPU0" */
static void find_name(const struct rd_host *host, char *word, struct names *names)
{
	size_t size = strcspn(word, "/,;)");
	uint32_t port = 0, gpu;

	if (word[size] == '/')
		rd_parse_u32(word + size + 1, RD_DECIMAL, UINT32_MAX, &port);
	word[size] = '\0';
	if (size > 0 && word[size - 1] == ':')
		word[size - 1] = '\0';
	if (names->pci < 0)
		names->pci = rd_host_find_pci(host, word);
	if (names->pci < 0 && strncmp(word, "GPU", 3) == 0 &&
	    rd_parse_u32(word + 3, RD_DECIMAL, UINT32_MAX, &gpu) == 0 && gpu < host->n_gpus)
		names->pci = host->gpus[gpu].pci;
	if (names->netdev < 0)
		names->netdev = rd_host_find_netdev(host, word);
	if (names->ibdev >= 0 || (names->ibdev = rd_host_find_ibdev(host, word)) < 0)
		return;
	for (size_t p = 0; p < host->n_ports; p++)
		if (host->ports[p].ibdev == names->ibdev && (!port || host->ports[p].num == port) &&
		    host->ports[p].n_netdevs > 0 && names->first < 0)
			names->first = host->ports[p].netdevs[0];
}

/* What lines of the log begin with that the driver of the NICs writes. */
static const char *nic_driver(const struct rd_host *host)
{
	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (host->ibdevs[i].driver && !host->ibdevs[i].parent_netdev &&
		    (host->ibdevs[i].n_ports == 0 || !host->ports[host->ibdevs[i].first_port].raw))
			return host->ibdevs[i].driver;
	return "mlx5";
}

static const char *gpu_driver(const struct rd_host *host)
{
	const char *found = "NVRM"; /* NVIDIA's */

	for (size_t g = 0; g < host->n_gpus; g++) {
		if (!host->gpus[g].vendor || strcmp(host->gpus[g].vendor, "NVIDIA") == 0)
			continue;
		found = host->pcis[host->gpus[g].pci].driver;
		if (found)
			return found;
	}
	return found ?: "amdgpu";
}

/* A fix with the names of its subject, and the drivers of the host. */
static char *fix_for(const struct rd_host *host, const char *subject, const char *fix)
{
	struct names names = { -1, -1, -1, -1 };
	_cleanup_free_ char *own = rd_dup(subject);
	char *line = own, *word;

	while (host && (word = rd_word(&line)))
		find_name(host, word + (*word == '('), &names);
	if (host) {
		/* The interface of a function, the function of an interface, and so on. */
		if (names.netdev < 0)
			names.netdev = names.first;
		if (names.pci < 0 && names.ibdev >= 0)
			names.pci = host->ibdevs[names.ibdev].pci;
		if (names.pci < 0 && names.netdev >= 0)
			names.pci = host->netdevs[names.netdev].pci;
		for (size_t i = 0; i < host->n_ibdevs && names.pci >= 0 && names.ibdev < 0; i++)
			if (host->ibdevs[i].pci == names.pci && host->ibdevs[i].name)
				names.ibdev = (int)i;
		for (size_t i = 0; i < host->n_netdevs && names.pci >= 0 && names.netdev < 0; i++)
			if (host->netdevs[i].pci == names.pci)
				names.netdev = (int)i;
	}
	return rd_fix_fill(fix,
			   (struct rd_fix_word[]){
				   { "NICDRIVER", host ? nic_driver(host) : NULL },
				   { "GPUDRIVER", host ? gpu_driver(host) : NULL },
				   { "ADDRESS", names.pci >= 0 ? host->pcis[names.pci].addr : NULL },
				   { "IBDEV", names.ibdev >= 0 ? host->ibdevs[names.ibdev].name : NULL },
				   { "IF", names.netdev >= 0 ? host->netdevs[names.netdev].name : NULL },
			   },
			   5);
}

/* Takes ownership of the texts. A finding without its own fix gets the rule's, except for notes, which are not faults. */
static void add_finding(struct rd_check_out *out, struct rd_finding *finding)
{
	_cleanup_free_ char *own = finding->fix;

	finding->fix =
		fix_for(out->host, finding->subject, own || finding->severity == RD_SEV_NOTE ? own : out->check->fix);
	rd_finding_add(out->findings, finding);
}

/* The same for the first NAMED_MAX findings; further ones are counted. */
static void add_or_count(struct rd_check_out *out, struct rd_finding *finding)
{
	if (out->bad++ < NAMED_MAX)
		return add_finding(out, finding);
	out->more[finding->severity]++;
	RD_FREE(finding->subject, finding->observed, finding->expected, finding->fix);
}

void rd_check_good(struct rd_check_out *out, const char *subject)
{
	out->good++;
	if (out->last_good)
		return;
	out->last_good = rd_dup(subject);
}

void rd_check_bad(struct rd_check_out *out, enum rd_severity severity, const char *subject, char *observed,
		  char *expected, char *fix)
{
	struct rd_finding finding = begin_finding(out, severity);

	if (out->unread) {
		/* The fault may be apparent only, because something was not read. */
		_cleanup_free_ char *reason = rd_text("a fault is possible, but a read failed: %s: %s",
						      out->unread->object, rd_errno_text(out->unread->code));

		rd_check_undecided(out, subject, reason);
		RD_FREE(observed, expected, fix);
		return;
	}
	finding.subject = rd_dup(subject);
	finding.observed = observed;
	finding.expected = expected;
	finding.fix = fix;
	add_or_count(out, &finding);
}

void rd_check_note(struct rd_check_out *out, const char *subject, char *observed, char *expected, char *fix)
{
	struct rd_finding finding = begin_finding(out, RD_SEV_NOTE);

	/* The rule's texts describe a fault, and a note is not one. */
	finding.title = "Not a fault, but worth knowing";
	finding.why = NULL;
	finding.subject = rd_dup(subject);
	finding.observed = observed;
	finding.expected = expected;
	finding.fix = fix;
	add_or_count(out, &finding);
}

void rd_check_warn(struct rd_check_out *out, const char *subject, char *observed, char *expected)
{
	rd_check_bad(out, RD_SEV_WARNING, subject, observed, expected, NULL);
}

void rd_check_fail(struct rd_check_out *out, const char *subject, char *observed, char *expected)
{
	rd_check_bad(out, RD_SEV_CRITICAL, subject, observed, expected, NULL);
}

static void add_doubt(struct rd_check_out *out, const char *subject, const char *reason, bool undecided)
{
	struct doubt *doubt = NULL;

	for (size_t i = 0; i < out->n_doubts && !doubt; i++)
		if (strcmp(out->doubts[i].reason, reason) == 0)
			doubt = &out->doubts[i];
	if (!doubt && out->n_doubts == DOUBTS_MAX)
		doubt = &out->doubts[DOUBTS_MAX - 1];
	if (doubt) {
		doubt->n++;
		doubt->undecided |= undecided;
		return;
	}
	doubt = &out->doubts[out->n_doubts];
	*doubt = (struct doubt){ .subject = rd_dup(subject), .reason = rd_dup(reason), .n = 1, .undecided = undecided };
	out->n_doubts++;
}

void rd_check_unknown(struct rd_check_out *out, const char *subject, const char *reason)
{
	add_doubt(out, subject, reason, false);
}

void rd_check_undecided(struct rd_check_out *out, const char *subject, const char *reason)
{
	add_doubt(out, subject, reason, true);
}

void rd_check_skip(struct rd_check_out *out, const char *reason)
{
	out->skip = reason;
}

void rd_check_not_asked(struct rd_check_out *out, const char *reason)
{
	rd_check_skip(out, reason);
	out->not_asked = true;
}

/* "mlx5_0", "mlx5_0 and 7 more" */
static char *subject_of(const char *first, size_t n)
{
	return n > 1 ? rd_text("%s and %zu more", first, n - 1) : rd_dup(first);
}

/* No fault was found: a pass only if everything was read. */
static void conclude_good(const struct rd_check_input *in, struct rd_check_out *out)
{
	unsigned parts = out->not_asked ? 0 : out->check->parts.whole | out->check->parts.reads;
	const struct rd_err *unread = rd_check_unread(in->unread, parts & RD_PART_HOST ? parts | RD_PART_HOST : parts);
	struct rd_finding finding = begin_finding(out, unread	     ? RD_SEV_UNKNOWN :
						       out->good > 0 ? RD_SEV_OK :
								       RD_SEV_SKIP);

	finding.subject = out->last_good ? subject_of(out->last_good, out->good) : rd_dup("host");
	finding.undecided = unread != NULL;
	if (unread)
		finding.observed = rd_text("no fault found, but a read failed: %s: %s", unread->object,
					   rd_errno_text(unread->code));
	else if (out->good == 0)
		finding.observed = rd_dup(out->skip ?: "does not apply to this host");
	add_finding(out, &finding);
}

void rd_check_each(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	const struct rd_check *check = out->check;
	size_t n = check->each.what == RD_EACH_PORT ? host->n_ports :
		   check->each.what == RD_EACH_PCI  ? host->n_pcis :
						      host->n_gpus;

	out->skip = check->each.skip;
	for (size_t i = 0; i < n; i++) {
		struct rd_port_name name;

		if (check->each.applies && !check->each.applies(host, i))
			continue;
		if (check->each.what == RD_EACH_PORT)
			name = rd_port_label(host, &host->ports[i]);
		else if (check->each.what == RD_EACH_PCI)
			snprintf(name.text, sizeof(name.text), "%s", host->pcis[i].addr);
		else
			snprintf(name.text, sizeof(name.text), "GPU%zu", i);
		check->each.judge(in, i, name.text, out);
	}
}

void rd_checks_run(const struct rd_check_input *in, const bool *chosen, struct rd_findings *findings)
{
	for (size_t i = 0; i < rd_n_checks; i++) {
		struct rd_check_out out = { .check = rd_checks[i],
					    .host = in->host,
					    .findings = findings,
					    .unread = rd_check_unread(in->unread, rd_checks[i]->parts.whole) };
		struct rd_finding finding;

		if (chosen && !chosen[i])
			continue;
		(rd_checks[i]->run ?: rd_check_each)(in, &out);
		for (size_t j = 0; j < RD_SEVERITIES; j++) {
			if (!out.more[j])
				continue;
			finding = begin_finding(&out, (enum rd_severity)j);
			finding.subject = rd_text("%zu more", out.more[j]);
			finding.observed = rd_text("only the first %d are listed", NAMED_MAX);
			add_finding(&out, &finding);
		}
		for (size_t j = 0; j < out.n_doubts; j++) {
			finding = begin_finding(&out, RD_SEV_UNKNOWN);
			finding.subject = subject_of(out.doubts[j].subject, out.doubts[j].n);
			finding.observed = out.doubts[j].reason;
			finding.undecided = out.doubts[j].undecided;
			free(out.doubts[j].subject);
			add_finding(&out, &finding);
		}
		if (out.bad == 0 && out.n_doubts == 0)
			conclude_good(in, &out);
		free(out.last_good);
	}
}
