# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For files about what stands on a terminal: a tmux of their own, whose socket is SOCKET.

# shellcheck source=tests/until.sh
. "${BASH_SOURCE[0]%/*}/../until.sh"

export LC_ALL=C.UTF-8

tm() {
	tmux -S "$SOCKET" "$@"
}

shown() {
	tm capture-pane -p | grep -q -- "$1"
}

seen() {
	until_true shown "$1" || { tm capture-pane -p && return 1; }
}
