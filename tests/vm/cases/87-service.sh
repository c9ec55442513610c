# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# trace-errno --service: what it counts, what it logs, and what it survives.
# kernels: 6.12
# asked: 6.1 7.x
# turn: 5
# boot: service

prepare() {
	[ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up --one
}

# service NAME ARG…: starts it, and waits until it is ready. Its output: $W/NAME.json, $W/NAME.err, $W/NAME.prom
service() {
	local name=$1
	shift
	: >"$W/$name.err"
	rm -f "$W/$name.ready"
	rm -f "$W/$name.notify"
	python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
with open(sys.argv[2], "a") as f:
    while True:
        print(s.recv(4096).decode(), file=f, flush=True)' "$W/$name.notify" "$W/$name.ready" &
	until_true 10 test -S "$W/$name.notify"
	# shellcheck disable=SC2046
	NOTIFY_SOCKET=$W/$name.notify "$R" trace-errno --service -v --textfile "$W/$name.prom" $(fast) "$@" \
		>"$W/$name.json" 2>>"$W/$name.err" &
	pid[$name]=$!
	until_true 240 grep -qs READY=1 "$W/$name.ready" || {
		cat "$W/$name.err"
		fail "$name is not ready"
	}
}

# worker NAME: the process that reads the events
worker() {
	pgrep -P "${pid[$1]}" -x rdmadiag
}

# soon NAME COMMAND…: until it is true; else what the service said
soon() {
	until_true 60 "${@:2}" || {
		cat "$W/$1.err" "$W/$1.ready"
		ls -l "$W"
		tail -c 1500 "$W/$1.json"
		fail "not soon: ${*:2}"
	}
}

# counted NAME FUNCTION: failures in its textfile
counted() {
	awk -v f="function=\"$2\"" '/^rdmadiag_service_failures_total/ && index($0, f) { n += $NF } END { print n + 0 }' "$W/$1.prom"
}

has_counted() { # NAME FUNCTION COUNT
	[ "$(counted "$1" "$2" 2>/dev/null)" = "$3" ]
}

test_crash_loop_is_one_line() {
	local n
	service loop --report 300
	for n in 1 2 3 4 5 6 7; do
		run reg-mr-memlock --dev rxe0 --uid 65534
	done
	end loop TERM
	true_of "$W/loop.json" '[.[] | select(.schema == "rdmadiag/trace-errno-crash-loop/1")] | length == 1 and
		(.[0] | .failed == 7 and .starts == 7 and (.summary | test("^same origin in 7 of the last 7 starts with a failure, first at [0-9T:-]{19}Z$")) and
		 .errno == "ENOMEM" and .verb == "ibv_reg_mr" and (.cause | test("RLIMIT_MEMLOCK")) and .first < .last)'
	# The first two are events.
	true_of "$W/loop.json" '[.[] | select(.errno == "ENOMEM" and .pid?)] | length == 2'
	[ "$(counted loop ib_umem_get)" -ge 7 ]
}

boxes() { # N: so many bundles
	[ "$(ls "$W/box" | wc -l)" = "$1" ]
}

# A link that goes down is a bundle of what was logged before, byte for byte, and of what queue pairs did; so is SIGUSR1.
test_black_box() {
	local dev
	mkdir -p "$W/box"
	service box --black-box "$W/box" --freeze-on LINK_DOWN --report 2
	run reg-mr-unmapped --dev rxe0
	run create-qp-limit --dev rxe0
	run modify-qp-missing-attr --dev rxe0
	soon box has_lines 3 '"cause_id":"' "$W/box.json"
	boxes 0
	dev=$(cat /sys/class/infiniband/rxe0/parent 2>/dev/null || echo v0)
	ip link set "$dev" down
	soon box boxes 1
	ip link set "$dev" up
	"$R" --from "$W"/box/* trace-errno --json >"$W/again.json"
	grep '"chain"' "$W/box.json" >"$W/logged.json"
	diff "$W/logged.json" "$W/again.json"
	"$R" --from "$W"/box/* qp-state --trace --json >"$W/qps.json"
	cp "$W"/box/* "$W/box.json" "$W/qps.json" "$RD_VM_OUT"
	true_of "$W/qps.json" 'any(.[]; .event == "PORT_ERR" and .ibdev == "rxe0") and any(.[]; .kind == "create")'
	# Of the device events of the log, those before the bundle, as they are in it.
	grep '"device-event"' "$W/qps.json" >"$W/devices.json"
	grep '"device-event"' "$W/box.json" | head -n "$(wc -l <"$W/devices.json")" | diff "$W/devices.json" -
	# What counters did meanwhile: of two samples, by the same names and the same time.
	"$R" --from "$W"/box/* counters --json >"$W/moved.json" || [ $? -le 2 ]
	cp "$W/moved.json" "$RD_VM_OUT"
	true_of "$W/moved.json" 'any(.[0].counters[]; .ibdev == "rxe0" and .name == "link_downed" and .delta >= 1)'
	nap 1.1 # the names have seconds
	kill -USR1 "${pid[box]}"
	soon box boxes 2
	end box TERM
}

result_is() { # RESULT [FROM]: of the rule, in $W/check.json; a note counts as pass
	"$R" ${2:+--from "$2"} check --json --deadline 20 >"$W/check.json" || :
	true_of "$W/check.json" 'any(.[0].checks[]; .id == "failed-calls" and .result == $is)' --arg is "$1" >/dev/null
}

status_is() { # EXPRESSION: of the failures that --status lists
	"$R" trace-errno --status --json >"$W/status.json" && true_of "$W/status.json" ".[0].failures | $1" >/dev/null
}

no_box() { # RE ARG…: capture --black-box fails, and says this
	local status=0
	"$R" capture --black-box 2>"$W/no-box.err" >"$W/no-box" || status=$?
	[ $status = 3 ] && [ ! -s "$W/no-box" ] && grep -q "$1" "$W/no-box.err"
}

# Other commands know the failures of the last hour: check, --status, explain, job, bundles; and have the black box written.
test_others_know() {
	local n
	mkdir -p "$W/known"
	rm -f /run/rdmadiag/trace-errno
	no_box 'does not run on this host'
	result_is skip
	service known --report 1
	no_box 'without --black-box'
	ibv_devinfo -v >"$W/devinfo" # fails in calls that healthy programs make
	nap 3
	status_is 'length == 0'
	result_is skip # for less than an hour
	run create-cq-limit --dev rxe0
	soon known status_is 'length == 1 and .[0].verb == "ibv_create_cq" and .[0].errno == "EINVAL" and .[0].count == 1 and
		.[0].comm == "verbs-fail" and .[0].ibdev == "rxe0" and .[0].failed == null'
	result_is pass
	for n in 1 2 3 4; do
		run reg-mr-memlock --dev rxe0 --uid 65534
	done
	soon known status_is 'any(.[]; .verb == "ibv_reg_mr" and .failed == 4 and .starts >= 4 and (.cause | test("RLIMIT_MEMLOCK")))'
	result_is warn
	cp "$W/check.json" "$W/status.json" "$RD_VM_OUT"
	"$R" explain 'Call to ibv_reg_mr failed with error Cannot allocate memory' | tee "$RD_VM_OUT/explain" |
		grep -q 'ibv_reg_mr of verbs-fail (pid [0-9]*) failed with ENOMEM in [a-z_]*, 4 times in the last hour'
	cp /bin/sleep "$W/verbs-fail"
	"$W/verbs-fail" 600 &
	"$R" job $! | tee "$RD_VM_OUT/job" | grep -q '^ *ibv_create_cq of verbs-fail (pid [0-9]*) failed with EINVAL'
	kill $!
	"$R" capture --force "$W/known.tar"
	result_is warn "$W/known.tar"
	"$R" --from "$W/known.tar" capture --redact --force "$W/redacted.tar"
	result_is skip "$W/redacted.tar"
	end known TERM
	service known --report 1 --black-box "$W/known"
	run create-cq-limit --dev rxe0
	soon known status_is 'length == 1'
	"$R" capture --black-box --json | tee "$RD_VM_OUT/box.json" | jq -r '.bundles[0].file' >"$W/box-name"
	"$R" --from "$(<"$W/box-name")" trace-errno --json | grep -q '"verb":"ibv_create_cq"'
	[ "$(dirname "$(<"$W/box-name")")" = "$W/known" ]
	setpriv --reuid 65534 --regid 65534 --clear-groups "$R" capture --black-box 2>"$W/denied.err" && return 1
	grep -q CAP_SYS_ADMIN "$W/denied.err"
	end known KILL || :
	# Until it is out of date.
	soon known result_is skip
	no_box 'does not run'
}

# The process that parses what others wrote can do nothing else.
test_worker_has_no_privileges() {
	local worker
	service caps
	worker=$(worker caps)
	grep -qx $'Uid:\t65534\t65534\t65534\t65534' "/proc/$worker/status"
	grep -qx $'CapPrm:\t0000000000000000' "/proc/$worker/status"
	grep -qx $'NoNewPrivs:\t1' "/proc/$worker/status"
	grep -qx $'Seccomp:\t2' "/proc/$worker/status"
	"$R" trace-errno --status --json >"$W/status.json"
	true_of "$W/status.json" '[.[0].attached[] | select(.what == "service" and (.command | test("--service")))] | length == 1'
	end caps TERM
}

has_another_worker() { # NAME WORKER
	local now
	now=$(worker "$1") && [ "$now" != "$2" ]
}

has_lines() { # N RE FILE
	[ "$(grep -c -- "$2" "$3")" -ge "$1" ]
}

# More than the log gets, and more than the ring buffer holds.
test_counts_are_exact() {
	service many --buffer 64k --report 1
	run burst --dev rxe0
	end many TERM
	has_counted many ib_umem_get 20000 || has_counted many ib_uverbs_reg_mr 20000 || {
		cat "$W/many.prom"
		fail "not 20000"
	}
	true_of "$W/many.json" '([.[] | select(.pid?)] | length) as $n | $n >= 1 and $n <= 40 and
		([.[] | select(.event? == "suppressed") | .count] | add) > 0'
}

# After a restart the counts go on.
test_counts_go_on() {
	local n
	for n in 1 2; do
		service on
		run reg-mr-unmapped --dev rxe0
		end on TERM
		has_counted on ib_umem_get $n || fail "$(cat "$W/on.prom")"
	done
}

test_reload_and_rotation() {
	local n
	jq -nc '{ time: "before", text: ("x" * (1024 * 1024)) }' >"$W/log.txt"
	service log --log "$W/log.txt" --log-size 1
	for n in 1 2 3 4 5 6; do
		run reg-mr-unmapped --dev rxe0
	done
	soon log test -s "$W/log.txt.1"
	mv "$W/log.txt" "$W/log.moved"
	kill -HUP "${pid[log]}"
	soon log grep -q RELOADING=1 "$W/log.ready"
	soon log test -e "$W/log.txt"
	run create-cq-limit --dev rxe0
	soon log grep -q EINVAL "$W/log.txt"
	end log TERM
	cat "$W"/log.txt* "$W/log.moved" | jq -es '([.[] | select(.verb? == "ibv_create_cq")] | length) >= 1 and all(.[]; .time)'
	has_counted log ib_umem_get 6
}

# Lines wait until there is room again.
test_full_disk() {
	local n fails=()
	mkdir -p "$W/small"
	mount -t tmpfs -o size=1m small "$W/small"
	head -c 1m /dev/zero >"$W/small/fill" || :
	service full --log "$W/small/log" --report 1
	# All at once, so that they are no crash loop.
	for n in {1..40}; do
		"$FAIL" reg-mr-memlock --dev rxe0 --uid 65534 --memlock $((65536 + n * 4096)) 2>/dev/null &
		fails+=($!)
	done
	wait "${fails[@]}" || :
	soon full has_counted full ib_umem_get 40
	rm "$W/small/fill"
	run create-cq-limit --dev rxe0
	soon full grep -q EINVAL "$W/small/log"
	end full TERM
	jq -es . "$W/small/log" >/dev/null
	has_counted full ib_umem_get 40
	umount "$W/small"
}

# Whatever is killed, counts stay and tracing goes on.
test_kill() {
	local worker
	service killed --report 1
	run reg-mr-unmapped --dev rxe0
	soon killed has_counted killed ib_umem_get 1
	worker=$(worker killed)
	kill -9 "$worker"
	soon killed has_another_worker killed "$worker"
	run reg-mr-unmapped --dev rxe0
	soon killed has_counted killed ib_umem_get 2
	true_of "$W/killed.json" 'any(.[]; .event? == "worker-died" and .since)'
	kill -9 "$(pgrep -o -P "${pid[killed]}" rdmadiag-hold)" # that of the recorder is younger
	soon killed has_lines 2 ': hooked ' "$W/killed.err"
	run reg-mr-unmapped --dev rxe0
	soon killed has_counted killed ib_umem_get 3
	# The worker notices, and writes what it knows.
	run reg-mr-unmapped --dev rxe0
	end killed KILL || :
	soon killed has_counted killed ib_umem_get 4
	gone
}

unloaded() {
	! [ -e /sys/module/rdma_rxe ] || modprobe -r rdma_rxe 2>>"$W/unload.err"
}

# reload_driver NAME: unloads what the service holds hooks of, and loads it again. The rest is traced meanwhile.
reload_driver() {
	: >"$W/$1.err"
	rdma link delete rxe0
	until_true 90 unloaded
	cat "$W/unload.err"
	grep -q 'rdma_rxe is to be unloaded' "$W/$1.err"
	modprobe rdma_rxe
	rdma link add rxe0 type rxe netdev v0 || rdma link add rxe0 type rxe netdev "$(ls /sys/class/net | grep -m1 -v lo)"
	soon "$1" grep -q 'rdma_rxe was loaded' "$W/$1.err"
}

test_driver_is_reloaded() {
	service reload --report 1
	run reg-mr-unmapped --dev rxe0
	soon reload has_counted reload ib_umem_get 1
	reload_driver reload
	run create-cq-limit --dev rxe0
	soon reload grep -q '"module":"rdma_rxe"' "$W/reload.json"
	end reload TERM
	true_of "$W/reload.json" 'any(.[]; .verb? == "ibv_create_cq" and .errno == "EINVAL")'
}

# systemd of this machine's distribution as process 1 of a namespace, with the unit of the packages and nothing else but its journal.
systemd_up() {
	local name
	[ -x /lib/systemd/systemd ] || skip "no systemd"
	mkdir -p "$W/units/rdmadiag-trace.service.d" /usr/share/rdmadiag
	cp "$R" /usr/bin/rdmadiag
	cp -r data/. /usr/share/rdmadiag
	for name in /lib/systemd/system/{sysinit,basic,timers,sockets}.target.wants/*; do
		[[ $name == */systemd-journald[.-]* || $name == *.target ]] || ln -sf /dev/null "$W/units/${name##*/}"
	done
	cp systemd/rdmadiag-trace.service "$W/units"
	printf '[Service]\nExecStart=\n%s --report 1 %s\n' "$(grep ^ExecStart= systemd/rdmadiag-trace.service)" "$(fast)" \
		>"$W/units/rdmadiag-trace.service.d/faster.conf"
	mkdir -p /run/new
	# shellcheck disable=SC2016
	container=vm unshare --pid --fork --mount --mount-proc --kill-child sh -c 'mount -t tmpfs new /run/new
		mkdir -p /run/new/systemd && cp -r "$1/units" /run/new/systemd/system && mount -n --move /run/new /run &&
		exec /lib/systemd/systemd --system --unit=basic.target --log-target=console' sh "$W" >"$W/systemd.log" 2>&1 &
	pid[systemd]=$!
	until_true 60 control is-active basic.target 2>/dev/null
}

control() { # ARG…: of systemctl
	nsenter -t "$(pgrep -P "${pid[systemd]}" -x systemd)" -p -m systemctl --no-pager "$@"
}

controlled() { # WHAT: start, reload, restart, stop
	control "$1" rdmadiag-trace || {
		control status rdmadiag-trace
		cat "$W/systemd.log"
		fail "$1"
	}
}

# What the unit may do is enough for it: it starts, reloads and ends, and counts go on.
test_systemd() {
	local pid_of
	systemd_up || {
		cat "$W/systemd.log"
		fail "no systemd comes up"
	}
	ln -s /var/lib/rdmadiag/trace-errno.prom "$W/unit.prom"
	in_time 100000 controlled start
	pid_of=$(control show -P MainPID rdmadiag-trace)
	run reg-mr-unmapped --dev rxe0
	until_true 30 has_counted unit ib_umem_get 1
	in_time 20000 controlled reload
	run reg-mr-unmapped --dev rxe0
	until_true 30 has_counted unit ib_umem_get 2
	[ "$(control show -P MainPID -P NRestarts rdmadiag-trace | paste -sd ' ')" = "$pid_of 0" ]
	# As of an upgrade; what is read last is written before the end.
	run reg-mr-unmapped --dev rxe0
	in_time 130000 controlled restart
	run reg-mr-unmapped --dev rxe0
	in_time 20000 controlled stop
	has_counted unit ib_umem_get 4
	[ "$(control show -P Result rdmadiag-trace)" = success ]
	kill "${pid[systemd]}"
}

rss() { # NAME: of its two processes, KiB
	cat "/proc/${pid[$1]}/status" "/proc/$(worker "$1")/status" | awk '/^VmRSS:/ { n += $2 } END { print n }'
}

# Two minutes, or as long as `make soak` wants, which reloads the driver every ten: memory does not grow, and every failure is counted.
test_under_load() {
	local seconds=120 began n=0 early=0 late reloads=0
	[ ! -e build/tests/vm/soak ] || seconds=$(<build/tests/vm/soak)
	service load --report 5 --log "$W/load.log" --log-size 1
	began=$(now)
	while [ $(($(now) - began)) -lt $((seconds * 1000)) ]; do
		"$FAIL" reg-mr-unmapped --dev rxe0 --repeat 200 --threads 2 2>/dev/null
		n=$((n + 400))
		sleep 1 # the tests beside this one need the processor
		if [ $(($(now) - began)) -gt $(((reloads + 1) * 600000)) ]; then
			reload_driver load
			reloads=$((reloads + 1))
		fi
		if [ "$early" = 0 ] && [ $(($(now) - began)) -gt $((seconds * 300)) ]; then early=$(rss load); fi
	done
	late=$(rss load)
	echo "$KERNEL: $n failures in $seconds s, driver reloaded $reloads times, resident $early KiB after a third, $late KiB at the end, ticks of the worker: $(
		cut -d' ' -f14,15 "/proc/$(worker load)/stat")" | tee -a "$RD_VM_OUT/load"
	[ "$late" -le $((early + early / 10 + 1024)) ]
	end load TERM
	has_counted load ib_umem_get $n || fail "$n: $(cat "$W/load.prom")"
}
