# Penstock's tasks. `make help` explains each.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# Settings may be given as `make up HTTP_PORT=9000 DATA_DIR=/var/lib/penstock`.
export PENSTOCK_DATA_DIR ?= $(or $(DATA_DIR),$(CURDIR)/.penstock)
export PENSTOCK_SPARK_JARS_DIR ?= $(CURDIR)/build/jars
ifdef HTTP_PORT
export PENSTOCK_HTTP_PORT := $(HTTP_PORT)
endif
ifdef ZOOKEEPER_PORT
export PENSTOCK_ZOOKEEPER_PORT := $(ZOOKEEPER_PORT)
endif
ifdef REDIS_PORT
export PENSTOCK_REDIS_PORT := $(REDIS_PORT)
endif
ifdef BROKER_PORTS
export PENSTOCK_BROKER_PORTS := $(BROKER_PORTS)
endif
export PATH := $(PATH):$(CURDIR)/build/node/bin

PY := .venv/bin/python

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2} /^##@ / {printf "\n%s\n", substr($$0, 5)}' $(MAKEFILE_LIST)

##@ Run it
.PHONY: up down reset status logs manage setup
up: ## Start the whole service with a live demo (Ctrl-C stops it; same data next time)
	@deploy/local/setup.sh up
	@exec $(PY) -m deploy.local up
down: ## Stop a running service from another terminal
	@$(PY) -m deploy.local down
reset: ## Stop it and delete its data (asks first; FORCE=1 does not)
	@$(PY) -m deploy.local reset $(if $(FORCE),--force)
status: ## Say which parts run
	@$(PY) -m deploy.local status
logs: ## Follow the logs of every part (PART=web for one)
	@$(PY) -m deploy.local logs $(PART)
manage: ## manage.py with the service's settings, ARGS="tenant list" (tenants, users, members, keys, hosts, backup)
	@$(PY) -m deploy.local manage $(ARGS)
setup: ## Install what running needs, without starting anything
	@deploy/local/setup.sh run

##@ Check it
.PHONY: test lint types imports test-unit test-all test-integration test-cluster test-governance-kafka test-postgres test-frontend test-incidents test-spark test-spark-cluster test-conformance conformance test-faults test-faults-quick test-hosts simulate simulate-fleet test-e2e test-e2e-quick fuzz fix
test: ## Everything that is fast enough for every change (half an hour on 2 cores; KEEP_GOING=1 to see all that fails)
	@deploy/local/setup.sh test
	@$(PY) -m tests.run_all
test-all: test test-faults test-e2e test-incidents test-spark-cluster ## Also the faults, incidents and browser tests that take long
lint: ## Format check and ruff
	@$(PY) -m ruff format --check . && $(PY) -m ruff check .
types: ## mypy, strict
	@$(PY) -m mypy
imports: ## Import contracts: which package may import which
	@.venv/bin/lint-imports
# With the hash seed of `make simulate`, so that a simulated seed does the same here and there.
test-unit: ## Unit, property and architecture tests
	@PYTHONHASHSEED=0 $(PY) -m pytest -q -n 2 -m "not cluster and not conformance and not faults and not spark and not spark_cluster and not e2e and not postgres and not workers"
# These wait more than they work: side by side what shares no service.
test-integration: ## Cluster, conformance and Spark tests, in three processes
	@$(PY) -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder -p tests.by_service -p tests.only_marked_files \
	  -m "(cluster or conformance or spark or workers) and not faults and not e2e and not slow" tests
test-cluster: ## Tests on real brokers and ZooKeeper
	@$(PY) -m pytest -q -m "cluster and not spark and not faults and not conformance and not e2e and not slow"
test-incidents: ## Every alert rule's incident on real processes, from its cause by its runbook to resolved; prints a table
	@deploy/local/setup.sh test
	@$(PY) -m pytest -q -s -n 0 tests/controlplane/live/incidents
test-governance-kafka: ## Every kind of operation on a stock Apache Kafka of three brokers, with authorizer and SASL_SSL
	@deploy/local/setup.sh test
	@$(PY) -m tests.kafka_jars
	@PENSTOCK_TEST_GOVERNED=kafka $(PY) -m pytest -q -n 0 tests/controlplane/live/test_verbs.py tests/controlplane/live/test_every_kind.py tests/controlplane/live/test_overlap.py
test-postgres: ## The control plane's tests on PostgreSQL
	@tests/run_on_postgres.sh
test-spark: ## Spark transforms and jobs on a real local session
	@$(PY) -m pytest -q -m "spark and not e2e"
test-spark-cluster: ## A run on a standalone Spark cluster of two workers, one of which is killed meanwhile
	@deploy/local/setup.sh test
	@$(PY) -m pytest -q -s -n 0 -m spark_cluster tests/spark_cluster
test-conformance: ## Clients that others wrote, against a live cluster
	@$(PY) -m pytest -q -m conformance
conformance: ## All conformance tests, then every client through one contract; writes dataplane/CLIENTS.md, CLIENTS=kafkajs,…
	@deploy/local/setup.sh test
	@$(PY) -m pytest -q -m conformance tests/conformance
	@$(PY) -m tests.conformance.contract $(if $(CLIENTS),--clients $(CLIENTS))
test-faults: ## Real processes killed, paused, cut off: every acknowledged record accounted for
	@$(PY) -m pytest -q tests/faults
test-faults-quick:
	@$(PY) -m pytest -q -m "not slow" tests/faults
test-hosts: ## Many hosts on one machine, in network namespaces, lost and cut under traffic, ONLY="lost" (table in build/hosts.md)
	@$(PY) -m tests.hosts $(if $(ONLY),"$(ONLY)")
simulate: ## Whole brokers under virtual time and misfortune, SEEDS=n SEED=s (a failing seed leaves its trace)
	@$(PY) -m tests.simulation --seeds $(or $(SEEDS),200) --seed $(or $(SEED),1)
simulate-fleet: ## 1,000 hosts and 500 clusters through a year, by the real planners: balance, healing, load, limits; SEED=s (build/fleet.md)
	@$(PY) -m tests.fleet --seed $(or $(SEED),1)
fuzz: ## Every API's decoder, record batches and what comes before a login, MINUTES=n ONLY=Fetch,… ARGS=…
	@deploy/local/setup.sh fuzz
	@PYTHONPATH=build/fuzz/python $(PY) -m tests.fuzz --minutes $(or $(MINUTES),5) $(if $(ONLY),--only "$(ONLY)") $(ARGS)
test-e2e: ## The whole service in a real browser, with screenshots in build/screenshots; its journeys in build/journeys.md
	@PENSTOCK_E2E_SCREENSHOTS=$(CURDIR)/build/screenshots PENSTOCK_E2E_JOURNEYS=$(CURDIR)/build/journeys.md $(PY) -m pytest -q tests/e2e
test-e2e-quick:
	@PENSTOCK_E2E_SCREENSHOTS=$(CURDIR)/build/screenshots $(PY) -m pytest -q -m "not slow" tests/e2e
test-frontend: ## The frontend's format, lint, types and unit tests
	@cd frontend && npm run --silent lint && npm run --silent types && npm run --silent test
fix: ## Format and mend what can be mended by machine
	@$(PY) -m ruff format . && $(PY) -m ruff check --fix .
	@cd frontend && npm run --silent format

##@ Measure it
.PHONY: bench-startup bench-dataplane bench-timing bench-controlplane bench-console bench-spark
bench-startup: ## Start-up, memory and failover, as a table
	@deploy/local/setup.sh test
	@$(PY) -m tests.bench.startup
bench-dataplane: ## The brokers beside a real Apache Kafka, ONLY=figure,… ROUNDS=n ARGS=… (see tests/bench/README.md)
	@deploy/local/setup.sh test
	@$(PY) -m tests.kafka_jars
	@$(PY) -m tests.bench.dataplane $(if $(ONLY),--only $(ONLY)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(ARGS)
bench-timing: ## The timing wheel beside asyncio.call_later at 10k, 100k and 1M pending timers
	@$(PY) -m tests.bench.bench_timing
bench-controlplane: ## A large rebalance plan, a topic beside clusters that never answer, observed state at size, ONLY=figure
	@$(PY) -m tests.bench.controlplane $(if $(ONLY),--only $(ONLY))
bench-console: ## The console in a real browser: bytes, time until data, frames, needless reads, ONLY=figure,…
	@deploy/local/setup.sh test
	@$(PY) -m tests.bench.console $(if $(ONLY),--only $(ONLY))
bench-spark: ## What Spark runs take, by size, steadily and beside polars, ONLY=figure,…
	@deploy/local/setup.sh test
	@deploy/local/setup.sh bench
	@$(PY) -m tests.bench.spark $(if $(ONLY),--only $(ONLY))

##@ Maintain it
.PHONY: lock openapi
lock: ## Renew the locked dependencies from requirements/*.in
	@for name in runtime dev node fuzz bench; do .venv/bin/uv pip compile --quiet --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header requirements/$$name.in -o requirements/$$name.lock; done
openapi: ## Export the OpenAPI document, the frontend's types from it, and the tables it shares
	@$(PY) manage.py export_openapi && $(PY) manage.py export_constants && cd frontend && npm run --silent openapi
