# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What tests of verdicts are written with: a job between two machines, a fault, and what qp-state then says at each end.
# Sourced by the cases of boot "pair" that need it. A, the requester, runs here; B, the responder, in machine b.

PLAY=build/tests/vm/qp-play
LATER=/run/later
HOST_A=10.9.1.1 HOST_B=10.9.1.2

# Either end as pair-up left it, whatever a test did: also programs that are stopped. HOST: its address.
MEND='{ kill -KILL $(cat /run/play); rm -f /run/play /run/later; tc qdisc del dev pair0 root; tc qdisc del dev pair0 clsact
	ip link set pair0 mtu 1500; ip link set pair0 up; ip address replace HOST/24 dev pair0; } >/dev/null 2>&1
	for n in {1..200}; do
		grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state && grep -q ffff:0a09 /sys/class/infiniband/rxe0/ports/1/gids/1 &&
			! rdma resource show qp | grep -q "type [RU]C" && break
		sleep 0.1
	done'

# job [ARG…]: qp-play at both ends, until it has done work. Queue pairs: $qpn_a, $qpn_b; processes: $pid_a, $pid_b (in b).
# ACKs of an emulated machine take longer than the 67 ms that qp-play waits by itself; 17 is 0.5 s.
job() {
	there "${MEND//HOST/$HOST_B}
		$PLAY --alone B --host $HOST_B --dev-b rxe0 --later $LATER --timeout 17 $* >/run/play.out 2>&1 &
		echo \$! >/run/play"
	bash -c "${MEND//HOST/$HOST_A}"
	"$PLAY" --alone A --host $HOST_B --later $LATER --timeout 17 "$@" >"$W/play.out" 2>&1 &
	pid_a=$!
	echo $pid_a >/run/play
	until_true 60 grep -q '^A ready' "$W/play.out" || {
		cat "$W/play.out"
		there 'cat /run/play.out'
		return 1
	}
	qpn_a=$(sed -n 's/^A pid .* qpn //p' "$W/play.out")
	read -r pid_b qpn_b < <(there "sed -n 's/^B pid \\(.*\\) qpn /\\1 /p' /run/play.out")
}

# later: what --no-receive, --bad-key, --rest and --abort say holds from now on
later() {
	: >$LATER
	there ": >$LATER"
}

# failed: the program at A got a completion that says so
failed() { until_true 60 grep -q '^A wc' "$W/play.out"; }

# look: the fault is there; now somebody logs in at either end. What three samples say: $W/a.json, $W/b.json; the first of
# them is what a single one says. It becomes rows of the table of `check --verdicts`, whether or not a test expects it.
look() {
	local name=${FUNCNAME[1]#test_}
	local sample="$R --json qp-state -i 2 -c 3 --stuck 2 --type RC,UC"
	there "rm -f $MEET/b.json $MEET/b.done; export RDMADIAG_DATADIR=\$PWD/data
		{ $sample >$MEET/b.new; mv $MEET/b.new $MEET/b.json; } 2>$MEET/b.err &"
	$sample >"$W/a.json" 2>"$W/a.err"
	until_true 120 test -e "$MEET/b.json"
	cp "$MEET/b.json" "$W/"
	rows "$name"
	cat "$W/a.err" "$MEET/b.err"
}

rows() { # FAULT
	local side
	mkdir -p "$RD_VM_OUT/looks"
	for side in a b; do
		cp "$W/$side.json" "$RD_VM_OUT/looks/$1-$side.json"
		row "${1//_/ }" $side 1
		row "${1//_/ }" $side 3
	done
}

qpn() { if [ "${1%%-*}" = a ]; then echo "$qpn_a"; else echo "$qpn_b"; fi; }

row() { # FAULT END SAMPLES
	jq -rs --argjson n "$(qpn "$2")" --arg fault "$1" --arg side "${2^}" --arg samples "$3" '
		.[$samples | tonumber - 1] | (.qps | map(select(.lqpn == $n))[0] // { state: "-", verdict: "no such QP" }) as $q |
		[$fault, $side, $samples, $q.state, $q.verdict, $q.reason // "-",
			([$q.fix, $q.advice | strings | gsub("\n"; "; ")] | join("; ") | select(. != "") // "-"),
			([.findings[]? | .id] | unique | join(" "))] | @tsv' "$W/$2.json" >>"$RD_VM_OUT/verdicts"
}

# says END EXPRESSION: of that end's queue pair, in the last of the samples. END: a, b; a-once, b-once: in the first one.
# In EXPRESSION: all, what is said of it in words; first(A; B): of the next steps, A comes before B, where A is; $pid, its process;
# $peer, the number of the other end's.
says() {
	local n=-1 file=$W/${1%-once}.json pid=${pid_a-} peer=$qpn_b
	[[ $1 != *-once ]] || n=0
	[[ $1 != b* ]] || pid=${pid_b-} peer=$qpn_a
	jq -es --argjson n "$(qpn "$1")" --arg pid "$pid" --arg peer "$peer" 'def all: [.reason, .fix, .advice | strings] | join(" ");
		def first($a; $b): [.fix, .advice | strings] | all(contains($b) | not) or
			any(index($a) != null and index($a) < (index($b) // 1e9));'"
		.[$n].qps | map(select(.lqpn == \$n))[0] | $2" "$file" >/dev/null && return
	echo "not true at $1: $2"
	jq -cs --argjson n "$(qpn "$1")" '.[] | .qps[] | select(.lqpn == $n) | [.state, .verdict, .reason, .fix, .advice, .psn_per_second]' "$file"
	jq -cs '.[-1].findings[]? | [.id, .subject, .observed]' "$file"
	return 1
}

# no_qp END: it has no queue pair any more
no_qp() { says "$1" '. == null'; }
