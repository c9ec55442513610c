/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings, the causes of failed calls, and the facts that diff compares. */
#include "model/shared/finding.h"

#include "base/fix.h"
#include "base/text.h"
#include "model/shared/facts.h"

const char *rd_severity_name(enum rd_severity severity)
{
	static const char *const names[RD_SEVERITIES] = {
		[RD_SEV_SKIP] = "ok",	      [RD_SEV_OK] = "ok",	    [RD_SEV_NOTE] = "note",
		[RD_SEV_UNKNOWN] = "unknown", [RD_SEV_WARNING] = "warning", [RD_SEV_CRITICAL] = "critical",
	};

	return names[severity];
}

const char *rd_severity_result(enum rd_severity severity)
{
	static const char *const names[RD_SEVERITIES] = {
		[RD_SEV_SKIP] = "skip",	      [RD_SEV_OK] = "pass",	 [RD_SEV_NOTE] = "pass",
		[RD_SEV_UNKNOWN] = "unknown", [RD_SEV_WARNING] = "warn", [RD_SEV_CRITICAL] = "fail",
	};

	return names[severity];
}

void rd_findings_deinit(struct rd_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		RD_FREE(findings->v[i].subject, findings->v[i].observed, findings->v[i].expected, findings->v[i].fix,
			findings->v[i].caused_by.subject, findings->v[i].muted);
	free(findings->v);
	*findings = (struct rd_findings){ 0 };
}

/* Texts may come from other users or hosts: bound their length. */
static void truncate_text(char *text)
{
	size_t size = text ? strlen(text) : 0, at = RD_FINDING_TEXT - 32;

	if (size < RD_FINDING_TEXT)
		return;
	/* Do not split a UTF-8 character. */
	while ((text[at] & 0xc0) == 0x80 && at > RD_FINDING_TEXT - 36)
		at--;
	snprintf(text + at, 32, "... (%zu bytes)", size);
}

/* Names come from other users and hosts: one that a shell would run is in no command. */
static void quieten(struct rd_finding *finding)
{
	if (finding->fix && finding->subject && strpbrk(finding->subject, "$`;&|<>\\\"'\n")) {
		char *advice = rd_fix_line(finding->fix);

		free(finding->fix);
		finding->fix = rd_text("# %s", advice);
		free(advice);
	}
}

void rd_finding_add(struct rd_findings *findings, const struct rd_finding *finding)
{
	truncate_text(finding->subject);
	truncate_text(finding->observed);
	truncate_text(finding->expected);
	truncate_text(finding->fix);
	*RD_ADD(findings->v, findings->n, findings->cap) = *finding;
	quieten(&findings->v[findings->n - 1]);
}

void rd_finding_put(struct rd_findings *findings, const struct rd_finding *kind, char *subject, char *observed,
		    char *fix)
{
	struct rd_finding finding = *kind;

	finding.subject = subject;
	finding.observed = observed;
	finding.fix = fix;
	rd_finding_add(findings, &finding);
}

void rd_finding_copy(struct rd_findings *findings, const struct rd_finding *finding)
{
	struct rd_finding own = *finding;

	own.subject = rd_dup_if(finding->subject);
	own.observed = rd_dup_if(finding->observed);
	own.expected = rd_dup_if(finding->expected);
	own.fix = rd_dup_if(finding->fix);
	own.caused_by.subject = rd_dup_if(finding->caused_by.subject);
	own.muted = rd_dup_if(finding->muted);
	rd_finding_add(findings, &own);
}

void rd_finding_blame(struct rd_finding *finding, const struct rd_finding *cause)
{
	char *subject = rd_dup(cause->subject);

	free(finding->caused_by.subject);
	finding->caused_by.id = cause->id;
	finding->caused_by.subject = subject;
}

bool rd_finding_is_caused_by(const struct rd_finding *finding, const struct rd_finding *cause)
{
	return finding->caused_by.id && strcmp(finding->caused_by.id, cause->id) == 0 &&
	       strcmp(finding->caused_by.subject, cause->subject) == 0;
}

/* Smaller ranks come first. */
struct place {
	int rank;
	size_t at;
};

static int rank_of(const struct rd_findings *findings, const struct rd_finding *finding, size_t consequences)
{
	enum rd_severity severity = finding->severity;

	if (finding->muted)
		return 2 * RD_SEVERITIES;
	if (finding->caused_by.id)
		return RD_SEVERITIES;
	for (size_t i = 0; consequences && i < findings->n; i++)
		if (findings->v[i].severity > severity && rd_finding_is_caused_by(&findings->v[i], finding))
			severity = findings->v[i].severity;
	return RD_SEV_CRITICAL - severity;
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return RD_CMP(x->rank, y->rank) ?: RD_CMP(x->at, y->at);
}

void rd_findings_sort(struct rd_findings *findings)
{
	_cleanup_free_ struct place *places = rd_alloc(findings->n + 1, sizeof(*places));
	struct rd_finding *sorted = rd_alloc(findings->n + 1, sizeof(*sorted));
	size_t consequences = 0;

	for (size_t i = 0; i < findings->n; i++)
		consequences += findings->v[i].caused_by.id != NULL;
	for (size_t i = 0; i < findings->n; i++)
		places[i] = (struct place){ rank_of(findings, &findings->v[i], consequences), i };
	qsort(places, findings->n, sizeof(*places), by_place);
	for (size_t i = 0; i < findings->n; i++)
		sorted[i] = findings->v[places[i].at];
	free(findings->v);
	findings->v = sorted;
	findings->cap = findings->n + 1;
}

enum rd_severity rd_findings_worst(const struct rd_findings *findings)
{
	enum rd_severity worst = RD_SEV_SKIP;

	for (size_t i = 0; i < findings->n; i++)
		if (!findings->v[i].muted && findings->v[i].severity > worst)
			worst = findings->v[i].severity;
	return worst;
}

size_t rd_findings_count(const struct rd_findings *findings, enum rd_severity severity)
{
	size_t n = 0;

	for (size_t i = 0; i < findings->n; i++)
		n += findings->v[i].severity == severity && rd_finding_stands(&findings->v[i]);
	return n;
}

const char *rd_confidence_name(enum rd_confidence confidence)
{
	static const char *const names[] = {
		[RD_CONFIDENCE_LOW] = "low", [RD_CONFIDENCE_MEDIUM] = "medium", [RD_CONFIDENCE_HIGH] = "high"
	};

	return names[confidence];
}

void rd_causes_deinit(struct rd_causes *causes)
{
	for (size_t i = 0; i < causes->n; i++)
		RD_FREE(causes->v[i].observed, causes->v[i].fix);
	free(causes->v);
	rd_findings_deinit(&causes->findings);
	*causes = (struct rd_causes){ 0 };
}

static const char *const area_names[RD_AREAS] = {
	[RD_AREA_DEVICE] = "device", [RD_AREA_LINK] = "link",	    [RD_AREA_FIRMWARE] = "firmware",
	[RD_AREA_MODULE] = "module", [RD_AREA_GID] = "gid",	    [RD_AREA_ADDRESS] = "address",
	[RD_AREA_ROUTE] = "route",   [RD_AREA_SETTING] = "setting", [RD_AREA_COUNTER] = "counter",
	[RD_AREA_HOST] = "host",
};

const char *rd_area_name(enum rd_area area)
{
	return area_names[area];
}

void rd_facts_add(struct rd_facts *facts, enum rd_area area, const char *subject, const char *field, const char *value)
{
	struct rd_fact fact = {
		.area = area, .subject = rd_dup(subject), .field = rd_dup(field), .value = rd_dup_if(value)
	};

	*RD_ADD(facts->v, facts->n, facts->cap) = fact;
}

int rd_fact_compare(const struct rd_fact *a, const struct rd_fact *b)
{
	return RD_FIRST(RD_CMP(a->area, b->area), strverscmp(a->subject, b->subject), strverscmp(a->field, b->field));
}

static int compare(const void *a, const void *b)
{
	return rd_fact_compare(a, b);
}

void rd_facts_sort(struct rd_facts *facts)
{
	rd_sort(facts->v, facts->n, sizeof(*facts->v), compare);
}

void rd_facts_deinit(struct rd_facts *facts)
{
	for (size_t i = 0; i < facts->n; i++)
		RD_FREE(facts->v[i].subject, facts->v[i].field, facts->v[i].value);
	free(facts->v);
	*facts = (struct rd_facts){ 0 };
}
