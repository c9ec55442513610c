# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # here, cache, kernels, arch, say, die: ../vm, ../../arch.sh; apt: ../../private-apt.sh
# Debian's kernels as packages.

kernel_suites() { # where a kernel is to be looked for, in this order
	case $1 in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12*) echo trixie ;;
	7.x) echo forky sid ;;
	esac
}

# The ELF inside a bzImage, found through its setup header. QEMU starts it directly (PVH), which spares the emulated
# processor the unpacking: 3 s of a boot with 6.1's xz. The address layout is then not randomised.
unpack_kernel() {
	local setup off len
	if [[ $arch == arm64 ]]; then
		unpack_zboot "$@"
		return
	fi
	setup=$(od -An -tu1 -j497 -N1 "$1") off=$(od -An -tu4 -j584 -N4 "$1") len=$(od -An -tu4 -j588 -N4 "$1")
	# The last four bytes are the unpacked size.
	unpack_part "$1" "$2" $(((setup + 1) * 512 + off)) $((len - 4))
}

# arm64: an image, or since 7.x a program for EFI that has it inside, which QEMU cannot start.
unpack_zboot() {
	if [[ $(od -An -tc -j4 -N4 "$1" | tr -d ' ') == zimg ]]; then
		unpack_part "$1" "$2" "$(od -An -tu4 -j8 -N4 "$1")" "$(od -An -tu4 -j12 -N4 "$1")"
	else
		unpack_part "$1" "$2" 0 "$(stat -c %s "$1")"
	fi
}

unpack_part() { # FROM TO OFFSET BYTES
	tail -c +$(($3 + 1)) "$1" | head -c "$4" >"$2.packed" || :
	case $(od -An -tx1 -N4 "$2.packed" | tr -d ' ') in
	fd377a58) xz -dc "$2.packed" >"$2" ;;
	28b52ffd) zstd -qdc "$2.packed" >"$2" ;;
	1f8b*) gzip -dc "$2.packed" >"$2" ;;
	*) cp "$2.packed" "$2" ;;
	esac
	rm "$2.packed"
}

# The directory of a kernel: release, image, config, pkg/lib/modules/RELEASE, boot.cpio. It appears by one rename.
fetch_kernel() {
	local k=$1 version=${1%-*} flavour="" suite image="" new=$cache/$1.new pkgs=() rel from
	[[ $k == "$version" ]] || flavour=-${k#*-}
	rm -rf "$new"
	private_apt "$new/apt" "$arch"
	for suite in $(kernel_suites "$k"); do
		# One unreachable part (say, security) leaves the others usable.
		apt_update "$suite" || :
		image=$(depends "linux-image-$arch$flavour" "^linux-image-${version%.x}[.]" | head -n 1)
		[[ -n $image ]] && break
	done
	[[ -n $image ]] || die "found no kernel $k in $(kernel_suites "$k")"
	# From 7.x on the image is a shell around linux-binary, linux-modules and linux-base-RELEASE (the config).
	pkgs=("$image")
	mapfile -t -O 1 pkgs < <(depends "$image" '^linux-(binary|modules|base-[0-9])')
	say "fetching ${pkgs[*]} from $suite"
	download "$new/pkg" "${pkgs[@]}" || die "kernel $k: download failed"

	# 7.x has everything under /usr; kmod's -b looks below /lib.
	[[ -e $new/pkg/lib ]] || ln -s usr/lib "$new/pkg/lib"
	rel=$(cd "$new/pkg/lib/modules" && echo *)
	for from in "$new/pkg/boot/vmlinuz-$rel" "$new/pkg/lib/modules/$rel/vmlinuz"; do
		if [[ -f $from ]]; then mv "$from" "$new/vmlinuz"; fi
	done
	for from in "$new/pkg/boot/config-$rel" "$new/pkg/lib/modules/$rel/config"; do
		if [[ -f $from ]]; then cp "$from" "$new/config"; fi
	done
	[[ -f $new/vmlinuz && -f $new/config ]] || die "kernel $k: no vmlinuz or no config in ${pkgs[*]}"
	unpack_kernel "$new/vmlinuz" "$new/image"
	rm "$new/vmlinuz"
	# Those that each trace reads: emulated, unpacking them takes a second. Drivers of hardware stay as they are packed.
	for from in "$new/pkg/lib/modules/$rel"/kernel/drivers/infiniband/{core,sw/*}/*.ko.*; do
		[[ -e $from ]] || continue
		unpack_module "$from" >"${from%.ko.*}.ko"
		rm "$from"
	done
	depmod -b "$new/pkg" "$rel"
	boot_modules "$new" "$rel"
	# Where its headers are to be found later.
	echo "$suite" >"$new/suite"
	rm -rf "$new/apt" "${cache:?}/$k"
	echo "$rel" >"$new/release"
	mv "$new" "$cache/$k"
	say "$k is $rel"
}

unpack_module() {
	case $1 in
	*.xz) xz -dc "$1" ;;
	*.zst) zstd -qdc "$1" ;;
	*.gz) gzip -dc "$1" ;;
	*) cat "$1" ;;
	esac
}

# The part of the initramfs that depends on the kernel alone: what it takes to reach a 9p share, in loading order.
boot_modules() {
	local dir=$1 rel=$2 tree=$1/boot want order="" m n=0
	local wants=(virtio_pci virtio_console 9pnet_virtio 9p overlay)
	mkdir -p "$tree/mod"
	for want in "${wants[@]}"; do
		m=$(modprobe -d "$dir/pkg" -S "$rel" --show-depends "$want") ||
			die "kernel $rel has no module $want"
		order+=$m$'\n'
	done
	while read -r m; do
		unpack_module "$m" >"$tree/mod/$(printf %02d "$n")-$(basename "${m%.ko*}").ko"
		n=$((n + 1))
	done < <(sed -n 's/^insmod \([^ ]*\).*/\1/p' <<<"$order" | awk '!seen[$0]++')
	(cd "$tree" && find . | cpio -o -H newc -R 0:0 --quiet) >"$dir/boot.cpio"
	rm -rf "$tree"
}

vm_fetch() {
	local headers='' k wanted=()
	for k; do
		if [[ $k == --headers ]]; then headers=1 && continue; fi
		known "$k"
		wanted+=("$k")
	done
	[[ ${#wanted[@]} -gt 0 ]] || wanted=("${kernels[@]}")
	mkdir -p "$cache"
	for k in "${wanted[@]}"; do
		if [[ -e $cache/$k/image && (-z $headers || -e $cache/$k/headers) ]]; then continue; fi
		# In a subshell: the lock goes with it, also when the fetch dies.
		(
			flock 9
			if [[ ! -e $cache/$k/image ]]; then fetch_kernel "$k"; fi
			if [[ -n $headers && ! -e $cache/$k/headers ]]; then fetch_headers "$k"; fi
		) 9>"$cache/$k.lock"
	done
}
