# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Made-up networks, as files for ibsim on standard output; generate makes fat trees.

torus() { # SIDE: a torus of two dimensions, an adapter at each switch
	local side=$1 x y
	for ((x = 0; x < side; x++)); do
		for ((y = 0; y < side; y++)); do
			echo "Switch 5 \"Torus-$x-$y\" # \"torus $x-$y\""
			echo "[1] \"Host-$x-$y\"[1]"
			echo "[2] \"Torus-$(((x + 1) % side))-$y\"[3]"
			echo "[3] \"Torus-$(((x + side - 1) % side))-$y\"[2]"
			echo "[4] \"Torus-$x-$(((y + 1) % side))\"[5]"
			echo "[5] \"Torus-$x-$(((y + side - 1) % side))\"[4]"
			echo
			echo "Hca 1 \"Host-$x-$y\" # \"host $x-$y\""
			echo "[1] \"Torus-$x-$y\"[1]"
			echo
		done
	done
}

# director [FAULT]: two tiers of switches in one chassis, all of one system, with free ports; the names are those of the vendor. FAULT: of
# the cable between leaf 3 and spine 2.
director() {
	local leaf spine host options
	system() { printf 'vendid=0x2c9\ndevid=0xcf08\nsysimgguid=0x2c90300d1ec7000\n'; }
	for ((leaf = 1; leaf <= 10; leaf++)); do
		system
		printf 'Switch 36 "Dir-L%02d" # "MF0;dir1:CS7500/L%02d/U1"\n' $leaf $leaf
		for ((host = 1; host <= 4; host++)); do
			printf '[%d] "Host-%d-%d"[1] s=7\n' $host $leaf $host
		done
		for ((spine = 1; spine <= 4; spine++)); do
			options='s=7 w=3'
			case ${1:-}:$leaf:$spine in
			narrow:3:2) options='s=7 w=1' ;;
			slow:3:2) options='s=1 w=3' ;;
			uplink-missing:3:2) continue ;;
			esac
			printf '[%d] "Dir-S%02d"[%d] %s\n' $((20 + spine)) $spine $leaf "$options"
		done
		echo
	done
	for ((spine = 1; spine <= 4; spine++)); do
		system
		printf 'Switch 36 "Dir-S%02d" # "MF0;dir1:CS7500/S%02d/U1"\n' $spine $spine
		for ((leaf = 1; leaf <= 10; leaf++)); do
			[ "${1:-}:$leaf:$spine" != uplink-missing:3:2 ] || continue
			printf '[%d] "Dir-L%02d"[%d] s=7 w=3\n' $leaf $leaf $((20 + spine))
		done
		echo
	done
	for ((leaf = 1; leaf <= 10; leaf++)); do
		for ((host = 1; host <= 4; host++)); do
			printf 'vendid=0x2c9\ndevid=0x1017\nsysimgguid=0x2c9030000%02x%02x00\n' $leaf $host
			printf 'Hca 1 "Host-%d-%d" # "host %d-%d"\n' $leaf $host $leaf $host
			printf '[1] "Dir-L%02d"[%d] s=7 w=3\n\n' $leaf $host
		done
	done
}

# network_up NAME: starts it (lib.sh), with its file in $work; sets names of its parts: switch $sw with $up_port to another one, adapter
# $ca, both with the names they are shown with, and $gone, a switch without which the rest holds together. 77: not on this machine.
# shellcheck disable=SC2034,SC2154 # of the caller
network_up() {
	local file=$work/$1 host=Host-0-0 engine=
	case $1 in
	director*)
		director "${1#director-}" >"$file"
		# What is enabled stays as the file has it.
		engine=$'minhop\nforce_link_width 0\nforce_link_speed 0'
		sw=Dir-L05 sw_name='MF0;dir1:CS7500/L05/U1' up_port=22 ca=Host-5-2 ca_name='host 5-2'
		gone=Dir-S03 gone_name='MF0;dir1:CS7500/S03/U1' host=Host-1-1
		;;
	fat)
		tests/fabric/generate 4 8 4 >"$file"
		sw=Leaf-2 sw_name='leaf 2' up_port=9 ca=Host-2-2 ca_name='host 2-2'
		gone=Spine-1 gone_name='spine 1'
		;;
	wide)
		tests/fabric/generate 3 6 2 3 >"$file"
		sw=Leaf-1 sw_name='leaf 1' up_port=8 ca=Host-1-1 ca_name='host 1-1'
		gone=Spine-1 gone_name='spine 1'
		;;
	torus)
		torus 4 >"$file"
		sw=Torus-1-2 sw_name='torus 1-2' up_port=2 ca=Host-1-2 ca_name='host 1-2'
		gone=Torus-3-3 gone_name='torus 3-3'
		;;
	public)
		file=../shared/data/fabric/psmn-X5.ibnetdiscover.txt host=H-0002c90300080e84
		[ -e "$file" ] || return 77
		sw=S-0008f10500200b50 sw_name='Voltaire 4036 - 36 QDR ports switch 0x0008f10500200b50' up_port=1
		ca=H-003048c749cd0000 ca_name='MT25408 ConnectX Mellanox Technologies 0x003048c749cd0000'
		gone='' gone_name=''
		;;
	esac
	FABRIC_ENGINE=$engine fabric_up "$file" "$host"
}
