// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The types of the functions in a BPF program. With them the verifier checks a global function once for each program instead of at
 * each call, which takes a tenth of the time: it matters for fexit, of which each function gets a copy of its own. libbpf passes
 * them only to the handlers of a section, when it loads a program.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/memory.h"
#include "trace/attach/attach.h"

/* The sections of all programs. */
static const struct {
	const char *name;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
} sections[] = {
	{ "fexit", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT },
	{ "fentry", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY },
	{ "kprobe", BPF_PROG_TYPE_KPROBE, 0 },
	{ "kretprobe", BPF_PROG_TYPE_KPROBE, 0 },
};

/* Whose programs are being loaded, and the name of the one that is. */
static struct rd_programs *loading;
static char program[32];

static int keep(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	size_t size = (size_t)opts->func_info_cnt * opts->func_info_rec_size;
	struct rd_programs *programs = loading;
	struct rd_program_types *types;

	(void)cookie;
	snprintf(program, sizeof(program), "%s", bpf_program__name(prog));
	if (!size || !programs || programs->n_types == RD_ARRAY_SIZE(programs->types))
		return 0;
	types = &programs->types[programs->n_types];
	types->func_info = rd_alloc(size, 1);
	memcpy(types->func_info, opts->func_info, size);
	types->prog = prog;
	types->n = opts->func_info_cnt;
	types->size = opts->func_info_rec_size;
	types->btf = (int)opts->prog_btf_fd;
	programs->n_types++;
	return 0;
}

void rd_programs_forget_types(struct rd_programs *programs)
{
	for (size_t i = 0; i < programs->n_types; i++)
		free(programs->types[i].func_info);
	programs->n_types = 0;
}

/* Once: the removal of the last handler makes libbpf before 1.3 use freed memory. */
static void register_handlers(void)
{
	static bool registered;
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = keep);

	for (size_t i = 0; i < RD_ARRAY_SIZE(sections) && !registered; i++)
		libbpf_register_prog_handler(sections[i].name, sections[i].type, sections[i].attach, &opts);
	registered = true;
}

/* A line of the verifier that is neither source, an instruction nor its registers. */
static bool is_reason(const char *line, size_t len)
{
	size_t word = strcspn(line, " \n");

	return len && !strchr("; \t", *line) && !memchr(line, '=', word < len ? word : len) &&
	       strncmp(line, "from ", 5);
}

void rd_refusal_explain(struct rd_refusal *refusal)
{
	const char *line = refusal->log, *reason = NULL, *insn = NULL;
	size_t len, reason_len = 0;

	for (; *line && strncmp(line, "processed ", 10); line += len + (line[len] == '\n')) {
		size_t digits = strspn(line, "0123456789");

		len = strcspn(line, "\n");
		if (digits && !strncmp(line + digits, ": (", 3)) {
			insn = line;
			reason = NULL;
		} else if (!reason && is_reason(line, len)) {
			reason = line;
			reason_len = len;
		}
	}
	if (reason)
		snprintf(refusal->reason, sizeof(refusal->reason), "instruction %.*s, %.*s",
			 insn ? (int)strcspn(insn, ":") : 1, insn ? insn : "0", (int)reason_len, reason);
}

int rd_programs_load(struct rd_attach *attach, bool tracing, bool kprobes, struct rd_refusal *refusal)
{
	char *log = refusal ? calloc(1, RD_VERIFIER_LOG) : NULL;
	int r;

	register_handlers();
	rd_programs_forget_types(&attach->programs);
	loading = &attach->programs;
	program[0] = 0;
	r = attach->programs.ops->load(attach, tracing, kprobes, log);
	loading = NULL;
	if (r && log && *log) {
		snprintf(refusal->program, sizeof(refusal->program), "%s", program);
		refusal->log = RD_TAKE(log);
		rd_refusal_explain(refusal);
	}
	free(log);
	return r;
}

const struct rd_program_types *rd_programs_types(const struct rd_programs *programs, const struct bpf_program *prog)
{
	for (size_t i = 0; i < programs->n_types; i++)
		if (programs->types[i].prog == prog)
			return &programs->types[i];
	return NULL;
}
