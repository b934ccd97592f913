"""Offline runs of Weights & Biases, read from the files that ``wandb sync`` sends."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.tools.export.formats import ExportRequest
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import make_order, make_run

pytest.importorskip("wandb", reason="the extra wandb is not installed")


def read_store(path: Path) -> Iterator[bytes]:
    """Read the records of a file: those of a log of LevelDB behind seven bytes of wandb's own."""
    content, at, record = path.read_bytes(), 7, b""
    assert content.startswith(b":W&B")
    while at + 7 < len(content):
        _, length, kind = struct.unpack_from("<IHB", content, at)
        record += content[at + 7 : at + 7 + length]
        at += 7 + length
        # Blocks have 32 KiB, and no head of a record goes over the end of one.
        at += left if (left := -at % 32_768) < 7 else 0
        if kind in (1, 4):
            yield record
            record = b""


def write_and_read(order: ExportRequest, folder: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Write runs and read the configuration and the summary of each."""
    from wandb.proto import wandb_internal_pb2

    from pytest_fcbench.tools.export.trackers import write_wandb_runs

    assert len(write_wandb_runs(order, folder)) == len(order.cards)
    runs = []
    for path in sorted(folder.glob("wandb/offline-run-*/*.wandb")):
        config: dict[str, Any] = {}
        summary: dict[str, Any] = {}
        for data in read_store(path):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            for item in record.run.config.update:
                config[item.key] = json.loads(item.value_json)
            for item in record.summary.update:
                summary["/".join(item.nested_key) or item.key] = json.loads(item.value_json)
        runs.append((config, summary))
    return runs


def test_a_run_has_the_scores_in_its_summary(tmp_path: Path) -> None:
    ((config, summary),) = write_and_read(make_order(), tmp_path)
    assert (config["model"], config["suite.core"]) == ("test", "1")
    assert summary["official/category/simple_python/accuracy"] == 0.5
    assert summary["corrected/category/simple_python/accuracy"] == 1.0
    assert summary["official/overall/not_scored"] == 1.0


def test_a_run_says_nothing_of_the_machine(tmp_path: Path) -> None:
    write_and_read(make_order(), tmp_path)
    assert list(tmp_path.rglob("wandb-metadata.json")) == []


@pytest.mark.parametrize("name", ["script", "entity", "template"])
def test_every_text_is_a_value(tmp_path: Path, name: str) -> None:
    text = HOSTILE_TEXTS[name]
    ((config, _),) = write_and_read(make_order(make_run(model="m", text=text)), tmp_path)
    assert config["model"] == f"m{text}"
