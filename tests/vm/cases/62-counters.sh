# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Counters of soft-RoCE under traffic, and under each fault: what the kernel counts, the cause that is named first, or that none
# can be told where the kernel counts nothing.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: traffic-is-seen-as-rates
# sample 7.x: traffic-is-seen-as-rates
# turn: 2
# boot: counters

PLAY=build/tests/vm/qp-play

prepare() {
	[ -e /sys/class/infiniband/rxe1 ] || . tests/vm/guest/rxe-up
}

# play [ARG…]: traffic from rxe0 to rxe1 until it is stopped or fails; its output: $W/play.out
play() {
	: >"$W/play.out"
	"$PLAY" "$@" >"$W/play.out" 2>&1 &
	pid[play]=$!
	until_true 60 both_ends && until_true 20 said 'A ready' || :
	peer=$(sed -n 's/^B pid \([0-9]*\) .*/\1/p' "$W/play.out")
	both_ends
}
both_ends() { [ "$(grep -c '^[AB] pid' "$W/play.out")" = 2 ]; }
said() { grep -q "^$1" "$W/play.out"; }
unplay() {
	kill "${pid[play]}" 2>/dev/null || :
	wait "${pid[play]}" || :
}

save() { "$R" counters --save "$W/before"; }
# It judges: 1 and 2 are answers.
since() { "$R" counters --since "$W/before" --json --changed >"$W/since.json" || [ $? -le 2 ]; }

# moved DEVICE COUNTER: it has, since save
moved() {
	since
	jq -e --arg d "$1" --arg n "$2" 'any(.counters[]; .ibdev == $d and .name == $n and .delta > 0)' "$W/since.json" >/dev/null
}

# named ID…: one of these is the first cause, and its counters moved
named() {
	local id
	since
	id=$(jq -r '.causes[0].id' "$W/since.json")
	[[ " $* " == *" $id "* ]] && jq -e '.causes[0].counters | length > 0 and all(.[]; .delta > 0)' "$W/since.json" >/dev/null && return
	echo "named is $id, not $*"
	jq -c '.counters[] | [.ibdev, .name, .delta, .delta_note]' "$W/since.json"
	jq -c '.findings[] | [.id, .observed]' "$W/since.json"
	return 1
}

mend() {
	ip link set v0 up
	ip link set v1 up
	ip link set v1 mtu 1500
	ip address replace 10.9.0.1/24 dev v0
	ip address replace 10.9.0.2/24 dev v1
	ip neigh replace 10.9.0.2 lladdr 02:00:00:00:09:02 dev v0 nud permanent
	ip neigh replace 10.9.0.1 lladdr 02:00:00:00:09:01 dev v1 nud permanent
	ip route replace 10.9.0.2 dev v0 src 10.9.0.1 table 109
	ip route replace 10.9.0.1 dev v1 src 10.9.0.2 table 109
	until_true 20 grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state &&
		until_true 20 grep -q ACTIVE /sys/class/infiniband/rxe1/ports/1/state &&
		until_true 20 grep -q ffff:0a09 /sys/class/infiniband/rxe1/ports/1/gids/1
}

test_traffic_is_seen_as_rates() {
	save
	play --bytes 65536 --pause 1
	"$R" counters -i 0.5 -c 4 --json >"$W/rates.json"
	unplay
	true_of "$W/rates.json" 'length == 5 and (.[4].schema | test("summary")) and .[4].looks == 4 and
		any(.[:4][]; .rates[] | select(.ibdev == "rxe0") | .tx_gbps > 0 and .tx_packets_per_second > 0 and .state == "ACTIVE") and
		any(.[:4][]; .rates[] | select(.ibdev == "rxe1") | .rx_gbps > 0)' || return
	since
	jq -e 'any(.counters[]; .name == "sent_pkts" and .delta > 0)' "$W/since.json" >/dev/null
}

test_quiet_counters_are_no_proof() {
	save
	since
	jq -e '.status == 0 and any(.findings[]; .id == "nothing-counted")' "$W/since.json" >/dev/null
}

test_link_goes_down() {
	save
	play --retry 3
	ip link set v1 down
	until_true 20 moved rxe1 link_downed || return
	named link-down link-flap
	local r=$?
	unplay
	mend && return $r
}

# Each flap has its line; the second ends the wait.
test_a_wait_for_flaps_ends_with_the_second() {
	"$R" counters --until 'link_downed>1' -i 0.1 --json rxe1 >"$W/until.json" 2>"$W/until.err" &
	pid[until]=$!
	until_true 20 grep -q waiting "$W/until.err" || return
	for n in 1 2; do
		ip link set v1 down
		until_true 20 grep -q DOWN /sys/class/infiniband/rxe1/ports/1/state || return
		ip link set v1 up
		until_true 20 grep -q ACTIVE /sys/class/infiniband/rxe1/ports/1/state || return
		until_true 30 flaps_told "$n" || return
	done
	wait "${pid[until]}" || return
	mend
	true_of "$W/until.json" 'all(.[]; .name == "link_downed" and (.time | test("Z$"))) and .[-1].reached and .[-1].total >= 2'
}
flaps_told() { jq -es --argjson n "$1" '.[-1].total >= $n' "$W/until.json" >/dev/null 2>&1; }

test_peer_killed() {
	save
	play --retry 6
	kill -KILL "$peer"
	until_true 60 moved rxe0 retry_exceeded_err || return
	named peer-gone
	local r=$?
	unplay
	return $r
}

# soft-RoCE takes 7 retries for "for ever".
test_peer_killed_and_the_sender_retries_for_ever() {
	save
	play --retry 7
	kill -KILL "$peer"
	until_true 60 moved rxe0 completer_retry_err || return
	named ack-timeout packet-loss
	local r=$?
	unplay
	return $r
}

test_receiver_not_ready() {
	save
	play --send --no-receive --rnr 3
	until_true 30 moved rxe0 retry_rnr_exceeded_err || return
	named rnr-exceeded receiver-not-ready
	local r=$?
	unplay
	return $r
}

test_interface_refuses_what_is_sent() {
	save
	play --retry 3 --bytes 65536
	ip link set v1 mtu 600
	until_true 30 moved rxe0 send_err || return
	named not-sent discards
	local r=$?
	unplay
	mend && return $r
}

# No counter of soft-RoCE moves for a wrong key: nothing may be named for it.
test_wrong_key_is_not_told_by_counters() {
	save
	play --no-access
	until_true 20 said 'A wc' || return
	since
	unplay
	jq -e 'all(.causes[]; .id == "work-failed" or .id == "packet-loss" | not)' "$W/since.json" >/dev/null
}

test_address_removed_at_the_peer() {
	save
	play --retry 7
	ip address del 10.9.0.2/24 dev v1
	until_true 60 moved rxe0 completer_retry_err || return
	named ack-timeout packet-loss
	local r=$?
	unplay
	mend && return $r
}

test_packets_are_lost() {
	modprobe -q sch_netem || skip "no sch_netem"
	save
	tc qdisc add dev v0 root netem loss 20% || skip "tc cannot lose packets here"
	play --retry 7 --bytes 65536 --pause 1
	until_true 60 moved rxe1 out_of_seq_request && named packet-loss ack-timeout
	local r=$?
	unplay
	tc qdisc del dev v0 root # it refuses what is sent meanwhile, which is another cause
	return $r
}

# A recording goes on without a device, and with it again.
test_a_device_removed_does_not_end_a_recording() {
	"$R" counters -i 0.2 --record "$W/record.csv" >"$W/record.out" 2>"$W/record.err" &
	pid[record]=$!
	until_true 20 grep -q ,rxe1, "$W/record.csv" || return
	rdma link delete rxe1
	until_true 20 grep -q ',rxe1,1,,event,gone,' "$W/record.csv" || return
	rdma link add rxe1 type rxe netdev v1
	until_true 20 recorded_again || return
	kill -INT "${pid[record]}"
	wait "${pid[record]}" || return
	mend
	head -1 "$W/record.csv" | grep -q '^time,ibdev,port,netdev,group,name,value,delta,per_second,at_least,note' &&
		awk -F, 'NF != 11 { print; bad = 1 } END { exit bad }' "$W/record.csv"
}
recorded_again() { sed '1,/,event,gone,/d' "$W/record.csv" | grep -q '^[^,]*,rxe1,'; }

# Samples follow each other by the monotonic clock: a clock that is set back does not stall them. 60 s: three samples take 3.
test_clock_is_set_while_samples_are_taken() {
	local step name
	"$R" capture "$W/clock.tar.zst" >/dev/null
	for step in -3600 -20 3600; do
		"$R" counters -i 1 -c 3 --json >"$W/clock.counters" 2>"$W/clock.err" &
		pid[counters]=$!
		"$R" counters -i 1 -c 3 --record "$W/clock.csv" >/dev/null 2>&1 &
		pid[record]=$!
		"$R" qp-state -i 1 -c 3 --json >"$W/clock.qp" 2>"$W/clock.err" &
		pid[qp]=$!
		"$R" diff "$W/clock.tar.zst" live -i 1 -c 3 --json >"$W/clock.diff" 2>"$W/clock.err" &
		pid[diff]=$!
		for name in counters csv qp diff; do
			until_true 60 [ -s "$W/clock.$name" ] || return
		done
		date -s "@$(($(date +%s) + step))" >/dev/null
		for name in counters record qp diff; do
			until_true 60 ended "${pid[$name]}" || fail "clock $step: $name has not ended"
		done
		rm "$W"/clock.{counters,csv,qp,diff}
	done
}
ended() { ! kill -0 "$1" 2>/dev/null; }

test_live_shows_ports_and_who_owns_queue_pairs() {
	command -v tmux >/dev/null || skip "tmux is not here"
	tm() { tmux -L rd "$@"; }
	shows() { until_true 20 shown "$1"; }
	shown() { tm capture-pane -p | grep -qE -- "$1"; }
	play --pause 20
	tm new-session -d -x 80 -y 24 "TERM=screen LC_ALL=C.UTF-8 RDMADIAG_DATADIR=$RDMADIAG_DATADIR $R counters -w -i 1"
	shows '^  rxe0 +1 ACTIVE' && shows 'rxe0/1 +hw +sent_pkts' && tm send-keys o && shows 'rxe0 +[0-9]+ qp-play' &&
		tm send-keys o && shows 'sent_pkts' && tm send-keys Enter && shows 'process qp-play'
	local r=$?
	[ $r = 0 ] || tm capture-pane -p
	tm send-keys Escape
	few_bytes counters && captured counters || r=1
	tm kill-server
	unplay
	return $r
}
