# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# qp-state's list: the same as rdma's, whose they are, from a bundle, without privileges, of many.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: real-programs what-is-unknown-is-told without-root
# sample 7.x: real-programs what-is-unknown-is-told without-root
# sample arm64: real-programs what-is-unknown-is-told
# turn: 3
# boot: qp

MANY=build/tests/vm/qp-many

prepare() {
	[ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up
	. tests/vm/cases/qp.sh
}

# same_as_rdma FILE: the document has all that `rdma -j resource show qp` has, and says the same. PSNs move by themselves.
same_as_rdma() {
	rdma -j resource show qp | jq '[.[] | { ibdev: .ifname, port, lqpn, rqpn, type, state, pid, comm, pdn,
		path_mig_state: .["path-mig-state"] }] | sort_by(.ibdev, .lqpn, .port)' >"$W/rdma.list"
	jq '[.qps[] | { ibdev, port, lqpn, rqpn, type, state, pid, comm, pdn, path_mig_state }] |
		sort_by(.ibdev, .lqpn, .port)' "$1" >"$W/ours.list"
	cmp "$W/rdma.list" "$W/ours.list" || { diff "$W/rdma.list" "$W/ours.list" | head -40; return 1; }
}

both_connected() {
	"$R" --json qp-state --type RC --state RTS >"$W/rts.json" &&
		jq -e '[.qps[].ibdev] | unique == ["rxe0", "rxe1"]' "$W/rts.json" >/dev/null
}

# ibv_rc_pingpong at both ends, $! one of them, until they are connected.
pingpong() {
	ibv_rc_pingpong -d rxe1 -g 1 -n 100000000 >/dev/null 2>&1 &
	until_true 20 rxe_listens 18515
	ibv_rc_pingpong -d rxe0 -g 1 -n 100000000 "$RXE_IP1" >/dev/null 2>&1 &
	until_true 20 both_connected
}

# They keep their queue pairs, and leave the processor to others.
pause() {
	pkill -STOP -x ibv_rc_pingpong
}

# Both ends of real programs, with the address of the peer where rdma_cm knows it; and the path is ok.
test_real_programs() {
	pingpong
	pause
	"$R" --json qp-state >"$W/list.json"
	same_as_rdma "$W/list.json"
	true_of "$W/list.json" '.[0].qps | map(select(.comm == "ibv_rc_pingpong")) | length == 2 and
		all(.[]; .kernel == false and .pid > 0 and .sq_psn != null and .peer_source == "kernel-query")'
	true_of "$W/list.json" '.[0].qps | map(select(.type == "GSI")) | length == 2 and all(.[]; .kernel and .pid == null)'
	"$R" --json qp-state --by peer >"$W/peers.json"
	true_of "$W/peers.json" '.[0].groups | map(select(.group != "unknown" and .health == "ok")) | length == 2'
}

# Without a look at the kernel's queries, soft-RoCE tells neither peers nor timeouts: said with the reason, for a plain user, too.
test_what_is_unknown_is_told() {
	pingpong
	pause
	local status=0
	"$R" --json qp-state --no-probe --timeouts --comm ibv_rc_pingpong >"$W/unknown.json" || status=$?
	[ "$status" = 3 ]
	true_of "$W/unknown.json" '.[0] | .timeouts == [] and .errors == [] and ([.findings[] | select(.observed != null and
		(.observed | contains("2 of 2 queue pairs: no recorder saw them connect; the kernel\u0027s own queries were not looked at (--no-probe)"))) | .id] | sort) ==
		["peer-unknown", "timeouts-unknown"] and (.qps | all(.driver == null and .peer_source == null))'
	setpriv --reuid 65534 --regid 65534 --clear-groups "$R" --json qp-state >"$W/user.json"
	true_of "$W/user.json" '.[0] | .status == 0 and ([.findings[].id] | index("peer-unknown") != null)'
	status=0
	"$R" qp-state --lqpn 999999 >"$W/none.out" 2>&1 || status=$?
	[ "$status" = 3 ]
	grep -q 'queue pair 999999: not listed on rxe0, rxe1' "$W/none.out"
}

test_write_bw() {
	ib_write_bw -d rxe1 -x 1 -R -D 1000 >/dev/null 2>&1 &
	until_true 20 rxe_listens_or_cm
	ib_write_bw -d rxe0 -x 1 -R -D 1000 "$RXE_IP1" >/dev/null 2>&1 &
	until_true 30 both_connected
	"$R" --json qp-state --peer "$RXE_IP1" >"$W/to1.json"
	# It has a connection for its parameters, too, for a while or for good.
	true_of "$W/to1.json" '.[0].qps | length >= 1 and all(.[]; .ibdev == "rxe0" and .comm == "ib_write_bw" and
		(.peer_gid | endswith("ffff:0a09:0002")))'
	"$R" --json qp-state --entropy 4 >"$W/entropy.json"
	true_of "$W/entropy.json" '.[0] | (.qps | map(select(.ibdev == "rxe0" and .type == "RC" and .rqpn > 0)) | length) as $n |
		.entropy | map(select(.ibdev == "rxe0" and .peer == null)) | length == 1 and .[0].flows == $n and
		.[0].ideal_percent == 25 and .[0].expected_percent >= 100 / $n'
}

rxe_listens_or_cm() { rdma resource show cm_id | grep -q LISTEN || ss -Hltn 'sport = :18515' | grep -q .; }

# A device that is removed while it is looked at is gone from the view, which goes on with the others.
test_live_view_survives_a_removal() {
	command -v tmux >/dev/null || skip "tmux is not here"
	ip link add d9 type dummy
	ip link set d9 up
	rdma link add rxe9 type rxe netdev d9
	TERM=screen tmux -L rd new-session -d -x 80 -y 24 "$R qp-state --live -i 1; echo ended with \$? >$W/live.ended; sleep 60"
	until_true 60 on_screen rxe9
	rdma link delete rxe9
	until_true 60 off_screen rxe9
	on_screen rxe0
	if on_screen 'rxe9\|cannot'; then fail "$(tmux -L rd capture-pane -p)"; fi
	tmux -L rd send-keys q
	until_true 20 grep -q 'ended with 0' "$W/live.ended"
	tmux -L rd kill-server
	ip link delete d9
}

# More queue pairs than rows, two of them with traffic.
test_live_view_of_many() {
	only 6.12
	command -v tmux >/dev/null || skip "tmux is not here"
	"$MANY" rxe0 40 >"$W/many.out" &
	until_true 60 grep -q ready "$W/many.out"
	pingpong
	TERM=screen LC_ALL=C.UTF-8 tmux -L rd new-session -d -x 80 -y 24 "$R qp-state --live -i 1; sleep 60"
	until_true 60 on_screen 'in 44 QPs'
	pause
	few_bytes qp-state
	captured qp-state
	tmux -L rd resize-window -x 80 -y 24
	until_true 20 on_screen '^lines 1-20 of 44 '
	tmux -L rd send-keys End
	until_true 20 on_screen '^lines [0-9]*-44 of 44 '
	tmux -L rd kill-server
}

# 600, and 10,000 where all tests run on all kernels: complete, the same as rdma's field by field, and the same from a bundle.
test_thousands() {
	local n=600
	[ "$KERNEL" = 6.12 ] || n=10000
	"$MANY" rxe0 $n >"$W/many.out" &
	until_true 60 grep -q ready "$W/many.out"
	"$R" --json qp-state --device rxe0 >"$W/many.json"
	true_of "$W/many.json" '.[0].qps | map(select(.comm == "qp-many")) | length == $n and
		(map(.state) | group_by(.) | map(length)) == [$n / 2, $n / 2]' --argjson n $n
	"$R" --json qp-state >"$W/all.json"
	same_as_rdma "$W/all.json"
	"$R" --json qp-state --summary >"$W/summary.json"
	true_of "$W/summary.json" '.[0] | (.summary | map(select(.ibdev == "rxe0" and .resource == "qp"))[0] |
		.used == $n + 1 and .listed == $n + 1 and .max > 100000 and .used_percent > 0) and
		(.processes | map(select(.comm == "qp-many"))[0] | .qp == $n and .cq == 1 and .pd == 1 and .ctx == 1)' --argjson n $n
	"$R" capture "$W/many.tar.gz"
	for options in "" "--summary" "--by state" "--state INIT"; do
		# shellcheck disable=SC2086 # words
		"$R" --json qp-state $options | jq 'del(.time, .source, .read_at)' >"$W/live.doc"
		# shellcheck disable=SC2086
		"$R" --from "$W/many.tar.gz" --json qp-state $options | jq 'del(.time, .source, .read_at)' >"$W/bundle.doc"
		cmp "$W/live.doc" "$W/bundle.doc"
	done
}

# one_sick N: of N one, whose driver does not say its state. The kernel's list ends in the message that it would be in, and
# with it rdma's. By number the kernel shows those at a port; of the others it is known that they are there.
one_sick() {
	local sick status=0
	"$MANY" rxe0 "$1" >"$W/many.out" &
	until_true 60 grep -q ready "$W/many.out"
	"$R" --json qp-state --device rxe0 >"$W/well.json"
	sick=$(jq "[.qps[] | select(.comm == \"qp-many\" and .state == \"INIT\") | .lqpn][$(($1 * 2 / 5))]" "$W/well.json")
	fault "qpn=$sick"

	rdma -j resource show qp link rxe0 >"$W/rdma.out" 2>"$W/rdma.err" || status=$?
	[ $status != 0 ]
	grep -q 'Input/output error' "$W/rdma.err"
	echo "of $(($1 + 1)) rdma shows $(grep -o '"lqpn"' "$W/rdma.out" | wc -l)"

	"$R" --json qp-state --device rxe0 >"$W/sick.json"
	jq '[.qps[] | select(.port != null and .lqpn != $sick) | del(.sq_psn, .rq_psn)]' --argjson sick "$sick" \
		"$W/well.json" >"$W/well.list"
	jq '[.qps[] | select(.port != null) | del(.sq_psn, .rq_psn)]' "$W/sick.json" >"$W/sick.list"
	cmp "$W/well.list" "$W/sick.list" || { diff "$W/well.list" "$W/sick.list" | head -40; return 1; }
	[ "$(jq -c '[.qps[].lqpn]' "$W/well.json")" = "$(jq -c '[.qps[].lqpn]' "$W/sick.json")" ]
	true_of "$W/sick.json" '.[0] | .status == 0 and
		(.qps | map(select(.query_errno == "EIO")) | length == 1 and (.[0] | .lqpn == $sick and .state == "unknown" and
			.verdict == "cannot-tell" and (.reason | contains("EIO")) and .fix != null)) and
		(.qps | map(select(.port == null and .lqpn != $sick)) | all(.[]; (.state == "RESET" and .query_errno == null) or
			(.state == "unknown" and .query_errno == "EAGAIN"))) and
		(.errors | map(select(.object == "rxe0" and .errno == "EIO" and (.message | contains("ended its dump")))) | length == 1) and
		(.findings | map(select(.id == "qp-query-failed" and .severity == "warning")) | length == 1) and
		(.findings | map(select(.id == "qps-not-listed")) | length == 0)' --argjson sick "$sick"

	"$R" qp-state --lqpn "$sick" >"$W/sick.out" 2>&1
	grep -q "^rxe0 .* $sick .* unknown" "$W/sick.out"
	grep -q '^warning: rxe0: device does not report the state' "$W/sick.out"
	status=0
	"$R" qp-state --fail >"$W/sick.out" 2>&1 || status=$?
	[ $status = 1 ]

	"$R" capture --force "$W/sick.tar.gz"
	"$R" --from "$W/sick.tar.gz" --json qp-state --device rxe0 >"$W/bundle.json"
	cmp <(jq 'del(.time, .source, .read_at)' "$W/sick.json") <(jq 'del(.time, .source, .read_at)' "$W/bundle.json")
}

test_one_of_twenty_cannot_be_queried() {
	one_sick 19
}

test_one_of_many_cannot_be_queried() {
	one_sick 499
}

# log_line TEXT: as a driver prints it
log_line() {
	printf %s "$1" >/sys/module/rdfault/parameters/log
}

# verdict EXPRESSION: of the queue pair $a of mlx5_0, in one look
verdict() {
	"$R" --json qp-state --device mlx5_0 >"$W/line.json"
	true_of "$W/line.json" ".[0].qps[] | select(.lqpn == $a) | $1"
}

# What mlx5 says of a queue pair that failed (the words are those of its driver) is joined to that one; what a program writes is
# not, and nothing that the line holds gets through to the terminal.
test_line_of_the_kernel_log() {
	local line="mlx5_0/1: QP @ error: transport retry counter exceeded (0x15 0x81 0x0)" other a
	play other
	other=$a
	play pair --retry 3
	kill -KILL "$peer"
	until_true 30 said pair 'A wc 12'
	fault device=none
	rdma dev set rxe0 name mlx5_0
	trap 'kill $(jobs -p) 2>/dev/null || :; rmmod rdfault; rdma dev set mlx5_0 name rxe0' EXIT

	verdict '.state == "ERR" and .verdict == "failed"'
	echo "<3>${line/@/$a}" >/dev/kmsg
	log_line "${line/@/$((a + 1000))}"
	log_line "mlx5_01/1: QP $a error: transport retry counter exceeded (0x15 0x81 0x0)"
	verdict '.verdict == "failed" and (.reason | contains("counter") | not)'
	log_line "${line/@/$a}"
	verdict '.verdict == "retries-exhausted" and (.reason | contains("transport retry counter exceeded")) and .fix != null'
	jq -e --argjson o "$other" '.qps[] | select(.lqpn == $o) | .state == "RTS" and .verdict == "cannot-tell"' "$W/line.json" >/dev/null
	"$R" capture "$W/line.tar.gz"
	"$R" --from "$W/line.tar.gz" --json qp-state --device mlx5_0 >"$W/bundle.json"
	# The line has the time at which the queue pair failed: its age grows.
	failed() {
		jq ".qps[] | select(.lqpn == $a) | del(.state_seconds, .state_max_seconds) | .reason |= sub(\"for [0-9.]+ s;\"; \";\")" "$1"
	}
	cmp <(failed "$W/line.json") <(failed "$W/bundle.json")

	log_line "mlx5_0/1: QP $a error: RNR retry counter exceeded "$'\e[31m\e]0;title\a\x9b\r\n'"$(printf 'x%.0s' {1..3000})"
	verdict '.verdict == "retries-exhausted" and (.reason | contains("RNR retry") and length < 400)'
	"$R" qp-state --device mlx5_0 --lqpn "$a" --columns lqpn,reason >"$W/line.out"
	grep -q 'RNR retry counter exceeded' "$W/line.out"
	! LC_ALL=C grep -q $'[\e\a\x9b\r]' "$W/line.out"
	[ "$(wc -l <"$W/line.out")" -le 8 ] # with the notes on what is unknown
}

# Nothing is missing without root but what the probe reads, and what procfs hides, connections of processes among it.
test_without_root() {
	play pair
	"$R" --json qp-state --no-probe >"$W/root.json"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$R" --json qp-state >"$W/nobody.json"
	jq '[.qps[] | del(.sq_psn, .rq_psn, .verdict, .reason, .fix, .advice, .process_tcp_peers)]' "$W/root.json" >"$W/root.list"
	jq '[.qps[] | del(.sq_psn, .rq_psn, .verdict, .reason, .fix, .advice, .process_tcp_peers)]' "$W/nobody.json" >"$W/nobody.list"
	cmp "$W/root.list" "$W/nobody.list"
}

# From within another PID namespace other processes' are shown without their owner: and that is said.
test_other_pid_namespace() {
	play pair
	unshare --pid --fork --mount-proc "$R" --json qp-state >"$W/inner.json"
	true_of "$W/inner.json" '.[0] | (.qps | map(select(.type == "RC")) | length == 2 and all(.[]; .pid == null and
		.comm == null and .state == "RTS")) and (.findings | map(select(.id == "owner-not-visible" and
		.severity == "unknown")) | length == 1)'
}
