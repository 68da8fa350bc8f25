"""Kept texts: fields of a form that was sent after the end of the session or with an expired CSRF token.

The fields are stored encrypted for their author. After the sign-in, the page of the form shows them again;
pages of the admin and of the portal include the template `ui/typed_draft.html`. Passwords, secrets and files
are never kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.utils import timezone
from django.utils.functional import cached_property

from accounts.encryption import decrypt, encrypt
from accounts.models import TypedDraft
from accounts.operating.shown_values import is_untouched
from api.middleware import API_PREFIXES

KEPT_FOR = timedelta(days=1)
OUTLIVES, RENEWED_AFTER = timedelta(days=7), timedelta(days=1)
"""The time for which the cookie AUTHOR is valid after the session, and the age at which it is renewed."""
LARGEST = 1024 * 1024
"""The maximum length of a form's fields as JSON. The fields of a longer form are not kept.

The page of rejected rows sends a hundred rows, whose descriptions can be long.
"""
MOST = 20
"""The maximum number of forms that are kept for a person."""
AUTHOR, MARK = "typed_by", "typed"
"""Names of cookies: the signed id of the last signed-in user, and a mark that a kept text may exist."""
KEPT = "Your text is kept: open the page again, check it, and send it."
FORGET = "forget_typed_text"
SHOWN = "initial-"
"""The beginning of the name of an input with the value that a field showed (see ShownValuesForm)."""
SECRET = re.compile(r"pass|secret|token|credential|otp|(api|private)_key|(^|-)(code|key|pin)$", re.IGNORECASE)
"""Names of secret fields. `zip_code`, `key_name`, `host_key` and `public_keys` are no secrets."""
NEVER = re.compile(r"/(login|logout|password|second-factor|reauthenticate|upload|chunk)")
"""Paths of forms that contain secrets or files."""

Fields = dict[str, list[str]]


class TypedDraftMiddleware:
    """A middleware that keeps a form sent after the end of the session, until the form is accepted."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path.startswith(API_PREFIXES):
            return response
        if request.method == "POST":
            response = self._after_post(request, response)
        user_id = _signed_in(request)
        if user_id and _author(request, RENEWED_AFTER) != user_id:
            seconds = settings.SESSION_COOKIE_AGE + int(OUTLIVES.total_seconds())
            _set_cookie(response, AUTHOR, signing.dumps(user_id, salt=AUTHOR), seconds)
        return response

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponseBase | None:
        """Delete the draft of a page if the user pressed the button that deletes drafts."""
        if request.path.startswith(API_PREFIXES) or request.method != "POST" or FORGET not in request.POST:
            return None
        if request.user.is_authenticated:
            _drafts(request.user.pk, request.get_full_path()).delete()
        return HttpResponseRedirect(request.get_full_path())

    def _after_post(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        user_id = _signed_in(request)
        target = urlsplit(response.headers.get("Location", "")).path
        if user_id is None and target.endswith("/login/") and keep(request):
            response = HttpResponseRedirect(f"{target}?{urlencode({'next': page_of(request)})}")
        elif user_id and target and MARK in request.COOKIES:
            _drafts(user_id, page_of(request)).delete()
        if getattr(request, "typed_text_kept", False):
            _set_cookie(response, MARK, "1", int(KEPT_FOR.total_seconds()))
        return response


def _set_cookie(response: HttpResponseBase, name: str, value: str, seconds: int) -> None:
    # With `Strict`, requests from other sites lack the cookie, so their forms create no draft.
    response.set_cookie(
        name, value, seconds, httponly=True, samesite="Strict", secure=settings.SESSION_COOKIE_SECURE
    )


def _signed_in(request: HttpRequest) -> int | None:
    """Return the id of the signed-in user if the view has loaded the user. This takes no query."""
    user = getattr(request, "_cached_user", None)
    return user.pk if user is not None and user.is_authenticated else None


def _author(request: HttpRequest, within: timedelta | None = None) -> int | None:
    """Return the id of the user who last signed in with this browser.

    `within` is the maximum age of the cookie. The default is longer than a session, because the text of a
    form is kept after the session has ended.
    """
    within = within or timedelta(seconds=settings.SESSION_COOKIE_AGE) + OUTLIVES
    try:
        author: int = signing.loads(request.COOKIES.get(AUTHOR, ""), salt=AUTHOR, max_age=within)
    except signing.BadSignature:
        return None
    return author


def page_of(request: HttpRequest) -> str:
    """Return the URL of the page with the sent form. A page may send its form to another URL."""
    try:
        referrer = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return request.get_full_path()
    if referrer.netloc != request.get_host():
        return request.get_full_path()
    return f"{referrer.path}?{referrer.query}" if referrer.query else referrer.path


def keep(request: HttpRequest) -> bool:
    """Keep the sent form for its author; return whether anything was kept."""
    user_id = _author(request)
    if request.user.is_authenticated:
        user_id = request.user.pk
    path = page_of(request)
    if user_id is None or len(path) > 500 or NEVER.search(path) or NEVER.search(request.path):
        return False
    fields: Fields = {
        name: [str(value) for value in values]
        for name, values in request.POST.lists()
        if name != "csrfmiddlewaretoken" and not SECRET.search(name)
    }
    _leave_out_untouched(fields)
    text = json.dumps(fields)
    if not any("".join(values).strip() for values in fields.values()) or len(text) > LARGEST:
        return False
    if not User.objects.filter(pk=user_id, is_active=True).exists():
        return False
    TypedDraft.objects.update_or_create(
        user_id=user_id, path=path, defaults={"fields": encrypt(text), "created_at": timezone.now()}
    )
    newest = TypedDraft.objects.filter(user=user_id).order_by(F("created_at").desc())
    TypedDraft.objects.filter(user=user_id).exclude(pk__in=newest.values("pk")[:MOST]).delete()
    request.typed_text_kept = True  # type: ignore[attr-defined]
    return True


def _leave_out_untouched(fields: Fields) -> None:
    """Remove fields that equal their shown value: others may change the record meanwhile."""
    for shown in [name for name in fields if name.startswith(SHOWN)]:
        if shown not in fields:  # a forged field, whose value another forged field has removed
            continue
        name = shown.removeprefix(SHOWN)
        sent = fields.setdefault(name, [])  # an unticked box sends nothing
        if is_untouched(fields[shown], sent):
            del fields[shown], fields[name]


def _drafts(user_id: int, path: str) -> QuerySet[TypedDraft]:
    return TypedDraft.objects.filter(user=user_id, path=path, created_at__gt=timezone.now() - KEPT_FOR)


class KeptText:
    """The kept fields for the page of a request. They are read when a template uses them."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    @cached_property
    def fields(self) -> Fields:
        """Return the fields. Takes no query for a browser without a kept form."""
        user_id = _signed_in(self.request)
        if self.request.method != "GET" or MARK not in self.request.COOKIES or user_id is None:
            return {}
        draft = _drafts(user_id, self.request.get_full_path()).first()
        try:
            fields: Fields = json.loads(decrypt(draft.fields)) if draft else {}
        except ValueError:  # SECRET_KEY has changed since the text was kept
            return {}
        return fields


def kept_text(request: HttpRequest) -> dict[str, KeptText]:
    """Return the kept text of the page for templates. This function is a context processor."""
    return {"kept_text": KeptText(request)}


def forget_old() -> None:
    """Delete the drafts that are older than KEPT_FOR."""
    TypedDraft.objects.filter(created_at__lte=timezone.now() - KEPT_FOR).delete()
