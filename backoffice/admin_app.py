"""The app that replaces `django.contrib.admin` in INSTALLED_APPS and installs the operators' site."""

from django.contrib.admin.apps import AdminConfig
from django.utils.module_loading import autodiscover_modules

from api.form_fields import refuse_in_all_forms


class ExchangeAdminConfig(AdminConfig):
    default_site = "backoffice.site.ExchangeAdminSite"

    def ready(self) -> None:
        """Discover each app's pages in `admin`, or in `admin.admin` where `admin` is a package."""
        refuse_in_all_forms()  # before any page defines a form
        super().ready()
        autodiscover_modules("admin.admin")
