"""URLs of the sign-in. They are below /admin/, so that the admin's Content-Security-Policy covers them."""

from __future__ import annotations

from allauth.account.views import reauthenticate
from allauth.socialaccount.views import login_cancelled, login_error
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/login/", admin.site.login, name="account_login"),
    path("admin/logout/", admin.site.logout, name="account_logout"),
    path("admin/reauthenticate/", reauthenticate, name="account_reauthenticate"),
    path("admin/second-factor/", include("allauth.mfa.urls")),
    path("admin/", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("admin/oidc/cancelled/", login_cancelled, name="socialaccount_login_cancelled"),
    path("admin/oidc/error/", login_error, name="socialaccount_login_error"),
]
