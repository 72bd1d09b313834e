"""The connector faker: rows of expressions such as ``#{Name.fullName}``.

Real Flink gets it from the project flink-faker, which asks Java's Datafaker. Here the package Faker
makes the values.
"""

from __future__ import annotations

import datetime
import importlib
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._sql.codegen.rows import compile_value
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef
from pyflink_on_spark._sql.plan.options import Option, TableOptions, integer, text
from pyflink_on_spark._sql.plan.ports import TableContext, TableFactory, TableSource
from pyflink_on_spark._sql.tables.connectors.datagen import DatagenTable, Field, Make
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_ROWS_PER_SECOND = Option("rows-per-second", integer, default=10_000)
_NUMBER_OF_ROWS = Option("number-of-rows", integer, default=-1)
_EXPRESSION = Option("expression", text)
_NULL_RATE = Option("null-rate", float, default=0.0)
_LENGTH = Option("length", integer, default=1)

_CALL = re.compile(r"#\{\s*([\w.]+)\s*((?:'[^']*'\s*,?\s*)*)\}")
_ARGUMENT = re.compile(r"'([^']*)'")

Write = Callable[[random.Random, Any, Sequence[str], int], str]
"""Makes a text of random numbers, a Faker, the arguments and the time of the clock (ms)."""

_OTHER_NAMES = {
    "address.city": "city", "address.cityname": "city", "address.fulladdress": "address",
    "address.streetaddress": "street_address", "address.streetname": "street_name",
    "address.zipcode": "postcode", "address.stateabbr": "state_abbr",
    "code.isbn10": "isbn10", "code.isbn13": "isbn13", "code.ean8": "ean8", "code.ean13": "ean13",
    "color.name": "color_name", "company.name": "company", "company.catchphrase": "catch_phrase",
    "finance.bic": "swift", "finance.creditcard": "credit_card_number",
    "internet.emailaddress": "email", "internet.safeemailaddress": "safe_email",
    "internet.domainname": "domain_name", "internet.ipv4address": "ipv4",
    "internet.privateipv4address": "ipv4_private", "internet.publicipv4address": "ipv4_public",
    "internet.ipv6address": "ipv6", "internet.macaddress": "mac_address",
    "internet.uuid": "uuid4", "internet.useragent": "user_agent",
    "internet.useragentany": "user_agent", "job.title": "job", "name.fullname": "name",
    "name.username": "user_name", "name.title": "job", "phonenumber.cellphone": "phone_number",
}  # fmt: skip
"""The methods of Faker whose names differ from those of Datafaker."""
_SAME_NAMES = frozenset({
    "address.country", "address.country_code", "address.state", "address.building_number",
    "address.latitude", "address.longitude", "company.bs", "crypto.md5", "crypto.sha1",
    "crypto.sha256", "finance.iban", "internet.url", "internet.slug", "internet.password",
    "lorem.word", "lorem.sentence", "lorem.paragraph", "name.name", "name.first_name",
    "name.last_name", "name.prefix", "name.suffix", "phone_number.phone_number",
})  # fmt: skip


def _between(seed: random.Random, _faker: object, args: Sequence[str], _now: int) -> str:
    low, behind = (int(arg) for arg in args)
    return str(seed.randrange(low, behind) if behind > low else low)


def _double(seed: random.Random, _faker: object, args: Sequence[str], _now: int) -> str:
    digits, low, high = (int(arg) for arg in args)
    return f"{seed.uniform(low, high):.{digits}f}"


def _option(seed: random.Random, _faker: object, args: Sequence[str], _now: int) -> str:
    return seed.choice(args)


_SECONDS = {"SECONDS": 1, "MINUTES": 60, "HOURS": 3600, "DAYS": 86_400}


def _date(sign: int) -> Write:
    def write(seed: random.Random, _faker: object, args: Sequence[str], now: int) -> str:
        *bounds, unit = args
        most, least = int(bounds[0]), int(bounds[1]) if len(bounds) > 1 else 0
        scale = _SECONDS[unit.upper()] * 1000
        return _moment(now + sign * seed.randint(least * scale, most * scale))

    return write


def _birthday(seed: random.Random, _faker: object, args: Sequence[str], now: int) -> str:
    youngest, oldest = (int(arg) for arg in args) if args else (18, 65)
    day = 86_400_000
    return _moment(now - seed.randint(youngest * 365 * day, oldest * 365 * day))


_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - in UTC, without saying so


def _moment(millis: int) -> str:
    return (_EPOCH + datetime.timedelta(milliseconds=millis)).isoformat(" ", "milliseconds")


def _regexify(seed: random.Random, _faker: object, args: Sequence[str], _now: int) -> str:
    return "".join(_of_pattern(seed, importlib.import_module("re._parser").parse(args[0])))


def _of_pattern(seed: random.Random, pattern: Any) -> list[str]:
    """Return texts that a pattern matches, one after the other."""
    found: list[str] = []
    for kind, value in pattern:
        name = str(kind)
        if name == "LITERAL":
            found.append(chr(value))
        elif name == "IN":
            found.append(seed.choice(_members(value)))
        elif name == "ANY":
            found.append(chr(seed.randint(33, 126)))
        elif name == "BRANCH":
            found += _of_pattern(seed, seed.choice(value[1]))
        elif name == "SUBPATTERN":
            found += _of_pattern(seed, value[-1])
        elif name in {"MAX_REPEAT", "MIN_REPEAT"}:
            least, most, inner = value
            for _ in range(seed.randint(least, min(int(most), least + 10))):
                found += _of_pattern(seed, inner)
        elif name != "AT":
            raise ValidationError(f"regexify cannot make texts for {name} of a regular expression")
    return found


_CATEGORIES = {
    "CATEGORY_DIGIT": "0123456789",
    "CATEGORY_WORD": "abcdefghijklmnopqrstuvwxyz0123456789_",
    "CATEGORY_SPACE": " ",
}


def _members(items: Sequence[Any]) -> str:
    found = ""
    for kind, value in items:
        name = str(kind)
        if name == "LITERAL":
            found += chr(value)
        elif name == "RANGE":
            found += "".join(map(chr, range(value[0], value[1] + 1)))
        elif name == "CATEGORY" and str(value) in _CATEGORIES:
            found += _CATEGORIES[str(value)]
        else:
            raise ValidationError(f"regexify cannot make texts for {name} of a regular expression")
    return found


_OWN: dict[str, tuple[Write, range]] = {
    "bool.bool": (lambda seed, *_: seed.choice(["true", "false"]), range(1)),
    "bothify": (lambda _seed, faker, args, _now: faker.bothify(args[0]), range(1, 2)),
    "date.birthday": (_birthday, range(0, 3, 2)),
    "date.future": (_date(1), range(2, 4)),
    "date.past": (_date(-1), range(2, 4)),
    "letterify": (lambda _seed, faker, args, _now: faker.lexify(args[0]), range(1, 2)),
    "number.numberbetween": (_between, range(2, 3)),
    "number.randomdigit": (lambda seed, *_: str(seed.randrange(10)), range(1)),
    "number.randomdigitnotzero": (lambda seed, *_: str(seed.randrange(1, 10)), range(1)),
    "number.randomdouble": (_double, range(3, 4)),
    "numerify": (lambda _seed, faker, args, _now: faker.numerify(args[0]), range(1, 2)),
    "options.option": (_option, range(1, 1000)),
    "regexify": (_regexify, range(1, 2)),
}
"""Calls that need no method of Faker, and how many arguments they take."""


def _writer(name: str, args: Sequence[str]) -> Write:
    """Return the function that writes the text of a call.

    Raises:
        ValidationError: there is no such call.
    """
    plain = name.lower().replace("_", "")
    own, counts = _OWN.get(plain, (None, range(0)))
    if own is not None and len(args) in counts:
        return own
    method = _OTHER_NAMES.get(plain)
    if method is None:
        method = next((n for n in _SAME_NAMES if n.replace("_", "") == plain), "").rpartition(".")[
            2
        ]
    if not method or args:
        raise ValidationError(
            f"The expression #{{{name}}} with {len(args)} arguments is not known here. Use "
            "#{Options.option 'a','b'}, #{regexify '...'}, #{number.numberBetween '1','9'} or "
            f"one of {', '.join(sorted({*_OWN, *_OTHER_NAMES, *_SAME_NAMES}))}"
        )
    return lambda _seed, faker, _args, _now: str(getattr(faker, method)())


@lru_cache(maxsize=1)
def _faker() -> object:
    """The Faker of this process; to make one takes half a second."""
    package = optional_package("faker", "Faker", "Tables of the connector faker", "faker")
    return package.Faker()


@dataclass(frozen=True)
class FakerField(Field):
    """A column of an expression.

    Args:
        kind: the column's type.
        expression: texts with calls between them.
    """

    kind: LogicalType
    expression: str

    def __post_init__(self) -> None:
        for name, args in _CALL.findall(self.expression):
            _writer(name, _ARGUMENT.findall(args))
        if "#{" in _CALL.sub("", self.expression):
            raise ValidationError(f"The expression {self.expression} cannot be read")

    def maker(self, seed: random.Random, now: Callable[[], int]) -> Make:
        """Return the function that makes a text, and converts it as CAST does."""
        faker = _faker()
        parts: list[tuple[str, Write | None, list[str]]] = []
        last = 0
        for call in _CALL.finditer(self.expression):
            args = _ARGUMENT.findall(call[2])
            parts.append((self.expression[last : call.start()], _writer(call[1], args), args))
            last = call.end()
        end = self.expression[last:]
        cast = Conversion(self.kind, InputRef(logical.STRING, 0))
        convert = compile_value(cast, 1, "UTC").load().function

        def make(_number: int) -> object:
            written = "".join(
                before + ("" if write is None else write(seed, faker, args, now()))
                for before, write, args in parts
            )
            return convert((written + end,))

        return make


@dataclass(frozen=True)
class FakerCollection(Field):
    """A column of several expressions, or one that may be NULL.

    Args:
        kind: the column's type.
        children: the fields of a row, the elements of an array, or keys and values of a map.
        length: how many elements there are.
        null_rate: how many values of 1 are NULL.
    """

    kind: LogicalType
    children: tuple[Field, ...]
    length: int
    null_rate: float

    def maker(self, seed: random.Random, now: Callable[[], int]) -> Make:
        """Return the function that makes a value, or NULL at the given rate."""
        makers = [child.maker(seed, now) for child in self.children]
        make, rate, chance = self._maker(makers), self.null_rate, seed.random
        if not rate:
            return make
        return lambda number: None if chance() < rate else make(number)

    def _maker(self, makers: list[Make]) -> Make:
        root, length, one = self.kind.root, self.length, makers[0]
        if root is Root.ROW:
            return lambda number: tuple([make(number) for make in makers])
        if root is Root.ARRAY:
            return lambda number: tuple([one(number) for _ in range(length)])
        if root is Root.MULTISET:
            return lambda number: dict.fromkeys([one(number) for _ in range(length)], 1)
        if root is Root.MAP:
            value = makers[1]
            return lambda number: {one(number): value(number) for _ in range(length)}
        return one


class FakerFactory(TableFactory):
    """Makes tables of expressions."""

    identifier = "faker"
    options = (_ROWS_PER_SECOND, _NUMBER_OF_ROWS)  # type: ignore[assignment]

    def source(self, context: TableContext) -> TableSource:
        """Return the table.

        Raises:
            ValidationError: a column has no expression, or one that is not known.
        """
        options, schema = context.options, context.schema.physical
        fields = tuple(
            _field(options.under(f"fields.{name}."), name, kind)
            for name, kind in zip(schema.names, schema.types)
        )
        rows = options[_NUMBER_OF_ROWS]
        wanted = None if rows < 0 else rows
        return DatagenTable(fields, options[_ROWS_PER_SECOND], wanted, context.batch)


def _field(options: TableOptions, name: str, kind: LogicalType) -> Field:
    root = kind.root
    names: tuple[str, ...] = ()
    if root is Root.ROW:
        names = kind.names
    elif root is Root.MAP:
        names = ("key", "value")
    children: tuple[Field, ...]
    if names:
        children = tuple(
            _field(options.under(f"{each}."), f"{name}.{each}", child)
            for each, child in zip(names, kind.children)
        )
    else:
        inner = kind.children[0] if root in {Root.ARRAY, Root.MULTISET} else kind
        expression = options[_EXPRESSION]
        if not options.has(_EXPRESSION):
            raise ValidationError(
                f"Every column requires a corresponding expression. No expression found for {name}."
            )
        children = (FakerField(inner, expression),)
    length = options[_LENGTH] if root in {Root.ARRAY, Root.MULTISET, Root.MAP} else 1
    rate = options[_NULL_RATE]
    simple = not names and root not in {Root.ARRAY, Root.MULTISET}
    return children[0] if simple and not rate else FakerCollection(kind, children, length, rate)
