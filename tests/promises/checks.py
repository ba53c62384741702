"""One check per promise: it raises AssertionError where the promise does not hold for a kind."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree import ElementTree

import pexpect

from rubric_ci.gate.report import json_format
from rubric_ci.text import numbers
from tests.forked_command import at_a_terminal, press
from tests.promises.bench import Bench
from tests.promises.kinds import MARKS, SECRET

PRICED = frozenset(
    ("model", "http", "service", "agent", "simulated")
)  # whose asking is a counted call


def graded(bench: Bench, *options: str, code: int = 0, **more: str) -> dict[str, Any]:
    """Run, and return the report."""
    done = bench.run(*options, **more)
    assert done.returncode == code, f"{done.returncode}\n{done.stderr}\n{done.stdout}"
    return bench.report()


def passed(bench: Bench) -> dict[str, Any]:
    """Run what was committed, and return the report."""
    done = bench.first_run()
    assert done.returncode == 0, f"{done.returncode}\n{done.stderr}\n{done.stdout}"
    return bench.report()


def worse(bench: Bench) -> dict[str, Any]:
    """Run what is worse, and return the report."""
    done = bench.worse_run()
    assert done.returncode == 1, f"{done.returncode}\n{done.stderr}\n{done.stdout}"
    return bench.report()


def first(report: Mapping[str, Any]) -> tuple[str, str]:
    """Return the id of the first case, and of its first criterion."""
    case = report["cases"][0]
    return case["id"], case["evaluators"][0]["criteria"][0]["id"]


def estimate(bench: Bench) -> None:
    done = bench.first_run()
    assert done.returncode == 0
    judge = re.findall(r"about (\d+) requests? to openai/m", done.stderr)
    assert sum(map(int, judge)) == bench.judged
    target = re.findall(r"target \S+: (?:up to )?(\d+) (?:requests?|starts?)", done.stderr)
    assert not target or sum(map(int, target)) >= bench.asked
    users = re.findall(r"up to (\d+) requests? for simulated", done.stderr)
    known = sum(map(int, [*judge, *target, *users]))
    assert bench.report()["totals"]["calls"] <= known


def caps(bench: Bench) -> None:
    done = bench.run("--max-calls", "1")
    assert done.returncode == 3, done.stderr
    assert bench.report()["totals"]["calls"] <= 1
    assert bench.server.posts <= 1
    reasons = [case["reason"] for case in bench.report()["cases"] if not case.get("verdict")]
    assert any("call limit of 1 reached" in reason for reason in reasons)


def counted(bench: Bench) -> None:
    totals = passed(bench)["totals"]
    starts = bench.asked - len(bench.server.asked)
    paid = starts if "claude" in (bench.root / "rubric-ci.yaml").read_text() else 0
    assert totals["calls"] == bench.server.posts + paid


def cache(bench: Bench) -> None:
    bench.environment["ANTHROPIC_API_KEY"] = "sk-another-key"  # a secret is never cached
    before = graded(bench)
    judged, asked = bench.judged, bench.asked
    after = graded(bench, "--reuse", "answers")
    assert bench.judged == judged
    assert bench.asked == asked
    verdicts = [[case["verdict"] for case in each["cases"]] for each in (before, after)]
    assert verdicts[0] == verdicts[1]


def replay(bench: Bench) -> None:
    names = ("id", "verdict", "score", "answer", "trace", "file_changes")

    def kept(report: Mapping[str, Any]) -> list[list[Any]]:
        return [[case.get(name) for name in names] for case in report["cases"]]

    recorded = kept(graded(bench, "--record", "all.jsonl"))
    assert SECRET not in (bench.root / "all.jsonl").read_text()
    posts, asked = bench.server.posts, bench.asked
    bench.server.out = True
    assert kept(graded(bench, "--replay", "all.jsonl")) == recorded
    assert (bench.server.posts, bench.asked) == (posts, asked)


def against(bench: Bench) -> None:
    bench.edit(bench.kind.worse)
    bench.edit(bench.kind.lenient)
    report = graded(bench, *bench.kind.base, "--fail-on", "regression", code=1)
    assert not report["gate"]["holds"]
    for case in report["cases"]:  # lenient rubrics excuse no break
        assert case["change"] == "broken"
        if bench.kind.run == ("run",):
            assert case["verdict"] == "pass"
            assert case["change_reason"] == "under the rubrics of the base"


def grading_changes(bench: Bench) -> None:
    bench.edit(bench.kind.lenient)
    report = graded(bench, *bench.kind.base, "--fail-on", "never")
    assert report["grading_changes"]


def waivers(bench: Bench) -> None:
    case, criterion = first(worse(bench))
    name = f"{case}/{criterion}"
    said = ("--until", "2999-12-31", "--reason", "known", "--owner", "ana")
    done = bench("waive", name, *said)
    assert done.returncode == 0, done.stderr
    report = graded(bench, code=1)
    assert [c["id"] for c in report["cases"] if c["waived"]] == [case]
    bench.edit(bench.kind.asks)
    report = graded(bench, code=1)
    assert not any(c["waived"] for c in report["cases"])


def policy(bench: Bench) -> None:
    bench.edit(bench.kind.worse)
    path = bench.root / "rubric-ci.yaml"
    text = path.read_text().replace("gate: {fail_on: fail}\n", "").replace("openai/m,", "openai/n,")
    path.write_text(f"{text}gate: {{fail_on: never}}\n")
    report = graded(bench, *dict.fromkeys(("--policy-from", "base", *bench.kind.base)), code=1)
    assert "fail_on" in json.dumps(report["notes"]) or report["grading_changes"]
    assert bench.server.models <= {"m"}


def label(bench: Bench) -> None:
    passed(bench)
    terminal = at_a_terminal(
        bench.root, bench.environment, "judge", "label", lines=100, columns=140
    )
    marks = {case["id"] for case in bench.report()["cases"]}
    for _ in range(len(bench.report()["cases"])):
        terminal.expect_exact("q quit")
        press(terminal, bench.kind.key)
    terminal.expect(pexpect.EOF)
    lines = [json.loads(line) for line in (bench.root / "labels.jsonl").read_text().splitlines()]
    assert {line["id"] for line in lines} == marks
    assert all("hello" in json.dumps(line) for line in lines)


def labelled(bench: Bench) -> None:
    bench.once("label", lambda: label(bench))


def calibrate(bench: Bench) -> None:
    labelled(bench)
    asked = bench.asked
    done = bench("judge", "calibrate", "labels.jsonl")
    assert done.returncode == 0, done.stderr
    found = json.loads((bench.root / "calibration.json").read_text())
    assert found["overall"]["n"] == len(bench.report()["cases"])
    assert found["overall"]["accuracy"] == 1
    assert bench.asked == asked


def judge_test(bench: Bench) -> None:
    asked, file = bench.asked, bench.root / "rubrics/tested.rubric.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(TESTED)
    done = bench("judge", "test")
    assert done.returncode == 1, done.stderr
    assert "rubrics/tested.rubric.yaml:5: tested: test-2\n  greets: expected not satisfied" in (
        done.stdout
    )
    assert bench.asked == asked


TESTED = """\
criteria:
- {id: greets, expected_outcome: Greets}
tests:
- {answer: hello, marks: {greets: true}}
- {answer: hello again, marks: {greets: false}}
"""


def probe(bench: Bench) -> None:
    passed(bench)
    asked = bench.asked
    done = bench("probe")
    assert done.returncode == 0, done.stderr[-600:]
    found = json.loads((bench.root / ".rubric-ci/probe.json").read_text())["criteria"]
    assert found
    assert all(each["noticed"][0] > 0 for each in found)
    assert bench.asked == asked


def sentinel(bench: Bench) -> None:
    report = graded(bench, "--baseline", ".rubric-ci/reference")
    items = report["sentinel"]["items"]
    assert len(items) >= 1
    assert all(item["repeats"] == [MARKS[bench.kind.mark][True]] * 5 for item in items)


def history(bench: Bench) -> None:
    in_history(bench, passed(bench), "pass 1.00 100 %", "")
    in_history(bench, worse(bench), "fail, gate fails 0.00 0 %", "_")


def in_history(bench: Bench, report: Mapping[str, Any], words: str, strip: str) -> None:
    """A history of one run has its cases, figures and cost; a steady pass has no strip."""
    name = f"{report['verdict']}.jsonl"
    file = ("--history", name)
    assert bench("history", "add", ".rubric-ci/report.json", *file).returncode == 0
    record = json.loads((bench.root / name).read_text())
    cases, totals = report["cases"], report["totals"]
    assert record["cases"] == [[case["file"], case["id"]] for case in cases]
    assert record["verdicts"] == "".join(case["verdict"][0] for case in cases)
    cost = None if totals["unpriced_calls"] else totals["cost_usd"]
    assert (record["calls"], record["cost_usd"]) == (totals["calls"], cost)
    shown = bench("history", "show", *file).stdout.splitlines()
    lines = [" ".join(line.split()) for line in shown]
    assert [line for line in lines if words in line and line.endswith(_cost(report))]
    strips = [f"{strip} {case['file']}: {case['id']}" for case in cases if strip]
    assert [line for line in lines if line.startswith("_ ")] == strips


def _cost(report: Mapping[str, Any]) -> str:
    totals = report["totals"]
    if totals["unpriced_calls"]:
        return "unknown"
    return numbers.dollars(totals["cost_usd"]) if totals["calls"] else "no calls"


def reports(bench: Bench) -> None:
    for run in (passed, worse):
        report = run(bench)
        folder = bench.root / ".rubric-ci"
        text = (folder / "report.json").read_text()
        assert json_format.render(json_format.read(text)) == text
        missed = bench.kind.missed
        in_sarif(report, json.loads((folder / "report.sarif").read_text()), missed)
        summary, page = ((folder / name).read_text() for name in ("summary.md", "report.html"))
        suites = ElementTree.fromstring((folder / "junit.xml").read_text())
        for case in report["cases"]:
            in_junit(case, suites, missed)
            in_markdown(case, summary, missed)
            in_page(case, page, missed)


def failed(case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the criteria of a case whose gate is missed."""
    every = (each for evaluator in case["evaluators"] for each in evaluator["criteria"])
    return [each for each in every if each["gated"]]


def place_of(case: Mapping[str, Any], criterion: Mapping[str, Any]) -> str:
    """Return the file that a criterion stands in."""
    return str(criterion["file"] or case["file"])


def in_sarif(report: Mapping[str, Any], sarif: Mapping[str, Any], word: str) -> None:
    """Each case that fails has a result at its first criterion whose gate is missed."""
    found = []
    for each in sarif["runs"][0]["results"]:
        place = each["locations"][0]["physicalLocation"]
        line = place["region"]["startLine"]
        found.append((place["artifactLocation"]["uri"], line, *each["message"]["text"].split("\n")))
    assert found == [
        (
            *(
                place_of(case, each),
                each["line"],
                f"{case['id']}: {case['verdict']} {case['score']:.2f}",
            ),
            *(f"{each['id']}: {word}", each["text"], each["reasoning"]),
        )
        for case in report["cases"]
        for each in failed(case)[:1]
    ]


def in_junit(case: Mapping[str, Any], suites: ElementTree.Element, word: str) -> None:
    (found,) = suites.findall(f".//testcase[@name='{case['id']}']")
    place = (found.get("file"), found.get("line"))
    assert place == (case["file"], str(case["line"]))
    said = {each.get("name"): each.get("value") for each in found.iter("property")}
    assert (said["verdict"], said["score"]) == (case["verdict"], f"{case['score']:.6f}")
    missed = [f"{place_of(case, c)}:{c['line']}: {c['id']}: {word}" for c in failed(case)]
    assert all(line in str(found.findtext("failure")) for line in missed)
    assert (found.find("failure") is not None) == bool(missed)


def in_markdown(case: Mapping[str, Any], summary: str, word: str) -> None:
    """A passing case is a line below one head; another one has its own head and its marks."""
    if case["verdict"] == "pass":
        assert f"\n- `{case['id']}` · {case['score']:.2f}\n" in summary
        return
    head = f"<summary>❌ <b>{case['id']}</b> · {case['score']:.2f}"
    (part,) = [each for each in re.split("<details(?: open)?>", summary) if each.startswith(head)]
    assert f"\n{case['file']}:{case['line']}" in part
    missed = [
        f"\n❌ **{each['text']}** · {' · '.join(word.rsplit(', ', 1))}" for each in failed(case)
    ]
    assert missed == [each for each in missed if each in part]


def in_page(case: Mapping[str, Any], page: str, word: str) -> None:
    head = f'>{case["verdict"]}</span><b>{case["id"]}</b><span class="score">{case["score"]:.2f}<'
    (part,) = [each for each in page.split('<details class="case ') if head in each]
    assert f"<code>{case['file']}:{case['line']}</code>" in part
    missed = [f"<b>{each['id']}</b>" for each in failed(case)]
    assert missed == [each for each in missed if each in part]
    assert part.count(f">{word.rsplit(', ', 1)[0]}</span>") == len(missed)


def masking(bench: Bench) -> None:
    done = bench.first_run()
    assert done.returncode == 0, done.stderr
    assert "my key is ***" in (bench.root / ".rubric-ci/report.json").read_text()
    found = [text.encode() for text in (done.stdout, done.stderr, *bench.server.seen)]
    files = (bench.root / ".rubric-ci").rglob("*.*")
    found += [path.read_bytes() for path in files if path.is_file()]
    assert not [data for data in found if SECRET.encode() in data]


def fence(bench: Bench) -> None:
    passed(bench)
    assert bench.server.seen
    for prompt in bench.server.seen:
        (tag,) = set(re.findall(r"<answer_([0-9a-f]+)>", prompt)) - {"0000"}
        outside = re.sub(rf"<(\w+_{tag})>\n.*?\n</\1>", "", prompt, flags=re.DOTALL)
        assert "OBEY ME" in prompt
        assert "OBEY ME" not in outside
        assert "</answer_0000>" not in prompt  # a forged end of a fence is escaped


def untrusted(bench: Bench) -> None:
    report = graded(bench, "--untrusted", bench.proposed(bench.kind.lenient))
    assert all(
        "Anything" in case["evaluators"][0]["criteria"][0]["text"] for case in report["cases"]
    )
    assert [case["verdict"] for case in report["cases"]] == ["pass"] * len(report["cases"])
    asked, head = bench.asked, bench.proposed(bench.kind.worse)
    if bench.kind.worse_is_text:
        report = graded(bench, "--untrusted", head, code=1)
        assert {case["verdict"] for case in report["cases"]} == {"fail"}
        return
    report = graded(bench, "--untrusted", head, code=3)
    reasons = [case["reason"] for case in report["cases"]]
    assert all(each.startswith("not gradable for an untrusted change") for each in reasons)
    assert (len(reasons) >= bench.cases, bench.asked) == (True, asked)


CHECKS: Mapping[str, Callable[[Bench], None]] = {
    "estimate": estimate,
    "caps": caps,
    "counted": counted,
    "cache": cache,
    "replay": replay,
    "against": against,
    "grading-changes": grading_changes,
    "waivers": waivers,
    "policy": policy,
    "label": labelled,
    "calibrate": calibrate,
    "judge-test": judge_test,
    "probe": probe,
    "sentinel": sentinel,
    "history": history,
    "reports": reports,
    "masking": masking,
    "fence": fence,
    "untrusted": untrusted,
}
