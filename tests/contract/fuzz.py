"""`make fuzz`: schemathesis sends generated requests to a running service, as a supplier and as a retailer.

Some requests follow the OpenAPI document, and some violate it. Requests are sent alone and in chains, in
which a request reads or changes the records of earlier requests. Run it only on a service whose data may be
lost.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CONFIG = Path(__file__).with_name("schemathesis.toml")
PARTIES = {"suppliers": r"^/(v3/suppliers/|v3/variants/|oauth/)", "retailers": r"^/v3/(retailers|variants)/"}


def main() -> None:
    """Run schemathesis for both roles. Exit with code 1 if a check failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=1200, help="maximum time for each of the two parties")
    parser.add_argument("--examples", type=int, default=100, help="maximum requests for each operation")
    parser.add_argument("--seed", type=int, help="the seed that an earlier run printed")
    parser.add_argument(
        "--phases", default="", help="run only these phases: examples, coverage, fuzzing, stateful"
    )
    parser.add_argument("--without", default="", help="checks to leave out, separated by commas")
    options = parser.parse_args()
    demo = json.loads(Path(os.environ.get("DEMO_JSON") or "var/demo.json").read_text())
    outcomes = [ask(demo, role, options) for role in PARTIES]
    sys.exit(1 if any(outcomes) else 0)


def ask(demo: dict[str, Any], role: str, options: argparse.Namespace) -> int:
    """Run schemathesis as the first party of a role, and return the exit code."""
    party = demo[role][0]
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(CONFIG)),
        *("run", f"{demo['base_url']}/v3/schema", "--include-path-regex", PARTIES[role], "--no-color"),
        *("--max-examples", str(options.examples), "--max-time", str(options.seconds)),
        *(() if options.seed is None else ("--seed", str(options.seed))),
        *(("--phases", options.phases) if options.phases else ()),
        *(("--exclude-checks", options.without) if options.without else ()),
    ]
    environment = os.environ | {
        "API_KEY": party["api_key"],
        "PARTY_ID": str(party["id"]),
        "SCHEMATHESIS_HOOKS": "tests.contract.fuzz_hooks",
    }
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    main()
