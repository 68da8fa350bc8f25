"""The app that replaces `django.contrib.admin` in INSTALLED_APPS and installs the operators' site."""

from django.contrib.admin.apps import AdminConfig
from django.utils.module_loading import autodiscover_modules


class ExchangeAdminConfig(AdminConfig):
    default_site = "backoffice.site.ExchangeAdminSite"

    def ready(self) -> None:
        """Discover each app's pages in `admin`, or in `admin.admin` where `admin` is a package."""
        super().ready()
        autodiscover_modules("admin.admin")
