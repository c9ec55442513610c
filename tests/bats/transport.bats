#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Bundles through pipes: `capture -` writes them, `-` instead of a file reads them.

load here

setup() {
	T=$BATS_TEST_TMPDIR
	A=tests/bundles/pair-a.tar.zst
	B=tests/bundles/pair-b.tar.zst
	export NO_COLOR=1
}

# Exit 3, one line or a second with a hint, and nothing on standard output.
refused() {
	[ "$status" -eq 3 ]
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == "rdmadiag: $1"* ]]
	[ "${#stderr_lines[@]}" -le 2 ]
}

# The parts of a document that depend on when it was read.
stable() {
	jq 'del(.read_at) | del(.. | .seconds?)' 2>/dev/null || cat
}

@test "every command that reads a bundle reads it from standard input, and says the same" {
	for line in "nic-map" "nic-map --json" "counters --json" "qp-state" "qp-state --by peer" "topo-check --json" "check" \
		"qp-state --join $B" "nic-map --compare $B" "counters --since $B"; do
		# shellcheck disable=SC2086 # words
		"$RD" --from $A $line >"$T/file" 2>"$T/file.err" && file=0 || file=$?
		# shellcheck disable=SC2086 # words
		"$RD" --from - $line <$A >"$T/pipe" 2>"$T/pipe.err" && pipe=0 || pipe=$?
		echo "$line: $file $pipe"
		[ "$file" -eq "$pipe" ]
		[ -s "$T/pipe" ]
		diff <(sed 's/deadline.*//' "$T/file.err") <(sed 's/deadline.*//' "$T/pipe.err")
		# As fallback for the name of a host nothing but the file is known; these have names.
		diff <(stable <"$T/file") <(stable <"$T/pipe")
	done
}

@test "an operand and --since can be standard input, too" {
	diff <("$RD" diff $A $B 2>/dev/null) <("$RD" diff - $B <$A 2>/dev/null)
	diff <("$RD" diff $A $B 2>/dev/null) <("$RD" diff $A - <$B 2>/dev/null)
	diff <("$RD" qp-state --join $A $B) <("$RD" qp-state --join $A - <$B)
	diff <("$RD" --from $B counters --since $A) <("$RD" --from $B counters --since - <$A)
	"$RD" --from $A counters --save "$T/saved" >/dev/null
	diff <("$RD" --from $B counters --since "$T/saved") <("$RD" --from $B counters --since - <"$T/saved")
	diff <("$RD" --from $B check --since "$T/saved") <("$RD" --from $B check --since - <"$T/saved")
	diff <("$RD" --from $A nic-map --compare $B) <("$RD" --from $A nic-map --compare - <$B)
}

@test "a pipe that delivers slowly is read to its end, in every packing" {
	"$RD" --from $A qp-state >"$T/file"
	zstd -dcq $A >"$T/a.tar"
	gzip -k "$T/a.tar"
	bzip2 -k "$T/a.tar"
	for file in $A "$T/a.tar" "$T/a.tar.gz" "$T/a.tar.bz2"; do
		{ head -c 5; sleep 0.3; head -c 1000; sleep 0.3; cat; } <"$file" | "$RD" --from - qp-state >"$T/pipe"
		diff "$T/file" "$T/pipe"
	done
	tests/bench/nic-map-tree "$T/host"
	tar -C "$T" -cf - host | "$RD" --from - nic-map >"$T/pipe"
	diff <("$RD" --from "$T/host" nic-map) "$T/pipe"
}

@test "a stream that was cut off is an error at whichever byte, and nothing is shown of it" {
	size=$(stat -c %s $A)
	zstd -dcq $A >"$T/a.tar"
	for n in 1 100 511 512 $((size / 2)) $((size - 1)); do
		run --separate-stderr bash -c "head -c $n $A | '$RD' --from - qp-state"
		refused "standard input: not a complete tar archive"
		[ "$n" -lt 512 ] || run --separate-stderr bash -c "head -c $n '$T/a.tar' | '$RD' --from - --json qp-state"
		refused "standard input: "
	done
	run --separate-stderr bash -c "'$RD' --from - topo-check </dev/null"
	refused "standard input: is empty: the command before the pipe wrote no bundle"
	run --separate-stderr bash -c "'$RD' --from - topo-check </"
	refused "standard input: cannot read the bundle"
	run --separate-stderr bash -c "'$RD' --from - topo-check <&-"
	refused "standard input: cannot read the bundle"
	run --separate-stderr bash -c "echo bash: rdmadiag: command not found | '$RD' --from - topo-check"
	refused "standard input: not a complete tar archive"
}

@test "of several bundles in one stream none is lost silently" {
	for packing in cat "zstd -dcq" "eval zstd -dcq $A | gzip; :"; do
		run --separate-stderr bash -c "{ $packing $A; $packing $B; } | '$RD' --from - qp-state"
		refused "standard input: more than one bundle"
	done
	# What tar and compressors add after the end is no other bundle.
	{ zstd -dcq $A; head -c 100000 /dev/zero; } >"$T/a.tar"
	"$RD" --from - qp-state <"$T/a.tar" | grep rxe0
	gzip -c "$T/a.tar" | "$RD" --from - qp-state | grep rxe0
}

@test "standard input is one bundle: it cannot be two" {
	for line in "diff - -" "--from - qp-state --join -" "qp-state --join - -" "--from - counters --since -"; do
		run --separate-stderr bash -c "'$RD' $line <$A"
		refused "-: given 2 times: standard input holds only one bundle"
	done
}

@test "standard input is limited" {
	run --separate-stderr bash -c "head -c 300M /dev/zero | '$RD' --from - qp-state"
	refused "standard input: larger than the limit of 192 MB"
}

@test "a file can still be called -" {
	cp $A "$T/-"
	cd "$T"
	"$RD" --from ./- qp-state </dev/null | grep rxe0
	"$RD" capture ./-.tar.zst
	[ -s ./-.tar.zst ]
}

@test "capture - writes the bundle and nothing else to standard output" {
	"$RD" capture - >"$T/out" 2>"$T/err"
	zstd -tq "$T/out"
	zstd -dcq "$T/out" | tar -tf - | grep -qx manifest.json
	"$RD" --from - check <"$T/out" | grep RDMA
	"$RD" -v capture - 2>"$T/err" | zstd -tq
	grep -q 'bundle of [0-9]* bytes, 1 sample, [0-9]* reads' "$T/err"
	"$RD" capture -i 0.1 -c 3 - | zstd -dcq | tar -tf - >/dev/null
	[ "$("$RD" capture -i 0.1 -c 3 - | zstd -dcq | tar -xOf - manifest.json | jq '.samples | length')" -eq 3 ]
	! compgen -G "$T/-*"
}

@test "a bundle through pipes says what the file says" {
	"$RD" --from $A capture - | "$RD" --from - capture - | "$RD" --from - qp-state >"$T/pipe"
	diff <("$RD" --from $A qp-state) "$T/pipe"
}

@test "capture - redacts" {
	head -c 32 /dev/urandom >"$T/key"
	"$RD" --from $A capture --redact-key "$T/key" "$T/file.tar.zst" >/dev/null
	"$RD" --from - capture --redact-key "$T/key" - <$A | "$RD" --from - --json qp-state >"$T/pipe"
	diff <("$RD" --from "$T/file.tar.zst" --json qp-state | stable) <(stable <"$T/pipe")
	! grep -q '10\.9\.1\.' "$T/pipe"
}

@test "capture - without privilege warns, and records what was denied as denied" {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root, to do without it"
	cp "$RD" "$T/rdmadiag"
	open=$(mktemp -d)
	cp "$RD" "$open/rdmadiag"
	chmod -R a+rX "$open"
	setpriv --reuid 65534 --clear-groups "$open/rdmadiag" capture - >"$T/out" 2>"$T/err"
	rm -r "$open"
	zstd -tq "$T/out"
	grep -q 'reads were denied for lack of privilege' "$T/err"
}

@test "capture - is refused where it cannot work" {
	run --separate-stderr "$RD" capture - --json
	refused "-: the bundle is written to standard output: no table or document"
	run --separate-stderr "$RD" capture - -o file
	refused "-: the bundle is written to standard output: no table or document"
	run --separate-stderr "$RD" capture - other.tar
	refused "other.tar: capture writes only one file"
	run --separate-stderr bash -c "'$RD' capture - >/dev/full"
	refused "standard output: cannot write"
	run -3 --separate-stderr bash -c "set -o pipefail; '$RD' capture - | true"
	[ -z "$stderr" ]
	command -v script >/dev/null || skip "no script(1), to run on a terminal"
	run script -qec "'$RD' capture -; echo status=\$?" /dev/null
	[[ $output == *"-: standard output is a terminal: the bundle is not written there"*status=3* ]]
	run script -qec "'$RD' --from - nic-map; echo status=\$?" /dev/null
	[[ $output == *"standard input: is a terminal, but '-' means a bundle from a pipe"*status=3* ]]
}
