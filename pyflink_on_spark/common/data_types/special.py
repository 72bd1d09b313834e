"""The data types of views in accumulators, of any Python object, and of users' classes."""

from __future__ import annotations

import pickle
from typing import NoReturn

from pyflink_on_spark.common.data_types.atomic import DataType
from pyflink_on_spark.common.data_types.composite import _expect_type


class _ViewType(DataType):
    def to_sql_type(self, obj) -> NoReturn:
        """Refuse: a view has no value in SQL."""
        raise _only_in_accumulators(self)

    def from_sql_type(self, obj) -> NoReturn:
        """Refuse: a view has no value in SQL."""
        raise _only_in_accumulators(self)


class ListViewType(_ViewType):
    """A ListView in an accumulator.

    Args:
        element_type: the elements' type.
    """

    def __init__(self, element_type):
        _expect_type(element_type, "element_type")
        super().__init__(False)
        self._element_type = element_type

    def __repr__(self):
        return f"ListViewType({self._element_type!r})"


class MapViewType(_ViewType):
    """A MapView in an accumulator.

    Args:
        key_type: the keys' type.
        value_type: the values' type.
    """

    def __init__(self, key_type, value_type):
        _expect_type(key_type, "key_type")
        _expect_type(value_type, "value_type")
        super().__init__(False)
        self._key_type = key_type
        self._value_type = value_type

    def __repr__(self):
        return f"MapViewType({self._key_type!r}, {self._value_type!r})"


def _only_in_accumulators(view: DataType) -> Exception:
    name = type(view).__name__
    return Exception(
        f"{name} can only be used in accumulator type declaration of AggregateFunction."
    )


class RawType(DataType):
    """Any Python objects, pickled."""

    def from_sql_type(self, obj):
        """Return the object that was pickled."""
        return pickle.loads(obj)


class UserDefinedType(DataType):
    """Values of a user's class, which SQL keeps as values of another type.

    A subclass says which type, and how objects become its values. The class of the objects has an
    instance of the subclass in ``__UDT__``. Functions and results get SQL's values.
    """

    def __eq__(self, other):
        return type(self) is type(other)

    __hash__ = DataType.__hash__

    @classmethod
    def type_name(cls):
        """Return the name of the class in small letters."""
        return cls.__name__.lower()

    @classmethod
    def sql_type(cls):
        """Return the type that SQL keeps the values in; a subclass says it."""
        raise NotImplementedError("UDT must implement sql_type().")

    @classmethod
    def module(cls):
        """Return the module of the class; a subclass says it."""
        raise NotImplementedError("UDT must implement module().")

    @classmethod
    def java_udt(cls):
        """Return the name of Java's class; empty if there is none."""
        return ""

    def need_conversion(self):
        """True: values are converted between Python and SQL."""
        return True

    def to_sql_type(self, obj):
        """Return the value that SQL keeps for an object."""
        return None if obj is None else self.sql_type().to_sql_type(self.serialize(obj))

    def from_sql_type(self, obj):
        """Return the object for a value that SQL keeps."""
        value = self.sql_type().from_sql_type(obj)
        return None if value is None else self.deserialize(value)

    def serialize(self, obj):
        """Return a value of the SQL type; a subclass does it."""
        raise NotImplementedError("UDT must implement serialize().")

    def deserialize(self, datum):
        """Return the object for a value of the SQL type; a subclass does it."""
        raise NotImplementedError("UDT must implement deserialize().")
