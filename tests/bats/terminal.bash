# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For files about what stands on a terminal: a tmux of their own, whose socket is SOCKET.

tm() {
	tmux -S "$SOCKET" "$@"
}

until_true() {
	local n
	for ((n = 0; n < 100; n++)); do
		if "$@"; then return 0; fi
		sleep 0.1
	done
	tm capture-pane -p
	return 1
}

shown() {
	tm capture-pane -p | grep -q -- "$1"
}

seen() {
	until_true shown "$1"
}
