# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Drivers that nobody has heard of, that have no type information, or no hardware here; and little privilege.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: unknown-driver two-capabilities all-drivers
# sample 7.x: unknown-driver two-capabilities all-drivers
# turn: 4
# boot: drivers

CALL=build/tests/vm/rdtest-call

prepare() {
	modprobe -a ib_uverbs
}

# unknown FILE: loads it from where its vendor's package would have put it
unknown() {
	local file=build/tests/vm/$RD_VM_KERNEL-module/$1 modules
	[ -e "$file" ] || skip "there is no $1 for $KERNEL: $(tail -1 "build/tests/vm/$RD_VM_KERNEL-module.log")"
	modules=/lib/modules/$(uname -r)
	if ! [ -e "$modules/updates" ]; then
		mkdir -p /run/modules/up /run/modules/work
		mount -t overlay -o "lowerdir=$modules,upperdir=/run/modules/up,workdir=/run/modules/work" modules "$modules"
		mkdir "$modules/updates"
		echo updates/rdtest.ko: >>"$modules/modules.dep"
	fi
	cp "$file" "$modules/updates/rdtest.ko"
	# Hooks of the trace before may still hold it.
	! [ -e /sys/module/rdtest ] || until_true 90 rmmod rdtest 2>/dev/null
	insmod "$modules/updates/rdtest.ko"
}

calls() { # TRACE [ARG…]
	$CALL "${@:2}" &
	ran=$!
	wait $ran
	sleep 0.5
	events_of "$W/$1.json" $ran >"$W/got"
	cat "$W/got"
}

test_unknown_driver() {
	unknown rdtest.ko
	trace unknown
	calls unknown
	[ "$(<"$W/got")" = "$(expected rdtest)" ]
	calls unknown --removed
	[ "$(<"$W/got")" = "$(expected rdtest-removed)" ]
	end unknown
	true_of "$W/unknown.json" '.[-1] | (.backends["kprobe-multi"] // 0) + (.backends.kprobe // 0) >= 4'
}

test_unknown_driver_without_file() {
	unknown rdtest.ko
	rm "/lib/modules/$(uname -r)/updates/rdtest.ko"
	trace unknown
	calls unknown
	[ "$(<"$W/got")" = "$(expected rdtest-no-file)" ]
	end unknown
	true_of "$W/unknown.json" 'any(.[-1].errors[]; .object == "rdtest")'
}

test_unknown_driver_with_types() {
	only 6.12 7.x
	unknown rdtest.btf.ko
	trace unknown --backend fexit
	calls unknown
	[ "$(<"$W/got")" = "$(expected rdtest)" ]
	end unknown
}

# All that is hooked here are a few functions of the core: cheap to try what works for whom.
as_nobody() { # CAPABILITY,…
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "$1" --ambient-caps "$1" "${@:2}"
}

test_two_capabilities() {
	local status=0
	as_nobody +bpf,+perfmon "$R" trace-errno --json --duration 1 >"$W/caps.json" 2>"$W/caps.err" || status=$?
	cat "$W/caps.err"
	echo "status $status"
	tail -1 "$W/caps.json"
	if [ $status = 0 ]; then
		true_of "$W/caps.json" '.[-1].functions > 20'
	else
		[ $status = 3 ]
		grep -q CAP_SYS_ADMIN "$W/caps.err"
	fi
}

test_hidden_addresses() {
	unknown rdtest.ko
	sysctl -qw kernel.kptr_restrict=2
	trace hidden
	calls hidden
	sysctl -qw kernel.kptr_restrict=0
	end hidden
	[ "$(<"$W/got")" = "$(expected rdtest)" ]
}

# The same origins through kprobes, and what that loses is said.
test_rxe_without_types() {
	rmmod rdtest 2>/dev/null || :
	tests/vm/guest/objcopied rdma_rxe --remove-section=.BTF --remove-section=.BTF.base
	. tests/vm/guest/rxe-up --one
	trace stripped
	grep -i 'BTF' "$W/stripped.err"
	for case in reg-mr-unmapped create-cq-limit create-qp-limit modify-qp-missing-attr; do
		run $case --dev rxe0
		shows stripped $case
	done
	end stripped
	true_of "$W/stripped.json" '.[-1] | (.backends["kprobe-multi"] // 0) + (.backends.kprobe // 0) > 20 and
		any(.errors[]; .object + .message | test("rxe"))'
}

# All drivers of the kernel's package, without hardware. The counts of the day are in ../COUNTS.md (check --counts).
test_all_drivers() {
	local driver
	# Hooks of the trace before may still hold it.
	! [ -e /sys/module/rdtest ] || until_true 90 rmmod rdtest 2>/dev/null
	for driver in "/lib/modules/$(uname -r)"/kernel/drivers/infiniband/hw/*/*.ko*; do
		driver=${driver##*/}
		modprobe -q "${driver%.ko*}" || echo "not loaded: $driver"
	done
	modprobe -qa rdma_ucm ib_umad rdma_rxe siw || :
	"$R" trace-errno --list --json >"$W/drivers.json"
	jq -r '.functions | map(select(.selected)) | group_by(.module)[] |
		"\(.[0].module) \(length) \(map(select(.attachable | length > 0)) | length)"' "$W/drivers.json" |
		tee "$RD_VM_OUT/counts"
	at_least ib_core 50
	at_least ib_uverbs 50
	at_least rdma_rxe 30
	at_least mlx5_ib 100
	at_least mlx4_ib 35
	at_least irdma 50
	[ "$KERNEL" = 6.1 ] || at_least bnxt_re 30
}

at_least() { # MODULE FUNCTIONS: as many are selected, and all but one in twenty can be hooked
	awk -v m="$1" -v n="$2" '$1 == m { found = 1; exit !($2 >= n && $3 >= 0.95 * $2) } END { exit !found }' "$RD_VM_OUT/counts" ||
		fail "too few: $1 ($2)"
}

test_all_drivers_attach() {
	local selected
	[ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up --one
	selected=$(awk '{ n += $3 } END { print n }' "$RD_VM_OUT/counts")
	trace drivers
	run reg-mr-unmapped --dev rxe0
	shows drivers reg-mr-unmapped
	end drivers
	tail -1 "$W/drivers.json" | jq -c '{ backends, functions, errors }' | tee "$RD_VM_OUT/attached"
	true_of "$W/drivers.json" '.[-1].functions >= 0.95 * $n' --argjson n "$selected"
}
