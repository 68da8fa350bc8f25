"""The outsider's suite talks to a running service: `make conform`."""

import os

collect_ignore = [] if os.environ.get("DEMO_JSON") else ["outsider"]
