"""Cases with images and documents: what `validate` says, and what models and judges are sent."""

import json
import sys
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.values.references import LFS_POINTER
from tests.answer_judge import AnswerJudge, judging
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke
from tests.pictures import JPEG, RED, pdf, png, write

CONFIG = """\
judge: {{model: openai/judge, api_base: "{url}", api_key: none{judge}}}
targets: [{{name: default, model: openai/a, api_base: "{url}", api_key: none}}]
"""
EVALS = """\
evalcases:
  - id: cart
    input: [{type: image, value: /shots/cart.png}, {type: text, value: What is wrong?}]
    rubrics: [Says hello]
  - id: bill
    vars: {bill: may}
    input: [{type: file, value: "/{{ bill }}.pdf"}, {type: text, value: Who sent it?}]
    expected_output: [{type: image, value: /shots/photo.jpg}]
    rubrics: [Says hello]
"""
FILES = {"shots/cart.png": png(40, 30), "shots/photo.jpg": JPEG, "may.pdf": pdf(2)}


@dataclass(slots=True)
class Seeing(AnswerJudge):
    """A judge that is shown images; it keeps the types of the parts of each request."""

    shown: list[list[str]] = field(default_factory=list)

    def reply(self, request: dict[str, Any]) -> str:
        for message in request["messages"]:
            if isinstance(message["content"], list):
                message["content"], kinds = flat(message["content"])
                if request["model"] == "judge":
                    self.shown.append(kinds)
        return AnswerJudge.reply(self, request)


def flat(parts: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """Return the texts of parts as one, with the start of each image, and the types."""
    texts = [part.get("text") or f"<{start(part)}>" for part in parts]
    return "\n\n".join(texts), [part["type"] for part in parts]


def start(part: dict[str, Any]) -> str:
    url = part["image_url"]["url"] if "image_url" in part else part["file"]["file_data"]
    return str(url).partition(",")[0]


@pytest.fixture
def judge() -> Iterator[Seeing]:
    server = Seeing(targets={"a": lambda _: "hello"})
    with judging(server):
        yield server


def project(root: Path, url: str, evals: str = EVALS, judge: str = "") -> None:
    (root / ".git").mkdir()
    write(root, {**FILES, "evals/a.eval.yaml": evals.encode()})
    (root / "rubric-ci.yaml").write_text(CONFIG.format(url=url, judge=judge))


def cases(root: Path) -> list[dict[str, Any]]:
    report = json.loads((root / ".rubric-ci/report.json").read_text())
    return [*report["cases"]]


def passing(root: Path, *options: str) -> list[dict[str, Any]]:
    """Run, and return the cases; the gate passes."""
    done = invoke(root, ENVIRONMENT, "run", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return cases(root)


def test_models_and_judges_are_shown_them(tmp_path: Path, judge: Seeing) -> None:
    project(tmp_path, judge.url)
    done = invoke(tmp_path, ENVIRONMENT, "run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " of them for images by the provider's formula, price unknown" in done.stderr
    assert sorted(judge.asked) == [
        ("a", "<data:application/pdf;base64>\n\nWho sent it?"),
        ("a", "<data:image/png;base64>\n\nWhat is wrong?"),
    ]
    kinds = sorted(" ".join(each) for each in judge.shown)
    assert kinds == ["text file text image_url text", "text image_url text"]
    seen = next(text for text in judge.seen if "What is wrong?" in text)
    assert "[image: shots/cart.png]\n\nWhat is wrong?" in seen
    assert "Image of the question:\n<data_" in seen


def test_a_cached_run_asks_nothing_until_a_picture_changes(tmp_path: Path, judge: Seeing) -> None:
    project(tmp_path, judge.url)
    invoke(tmp_path, ENVIRONMENT, "run")
    judge.seen.clear()
    invoke(tmp_path, ENVIRONMENT, "run")
    assert judge.seen == []
    write(tmp_path, {"shots/cart.png": png(40, 30, (0, 0, 0))})
    invoke(tmp_path, ENVIRONMENT, "run")
    assert ["What is wrong?" in text for text in judge.seen] == [True]


def test_a_judge_that_is_shown_none(tmp_path: Path, judge: Seeing) -> None:
    project(tmp_path, judge.url, judge=", images: 'off'")
    found = passing(tmp_path)
    assert judge.shown == []
    assert all("You are not shown every image and document" in text for text in judge.seen)
    warnings = [case["evaluators"][0]["warnings"] for case in found]
    assert warnings == [
        ["openai/judge did not see `shots/cart.png`: `judge.images` is `off`"],
        ["openai/judge did not see `may.pdf`, `shots/photo.jpg`: `judge.images` is `off`"],
    ]


def test_a_judge_that_must_see_them(tmp_path: Path, judge: Seeing) -> None:
    project(tmp_path, judge.url, judge=", images: required")
    there = {**ENVIRONMENT, "OPENAI_BASE_URL": judge.url, "OPENAI_API_KEY": "k"}
    done = invoke(tmp_path, there, "run", "--judge", "openai/gpt-3.5-turbo")
    assert done.returncode == 3
    assert cases(tmp_path)[0]["reason"] == (
        "rubric: openai/gpt-3.5-turbo takes no images, and `judge.images` is `required`; "
        "choose a model that does"
    )


BAD = """\
evalcases:
  - id: one
    vars: {shot: /shots/gone.png}
    rubrics: [Names it]
    input_messages:
      - {role: system, content: [{type: image, value: /shots/cart.png}]}
      - role: user
        content:
          - {type: image, value: "{{ shot }}"}
          - {type: image, value: /may.pdf}
          - {type: file, value: /shots/cart.png}
          - {type: image, value: /notes.txt}
          - {type: image, value: /wrong.png}
          - {type: image, value: /wide.png}
          - {type: image, value: /cut.png}
          - {type: image, value: /noise.png}
          - {type: image, value: /big.png}
          - {type: image, value: /lfs.png}
          - {type: image, value: "https://a.example/b.png"}
          - {type: image, value: /.git/in.png}
          - {type: image, value: /empty.png}
  - id: two
    rubrics: [Names it]
    input:
      - {type: image, value: /a.png}
      - {type: image, value: /b.png}
      - {type: image, value: /c.png}
"""
PLACES = "paths are resolved from the eval file's folder, then from its parent folders"
TYPES = "use a png, jpeg, gif or webp for `type: image`, a PDF or a text for `type: file`"
FOUND = f"""\
3:18: file-missing: `/shots/gone.png`: no such file; {PLACES}
6:55: media-role: an image in a message with `role: system`; move the part to a message with \
`role: user`
10:34: media-file: `/may.pdf` is a PDF; write `type: file`
11:33: media-file: `/shots/cart.png` is an image; write `type: image`
12:34: media-file: `/notes.txt` is a text; write `type: file`
13:34: media-file: `/wrong.png` is a jpeg by its first bytes; let its name end in .jpg or .jpeg
14:34: media-file: `/wide.png` has 8,001 x 1 pixels; a side has at most 8,000; make it smaller
15:34: media-file: `/cut.png` has a broken header; save the image again
16:34: media-file: `/noise.png` is not an image; {TYPES}
17:34: media-file: `/big.png` has 21.0 MiB; at most 20 are sent; make it smaller
18:34: git-lfs: `/lfs.png` is a pointer of Git LFS, not the file; run `git lfs pull`; in a \
workflow, `lfs: true` of actions/checkout
19:34: file-missing: `https://a.example/b.png` is a URL, which is not fetched; save the file in \
the repository, and name it
20:34: file-missing: `/.git/in.png`: cannot be read: it is in `.git`; {PLACES}
21:34: media-file: `/empty.png` is empty; save it again
22:5: media-file: 3 images and documents have 54.0 MiB; at most 50 are sent with a case; \
make it smaller
"""


def test_validate_names_what_cannot_be_sent(tmp_path: Path) -> None:
    project(tmp_path, "http://127.0.0.1:9/v1", BAD)
    large = png(4, 3) + bytes(18 * 2**20)
    bad = {
        "notes.txt": b"Hi",
        "wrong.png": JPEG,
        "wide.png": png(8001, 1),
        "cut.png": png(4, 3)[:12],
        "noise.png": b"\xff\x00\xfe",
        "big.png": large + bytes(3 * 2**20),
        "lfs.png": LFS_POINTER + b"v1\noid sha256:00\nsize 9\n",
        ".git/in.png": png(4, 3),
        "empty.png": b"",
    }
    write(tmp_path, {**bad, **dict.fromkeys(("a.png", "b.png", "c.png"), large)})
    done = invoke(tmp_path, ENVIRONMENT, "validate", "evals")
    lines = [line for line in done.stdout.splitlines() if line.startswith("evals/")]
    assert [line.removeprefix("evals/a.eval.yaml:") for line in lines] == FOUND.splitlines()


MODELS = """\
targets:
  - {name: default, model: openai/gpt-3.5-turbo}
  - {name: open, provider: gemini, model: gemma-3-27b-it}
  - {name: served, model: openai/gpt-3.5-turbo, api_base: "http://127.0.0.1:9/v1"}
"""
ASKING = """\
messages: [{role: user, content: [{type: image, value: /shots/cart.png}]}]
evalcases:
  - {id: one, rubrics: [x], input: [{type: file, value: /may.pdf}]}
  - {id: two, rubrics: [x], target: open, input: [{type: file, value: /may.pdf}]}
  - {id: three, rubrics: [x], target: served, input: [{type: file, value: /may.pdf}]}
"""
ADVICE = "choose a model that takes them; a list that is wrong is a reason to turn this rule off"
REFUSED = [
    ("1:56", "one", "openai/gpt-3.5-turbo", "images"),
    ("3:57", "one", "openai/gpt-3.5-turbo", "documents"),
    ("4:71", "two", "gemini/gemma-3-27b-it", "documents"),
]


def test_validate_names_the_case_whose_model_takes_none(tmp_path: Path) -> None:
    project(tmp_path, "http://127.0.0.1:9/v1", ASKING)
    (tmp_path / "rubric-ci.yaml").write_text(MODELS)
    done = invoke(tmp_path, ENVIRONMENT, "validate", "evals")
    found = [line.partition(": media-model: ")[::2] for line in done.stdout.split("\n")]
    assert [(place.partition(":")[2], text) for place, text in found if text] == [
        (place, f"the case `{case}` asks `{model}`, which takes no {kinds}; {ADVICE}")
        for place, case, model, kinds in REFUSED
    ]


DRAWING = """\
import json, sys
print(json.dumps({"output_messages": [{"role": "assistant", "content": [
    {"type": "text", "text": "hello, the chart:"}, {"type": "image", "value": sys.argv[1]}]}]}))
"""
DRAWN = """\
judge: {{model: openai/judge, api_base: "{url}", api_key: none}}
targets: [{{name: default, provider: cli, command_template: "{python} draw.py {picture}"}}]
"""
DRAW = "evalcases: [{id: chart, input: Draw a chart., rubrics: [Says hello]}]\n"


def draws(root: Path, url: str, picture: str) -> None:
    project(root, url, DRAW)
    write(root, {"draw.py": DRAWING.encode()})
    config = DRAWN.format(url=url, python=sys.executable, picture=picture)
    (root / "rubric-ci.yaml").write_text(config)


def test_judges_see_the_pictures_of_an_answer(tmp_path: Path, judge: Seeing) -> None:
    draws(tmp_path, judge.url, "shots/cart.png")
    (case,) = passing(tmp_path)
    assert judge.shown == [["text", "image_url", "text"]]
    assert case["answer"] == "hello, the chart:\n\n[image: shots/cart.png]"
    assert "its name in the answer, copied with the brackets" in " ".join(judge.seen[0].split())


def test_a_picture_outside_of_the_repository_is_not_read(tmp_path: Path, judge: Seeing) -> None:
    outside = tmp_path / "outside.png"
    outside.write_bytes(png(4, 3))
    (tmp_path / "repo").mkdir()
    draws(tmp_path / "repo", judge.url, "../outside.png")
    done = invoke(tmp_path / "repo", ENVIRONMENT, "run")
    assert done.returncode == 3
    assert cases(tmp_path / "repo")[0]["reason"] == (
        "`../outside.png` of the answer cannot be read: it is outside the repository"
    )


def test_a_recording_with_pictures_replays(tmp_path: Path, judge: Seeing) -> None:
    draws(tmp_path, judge.url, "shots/cart.png")
    invoke(tmp_path, ENVIRONMENT, "run", "--record", "kept.jsonl")
    text = (tmp_path / "kept.jsonl").read_text()
    assert '"digest": "' in text
    assert "iVBOR" not in text
    judge.seen.clear()
    (tmp_path / "shots/cart.png").unlink()
    passing(tmp_path, "--replay", "kept.jsonl")
    assert judge.seen == []


def test_reports_have_digests_and_the_page_shows_pictures(tmp_path: Path, judge: Seeing) -> None:
    draws(tmp_path, judge.url, "shots/photo.jpg")
    evals = "evalcases: [{id: a, input: [{type: image, value: /shots/cart.png}], rubrics: [x]}]\n"
    write(tmp_path, {"evals/a.eval.yaml": evals.encode()})
    invoke(tmp_path, ENVIRONMENT, "run", "--reports", "json,html")
    text = (tmp_path / ".rubric-ci/report.json").read_text()
    digests = [sha256(each).hexdigest() for each in (png(40, 30), JPEG)]
    assert cases(tmp_path)[0]["media"] == [
        {"of": "question", "path": "shots/cart.png", "type": "image/png", "digest": digests[0]},
        {"of": "answer", "path": "shots/photo.jpg", "type": "image/jpeg", "digest": digests[1]},
    ]
    assert b64encode(JPEG).decode() not in text
    page = (tmp_path / ".rubric-ci/report.html").read_text()
    assert f'href="media/{digests[1]}.jpg"' in unescape(page)
    assert f"data:image/jpeg;base64,{b64encode(JPEG).decode()}" in unescape(unescape(page))
    assert "img-src data:;" in unescape(page)
    copies = sorted(path.name for path in (tmp_path / ".rubric-ci/media").iterdir())
    assert copies == sorted([f"{digests[0]}.png", f"{digests[1]}.jpg"])


WORKING = """\
import pathlib, shutil
given = pathlib.Path("inputs/shots/cart.png").read_bytes()
pathlib.Path("out.png").write_bytes(given)
print("hello")
"""
WORKED = """\
evalcases:
  - id: a
    input: [{type: image, value: /shots/cart.png}, {type: text, value: Copy it.}]
    rubrics: {sees: [answer, files, file_changes], criteria: [Says hello]}
"""


def test_a_workspace_gets_the_images_and_the_rest_is_shown(tmp_path: Path, judge: Seeing) -> None:
    project(tmp_path, judge.url, WORKED)
    write(tmp_path, {"fixture/work.py": WORKING.encode()})
    (tmp_path / "rubric-ci.yaml").write_text(
        f"""judge: {{model: openai/judge, api_base: "{judge.url}", api_key: none}}
targets:
  - name: default
    provider: cli
    command_template: {sys.executable} work.py
    workspace: {{copy: fixture, keep: [diff, "*.png"]}}
"""
    )
    (case,) = passing(tmp_path)
    assert judge.shown == [["text", "image_url", "text", "image_url", "text"]]
    digest = sha256(png(40, 30)).hexdigest()
    assert case["trace"]["files"] == [
        {"path": "out.png", "text": f"[image: out.png]\nSHA-256 {digest}"}
    ]
    assert [each["path"] for each in case["file_changes"]] == ["out.png"]
    assert [(each["of"], each["path"]) for each in case["media"]] == [
        ("question", "shots/cart.png"),
        ("answer", "out.png"),
    ]


def test_a_changed_picture_selects_and_asks_its_case(checkout: Checkout, judge: Seeing) -> None:
    other = "  - {id: other, input: Hi, rubrics: [Says hello]}\n"
    checkout.commit(
        {
            ".gitignore": ".rubric-ci/\n",
            "rubric-ci.yaml": CONFIG.format(url=judge.url, judge=""),
            "evals/a.eval.yaml": EVALS.partition("  - id: bill")[0] + other,
        }
    )
    write(checkout.root, {"shots/cart.png": png(40, 30)})
    checkout.git("add", "-A")
    checkout.git("commit", "-qm", "a picture")
    write(checkout.root, {"shots/cart.png": png(40, 30, (0, 0, 0))})
    chosen = invoke(checkout.root, ENVIRONMENT, "run", "--changed-since", "HEAD", "--list")
    assert chosen.stdout.splitlines()[0] == (
        "evals/a.eval.yaml:2  cart  default  `shots/cart.png` changed"
    )
    invoke(checkout.root, ENVIRONMENT, "run", "--against", "HEAD")
    report = json.loads((checkout.root / ".rubric-ci/report.json").read_text())
    before, after = (sha256(png(40, 30, each)).hexdigest()[:12] for each in (RED, (0, 0, 0)))
    assert [
        (each["about"], each["before"], each["after"]) for each in report["grading_changes"]
    ] == [("cart: question", f"shots/cart.png {before}", f"shots/cart.png {after}")]
    changes = {case["id"]: case["change"] for case in report["cases"]}
    assert changes == {"cart": "not-comparable", "other": "unchanged"}


TALKING = """\
evalcases:
  - id: talk
    turns:
      - {input: [{type: image, value: /shots/cart.png}, {type: text, value: What is it?}]}
      - {input: And the bill?, rubrics: [Says hello]}
"""


def test_a_turn_with_an_image(tmp_path: Path, judge: Seeing) -> None:
    project(tmp_path, judge.url, TALKING)
    passing(tmp_path)
    asked = "<data:image/png;base64>\n\nWhat is it?"
    assert judge.asked == [("a", asked), ("a", asked, "hello", "And the bill?")]
    assert judge.shown == [["text", "image_url", "text"]]


DRAWING_AGAIN = """\
import json, pathlib, shutil, sys
shutil.copy("shots/photo.jpg" if "[assistant]" in sys.argv[1] else "shots/cart.png", "out.png")
print(json.dumps({"output_messages": [{"role": "assistant", "content": [
    {"type": "text", "text": "hello"}, {"type": "image", "value": "out.png"}]}]}))
"""
DRAWN_AGAIN = """\
evalcases:
  - id: talk
    turns:
      - {input: Draw a cart.}
      - {input: Now a photo., rubrics: [Says hello]}
"""


def test_pictures_of_the_answers_of_a_conversation(tmp_path: Path, judge: Seeing) -> None:
    project(tmp_path, judge.url, DRAWN_AGAIN)
    write(tmp_path, {"draw.py": DRAWING_AGAIN.encode()})
    config = DRAWN.format(url=judge.url, python=sys.executable, picture="{PROMPT}")
    (tmp_path / "rubric-ci.yaml").write_text(config)
    (case,) = passing(tmp_path)
    assert case["answer"].count("hello\n\n[image: out.png]") == 1
    assert case["answer"].endswith("hello\n\n[image: turn-2/out.png]")
    assert [(each["path"], each["digest"]) for each in case["media"]] == [
        ("out.png", sha256(png(40, 30)).hexdigest()),
        ("turn-2/out.png", sha256(JPEG).hexdigest()),
    ]
    assert judge.shown == [["text", "image_url", "text", "image_url", "text"]]
    assert judge.seen[0].index("image/png") < judge.seen[0].index("image/jpeg")


AGENTV = """\
input_files: shots/cart.png
tests:
  - id: described
    criteria: Says hello
    input:
      - role: user
        content: [{type: image, value: shots/photo.jpg}, {type: text, value: Compare them.}]
"""


def test_images_of_agentv(tmp_path: Path, judge: Seeing) -> None:
    project(tmp_path, judge.url, AGENTV)
    passing(tmp_path)
    assert judge.asked == [
        ("a", "<data:image/png;base64>\n\n<data:image/jpeg;base64>\n\nCompare them.")
    ]


KEPT = """\
evalcases:
  - {id: chart, input: Draw a chart., rubrics: [{id: says, expected_outcome: Says hello}]}
"""
SHOT = f"{sha256(png(40, 30)).hexdigest()}.png"
LOST = (
    f"shots/cart.png cannot be shown again: there is no copy `{SHOT}` next to the report or the "
    "labels"
)


def test_each_trial_keeps_its_pictures(tmp_path: Path, judge: Seeing) -> None:
    draws(tmp_path, judge.url, "shots/cart.png")
    (case,) = passing(tmp_path, "--trials", "3")
    assert [[each["digest"] for each in trial["media"]] for trial in case["trials"]] == [
        [SHOT.removesuffix(".png")]
    ] * 3
    report = json.loads((tmp_path / ".rubric-ci/report.json").read_text())
    assert not (report.get("sentinel") or {}).get("items")


LABEL = {
    "file": "evals/a.eval.yaml",
    "id": "chart",
    "evaluator": "rubric",
    "answer": "hello, the chart:\n\n[image: shots/cart.png]",
    "marks": {"says": True},
    "media": [{"of": "answer", "path": "shots/cart.png", "type": "image/png", "digest": SHOT[:-4]}],
}


def test_a_label_is_judged_with_its_pictures(tmp_path: Path, judge: Seeing) -> None:
    draws(tmp_path, judge.url, "shots/cart.png")
    text = {**LABEL, "answer": "hello", "media": []}
    lines = "".join(f"{json.dumps(each)}\n" for each in (LABEL, text))
    texts = {"evals/a.eval.yaml": KEPT.encode(), "labels.jsonl": lines.encode()}
    write(tmp_path, {**texts, f"labels-media/{SHOT}": png(40, 30)})
    words = ("judge", "calibrate", "labels.jsonl")
    done = invoke(tmp_path, ENVIRONMENT, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert judge.shown == [["text", "image_url", "text"]]
    (tmp_path / "labels-media" / SHOT).unlink()
    done = invoke(tmp_path, ENVIRONMENT, *words)
    assert done.returncode == 3
    assert LOST in done.stderr
    assert judge.answers[-1] == "hello"  # the other answer is judged all the same


def test_merged_reports_have_the_copies_of_the_shards(tmp_path: Path, judge: Seeing) -> None:
    project(tmp_path, judge.url)
    for number in (1, 2):
        words = ("--shard", f"{number}/2", "--output-dir", f"shards/{number}")
        assert invoke(tmp_path, ENVIRONMENT, "run", *words).returncode == 0
    done = invoke(tmp_path, ENVIRONMENT, "report", "merge", "shards", "--reports", "json,html")
    assert done.returncode == 0, done.stdout + done.stderr
    copies = {path.name for path in (tmp_path / ".rubric-ci/media").iterdir()}
    assert copies == {
        f"{each['digest']}" + Path(each["path"]).suffix
        for case in cases(tmp_path)
        for each in case["media"]
    }
    assert b64encode(png(40, 30)).decode() in (tmp_path / ".rubric-ci/report.html").read_text()


SAYS = """\
import json
print(json.dumps({"output_messages": [{"role": "assistant", "content": [
    {"type": "text", "text": TEXT}, {"type": "image", "value": "shots/cart.png"}]}]}))
"""
MEASURED = [
    ("Here is the picture.", "{contains: cart, not: true}"),
    ('{"total": 3}', "{is_json: true}"),
    ('{"total": 3}', "{field: total, equals: 3}"),
    ("Kind regards", "{ends_with: regards}"),
    ("Kind regards", "{max_words: 2}"),
    ("Kind regards", "{equals: Kind regards}"),
    ("See [image: shots/cart.png].", '{contains: "[image: shots/cart.png]"}'),
]


@pytest.mark.parametrize(("text", "assertion"), MEASURED)
def test_the_name_of_a_picture_is_not_a_word_of_the_answer(
    tmp_path: Path, judge: Seeing, text: str, assertion: str
) -> None:
    script = (
        "{type: code_judge, name: same, script: [python3, ../same.py], score_from: exit_status}"
    )
    eval_file = f"evalcases: [{{id: a, input: q, rubrics: [{assertion}]}}]\n"
    turns = f"evalcases: [{{id: a, turns: [{{input: q, rubrics: [{assertion}]}}]}}]\n"
    scripted = f"evalcases: [{{id: a, input: q, evaluators: [{script}]}}]\n"
    same = f"import json, sys\nsys.exit(json.load(sys.stdin)['output'] != {text!r})"
    project(tmp_path, judge.url, eval_file)
    files = {"draw.py": SAYS.replace("TEXT", repr(text)), "same.py": same}
    more = {"evals/b.eval.yaml": turns, "evals/c.eval.yaml": scripted}
    write(tmp_path, {name: each.encode() for name, each in {**files, **more}.items()})
    config = DRAWN.format(url=judge.url, python=sys.executable, picture="{PROMPT}")
    (tmp_path / "rubric-ci.yaml").write_text(config)
    assert [case["verdict"] for case in passing(tmp_path)] == ["pass"] * 3
