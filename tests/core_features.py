"""Write what makes each entry of ``core`` hard into its file of features: ``python -m tests.core_features``.

Without ``--write`` the entries are listed whose features there differ from those that are found. Features
that no function finds (``STATED``) stay as they stand there; add them by hand.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from pytest_fcbench.suites import core
from pytest_fcbench.tools.audit.strata import list_features

FILE = Path(core.__file__).with_name("features.json")


def find_features() -> Mapping[str, list[str]]:
    """Return the features of each entry of core by id, but for entries in other prompt formats."""
    suite = core.open_suite(Path("no cache is needed"))
    return {
        entry.id: list(list_features(entry))
        for category in suite.categories
        if not category.varies_others
        for entry in suite.load(category)
    }


def main() -> None:
    """Write the file, or list what would change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    is_to_write = parser.parse_args().write
    if not FILE.exists():
        FILE.write_text("{}\n", encoding="utf-8")
    stored, found = json.loads(FILE.read_text(encoding="utf-8")), find_features()
    if is_to_write:
        lines = (f"{json.dumps(name)}: {json.dumps(features)}" for name, features in found.items())
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    for name in sorted({*stored, *found}):
        if stored.get(name) != found.get(name):
            print(f"{name}: {stored.get(name)} -> {found.get(name)}")


if __name__ == "__main__":
    main()
