"""Django's admin with our site in place of its own; stands in INSTALLED_APPS for django.contrib.admin."""

from django.contrib.admin.apps import AdminConfig


class ExchangeAdminConfig(AdminConfig):
    default_site = "backoffice.site.ExchangeAdminSite"
