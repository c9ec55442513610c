#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Gets what building and testing need and this machine lacks: deps.sh build | test | vm | bench ...
#
# What building needs is installed. Of what testing needs only packages are installed that start and change nothing by being
# there, dependencies included; the others are unpacked below build/tools, where tests find them (tests/path.sh). That is
# looked up in the packages themselves, before anything is installed.
# Where nothing is missing: does nothing, and needs neither network nor root. deps.sh -n GROUP... lists what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$PWD/build/tools

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
build    libsmartcols-dev                 libsmartcols-devel
build    libarchive-dev                   libarchive-devel
build    libexpat1-dev                    expat-devel
build    libncurses-dev                   ncurses-devel
build    libreadline-dev                  readline-devel
build    libmnl-dev                       libmnl-devel
build    libibumad-dev                    libibumad-devel
build    libibmad-dev                     rdma-core-devel
build    libibverbs-dev                   -
test     git                              git
test     libcmocka-dev                    libcmocka-devel
test     libjson-c-dev                    json-c-devel
test     bats                             bats
test     clang-format-14|clang-format     clang-tools-extra
test     cppcheck                         cppcheck
test     shellcheck                       ShellCheck
test     mandoc                           mandoc
test     jq                               jq
test     gojq                             -
test     python3                          python3
test     xz-utils                         xz
test     bzip2                            bzip2
test     zstd                             zstd
test     e2fsprogs                        e2fsprogs
test     strace                           strace
test     infiniband-diags                 infiniband-diags
test     ibsim-utils                      -
test     opensm                           opensm
test     tmux                             tmux
test     procps                           procps-ng
test     python3-prometheus-client        python3-prometheus_client
test     promtool|prometheus              -
test     prometheus-node-exporter         -
test     slurmctld                        slurm-slurmctld
test     slurmd                           slurm-slurmd
test     slurm-client                     slurm
test     munge                            munge
test     clustershell                     clustershell
test     pdsh                             pdsh
test     iproute2                         iproute
test     debootstrap                      debootstrap
test     dpkg-dev                         -
test     debhelper                        -
test     lintian                          -
vm       ca-certificates                  ca-certificates
vm       qemu-system-x86                  qemu-system-x86-core
vm       qemu-system-arm                  qemu-system-aarch64-core
vm       gcc-aarch64-linux-gnu            gcc-aarch64-linux-gnu
vm       busybox-static                   busybox
vm       kmod                             kmod
vm       cpio                             cpio
vm       jq                               jq
vm       gojq                             -
vm       procps                           procps-ng
vm       xz-utils                         xz
vm       zstd                             zstd
vm       binutils                         binutils
vm       iproute2                         iproute
vm       nftables                         nftables
vm       librdmacm-dev                    -
vm       ibverbs-utils                    libibverbs-utils
vm       ibverbs-providers                libibverbs
vm       rdmacm-utils                     librdmacm-utils
vm       perftest                         perftest
vm       g++                              gcc-c++
vm       gdb                              gdb
vm       libfabric-bin                    libfabric
vm       ucx-utils                        ucx
vm       pciutils                         pciutils
compilers clang-14                        clang14
compilers clang-19                        clang19
compilers clang-22                        clang22
bench    hwloc-nox                        hwloc
bench    valgrind                         valgrind
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
	die "only apt and dnf are supported; install the packages named in $0 by hand, then run make all"
fi

# One query for all: this runs before every test. What is unpacked below build/tools counts as being there.
if [ $manager = apt ]; then
	have=$'\n'$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')$'\n'
	[ ! -e "$tools/unpacked" ] || have+=$(<"$tools/unpacked")$'\n'
fi

is_here() {
	if [ $manager = apt ]; then
		[[ $have == *$'\n'"$1"$'\n'* ]]
	else
		rpm -q --quiet --whatprovides "$1"
	fi
}

is_available() {
	[ -n "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ]
}

# Of "a|b": is any of them here?
any_here() {
	local name
	for name in ${1//|/ }; do
		is_here "$name" && return
	done
	return 1
}

# Of "a|b": the first that can be had, else the first.
first_available() {
	local name
	[[ $1 == *"|"* ]] || { echo "$1" && return; }
	for name in ${1//|/ }; do
		is_available "$name" && break
		name=
	done
	echo "${name:-${1%%|*}}"
}

# missing GROUP...: what these groups need and is not here
missing() {
	local group deb rpm package
	packages | while read -r group deb rpm; do
		[[ " $* " == *" $group "* ]] || continue
		package=$deb
		[ $manager = apt ] || package=$rpm
		[ "$package" = - ] || any_here "$package" || echo "$package"
	done | sort -u
}

# as_root COMMAND...
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		command -v sudo >/dev/null || die "cannot install without root: run as root, or install sudo"
		sudo "$@"
	fi
}

# apt_get WORD...: asks nothing, takes nothing that is only recommended
apt_get() {
	env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
}

# plan PACKAGE...: a line for each package that installing these would bring: name, version, architecture; and "NAME - removed"
# for each that would have to go
plan() {
	apt_get -s install "$@" | sed -nE 's/^Inst ([^ ]+) (\[[^]]*\] )?\(([^ ]+) .*\[([a-z0-9]+)\]\).*/\1 \3 \4/p
		s/^Remv ([^ ]+).*/\1 - removed/p'
}

# fetch PACKAGE...: downloads all that installing these would bring. As root into apt's own cache, else below build/tools.
archives=/var/cache/apt/archives
fetch_options=()
if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
	archives=$tools/archives
	fetch_options=(-o "Dir::Cache::archives=$archives" -o Debug::NoLocking=true)
fi
fetch() {
	if [ ${#fetch_options[@]} -gt 0 ]; then
		mkdir -p "$archives/partial"
		apt_get "${fetch_options[@]}" -d install "$@"
	else
		as_root env LC_ALL=C apt-get -qq -y --no-install-recommends -d install "$@"
	fi >/dev/null
}

# deb NAME VERSION ARCHITECTURE: the file in which fetch has left it
deb() {
	echo "$archives/${1%%:*}_${2//:/%3a}_$3.deb"
}

# effects PLAN: "PACKAGE FILE" for each file by which something would be started, devices be named or the kernel be set up as soon
# as what is planned is installed: units, init scripts, rules of udev, lists of modules, sysctl settings, cron jobs. "PACKAGE
# removed" for each package that would have to go, and a line for each that cannot be looked into.
effects() {
	local name version arch files
	while read -r name version arch; do
		[ -n "$name" ] || continue
		[ "$arch" != removed ] || { echo "$name removed" && continue; }
		files=$(dpkg-deb -c "$(deb "$name" "$version" "$arch")" 2>/dev/null) || { echo "$name cannot be looked into" && continue; }
		awk -v package="$name" '
			$6 ~ /\/$/ { next }
			$6 ~ /^\.\/((usr\/)?lib|etc)\/(systemd\/(system|user|network)|udev\/(rules|hwdb)\.d|(modules-load|modprobe|sysctl)\.d)\/./ ||
			$6 ~ /^\.\/etc\/(init\.d\/|rc.\.d\/|cron|sysctl\.conf|modules$)/ { print package, substr($6, 2) }' <<<"$files"
	done <<<"$1"
}

# unpack PACKAGE...: with all they depend on that is not installed, below build/tools/root, where /bin is /usr/bin as on a host.
unpack() {
	local dir name version arch deb
	fetch "$@"
	for dir in bin sbin lib lib64; do
		mkdir -p "$tools/root/usr/$dir"
		[ -e "$tools/root/$dir" ] || ln -s "usr/$dir" "$tools/root/$dir"
	done
	plan "$@" | while read -r name version arch; do
		[ "$arch" != removed ] || continue
		deb=$(deb "$name" "$version" "$arch")
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$tools/root"
		link_alternatives "$deb"
	done
	# Links from the top of a file system become links within the folder.
	find "$tools/root" -type l -lname '/*' -printf '%p %l\n' | while read -r name deb; do
		[ ! -e "$tools/root$deb" ] || ln -sfnr "$tools/root$deb" "$name"
	done
	make_programs
	printf '%s\n' "$@" >>"$tools/unpacked"
}

# link_alternatives DEB: what the package's script would make by update-alternatives
link_alternatives() {
	local link target
	dpkg-deb -I "$1" postinst 2>/dev/null | tr -d '\\' | tr '\n' ' ' |
		grep -oE -- '--(install|slave) +/[^ ]+ +[^ ]+ +/[^ ]+' | while read -r _ link _ target; do
		mkdir -p "$(dirname "$tools/root$link")"
		[ -e "$tools/root$link" ] || ln -sfnr "$tools/root$target" "$tools/root$link"
	done || :
}

# build/tools/bin: each program that was unpacked and that this machine does not have. One whose libraries were unpacked with
# it is started by a script that says where they are.
make_programs() {
	local program name libraries
	rm -rf "${tools:?}/bin"
	mkdir -p "$tools/bin"
	# Those of a package alone have their version before the dot.
	libraries=$(find "$tools/root/usr/lib" \( -name '*.so.*' -o -name 'lib*-[0-9]*.so' \) -printf '%h\n' | sort -u | paste -sd:)
	for program in "$tools"/root/usr/{sbin,bin}/*; do
		name=${program##*/}
		[ -x "$program" ] && [ ! -e "$tools/bin/$name" ] && ! PATH=$PATH:/usr/sbin:/sbin command -v "$name" >/dev/null || continue
		if [[ $(LC_ALL=C ldd "$program" 2>/dev/null) == *"not found"* ]]; then
			printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$program" >"$tools/bin/$name"
			chmod +x "$tools/bin/$name"
		else
			ln -s "$program" "$tools/bin/$name"
		fi
	done
}

# sort_by_effect EFFECTS PACKAGE...: sets install and unpack; those that bring a package of EFFECTS, or make one go, are unpacked
sort_by_effect() {
	local effects=$1 package
	shift
	install=() unpack=()
	for package; do
		if plan "$package" | awk -v effects="$effects" '
			BEGIN { n = split(effects, line, "\n"); for (i = 1; i <= n; i++) { sub(/ .*/, "", line[i]); bad[line[i]] } }
			$1 in bad { found = 1 }
			END { exit found }'; then
			install+=("$package")
		else
			unpack+=("$package")
		fi
	done
}

# get_by_apt KIND PACKAGE...: KIND is build or test
get_by_apt() {
	local kind=$1 names=() name found
	shift
	# A fresh machine has no package lists at all.
	if ! is_available libc6-dev || ! is_available libbpf-dev; then
		say "fetching package lists: apt-get update"
		as_root apt-get -qq update
	fi
	for name; do names+=("$(first_available "$name")"); done
	apt_get --print-uris install "${names[@]}" 2>/dev/null |
		awk '{ bytes += $3 } END { if (bytes) printf "deps: downloading %d packages, %.0f MB\n", NR, bytes / 1e6 }'
	if ! fetch "${names[@]}" 2>/dev/null; then
		say "fetching newer package lists: apt-get update"
		as_root apt-get -qq update
		fetch "${names[@]}" || die "these packages cannot be downloaded together: ${names[*]}"
	fi
	install=("${names[@]}") unpack=()
	found=$(effects "$(plan "${names[@]}")")
	if [ -n "$found" ] && [ "$kind" = build ]; then
		die "nothing installed, for it would start or set up something on this host: ${found%%$'\n'*};" \
			"building needs: ${names[*]}"
	elif [ -n "$found" ]; then
		sort_by_effect "$found" "${names[@]}"
		[ ${#install[@]} -eq 0 ] || found=$(effects "$(plan "${install[@]}")")
		[ ${#install[@]} -eq 0 ] || [ -z "$found" ] || die "not installed: ${install[*]}, which together bring $found"
	fi
	if [ ${#install[@]} -gt 0 ]; then
		say "installing: ${install[*]}"
		mkdir -p build
		as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends \
			--no-remove install "${install[@]}" >build/deps.log 2>&1 ||
			die "apt-get install failed: $(grep '^E: ' build/deps.log || tail -3 build/deps.log)"
	fi
	if [ ${#unpack[@]} -gt 0 ]; then
		say "unpacking below build/tools, for installing would start or change something: ${unpack[*]}"
		unpack "${unpack[@]}"
	fi
}

get() { # KIND GROUP...
	local kind=$1 wanted
	shift
	mapfile -t wanted < <(missing "$@")
	[ ${#wanted[@]} -gt 0 ] || return 0
	if [ $manager = apt ]; then
		get_by_apt "$kind" "${wanted[@]}"
	elif [ "$kind" = build ]; then
		say "installing: ${wanted[*]}"
		as_root dnf -y -q install "${wanted[@]}"
	else
		die "tests need these packages; install by hand what may be on this host, some bring services: ${wanted[*]}"
	fi
	say "done"
}

if [ "${1-}" = -n ]; then
	shift
	missing "$@"
	exit
fi
[ $# -gt 0 ] || set -- build
others=()
for group; do
	case $group in
	build) get build build ;;
	test | vm | bench | compilers) others+=("$group") ;;
	*) die "no such group: $group" ;;
	esac
done
[ ${#others[@]} -eq 0 ] || get test "${others[@]}"
