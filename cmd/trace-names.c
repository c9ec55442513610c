// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <errno.h>
#include <string.h>

#include "analyse/chain.h"
#include "analyse/verb.h"

struct trace_names {
	bool none;
};

int trace_names_create(struct trace *t, struct rd_err *err)
{
	t->names = calloc(1, sizeof(*t->names));
	return t->names ? 0 : rd_err_set(err, ENOMEM, "trace-errno", "cannot start");
}

void trace_names_destroy(struct trace_names *names)
{
	free(names);
}

int trace_names_judge(struct trace *t, struct rd_event *ev)
{
	int r = rd_chain_settle(ev);

	return r ? r : rd_verb_resolve(ev, &t->set);
}

void trace_names_explain(struct trace *t, struct rd_event *ev)
{
	(void)t;
	(void)ev;
}
