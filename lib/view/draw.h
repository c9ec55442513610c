/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drawing the view. */
#ifndef RD_VIEW_DRAW_H
#define RD_VIEW_DRAW_H

#include "view/pane.h"
#include "view/view.h"

struct rd_view {
	const struct rd_view_ops *ops;
	void *arg;
	struct rd_pane top, body, detail;
	char *headline, *alarm;
	enum rd_severity alarm_severity;
	const char *progress; /* of a look that takes long; NULL: none */
	char *detail_key;     /* of the row whose details are open; NULL: none */
	char *detail_title;   /* what identifies that row */
	char problem[300];    /* of the last refresh; "" for none */
	bool typing, help, paused, end, due;
	bool colour, ascii;
};

/* The pane that receives keys. */
static inline struct rd_pane *rd_view_active(struct rd_view *view)
{
	return view->detail_key ? &view->detail : &view->body;
}

/* Number of terminal lines for rows of the active pane. */
size_t rd_view_room(const struct rd_view *view);

void rd_view_colours(struct rd_view *view);
void rd_view_draw(struct rd_view *view);

#endif
