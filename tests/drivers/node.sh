#!/usr/bin/env bash
# The node that driver tests talk to.
#
#   node.sh start     start a node on BASALT_PORT with its data in BASALT_STATE/data; wait until it answers
#   node.sh stop      drain it and wait until it has ended
#   node.sh restart   both, on the same data
#
# BASALT_BIN is the program, BASALT_HOST and BASALT_PORT its address, BASALT_STATE a directory of its own.
set -euo pipefail
: "${BASALT_BIN:?}" "${BASALT_HOST:?}" "${BASALT_PORT:?}" "${BASALT_STATE:?}"
pid_file=$BASALT_STATE/pid

start() {
  "$BASALT_BIN" run --data-dir "$BASALT_STATE/data" --listen "$BASALT_HOST" --port "$BASALT_PORT" \
    >>"$BASALT_STATE/out.log" 2>&1 </dev/null &
  local pid=$! tries=0
  echo "$pid" >"$pid_file"
  until (exec 3<>"/dev/tcp/$BASALT_HOST/$BASALT_PORT") 2>/dev/null; do
    kill -0 "$pid" 2>/dev/null || { echo "the node ended:" >&2; tail -5 "$BASALT_STATE/out.log" >&2; exit 1; }
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || { echo "the node does not listen after 30 s" >&2; exit 1; }
    sleep 0.05
  done
}

stop() {
  [ -f "$pid_file" ] || return 0
  local pid tries=0
  pid=$(cat "$pid_file")
  kill "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || { echo "the node does not end after 30 s" >&2; kill -9 "$pid"; exit 1; }
    sleep 0.05
  done
  rm -f "$pid_file"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  restart) stop; start ;;
  *) sed -n '2,8p' "$0"; exit 2 ;;
esac
