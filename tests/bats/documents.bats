#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/documents sees what two builds say differently. The other build is this one, with something changed in what it says.

load here

setup() {
	other=$BATS_TEST_TMPDIR/other
	cat >"$other" <<-EOF
		#!/bin/bash
		"$RD" "\$@" > >(sed "\$OUT")
		status=\$?
		wait
		[ -z "\$ERR" ] || echo "\$ERR" >&2
		[ "\$1" = complete ] || exit \$((status + STATUS))
	EOF
	chmod +x "$other"
	export OUT='' ERR='' STATUS=0
}

# compared OPTION…: the two, by the log of one run and one host that was recorded
compared() {
	run tests/documents "$RD" "$other" --hosts h100-roce-8nic "$@"
}

@test "documents: two builds that say the same" {
	compared
	[ "$status" -eq 0 ]
	[[ $output =~ ^"0 differences in 1 documents and 1 texts of 1 hosts; "[0-9]+" s"$ ]]
}

@test "documents: another word in a document, a table, standard error, and another exit status" {
	OUT='s/"verdict": "same"/"verdict": "alike"/' compared
	[ "$status" -eq 1 ]
	[[ $output == *"nic-map --against {log} --json, run h100-roce-8nic: .against["*"].verdict: 'same' -> 'alike'"* ]]
	OUT='s/ agree/ agreed/' compared
	[ "$status" -eq 1 ]
	ERR=more STATUS=1 compared
	[ "$status" -eq 1 ]
	[[ $output == *": exit status: 0 -> 1"* ]]
	[[ $output == *": standard error, line[0]: '(not there)' -> 'more'"* ]]
}

@test "documents: differences that are meant need a reason" {
	echo "*verdict: 'same' -> 'alike'" >"$BATS_TEST_TMPDIR/allowed"
	OUT='s/"verdict": "same"/"verdict": "alike"/' compared --allow "$BATS_TEST_TMPDIR/allowed"
	[ "$status" -eq 2 ]
	echo "*verdict: 'same' -> 'alike' # a better word" >"$BATS_TEST_TMPDIR/allowed"
	OUT='s/"verdict": "same"/"verdict": "alike"/' compared --allow "$BATS_TEST_TMPDIR/allowed"
	[ "$status" -eq 0 ]
	[[ $output == "0 differences and "*" that are meant in "* ]]
}

@test "documents: what is asked where there is little time is still asked" {
	run -0 tests/documents "$RD" "$other" --quick --hosts "no host" --commands complete
	[[ $output == "0 differences in 0 documents and "* ]] || [[ $output == "0 differences in 1 documents and "* ]]
}
