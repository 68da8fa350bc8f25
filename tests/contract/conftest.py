"""The tests that see a running service from outside: `make conform`."""

import os

collect_ignore = [] if os.environ.get("DEMO_JSON") else ["outsider"]
