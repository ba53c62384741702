"""Providers and kinds of target that `rubric-ci init` offers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from rubric_ci.model import defaults
from rubric_ci.model.dataclass import dataclass

TargetKind: TypeAlias = Literal["model", "command", "recorded"]
TARGET_KINDS: Final[tuple[TargetKind, ...]] = ("model", "command", "recorded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider of models, with a model to start with and the variables that it needs."""

    model: str
    note: str = ""  # a comment after the model
    keys: tuple[str, ...] = ()  # of the configuration, besides `model`
    variables: tuple[str, ...] = ()  # empty: the server needs none
    priced: bool = True  # False: no known price, so a maximum cost cannot be enforced
    remark: str = ""  # for a workflow that grades

    @property
    def settings(self) -> tuple[str, ...]:
        """The lines of a judge or a target in `rubric-ci.yaml`."""
        return (f"model: {self.model}{self.note and f' # {self.note}'}", *self.keys)


_NEVER: Final = "# an environment variable; never write the key here"
_LOCAL: Final = "The workflows need a runner that reaches the server: set `runs-on` in `with`."


def _keyed(model: str, variable: str) -> Provider:
    return Provider(
        model=model,
        note="any litellm model name",
        keys=(f"api_key: ${{{{ {variable} }}}} {_NEVER}",),
        variables=(variable,),
    )


PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "openai": _keyed(defaults.MODEL_JUDGE, "OPENAI_API_KEY"),
        "anthropic": _keyed(defaults.MODEL_SMALL_CLAUDE, "ANTHROPIC_API_KEY"),
        "gemini": _keyed(defaults.MODEL_GEMINI, "GEMINI_API_KEY"),
        "azure": Provider(
            model=defaults.MODEL_JUDGE.replace("openai/", "azure/"),
            note="the name of your deployment",
            keys=(
                "api_base: ${{ AZURE_API_BASE }} # https://NAME.openai.azure.com",
                'api_version: "2024-10-21"',
                f"api_key: ${{{{ AZURE_API_KEY }}}} {_NEVER}",
            ),
            variables=("AZURE_API_BASE", "AZURE_API_KEY"),
        ),
        "bedrock": Provider(
            model=defaults.MODEL_TARGET.replace("anthropic/", "bedrock/anthropic."),
            keys=("aws_region_name: eu-central-1",),
            variables=("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        ),
        "vertex": Provider(
            model=defaults.MODEL_GEMINI.replace("gemini/", "vertex_ai/"),
            keys=("vertex_project: ${{ VERTEX_PROJECT }}", "vertex_location: europe-west1"),
            variables=("VERTEX_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"),
        ),
        "openai-compatible": Provider(
            model="openai/my-model",
            note="the name that the server lists",
            keys=(
                "api_base: ${{ OPENAI_API_BASE }} # http://127.0.0.1:8000/v1",
                "api_key: ${{ OPENAI_API_KEY }} # the key of the server; any text if it has none",
            ),
            variables=("OPENAI_API_BASE", "OPENAI_API_KEY"),
            priced=False,
            remark=_LOCAL,
        ),
        "ollama": Provider(
            model="openai/llama3.1",
            note="as `ollama list` names it",
            keys=("api_base: http://127.0.0.1:11434/v1 # needs no key",),
            priced=False,
            remark=_LOCAL,
        ),
    }
)
