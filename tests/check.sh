#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the named parts of the test suite: packages build lint unit san fuzz bats accept torture fabric package fresh vm arm64. "test" stands
# for those that need no network, installation or virtual machine, "all" for all. Last line: "N passed, N failed, N skipped".
# V=1 also names every test that passed. build/check/parts.md: how long each part took.
#
# Three jobs run at a time, because each waits much of the time; first those that a machine beside them would slow down; then the
# virtual machines, and beside them, one at a time, what only computes.
# What takes part in turns has the next turn with the next commit (turn).
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=path.sh
. tests/path.sh

verbose=${V:-0}
logs=build/check
passed=0 failed=0 skipped=0
unset MAKEFLAGS MAKELEVEL MFLAGS # of the make that called us
export HISTFILE=/dev/null        # of shells on the terminals of views
rm -rf $logs
mkdir -p $logs

pass() {
	passed=$((passed + 1))
	[ "$verbose" = 0 ] || printf 'ok      %s\n' "$1"
}

# fail NAME [LOG]
fail() {
	failed=$((failed + 1))
	printf 'not ok  %s\n' "$1"
	[ -z "${2-}" ] || sed 's/^/        | /' "$2"
}

skip() {
	skipped=$((skipped + 1))
	printf 'skip    %s: %s\n' "$1" "$2"
}

# One line for all tests of a group that passed.
summary() {
	[ "$verbose" != 0 ] || [ "$2" -eq 0 ] || printf 'ok      %s (%d)\n' "$1" "$2"
}

# one NAME COMMAND...: a test that is one command; exit 77 means skip, its last line says why.
one() {
	local name=$1 log
	log=$logs/${name//[ \/]/-}.log
	shift
	"$@" >"$log" 2>&1
	case $? in
	0)
		passed=$((passed + 1))
		printf 'ok      %s\n' "$name"
		;;
	77) skip "$name" "$(tail -1 "$log")" ;;
	*) fail "$name" "$log" ;;
	esac
}

# tap NAME COMMAND...: a program that writes TAP.
tap() {
	local name=$1 log before=$passed status line said=0 plan=0 test why reason="" failures=0
	log=$logs/${name//[ \/]/-}.log
	shift
	"$@" >"$log" 2>&1
	status=$?
	while IFS= read -r line; do
		case $line in
		"1..0 # SKIP"*) skip "$name" "${line#1..0 # SKIP }" && continue ;;
		1..*[!0-9]*) plan=-1 && continue ;; # no number: it cannot fit
		1..*) plan=$((plan + ${line#1..})) && continue ;;
		"ok "* | "not ok "*) said=$((said + 1)) ;;
		"# why: "*) reason=${line#\# why: } && continue ;;
		*) continue ;;
		esac
		# "ok 3 - name # skip why"
		test=$(sed -E 's/^(not )?ok [0-9]+( -)? ?//; s/ *# (skip|SKIP).*//' <<<"$line")
		test=${test//_/ }
		why=$(sed -nE 's/.*# (skip|SKIP) ?//p' <<<"$line")
		case $line in
		# cmocka has the name where the reason belongs, and up to 1.1.5 "not ok".
		*"ok "*" # SKIP "*) skip "$name: ${why//_/ }" "${reason:-no reason is given}" ;;
		"not ok "*)
			fail "$name: $test"
			failures=$((failures + 1))
			;;
		*"# skip"*) skip "$name${test:+: $test}" "${why:-no reason is given}" ;;
		*) pass "$name: $test" ;;
		esac
	done <"$log"
	if [ $said -ne $plan ] || { [ $status -ne 0 ] && [ $failures -eq 0 ]; }; then
		fail "$name: ended early, with status $status"
		failures=$((failures + 1))
	fi
	# The output of failed tests; all output where it cannot be attributed.
	if [ $failures -gt 0 ]; then
		awk '/^not ok /{show = !/# SKIP/} /^ok /{show=0} /^1\.\./{next} show || !/^(ok|not ok|#) ?/' "$log" | sed 's/^/        | /'
	fi
	summary "$name" $((passed - before))
}

# job PART FUNCTION [ARG…]: runs it beside the others, as soon as fewer than $slots do, and shows what it said when it has ended.
slots=3 started=0
declare -A tests=() seconds=() cpu=()
job() {
	local part=$1 log
	shift
	while [ "$(jobs -rp | wc -l)" -ge $slots ]; do wait -n; done
	started=$((started + 1)) log=$logs/job.$started
	(
		passed=0 failed=0 skipped=0 SECONDS=0
		"$@" >"$log" 2>&1 </dev/null
		times >"$log.times" # of this shell: not in a pipe
		echo "$part $passed $failed $skipped $SECONDS $(cpu_seconds <"$log.times")" >"$log.counts"
		flock "$logs" cat "$log"
	) &
}

# Of the builtin `times`: user and system time of a shell and its children
cpu_seconds() {
	tr ' ' '\n' | awk -F'[ms]' '{ n += $1 * 60 + $2 } END { printf "%d", n }'
}

# count PART PASSED FAILED SKIPPED SECONDS CPU
count() {
	passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
	tests[$1]=$((${tests[$1]-0} + $2 + $3 + $4)) seconds[$1]=$((${seconds[$1]-0} + $5)) cpu[$1]=$((${cpu[$1]-0} + $6))
}

# now PART FUNCTION [ARG…]: runs it before anything else goes on.
now() {
	local was=("$passed" "$failed" "$skipped" "$SECONDS") status
	"${@:2}"
	status=$?
	was=($((passed - was[0])) $((failed - was[1])) $((skipped - was[2])) $((SECONDS - was[3])))
	passed=$((passed - was[0])) failed=$((failed - was[1])) skipped=$((skipped - was[2]))
	count "$1" "${was[@]}" 0
	return $status
}

# Waits for all jobs, and counts what they said.
collect() {
	local counts
	wait
	for ((; started > 0; started--)); do
		if read -r -a counts <"$logs/job.$started.counts"; then count "${counts[@]}"; else fail "a job ended early" "$logs/job.$started"; fi
		rm -f "$logs/job.$started.counts"
	done
}

# Gets missing test dependencies.
packages() {
	if make -s deps test-deps; then
		pass "packages"
	else
		fail "packages"
	fi
}

# Kernels for the virtual machines, with headers.
kernels() {
	tests/vm/vm fetch --headers >$logs/fetch.log 2>&1
	[[ " $parts " != *" arm64 "* ]] ||
		{ RDMADIAG_ARCH=arm64 tests/vm/vm root && RDMADIAG_ARCH=arm64 tests/vm/vm fetch 6.12-16k; } >$logs/fetch-arm64.log 2>&1
}

# With what parts that run beside each other would make otherwise.
build() {
	one "build" make -s -j"$(nproc)" all torturers build/tests/lint/advice
	[ "$(uname -m)" != x86_64 ] || one "build of what measures" make -s -j"$(nproc)" -f tests/bench/Makefile bench-programs
}

lint() {
	local script
	for script in tests/lint/*; do
		[ -x "$script" ] || continue
		script=${script##*/}
		job lint one "lint: ${script%.*}" "tests/lint/$script"
	done
}

# units NAME FOLDER
units() {
	local program
	for program in "$2"/tests/unit/test-*; do
		[ -f "$program" ] && [ -x "$program" ] || continue
		case $program in *.d | *.o) continue ;; esac
		[ -f "tests/unit/${program##*/}.c" ] || continue
		tap "$1: ${program##*/test-}" env CMOCKA_MESSAGE_OUTPUT=TAP timeout 600 "$program"
	done
}

# built [VARIABLE=VALUE]: builds the unit tests
built() {
	local log=$logs/build-${1-}.log
	if ! ${PKG_CONFIG:-pkg-config} --exists cmocka json-c; then
		fail "unit tests: cmocka or json-c is not installed: make test-deps"
	elif ! make -s -j"$(nproc)" "$@" all unit >"$log" 2>&1; then
		fail "build of the unit tests" "$log"
	else
		return 0
	fi
	return 1
}

unit() {
	now unit built && job unit units unit build
}

# The same tests with AddressSanitizer and UBSan, under which every parser gets its hostile input.
san() {
	if ! echo 'int main(void){return 0;}' | "${CC:-cc}" -x c -fsanitize=address,undefined -o /dev/null - 2>/dev/null; then
		skip "sanitized unit tests" "${CC:-cc} has no AddressSanitizer here"
	elif now san built SAN=1; then
		job san units sanitized build/san
	fi
}

# The corpus, and what is found from there in two seconds for each parser; longer runs, and libFuzzer, are for "make fuzz".
fuzz() {
	now fuzz make -s -j"$(nproc)" SAN=1 fuzzers >$logs/fuzzers.log 2>&1
	job fuzz tap fuzz timeout 600 tests/fuzz/run 2
}

bats_files() {
	local file turn seen=
	if ! command -v bats >/dev/null; then
		fail "bats: bats is not installed: make test-deps"
		return
	fi
	# The longest first; "# turn: N" in the head of one: every second time.
	turn=$(turn 1 2)
	for file in tests/bats/{recipes,lint,topo-check,runs,env,*}.bats; do
		[[ " $seen " != *" $file "* ]] || continue
		seen+=" $file"
		[ -z "$turns" ] || [ "$(sed -n '3s/^# turn: //p' "$file")" != $((3 - turn)) ] || continue
		job bats tap "bats: $(basename "$file" .bats)" timeout 1800 bats --tap "$file"
	done
	job bats tap "public lines" timeout 600 tests/explain/lines.py
}

# turn FIRST SECOND…: the one whose turn it is with this commit; the one after it has the next commit.
turn() {
	shift $(($(git rev-list --count HEAD 2>/dev/null || echo 0) % $#))
	echo "$1"
}

# Compared with ibqueryerrors and perfquery on simulated networks.
fabric() {
	local turn
	turn=$(turn faults losses)
	job fabric tap fabric timeout 900 tests/fabric/check
	job fabric tap "fabric $turn" timeout 900 tests/fabric/"$turn" --sample
}

# The outward contract, checked from outside; only present at some sites.
accept() {
	if [ -x ../shared/accept/contract ]; then
		job accept one "contract" timeout 300 ../shared/accept/contract build/rdmadiag
	else
		skip "contract" "../shared/accept/contract is not here"
	fi
}

# What happens when a read or a call fails: a sample, or all of it with TORTURE=whole. Each program writes TAP.
torture() {
	local program
	now torture make -s -j"$(nproc)" torturers || fail "build of the programs of tests/torture"
	for program in tests/torture/*; do
		[ -x "$program" ] && [ -f "$program" ] || continue
		if [ "${TORTURE-}" = whole ]; then
			tap "torture: ${program##*/}" "$program" --whole
		else
			job torture tap "torture: ${program##*/}" timeout 1800 "$program" --sample
		fi
	done
	[ "${TORTURE-}" = whole ] || return
	tap "torture: fabric faults" tests/fabric/faults --whole
	tap "torture: fabric losses" tests/fabric/losses --whole
	one "torture: libfuzzer" tests/fuzz/libfuzzer 10
	machines '**'
	foreign 6.12-16k 6.12 6.1 7.x '@(verbs|causes|commands|qp-state)/*'
	tap "torture: audit of kernels" timeout 900 tests/vm/audit
}

# machines [TESTS]. Prints "ok NAME", "not ok NAME" and "skip NAME: reason" as it goes; everything else is its log.
machines() {
	local line status=0 before=$failed
	if [ ! -x tests/vm/check ]; then
		skip "virtual machines" "tests/vm/check is not here"
		return
	fi
	while IFS= read -r line; do
		case $line in
		"ok "*)
			passed=$((passed + 1))
			printf 'ok      vm: %s\n' "${line#ok }"
			;;
		"not ok "*) fail "vm: ${line#not ok }" ;;
		"skip "*)
			line=${line#skip }
			skip "vm: ${line%%: *}" "${line#*: }"
			;;
		"check ended "*) status=${line#check ended } ;;
		*) printf '        | %s\n' "$line" ;;
		esac
	done < <(
		tests/vm/check "$@" 2>&1
		echo "check ended $?"
	)
	[ "$status" = 0 ] || [ $failed -gt $before ] || fail "vm: tests/vm/check ended early, with status $status"
}

# Of arm64, cross-built and emulated; without arguments a sample on one kernel, which has pages of 16 KiB.
foreign() {
	RDMADIAG_ARCH=arm64 machines "$@"
}

arm64() {
	job arm64 foreign
}

# Builds the Debian package of HEAD, without its tests, which are other parts. tests/packages/run installs it in clean systems.
package() {
	job package one "package: deb" env -u TMPDIR DEB_BUILD_OPTIONS=nocheck timeout 1800 tests/packages/deb
}

# The commands of the README in a fresh Debian 13, whose compilers and libraries differ from those of Debian 12.
fresh() {
	if [ -e /run/rdmadiag-fresh ]; then
		skip "fresh machine" "this is one"
		return
	fi
	job fresh one "fresh machine: trixie" env -u TMPDIR timeout 4500 tests/fresh/run --quick trixie
}

vm() {
	# shellcheck disable=SC2046 # words
	RDMADIAG_TURN=$(turn 1 2 3 4 5 6 7 8) RDMADIAG_VM_JOBS=3 job vm machines 6.12 $(turn 6.1 "" "" "" 7.x "" "" "")
	[ -n "$(turn 1 "")" ] || job vm tap "audit of kernels" timeout 900 tests/vm/audit
}

# How long each part took, for people.
write_parts() {
	local name
	echo "# Time of the parts of \`make check\`"
	echo
	echo "Commit $(git log -1 --format=%h 2>/dev/null), $(date -u +%F), $(. /etc/os-release && echo "$PRETTY_NAME"), $(nproc) processors," \
		"load before: $load. Jobs run beside each other: \"seconds\" is the sum of theirs, and \"processor\" what they used of one."
	echo
	echo "| part | seconds | processor | tests |"
	echo "| --- | ---: | ---: | ---: |"
	for name; do echo "| $name | ${seconds[$name]-0} | ${cpu[$name]-0} | ${tests[$name]-0} |"; done
	times >$logs/times
	echo "| **all** | $SECONDS | $(cpu_seconds <$logs/times) | $((passed + failed + skipped)) |"
}

# Trees of files are made and copied in memory where there is enough of it: half the time of many tests. A short name, for sockets.
if [ "$(df -k --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 4000000 ] 2>/dev/null && shm=$(mktemp -d /dev/shm/rd.XXXX); then
	trap 'rm -rf "$shm"' EXIT
	chmod 755 "$shm"
	printf '#!/bin/sh\n' >"$shm/x" && chmod +x "$shm/x"
	! "$shm/x" 2>/dev/null || export TMPDIR=$shm
fi

# The longest first.
offline="san torture bats fuzz lint accept"
all="packages build$(turn "" " fresh") kernels fabric san$(turn " torture" "") bats fuzz accept vm$(turn "" "" " arm64" "" "" "" " arm64" "")"
all+="$(turn " package" "") lint"
[ $# -gt 0 ] || set -- test
[[ " $* " == *" all "* ]] && turns=1 || turns= # do parts leave out what has its turn later?
# shellcheck disable=SC2046 # words
set -- $(printf '%s ' "$@" | sed "s/\<all\>/$all/; s/\<test\>/$offline/")
parts=$*
alone= # have the parts before these ended?
# What was begun by then ends before an hour and a half are over, on the slowest machine seen so far, too.
[ "${TORTURE-}" = whole ] || export RDMADIAG_VM_UNTIL=$((EPOCHSECONDS + 4200))
load=$(cut -d' ' -f1 /proc/loadavg)
if [ $# -gt 1 ]; then
	[[ " $* " == *" build "* ]] || set -- build "$@"
	printf '%d parts: %s\n' $# "$*"
fi
for name; do
	case $name in
	# The others depend on these.
	packages | build)
		now "$name" "$name"
		[ $failed -eq 0 ] || break
		;;
	kernels) job vm kernels ;;
	lint | unit | san | fuzz | torture | fabric | accept) "$name" ;;
	bats) bats_files ;;
	package | fresh) "$name" ;;
	vm | arm64)
		[ -n "$alone" ] || collect
		alone=1
		unset TMPDIR
		"$name"
		slots=$(($(jobs -rp | wc -l) + 1))
		;;
	*) fail "no such part: $name" ;;
	esac
done
collect
write_parts "$@" >$logs/parts.md
printf '\n'
for name; do
	printf 'part %-8s %5d s %6d tests\n' "$name" "${seconds[$name]-0}" "${tests[$name]-0}"
done
printf 'part %-8s %5d s %6d tests\n' all $SECONDS $((passed + failed + skipped))
printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ]
