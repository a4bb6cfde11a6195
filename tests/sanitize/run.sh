#!/usr/bin/env bash
# Build the core under sanitizers and run it.
#
#   tests/sanitize/run.sh [build folder]
#
#   PYTHON   interpreter with the test requirements      (.venv/bin/python)
#   CXX      a g++: its sanitizer libraries are preloaded (g++)
#   TESTS    Python tests to run with the sanitized core  (see below)
#   FUZZ_SECONDS  how long each reader is given damaged files (60)
#
# Everything that is written goes below the build folder (build/sanitize).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "${1:-$root/build/sanitize}"
build=$(cd "${1:-$root/build/sanitize}" && pwd)
python=$(command -v "${PYTHON:-$root/.venv/bin/python}") || {
    echo "PYTHON must be an interpreter, got '${PYTHON:-$root/.venv/bin/python}'." >&2
    exit 2
}
# Absolute, but with its links kept: they are what tells Python which environment it is in.
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
read -ra tests <<<"${TESTS:-tests/test_bits.py tests/rules/test_registry.py tests/rules/test_confident.py tests/rules/test_margin.py tests/test_weights.py tests/test_rows.py tests/learners/test_classifier.py tests/learners/answers/test_linear.py tests/learners/test_row_learner.py tests/test_refusals.py tests/learners/tasks/test_rows.py tests/learners/tasks/test_row_settings.py tests/learners/test_file.py tests/test_schemes.py tests/test_ways.py tests/probability tests/rules/test_custom.py tests/rules/test_custom_errors.py tests/text/test_vectorizer.py tests/text/test_rarity.py tests/templates/test_features.py tests/templates/test_language.py tests/templates/test_features_tokens.py tests/templates/test_features_states.py tests/templates/test_tokens.py tests/read/test_svmlight.py tests/read/test_vw.py tests/merging/test_state.py tests/merging/test_sums.py tests/merging/test_exact.py tests/test_losses.py tests/test_frank_wolfe.py}"
cd "$root"

export PATH="$(dirname "$python"):$PATH"
export CXX="${CXX:-g++}"
export TMPDIR="$build/tmp" PYTHONDONTWRITEBYTECODE=1
export HYPOTHESIS_STORAGE_DIRECTORY="$build/hypothesis" MPLCONFIGDIR="$build/matplotlib"
export ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=1:allocator_may_return_null=1"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1"
mkdir -p "$TMPDIR" "$build/log"

# stage NAME COMMAND...: one line for each stage; the whole output only where it fails.
stage() {
    local name=$1 begin=$SECONDS log
    log="$build/log/${name//[^a-z]/-}.txt"
    shift
    if ! "$@" >"$log" 2>&1; then
        cat "$log"
        echo "FAILED  $name [$((SECONDS - begin)) s]"
        exit 1
    fi
    local result
    result=$(grep -E '[0-9]+ .*passed' "$log" | tail -n 1) || true
    echo "ok      $name${result:+: $result} [$((SECONDS - begin)) s]"
}

generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi

# configure FOLDER SANITIZERS OPTION...
configure() {
    local folder="$build/$1" sanitize=$2
    shift 2
    # Debug for asserts and symbols; the sanitizers' own -O1 comes after it. A report needs lines,
    # not the places of variables, and finding those takes a third of the compiler's time.
    cmake -S "$root" -B "$folder" ${generator[@]+"${generator[@]}"} -DCMAKE_BUILD_TYPE=Debug \
        -DSURELEARN_SANITIZE="$sanitize" -DSURELEARN_WERROR=ON \
        -DCMAKE_CXX_FLAGS="-fno-sanitize-recover=all -fno-var-tracking -D_GLIBCXX_ASSERTIONS" "$@"
}

configure_all() {
    local nanobind
    nanobind=$("$python" -m nanobind --cmake_dir) &&
        configure tests-address address,undefined -DSURELEARN_TESTS=ON &&
        configure tests-thread thread -DSURELEARN_TESTS=ON &&
        configure core-address address,undefined \
            -DPython_EXECUTABLE="$python" -Dnanobind_DIR="$nanobind" &&
        configure core-thread thread -DPython_EXECUTABLE="$python" -Dnanobind_DIR="$nanobind"
}

# Each has one large file, so two builds side by side rather than two files of one.
build_all() {
    printf '%s\0' "$build"/{tests,core}-{address,thread} |
        xargs -0 -I {} -P "$(nproc)" cmake --build {} --parallel 1
}

# thread_ready COMMAND...: old runtimes cannot place their memory where addresses are very random.
thread_ready() {
    if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi
}

# with_core KIND COMMAND...: run with the package that has the core built in core-KIND.
#
# The package is copied, since an editable install has its core elsewhere. Such an install puts a
# finder before the path; sitecustomize runs after it, in every child process too, and gives the
# path back its place. That it worked is checked inside the run, by sanitized.py.
with_core() {
    local tree="$build/package-$1" preload
    rm -rf "$tree" && mkdir -p "$tree" && cp -R src/surelearn "$tree" || return
    find "$tree" \( -name '*.so' -o -name __pycache__ \) -prune -exec rm -rf {} + || return
    cmake --install "$build/core-$1" --prefix "$tree" || return
    cat >"$tree/sitecustomize.py" <<'PY' || return
import sys
from importlib.machinery import PathFinder

sys.meta_path.insert(0, PathFinder)
PY
    cat >"$tree/sanitized.py" <<'PY' || return
import os

import surelearn._core

_wanted = os.path.join(os.path.dirname(__file__), "surelearn", "")
_found = surelearn._core.__file__
if not _found.startswith(_wanted):
    raise SystemExit(f"surelearn._core must be the one in {_wanted}, got {_found}.")
PY
    # The interpreter is not instrumented, so the runtime must be there before it. With libstdc++,
    # or the runtime would not find the functions for exceptions that it wraps.
    preload=$(ldd "$tree"/surelearn/_core.*.so |
        awk '/lib(asan|tsan|stdc\+\+)\.so/ { printf "%s ", $3 }') || return
    shift
    # In a child shell, so that "$@" may also be a function of this one.
    (export PYTHONPATH="$tree" LD_PRELOAD="$preload" && "$@")
}

# Captured in Python only: a report written while pytest holds the file descriptor would be lost.
python_tests() {
    with_core address "$python" -m pytest -q -p sanitized -p no:cacheprovider --capture=sys \
        --basetemp="$TMPDIR/pytest" "${tests[@]}"
}

# CPython and NumPy are not instrumented, yet hand their locks over through functions the runtime
# sees: the accesses of the core are judged, with no false alarm from outside it.
python_threads() {
    with_core thread thread_ready "$python" -c \
        'import runpy, sanitized; runpy.run_path("tests/sanitize/threads.py", run_name="__main__")'
}

# Two at a time. The readers are Python and pyarrow; the hasher that takes what they give is ours.
fuzz_readers() {
    with_core address fuzz_each
}

fuzz_each() {
    "$python" -c 'import sanitized' &&
        printf '%s\n' jsonl csv parquet conll conllu |
        xargs -I {} -P 2 "$python" tests/fuzz/readers.py {} "${FUZZ_SECONDS:-20}"
}

stage "configure" configure_all
stage "build" build_all
stage "C++ tests, address and undefined" "$build/tests-address/surelearn_tests"
stage "C++ tests, thread" thread_ready "$build/tests-thread/surelearn_tests"
stage "Python tests, address and undefined" python_tests
stage "Python threads, thread" python_threads
stage "Fuzzed readers, address and undefined" fuzz_readers
