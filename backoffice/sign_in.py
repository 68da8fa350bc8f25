"""Signing in to the operators' site: so many tries for a name and from an address, whoever is right."""

from __future__ import annotations

import logging
from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError

from accounts.authentication import client_address
from accounts.rates import counter, parse_rate

logger = logging.getLogger(__name__)

# A person who mistypes needs a few tries; an office behind one address a few more. The last one is high: it
# is the only one by which a stranger could keep an operator out.
FOR_NAME_FROM_ADDRESS = parse_rate("10/hour")
FROM_ADDRESS = parse_rate("60/hour")
FOR_NAME = parse_rate("200/hour")


class SignInForm(AdminAuthenticationForm):
    """The admin's own form, slowed down."""

    def clean(self) -> dict[str, Any]:
        """Count the try, and only then look at the password. Raises ValidationError."""
        name = str(self.cleaned_data.get("username", ""))[:150]
        address = client_address(self.request) if self.request else ""
        self._count(name, address)
        try:
            return super().clean()
        except ValidationError:
            logger.warning("a sign-in of operator %r from %s failed", name, address)
            raise

    def _count(self, name: str, address: str) -> None:
        names = {
            f"sign-in:{name}:{address}": FOR_NAME_FROM_ADDRESS,
            f"sign-in:{address}": FROM_ADDRESS,
            f"sign-in-of:{name}": FOR_NAME,
        }
        counts = [counter().hit(rate, key) for key, rate in names.items() if rate]
        waits = [count.reset for count in counts if count is not None and not count.allowed]
        if waits:
            logger.warning("sign-ins of operator %r from %s are slowed down", name, address)
            minutes = max(waits) // 60 + 1
            raise ValidationError(f"Too many tries. Try again in {minutes} minutes.", code="throttled")
