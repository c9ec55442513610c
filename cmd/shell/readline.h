/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GNU Readline, loaded when somebody types. It is under the GPL, version 3 or later, and so is the running shell then: see LICENSE. */
#ifndef RD_SHELL_READLINE_H
#define RD_SHELL_READLINE_H

#include <stdio.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "base/late.h"

/* Functions and variables; the table has their addresses. */
/* clang-format off */
#define RD_READLINE_CALLS(x) \
	x(add_history) x(append_history) x(history_truncate_file) x(read_history) x(rl_attempted_completion_function) \
	x(rl_attempted_completion_over) x(rl_bind_key) x(rl_callback_handler_install) x(rl_callback_handler_remove) \
	x(rl_callback_read_char) x(rl_catch_signals) x(rl_completer_quote_characters) x(rl_completer_word_break_characters) \
	x(rl_completion_append_character) x(rl_completion_matches) x(rl_crlf) x(rl_filename_completion_function) \
	x(rl_forced_update_display) x(rl_insert_text) x(rl_line_buffer) x(rl_on_new_line) x(rl_point) x(rl_readline_name) \
	x(rl_redisplay) x(rl_replace_line) x(stifle_history) x(using_history)
/* clang-format on */

RD_LATE_DECLARE(rd_readline, RD_READLINE_CALLS);

#endif
