#!/usr/bin/env bash
# Makes a checkout ready: interpreter, Java, Node, locked dependencies, built frontend, Spark jars.
#   setup.sh run    what running needs
#   setup.sh up     the same, after the settings are checked: a bad one is reported before anything is done
#   setup.sh test   that, and what `make test` needs on top
#   setup.sh fuzz   the Python packages of a test, and the coverage-guided fuzzer beside them
#   setup.sh bench  what benchmarks compare with, beside them
# Each step leaves a stamp with the hash of what it was made from; a second run does nothing twice.
set -euo pipefail
cd "$(dirname "$0")/../.."
purpose=${1:-run}
judge=no
if [ "$purpose" = up ]; then purpose=run judge=yes; fi
jars_dir=${PENSTOCK_SPARK_JARS_DIR:-$PWD/build/jars}
stamps=build/stamps
mkdir -p "$stamps"

say() { printf '  %s\n' "$*" >&2; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
hash_of() { cat "$@" | sha256sum | cut -c1-40; }
is_done() { [ -f "$stamps/$1" ] && [ "$(cat "$stamps/$1")" = "$2" ]; }
done_with() { printf '%s' "$2" >"$stamps/$1"; }

apt_updated=no
# Debian as root: install what is missing. Elsewhere: say clearly what is wanted.
need() { # need "what for a person" package...
  local what=$1; shift
  if have apt-get && [ "$(id -u)" = 0 ]; then
    say "installing $what (apt: $*)"
    if [ "$apt_updated" = no ]; then apt-get update -qq >/dev/null; apt_updated=yes; fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >build/apt.log 2>&1 \
      || { tail -n 5 build/apt.log >&2; fail "could not install $what"; }
  else
    fail "$what is missing. Install it (Debian: apt-get install $*) and run this again."
  fi
}

# The system's own interpreter before others on the path: distributions compile it with profile-guided
# optimisation, and the brokers run about a third faster on it than on one built without.
find_python() {
  local candidate usable=""
  for candidate in "${PYTHON:-}" /usr/bin/python3.1{1,2,3} python3.1{1,2,3} python3; do
    [ -n "$candidate" ] && have "$candidate" || continue
    "$candidate" -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info < (3, 14)))' 2>/dev/null || continue
    usable=${usable:-$candidate}
    if [ "$candidate" = "${PYTHON:-}" ] || "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
      printf '%s' "$candidate"; return
    fi
  done
  printf '%s' "$usable"
}

java_is_17() {
  have java || return 1
  local major
  major=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
  [ -n "$major" ] && [ "$major" -ge 17 ]
}

node_is_20() { have node && have npm && [ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null)" -ge 20 ]; }

setup_python() {
  local python
  python=$(find_python)
  if [ -z "$python" ]; then need "Python 3.11+" python3 python3-venv; python=$(find_python); fi
  if [ "$judge" = yes ]; then "$python" -m deploy.local check || exit $?; fi
  "$python" -c 'import ensurepip, venv' 2>/dev/null || need "Python's venv module" python3-venv
  [ -x .venv/bin/python ] || { say "creating the virtual environment"; "$python" -m venv .venv; }
}

install_lock() { # install_lock name: one hashed lock file into the virtual environment
  local lock=requirements/$1.lock key
  key=$(hash_of "$lock")
  is_done "lock-$1" "$key" && return
  say "installing $lock (once; takes a minute or two)"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock" \
    >build/pip.log 2>&1 || { tail -n 5 build/pip.log >&2; fail "pip could not install $lock"; }
  done_with "lock-$1" "$key"
}

setup_node() {
  node_is_20 && return
  # No Node 20 here (Debian 12 has 18): the same program as a wheel, pinned like everything else.
  install_lock node
  export PATH="$PWD/build/node/bin:$PATH"
  mkdir -p build/node/bin
  for tool in node npm npx; do
    printf '#!/bin/sh\nexec "%s/.venv/bin/%s" "$@"\n' "$PWD" "$tool" >"build/node/bin/$tool"
    chmod +x "build/node/bin/$tool"
  done
  node_is_20 || fail "Node 20+ is missing. Install it and run this again."
}

setup_frontend() {
  [ -f frontend/package-lock.json ] || return 0
  local packages sources
  packages=$(hash_of frontend/package.json frontend/package-lock.json)
  sources=$(find frontend -path frontend/node_modules -prune -o -path frontend/dist -prune -o -type f -print0 \
    | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-40)
  if is_done frontend "$sources" && [ -f frontend/dist/index.html ] \
    && { [ "$purpose" = run ] || is_done npm "$packages"; }; then return 0; fi
  setup_node
  if ! is_done npm "$packages" || [ ! -d frontend/node_modules ]; then
    say "installing the frontend's packages"
    (cd frontend && npm ci --no-audit --no-fund --loglevel=error >../build/npm.log 2>&1) \
      || { tail -n 10 build/npm.log >&2; fail "npm ci failed"; }
    done_with npm "$packages"
  fi
  if ! is_done frontend "$sources" || [ ! -f frontend/dist/index.html ]; then
    say "building the frontend"
    (cd frontend && npm run --silent build >../build/frontend.log 2>&1) \
      || { tail -n 20 build/frontend.log >&2; fail "the frontend did not build"; }
    done_with frontend "$sources"
  fi
}

setup_jars() {
  local key
  key=$(hash_of spark_analytics/jars.sha256)-$(printf '%s' "$jars_dir" | sha256sum | cut -c1-8)
  is_done jars "$key" && [ -d "$jars_dir" ] && return
  say "fetching Spark's Kafka connector and Iceberg"
  .venv/bin/python -m spark_analytics jars --dir "$jars_dir" || fail "Spark's jars could not be fetched"
  done_with jars "$key"
}

# Node's own headers where Debian puts them; empty: node-gyp fetches them.
node_headers() { [ -f /usr/include/node/node.h ] && echo /usr; return 0; }

setup_test_programs() {
  # tests/architecture checks the files that git tracks.
  have git || need "Git" git
  have redis-server || need "Redis" redis-server
  have chromium || need "Chromium" chromium
  have kcat || need "kcat" kcat
  # Deliveries of alerts are tested against it.
  have prometheus-alertmanager || have alertmanager || need "Alertmanager" prometheus-alertmanager
  # Programs in Java are run from their source.
  have javac || need "a Java compiler" openjdk-17-jdk-headless
  # Node clients that speak to our brokers in tests/conformance.
  setup_node
  local clients=tests/conformance/node
  if ! is_done npm-conformance "$(hash_of $clients/package-lock.json)"; then
    (cd $clients && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >../../../build/npm.log 2>&1) \
      || { tail -n 10 build/npm.log >&2; fail "npm ci failed in $clients"; }
    # Confluent's client is a library in C++: built from the source in its package, in some two minutes. Without it only
    # its own run of `make conformance` is left out.
    say "building Confluent's Node client (tests only)"
    (cd $clients && npm_config_nodedir=$(node_headers) npm run --silent build-confluent >../../../build/npm-confluent.log 2>&1) \
      || say "  it could not be built (build/npm-confluent.log); its conformance run will be left out"
    done_with npm-conformance "$(hash_of $clients/package-lock.json)"
  fi
  # Apache Kafka's own jars: its log-dump tool reads our files, benchmarks run it beside ours.
  if ! is_done kafka-jars "$(hash_of tests/kafka_jars.sha256)" || [ ! -d build/kafka ]; then
    say "fetching Apache Kafka (tests only)"
    .venv/bin/python -m tests.kafka_jars --dir build/kafka || fail "Apache Kafka's jars could not be fetched"
    done_with kafka-jars "$(hash_of tests/kafka_jars.sha256)"
  fi
  ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || have postgres || need "PostgreSQL" postgresql
}

# Beside the virtual environment: no test needs it, and it is not to be had for every machine.
setup_fuzzer() {
  local key
  key=$(hash_of requirements/fuzz.lock)
  is_done lock-fuzz "$key" && return
  say "installing the coverage-guided fuzzer (once)"
  rm -rf build/fuzz/python
  if .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
    --target build/fuzz/python -r requirements/fuzz.lock >build/pip.log 2>&1; then
    done_with lock-fuzz "$key"
  else
    say "it could not be installed here (build/pip.log): changes without coverage are taken instead"
  fi
}

setup_bench() {
  local key
  key=$(hash_of requirements/bench.lock)
  is_done lock-bench "$key" && return
  say "installing what benchmarks compare with (once)"
  rm -rf build/bench/python
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
    --target build/bench/python -r requirements/bench.lock >build/pip.log 2>&1 \
    || { tail -n 5 build/pip.log >&2; fail "pip could not install requirements/bench.lock"; }
  done_with lock-bench "$key"
}

setup_python
if [ "$purpose" = bench ]; then
  setup_bench
  exit 0
fi
if [ "$purpose" = fuzz ]; then
  install_lock runtime
  install_lock dev
  setup_fuzzer
  exit 0
fi
java_is_17 || need "Java 17+" openjdk-17-jre-headless
java_is_17 || fail "Java 17+ is missing. Install it and run this again."
install_lock runtime
if [ "$purpose" = test ]; then install_lock dev; setup_test_programs; fi
# Broker start-up is mostly imports: compiled once here, also where the environment forbids caching.
.venv/bin/python -m compileall -q dataplane controlplane console spark_analytics deploy
setup_frontend
setup_jars
