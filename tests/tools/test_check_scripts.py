"""The static report on the collection of scripts, all of which run."""

from __future__ import annotations

import pytest

from compat_tests.test_scripts import scripts
from pyflink_on_spark.tools.check.script import examine

pytestmark = pytest.mark.slow


def test_no_script_of_the_collection_is_refused():
    collection = scripts()
    assert len(collection) > 450
    ends = [each for each in collection if each.release in {each.first, each.last}]
    found = [(each, examine(f"{each.name}.py", each.text)) for each in ends]
    refused = {
        f"{each.name} of {each.release}": [
            (use.name, use.verdict.reason) for use in findings.uses if not use.verdict.status.runs
        ]
        for each, findings in found
        if not findings.runs
    }
    assert refused == {}
