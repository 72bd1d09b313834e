"""Documents, docstrings, comments and messages use the field's terms.

Two lists keep words away that once made the prose hard to read: phrases, among them those of an
engine that no longer exists, and beginnings of docstrings that have no noun.
"""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("examples/**/*.md"),
    *ROOT.glob("compat_tests/*.md"),
]
FOLDERS = ["pyflink_on_spark", "tests", "compat_tests", "examples", "benchmarks", "docs"]
MODULES = [
    path
    for folder in FOLDERS
    for path in ROOT.glob(f"{folder}/**/*.py")
    if path != Path(__file__).resolve()
]

# A phrase, an example that has it, and what to write.
PHRASES = [
    (r"\b(goes|go|going|went|gone) on\b", "the job goes on", "continues, resumes"),
    (r"\b(is|are|was|were|be|been|being) told\b", "listeners are told", "is notified"),
    (r"\bhears? of\b", "a function hears of it", "is notified"),
    (r"\banew\b", "begin anew", "again, restart"),
    (r"\bonce more\b", "once more", "again"),
    (r"\b(deal|deals|dealt|dealing) out\b", "dealt out", "redistributed"),
    (r"\b(let|lets|letting) go\b", "let go of it", "release"),
    (r"\b(give|gives|given|gave|giving) up\b", "given up", "abort, cancel, release"),
    (r"\bbehind\b", "behind the source", "after"),
    (r"\bwork(s|ed|ing)? off\b", "worked off", "process"),
    (r"\bfor ever\b", "for ever", "without limit, always"),
    (r"\bof yours\b", "a text of yours", "your"),
    (r"(?-i:(?<!there )\bis none\b)", "what is none", "is not a valid X"),
    (r"\bcheckpoint is safe\b|\bmade safe\b", "the checkpoint is safe", "is complete"),
    (r"\bslot hosts?\b", "a slot host", "host"),
    (
        r"(?<!since the )(?<!leader[-_])\bepochs?\b",
        "an epoch",
        "checkpoint, micro-batch",
    ),
    (r"\bcontinuous mode\b", "continuous mode", "unbounded job"),
    (r"\bsegments?\b", "a segment", "chain"),
    (r"\blevels? \d", "level 0", "stage"),
]
# The first line of a text in triple quotes that stands alone: a docstring, or an attribute's.
FIRST_LINE = re.compile(r'^[ \t]*r?"""[ \t]*(?P<text>\S.*)$', re.MULTILINE)
WITHOUT_A_NOUN = re.compile(
    r"(What|Whatever|Whether|Tells?)\b"
    r"|(Returns?|Yields?|Gives?) (what|whatever|it|them|that|those|the one (that|which))\b"
)
# What is quoted: options of others, SQL.
QUOTED = re.compile(
    r"SELECT |INSERT INTO|PRIMARY KEY|EXTRACT\(EPOCH|--mode=continuous|\"EPOCH\"|leader.epoch"
)
CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TEXT_TOKENS = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}


def lines_of_document(path):
    text = path.read_text(encoding="utf-8")
    blank = CODE_BLOCK.sub(lambda found: "\n" * found[0].count("\n"), text)
    yield from enumerate(blank.splitlines(), 1)


def lines_of_module(source):
    """Yield the prose of a module: docstrings, comments and messages."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in TEXT_TOKENS:
            yield from enumerate(token.string.splitlines(), token.start[0])


ANY_PHRASE = re.compile("|".join(pattern for pattern, _, _ in PHRASES), re.IGNORECASE)


def offences(path, lines):
    for number, line in lines:
        if QUOTED.search(line):
            continue
        for pattern, _, instead in PHRASES:
            found = re.search(pattern, line, re.IGNORECASE)
            if found:
                yield f"{path.relative_to(ROOT)}:{number}: {found[0]!r}: write {instead}"


def test_documents():
    assert [text for path in DOCUMENTS for text in offences(path, lines_of_document(path))] == []


@pytest.mark.slow
def test_docstrings_comments_and_messages():
    assert [
        text
        for path in MODULES
        if ANY_PHRASE.search(source := path.read_text(encoding="utf-8"))
        for text in offences(path, lines_of_module(source))
    ] == []


def beginnings(path, source):
    """Yield the docstrings that make the reader look for the noun."""
    for found in FIRST_LINE.finditer(source):
        if WITHOUT_A_NOUN.match(found["text"]):
            number = source.count("\n", 0, found.start()) + 1
            place = path.relative_to(ROOT)
            yield f"{place}:{number}: {found['text']!r}: name the thing, or write 'True if'"


def test_docstrings_begin_with_a_noun_or_a_verb():
    sources = [(path, path.read_text(encoding="utf-8")) for path in MODULES]
    assert [text for path, source in sources for text in beginnings(path, source)] == []


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("What a checkpoint says of itself.", True),
        ("Whether the source ends.", True),
        ("Tell whether two periods overlap.", True),
        ("Return what converts a key.", True),
        ("Yields that which is left.", True),
        ("Return it as it is written.", True),
        ("Return the one that is in charge.", True),
        ("Return the one global window.", False),
        ("True if two periods overlap.", False),
        ("Return the conversion of a key.", False),
        ("Telling names.", False),
    ],
)
def test_beginnings_without_a_noun_are_found(text, is_found):
    source = f'"""{text}"""\n\n\nclass A:\n    """{text}\n\n    More.\n    """\n'
    found = [line.split(":")[1] for line in beginnings(ROOT / "module.py", source)]
    assert found == (["1", "5"] if is_found else [])


@pytest.mark.parametrize(("pattern", "example", "instead"), PHRASES)
def test_each_phrase_is_found_where_prose_is(pattern, example, instead):
    assert re.search(pattern, example)
    assert not re.search(pattern, instead)
    source = f'"""It says: {example}."""\n\nraise ValueError("{example}")  # {example}\n'
    found = list(offences(ROOT / "module.py", lines_of_module(source)))
    assert [text.split(":")[1] for text in found] == ["1", "3", "3"]
