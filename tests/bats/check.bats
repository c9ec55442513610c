#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# check on a made-up host: the line, exit codes, the deadline. On kernels: tests/vm.

load made-up-host

# shellcheck source=tests/until.sh
. "${BATS_TEST_DIRNAME}/../until.sh"

broken() {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/broken"
	echo 8 >"$BATS_TEST_TMPDIR/broken/sys/bus/pci/devices/0000:15:00.0/current_link_width"
	"$RD" --from "$BATS_TEST_TMPDIR/broken" check "$@"
}

@test "a host on which all is well: one line in the plugin form" {
	run -0 --separate-stderr "$RD" --from "$HOST" check
	[ "${#lines[@]}" -eq 1 ]
	[ -z "$stderr" ]
	grep -qE "^RDMA OK - 12 of 12 ports active, [0-9]+ rules passed, [0-9]+ unknown \| failed=0;;0;0 warned=0;0;;0 unknown=[0-9]+;;;0 passed=[0-9]+;;;0 ports=12;;;0 active=12;;;0;12$" <<<"$output"
}

@test "a host on which something is broken: what, in the line; details with -v" {
	run -2 --separate-stderr broken
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "RDMA CRITICAL - "*"mlx5_0 (0000:15:00.0): PCIe link is narrower"*"x8"*" | failed=1;;0;0 "* ]]
	# One bar, before the performance data.
	[ "$(tr -cd '|' <<<"$output")" = "|" ]
	rm -r "$BATS_TEST_TMPDIR/broken"
	run -2 --separate-stderr broken -v
	[[ ${lines[1]} == "critical: 0000:15:00.0: PCIe link is narrower"*"; mlx5_0: x8; expected: x16"*"[pcie-link-width]" ]]
	[[ ${lines[2]} == "  fix: "* ]]
	[ "$(grep -c '|' <<<"$output")" -eq 1 ]
}

@test "--observe says the same, and exits 0; the document has what it would be" {
	run -0 --separate-stderr broken --observe
	[[ $output == "RDMA CRITICAL - "*"mlx5_0 (0000:15:00.0): PCIe link is narrower"* ]]
	run -0 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/broken" check --observe --json
	jq -e '.status == 0 and .observed_status == 2 and any(.findings[]; .severity == "critical")' <<<"$output"
}

@test "what a profile ignores is muted, told, and counts for nothing; a rule that is none is an error" {
	broken >/dev/null || :
	echo "ignore = pcie-link-width@0000:15:00.0 until 2099-12-31 riser is ordered" >"$BATS_TEST_TMPDIR/profile"
	run -0 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/broken" check --profile "$BATS_TEST_TMPDIR/profile"
	[[ $output == "RDMA OK - "*", 1 muted | failed=0;;0;0 "* ]]
	run "$RD" --from "$BATS_TEST_TMPDIR/broken" check --profile "$BATS_TEST_TMPDIR/profile" -v
	[[ $output == *"muted: 0000:15:00.0: PCIe link is narrower"*"muted until 2099-12-31: riser is ordered"* ]]
	"$RD" --from "$BATS_TEST_TMPDIR/broken" check --profile "$BATS_TEST_TMPDIR/profile" --json |
		jq -e '.status == 0 and any(.findings[]; .id == "pcie-link-width" and .muted == "until 2099-12-31: riser is ordered")'
	sed -i s/pcie-link-width/pcie-link-witdh/ "$BATS_TEST_TMPDIR/profile"
	run -3 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/broken" check --profile "$BATS_TEST_TMPDIR/profile"
	[[ $stderr == *"line 1"*"pcie-link-witdh"* ]]
}

@test "what else is wrong is named, also by a rule that was named" {
	broken >/dev/null || :
	echo 8 >"$BATS_TEST_TMPDIR/broken/sys/bus/pci/devices/0000:16:00.0/current_link_width"
	run "$RD" --from "$BATS_TEST_TMPDIR/broken" check
	[[ $output == *"; 1 more, "* ]]
}

@test "a document and metrics say the same" {
	run -2 broken --json
	jq -e '.schema == "rdmadiag/check/1" and .status == 2 and ([.checks[] | select(.result == "fail")] | length) == 1 and
		all(.checks[]; has("id", "result", "subject", "observed", "expected", "why", "fix", "advice")) and
		.findings[0].severity == "critical"' <<<"$output"
	run -0 "$RD" --from "$HOST" check --openmetrics
	[[ $output == *'rdmadiag_check_results{result="fail"} 0'* ]]
	[[ $output == *'rdmadiag_check_ports{state="active"} 12'* ]]
	# A page that says why there is no answer is a page, too.
	run -3 --separate-stderr "$RD" --from "$HOST" check --profile "$BATS_TEST_TMPDIR/none" --openmetrics
	[[ ${lines[0]} == "# HELP "* ]]
	[ "$(tail -1 <<<"$output")" = "# EOF" ]
	run -0 "$RD" --from "$HOST" --textfile "$BATS_TEST_TMPDIR/x.prom" check
	grep -q '^rdmadiag_check_ports{state="all"} 12' "$BATS_TEST_TMPDIR/x.prom"
}

@test "--since: counters that grew are named, others are not" {
	python3 tests/bench/counters-tree "$BATS_TEST_TMPDIR/before"
	cp -r "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
	run -0 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/after" check --since "$BATS_TEST_TMPDIR/before" --json
	jq -e 'any(.checks[]; .id == "counters-moved" and .result == "pass")' <<<"$output"
	port=$(readlink -f "$BATS_TEST_TMPDIR/after/sys/class/infiniband/mlx5_0")/ports/1/counters
	for name in symbol_error port_rcv_errors link_downed; do
		echo $(($(<"$port/$name") + 200)) >"$port/$name"
	done
	run --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/after" check --since "$BATS_TEST_TMPDIR/before" --json
	[ "$status" -ge 1 ]
	[ "$status" -le 2 ]
	jq -e 'any(.checks[]; .id == "counters-moved" and (.result == "warn" or .result == "fail") and
		(.subject | startswith("mlx5_0")))' <<<"$output"
}

@test "--profile: a difference is told; a file that is none is refused" {
	"$RD" --from "$HOST" topo-check --learn >"$BATS_TEST_TMPDIR/profile"
	run -0 --separate-stderr "$RD" --from "$HOST" check --profile "$BATS_TEST_TMPDIR/profile"
	run -2 --separate-stderr broken --profile "$BATS_TEST_TMPDIR/profile"
	run -3 --separate-stderr "$RD" --from "$HOST" check --profile /etc/passwd
}

@test "no RDMA, bad options, a damaged bundle: exit 3, and the line says UNKNOWN" {
	mkdir -p "$BATS_TEST_TMPDIR/none/sys/class/net" "$BATS_TEST_TMPDIR/none/proc"
	run -3 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/none" check
	[[ $output == "RDMA UNKNOWN - there is no RDMA stack"* ]]
	[[ $stderr == *"/sys/class/infiniband"*"try: "* ]]
	for bad in "--deadline 0" "--deadline x" "--deadline 1e9" "--since" "operand"; do
		# shellcheck disable=SC2086 # words
		run -3 --separate-stderr "$RD" --from "$HOST" check $bad
		[ -n "$stderr" ]
	done
	run -3 --separate-stderr "$RD" --from "$HOST" check --since /nowhere
	[[ $output == "RDMA UNKNOWN - /nowhere: "* ]]
}

# hold PATH…: whoever opens one of these waits, until release.
hold() {
	[ "$(id -u)" -eq 0 ] || skip "needs root for fanotify"
	rm -f "$BATS_TEST_TMPDIR/hang" # of an earlier one, which would be taken for this one's
	tests/hang "$@" >"$BATS_TEST_TMPDIR/hang" 3>&- &
	hang=$!
	until_true test -s "$BATS_TEST_TMPDIR/hang"
	if ! grep -q ready "$BATS_TEST_TMPDIR/hang"; then
		wait "$hang" || skip "fanotify cannot hold files here: $(<"$BATS_TEST_TMPDIR/hang")"
	fi
}

release() {
	kill "$hang"
	wait "$hang" || :
	hang=
}

teardown() {
	[ -z "${hang-}" ] || kill "$hang"
}

# ends ARGUMENTS…: runs rdmadiag with these. It comes to its end, though what it opens never does; how soon, on a busy machine nobody knows.
# Deadlines are long enough for all that is to be read within them.
ends() {
	run --separate-stderr timeout 60 "${mounted[@]}" "$RD" "$@"
	[ "$status" -ne 124 ]
}

@test "a read that hangs: the rest is judged, it is named, and the deadline holds" {
	# Of this host, but as only this test sees it: whoever else opens the file is not to wait.
	local mounted=(unshare -m sh -c 'mount --bind "$0" /sys/devices/system/node/node0/cpulist && exec "$@"' "$BATS_TEST_TMPDIR/cpulist")
	echo 0 >"$BATS_TEST_TMPDIR/cpulist"
	[ "$(id -u)" -ne 0 ] || "${mounted[@]}" true 2>/dev/null || skip "no namespace of mounts here"
	hold "$BATS_TEST_TMPDIR/cpulist"
	ends check --deadline 12 -v
	release
	[[ $output == *"warning: /sys/devices/system/node/node0/cpulist"*"blocked for "*"[host-answers]"* ]]
}

@test "a file of --since that hangs: its rule is unknown, the rest is judged, it is named" {
	"$RD" --from "$HOST" counters --save "$BATS_TEST_TMPDIR/since" >/dev/null
	hold "$BATS_TEST_TMPDIR/since"
	ends --from "$HOST" check --deadline 12 --since "$BATS_TEST_TMPDIR/since" -v
	release
	[[ $output == "RDMA WARNING - $BATS_TEST_TMPDIR/since: Kernel does not respond to a read: blocked for "* ]]
	[[ $output == *"unknown: blocked for "*"counters-moved"* ]]
	[[ $output == *" passed=3"[0-9]";"* ]]
}

@test "a bundle of --since, of --from, a profile, or a table of ours that hangs: named in time" {
	"$RD" --from "$HOST" capture "$BATS_TEST_TMPDIR/host.tar" >/dev/null
	echo "# none" >"$BATS_TEST_TMPDIR/profile"
	mkdir "$BATS_TEST_TMPDIR/data"
	cp data/counters "$BATS_TEST_TMPDIR/data"
	hold "$BATS_TEST_TMPDIR/host.tar" "$BATS_TEST_TMPDIR/profile" "$BATS_TEST_TMPDIR/data/counters"
	ends --from "$BATS_TEST_TMPDIR/host.tar" check --deadline 2
	[ "$status" -eq 3 ]
	[[ $output == "RDMA UNKNOWN - $BATS_TEST_TMPDIR/host.tar: "* ]]
	[[ $stderr == *"$BATS_TEST_TMPDIR/host.tar: "*ETIMEDOUT* ]]
	ends --from "$HOST" check --deadline 12 --profile "$BATS_TEST_TMPDIR/profile"
	[ "$status" -eq 3 ]
	[[ $output == "RDMA UNKNOWN - $BATS_TEST_TMPDIR/profile: "* ]]
	ends --from "$HOST" check --deadline 12 --since "$BATS_TEST_TMPDIR/host.tar" -v
	[[ $output == *"$BATS_TEST_TMPDIR/host.tar"* ]]
	[[ $output == *"unknown: "*"counters-moved"* ]]
	release
	mkdir -p "$BATS_TEST_TMPDIR/folder/sys/class/infiniband"
	hold "$BATS_TEST_TMPDIR/folder/sys" "$BATS_TEST_TMPDIR/data/counters"
	ends --from "$HOST" check --deadline 12 --since "$BATS_TEST_TMPDIR/folder" -v
	[ "$status" -eq 1 ]
	[[ $output == "RDMA WARNING - $BATS_TEST_TMPDIR/folder: "* ]]
	[[ $output == *"unknown: "*"counters-moved"* ]]
	RDMADIAG_DATADIR=$BATS_TEST_TMPDIR/data ends --from "$HOST" check --deadline 12 --since "$HOST" -v
	[[ $output == *"$BATS_TEST_TMPDIR/data/counters"* ]]
	release
}

# A host that is not well: tests/shim.c.
make_shim() {
	command -v cc >/dev/null || skip "no compiler"
	cc -shared -fPIC -o "$BATS_TEST_TMPDIR/shim.so" tests/shim.c
	export LD_PRELOAD=$BATS_TEST_TMPDIR/shim.so
}

@test "children that hang in exit and cannot be killed: not waited for" {
	[[ $RD != */san/* ]] || skip "a sanitizer comes first itself"
	make_shim
	SHIM_EXIT=1 ends --from "$HOST" check
	[ "$status" -eq 0 ]
	[[ $output == "RDMA OK - "* ]]
}

@test "a host on which all is slow is not called faulty: a longer deadline is asked for, with a figure" {
	[[ $RD != */san/* ]] || skip "a sanitizer comes first itself"
	make_shim
	SHIM_OPEN_MS=60 ends check --deadline 1 -v
	[[ $output == *"[read-in-time]"* ]]
	[[ $output == *"fix: rdmadiag check --deadline 4"* ]]
	[[ $output != *"[host-answers]"* ]]
	[[ $output != *restart* ]]
}

@test "-i checks again, a line each" {
	two_samples "$BATS_TEST_TMPDIR/two" /sys/bus/pci/devices/0000:15:00.0/current_link_width 8
	run -2 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/two" check -i 1
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[0]} == "RDMA OK - "* ]]
	[[ ${lines[1]} == "RDMA CRITICAL - "* ]]
	run -3 --separate-stderr "$RD" check -i 0.1 -c 2 --openmetrics
	[ -z "$output" ]
	# Of this host, whatever it has.
	run --separate-stderr "$RD" check -i 0.1 -c 2 --json
	[ "${#lines[@]}" -eq 2 ]
}

# failures FOLDER: a bundle of the host there, a service's file in it: mlx5_0 with a loop of trainer, and another failure
failures() {
	mkdir -p "$1"
	"$RD" --from "$HOST" capture "$1/whole.tar" >/dev/null
	tar -C "$1" -xf "$1/whole.tar"
	rm "$1/whole.tar"
	mkdir -p "$1/root/run/rdmadiag"
	python3 - >"$1/root/run/rdmadiag/trace-errno" <<-'END'
		import struct, sys
		second, now = 10 ** 9, 90000 * 10 ** 9
		def failure(key, verb, err, comm, loop):
		    minutes = [0] * 60
		    minutes[now // second // 60 % 60] = 7
		    return struct.pack("=Q64s56s48s64s80siiQ16s256sI60IIQQQQQQ", key, b"ib_umem_get", b"ib_uverbs", verb, b"mlx5_0", b"", err, 0, 0,
		                       comm, b"the limit is 64 KiB", 4711, *minutes, 0, now, *loop, 0)
		kinds = failure(1, b"ibv_reg_mr", -12, b"trainer", (5, 5, now, 30 * second)) + failure(2, b"ibv_create_cq", -22, b"store", (0, 0, 0, 0))
		head = struct.pack("=16sIIQQQ4096s", b"rdmadiag recent\0", 1, 62000, now - 7200 * second, now, now + 60 * second, b"")
		sys.stdout.buffer.write((head + kinds).ljust(62000, b"\0"))
	END
	jq '.samples[0].monotonic_ns = 90001000000000 | del(.samples[0].shape, .hash)
		| .samples[0].requests |= (map(select(.path != "/run/rdmadiag/trace-errno")) + [{ask: "read", path: "/run/rdmadiag/trace-errno"}])' \
		"$1/manifest.json" >"$1/new.json"
	mv "$1/new.json" "$1/manifest.json"
}

@test "failed calls of the last hour: a warning for a crash loop, a note for others; explain cites one; nothing when they are old" {
	local old=$BATS_TEST_TMPDIR/bundle
	failures "$old"
	run -1 --separate-stderr "$RD" --from "$old" check -v
	[[ $output == *"mlx5_0"*"ibv_reg_mr of trainer (pid 4711) failed with ENOMEM in ib_umem_get, 7 times in the last hour, last 1 s ago: the limit is 64 KiB; a crash loop: in 5 of its last 5 starts"*"[failed-calls]"* ]]
	[[ $output == *"  fix: rdmadiag trace-errno --status"* ]]
	run -0 "$RD" --from "$old" explain 'Call to ibv_create_cq failed with error Invalid argument'
	[[ $output == *"now: ibv_create_cq of store (pid 4711) failed with EINVAL in ib_umem_get, 7 times in the last hour"* ]]
	# It was recorded a day later: the service had ended.
	jq '.samples[0].monotonic_ns += 86400000000000' "$old/manifest.json" >"$old/new.json"
	mv "$old/new.json" "$old/manifest.json"
	run -0 "$RD" --from "$old" check -o id,result
	grep -qE '^failed-calls +skip' <<<"$output"
	# A recording from before there was such a file.
	rm -r "$old/root/run"
	jq '.samples[0].requests |= map(select(.path != "/run/rdmadiag/trace-errno"))' "$old/manifest.json" >"$old/new.json"
	mv "$old/new.json" "$old/manifest.json"
	run -0 "$RD" --from "$old" check -o id,result
	grep -qE '^failed-calls +skip' <<<"$output"
}
