"""One check per promise: it raises AssertionError where the promise does not hold for a kind."""

import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pexpect

from rubric_ci.gate.report import json_format
from tests.promises.kinds import SECRET, Bench

FORMATS = "json,markdown,junit,sarif,html"
PRICED = frozenset(("model", "http", "agent", "simulated"))  # whose asking is a counted call


def graded(bench: Bench, *options: str, code: int = 0, **more: str) -> dict[str, Any]:
    """Run, and return the report."""
    done = bench.run(*options, **more)
    assert done.returncode == code, f"{done.returncode}\n{done.stderr}\n{done.stdout}"
    return bench.report()


def first(report: Mapping[str, Any]) -> tuple[str, str]:
    """Return the id of the first case, and of its first criterion."""
    case = report["cases"][0]
    return case["id"], case["evaluators"][0]["criteria"][0]["id"]


def estimate(bench: Bench) -> None:
    done = bench.run()
    assert done.returncode == 0
    judge = re.findall(r"about (\d+) requests? to openai/m", done.stderr)
    assert sum(map(int, judge)) == bench.judged
    target = re.findall(r"target \S+: (?:up to )?(\d+) (?:requests?|starts?)", done.stderr)
    assert not target or sum(map(int, target)) >= bench.asked
    users = re.findall(r"up to (\d+) requests? for simulated", done.stderr)
    known = sum(map(int, [*judge, *target, *users]))
    assert bench.report()["totals"]["calls"] <= known


def caps(bench: Bench) -> None:
    done = bench.run("--max-calls", "2")
    assert done.returncode == 3, done.stderr
    assert bench.report()["totals"]["calls"] <= 2
    assert bench.server.posts <= 2
    reasons = [case["reason"] for case in bench.report()["cases"] if not case.get("verdict")]
    assert any("call limit of 2 reached" in reason for reason in reasons)


def counted(bench: Bench) -> None:
    totals = graded(bench)["totals"]
    starts = bench.asked - len(bench.server.asked)
    paid = starts if any("claude" in text for text in bench.kind.files.values()) else 0
    assert totals["calls"] == bench.server.posts + paid


def cache(bench: Bench) -> None:
    bench.environment["ANTHROPIC_API_KEY"] = "sk-another-key"  # a secret is never cached
    before = graded(bench)
    judged, asked = bench.judged, bench.asked
    after = graded(bench, "--reuse-answers")
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
    assert report["comparison"]["regressed"]


def grading_changes(bench: Bench) -> None:
    bench.edit(bench.kind.lenient)
    report = graded(bench, *bench.kind.base, "--fail-on", "never")
    assert report["grading_changes"]


def waivers(bench: Bench) -> None:
    bench.edit(bench.kind.worse)
    case, criterion = first(graded(bench, code=1))
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
    graded(bench)
    terminal = pexpect.spawn(
        sys.executable,
        ["-m", "rubric_ci", "judge", "label"],
        cwd=str(bench.root),
        env=bench.environment,
        encoding="utf-8",
        timeout=30,
        dimensions=(100, 140),
    )
    marks = {case["id"] for case in bench.report()["cases"]}
    for _ in range(len(bench.report()["cases"])):
        terminal.expect_exact("q quit")
        terminal.send("y")
    terminal.expect(pexpect.EOF)
    lines = [json.loads(line) for line in (bench.root / "labels.jsonl").read_text().splitlines()]
    assert {line["id"] for line in lines} == marks
    assert all("hello" in json.dumps(line) for line in lines)


def calibrate(bench: Bench) -> None:
    label(bench)
    asked = bench.asked
    done = bench("judge", "calibrate", "labels.jsonl")
    assert done.returncode == 0, done.stderr
    found = json.loads((bench.root / "calibration.json").read_text())
    assert found["overall"]["n"] == len(bench.report()["cases"])
    assert found["overall"]["accuracy"] == 1
    assert bench.asked == asked


def probe(bench: Bench) -> None:
    graded(bench)
    asked = bench.asked
    done = bench("probe")
    assert done.returncode == 0, done.stderr[-600:]
    found = json.loads((bench.root / ".rubric-ci/probe.json").read_text())["criteria"]
    assert found
    assert all(each["noticed"][0] > 0 for each in found)
    assert bench.asked == asked


def rejudge(bench: Bench) -> None:
    graded(bench)
    asked, judged = bench.asked, bench.judged
    bench.server.word = "strict"
    done = bench("baseline", "rejudge", ".rubric-ci/report.json")
    assert done.returncode == 0, done.stderr
    assert bench.asked == asked
    assert bench.judged > judged
    assert {case["verdict"] for case in bench.report()["cases"]} == {"fail"}


def sentinel(bench: Bench) -> None:
    report = graded(bench, "--trials", "15")
    items = report["sentinel"]["items"]
    assert len(items) >= 1
    assert all(item["repeats"] == [True] * 5 for item in items)


def history(bench: Bench) -> None:
    graded(bench)
    added = bench("history", "add", ".rubric-ci/report.json", "--history", "h.db")
    assert added.returncode == 0, added.stderr
    shown = bench("history", "show", "--history", "h.db")
    assert shown.returncode == 0, shown.stderr
    assert "1.00" in shown.stdout or "100" in shown.stdout or "pass" in shown.stdout


def reports(bench: Bench) -> None:
    report = graded(bench, "--reports", FORMATS)
    folder = bench.root / ".rubric-ci"
    text = (folder / "report.json").read_text()
    assert json_format.render(json_format.read(text)) == text
    for name in ("summary.md", "junit.xml", "report.sarif", "report.html"):
        shown = (folder / name).read_text()
        assert shown, name
    assert all(case["id"] in (folder / "report.html").read_text() for case in report["cases"])
    assert all(case["id"] in (folder / "junit.xml").read_text() for case in report["cases"])


def masking(bench: Bench) -> None:
    done = bench.run("--reports", FORMATS)
    assert done.returncode == 0, done.stderr
    assert "my key is ***" in (bench.root / ".rubric-ci/report.json").read_text()
    found = [done.stdout, done.stderr, *bench.server.seen]
    found += [
        path.read_text() for path in (bench.root / ".rubric-ci").rglob("*.*") if path.is_file()
    ]
    assert not [text for text in found if SECRET in text]


def fence(bench: Bench) -> None:
    graded(bench)
    assert bench.server.seen
    for prompt in bench.server.seen:
        (tag,) = set(re.findall(r"<answer_([0-9a-f]+)>", prompt)) - {"0000"}
        outside = re.sub(rf"<(\w+_{tag})>\n.*?\n</\1>", "", prompt, flags=re.DOTALL)
        assert "OBEY ME" in prompt
        assert "OBEY ME" not in outside
        assert "</answer_0000>" not in prompt  # a forged end of a fence is escaped


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
    "label": label,
    "calibrate": calibrate,
    "probe": probe,
    "rejudge": rejudge,
    "sentinel": sentinel,
    "history": history,
    "reports": reports,
    "masking": masking,
    "fence": fence,
}
