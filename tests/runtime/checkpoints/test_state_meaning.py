"""Who takes over the state of a checkpoint: by name, and by what the state means."""

from __future__ import annotations

from pyflink_on_spark._runtime.contract.state_meaning import StateMeaning, heirs_of


def table(what, kind="Sum"):
    return StateMeaning({"kind": kind, "of": what}, tells_all=True)


A, B, C = table("a"), table("b"), table("c")
STREAM = StateMeaning({"kind": "window", "size": "10 ms"})


def heirs(stored, wanted, found=None, sources=()):
    found = list(stored) if found is None else found
    return heirs_of(found, stored, wanted, [name for name in found if name not in sources])


def test_what_is_where_it_was():
    assert heirs({"1": A, "2": B}, {"1": A, "2": B, "3": C}).names == {}


def test_two_that_have_changed_places():
    found = heirs({"1": A, "2": B}, {"1": B, "2": A})
    assert found.names == {"1": "2", "2": "1"}
    assert found.changed == ()


def test_one_that_has_moved_to_where_another_was_that_is_gone():
    found = heirs({"1": A, "2": B}, {"1": B})
    assert found.names == {"1": None, "2": "1"}
    assert found.changed == ()


def test_a_new_one_in_the_place_of_one_that_has_moved():
    assert heirs({"1": A}, {"1": C, "2": A}).names == {"1": "2"}


def test_one_that_has_changed():
    found = heirs({"1": A}, {"1": C})
    assert (found.names, found.changed) == ({}, ("1",))
    assert found.without_changed().names == {"1": None}


def test_one_that_has_changed_and_moved():
    found = heirs({"1": A, "3": B}, {"2": C, "3": B})
    assert (found.names, found.changed) == ({"1": "2"}, ("1",))
    assert heirs({"1": A}, {"2": table("a", "Max")}).names == {}
    assert heirs({"1": A, "2": B}, {"3": C}).names == {}


def test_two_that_mean_the_same_are_not_told_apart():
    assert heirs({"1": A, "2": A}, {"3": A, "4": A}).names == {}
    assert heirs({"1": A, "2": A}, {"1": A, "3": A}).names == {"2": "3"}


def test_nothing_moves_if_sources_could_be_confused():
    source = table("t", "Scan")
    stored = {"0": source, "1": A, "2": source, "3": B}
    found = heirs(stored, {"0": source, "1": B, "2": source, "3": A}, sources=("0", "2"))
    assert (found.names, found.changed) == ({}, ("1", "3"))


def test_a_source_moves_but_is_never_another_table():
    one, two = table("t", "Scan"), table("u", "Scan")
    assert heirs({"0": one}, {"4": one}, sources=("0",)).names == {"0": "4"}
    assert heirs({"0": one}, {"4": two}, sources=("0",)).names == {}


def test_state_of_a_stream_stays_where_it_is():
    other = StateMeaning({"kind": "window", "size": "20 ms"})
    assert heirs({"1": STREAM}, {"2": STREAM}).names == {}
    assert heirs({"1": STREAM}, {"1": other}).changed == ("1",)


def test_what_nobody_knows_is_taken_by_name():
    found = heirs({}, {"1": A}, found=["1"])
    assert (found.names, found.changed, found.unknown) == ({}, (), ("1",))
    found = heirs({"1": A}, {})
    assert (found.names, found.changed, found.unknown) == ({}, (), ())


def test_a_meaning_in_words():
    meaning = StateMeaning({"kind": "Sum", "keys": ["k INT", "l INT"], "filter": "", "of": "v"})
    assert str(meaning) == "Sum; keys: k INT, l INT; of: v"
    assert StateMeaning.from_json(meaning.to_json()) == meaning
    assert meaning.digest == "cda83ad1109424cd"
