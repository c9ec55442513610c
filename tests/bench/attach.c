// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long hooks take to come and to go.
 *
 *   attach hold BACKEND N           a trace with N functions until SIGINT, as trace-errno does it
 *   attach time BACKEND N COMMAND   starts COMMAND, waits for its word that it traces, sends SIGINT, waits for its end,
 *                                   then for the end of what it left in the kernel. Prints lines for report.py
 *   attach parts BACKEND [LABEL]    one trace in one process: what of the time is choosing, loading, hooking
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"
#include "trace/attach/attach.h"

/* Three times where it is quick; a kernel that needs a minute to let go is asked once. */
#define TIMES 3
#define LONG_S 20

static size_t selected(const struct rd_fnset *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_fns; i++)
		n += set->fns[i].selected;
	return n;
}

/* Leaves n selected: the roots, and of the rest evenly, so that all modules have a part. */
static void thin_out(struct rd_fnset *set, size_t n)
{
	size_t roots = 0, rest, seen = 0;

	for (size_t i = 0; i < set->n_fns; i++)
		roots += set->fns[i].selected && set->fns[i].entry != RD_ENTRY_NONE;
	rest = selected(set) - roots;
	if (n >= rest + roots)
		return;
	if (n < roots)
		roots = 0; /* the roots are thinned out with the rest */
	for (size_t i = 0; i < set->n_fns; i++) {
		struct rd_fn *fn = &set->fns[i];

		if (!fn->selected || (roots && fn->entry != RD_ENTRY_NONE))
			continue;
		fn->selected = (seen + 1) * (n - roots) / rest > seen * (n - roots) / rest;
		seen++;
	}
}

static void hold(enum rd_backend backend, size_t n)
{
	struct rd_session_opts opts = { .backend = backend };
	struct rd_session *session;
	struct rd_fnset set = {};
	struct rd_err err = {};
	double start = bench_now(), chosen;
	sigset_t wanted;
	int got;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGINT);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	bench_select(&set);
	chosen = bench_now();
	if (n)
		thin_out(&set, n);
	if (rd_session_start(&set, &opts, &session, NULL, &err))
		bench_fail_err(&err);
	fprintf(stderr, "tracing %zu functions: selected in %.3f s, started in %.3f s\n",
		rd_session_info(session)->functions, chosen - start, bench_now() - chosen);
	sigwait(&wanted, &got);
	rd_session_stop(session);
	rd_session_destroy(session);
	rd_fnset_deinit(&set);
}

/* Starts the command and waits for its "tracing N functions". Returns its pid. */
static pid_t start(char **argv, char *said, size_t size)
{
	int out[2];
	pid_t pid;
	FILE *f;

	if (pipe(out))
		bench_fail("pipe", errno);
	pid = fork();
	if (!pid) {
		dup2(out[1], STDERR_FILENO);
		close(out[0]);
		close(out[1]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(out[1]);
	f = fdopen(out[0], "r");
	while (f && fgets(said, (int)size, f)) {
		if (strstr(said, "tracing "))
			return pid; /* the pipe stays open: the command may say more */
		fputs(said, stderr);
	}
	bench_fail("the command does not trace", EIO);
}

static void time_command(const char *backend, const char *what, char **argv)
{
	size_t before = bench_bpf_objects();
	double passed = 0;

	for (int i = 0; i < TIMES && passed < LONG_S; i++) {
		char said[512];
		double t0 = bench_now(), ready, asked, back, gone;
		pid_t pid = start(argv, said, sizeof(said));
		unsigned n = 0;

		ready = bench_now();
		sscanf(strstr(said, "tracing "), "tracing %u", &n);
		usleep(200000);
		asked = bench_now();
		kill(pid, SIGINT);
		waitpid(pid, NULL, 0);
		back = bench_now();
		bench_wait_gone(before);
		gone = bench_now();
		passed = gone - t0;
		printf("attach %s %s %u %.3f %.3f %.3f\n", backend, what, n, ready - t0, back - asked, gone - asked);
		fflush(stdout);
	}
}

static int silent(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level, (void)fmt, (void)args;
	return 0;
}

static void parts(enum rd_backend backend, const char *what)
{
	struct rd_session_opts opts = { .backend = backend };
	size_t before = bench_bpf_objects();
	_cleanup_free_ char *reason = NULL;
	struct rd_errlist notes = {};
	struct rd_attach attach;
	struct rd_fnset set = {};
	struct rd_err err = {};
	uint8_t *backends;
	double t[4], gone;
	size_t hooked;

	libbpf_set_print(silent);
	t[0] = bench_now();
	bench_select(&set);
	backends = calloc(set.n_fns + 1, 1);
	t[1] = bench_now();
	if (!backends || rd_attach_open(&attach, &set, &opts, backends, &notes, &err))
		bench_fail_err(&err);
	t[2] = bench_now();
	if (rd_attach_run(&attach, &reason, &err))
		bench_fail_err(&err);
	t[3] = bench_now();
	hooked = attach.done;
	rd_attach_close(&attach);
	bench_wait_gone(before);
	gone = bench_now();
	printf("parts %s %s %zu %.3f %.3f %.3f %.3f\n", backend ? rd_backend_name(backend) : "auto", what, hooked,
	       t[1] - t[0], t[2] - t[1], t[3] - t[2], gone - t[3]);
	rd_errlist_deinit(&notes);
	rd_fnset_deinit(&set);
	free(backends);
}

int main(int argc, char **argv)
{
	enum rd_backend backend = RD_BACKEND_NONE;

	if (argc < 3 || (strcmp(argv[2], "auto") && rd_backend_parse(argv[2], &backend))) {
		fprintf(stderr, "usage: attach hold|time|parts BACKEND …\n");
		return 2;
	}
	if (!strcmp(argv[1], "parts"))
		parts(backend, argc > 3 ? argv[3] : "all");
	else if (!strcmp(argv[1], "hold") && argc == 4)
		hold(backend, strtoul(argv[3], NULL, 10));
	else if (!strcmp(argv[1], "time") && argc > 4)
		time_command(argv[2], argv[3], argv + 4);
	return 0;
}
