#!/usr/bin/env bash
# Build and try the package on Debian 13, whose compilers and Python are newer than the first machine's.
#
#   tests/elsewhere/run.sh
#
#   ELSEWHERE_CACHE  where the Debian root is kept between runs (~/.cache/surelearn/debian-13)
#
# Does there what a user does: a virtual environment, pip install with the default compiler (g++ 14),
# the examples of the README and the demo. Other compilers build the files that stopped g++ 13 and 14.
# Needs root and debootstrap; the first run takes some minutes longer.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
root=${ELSEWHERE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/surelearn/debian-13}
compilers=(g++-13 clang++)
hard_files=(diagonal32 batch graph_batch)

skip() {
    echo "skipped: $1"
    # As in the Python tests: where nothing may be skipped, a skipped check has failed.
    if [[ -n "${SURELEARN_NO_SKIPS:-}" ]]; then exit 1; else exit 0; fi
}

# Mounts must not outlive the run, so it has a mount namespace of its own.
if [[ -z "${ELSEWHERE_UNSHARED:-}" ]]; then
    [[ $(id -u) == 0 ]] || skip "a Debian root can only be made by root."
    command -v debootstrap >/dev/null || skip "debootstrap is not installed."
    unshare --mount true 2>/dev/null || skip "this machine allows no mount namespaces."
    ELSEWHERE_UNSHARED=1 exec unshare --mount "${BASH_SOURCE[0]}"
fi

# The mirror is the one that this machine's own packages come from.
make_root() {
    local mirror
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/*$')
    rm -rf "$root" "$root.new"
    mkdir -p "$(dirname "$root")"
    debootstrap --variant=minbase \
        --include=ca-certificates,python3-venv,python3-dev,g++,g++-14,g++-13,clang \
        trixie "$root.new" "$mirror"
    mv "$root.new" "$root"
}

# mount_inside PATH...: the same files at the same place. An index of packages may link to folders
# beside it, so a folder comes with the one above it, where the root has no file there.
mount_inside() {
    local path above
    for path in "$@"; do
        above=$(dirname "$path")
        if [[ -d "$path" ]]; then
            if [[ -z "$(find "$root$above" -type f -print -quit 2>/dev/null)" ]]; then path=$above; fi
            mkdir -p "$root$path"
        else
            mkdir -p "$root$above"
            [[ -e "$root$path" ]] || touch "$root$path"
        fi
        mount --rbind "$path" "$root$path"
    done
}

# Every existing file and folder that the settings of pip and of TLS name.
settings_files() {
    { "$python" -m pip config list; env | grep -E '^(PIP_|SSL_|REQUESTS_CA|CURL_CA)' || true; } |
        grep -oE "/[^'\": ]+" | sort -u | while read -r path; do
        if [[ -e "$path" ]]; then echo "$path"; fi
    done
}

inside() { chroot "$root" /usr/bin/env HOME=/root TMPDIR=/tmp "$@"; }

# stage NAME COMMAND...: one line for each stage; the whole output only where it fails.
stage() {
    local name=$1 begin=$SECONDS log
    log=$(mktemp)
    shift
    if ! "$@" >"$log" 2>&1; then
        cat "$log"
        echo "FAILED  $name [$((SECONDS - begin)) s]"
        exit 1
    fi
    echo "ok      $name [$((SECONDS - begin)) s]"
    rm "$log"
}

copy_sources() {
    rm -rf "$root/surelearn" "$root/venv"
    mkdir "$root/surelearn"
    git -C "$repository" ls-files -z | tar -C "$repository" --null --files-from=- \
        --ignore-failed-read -c | tar -C "$root/surelearn" -x
}

install() {
    inside python3 -m venv /venv &&
        inside CXX=g++-14 /venv/bin/python -m pip install -q '/surelearn[cli,plot]' pytest nanobind
}

# The compiler decides nothing but the bits: it is asked for objects, not for a package.
compile_hard_files() {
    local compiler=$1 nanobind file
    nanobind=$(inside /venv/bin/python -m nanobind --include_dir)
    for file in "${hard_files[@]}"; do
        inside "$compiler" -std=c++20 -O3 -ffp-contract=off -fPIC -fvisibility=hidden -Wall -Wextra \
            -Wno-unknown-pragmas -Werror -I/surelearn/cpp -isystem "$nanobind" \
            -isystem "$nanobind/../ext/robin_map/include" -isystem /usr/include/python3.13 \
            -c "/surelearn/cpp/bind/$file.cpp" -o /dev/null || return
    done
}

python=${PYTHON:-python3}
[[ -d "$root" ]] || stage "Debian 13 with g++ 13, g++ 14, clang and Python 3.13" make_root
mount -t proc proc "$root/proc"
mapfile -t paths < <(settings_files)
mount_inside /etc/resolv.conf /etc/hosts "${paths[@]}"
if [[ -f /etc/pip.conf ]]; then mount_inside /etc/pip.conf; fi
user_settings=$("$python" -m pip config debug | sed -n 's/^ *\(.*pip\.conf\), exists: True$/\1/p')
for file in $user_settings; do mount_inside "$file"; done

stage "copy" copy_sources
stage "pip install, g++ 14" install
stage "README, weights of the first machine" \
    inside sh -c 'cd /surelearn && PATH=/venv/bin:$PATH /venv/bin/python -m pytest -q --noconftest -p no:cacheprovider -c /dev/null --rootdir=/surelearn/tests/release tests/release/test_installed.py'
stage "surelearn demo" inside sh -c 'cd /tmp && MPLBACKEND=agg /venv/bin/surelearn demo'
for compiler in "${compilers[@]}"; do
    stage "hard files, $compiler" compile_hard_files "$compiler"
done
