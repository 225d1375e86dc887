#!/usr/bin/env bash
# Compiles RocksDB once per machine, so that no clone, target folder or profile compiles it again.
#
#   scripts/rocksdb.sh          build unless cached, write .cargo/config.toml, print the library's folder
#   scripts/rocksdb.sh --env    the same, and print the two exports for a shell that runs cargo elsewhere
#
# The sources are those that cargo fetched for the pinned librocksdb-sys; the result is a static library in
# ${BASALT_CACHE:-~/.cache/basalt}. Why it is done this way: docs/decisions/0001-building-rocksdb.md.
# Knobs: BASALT_CACHE, CXX, BASALT_JOBS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'rocksdb: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# --- what is built, and with what -------------------------------------------------------------------------------

locked_version() { # of a package, from Cargo.lock
  awk -v name="\"$1\"" '$1 == "name" { hit = ($3 == name) } hit && $1 == "version" { gsub(/"/, "", $3); print $3; exit }' Cargo.lock
}

sys_version=$(locked_version librocksdb-sys)
[ -n "$sys_version" ] || die "Cargo.lock names no librocksdb-sys"
codecs="$(locked_version lz4-sys) $(locked_version zstd-sys)"
release=${sys_version#*+}

cxx=${CXX:-}
for candidate in clang++ g++ c++; do # clang++ takes three quarters of the time of g++
  [ -n "$cxx" ] || cxx=$(command -v "$candidate" || true)
done
[ -n "$cxx" ] || die "no C++ compiler: run 'make deps'"

# The instruction sets are those RocksDB needs for a fast checksum, and no others: the library must run on every
# x86-64 machine since Westmere (2010). On aarch64 RocksDB asks the processor before it uses them.
machine=$("$cxx" -dumpmachine)
case $machine in
  x86_64-*) cpu="-msse4.2 -mpclmul" ;;
  aarch64-*) cpu="-march=armv8-a+crc+crypto" ;;
  *) cpu="" ;;
esac
case $machine in
  *linux*) ;;
  *) say "not Linux ($machine): cargo will compile the bundled sources"; rm -f .cargo/config.toml; exit 0 ;;
esac

# The defines are those of librocksdb-sys' own build script for Linux. -w: the warnings are not ours to mend.
flags="-std=c++20 -O2 $cpu -fPIC -ffunction-sections -fdata-sections -w -include cstdint -DNDEBUG
  -DLZ4=1 -DZSTD=1 -DHAVE_ALIGNED_NEW -DHAVE_UINT128_EXTENSION -DOS_LINUX
  -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX -DROCKSDB_SCHED_GETCPU_PRESENT
  -DROCKSDB_AUXV_GETAUXVAL_PRESENT -DROCKSDB_FALLOCATE_PRESENT -DROCKSDB_RANGESYNC_PRESENT"
per_unit=16

key=$(printf '%s\n' "$sys_version" "$codecs" "$("$cxx" --version | head -n 1)" "$machine" "$flags" "$per_unit" | sha256sum | cut -c 1-12)
cache=${BASALT_CACHE:-${HOME:?}/.cache/basalt}
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac
home=$cache/rocksdb-$release-$key

# --- the build --------------------------------------------------------------------------------------------------

crate_dir() { # the folder in which cargo keeps the sources of a package
  local manifest
  manifest=$(grep -o "\"manifest_path\":\"[^\"]*/$1-[^/\"]*/Cargo.toml\"" <<<"$metadata" | head -n 1 | cut -d '"' -f 4)
  [ -n "$manifest" ] || die "cargo metadata does not know $1"
  dirname "$manifest"
}

compile_unit() { # compile one list of sources as a single file; halve the list if its members collide
  local list=$1 unit=${1%.list} count
  sed 's/.*/#include "&"/' "$list" >"$unit.cc"
  # shellcheck disable=SC2086
  if $cxx $flags $includes -c "$unit.cc" -o "$unit.o" 2>"$unit.err"; then
    echo "$list" >>done.log
    say "$(date +%T) unit $(wc -l <done.log) ($(wc -l <"$list") files)"
    return
  fi
  rm -f "$unit.o"
  count=$(wc -l <"$list")
  if [ "$count" -eq 1 ]; then
    cat "$unit.err" >&2
    return 255 # xargs stops at once
  fi
  say "halving $unit: $(grep -m 1 error: "$unit.err" || true)"
  head -n $((count / 2)) "$list" >"${unit}a.list"
  tail -n +$((count / 2 + 1)) "$list" >"${unit}b.list"
  compile_unit "${unit}a.list" && compile_unit "${unit}b.list"
}

build() {
  local started=$SECONDS sys jobs
  metadata=$(cargo metadata --format-version 1 --locked) || die "cargo metadata failed"
  sys=$(crate_dir librocksdb-sys)
  includes="-I$sys -I$sys/rocksdb -I$sys/rocksdb/include -I$(crate_dir lz4-sys)/liblz4/lib -I$(crate_dir zstd-sys)/zstd/lib"
  [ -f "$sys/rocksdb_lib_sources.txt" ] || die "$sys has no rocksdb_lib_sources.txt"

  # One compiler needs up to 1.5 GB.
  jobs=${BASALT_JOBS:-$(nproc)}
  work=$(mktemp -d "$cache/.building-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  say "compiling RocksDB $release with $cxx, $jobs at a time, into $home"
  say "(about three minutes on two free cores, once on this machine)"
  (
    cd "$work"
    { grep -v '^util/build_version.cc$' "$sys/rocksdb_lib_sources.txt" | grep . | sed "s|^|$sys/rocksdb/|"; echo "$sys/build_version.cc"; } |
      split -l "$per_unit" -d -a 3 --additional-suffix=.list - u
    export cxx flags includes
    export -f compile_unit say
    printf '%s\0' u*.list | xargs -0 -P "$jobs" -I{} bash -euo pipefail -c 'compile_unit {}'
    ar rcs librocksdb.a ./*.o
    mkdir out
    mv librocksdb.a out/
    printf 'librocksdb-sys %s\n%s\n%s\n' "$sys_version" "$("$cxx" --version | head -n 1)" "$flags" >out/built-with.txt
  ) # errexit ends the script here when anything failed; the trap cleans up
  mv -T "$work/out" "$home" # the library appears whole or not at all
  say "built in $((SECONDS - started)) s"
}

if [ ! -f "$home/librocksdb.a" ]; then
  mkdir -p "$cache"
  exec 8>"$cache/.rocksdb.lock"
  flock 8 # a second build of the same thing waits, and then finds it
  [ -f "$home/librocksdb.a" ] || build
  exec 8>&-
fi

# --- handing it over --------------------------------------------------------------------------------------------

# In a file and not only in the environment, so that `make build`, `cargo build` and an editor agree: cargo would
# compile the bundled sources again whenever the variable comes or goes.
mkdir -p .cargo
config=$(printf '# Written by scripts/rocksdb.sh; remove it to let cargo compile RocksDB itself.\n[env]\nROCKSDB_LIB_DIR = "%s"\nROCKSDB_STATIC = "1"\n' "$home")
[ "$(cat .cargo/config.toml 2>/dev/null)" = "$config" ] || printf '%s\n' "$config" >.cargo/config.toml

if [ "${1:-}" = --env ]; then
  printf 'export ROCKSDB_LIB_DIR=%q ROCKSDB_STATIC=1\n' "$home"
else
  printf '%s\n' "$home"
fi
