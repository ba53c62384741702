"""Whether a target depends on a changed file for every case."""

import pytest

from rubric_ci.gate.selection.dependencies import ChangedPaths
from rubric_ci.values.targets import CliTarget, Endpoint, LlmTarget, Target
from rubric_ci.values.workspace_settings import PromptTemplate

MODEL = LlmTarget(name="m", endpoint=Endpoint(model="openai/m"))
TEMPLATE = PromptTemplate(path="prompts/t.md", messages=(), takes_input=True)
PROMPTED = LlmTarget(name="m", endpoint=MODEL.endpoint, prompt=TEMPLATE)
AGENT = CliTarget(name="a", command_template="python bin/a.py", depends_on=())
WIDE = CliTarget(name="a", command_template="python bin/a.py", depends_on=None)
EVALS = CliTarget(name="a", command_template="agent", depends_on=("evals/**",))
NARROW = CliTarget(name="a", command_template="agent", depends_on=("src/**",))

CONCERNED: dict[str, tuple[Target, list[str], bool]] = {
    "no change": (WIDE, [], False),
    "a model": (MODEL, ["README.md"], False),
    "the prompt of a model": (PROMPTED, ["prompts/t.md"], True),
    "another prompt": (PROMPTED, ["prompts/u.md"], False),
    "a word of the command": (AGENT, ["README.md", "bin/a.py"], True),
    "a folder of the command": (AGENT, ["bin"], True),
    "a file next to it": (AGENT, ["bin/b.py"], False),
    "a file that depends_on names": (NARROW, ["src/deep/a.py"], True),
    "a file that it does not name": (NARROW, ["lib/a.py"], False),
    "a target that depends on every file": (WIDE, ["README.md"], True),
    "an eval file, which is compared": (WIDE, ["evals/a.yaml"], False),
    "an eval file that depends_on names": (EVALS, ["evals/a.yaml"], True),
}


@pytest.mark.parametrize(("target", "paths", "concerned"), CONCERNED.values(), ids=CONCERNED)
def test_a_change_about_a_target(target: Target, paths: list[str], *, concerned: bool) -> None:
    assert ChangedPaths(paths, compared={"evals/a.yaml"}).concerns(target) is concerned
