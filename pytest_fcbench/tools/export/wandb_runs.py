"""Scorecards as offline runs of Weights & Biases; nothing is sent until ``wandb sync``."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.tools.export.order import ExportRequest
from pytest_fcbench.tools.export.tracked_values import collect_numbers, collect_settings


def write_path(order: ExportRequest, path: Path) -> list[str]:
    """Write a run for each scorecard and return how to send them."""
    # Before the import, at which wandb starts to report its errors.
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    import wandb

    # Neither the output of this process nor facts of this machine and its repository belong to the run.
    settings = wandb.Settings(
        console="off",
        silent=True,
        disable_git=True,
        save_code=False,
        x_disable_meta=True,
        x_disable_stats=True,
    )
    sentences = []
    for card in order.cards:
        run = wandb.init(
            mode="offline",
            dir=path,
            project=put_on_one_line(order.name or "fcbench"),
            name=put_on_one_line(card.path.stem),
            config=dict(collect_settings(card)),
            settings=settings,
            reinit="create_new",
        )
        run.summary.update(dict(collect_numbers(card)))
        folder = Path(run.dir).parent
        run.finish()
        sentences.append(f"written to {folder}; 'wandb sync {folder}' sends it")
    # The process that writes the files may still have them in memory; this waits for its end.
    wandb.teardown()
    return sentences
