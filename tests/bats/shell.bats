#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# rdmadiag shell: scripts on standard input, and somebody at a terminal.

load here
load terminal

setup() {
	export RD=${RDMADIAG:-$PWD/build/rdmadiag} RDMADIAG_DATADIR=$PWD/data
	export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
	HUNG=tests/bundles/qp-hung.tar.zst
	HALF=tests/bundles/half-b.tar.zst
	T=$BATS_TEST_TMPDIR
	SOCKET=
}

teardown() {
	[ -z "$SOCKET" ] || tm kill-server 2>/dev/null || :
}

# script [OPTION...]: the lines are those of standard input
script() {
	timeout 60 "$RD" shell "$@" >"$T/out" 2>"$T/err"
}

@test "a script prints what the commands print" {
	printf '# a comment\n\ntopo-check\nqp-state --json\n' | script $HUNG && return 1
	"$RD" --from $HUNG topo-check | sed 's/^warning/[1] warning/; s/^note/[2] note/' >"$T/expected" || :
	head -n "$(wc -l <"$T/expected")" "$T/out" | cmp - "$T/expected"
	sed -n '/^{/,$p' "$T/out" | jq -e '.host == "vm-6.12"'
	[ ! -s "$T/err" ]
}

@test "the exit status is the worst of all, and the first failure ends the script" {
	for case in 'qp-state:0' 'topo-check:1' 'topo-check\nuse '$HALF'\ntopo-check:2' 'qp-state\nqp-state --nosuch\nqp-state:3' \
		'nosuch:3' 'topo-check\nqp-state --nosuch:3' 'qp-state | nosuch:3' 'topo-check | cat:1' 'qp-state | grep nosuch:0' 'explain 1:3' 'explain status=12:0' 'expl status=12:0' 'quit\nnosuch:0' 'use /nosuch:3'; do
		# shellcheck disable=SC2059 # lines
		printf "${case%:*}\n" | script $HUNG && status=0 || status=$?
		[ "$status" = "${case##*:}" ] || { echo "$case: $status" && cat "$T/err" && return 1; }
	done
	printf 'qp-state\n\nqp-state --nosuch\nuse\n' | script $HUNG && return 1
	grep -q "line 3: 'qp-state --nosuch' failed" "$T/err"
	! grep -q 'in use' "$T/out"
	printf 'qp-state\n\nqp-state --nosuch\nuse\n' | script -k $HUNG && return 1
	grep -q "in use: $HUNG" "$T/out"
}

@test "findings have numbers until the next ones" {
	printf 'findings\ntopo-check\nfindings\nexplain 1\nfix 1\nexplain 7\nuse %s\ntopo-check\nfix 1\n' $HALF | script -k $HUNG && return 1
	grep -q '^no command has printed findings yet' "$T/out"
	grep -q '^of topo-check:' "$T/out"
	grep -q '^sysctl -w net.ipv4.conf.all.arp_ignore=1' "$T/out"
	grep -q '^    v0: arp_ignore 0' "$T/out"
	grep -q '^  why: peers learn' "$T/out"
	grep -q '^ip link show eth0' "$T/out"
	grep -q 'rdmadiag: 7: the number of a finding is expected' "$T/err"
}

@test "output goes to sh without privileges, or to a file" {
	printf "qp-state | grep rxe1 | wc -l\nqp-state --noheadings > '%s'\nqp-state --raw >> '%s'\n" "$T/a file" "$T/a file" | script $HUNG
	[ "$(cat "$T/out")" = 2 ]
	printf 'qp-state | yes | head -n 1\n' | script $HUNG
	[ "$(cat "$T/out")" = y ]
	# More than a pipe holds.
	printf 'counters --explain * --json | head -n 1\n' | script $HUNG
	[ "$(cat "$T/out")" = '{' ]
	[ ! -s "$T/err" ]
	[ "$(grep -c '^rxe1' "$T/a file")" = 4 ]
	printf 'qp-state > /nosuch/file\n' | script $HUNG && return 1
	grep -q '/nosuch/file: cannot open it for writing' "$T/err"
	# What does not fit is reported.
	printf 'qp-state > /dev/full\n' | script $HUNG && return 1
	grep -q 'No space left' "$T/err"
	printf "nic-map | cat >/dev/null; grep -E '^(NoNewPrivs|Cap(Inh|Prm|Eff|Amb)|Uid)' /proc/self/status\n" | script $HUNG
	[ "$(grep -c '^Cap.*:[[:space:]]0*$' "$T/out")" = 4 ]
	grep -q '^NoNewPrivs:[[:space:]]1$' "$T/out"
	[ "$(id -u)" != 0 ] || grep -q '^Uid:[[:space:]]65534' "$T/out"
}

@test "a bundle is read by processes without privileges" {
	printf 'qp-state -v\nqp-state --json > %s\n' "$T/q" | script $HUNG
	grep -q 'confined: .*no capabilities' "$T/err"
	jq -e .host "$T/q"
	printf 'diff %s %s\ncapture %s/c.tar.zst\ncheck\n' $HUNG $HALF "$T" | script -k $HUNG || :
	grep -q 'vm-6.12' "$T/out"
	printf '{"schema":1}' >"$T/profile"
	printf 'topo-check --profile %s/profile\n' "$T" | script -k $HUNG || :
	grep -q 'profile' "$T/err"
}

@test "commands of a script do not read the script" {
	printf 'topo-check --from -\nuse\n' | script -k && return 1
	grep -q 'in use: live' "$T/out"
}

@test "what is pasted from a fix may begin with the name of the program" {
	printf 'rdmadiag qp-state | wc -l\n' | script $HUNG
	[ -s "$T/out" ]
	printf 'shell\n' | script && return 1
	grep -q 'this is a shell already' "$T/err"
}

@test "a reader that has gone ends the output, not the host" {
	printf 'qp-state\nqp-state\nqp-state\n' | timeout 60 "$RD" shell $HUNG | head -n 1
}

@test "completions are those of what is in use" {
	complete() { "$RD" --from $HUNG complete -- "$@"; }
	complete qp-state --lqpn '' | grep -q '^18	rxe0 qp-play$'
	complete qp-state --lqpn 17,1 | grep -q '^17,18	'
	complete topo-check --only acs-redirect,arp | grep -q '^acs-redirect,arp-flux	'
	complete topo-check --explain arp | grep -q '^arp-flux	'
	complete counters --explain rnr_nak | grep -q '^rnr_nak_retry_err	'
	complete nic-map '' | grep -q '^rxe1'
}

# ---- on a terminal

# on_terminal WIDTH HEIGHT COMMAND
on_terminal() {
	command -v tmux >/dev/null || skip "no tmux"
	SOCKET=$T/tmux
	LC_ALL=C.UTF-8 tm -f /dev/null new-session -d -x "$1" -y "$2" "stty -a >$T/before; $3; echo status=\$?; stty -a >$T/after; sleep 600"
}

line() {
	tm send-keys -l -- "$1"
	tm send-keys Enter
}

# A prompt with nothing behind it is the last line: what is typed while Ctrl-C is handled may be dropped.
prompted() {
	tm capture-pane -p | grep . | tail -n 1 | grep -q '> *$'
}

readline() {
	ldconfig -p | grep -q 'libreadline\.so\.8' || skip "no readline"
}

@test "on a terminal: the prompt, completion, help at the cursor, history" {
	readline
	on_terminal 80 24 "$RD shell $HUNG"
	seen 'rdmadiag qp-hung.tar.zst>'
	tm send-keys -l 'qp-state --lq'
	tm send-keys Tab
	seen 'qp-state --lqpn'
	tm send-keys -l '18?'
	seen '18  *rxe0 qp-play'
	tm send-keys C-u
	tm send-keys -l 'qp-state | '
	tm send-keys -l '?'
	seen 'qp-state | ?'
	tm send-keys BSpace
	tm send-keys -l "grep '^rxe. ' | wc -l"
	tm send-keys Enter
	seen '^6$'
	line 'use live'
	seen 'rdmadiag live>'
	line ' # not remembered'
	tm send-keys C-d
	seen 'status=0'
	grep -qx "qp-state | grep '^rxe. ' | wc -l" "$XDG_STATE_HOME/rdmadiag/history"
	! grep -q remembered "$XDG_STATE_HOME/rdmadiag/history"
	[ "$(stat -c %a "$XDG_STATE_HOME/rdmadiag/history")" = 600 ]
	until_true cmp "$T/before" "$T/after"
}

@test "on a terminal: Ctrl-C ends the command, or the line, and not the shell" {
	on_terminal 80 60 "$RD shell"
	seen 'live>'
	line 'topo-check -i 1'
	seen '^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]$'
	tm send-keys C-c
	until_true prompted
	until_true sh -c "! pgrep -P $(pgrep -P "$(tm display-message -p '#{pane_pid}')")"
	line 'use'
	seen 'in use: live'
	line "use $HUNG"
	seen 'hung.tar.zst>'
	tm send-keys -l 'qp-sta'
	seen 'zst> qp-sta *$'
	tm send-keys C-c
	until_true prompted
	line 'qp-state -h | wc -l'
	seen '^[0-9][0-9]*$'
	line 'qp-state -i 30'
	seen '^IBDEV'
	tm send-keys C-c
	until_true prompted
	line 'qp-state --noheadings | grep -c ^rxe1'
	seen '^2$'
	line 'qp-state | sleep 1000'
	until_true pgrep -f -x 'sleep 1000' -s "$(tm display-message -p '#{pane_pid}')"
	tm send-keys C-c
	until_true prompted
	pgrep -f -x 'sleep 1000' -s "$(tm display-message -p '#{pane_pid}')" && return 1
	line 'topo-check --live'
	seen 'q quit'
	tm send-keys q
	seen 'hung.tar.zst>'
	line quit
	seen 'status=0'
	until_true cmp "$T/before" "$T/after"
}

@test "on a terminal of 40x10 lines go on, and long names of bundles are cut" {
	cp $HUNG "$T/a-name-that-is-much-longer-than-the-terminal.tar.zst"
	on_terminal 40 10 "$RD shell $T/a-name-that-is-much-longer-than-the-terminal.tar.zst"
	seen '\.\.\..*terminal.tar.zst>'
	line 'qp-state --noheadings --raw -o lqpn | grep 1 | grep -v 7 | wc -l'
	seen '^[0-9]*$'
	line quit
	seen 'status=0'
}

@test "a terminal that is closed ends the shell and its processes" {
	on_terminal 80 24 "exec $RD shell $HUNG"
	seen 'hung.tar.zst>'
	shell=$(tm display-message -p '#{pane_pid}')
	line 'qp-state | sleep 1000'
	until_true pgrep -P "$shell" -f 'sh -c sleep 1000'
	program=$(pgrep -P "$shell" -f 'sh -c sleep 1000')
	tm kill-server
	SOCKET=
	until_true process_ended "$shell"
	until_true process_ended "$program"
}
