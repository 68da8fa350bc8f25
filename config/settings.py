"""Every setting of the Exchange, read once from the environment (docs/running.md lists them)."""

import os
import sys
import warnings
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import django_stubs_ext
from celery.schedules import schedule
from environs import Env, validate

from config.database import connection_options, parse_url
from config.env_defaults import embedded_url, secret_key
from config.mail import mail_settings
from config.misspelt import misspelt
from config.redis_url import broker, checked

django_stubs_ext.monkeypatch()

env = Env()

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.str("DATA_DIR", str(BASE_DIR / "var"))).resolve()

# --- The process ---------------------------------------------------------------------------------

DEBUG = env.bool("DEBUG", False)
SECRET_KEY = env.str("SECRET_KEY", "") or secret_key(DATA_DIR)
# What was signed or encrypted with these is still read; `manage.py reencrypt` makes them dispensable.
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", [])
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
PORT = env.int("PORT", 8000)
SFTP_HOST = env.str("SFTP_HOST", "127.0.0.1")
SFTP_PORT = env.int("SFTP_PORT", 2222)
# All hosts that answer to one name need the same; without it, one is made in DATA_DIR.
SFTP_HOST_KEY_FILE = env.str("SFTP_HOST_KEY_FILE", "")
BASE_URL = env.str("BASE_URL", f"http://127.0.0.1:{PORT}")

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
    "backoffice",
    "tools.demo",
]

MIDDLEWARE = [
    "api.middleware.RequestIdMiddleware",
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
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "backoffice.middleware.AdminPolicyMiddleware",
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
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "backoffice.second_factor.pages.admin_context",
            ]
        },
    }
]

# --- Data ----------------------------------------------------------------------------------------

_database: dict[str, Any] = {
    **parse_url(env.str("DATABASE_URL", "") or embedded_url(DATA_DIR, "database_url")),
    "CONN_MAX_AGE": 60,
    "CONN_HEALTH_CHECKS": True,
}
# Off where a pooler refuses `options`: then the roles are given the limits (docs/running.md).
if env.bool("DATABASE_LIMITS", True):
    _database["OPTIONS"] = connection_options(_database.get("OPTIONS", {}))
DATABASES = {"default": _database}
REDIS_URL = checked(env.str("REDIS_URL", "") or embedded_url(DATA_DIR, "redis_url"))
CACHES = {
    "default": {
        "BACKEND": "api.redis_cache.Cache",
        "LOCATION": [REDIS_URL],
    },
}

# What a packed file of an import may unpack to, in bytes.
IMPORT_UNPACKED_BYTES = env.int("IMPORT_UNPACKED_BYTES", 2 * 1024**3)
# Where the content of files goes: s3://bucket/prefix?endpoint=…, or without it the local disk.
UPLOADS_URL = env.str("UPLOADS_URL", "")
UPLOADS_DIR = Path(env.str("UPLOADS_DIR", str(DATA_DIR / "uploads"))).resolve()

# --- The API -------------------------------------------------------------------------------------

RATE_LIMIT = env.str("RATE_LIMIT", "6000/min")
FAILED_KEYS_LIMIT = env.str("FAILED_KEYS_LIMIT", "100/min")
MAX_BODY_BYTES = env.int("MAX_BODY_BYTES", 16 * 1024 * 1024)
# What operators may upload in the browser; it comes in pieces, none larger than a body may be.
BROWSER_UPLOAD_BYTES = env.int("BROWSER_UPLOAD_BYTES", 500 * 1024 * 1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000  # a page of a hundred rejected rows has that many cells
IDEMPOTENCY_RETENTION = timedelta(hours=24)
OAUTH_TOKEN_LIFETIME = timedelta(seconds=env.int("OAUTH_TOKEN_SECONDS", 3600))

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

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "The Exchange",
    "DESCRIPTION": (
        "Connects retailers and suppliers around orders. Status updates, order pushes and order cancels "
        "answer with `success`, `message` and `code`; every error of every operation does too. Codes of "
        "success: `accepted`, `shipped`, `out_of_stock`, `missing_sku`, `wrong_address`, `canceled`, "
        "`cancelation_not_allowed`, `order_created`, `order_exists`, `cancel_requested`, "
        "`order_canceled`, `invoice_saved`, `lines_rejected`, `return_recorded`; `unchanged` where the same "
        "was done before."
    ),
    "VERSION": "3.0.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "WEBHOOKS": ["events.webhooks.described.EVENT"],
    "POSTPROCESSING_HOOKS": ["api.openapi.finishing.finish"],
    "ENFORCE_NON_BLANK_FIELDS": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # Stands for the address under which the document was asked for (api.docs).
    "SERVERS": [{"url": "https://exchange.invalid", "description": "This service."}],
    "CONTACT": {"name": "The operators of this service"},
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# Private networks that webhooks may reach, by plain HTTP too; none of them on a partner's word alone.
_networks: list[str] = env.list("WEBHOOK_NETWORKS", [])
WEBHOOK_NETWORKS = [ip_network(each) for each in _networks]
# A receiver has so long for all of its answer.
WEBHOOK_SECONDS = env.float("WEBHOOK_SECONDS", 10.0)
# For so long deliveries are kept that were taken or given up.
WEBHOOK_DELIVERY_DAYS = env.int("WEBHOOK_DELIVERY_DAYS", 14)

# --- Background work -----------------------------------------------------------------------------

# A Redis that swallows packets, or takes them and says nothing, must not hold a request up.
_broker = broker(REDIS_URL, {"socket_connect_timeout": 1.0, "socket_timeout": 1.0})
CELERY_BROKER_URL = _broker.url
CELERY_BROKER_USE_SSL = _broker.ssl
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Who wakes a worker tries for so many seconds, and then leaves the job to the sweep: with the four that are
# the default, a request waited five seconds for a Redis that said nothing.
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
# What depends on others' hosts, and what must come by every few seconds, waits behind no import (ADR 60).
# Operators' actions on many records come in slices of seconds, in a queue of their own.
CELERY_TASK_ROUTES = {
    "imports.tasks.fetch": {"queue": "fetch"},
    "accounts.tasks.run_operator_action": {"queue": "operators"},
    "fulfillments.tasks.run_simulation": {"queue": "operators"},
}
# Ticks only wake a worker: each task sweeps its table, so a missed one does no harm. One that nobody took
# until the next is only in the way.
_ticks = {
    "sweep-imports": ("imports.tasks.sweep", 5.0),
    "publish-events": ("events.tasks.publish", 5.0),
    "keep-up-webhooks": ("events.tasks.keep_up_webhooks", 600.0),
    "serve-waiting": ("orders.tasks.serve_waiting", 30.0),
    "answer-cancelations": ("fulfillments.tasks.answer_cancelations", 30.0),
    "add-up-days": ("fulfillments.tasks.add_up_days", 60.0),
    "send-digests": ("backoffice.tasks.send_digests", 300.0),
    "end-suspensions": ("backoffice.tasks.end_suspensions", 60.0),
    "take-snapshot": ("catalog.tasks.take_pulse", 5.0),
    "thin-snapshots": ("catalog.tasks.thin_pulses", 3600.0),
    "erase-old": ("orders.tasks.erase_old", 60.0),
    "count-waiting": ("backoffice.tasks.count", 10.0),
    "forget": ("backoffice.tasks.forget", 60.0),
    "collect-blobs": ("sftp_ingest.tasks.collect", 60.0),
    "keep-stock-ledger": ("inventory.tasks.keep_ledger", 3600.0),
    "sweep-simulations": ("fulfillments.tasks.sweep_simulations", 10.0),
    "sweep-operators-actions": ("accounts.tasks.sweep_operator_actions", 10.0),
    "expire-idempotency-keys": ("accounts.tasks.expire", 3600.0),
}
CELERY_BEAT_SCHEDULE: dict[str, Any] = {
    name: {"task": task, "schedule": schedule(every), "options": {"queue": "ticks", "expires": every}}
    for name, (task, every) in _ticks.items()
}
# So many jobs of one supplier run at once; the workers are everybody's.
IMPORT_SLOTS = env.int("IMPORT_SLOTS", 1)

# Movements of stock older than this are folded into one balance for each stock row, whole months at a time.
STOCK_MOVEMENT_DAYS = env.int("STOCK_MOVEMENT_DAYS", 400)

# How many days what nobody asks for any more is kept (backoffice.retention); 0 is for good.
ERASE_DAYS = env.int("ERASE_DAYS", 0)
REJECT_DAYS = env.int("REJECT_DAYS", 90)
IMPORT_DAYS = env.int("IMPORT_DAYS", 400)
UPLOAD_DAYS = env.int("UPLOAD_DAYS", 400)
DECISION_DAYS = env.int("DECISION_DAYS", 400)
SIMULATION_DAYS = env.int("SIMULATION_DAYS", 400)
SCORECARD_DAYS = env.int("SCORECARD_DAYS", 1100)
VARIANT_CHANGE_DAYS = env.int("VARIANT_CHANGE_DAYS", 400)
EVENT_DAYS = env.int("EVENT_DAYS", 400)
ADMIN_LOG_DAYS = env.int("ADMIN_LOG_DAYS", 1100)
SESSION_COOKIE_AGE = 86_400 * env.int("SESSION_DAYS", 14)

# --- Mail: digests of what waits, for those who want one --------------------------------------------

EMAIL_URL = env.str("EMAIL_URL", "")
globals().update(mail_settings(EMAIL_URL))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("EMAIL_FROM", "exchange@localhost")

# --- Signing in to the admin (ADR 65) ------------------------------------------------------------

LOGIN_URL, LOGIN_REDIRECT_URL = "account_login", "admin:index"
ACCOUNT_ADAPTER = "backoffice.second_factor.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = [
    "username*",
    "password1*",
]  # nobody signs up; the check wants it to fit the line above
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False  # ours count (backoffice.sign_in)
MFA_ADAPTER = "backoffice.second_factor.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_TOLERANCE = 1
MFA_FORMS = {
    "authenticate": "backoffice.second_factor.codes.SignInCodeForm",
    "reauthenticate": "backoffice.second_factor.codes.ConfirmCodeForm",
}
# Another service may vouch for operators, by OpenID Connect.
OPENID_APPS: list[dict[str, Any]] = []
if env.str("OIDC_SERVER", ""):
    OPENID_APPS.append(
        {
            "provider_id": "oidc",
            "name": env.str("OIDC_NAME", "OpenID Connect"),
            "client_id": env.str("OIDC_CLIENT_ID"),
            "secret": env.str("OIDC_CLIENT_SECRET", ""),
            "settings": {"server_url": env.str("OIDC_SERVER"), "oauth_pkce_enabled": True},
        }
    )
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": OPENID_APPS}}
SOCIALACCOUNT_ADAPTER = "backoffice.second_factor.adapters.OpenIdAdapter"
# A form may lead nowhere else (form-action 'self'), so it begins by a link; its state guards the way back.
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
# No folder is made here, which may lie where nothing can be written; whitenoise warns of a missing one.
warnings.filterwarnings("ignore", "No directory at", UserWarning)
# Tests and a development server do without `collectstatic`.
WHITENOISE_USE_FINDERS = not (STATIC_ROOT / "staticfiles.json").exists()
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.staticfiles.HashedWhenCollected"},
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("HTTPS", False)
# For how long browsers shall insist on TLS, and whether plain HTTP is sent there; who asks for health is not.
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", 0)
# Never "preload": by it anybody may have the domain put into browsers' own lists, where it stays for months.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("HSTS_SUBDOMAINS", False)
SECURE_SSL_REDIRECT = env.bool("HTTPS_REDIRECT", False)
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^statusz$", r"^metrics$"]
# One proxy in front, which sets X-Forwarded-For and X-Forwarded-Proto itself.
BEHIND_PROXY = env.bool("BEHIND_PROXY", False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
# Who may read /metrics.
METRICS_NETWORKS = [ip_network(each) for each in env.list("METRICS_NETWORKS", ["127.0.0.0/8", "::1/128"])]

# --- Logs ----------------------------------------------------------------------------------------

LOG_LEVEL = env.str("LOG_LEVEL", "INFO")
LOG_FORMAT = env.str("LOG_FORMAT", "line", validate=validate.OneOf(["line", "json"]))
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "config.logs.LineFormatter"},
        "json": {"()": "config.logs.JsonFormatter"},
    },
    "filters": {"context": {"()": "config.logs.ContextFilter"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["context"]}
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    # config.metrics logs one line for each request; the ticks of beat need none.
    "loggers": {
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
    },
}

# --- What looks like a setting -------------------------------------------------------------------

for _line in misspelt(os.environ, env.dump()):
    sys.stderr.write(f"{_line}\n")
