#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# What trace-errno does before it touches a kernel, and where there is nothing to trace. The rest needs a machine of its
# own: tests/vm.

load here

# refused ARGUMENT...: bad usage. Exit 3, nothing on standard output, one or two lines that name the first argument.
refused() {
	run -3 --separate-stderr "$RD" trace-errno "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -le 2 ]
	local name=${1%%=*}
	[[ ${stderr_lines[0]} == *"${name#--}"* ]]
}

no_rdma() {
	if [ -e /sys/class/infiniband ] || [ -e /sys/module/ib_core ]; then
		skip "this host has RDMA modules"
	fi
}

@test "arguments that are no good: exit 3 and the option's name" {
	for bad in --duration=0 --duration=-1 --duration=x --duration=nan --duration=1e99 --duration= \
		--events=0 --events=-1 --events=x --events=99999999999999999999 \
		--pid=0 --pid=x --pid=99999999 \
		--errno=EWHAT --errno=0 --errno=99999 \
		--backend=fentry --backend=none --backend= \
		--buffer=0 --buffer=x --buffer=1g --buffer=99999m --buffer=-4k --buffer=4kk \
		--max-hooks=0 --max-hooks=x --max-cpu=0 --max-cpu=-1 --max-cpu=nan --max-cpu=1%% --max-cpu= \
		--max-unread=-1 --max-unread=x --max-unread= \
		--comm= --comm=sixteen-letters. --function=; do
		refused "$bad"
	done
}

@test "options that do not go together" {
	refused --user=root
	refused --keep-privs -- true
	refused --list --summary
	refused --list -- true
	refused --status -- true
	refused --detach-all --summary
	refused --status --list
	refused --detach-all --status
	refused --service -- true
	refused --service --summary
	refused --service --status
	refused --service --duration=3
	refused --service --pid=1
	refused --service --benign
	refused --service -o pid
	refused --log=x
	refused --log-size=4 --service
	refused --log-size=0 --service --log=x
	refused --report=0 --service
	refused --report=3
	refused --textfile=x
}

@test "a user that is none: exit 3, before anything else is looked at" {
	for bad in no-such-user '' ' ' ' 0' '0 ' +0 -0 -1 0x0 0,0 '#0' 1e1 4294967295 4294967296 4294968296 18446744073709551616; do
		refused "--user=$bad" -- touch "$BATS_TEST_TMPDIR/ran"
		[[ ${stderr_lines[0]} == *"'$bad'"* ]]
	done
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "a column that the output does not have: exit 3, and those there are" {
	for kind in "" --summary --list --status; do
		# shellcheck disable=SC2086 # none or one
		run -3 --separate-stderr "$RD" trace-errno $kind -o nonsense
		[ -z "$output" ]
		[[ ${stderr_lines[0]} == *--columns*nonsense* ]]
	done
	run --separate-stderr "$RD" trace-errno -o nonsense
	[[ ${stderr_lines[1]} == *pid*origin* ]]
	run --separate-stderr "$RD" trace-errno --summary -o nonsense
	[[ ${stderr_lines[1]} == *count*function* ]]
	run --separate-stderr "$RD" trace-errno --list -o nonsense
	[[ ${stderr_lines[1]} == *reason*attachable* ]]
	run --separate-stderr "$RD" trace-errno --status -o nonsense
	[[ ${stderr_lines[1]} == *holder_pid*command* ]]
}

# Nobody may look: that is not the same as that nothing is there.
@test "what is attached is not known without permission to look: exit 3" {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root, to do without it"
	# Bats's own folders are for root only.
	open=$(mktemp -d)
	chmod 755 "$open"
	cp "$RD" "$open/rd"
	for option in --status --detach-all; do
		run -3 --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
			"$open/rd" --json trace-errno $option
		[[ $stderr == *"traces are unknown"*EPERM*CAP_SYS_ADMIN* ]]
		[[ $stderr != *"nothing is attached"* ]]
		jq -e '.status == 3 and .errors[0].errno == "EPERM"' <<<"$output"
	done
	rm -r "$open"
}

@test "no RDMA modules: one clear message, exit 3, and the command is not run" {
	no_rdma
	for kind in "" --summary --list "-- touch $BATS_TEST_TMPDIR/ran"; do
		# shellcheck disable=SC2086 # words
		run -3 --separate-stderr "$RD" trace-errno $kind
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -le 4 ]
		[[ $stderr == *"no RDMA module is loaded"* ]]
	done
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "with --json the failure is a document, too" {
	no_rdma
	for kind in "" --summary; do
		# shellcheck disable=SC2086 # none or one
		run -3 --separate-stderr "$RD" trace-errno --json $kind
		jq -e '.schema == "rdmadiag/trace-errno-summary/1" and .source == "live" and .status == 3 and
			(.findings | length) == 0 and .errors[0].errno == "ENODEV"' <<<"$output"
	done
	run --separate-stderr "$RD" trace-errno --json
	[ "${#lines[@]}" -eq 1 ]
	run -3 --separate-stderr "$RD" --json trace-errno --list
	jq -e '.schema == "rdmadiag/trace-errno-list/1" and .status == 3' <<<"$output"
}

@test "what follows the command belongs to it" {
	no_rdma
	run -3 --separate-stderr "$RD" trace-errno ls --no-such-option-of-ours
	[[ $stderr == *"no RDMA module is loaded"* ]]
}

@test "hints are read without complaint" {
	run grep -vE '^(#|$)' data/hints
	for line in "${lines[@]}"; do
		read -r verb errno origin hint <<<"$line"
		[ -n "$verb$errno$origin" ]
		[ -n "$hint" ] || { echo "$line"; return 1; }
		# Errno names, not words of the hint in the wrong column.
		[[ $errno == "*" || $errno =~ ^E[A-Z0-9]+$ ]] || { echo "$line"; return 1; }
	done
}

# Recorded on 6.12 with soft-RoCE by tests/vm/cases/50-command.sh, which compares it with what was shown then.
@test "a recorded trace is shown again, with causes that are looked for again" {
	run bash -c '"$1" --from tests/bundles/trace-rxe.tar.zst --json trace-errno | jq -r "select(.chain and .cause_id) |
		[.verb, .errno, .origin.function, .cause_id, .confidence] | join(\" \")"' - "$RD"
	[ "$output" = "ibv_reg_mr EFAULT ib_umem_get memory-not-mapped high
ibv_reg_mr EFAULT ib_umem_get memory-read-only high
ibv_create_cq EINVAL rxe_cq_chk_attr limit-exceeded high
ibv_create_qp EINVAL rxe_qp_chk_cap limit-exceeded high
ibv_modify_qp EINVAL rxe_qp_from_attr qp-attribute-missing high
ibv_modify_qp ENODATA rdma_fill_sgid_attr gid-index-unused high
rdma_bind_addr EADDRINUSE cma_check_port.isra.0 address-in-use high
rdma_resolve_addr ENETUNREACH addr_resolve no-route high
ibv_reg_mr EFAULT ib_umem_get memory-not-mapped high
ibv_reg_mr EFAULT ib_umem_get memory-not-mapped high
ibv_reg_mr ENOMEM ib_umem_get memlock-limit high" ]
	# The limit of the device, and the route, are not in the records: they are of the host.
	run -0 "$RD" --from tests/bundles/trace-rxe.tar.zst trace-errno
	[[ $output == *"max_cqe"* && $output == *"no route"* ]]
	run -0 --separate-stderr "$RD" --from tests/bundles/trace-rxe.tar.zst trace-errno --summary
	[[ $output == *ib_umem_get* ]]
	# shellcheck disable=SC2154
	[[ $stderr == *"25 events in "* ]]
}

@test "what of a recorded trace is damaged is refused" {
	mkdir "$BATS_TEST_TMPDIR/t"
	tar --zstd -xf tests/bundles/trace-rxe.tar.zst -C "$BATS_TEST_TMPDIR/t"
	cd "$BATS_TEST_TMPDIR/t"
	jq 'del(.hash, .samples[].shape, .samples[].requests[].hash)' manifest.json >m && mv m manifest.json
	run -0 "$RD" --from . trace-errno --json
	truncate -s -1 t003/root/trace-errno/events
	run -3 --separate-stderr "$RD" --from . trace-errno
	[[ ${stderr_lines[-1]} == *"an event is damaged"* ]]
	sed -i '1s/.*/trace 1 1 2 3/' t000/root/trace-errno/functions
	run -3 --separate-stderr "$RD" --from . trace-errno
	[[ ${stderr_lines[0]} == *"written by another version"* ]]
}

@test "nothing is traced, and no filter applies, with --from" {
	for bad in --pid=1 --live --service --duration=1 --record=x --stack --device=rxe0; do
		run -3 "$RD" --from tests/bundles/trace-rxe.tar.zst trace-errno "$bad"
	done
	run -3 "$RD" --from tests/bundles/trace-rxe.tar.zst trace-errno -- true
	refused --freeze-on=QP_ERR
	run -3 "$RD" trace-errno --service --black-box /tmp --freeze-on QP_ERR --freeze-on WHAT
	[[ $output == *WHAT* ]]
}
