"""A suite of Inspect."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import includes, match, model_graded_qa
from inspect_ai.solver import generate, prompt_template

PROMPT = Path(__file__).with_name("prompt.txt").read_text().strip()


@task
def shop() -> Task:
    samples = [
        Sample(id="refund", input="How long do refunds take?", target="30 days"),
        Sample(id="support", input="Which plan has phone support?", target="Enterprise"),
        Sample(id="invoice", input="Can I pay by invoice?", target="yes"),
        Sample(id="outage", input="Where are you based?", target="Oslo"),
    ]
    solver = [prompt_template(PROMPT.replace("{{question}}", "{prompt}")), generate()]
    judge = model_graded_qa(model=get_model("openai/judge", responses_api=False))
    return Task(dataset=samples, solver=solver, scorer=[includes(), match(), judge])
