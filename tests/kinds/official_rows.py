"""Lines of official score files, as they come back from the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Completion, Transcript
from pytest_fcbench.environments.execution import open_environments
from pytest_fcbench.environments.world import World
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds.answered_entry import AnsweredEntry
from pytest_fcbench.kinds.kind import Resources
from pytest_fcbench.tools.export.official_tables import build_score_row, write_line
from tests.factories import make_transcript

WORLD = World(defaults={"file_system": {"root": {"lib": {"type": "directory", "contents": {}}}}})
QUESTION: Mapping[str, object] = {"id": "q", "question": "Where?"}


def write_and_read_row(
    entry: Entry, answer: Transcript | Completion | str, truth: object = None, result: object = "raw"
) -> dict[str, object] | None:
    """Return the line on an answer, as it comes back from the file."""
    transcript = answer if isinstance(answer, Transcript) else make_transcript(answer)
    answered = AnsweredEntry(entry, transcript, result, QUESTION, truth)
    with closing(Pool()) as execute:  # whose processes start when there is something to carry out
        resources = Resources(lambda entry: open_environments(entry, WORLD), execute, Performer())
        row = build_score_row(answered, "my_model", resources)
    read: dict[str, object] | None = None if row is None else json.loads(write_line(row))
    return read
