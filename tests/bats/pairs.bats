#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# turn: 2
# Pairs of hosts that differ in one known thing: tests/bundles/silent/pairs.py.

load here

setup() {
	# Thousands of small files: in memory where there is room for them.
	WORK=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
}

teardown() {
	rm -rf "$WORK"
}

@test "diff and nic-map --compare name the one thing in which hosts differ, and nothing where nothing matters" {
	run tests/bundles/silent/pairs.py "${RDMADIAG:-build/rdmadiag}" "$WORK/pairs"
	grep -v '^ok' <<<"$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok' <<<"$output")" -ge 50 ]
}
