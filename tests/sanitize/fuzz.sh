#!/usr/bin/env bash
# Build the fuzzer of the readers under the address sanitizer and run it on each kind of file.
#
#   tests/sanitize/fuzz.sh [seconds for each] [build folder]
#
#   PYTHON   interpreter whose folder may have cmake and ninja  (.venv/bin/python)
#
# An input that fails is written into its folder below tests/corpus: keep it, every run reads it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
seconds=${1:-60}
build=${2:-$root/build/fuzz}
cd "$root"
export PATH="$(cd "$(dirname "${PYTHON:-.venv/bin/python}")" && pwd):$PATH"
export ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=1"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
mkdir -p "$build"

generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
cmake -S "$root" -B "$build" ${generator[@]+"${generator[@]}"} -DCMAKE_BUILD_TYPE=Debug \
    -DSURELEARN_TESTS=ON -DSURELEARN_SANITIZE=address,undefined -DSURELEARN_WERROR=ON \
    -DCMAKE_CXX_FLAGS="-fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS" >"$build/log.txt"
cmake --build "$build" --target fuzz_parse >>"$build/log.txt" || {
    cat "$build/log.txt"
    exit 1
}

# One beside the other: each is a single thread.
formats=(svmlight vw)
jobs=()
for format in "${formats[@]}"; do
    "$build/fuzz_parse" "$format" "$seconds" "tests/corpus/$format" >"$build/$format.txt" 2>&1 &
    jobs+=($!)
done
failed=0
for i in "${!formats[@]}"; do
    wait "${jobs[$i]}" || failed=1
    sed "s/^/${formats[$i]}: /" "$build/${formats[$i]}.txt"
done
exit "$failed"
