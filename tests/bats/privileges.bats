#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# What others wrote is parsed without privileges, and all that commands do with it still works.

load made-up-host

confined() {
	[[ $stderr == *"confined: "*"no capabilities, no new privileges, "* ]]
}

@test "-v tells what is in force, for all commands that are given a file" {
	"$RD" --from "$HOST" topo-check --learn >"$BATS_TEST_TMPDIR/profile"
	"$RD" --from "$HOST" counters --save "$BATS_TEST_TMPDIR/saved" >/dev/null
	echo NCCL_DEBUG=INFO >"$BATS_TEST_TMPDIR/env"
	for words in "--from $HOST nic-map" "--from $HOST check" "diff $HOST $HOST" "check --profile $BATS_TEST_TMPDIR/profile" \
		"topo-check --profile $BATS_TEST_TMPDIR/profile" "nic-map --check-env --env-file $BATS_TEST_TMPDIR/env" "counters --since $BATS_TEST_TMPDIR/saved" \
		"nic-map --compare $HOST" "diff $HOST live"; do
		# shellcheck disable=SC2086
		run --separate-stderr "$RD" -v $words
		confined || { echo "$words: $stderr"; return 1; }
	done
	# Nothing foreign: nothing is given up.
	run --separate-stderr "$RD" -v check
	[[ $stderr != *"confined: "* ]]
}

@test "as root: the uid is given up, and a folder that is root's alone is read" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	cp -r "$HOST" "$BATS_TEST_TMPDIR/closed"
	chmod -R go= "$BATS_TEST_TMPDIR/closed"
	chmod 0700 "$BATS_TEST_TMPDIR"
	run -0 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/closed" -v check
	[[ $output == "RDMA OK - "* ]]
	[[ $stderr == *"confined: uid 65534, "* ]]
	[ "$("$RD" --from "$BATS_TEST_TMPDIR/closed" nic-map)" = "$("$RD" --from "$HOST" nic-map)" ]
}

@test "files are written where the command line says: --textfile, --save, --record, capture with a name and without" {
	cd "$BATS_TEST_TMPDIR"
	"$RD" --from "$HOST" check --textfile x.prom
	grep -q "^rdmadiag_check_ports" x.prom
	"$RD" --from "$HOST" counters --save saved >/dev/null
	"$RD" counters --from "$HOST" --since saved >/dev/null
	"$RD" --from "$HOST" capture one.tar >/dev/null
	run -3 --separate-stderr "$RD" --from "$HOST" capture one.tar
	[[ $stderr == *"one.tar: file exists: not overwritten"* ]]
	"$RD" --from "$HOST" capture --force one.tar >/dev/null
	"$RD" --from one.tar capture >/dev/null
	[ "$(find . -name 'rdmadiag-*.tar.zst' | wc -l)" -eq 1 ]
	[ "$(find . -name '.rdmadiag*' | wc -l)" -eq 0 ]
	# No file is somebody else's.
	[ -z "$(find . -not -user "$(id -u)")" ]
}

@test "a file for --record: what is in it stays, and none is left empty if there is nothing to record" {
	cd "$BATS_TEST_TMPDIR"
	echo nothing >bad
	run -3 --separate-stderr "$RD" counters --fabric --from bad --record x.csv
	[ ! -e x.csv ]
	: >x.csv
	run -3 --separate-stderr "$RD" counters --fabric --from bad --record x.csv
	[ -e x.csv ]
}

@test "several bundles in one command" {
	"$RD" --from "$HOST" capture "$BATS_TEST_TMPDIR/a.tar" >/dev/null
	"$RD" --from "$HOST" capture "$BATS_TEST_TMPDIR/b.tar.zst" >/dev/null
	run -0 --separate-stderr "$RD" diff "$BATS_TEST_TMPDIR/a.tar" "$BATS_TEST_TMPDIR/b.tar.zst"
	run --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/a.tar" nic-map --compare "$BATS_TEST_TMPDIR/b.tar.zst" "$HOST"
	[ "$status" -ne 3 ]
	run --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/a.tar" qp-state --join "$BATS_TEST_TMPDIR/b.tar.zst"
	[ "$status" -ne 3 ] || [[ $stderr != *EPERM* ]]
}

@test "standard input for a file" {
	"$RD" --from "$HOST" topo-check --learn >"$BATS_TEST_TMPDIR/profile"
	run --separate-stderr "$RD" --from "$HOST" topo-check --profile /dev/stdin <<<"$(cat "$BATS_TEST_TMPDIR/profile")"
	[ "$status" -eq 0 ] || { echo "$status $output $stderr"; return 1; }
}

@test "this host, as the opener records it: nothing that is needed is missing, and the same is said" {
	"$RD" --from "$HOST" topo-check --learn >"$BATS_TEST_TMPDIR/profile"
	"$RD" counters --save "$BATS_TEST_TMPDIR/saved" >/dev/null || true
	"$RD" capture "$BATS_TEST_TMPDIR/now.tar" >/dev/null
	for words in "topo-check --profile $BATS_TEST_TMPDIR/profile" "check --profile $BATS_TEST_TMPDIR/profile" \
		"nic-map --profile $BATS_TEST_TMPDIR/profile" "counters --since $BATS_TEST_TMPDIR/saved" \
		"qp-state --join $BATS_TEST_TMPDIR/now.tar" "diff $BATS_TEST_TMPDIR/now.tar live"; do
		# shellcheck disable=SC2086
		run "$RD" --json $words
		[[ $output != *"dropped its privileges"* && $output != *"not a file named on the command line"* ]] || { echo "$words: $output"; return 1; }
	done
}

# plant COMMAND...: with the fault.
plant() {
	command -v cc >/dev/null || skip "no compiler"
	cc -shared -fPIC -o "$BATS_TEST_TMPDIR/fault.so" tests/bats/fault-in-parser.c
	mkdir -p "$BATS_TEST_TMPDIR/elsewhere"
	echo private >"$BATS_TEST_TMPDIR/private"
	sleep 600 3>&- &
	run --separate-stderr env FAULT_FOLDER="$BATS_TEST_TMPDIR/elsewhere" FAULT_FILE="$BATS_TEST_TMPDIR/private" FAULT_PID=$! \
		LD_PRELOAD="$BATS_TEST_TMPDIR/fault.so" "$@"
	kill $!
}

# What a fault could do; nothing of it.
refused() {
	local tries=0
	while read -r line; do
		case $line in
		"open /etc/shadow: "* | "open a file of the user: "* | "list a folder: "* | "write elsewhere: "* | "remove: "* | \
			"rename: "* | "change a mode: "* | "connect"*": "* | "make a "*": "* | "signal: "* | "trace: "* | \
			"type into the terminal: "* | "become root: "* | execute:*)
			tries=$((tries + 1))
			[[ $line == *": Operation not permitted" || $line == *": Permission denied" ]] || { echo "$line"; return 1; }
			;;
		esac
	done <<<"$stderr"
	[ "$tries" -eq 16 ] || { echo "$tries tries: $stderr"; return 1; }
	[ -z "$(ls "$BATS_TEST_TMPDIR/elsewhere")" ]
	[ "$(cat "$BATS_TEST_TMPDIR/private")" = private ]
}

@test "a fault in what unpacks archives opens, writes, executes, connects and signals nothing" {
	[[ $RD != */san/* ]] || skip "a sanitizer's build has no filter of system calls"
	"$RD" --from "$HOST" capture "$BATS_TEST_TMPDIR/x.tar" >/dev/null
	plant "$RD" --from "$BATS_TEST_TMPDIR/x.tar" nic-map
	refused
}

@test "nor does one in what reads a topology file" {
	[[ $RD != */san/* ]] || skip "a sanitizer's build has no filter of system calls"
	"$RD" --from "$HOST" nic-map --nccl-xml >"$BATS_TEST_TMPDIR/topo.xml"
	plant "$RD" --from "$BATS_TEST_TMPDIR/topo.xml" nic-map
	refused
	plant "$RD" nic-map --compare "$BATS_TEST_TMPDIR/topo.xml" "$HOST"
	refused
}

@test "nor in check, whose children read; nor where this host is read" {
	[[ $RD != */san/* ]] || skip "a sanitizer's build has no filter of system calls"
	"$RD" --from "$HOST" capture "$BATS_TEST_TMPDIR/x.tar" >/dev/null
	plant "$RD" diff "$BATS_TEST_TMPDIR/x.tar" live
	refused
}
