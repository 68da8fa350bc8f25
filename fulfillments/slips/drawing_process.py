"""The process that draws one long document.

It reads the contents from standard input, and writes the document to standard output.
"""

from __future__ import annotations

import os
import sys

import msgspec

from fulfillments.slips.contents import SlipBatch
from fulfillments.slips.drawing import draw

LESS_URGENT = 5  # added to the niceness, so that the processes that serve requests come first


def main() -> None:
    os.nice(LESS_URGENT)
    batch = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=SlipBatch)
    sys.stdout.buffer.write(msgspec.msgpack.encode(draw(batch)))


if __name__ == "__main__":
    main()
