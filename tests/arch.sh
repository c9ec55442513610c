# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # the scripts that source this use them
# To be sourced, with the path of the top folder in `top`: of which architecture virtual machines and their programs are.
# RDMADIAG_ARCH: amd64 (default) or arm64. All that is of it lies below `build`. What is not of this machine is cross-built against
# the Debian packages that are the machine's own root there (`tests/vm/vm root`).
arch=${RDMADIAG_ARCH:-amd64} build=$top/build kernels=(6.1 6.12 7.x)
qemu_name=qemu-system-x86_64 console=ttyS0 cross='' make_arch=()
case $arch in
amd64) ;;
arm64)
	build=$top/build/arm64 kernels=(6.1 6.12 6.12-16k 7.x) # 16k: pages of 16 KiB
	qemu_name=qemu-system-aarch64 console=ttyAMA0 cross=aarch64-linux-gnu- make_arch=(ARCH=arm64 "CROSS_COMPILE=aarch64-linux-gnu-")
	export CC=$build/cc AR=${cross}ar PKG_CONFIG_SYSROOT_DIR=$build/root \
		PKG_CONFIG_LIBDIR=$build/root/usr/lib/aarch64-linux-gnu/pkgconfig:$build/root/usr/share/pkgconfig
	;;
*)
	echo "RDMADIAG_ARCH: no machines are known for $arch" >&2
	exit 125
	;;
esac
