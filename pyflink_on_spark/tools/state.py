"""``state``: the content of a checkpoint or savepoint."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from itertools import islice
from pathlib import Path
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.moving_out import move_out
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.contract.state_meaning import StateMeaning
from pyflink_on_spark.flink_state import is_of_flink
from pyflink_on_spark.state import (
    CheckpointContents,
    MovedInContents,
    Opaque,
    SavepointWriter,
    StateEntry,
    StateSummary,
    open_checkpoint,
)
from pyflink_on_spark.tools.commands import (
    add_key,
    configuration_of_key,
    parser_of,
    split_at_dashes,
)
from pyflink_on_spark.tools.plan.recording import recorded_jobs

_WIDTH = 2_000
_MOST_LEVELS = 50
_OWN = "pyflink_on_spark."
_ROW = "pyflink_on_spark.common.types.Row"
_CHANGES = (
    ("drop", ("OPERATOR", "STATE"), "leave a state out; STATE is timers for the timers"),
    ("rename", ("OPERATOR", "STATE", "NAME"), "give a state another name"),
    ("drop-operator", ("OPERATOR",), "leave an operator out, or the positions of a source"),
    ("rename-operator", ("OPERATOR", "UID"), "give an operator's state to another uid"),
)


def main(arguments: list[str]) -> int:
    """Show the content of a checkpoint or savepoint.

    Returns:
        0, or 1 if it cannot be read or written.
    """
    own, given = split_at_dashes(arguments)
    options = _parser().parse_args(own)
    if (options.write_flink is None) != (options.job is None):
        print("state: --write-flink NEW and --job SCRIPT belong together", file=sys.stderr)
        return 1
    if options.write_flink is not None and (options.write or options.read or options.json):
        print(
            "state: --write-flink does nothing else: leave --write, --read and --json out",
            file=sys.stderr,
        )
        return 1
    if options.write is None and any(
        getattr(options, name.replace("-", "_")) for name, _, _ in _CHANGES
    ):
        print("state: where to? Add --write NEW", file=sys.stderr)
        return 1
    try:
        if options.write_flink is not None:
            return _write_for_flink(options, given)
        key = configuration_of_key(options.key)
        contents = open_checkpoint(options.path, key, trusted=options.trusted)
        if options.write is not None:
            written = _changed(contents, options).write(
                options.write, configuration_of_key(options.sign or options.key)
            )
            print(f"savepoint written: {written}")
        elif options.read is not None:
            entries = contents.entries(*options.read)
            _print_entries(islice(entries, options.limit), options.json, options.width)
        elif options.json:
            print(json.dumps(_summary(contents), indent=2, default=repr))
        else:
            _print_summary(contents)
    except BrokenPipeError:
        raise
    except (CheckpointError, ImportError, OSError, ValueError) as error:
        print(f"state: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "state",
        "Show what a checkpoint or savepoint holds. No class of the job is loaded, "
        "unless --trusted says so.",
    )
    parser.add_argument("path", metavar="PATH", help="its folder, or its _metadata")
    parser.add_argument(
        "--read", nargs=2, metavar=("OPERATOR", "STATE"),
        help="show the entries of a state; of the operator's id a part is enough",
    )  # fmt: skip
    parser.add_argument(
        "--write", metavar="NEW",
        help="write a savepoint with the changes that the next options name, and change nothing "
        "here",
    )  # fmt: skip
    parser.add_argument(
        "--write-flink", metavar="NEW",
        help="write a savepoint with which Flink starts the job, in canonical format",
    )  # fmt: skip
    parser.add_argument(
        "--job", metavar="SCRIPT",
        help="the script of the job, for --write-flink: the script is run, its jobs are not. The "
        "script's own arguments follow --",
    )  # fmt: skip
    parser.add_argument(
        "--leave-out", action="store_true",
        help="with --write-flink, leave out what Flink cannot take over",
    )  # fmt: skip
    for name, values, text in _CHANGES:
        parser.add_argument(
            f"--{name}", nargs=len(values), action="append", default=[], metavar=values, help=text
        )
    parser.add_argument("--limit", type=int, metavar="N", help="show only so many entries")
    parser.add_argument(
        "--width", type=int, metavar="N", default=_WIDTH,
        help=f"show about so many characters of a key or a value; 0: all; default: {_WIDTH}",
    )  # fmt: skip
    add_key(parser)
    parser.add_argument(
        "--sign", metavar="KEY", help="the key that signs what --write writes; default: that of "
        "--key",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="as JSON, entries one a line")
    parser.add_argument(
        "--trusted", action="store_true", help="load the classes of the job, which runs their code"
    )
    return parser


def _write_for_flink(options: argparse.Namespace, arguments: list[str]) -> int:
    script = Path(options.job)
    if not script.is_file():
        print(f"state: there is no {script}", file=sys.stderr)
        return 1
    jobs = recorded_jobs("state", script, arguments)
    if not jobs:
        return 1
    if is_of_flink(options.path):
        print(f"state: {options.path} is a savepoint of Flink", file=sys.stderr)
        return 1
    contents = CheckpointContents(options.path, configuration_of_key(options.key), trusted=True)
    job = next((job for job in jobs if job.name == contents.metadata.job_name), jobs[0])
    place = folder(options.write_flink)
    found = move_out(job, contents, place, leaves_out=options.leave_out)
    print(f"savepoint for Flink written: {place.shown}")
    print(*(f"  {name} ({what})" for name, what in sorted(found.taken.items())), sep="\n")
    if found.refused:
        print("left out:", *(f"  {reason}" for reason in found.refused), sep="\n")
    return 0


def _changed(contents: CheckpointContents, options: argparse.Namespace) -> SavepointWriter:
    if isinstance(contents, MovedInContents):
        _check_whole(contents)
    writer = SavepointWriter(contents)
    for name, _, _ in _CHANGES:
        method = name.replace("-", "_")
        for values in getattr(options, method):
            getattr(writer, method)(*values)
    return writer


def _check_whole(contents: MovedInContents) -> None:
    """See that a savepoint of Flink is whole, and needs no job to be written as one of ours.

    Raises:
        CheckpointError: a part is damaged, or there are keys whose fields have names that only the
            job knows.
    """
    if contents.damaged:
        reasons = "".join(f"\n  {reason}" for reason in contents.damaged)
        raise CheckpointError(f"{contents.path} is damaged:{reasons}")
    for operator in contents.operators():
        if any(_ROW in types for state in operator.states for types in state.key_types):
            raise CheckpointError(
                f"the keys of {operator.id!r} are rows, and only the job knows the names of their "
                "fields: begin the job with the savepoint of Flink itself (run -s)"
            )


def _print_summary(contents: CheckpointContents) -> None:
    metadata = contents.metadata
    when = datetime.datetime.fromtimestamp(metadata.time / 1000, datetime.UTC).astimezone()
    kind = "savepoint" if metadata.savepoint else "checkpoint"
    files = metadata.data_files
    size = sum(file.size for file in files)
    if isinstance(contents, MovedInContents):
        print(f"checkpoint or savepoint {metadata.checkpoint_id} of Flink")
    else:
        print(f"{kind} {metadata.checkpoint_id} of {metadata.job_name!r} ({metadata.job_id})")
        print(f"written {when:%Y-%m-%d %H:%M:%S}, {size:,} bytes in {len(files)} files")
    for operator in contents.operators():
        print(f"\noperator {operator.id}")
        print(
            f"  {operator.size:,} bytes of {operator.subtasks} subtasks, {operator.key_groups} of "
            f"{operator.max_parallelism} key groups"
        )
        if operator.meaning is not None:
            print(f"  means {StateMeaning(operator.meaning)}")
        for state in operator.states:
            expires = ", with a time to live" if state.expires else ""
            print(
                f"  {state.name}: {state.kind}, {state.entries:,} entries{_types(state)}{expires}"
            )
    for source in contents.sources():
        print(f"\nsource {source.id}")
        for position in source.positions:
            print(f"  {_position(position)}")
    if isinstance(contents, MovedInContents) and contents.left_out:
        print("\nnot shown:", *(f"  {why}" for why in contents.left_out), sep="\n")


def _position(position: object) -> str:
    """Return a position for people: of one of our sources the attributes that are set."""
    match position:
        case Opaque(content=[{**attributes}]) if position.of.startswith(_OWN):
            named = [f"{k} {v!r}" for k, v in attributes.items() if v is not None]
            return ", ".join(named)
    return str(position)


def _types(state: StateSummary) -> str:
    """Return the classes of keys and values, as far as there are entries."""
    types = [" or ".join(names) for names in (state.key_types, state.value_types) if names]
    return f" ({' to '.join(types)})" if types else ""


def _summary(contents: CheckpointContents) -> dict[str, object]:
    return {
        **asdict(contents.metadata),
        "operators": [asdict(operator) for operator in contents.operators()],
        "sources": [asdict(source) for source in contents.sources()],
    }


def _print_entries(entries: Iterable[StateEntry], as_json: bool, width: int) -> None:
    for entry in entries:
        if as_json:
            print(_json(entry, width))
        else:
            window = "" if entry.namespace is None else f" {entry.namespace}"
            print(f"{_shown(entry.key, width)}{window}: {_shown(entry.value, width)}")


def _json(entry: StateEntry, width: int) -> str:
    """Return an entry as JSON; fields that JSON cannot express are texts."""
    try:
        return json.dumps(asdict(entry), default=repr)
    except (TypeError, ValueError, RecursionError):
        shown = {field.name: getattr(entry, field.name) for field in fields(entry)}
        return json.dumps({name: _shown(value, width) for name, value in shown.items()})


def _shown(value: object, width: int) -> str:
    """Return the ``repr`` of a value, cut after ``width`` characters; 0: not cut."""
    found, length = [], 0
    for piece in _pieces(value, width or sys.maxsize, _MOST_LEVELS):
        found.append(piece)
        length += len(piece)
        if 0 < width < length:
            return f"{''.join(found)[:width]}..."
    return "".join(found)


def _pieces(value: Any, width: int, levels: int) -> Iterator[str]:
    """Yield the ``repr`` of a value piece by piece, without what is below so many levels."""
    kind = type(value)
    if kind in (list, tuple, dict) and not levels:
        yield "..."
    elif kind is dict:
        yield "{"
        for number, (key, item) in enumerate(value.items()):
            yield ", " if number else ""
            yield from _pieces(key, width, levels - 1)
            yield ": "
            yield from _pieces(item, width, levels - 1)
        yield "}"
    elif kind in (list, tuple):
        yield "[" if kind is list else "("
        for number, item in enumerate(value):
            yield ", " if number else ""
            yield from _pieces(item, width, levels - 1)
        yield "]" if kind is list else ",)" if len(value) == 1 else ")"
    elif kind in (str, bytes):
        yield repr(value[:width])
    else:
        try:
            yield repr(value)
        except (ValueError, RecursionError):  # a number of very many digits, for example
            yield f"<{kind.__name__}>"
