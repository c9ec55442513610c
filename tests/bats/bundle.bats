#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Recorded hosts: written, read elsewhere, compared, and refused.

load here

# shellcheck source=tests/until.sh
. "${BATS_TEST_DIRNAME}/../until.sh"

setup() {
	T=$BATS_TEST_TMPDIR
	DATA=../shared/data
}

# A host as a folder: one NIC with a port of RoCE, its function, its interface.
make_host() {
	local pci=$1/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0 ib
	ib=$pci/infiniband/mlx5_0
	mkdir -p "$ib/ports/1/gids" "$ib/ports/1/gid_attrs/types" "$ib/ports/1/gid_attrs/ndevs" "$ib/ports/1/counters" \
		"$pci/net/eth2/statistics" "$1/sys/class/infiniband" "$1/sys/class/net" "$1/sys/bus/pci/devices" \
		"$1/proc/sys/kernel"
	ln -s ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/infiniband/mlx5_0 "$1/sys/class/infiniband/mlx5_0"
	ln -s ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/net/eth2 "$1/sys/class/net/eth2"
	ln -s ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0 "$1/sys/bus/pci/devices/0000:01:00.0"
	ln -s ../../../devices/pci0000:00/0000:00:01.0 "$1/sys/bus/pci/devices/0000:00:01.0"
	ln -s ../../../0000:01:00.0 "$ib/device"
	ln -s ../../../0000:01:00.0 "$pci/net/eth2/device"
	echo 0x020000 >"$pci/class"
	echo 0x060400 >"$1/sys/devices/pci0000:00/0000:00:01.0/class"
	echo 0x15b3 >"$pci/vendor"
	echo 0x101d >"$pci/device"
	echo 1 >"$pci/numa_node"
	echo "32.0 GT/s PCIe" >"$pci/current_link_speed"
	echo 16 >"$pci/current_link_width"
	echo 28.41.1000 >"$ib/fw_ver"
	echo "gpu-node-17 mlx5_0" >"$ib/node_desc"
	echo 0002:c903:00a1:b2c4 >"$ib/node_guid"
	echo "1: CA" >"$ib/node_type"
	echo "4: ACTIVE" >"$ib/ports/1/state"
	echo "5: LinkUp" >"$ib/ports/1/phys_state"
	echo "400 Gb/sec (4X NDR)" >"$ib/ports/1/rate"
	echo Ethernet >"$ib/ports/1/link_layer"
	echo 0000:0000:0000:0000:0000:ffff:0a01:141e >"$ib/ports/1/gids/0"
	echo "RoCE v2" >"$ib/ports/1/gid_attrs/types/0"
	echo eth2 >"$ib/ports/1/gid_attrs/ndevs/0"
	echo 5 >"$ib/ports/1/counters/link_downed"
	echo 1000 >"$ib/ports/1/counters/port_rcv_data"
	echo 02:c9:03:a1:b2:c3 >"$pci/net/eth2/address"
	echo up >"$pci/net/eth2/operstate"
	echo 9000 >"$pci/net/eth2/mtu"
	echo 0 >"$pci/net/eth2/dev_port"
	echo gpu-node-17 >"$1/proc/sys/kernel/hostname"
	echo 6.1.0 >"$1/proc/sys/kernel/osrelease"
	printf 'ib_core 1 0 - Live 0x0\nmlx5_core 1 0 - Live 0x0\n' >"$1/proc/modules"
}

# The report without what may differ between a recording and its reading.
report() {
	"$RD" --from "$1" --json nic-map | jq 'del(.source, .read_at)'
}

# Exit 3 and one line, or a second with a hint.
refused() {
	run -3 --separate-stderr "$RD" --from "$1" --json nic-map
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == "rdmadiag: "* ]]
	[ "${#stderr_lines[@]}" -le 2 ]
}

@test "names that are no UTF-8 are recorded and read as they are" {
	make_host "$T/a"
	local name=$'u\377x\033"\\' pci=sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0
	mv "$T/a/$pci/net/eth2" "$T/a/$pci/net/$name"
	rm "$T/a/sys/class/net/eth2"
	ln -s "../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/net/$name" "$T/a/sys/class/net/$name"
	echo "$name" >"$T/a/$pci/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0"
	for command in nic-map "--json nic-map" "nic-map --gids"; do
		# shellcheck disable=SC2086 # words
		"$RD" --from "$T/a" $command | grep -v '_at"' >"$T/before"
		"$RD" --from "$T/a" capture --force "$T/a.tar.gz" >/dev/null
		# shellcheck disable=SC2086 # words
		"$RD" --from "$T/a.tar.gz" $command | grep -v '_at"' >"$T/after"
		[ -s "$T/after" ]
		grep -F 'x\' "$T/before"
		diff <(grep -v '"time"\|"source"' "$T/before") <(grep -v '"time"\|"source"' "$T/after")
	done
	"$RD" diff "$T/a.tar.gz" "$T/a"
}

@test "a capture says the same as the host it was made of, in every packing" {
	make_host "$T/host"
	report "$T/host" >"$T/live.json"
	[ "$(jq -r '.nics[0].ibdev' "$T/live.json")" = mlx5_0 ]
	for suffix in tar tar.gz tgz tar.bz2 tar.zst; do
		run -0 --separate-stderr "$RD" --from "$T/host" capture "$T/x.$suffix"
		diff "$T/live.json" <(report "$T/x.$suffix")
	done
	mkdir "$T/dir"
	tar -xf "$T/x.tar.gz" -C "$T/dir"
	diff "$T/live.json" <(report "$T/dir")
	tar -cf "$T/in-a-folder.tar" -C "$T" dir
	diff "$T/live.json" <(report "$T/in-a-folder.tar")
}

@test "captures of recorded machines say the same as these" {
	compgen -G "$DATA/sysfs/*.tar.gz" >/dev/null || skip "the recorded machines are not here"
	for tree in "$DATA"/sysfs/*.tar.gz "$DATA"/hwloc/*.tar.bz2; do
		"$RD" --from "$tree" capture --force "$T/x.tar.zst"
		report "$tree" >"$T/tree.json" || true
		report "$T/x.tar.zst" >"$T/bundle.json" || true
		diff "$T/tree.json" "$T/bundle.json"
	done
}

@test "a capture, a capture of it, and a redacted one say the same of all kinds of hosts" {
	tests/torture/capture-again --few "$RD" >"$T/tap" || { cat "$T/tap"; false; }
	[ "$(grep -c '^ok' "$T/tap")" -ge 3 ]
}

@test "the document of a bundle has the capture's host and time, and when it was read" {
	make_host "$T/host"
	"$RD" capture "$T/x.tar.zst"
	run --separate-stderr "$RD" --from "$T/x.tar.zst" --json nic-map
	run jq -r '.source, .host, (.time | fromdateiso8601? // "time"), has("read_at")' <<<"$output"
	[ "${lines[0]}" = bundle ]
	[ "${lines[1]}" = "$(cat /proc/sys/kernel/hostname)" ]
	[ "${lines[3]}" = true ]
	run bash -c '"$1" --from "$2" --json nic-map | jq -r ".host, .time"' - "$RD" "$T/host"
	[ "${lines[0]}" = gpu-node-17 ]
	[ "${lines[1]}" = null ]
}

@test "a capture gets the host's name and the time, and only its owner may read it" {
	make_host "$T/host"
	cd "$T"
	"$RD" --from host capture
	[ "$(echo rdmadiag-gpu-node-17-*Z.tar.zst)" != "rdmadiag-gpu-node-17-*Z.tar.zst" ]
	[ "$(stat -c %a rdmadiag-*.tar.zst)" = 600 ]
	rm rdmadiag-*
	"$RD" --from host capture --redact
	[[ $(echo rdmadiag-*) != *gpu-node* ]]
}

@test "without privilege a capture records what was denied as denied" {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root, to do without it"
	# Bats's own folders are for root only.
	open=$(mktemp -d)
	make_host "$open/host"
	chmod 000 "$open/host/sys/class/infiniband/mlx5_0/fw_ver"
	mkdir -m 777 "$open/out"
	chmod 755 "$open"
	cp "$RD" "$open/rd"
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$open/rd" --from "$open/host" --json capture "$open/out/x.tar"
	mv "$open/out/x.tar" "$T"
	rm -r "$open"
	[ "$status" -eq 0 ]
	[ "$(jq '.bundles[0].denied' <<<"$output")" -ge 1 ]
	[[ $(tar -xOf "$T/x.tar" manifest.json) == *'mlx5_0/fw_ver'*'"errno":"EACCES"'* ]]
	[ "$("$RD" --from "$T/x.tar" --json nic-map | jq '.nics[0].firmware')" = null ]
}

@test "nothing of a host is in a redacted capture of it" {
	make_host "$T/host"
	"$RD" --from "$T/host" capture --redact "$T/x.tar"
	for real in gpu-node-17 02:c9:03:a1:b2:c3 0002:c903:00a1:b2c4 0a01:141e 10.1.20.30; do
		! grep -aqF "$real" "$T/x.tar"
	done
	# As raw bytes: MAC, GUID, IP.
	for raw in '\x02\xc9\x03\xa1\xb2\xc3' '\x00\x02\xc9\x03\x00\xa1\xb2\xc4' '\x0a\x01\x14\x1e'; do
		! LC_ALL=C grep -aqP "$raw" "$T/x.tar"
	done
	diff <(report "$T/host" | jq '.nics | map(del(.gid, .ip, .node_guid, .sys_image_guid, .evidence, .mac))') \
		<(report "$T/x.tar" | jq '.nics | map(del(.gid, .ip, .node_guid, .sys_image_guid, .evidence, .mac))')
}

@test "nothing of this host is in a redacted capture of it" {
	"$RD" capture --redact "$T/x.tar"
	! tar -xOf "$T/x.tar" | grep -aqiF -f <(cat /sys/class/net/*/address | grep -v '^00:00\|^ff:ff' | sort -u; echo no-such-text)
	if command -v ip >/dev/null; then
		! tar -xOf "$T/x.tar" | grep -aqwF -f <(ip -o addr | awk '{print $4}' | cut -d/ -f1 | grep -vxE '127.0.0.1|::1'; echo no-such-text)
	fi
	"$RD" --from "$T/x.tar" diff 2>&1 | grep -q "expects two bundles"
	"$RD" diff "$T/x.tar" "$T/x.tar"
}

@test "hostile archives: exit 3, one line, nothing written" {
	python3 - "$T" <<'PY'
import io, sys, tarfile
def make(name, *members):
    t = tarfile.open(f'{sys.argv[1]}/{name}.tar', 'w')
    for path, kind, target in members:
        i = tarfile.TarInfo(path); i.type = kind; i.linkname = target or ''
        data = b'evil' if kind == tarfile.REGTYPE else b''
        i.size = len(data); t.addfile(i, io.BytesIO(data))
    t.close()
R, S, H = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
make('absolute', ('/sys/rd-evil', R, None)); make('up', ('sys/../../rd-evil', R, None))
make('link-out', ('sys/out', S, '/etc')); make('link-up', ('sys/a/out', S, '../../../etc'))
make('through', ('sys/out', S, 'in'), ('sys/out/rd-evil', R, None)); make('hard', ('sys/hard', H, '/etc/passwd'))
make('device', ('sys/null', tarfile.CHRTYPE, None)); make('fifo', ('sys/fifo', tarfile.FIFOTYPE, None))
make('twice', ('sys/a', R, None), ('sys/a', R, None)); make('other', ('home/a', R, None))
make('lie', ('manifest.json', R, None), ('root/sys/a', R, None))
PY
	make_host "$T/host"
	"$RD" --from "$T/host" capture "$T/whole.tar.zst"
	"$RD" --from "$T/host" capture "$T/whole.tar"
	head -c 1000 "$T/whole.tar.zst" >"$T/cut.tar"
	head -c 20480 "$T/whole.tar" >"$T/cut2.tar"
	head -c 5000 /dev/urandom >"$T/random.tar"
	: >"$T/empty.tar"
	# Others may make files there, but none with these names.
	evil() { ls -A /etc / | grep -xE 'rd-evil|out|in|hard|null|fifo|a' | sort; }
	before=$(evil)
	for bad in "$T"/{absolute,up,link-out,link-up,through,hard,device,fifo,twice,other,lie,cut,cut2,random,empty,nothing}.tar /dev/null; do
		refused "$bad"
	done
	[ "$before" = "$(evil)" ]
	[ -z "$(find "$T" -name 'rd-evil*')" ]
}

@test "no flipped bit goes unnoticed: the same facts, or exit 3" {
	make_host "$T/host"
	"$RD" --from "$T/host" capture "$T/whole.tar" >/dev/null
	mkdir "$T/dir"
	tar -xf "$T/whole.tar" -C "$T/dir"
	gzip -k "$T/whole.tar"
	bzip2 -k "$T/whole.tar"
	zstd -q "$T/whole.tar"
	# What a capture of the damaged bundle holds is all that any command can be told. It waits for the disk, if there is one.
	out=$(mktemp -p /dev/shm 2>/dev/null || mktemp).tar
	python3 - "$RD" "$T" "$out" <<'PY'
import os, random, subprocess, sys
rd, work, out = sys.argv[1:]
random.seed(20261122)
def facts(bundle):
    run = subprocess.run([rd, '--from', bundle, 'capture', '--force', out], capture_output=True, text=True)
    if run.returncode == 0:
        return open(out, 'rb').read()
    lines = run.stderr.splitlines()
    assert run.returncode == 3 and lines and lines[0].startswith(f'rdmadiag: {bundle}'), (run.returncode, run.stderr)
def flips(bundle, path, offsets):
    noticed = 0
    whole = bytearray(open(path, 'rb').read())
    for at in offsets:
        bit = 1 << random.randrange(8)
        whole[at] ^= bit
        open(path, 'wb').write(whole)
        told = facts(bundle)
        assert told in (None, truth), f'{path}: bit {bit} of byte {at} changes what is told'
        noticed += told is None
        whole[at] ^= bit
    open(path, 'wb').write(whole)
    return noticed
truth = facts(f'{work}/whole.tar')
for suffix in 'tar', 'tar.gz', 'tar.bz2', 'tar.zst':
    bundle = f'{work}/whole.{suffix}'
    assert facts(bundle) == truth
    noticed = flips(bundle, bundle, random.sample(range(os.path.getsize(bundle)), 150))
    assert noticed >= (150 if suffix == 'tar.bz2' else 10), (suffix, noticed)
files = [os.path.join(at, name) for at, _, names in os.walk(f'{work}/dir') for name in names]
files = sorted(f for f in files if not os.path.islink(f) and os.path.getsize(f))
for _ in range(150):
    path = random.choice(files)
    assert flips(f'{work}/dir', path, [random.randrange(os.path.getsize(path))]) == 1 or '/nl/' in path, path
PY
	rm -f "$out" "${out%.tar}"
	# The file is named.
	echo "1: DOWN" >"$T/dir/root/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/infiniband/mlx5_0/ports/1/state"
	refused "$T/dir"
	[[ $stderr == *"$T/dir: root/sys/"*"/mlx5_0/ports/1/state: damaged: "*"(EBADMSG)"* ]]
	# By somebody who means it, as the man page says.
	jq 'del(.hash, .samples[].shape, .samples[].requests[].hash)' "$T/dir/manifest.json" >"$T/manifest.json"
	mv "$T/manifest.json" "$T/dir"
	[ "$(report "$T/dir" | jq -r '.nics[0].state')" = DOWN ]
}

@test "a bomb is refused within bounded memory" {
	python3 - "$T/bomb.tar.gz" <<'PY'
import sys, tarfile
class Zeros:
    def read(self, n): return bytes(n)
t = tarfile.open(sys.argv[1], 'w:gz', compresslevel=1)
for n in range(6):
    i = tarfile.TarInfo(f'sys/{n}'); i.size = 50 << 20; t.addfile(i, Zeros())
t.close()
PY
	(
		ulimit -v 700000
		refused "$T/bomb.tar.gz"
	)
}

@test "reading a bundle opens nothing outside of it" {
	command -v strace >/dev/null || skip "strace is not here"
	strace -o "$T/probe" true 2>/dev/null || skip "strace may not trace here"
	make_host "$T/host"
	"$RD" --from "$T/host" capture "$T/x.tar.zst"
	for from in "$T/x.tar.zst" "$T/host"; do
		strace -f -e trace=open,openat,openat2,readlink,readlinkat,socket,connect,execve -o "$T/trace" \
			"$RD" --from "$from" --json nic-map >/dev/null
		# Besides the program and where it lies: libraries, locale, and the names of PCI devices.
		run grep -vE "\"($from|/lib|/usr/lib|/etc/ld\.so|/usr/share/(locale|misc|hwdata|zoneinfo)|/etc/local(e|time)|/dev/null|/proc/self/exe|$RD)|\"/\", .*O_PATH|ENOENT|^[0-9]+ +(\+\+\+|---)" \
			"$T/trace"
		# Below a folder, files are opened by names relative to it.
		run bash -c 'grep -vE "(openat2?|readlinkat)\([0-9]+, \"[^/]" <<<"$1"' - "$output"
		[ -z "$output" ] || { echo "$output"; return 1; }
	done
}

@test "a capture that cannot be written is an error and leaves nothing" {
	make_host "$T/host"
	mkdir "$T/small"
	run -3 --separate-stderr "$RD" --from "$T/host" capture "$T/none/x.tar"
	[[ $stderr == *"/none/x.tar: cannot create a file there: "*"(ENOENT)" ]]
	run -3 --separate-stderr "$RD" --from "$T/host" capture "$T/x.zip"
	[ "${#stderr_lines[@]}" -eq 2 ]
	mount -t tmpfs -o size=12k none "$T/small" 2>/dev/null || skip "no small disk to be had"
	run --separate-stderr "$RD" --from "$T/host" capture "$T/small/x.tar"
	left=$(ls -A "$T/small")
	umount "$T/small"
	[ "$status" -eq 3 ]
	[[ $stderr == *"(ENOSPC)" ]]
	[ -z "$left" ]
}

@test "repeated samples hold only what changed" {
	run -0 "$RD" --json capture -i 0.2 -c 3 "$T/x.tar"
	[ "$(jq '.bundles[0].samples' <<<"$output")" -eq 3 ]
	all=$(tar -tf "$T/x.tar" | grep -c '^root/')
	[ "$(tar -tf "$T/x.tar" | grep -c '^t001/')" -lt "$((all / 2))" ]
	[ "$(tar -xOf "$T/x.tar" manifest.json | jq '.samples | length')" -eq 3 ]
	# A bundle made of it has them all.
	run "$RD" --from "$T/x.tar" --json capture --redact "$T/again.tar.zst"
	[ "$(jq '.bundles[0].samples' <<<"$output")" -eq 3 ]
	run -3 --separate-stderr "$RD" capture -i 1 "$T/y.tar"
	for args in "-c 0" "-c x" "-i 0 -c 2" "-i -1 -c 2" "a.tar b.tar"; do
		# shellcheck disable=SC2086 # words
		run -3 --separate-stderr "$RD" capture $args
		[ -z "$output" ]
	done
}

@test "diff says what changed, the most telling first" {
	make_host "$T/a"
	make_host "$T/b"
	dev=$T/b/sys/class/infiniband/mlx5_0
	echo "1: DOWN" >"$dev/ports/1/state"
	echo 28.42.1000 >"$dev/fw_ver"
	echo 6 >"$dev/ports/1/counters/link_downed"
	echo 9999 >"$dev/ports/1/counters/port_rcv_data"
	echo 8 >"$dev/device/current_link_width"
	echo 'ib_core 1 0 - Live 0x0' >"$T/b/proc/modules"
	"$RD" --from "$T/a" capture "$T/a.tar.zst"
	run bash -c '"$1" --json diff "$2" "$3" | jq -r ".changes[] | [.area, .subject, .field, .before, .after] | join(\" \")"' - "$RD" \
		"$T/a.tar.zst" "$T/b"
	[ "${lines[0]}" = "module mlx5_core loaded yes " ]
	[ "${lines[1]}" = "link mlx5_0/1 state 4: ACTIVE 1: DOWN" ]
	[ "${lines[2]}" = "link 0000:01:00.0 current_link_width 16 8" ]
	[ "${lines[3]}" = "firmware mlx5_0 fw_ver 28.41.1000 28.42.1000" ]
	[ "${lines[4]}" = "counter mlx5_0/1 link_downed 5 6" ]
	[ "${lines[5]}" = "counter mlx5_0/1 port_rcv_data 1000 9999" ]
	[ "${#lines[@]}" -eq 6 ]
	run -0 "$RD" diff "$T/a.tar.zst" "$T/a"
	[ "${#lines[@]}" -eq 1 ]
}

@test "diff: of a device that has gone, that alone is said, and first" {
	make_host "$T/a"
	make_host "$T/b"
	rm "$T/b/sys/class/infiniband/mlx5_0"
	run "$RD" -n diff "$T/a" "$T/b" -o area,subject,field,before,after,weight
	[ "${#lines[@]}" -eq 1 ]
	[[ ${lines[0]} =~ ^device\ +mlx5_0\ +present\ +yes\ +-\ +100$ ]]
	run -3 --separate-stderr "$RD" diff "$T/a"
	run -3 --separate-stderr "$RD" diff "$T/a" "$T/none"
	[[ $stderr == *"/none: cannot open the bundle: "*"(ENOENT)" ]]
	run -3 --separate-stderr "$RD" nic-map --from ""
	[[ $stderr == "rdmadiag: --from: empty path"* ]]
}

@test "diff -i compares with this host again" {
	"$RD" capture "$T/now.tar.zst"
	run -0 --separate-stderr "$RD" diff "$T/now.tar.zst" live -i 0.1 -c 3 --json
	[ "${#lines[@]}" -eq 3 ]
	[ "$(jq -r .source <<<"$output" | sort -u)" = live ]
	run -3 --separate-stderr "$RD" diff "$T/now.tar.zst" "$T/now.tar.zst" -i 1
	[[ $stderr == *"a bundle does not change"* ]]
}

@test "diff of two hosts says that these are two" {
	make_host "$T/a"
	make_host "$T/b"
	echo other >"$T/b/proc/sys/kernel/hostname"
	run --separate-stderr "$RD" diff "$T/a" "$T/b"
	[[ $stderr == "rdmadiag: the captures are of different hosts: gpu-node-17 and other" ]]
}

@test "a bundle cannot be traced" {
	make_host "$T/host"
	run -3 --separate-stderr "$RD" --from "$T/host" trace-errno --list
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == *"--from and --list are mutually exclusive: it shows what was recorded"* ]]
	run -3 --separate-stderr "$RD" --from "$T/host" trace-errno
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == *"has no recorded trace"* ]]
}

@test "a bundle of schema 1 is still read" {
	# From a machine with soft-RoCE, by the first version that wrote any, redacted.
	run -0 bash -c '"$1" --from "$2" --json nic-map | jq -c ".host, (.nics[] | [.ibdev, .netdev, .state, .gid_type])"' - "$RD" \
		tests/bundles/schema-1-rxe.tar.zst
	[ "${lines[1]}" = '["rxe0","v0","ACTIVE","RoCE v2"]' ]
	[ "${lines[2]}" = '["rxe1","v1","ACTIVE","RoCE v2"]' ]
	run -0 "$RD" diff tests/bundles/schema-1-rxe.tar.zst tests/bundles/schema-1-rxe.tar.zst
}

@test "a capture replaces no file without --force" {
	make_host "$T/a"
	echo precious >"$T/x.tar"
	ln -s nowhere "$T/y.tar"
	for file in x y; do
		run -3 --separate-stderr "$RD" --from "$T/a" capture "$T/$file.tar"
		[[ $stderr == *"/$file.tar: file exists: not overwritten"*"--force"* ]]
	done
	[ "$(cat "$T/x.tar")" = precious ]
	"$RD" --from "$T/a" capture --force "$T/x.tar"
	"$RD" --from "$T/x.tar" nic-map >/dev/null
}

@test "a limit on the size of files is an error like a full disk" {
	make_host "$T/a"
	mkdir "$T/out"
	run -3 --separate-stderr bash -c 'ulimit -S -f 1; exec "$0" --from "$1" capture "$2"' "$RD" "$T/a" "$T/out/x.tar"
	[[ $stderr == *"/x.tar: cannot write: "*"(EFBIG)" ]]
	[ -z "$(ls -A "$T/out")" ]
}

@test "progress is shown on a terminal and nowhere else" {
	command -v script >/dev/null || skip "script is not here"
	make_host "$T/host"
	run script -qec "$RD --from $T/host capture $T/x.tar" /dev/null </dev/null
	[[ $output == *"rdmadiag: recording nic-map"* ]]
	run --separate-stderr "$RD" --from "$T/host" capture "$T/y.tar"
	[ -z "$stderr" ]
}

@test "a pipe or a folder is not replaced by a bundle, and refused before the host is read" {
	make_host "$T/a"
	mkfifo "$T/pipe.tar"
	mkdir "$T/folder.tar"
	for target in pipe folder; do
		run -3 --separate-stderr "$RD" --from "$T/a" capture "$T/$target.tar"
		[[ $stderr == *"/$target.tar: not a regular file"* ]]
	done
	[ -p "$T/pipe.tar" ]
	run -3 --separate-stderr "$RD" --from "$T/a" capture ""
	[[ $stderr == *'"": unknown suffix: expected .tar, '* ]]
}

# Whether the process catches what asks for the end: SIGTERM, and SIGINT.
ready() {
	grep -Eqs '^SigCgt:.*4[0-9a-f]{2}[2367abef]$' "/proc/$1/status"
}

@test "a capture of many samples that is asked to end keeps what it has" {
	for signal in INT TERM HUP; do
		"$RD" capture -c 1000 -i 0.2 "$T/$signal.tar" >/dev/null &
		until_true ready $!
		kill -"$signal" $!
		wait $!
		"$RD" diff "$T/$signal.tar" "$T/$signal.tar"
	done
}

@test "a capture under nohup outlives its terminal" {
	(trap '' HUP && exec "$RD" --json capture -c 1000 -i 0.2 "$T/a.tar" >"$T/out") &
	until_true ready $!
	kill -HUP $!
	# It waits for the next samples.
	waits() { sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null; }
	before=$(waits $!)
	goes_on() { [ "0$(waits "$1")" -gt $((before + 20)) ]; }
	until_true goes_on $!
	kill -INT $!
	wait $!
	[ "$(jq '.bundles[0].samples' "$T/out")" -ge 2 ]
}

@test "a capture that is killed leaves no file, and what an older one left is removed" {
	local dir=$BATS_TEST_TMPDIR/out held
	command -v strace >/dev/null || skip "strace is not here"
	strace -o "$BATS_TEST_TMPDIR/probe" true 2>/dev/null || skip "strace may not trace here"
	mkdir "$dir"
	touch "$dir/.rdmadiag.tmp-abcdef" "$dir/.rdmadiag.config"
	exec {held}>"$dir/.rdmadiag.tmp-held12"
	flock "$held"
	run strace -f -qq -o /dev/null -e trace=linkat,renameat2 -e inject=linkat,renameat2:signal=KILL "$RD" --from tests/bundles/half-a.tar.zst capture "$dir/killed.tar.zst"
	[ "$status" -ne 0 ]
	# Where the file system has no files without a name (O_TMPFILE), the next run removes it.
	run -0 "$RD" --from tests/bundles/half-a.tar.zst capture "$dir/whole.tar.zst"
	[ "$(ls -A "$dir" | sort | tr '\n' ' ')" = ".rdmadiag.config .rdmadiag.tmp-held12 whole.tar.zst " ]
}
