#!/usr/bin/env bash
# Starts a throw-away PostgreSQL on loopback and runs the control plane's tests on it.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || bin=$(dirname "$(command -v postgres)")
work=$(mktemp -d /tmp/penstock-pg-XXXXXX)
# Below the ports that connections take: other stages open many beside this one.
port=$(.venv/bin/python -c 'from tests.ports import free_row; print(free_row(1))')
as_owner=()
# PostgreSQL refuses to run as root.
if [ "$(id -u)" = 0 ]; then
  id postgres >/dev/null 2>&1 || useradd --system postgres
  chown postgres "$work"
  as_owner=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
cleanup() { "${as_owner[@]}" "$bin/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$work"; }
trap cleanup EXIT
"${as_owner[@]}" "$bin/initdb" -D "$work/data" -U penstock --auth=trust --encoding=UTF8 --locale=C >"$work/initdb.log" 2>&1 || { cat "$work/initdb.log"; exit 1; }
"${as_owner[@]}" "$bin/pg_ctl" -D "$work/data" -w -o "-p $port -k $work -c listen_addresses=127.0.0.1 -c fsync=off" -l "$work/pg.log" start >/dev/null
DATABASE_URL="postgres://penstock@127.0.0.1:$port/postgres" \
  .venv/bin/python -m pytest -q -n 2 -p tests.only_database tests/controlplane tests/console \
  -m "not cluster and not spark and not e2e and not workers" "$@"
