"""The commands `judge`, `probe`, `baseline` and `history` with their options."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from rubric_ci.cli import options
from rubric_ci.cli.click_types import FILE, Count, Group, command, examples, option
from rubric_ci.text.escape import log_line
from rubric_ci.values import formats_and_defaults


@click.group(cls=Group)
def judge() -> None:
    """Measure the judge against people and attacks."""


@judge.command(name="test")
@options.paths
@options.config
@options.policy_from
@options.select(
    "--changed-since",
    metavar="REV",
    default="",
    help="Only files and cases that changed since this revision, also with the tests they had; "
    "`auto` takes the revision from the event or the branch.",
)
@options.judge
@options.votes
@option(
    "--format",
    type=click.Choice(["text", "json", "junit"]),
    default="text",
    help="Format of the results.",
)
@options.requests
def run_tests(**options: Any) -> None:
    """Ask the judge about the tests of rubric files and of cases.

    A test is an answer with the marks that it must get. PATHS are rubric files, eval files or
    folders; default: every `*.rubric.yaml` of the repository and the eval files of the
    configuration. Exits with 1 if a mark differs, with 3 if one is missing.
    """
    from rubric_ci.parts.lab.judge_test import run_tests as test_rubrics
    from rubric_ci.values.command_settings import RubricTestSettings, settings_of

    raise SystemExit(test_rubrics(settings_of(RubricTestSettings, options)))


@judge.command()
@options.paths
@options.config
@option(
    "--report",
    type=FILE,
    metavar="FILE",
    default=formats_and_defaults.REPORT,
    help="Report whose answers are marked.",
)
@option(
    "--labels",
    type=FILE,
    metavar="FILE",
    default=formats_and_defaults.LABELS,
    help="File to write the marks to.",
)
def label(**options: Any) -> None:
    """Mark the answers of a report yourself.

    One criterion at a time, in the terminal. Press q to stop; run the same command again to
    continue.
    """
    from rubric_ci.parts.lab.judge_label import label as label_answers
    from rubric_ci.values.command_settings import LabelSettings

    raise SystemExit(label_answers(LabelSettings(**options)))


@judge.command()
@click.argument("labels", type=FILE)
@options.paths
@options.config
@options.policy_from
@options.judge
@options.requests
def calibrate(**options: Any) -> None:
    """Measure the agreement between the judge and a person.

    LABELS is the file that `rubric-ci judge label` writes. PATHS are the eval files; default: the
    files that LABELS names.
    """
    from rubric_ci.parts.lab.judge_calibrate import calibrate_judge
    from rubric_ci.values.command_settings import CalibrateSettings, settings_of

    raise SystemExit(calibrate_judge(settings_of(CalibrateSettings, options)))


@judge.command()
@options.paths
@options.config
@options.policy_from
@options.judge
@options.judging(
    "--work",
    is_flag=True,
    help="Plant the attacks in tool results, diffs and file names, not in the answers.",
)
@options.judging(
    "--examples",
    is_flag=True,
    help="Plant the attacks in examples that the judge is shown, not in the answers.",
)
@options.requests
def attack(**options: Any) -> None:
    """Count the marks that change under prompt-injection attacks.

    PATHS are eval files whose cases carry answers; default: the built-in corpus.
    """
    from rubric_ci.parts.lab.judge_attack import attack as attack_judge
    from rubric_ci.values.command_settings import AttackSettings, settings_of

    if options["work"] and options["examples"]:
        raise click.UsageError("--work and --examples plant the attacks in different places")
    raise SystemExit(attack_judge(settings_of(AttackSettings, options)))


@command(
    epilog=examples(
        "probe                                 every criterion with an answer",
        "probe --changed-since origin/main     the criteria that a change touches",
        "probe --fail-on never-fails           exit 1 if a required one never fails",
    )
)
@options.paths
@options.config
@options.policy_from
@options.selection
@options.select(
    "--report",
    type=FILE,
    metavar="FILE",
    default=formats_and_defaults.REPORT,
    help="Report whose answers are changed; recorded answers need none.",
)
@option(
    "--variants",
    heading="Variants",
    type=Count(min=1),
    metavar="N",
    default=formats_and_defaults.VARIANTS,
    help="Maximum number of variants of an answer that a criterion must notice.",
)
@options.judge
@options.gate(
    "--fail-on",
    type=click.Choice(["never-fails"]),
    show_default="no finding fails",
    help="Finding about a required criterion that ends with exit code 1.",
)
@options.gate(
    "--output-dir",
    type=FILE,
    metavar="FOLDER",
    default=formats_and_defaults.OUTPUT_DIR,
    help="Folder to write probe.json to.",
)
@options.requests
@options.cache
def probe(**options: Any) -> None:
    """Find criteria that pass wrong answers.

    Answers that pass are changed by rules: without the text that a criterion quotes, with other
    numbers, negated, cut short. The judge marks the variants; a criterion that still passes them
    does not find what it was written for. PATHS are eval files, folders or globs; default: `evals`
    of the configuration.
    """
    from rubric_ci.parts.lab.probe import probe as measure
    from rubric_ci.values.command_settings import ProbeSettings, settings_of

    raise SystemExit(measure(settings_of(ProbeSettings, options)))


@click.group(cls=Group)
def baseline() -> None:
    """Manage the baseline that nightly runs are compared with."""


_report = click.argument("report", type=FILE, default=formats_and_defaults.REPORT)
_folder = option(
    "--baseline",
    type=FILE,
    metavar="FOLDER",
    default=formats_and_defaults.REFERENCE,
    help="Folder of the baseline.",
)


@baseline.command()
@_report
@_folder
def keep(report: Path, baseline: Path) -> None:
    """Add a run to the log of the baseline.

    REPORT is the report.json of a run over all cases. The first run becomes the baseline; later
    ones add trials only to cases that have fewer than five.
    """
    from rubric_ci.gate.report.report_file import read_report
    from rubric_ci.parts.lab.reference_folder import keep as keep_run

    for line in keep_run(read_report(report), baseline):
        click.echo(log_line(line))


@baseline.command(epilog=examples("baseline accept --reason 'shorter answers are wanted, #12'"))
@_report
@_folder
@option("--reason", required=True, metavar="REASON", help="Why these results are the baseline.")
@options.cases
def accept(report: Path, baseline: Path, reason: str, cases: tuple[str, ...]) -> None:
    """Make the results of a run the baseline.

    REPORT is the report.json of a run over all cases. The changes that are accepted are printed;
    commit, date and reason are kept in the folder, and later reports show them.
    """
    from rubric_ci.gate.report.report_file import read_report
    from rubric_ci.parts.lab.reference_folder import Acceptance
    from rubric_ci.parts.lab.reference_folder import accept as accept_run
    from rubric_ci.reports import comparison_section

    head, now = read_report(report), datetime.now(UTC).isoformat(timespec="seconds")
    compared = accept_run(head, baseline, Acceptance(reason=reason, cases=cases, decided_at=now))
    if compared:
        click.echo(comparison_section.text(compared), nl=False)
    click.echo(log_line(f"accepted: {report} of {head.started_at} ({reason})"))


_history = option(
    "--history",
    type=FILE,
    metavar="FILE",
    default=formats_and_defaults.HISTORY,
    help="History file, one run per line of JSON.",
)


@click.group(cls=Group)
def history() -> None:
    """Keep records of runs and show their trends."""


@history.command()
@click.argument("report", type=FILE, default=formats_and_defaults.REPORT)
@_history
def add(**options: Any) -> None:
    """Add a run to the history.

    REPORT is the report.json of a run. A report that was added before is not added twice.
    """
    from rubric_ci.parts.lab import history_commands as commands

    raise SystemExit(commands.add(**options))


@history.command()
@_history
@option(
    "--last", type=Count(min=1), metavar="N", default=20, help="Number of runs, the newest ones."
)
def show(**options: Any) -> None:
    """Print changes of score and cost, and cases whose verdict changes."""
    from rubric_ci.parts.lab import history_commands as commands

    raise SystemExit(commands.show(**options))
