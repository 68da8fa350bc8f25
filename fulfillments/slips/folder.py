"""The folder `orders/slips/` of the upload area. Its files are packing slips, named by fulfillment id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import msgspec

from api.errors import ApiError
from fulfillments.models import Fulfillment
from fulfillments.selectors import count_fitting
from fulfillments.slips.contents import SlipBatch
from fulfillments.slips.documents import make_document
from fulfillments.slips.selectors import MOST_LINES, read_slips
from fulfillments.states import WORKABLE
from sftp_ingest.area.made_files import MadeFile, MadeFolder

SLIPS = "slips"
SUFFIX = ".pdf"
MOST_LISTED = 100
MOST_DIGITS = 18


class SlipsFolder(MadeFolder):
    """The folder of packing slips.

    The list has the slips of the oldest open work, as far as one `read_slips` can read their lines. Other
    slips can be read by name.
    """

    name = SLIPS

    def files(self, supplier_id: int) -> Mapping[str, Callable[[], MadeFile]]:
        own = Fulfillment.objects.filter(supplier_id=supplier_id)
        open_work = own.filter(state__in=WORKABLE).not_held().order_by("id")
        ids = [*open_work.values_list("pk", flat=True)[:MOST_LISTED]]
        batch = read_slips(own, ids[: count_fitting(ids, MOST_LINES)], leave_out=True)
        return {f"{slip.fulfillment_id}{SUFFIX}": partial(_file, batch.only(slip)) for slip in batch.slips}

    def find(self, supplier_id: int, name: str) -> MadeFile | None:
        number = name.removesuffix(SUFFIX)
        if number == name or not (number.isascii() and number.isdecimal()) or len(number) > MOST_DIGITS:
            return None
        try:
            return _file(read_slips(Fulfillment.objects.filter(supplier_id=supplier_id), [int(number)]))
        except ApiError:
            return None


def _file(batch: SlipBatch) -> MadeFile:
    return MadeFile(_drawn(msgspec.msgpack.encode(batch)))


@lru_cache(maxsize=4 * MOST_LISTED)
def _drawn(encoded: bytes) -> bytes:
    """Draw a slip. The result is cached, because clients list the folder often and need the exact sizes."""
    return make_document(msgspec.msgpack.decode(encoded, type=SlipBatch)).pdf
