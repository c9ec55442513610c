# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# To be sourced by tests that wait.

# until_true COMMAND…: waits for an event, however busy the machine is. The limit, UNTIL_SECONDS, is there for what never happens.
until_true() {
	local end=$((SECONDS + ${UNTIL_SECONDS:-120}))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# Also a process that nobody has waited for yet.
process_ended() {
	[[ ! -e /proc/$1/stat || $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == Z* ]]
}
