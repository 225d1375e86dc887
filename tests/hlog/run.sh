#!/usr/bin/env bash
# Whether HdrHistogram's own readers, Java's and Python's, find in the log of a run what its report says, to 0.1 %.
#
# BASALT_BIN names the program (default: target/release/basalt). Java's reader comes with the oracle's Cassandra, Python's
# from its registry into BASALT_CACHE (default: ~/.cache/basalt). Without JDK 17 and Maven the first is skipped, without
# Python's venv the second; with BASALT_REQUIRE_DRIVERS=1 that fails.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export BASALT_BIN=${BASALT_BIN:-$root/target/release/basalt}
export BASALT_HOST=127.0.0.1
. "$root/oracle/jars.sh"
venv=${BASALT_CACHE:-$HOME/.cache/basalt}/hlog-venv
missing=0

skipped() {
  echo "hlog: $*, skipped"
  missing=${BASALT_REQUIRE_DRIVERS:-0}
}

python() { # Python's reader, made anew when its version changes
  local want; want=$(cksum <"$here/requirements.txt")
  [ "$(cat "$venv/versions" 2>/dev/null)" = "$want" ] && return
  rm -rf "$venv"
  python3 -m venv "$venv" && "$venv/bin/pip" install -q -r "$here/requirements.txt" && echo "$want" >"$venv/versions"
}

if ! command -v python3 >/dev/null; then
  skipped "no Python, no reader was asked"
  exit "$missing"
fi
BASALT_PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
BASALT_STATE=$(mktemp -d)
export BASALT_PORT BASALT_STATE
trap '"$root/tests/drivers/node.sh" stop; rm -rf "$BASALT_STATE"' EXIT
"$root/tests/drivers/node.sh" start

# A node that stands still meanwhile, so that response and service times are far apart and some requests time out.
"$BASALT_BIN" stress run yj 2 --create --target "$BASALT_HOST:$BASALT_PORT" --rate 1000 --duration 4s --timeout 1s \
  --out "$BASALT_STATE/run" >"$BASALT_STATE/stress.log" 2>&1 &
stress=$!
until [ -s "$BASALT_STATE/run/latency.hlog" ] || ! kill -0 "$stress" 2>/dev/null; do sleep 0.05; done
pid=$(cat "$BASALT_STATE/pid")
kill -STOP "$pid"
sleep 2
kill -CONT "$pid"
code=0
wait "$stress" || code=$?
# What the run is worth (3: requests timed out; 4: this machine is busy) is not the question; there must have been one.
case $code in 0 | 3 | 4) ;; *) cat "$BASALT_STATE/stress.log"; exit 1 ;; esac

if [ -x "$ORACLE_JAVA_HOME/bin/java" ] && { [ -f "$ORACLE_LIB/.complete" ] || command -v mvn >/dev/null; }; then
  oracle_jars
  PATH=$ORACLE_JAVA_HOME/bin:$PATH "$here/check.py" "$BASALT_STATE/run" java "$ORACLE_LIB/*"
else
  skipped "no JDK 17 at $ORACLE_JAVA_HOME or no Maven, Java's reader was not asked"
fi
if python3 -c 'import venv, ensurepip' 2>/dev/null; then
  python
  "$venv/bin/python" "$here/check.py" "$BASALT_STATE/run" python
else
  skipped "no venv, Python's reader was not asked"
fi
exit "$missing"
