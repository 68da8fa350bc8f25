"""The URL configuration of /portal/: the pages, and the sign-in under the URL names that allauth uses."""

from __future__ import annotations

from allauth.account import views as allauth_views
from django.urls import include, path, re_path

from portal.entry import views as entry

urlpatterns = [
    path("portal/", include("portal.urls")),
    path("portal/login/", entry.MemberSignInPage.as_view(), name="account_login"),
    path("portal/logout/", entry.SignOutPage.as_view(), name="account_logout"),
    path("portal/reauthenticate/", allauth_views.reauthenticate, name="account_reauthenticate"),
    path("portal/password/", allauth_views.password_reset, name="account_reset_password"),
    path("portal/password/sent/", allauth_views.password_reset_done, name="account_reset_password_done"),
    re_path(  # allauth joins the user's id and the key with a hyphen
        r"^portal/password/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        allauth_views.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path(
        "portal/password/changed/",
        allauth_views.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    path("portal/second-factor/", include("allauth.mfa.urls")),
]

handler400 = "portal.error_pages.bad_request"
handler403 = "portal.error_pages.permission_denied"
handler404 = "portal.error_pages.page_not_found"
handler500 = "portal.error_pages.server_error"
