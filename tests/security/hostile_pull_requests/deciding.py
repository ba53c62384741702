"""Attacks on which cases decide: tags, targets, and cases without a verdict."""

from tests.security.hostile_pull_requests.attack import BASE, CONFIG, EVALS, OTHER, Attack, answers
from tests.security.hostile_pull_requests.generator import Files

STRICT = "fail_on: fail, on_weaker_grading: fail, on_changed_grading: fail"
OUTCOME = "expected_outcome: Hi, tags: [core]"
CORE, WIP, NONE = "    tags: [core]\n", "    tags: [wip]\n", ""
TESTS = """\
tests:
  - {id: one, input: Say hello, TAGS, assertions: [{type: contains, value: hello}]}
"""
TABLE = "evalcases: t.csv\nrubrics: [{contains: hello}]\n"
ROWS = "id,input,tags\none,Say hello,{}\nthree,Say hello,core\n"
GOOD = {**BASE, "answers.jsonl": answers(one="hello", two="hello", three="hello")}
BAD = answers(one="go away", two="hello", three="hello")
BOTH = "targets: [default, other]\n"
LAX = """\
  - {name: other, provider: mock, response: hello}
  - {name: third, provider: mock, response: hello}
"""
CONFIG_FILE = "rubric-ci.yaml"
WEAK = "fail_on: fail, on_weaker_grading: fail"
MOVED: Files = {
    "evals/a.eval.yaml": EVALS.replace("one", "easy"),
    "evals/c.eval.yaml": EVALS,
    "answers.jsonl": answers(one="go away", two="hello", easy="hello"),
}


def config(gate: str, fail: str = STRICT) -> str:
    return CONFIG.replace("fail_on: fail, on_weaker_grading: fail", f"{fail}, {gate}")


def leaving(
    gate: str, before: str, after: str, other: str = CORE, fail: str = STRICT, code: int = 1
) -> Attack:
    """Return the attack of another tag of the case that the head breaks."""
    return Attack(
        base={
            "rubric-ci.yaml": config(gate, fail),
            "evals/a.eval.yaml": EVALS + before,
            "evals/b.eval.yaml": OTHER + other,
        },
        head={"evals/a.eval.yaml": EVALS + after},
        code=code,
        said=("weaker: tag one:", "does not decide") if code == 1 else ("no case decides",),
    )


def of_file(name: str, base: Files, head: str) -> Attack:
    """Return the attack of another tag in a file of another kind."""
    kept = {"evals/a.eval.yaml": None, "evals/b.eval.yaml": None, "answers.jsonl": None}
    return Attack(
        base={**kept, **GOOD_ANSWERS, "rubric-ci.yaml": config("tags: [core]"), **base},
        head={name: head, "answers.jsonl": BAD},
        said=("weaker: tag one:", "does not decide"),
    )


def targeted(names: str, fail: str = WEAK) -> str:
    """Return a configuration with two targets, some of which decide."""
    return config(f"targets: {names}", fail).replace("gate:", f"{LAX}gate:")


EXCHANGED = (
    targeted("[default]", STRICT)
    .replace("name: default", "name: first")
    .replace("name: other", "name: default")
    .replace("name: first", "name: other")
)


def of_targets(
    head: Files, *said: str, suite: str = BOTH, fail: str = WEAK, code: int = 1
) -> Attack:
    """Return the attack on the target `default`, which decides and answers worse."""
    return Attack(
        base={
            CONFIG_FILE: targeted("[default]", fail),
            "evals/a.eval.yaml": suite + EVALS,
            "evals/b.eval.yaml": suite + OTHER,
        },
        head=head,
        said=said,
        code=code,
    )


def asked_by(*words: str, head: Files) -> Attack:
    """Return the attack on which cases the words of a workflow after `pytest` choose."""
    return Attack(
        base={"evals/a.eval.yaml": EVALS + CORE, "evals/b.eval.yaml": OTHER + CORE},
        head=head,
        session=words,
        said=("the change makes the grading weaker",),
    )


GOOD_ANSWERS = {"answers.jsonl": GOOD["answers.jsonl"]}
ATTACKS = {
    "the failing target decides": of_targets({}),
    "another target decides": of_targets(
        {CONFIG_FILE: targeted("[other]")}, "weaker: gate.targets"
    ),
    "the definitions of the targets exchanged": of_targets(
        {CONFIG_FILE: EXCHANGED}, "changed: recording targets.default", fail=STRICT
    ),
    "a suite without the target that decides": of_targets(
        {"evals/a.eval.yaml": f"targets: [other]\n{EVALS}"}, "weaker: case one [default]:"
    ),
    "a suite with a list of others": of_targets(
        {"evals/a.eval.yaml": f"targets: [other, third]\n{EVALS}"}, "none of them answers", code=2
    ),
    "a case with a target of its own": of_targets(
        {"evals/a.eval.yaml": f"{BOTH}{EVALS}    target: other\n"}, "weaker: case one [default]:"
    ),
    "the only target of a case": of_targets(
        {"evals/a.eval.yaml": f"{EVALS}    target: other\n"},
        "weaker: target one: default",
        suite="",
    ),
    "an id that ends with a target": of_targets(
        {"evals/a.eval.yaml": EVALS.replace("one", "one [other]") + "    target: other\n"},
        "weaker: case one:",
        suite="",
    ),
    "a tag that -k of pytest chooses": asked_by("-k", "core", head={"evals/a.eval.yaml": EVALS}),
    "a tag that -m of pytest chooses": asked_by("-m", "core", head={"evals/a.eval.yaml": EVALS}),
    "a file that -k of pytest chooses": asked_by("-k", "a.eval or b.eval", head=MOVED),
    "a file that pytest is given": asked_by("evals/a.eval.yaml", "evals/b.eval.yaml", head=MOVED),
    "an id that -k of pytest chooses": asked_by(
        "-k", "one or two", head={"evals/a.eval.yaml": EVALS.replace("one", "uno") + CORE}
    ),
    "a file that the workflow runs": Attack(
        head=MOVED,
        environment={"RUBRIC_CI_RUN_PATHS": "evals/a.eval.yaml\nevals/b.eval.yaml"},
        said=("weaker: case one:",),
    ),
    "a tag in another spelling": leaving("tags: [core]", CORE, "    tags: [Core]\n"),
    "a tag removed": leaving("tags: [core]", CORE, NONE),
    "a tag that leaves a case out": leaving("not_tags: [wip]", NONE, WIP, NONE),
    "a tag removed, one of two": leaving("tags: [core, must]", CORE, "    tags: [x]\n"),
    "a tag that the workflow runs": Attack(
        base={
            "rubric-ci.yaml": config("max_waivers: 1"),
            "evals/a.eval.yaml": EVALS + CORE,
            "evals/b.eval.yaml": OTHER + CORE,
        },
        head={"evals/a.eval.yaml": EVALS},
        environment={"RUBRIC_CI_RUN_TAG": "core"},
        said=("weaker: tag one:", "does not decide"),
    ),
    "a tag that is moved to a new case": Attack(
        base={"rubric-ci.yaml": config("tags: [core]"), "evals/a.eval.yaml": EVALS + CORE},
        head={
            "evals/a.eval.yaml": EVALS,
            "evals/c.eval.yaml": EVALS.replace("id: one", "id: three") + CORE,
            "answers.jsonl": BAD,
        },
        said=("weaker: tag one:", "does not decide"),
    ),
    "the column of a table": of_file(
        "evals/t.csv",
        {"evals/t.eval.yaml": TABLE, "evals/t.csv": ROWS.format("core")},
        ROWS.format(""),
    ),
    "the tags of an AgentV file": of_file(
        "evals/t.eval.yaml",
        {
            "evals/t.eval.yaml": TESTS.replace("TAGS", "tags: [core]"),
            "evals/b.eval.yaml": OTHER.replace("two", "three") + CORE,
        },
        TESTS.replace("TAGS", "tags: [other]"),
    ),
    "no case that decides": leaving("tags: [core]", CORE, NONE, NONE, "fail_on: fail", 3),
    "no case that decides, and each must have a verdict": leaving(
        "tags: [core]", CORE, NONE, NONE, "fail_on: fail, require_verdict: true", 3
    ),
    "tags that no case has": Attack(
        base={"rubric-ci.yaml": config("tags: [core]", "fail_on: fail")},
        head={},
        code=3,
        said=("no case decides: the gate is about core",),
    ),
    "a deciding case without rubrics": Attack(
        base={
            "rubric-ci.yaml": config("tags: [core], require_rubrics: true", "fail_on: fail"),
            "evals/b.eval.yaml": OTHER + CORE,
        },
        head={"evals/c.eval.yaml": f"evalcases:\n  - {{id: three, input: Hi, {OUTCOME}}}\n"},
        code=3,
        said=("1 case errored",),
    ),
}
