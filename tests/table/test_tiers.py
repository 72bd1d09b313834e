"""Every compatibility test of tables counts for a tier."""

from __future__ import annotations

from compat_tests.table_tiers import FOLDER, TIERS


def test_every_file_has_a_tier():
    named = [f"test_table_{name}.py" for names in TIERS.values() for name in names]
    assert sorted(named) == sorted(path.name for path in FOLDER.glob("test_table_*.py"))
