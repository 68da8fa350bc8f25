"""`manage.py first_operator`: create the first operator of a new installation and show the password once."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandParser

CREATED = """
The first operator is created. The password is shown only now:

  address   {address}/admin/
  name      {name}
  password  {password}

Change the password after the first sign-in, and create an operator for each person under Operators.
"""


class Command(BaseCommand):
    help = "Create a superuser with a random password if there is no superuser. Show the password once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", default="operator", help="the name to sign in with")

    def handle(self, *args: object, name: str, **options: object) -> None:
        if User.objects.filter(is_superuser=True).exists():
            self.stdout.write("There is a superuser already. Nothing was changed.")
            return
        if User.objects.filter(username=name).exists():
            self.stdout.write(f"The name {name} is taken by another user. Choose another name with --name.")
            return
        password = secrets.token_urlsafe(15)
        User.objects.create_superuser(name, password=password)
        self.stdout.write(CREATED.format(address=settings.BASE_URL, name=name, password=password))
