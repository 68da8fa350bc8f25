"""The entry pages of the portal. They need no chosen party."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.generic import View

from accounts.member_roles import ABOUT, MemberRole
from accounts.models import Invitation, Member
from accounts.sign_in import SignInView, sign_in
from api.errors import ApiError
from portal.entry.forms import JoinForm, MemberSignInForm
from portal.team.services import accept
from portal.visitors import CHOSEN, PATH, SEEN_AS, memberships


class MemberSignInPage(SignInView):
    """The password step of signing in to the portal."""

    authentication_form = MemberSignInForm
    template_name = "portal/login.html"
    extra_context = {"title": "Sign in"}

    def get_default_redirect_url(self) -> str:
        return reverse("portal:today")


class SignOutPage(View):
    """The page that signs a user out after a confirmation, because a link must not sign a person out."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return TemplateResponse(request, "portal/account.html", {"title": "Your account"})

    def post(self, request: HttpRequest) -> HttpResponse:
        logout(request)
        return HttpResponseRedirect(reverse("account_login"))


class ChoosePage(View):
    """The page on which a user with several parties chooses a party."""

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return HttpResponseRedirect(reverse("account_login"))
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        context = {
            "title": "Choose a party",
            "members": memberships(request.user),
            "after": _after(request, request.GET.get("next")),
        }
        return TemplateResponse(request, "portal/choose.html", context)

    def post(self, request: HttpRequest) -> HttpResponse:
        chosen = request.POST.get("member", "")
        if chosen not in {str(member.pk) for member in memberships(request.user)}:
            messages.error(request, "You no longer belong to this party. Choose another one.")
            return HttpResponseRedirect(reverse("portal:choose"))
        request.session[CHOSEN] = int(chosen)
        rotate_token(request)  # a form that another tab shows for the former party is refused
        return HttpResponseRedirect(_after(request, request.POST.get("next")))


class EndVisitPage(View):
    """The page that ends the visit of an operator. It also works after the time of the visit has ended."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if not request.user.is_staff:
            raise Http404
        visit = request.session.pop(SEEN_AS, None)
        member = Member.objects.filter(pk=visit["member"]).first() if visit else None
        if member is None:
            return HttpResponseRedirect("/admin/")
        return HttpResponseRedirect(f"/admin/accounts/{member.party.role}/{member.party.pk}/team/")


class InvitationPage(View):
    """The page of an invitation. It makes the invited person a member and signs the person in."""

    invitation: Invitation

    def dispatch(self, request: HttpRequest, token: str, *args: object, **kwargs: object) -> HttpResponseBase:
        invitations = Invitation.objects.usable(at=timezone.now()).with_token(token)
        invitation = invitations.select_related("supplier", "retailer").first()
        if invitation is None:
            return _not_usable(request)
        self.invitation = invitation
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(self._form(None))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self._form(request.POST)
        if not form.is_valid():
            return self._show(form)
        answers = form.cleaned_data
        try:
            member = accept(
                self.invitation, name=answers.get("name", ""), password=answers.get("password", "")
            )
        except ApiError as error:
            form.add_error(None, error.message)
            return self._show(form)
        return _not_usable(request) if member is None else self._enter(member)

    def _form(self, sent: Any) -> forms.Form:
        """Return the form of a new account, or the sign-in form if the address has an account."""
        email = self.invitation.email
        if not User.objects.filter(username=email).exists():
            return JoinForm(self.invitation, sent)
        form = MemberSignInForm(self.request, {**sent.dict(), "username": email} if sent else None)
        form.fields["username"].widget = forms.HiddenInput()
        form.initial["username"] = email
        return form

    def _show(self, form: forms.Form) -> HttpResponse:
        title = f"Join {self.invitation.party}"
        about = ABOUT[MemberRole(self.invitation.member_role)]
        context = {"title": title, "form": form, "invitation": self.invitation, "about_role": about}
        return TemplateResponse(self.request, "portal/invitation.html", context)

    def _enter(self, member: Member) -> HttpResponse:
        """Sign the new member in, and ask for the second factor if the account has one."""
        if self.request.user.is_authenticated and self.request.user != member.user:
            logout(self.request)
        self.request.session[CHOSEN] = member.pk
        messages.success(self.request, f"You are a member of {member.party} now.")
        return sign_in(self.request, member.user, reverse("portal:today"))


def _not_usable(request: HttpRequest) -> HttpResponse:
    """Return the same page for all unusable links, so that the page does not reveal which accounts exist."""
    context = {"title": "This invitation does not work"}
    return TemplateResponse(request, "portal/invitation_ended.html", context, status=410)


def _after(request: HttpRequest, wanted: str | None) -> str:
    after = wanted or ""
    is_ours = url_has_allowed_host_and_scheme(after, {request.get_host()}, request.is_secure())
    return after if is_ours and after.startswith(PATH) else reverse("portal:today")
