"""Java's hash codes of many values of one type, in less time than one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.java_hashes.polynomial import MASK, polynomials
from pyflink_on_spark._runtime.java_hashes.values import UTF_16

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Column = Callable[[Sequence[Any]], "NDArray[np.uint32]"]


def string_hashes(values: Sequence[str]) -> NDArray[np.uint32]:
    """Return ``String.hashCode`` of each value."""
    import numpy as np

    joined = "".join(values)
    if joined.isascii():
        content = np.frombuffer(joined.encode(), np.uint8)
        return polynomials(content.astype(np.uint32), _sizes(values))
    encoded = [value.encode(UTF_16, "surrogatepass") for value in values]
    units = np.frombuffer(b"".join(encoded), np.uint16)
    return polynomials(units.astype(np.uint32), _sizes(encoded) // 2)


def _sizes(values: Sequence[Any]) -> NDArray[np.int64]:
    import numpy as np

    return np.fromiter(map(len, values), np.int64, len(values))


def int_hashes(values: Sequence[int]) -> NDArray[np.uint32]:
    """Return ``Integer.hashCode`` of each value, that of Short and Byte, too."""
    import numpy as np

    return np.fromiter(values, np.int32, len(values)).view(np.uint32)


def long_hashes(values: Sequence[int]) -> NDArray[np.uint32]:
    """Return ``Long.hashCode`` of each value."""
    import numpy as np

    bits = np.fromiter(values, np.int64, len(values)).view(np.uint64)
    return (bits ^ bits >> np.uint64(32)).astype(np.uint32)


def one_by_one(code: Callable[[Any], int]) -> Column:
    """Return a function that calls another for each value."""

    def codes(values: Sequence[Any]) -> NDArray[np.uint32]:
        import numpy as np

        return np.fromiter((code(value) & MASK for value in values), np.uint32, len(values))

    return codes
