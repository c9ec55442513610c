/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "privileges.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <wchar.h>

#include "collect/nccl/libexpat.h"
#include "confine/confine.h"
#include "datafile.h"
#include "render/libsmartcols.h"
#include "source/bundle/bundle.h"
#include "source/bundle/libarchive.h"
#include "source/guard/source-guard.h"
#include "source/opener/input.h"
#include "source/opener/opener.h"
#include "source/shared/libibmad.h"
#include "view/view.h"

/* Memory for foreign files alone: what is promised for inputs below 10 MB, less code and stack; large hosts' bundles take 24 times their
 * size. */
#define MEMORY_LEAST ((size_t)216 << 20)
#define MEMORY_PER_BYTE 24
#define FOLDER_SIZE ((size_t)48 << 20)

static struct {
	bool packed; /* an archive may be read or written */
	bool foreign, foreign_operands, output_operands, terminal, ports, replaces;
	unsigned standard_inputs; /* how many bundles are '-' */
	size_t size;		  /* bytes of foreign files; of a directory, what a large host takes */
	const char *update;	  /* a file to update; NULL: none */
	unsigned limit_ms;	  /* for reading; 0: none */
	const char **files;	  /* that may also be names of profiles */
	size_t n_files, cap_files;
	const struct rd_ctx *ctx;
	struct rd_source *live;	  /* of the opener; NULL: it records only files */
	struct rd_source *inputs; /* a guard; NULL: there is no limit */
	struct rd_source *facts;  /* what it recorded; NULL: it was not started */
} noted;

void rd_privileges_note(enum rd_needs needs, const char *arg)
{
	struct stat st;

	noted.packed |= needs == RD_NEEDS_OUTPUT;
	noted.foreign |= needs == RD_NEEDS_FOREIGN_BUNDLE || needs == RD_NEEDS_FOREIGN_FILE ||
			 needs == RD_NEEDS_FOREIGN_TEXT;
	noted.foreign_operands |= needs == RD_NEEDS_FOREIGN_OPERANDS;
	noted.output_operands |= needs == RD_NEEDS_OUTPUT_OPERANDS;
	noted.replaces |= needs == RD_NEEDS_TO_REPLACE;
	noted.terminal |= needs == RD_NEEDS_TERMINAL;
	noted.ports |= needs == RD_NEEDS_PORTS;
	if (needs == RD_NEEDS_FOREIGN_BUNDLE && rd_is_standard_input(arg)) {
		noted.packed = true;
		noted.standard_inputs++;
	} else if (needs == RD_NEEDS_FOREIGN_BUNDLE || needs == RD_NEEDS_FOREIGN_FILE) {
		if (stat(arg, &st) < 0)
			st = (struct stat){ 0 };
		noted.packed |= needs == RD_NEEDS_FOREIGN_BUNDLE && !S_ISDIR(st.st_mode);
		if (st.st_size < (off_t)1 << 34)
			noted.size += S_ISDIR(st.st_mode) ? FOLDER_SIZE : (size_t)st.st_size;
		*RD_ADD(noted.files, noted.n_files, noted.cap_files) = arg;
		rd_input_name(arg);
	} else if (needs == RD_NEEDS_OWN_FILE) {
		rd_input_name(arg);
	} else if (needs == RD_NEEDS_OUTPUT) {
		rd_opener_name(RD_OPENER_OUTPUT, arg);
	} else if (needs == RD_NEEDS_UPDATE) {
		noted.update = arg;
	} else if (needs == RD_NEEDS_NEW_FILE && strcmp(arg, "-") != 0) {
		/* Standard output is open already. */
		rd_opener_name(noted.replaces ? RD_OPENER_OUTPUT : RD_OPENER_NEW_FILE, arg);
	}
}

/* Returns whether the command also reads this host. */
static bool note_operands(const struct rd_ctx *ctx, int argc, char **argv)
{
	enum rd_needs needs = noted.foreign_operands ? RD_NEEDS_FOREIGN_BUNDLE :
			      noted.output_operands  ? RD_NEEDS_OUTPUT :
						       ctx->cmd->operand_needs;
	bool live = false;

	noted.foreign |= needs == RD_NEEDS_FOREIGN_TEXT;
	noted.packed |= needs == RD_NEEDS_NEW_FILE;
	if (needs == RD_NEEDS_NEW_FILE && argc == 0)
		rd_opener_name(RD_OPENER_BUNDLE, ".");
	for (int i = 0; i < argc; i++)
		if (ctx->cmd->live_operand && strcmp(argv[i], "live") == 0)
			live = true;
		else
			rd_privileges_note(needs, argv[i]);
	return live;
}

/* Directories of terminfo. $TERMINFO only if the environment can be trusted. */
static const struct rd_confine_dir *terminal_dirs(void)
{
	static struct rd_confine_dir dirs[] = {
		{ "/etc/terminfo", false },
		{ "/lib/terminfo", false },
		{ "/usr/lib/terminfo", false },
		{ "/usr/share/terminfo", false },
		{ NULL, false },
		{ NULL, false },
	};

	dirs[RD_ARRAY_SIZE(dirs) - 2].path = secure_getenv("TERMINFO");
	return dirs;
}

/* Loads files that libraries would open at their first use. */
static void load_libraries(const struct rd_ctx *ctx)
{
	struct rd_err err;
	wchar_t wide;
	mbstate_t state = { 0 };

	tzset();
	rd_charset_load();
	mbrtowc(&wide, "a", 1, &state);
	libbpf_set_print(NULL); /* loads libbpf: BTF of kernels in foreign files */
	if (ctx->globals.style.width > 0 || ctx->globals.style.colour)
		rd_libsmartcols_load("tables", &err);
	if (noted.packed)
		rd_libarchive_load("bundle", &err);
	if (ctx->cmd->topologies)
		rd_libexpat_load("topology file", &err);
	if (noted.terminal)
		rd_view_check_terminal(&err);
	if (noted.ports)
		rd_libibmad_load("MADs", &err);
}

static int read_standard_input(struct rd_err *err)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (!noted.standard_inputs)
		return 0;
	if (noted.standard_inputs > 1) {
		rd_err_set(err, EINVAL, RD_STANDARD_INPUT, "given %u times: standard input holds only one bundle",
			   noted.standard_inputs);
		return rd_err_hint(err, "write the other bundles to files, and name these");
	}
	r = rd_standard_input_read(err);
	if (!r && noted.terminal) {
		/* Keys of a live view then come from the terminal itself; rd_view_check_terminal reports it if that fails. */
		fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			dup2(fd, STDIN_FILENO);
	}
	return r;
}

void rd_privileges_limit(unsigned ms)
{
	noted.limit_ms = ms;
}

/* What the command reads of this host, and its tables. Runs with privileges, and parses no file of others. */
static void read_parts(struct rd_source *source, void *arg)
{
	const unsigned *parts = arg;
	struct rd_ctx ctx = *noted.ctx;
	_cleanup_free_ char *host = NULL;
	_cleanup_texts_ struct rd_texts names = { 0 };
	struct rd_err err;

	ctx.source = source;
	rd_local_guard(source);
	if (*parts & RD_OPENER_OWN) {
		rd_read_textf(source, &host, NULL, "/proc/sys/kernel/hostname");
		rd_tables_read_ahead(noted.files, noted.n_files, ctx.cmd->operand_needs == RD_NEEDS_FOREIGN_TEXT);
	}
	if (!(*parts & RD_OPENER_HOST) || !noted.live)
		return;
	if (ctx.cmd->read)
		ctx.cmd->read(&ctx, source);
	else if (ctx.cmd->record)
		ctx.cmd->record(source, &err);
	/* Why there are none. */
	if (rd_list_dir(source, "/sys/class/infiniband", &names, NULL) < 0 || names.n == 0)
		rd_no_rdma(&ctx, ENOENT, &err);
}

static void record(unsigned parts, unsigned limit_ms, struct rd_buf *out)
{
	_cleanup_(rd_source_closep) struct rd_source *guard = NULL, *files = NULL;
	struct rd_source *live = noted.live;

	if (!live && rd_source_live_open(NULL, &files, NULL) == 0)
		live = files;
	guard = limit_ms ? rd_source_guard_open(live, limit_ms) : rd_source_guard_open_alone(live);
	rd_source_guard_ahead(guard, read_parts, &parts);
	rd_source_guard_pack(guard, out);
}

void rd_privileges_join(struct rd_source *guard)
{
	if (noted.inputs)
		rd_source_guard_join(guard, noted.inputs);
}

void rd_privileges_renew(void)
{
	if (noted.facts)
		rd_source_guard_renew(noted.facts, 0);
}

int rd_privileges_drop(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	bool live = note_operands(ctx, argc, argv) || (!ctx->globals.from && !ctx->cmd->live_operand);
	unsigned needs = RD_CONFINE_CHILDREN;
	int r;

	if (!noted.foreign)
		return 0;
	r = read_standard_input(err);
	if (r < 0)
		return r;
	/* Networks of 100,000 ports take what they take. */
	if (!live && !noted.ports)
		rd_end_limit(noted.size > MEMORY_LEAST / MEMORY_PER_BYTE ? noted.size * MEMORY_PER_BYTE : MEMORY_LEAST);
	load_libraries(ctx);
	if (noted.ports)
		needs |= RD_CONFINE_THREADS;
	if (noted.terminal)
		needs |= RD_CONFINE_TERMINAL | RD_CONFINE_READ;
	noted.ctx = ctx;
	if (noted.limit_ms)
		noted.inputs = rd_source_guard_open(&rd_input_source, noted.limit_ms);
	rd_inputs_open(noted.inputs);
	if (noted.update)
		rd_open_for_update_ahead(noted.update);
	if (live)
		r = rd_source_live_open(NULL, &noted.live, err);
	noted.facts = rd_source_guard_open_alone(NULL);
	if (!r)
		r = rd_opener_start(record, noted.facts, err);
	rd_source_closep(&noted.live);
	if (!r)
		r = rd_confine(needs, terminal_dirs(), err);
	return r;
}

void rd_privileges_say(const struct rd_ctx *ctx)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	if (!noted.foreign)
		return;
	rd_confined_text(rd_confined(), &text);
	rd_verbose(ctx, "confined: %s", text.data);
}
