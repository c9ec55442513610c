/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries that are loaded on demand, and the environment that libraries see. */
#include "base/late.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>

#include "base/environ.h"
#include "base/text.h"

/* clang-format off */
#ifdef RD_STATIC
#define MNL(x)                                                                                              \
	x(RD_LIBMNL, "libmnl.so.0", "netlink", "the kernel cannot be queried over netlink", "all commands", \
	  "libmnl (Debian: libmnl0, Fedora: libmnl)")
#define BPF(x)                                                                                                     \
	x(RD_LIBELF, "libelf.so.1", "tracing", "the kernel cannot be traced", "trace-errno, qp-state --trace", \
	  "libelf (Debian: libelf1 or libelf1t64, Fedora: elfutils-libelf)")
#else
#define MNL(x)
#define BPF(x)                                                                                                     \
	x(RD_LIBBPF, "libbpf.so.1", "tracing", "the kernel cannot be traced", "trace-errno, qp-state --trace, capture", \
	  "libbpf (Debian: libbpf1, Fedora: libbpf)")
#endif

/* Identifier, soname, feature, consequence if missing, affected commands, and package. */
#define LIBRARIES(x)                                                                                   \
	x(RD_LIBARCHIVE, "libarchive.so.13", "archives", "archives cannot be read or written",          \
	  "capture, diff, --from; packed kernel modules", "libarchive (Debian: libarchive13, Fedora: libarchive)") \
	BPF(x)                                                                                         \
	x(RD_LIBDW, "libdw.so.1", "user-stacks", "user stacks cannot be unwound",               \
	  "trace-errno --user-stack", "libdw (Debian: libdw1, Fedora: elfutils-libs)")                  \
	x(RD_LIBEXPAT, "libexpat.so.1", "topologies", "topology files cannot be read",                  \
	  "nic-map of a topology file", "libexpat (Debian: libexpat1, Fedora: expat)")                  \
	x(RD_LIBIBMAD, "libibmad.so.5", "fabric", "management datagrams (MADs) cannot be decoded",      \
	  "counters --fabric", "libibmad (Debian: libibmad5, Fedora: infiniband-diags)")                \
	x(RD_LIBIBUMAD, "libibumad.so.3", "fabric", "management datagrams (MADs) cannot be sent",       \
	  "counters --fabric", "libibumad (Debian: libibumad3, Fedora: libibumad)")                     \
	x(RD_LIBIBVERBS, "libibverbs.so.1", "limits", "device limits are unknown",                \
	  "qp-state --summary, nic-map, capture", "libibverbs (Debian: libibverbs1, Fedora: libibverbs)") \
	x(RD_LIBMLX5, "libmlx5.so.1", "data-direct", "Data Direct functions are unknown",             \
	  "nic-map, topo-check", "ibverbs-providers (rdma-core 54 and later)")                          \
	x(RD_LIBNCURSES, "libncursesw.so.6", "views", "live views are not available",                        \
	  "--live", "ncurses (Debian: libncursesw6, Fedora: ncurses-libs)")                             \
	x(RD_LIBREADLINE, "libreadline.so.8", "shell", "lines are not edited, completed and remembered",       \
	  "shell", "readline (Debian: libreadline8, Fedora: readline)")                                 \
	x(RD_LIBSMARTCOLS, "libsmartcols.so.1", "tables", "tables are not fitted to the terminal",       \
	  "all commands, on a terminal", "libsmartcols (Debian: libsmartcols1, Fedora: libsmartcols)") \
	MNL(x)
/* clang-format on */

#define ENTRY(id, so, word, what, place, pack) \
	[id] = { .soname = (so), .without = (what), .where = (place), .package = (pack) },
const struct rd_library rd_libraries[RD_LIBRARIES] = { LIBRARIES(ENTRY) };

/*
 * The same for packagers: the ELF notes of systemd.io/ELF_DLOPEN_METADATA, from which distributions derive recommended packages.
 */
#define TYPE 0x407c0c0a
#define JSON(so, word, what)                                                                    \
	"[{\"soname\":[\"" so "\"],\"feature\":\"" word "\",\"description\":\"without it " what \
	"\",\"priority\":\"recommended\"}]"
#define NOTE(id, so, word, what, place, pack)                                                      \
	static const struct {                                                                      \
		Elf32_Nhdr head;                                                                   \
		char owner[4];                                                                     \
		char json[(sizeof(JSON(so, word, what)) + 3) & ~(size_t)3];                        \
	} note_##id __attribute__((used, aligned(4), section(".note.dlopen"))) = {                 \
		{ sizeof("FDO"), sizeof(JSON(so, word, what)), TYPE }, "FDO", JSON(so, word, what) \
	};
LIBRARIES(NOTE)

/* None of them can select a file: glibc and ncurses refuse values with a slash. */
static const char *const harmless[] = { "LANG=", "LANGUAGE=", "LC_ALL=", "LC_CTYPE=", "TERM=", "COLUMNS=", "LINES=" };

static char *shown[RD_ARRAY_SIZE(harmless) + 1];

char **rd_environ_hide(void)
{
	char **whole = environ;
	size_t n = 0;

	if (!getauxval(AT_SECURE) || !environ)
		return whole;
	for (size_t i = 0; i < RD_ARRAY_SIZE(harmless); i++)
		for (char **variable = environ; *variable; variable++)
			if (rd_starts_with(*variable, harmless[i])) {
				shown[n++] = *variable;
				break;
			}
	shown[n] = NULL;
	environ = shown;
	return whole;
}

void rd_environ_show(char **whole)
{
	environ = whole;
}

static int missing(const struct rd_late *late, const char *object, struct rd_err *err)
{
	rd_err_set(err, EOPNOTSUPP, object, "%s: %s", late->library->without, late->why);
	rd_err_hint(err, "install %s", late->library->package);
	return -EOPNOTSUPP;
}

static int not_found(struct rd_late *late, const char *object, struct rd_err *err)
{
	const char *why = dlerror();

	snprintf(late->why, sizeof(late->why), "%s", why ?: late->library->soname);
	return missing(late, object, err);
}

int rd_late_load(struct rd_late *late, const char *object, struct rd_err *err)
{
	_cleanup_free_ void **functions = NULL;
	void *handle;

	if (*(void **)late->table)
		return 0;
	if (*late->why)
		return missing(late, object, err);
	functions = calloc(late->n, sizeof(*functions));
	if (!functions)
		return rd_err_set(err, ENOMEM, object, "no memory to load %s", late->library->soname);
	handle = dlopen(late->library->soname, RTLD_NOW);
	if (!handle)
		return not_found(late, object, err);
	for (size_t i = 0; i < late->n; i++) {
		/* Preloaded libraries come first, as if the library were linked. */
		functions[i] = dlsym(RTLD_DEFAULT, late->names[i]);
		if (!functions[i])
			functions[i] = dlsym(handle, late->names[i]);
		if (!functions[i])
			return not_found(late, object, err);
	}
	memcpy(late->table, functions, late->n * sizeof(*functions));
	return 0;
}
