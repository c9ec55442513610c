/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "privileges.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <wchar.h>

#include "base/end.h"
#include "base/number.h"
#include "base/text.h"
#include "collect/nccl/libexpat.h"
#include "confine/confine.h"
#include "render/libsmartcols.h"
#include "source/bundle/bundle.h"
#include "source/bundle/libarchive.h"
#include "source/opener/opener.h"
#include "source/shared/libibmad.h"
#include "table.h"
#include "view/view.h"

/* Memory for foreign files alone: what is promised for inputs below 10 MB, less code and stack; large hosts' bundles take 24 times their
 * size. */
#define MEMORY_LEAST ((size_t)216 << 20)
#define MEMORY_PER_BYTE 24
#define FOLDER_SIZE ((size_t)48 << 20)

static struct {
	bool packed; /* a foreign file may be an archive */
	bool foreign, foreign_operands, output_operands, terminal, ports, replaces;
	unsigned standard_inputs; /* how many bundles are '-' */
	size_t size;		  /* bytes of foreign files; of a directory, what a large host takes */
} noted;

/* An invalid number is reported by the option itself. */
static void name_process(const char *pid)
{
	char path[64];
	uint64_t number;

	if (rd_parse_uint(pid, RD_DECIMAL, UINT64_MAX, &number) < 0)
		return;
	snprintf(path, sizeof(path), "/proc/%" PRIu64, number);
	rd_opener_name(RD_OPENER_PROCESS, path);
}

void rd_privileges_note(enum rd_needs needs, const char *arg)
{
	struct stat st;

	switch (needs) {
	case RD_NEEDS_NOTHING:
		break;
	case RD_NEEDS_FOREIGN_BUNDLE:
		noted.packed = true;
		if (rd_is_standard_input(arg)) {
			noted.foreign = true;
			noted.standard_inputs++;
			break;
		}
		/* fall through */
	case RD_NEEDS_FOREIGN_FILE:
		noted.foreign = true;
		if (stat(arg, &st) == 0 && st.st_size < (off_t)1 << 34)
			noted.size += S_ISDIR(st.st_mode) ? FOLDER_SIZE : (size_t)st.st_size;
		rd_opener_name(RD_OPENER_INPUT, arg);
		break;
	case RD_NEEDS_FOREIGN_TEXT:
		noted.foreign = true;
		break;
	case RD_NEEDS_FOREIGN_OPERANDS:
		noted.foreign_operands = true;
		break;
	case RD_NEEDS_OWN_FILE:
		rd_opener_name(RD_OPENER_INPUT, arg);
		break;
	case RD_NEEDS_OUTPUT:
		rd_opener_name(RD_OPENER_OUTPUT, arg);
		break;
	case RD_NEEDS_OUTPUT_OPERANDS:
		noted.output_operands = true;
		break;
	case RD_NEEDS_NEW_FILE:
		/* Standard output is open already. */
		if (strcmp(arg, "-") != 0)
			rd_opener_name(noted.replaces ? RD_OPENER_OUTPUT : RD_OPENER_NEW_FILE, arg);
		break;
	case RD_NEEDS_TO_REPLACE:
		noted.replaces = true;
		break;
	case RD_NEEDS_PROCESS:
		name_process(arg);
		break;
	case RD_NEEDS_TERMINAL:
		noted.terminal = true;
		break;
	case RD_NEEDS_PORTS:
		noted.ports = true;
		break;
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

/* Keys of a live view then come from the terminal itself. */
static void take_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return; /* rd_view_check_terminal reports it */
	dup2(fd, STDIN_FILENO);
	close(fd);
}

static int read_standard_input(struct rd_err *err)
{
	int r;

	if (!noted.standard_inputs)
		return 0;
	if (noted.standard_inputs > 1) {
		rd_err_set(err, EINVAL, RD_STANDARD_INPUT, "given %u times: standard input holds only one bundle",
			   noted.standard_inputs);
		rd_err_hint(err, "write the other bundles to files, and name these");
		return -EINVAL;
	}
	r = rd_standard_input_read(err);
	if (!r && noted.terminal)
		take_terminal();
	return r;
}

static void name_data_folder(const char *folder)
{
	rd_opener_name(RD_OPENER_FOLDER, folder);
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
	rd_table_folders(name_data_folder);
	if (noted.ports)
		needs |= RD_CONFINE_THREADS;
	if (noted.terminal)
		needs |= RD_CONFINE_TERMINAL | RD_CONFINE_READ;
	r = rd_opener_start(live, err);
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
