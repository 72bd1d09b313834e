"""Objects that Java has serialised, as data: no class is looked for, and no code runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pyflink_on_spark._runtime.coders import DataInput

_HEADER = b"\xac\xed\x00\x05"
_NULL, _REFERENCE, _CLASS_DESCRIPTION, _OBJECT, _STRING, _ARRAY, _CLASS = range(0x70, 0x77)
_BLOCK, _END, _LONG_BLOCK, _LONG_STRING, _ENUM = 0x77, 0x78, 0x7A, 0x7C, 0x7E
_FIRST_HANDLE = 0x7E0000
_WRITES, _SERIALIZABLE = 1, 2
_DEEPEST = 64
_PRIMITIVES: dict[str, tuple[Callable[[DataInput], object], int]] = {
    "B": (DataInput.byte, 1),
    "C": (DataInput.unsigned_short, 2),
    "D": (DataInput.double, 8),
    "F": (DataInput.single, 4),
    "I": (DataInput.integer, 4),
    "J": (DataInput.long, 8),
    "S": (DataInput.short, 2),
    "Z": (DataInput.boolean, 1),
}


@dataclass(eq=False)
class StreamedClass:
    """The description of a class.

    Args:
        name: with its package.
        flags: how its objects are written.
        fields: the kind and the name of each of its own fields.
        parent: the class that it extends; None if that is not written.
    """

    name: str
    flags: int
    fields: tuple[tuple[str, str], ...]
    parent: StreamedClass | None = None


@dataclass(eq=False)
class JavaObject:
    """An object.

    Args:
        name: of its class, without the package.
        fields: by name, those of the classes that it extends among them.
        others: what its class has written besides.
    """

    name: str
    fields: dict[str, object] = field(default_factory=dict)
    others: list[object] = field(default_factory=list)


def read_java_object(data: DataInput) -> object:
    """Read an object with what it refers to: ``JavaObject``, texts, numbers and lists.

    Of a member of an enumeration it is the name.

    Raises:
        CheckpointError: it is damaged, or of a kind that no type of a column has.
    """
    begin = data.position
    if data.take(len(_HEADER)) != _HEADER:
        raise data.refused("an object of Java is damaged", begin)
    return _Reader(data).content(0)


class _Reader:
    """Reads one stream of objects, which refer to each other by number."""

    def __init__(self, data: DataInput) -> None:
        self._data = data
        self._known: list[object] = []
        self._kinds = {
            _NULL: lambda depth: None,
            _REFERENCE: self._reference,
            _CLASS_DESCRIPTION: self._description,
            _OBJECT: self._object,
            _STRING: self._string,
            _ARRAY: self._array,
            _CLASS: self._class,
            _ENUM: self._member,
        }

    def content(self, depth: int) -> object:
        """Read the next object."""
        begin = self._data.position
        read = self._kinds.get(self._data.unsigned_byte())
        if read is None or depth > _DEEPEST:
            raise self._data.refused("an object of Java is damaged", begin)
        return read(depth + 1)

    def _reference(self, depth: int) -> object:
        begin = self._data.position
        number = self._data.integer() - _FIRST_HANDLE
        if not 0 <= number < len(self._known):
            raise self._data.refused("an object of Java refers to nothing", begin)
        return self._known[number]

    def _description(self, depth: int) -> StreamedClass:
        data = self._data
        name, _ = data.utf(), data.long()
        place = len(self._known)
        self._known.append(None)
        flags = data.unsigned_byte()
        fields = []
        for _ in range(data.unsigned_short()):
            kind, field_name = chr(data.unsigned_byte()), data.utf()
            if kind in "L[":
                self.content(depth)
            elif kind not in _PRIMITIVES:
                raise data.refused(f"the field {field_name!r} of {name} is damaged")
            fields.append((kind, field_name))
        found = self._known[place] = StreamedClass(name, flags, tuple(fields))
        self._others(depth)
        found.parent = self._class_of(depth)
        return found

    def _class_of(self, depth: int) -> StreamedClass | None:
        begin = self._data.position
        found = self.content(depth)
        if found is not None and not isinstance(found, StreamedClass):
            raise self._data.refused("a class of Java is damaged", begin)
        return found

    def _object(self, depth: int) -> JavaObject:
        begin = self._data.position
        of = self._class_of(depth)
        if of is None:
            raise self._data.refused("an object of Java has no class", begin)
        made = JavaObject(of.name.rpartition(".")[2])
        self._known.append(made)
        classes: list[StreamedClass] = []
        each: StreamedClass | None = of
        while each is not None and len(classes) < _DEEPEST:
            classes.insert(0, each)
            each = each.parent
        for part in classes:
            if not part.flags & _SERIALIZABLE:
                raise self._data.refused(f"an object of {part.name} writes itself", begin)
            for kind, name in part.fields:
                made.fields[name] = self._value(kind, depth)
            if part.flags & _WRITES:
                made.others += self._others(depth)
        return made

    def _value(self, kind: str, depth: int) -> object:
        if kind in "L[":
            return self.content(depth)
        return _PRIMITIVES[kind][0](self._data)

    def _others(self, depth: int) -> list[object]:
        """Read what a class has written besides its fields: bytes and objects."""
        data = self._data
        found: list[object] = []
        while True:
            kind = data.unsigned_byte()
            if kind == _END:
                return found
            if kind == _BLOCK:
                found.append(data.take(data.unsigned_byte()))
            elif kind == _LONG_BLOCK:
                found.append(data.take(data.integer()))
            else:
                data.position -= 1
                found.append(self.content(depth))

    def _string(self, depth: int) -> str:
        found = self._data.utf()
        self._known.append(found)
        return found

    def _array(self, depth: int) -> list[object]:
        begin = self._data.position
        of = self._class_of(depth)
        kind = "" if of is None else of.name[1:2]
        if kind not in (*_PRIMITIVES, "L", "["):
            raise self._data.refused("an array of Java is damaged", begin)
        found: list[object] = []
        self._known.append(found)
        size = _PRIMITIVES[kind][1] if kind in _PRIMITIVES else 1
        found += [self._value(kind, depth) for _ in range(self._data.count("elements", size))]
        return found

    def _class(self, depth: int) -> str:
        of = self._class_of(depth)
        self._known.append(of)
        return "" if of is None else of.name

    def _member(self, depth: int) -> str:
        self._class_of(depth)
        place = len(self._known)
        self._known.append(None)
        begin = self._data.position
        name = self.content(depth)
        if not isinstance(name, str):
            raise self._data.refused("a member of an enumeration is damaged", begin)
        self._known[place] = name
        return name
