"""The settings of `rubric-ci init`, and the providers and kinds of target that it offers."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from rubric_ci.values import formats_and_defaults
from rubric_ci.values.dataclass import dataclass

TargetKind: TypeAlias = Literal["model", "command", "http", "claude-code", "codex", "recorded"]
TARGETS: Final[Mapping[TargetKind, str]] = MappingProxyType(
    {
        "model": "the model of the provider, asked with each question",
        "command": "your own program, started with each question",
        "http": "your own service, sent each question",
        "claude-code": "Claude Code, which works in an empty folder",
        "codex": "Codex, which works in an empty folder",
        "recorded": "answers that are kept in a file",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitSettings:
    folder: Path = Path()
    force: bool = False
    public: bool = False  # also a workflow for the pull requests of strangers
    provider: str = "openai"  # a key of PROVIDERS
    target: TargetKind = "model"
    command: str = ""  # of the target `command`; empty: the program of the example
    url: str = ""  # of the target `http`
    start: str = ""  # its start command; empty: it is deployed at `url`, or an example
    reply: str = ""  # one of its replies, as JSON
    rubrics: tuple[str, ...] = ()  # names of rubric files of the library


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider of models, with a model to start with and the variables that it needs."""

    model: str
    about: str  # for a person who chooses
    cli: str = ""  # the program that judges with its own login; then the model is the program's
    note: str = ""  # a comment after the model
    keys: tuple[str, ...] = ()  # of the configuration, besides `model`
    variables: tuple[str, ...] = ()  # empty: the server needs none
    priced: bool = True  # False: no known price, so a maximum cost cannot be enforced
    before: str = ""  # a command before the first run
    remark: str = ""  # for a workflow that grades

    @property
    def settings(self) -> tuple[str, ...]:
        """The lines of a judge or a target in `rubric-ci.yaml`."""
        model = f"model: {self.model}{self.note and f' # {self.note}'}"
        return (*([f"cli: {self.cli}"] if self.cli else []), model, *self.keys)

    @property
    def needs_litellm(self) -> bool:
        own = self.model.partition("/")[0] in {"openai", "anthropic", "gemini"}
        return not (self.cli or own)


_NEVER: Final = "# an environment variable; never write the key here"
_LOCAL: Final = "The workflows need a runner that reaches the server: set `runs-on` in `with`."


def _keyed(model: str, variable: str, about: str) -> Provider:
    return Provider(
        model=model,
        about=about,
        note="any litellm model name",
        keys=(f"api_key: ${{{{ {variable} }}}} {_NEVER}",),
        variables=(variable,),
    )


RUBRICS: Final = (
    *("groundedness", "instruction-following", "refusal", "safety"),
    *("tone", "code-review", "tool-use"),
)
"""The library of rubric files that `init` copies."""

PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "openai": _keyed(formats_and_defaults.MODEL_JUDGE, "OPENAI_API_KEY", "a key of OpenAI"),
        "anthropic": _keyed(
            formats_and_defaults.MODEL_SMALL_CLAUDE, "ANTHROPIC_API_KEY", "a key of Anthropic's API"
        ),
        "gemini": _keyed(
            formats_and_defaults.MODEL_GEMINI, "GEMINI_API_KEY", "a key of Google's Gemini API"
        ),
        "azure": Provider(
            about="a deployment of Azure OpenAI, with its address and key",
            model=formats_and_defaults.MODEL_JUDGE.replace("openai/", "azure/"),
            note="the name of your deployment",
            keys=(
                "api_base: ${{ AZURE_API_BASE }} # https://NAME.openai.azure.com",
                'api_version: "2024-10-21"',
                f"api_key: ${{{{ AZURE_API_KEY }}}} {_NEVER}",
            ),
            variables=("AZURE_API_BASE", "AZURE_API_KEY"),
        ),
        "bedrock": Provider(
            about="a model on Amazon Bedrock, with credentials of AWS",
            model=formats_and_defaults.MODEL_TARGET.replace("anthropic/", "bedrock/anthropic."),
            keys=("aws_region_name: eu-central-1",),
            variables=("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        ),
        "vertex": Provider(
            about="Gemini on Google's Vertex AI, with a project and its credentials",
            model=formats_and_defaults.MODEL_GEMINI.replace("gemini/", "vertex_ai/"),
            keys=("vertex_project: ${{ VERTEX_PROJECT }}", "vertex_location: europe-west1"),
            variables=("VERTEX_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"),
            remark=(
                "GOOGLE_APPLICATION_CREDENTIALS is the path of a file: the workflows need a "
                "runner that has it (`runs-on` in `with`), or a step that logs in: "
                "https://github.com/rubric-ci/rubric-ci/blob/main/examples/workflows/"
                "evals-google.yml"
            ),
        ),
        "openai-compatible": Provider(
            about="a server with OpenAI's format: vLLM, llama.cpp, LiteLLM, OpenRouter",
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
            about="a model on this machine, without a key",
            before="ollama pull llama3.1",
            model="openai/llama3.1",
            note="as `ollama list` names it",
            keys=("api_base: http://127.0.0.1:11434/v1 # needs no key",),
            priced=False,
            remark=_LOCAL,
        ),
        "claude-code": Provider(
            about="Claude Code with your login, without a key",
            cli="claude-code",
            model=formats_and_defaults.MODEL_SMALL_CLAUDE.partition("/")[2],
            variables=("CLAUDE_CODE_OAUTH_TOKEN",),
            priced=False,
            remark=(
                "The workflows need the program: set `setup: npm install --global "
                "@anthropic-ai/claude-code` in `with`; `claude setup-token` makes the token."
            ),
        ),
        "codex": Provider(
            about="Codex with your login, without a key",
            cli="codex",
            model=formats_and_defaults.MODEL_JUDGE.partition("/")[2],
            variables=("CODEX_API_KEY",),
            priced=False,
            remark=(
                "The workflows need the program: set `setup: npm install --global @openai/codex` "
                "in `with`."
            ),
        ),
    }
)
