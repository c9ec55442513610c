#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# nic-map on a made-up host: tables, documents, exit codes. Distances and choices are unit tests; the rest needs a machine of
# its own: tests/vm.

load made-up-host
load terminal

teardown() {
	[ -z "${SOCKET-}" ] || tm kill-server 2>/dev/null || :
}

map() {
	"$RD" --from "$HOST" nic-map "$@"
}

@test "tables: NICs, accelerators, distances" {
	run -0 map
	[[ ${lines[0]} == IBDEV*PORT*NETDEV*PCI*NUMA*STATE*ROLE ]]
	[[ $output == *"mlx5_8"*"10.8.0.1"*"storage"* ]]
	[[ $output == *"GPU"*"VENDOR"*"NVIDIA"* ]]
	[[ $output == *"GPU0"*"NIC11"*"CPUS"* ]]
}

@test "a document has the keys of the contract" {
	map --json | jq -e '.schema == "rdmadiag/nic-map/1" and .status == 0 and .source == "bundle" and .host == "made-up" and
		(.nics | length) == 12 and (.gpus | length) == 8 and (.paths | length) == 96 and
		(.assignment.nccl | length) == 8 and (.assignment.nvshmem | length) == 8 and
		(.assignment.nccl[0] | has("gpu", "nics", "backup")) and .env.NCCL_IB_HCA != null and
		.nics[0].mtu_bytes == 4096 and .nics[8].gid_index == 3 and .nics[0].ip == null and
		([.nics[].role] | group_by(.) | map(length)) == [8, 4]'
}

@test "each accelerator gets the NIC next to it, from both libraries" {
	map --json | jq -e '. as $d | all(.assignment.nccl[], .assignment.nvshmem[]; . as $c | all(.nics[]; . as $n |
		any($d.paths[]; .gpu == $c.gpu and .nic == $n and .path == "PIX")))'
	map --json | jq -e '[.assignment.nccl[].nics[0]] | unique | length == 8'
	run -0 map --assignment
	[[ $output == *nccl*"neighbour; both are below the switch"* ]]
}

@test "--path names every bridge; a name that is none is refused" {
	run -0 map --path GPU0 mlx5_0
	[[ ${lines[0]} == "0000:13:00.0 to 0000:15:00.0: PIX" ]]
	[ "${#lines[@]}" -eq 7 ]
	map --path 0 mlx5_4 --json | jq -e '[.bridges[].kind] | map(select(. == "host bridge")) | length == 2'
	for bad in "9 mlx5_0" "0 mlx5_77" "x mlx5_0"; do
		# shellcheck disable=SC2086 # two words
		run -3 --separate-stderr map --path $bad
		[ -z "$output" ]
	done
	run -3 --separate-stderr map --path 0
}

@test "devices: rows and findings of these alone, and nothing is concluded from fewer" {
	run -0 map --raw -n mlx5_1 --device mlx5_10/1,eth8
	[ "$(cut -d' ' -f1 <<<"$output" | paste -sd,)" = mlx5_1,mlx5_8,mlx5_10 ]
	run map --raw -n mlx5_10:1
	[[ $output == "mlx5_10 "* ]]
	[ "$(map -n --gids mlx5_1 | awk '{ print $1 }' | sort -u)" = mlx5_1 ]
	[ "$(map -n --pairs mlx5_1 mlx5_11 | wc -l)" -eq 16 ]
	map --json >"$BATS_TEST_TMPDIR/all"
	map --json --device mlx5_1 >"$BATS_TEST_TMPDIR/one"
	jq -e -s '.[0] as $all | .[1] as $one | ($one.nics | length) == 1 and $one.nics == [$all.nics[] | select(.ibdev == "mlx5_1")] and
		$one.paths == [$all.paths[] | select(.nic == "mlx5_1")] and $one.gpus == $all.gpus and
		$one.assignment == $all.assignment and $one.env == $all.env' "$BATS_TEST_TMPDIR/all" "$BATS_TEST_TMPDIR/one"
	# A port that is down: shown for its own device and for the host, not for another.
	cp -r "$HOST" "$BATS_TEST_TMPDIR/down"
	echo "1: DOWN" >"$BATS_TEST_TMPDIR/down/sys/class/infiniband/mlx5_1/ports/1/state"
	"$RD" --from "$BATS_TEST_TMPDIR/down" nic-map --json | jq -e 'any(.findings[]; .subject == "mlx5_1/1")'
	"$RD" --from "$BATS_TEST_TMPDIR/down" nic-map mlx5_1 --json | jq -e 'any(.findings[]; .subject == "mlx5_1/1")'
	run -0 "$RD" --from "$BATS_TEST_TMPDIR/down" nic-map mlx5_10 --fail # what is about an accelerator is not about this device
	[[ $output != *mlx5_1/1* && $output != *": GPU"* ]]
	run -2 "$RD" --from "$BATS_TEST_TMPDIR/down" nic-map mlx5_1 --fail
}

@test "a device that is none: exit 3, and which; options about the whole host take none" {
	for bad in mlx5_77 "mlx5_0 mlx5_1/2" "--device mlx5_0,nope" "--device mlx5_0,"; do
		# shellcheck disable=SC2086 # words
		run -3 --separate-stderr map $bad
		[ -z "$output" ]
		[[ $stderr == *"no such RDMA device, port, interface or PCI address"*nic-map* ]]
	done
	map nope --json | jq -e '.status == 3 and .errors[0].object == "nope"'
	refused map "--env nccl mlx5_0" "--env nccl --device mlx5_0" "--nccl-xml mlx5_0" "--check-env mlx5_0" \
		"--path 0 mlx5_0 --device mlx5_0"
}

@test "--matrix is square and symmetric" {
	map --matrix --raw -n | awk '{ for (i = 2; i <= 21; i++) m[NR, i - 1] = $i } END {
		if (NR != 20) exit 1
		for (i = 1; i <= 20; i++) for (j = 1; j <= 20; j++) if (m[i, j] != m[j, i]) exit 1 }'
}

@test "--gids shows all of them, one marked for each port" {
	map --gids --json | jq -e '(.gids | length) == 24 and ([.gids[] | select(.use)] | length) == 12'
}

@test "--env can be evaluated, and passes --check-env" {
	run -0 map --env all
	[[ $output == "export NCCL_IB_HCA='=mlx5_0:1,"* ]]
	(
		eval "$(map --env all)"
		[ "${NCCL_IB_HCA%%,*}" = "=mlx5_0:1" ]
		[ "$NVSHMEM_HCA_PE_MAPPING" = mlx5_0:1:1,mlx5_1:1:1,mlx5_2:1:1,mlx5_3:1:1,mlx5_4:1:1,mlx5_5:1:1,mlx5_6:1:1,mlx5_7:1:1 ]
		map --check-env | grep -qE "^nic-map: [0-9]+ variables \(.*\): no problems found"
	)
}

@test "--stacks: which NICs, GID and transport for each memory; findings below" {
	run -0 map --stacks
	[[ ${lines[0]} == STACK*MEMORY*NICS*GIDX*TRANSPORT ]]
	grep -qE '^mooncake +GPU0-1 +mlx5_0/1,mlx5_1/1 +0 +rc$' <<<"$output" || grep -qE '^mooncake +GPU0 +mlx5_0/1' <<<"$output"
	grep -qE '^ucx +host ' <<<"$output"
	grep -qE '^nixl_libfabric +all +- +- +tcp$' <<<"$output"
	[[ $output == *"[stack-role]"* && $output != *warning:* ]]
	# A row of NICs fits a terminal, and so does the table.
	[ "$(awk '/^$/ { exit } { n++ } length > 80 { exit 1 } END { print n }' <<<"$output")" -le 24 ]
	# Most hosts run none of them: nothing is said of them elsewhere.
	run map
	[[ $output != *"[stack-"* ]]
}

@test "assignment has the stacks, with the GID of each port; rules_read_from names releases" {
	map --json | jq -e '.assignment | (.mooncake | length) == 10 and (.ucx | length) == 9 and
		(.libfabric[0] | .gpu == null and .transport == "verbs;ofi_rxm") and
		(.nixl_libfabric | length == 1 and .[0].transport == "tcp" and .[0].nics == []) and
		(.mooncake[0] | has("gpu", "numa_node", "nics", "ports", "fallback", "gids", "transport", "reason")) and
		(.mooncake[8] | .gpu == null and .numa_node == 0 and any(.gids[]; .port == "mlx5_8/1" and .gid_index == 3 and
			.gid_type == "RoCE v2" and .ip == "10.8.0.1")) and (.mooncake_note | length) > 0 and
		.mooncake_left_out == [] and (.nixl_libfabric_left_out | length == 12 and .[0].port == "mlx5_0/1" and
			.[0].reason == "no EFA device")'
	map --json | jq -e '[.rules_read_from[].library] == ["nccl", "nvshmem", "ucx", "nixl", "mooncake", "libfabric"] and
		all(.rules_read_from[]; .release | test("[0-9]+\\.[0-9]+.*\\([0-9a-f]{7,}\\)"))'
	run --separate-stderr map -v
	[ "$(grep -c '^rdmadiag: rules of ' <<<"$stderr")" -eq 6 ]
}

@test "--env of the KV-cache stacks can be evaluated, with notes at the end" {
	local library
	(
		eval "$(map --env mooncake)"
		[ "$MC_TE_FILTERS" = mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7 ]
		[ -z "${MC_IB_PORT+set}" ]
	)
	for library in mooncake nixl; do
		run -0 map --env "$library"
		# Comments come last, so that even eval without quotes sets all variables.
		[ -z "$(sed -n '/^#/,$p' <<<"$output" | grep -v '^#')" ]
	done
	[[ $output == "export UCX_NET_DEVICES='mlx5_0:1,"*"device_list parameter of NIXL"*"GPU0 (0000:13:00.0)"* ]]
	# No variable twice, neither for all nor in the document.
	[ -z "$(map --env all | sed 's/=.*//' | sort | uniq -d)" ]
	[[ $(map --env all) != *"#"* ]]
	map --json | jq -e '.env.MC_TE_FILTERS != null'
}

@test "--env libfabric names devices, or interfaces where a name begins another" {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/lf"
	# mlx5_1 begins mlx5_10, which is for storage; the interfaces have no address, so that they select nothing.
	run -3 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/lf" nic-map --env libfabric
	[ -z "$output" ]
	rm "$BATS_TEST_TMPDIR"/lf/sys/class/infiniband/mlx5_1[01]
	run -0 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/lf" nic-map --env libfabric
	[[ ${lines[0]} == "export FI_VERBS_DEVICE_NAME='mlx5_0,mlx5_1,"* ]]
	[[ $output == *"# "*LIBFABRIC* ]]
}

@test "--env libfabric on EFA keeps it from TCP" {
	local efa=$BATS_TEST_TMPDIR/efa dev
	cp -r "$HOST" "$efa"
	for dev in "$efa"/sys/class/infiniband/*; do
		echo Unknown >"$dev/ports/1/link_layer"
		ln -sfn ../../../../bus/pci/drivers/efa "$(realpath "$dev/device")/driver"
	done
	run "$RD" --from "$efa" nic-map --env libfabric
	[ "$output" = "export FI_PROVIDER='efa'" ]
	run -3 --separate-stderr "$RD" --from "$efa" nic-map --env mooncake
	"$RD" --from "$efa" nic-map --json | jq -e '.assignment | .ucx[0].transport == "srd" and
		.nixl_libfabric[0].transport == "efa" and .libfabric[0].transport == "efa"'
	run "$RD" --from "$efa" nic-map --stacks --fail
	[ "$status" -ne 3 ]
	[[ $output == *"[stack-srd]"* ]]
}

@test "EFA: its GIDs are no InfiniBand ones, and --env says how NCCL reaches it" {
	local efa=$BATS_TEST_TMPDIR/efa dev
	cp -r "$HOST" "$efa"
	for dev in "$efa"/sys/class/infiniband/*; do
		echo Unknown >"$dev/ports/1/link_layer"
		ln -sfn ../../../../bus/pci/drivers/efa "$(realpath "$dev/device")/driver"
	done
	run -3 --separate-stderr "$RD" --from "$efa" nic-map --env nccl
	[ -z "$output" ]
	[[ $stderr == *aws-ofi-nccl* ]]
	[ "${#stderr_lines[@]}" -le 2 ]
	"$RD" --from "$efa" nic-map --json | jq -e 'all(.nics[]; .gid_type == null) and (.env | length) == 0 and .nics[0].gid != null'
}

@test "--env prints nothing where all compute ports are down, and says which" {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/other"
	for n in 0 1 2 3 4 5 6 7; do
		echo "1: DOWN" >"$BATS_TEST_TMPDIR/other/sys/class/infiniband/mlx5_$n/ports/1/state"
	done
	run -3 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/other" nic-map --env all
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == *"mlx5_0/1 and 7 more: no compute port is active"* ]]
	run -3 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/other" nic-map --env all --json
	jq -e '.status == 3 and ([.nics[] | select(.role == "compute")] | length) == 8 and
		any(.errors[]; .object == "mlx5_0/1 and 7 more")' <<<"$output"
}

@test "--check-env tells what a file selects, and exits with what it found" {
	printf 'export NCCL_IB_HCA="mlx5_1"\nOTHER=1\n' >"$BATS_TEST_TMPDIR/env"
	run -1 map --check-env --env-file "$BATS_TEST_TMPDIR/env"
	[[ $output == *"mlx5_1 also matches mlx5_10, mlx5_11"* ]]
	[[ ${lines[0]} == "nic-map: 1 variable (1 judged, 0 only listed, 0 unknown names): 0 critical, "*" warnings" ]]
	printf 'NCCL_IB_HCA==mlx5_2\n' >"$BATS_TEST_TMPDIR/env"
	run map --check-env --env-file "$BATS_TEST_TMPDIR/env" --raw
	[[ ${lines[0]} == VARIABLE* ]]
	printf 'NCCL_IB_HCA==^mlx5_1\n' >"$BATS_TEST_TMPDIR/env"
	run -2 map --check-env --env-file "$BATS_TEST_TMPDIR/env"
	# That nothing is set is said, and where.
	for none in "" "PATH=/bin"; do
		echo "$none" >"$BATS_TEST_TMPDIR/env"
		[ -n "$none" ] || : >"$BATS_TEST_TMPDIR/env"
		run -0 map --check-env --env-file "$BATS_TEST_TMPDIR/env"
		[ "${#lines[@]}" -eq 1 ]
		[[ $output == "nic-map: no variable of NCCL, "*" is set in $BATS_TEST_TMPDIR/env ("* ]]
		[[ $output != *"no problems found"* ]]
	done
	for other in 'root:x:0:0\n' '\177ELF\0=\n'; do
		# shellcheck disable=SC2059 # it is a format
		printf "$other" >"$BATS_TEST_TMPDIR/env"
		run -3 --separate-stderr map --check-env --env-file "$BATS_TEST_TMPDIR/env"
		[[ $stderr == *"/env: contains no NAME=VALUE line"* ]]
	done
	run -3 --separate-stderr map --check-env --env-file "$BATS_TEST_TMPDIR/none"
	run -3 --separate-stderr map --check-env --pid 4000000
}

@test "--nccl-xml writes what gives the same distances again" {
	map --nccl-xml >"$BATS_TEST_TMPDIR/topo.xml"
	head -n 3 "$BATS_TEST_TMPDIR/topo.xml" | sed '3s/"/ /' >"$BATS_TEST_TMPDIR/broken.xml"
	run -3 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/broken.xml" nic-map
	[[ $stderr == "rdmadiag: $BATS_TEST_TMPDIR/broken.xml: line 3: not well-formed (invalid token)"* ]]
	"$RD" --from "$BATS_TEST_TMPDIR/topo.xml" nic-map --json |
		jq -r '.paths[] | [.gpu, .nic, .path, .nccl_path] | @tsv' | sort >"$BATS_TEST_TMPDIR/a"
	map --json | jq -r '.paths[] | [.gpu, .nic, .path, .nccl_path] | @tsv' | sort >"$BATS_TEST_TMPDIR/b"
	diff "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
}

@test "without libexpat no topology file is read, and all else is" {
	map --nccl-xml >"$BATS_TEST_TMPDIR/topo.xml"
	mkdir "$BATS_TEST_TMPDIR/lib"
	echo "no library" >"$BATS_TEST_TMPDIR/lib/libexpat.so.1"
	for words in "--from $BATS_TEST_TMPDIR/topo.xml nic-map" "--from $HOST nic-map --against $BATS_TEST_TMPDIR/topo.xml" \
		"--from $HOST nic-map --compare $BATS_TEST_TMPDIR/topo.xml"; do
		# shellcheck disable=SC2086 # words
		LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib run -3 --separate-stderr "$RD" $words
		[[ $stderr == "rdmadiag: $BATS_TEST_TMPDIR/topo.xml: topology files cannot be read: $BATS_TEST_TMPDIR/lib/libexpat.so.1: "*"try: install libexpat"* ]]
	done
	LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib run -0 map
	[ "$output" = "$(map)" ]
}

@test "--compare names what has fallen off the bus first" {
	run -0 map --compare "$HOST"
	cp -r "$HOST" "$BATS_TEST_TMPDIR/other"
	rm "$BATS_TEST_TMPDIR/other/sys/bus/pci/devices/0000:13:00.0"
	echo "1: DOWN" >"$BATS_TEST_TMPDIR/other/sys/class/infiniband/mlx5_4/ports/1/state"
	echo 28.39.1002 >"$BATS_TEST_TMPDIR/other/sys/class/infiniband/mlx5_7/fw_ver"
	echo other >"$BATS_TEST_TMPDIR/other/proc/sys/kernel/hostname"
	run -2 map --compare "$HOST" "$BATS_TEST_TMPDIR/other"
	[[ $(grep -m1 critical: <<<"$output") == *"other GPU 0000:13:00.0"*missing* ]]
	[[ $output == *"other mlx5_4/1"*DOWN*"expected: ACTIVE, as on 2 of 3 hosts"* ]]
	[[ $output == *"28.39.1002"* ]]
	[[ ${lines[0]} =~ ^"nic-map of 3 hosts: "[1-9] ]]
	run map --compare "$HOST"
	[ "${lines[0]}" = "nic-map of 2 hosts: no problems found" ]
	# Of two hosts with one name, the bundle says which.
	echo made-up >"$BATS_TEST_TMPDIR/other/proc/sys/kernel/hostname"
	run map --compare "$BATS_TEST_TMPDIR/other"
	[[ $output == *"made-up (other) mlx5_4/1"*DOWN* ]]
	run map --compare "$HOST" --json
	jq -e '.schema == "rdmadiag/nic-map-compare/1" and .status == 0' <<<"$output"
}

@test "--compare tells a slow port first, then what NCCL makes of it; rows that differ, -v all" {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/slow"
	echo "200 Gb/sec (4X NDR)" >"$BATS_TEST_TMPDIR/slow/sys/class/infiniband/mlx5_5/ports/1/rate"
	echo slow >"$BATS_TEST_TMPDIR/slow/proc/sys/kernel/hostname"
	run -1 map --compare "$HOST" "$BATS_TEST_TMPDIR/slow"
	mapfile -t warnings < <(grep '^warning:' <<<"$output")
	[[ ${warnings[0]} == *"slow mlx5_5/1: "*"mlx5_5/1 runs at 200 of 400 Gbit/s; expected: 400, as on 2 of 3 hosts [rail-rate]" ]]
	[ "${#warnings[@]}" -eq 1 ]
	[[ $output == *"  therefore also: rail-name"* ]]
	[ "$(grep -cE '^ +[0-9]+ (slow|made-up) ' <<<"$output")" -eq 1 ]
	run map -v --compare "$HOST" "$BATS_TEST_TMPDIR/slow"
	[[ $output == *"  therefore: slow GPU5: NCCL selects a different NIC"* ]]
	[ "$(grep -cE '^ +[0-9]+ (slow|made-up) ' <<<"$output")" -eq 24 ]
	run map --compare "$HOST" "$BATS_TEST_TMPDIR/slow" --json
	jq -e '(.rails | length) == 24 and ([.rails[] | select(.differs)] | length) == 1 and
		any(.findings[]; .id == "rail-name" and .caused_by.id == "rail-rate")' <<<"$output"
	# Of two hosts one tells what is usual: its other ports are witnesses.
	run map --compare "$BATS_TEST_TMPDIR/slow"
	[[ $output == *"mlx5_5/1 runs at 200 of 400 Gbit/s; expected: 400, as on 15 of 16 ports of such cards"* ]]
}

@test "--compare of two kinds of host blames nobody" {
	tests/bench/nic-map-tree "$BATS_TEST_TMPDIR/small" 4 8 100
	echo small >"$BATS_TEST_TMPDIR/small/proc/sys/kernel/hostname"
	run -0 map --compare "$HOST" "$BATS_TEST_TMPDIR/small" "$BATS_TEST_TMPDIR/small"
	[[ $output != *"critical:"* && $output != *"warning:"* ]]
	[[ $output == *"Hosts of different kinds"*"4 accelerators, 8 NICs"*"expected: 8 accelerators, 12 NICs, as on 2 of 4 hosts"* ]]
}

@test "-i looks again; what is read once is refused" {
	two_samples "$BATS_TEST_TMPDIR/two" /sys/class/infiniband/mlx5_0/ports/1/state "1: DOWN"
	run "$RD" --from "$BATS_TEST_TMPDIR/two" nic-map -i 1 -o ibdev,state
	[ "$(grep -cE '^mlx5_0 +ACTIVE' <<<"$output")" -eq 1 ]
	[ "$(grep -cE '^mlx5_0 +DOWN' <<<"$output")" -eq 1 ]
	# Rows and nothing else, with -o: no time above them.
	[[ ${lines[0]} == IBDEV* ]]
	run "$RD" --from "$BATS_TEST_TMPDIR/two" nic-map -i 1 --gids
	[[ ${lines[0]} =~ ^[0-9]{2}:[0-9]{2}:[0-9]{2}$ || ${lines[0]} == - ]]
	run "$RD" --from "$BATS_TEST_TMPDIR/two" nic-map -c 2 --json
	[ "$(jq -r '.nics[0].state' <<<"$output" | paste -sd,)" = ACTIVE,DOWN ]
	for once in "--env nccl" --nccl-xml "--compare $HOST"; do
		# shellcheck disable=SC2086 # words
		run -3 --separate-stderr map -i 1 $once
		[[ $stderr == *"nic-map: --interval and ${once%% *} are mutually exclusive: "* ]]
	done
}

@test "a port that goes down is told; --fail makes it count" {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/other"
	echo "1: DOWN" >"$BATS_TEST_TMPDIR/other/sys/class/infiniband/mlx5_0/ports/1/state"
	run -0 "$RD" --from "$BATS_TEST_TMPDIR/other" nic-map
	[[ $output == *"critical: mlx5_0/1: Compute port is not active"* ]]
	run -2 "$RD" --from "$BATS_TEST_TMPDIR/other" nic-map --fail
}

@test "a host without RDMA: exit 3, one or two lines, accelerators in the document" {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/bare"
	rm -r "$BATS_TEST_TMPDIR/bare/sys/class/infiniband"
	run -3 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/bare" nic-map
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == *"no RDMA stack"* ]]
	run -3 "$RD" --from "$BATS_TEST_TMPDIR/bare" nic-map --json
	jq -e '.status == 3 and (.gpus | length) == 8 and .nics == [] and (.errors | length) == 1' <<<"$output"
}

@test "bad usage: exit 3" {
	refused map "--matrix --gids" "--stacks --assignment" "--env cuda" "--pes 0" "--pes 99999" "--pid 1" "--compare" "--interval 0" \
		"--live --json"
}

@test "--live shows, filters, sorts, and ends" {
	command -v tmux >/dev/null || skip "tmux is not here"
	cp -r "$HOST" "$BATS_TEST_TMPDIR/live"
	SOCKET=$BATS_TEST_TMPDIR/tmux
	tm -f /dev/null new-session -d -x 80 -y 24 "$RD --from $BATS_TEST_TMPDIR/live nic-map -w -i 0.2; echo status=\$?; sleep 600"
	seen '^  mlx5_0 '
	seen '12 of 12'
	tm send-keys / eth9 Enter
	seen '1 of 12'
	tm send-keys '?'
	seen 'this help'
	tm send-keys q
	seen 'status=0'
	! shown 'mlx5' || return 1
	tm kill-server
}

@test "hosts on which NCCL's rules matter that most hosts never meet" {
	run tests/bundles/nccl/nccl.py "$RD" "$BATS_TEST_TMPDIR/trees"
	grep -v '^ok' <<<"$output"
	[ "$status" -eq 0 ]
	diff tests/bundles/nccl/TREES.md <(tests/bundles/nccl/nccl.py --table)
}

@test "variables that are set: what NCCL gives each accelerator with them, where that is something else" {
	NCCL_IB_HCA==mlx5_8 map --check-env --json >"$BATS_TEST_TMPDIR/one" || [ $? -le 2 ]
	jq -e '(.assignments | length) == 8 and ([.assignments[].nics] | unique) == ["mlx5_8/1"] and
		(.assignments[0].nics_without | startswith("mlx5_0"))' "$BATS_TEST_TMPDIR/one"
	run env NCCL_IB_HCA==mlx5_8 "$RD" --from "$HOST" nic-map --check-env
	[[ $output == *"GPU NCCL"*"WITHOUT"* ]]
	# What is the default anyway changes nothing.
	run env NCCL_IB_MERGE_VFS=1 "$RD" --from "$HOST" nic-map --check-env
	[[ $output != *"WITHOUT"* ]]
	NCCL_IB_MERGE_VFS=1 map --check-env --json | jq -e '.assignments == []'
}
