"""The settings of the OpenID Connect provider through which operators may sign in."""

from __future__ import annotations

from typing import Any

from environs import Env


def openid_apps(env: Env) -> list[dict[str, Any]]:
    """Return the provider of OIDC_SERVER as django-allauth's APPS, or an empty list without OIDC_SERVER."""
    if not env.str("OIDC_SERVER", ""):
        return []
    return [
        {
            "provider_id": "oidc",
            "name": env.str("OIDC_NAME", "OpenID Connect"),
            "client_id": env.str("OIDC_CLIENT_ID"),
            "secret": env.str("OIDC_CLIENT_SECRET", ""),
            "settings": {"server_url": env.str("OIDC_SERVER"), "oauth_pkce_enabled": True},
        }
    ]
