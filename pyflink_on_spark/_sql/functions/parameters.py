"""What parameters take, and how results depend on arguments: the words of a definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyflink_on_spark._sql.plan.signatures import CallSite, Code, Parameter, Result
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.logical import LogicalType, Root


def of(*roots: Root) -> Parameter:
    """Take arguments of some kinds as they are, and NULL as the first kind."""

    def check(kind: LogicalType) -> LogicalType | None:
        if kind.root is Root.NULL:
            return default
        return kind.plain() if kind.root in roots else None

    default = _default(roots[0])
    return check


def converted(target: LogicalType, *roots: Root) -> Parameter:
    """Convert arguments of some kinds to one type."""

    def check(kind: LogicalType) -> LogicalType | None:
        return target if kind.root in roots or kind.root in {target.root, Root.NULL} else None

    return check


def any_type(kind: LogicalType) -> LogicalType | None:
    """Take everything."""
    return kind


def _default(root: Root) -> LogicalType:
    if root in logical.CHARACTERS:
        return logical.STRING
    if root in logical.BYTES_LIKE:
        return logical.BYTES
    if root in logical.TIMESTAMPS:
        return LogicalType(root, precision=3)
    return logical.decimal(10) if root is Root.DECIMAL else LogicalType(root)


characters = of(Root.VARCHAR, Root.CHAR)
byte_strings = of(Root.VARBINARY, Root.BINARY)
integers = of(Root.INT, *logical.INTEGERS)
exact = of(Root.INT, *logical.EXACT)
numbers = of(Root.INT, *logical.NUMERIC)
booleans = of(Root.BOOLEAN)
as_text = converted(logical.STRING, *logical.CHARACTERS)
as_int = converted(logical.INT, *logical.INTEGERS)
as_bigint = converted(logical.BIGINT, *logical.INTEGERS)
as_double = converted(logical.DOUBLE, *logical.NUMERIC)


def always(result: LogicalType) -> Result:
    """Give a result of one type."""
    return lambda types: result


def like(index: int = 0) -> Result:
    """Give a result of an argument's type."""
    return lambda types: types[index]


def unified(types: Sequence[LogicalType]) -> LogicalType:
    """Give a result of the type that all arguments have in common."""
    found = common_type(types)
    assert found is not None
    return found


def inline(template: str) -> Code:
    """Compute a result by a Python expression; ``{0}`` is the first argument."""

    def code(site: CallSite) -> str:
        return template.format(*site.for_template(template))

    return code


def calling(function: Callable[..., object], name: str | None = None) -> Code:
    """Compute a result by a Python function of a module, by reference."""

    def code(site: CallSite) -> str:
        bound = site.bind(function, name or function.__name__)
        return f"{bound}({', '.join(site.sources())})"

    return code
