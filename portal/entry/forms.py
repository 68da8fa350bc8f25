"""Forms to sign in to the portal, to request a new password, and to accept an invitation."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import ResetPasswordForm
from allauth.core import context as allauth_context
from django import forms
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts, validate_password
from django.core.exceptions import ValidationError

from accounts.authentication import client_address
from accounts.models import Invitation
from accounts.rates import parse_rate
from accounts.sign_in import LimitedSignInForm, count_failure, refuse_too_many
from api.client_networks import network_of

# Limits for mails that reset a password. Without limits, a stranger could fill a mailbox.
RESETS_OF_NAME = parse_rate("5/hour")
RESETS_FROM_ADDRESS = parse_rate("30/hour")

PASSWORD = forms.PasswordInput(attrs={"autocomplete": "new-password"})


class MemberSignInForm(LimitedSignInForm):
    """The portal's sign-in form. For an operator's account, the error is the same as for a wrong password."""

    username = forms.EmailField(
        label="E-mail address",
        max_length=150,
        widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username"}),
    )

    def clean_username(self) -> str:
        return str(self.cleaned_data["username"]).lower()

    def confirm_login_allowed(self, user: User) -> None:
        super().confirm_login_allowed(user)
        if user.is_staff:
            raise self.get_invalid_login_error()

    def get_invalid_login_error(self) -> ValidationError:
        return ValidationError("The e-mail address or the password is wrong.", code="invalid_login")


class PasswordLinkForm(ResetPasswordForm):  # type: ignore[misc]  # allauth has no types
    """The form that requests a link for a new password, with limited tries. Operators get no link."""

    users: list[User]

    def clean_email(self) -> str:
        email = str(super().clean_email())
        address = client_address(allauth_context.request)
        network = network_of(address)
        rates = {f"reset:{email.lower()}": RESETS_OF_NAME, f"reset-from:{network}": RESETS_FROM_ADDRESS}
        refuse_too_many(rates, f"password resets of {email!r} from {address}")
        count_failure(rates)
        self.users = [user for user in self.users if not user.is_staff]
        return email


class JoinForm(forms.Form):
    """The form with the name and password of an invited person without an account."""

    name = forms.CharField(label="Your name", max_length=150)
    password = forms.CharField(label="New password", widget=PASSWORD, strip=False)
    again = forms.CharField(label="New password, again", widget=PASSWORD, strip=False)

    def __init__(self, invitation: Invitation, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.invitation = invitation
        self.fields["password"].help_text = " ".join(password_validators_help_texts()[:2])

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        validate_password(password, User(username=self.invitation.email))
        return password

    def clean(self) -> dict[str, object]:
        answers = self.cleaned_data
        if answers.get("password") and answers.get("again") and answers["password"] != answers["again"]:
            self.add_error("again", "The two passwords differ. Type the same password twice.")
        return answers
