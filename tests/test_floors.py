"""The floors inside each room, which floors.toml draws: imports go down only."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from tests.test_layers import PACKAGE, modules, text_of

# The floors of each room, the bottom floor first.
FLOORS = {
    room: drawing.strip().splitlines()[::-1]
    for room, drawing in tomllib.loads(
        Path(__file__).with_name("floors.toml").read_text(encoding="utf-8")
    ).items()
}


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name_in_room(path):
    """The folder or loose module of a module, or None for the room's own ``__init__``."""
    name = path.relative_to(PACKAGE).parts[1].removesuffix(".py")
    return None if name == "__init__" else name


def floors_by_name(room):
    """The (floor, part) of each name of a room."""
    return {
        name: (floor, part)
        for floor, parts in enumerate(FLOORS[room])
        for part in parts.split()
        for name in part.split("+")
    }


def imported_names_of_room(path):
    """Each (name in the room, imported name) of a module, imports for typing included."""
    room = f"pyflink_on_spark.{room_of(path)}."
    for node in ast.walk(ast.parse(text_of(path), str(path))):
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imported = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in imported:
            if name.startswith(room):
                yield name.removeprefix(room).split(".")[0], name


def offences_of(room):
    floors = floors_by_name(room)
    for path in modules_of(room):
        own = floors.get(name_in_room(path))
        for name, imported in imported_names_of_room(path) if own else ():
            other = floors.get(name, own)
            if other != own and other[0] >= own[0]:
                yield f"{path.relative_to(PACKAGE)} imports {imported}"


def modules_of(room):
    return [path for path in modules() if room_of(path) == room and path.parent != PACKAGE]


@pytest.mark.parametrize("room", FLOORS)
def test_every_part_stands_on_one_floor(room):
    named = [name for floor in FLOORS[room] for part in floor.split() for name in part.split("+")]
    assert sorted(named) == sorted({name_in_room(path) for path in modules_of(room)} - {None})


@pytest.mark.parametrize("room", FLOORS)
def test_imports_inside_a_room_go_down_only(room):
    assert not list(offences_of(room))


def test_every_room_has_floors():
    assert {room_of(path) for path in modules() if path.parent != PACKAGE} == set(FLOORS)
