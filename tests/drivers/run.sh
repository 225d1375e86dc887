#!/usr/bin/env bash
# Runs the tests of every driver whose runtime is present, one after the other, against one node.
#
#   run.sh [python|cqlsh|go|node|java|rust|scan|cql|formats ...]     all without arguments
#
# BASALT_BIN names the program (default: target/release/basalt). With BASALT_REQUIRE_DRIVERS=1 a missing
# runtime is a failure; otherwise it is named and skipped. Packages are kept in BASALT_CACHE
# (default: ~/.cache/basalt). Ends with the number of suites that passed and failed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export BASALT_BIN=${BASALT_BIN:-$root/target/release/basalt}
export BASALT_HOST=${BASALT_HOST:-127.0.0.1}
export BASALT_PORT=${BASALT_PORT:-$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' 2>/dev/null || echo 19042)}
cache=${BASALT_CACHE:-$HOME/.cache/basalt}/drivers
mkdir -p "$cache"
BASALT_STATE=$(mktemp -d)
export BASALT_STATE
export BASALT_RESTART="$here/node.sh restart"
passed=0 failed=0 skipped=()
trap '"$here/node.sh" stop; rm -rf "$BASALT_STATE"' EXIT

venv() { # the Python driver and cqlsh, made anew when their versions change
  local want; want=$(cksum <"$here/python/requirements.txt")
  if [ "$(cat "$cache/venv/versions" 2>/dev/null)" != "$want" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv" && "$cache/venv/bin/pip" install -q -r "$here/python/requirements.txt" &&
      echo "$want" >"$cache/venv/versions"
  fi
}

present() { # suite: whether what it needs is on this machine
  case $1 in
    python | cqlsh | scan) python3 -c 'import venv, ensurepip' ;;
    cql | formats) command -v python3 ;;
    go) command -v go ;;
    node) command -v node && command -v npm ;;
    java) command -v mvn && command -v javac ;;
    rust) command -v cargo ;;
  esac >/dev/null 2>&1
}

run() { # suite
  case $1 in
    python) venv && "$cache/venv/bin/python" "$here/python/test_driver.py" &&
      "$cache/venv/bin/python" "$here/python/test_features.py" ;;
    cqlsh) venv && BASALT_CQLSH=$cache/venv/bin/cqlsh "$cache/venv/bin/python" "$here/cqlsh/test_cqlsh.py" ;;
    scan) venv && BASALT_PID=$(cat "$BASALT_STATE/pid") BASALT_SCAN_ROWS=${BASALT_SCAN_ROWS:-20000} \
      "$cache/venv/bin/python" "$here/python/scan.py" ;;
    cql) python3 "$root/oracle/replay.py" ;;
    formats) python3 "$root/tests/formats/formats.py" ;;
    go) (cd "$here/go" && go test -count=1 ./...) ;;
    node) (cd "$here/node" && npm ci --no-audit --no-fund --silent && node --test --test-force-exit test.js) ;;
    java) (cd "$here/java" && mvn -B -q -ntp -Doutput.directory="$cache/java" test) ;;
    rust) (cd "$here/rust" && CARGO_TARGET_DIR=$cache/rust-target cargo test --locked -- --test-threads=1) ;;
    *) echo "no suite is called $1" >&2; return 2 ;;
  esac
}

[ -x "$BASALT_BIN" ] || { echo "$BASALT_BIN is not there: make build" >&2; exit 1; }
"$here/node.sh" start || exit 1
suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(python cqlsh go node java rust scan cql formats)
for suite in "${suites[@]}"; do
  if ! present "$suite"; then
    if [ "${BASALT_REQUIRE_DRIVERS:-0}" = 1 ]; then
      echo "driver tests: $suite: FAILED: its runtime is missing"
      failed=$((failed + 1))
    else
      skipped+=("$suite")
    fi
  elif run "$suite" >"$BASALT_STATE/$suite.log" 2>&1; then
    grep -E '^(scan|replay|formats):' "$BASALT_STATE/$suite.log"
    echo "driver tests: $suite: passed"
    passed=$((passed + 1))
  else
    echo "driver tests: $suite: FAILED"
    tail -60 "$BASALT_STATE/$suite.log"
    failed=$((failed + 1))
  fi
done
[ ${#skipped[@]} -eq 0 ] || echo "driver tests: skipped, for want of their runtimes: ${skipped[*]}"
if [ "$failed" -gt 0 ]; then
  echo "the node's last lines:"
  tail -20 "$BASALT_STATE/out.log"
fi
echo "driver suites: $passed passed, $failed failed, ${#skipped[@]} skipped"
[ "$failed" -eq 0 ]
