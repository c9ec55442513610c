// SPDX-License-Identifier: GPL-2.0-or-later
#include "yardstick.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>

#include "bare.h"
#include "bench.h"
#include "trace/attach/attach.h"

#include "bare.skel.h"

struct yardstick {
	struct bare_bpf *bare;
	struct rd_attach attach;
	struct rd_session_opts opts;
	bool on;
	uint8_t *backends;
	size_t before; /* BPF objects of the kernel, without ours */
};

static int kprobe_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/kprobe/type", "re");
	int type = -1;

	if (f && fscanf(f, "%d", &type) != 1)
		type = -1;
	if (f)
		fclose(f);
	return type;
}

/* The bare programs stand where the product's would: at every exit that those hook. */
static bool applies(const struct rd_attach *attach, const struct rd_fn *fn, enum rd_backend backend, enum rd_hook hook)
{
	(void)attach, (void)backend;
	if (hook == RD_HOOK_LEAVE)
		return fn->entry == RD_ENTRY_NONE;
	return hook != RD_HOOK_OBJECT && fn->entry != RD_ENTRY_NONE;
}

static const struct rd_programs_ops bare_ops = { .applies = applies };

static void stand_in(struct yardstick *yard, enum yard_kind kind)
{
	struct rd_programs *programs = &yard->attach.programs;
	struct bare_bpf *bare = yard->bare;
	struct bpf_program *fexits[] = { bare->progs.fexit_check, bare->progs.fexit_record, bare->progs.fexit_stack };
	struct bpf_program *kprobes[] = { bare->progs.kprobe_check, bare->progs.kprobe_record,
					  bare->progs.kprobe_stack };

	programs->ops = &bare_ops;
	programs->on = &yard->on;
	programs->tracing[RD_HOOK_LEAVE] = programs->tracing[RD_HOOK_LEAVE_ROOT] = fexits[kind];
	programs->tracing[RD_HOOK_ENTER_ROOT] = bare->progs.fentry_none;
	programs->kprobe[RD_HOOK_LEAVE] = programs->kprobe[RD_HOOK_LEAVE_ROOT] = kprobes[kind];
	programs->kprobe[RD_HOOK_ENTER_ROOT] = bare->progs.kprobe_none;
}

static struct bare_bpf *load(void)
{
	struct bare_bpf *bare = bare_bpf__open();
	struct bpf_program *prog;

	if (!bare)
		bench_fail("bare programs", errno);
	bpf_object__for_each_program(prog, bare->obj)
	{
		int r = 0;

		bpf_program__set_autoload(prog, true);
		if (bpf_program__type(prog) == BPF_PROG_TYPE_TRACING)
			r = bpf_program__set_attach_target(prog, 0, "bpf_fentry_test1");
		if (r)
			bench_fail(bpf_program__name(prog), r);
	}
	if (bare_bpf__load(bare))
		bench_fail("bare programs", errno);
	return bare;
}

struct yardstick *yardstick_create(struct rd_fnset *set, enum rd_backend backend, enum yard_kind kind)
{
	struct yardstick *yard = calloc(1, sizeof(*yard));
	_cleanup_free_ char *reason = NULL;
	struct rd_err err = {};

	if (!yard)
		bench_fail("yardstick", ENOMEM);
	yard->before = bench_bpf_objects();
	yard->backends = calloc(set->n_fns + 1, 1);
	yard->opts.backend = backend;
	yard->bare = load();
	yard->attach =
		(struct rd_attach){ .set = set, .opts = &yard->opts, .backends = yard->backends, .owner_map = -1 };
	stand_in(yard, kind);
	yard->attach.kprobe_type = kprobe_type();
	yard->attach.btf_fds = malloc((set->n_modules + 1) * sizeof(int));
	if (!yard->backends || !yard->attach.btf_fds)
		bench_fail("yardstick", ENOMEM);
	for (size_t i = 0; i < set->n_modules; i++)
		yard->attach.btf_fds[i] = -1;
	if (rd_attach_create_record(&yard->attach))
		bench_fail("record of whose hooks these are", errno);
	rd_attach_probe(&yard->attach);
	if (!rd_attach_run(&yard->attach, &reason, &err))
		return yard;
	yardstick_destroy(yard);
	return NULL;
}

static int count(void *arg, void *data, size_t size)
{
	(void)data, (void)size;
	++*(size_t *)arg;
	return 0;
}

size_t yardstick_records(struct yardstick *yard)
{
	size_t n = 0;
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(yard->bare->maps.ring), count, &n, NULL);

	if (!ring)
		bench_fail("ring", errno);
	ring_buffer__consume(ring);
	ring_buffer__free(ring);
	return n;
}

void yardstick_destroy(struct yardstick *yard)
{
	rd_attach_close(&yard->attach);
	bare_bpf__destroy(yard->bare);
	bench_wait_gone(yard->before);
	free(yard->backends);
	free(yard);
}
