#!/usr/bin/env bash
# Runs every fuzz target of fuzz/ for a bounded time, on a stable toolchain and without cargo-fuzz.
#
#   scripts/fuzz.sh SECONDS [TARGET...]
#
# FUZZ_SEED chooses the random numbers; FUZZ_RUNS ends a target after so many inputs, even before its time is up. A
# finding is left in fuzz/artifacts/TARGET and ends the run with an error and the command that repeats it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in fuzz/fuzz_targets/*.rs; do
    [ -f "$source" ] || { echo "fuzz: there are no targets in fuzz/fuzz_targets" >&2; exit 1; }
    targets+=("$(basename "$source" .rs)")
  done
fi

# What `cargo fuzz --sanitizer none` passes: coverage counters, debug assertions, no sanitizer (that needs nightly).
host=$(rustc -vV | sed -n 's/^host: //p')
coverage="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Ccodegen-units=1"
target_dir=${CARGO_TARGET_DIR:-target}/fuzz
# Not --locked: fuzz/Cargo.lock repeats what our own crates need, and must not stop fuzzing when that changes.
RUSTFLAGS=$(tr -s '\n ' ' ' <<<"$coverage") \
  cargo build --release --manifest-path fuzz/Cargo.toml --target "$host" --target-dir "$target_dir" --bins

for target in "${targets[@]}"; do
  echo "fuzz: $target for $seconds s" >&2
  mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
  seeds=()
  [ ! -d "fuzz/seeds/$target" ] || seeds=("fuzz/seeds/$target")
  log=$(mktemp)
  if ! "$target_dir/$host/release/$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
    -seed="${FUZZ_SEED:-0}" -runs="${FUZZ_RUNS:--1}" -artifact_prefix="fuzz/artifacts/$target/" "fuzz/corpus/$target" "${seeds[@]}" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    finding=$(ls -t "fuzz/artifacts/$target/"* 2>/dev/null | head -n 1)
    echo "fuzz: $target failed; again: $target_dir/$host/release/$target ${finding:-fuzz/artifacts/$target/*}" >&2
    exit 1
  fi
  grep -E '^#[0-9]+.*DONE' "$log" >&2 || tail -n 2 "$log" >&2
  rm -f "$log"
done
