# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # here, cache, kernels, arch, build, say, die: ../vm, ../../arch.sh
# One boot: the host's root read-only over 9p, a command, its output and status over two virtio ports.

# Firmware of a QEMU that was unpacked (scripts/deps.sh) lies beside it.
firmware() {
	local dir
	for dir in "$top"/build/tools/root/usr/share/{qemu,seabios}; do
		[[ ! -d $dir ]] || printf '%s\n' -L "$dir"
	done
}

kvm_args() { accel=(-accel kvm -cpu host); }
# One thread for all processors (RDMADIAG_VM_THREAD=single) is slower where processors are free, but sure: with a thread
# each, a processor may still run the breakpoint by which another has just changed code (jump labels, ftrace), and dies.
# Emulated, strings are faster by moves of 16 bytes: an eighth of the time of a test.
tcg_args() {
	accel=(-accel "tcg,thread=${RDMADIAG_VM_THREAD:-multi}" -cpu max,-erms,-fsrm,-avx,-avx2)
	# Signed return addresses as any processor has them, by an algorithm that costs the emulation less.
	[[ $arch != arm64 ]] || accel=(-machine virt -accel tcg,thread=multi -cpu max,pauth-impdef=on,sve=off)
}

initramfs() { # DIR KERNEL-DIR: writes DIR/initrd from DIR/tree and the kernel's own part
	mkdir -p "$1/tree/bin"
	cp "$busybox" "$1/tree/bin/busybox"
	cp "$here/lib/init" "$1/tree/init"
	chmod +x "$1/tree/init"
	{
		(cd "$1/tree" && find . | cpio -o -H newc -R 0:0 --quiet)
		cat "$2/boot.cpio"
	} >"$1/initrd"
}

# There are hosts with a /dev/kvm on which no stock kernel starts: a boot has to be seen before it is trusted.
# What was seen holds for this boot of the host and this QEMU; one kernel that failed speaks for all.
choose_accel() {
	local k=$1 dir=$cache/$1 seen
	tcg_args
	[[ $arch == amd64 ]] || return 0
	case ${RDMADIAG_VM_ACCEL-} in
	tcg) return ;;
	kvm) kvm_args && return ;;
	esac
	[[ -w /dev/kvm ]] || return 0
	seen=$cache/kvm-$UID-$({ cat /proc/sys/kernel/random/boot_id && stat -Lc %Y "$qemu"; } | sha256sum | cut -c1-16)
	if [[ ! -e $seen ]]; then
		rm -f "$cache/kvm-$UID"-*
		: >"$seen"
	fi
	if ! grep -qE "^($k works|fails)$" "$seen"; then
		mkdir -p "$work/probe/tree"
		: >"$work/probe/tree/probe"
		initramfs "$work/probe" "$dir"
		kvm_args
		# The words are those of lib/init; a half-started kernel does not get there.
		# In braces, or the shell says that it was aborted.
		{ timeout -k 2 15 "$qemu" "${firmware[@]}" "${accel[@]}" -smp 1 -m 512 -nodefaults -nographic -no-reboot -monitor none \
			-serial "file:$work/probe/log" -kernel "$dir/image" -initrd "$work/probe/initrd" \
			-append "console=ttyS0 quiet panic=-1" </dev/null; } >/dev/null 2>&1 || :
		if grep -qs 'probe boot works' "$work/probe/log"; then
			echo "$k works" >>"$seen"
		else
			echo fails >>"$seen"
			say "/dev/kvm is there but did not boot kernel $k: software emulation from now on"
		fi
		rm -rf "$work/probe"
	fi
	if grep -q '^fails$' "$seen"; then tcg_args; else kvm_args; fi
}

vm_run() {
	known "${1-}"
	local k=$1 timeout=300 smp=2 mem=2048 icount='' append='' out='' extra=() dir accel checkout rc=0 log boot_limit=90
	shift
	while [[ $# -gt 0 ]]; do
		case $1 in
		--timeout) timeout=$2 && shift ;;
		--smp) smp=$2 && shift ;;
		--mem) mem=$2 && shift ;;
		--icount) icount=1 ;;
		--qemu-arg) extra+=("$2") && shift ;;
		--append) append=$2 && shift ;;
		--out) out=$2 && shift ;;
		--) break ;;
		*) die "unknown option '$1' (see vm --help)" ;;
		esac
		shift
	done
	[[ ${1-} == -- && $# -gt 1 ]] || die "no command: vm run KERNEL [OPTION]... -- COMMAND [ARG]..."
	shift
	[[ $(uname -m) == x86_64 ]] || die "the machines are made on x86_64; this machine is $(uname -m)"
	qemu=$(command -v "$qemu_name") || die "no $qemu_name (make test-deps)"
	vm_root
	# One that was unpacked: this machine has another, which may not be static, or none for this architecture.
	local tools=$top/build/tools/root low=/low:/tools
	[[ $arch == amd64 ]] || tools=$build/root low=/tools:/low
	[[ -d $tools ]] || tools=''
	busybox=$tools/usr/bin/busybox
	[[ -x $busybox ]] || busybox=$(command -v busybox) || die "no busybox (package busybox-static)"
	command -v cpio >/dev/null || die "no cpio"
	mapfile -t firmware < <(firmware)
	if ldd "$busybox" >/dev/null 2>&1; then die "$busybox is not static (package busybox-static)"; fi
	vm_fetch "$k"
	dir=$cache/$k
	checkout=$top

	work=$(mktemp -d "${TMPDIR:-/tmp}/rdmadiag-vm.XXXXXX")
	trap 'rm -rf "$work/tree" "$work/initrd"; if [[ ${keep-} != 1 ]]; then rm -rf "$work"; fi' EXIT
	log=$work/serial.log
	if [[ -n $out ]]; then
		mkdir -p "$out"
		out=$(cd "$out" && pwd -P)
		log=$out/serial.log
	else
		mkdir "$work/out"
		out=$work/out
	fi

	mkdir -p "$work/tree/job"
	cp "$here/lib/stage2" "$work/tree/job/"
	printf 'CHECKOUT=%q\nBUILD=%q\nRD_VM_KERNEL=%q\nTOOLS=%q\nARCH=%q\n' "$checkout" "$build" "$k" \
		"${tools:+$low}" "$arch" >"$work/tree/job/vars"
	if [[ -n $tools ]]; then
		# In front of what a test adds, which may be bridges that would take it in.
		extra=(-fsdev "local,id=tools,path=$tools,security_model=none,readonly=on,multidevs=remap"
			-device virtio-9p-pci,fsdev=tools,mount_tag=tools "${extra[@]}")
	fi
	{
		echo "export HOME=/root USER=root LOGNAME=root TERM=dumb LANG=C.UTF-8 RD_VM_OUT=/run/vm/out RD_VM_KERNEL=$k RDMADIAG_ARCH=$arch"
		echo "export RDMADIAG_TURN=${RDMADIAG_TURN-} RDMADIAG_VM_LIMIT=${RDMADIAG_VM_UNTIL:+$((RDMADIAG_VM_UNTIL - EPOCHSECONDS))}"
		printf "cd %s && exec %s\n" "$(quote "$checkout")" "$(quote "$@")"
	} >"$work/tree/job/job"
	initramfs "$work" "$dir"
	choose_accel "$k"
	if [[ -n $icount ]]; then
		accel=(-accel 'tcg,thread=single' -cpu max -icount 'shift=0,sleep=off')
		smp=1
	fi

	mkfifo "$work/port"
	trap 'kill "$pid" 2>/dev/null || :; exit 130' INT TERM HUP
	if ! boot; then
		say "kernel $k did not come up; once more"
		boot || :
	fi
	trap - INT TERM HUP
	finish
}

# Reads the variables of vm_run. Sets rc; fails when the machine never came to start the command. On a busy host that
# happens once in a hundred boots (the kernel finds its emulated timer too slow, or QEMU aborts), and is worth a second try.
boot() {
	local pid reader n=0 hung=''
	rc=0
	: >"$work/status"
	: >"$log"
	cat "$work/port" &
	reader=$!
	timeout -k 5 "$timeout" "$qemu" "${firmware[@]}" "${accel[@]}" -smp "$smp" -m "$mem" \
		-nodefaults -nographic -no-reboot -monitor none -serial "file:$log" \
		-kernel "$dir/image" -initrd "$work/initrd" \
		-append "console=$console loglevel=7 panic=-1 no_timer_check tsc=reliable mitigations=off $append" \
		-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap" \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=kernel,path=$dir,security_model=none,readonly=on" \
		-device virtio-9p-pci,fsdev=kernel,mount_tag=kernel \
		-fsdev "local,id=out,path=$out,security_model=none" \
		-device virtio-9p-pci,fsdev=out,mount_tag=out \
		-device virtio-serial-pci \
		-chardev "file,id=out,path=$work/port" -device virtserialport,chardev=out,name=rd.out \
		-chardev "file,id=status,path=$work/status" -device virtserialport,chardev=status,name=rd.status \
		-device virtio-rng-pci \
		"${extra[@]}" </dev/null >"$work/qemu.log" 2>&1 &
	pid=$!
	while [[ ! -s $work/status && $n -lt $((boot_limit * 5)) ]] && kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		n=$((n + 1))
	done
	if [[ ! -s $work/status && $n -ge $((boot_limit * 5)) ]]; then
		kill "$pid" 2>/dev/null || :
		hung=1
	fi
	wait "$pid" || rc=$?
	# QEMU that never came to open the port leaves its reader waiting.
	[[ -s $work/status ]] || kill "$reader" 2>/dev/null || :
	wait "$reader" || :
	# A signal may have ended QEMU: 128 and its number.
	if [[ ! -s $work/status ]] && { [[ -n $hung || $rc -gt 128 ]] || grep -q 'Kernel panic' "$log"; }; then
		[[ -z $hung ]] || rc=124
		cp "$log" "${log%.log}.first.log"
		cat "$work/qemu.log" >&2
		return 1
	fi
}

quote() { # words for busybox's shell, which has no $'...'
	local w
	for w; do printf "'%s' " "${w//\'/\'\\\'\'}"; done
}

# Reads rc (of timeout and QEMU), status and log of vm_run.
finish() {
	local status why
	status=$(sed 1d "$work/status") # after "started"
	if [[ -n $status ]]; then
		why="the command ended with status $status"
		rc=$status
	elif [[ $rc == 124 || $rc == 137 ]]; then
		why="not ended after $timeout s"
		rc=124
	elif why=$(grep -m 1 -o 'Kernel panic.*' "$log"); then
		rc=125
	else
		why="the machine ended before the command did (QEMU: $rc)"
		rc=125
	fi
	# An oops under a command that went well is still something to know.
	if [[ $rc == 0 ]] && grep -qE 'BUG:|Oops|WARNING: |general protection' "$log"; then
		why="the command ended with status 0, but the kernel complained"
		keep=1
	fi
	if [[ $rc != 0 || ${keep-} == 1 ]]; then
		# Where the log lies in the caller's own directory, ours is no longer needed.
		if [[ $log == "$work"/* ]]; then keep=1; else keep=''; fi
		say "kernel $k: $why; serial log: $log"
		# A command that ended has nothing to do with the boot. SeaBIOS clears the screen.
		{
			sed 's|\x1b[[]?*[0-9;]*[a-zA-Z]||g; s|\x1bc||g; s|\r||g' "$log" |
				awk '/^vm-init: status/ { n = 0 } { line[n++] = $0 } END { for (i = n > 25 ? n - 25 : 0; i < n; i++) print line[i] }'
			cat "$work/qemu.log"
		} | sed 's/^/  | /' >&2
	fi
	exit "$rc"
}
