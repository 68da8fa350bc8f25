"""The recognition of erased persons in texts.

Each text is read once for all persons. A text is compared with a person only if the text contains the longest
word of one of the person's identifying texts or numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

ERASED = "erased"
WORD = re.compile(r"\w+")
ESCAPED_BREAK = re.compile(r"\\[nrt]")
IDENTIFYING = 5
"""The smallest length of a text that identifies a person by itself. Shorter texts can occur by chance."""
KEPT_PARTS = frozenset({"country"})
COMMON_PARTS = frozenset({"first_name", "last_name", "company_name", "address2", "city", "state", "zip_code"})
"""Parts of an address that many consumers share. They identify a person only with the order's number.

The same is true for notes and gift messages, such as "Happy birthday".
"""


def normalized(text: str) -> str:
    """Return the words of a text in lower case, with one space around each.

    Some programs write an accent as a character of its own. Both forms of a letter become the same.
    """
    composed = unicodedata.normalize("NFKC", ESCAPED_BREAK.sub(" ", text))
    return f" {' '.join(WORD.findall(composed.casefold()))} "


@dataclass(frozen=True)
class Person:
    """The personal texts of one order, normalized."""

    order_id: int
    references: tuple[str, ...]
    """The numbers of the order and of its fulfillments, as files write them."""
    identifying: tuple[str, ...]
    common: tuple[str, ...]
    shared: tuple[str, ...] = ()
    """The identifying texts that open orders of the same consumer have, too."""
    open_works: tuple[str, ...] = ()
    """The numbers of the fulfillments of these open orders."""

    @classmethod
    def of(
        cls,
        order_id: int,
        references: Iterable[str],
        values: Iterable[object],
        names: Iterable[str] = (),
    ) -> Self:
        """Collect the texts of personal fields: addresses, notes and plain texts.

        `names` are more texts that identify the person: names and e-mails.
        """
        identifying = {normalized(name) for name in names}
        common: set[str] = set()
        for value in values:
            if isinstance(value, dict):
                _collect_address(value, identifying, common)
            else:
                common |= {normalized(line) for text in _texts(value) for line in text.splitlines()}
        common |= {text for text in identifying if len(text.strip()) < IDENTIFYING}
        return cls(
            order_id,
            tuple(sorted({normalized(reference) for reference in references} - {"  "})),
            tuple(sorted(identifying - common - {"  "})),
            tuple(sorted(text for text in common if len(text.strip()) > 1)),
        )

    def sparing(self, others: Iterable[Self]) -> Self:
        """Return a copy of this person that spares the rows of the same consumer's open orders (`others`).

        The suppliers still need these rows. They are erased together with their own order.
        """
        texts, works = set[str](), set[str]()
        for other in others:
            if both := {*self.identifying} & {*other.identifying}:
                texts |= both
                works.update(other.references)
        alone = tuple(sorted({*self.identifying} - texts))
        return replace(self, identifying=alone, shared=tuple(sorted(texts)), open_works=tuple(sorted(works)))

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        # An earlier version stored fewer fields.
        texts = {name: tuple(value) for name, value in stored.items() if name != "order_id"}
        return cls(stored["order_id"], **texts)

    def is_in(self, text: str, *, of_order: bool = False) -> bool:
        """Return whether a text quotes the person. With `of_order`, the text belongs to the order.

        Common texts, such as a first name, identify the person only in a text of the order, or in a text that
        contains a number of the order. Shared texts do not identify the person in a text that contains only
        the number of an open order of the same consumer.
        """
        words = normalized(text)

        def has(quoted: Iterable[str]) -> bool:
            return any(each in words for each in quoted)

        if has(self.identifying):
            return True
        if of_order or has(self.references):
            return has(self.common) or has(self.shared)
        return has(self.shared) and not has(self.open_works)

    def search_words(self) -> set[str]:
        """Return words to search for. Each text that quotes the person contains one of these words."""
        texts = (*self.identifying, *self.shared, *self.references)
        return {max(text.split(), key=len) for text in texts}


class People:
    """Several persons, with an index by word: each text is searched once, not once per person."""

    def __init__(self, persons: Iterable[Person]) -> None:
        self.persons = {person.order_id: person for person in persons}
        self._by_word: dict[str, list[Person]] = defaultdict(list)
        for person in self.persons.values():
            for word in person.search_words():
                self._by_word[word].append(person)

    def are_named_in(self, text: str) -> bool:
        """Return whether a text contains a number of one of the persons' orders."""
        words = normalized(text)
        keys = self._by_word.keys() & set(words.split())
        named = (
            reference for word in keys for person in self._by_word[word] for reference in person.references
        )
        return any(reference in words for reference in named)

    def are_in(self, text: str) -> bool:
        """Return whether a text quotes one of the persons."""
        words = self._by_word.keys() & set(normalized(text).split())
        return any(person.is_in(text) for word in words for person in self._by_word[word])


def free_of(people: People, value: object) -> Any:
    """Return a text or a JSON value, with `erased` instead of each text that quotes one of the people."""
    for person in people.persons.values():
        value = redacted(value, person, of_order=False)
    return value


def redacted(value: object, person: Person, *, of_order: bool) -> Any:
    """Return a text or a JSON value, with `erased` instead of each text that quotes the person."""
    if isinstance(value, dict):
        return {name: redacted(part, person, of_order=of_order) for name, part in value.items()}
    if isinstance(value, list):
        return [redacted(part, person, of_order=of_order) for part in value]
    return ERASED if isinstance(value, str) and person.is_in(value, of_order=of_order) else value


def _collect_address(address: dict[str, object], identifying: set[str], common: set[str]) -> None:
    for part, value in address.items():
        if part in KEPT_PARTS or not isinstance(value, str):
            continue
        (common if part in COMMON_PARTS else identifying).add(normalized(value))
    names = [str(address.get(part) or "") for part in ("first_name", "last_name")]
    if all(names):
        identifying |= {normalized(" ".join(names)), normalized(" ".join(reversed(names)))}


def _texts(value: Any) -> Iterable[str]:
    """Return the texts of a field with a plain text or with a list of notes."""
    if isinstance(value, str):
        return [value]
    return [
        text
        for note in value or ()
        for name, text in note.items()
        if name != "name" and isinstance(text, str)
    ]
