"""Settings from the environment, prefix `PENSTOCK_`; every value has an embedded default."""

import importlib.util
import ipaddress
import os
import tempfile
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.retry import Retry

from controlplane.beat_schedule import beat_schedule
from controlplane.common.keyfiles import KeyMissingError, key_from_file
from controlplane.common.limits import BODY_MAX_BYTES
from controlplane.enum_names import ENUM_NAMES
from controlplane.log_lines import log_lines

env = environ.Env()
REPOSITORY = Path(__file__).resolve().parent.parent

# -- where things are -------------------------------------------------------------------------
DATA_DIR = Path(env.str("PENSTOCK_DATA_DIR", default=str(REPOSITORY / ".penstock"))).resolve()
DATA_DIR.mkdir(parents=True, exist_ok=True)
ZOOKEEPER = env.str("PENSTOCK_ZOOKEEPER", default="127.0.0.1:2181")
# A private file of `zookeeper_access`'s keys; empty: a ZooKeeper that asks nobody who they are.
ZOOKEEPER_CONFIG = env.str("PENSTOCK_ZOOKEEPER_CONFIG", default="")
# The login and TLS that let agents and brokers in, for hosts that join by a token.
ZOOKEEPER_AGENT_CONFIG = env.str("PENSTOCK_ZOOKEEPER_AGENT_CONFIG", default="")
REDIS_URL = env.str("PENSTOCK_REDIS_URL", default="redis://127.0.0.1:6379/0")
SPARK_MASTER = env.str("PENSTOCK_SPARK_MASTER", default="local[2]")
SPARK_JARS_DIR = Path(env.str("PENSTOCK_SPARK_JARS_DIR", default=str(DATA_DIR / "jars")))
ANALYTICS_URI = env.str("PENSTOCK_ANALYTICS_URI", default=f"file://{DATA_DIR}/analytics")
# Where people open the console, for links that `manage.py` prints.
PUBLIC_URL = env.str("PENSTOCK_PUBLIC_URL", default="http://127.0.0.1:8400")
FRONTEND_DIST = REPOSITORY / "frontend" / "dist"
RUNBOOKS_DIR = REPOSITORY / "deploy" / "runbooks"

# -- secrets ----------------------------------------------------------------------------------
# A further host with keys of its own would know nobody's session and open no secret.
MAKE_KEYS = env.bool("PENSTOCK_MAKE_KEYS", default=True)


def _key_from_file(path: Path) -> str:
    try:
        return key_from_file(path, make=MAKE_KEYS)
    except KeyMissingError as error:
        raise ImproperlyConfigured(str(error)) from error


SECRET_KEY = env.str("PENSTOCK_SECRET_KEY", default="") or _key_from_file(DATA_DIR / "secret.key")
# The first key seals, all open (deploy/secrets.md). Without the variable they stand in the file,
# one a line, which running processes follow.
FERNET_KEYS = env.list("PENSTOCK_FERNET_KEY", default=[])
FERNET_KEY_FILE = DATA_DIR / "fernet.key"
if not FERNET_KEYS:
    _key_from_file(FERNET_KEY_FILE)

# -- Django -----------------------------------------------------------------------------------
DEBUG = env.bool("PENSTOCK_DEBUG", default=False)
ALLOWED_HOSTS = env.list("PENSTOCK_ALLOWED_HOSTS", default=["127.0.0.1", "localhost"])
CSRF_TRUSTED_ORIGINS = env.list("PENSTOCK_TRUSTED_ORIGINS", default=[])
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
ROOT_URLCONF = "controlplane.urls"
ASGI_APPLICATION = "controlplane.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
APPEND_SLASH = False
# `common.edge` lets no larger body in, so that none is ever written to disk.
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_MAX_BYTES
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]

LOCAL_APPS = [
    "controlplane.common",
    "controlplane.audit",
    "controlplane.tenants",
    "controlplane.operations",
    "controlplane.observed",
    "controlplane.clusters",
    "controlplane.healing",
    "controlplane.topics",
    "controlplane.access",
    "controlplane.reassignments",
    "controlplane.groups",
    "controlplane.messages",
    "controlplane.drift",
    "controlplane.backups",
    "controlplane.administration",
    "controlplane.notifications",
    "controlplane.alerts",
    "controlplane.timeline",
]
# Apps that other teams deliver on their own; each is wired as soon as it is there.
OPTIONAL_APPS = [
    app
    for app in ("controlplane.analytics", "controlplane.runbooks", "console")
    if importlib.util.find_spec(f"{app}.apps") is not None
]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "rest_framework",
    "drf_spectacular",
    "django_celery_beat",
    *LOCAL_APPS,
    *OPTIONAL_APPS,
]

MIDDLEWARE = [
    "controlplane.common.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "controlplane.common.middleware.SecurityHeadersMiddleware",
    "controlplane.common.middleware.DatabaseAwayMiddleware",
    "controlplane.common.middleware.AddressLimitMiddleware",
    "controlplane.common.compression.PageCompressionMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
TEMPLATES = [
    {"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {}}
]
STATIC_URL = "/static/"
# -- what browsers get -----------------------------------------------------------------------
# Whoever serves other names than this machine's is taken to do so over TLS.
HTTPS = env.bool(
    "PENSTOCK_HTTPS", default=not set(ALLOWED_HOSTS) <= {"127.0.0.1", "localhost", "[::1]"}
)
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
# Probes ask this process, not the proxy.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = env.int("PENSTOCK_HSTS_S", default=365 * 24 * 3600) if HTTPS else 0
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
# The component library sets sizes and colours by style attributes, hence unsafe-inline there.
PAGE_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SESSION_ENGINE = "controlplane.common.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "penstock_session"
CSRF_COOKIE_NAME = "penstock_csrf"
CSRF_FAILURE_VIEW = "controlplane.common.views.csrf_failure"
PASSWORD_HASHERS = [
    "controlplane.common.passwords.BoundedArgon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
# Of this process; each takes 100 MB.
PASSWORD_HASHES_AT_A_TIME = env.int("PENSTOCK_PASSWORD_HASHES", default=4)
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]

# -- sign-in by an OpenID provider --------------------------------------------------------------
# Without an issuer there is none. Claims and mail domains grant roles in tenants:
# PENSTOCK_OIDC_GRANTS=[{"claim": "groups", "value": "kafka", "tenant": "acme", "role": "operator"}]
OIDC_ISSUER = env.str("PENSTOCK_OIDC_ISSUER", default="")
OIDC_CLIENT_ID = env.str("PENSTOCK_OIDC_CLIENT_ID", default="")
OIDC_CLIENT_SECRET = env.str("PENSTOCK_OIDC_CLIENT_SECRET", default="")
OIDC_NAME = env.str("PENSTOCK_OIDC_NAME", default="single sign-on")  # on the button
OIDC_SCOPES = env.str("PENSTOCK_OIDC_SCOPES", default="openid profile email")
# Only verified addresses of these mail domains; none named: any.
OIDC_DOMAINS = [name.lower() for name in env.list("PENSTOCK_OIDC_DOMAINS", default=[])]
OIDC_GRANTS = env.json("PENSTOCK_OIDC_GRANTS", default=[])
# Signing out here also ends the provider's session.
OIDC_LOGOUT = env.bool("PENSTOCK_OIDC_LOGOUT", default=False)
PASSWORD_SIGN_IN = env.bool("PENSTOCK_PASSWORD_SIGN_IN", default=True)

# -- database ---------------------------------------------------------------------------------
DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR}/penstock.sqlite3")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # Web, worker and beat share the file: WAL lets readers go on beside one writer, BEGIN
    # IMMEDIATE takes the write lock up front, so nobody meets "database is locked" on upgrade.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;",
    }
    # One file per run, so that runs beside each other do not take it from one another.
    DATABASES["default"]["TEST"] = {
        "NAME": os.environ.get("PENSTOCK_TEST_SQLITE")
        or str(Path(tempfile.gettempdir()) / f"penstock-test-{os.getpid()}.sqlite3")
    }
else:
    if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
        DATABASES["default"]["ENGINE"] = "controlplane.postgres"
    # Who waits for a database that went away without a word would hold a worker for a quarter of
    # an hour, and one in the middle of a transaction its rows.
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 5,
        "tcp_user_timeout": 10_000,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        **DATABASES["default"].get("OPTIONS", {}),
    }
DATABASES["default"]["CONN_MAX_AGE"] = 60
# How long web, workers and beat wait for an answer of PostgreSQL, before they take it for away.
DATABASE_ANSWER_S = env.float("PENSTOCK_DATABASE_ANSWER_S", default=10.0)
WORKER_DATABASE_ANSWER_S = env.float("PENSTOCK_WORKER_DATABASE_ANSWER_S", default=30.0)

# -- cache: counts that all web processes share -------------------------------------------------
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "penstock",
        # A Redis that hangs costs half a second; whoever uses the cache does without it then.
        "OPTIONS": {
            "socket_connect_timeout": 0.5,
            "socket_timeout": 0.5,
            "retry": Retry(NoBackoff(), 0),
        },
    },
    "process": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 4096},
    },
}

# -- REST -------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "controlplane.tenants.authentication.ApiKeyAuthentication",
        "controlplane.tenants.authentication.ConsoleSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["controlplane.tenants.permissions.TenantPermission"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["controlplane.common.parsers.JsonBodyParser"],
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,
    "DEFAULT_SCHEMA_CLASS": "controlplane.common.openapi.HeaderSchema",
    "EXCEPTION_HANDLER": "controlplane.common.exception_handler.problem_handler",
    "DEFAULT_THROTTLE_CLASSES": ["controlplane.tenants.throttles.CallerThrottle"],
    # Attempts to sign in by one user name from one address (`console.throttle`).
    "DEFAULT_THROTTLE_RATES": {"login_burst": "5/min", "login_sustained": "60/hour"},
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "COERCE_DECIMAL_TO_STRING": False,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Penstock",
    "DESCRIPTION": "Kafka-compatible clusters as a product: plan, confirm, execute, verify, undo.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVERS": [{"url": "/", "description": "The service that serves this document"}],
    # Docstrings speak to those who change the code; readers get summaries and help texts.
    "DISABLE_DOCSTRING_DESCRIPTIONS": True,
    "POSTPROCESSING_HOOKS": [
        "console.event_shapes.describe_streams",
        "drf_spectacular.hooks.postprocess_schema_enums",
        "controlplane.common.openapi.describe_headers",
        "controlplane.common.openapi.refuse_unknown_fields",
    ],
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": ENUM_NAMES,
}

# -- limits -------------------------------------------------------------------------------------
# Requests per window, `600/min`; an empty one is no limit. Redis counts for all web processes.
RATE_LIMITS = {
    "address": env.str("PENSTOCK_RATE_ADDRESS", default="3000/min"),
    "user": env.str("PENSTOCK_RATE_USER", default="1200/min"),
    "key": env.str("PENSTOCK_RATE_KEY", default="1200/min"),
    # Attempts to sign in of one address, under whatever names.
    "sign_in": env.str("PENSTOCK_RATE_SIGN_IN", default="60/min"),
    # Exports of the audit record by one caller: each reads up to 100,000 rows, and leaves one.
    "exports": env.str("PENSTOCK_RATE_EXPORTS", default="20/min"),
    # Test events of one tenant's destinations: each waits for a stranger's answer.
    "destination_tests": env.str("PENSTOCK_RATE_DESTINATION_TESTS", default="10/min"),
    # Rows of refused writes in the audit record: of one caller, and of everybody together.
    "refusals": env.str("PENSTOCK_RATE_REFUSALS", default="60/min"),
    "refusals_of_all": env.str("PENSTOCK_RATE_REFUSALS_OF_ALL", default="1200/min"),
}
# Only what comes from these networks may say for whom it speaks (X-Forwarded-For, -Proto).
TRUSTED_PROXIES = [
    str(ipaddress.ip_network(network))
    for network in env.list("PENSTOCK_TRUSTED_PROXIES", default=[])
]
# Networks that tenants may name addresses in (registered Kafkas, their brokers, token endpoints),
# besides the public ones.
EGRESS_ALLOWED = [
    str(ipaddress.ip_network(network))
    for network in env.list("PENSTOCK_EGRESS_ALLOWED", default=[])
]
# -- mail: destinations of alerts -----------------------------------------------------------------
# Without a server and a sender there is none. The server is the operator's word: no egress policy.
SMTP_HOST = env.str("PENSTOCK_SMTP_HOST", default="")
SMTP_PORT = env.int("PENSTOCK_SMTP_PORT", default=587)
SMTP_SECURITY = env.str("PENSTOCK_SMTP_SECURITY", default="starttls")  # or tls, none
SMTP_USERNAME = env.str("PENSTOCK_SMTP_USERNAME", default="")
SMTP_PASSWORD = env.str("PENSTOCK_SMTP_PASSWORD", default="")
MAIL_FROM = env.str("PENSTOCK_MAIL_FROM", default="")
if SMTP_SECURITY not in {"starttls", "tls", "none"}:
    raise ImproperlyConfigured("PENSTOCK_SMTP_SECURITY is starttls, tls or none")
# Only to addresses of these domains; none named: any.
MAIL_DOMAINS = [name.lower() for name in env.list("PENSTOCK_MAIL_DOMAINS", default=[])]

# Bearer token of /metrics; without one there is no such page.
METRICS_TOKEN = env.str("PENSTOCK_METRICS_TOKEN", default="")
# Clusters with series of their own there; the others are one.
METRICS_CLUSTERS_MAX = env.int("PENSTOCK_METRICS_CLUSTERS_MAX", default=200)

# -- observed state ---------------------------------------------------------------------------
# Seconds from one look at a cluster to the next. People wait a quarter of a minute for what others
# do; a pass asks each broker some ten questions, and a cluster whose pass takes long gets fewer.
OBSERVE_INTERVAL_S = env.float("PENSTOCK_OBSERVE_INTERVAL_S", default=15.0)
# Passes at the same time, over all workers: operations keep the other threads.
OBSERVERS_MAX = env.int("PENSTOCK_OBSERVERS_MAX", default=2)

# -- Celery -----------------------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_POOL = "threads"  # tasks wait on brokers and SQL; threads start at once and are small
CELERY_WORKER_CONCURRENCY = env.int("PENSTOCK_WORKER_CONCURRENCY", default=4)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # for ever
# How long workers and beat wait before they look for a lost Redis again, however long it is away
# (`queue_link`). With a sweep's interval it bounds how long operations wait once it is back.
QUEUE_RECONNECT_S = 1.0
# An answer that is so much overdue never comes: its Redis vanished, another has its address.
QUEUE_ANSWER_OVERDUE_S = 3
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 60,
    "socket_connect_timeout": 2,
    "socket_timeout": 2,
    "health_check_interval": QUEUE_ANSWER_OVERDUE_S,
    "queue_order_strategy": "sorted",
}
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.1, "interval_max": 0.2}
CELERY_BEAT_SCHEDULER = "controlplane.beat:Scheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 2
OPERATION_SWEEP_S = env.float("PENSTOCK_OPERATION_SWEEP_S", default=1.0)
# From one round over all alert rules to the next.
ALERTS_INTERVAL_S = env.float("PENSTOCK_ALERTS_INTERVAL_S", default=10.0)
TIMELINE_DAYS = env.int("PENSTOCK_TIMELINE_DAYS", default=35)  # how long what happened is kept
CELERY_BEAT_SCHEDULE = beat_schedule(
    env,
    sweep_s=OPERATION_SWEEP_S,
    observe_s=OBSERVE_INTERVAL_S,
    alerts_s=ALERTS_INTERVAL_S,
)
if "controlplane.analytics" in OPTIONAL_APPS and importlib.util.find_spec(
    "controlplane.analytics.schedule"
):
    from controlplane.analytics.schedule import BEAT_SCHEDULE as _ANALYTICS_SCHEDULE

    CELERY_BEAT_SCHEDULE = {**CELERY_BEAT_SCHEDULE, **_ANALYTICS_SCHEDULE}

# -- the engine's bounds ----------------------------------------------------------------------
PLAN_LIFETIME_S = 15 * 60
# What a host needs free of its disk for each broker that is placed there.
BROKER_DISK_MIN_BYTES = env.int("PENSTOCK_BROKER_DISK_MIN_BYTES", default=2**30)
# What one tenant may have of what all share.
CLUSTERS_PER_TENANT = env.int("PENSTOCK_CLUSTERS_PER_TENANT", default=100)
BROKERS_PER_TENANT = env.int("PENSTOCK_BROKERS_PER_TENANT", default=90)  # run by this service
PLANS_OPEN_MAX = env.int("PENSTOCK_PLANS_OPEN_MAX", default=200)  # of one tenant
# Renewed at each third. With the sweep's interval it bounds how long an operation stands still
# when its worker is killed.
OPERATION_LEASE_S = env.float("PENSTOCK_OPERATION_LEASE_S", default=3.0)
GATEWAY_TIMEOUT_S = env.float("PENSTOCK_GATEWAY_TIMEOUT_S", default=10.0)
# All waits of a read together, whoever is silent; what it knows by then is the answer.
READ_PATIENCE_S = env.float("PENSTOCK_READ_PATIENCE_S", default=1.8)

# -- one tenant's trouble stays theirs ----------------------------------------------------------
# Questions to brokers at a time, in each process: what may hold threads of it.
GATEWAY_CALLS_PER_CLUSTER = env.int("PENSTOCK_GATEWAY_CALLS_PER_CLUSTER", default=4)
GATEWAY_CALLS_PER_TENANT = env.int("PENSTOCK_GATEWAY_CALLS_PER_TENANT", default=16)
# To clusters that may well not answer: the last question was in vain.
GATEWAY_DOUBTFUL_CALLS_PER_TENANT = env.int("PENSTOCK_GATEWAY_DOUBTFUL_CALLS", default=2)
# Threads of one worker process that one tenant's tasks, and those on one cluster, may hold.
TASKS_PER_TENANT = env.int("PENSTOCK_TASKS_PER_TENANT", default=3)
TASKS_PER_CLUSTER = env.int("PENSTOCK_TASKS_PER_CLUSTER", default=3)
# The same in the workers for clusters that nobody has reached, or that did not answer last.
SLOW_WORKER_CONCURRENCY = env.int("PENSTOCK_SLOW_WORKER_CONCURRENCY", default=4)
SLOW_TASKS_PER_TENANT = env.int("PENSTOCK_SLOW_TASKS_PER_TENANT", default=2)
SLOW_TASKS_PER_CLUSTER = env.int("PENSTOCK_SLOW_TASKS_PER_CLUSTER", default=1)
# Parts of pages, of one tenant, that ask brokers at a time, of the 12 that a web process has.
PAGE_PARTS_PER_TENANT = env.int("PENSTOCK_PAGE_PARTS_PER_TENANT", default=6)
# Live streams open at a time in a web process, of the 512 that it has.
STREAMS_PER_TENANT = env.int("PENSTOCK_STREAMS_PER_TENANT", default=128)
STREAMS_PER_USER = env.int("PENSTOCK_STREAMS_PER_USER", default=16)
# Readers of messages at a time in a web process, of the 12 that it has: each holds a connection.
MESSAGE_READERS_PER_TENANT = env.int("PENSTOCK_MESSAGE_READERS_PER_TENANT", default=4)
# How long a question waits for its turn at a cluster that answers.
GATEWAY_WAIT_S = env.float("PENSTOCK_GATEWAY_WAIT_S", default=2.0)
# A connection that nobody has used for so long is closed.
GATEWAY_IDLE_S = env.float("PENSTOCK_GATEWAY_IDLE_S", default=600.0)
# The longest that a cluster which does not answer is left alone.
BREAKER_OPEN_MAX_S = env.float("PENSTOCK_BREAKER_OPEN_MAX_S", default=30.0)

LOGGING = log_lines(env.str("PENSTOCK_LOG_LEVEL", default="INFO"))
