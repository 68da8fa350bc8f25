"""Fixed settings of django-allauth for signing in to the admin and the portal (ADR 65)."""

from __future__ import annotations

from typing import Any

ALLAUTH: dict[str, Any] = {
    "ACCOUNT_ADAPTER": "backoffice.second_factor.adapters.AccountAdapter",
    "ACCOUNT_LOGIN_METHODS": {"username"},
    # Sign-up is closed, but a system check of allauth compares this list with ACCOUNT_LOGIN_METHODS.
    "ACCOUNT_SIGNUP_FIELDS": ["username*", "password1*"],
    "ACCOUNT_EMAIL_VERIFICATION": "none",
    # Send no mail to unknown addresses: anyone can type any address into the form.
    "ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS": False,
    "ACCOUNT_FORMS": {"reset_password": "portal.entry.forms.PasswordLinkForm"},
    # Switch off the limits of allauth, because `accounts.sign_in` limits wrong tries.
    "ACCOUNT_RATE_LIMITS": False,
    "MFA_RATE_LIMITS": False,
    "MFA_ADAPTER": "backoffice.second_factor.adapters.SecondFactorAdapter",
    "MFA_SUPPORTED_TYPES": ["totp", "webauthn", "recovery_codes"],
    "MFA_PASSKEY_LOGIN_ENABLED": True,
    "MFA_ALLOW_UNVERIFIED_EMAIL": True,
    "MFA_TOTP_TOLERANCE": 1,
    "MFA_FORMS": {
        "authenticate": "backoffice.second_factor.codes.SignInCodeForm",
        "reauthenticate": "backoffice.second_factor.codes.ConfirmCodeForm",
    },
}
