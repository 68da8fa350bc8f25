"""Actions on a supplier's SFTP login."""

from __future__ import annotations

import secrets
from typing import Any

from accounts.actors import Actor
from accounts.models import Supplier
from accounts.operating.operator_actions import AdminAction
from api.errors import InvalidTransition
from portal.connections.forms import LoginForm, PublicKeysForm
from portal.connections.shown_once import show_once
from sftp_ingest import services
from sftp_ingest.keys import fingerprints
from sftp_ingest.models import SftpLogin

PASSWORD_BYTES = 18
HAS_LOGIN = "There is already an SFTP login. Change it instead."


def _create(supplier: Supplier, by: Actor, answers: dict[str, object]) -> str:
    if why_not := _has_login(supplier):
        raise InvalidTransition(why_not)
    fields = {name: answers[name] for name in ("username", "public_keys")}
    login = SftpLogin(supplier=supplier, **fields)
    if answers["wants_password"]:
        show_once(supplier, ("Username", login.username), ("Password", _new_password(login)))
    services.create(login, by=by)
    return f"The SFTP login {login} was created."


def _new_password(login: SftpLogin) -> str:
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    login.set_password(password)
    return password


def _has_login(supplier: Supplier) -> str:
    return HAS_LOGIN if SftpLogin.objects.filter(supplier=supplier).exists() else ""


def _change_keys(login: SftpLogin, by: Actor, answers: dict[str, Any]) -> str:
    login.public_keys = answers["public_keys"]
    services.update(login, ["public_keys"], by=by)
    return "The public keys were changed."


def _present(login: SftpLogin) -> str:
    """Return the effect as a text with the present keys.

    If another member changes the keys, the text changes, and an open form becomes stale.
    """
    keys = ", ".join(fingerprints(login.public_keys)) or "none"
    return f"Programs can log in as {login} with the keys below and with no other key. The keys now: {keys}."


def _replace_password(login: SftpLogin, by: Actor, answers: dict[str, object]) -> str:
    show_once(login, ("Username", login.username), ("Password", _new_password(login)))
    services.update(login, ["password"], by=by)
    return "The login has a new password."


def _remove_password(login: SftpLogin, by: Actor, answers: dict[str, object]) -> str:
    login.password = ""
    services.update(login, ["password"], by=by)
    return "The password was removed. The public keys still work."


def _switch(is_active: bool) -> Any:
    def run(login: SftpLogin, by: Actor, answers: dict[str, object]) -> str:
        login.is_active = is_active
        services.update(login, ["is_active"], by=by)
        return f"The SFTP login is switched {'on' if is_active else 'off'}."

    return run


def _no_password(login: SftpLogin) -> str:
    if not login.password:
        return "The login has no password."
    return "" if login.public_keys.strip() else "Add a public key first: no one could log in without it."


CREATE_LOGIN = AdminAction[Any](
    "create-login",
    "Create SFTP login",
    _create,
    _has_login,
    lambda supplier: f"A program of {supplier} can upload files.",
    form=LoginForm.of,
    undo="Switch the login off.",
)
OF_MEMBERS = (
    AdminAction[SftpLogin](
        "change-keys",
        "Change public keys",
        _change_keys,
        lambda login: "",
        _present,
        form=PublicKeysForm.of,
        undo="Change the keys back.",
    ),
    AdminAction[SftpLogin](
        "replace-password",
        "Make new password",
        _replace_password,
        lambda login: "",
        lambda login: f"{login} gets a new password. The old password stops working at once.",
        help_text="The next page shows the password once.",
        undo="Make another password.",
    ),
    AdminAction[SftpLogin](
        "remove-password",
        "Remove password",
        _remove_password,
        _no_password,
        lambda login: f"Programs can log in as {login} only with a public key.",
        undo="Make a new password.",
        danger=True,
    ),
    AdminAction[SftpLogin](
        "switch-on",
        "Switch on login",
        _switch(True),
        lambda login: "The login is switched on." if login.is_active else "",
        lambda login: f"{login} can upload and download files.",
        undo="Switch the login off.",
    ),
    AdminAction[SftpLogin](
        "switch-off",
        "Switch off login",
        _switch(False),
        lambda login: "" if login.is_active else "The login is switched off.",
        lambda login: f"{login} can no longer log in. Uploaded files stay.",
        undo="Switch the login on again.",
        danger=True,
    ),
)
