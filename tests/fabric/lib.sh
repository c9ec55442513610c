# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A simulated network of one's own: ibsim and opensm, started and ended here. Several can run at the same time.
#
#   . tests/fabric/lib.sh
#   fabric_up FILE HOST      a network from an ibsim or ibnetdiscover file; HOST: the node that we sit at
#   fabric COMMAND...        a command that sees the network
#   (fabric_exec COMMAND...) &   the same, where its process number is needed
#   fabric_console LINE...   lines for ibsim's console; it has executed them afterwards
#   fabric_down              also to be called by a trap on EXIT
#
# A performance query that ibsim does not know (PortSamplesControl, congestion, SL) it hands to a program at that node, as if it
# were the agent; opensm then takes it for an answer of its own performance manager and dies of a null pointer. So with
# --subsets all over a simulated network, the subnet manager ends; real nodes answer themselves.
#
# The simulator reports a datagram that is lost at once. So nothing is lost because it was busy if who asks has patience: infiniband-diags
# wait as long as FABRIC_PATIENT says (-t), rdmadiag as long as FABRIC_PATIENTLY says.
#
# FABRIC_DIR is a directory for it all, made by fabric_up. FABRIC_SHIM: a library to preload before the simulator's. FABRIC_ENGINE:
# a routing engine of opensm, instead of its usual one, and more lines of its configuration.

# shellcheck source=../path.sh
. tests/path.sh
# shellcheck source=../until.sh
. tests/until.sh
# shellcheck source=../bats/setup_suite.bash
. tests/bats/setup_suite.bash && setup_suite

# shellcheck disable=SC2034 # of the caller
FABRIC_PATIENT=(-t 60000) FABRIC_PATIENTLY=(--mad-timeout 60000)

sim_library() {
	local dir
	for dir in $(sed -n 's/^sim_so=\([^ ]*\)$/\1/p' "$(command -v ibsim-run)") \
		/usr/lib/*/umad2sim/libumad2sim.so /usr/lib64/umad2sim/libumad2sim.so; do
		[ ! -e "$dir" ] || { echo "$dir" && return; }
	done
	return 1
}

fabric_can() {
	command -v ibsim >/dev/null && command -v opensm >/dev/null && command -v perfquery >/dev/null &&
		FABRIC_LIBRARY=$(sim_library)
}

# The preloaded library writes below the working directory: run from FABRIC_DIR.
fabric_exec() {
	cd "$FABRIC_DIR/work" || exit
	IBSIM_SOCKNAME=$FABRIC_SOCKET SIM_HOST=$FABRIC_HOST LD_PRELOAD="${FABRIC_SHIM:+$FABRIC_SHIM:}$FABRIC_LIBRARY" \
		exec "$@"
}

fabric() {
	(fabric_exec "$@")
}

# How many lines of its console the simulator has executed: it prompts before each of them, and at the end.
fabric_prompts() {
	grep -o 'sim> ' "$FABRIC_DIR/ibsim.log" | wc -l
}

fabric_executed() {
	[ "$(fabric_prompts)" -ge "$1" ]
}

fabric_console() {
	local before
	before=$(fabric_prompts)
	printf '%s\n' "$@" >"$FABRIC_DIR/console"
	until_true fabric_executed $((before + $#)) || { echo "ibsim does not execute: $*" && return 1; } >&2
}

subnet_up() {
	grep -q 'SUBNET UP' "$FABRIC_DIR/opensm.log" 2>/dev/null
}

fabric_answers() {
	FABRIC_SHIM='' fabric smpquery "${FABRIC_PATIENT[@]}" -D nodeinfo 0 >/dev/null 2>&1
}

fabric_up() {
	FABRIC_LIBRARY=$(sim_library) || return
	FABRIC_HOST=$2
	FABRIC_DIR=$(mktemp -d "${TMPDIR:-/tmp}/rdmadiag-fabric-XXXXXX") || return
	FABRIC_SOCKET=rdmadiag-${FABRIC_DIR##*-}
	mkdir "$FABRIC_DIR/work" "$FABRIC_DIR/cache" && mkfifo "$FABRIC_DIR/console" || return
	# Open for reading and writing: the simulator must never see the end of its console.
	exec 7<>"$FABRIC_DIR/console"
	IBSIM_SOCKNAME=$FABRIC_SOCKET ibsim -s -N 60000 -S 2000 -P 300000 -L 49152 "$1" \
		<&7 >"$FABRIC_DIR/ibsim.log" 2>&1 7>&- &
	FABRIC_SIM_PID=$!
	until_true fabric_answers || { echo "ibsim does not answer" && return 1; } >&2
	printf '%s\n' 'force_log_flush TRUE' ${FABRIC_ENGINE:+"routing_engine $FABRIC_ENGINE"} >"$FABRIC_DIR/opensm.conf"
	fabric_subnet_manager || { echo "opensm did not bring the network up" && return 1; } >&2
}

# Starts the subnet manager, and waits until it has brought the network up.
fabric_subnet_manager() {
	(
		OSM_CACHE_DIR=$FABRIC_DIR/cache OSM_TMP_DIR=$FABRIC_DIR/cache FABRIC_SHIM='' \
			fabric_exec opensm -F "$FABRIC_DIR/opensm.conf" -e -f "$FABRIC_DIR/opensm.log" </dev/null >/dev/null 2>&1 7>&-
	) &
	FABRIC_SM_PID=$!
	until_true subnet_up
}

# fabric_ended PID: within three seconds
fabric_ended() {
	local n
	for n in {1..30}; do
		! process_ended "$1" || return 0
		sleep 0.1
	done
	return 1
}

fabric_down() {
	local pid
	for pid in ${FABRIC_SM_PID:-} ${FABRIC_SIM_PID:-}; do
		kill "$pid" 2>/dev/null || continue
		# opensm can hang in its own end.
		fabric_ended "$pid" || kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	exec 7>&-
	FABRIC_SM_PID='' FABRIC_SIM_PID=''
	[ -z "${FABRIC_DIR:-}" ] || rm -rf "$FABRIC_DIR"
	FABRIC_DIR=''
}
