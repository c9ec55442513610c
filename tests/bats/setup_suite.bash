# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# jq 1.6 calls every expression true of an empty input (-e), so that a command that prints nothing would pass.
setup_suite() {
	if command -v gojq >/dev/null; then
		jq() { gojq "$@"; }
		export -f jq
	fi
}
