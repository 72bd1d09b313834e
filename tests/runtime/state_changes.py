"""The changes of keyed state, as a checkpoint of changes takes them."""

from __future__ import annotations

from pyflink_on_spark._runtime.state.snapshot import StateDelta


def taken_changes(backend):
    """The changes since the last call, of all key groups."""
    chunks = backend.change_pieces()
    pieces = list(chunks.values())
    chunks.note_taken()
    states = pieces[0].states if pieces else {}
    entries = [entry for piece in pieces for entry in piece.entries]
    return StateDelta(states, entries, [timer for piece in pieces for timer in piece.timers])
