"""Registry of model providers, and the models that settings name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TypeAlias

from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.prompting import FamilyMember, Mode
from pytest_fcbench.domain.registry import Registry
from pytest_fcbench.domain.transcript import Party
from pytest_fcbench.kinds.golden_path.assignment import MEASURES
from pytest_fcbench.models.baselines import careless, lexical, oracle, replay, scripted
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.models.provider import Chosen, Provider, refuse_model
from pytest_fcbench.models.providers import booking, family_model, litellm, openai_compatible, python_function
from pytest_fcbench.models.providers.family_model import FamilyModel
from pytest_fcbench.models.providers.litellm import EmbeddingModel
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel
from pytest_fcbench.models.providers.vendors import describe_key

PROVIDERS: Registry[Provider] = Registry(
    "model",
    "fcbench.models",
    {
        "oracle": oracle.PROVIDER,
        "careless": careless.PROVIDER,
        "lexical": lexical.PROVIDER,
        "scripted": scripted.PROVIDER,
        "python": python_function.PROVIDER,
        "replay": replay.PROVIDER,
        "litellm": litellm.PROVIDER,
    },
)
"""Model providers by name. Other names are models behind OpenAI's chat interface, or ids of litellm."""


def find_provider(settings: Settings) -> tuple[Provider, str]:
    """Return the provider of the model that these settings name, and its argument.

    Raises ``UsageError`` for a name that nearly is one of a provider: litellm takes any name, and this one
    is more likely a slip. At an address it is a name that the server there knows.
    """
    name, colon, argument = settings.model.partition(":")
    outside = openai_compatible if openai_compatible.find_endpoint(settings) else litellm
    # An id with its provider; a colon in it belongs to the model (``ollama/llama3:8b``).
    if "/" in name:
        return outside.PROVIDER, settings.model
    own_provider = PROVIDERS.get(name)
    if own_provider and (own_provider.argument_is_optional or bool(colon) == bool(own_provider.argument)):
        return own_provider, argument
    words = [provider.format_name(each) for each, provider in PROVIDERS.items()]
    ours = [each for each, provider in PROVIDERS.items() if provider.argument or not colon]
    if not settings.api_base and (own_provider or get_close_matches(name, ours, cutoff=0.75)):
        error = describe_unknown_name("model", settings.model, words)
        raise refuse_model(settings, f"{error} Any litellm id is valid too, e.g. gpt-4o or hosted_vllm/NAME.")
    return outside.PROVIDER, settings.model


def choose_model(settings: Settings) -> Chosen:
    """Return the model of a run. Raises ``UsageError`` for an invalid name or argument."""
    provider, argument = find_provider(settings)
    model_choice = provider.open(argument, settings)
    if member := find_member(provider, settings):
        return family_model.open_family_model(member, model_choice.model, settings)
    if model_choice.manner.prompting.mode is Mode.COMPLETION:
        model = model_choice.model
        if isinstance(model, OpenAICompatibleModel):
            # The same model, which can also be asked to continue a text.
            return replace(model_choice, model=FamilyModel(**vars(model), plain=model))
        if settings.parameters.get("stream"):
            raise refuse_model(settings, "is not streamed in completion mode; leave --fcbench-stream out")
    return model_choice


Identity: TypeAlias = Mapping[str, object]
"""The facts beside the request that can change an answer; part of the key of stored answers."""


def describe_identity(settings: Settings) -> Identity:
    """Return the identity of the model of a run. Raises ``UsageError``."""
    provider, argument = find_provider(settings)
    member = find_member(provider, settings)
    parameters = dict(settings.parameters)
    # A whole answer is what all get who ask for no stream, but for families that stream.
    if member is None and parameters.get("stream") is False:
        del parameters["stream"]
    return {
        "model": settings.model,
        "api_base": settings.api_base,
        "parameters": parameters,
        **provider.identify(argument, settings),
        # The environment may name another address for a vendor than litellm would ask.
        **({"asked_at": family_model.find_address(member, settings)[0]} if member else {}),
    }


def find_member(provider: Provider, settings: Settings) -> FamilyMember | None:
    """Find the official model as which a model behind an endpoint is asked. Raises ``UsageError``."""
    if provider not in (litellm.PROVIDER, openai_compatible.PROVIDER):
        return None
    return family_model.choose_member(settings)


def find_key_variables(settings: Settings) -> Sequence[str]:
    """Return the environment variables in which the key of a model is looked for where no option names one.

    There are none where the model needs no key, or where only its client knows. Raises ``UsageError``.
    """
    provider, argument = find_provider(settings)
    if member := find_member(provider, settings):
        return family_model.find_key_variables(member, settings)
    if provider is litellm.PROVIDER:
        return litellm.find_key_variables(argument)
    endpoint = openai_compatible.find_endpoint(settings)
    return (endpoint.key_variable,) if endpoint and provider is openai_compatible.PROVIDER else ()


def describe_key_source(settings: Settings) -> str | None:
    """Say where the key of a model came from, or where none was found; None where that is not known.

    Raises ``UsageError``.
    """
    if settings.api_key:
        return f"the key came from {settings.api_key_env}"
    if settings.parameters.get("api_key"):
        return "the key came from the parameter api_key"
    variables = find_key_variables(settings)
    return describe_key(settings.model, variables) if variables else None


def find_named_parties(settings: Settings) -> frozenset[Party]:
    """Return the auxiliary parties that the settings name."""
    setting_by_party = {
        Party.JUDGE: settings.judge,
        Party.SIMILARITY: settings.similarity not in MEASURES,
        Party.PROVIDER: settings.live,
    }
    return frozenset(party for party, is_named in setting_by_party.items() if is_named)


def open_auxiliary_models(
    settings: Settings, among: Collection[Party] = tuple(Party)
) -> Mapping[Party, tuple[Model, Identity]]:
    """Return the auxiliary models that the settings name, each with the identity of its stored answers.

    Raises ``UsageError``.
    """
    parties = find_named_parties(settings).intersection(among)
    auxiliary_models: dict[Party, tuple[Model, Identity]] = {}
    if Party.JUDGE in parties and settings.judge:
        check_judge(settings.judge)
        auxiliary_models[Party.JUDGE] = choose_model(settings.judge).model, describe_identity(settings.judge)
    if Party.SIMILARITY in parties:
        name, base = settings.similarity, settings.similarity_api_base
        # litellm takes any name, and one that nearly is one of ours is more likely a slip.
        if "/" not in name and get_close_matches(name, MEASURES, cutoff=0.75):
            raise UsageError(
                f"--fcbench-similarity={name}: {describe_unknown_name('similarity', name, MEASURES)} "
                "Any embedding model of litellm is valid too."
            )
        model = EmbeddingModel(name, base, settings.similarity_api_key, settings.timeout_s, {})
        similarity_settings = replace(settings, model=name, api_base=base)
        endpoint = litellm.identify_endpoint(name, similarity_settings)
        auxiliary_models[Party.SIMILARITY] = model, {"model": name, "api_base": base, **endpoint}
    if Party.PROVIDER in parties:
        auxiliary_models[Party.PROVIDER] = booking.from_environment(), {"model": "booking"}
    return auxiliary_models


def check_judge(settings: Settings) -> None:
    """Raise ``UsageError`` for a model that cannot be a judge."""
    provider, _ = find_provider(settings)
    if not provider.answers_questions:
        raise refuse_model(
            settings,
            "cannot judge, because it answers only entries; give a litellm id, a model profile "
            "or scripted:FILE",
        )
