"""An Agent Skill for a target: its text as a system message, or its folder in the workspace."""

from dataclasses import replace
from posixpath import basename

from rubric_ci.values.config import Target
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.messages import Message, TextPart
from rubric_ci.values.prompt_and_skill import Skill


def with_skill(case: EvalCase, target: Target) -> EvalCase:
    """Return the case as the target is asked: a message on its skill comes first.

    A model and a command get the text of `SKILL.md`. An agent with a workspace finds the skill
    there, and reads what it needs.
    """
    if target.skill is None:
        return case
    text = f"Follow this skill where it applies.\n\n{target.skill.text}"
    if target.agent or target.workspace:
        folder = place(target.skill)
        text = (
            f"The folder `{folder}` has a skill. Read `{folder}/SKILL.md` first, and follow it "
            "where it applies."
        )
    message = Message(role="system", parts=(TextPart(text),))
    return replace(case, input_messages=(message, *case.input_messages))


def place(skill: Skill) -> str:
    """Return the folder of a skill in a workspace."""
    return f"skills/{basename(skill.path)}"
