"""Fixtures of signed-in operators and members, for tests of pages that read from a standby."""

from tests.backoffice.conftest import operator  # noqa: F401
from tests.portal.conftest import ana, member_of, owner  # noqa: F401
