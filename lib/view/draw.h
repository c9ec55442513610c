/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view on the screen. */
#ifndef RD_VIEW_DRAW_H
#define RD_VIEW_DRAW_H

#include "view/pane.h"
#include "view/view.h"

struct rd_view {
	const struct rd_view_ops *ops;
	void *arg;
	struct rd_pane top, body, detail;
	char *headline;
	char *detail_key;  /* of the row that is looked at alone; NULL: none is */
	char problem[300]; /* of the last look; "" for none */
	bool typing, help, paused, end, due;
	bool colour, ascii;
};

/* The pane that keys go to. */
static inline struct rd_pane *rd_view_active(struct rd_view *view)
{
	return view->detail_key ? &view->detail : &view->body;
}

/* Lines of the terminal that the active pane's rows have. */
size_t rd_view_room(const struct rd_view *view);

void rd_view_colours(struct rd_view *view);
void rd_view_draw(struct rd_view *view);

#endif
