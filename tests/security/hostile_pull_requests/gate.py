"""Attacks on when the gate fails: weaker settings, rubrics, trials, waivers and tags."""

import json
from datetime import date, timedelta

from rubric_ci.files.project.loader import load
from rubric_ci.gate.waivers.matching import fingerprint_of
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.references import NotFound
from tests.security.hostile_pull_requests.attack import (
    CONFIG,
    EVALS,
    OTHER,
    RUBRIC,
    WORSE,
    Attack,
    answers,
)

UNTIL = (date.today() + timedelta(days=7)).isoformat()
WEAKER = ("weaker",)
GATE = "gate: {fail_on: fail, on_weaker_grading: fail}"
SCRIPT = "{name: greets, type: code_judge, script: 'true', score_from: exit_status}"
OWN = f"evalcases:\n- {{id: c, input: Hi, execution: {{evaluators: [{SCRIPT}]}}}}\n"
LAX = "rubrics: [{id: kind, expected_outcome: Kind, required: false}]"
PASSING = answers(one="hello", two="hello")


def gate(head: str, base: str = GATE, **more: str) -> Attack:
    """Return the attack of another gate."""
    return Attack(
        base={"rubric-ci.yaml": CONFIG.replace(GATE, base)},
        head={"rubric-ci.yaml": CONFIG.replace(GATE, head), **more},
    )


def waived(*criteria: str, text: str = EVALS) -> str:
    """Return a file of waivers of the first case, with the fingerprints of its question."""
    loaded = load("a.eval.yaml", text, lambda _: NotFound("no such file"))
    assert loaded.eval_file
    (case,) = loaded.eval_file.cases
    prints = {
        criterion.id: fingerprint_of(case, criterion)
        for spec in case.evaluators
        if isinstance(spec, RubricSpec)
        for criterion in spec.rubric
    }
    return "waivers:\n" + "".join(
        f"  - {{case: one, criterion: {name}, reason: later, owner: ana, until: '{UNTIL}', "
        f"fingerprint: '{prints[name]}'}}\n"
        for name in criteria
    )


def rubric(after: str, before: str = RUBRIC, code: int = 1, **more: str) -> Attack:
    """Return the attack of other rubrics, whose answers pass at the head."""
    assert before in EVALS
    return Attack(
        head={"evals/a.eval.yaml": EVALS.replace(before, after), "answers.jsonl": PASSING, **more},
        code=code,
        said=WEAKER,
    )


def trials(text: str) -> str:
    """Return the eval file with trials."""
    return EVALS + f"    trials: {text}\n"


TRIVIAL = "evalcases:\n" + "".join(
    f"  - {{id: t{n}, input: Say hello, rubrics: [Greets]}}\n" for n in range(20)
)
LIFTED = answers(one="go away", two="hello", **{f"t{n}": "hello" for n in range(20)})
TAGGED = "    tags: [{}]\n"

CHANGED = CONFIG.replace("on_weaker_grading", "on_changed_grading")
ASSERTED = "evalcases:\n  - {id: one, input: Say hello, rubrics: [{contains: hello}]}\n"
PARTS = [{"type": "text", "value": "hello"}, {"type": "file", "value": "i.pdf"}]
SHOWN = json.dumps(
    {"id": "one", "answer": "hello", "output_messages": [{"role": "assistant", "content": PARTS}]}
)
IN_FILE = EVALS.replace(
    "input: Say hello", "input_messages: [{role: user, content: [{type: file, value: q.md}]}]"
)
TALK = EVALS.replace(
    "input: Say hello",
    "input: Say hello\n    simulated_user: {persona: A guest, goal: Be greeted, max_turns: 2}",
)
TALKED = json.dumps({"id": "one", "answer": [{"user": "Hi", "answer": "go away"}]}) + "\n"
TALKED += answers(two="hello")

ATTACKS = {
    "a gate that never fails": gate("gate: {fail_on: never}"),
    "a gate of regressions": gate("gate: {fail_on: regression}"),
    "thresholds of zero": gate("gate: {thresholds: {pass: 0, borderline: 0}}"),
    "a pass rate of zero": gate("gate: {min_pass_rate: 0.01}"),
    "a tolerant group": gate(
        "gate: {groups: {smoke: {min_pass_rate: 0.01}}}",
        **{"evals/a.eval.yaml": EVALS + TAGGED.format("smoke")},
    ),
    "weaker grading is a note": gate("gate: {on_weaker_grading: note}"),
    "no gate": gate(""),
    "more waivers": gate(
        "gate: {max_waivers: 9}", "gate: {max_waivers: 0}", **{"waivers.yaml": waived("greets")}
    ),
    "a waiver of its own failure": Attack(head={"waivers.yaml": waived("greets", "kind")}),
    "a tag of a tolerant group": Attack(
        base={
            "rubric-ci.yaml": CONFIG.replace(
                "fail_on: fail", "fail_on: fail, groups: {new: {min_pass_rate: 0.01}}"
            )
        },
        head={"evals/a.eval.yaml": EVALS + TAGGED.format("new")},
        said=WEAKER,
    ),
    "the tag of a strict group removed": Attack(
        base={
            "rubric-ci.yaml": CONFIG.replace(
                "fail_on: fail",
                "fail_on: fail, min_pass_rate: 0.5, groups: {safe: {min_pass_rate: 1}}",
            ),
            "evals/a.eval.yaml": EVALS + TAGGED.format("safe"),
        },
        head={"evals/a.eval.yaml": EVALS},
        said=WEAKER,
    ),
    "twenty trivial cases": Attack(
        base={"rubric-ci.yaml": CONFIG.replace("fail_on: fail", "min_pass_rate: 0.9")},
        head={"evals/c.eval.yaml": TRIVIAL, "answers.jsonl": LIFTED},
        said=("20 new not counted before the merge",),
    ),
    "a criterion less": rubric("rubrics: [{id: greets, expected_outcome: Greets}]"),
    "a criterion that is not required": rubric(
        "{id: greets, expected_outcome: Greets, required: false}",
        "{id: greets, expected_outcome: Greets}",
    ),
    "a criterion without weight": rubric(
        "{id: greets, expected_outcome: Greets, weight: 0}",
        "{id: greets, expected_outcome: Greets}",
    ),
    "a checklist criterion that becomes a score": rubric(
        "{id: greets, score_ranges: {0: Any, 5: Greets}}", "{id: greets, expected_outcome: Greets}"
    ),
    "rubrics that become a script": rubric(f"execution: {{evaluators: [{SCRIPT}]}}"),
    "a script that carries the score": Attack(
        base={"evals/a.eval.yaml": EVALS.replace(RUBRIC, LAX)},
        head={
            "evals/a.eval.yaml": EVALS.replace(
                RUBRIC, f"{LAX}\n    execution: {{evaluators: [{SCRIPT[:-1]}, weight: 99}}]}}"
            )
        },
        said=WEAKER,
        needs_shell=True,
    ),
    "trials of which one must pass": Attack(
        base={"evals/a.eval.yaml": trials("{count: 5, pass: 4}")},
        head={"evals/a.eval.yaml": trials("{count: 1, pass: 1}"), "answers.jsonl": PASSING},
        said=WEAKER,
    ),
    "a criterion that nothing can meet": Attack(
        base={"rubric-ci.yaml": CONFIG.replace("fail_on: fail", "fail_on: regression")},
        head={
            "evals/a.eval.yaml": EVALS.replace(
                "rubrics: [", "rubrics: [{id: never, expected_outcome: Impossible}, "
            ),
            "answers.jsonl": WORSE,
        },
    ),
    "an edited script": Attack(
        base={
            "rubric-ci.yaml": CONFIG.replace("fail_on: fail", "on_changed_grading: fail"),
            "evals/a.eval.yaml": "evalcases:\n  - {id: one, input: Hi, execution: {evaluators: "
            "[{name: s, type: code_judge, script: sh check.sh, score_from: exit_status}]}}\n",
            "evals/check.sh": "exit 1\n",
        },
        head={"evals/check.sh": "exit 0\n"},
        said=("changed", "check.sh"),
        needs_shell=True,
    ),
    "questions exchanged under a waiver": Attack(
        base={
            "waivers.yaml": waived(
                "greets", "kind", text=EVALS.replace("Say hello", "Say hello to a")
            ),
            "evals/a.eval.yaml": EVALS.replace("Say hello", "Say hello to a"),
            "evals/b.eval.yaml": OTHER.replace("Say hello", "Say hello to b"),
            "answers.jsonl": answers(one="go away", two="hello"),
        },
        head={
            "evals/a.eval.yaml": EVALS.replace("Say hello", "Say hello to b"),
            "evals/b.eval.yaml": OTHER.replace("Say hello", "Say hello to a"),
            "answers.jsonl": answers(one="go away", two="hello"),
        },
    ),
    "an edited calibration": Attack(
        base={
            "rubric-ci.yaml": CONFIG.replace("fail_on: fail", "fail_on: fail, min_kappa: 0.6"),
            "calibration.json": '{"version": 2}',
        },
        head={"calibration.json": '{"version": 2, "overall": {"kappa": 1}}'},
        code=2,
    ),
    "a fork without a verdict": Attack(
        base={"rubric-ci.yaml": CONFIG.replace("fail_on: fail", "require_verdict: true")},
        head={},
        code=3,
        fork=True,
    ),
    "a fork that requires none": Attack(
        base={"rubric-ci.yaml": CONFIG.replace("fail_on: fail", "require_verdict: true")},
        head={"rubric-ci.yaml": CONFIG},
        fork=True,
        code=1,
        said=("gate.require_verdict",),
    ),
    "a fork that adds a case of its own": Attack(
        base={"rubric-ci.yaml": CONFIG.replace("fail_on: fail", "require_verdict: true")},
        head={
            "evals/c.eval.yaml": OWN,
            "answers.jsonl": answers(one="go away", two="hello", c="hello"),
        },
        code=3,
        fork=True,
        needs_shell=True,
    ),
    "another picture of a recorded answer": Attack(
        base={
            "rubric-ci.yaml": CHANGED,
            "evals/a.eval.yaml": ASSERTED,
            "evals/b.eval.yaml": None,
            "answers.jsonl": SHOWN,
            "i.pdf": "%PDF-1.4\n% bad\n",
        },
        head={"i.pdf": "%PDF-1.4\n% good\n", "answers.jsonl": SHOWN},
        said=("changed: recording i.pdf", "`i.pdf` changed"),
    ),
    **{
        f"a question that is a file, {name}": Attack(
            base={
                "rubric-ci.yaml": CHANGED,
                "evals/a.eval.yaml": IN_FILE,
                "evals/b.eval.yaml": None,
                "evals/q.md": "Say hello to the worst\n",
                "evals/easy.md": "Say hello\n",
            },
            head={**head, "answers.jsonl": PASSING},
            said=("changed: case one: question",),
        )
        for name, head in {
            "edited": {"evals/q.md": "Say hello\n"},
            "replaced": {"evals/a.eval.yaml": IN_FILE.replace("q.md", "easy.md")},
        }.items()
    },
    "another conversation under a waiver": Attack(
        base={
            "rubric-ci.yaml": CONFIG,
            "evals/a.eval.yaml": TALK,
            "waivers.yaml": waived("greets", "kind", text=TALK),
            "answers.jsonl": TALKED,
        },
        head={
            "evals/a.eval.yaml": TALK.replace("max_turns: 2", "max_turns: 9"),
            "answers.jsonl": TALKED,
        },
        said=("the criterion or the question was edited",),
    ),
}
