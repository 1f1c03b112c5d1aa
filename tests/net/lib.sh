# SPDX-License-Identifier: BSD-3-Clause
# Read by the scripts of tests/net that need hosts: `. lib.sh BUILD_DIR`, then `hosts COUNT`. They
# run in a world of their own (see tests/net/hosts), which ends with them and everything in it.
hosts=$(cd "$(dirname "$0")" && pwd)/hosts
build=$(cd "$1" && pwd) || exit 1
case $build in *hostile*) echo "skipped: tiny pieces over a network take minutes"; exit 77 ;; esac
[ -e "$build/lib/libshoal-ofi.so" ] || { echo "skipped: libshoal-ofi is not built: libfabric is missing"; exit 77; }
if [ -z "${SHOAL_TEST_WORLD-}" ]; then
    "$hosts" world true 2>/dev/null || { echo "skipped: no namespaces here (they need root)"; exit 77; }
    export SHOAL_TEST_WORLD=1
    exec "$hosts" world "$0" "$@"
fi
unset SHOAL_TEST_WORLD
trap 'exit 130' INT TERM
. "$(dirname "$0")/../launch/lib.sh"
is_sanitized && skip "a sanitizer's build: libfabric and the launchers' libraries are not ours to judge"

# Waits up to 30 s: several hosts and their launchers share this machine.
wait_long() {
    for ((tries = 0; tries < 300; tries++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    fail "waited in vain for: $*"
}

hosts() { # COUNT
    "$hosts" up "$1" >"$tmp/up" 2>&1 || skip "no network namespaces here: $(head -n 1 "$tmp/up")"
}

# How oshrun's launchers reach them.
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=$hosts HYDRA_IFACE=shoalbr0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=$hosts \
    OMPI_MCA_oob_tcp_if_include=10.77.0.0/24
hydra=(mpiexec.hydra -launcher ssh -launcher-exec "$hosts" -localhost 10.77.0.254)
mpirun=(mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent "$hosts" --mca oob_tcp_if_include 10.77.0.0/24)
