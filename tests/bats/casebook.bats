#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Public cases: the rule that has to name each cause does, and cases that nobody settled raise no alarm.

load here

@test "each case of the casebook is named by its rule, and open ones by none" {
	run tests/bundles/casebook.py "${RDMADIAG:-build/rdmadiag}" "$BATS_TEST_TMPDIR"
	grep -v '^ok' <<<"$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok' <<<"$output")" -ge 54 ]
}

@test "CASEBOOK.md is what the cases say" {
	diff tests/bundles/CASEBOOK.md <(tests/bundles/casebook.py --table)
}
