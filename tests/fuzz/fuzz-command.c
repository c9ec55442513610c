/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole commands on hosts that answer what the bytes say: options, collectors, analysis, report, rendering, as main runs
 * them. The bytes are: which command line, which host, in which format, how many samples more than one; then changes of the
 * host's answers (mutant.h). What must hold of each answer stands in invariants.c, who reads what was written in readback.c.
 * Runs in the checkout's top folder; hosts that are made up come from tests/fuzz/hosts.
 */
#include "fuzz.h"
#include "invariants.h"
#include "mutant.h"
#include "readback.h"

#define main command_main
int command_main(int argc, char **argv);
#include "cmd/main.c" /* with all that a command line meets on its way */
#undef main

#include <sys/stat.h>

#define MADE "build/fuzz/hosts/"
#define ARGS_MAX 24
/* Bits of an input's fourth byte, which % 3 says how many samples there are more than one. */
#define TWICE 0x40
#define REFUSE 0x80 /* nothing but failures to read */

static const char *const hosts[] = {
	"tests/bundles/pair-a.tar.zst",	      "tests/bundles/qp-hung.tar.zst", MADE "azure-nd-h100-v5.tar",
	"tests/bundles/schema-1-rxe.tar.zst", MADE "hpc-no-gpu.tar",	       MADE "a100-pcie-spare.tar",
	MADE "azure-nd-h100-v5.tar.nccl.xml",
};

/* @same and @other are bundles of this host and of the next one; what else begins with @ is a file. */
static const struct {
	const char *words;
	bool one_format;
} lines[] = {
	{ "nic-map", false },
	{ "nic-map -v -o +phys_state,lid,board,hca_type,max_mtu_bytes", false },
	{ "nic-map --matrix", false },
	{ "nic-map --pairs", false },
	{ "nic-map --path 0 mlx5_0", false },
	{ "nic-map --gids", false },
	{ "nic-map --assignment", false },
	{ "nic-map --stacks", false },
	{ "nic-map --env all", true },
	{ "nic-map --env nccl", false },
	{ "nic-map --check-env --env-file @env", false },
	{ "nic-map --against tests/bundles/runs/h100-roce-8nic.log", false },
	{ "nic-map --nccl-xml", true },
	{ "nic-map --compare @other", false },
	{ "nic-map --profile @profile", false },
	{ "nic-map --raw", true },
	{ "topo-check", false },
	{ "topo-check -v", true },
	{ "topo-check --profile @profile", false },
	{ "topo-check --only port-state,gid-usable,pcie-link-width,rp-filter", false },
	{ "topo-check --learn", true },
	{ "topo-check --pid 1 --raw", true },
	{ "check", false },
	{ "check -v", true },
	{ "check --exclusive --since @saved", false },
	{ "check --profile @profile", false },
	{ "check --since @same --observe", false },
	{ "check -i 1 -c 3", false },
	{ "qp-state", false },
	{ "qp-state --by pid", false },
	{ "qp-state --by peer", false },
	{ "qp-state --state !RESET --by job", false },
	{ "qp-state --summary", false },
	{ "qp-state --timeouts", false },
	{ "qp-state --join @other", false },
	{ "qp-state --join @same", false },
	{ "qp-state --entropy 4", false },
	{ "qp-state -i 1 -c 3", false },
	{ "counters", false },
	{ "counters --nonzero --group port,hw,qp", false },
	{ "counters --since @saved", false },
	{ "counters --since @same --changed --thresholds thresholds", false },
	{ "counters --changed", false },
	{ "counters --changed --filter *", false },
	{ "explain status=12 IBV_WC_RNR_RETRY_EXC_ERR gid-usable", false },
	{ "diff @same @other", false },
	{ "diff @same @same", false },
	{ "capture @made.tar", false },
	{ "capture --redact @made.tar", false },
	{ "counters --save @made.json", false },
};

static struct rd_source *bases[RD_ARRAY_SIZE(hosts)];
static struct questions *questions[RD_ARRAY_SIZE(lines)][RD_ARRAY_SIZE(hosts)];
static struct answer *asked; /* the command that runs */
static size_t host;

/* What reaches outside is caught, and what comes in comes through mutants: the linker sends these calls here (Makefile). */
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __real_rd_source_bundle_open(const char *path, struct rd_source **ret, struct rd_err *err);
int __wrap_rd_source_bundle_open(const char *path, struct rd_source **ret, struct rd_err *err);
int __real_rd_source_bundle_next(struct rd_source *src, struct rd_err *err);
int __wrap_rd_source_bundle_next(struct rd_source *src, struct rd_err *err);
int __real_rd_source_live_open(const char *root, struct rd_source **ret, struct rd_err *err);
int __wrap_rd_source_live_open(const char *root, struct rd_source **ret, struct rd_err *err);
int __wrap_fsync(int fd);
void __wrap_rd_ticks_catch_signals(void);
void __wrap_rd_privileges_note(enum rd_needs needs, const char *arg);
int __wrap_rd_privileges_drop(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err);

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (!asked || (fd != STDOUT_FILENO && fd != STDERR_FILENO))
		return __real_write(fd, data, size);
	rd_buf_add(fd == STDOUT_FILENO ? &asked->out : &asked->err, data, size);
	return (ssize_t)size;
}

static int mutate(struct rd_source *inner, bool owned, struct rd_source **ret, struct rd_err *err)
{
	*ret = mutant_open(inner, owned);
	return *ret ? 0 : rd_err_set(err, ENOMEM, "host", "no memory");
}

int __wrap_rd_source_bundle_open(const char *path, struct rd_source **ret, struct rd_err *err)
{
	bool other = strcmp(path, MADE "other") == 0;

	if (!asked)
		return __real_rd_source_bundle_open(path, ret, err);
	return mutate(bases[(host + other) % RD_ARRAY_SIZE(hosts)], false, ret, err);
}

int __wrap_rd_source_bundle_next(struct rd_source *src, struct rd_err *err)
{
	return is_mutant(src) ? mutant_next(src, err) : __real_rd_source_bundle_next(src, err);
}

/* Tables, and files that the command line names. */
int __wrap_rd_source_live_open(const char *root, struct rd_source **ret, struct rd_err *err)
{
	struct rd_source *inner;
	int r = __real_rd_source_live_open(root, &inner, err);

	return r < 0 ? r : mutate(inner, true, ret, err);
}

int __wrap_fsync(int fd)
{
	return 0;
}

void __wrap_rd_ticks_catch_signals(void)
{
}

/* This process goes on. */
void __wrap_rd_privileges_note(enum rd_needs needs, const char *arg)
{
}

int __wrap_rd_privileges_drop(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	return 0;
}

/* The file that a word stands for; caller frees. */
static char *file_of(const char *name)
{
	const char *base = strrchr(hosts[host], '/') + 1;
	char *path;
	int r;

	if (strcmp(name, "same") == 0 || strcmp(name, "other") == 0)
		r = asprintf(&path, MADE "%s", name);
	else if (strncmp(name, "made.", 5) == 0)
		r = asprintf(&path, MADE "%d%s", getpid(), name + 4);
	else
		r = asprintf(&path, MADE "%s.%s", base, name);
	if (r < 0)
		abort();
	return path;
}

/* Runs "WORD WORD …"; the caller releases out and err. */
static void ask(const char *words, const char *format, struct answer *ret)
{
	_cleanup_free_ char *line = strdup(words);
	char *argv[ARGS_MAX] = { "rdmadiag" }, *files[ARGS_MAX] = { NULL }, *save = NULL;
	size_t n = 1, n_files = 0;

	if (strncmp(words, "diff", 4) != 0) {
		argv[n++] = "--from";
		argv[n++] = MADE "same";
	}
	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[n++] = *word == '@' ? files[n_files++] = file_of(word + 1) : word;
	if (*format)
		argv[n++] = (char *)format;
	*ret = (struct answer){ .argv = argv };
	asked = ret;
	ret->status = command_main((int)n, argv);
	asked = NULL;
	if (broken(ret)) {
		for (size_t i = 0; i < n; i++)
			fprintf(stderr, "%s ", argv[i]);
		fprintf(stderr, "\nhost %s, exit %d: %s\n--- standard output\n%s\n--- standard error\n%s\n",
			hosts[host], ret->status, broken(ret), ret->out.data ? ret->out.data : "",
			ret->err.data ? ret->err.data : "");
		abort();
	}
	ret->argv = NULL;
	while (n_files)
		free(files[--n_files]);
}

static void answer_deinit(struct answer *answer)
{
	rd_buf_deinit(&answer->out);
	rd_buf_deinit(&answer->err);
}

static void write_file(const char *path, const struct rd_buf *contents)
{
	FILE *file = fopen(path, "w");

	if (!file || (contents->len && fwrite(contents->data, contents->len, 1, file) != 1) || fclose(file) != 0)
		abort();
}

static void read_back(const char *words, const struct answer *answer)
{
	read_back_fn *of_output = reader_of_output(words), *of_file = reader_of_file(words);
	_cleanup_free_ char *path = file_of(of_output		      ? "made.out" :
					    strstr(words, "made.tar") ? "made.tar" :
									"made.json");
	struct rd_err err = { 0 };
	int r = 0;

	if (answer->status == 0 && of_output) {
		write_file(path, &answer->out);
		r = of_output(path, &err);
	} else if (answer->status == 0 && of_file) {
		r = of_file(path, &err);
	}
	if (r < 0) {
		fprintf(stderr, "what %s wrote cannot be read: %s: %s\n", words, err.object, err.message);
		abort();
	}
	unlink(path);
}

static void run(const char *words, const char *format, struct answer *ret)
{
	ask(words, format, ret);
	mutant_end();
	read_back(words, ret);
}

static void save(const char *words, const char *name)
{
	_cleanup_free_ char *path = file_of(name);
	struct answer answer;

	run(words, "", &answer);
	write_file(path, &answer.out);
	answer_deinit(&answer);
}

/* What command lines name is made of the hosts as they are. */
static void make_ready(void)
{
	_cleanup_free_ char *data = realpath("data", NULL);
	struct answer answer;
	struct rd_err err;

	setenv("RDMADIAG_DATADIR", data ? data : "", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TZ", "UTC", 1);
	setenv("NO_COLOR", "1", 1);
	mkdir(MADE "same", 0755);
	mkdir(MADE "other", 0755);
	for (host = 0; host < RD_ARRAY_SIZE(hosts); host++) {
		if (rd_source_bundle_open(hosts[host], &bases[host], &err) < 0) {
			fprintf(stderr, "%s: %s: run tests/fuzz/hosts first\n", err.object, err.message);
			exit(2);
		}
		ask("counters --save @saved", "", &answer);
		answer_deinit(&answer);
		save("topo-check --learn", "profile");
		save("nic-map --env all", "env");
		save("nic-map --nccl-xml", "nccl.xml");
	}
}

/* What could not be read is unknown: it may hide what is wrong, and is no fault itself. */
static void compare_alarms(const char *words, const struct answer *refused)
{
	_cleanup_free_ char *found = alarms_of(refused), *known = NULL;
	struct answer whole;
	const char *alarm;

	if (!found)
		return;
	ask(words, "--json", &whole);
	known = alarms_of(&whole);
	alarm = known ? new_alarm(known, found) : NULL;
	if (alarm) {
		fprintf(stderr, "%s on %s: an alarm because something could not be read: %.*s\n%s\n", words,
			hosts[host], (int)strcspn(alarm, "\n"), alarm, refused->out.data);
		abort();
	}
	answer_deinit(&whole);
}

static struct questions *questions_of(const char *words, struct questions **known)
{
	struct answer answer;

	if (*known)
		return *known;
	*known = questions_create();
	if (!*known)
		abort();
	mutant_watch(*known);
	run(words, "", &answer);
	answer_deinit(&answer);
	return *known;
}

/* The one thing in an answer that comes from a clock of ours. */
static void forget_read_at(struct answer *answer)
{
	static const char key[] = "\"read_at\":";

	for (char *at = answer->out.data; at && (at = strstr(at, key));) {
		at += sizeof(key) - 1;
		memset(at, ' ', strcspn(at, ","));
	}
}

/* Of one host, one answer: what differs was never written, or left over. */
static void compare_answers(const char *words, struct answer *a, struct answer *b)
{
	forget_read_at(a);
	forget_read_at(b);
	if (a->status == b->status && a->out.len == b->out.len && a->err.len == b->err.len &&
	    (!a->out.len || memcmp(a->out.data, b->out.data, a->out.len) == 0) &&
	    (!a->err.len || memcmp(a->err.data, b->err.data, a->err.len) == 0))
		return;
	fprintf(stderr, "%s on %s says two things:\n--- exit %d\n%s%s\n--- exit %d\n%s%s\n", words, hosts[host],
		a->status, a->out.data ? a->out.data : "", a->err.data ? a->err.data : "", b->status,
		b->out.data ? b->out.data : "", b->err.data ? b->err.data : "");
	abort();
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { "", "--json", "--openmetrics", "--noheadings" };
	struct reader input = { data, size }, again;
	struct answer answer, second;
	struct questions *known;
	size_t line, format;
	const char *words;
	uint8_t how;

	if (!bases[0])
		make_ready();
	line = reader_byte(&input) % RD_ARRAY_SIZE(lines);
	host = reader_byte(&input) % RD_ARRAY_SIZE(hosts);
	format = reader_byte(&input) % RD_ARRAY_SIZE(formats);
	how = reader_byte(&input);
	again = input;
	words = lines[line].words;
	known = questions_of(words, &questions[line][host]);
	mutant_begin(known, &input, how % 3, how & REFUSE);
	run(words, lines[line].one_format ? "" : formats[format], &answer);
	if (how & REFUSE && strncmp(formats[format], "--json", 6) == 0 && strstr(words, "check"))
		compare_alarms(words, &answer);
	/* How long capture took is in its answer. */
	if (how & TWICE && !strstr(words, "capture")) {
		mutant_begin(known, &again, how % 3, how & REFUSE);
		run(words, lines[line].one_format ? "" : formats[format], &second);
		compare_answers(words, &answer, &second);
		answer_deinit(&second);
	}
	answer_deinit(&answer);
}
