#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the named parts of the test suite: packages build lint unit san fuzz bats accept torture fabric package fresh vm. "test" stands
# for those that need no network, installation or virtual machine, "all" for all. Last line: "N passed, N failed, N skipped".
# V=1 also names every test that passed.
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

# Gets missing test dependencies, and in the background the kernels for the virtual machines.
packages() {
	if make -s deps test-deps; then
		pass "packages"
		[ "$kernels" = 0 ] || tests/vm/vm fetch --headers >$logs/fetch.log 2>&1 &
	else
		fail "packages"
	fi
}

build() {
	one "build" make -s -j"$(nproc)" all
}

lint() {
	local script
	for script in tests/lint/*; do
		[ -x "$script" ] || continue
		script=${script##*/}
		one "lint: ${script%.*}" "tests/lint/$script"
	done
}

# units NAME FOLDER
units() {
	local program
	for program in "$2"/tests/unit/test-*; do
		[ -f "$program" ] && [ -x "$program" ] || continue
		case $program in *.d | *.o) continue ;; esac
		[ -f "tests/unit/${program##*/}.c" ] || continue
		tap "$1: ${program##*/test-}" env CMOCKA_MESSAGE_OUTPUT=TAP timeout 120 "$program"
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
	built && units unit build
}

# The same tests with AddressSanitizer and UBSan, under which every parser gets its hostile input.
san() {
	if ! echo 'int main(void){return 0;}' | "${CC:-cc}" -x c -fsanitize=address,undefined -o /dev/null - 2>/dev/null; then
		skip "sanitized unit tests" "${CC:-cc} has no AddressSanitizer here"
	elif built SAN=1; then
		units sanitized build/san
	fi
}

# Long enough to find a missing check; longer runs are for "make fuzz".
fuzz() {
	tap fuzz timeout 300 tests/fuzz/run 2
	FUZZ_SEED=1 one "libfuzzer" timeout 900 tests/fuzz/libfuzzer 10
}

bats_files() {
	local file
	if ! command -v bats >/dev/null; then
		fail "bats: bats is not installed: make test-deps"
		return
	fi
	for file in tests/bats/*.bats; do
		[ -e "$file" ] || continue
		tap "bats: $(basename "$file" .bats)" timeout 900 bats --tap "$file"
	done
}

# Compared with ibqueryerrors and perfquery on simulated networks.
fabric() {
	tap fabric timeout 600 tests/fabric/check
	tap "fabric faults" timeout 400 tests/fabric/faults --sample
	tap "fabric losses" timeout 300 tests/fabric/losses --sample
}

# The outward contract, checked from outside; only present at some sites.
accept() {
	if [ -x ../shared/accept/contract ]; then
		one "contract" timeout 120 ../shared/accept/contract build/rdmadiag
	else
		skip "contract" "../shared/accept/contract is not here"
	fi
}

# What happens when a read or a call fails: a sample, or all of it with TORTURE=whole. Each program writes TAP.
torture() {
	local program
	make -s -j"$(nproc)" torturers || fail "build of the programs of tests/torture"
	for program in tests/torture/*; do
		[ -x "$program" ] && [ -f "$program" ] || continue
		if [ "${TORTURE-}" = whole ]; then
			tap "torture: ${program##*/}" "$program" --whole
		else
			tap "torture: ${program##*/}" timeout 900 "$program" --sample
		fi
	done
	# Its sample is part of "fabric".
	[ "${TORTURE-}" != whole ] || tap "torture: fabric faults" tests/fabric/faults --whole
	[ "${TORTURE-}" != whole ] || tap "torture: fabric losses" tests/fabric/losses --whole
}

# Prints "ok NAME", "not ok NAME" and "skip NAME: reason" as it goes; everything else is its log.
vm() {
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
		tests/vm/check 2>&1
		echo "check ended $?"
	)
	[ "$status" = 0 ] || [ $failed -gt $before ] || fail "vm: tests/vm/check ended early, with status $status"
	tap "audit of kernels" timeout 600 tests/vm/audit
}

# Builds the Debian package of HEAD, without its tests, which are other parts. tests/packages/run installs it in clean systems.
package() {
	one "package: deb" env DEB_BUILD_OPTIONS=nocheck timeout 600 tests/packages/deb
}

# The commands of the README in a fresh Debian 12 and 13, whose libraries differ.
fresh() {
	if [ -e /run/rdmadiag-fresh ]; then
		skip "fresh machine" "this is one"
		return
	fi
	one "fresh machine: bookworm" timeout 900 tests/fresh/run --quick bookworm
	one "fresh machine: trixie" timeout 900 tests/fresh/run --quick trixie
}

# vm_begin: starts the virtual machines beside the other parts: most of these use one processor, and a machine waits for the grace
# periods of its kernel most of the time. Two machines at a time, three from vm_end on, which shows what they said.
vm_begin() {
	echo 2 >$logs/vm.jobs
	(
		passed=0 failed=0 skipped=0 SECONDS=0
		RDMADIAG_VM_JOBS=$PWD/$logs/vm.jobs vm >$logs/vm.out 2>&1
		echo "$passed $failed $skipped $SECONDS" >$logs/vm.counts
	) &
	machines=$!
}

vm_end() {
	local more_passed=0 more_failed=0 more_skipped=0 seconds=0
	echo 3 >$logs/vm.jobs
	wait "$machines"
	cat $logs/vm.out
	if [ -e $logs/vm.counts ]; then
		read -r more_passed more_failed more_skipped seconds <$logs/vm.counts
	else
		fail "vm: ended early"
	fi
	passed=$((passed + more_passed)) failed=$((failed + more_failed)) skipped=$((skipped + more_skipped))
	beside=" ($seconds s beside the other parts)"
}

# part NAME: runs it and records its duration
part() {
	local began=$SECONDS before=$((passed + failed + skipped))
	local beside=
	case $1 in
	packages | build | lint | unit | san | fuzz | torture | fabric | accept | package | fresh) "$1" ;;
	vm) if [ -n "$machines" ]; then vm_end; else vm; fi ;;
	bats) bats_files ;;
	*) fail "no such part: $1" ;;
	esac
	times+=("$(printf '%-8s %5d s %6d tests%s' "$1" $((SECONDS - began)) $((passed + failed + skipped - before)) "$beside")")
}

offline="lint unit san fuzz bats accept torture"
[ $# -gt 0 ] || set -- test
# shellcheck disable=SC2046,SC2086 # words
set -- $(printf '%s ' "$@" | sed "s/\<all\>/packages build test fabric package fresh vm/; s/\<test\>/$offline/")
kernels=0
if [ $# -gt 1 ]; then
	printf '%d parts: %s\n' $# "$*"
	case " $* " in
	*" vm "*)
		kernels=1
		echo "about an hour on two processors that emulate the virtual machines"
		;;
	*) echo "about 8 minutes on two processors" ;;
	esac
fi
times=() machines=
for name in "$@"; do
	part "$name"
	# The other parts depend on these.
	case $name:$failed in
	packages:0 | build:0) ;;
	packages:* | build:*) break ;;
	esac
	# When all that the machines need has been built.
	[ "$name" != unit ] || [ $kernels = 0 ] || vm_begin
done
# A shell error would end the loop and look like success.
[ $failed -gt 0 ] || [ ${#times[@]} -eq $# ] || fail "only ${#times[@]} of $# parts came to their end"
printf '\n'
printf 'part %s\n' "${times[@]}" "$(printf '%-8s %5d s %6d tests' all $SECONDS $((passed + failed + skipped)))"
printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ]
