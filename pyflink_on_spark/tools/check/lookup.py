"""Looks up an expression's value in PyFlink, and notes its use."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

from pyflink_on_spark._compat.unsupported import unsupported
from pyflink_on_spark.datastream import DataStream
from pyflink_on_spark.tools.check import mirror
from pyflink_on_spark.tools.check.absent import (
    verdict_on_java_access,
    verdict_on_module,
    verdict_on_name,
)
from pyflink_on_spark.tools.check.findings import Findings
from pyflink_on_spark.tools.check.values import (
    UNKNOWN,
    AbsentValue,
    CallableValue,
    ClassValue,
    InstanceValue,
    ModuleValue,
    Value,
)
from pyflink_on_spark.tools.check.verdict import Status, Verdict, judge

_FROM_TABLES = {"to_data_stream", "to_changelog_stream", "to_append_stream"}
_JAVA = ("_j_", "j_", "_jvm", "get_java_")


class Lookup:
    """Finds what expressions reach, and notes each use.

    Args:
        findings: where uses are noted.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def module(self, name: str, line: int) -> Value:
        """Return the value of ``import name``."""
        if mirror.module(name) is not None:
            return ModuleValue(name)
        self._findings.add(name, verdict_on_module(name), line)
        return AbsentValue(name)

    def imported(self, module: str, name: str, line: int) -> Value:
        """Return the value of a name in a module that exists."""
        value = mirror.member_of_module(module, name)
        full = f"{module}.{name}".replace(mirror.OURS, mirror.REAL, 1)
        if value is None:
            self._findings.add(full, verdict_on_name(module, name), line)
            return AbsentValue(full)
        if isinstance(value, ClassValue):
            self._findings.add(full, judge(value.cls), line)
        elif isinstance(value, CallableValue):
            self._findings.add(full, judge(value.function), line)
        return value

    def use_class(self, cls: type, how: str, line: int) -> None:
        """Note a class that is used in some way."""
        self._findings.add(f"{cls.__qualname__} ({how})", judge(cls), line)

    def attribute(self, owner: Value, name: str, line: int) -> Value:
        """Return the value of an attribute."""
        match owner:
            case ModuleValue():
                return self._of_module(owner.name, name, line)
            case AbsentValue():
                verdict = verdict_on_module(owner.root)
                if verdict.status is Status.NEVER:
                    self._findings.add(owner.root, verdict, line)
                return AbsentValue(owner.root, DataStream if name in _FROM_TABLES else None)
            case ClassValue() | InstanceValue():
                return self._of_class(owner, name, line)
        if name.startswith("_j_"):
            self._findings.add(name, verdict_on_java_access(), line)
        return UNKNOWN

    def call(
        self, called: Value, arguments: Sequence[Value], keywords: Mapping[str, int], line: int
    ) -> Value:
        """Return the value of a call.

        Args:
            called: what is called.
            arguments: what is known of the arguments that are given by their place.
            keywords: the names of the other arguments, and the lines that they are on.
            line: where the call ends.
        """
        match called:
            case ClassValue():
                return InstanceValue(called.cls)
            case AbsentValue():
                return called if called.gives is None else InstanceValue(called.gives)
            case CallableValue():
                self._note_keywords(called, keywords)
                if isinstance(called.function, unsupported):
                    return UNKNOWN
                return mirror.returned(called.function, called.receiver, arguments)
        return UNKNOWN

    def _of_module(self, module: str, name: str, line: int) -> Value:
        if mirror.module(f"{module}.{name}") is not None:
            return ModuleValue(f"{module}.{name}")
        return self.imported(module, name, line)

    def _of_class(self, owner: ClassValue | InstanceValue, name: str, line: int) -> Value:
        cls = owner.cls
        found = mirror.find_member(cls, name)
        if found is None or found[0] is object:
            self._note_absent(cls, name, line)
            return AbsentValue(name) if name.startswith("_j_") else UNKNOWN
        declared, member = found
        if not declared.__module__.startswith(mirror.OURS):
            return UNKNOWN
        known = mirror.known_owner(cls, declared)
        self._findings.add(f"{known.__qualname__}.{name}", self._judge(member), line)
        return mirror.member_value(declared, member, cls)

    def _judge(self, member: object) -> Verdict:
        return judge(None) if isinstance(member, enum.Enum) else judge(member)

    def _note_absent(self, cls: type, name: str, line: int) -> None:
        full = f"{cls.__qualname__}.{name}"
        if name.startswith("__") or mirror.may_have_attribute(cls, name):
            return
        if name.startswith(_JAVA):
            self._findings.add(full, verdict_on_java_access(), line)
        else:
            self._findings.add(full, verdict_on_name(cls.__qualname__, name), line)

    def _note_keywords(self, called: CallableValue, keywords: Mapping[str, int]) -> None:
        function = called.function
        for name, line in keywords.items():
            if not mirror.accepts_keyword(function, name):
                full = f"{function.__qualname__}({name}=...)"
                self._findings.add(full, verdict_on_name(function.__qualname__, name), line)
