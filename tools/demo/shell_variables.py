"""A program that prints demo.json as shell variables: eval "$(python3 tools/demo/shell_variables.py)".

The program runs with any Python 3, because it imports nothing of the project. It also prints two functions.
`curl` ends each answer with a line feed. `value` prints one value of the JSON on its standard input:
`… | value results.0.id`. In a list, the step `order_id=7` selects the last element with this value, and `*`
selects every element: `… | value order_id=7.lines.0.id`.
"""

import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

FUNCTIONS = """curl() { command curl -w '\\n' "$@"; }
value() { python3 -c '
import json, sys
found = [json.load(sys.stdin)]
for step in sys.argv[1].split("."):
    key, named, wanted = step.partition("=")
    if step == "*":
        found = [each for whole in found for each in whole]
    elif named:
        found = [[each for each in whole if str(each[key]) == wanted][-1] for whole in found]
    else:
        found = [whole[int(step)] if isinstance(whole, list) else whole[step] for whole in found]
for each in found:
    print(each if isinstance(each, str) else json.dumps(each))' "$1"; }"""


def main() -> None:
    """Print one assignment per line, then the functions."""
    path = Path(os.environ.get("DATA_DIR") or ROOT / "var", "demo.json")
    try:
        demo = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"{path} cannot be read ({error}). Is the service up? Start it with: make run")
    for name, value in variables(demo).items():
        sys.stdout.write(f"{name}={shlex.quote(str(value))}\n")
    sys.stdout.write(f"{FUNCTIONS}\n")


def variables(demo: dict[str, Any]) -> dict[str, str | int]:
    """Return the variables: ACME and SHOP are the parties' URLs, ACME_KEY and SHOP_KEY their keys."""
    found = {"BASE": demo["base_url"], "SFTP_HOST": demo["sftp"]["host"], "SFTP_PORT": demo["sftp"]["port"]}
    for role in ("suppliers", "retailers"):
        for party in demo[role]:
            name = re.sub(r"\W+", "_", party["name"].upper())
            found[name] = f"{demo['base_url']}/v3/{role}/{party['id']}"
            found[f"{name}_ID"], found[f"{name}_KEY"] = party["id"], party["api_key"]
            found[f"{name}_CLIENT"] = party["client_id"]
            if "warehouses" in party:
                found[f"{name}_WAREHOUSE"] = party["warehouses"][0]["id"]
                found[f"{name}_SFTP"] = f"{party['sftp_username']}@{demo['sftp']['host']}"
                found[f"{name}_SFTP_PASSWORD"] = party["sftp_password"]
    return found


if __name__ == "__main__":
    main()
