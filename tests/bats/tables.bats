#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# Tables that come with the program, and what a site adds to them.

load here

setup() {
	export NO_COLOR=1
	HOST=$BATS_TEST_TMPDIR/host
	PORT=$HOST/sys/class/infiniband/mlx5_0/ports/1
	SITE=$BATS_TEST_TMPDIR/site
	mkdir -p "$PORT/counters" "$HOST/proc/sys/kernel/random" "$SITE"
	echo one >"$HOST/proc/sys/kernel/random/boot_id"
	echo 0002:c903:0000:0001 >"$HOST/sys/class/infiniband/mlx5_0/node_guid"
	echo '4: ACTIVE' >"$PORT/state"
	echo InfiniBand >"$PORT/link_layer"
	echo 3 >"$PORT/counters/symbol_error"
	echo 7 >"$PORT/counters/made_up"
	export RDMADIAG_DATADIR=$SITE
}

counters() {
	ASAN_OPTIONS=detect_leaks=0 "$RD" --from "$HOST" counters "$@"
}

# NAME KEY: what the table says of a counter
meaning() {
	counters --json | jq -r --arg name "$1" --arg key "$2" '.counters[] | select(.name == $name) | .[$key]'
}

# FILE LINE…
site() {
	mkdir -p "$(dirname "$SITE/$1")"
	printf '%s\n' "${@:2}" >"$SITE/$1"
}

@test "a file of the site adds to the table and comes before it; of two files the one with the later name counts" {
	[ "$(meaning made_up unit)" = "" ] || [ "$(meaning made_up unit)" = null ]
	site counters.d/10-vendor.conf 'made_up * fish 64-bit load sum Fish.' 'symbol_error * cod 64-bit load sum Cod.'
	[ "$(meaning made_up unit)" = fish ]
	[ "$(meaning symbol_error unit)" = cod ]
	site counters.d/99-site.conf 'made_up * birds 64-bit load sum Birds.'
	[ "$(meaning made_up unit)" = birds ]
	[ "$(meaning symbol_error unit)" = cod ]
	RD=$(realpath "$RD") && cd "$SITE/.." # a relative path is one from here
	RDMADIAG_DATADIR=site run meaning made_up unit
	[ "$output" = birds ]
}

@test "what is no .conf file is not read: leftovers of editors and packages" {
	site counters.d/x.conf~ 'made_up * fish 64-bit load sum Fish.'
	site counters.d/x.conf.dpkg-old 'made_up * fish 64-bit load sum Fish.'
	site counters.d/.x.conf 'made_up * fish 64-bit load sum Fish.'
	[ "$(meaning made_up unit)" != fish ]
}

@test "values are not judged by a table that cannot be read whole" {
	counters --save "$BATS_TEST_TMPDIR/before"
	mkdir -p "$SITE/counters.d/x.conf"
	run -0 --separate-stderr counters
	[[ $output == *symbol_error* ]]
	[[ $stderr == *"$SITE/counters.d/x.conf: "*"Is a directory"* ]]
	run -3 --separate-stderr counters --since "$BATS_TEST_TMPDIR/before"
	[ -z "$output" ]
	[[ $stderr == *"$SITE/counters.d/x.conf: "*"Is a directory"* ]]
	counters --save "$BATS_TEST_TMPDIR/now"
	jq -e '.errors | length == 1' "$BATS_TEST_TMPDIR/now"
}

@test "an invalid line is reported with its file, and the rest counts" {
	site counters.d/x.conf 'made_up' 'symbol_error * cod 64-bit load sum Cod.'
	run -0 --separate-stderr counters
	[[ $stderr == *"$SITE/counters.d/x.conf: 'made_up': invalid line: expected NAME"* ]]
	[ "$(meaning symbol_error unit)" = cod ]
}

@test "a counter that one row of the site gives a topic is evidence of its cause" {
	counters --save "$BATS_TEST_TMPDIR/before"
	echo 9 >"$PORT/counters/made_up"
	run -0 --separate-stderr counters --since "$BATS_TEST_TMPDIR/before"
	[[ $output == *"no counter indicates a fault"* ]]
	site counters.d/x.conf 'made_up * times 64-bit cause:link-down sum The fish bit the cable.'
	run -1 --separate-stderr counters --since "$BATS_TEST_TMPDIR/before"
	[ -z "$stderr" ]
	[[ $output == *"link went down"*"made_up 2 (confidence high)"* ]]
	[ "$(meaning made_up role)" = cause ]
}

@test "a row without a topic, as of 0.2.0, leaves the topic as it was, and a dash takes it away" {
	site counters.d/x.conf 'symbol_error * cod saturates:16 cause sum Cod.'
	counters --save "$BATS_TEST_TMPDIR/before"
	echo 900 >"$PORT/counters/symbol_error"
	run -1 --separate-stderr counters --since "$BATS_TEST_TMPDIR/before"
	[ -z "$stderr" ]
	[[ $output == *"bad cable or transceiver"*"symbol_error 897"* ]]
	[ "$(meaning symbol_error unit)" = cod ]
	site counters.d/x.conf 'symbol_error * cod saturates:16 cause:- sum Cod.'
	run -0 --separate-stderr counters --since "$BATS_TEST_TMPDIR/before"
	[ -z "$stderr" ]
	[[ $output == *"no counter indicates a fault"* ]]
}

@test "a topic that is none is reported with file, line and word, and what is about load is none of a fault" {
	site counters.d/x.conf 'made_up * fish 64-bit cause:bit-eror sum Fish.' 'symbol_error * cod 64-bit load:drop sum Cod.' \
		'link_downed * eel 64-bit cause:data-sent/2 sum Eel.' 'VL15_dropped * ray 64-bit load: sum Ray.'
	run -0 --separate-stderr counters
	[[ $stderr == *"$SITE/counters.d/x.conf: 'made_up * "*": invalid topic 'bit-eror' for role cause"* ]]
	[[ $stderr == *"$SITE/counters.d/x.conf: 'symbol_error * "*": invalid topic 'drop' for role load"* ]]
	[[ $stderr == *"$SITE/counters.d/x.conf: 'link_downed * "*": invalid topic 'data-sent/2' for role cause"* ]]
	[[ $stderr == *"$SITE/counters.d/x.conf: 'VL15_dropped * "*": invalid topic '' for role load"* ]]
	[ "$(meaning symbol_error unit)" = symbols ]
}

@test "a missing folder is reported, and what came with the program counts" {
	RDMADIAG_DATADIR=$SITE/none run -0 --separate-stderr counters
	[[ $stderr == *"$SITE/none: no such directory (set by RDMADIAG_DATADIR)"* ]]
	[ "$(RDMADIAG_DATADIR=$SITE/none meaning symbol_error unit)" = symbols ]
}

@test "the program alone, copied to a host, has its tables" {
	cp "$RD" "$BATS_TEST_TMPDIR/rdmadiag"
	unset RDMADIAG_DATADIR
	[ ! -e "${DATADIR:-/usr/local/share}/rdmadiag" ] || skip "it is installed here"
	RD=$BATS_TEST_TMPDIR/rdmadiag
	[ "$(meaning symbol_error unit)" = symbols ]
	run counters --save "$BATS_TEST_TMPDIR/before"
	run -0 counters --since "$BATS_TEST_TMPDIR/before" --thresholds thresholds
}

@test "a limit of the site takes the place of the one that came, and a dash takes it out" {
	site thresholds.d/x.conf 'made_up value 5 warning too many'
	judged() {
		run --separate-stderr counters --since "$BATS_TEST_TMPDIR/before" --thresholds thresholds
	}
	echo 1 >"$PORT/counters/link_downed"
	counters --save "$BATS_TEST_TMPDIR/before"
	echo 2 >"$PORT/counters/link_downed"
	judged
	[[ $output == *"made_up: value 7; expected: at most 5"* ]]
	[[ $output == *"link_downed: delta 1; expected: at most 0"* ]]
	site thresholds.d/y.conf 'made_up value 8 warning too many' 'link_downed delta - warning'
	judged
	[[ $output != *"above its limit"* ]]
	site thresholds.d/y.conf 'link_downed delta no warning'
	judged
	[ "$status" -eq 3 ]
	[[ $stderr == *"$SITE/thresholds.d/y.conf: line 1 is not"* ]]
}

@test "a profile of the site is found by its name" {
	run -3 --separate-stderr "$RD" --from "$HOST" topo-check --profile gpu
	[[ $stderr == *"gpu: no such file, and no /etc/rdmadiag/profiles.d/gpu.conf"* ]]
	"$RD" --from "$HOST" topo-check --learn "$BATS_TEST_TMPDIR/gpu"
	mkdir "$SITE/profiles.d"
	cp "$BATS_TEST_TMPDIR/gpu" "$SITE/profiles.d/gpu.conf"
	run --separate-stderr "$RD" --from "$HOST" topo-check --profile gpu
	[ "$status" -ne 3 ] || [[ $stderr != *gpu* ]]
}

@test "files below /etc/rdmadiag are the site's" {
	mkdir -p "$BATS_TEST_TMPDIR/etc/rdmadiag/counters.d"
	echo 'made_up * fish 64-bit load sum Fish.' >"$BATS_TEST_TMPDIR/etc/rdmadiag/counters.d/x.conf"
	unset RDMADIAG_DATADIR
	unshare -rm true 2>/dev/null || skip "no namespaces here"
	run unshare -rm sh -c 'mount --bind "$0/etc" /etc && exec "$@"' "$BATS_TEST_TMPDIR" "$RD" --from "$HOST" counters --json
	[ "$(jq -r '.counters[] | select(.name == "made_up") | .unit' <<<"$output")" = fish ]
}
