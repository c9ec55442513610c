# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # here, arch, build, cross, say, die: ../vm, ../../arch.sh; apt: ../../private-apt.sh
# The root of machines whose architecture is not this one's: packages of Debian 12, unpacked. What is there lies over this
# machine's own root, and programs are built against it, by the compiler `cc` beside it.

root_packages=(bash binutils bpftool busybox-static bzip2 coreutils dash debianutils diffutils e2fsprogs findutils grep gzip
	hostname ibverbs-providers ibverbs-utils infiniband-diags iproute2 iputils-ping jq kmod libc-bin libcap2-bin mawk mount
	ncurses-base nftables pciutils perftest procps python3-minimal libpython3-stdlib rdmacm-utils sed strace tar tmux util-linux
	util-linux-extra xz-utils zstd
	libarchive-dev libbpf-dev libc6-dev libcmocka-dev libdw-dev libelf-dev libexpat1-dev libibmad-dev libibumad-dev
	libibverbs-dev libjson-c-dev libmnl-dev libncurses-dev librdmacm-dev libreadline-dev libsmartcols-dev linux-libc-dev)

vm_root() {
	local new=$build/root.new dir deb
	[[ $arch != amd64 ]] || return 0
	mkdir -p "$build"
	(
		flock 9
		[[ ! -e $build/root ]] || exit 0
		rm -rf "$new"
		for dir in bin sbin lib; do
			mkdir -p "$new/usr/$dir"
			ln -s "usr/$dir" "$new/$dir"
		done
		private_apt "$new.apt" "$arch"
		apt_update bookworm
		say "fetching packages for $arch: ${#root_packages[@]} and what they need"
		download_all "${root_packages[@]}" || die "packages for $arch: download failed"
		for deb in "$apt"/cache/archives/*.deb; do
			dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$new"
		done
		rm -rf "$new.apt"
		printf '#!/bin/sh\nexec %sgcc --sysroot=%s "$@"\n' "$cross" "$build/root" >"$build/cc"
		chmod +x "$build/cc"
		mv "$new" "$build/root"
	) 9>"$build/root.lock"
}
