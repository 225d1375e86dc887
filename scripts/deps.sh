#!/usr/bin/env bash
# What a build needs: a C compiler and linker, clang (it compiles RocksDB and reads its header for the binding), and
# Rust. Installs Debian packages when it runs as root or may use sudo; otherwise says what to install. Silent when
# nothing is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

has() { command -v "$1" >/dev/null 2>&1; }
has_libclang() {
  [ -n "${LIBCLANG_PATH:-}" ] || ldconfig -p 2>/dev/null | grep -q 'libclang[-.0-9]*\.so' || compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null
}

missing=()
has cc || missing+=(gcc libc6-dev)
if ! has clang++; then
  missing+=(clang) # brings libclang's shared library with it
elif ! has_libclang; then
  missing+=(libclang-dev)
fi

if [ ${#missing[@]} -gt 0 ]; then
  root=()
  [ "$(id -u)" = 0 ] || root=(sudo)
  if has apt-get && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; then
    echo "deps: installing ${missing[*]}" >&2
    "${root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
  else
    echo "deps: please install ${missing[*]} (Debian: apt-get install ${missing[*]})" >&2
    exit 1
  fi
fi

wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if ! has cargo; then
  echo "deps: please install Rust $wanted or newer: https://rustup.rs" >&2
  exit 1
fi
found=$(rustc --version | cut -d ' ' -f 2)
if [ "$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1)" != "$wanted" ]; then
  echo "deps: Rust $found is too old, $wanted or newer is needed: rustup update stable" >&2
  exit 1
fi
