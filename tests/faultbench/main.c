/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verbs-fault NAME: does one thing wrong. `verbs-fault --list` says what there is. Build: see README.md.
 */
#include "fault.h"
#include <stdarg.h>

static const struct fault *const topics[] = {
	mr_faults,     memlock_faults, queue_faults,	qp_faults,	    object_faults,  stale_faults,
	modify_faults, path_faults,    cm_faults,	cm_raw_faults,	    limit_faults,   raw_faults,
	driver_faults, kernel_faults,  invented_faults, unsupported_faults, refused_faults,
};

#define NTOPICS (sizeof(topics) / sizeof(topics[0]))

void truth(const char *key, const char *format, ...)
{
	va_list args;

	printf("truth %s ", key);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

int unready(const char *what)
{
	fprintf(stderr, "verbs-fault: %s: %s\n", what, errno ? strerror(errno) : "failed");
	return -1;
}

static const struct fault *find_fault(const char *name)
{
	for (size_t i = 0; i < NTOPICS; i++)
		for (const struct fault *fault = topics[i]; fault->name; fault++)
			if (!strcmp(fault->name, name))
				return fault;
	return NULL;
}

static int list(void)
{
	for (size_t i = 0; i < NTOPICS; i++)
		for (const struct fault *fault = topics[i]; fault->name; fault++)
			printf("%-26s %-22s %-24s %s\n", fault->name, fault->verb, fault->cause, fault->what);
	return 0;
}

/* There are errnos in the kernel that have no name in the C library, such as ENOTSUPP (524). */
static const char *name_of(int err)
{
	static char number[16];
	const char *name = strerrorname_np(err);

	snprintf(number, sizeof(number), "%d", err);
	return err == 0 ? "OK" : err == 524 ? "ENOTSUPP" : name ? name : number;
}

static int run(const struct fault *fault, struct options opt)
{
	struct env env = { .opt = opt, .fault = fault, .dev = opt.dev };
	int err;

	errno = 0;
	if (need(&env, fault->needs))
		return 2;
	truth("pid", "%d", getpid());
	do {
		err = fault->run(&env);
		if (err < 0)
			return 2;
	} while (opt.again && !usleep(20000));
	printf("result %s %s\n", fault->verb, name_of(err));
	fflush(stdout);
	if (opt.linger)
		sleep(1);
	return 0;
}

static int usage(FILE *to)
{
	fprintf(to, "Usage: verbs-fault NAME [OPTION]...   one fault; `truth KEY VALUE`..., then `result VERB ERRNO`\n"
		    "       verbs-fault --list             NAME VERB CAUSE DESCRIPTION of each\n\n"
		    "  --dev NAME       RDMA device (rxe0)\n"
		    "  --gid-index N    own GID, IPv4 (1)\n"
		    "  --peer ADDRESS   that resolves from there (10.9.0.2)\n"
		    "  --file PATH      a file on a file system with writeback, for mr-shared-file\n"
		    "  --bar PATH       resourceN of a PCI device, for mr-bar (the first that can be mapped)\n"
		    "  --linger         sleep for a second before the end\n"
		    "  --again          fails until it is killed, up to 50 times a second\n\n"
		    "Exit status 2: the fault could not be set up.\n");
	return to == stdout ? 0 : 2;
}

static bool set_option(struct options *opt, const char *name, const char *value)
{
	const struct {
		const char *name, **text;
	} known[] = {
		{ "--dev", &opt->dev },
		{ "--peer", &opt->peer },
		{ "--file", &opt->file },
		{ "--bar", &opt->bar },
	};

	if (!value)
		return false;
	if (!strcmp(name, "--gid-index")) {
		opt->gid_index = atol(value);
		return true;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(name, known[i].name)) {
			*known[i].text = value;
			return true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	struct options opt = { .dev = "rxe0", .peer = "10.9.0.2", .gid_index = 1 };
	const struct fault *fault = NULL;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help"))
			return usage(stdout);
		if (!strcmp(argv[i], "--list"))
			return list();
		if (!strcmp(argv[i], "--linger"))
			opt.linger = true;
		else if (!strcmp(argv[i], "--again"))
			opt.again = true;
		else if (argv[i][0] != '-' && !fault) {
			fault = find_fault(argv[i]);
			if (!fault) {
				fprintf(stderr, "verbs-fault: unknown fault '%s' (see --list)\n", argv[i]);
				return 2;
			}
		} else if (set_option(&opt, argv[i], argv[i + 1]))
			i++;
		else
			return usage(stderr);
	}
	if (!fault)
		return usage(stderr);
	alarm(opt.again ? 600 : 60); /* some calls may wait for ever */
	_exit(run(fault, opt));
}
