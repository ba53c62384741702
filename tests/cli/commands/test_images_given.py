"""What commands, scripts, tables and judges of other kinds get of the images of a case."""

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.answer_judge import judging
from tests.checkout import ENVIRONMENT, Checkout
from tests.cli.commands.test_images import CONFIG, DRAWING, Seeing, cases, flat, judge, passing
from tests.invoke import invoke
from tests.pictures import JPEG, RED, png, write

__all__ = ["judge"]  # a fixture

CART = sha256(png(40, 30)).hexdigest()
FILES = {"shots/cart.png": png(40, 30), "shots/photo.jpg": JPEG}
SHOWN = """\
evalcases:
  - id: cart
    input: [{{type: image, value: /shots/cart.png}}, {{type: text, value: What is it?}}]
    {graded}
"""
COMMAND = """\
import hashlib, pathlib, sys
print(hashlib.sha256(pathlib.Path(sys.argv[1]).read_bytes()).hexdigest())
"""
SCRIPT = """\
import hashlib, json, pathlib, sys
given = json.load(sys.stdin)
data = pathlib.Path(given["input_files"][0]).read_bytes()
print(json.dumps({"score": float(hashlib.sha256(data).hexdigest() == given["config"]["digest"])}))
"""


def project(root: Path, config: str, files: dict[str, str]) -> None:
    (root / ".git").mkdir()
    written = {name: text.encode() for name, text in files.items()}
    write(root, {**FILES, **written, "rubric-ci.yaml": config.encode()})


def test_a_command_reads_the_image(tmp_path: Path) -> None:
    options = f'command_template: "{sys.executable} given.py {{FILES}}"'
    graded = f"rubrics: [{{id: read, equals: {CART}}}]"
    evals = SHOWN.format(graded=graded)
    config = f"targets: [{{name: default, provider: cli, {options}}}]\n"
    project(tmp_path, config, {"evals/a.eval.yaml": evals, "given.py": COMMAND})
    (case,) = passing(tmp_path)
    assert case["verdict"] == "pass"


def test_a_script_reads_the_image(tmp_path: Path) -> None:
    script = f"script: [{sys.executable}, given.py], cwd: /, digest: {CART}"
    graded = f"evaluators: [{{name: seen, type: code_judge, {script}}}]"
    evals = SHOWN.format(graded=graded)
    config = "targets: [{name: default, provider: mock, response: hello}]\n"
    project(tmp_path, config, {"evals/a.eval.yaml": evals, "given.py": SCRIPT})
    (case,) = passing(tmp_path)
    assert case["verdict"] == "pass"


PAGES = """\
messages:
  - role: user
    content: [{type: image, value: "/shots/{{ shot }}"}]
evalcases: pages.csv
"""
ROWS = """\
id,shot,input,rubrics
one,cart.png,What is it?,Says hello
two,photo.jpg,And this?,Says hello
"""


def test_a_table_with_an_image_in_each_row(tmp_path: Path, judge: Seeing) -> None:
    files = {"evals/a.eval.yaml": PAGES, "evals/pages.csv": ROWS}
    project(tmp_path, CONFIG.format(url=judge.url, judge=""), files)
    passing(tmp_path)
    assert sorted(judge.asked) == [
        ("a", "<data:image/jpeg;base64>", "And this?"),
        ("a", "<data:image/png;base64>", "What is it?"),
    ]
    assert judge.shown == [["text", "image_url", "text"]] * 2
    assert [each["media"][0]["path"] for each in cases(tmp_path)] == [
        "shots/cart.png",
        "shots/photo.jpg",
    ]


class Opinion(Seeing):
    """A judge that gives a score; it keeps what it was shown."""

    def reply(self, request: dict[str, Any]) -> str:
        if request["model"] != "judge":
            return "hello"
        text, kinds = flat(request["messages"][1]["content"])
        self.shown.append(kinds)
        self.seen.append(text)
        return json.dumps({"score": 0.9, "reasoning": "It does.", "hits": [], "misses": []})


@pytest.mark.parametrize("prompt", ["", ', prompt: "Is {{ candidate_answer }} right?"'])
def test_an_opinion_sees_the_image(tmp_path: Path, prompt: str) -> None:
    evals = SHOWN.format(graded=f"evaluators: [{{name: seen, type: llm_judge{prompt}}}]")
    judge = Opinion()
    with judging(judge):
        config = CONFIG.format(url=judge.url, judge="")
        project(tmp_path, config, {"evals/a.eval.yaml": evals})
        passing(tmp_path)
    assert judge.shown == [["text", "image_url", "text"]]
    before, after = judge.seen[0].split("<data:image/png;base64>")
    assert before.rstrip().endswith("shots/cart.png")
    assert after.lstrip().startswith("</data_")


def test_the_images_of_both_sides_of_a_change(checkout: Checkout, judge: Seeing) -> None:
    target = f"command_template: '{sys.executable} draw.py chart.png'"
    config = CONFIG.format(url=judge.url, judge="").partition("targets:")[0]
    case = "evalcases: [{id: chart, input: Draw a chart., rubrics: [Says hello]}]\n"
    write(checkout.root, {"chart.png": png(40, 30)})
    checkout.commit(
        {
            ".gitignore": ".rubric-ci/\n",
            "rubric-ci.yaml": f"{config}targets: [{{name: default, provider: cli, {target}}}]\n",
            "evals/a.eval.yaml": case,
            "draw.py": DRAWING,
        }
    )
    write(checkout.root, {"chart.png": JPEG})
    (checkout.root / "draw.py").write_text(DRAWING.replace("hello", "Hello"))
    invoke(checkout.root, ENVIRONMENT, "run", "--against", "HEAD", "--reports", "json,html")
    (found,) = cases(checkout.root)
    sides = [side["media"][0]["digest"] for side in (found["before"], found)]
    assert sides == [sha256(png(40, 30, RED)).hexdigest(), sha256(JPEG).hexdigest()]
    page = (checkout.root / ".rubric-ci/report.html").read_text()
    assert all(f"media/{digest}" in page for digest in sides)
    assert page.index("<small>before</small>") < page.index("<small>now</small>")


class Drafting(Seeing):
    """A model that drafts one criterion; it keeps what it was shown."""

    def reply(self, request: dict[str, Any]) -> str:
        self.shown.append(flat(request["messages"][1]["content"])[1])
        texts = ("Names the total", "Says what the cart holds", "Greets the customer by name")
        rubrics = [
            {"id": f"c{n}", "expected_outcome": text, "weight": 1.0, "required": True}
            for n, text in enumerate(texts)
        ]
        return json.dumps({"rubrics": rubrics})


def test_a_draft_is_written_with_the_image(tmp_path: Path) -> None:
    judge = Drafting()
    with judging(judge):
        config = CONFIG.format(url=judge.url, judge="")
        evals = SHOWN.format(graded="expected_outcome: Names the total")
        project(tmp_path, config, {"evals/a.eval.yaml": evals})
        done = invoke(tmp_path, ENVIRONMENT, "generate", "rubrics")
    assert done.returncode == 0, done.stdout + done.stderr
    assert judge.shown == [["text", "image_url", "text"]]
    assert "Names the total" in (tmp_path / "evals/a.eval.yaml").read_text()


COMPARED = SCRIPT.replace("input_files", "answer_files")


def test_a_script_reads_the_image_of_an_answer(tmp_path: Path) -> None:
    script = f"script: [{sys.executable}, compared.py], cwd: /, digest: {CART}"
    evals = (
        "evalcases:\n  - {id: chart, input: Draw it., "
        f"evaluators: [{{name: same, type: code_judge, {script}}}]}}\n"
    )
    command = f"{sys.executable} draw.py shots/cart.png"
    config = f"targets: [{{name: default, provider: cli, command_template: '{command}'}}]\n"
    files = {"evals/a.eval.yaml": evals, "draw.py": DRAWING, "compared.py": COMPARED}
    project(tmp_path, config, files)
    passing(tmp_path, "--record", "kept.jsonl")
    done = invoke(tmp_path, ENVIRONMENT, "run", "--replay", "kept.jsonl")
    assert done.returncode == 3
    reason = "same: shots/cart.png cannot be shown: a recording has its digest only"
    assert cases(tmp_path)[0]["reason"] == reason
