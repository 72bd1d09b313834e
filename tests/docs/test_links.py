"""The documents link to files that exist, and to headings that these files have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
DOCUMENTS = [
    document
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "compat_tests/*.md")
    for document in sorted(ROOT.glob(pattern))
]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors_of(document):
    text = FENCED.sub("", document.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", title).lower()).strip().replace(" ", "-")
        for title in HEADING.findall(text)
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    broken = []
    for target, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        file = (document.parent / target) if target else document
        if target.startswith("api/"):
            continue  # the site's generator writes these pages
        if not file.exists() or (
            anchor and file.suffix == ".md" and anchor not in anchors_of(file)
        ):
            broken.append(f"{target}#{anchor}")
    assert not broken
