#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# turn: 1
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# trace-errno --audit: what it refuses, and what it reports about the kernels of the virtual machines, which need not run for it.
# tests/vm/audit has the differences between them.

load here

setup() {
	T=$BATS_TEST_TMPDIR
}

audit() {
	"$RD" trace-errno --audit "$@"
}

# refused WORDS ARGUMENT...: exit 3, nothing on standard output, one or two lines, and WORDS in the first.
refused() {
	local words=$1
	shift
	run --separate-stderr audit "$@"
	if [ "$status" -ne 3 ] || [ -n "$output" ] || [ "${#stderr_lines[@]}" -gt 2 ] || [[ ${stderr_lines[0]} != *"$words"* ]]; then
		echo "$*: $status $output $stderr"
		return 1
	fi
}

# kernel NAME: the options for a kernel of the virtual machines in KERNEL; skips where it is not there.
kernel() {
	local path=${RDMADIAG_VM_CACHE:-build/kernels}/$1
	[ -d "$path/pkg" ] && [ -e "$path/image" ] || skip "kernel $1 is not here: tests/vm/vm fetch"
	ln -sf "$(realpath "$path/image")" "$T/vmlinux-$1"
	KERNEL=(--modules "$path/pkg" --modules "$T/vmlinux-$1")
}

# make_deb FILE FOLDER [FILE]: a Debian package of the files in the folder, as far as an audit reads it, and of one more
make_deb() {
	echo 2.0 >"$T/debian-binary"
	tar -C "$2" -cf "$T/data.tar" .
	[ -z "${3-}" ] || tar -C "${3%/*}" -rhf "$T/data.tar" "${3##*/}"
	ar rc "$1" "$T/debian-binary" "$T/data.tar"
	rm "$T/data.tar"
}

@test "options that are no good" {
	refused "--audit" -- true
	refused "--audit" true
	refused "--baseline" --baseline "$T/a" --baseline "$T/b"
	refused "--explain" --explain ib_umem_get --write-baseline "$T/written"
	refused "--explain" --explain ""
	refused "--modules" --modules ""
	refused "--kernel-package" --kernel-package ""
	refused "--modules" --modules
	refused "--list" --list
	refused "--duration" --duration 1
	[ ! -e "$T/written" ]
	# Without --audit they are not options of trace-errno.
	run -3 --separate-stderr "$RD" trace-errno --modules /
	[[ ${stderr_lines[0]} == *"--modules requires --audit"* ]]
}

@test "a bundle has no kernel to audit" {
	mkdir "$T/bundle"
	run -3 --separate-stderr "$RD" --from "$T/bundle" trace-errno --audit
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == *"--from"* ]]
}

@test "--audit has its own help, and completes its own options" {
	"$RD" trace-errno --help | grep -q "trace-errno --audit --help"
	audit --help | grep -q -- --kernel-package
	[[ $(audit --help) != *--duration* ]]
	[ "$("$RD" complete -- trace-errno --audit --kern | cut -f1)" = --kernel-package ]
	[ "$("$RD" complete -- trace-errno --audit --baseline x)" = :file ]
	[ "$("$RD" complete -- trace-errno --audit --durat)" = "" ]
}

@test "paths that have no kernel: each is named, with what to give instead" {
	mkdir "$T/empty" "$T/files"
	echo text >"$T/text"
	echo text >"$T/files/notes"
	: >"$T/nothing"
	for option in --modules --kernel-package; do
		refused "$T/none: cannot open: No such file" "$option" "$T/none"
		for path in empty files; do
			refused "$T/$path: contains no RDMA kernel module" "$option" "$T/$path"
			[[ ${stderr_lines[1]} == "  try: "*package* ]]
		done
		for path in text nothing; do
			refused "$T/$path: neither a package, a kernel module nor a kernel image" "$option" "$T/$path"
			[[ ${stderr_lines[1]} == "  try: "*package* ]]
		done
		refused "/dev/null: neither a directory nor a regular file" "$option" /dev/null
	done
	# A file with the name of a module that is not an ELF file.
	echo text >"$T/mlx5_ib.ko"
	refused "$T/mlx5_ib.ko: cannot read the module file" --modules "$T/mlx5_ib.ko"
}

@test "packages that are cut off, or have no kernel" {
	mkdir "$T/files"
	head -c 100000 /dev/zero >"$T/files/zeros"
	make_deb "$T/whole.deb" "$T/files"
	refused "$T/whole.deb: contains no RDMA kernel module" --kernel-package "$T/whole.deb"
	for size in 8 50 100 200 5000 50000; do
		head -c "$size" "$T/whole.deb" >"$T/cut.deb"
		refused "$T/cut.deb: not a" --kernel-package "$T/cut.deb"
		refused "$T/cut.deb: not a" --modules "$T/cut.deb"
	done
	# The lead of an RPM package, and no more.
	printf '\xed\xab\xee\xdb\x03\0\0\0' >"$T/cut.rpm"
	refused "$T/cut.rpm: not a complete Debian or RPM package" --kernel-package "$T/cut.rpm"
}

@test "with --json the failure is a document, too" {
	run -3 --separate-stderr audit --json --modules "$T/none"
	jq -e --arg path "$T/none" '.schema == "rdmadiag/trace-errno-audit/1" and .source == "live" and .status == 3 and
		.findings == [] and .errors[0].object == $path and .errors[0].errno == "ENOENT"' <<<"$output"
	run -3 --separate-stderr audit --json --modules "$T/none" --explain ib_umem_get
	jq -e '.schema == "rdmadiag/trace-errno-audit-explain/1" and .status == 3' <<<"$output"
}

@test "the running kernel: without RDMA modules there is nothing to audit" {
	if [ -e /sys/class/infiniband ] || [ -e /sys/module/ib_core ]; then
		skip "this host has RDMA modules"
	fi
	refused "no RDMA module is loaded"
	refused "no RDMA module is loaded" --explain ib_umem_get
	refused "no RDMA module is loaded" --write-baseline "$T/written"
	[ ! -e "$T/written" ]
}

@test "a kernel differs from another one, and from itself in nothing" {
	kernel 7.x
	local next=("${KERNEL[@]}")
	kernel 6.12
	audit "${KERNEL[@]}" --write-baseline "$T/baseline" | grep -q "^kernel 6\.12\..* functions of .* modules are watched$"
	jq -e '.schema == "rdmadiag/trace-errno-audit/1" and .complete and .baseline == null and .changes == [] and .errors == [] and
		(.functions | length > 1000) and any(.modules[]; .module == "mlx5_ib" and .btf)' "$T/baseline"
	run -0 --separate-stderr audit "${KERNEL[@]}" --baseline "$T/baseline"
	[ -z "$stderr" ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "the same: "* ]]

	run -2 --separate-stderr audit "${next[@]}" --baseline "$T/baseline"
	[[ ${lines[0]} == *"can no longer be shown as the origin of an error on kernel 7."*"(baseline: 6.12."* ]]
	[[ $output == *"[origin-not-watched]"* ]]
	run -2 --separate-stderr audit "${next[@]}" --baseline "$T/baseline" --json
	jq -e '.status == 2 and (.kernel | startswith("7.")) and (.baseline | startswith("6.12.")) and .compared > 1000 and
		any(.findings[]; .severity == "critical") and
		([.changes[] | select(.change == "added" or .change == "newly-reached")] | length) == (.added | length) and
		([.changes[] | select(.change | IN("lost-hook", "left-out", "inlined", "removed"))] | length) == (.removed | length) and
		([.changes[] | select(.severity == "critical") | .change] | unique - ["lost-hook", "left-out", "inlined"]) == []' <<<"$output"
}

@test "a package is read as the directory of the same files, by any user, and nothing is left behind" {
	kernel 6.12
	audit "${KERNEL[@]}" --write-baseline "$T/baseline" >/dev/null
	make_deb "$T/kernel.deb" "${KERNEL[1]}" "$T/vmlinux-6.12"
	# Bats's own folders are for root only.
	local open as=()
	open=$(mktemp -d)
	mkdir "$open/work"
	chmod 755 "$open"
	chmod 777 "$open/work"
	cp "$RD" "$open/rd"
	mv "$T/kernel.deb" "$T/baseline" "$open"
	if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
		as=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all)
	fi
	run --separate-stderr env -C "$open/work" TMPDIR="$open/work" "${as[@]}" "$open/rd" trace-errno --audit \
		--baseline "$open/baseline" --kernel-package "$open/kernel.deb"
	[ -z "$(ls -A "$open/work")" ]
	mv "$open/kernel.deb" "$T"
	rm -r "$open"
	echo "$status $output $stderr"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ $output == "the same: "* ]]
	# A package is also a baseline. One that ends too early is neither.
	run -0 --separate-stderr audit --baseline "$T/kernel.deb" --kernel-package "$T/kernel.deb"
	truncate -s -5000000 "$T/kernel.deb"
	refused "$T/kernel.deb: not a complete Debian or RPM package" --kernel-package "$T/kernel.deb"
	refused "$T/kernel.deb: not a complete Debian or RPM package" "${KERNEL[@]}" --baseline "$T/kernel.deb"
}

@test "without the image of the kernel: what is missing is said, and nothing is compared" {
	kernel 6.12
	audit "${KERNEL[@]}" --write-baseline "$T/baseline" >/dev/null
	run -3 --separate-stderr audit "${KERNEL[@]:0:2}" --baseline "$T/baseline"
	[[ $output == "nothing compared: "* ]]
	[[ ${stderr_lines[0]} == *"(vmlinuz) not found"*BTF* ]]
	[ "${#stderr_lines[@]}" -le 4 ]
	# An image alone is no kernel.
	refused "contains no RDMA kernel module" "${KERNEL[@]:2:2}"
}

@test "files that are no baseline" {
	kernel 6.12
	audit "${KERNEL[@]}" --write-baseline "$T/baseline" >/dev/null
	audit "${KERNEL[@]}" --explain ib_umem_get --json >"$T/explained"
	head -c 100000 "$T/baseline" >"$T/half"
	echo '{"schema": "rdmadiag/trace-errno-audit/1", "kernel": "6", "functions": [], "modules": []}' >"$T/no-functions"
	echo '{}' >"$T/empty"
	echo '[' >"$T/text"
	echo >"$T/blank"
	refused "$T/none" "${KERNEL[@]}" --baseline "$T/none"
	refused "$T/half: damaged baseline" "${KERNEL[@]}" --baseline "$T/half"
	refused "$T/no-functions: damaged baseline" "${KERNEL[@]}" --baseline "$T/no-functions"
	for file in explained empty blank; do
		refused "$T/$file: not a baseline of trace-errno --audit" "${KERNEL[@]}" --baseline "$T/$file"
	done
	refused "$T/text: neither a package" "${KERNEL[@]}" --baseline "$T/text"
	refused "$T/none/file: cannot create" "${KERNEL[@]}" --write-baseline "$T/none/file"
}

@test "--explain names the calls that lead to a function, and what it was before" {
	kernel 6.12
	audit "${KERNEL[@]}" --write-baseline "$T/baseline" >/dev/null
	run -0 --separate-stderr audit "${KERNEL[@]}" --explain rxe_mr_init_user --baseline "$T/baseline" --baseline "$T/baseline"
	[ -z "$stderr" ]
	[ "$(grep -c "^6\.12.* rxe_mr_init_user " <<<"$output")" -eq 3 ]
	[[ $output == *"called through: ib_device_ops.reg_user_mr -> rxe_reg_user_mr -> rxe_mr_init_user"* ]]
	[[ $output == *"callers: rxe_reg_user_mr"* ]]
	audit "${KERNEL[@]}" --explain ib_umem_get --json | jq -e '.schema == "rdmadiag/trace-errno-audit-explain/1" and
		(.functions[0] | .selected and .path[-1] == "ib_umem_get" and (.via | startswith("ib_device_ops.")))'
	# One that is not there is not the same as one that is not watched.
	audit "${KERNEL[@]}" --explain ib_umem_release | grep -q " ib_umem_release .* no "
	run -3 --separate-stderr audit "${KERNEL[@]}" --explain no_such_function
	[[ $output == "no_such_function: no function of this name in the RDMA modules of kernel 6.12."* ]]
}

@test "a pipe that closes ends it quietly" {
	kernel 6.12
	run --separate-stderr bash -c '"$@" | head -1; echo "${PIPESTATUS[0]}"' - "$RD" trace-errno --audit "${KERNEL[@]}" --json
	[ "${lines[0]}" = "{" ]
	[ "${lines[1]}" -eq 0 ]
	[ -z "$stderr" ]
}
