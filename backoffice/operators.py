"""Admin pages of operators and groups: required second factors, and their reset."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from accounts.models import Member
from accounts.operating.admin_base import operator_of
from backoffice.models import SignInRule
from backoffice.second_factor.history import reset
from events.models import ACCOUNTS
from events.recording import record

OF_A_MEMBER = "A member of {} has this account or e-mail address. Remove the member first."

admin.site.unregister(User)
admin.site.unregister(Group)


class GroupForm(forms.ModelForm[Group]):
    """The form of a group, with its sign-in rule."""

    second_factor_required = forms.BooleanField(
        label="Must use a second factor",
        required=False,
        help_text="Members without a second factor must set it up right after signing in.",
    )

    class Meta:
        model = Group
        fields = ("name", "permissions")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rule = SignInRule.objects.filter(group=self.instance.pk).first()
        self.initial["second_factor_required"] = rule is not None and rule.second_factor_required


@admin.register(Group)
class GroupsAdmin(GroupAdmin):
    form = GroupForm
    fields = ("name", "second_factor_required", "permissions")

    def save_model(self, request: HttpRequest, obj: Group, form: Any, change: bool) -> None:
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            if "second_factor_required" in form.changed_data:
                asked = form.cleaned_data["second_factor_required"]
                SignInRule.objects.update_or_create(group=obj, defaults={"second_factor_required": asked})
                data = {"group": obj.name, "second_factor_required": {"old": not asked, "new": asked}}
                record("group.updated", by=operator_of(request), area=ACCOUNTS, data=data)


class OperatorForm(UserChangeForm[User]):
    """The form of a user. It gives no staff rights to a member of a partner."""

    def clean(self) -> dict[str, object]:
        given = super().clean() or self.cleaned_data
        if given.get("is_staff") and {"is_staff", "email"} & {*self.changed_data}:
            same = Q(user=self.instance)
            if address := given.get("email"):
                same |= Q(user__username__iexact=address) | Q(user__email__iexact=address)
            if member := Member.objects.filter(same, removed_at=None).first():
                self.add_error("is_staff", OF_A_MEMBER.format(member.party))
        return given


class ResetForm(forms.Form):
    reason = forms.CharField(max_length=200, help_text="How you verified the person's identity.")


class ResetAction:
    """The texts of the page that resets a second factor."""

    label = "Reset second factor"
    danger = True
    help_text = (
        "Use this when a person lost both the device and the recovery codes. Verify their identity first."
    )
    undo = "The person sets up a new second factor."


@admin.register(User)
class UsersAdmin(UserAdmin[User]):
    form = OperatorForm
    readonly_fields = ("second_factors",)
    change_form_template = "admin/auth/user/page.html"

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return False: the audit log would lose the user's entries, and a new user could take the name."""
        return False

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        shown = super().get_fieldsets(request, obj)
        return shown if obj is None else (*shown, ("Second factor", {"fields": ("second_factors",)}))

    @admin.display(description="Devices")
    def second_factors(self, user: User) -> str:
        held = Authenticator.objects.filter(user=user).order_by("created_at")
        return "; ".join(f"{each} since {each.created_at:%Y-%m-%d}" for each in held) or "none"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.reset_view)
        return [path("<int:user_id>/reset-second-factor/", view, name="auth_user_reset"), *super().get_urls()]

    def reset_view(self, request: HttpRequest, user_id: int) -> HttpResponse:
        """Ask for a reason, then reset another operator's second factor.

        Operators cannot reset their own second factor: after its loss, they need a recovery code.
        """
        user = self.get_object(request, str(user_id))
        if user is None or not self._may_reset(request, user):
            raise PermissionDenied
        back = reverse("admin:auth_user_change", args=[user.pk])
        form = ResetForm(request.POST or None)
        if form.is_valid():
            reason = form.cleaned_data["reason"]
            if reset(user, by=operator_of(request), reason=reason):
                messages.success(
                    request, f"{user} now signs in by password alone, until they set up a new second factor."
                )
            else:
                messages.info(request, f"{user} has no second factor.")
            return HttpResponseRedirect(back)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": user,
            "title": str(user),
            "action": ResetAction,
            "form": form,
            "effect": f"{user} will sign in by password alone until they set up a new second factor.",
            "back": back,
            "after": back,
        }
        return TemplateResponse(request, "admin/action.html", context)

    def _may_reset(self, request: HttpRequest, user: User) -> bool:
        """Return whether the signed-in user may reset this user's second factor.

        Users cannot reset their own factor, and only superusers may reset the factor of a superuser.
        """
        allowed = self.has_change_permission(request, user) and request.user.pk != user.pk
        return allowed and (request.user.is_superuser or not user.is_superuser)
