"""Packs: official data, fetched at run time and kept in the user's cache, never in this project.

A source says what a pack is made from: a pinned Python wheel (``wheel``), or a file of a dataset on the
Hugging Face hub (``hub``). What all packs have in common is in ``pack``.
"""

from pytest_fcbench.suites.packs.pack import Pack, Source, installed, pull

__all__ = ["Pack", "Source", "installed", "pull"]
