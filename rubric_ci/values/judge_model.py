"""A judge with another model, and which options of the old one it keeps."""

from dataclasses import replace

from rubric_ci.values.config import Endpoint, JudgeConfig
from rubric_ci.values.hosts import CREDENTIALS
from rubric_ci.values.json_value import JSON


def with_model(judge: JudgeConfig | None, model: str) -> JudgeConfig | None:
    """Return the judge with another model; "" keeps its own.

    The host, the key and the headers of the judge are kept for models of the same provider only.
    """
    if not model:
        return judge
    if judge is None:
        return JudgeConfig(endpoint=Endpoint(model=model))
    if judge.endpoint.command:
        return judge.alone(Endpoint(model=model))
    options = judge.endpoint.options
    identity = judge.endpoint.identity
    if model.partition("/")[0] != judge.endpoint.model.partition("/")[0]:
        identity = None
        options = {key: value for key, value in options.items() if not _connects(key, value)}
    return judge.alone(replace(judge.endpoint, model=model, options=options, identity=identity))


def with_named_model(judge: JudgeConfig | None, model: str) -> JudgeConfig:
    """Return the judge with a model that the command line names, at its provider's own host.

    A host or a key of the configuration was not named with it, and is dropped.
    """
    if judge is None:
        return JudgeConfig(endpoint=Endpoint(model=model))
    if judge.endpoint.command:
        return judge.alone(Endpoint(model=model))
    options = {
        key: value for key, value in judge.endpoint.options.items() if not _connects(key, value)
    }
    return judge.alone(replace(judge.endpoint, model=model, options=options, identity=None))


def _connects(key: str, value: JSON) -> bool:
    """Return True for an option that chooses the server or gives it a key."""
    named = key in CREDENTIALS or key.startswith("api_") or key == "custom_llm_provider"
    return named or (isinstance(value, str) and "://" in value)
