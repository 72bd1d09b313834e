"""Follows PyFlink's objects through a script, statement by statement, without running it."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType

from pyflink_on_spark.tools.check import containers, mirror, tables
from pyflink_on_spark.tools.check.lookup import Lookup, expects_errors, never_runs, uncalled
from pyflink_on_spark.tools.check.mistakes import (
    jars_in,
    mistakes_in_call,
    mistakes_in_method,
    verdict_on_module,
)
from pyflink_on_spark.tools.check.modules import (
    catches_missing_modules,
    imports_with_fallback,
    missing_modules,
    own_module,
)
from pyflink_on_spark.tools.check.values import (
    HOLE,
    PLAIN,
    UNKNOWN,
    WRITTEN,
    AbsentValue,
    CallableValue,
    ClassValue,
    InstanceValue,
    Items,
    LocalClass,
    LocalFunction,
    LocalInstance,
    Pairs,
    Text,
    Value,
    join,
)
from pyflink_on_spark.tools.check.verdict import Findings


def annotated(annotation: ast.expr, value_of: Callable[[ast.expr], Value]) -> Value:
    """Return the value of an annotated name.

    Args:
        annotation: what stands after the colon.
        value_of: returns what is known of an expression.
    """
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return UNKNOWN
    if isinstance(annotation, ast.BinOp):
        return join(annotated(annotation.left, value_of), annotated(annotation.right, value_of))
    if isinstance(annotation, ast.Subscript):
        optional = ast.unparse(annotation.value).endswith("Optional")
        return annotated(annotation.slice, value_of) if optional else UNKNOWN
    value = value_of(annotation)
    if isinstance(value, ClassValue):
        return InstanceValue(value.cls)
    if isinstance(value, AbsentValue):
        return value
    return LocalInstance(value.node) if isinstance(value, LocalClass) else UNKNOWN


class Notes:
    """The part of a walk that notes findings.

    Args:
        findings: where they go.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._lookup = Lookup(findings)

    @contextmanager
    def _unless(self, unused: bool) -> Iterator[None]:
        """Note the findings of the block as not called, if a condition holds."""
        before = self._findings.called
        self._findings.called = before and not unused
        try:
            yield
        finally:
            self._findings.called = before

    @contextmanager
    def _ignored(self) -> Iterator[None]:
        """Drop the findings of the block."""
        before = self._findings, self._lookup
        self._findings = Findings("")
        self._lookup = Lookup(self._findings)
        try:
            yield
        finally:
            self._findings, self._lookup = before


class Known:
    """The values that earlier passes found."""

    def __init__(self) -> None:
        self.names: Names = {}
        self.attributes: dict[tuple[ast.AST, str], Value] = {}
        self.attached: dict[tuple[type, str], Value] = {}
        self.parameters: dict[tuple[ast.AST, str], Value] = {}
        self.returned: dict[ast.AST, Value] = {}
        self.calls: dict[ast.AST, dict[tuple[tuple[str, Value], ...], None]] = {}


class Scopes:
    """The module, classes and functions around a statement.

    Args:
        known: has the names of each scope.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self._scopes: list[ast.AST] = []

    @property
    def innermost(self) -> ast.AST:
        """The scope that binds names."""
        return self._scopes[-1]

    @contextlib.contextmanager
    def inside(self, scope: ast.AST) -> Iterator[None]:
        """Enter a scope."""
        self._scopes.append(scope)
        yield
        self._scopes.pop()

    def bind(self, name: str, value: Value) -> None:
        """Let a name stand for a value in the innermost scope."""
        self._known.names[self.innermost, name] = value

    def value(self, name: str) -> Value:
        """Return the value of a name: functions do not see the names of a class around them."""
        for scope in reversed(self._scopes):
            if isinstance(scope, ast.ClassDef) and scope is not self.innermost:
                continue
            if (scope, name) in self._known.names:
                return self._known.names[scope, name]
        return UNKNOWN


_Function = ast.FunctionDef | ast.AsyncFunctionDef
_PASSES = 4
_LONGEST_LOOP = 50
_MOST_CALLS = 20
_END = ast.Return | ast.Raise | ast.Continue | ast.Break
_LITERALS = (ast.Constant, ast.JoinedStr)
_PLAIN_NODES = (ast.Set, ast.DictComp, ast.Compare)


def examine(path: str, source: str, *, imported: bool = False) -> Findings:
    """Find the uses of PyFlink in a script.

    Args:
        path: the script's file, for the report.
        source: its text.
        imported: whether another script imports it, which may use all of it.

    Raises:
        SyntaxError: if it is not Python.
    """
    tree = ast.parse(source, path)
    known, not_called = Known(), frozenset[ast.AST]() if imported else uncalled(tree)
    for _ in range(_PASSES - 1):  # what a function is given is known only after its calls
        _Walk(known, Findings(path), not_called).run(tree)
    findings = Findings(path)
    _Walk(known, findings, not_called).run(tree)
    return findings


class _Walk(Notes):
    """One pass over the script."""

    def __init__(self, known: Known, findings: Findings, not_called: frozenset[ast.AST]) -> None:
        super().__init__(findings)
        self._known, self._scopes = known, Scopes(known)
        self._not_called = not_called
        self._reads_sql, self._modules_needed = True, True
        self._loop_names: frozenset[str] = frozenset()

    def run(self, tree: ast.Module) -> None:
        with self._scopes.inside(tree):
            self._statements(tree.body)

    # -- statements ------------------------------------------------------------------------------

    def _statements(self, body: Sequence[ast.stmt]) -> None:
        later: list[_Function] = []
        for statement in body:
            if isinstance(statement, _Function):
                self._scopes.bind(statement.name, LocalFunction(statement))
                later.append(statement)
            else:
                self._statement(statement)
        for function in later:
            self._function(function)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import():
                self._import(statement)
            case ast.ImportFrom():
                self._import_from(statement)
            case ast.ClassDef():
                self._class(statement)
            case ast.Assign():
                value = self._value(statement.value)
                for target in statement.targets:
                    self._assign(target, value, statement.value)
            case ast.AnnAssign():
                value = join(self._optional(statement.value), self._annotated(statement.annotation))
                self._assign(statement.target, value, statement.value)
            case ast.AugAssign():
                self._assign(statement.target, self._sum_of(statement), None)
            case ast.Expr(value=ast.Constant(value=str())):
                pass  # a docstring, or a comment
            case ast.Return():
                scope, value = self._scopes.innermost, self._optional(statement.value)
                self._known.returned[scope] = join(self._known.returned.get(scope), value)
            case _:
                self._compound(statement)

    def _compound(self, statement: ast.stmt) -> None:
        match statement:
            case ast.With() | ast.AsyncWith():
                self._with(statement)
            case ast.Delete():
                self._parts(statement)
                for target in statement.targets:
                    if isinstance(target, ast.Subscript):
                        self._change(target.value, PLAIN)
            case ast.If():
                self._if(statement)
            case ast.For():
                self._for(statement)
            case ast.AsyncFor() | ast.While() | ast.Match():
                before = dict(self._known.names)
                self._parts(statement)
                self._known.names = merged(before, self._known.names)
            case ast.Try() | ast.TryStar():
                self._try(statement)
            case _:
                self._parts(statement)

    def _for(self, statement: ast.For) -> None:
        before = dict(self._known.names)
        parts = containers.iterated(self._quietly(statement.iter)) or ()
        if not 0 < len(parts) <= _LONGEST_LOOP:
            self._parts(statement)
            self._known.names = merged(before, self._known.names)
            return
        self._value(statement.iter)
        outside = self._loop_names
        self._loop_names = outside | names_in(statement.target)
        for part in parts:
            self._assign(statement.target, part, None)
            self._round(statement.body)
        self._loop_names = outside
        self._statements(statement.orelse)
        if any(isinstance(node, _END) for node in ast.walk(statement)):
            self._known.names = merged(before, self._known.names)

    def _round(self, body: Sequence[ast.stmt]) -> None:
        """Go through one round of a loop, as far as it goes."""
        for index, statement in enumerate(body):
            match statement:
                case ast.If(body=[*_, ast.Return() | ast.Raise() | ast.Continue() | ast.Break()]):
                    if self._decided(statement.test):
                        self._statements(body[: index + 1])
                        return
        self._statements(body)

    def _decided(self, test: ast.expr) -> bool | None:
        """True or False for a test of names of a loop; None for one that is not known."""
        if not names_in(test) & self._loop_names:
            return None
        return containers.compared(test, self._quietly)

    def _branch(self, body: Sequence[ast.stmt]) -> Names:
        """Go through statements that may be run or not; return what names are then."""
        before = self._known.names
        self._known.names = dict(before)
        self._statements(body)
        after, self._known.names = self._known.names, before
        return after

    def _if(self, statement: ast.If) -> None:
        self._value(statement.test)
        decided = self._decided(statement.test)
        with self._unless(never_runs(statement) or decided is False):
            body = self._branch(statement.body)
        self._exclude(statement.test)
        with self._unless(decided is True):
            other = self._branch(statement.orelse)
        if decided is None and not isinstance(statement.body[-1], _END):
            self._known.names = merged(body, other)
        else:
            self._known.names = body if decided else other

    def _exclude(self, test: ast.expr) -> None:
        """Forget the class of a name where a test says that the name is not of this class."""
        match test:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name() as tested, kind]):
                known, cls = self._scopes.value(tested.id), self._quietly(kind)
                if (
                    isinstance(known, InstanceValue)
                    and isinstance(cls, ClassValue)
                    and issubclass(known.cls, cls.cls)
                ):
                    self._scopes.bind(tested.id, UNKNOWN)

    def _try(self, statement: ast.Try | ast.TryStar) -> None:
        handlers = [part for handler in statement.handlers for part in handler.body]
        imports = imports_with_fallback(statement)
        if imports and not all(map(mirror.has_import, imports)):
            with self._ignored():
                self._statements(statement.body)
            self._statements(handlers)
        else:
            with self._optional_modules(statement):
                self._statements(statement.body)
            after = self._branch(handlers)
            if not imports:
                self._known.names = merged(self._known.names, after)
        self._statements([*statement.orelse, *statement.finalbody])

    @contextmanager
    def _optional_modules(self, statement: ast.Try | ast.TryStar) -> Iterator[None]:
        """Take the modules for optional that a ``try`` imports and does without."""
        before = self._modules_needed
        self._modules_needed = before and not catches_missing_modules(statement)
        try:
            yield
        finally:
            self._modules_needed = before

    def _need(self, name: str, level: int, line: int) -> None:
        """Note a module that is neither beside the script nor installed."""
        if mirror.is_pyflink(name) and not level:
            return
        own = own_module(self._findings.path, name, level)
        if own is not None:
            if own.is_file() and own not in self._findings.own_modules:
                self._findings.own_modules.append(own)
        elif self._modules_needed:
            for missing, verdict in missing_modules(name, level):
                self._findings.add(missing, verdict, line)

    def _with(self, statement: ast.With | ast.AsyncWith) -> None:
        for item in statement.items:
            value = self._value(item.context_expr)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, value, None)
        with self._unless(expects_errors(statement)):
            self._statements(statement.body)

    def _parts(self, node: ast.AST) -> None:
        """Go through a statement of no special meaning, or a part of one."""
        for _, part in ast.iter_fields(node):
            for item in part if isinstance(part, list) else [part]:
                if isinstance(item, ast.expr):
                    self._value(item)
                elif isinstance(item, ast.stmt):
                    self._statements([item])
                elif isinstance(item, ast.AST):
                    self._parts(item)

    def _import(self, statement: ast.Import) -> None:
        for alias in statement.names:
            self._need(alias.name, 0, statement.lineno)
            if not mirror.is_pyflink(alias.name):
                continue
            value = self._lookup.module(alias.name, statement.lineno)
            if alias.asname is None:
                value = self._lookup.module(alias.name.split(".")[0], statement.lineno)
            self._scopes.bind(alias.asname or alias.name.split(".")[0], value)

    def _import_from(self, statement: ast.ImportFrom) -> None:
        name = statement.module or ""
        if statement.level or not mirror.is_pyflink(name):
            self._need(name, statement.level, statement.lineno)
            return
        found = mirror.module(name)
        for alias in statement.names:
            full = f"{name}.{alias.name}"
            if found is None:
                self._findings.add(full, verdict_on_module(name), statement.lineno)
                self._scopes.bind(alias.asname or alias.name, AbsentValue(full))
            elif alias.name == "*":
                for member in getattr(found, "__all__", ()):
                    self._scopes.bind(member, mirror.member_of_module(name, member) or UNKNOWN)
            else:
                value = self._lookup.imported(name, alias.name, alias.lineno)
                self._scopes.bind(alias.asname or alias.name, value)

    def _class(self, statement: ast.ClassDef) -> None:
        for base in statement.bases:
            value = self._value(base)
            if isinstance(value, ClassValue):
                self._lookup.use_class(value.cls, "as a base class", base.lineno)
        self._scopes.bind(statement.name, LocalClass(statement))
        with self._scopes.inside(statement), self._unless(statement in self._not_called):
            self._statements(statement.body)
            self._note_wrong_methods(statement)

    def _note_wrong_methods(self, statement: ast.ClassDef) -> None:
        for method in statement.body:
            if isinstance(method, _Function):
                for cls in self._mirror_bases(statement):
                    found = mirror.find_member(cls, method.name)
                    if found is not None and isinstance(found[1], FunctionType):
                        for name, verdict in mistakes_in_method(method, found[0]):
                            self._findings.add(name, verdict, method.lineno)

    def _function(self, function: _Function) -> None:
        for expression in [*function.decorator_list, *function.args.defaults]:
            self._value(expression)
        owner = self._scopes.innermost
        method_of = owner if isinstance(owner, ast.ClassDef) else None
        with self._scopes.inside(function):
            self._bind_parameters(function, method_of)
            with self._unless(function in self._not_called):
                self._statements(function.body)
                self._each_call(function)

    def _each_call(self, function: _Function) -> None:
        """Go through a function for each call, if these give it different texts."""
        calls = list(self._known.calls.get(function, ()))
        for given in calls if len(calls) > 1 else []:
            for name, value in given:
                self._scopes.bind(name, value)
            self._statements(function.body)

    def _bind_parameters(self, function: _Function, owner: ast.ClassDef | None) -> None:
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        if owner is not None and arguments and not _is_static(function):
            self._scopes.bind(arguments.pop(0).arg, LocalInstance(owner))
        overridden = self._overridden(owner, function.name) if owner else None
        for index, argument in enumerate(arguments):
            value = self._known.parameters.get((function, argument.arg), UNKNOWN)
            if argument.annotation is not None:
                value = join(self._annotated(argument.annotation), value)
            if overridden is not None and value == UNKNOWN:
                value = mirror.parameter(overridden, argument.arg, index)
            self._scopes.bind(argument.arg, value)

    def _overridden(self, owner: ast.ClassDef, name: str) -> object | None:
        for cls in self._mirror_bases(owner):
            found = mirror.find_member(cls, name)
            if found is not None and isinstance(found[1], FunctionType):
                return found[1]
        return None

    def _mirror_bases(self, owner: ast.ClassDef) -> Iterator[type]:
        for base in owner.bases:
            value = self._quietly(base)
            if isinstance(value, ClassValue):
                yield value.cls
            elif isinstance(value, LocalClass) and value.node is not owner:
                yield from self._mirror_bases(value.node)

    # -- names -----------------------------------------------------------------------------------

    def _assign(self, target: ast.expr, value: Value, node: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self._scopes.bind(target.id, value)
        elif isinstance(target, ast.Attribute):
            owner = self._value(target.value)
            if isinstance(owner, LocalInstance):
                key = (owner.node, target.attr)
                known = self._known.attributes.get(key)
                if isinstance(known, Text | Items | Pairs):
                    self._known.attributes[key] = value if value == known else PLAIN
                elif value not in {UNKNOWN, PLAIN} or known is None:
                    self._known.attributes[key] = value
            elif isinstance(owner, InstanceValue | ClassValue):
                place = (owner.cls, target.attr)
                self._known.attached[place] = join(self._known.attached.get(place), value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = self._unpacked(value, node)
            for index, item in enumerate(target.elts):
                self._assign(item, parts[index] if index < len(parts) else UNKNOWN, None)
        elif isinstance(target, ast.Subscript):
            whole, part = self._value(target.value), self._value(target.slice)
            self._change(target.value, containers.with_part(whole, part, value))
        else:
            self._value(target)

    def _unpacked(self, value: Value, node: ast.expr | None) -> tuple[Value, ...]:
        if isinstance(value, Items):
            return value.parts
        parts = node.elts if isinstance(node, ast.Tuple | ast.List) else []
        return tuple(map(self._quietly, parts))

    def _change(self, container: ast.expr, value: Value) -> None:
        """Let a list or dict have other parts.

        Args:
            container: what has it; only names are followed.
            value: the list or dict from now on.
        """
        if isinstance(container, ast.Name):
            self._scopes.bind(container.id, value)
        elif isinstance(container, ast.Attribute):
            owner = self._quietly(container.value)
            if isinstance(owner, LocalInstance | LocalClass):
                self._known.attributes[owner.node, container.attr] = PLAIN

    def _annotated(self, annotation: ast.expr) -> Value:
        """Return the value of an annotation in the script."""
        return annotated(annotation, self._quietly)

    # -- expressions -----------------------------------------------------------------------------

    def _quietly(self, node: ast.expr) -> Value:
        """Return the value of an expression that another pass examines."""
        with self._ignored():
            return self._value(node)

    def _optional(self, node: ast.expr | None) -> Value:
        return UNKNOWN if node is None else self._value(node)

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Name():
                return self._scopes.value(node.id)
            case ast.Attribute():
                return self._attribute(node, self._value(node.value))
            case ast.Call():
                return self._call(node)
            case ast.Await() | ast.Starred():
                return self._value(node.value)
            case ast.NamedExpr():
                value = self._value(node.value)
                self._assign(node.target, value, node.value)
                return value
            case ast.IfExp():
                self._value(node.test)
                return join(self._value(node.body), self._value(node.orelse))
            case ast.Constant():
                return self._constant(node)
            case ast.JoinedStr():
                return self._text(tables.joined(node, self._value), node)
            case ast.BinOp(op=ast.Add() | ast.Mod() | ast.BitOr()):
                return self._sum(node)
        return self._contained(node)

    def _contained(self, node: ast.expr) -> Value:
        """Return a list or dict, or one of its parts."""
        if isinstance(node, ast.Subscript):
            owner, key = self._value(node.value), self._value(node.slice)
            return containers.part(owner, key, node.slice)
        self._parts(node)
        match node:
            case ast.List() | ast.Tuple() | ast.Dict():
                return containers.literal(node, self._quietly)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                return self._comprehension(node.elt, node.generators)
        return PLAIN if isinstance(node, _PLAIN_NODES) else UNKNOWN

    def _mapped(self, node: ast.Call) -> Value | None:
        """The parts that ``map`` makes with a lambda of one argument; None for other calls."""
        match node:
            case ast.Call(
                func=ast.Name(id="map"),
                args=[ast.Lambda(args=ast.arguments(args=[argument])) as function, parts],
            ):
                target = ast.Name(argument.arg, ast.Store())
                return self._comprehension(function.body, [ast.comprehension(target, parts, [], 0)])
        return None

    def _comprehension(self, element: ast.expr, loops: list[ast.comprehension]) -> Value:
        """Return the parts that a comprehension makes of known ones."""
        loop = loops[0]
        parts = containers.iterated(self._quietly(loop.iter)) if len(loops) == 1 else None
        if parts is None or len(parts) > _LONGEST_LOOP:
            return PLAIN
        before, made = dict(self._known.names), list[Value]()
        with self._ignored():
            for part in parts:
                self._assign(loop.target, part, None)
                if not containers.certainly_holds(loop.ifs, self._value):
                    made = [UNKNOWN]
                    break
                made.append(self._value(element))
        self._known.names = before
        return Items(tuple(made))

    def _attribute(self, node: ast.Attribute, owner: Value) -> Value:
        line = node.end_lineno or node.lineno
        if isinstance(owner, LocalInstance | LocalClass):
            return self._own_attribute(owner, node.attr, line)
        if isinstance(owner, InstanceValue | ClassValue):
            for cls in owner.cls.__mro__:
                if (cls, node.attr) in self._known.attached:
                    return self._known.attached[cls, node.attr]
        return self._lookup.attribute(owner, node.attr, line)

    def _own_attribute(self, owner: LocalInstance | LocalClass, name: str, line: int) -> Value:
        known = self._known.attributes.get((owner.node, name))
        if known is None:
            known = self._known.names.get((owner.node, name))
        if isinstance(known, LocalFunction) and isinstance(owner, LocalInstance):
            return LocalFunction(known.node, owner)
        if known is not None:
            return known
        for cls in self._mirror_bases(owner.node):
            if mirror.find_member(cls, name) is not None:
                return self._lookup.attribute(InstanceValue(cls), name, line)
        return UNKNOWN

    def _constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, str):
            return UNKNOWN if node.value is None else PLAIN
        for jar, verdict in jars_in(node.value):
            self._findings.add(jar, verdict, node.lineno)
        return self._text(Text(node.value), node)

    def _text(self, text: Text, node: ast.expr) -> Text:
        """Note the tables that a text of SQL describes, unless a part of it has told them."""
        for name, verdict, index in tables.in_text(text.text) if self._reads_sql else ():
            lines = text.text[:index].count("\n") if isinstance(node, _LITERALS) else 0
            line = min(node.lineno + lines, node.end_lineno or node.lineno)
            if isinstance(node, _LITERALS) or not self._findings.has(name):
                self._findings.add(name, verdict, line)
        return text

    def _sum(self, node: ast.BinOp) -> Value:
        with self._not_sql(isinstance(node.op, ast.Mod)):
            left = self._value(node.left)
        right = self._value(node.right)
        if isinstance(node.op, ast.Mod):
            made = tables.formatted(left, node.right, self._quietly)
        else:
            made = tables.concatenated(left, right)
        if made is None:
            return containers.added(left, right) or UNKNOWN
        return self._text(made, node)

    def _sum_of(self, statement: ast.AugAssign) -> Value:
        left, right = self._quietly(statement.target), self._value(statement.value)
        if (grown := containers.added(left, right)) is not None:
            return grown
        made = tables.concatenated(left, right) if isinstance(statement.op, ast.Add) else None
        return UNKNOWN if made is None else self._text(made, statement.value)

    @contextmanager
    def _not_sql(self, no: bool) -> Iterator[None]:
        """Take the texts of the block for messages, if a condition holds."""
        before = self._reads_sql
        self._reads_sql = before and not no
        try:
            yield
        finally:
            self._reads_sql = before

    def _call(self, node: ast.Call) -> Value:
        with self._not_sql(tables.is_message(node)):
            return self._called(node)

    def _called(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            with self._not_sql(node.func.attr in tables.FILLED):
                owner = self._value(node.func.value)
            called = self._attribute(node.func, owner)
        else:
            owner, called = UNKNOWN, self._value(node.func)
        made = tables.method(owner, node, self._quietly)
        arguments = [self._value(argument) for argument in node.args]
        named = {keyword.arg: self._value(keyword.value) for keyword in node.keywords}
        if isinstance(called, LocalFunction):
            return self._call_own(called, arguments, named)
        if isinstance(called, LocalClass):
            self._call_constructor(called, arguments, named)
            return LocalInstance(called.node)
        line = node.func.end_lineno or node.lineno
        keywords = {k.arg: k.value.lineno for k in node.keywords if k.arg is not None}
        if isinstance(called, CallableValue | ClassValue):
            for name, verdict in mistakes_in_call(called, node, arguments):
                self._findings.add(name, verdict, line)
        if node.args:
            self._note_tables(owner, node, arguments[0])
        if made is not None:
            return self._text(made, node)
        after = containers.changed(owner, node, self._quietly)
        if after is not None and isinstance(node.func, ast.Attribute):
            self._change(node.func.value, after)
        gathered = self._mapped(node) or containers.returned(owner, node, self._quietly)
        return gathered or self._lookup.call(called, arguments, keywords, line)

    def _note_tables(self, owner: Value, node: ast.Call, given: Value) -> None:
        """Note what a text names or lacks that a method of tables is given first."""
        if not isinstance(node.func, ast.Attribute) or not isinstance(given, Text):
            return
        own = isinstance(owner, ClassValue | InstanceValue)
        found: Iterator[tables.Found] = iter(())
        if HOLE in given.text:
            return
        if node.func.attr in tables.STATEMENTS and (own or owner == UNKNOWN):
            found = tables.in_statement(given.text)
        elif node.func.attr in tables.EXPRESSIONS and own and len(node.args) == 1:
            found = tables.in_expressions(given.text)
        elif node.func.attr == "for_connector" and own:
            found = iter([(*tables.connector(given.text), 0)])
        elif node.func.attr in {"for_format", "format"} and own:
            found = iter([(*tables.format_of_tables(given.text), 0)])
        for name, verdict, _ in found:
            self._findings.add(name, verdict, node.args[0].lineno)

    def _call_constructor(
        self, called: LocalClass, arguments: list[Value], named: dict[str | None, Value]
    ) -> None:
        constructor = self._known.names.get((called.node, "__init__"))
        if isinstance(constructor, LocalFunction):
            bound = LocalFunction(constructor.node, LocalInstance(called.node))
            self._call_own(bound, arguments, named)

    def _call_own(
        self, called: LocalFunction, arguments: list[Value], named: dict[str | None, Value]
    ) -> Value:
        function = called.node
        names = [argument.arg for argument in [*function.args.posonlyargs, *function.args.args]]
        if called.bound is not None and not _is_static(function):
            names = names[1:]
        given = dict(zip(names, arguments, strict=False))
        given |= {name: value for name, value in named.items() if name is not None}
        for name, value in given.items():
            key = (function, name)
            self._known.parameters[key] = join(self._known.parameters.get(key), value)
        calls = self._known.calls.setdefault(function, {})
        if len(calls) < _MOST_CALLS:
            texts = ((name, each) for name, each in given.items() if isinstance(each, WRITTEN))
            calls[tuple(sorted(texts, key=lambda pair: pair[0]))] = None
        if function.returns is not None:
            annotated = self._annotated(function.returns)
            if annotated != UNKNOWN:
                return annotated
        return self._known.returned.get(function, UNKNOWN)


def names_in(node: ast.expr) -> frozenset[str]:
    """The names in an expression."""
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def _is_static(function: _Function) -> bool:
    return any(ast.unparse(decorator) == "staticmethod" for decorator in function.decorator_list)


Names = dict[tuple[ast.AST, str], Value]
"""Values by the scope and the name."""


def merged(one: Names, other: Names) -> Names:
    """Return the values of names after one branch or the other."""
    return {**one, **{key: join(one.get(key), value) for key, value in other.items()}}
