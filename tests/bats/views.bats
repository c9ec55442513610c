#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What live views show on terminals of three sizes, compared with tests/views (RD_VIEWS_UPDATE=1 replaces it), how much they write,
# and what they do with many rows, hostile names, and a terminal that changes its size.

load made-up-host
load terminal

setup() {
	export RD=${RDMADIAG:-$PWD/build/rdmadiag} RDMADIAG_DATADIR=$PWD/data NO_COLOR=1 LC_ALL=C.UTF-8
	command -v tmux >/dev/null || skip "no tmux"
	n_terminals=0
	SOCKET=$BATS_TEST_TMPDIR/tmux
}

teardown() {
	tm kill-server 2>/dev/null || :
}

# on_terminal WIDTHxHEIGHT COMMAND
on_terminal() {
	# A server that is ending still has its socket.
	SOCKET=$BATS_TEST_TMPDIR/tmux$((n_terminals++))
	tm -f /dev/null new-session -d -x "${1%x*}" -y "${1#*x}" "$2; echo status=\$?; sleep 600" \; set -g status off
}

# The name of the made-up host's file differs from machine to machine, but not on the screen.
screen() {
	tm capture-pane -p | sed 's/ *$//'
}

# same_as NAME SIZE: what comes to be on the screen, and the file
same_as() {
	local file=tests/views/$1-$2.txt
	[ -z "${RD_VIEWS_UPDATE:-}" ] || screen >"$file"
	as_file() { screen | cmp -s - "$file"; }
	until_true as_file || { screen | diff "$file" - && return 1; }
}

# view NAME COMMAND [KEY PATTERN]: in all sizes, and after a key
view() {
	local size
	for size in 80x24 120x30 200x50; do
		on_terminal $size "$2"
		seen 'q quit'
		same_as "$1" $size
		if [ $# -gt 2 ]; then
			tm send-keys "$3"
			seen "$4"
			same_as "$1-$3" $size
		fi
		tm send-keys q
		seen 'status=0'
		tm kill-server
	done
}

@test "qp-state's view" {
	view qp-state "$RD qp-state --live --from tests/bundles/qp-hung.tar.zst -i 3600" Enter 'Esc back'
}

@test "qp-state's view: a device that is removed with queue pairs of processes is a problem" {
	local bundle=$BATS_TEST_TMPDIR/removed list
	mkdir "$bundle"
	tar -C "$bundle" --zstd -xf tests/bundles/qp-hung.tar.zst
	list=$(cd "$bundle" && echo nl/rdma/5121-*)
	# Of the reply that lists the devices, what is about rxe0: the last sample lacks rxe1.
	head -c 132 "$bundle/$list" >"$bundle/t001/$list"
	on_terminal 120x30 "$RD qp-state --live --from $bundle -i 1"
	seen '^[+ ] removed *rxe1'
	seen '  3 problems, 1 unknown in 4 QPs'
	tm send-keys n
	tm send-keys Enter
	seen 'the device was removed; processes had 1 queue pair of it'
}

@test "nic-map's view, with accelerators" {
	view nic-map "$RD nic-map --live --from $HOST" g '^8 of 8'
}

@test "topo-check's view" {
	view topo-check "$RD topo-check --live --from tests/bundles/half-b.tar.zst" Enter 'Esc back'
}

@test "rows that do not fit scroll, and are found" {
	local many=$BATS_TEST_TMPDIR/many
	tests/bench/nic-map-tree "$many" 8 60 1000
	on_terminal 80x24 "$RD nic-map --live --from $many"
	seen 'lines 1-[0-9]* of 60'
	tm send-keys End
	seen 'lines [0-9]*-60 of 60'
	tm send-keys /
	tm send-keys -l mlx5_47
	tm send-keys Enter
	seen '^  mlx5_47 '
	tm send-keys q
	seen 'status=0'
}

@test "names in a bundle do not reach the terminal as they are" {
	local hostile=$BATS_TEST_TMPDIR/hostile
	cp -r "$HOST" "$hostile"
	printf 'host\033[2J\033]0;title\007\n' >"$hostile/proc/sys/kernel/hostname" 2>/dev/null ||
		printf 'host\033[2J\033]0;title\007\n' >"$(find "$hostile" -path '*kernel/hostname')"
	on_terminal 80x24 "$RD nic-map --live --from $hostile"
	seen 'host.x1b.2J.x1b.0;title.x07'
	[ "$(tm display-message -p '#{pane_title}')" != title ]
}

@test "a terminal that changes its size is drawn again" {
	on_terminal 120x30 "$RD nic-map --live --from $HOST"
	seen 'q quit'
	tm resize-window -x 60 -y 12
	seen '… [0-9]* more'
	narrow() { [ "$(tm capture-pane -p | wc -L)" -le 60 ]; }
	until_true narrow
	tm resize-window -x 120 -y 30
	seen 'mlx5_11'
}

# At one look a second; a busy machine may give it more than these five.
@test "a view writes less than 3 kB a second" {
	for command in "nic-map --live -i 1" "topo-check --live -i 1"; do
		on_terminal 80x24 "$RD $command --from $HOST"
		seen 'q quit'
		begin=$SECONDS
		tm pipe-pane "cat >$BATS_TEST_TMPDIR/bytes"
		sleep 5
		tm kill-server
		bytes=$(stat -c %s "$BATS_TEST_TMPDIR/bytes") took=$((SECONDS - begin))
		echo "$command: $bytes bytes in $took s"
		[ "$bytes" -lt $((took * 3000)) ]
	done
}
