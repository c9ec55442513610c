#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Live views on a terminal: what they leave behind, whichever way they end.

load made-up-host
load terminal

setup() {
	export RD=${RDMADIAG:-$PWD/build/rdmadiag}
	command -v tmux >/dev/null || skip "no tmux"
	n_terminals=0
}

teardown() {
	[ -z "$SOCKET" ] || tm kill-server 2>/dev/null || :
}

# on_terminal WIDTH HEIGHT COMMAND: in a shell, which stays; its process number is in the file `pid`
on_terminal() {
	SOCKET=$BATS_TEST_TMPDIR/tmux$((n_terminals++))
	tm -f /dev/null new-session -d -x "$1" -y "$2" "exec sh" \; set -g status off
	seen '[#$]'
	tm send-keys "stty -a >$BATS_TEST_TMPDIR/before; $3; echo status=\$?; stty -a >$BATS_TEST_TMPDIR/after" Enter
}

process() {
	pgrep -P "$(tm display-message -p '#{pane_pid}')"
}

# The view has left the screen to what was there before.
left() {
	[ "$(tm display-message -p '#{alternate_on}')" = 0 ]
}

@test "a view that is asked to end gives the terminal back, and is no warning" {
	for signal in INT TERM HUP QUIT key; do
		on_terminal 80 24 "$RD --from $HOST nic-map --live"
		seen 'q quit'
		if [ "$signal" = key ]; then tm send-keys C-c; else kill "-$signal" "$(process)"; fi
		seen 'status=0$'
		[ "$(tm display-message -p '#{alternate_on} #{cursor_flag}')" = "0 1" ]
		until_true cmp "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
		rm "$BATS_TEST_TMPDIR/after"
		tm kill-server
	done
}

@test "a view that was stopped goes on in the foreground" {
	on_terminal 80 24 "bash --norc -i"
	seen 'bash-'
	tm send-keys "$RD --from $HOST nic-map --live" Enter
	seen 'q quit'
	tm send-keys C-z
	seen 'Stopped'
	tm send-keys fg Enter
	seen 'q quit'
	tm send-keys q
	until_true left
	tm send-keys 'echo again=$?' Enter
	seen '^again=0'
}

@test "a view ends with its terminal, also under nohup" {
	on_terminal 80 24 "trap '' HUP; $RD --from $HOST nic-map --live"
	seen 'q quit'
	local pid
	pid=$(process)
	tm kill-server
	until_true process_ended "$pid" || { kill -9 "$pid" && return 1; }
}

@test "a terminal that cannot place text is refused, and stays as it was" {
	for term in TERM=dumb TERM=nonsense TERM= -uTERM; do
		on_terminal 100 24 "env $term $RD --from $HOST nic-map --live"
		seen 'status=3$'
		shown 'TERM: terminal does not support cursor positioning'
		shown 'or run without --live'
		tm kill-server
	done
}

@test "qp-state shows the worst verdict first, and on 40 columns, too" {
	on_terminal 40 24 "$RD --from tests/bundles/qp-hung.tar.zst qp-state --live -i 0.3"
	worst_first() {
		[ "$(tm capture-pane -p | awk 'NR == 4 || NR == 5 { print $1, $3 }')" = $'retries-exhausted 18\nretrying 17' ]
	}
	until_true worst_first || { tm capture-pane -p && return 1; }
	tm resize-window -x 100 -y 24
	seen '2 problems, 2 unknown in 6 QPs: 1 ERR 1 RTR 1 INIT 3 RTS, 2 findings'
	shown '^6 of 6 .* n problem'
	tm send-keys / 1 9 Enter
	none_matches() { # it is shown up to the next look
		tm send-keys n
		shown 'no row is a warning or critical among those that match the filter'
	}
	until_true none_matches
	tm send-keys q
	seen 'status=0$'
}

# The number of the queue pair under the cursor: its page shows it.
on_number() {
	tm send-keys Enter
	seen "^  lqpn  *$1\$" || return 1
	tm send-keys Escape
	seen 'VERDICT'
}

@test "n moves from problem to problem, and the help page says so" {
	on_terminal 100 24 "$RD --from tests/bundles/qp-hung.tar.zst qp-state --live -i 0.3"
	seen 'retrying'
	tm send-keys End
	on_number 1
	for number in 18 17 18; do
		tm send-keys n
		on_number "$number"
	done
	tm send-keys '?'
	seen 'n  *next row with a warning or a critical fault'
	tm send-keys '?'
	tm send-keys q
	seen 'status=0$'
	tm kill-server
	on_terminal 100 24 "$RD --from $HOST nic-map --live"
	seen 'q quit'
	! shown 'n problem'
	tm send-keys n
	shown 'q quit'
}

@test "qp-state counts in groups with --by, as its table does" {
	on_terminal 100 24 "$RD --from tests/bundles/qp-hung.tar.zst qp-state --live --by device -i 0.3"
	seen '1 problem, 1 unknown in 2 groups of 6 QPs: 1 ERR 1 RTR 1 INIT 3 RTS'
	seen '^  GROUP QPS RESET INIT RTR RTS SQD SQE ERR UNKNOWN STUCK'
	seen '^  rxe0 *4 *0 *1 *0 *2 *0 *0 *1 *0 *0'
	seen '^2 of 2 '
	tm send-keys g
	seen '^  IBDEV GROUP   HEALTH'
	seen '^  rxe0 *unknown *degraded *3'
	shown '4 QPs\|6 QPs'
	tm send-keys g g
	seen '^  ERR '
	tm send-keys q
	seen 'status=0$'
}

@test "a bundle on standard input leaves the keys to the terminal" {
	on_terminal 100 24 "cat tests/bundles/qp-hung.tar.zst | $RD --from - qp-state --live -i 0.3"
	seen 'retries-exhausted'
	tm send-keys q
	seen 'status=0$'
}

@test "scrolled sideways there is always something to see, and a screen that shrinks is filled" {
	on_terminal 40 10 "$RD --from $HOST nic-map --live"
	seen 'IBDEV'
	tm send-keys -N 40 Right
	seen 'ROLE'
	tm send-keys -N 40 Left
	seen 'IBDEV'
	tm resize-window -x 20 -y 5
	seen '^  IBDEV   PORT NETD…$'
	tm resize-window -x 200 -y 60
	seen 'IBDEV .*ROLE'
	tm send-keys q
	seen 'status=0$'
}

@test "the worst finding is below the headline, its page wraps, names its object, and faults alone can be shown" {
	on_terminal 80 24 "$RD --from tests/bundles/qp-hung.tar.zst qp-state --live -i 0.3"
	seen '^critical: QP 18 of rxe0, qp-play: retries-exhausted: in ERR for .*…$'
	seen '2 problems, 2 unknown in 6 QPs'
	tm send-keys '!'
	seen '^2 of 6  FAULTS ONLY '
	! shown 'cannot-tell' || return 1
	tm send-keys '!'
	seen '^6 of 6 '
	tm send-keys Enter
	seen '^IBDEV rxe0, LQPN 18$'
	seen '^  reason  *in ERR for .* kernel log: rxe0: qp#18 make_send_cqe:$'
	seen '^   *non-flush error status = 12 (IBV_WC_RETRY_EXC_ERR)$'
	tm send-keys q
	seen 'status=0$'
}

@test "what identifies a row stays when columns are scrolled, and rows that do not fit are announced" {
	on_terminal 80 12 "$RD --from tests/bundles/half-a.tar.zst topo-check --live"
	n=$("$RD" topo-check --list --json | jq '.rules | length')
	seen "^lines 1-9 of $n "
	tm send-keys End
	seen "^lines $((n - 8))-$n of $n "
	tm send-keys Home Right Right
	seen '^  RESULT  RULE  *…* *OBSERVED'
	tm kill-server
	on_terminal 60 12 "$RD --from tests/bundles/half-a.tar.zst nic-map --live"
	seen '^  IBDEV PORT NETDEV PCI'
	shown '← → columns\|…$'
	tm send-keys Right Right
	seen '^  IBDEV PORT .*GIDTY…$'
	! shown 'NETDEV' || return 1
	tm send-keys q
	seen 'status=0$'
}

@test "over a pipe the way out is named" {
	run "$RD" --from tests/bundles/half-a.tar.zst nic-map --live </dev/null
	[ "$status" -eq 3 ]
	[[ $output == *"ssh -t HOST rdmadiag"* ]]
}
