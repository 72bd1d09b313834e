"""A program in the making, and what is known of its streams."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from tests.random_programs.program import (
    ANY,
    BY_FIRST,
    TOTAL,
    ClassDefinition,
    Line,
    Method,
    Output,
    Program,
    Step,
)
from tests.random_programs.shapes import STR, Shape, type_of, wrong_type_of

_WRONG = 0.04


@dataclass(frozen=True)
class Stream:
    """The known properties of a stream.

    Args:
        name: of its variable.
        shape: of its elements.
        typed: its declared type, if it has one.
        order: TOTAL if the sequence of elements is fixed; BY_FIRST if it is among elements of the
            same first field; ANY if it is not fixed at all.
        width: its parallelism.
        timed: whether elements have timestamps.
        key: the expression of its key, if it is a keyed stream, and the key's shape.
        ends: whether its elements come at the end of the input only.
        paced: whether watermarks come between elements.
    """

    name: str
    shape: Shape
    typed: str | None = None
    order: str = TOTAL
    width: int = 1
    timed: bool = False
    key: str | None = None
    key_shape: Shape = STR
    ends: bool = False
    paced: bool = False

    @property
    def ordered_by_key(self) -> bool:
        """True if the elements of each key are in a fixed order."""
        assert self.key is not None
        return self.order == TOTAL or (self.order == BY_FIRST and self.key == "v[0]")


@dataclass
class Draft:
    """Collects the parts of a program.

    Args:
        rng: what chooses.
        batch: whether the program runs in BATCH mode.
        parallelism: of the environment.
    """

    rng: Random
    batch: bool = False
    parallelism: int = 1
    steps: list[Step] = field(default_factory=list)
    classes: dict[str, ClassDefinition] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    streams: list[Stream] = field(default_factory=list)

    def call(self, of: str, method: str, *args: str, **options: str | None) -> str:
        """Add a call, and return the name of what it makes."""
        name = f"s{len(self.steps)}"
        given = {key: value for key, value in options.items() if value is not None}
        self.steps.append(Step(name, of, method, args, given))
        return name

    def stream(self, before: Stream, method: str, *args: str, **changes: object) -> Stream:
        """Add a call on a stream that keeps what is known of it, but for some changes."""
        name = self.call(before.name, method, *args)
        return self.add(replace(before, name=name, **changes))  # type: ignore[arg-type]

    def add(self, stream: Stream) -> Stream:
        """Make a stream one that later steps may choose."""
        self.streams.append(stream)
        return stream

    def define(self, base: str, **methods: tuple[str, list[Line]]) -> str:
        """Add a class; the parameters of its methods are without ``self``. Return its name."""
        name = f"F{len(self.classes)}"
        made = {
            method: Method(f"self, {parameters}" if parameters else "self", tuple(body))
            for method, (parameters, body) in methods.items()
        }
        self.classes[name] = ClassDefinition(base, made)
        return name

    def constant(self, prefix: str, source: str) -> str:
        """Add a constant, and return its name."""
        name = f"{prefix}{len(self.constants)}"
        self.constants[name] = source
        return name

    def chance(self, probability: float) -> bool:
        """Decide something."""
        return self.rng.random() < probability

    def declared(self, shape: Shape, untyped: float = 0.5) -> str | None:
        """Choose whether values of a shape are declared, and as what; now and then wrongly."""
        if self.chance(untyped) or "any" in repr(shape):
            return None  # real PyFlink cannot collect an untyped field
        if self.chance(_WRONG):
            return wrong_type_of(self.rng, shape)
        return type_of(self.rng, shape)

    def through(self, stream: Stream, keeps_first: bool) -> str:
        """Return the order after an operator of the environment's parallelism.

        In BATCH mode a keyed operator processes the keys in any order.

        Args:
            stream: what the operator reads.
            keeps_first: whether the first field of what it emits is that of what it reads.
        """
        one = stream.width == self.parallelism == 1 and not (self.batch and stream.key)
        if stream.order == TOTAL and one:
            return TOTAL
        if stream.order == TOTAL and stream.key == "v[0]" and keeps_first:
            return BY_FIRST
        if stream.order == BY_FIRST and keeps_first and self._stays(stream):
            return BY_FIRST
        return ANY

    def _stays(self, stream: Stream) -> bool:
        """True if elements of the same first field stay together and in order."""
        return stream.width == self.parallelism or stream.key == "v[0]"

    def program(self, seed: int, mode: str, settings: dict[str, str], how: str) -> Program:
        """Return the program, with its last stream as the output."""
        last = next(s for s in reversed(self.streams) if s.key is None)
        # subtasks print one line after the other, all into one file
        order = ANY if how == "print" and self.parallelism > 1 else last.order
        return Program(
            seed=seed,
            mode=mode,
            parallelism=self.parallelism,
            settings=settings,
            constants=self.constants,
            classes=self.classes,
            steps=_leading_to(last.name, self.steps) if self.chance(0.9) else tuple(self.steps),
            outputs=(Output(last.name, how, order),),
        )


def _leading_to(stream: str, steps: list[Step]) -> tuple[Step, ...]:
    """Return the steps that a stream needs; settings of a stream are steps of it, too."""
    needed, kept = {stream}, []
    for step in reversed(steps):
        # a side output that nobody takes is an element of the main output in real PyFlink
        side = step.method == "get_side_output" and step.of in needed
        if step.name in needed or side:
            kept.append(step)
            needed |= {step.of, *step.args}
    return tuple(reversed(kept))
