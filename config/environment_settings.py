"""The values of the settings, read once from the environment. `config.settings` imports them all."""

import os
import sys
import warnings
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import django_stubs_ext
from environs import validate

from api.client_networks import parsed_network
from config.database import connection_options, parse_url, standby_databases
from config.env_defaults import embedded_url, secret_key
from config.environment import Environment, host_names, row_limits, web_address
from config.mail import mail_settings
from config.misspelt import misspelt
from config.openapi_document import SPECTACULAR
from config.openid import openid_apps
from config.ports import in_url, port_number, reachable
from config.redis_url import broker, checked
from config.sign_in import ALLAUTH
from config.ticks import TASK_ROUTES, beat_schedule

django_stubs_ext.monkeypatch()

env = Environment()

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.str("DATA_DIR", str(BASE_DIR / "var"))).resolve()
# The folder of secrets that are generated if the environment does not set them.
SECRETS_DIR = Path(env.str("SECRETS_DIR", str(DATA_DIR))).resolve()

# --- The process ---------------------------------------------------------------------------------

DEBUG = env.bool("DEBUG", False)
SECRET_KEY = env.str("SECRET_KEY", "") or secret_key(SECRETS_DIR)
# Older secret keys, used only to verify and decrypt. They can be removed after `manage.py reencrypt`.
SECRET_KEY_FALLBACKS = env.texts("SECRET_KEY_FALLBACKS")
_host = in_url(reachable(env.str("HOST", "127.0.0.1")))
_known_hosts = [*dict.fromkeys(("127.0.0.1", "localhost", "[::1]", _host))]
ALLOWED_HOSTS = env.parsed("ALLOWED_HOSTS", "", host_names) or _known_hosts
CSRF_TRUSTED_ORIGINS = env.texts("CSRF_TRUSTED_ORIGINS")
PORT = port_number("PORT", env.str("PORT", "8000"))
SFTP_HOST = env.str("SFTP_HOST", "127.0.0.1")
SFTP_PORT = port_number("SFTP_PORT", env.str("SFTP_PORT", "2222"), least=0)
# All hosts behind one DNS name need the same host key. Without this setting, a key is created in SECRETS_DIR.
SFTP_HOST_KEY_FILE = env.str("SFTP_HOST_KEY_FILE", "")
BASE_URL = env.parsed("BASE_URL", f"http://{_host}:{PORT}", web_address)

WSGI_APPLICATION = "config.wsgi.application"
ROOT_URLCONF = "config.urls"
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "backoffice.admin_app.ExchangeAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "ui",
    "api",
    "accounts",
    "events",
    "sftp_ingest",
    "imports",
    "catalog",
    "inventory",
    "assortment",
    "fulfillments",
    "orders",
    "portal",
    "backoffice",
    "tools.demo",
]

MIDDLEWARE = [
    "api.middleware.RequestIdMiddleware",
    "portal.middleware.PortalMiddleware",
    "config.metrics.RequestMetricsMiddleware",
    "api.compression.CompressionMiddleware",
    "api.middleware.BodySizeMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "api.middleware.TolerantPathMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.web.sessions.CallerMiddleware",
    "fastdb.standbys.middleware.OwnChangesMiddleware",
    "accounts.typed_drafts.TypedDraftMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "backoffice.middleware.PagePolicyMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "backoffice.middleware.SecondFactorMiddleware",
]

CSRF_FAILURE_VIEW = "backoffice.error_pages.csrf_failure"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["ui.templatetags.ui"],
            "context_processors": [
                "accounts.typed_drafts.kept_text",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "backoffice.second_factor.pages.admin_context",
                "portal.visitors.portal_context",
            ],
        },
    }
]

# --- Data ----------------------------------------------------------------------------------------

_database: dict[str, Any] = {
    **parse_url(env.str("DATABASE_URL", "") or embedded_url(DATA_DIR, "database_url")),
    "CONN_MAX_AGE": 60,
    "CONN_HEALTH_CHECKS": True,
}
# Set this to False for a pooler that refuses `options`, and set the limits on the database roles instead
# (docs/running.md).
_limited = env.bool("DATABASE_LIMITS", True)
if _limited:
    _database["OPTIONS"] = connection_options(_database.get("OPTIONS", {}))
# Streaming standbys for reads that may be some seconds old (ADR 63). A standby with a larger delay than
# REPLICA_MAX_LAG seconds is not used.
_standbys = standby_databases(env.str("DATABASE_REPLICA_URLS", ""), limited=_limited)
STANDBYS = [*_standbys]
REPLICA_MAX_LAG = env.float("REPLICA_MAX_LAG", 10.0, validate=validate.Range(min=1))
DATABASES = {"default": _database, **_standbys}
REDIS_URL = checked(env.str("REDIS_URL", "") or embedded_url(DATA_DIR, "redis_url"))
CACHES = {"default": {"BACKEND": "api.redis_cache.Cache", "LOCATION": [REDIS_URL]}}

# The largest unpacked size of a compressed import file, in bytes.
IMPORT_UNPACKED_BYTES = env.at_least_one("IMPORT_UNPACKED_BYTES", 2 * 1024**3)
# The storage of file contents: s3://bucket/prefix?endpoint=…, or the local disk if empty.
UPLOADS_URL = env.str("UPLOADS_URL", "")
UPLOADS_DIR = Path(env.str("UPLOADS_DIR", str(DATA_DIR / "uploads"))).resolve()

# --- The API -------------------------------------------------------------------------------------

RATE_LIMIT = env.str("RATE_LIMIT", "6000/min")
SHIPMENT_CORRECTION_DAYS = env.days("SHIPMENT_CORRECTION_DAYS", 30, least=0)  # 0: parcels cannot be corrected
CURRENCY = env.str("CURRENCY", "USD").upper()  # the default for new parties
FAILED_KEYS_LIMIT = env.str("FAILED_KEYS_LIMIT", "100/min")
MAX_BODY_BYTES = env.at_least_one("MAX_BODY_BYTES", 16 * 1024 * 1024)
# The largest file that operators may upload in the browser. It arrives in chunks below MAX_BODY_BYTES.
BROWSER_UPLOAD_BYTES = env.int("BROWSER_UPLOAD_BYTES", 500 * 1024 * 1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000  # enough for the cells of a page with a hundred rejected rows
IDEMPOTENCY_RETENTION = timedelta(hours=24)
_a_year = 365 * 86_400
_seconds = env.int("OAUTH_TOKEN_SECONDS", 3600, validate=validate.Range(min=1, max=_a_year))
OAUTH_TOKEN_LIFETIME = timedelta(seconds=_seconds)

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": ["api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["api.renderers.ExactJSONRenderer"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.throttling.KeyThrottle"],
    "DEFAULT_SCHEMA_CLASS": "api.schema.EnvelopeSchema",
    "EXCEPTION_HANDLER": "api.errors.envelope_handler",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS = SPECTACULAR

# Private networks that webhooks may use, also with plain HTTP. By default, only public addresses are allowed.
WEBHOOK_NETWORKS = env.networks("WEBHOOK_NETWORKS", "", ip_network)
# The time limit for the status of an answer.
WEBHOOK_SECONDS = env.float("WEBHOOK_SECONDS", 10.0, validate=validate.Range(min=0, min_inclusive=False))
# Days until delivered and dead deliveries are deleted.
WEBHOOK_DELIVERY_DAYS = env.days("WEBHOOK_DELIVERY_DAYS", 14)  # 0 keeps deliveries forever

# --- Background work -----------------------------------------------------------------------------

# These limits are short, because a Redis that drops packets or does not answer must not delay a request.
_broker = broker(REDIS_URL, {"socket_connect_timeout": 1.0, "socket_timeout": 1.0})
CELERY_BROKER_URL = _broker.url
CELERY_BROKER_USE_SSL = _broker.ssl
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Seconds to try to wake a worker. If that fails, a periodic sweep starts the job later. With Celery's default
# of four seconds, a request waited five seconds for a Redis that did not answer.
CELERY_BROKER_CONNECTION_TIMEOUT = 1.0
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "unacked_restore_interval": 5,
    "socket_keepalive": True,
    **_broker.options,
}
CELERY_TIMEZONE = "UTC"
CELERY_TASK_ROUTES = TASK_ROUTES
CELERY_BEAT_SCHEDULE = beat_schedule()
CELERY_BEAT_SCHEDULER = "config.tick_scheduler:TickScheduler"
# The largest number of jobs of one supplier that run at once. All suppliers share the workers.
IMPORT_SLOTS = env.at_least_one("IMPORT_SLOTS", 1)

# Stock movements older than this number of days are replaced by one balance for each stock row and month.
# 0 keeps the movements forever.
STOCK_MOVEMENT_DAYS = env.days("STOCK_MOVEMENT_DAYS", 400)

# Days until the personal data of a finished order is erased (orders.erasing). 0 erases nothing automatically.
ERASE_DAYS = env.days("ERASE_DAYS", 0)
# Days until old rows are deleted (backoffice.retention). 0 keeps the rows forever.
REJECT_DAYS = env.days("REJECT_DAYS", 90)
IMPORT_DAYS = env.days("IMPORT_DAYS", 400)
UPLOAD_DAYS = env.days("UPLOAD_DAYS", 400)
DECISION_DAYS = env.days("DECISION_DAYS", 400)
SIMULATION_DAYS = env.days("SIMULATION_DAYS", 400)
SCORECARD_DAYS = env.days("SCORECARD_DAYS", 1100)
VARIANT_CHANGE_DAYS = env.days("VARIANT_CHANGE_DAYS", 400)
# The hour (UTC) of the nightly reconcile.
RECONCILE_HOUR = env.int("RECONCILE_HOUR", 2, validate=validate.Range(min=0, max=23))

EVENT_DAYS = env.days("EVENT_DAYS", 400)
ADMIN_LOG_DAYS = env.days("ADMIN_LOG_DAYS", 1100)
SESSION_COOKIE_AGE = 86_400 * env.days("SESSION_DAYS", 14, least=1)

BACKUPS_DIR = Path(env.str("BACKUPS_DIR", str(DATA_DIR / "backups"))).resolve()
BACKUP_HOURS = env.float("BACKUP_HOURS", 24.0, validate=validate.Range(min=0, min_inclusive=False))
BACKUPS_KEPT = env.at_least_one("BACKUPS_KEPT", 7)

# --- Mail ----------------------------------------------------------------------------------------

EMAIL_URL = env.str("EMAIL_URL", "")
globals().update(mail_settings(EMAIL_URL))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("EMAIL_FROM", "exchange@localhost")

# --- Signing in to the admin and the portal (ADR 65) -----------------------------------------------

LOGIN_URL, LOGIN_REDIRECT_URL = "account_login", "admin:index"
globals().update(ALLAUTH)
# `required`: every user with a permission to change needs a second factor. `groups`: only members of groups
# that require a second factor need one.
SECOND_FACTOR = env.str("SECOND_FACTOR", "required", validate=validate.OneOf(["required", "groups"]))
SECOND_FACTOR_EXEMPT = env.texts("SECOND_FACTOR_EXEMPT")
# Actions, such as `erase,revoke`, that need a second operator for SECOND_OPERATOR_ROWS or more rows.
SECOND_OPERATOR_ACTIONS = env.texts("SECOND_OPERATOR_ACTIONS")
SECOND_OPERATOR_ROWS = env.at_least_one("SECOND_OPERATOR_ROWS", 2)
# For each group of operators: the largest number of rows that an operator may change alone by a final action.
_limits = "Order desk=500,Catalogue desk=500,Partner desk=50"
SECOND_OPERATOR_LIMITS = env.parsed("SECOND_OPERATOR_LIMITS", _limits, row_limits)
# Operators may sign in with another service by OpenID Connect.
OPENID_APPS = openid_apps(env)
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": OPENID_APPS}}
SOCIALACCOUNT_ADAPTER = "backoffice.second_factor.adapters.OpenIdAdapter"
# A link starts the sign-in, because `form-action 'self'` forbids a form that leads to another host. The OAuth
# `state` parameter protects the redirect back from forgery.
SOCIALACCOUNT_LOGIN_ON_GET = True

# --- Pages ---------------------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
FORMAT_MODULE_PATH = "config.formats"
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
DOCS_SITE = DATA_DIR / "docs"  # `make docs` builds it
# STATIC_ROOT may be on a read-only disk, so the settings do not create it. Hide whitenoise's warning.
warnings.filterwarnings("ignore", "No directory at", UserWarning)
# Without `collectstatic`, as in tests and development, whitenoise searches the files with Django's finders.
WHITENOISE_USE_FINDERS = not (STATIC_ROOT / "staticfiles.json").exists()
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.staticfiles.HashedWhenCollected"},
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("HTTPS", False)
# Seconds for which browsers must use TLS.
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", 0)
# HSTS preload is never set: anyone could add the domain to the browsers' lists, where it stays for months.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("HSTS_SUBDOMAINS", False)
# Whether plain HTTP is redirected to TLS. Health checks are never redirected.
SECURE_SSL_REDIRECT = env.bool("HTTPS_REDIRECT", False)
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^statusz$", r"^metrics$"]
# True if one proxy is in front of the service and sets X-Forwarded-For and X-Forwarded-Proto itself.
BEHIND_PROXY = env.bool("BEHIND_PROXY", False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
# The networks that may read /metrics.
METRICS_NETWORKS = env.networks("METRICS_NETWORKS", "127.0.0.0/8,::1/128", parsed_network)

# --- Logs ----------------------------------------------------------------------------------------

_levels = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
LOG_LEVEL = env.str("LOG_LEVEL", "INFO", validate=validate.OneOf(_levels))
LOG_FORMAT = env.str("LOG_FORMAT", "line", validate=validate.OneOf(["line", "json"]))
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "config.logs.LineFormatter"},
        "json": {"()": "config.logs.JsonFormatter"},
    },
    "filters": {
        "context": {"()": "config.logs.ContextFilter"},
        "probes": {"()": "config.logs.ProbeFilter"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["context"]}
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    # config.metrics logs one line for each request. Starts of periodic tasks (ticks) are not logged.
    "loggers": {
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "django.request": {"level": "ERROR", "filters": ["probes"]},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
    },
}

# --- Misspelt settings ---------------------------------------------------------------------------
for _line in misspelt(os.environ, env.dump()):
    sys.stderr.write(f"{_line}\n")
