"""The secrets of a new partner, encrypted in the cache for ten minutes.

Only the operator who created the partner can read them.
"""

from __future__ import annotations

import json
import logging
import secrets
from dataclasses import asdict, dataclass
from typing import Any

from django.core.cache import cache

from accounts.encryption import decrypt, encrypt
from accounts.models import Supplier
from backoffice.partners.onboarding import Newcomer

logger = logging.getLogger(__name__)

SECONDS = 600
TOKEN_BYTES = 16


@dataclass(frozen=True)
class Handover:
    """The data that a new partner gets: its id, its key, its login and its warehouses."""

    role: str
    party_id: int
    name: str
    api_key: str
    client_id: str
    sftp_username: str
    sftp_password: str
    warehouses: list[tuple[int, str]]

    @classmethod
    def of(cls, newcomer: Newcomer) -> Handover:
        party = newcomer.party
        return cls(
            role="supplier" if isinstance(party, Supplier) else "retailer",
            party_id=party.pk,
            name=party.name,
            api_key=newcomer.secret,
            client_id=newcomer.key.prefix,
            sftp_username=newcomer.sftp_username,
            sftp_password=newcomer.sftp_password,
            warehouses=[(each.pk, each.name) for each in newcomer.warehouses],
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return names and values for the page and the file, without empty values."""
        facts = [
            ("ID", str(self.party_id)),
            ("API paths begin with", f"/v3/{self.role}s/{self.party_id}"),
            ("API key, also the OAuth client_secret", self.api_key),
            ("OAuth client_id", self.client_id),
            ("SFTP user name", self.sftp_username),
            ("SFTP password", self.sftp_password),
            *((f"Warehouse {number}", name) for number, name in self.warehouses),
        ]
        return [(name, value) for name, value in facts if value]

    def as_text(self, base_url: str) -> str:
        """Return the content of the file for the partner."""
        lines = [f"Access of {self.name} to the Exchange", ""]
        lines += [f"API: {base_url}", f"Guides: {base_url}/v3/docs", ""]
        lines += [f"{name}: {value}" for name, value in self.facts()]
        return "\n".join([*lines, "", "Keep this file secret. No one can show these values again.", ""])


def seal(handover: Handover, user_id: int, token: str = "") -> str:
    """Encrypt and cache the secrets for this operator. Return a token, or "" if the cache does not answer.

    The secrets of a form have the id of the form as their token.
    """
    token = token or secrets.token_urlsafe(TOKEN_BYTES)
    try:
        cache.set(_key(token, user_id), encrypt(json.dumps(asdict(handover))), SECONDS)
    except Exception:  # noqa: BLE001 - without Redis, the secrets are shown on one page only
        logger.warning("the secrets of a new partner are shown once: the cache does not answer")
        return ""
    return token


def unseal(token: str, user_id: int) -> Handover | None:
    """Return the secrets of a token, or None after ten minutes and for other operators."""
    try:
        sealed: str | None = cache.get(_key(token, user_id))
        kept: dict[str, Any] | None = json.loads(decrypt(sealed)) if sealed else None
    except Exception:  # noqa: BLE001 - without Redis, or after a change of SECRET_KEY, nothing is kept
        logger.warning("the sealed secrets of a new partner cannot be read")
        return None
    return Handover(**kept) if kept else None


def _key(token: str, user_id: int) -> str:
    return f"backoffice:handover:{user_id}:{token}"
