"""People at their browsers, whose pages read from a standby."""

from tests.backoffice.conftest import operator  # noqa: F401
from tests.portal.conftest import ana, member_of, owner  # noqa: F401
