#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipes of doc/fleet.md: each block is taken from the page and run. Hosts are bundles: `ssh`, `srun` and `kubectl` are stubs
# that run the command here, with the host's bundle in place of its kernel; clush and pdsh are the real ones where they are installed,
# and stubs.

load here

setup() {
	T=$BATS_TEST_TMPDIR
	TOP=$PWD
	export RD T NO_COLOR=1
	mkdir "$T/hosts" "$T/bin" "$T/work"
	cp tests/bundles/pair-a.tar.zst "$T/hosts/node1.tar.zst"
	cp tests/bundles/pair-b.tar.zst "$T/hosts/node2.tar.zst"
	cp tests/bundles/qp-hung.tar.zst "$T/hosts/node3.tar.zst"
	make_stubs
	PATH=$T/bin:$PATH
	cd "$T/work"
}

# stub NAME: standard input becomes the program
stub() {
	{ echo '#!/bin/bash'; cat; } >"$T/bin/$1"
	chmod +x "$T/bin/$1"
}

make_stubs() {
	# On a node: its bundle. Here: as it is.
	stub rdmadiag <<-'SH'
		[ -z "$NODE" ] || [ "$NODE" != "$HUNG" ] || exec sleep 600
		exec "$RD" ${NODE:+--from "$T/hosts/$NODE.tar.zst"} "$@"
	SH
	# As ssh: joins its arguments, and has a status of its own for a host that is down.
	stub ssh <<-'SH'
		while [[ $1 == -* ]]; do
			[ "$1" != -o ] || shift
			shift
		done
		export NODE=$1
		shift
		[ "$NODE" != "$DOWN" ] || { echo "ssh: connect to host $NODE port 22: No route to host" >&2; exit 255; }
		exec sh -c "$*"
	SH
	stub squeue <<-'SH'
		[[ " $* " == *" --jobs=4711 "* && " $* " == *" --format=%N "* && " $* " == *" --noheader "* ]] || exit 1
		echo 'node[1-3]'
	SH
	stub scontrol <<-'SH'
		[ "$*" = 'show hostnames node[1-3]' ] && printf 'node%d\n' 1 2 3
	SH
	stub srun <<-'SH'
		for want in --jobid=4711 --overlap --nodes=1 --ntasks=1; do
			[[ " $* " == *" $want "* ]] || { echo "srun: no $want" >&2; exit 1; }
		done
		while [[ $1 == --* ]]; do
			[[ $1 != --nodelist=* ]] || export NODE=${1#*=}
			shift
		done
		[ "$NODE" != "$DOWN" ] || { echo "srun: error: $NODE: not responding" >&2; exit 1; }
		exec "$@"
	SH
	stub kubectl <<-'SH'
		verb=$1
		shift
		case "$verb $1" in
		"get pods")
			[[ " $* " == *" --no-headers "* && " $* " == *" -l app=rdmadiag "* ]] || exit 1
			printf '%s   %s\n' rdmadiag-x7k2p node1 rdmadiag-b41nq node2 rdmadiag-zz0aa node3
			;;
		"debug node/"*)
			[[ " $* " == *" --image="* && " $* " == *" -- sleep "* ]] || exit 1
			echo "Creating debugging pod node-debugger-${1#node/}-x7k2p with container debugger on node ${1#node/}."
			;;
		"wait "*) [ "${*: -1}" = pod/node-debugger-node2-x7k2p ] ;;
		"delete pod") echo "pod \"$2\" deleted" ;;
		"exec "*)
			while [[ $1 != -- ]]; do
				case $1 in
				-n) shift ;;
				-t | -it | -ti | --tty) echo "a terminal would change the bytes" >&2; exit 1 ;;
				rdmadiag-x7k2p) NODE=node1 ;;
				rdmadiag-b41nq | node-debugger-node2-x7k2p) NODE=node2 ;;
				rdmadiag-zz0aa) NODE=node3 ;;
				esac
				shift
			done
			shift
			[ "$1 $2" != "chroot /host" ] || shift 2
			export NODE
			[ "$NODE" != "$DOWN" ] || { echo "Error from server: error dialing backend" >&2; exit 1; }
			exec "$@"
			;;
		*) echo "kubectl: unexpected: $verb $*" >&2; exit 1 ;;
		esac
	SH
}

# Both engines with -R exec, as far as the recipes use them: %h, -w, -u, -f; pdsh starts a program, clush a shell.
# shellcheck disable=SC2016
engine='
while [[ $1 == -* ]]; do
	case $1 in
	-w) hosts=${2//\[/\{}; hosts=${hosts//-/..}; hosts=${hosts//\]/\}}; shift ;;
	-R) [ "$2" = exec ] || exit 1; shift ;;
	-u) limit=$2; shift ;;
	-f) shift ;;
	-n) ;;
	*) exit 1 ;;
	esac
	shift
done
for host in $(eval "echo $hosts"); do
	if [ "${0##*/}" = pdsh ]; then timeout "$limit" "${@//%h/$host}"; else timeout "$limit" sh -c "${*//%h/$host}"; fi &
done
wait'

# block HEADING: the sh block below it
block() {
	awk -v heading="## $1" '$0 == heading { on = 1; next } on && /^## / { exit }
		on && /^```sh$/ { code = 1; next } code && /^```$/ { exit } code' "$TOP/doc/fleet.md" >"$T/block"
	[ -s "$T/block" ]
}

# recipe HEADING [SED-EXPRESSION]
recipe() {
	block "$1"
	[ -z "$2" ] || sed -i "$2" "$T/block"
	# What hangs may outlive its timeout; bats would wait for it.
	run --separate-stderr bash "$T/block" </dev/null 3>&-
	echo "$output"
	echo "$stderr"
}

# says_the_same NODE…: the bundle that was collected says what the host's own says, and only its owner can read it
says_the_same() {
	local node
	for node; do
		diff <("$RD" --from "$T/hosts/$node.tar.zst" qp-state -o +reason) \
			<("$RD" --from "bundles/$node.tar.zst" qp-state -o +reason)
		[ "$(stat -c %a "bundles/$node.tar.zst")" = 600 ]
	done
}

# collects HEADING: from all hosts; with one down from the others, and names that one
collects() {
	recipe "$1"
	[ "$status" -eq 0 ]
	[ "$(ls bundles)" = "$(printf 'node%d.tar.zst\n' 1 2 3)" ]
	says_the_same node1 node2 node3
	rm -r bundles
	DOWN=node2 recipe "$1"
	[[ $output == *bundles/node2.part* ]]
	[ "$(ls bundles)" = "$(printf 'node1.tar.zst\nnode2.part\nnode3.tar.zst')" ]
	says_the_same node1 node3
	rm -r bundles
	# A host that hangs does not hold up the others, which have to be done before it is ended.
	HUNG=node3 recipe "$1" 's/120/10/'
	[ "$(ls bundles)" = "$(printf 'node1.tar.zst\nnode2.tar.zst\nnode3.part')" ]
	rm -r bundles
}

@test "every recipe of the page is tested" {
	[ "$(grep -c '^```sh$' "$TOP/doc/fleet.md")" -eq 6 ]
	# "Always on" is one command of systemd.
	[ "$(grep -c '^## ' "$TOP/doc/fleet.md")" -eq 7 ]
	for heading in ClusterShell pdsh Slurm "Kubernetes, DaemonSet" "Kubernetes, kubectl debug" "Read the bundles"; do
		block "$heading"
		bash -n "$T/block"
	done
}

@test "the recipe for ClusterShell" {
	command -v clush >/dev/null || skip "no clush"
	export DOWN HUNG
	collects ClusterShell
}

@test "the recipe for pdsh" {
	pdsh -V >/dev/null 2>&1 || skip "no pdsh that runs here" # Debian 13 has a script for its file in /usr/bin
	export DOWN HUNG
	collects pdsh
}

@test "the recipes for ClusterShell and pdsh, with stubs" {
	export DOWN HUNG
	stub clush <<<"$engine"
	stub pdsh <<<"$engine"
	collects ClusterShell
	collects pdsh
}

@test "the recipe for Slurm" {
	export DOWN HUNG
	collects Slurm
}

@test "the recipe for a DaemonSet" {
	export DOWN HUNG
	collects "Kubernetes, DaemonSet"
}

@test "the recipe for kubectl debug" {
	recipe "Kubernetes, kubectl debug"
	[ "$status" -eq 0 ]
	says_the_same node2
	[[ $output == *deleted* ]]
	rm -r bundles
	export DOWN=node2
	recipe "Kubernetes, kubectl debug"
	[ "$(ls bundles)" = node2.part ]
}

@test "what was collected is joined, compared and checked" {
	stub clush <<<"$engine"
	recipe ClusterShell
	recipe "Read the bundles"
	[[ $output == *"pairs of 3 hosts:"* ]]
	[[ $output == *"nic-map of 3 hosts"* ]]
	for node in node1 node2 node3; do
		[[ $output == *"== bundles/$node.tar.zst"* ]]
	done
	[ -z "$stderr" ] || [[ $stderr != *"rdmadiag: "*"cannot"* ]]
	# One that cannot be read is named, and nothing is concluded from the others.
	head -c 1000 "$T/hosts/node2.tar.zst" >bundles/node2.tar.zst
	run -3 --separate-stderr rdmadiag qp-state --join bundles/*.tar.zst
	[ -z "$output" ]
	[[ $stderr == *"bundles/node2.tar.zst: not a complete tar archive"* ]]
}

@test "the lines at the top of the page" {
	stub clush <<<"$engine"
	recipe ClusterShell
	ssh node1 rdmadiag capture - | rdmadiag --from - topo-check >"$T/piped" || true
	diff <("$RD" --from "$T/hosts/node1.tar.zst" topo-check) "$T/piped"
	grep -qF 'ssh node1 rdmadiag capture - | rdmadiag --from - topo-check' "$TOP/doc/fleet.md"
}
