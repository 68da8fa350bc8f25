"""The app that replaces `django.contrib.admin` in INSTALLED_APPS and brings the operators' site."""

from django.contrib.admin.apps import AdminConfig
from django.utils.module_loading import autodiscover_modules


class ExchangeAdminConfig(AdminConfig):
    default_site = "backoffice.site.ExchangeAdminSite"

    def ready(self) -> None:
        """Register the pages of each app, from `admin` or from the module `admin` of a package `admin`."""
        super().ready()
        autodiscover_modules("admin.admin")
