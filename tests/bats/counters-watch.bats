#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# counters again and again: rates, recordings, waiting, metrics, the view; on a made-up host whose counters are moved here.
# A namespace of mounts lets the program see that host as its own /sys.

load here
load terminal

setup_file() {
	export HOST=$BATS_FILE_TMPDIR/host NO_COLOR=1
	tests/bench/counters-tree "$HOST"
}

setup() {
	IB=$HOST/sys/class/infiniband
	export RDMADIAG_DATADIR=$PWD/data
	inside true || skip "no namespace of mounts here"
}

teardown() {
	local p
	[ -z "${SOCKET-}" ] || tm kill-server 2>/dev/null || :
	for p in "${moving-}" "${started-}"; do
		[ -n "$p" ] && kill -KILL "$p" 2>/dev/null || continue
		wait "$p" 2>/dev/null || :
	done
	echo "1: ACTIVE" >"$IB/mlx5_0/ports/1/state"
}

inside() {
	unshare -rm sh -c 'mount --bind "$0/sys" /sys && exec "$@"' "$HOST" "$@"
}

counters() {
	inside "$RD" counters "$@"
}

# start ARG…: in the background, as process $started; its output: $BATS_TEST_TMPDIR/out and err
start() {
	(
		exec unshare -rm sh -c 'mount --bind "$0/sys" /sys && exec "$@"' "$HOST" "$RD" counters "$@"
	) >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	started=$!
}

# stop [SIGNAL]: its status is ours; one that does not end fails
stop() {
	kill "-${1:-INT}" "$started"
	until_true process_ended "$started" || return 99
	wait "$started"
}

# move DEVICE COUNTER STEP: adds STEP about twenty times a second, on a busy machine more seldom, from now until the test ends
move() {
	local file
	file=$(echo "$IB/$1/ports/1"/*/"$2")
	before=$(<"$file")
	python3 - "$file" "$3" 3>&- 2>/dev/null <<'PY' &
import os, sys, time
path, step = sys.argv[1:]
parent = os.getppid()
value = int(open(path).read())
fd = os.open(path, os.O_WRONLY)
while os.getppid() == parent:
    value += int(step)
    os.pwrite(fd, b"%d\n" % value, 0)
    time.sleep(0.05)
PY
	moving=$!
	moved() { [ "$(<"$file")" != "$before" ]; }
	until_true moved
}

# looked FILE N: so many documents
looked() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

@test "bad usage: exit 3, nothing on standard output" {
	for bad in "-i 0" "-i 0.05" "-i x" "-c 3" "-i 1 -c 0" "--until link_downed" "--until >3" "--until a>x" "--until a>=0" \
		"--record x.txt" "--record $BATS_TEST_TMPDIR" "-i 1 --openmetrics" "-w --json" "-w --record x.csv" \
		"-i 1 --since x" "--record /nonexistent/x.csv"; do
		# shellcheck disable=SC2086 # words
		run -3 --separate-stderr timeout 120 "$RD" counters $bad
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -le 2 ]
	done
	[ ! -e x.csv ]
	[ ! -e x.txt ]
}

@test "a host without RDMA cannot tell; a reader that goes away ends it" {
	mkdir -p "$BATS_TEST_TMPDIR/bare/sys"
	for args in "-i 0.1 -c 1" "--record $BATS_TEST_TMPDIR/x.csv -c 1" "--until a>1 -c 1"; do
		# shellcheck disable=SC2086 # words
		HOST=$BATS_TEST_TMPDIR/bare run -3 --separate-stderr counters $args
		[[ $stderr == *RDMA* ]]
	done
	[ ! -e "$BATS_TEST_TMPDIR/x.csv" ]
	(counters -i 0.1 2>"$BATS_TEST_TMPDIR/err" 3>&- | head -1) 3>&-
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "rates of a port follow its data counter, in units of 4 octets" {
	move mlx5_1 port_xmit_data 1000000
	counters -i 0.5 -c 3 --json --record "$BATS_TEST_TMPDIR/x.jsonl" mlx5_1 mlx5_2 >"$BATS_TEST_TMPDIR/out"
	# 4 MB twenty times a second are 0.64 Gbit/s; a busy machine moves it slower. What moved is in the recording.
	jq -es --slurpfile rows "$BATS_TEST_TMPDIR/x.jsonl" 'length == 4 and all(.[:3][].rates; length == 2 and .[1].tx_gbps == 0) and
		all(.[:3][].rates[0]; .counted_by == "port port_xmit_data") and
		all(.[:3][]; .time as $time | .rates[0].tx_gbps as $gbps |
			[$rows[] | select(.time == $time and .ibdev == "mlx5_1" and .name == "port_xmit_data").per_second] | add // 0 |
			. * 32 / 1e9 - $gbps | fabs < 0.001) and
		any(.[:3][].rates[0]; .tx_gbps > 0 and .tx_share > 0) and
		.[3].schema == "rdmadiag/counters-summary/1" and .[3].looks == 3' "$BATS_TEST_TMPDIR/out"
	jq -es '[.[] | select(.ibdev == "mlx5_1" and .name == "port_xmit_data" and .delta > 0)] | length > 0 and
		all(.delta % 1000000 == 0)' "$BATS_TEST_TMPDIR/x.jsonl"
}

@test "looks are at whole multiples of the interval" {
	command -v strace >/dev/null || skip "strace is not here"
	strace -o "$BATS_TEST_TMPDIR/probe" true 2>/dev/null || skip "strace may not trace here"
	# When it is woken up is up to the machine.
	inside strace -e trace=clock_nanosleep -o "$BATS_TEST_TMPDIR/trace" "$RD" counters -i 0.5 -c 4 --json mlx5_1 >/dev/null
	# They are times of the monotonic clock; NTP moves one clock against the other by less than 20 ms meanwhile.
	python3 - "$BATS_TEST_TMPDIR/trace" <<-'END'
		import re, sys, time
		at = [int(s) + int(ns) / 1e9 for s, ns in re.findall(r"CLOCK_MONOTONIC, TIMER_ABSTIME, \{tv_sec=(\d+), tv_nsec=(\d+)\}", open(sys.argv[1]).read())]
		off = [(t + time.time() - time.monotonic() + 0.25) % 0.5 - 0.25 for t in at]
		assert len(at) >= 4 and all(abs(o) < 0.02 for o in off), off
	END
}

@test "counters that were chosen are shown when they move" {
	move mlx5_3 out_of_buffer 3
	run -0 counters -i 0.3 -c 3 --filter 'out_of_*'
	[[ $output == *"mlx5_3 "*"out_of_buffer"* ]]
	[[ $output != *"mlx5_4 "*"out_of_buffer"* ]]
}

@test "a port that loses its traffic is found when it does, and who took it over when that does" {
	move mlx5_0 port_xmit_data 3000000
	first=$moving
	start -i 0.4 --json mlx5_0 mlx5_5
	usual() { jq -es 'any(.[].rates[0]; .usual_gbps > 0.1)' "$BATS_TEST_TMPDIR/out" >/dev/null; }
	until_true usual
	# First the state, because a look may come between.
	echo "1: DOWN" >"$IB/mlx5_0/ports/1/state"
	kill "$first"
	wait "$first" || :
	move mlx5_5 port_xmit_data 3000000
	until_true grep -q 'took over' "$BATS_TEST_TMPDIR/out"
	until_true looked "$BATS_TEST_TMPDIR/out" $(($(wc -l <"$BATS_TEST_TMPDIR/out") + 3))
	stop
	# Both at once, if no look came between.
	jq -es '[.[:-1][].findings[] | select(.id == "traffic-lost")] | (length == 1 or (length == 2 and (.[0].observed | test("took over") | not))) and
		all(.subject == "mlx5_0/1" and .severity == "critical" and (.observed | test("DOWN"))) and
		(last.observed | test("mlx5_5/1 took over"))' "$BATS_TEST_TMPDIR/out"
}

@test "--until ends when it happens, with the time" {
	start --until 'link_downed>1' -i 0.1 mlx5_7
	until_true grep -q waiting "$BATS_TEST_TMPDIR/err"
	echo 100 >"$IB/mlx5_7/ports/1/counters/link_downed"
	until_true grep -q link_downed "$BATS_TEST_TMPDIR/out"
	until_true process_ended "$started"
	wait "$started"
	grep -qE '^20[0-9-]+ [0-9:.]+ mlx5_7/1 link_downed \+[0-9]+, [0-9]+ in all: reached$' "$BATS_TEST_TMPDIR/out"
	run -1 counters --until 'symbol_error>0' -i 0.1 -c 3 mlx5_7
	run -3 --separate-stderr counters --until 'no_such_thing>0' -i 0.1
	[[ $stderr == *no_such_thing* ]]
}

@test "recordings: columns stay the same, and only what moves is written" {
	move mlx5_1 port_xmit_data 1000
	counters -i 0.4 -c 5 --record "$BATS_TEST_TMPDIR/x.csv" 2>/dev/null
	counters -i 0.4 -c 5 --record "$BATS_TEST_TMPDIR/x.jsonl" 2>/dev/null
	python3 - "$BATS_TEST_TMPDIR/x.csv" "$BATS_TEST_TMPDIR/x.jsonl" <<'PY'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
lines = [json.loads(line) for line in open(sys.argv[2])]
columns = "time ibdev port netdev group name value delta per_second at_least note".split()
for table in rows, lines:
    assert all(list(row) == columns for row in table)
    moving = [row for row in table if row["name"] == "port_xmit_data" and row["ibdev"] == "mlx5_1"]
    still = [row for row in table if row["name"] == "port_rcv_data" and row["ibdev"] == "mlx5_1"]
    # The first sample, and no row of a sample in which nothing moved.
    assert 2 <= len(moving) <= 6, moving
    assert len(still) == 1, still
    values = [int(row["value"]) for row in moving]
    assert values == sorted(values) and values[0] < values[-1]
    assert all(int(b["value"]) - int(a["value"]) == int(b["delta"]) for a, b in zip(moving, moving[1:]))
PY
}

@test "a trace: counter tracks below each port" {
	move mlx5_1 port_xmit_data 1000000
	counters -i 0.4 -c 5 --record "$BATS_TEST_TMPDIR/x.json" 2>/dev/null
	jq -e 'all(.[]; .ph == "M" or .ph == "C" or .ph == "i") and any(.[]; .ph == "M" and .args.name == "mlx5_1/1") and
		([.[] | select(.ph == "C" and .name == "port port_xmit_data" and .args.value > 0)] | length) >= 1' "$BATS_TEST_TMPDIR/x.json"
}

@test "a recording replaces an older one, no other file, and follows no link" {
	for format in csv jsonl json; do
		file=$BATS_TEST_TMPDIR/x.$format
		counters -i 0.1 -c 3 --record "$file" 2>/dev/null
		size=$(stat -c %s "$file")
		head -c 4096 /dev/zero >>"$file"
		counters -i 0.1 -c 3 --record "$file" 2>/dev/null
		[ "$(stat -c %s "$file")" -lt "$((size + 4096))" ]
		# Not even one of another format.
		for other in "$BATS_TEST_TMPDIR"/x.*; do
			[ "$other" != "$file" ] || continue
			cp "$other" "$BATS_TEST_TMPDIR/copy.$format"
			run -3 --separate-stderr counters -i 0.1 -c 1 --record "$BATS_TEST_TMPDIR/copy.$format"
			[[ $stderr == *"not a recording in this format: not overwritten"* ]]
			cmp "$other" "$BATS_TEST_TMPDIR/copy.$format"
		done
	done
	ln -s x.csv "$BATS_TEST_TMPDIR/link.csv"
	mkfifo "$BATS_TEST_TMPDIR/pipe.csv"
	before=$(cksum <"$BATS_TEST_TMPDIR/x.csv")
	run -3 --separate-stderr counters -i 0.1 -c 1 --record "$BATS_TEST_TMPDIR/link.csv"
	[[ $stderr == *"/link.csv: is a symbolic link"* ]]
	[ "$(cksum <"$BATS_TEST_TMPDIR/x.csv")" = "$before" ]
	run -3 --separate-stderr inside timeout 120 "$RD" counters -i 0.1 -c 1 --record "$BATS_TEST_TMPDIR/pipe.csv"
	[[ $stderr == *"/pipe.csv: not a regular file"* ]]
}

# The limit on a file's size stands for a disk that is full; it is lifted while the recording goes on.
@test "a full disk does not end a recording: it is told, and it goes on" {
	command -v prlimit >/dev/null || skip "prlimit is not here"
	move mlx5_1 port_xmit_data 1000
	start -i 0.2 --record "$BATS_TEST_TMPDIR/x.csv"
	prlimit --pid "$started" --fsize=8192:unlimited
	until_true grep -q 'cannot write: File too large' "$BATS_TEST_TMPDIR/err"
	prlimit --pid "$started" --fsize=unlimited:unlimited
	until_true grep -q 'recording continues;' "$BATS_TEST_TMPDIR/err"
	status=0
	stop || status=$?
	[ "$status" -eq 3 ]
	grep -q 'samples could not be written' "$BATS_TEST_TMPDIR/err"
	grep -q ',event,.*samples were lost' "$BATS_TEST_TMPDIR/x.csv"
	python3 -c 'import csv, sys; assert all(len(row) == 11 for row in csv.reader(open(sys.argv[1])))' "$BATS_TEST_TMPDIR/x.csv"
}

@test "metrics: both validators accept them, node_exporter reads them, no name is its own" {
	promtool=$(tests/tool promtool prometheus) || skip "promtool cannot be had"
	exporter=$(tests/tool prometheus-node-exporter prometheus-node-exporter) || skip "node_exporter cannot be had"
	/usr/bin/python3 -c 'import prometheus_client.openmetrics.parser' 2>/dev/null || skip "no parser of OpenMetrics here"
	counters --openmetrics | /usr/bin/python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
families = {f.name: f for f in parse(sys.stdin.read())}
assert families["rdmadiag_port_xmit_data_bytes"].type == "counter"
assert len(families["rdmadiag_port_xmit_data_bytes"].samples) == 12
assert families["rdmadiag_port_active"].type == "gauge"
assert not any(name.startswith("node_") for name in families)'
	mkdir "$BATS_TEST_TMPDIR/textfiles"
	counters --textfile "$BATS_TEST_TMPDIR/textfiles/rdmadiag.prom"
	"$promtool" check metrics <"$BATS_TEST_TMPDIR/textfiles/rdmadiag.prom"
	# In a network of its own, where each port is free.
	cat >"$BATS_TEST_TMPDIR/scrape" <<-'SH'
		. tests/until.sh
		python3 -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))' # up
		"$@" --web.listen-address=127.0.0.1:9100 &
		page() {
			python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())' \
				http://127.0.0.1:9100/metrics >"$PAGE" 2>/dev/null
		}
		until_true page
		status=$?
		kill $!
		exit $status
	SH
	PAGE=$BATS_TEST_TMPDIR/page unshare -rn bash "$BATS_TEST_TMPDIR/scrape" "$exporter" --collector.disable-defaults \
		--collector.textfile --collector.infiniband --path.sysfs="$HOST/sys" \
		--collector.textfile.directory="$BATS_TEST_TMPDIR/textfiles" 3>&- &>"$BATS_TEST_TMPDIR/log"
	grep -q '^node_textfile_scrape_error 0' "$BATS_TEST_TMPDIR/page"
	grep -q '^rdmadiag_port_xmit_data_bytes_total{.*device="mlx5_0".*}' "$BATS_TEST_TMPDIR/page"
	grep -q '^node_infiniband_' "$BATS_TEST_TMPDIR/page"
}

@test "--live: bars, what moved, a port's page, 80x24 and 60x10" {
	command -v tmux >/dev/null || skip "tmux is not here"
	SOCKET=$BATS_TEST_TMPDIR/tmux
	shows() { until_true shown "$1" || { tm capture-pane -p; return 1; }; }
	shown() { tm capture-pane -p | grep -qE -- "$1"; }
	move mlx5_1 port_xmit_data 20000000
	tm new-session -d -x 80 -y 24 "unshare -rm sh -c 'mount --bind $HOST/sys /sys && LC_ALL=C.UTF-8 TERM=screen exec $RD counters -w -i 0.3'" 3>&-
	shows '^  mlx5_1 +1 ACTIVE [▏▎▍▌▋▊▉█]'
	shows 'mlx5_1/1 +port +port_xmit_data'
	tm send-keys Enter
	shows 'symbol_error'
	tm send-keys Escape
	shows 'port_xmit_data'
	tm resize-window -x 60 -y 10
	shows 'q quit'
	tm send-keys q
	until_true eval '! tm has-session 2>/dev/null'
}
