#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what building and testing need and this machine lacks: deps.sh build test vm bench
# Nothing to install: does nothing, and needs neither network nor root.
set -eu

# group  Debian and Ubuntu                Fedora, RHEL and kin ("-": none, or part of another)
packages() {
	cat <<'EOF'
build    gcc                              gcc
build    libc6-dev                        glibc-devel
build    linux-libc-dev                   kernel-headers
build    make                             make
build    pkg-config|pkgconf               pkgconf-pkg-config
build    clang                            clang
build    llvm                             llvm
build    bpftool                          bpftool
build    libbpf-dev                       libbpf-devel
build    libelf-dev                       elfutils-libelf-devel
build    libdw-dev                        elfutils-devel
build    libjson-c-dev                    json-c-devel
build    libsmartcols-dev                 libsmartcols-devel
build    libarchive-dev                   libarchive-devel
build    libncurses-dev                   ncurses-devel
build    libmnl-dev                       libmnl-devel
build    libibumad-dev                    libibumad-devel
build    libibmad-dev                     rdma-core-devel
build    libibverbs-dev                   -
test     git                              git
test     libcmocka-dev                    libcmocka-devel
test     bats                             bats
test     clang-format-14|clang-format     clang-tools-extra
test     cppcheck                         cppcheck
test     shellcheck                       ShellCheck
test     mandoc                           mandoc
test     jq                               jq
test     python3                          python3
test     xz-utils                         xz
test     bzip2                            bzip2
test     zstd                             zstd
test     strace                           strace
test     infiniband-diags                 infiniband-diags
test     ibsim-utils                      -
test     opensm                           opensm
test     tmux                             tmux
test     procps                           procps-ng
test     python3-prometheus-client        python3-prometheus_client
vm       ca-certificates                  ca-certificates
vm       qemu-system-x86                  qemu-system-x86-core
vm       busybox-static                   busybox
vm       kmod                             kmod
vm       cpio                             cpio
vm       binutils                         binutils
vm       iproute2                         iproute
vm       nftables                         nftables
test     slurmctld                        slurm-slurmctld
test     slurmd                           slurm-slurmd
test     slurm-client                     slurm
test     munge                            munge
vm       rdma-core                        rdma-core
vm       librdmacm-dev                    -
vm       ibverbs-utils                    libibverbs-utils
vm       ibverbs-providers                libibverbs
vm       rdmacm-utils                     librdmacm-utils
vm       perftest                         perftest
vm       pciutils                         pciutils
bench    hwloc-nox                        hwloc
bench    libibnetdisc-dev                 -
EOF
}

say() { printf 'deps: %s\n' "$*"; }
die() {
	printf 'deps: %s\n' "$*" >&2
	exit 1
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
	manager=apt
elif command -v dnf >/dev/null && command -v rpm >/dev/null; then
	manager=dnf
else
	die "knows apt and dnf only; install the packages named in $0 by hand, then run make all"
fi

# One query for all: this runs before every test.
if [ $manager = apt ]; then
	have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
fi

installed() {
	if [ $manager = apt ]; then
		case "
$have
" in
		*"
$1
"*) return 0 ;;
		esac
		return 1
	else
		rpm -q --quiet --whatprovides "$1"
	fi
}

available() {
	if [ $manager = apt ]; then
		[ -n "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ]
	else
		return 0
	fi
}

# Of "a|b" the first that is there; else nothing.
first_installed() {
	for name in $(printf %s "$1" | tr '|' ' '); do
		installed "$name" && return 0
	done
	return 1
}

first_available() {
	for name in $(printf %s "$1" | tr '|' ' '); do
		if available "$name"; then
			echo "$name"
			return
		fi
	done
	printf '%s\n' "${1%%|*}"
}

groups=${*:-build}
missing=
# shellcheck disable=SC2046 # the table is words
set -- $(packages)
while [ $# -ge 3 ]; do
	if [ $manager = apt ]; then package=$2; else package=$3; fi
	case " $groups " in
	*" $1 "*) [ "$package" = - ] || first_installed "$package" || missing="$missing $package" ;;
	esac
	shift 3
done
[ -n "$missing" ] || exit 0

root=
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || die "missing:$missing; install them as root, or install sudo"
	root=sudo
fi

case $manager in
apt)
	# A fresh machine has no package lists at all.
	if ! available libc6-dev || ! available libbpf-dev; then
		say "fetching package lists: ${root:+$root }apt-get update"
		$root apt-get -qq update
	fi
	names=
	for package in $missing; do names="$names $(first_available "$package")"; done
	say "installing:$names"
	# shellcheck disable=SC2086 # a list of names
	$root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends $names ||
		{
			say "once more with new package lists"
			$root apt-get -qq update
			# shellcheck disable=SC2086
			$root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 install \
				--no-install-recommends $names
		}
	;;
dnf)
	say "installing:$missing"
	# shellcheck disable=SC2086 # a list of names
	$root dnf -y -q install $missing
	;;
esac
say "done"
