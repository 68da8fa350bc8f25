"""A way in that asks nobody from the second time on: what authentication costs is measured beside it."""

from __future__ import annotations

from rest_framework.request import Request

from accounts.authentication import Access, BearerAuthentication

_known: dict[str, Access] = {}


class ByHeart(BearerAuthentication):
    """Knows every header that it has seen."""

    def authenticate(self, request: Request) -> tuple[None, Access] | None:
        header = request.headers.get("Authorization", "")
        if header not in _known:
            found = super().authenticate(request)
            if found is None:
                return None
            _known[header] = found[1]
        return None, _known[header]
