/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of environment variables: names and values point into the texts they were parsed from, which the set owns. Which library
 * reads a name. */
#include <ctype.h>
#include <strings.h>

#include "analyse/env/envcheck.h"

#define NAME_MAX_LEN 63 /* longer names are not compared */
#define NAME_SIZE 96	/* of a name in the lists */

/* Removed from NCCL; the releases are from its docs/userguide/source/env.rst. */
static const struct {
	const char *name, *note;
} retired[] = {
	{ "NCCL_CHECKS_DISABLE", "deprecated in NCCL 2.2.12, replaced by NCCL_CHECK_MODE" },
	{ "NCCL_IB_GDR_LEVEL", "replaced by NCCL_NET_GDR_LEVEL in NCCL 2.4.0" },
	{ "NCCL_IB_CUDA_SUPPORT", "removed in NCCL 2.4.0: NCCL_NET_GDR_LEVEL controls GPUDirect RDMA" },
	{ "NCCL_LL_THRESHOLD", "removed in NCCL 2.5: NCCL_PROTO selects protocols" },
	{ "NCCL_SINGLE_RING_THRESHOLD", "removed in NCCL 2.3" },
	{ "NCCL_TREE_THRESHOLD", "removed in NCCL 2.5: NCCL_ALGO selects algorithms" },
};

/* Read by other software in such jobs. A name that ends in _ matches every name that starts with it. */
static const struct {
	const char *name, *reader;
} others[] = {
	{ "MC_COLOR_TABLE", "Midnight Commander" },
	{ "MC_HOST_", "the MinIO client" },
	{ "MC_SID", "Midnight Commander" },
	{ "MC_SKIN", "Midnight Commander" },
	{ "MC_TMPDIR", "Midnight Commander" },
	{ "NCCL_ASYNC_ERROR_HANDLING", "PyTorch (TORCH_NCCL_ASYNC_ERROR_HANDLING since 2.2)" },
	{ "NCCL_AVOID_RECORD_STREAMS", "PyTorch" },
	{ "NCCL_BLOCKING_WAIT", "PyTorch (TORCH_NCCL_BLOCKING_WAIT since 2.2)" },
	{ "NCCL_BOOTSTRAP_BIDIR_ALLGATHER", "RCCL" },
	{ "NCCL_DESYNC_DEBUG", "PyTorch" },
	{ "NCCL_DYNAMIC_CHUNK_", "a Google Cloud plugin" },
	{ "NCCL_ENABLE_TIMING", "PyTorch" },
	{ "NCCL_ENV_JSON_FILE", "RCCL's environment plugin" },
	{ "NCCL_FASTRAK_", "a Google Cloud plugin" },
	{ "NCCL_GIN_MLOPART", "RCCL" },
	{ "NCCL_GPUDIRECTTCPX_", "a Google Cloud plugin" },
	{ "NCCL_IBEXT_DISABLE", "HPC-X's plugin (nccl-rdma-sharp-plugins)" },
	{ "NCCL_INSPECTOR_", "NCCL's inspector, a profiler plugin" },
	{ "NCCL_PLUGIN_P2P", "HPC-X's plugin (nccl-rdma-sharp-plugins)" },
	{ "NCCL_PROFILE_", "NCCL's example profiler plugin" },
	{ "NCCL_RINGS", "RCCL" },
	{ "NCCL_RINGS_REMAP", "RCCL" },
	{ "NCCL_ROOT", "build systems that look for NCCL" },
	{ "NCCL_HOME", "build systems that look for NCCL" },
	{ "NCCL_LIB_DIR", "build systems that look for NCCL" },
	{ "NCCL_INCLUDE_DIR", "build systems that look for NCCL" },
	{ "NCCL_INCLUDE_DIRS", "build systems that look for NCCL" },
	{ "NCCL_LIBRARY", "build systems that look for NCCL" },
	{ "NCCL_VERSION", "container images (the installed release)" },
	{ "NCCL_SHARP_", "HPC-X's plugin (nccl-rdma-sharp-plugins)" },
	{ "NCCL_TRACE_BUFFER_SIZE", "PyTorch" },
	{ "NCCL_TUNER_CONFIG_", "a tuner plugin" },
	{ "NCCL_UCX_", "HPC-X's plugin (nccl-rdma-sharp-plugins)" },
	{ "NCCL_USE_COMM_NONBLOCKING", "PyTorch" },
	{ "NVSHMEM_DIR", "build systems that look for NVSHMEM" },
	{ "NVSHMEM_HOME", "build systems that look for NVSHMEM" },
	{ "NVSHMEM_PREFIX", "NVSHMEM builds" },
	{ "UCX_HOME", "build systems that look for UCX" },
	{ "UCX_DIR", "build systems that look for UCX" },
	{ "UCX_VERSION", "container images (the installed release)" },
};

/* Misspelt prefixes that belong to no other library (RCCL, HCCL and others are libraries). */
static const struct {
	const char *wrong, *right;
} misspelt[] = {
	{ "NCLL_", "NCCL_" },	    { "NCC_", "NCCL_" },	{ "NCL_", "NCCL_" },	   { "NVSHEM_", "NVSHMEM_" },
	{ "NVSHMEN_", "NVSHMEM_" }, { "NVHSMEM_", "NVSHMEM_" }, { "NVSMEM_", "NVSHMEM_" }, { "NVSHMM_", "NVSHMEM_" },
};

/* Whether the names, each between blanks, contain this one. */
static bool is_listed(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = strchr(name, ' ') || !n ? NULL : names; at && (at = strstr(at, name)); at++)
		if (at > names && at[-1] == ' ' && at[n] == ' ')
			return true;
	return false;
}

/* Copies the next of the names, and advances; false: no more. */
static bool next_name(const char **at, char ret[NAME_SIZE])
{
	size_t n;

	*at += strspn(*at, " ");
	n = strcspn(*at, " ");
	snprintf(ret, NAME_SIZE, "%.*s", (int)n, *at);
	*at += n;
	return n > 0;
}

static const struct rd_env_names *library_of(const char *name)
{
	for (size_t i = 0; i < rd_env_n_names; i++)
		if (strncasecmp(name, rd_env_names[i].prefix, strlen(rd_env_names[i].prefix)) == 0)
			return &rd_env_names[i];
	return NULL;
}

/* The correct prefix for a misspelt one, or NULL; *skip: length of the misspelt prefix. */
static const char *correct_prefix(const char *name, size_t *skip)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(misspelt); i++) {
		*skip = strlen(misspelt[i].wrong);
		if (strncmp(name, misspelt[i].wrong, *skip) == 0)
			return misspelt[i].right;
	}
	return NULL;
}

/* Whether the library reads a variable of this name. */
static bool is_known(const struct rd_env_names *library, const char *name)
{
	size_t skip = strlen(library->prefix);
	char prefix[NAME_SIZE];

	if (strncmp(name, library->prefix, skip) != 0)
		return false;
	if (is_listed(library->names, name + skip))
		return true;
	for (const char *at = library->prefixes; next_name(&at, prefix);)
		if (rd_starts_with(name + skip, prefix) && is_listed(library->fields, name + skip + strlen(prefix)))
			return true;
	return false;
}

static const char *other_reader(const char *name)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(others); i++) {
		size_t n = strlen(others[i].name);

		if (others[i].name[n - 1] == '_' ? strncmp(name, others[i].name, n) == 0 :
						   strcmp(name, others[i].name) == 0)
			return others[i].reader;
	}
	return NULL;
}

/* A misspelt prefix counts only if the library reads the corrected name. */
static const struct rd_env_names *library_meant(const char *name)
{
	const struct rd_env_names *library = library_of(name);
	size_t skip;
	const char *right = library ? NULL : correct_prefix(name, &skip);
	_cleanup_free_ char *whole = right && strlen(name) <= NAME_MAX_LEN ? rd_text("%s%s", right, name + skip) : NULL;
	const struct rd_env_names *meant = whole ? library_of(whole) : NULL;

	return meant && is_known(meant, whole) ? meant : library;
}

enum rd_env_known rd_env_name_known(const char *name, const char **library, const char **note)
{
	const struct rd_env_names *lib = library_meant(name);
	const char *unused = NULL, **reason = note ?: &unused;

	*reason = NULL;
	if (library)
		*library = lib ? lib->title : NULL;
	if (!lib)
		return RD_ENV_NAME_FOREIGN;
	if (is_known(lib, name))
		return RD_ENV_NAME_KNOWN;
	for (size_t i = 0; i < RD_ARRAY_SIZE(retired); i++)
		if (strcmp(retired[i].name, name) == 0) {
			*reason = retired[i].note;
			return RD_ENV_NAME_RETIRED;
		}
	*reason = other_reader(name);
	return *reason ? RD_ENV_NAME_OTHER : RD_ENV_NAME_UNKNOWN;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Restricted Damerau-Levenshtein distance: three rows of the table, only the cells near the diagonal. */
unsigned rd_env_distance(const char *a, const char *b, unsigned most)
{
	size_t n = strnlen(a, NAME_MAX_LEN + 1), m = strnlen(b, NAME_MAX_LEN + 1);
	unsigned rows[3][NAME_MAX_LEN + 2];

	if (n > NAME_MAX_LEN || m > NAME_MAX_LEN || n > m + most || m > n + most)
		return most + 1;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		size_t from = i > most ? i - most : 1, to = i + most < m ? i + most : m;
		unsigned best = most + 1;

		for (size_t j = 0; j <= m; j++)
			row[j] = most + 1;
		if (i <= most)
			row[0] = (unsigned)i;
		for (size_t j = from; j <= to; j++) {
			row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
			best = least(best, row[j]);
		}
		if (best > most)
			return most + 1;
	}
	return least(rows[n % 3][m], most + 1);
}

static bool same_letters(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "_-");
		b += strspn(b, "_-");
		if (toupper((unsigned char)*a) != *b)
			return false;
		if (!*a)
			return true;
	}
}

/* `tail` is the end of `whole` after an underscore: GID_INDEX of IB_GID_INDEX. */
static bool is_tail(const char *whole, const char *tail)
{
	size_t n = strlen(whole), m = strlen(tail);

	return m < n && whole[n - m - 1] == '_' && strcmp(whole + n - m, tail) == 0;
}

/* A single word such as ENABLE or LEVEL ends too many names. */
static bool lacks_part(const char *rest, const char *candidate)
{
	return is_tail(candidate, rest) && (strchr(rest, '_') || strlen(candidate) == strlen(rest) + 3);
}

struct nearest {
	char prefix[NAME_SIZE], name[NAME_SIZE]; /* name empty: none found yet */
	unsigned cost;
};

/* Costs: 0: same letters; 1: one edit; 3: a part of the name is missing or added. Two edits are not similar: newer releases add
 * such names (CFT_ENABLE beside PAT_ENABLE). */
static void consider_name(struct nearest *best, const char *rest, const char *prefix, const char *candidate)
{
	unsigned cost = 4;

	if (same_letters(rest, candidate))
		cost = 0;
	else if ((cost = rd_env_distance(rest, candidate, 1)) > 1)
		cost = lacks_part(rest, candidate) || (strchr(candidate, '_') && is_tail(rest, candidate)) ? 3 : 4;
	if (cost > 3 || cost > best->cost)
		return;
	if (*best->name && cost >= best->cost && strlen(candidate) >= strlen(best->name))
		return;
	snprintf(best->prefix, sizeof(best->prefix), "%s", prefix);
	snprintf(best->name, sizeof(best->name), "%s", candidate);
	best->cost = cost;
}

char *rd_env_name_near(const char *name)
{
	const struct rd_env_names *library = library_meant(name);
	struct nearest best = { .cost = 4 };
	char prefix[NAME_SIZE], candidate[NAME_SIZE];
	size_t skip = 0;

	if (!library || strlen(name) > NAME_MAX_LEN)
		return NULL;
	skip = strlen(library->prefix);
	if (strncasecmp(name, library->prefix, skip) != 0)
		correct_prefix(name, &skip);
	for (const char *at = library->names; next_name(&at, candidate);)
		consider_name(&best, name + skip, "", candidate);
	for (const char *from = library->prefixes; next_name(&from, prefix);)
		for (const char *at = library->fields;
		     strncasecmp(name + skip, prefix, strlen(prefix)) == 0 && next_name(&at, candidate);)
			consider_name(&best, name + skip + strlen(prefix), prefix, candidate);
	return *best.name ? rd_text("%s%s%s", library->prefix, best.prefix, best.name) : NULL;
}

static char *skip_blanks(char *at)
{
	return at + strspn(at, " \t");
}

/* Ends a value as a shell does: a quoted one at its closing quote if a blank or the end follows, any other at a comment;
 * trailing blanks are removed. */
static char *parse_value(char *value)
{
	char *end = *value == '"' || *value == '\'' ? strchr(value + 1, *value) : NULL;
	size_t n;

	if (end && (!end[1] || strchr(" \t\r", end[1]))) {
		*end = '\0';
		return value + 1;
	}
	end = strstr(value, " #");
	if (end)
		*end = '\0';
	n = strlen(value);
	while (n > 0 && strchr(" \t\r", value[n - 1]))
		value[--n] = '\0';
	return value;
}

/* Splits "NAME=VALUE" in place and returns the name; NULL for a comment or any other line. */
static char *split_assignment(char *line, bool shell, char **value)
{
	char *name = shell ? skip_blanks(line) : line, *end = strchr(name, '=');

	if (shell && (strncmp(name, "export ", 7) == 0 || strncmp(name, "export\t", 7) == 0))
		name = skip_blanks(name + 7);
	else if (shell && strncmp(name, "declare -x ", 11) == 0)
		name = skip_blanks(name + 11);
	if (!end || end < name || *name == '#')
		return NULL;
	*end = '\0';
	*value = shell ? parse_value(end + 1) : end + 1;
	return name;
}

int rd_effects_own(struct rd_effects *effects, char *text, size_t size, char separator)
{
	char *stop = text + size;
	const char *library;

	*RD_ADD(effects->texts, effects->n_texts, effects->cap_texts) = text;
	while (text < stop) {
		char *next = memchr(text, separator, stop - text), *value, *name;

		next = next ?: stop;
		*next = '\0';
		name = split_assignment(text, separator == '\n', &value);
		text = next + 1;
		if (!name || rd_env_name_known(name, &library, NULL) == RD_ENV_NAME_FOREIGN) {
			effects->foreign += name != NULL;
			continue;
		}
		if (effects->n >= RD_EFFECTS_MAX || strlen(value) >= RD_EFFECT_BYTES)
			return -E2BIG;
		*RD_ADD(effects->v, effects->n, effects->cap) =
			(struct rd_effect){ .name = name, .value = value, .library = library };
	}
	return 0;
}

struct indexed_effect {
	struct rd_effect effect;
	size_t at;
};

static int compare_by_name(const void *a, const void *b)
{
	const struct indexed_effect *x = a, *y = b;

	return strcmp(x->effect.name, y->effect.name) ?: RD_CMP(x->at, y->at);
}

void rd_effects_sort(struct rd_effects *effects)
{
	_cleanup_free_ struct indexed_effect *places = NULL;
	size_t n = 0;

	if (effects->sorted == effects->n)
		return;
	places = rd_alloc(effects->n, sizeof(*places));
	for (size_t i = 0; i < effects->n; i++)
		places[i] = (struct indexed_effect){ effects->v[i], i };
	qsort(places, effects->n, sizeof(*places), compare_by_name);
	for (size_t i = 0; i < effects->n; i++) {
		bool again = n > 0 && strcmp(effects->v[n - 1].name, places[i].effect.name) == 0;

		if (again) {
			struct rd_effect *out = effects->first_wins ? &places[i].effect : &effects->v[n - 1];

			RD_FREE(out->selects, out->effect);
			n -= !effects->first_wins;
		}
		if (!again || !effects->first_wins)
			effects->v[n++] = places[i].effect;
	}
	effects->n = effects->sorted = n;
}

static int compare_name(const void *effect, const void *name)
{
	return strcmp(((const struct rd_effect *)effect)->name, name);
}

struct rd_effect *rd_effects_find(const struct rd_effects *effects, const char *name)
{
	size_t at = rd_lower_bound(name, effects->v, effects->n, sizeof(*effects->v), compare_name);

	return at < effects->n && strcmp(effects->v[at].name, name) == 0 ? &effects->v[at] : NULL;
}

const char *rd_effects_get(const struct rd_effects *effects, const char *name)
{
	const struct rd_effect *effect = rd_effects_find(effects, name);

	return effect ? effect->value : NULL;
}
