"""The page /metrics, and the middleware that counts and logs each request (contract 11).

Labels contain the route, never the URL: each id in a URL would create another time series.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Histogram
from prometheus_client import generate_latest as expose
from prometheus_client.multiprocess import MultiProcessCollector

from accounts.authentication import client_address
from api.client_networks import parsed
from api.errors import only_read, page_not_found
from config import watching
from config.logs import PROBES

logger = logging.getLogger("exchange.request")

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
REQUESTS = Counter("exchange_requests_total", "Requests answered.", ["route", "method", "status"])
SECONDS = Histogram(
    "exchange_request_seconds",
    "Time until the answer began.",
    ["route", "method"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)


class RequestMetricsMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - began
        route = route_of(request)
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(route, method, f"{response.status_code // 100}xx").inc()
        SECONDS.labels(route, method).observe(seconds)
        facts = {
            "method": method,
            "route": route,
            "status": response.status_code,
            "ms": round(seconds * 1000, 1),
        }
        level = logging.DEBUG if request.path in PROBES else logging.INFO
        logger.log(level, "%(method)s %(route)s %(status)s %(ms)s ms", facts, extra=facts)
        return response


def route_of(request: HttpRequest) -> str:
    """Return the pattern that matched a request's path, such as /v3/suppliers/<id:supplier_id>."""
    match = request.resolver_match
    return f"/{match.route}" if match else "none"


@only_read
def metrics(request: HttpRequest) -> HttpResponse:
    """Show the metrics to clients with an internal address. Other clients get 404."""
    if not is_internal(request):
        return page_not_found(request, LookupError(request.path))
    text = expose(_registry()) + expose(watching.registry())
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def is_internal(request: HttpRequest) -> bool:
    """Return whether a request comes from a network in METRICS_NETWORKS."""
    if not settings.BEHIND_PROXY and "X-Forwarded-For" in request.headers:
        return False  # the address belongs to a proxy that is not configured, not to the client
    address = parsed(client_address(request))
    return address is not None and any(address in network for network in settings.METRICS_NETWORKS)


def _registry() -> CollectorRegistry:
    """Return the metrics of this process, or of all web processes if they share a folder for metrics."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry
