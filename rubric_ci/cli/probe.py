"""`rubric-ci probe`."""

from functools import partial
from typing import Any

import click

from rubric_ci.cli import options, request_options
from rubric_ci.cli.command import FILE, command, examples, option
from rubric_ci.model import defaults

_variants = partial(option, heading="Variants")
_instead = partial(option, heading="Instead of criteria")


@command(
    epilog=examples(
        "probe                                 every criterion with an answer",
        "probe --changed-since origin/main     the criteria that a change touches",
        "probe --prompt                        rules of prompts that no case depends on",
        "probe --fail-on never-fails           exit 1 if a required one never fails",
    ),
)
@options.paths
@options.config
@options.policy_from
@options.selection
@options.select(
    "--report",
    type=FILE,
    metavar="FILE",
    default=defaults.REPORT,
    help="Report whose answers are changed; recorded answers need none.",
)
@_variants(
    "--variants",
    type=click.IntRange(min=1),
    metavar="N",
    default=defaults.VARIANTS,
    help="Maximum number of variants of an answer that a criterion must notice, or of mutants of a "
    "prompt.",
)
@_variants(
    "--with-model",
    is_flag=True,
    help="Also ask the judge's model for two paraphrases of each answer, which must not matter.",
)
@options.judge
@options.gate(
    "--fail-on",
    type=click.Choice(["never-fails"]),
    show_default="no finding fails",
    help="Finding about a required criterion that ends with exit code 1.",
)
@_instead(
    "--aa",
    type=click.IntRange(min=1),
    metavar="N",
    help="Compare HEAD with itself N times, with new answers, and print how often the "
    "gate is red without a change.",
)
@_instead(
    "--prompt",
    is_flag=True,
    help="Delete, invert or weaken the rules of prompt files, one at a time, and print "
    "which changes no case fails.",
)
@options.gate(
    "--output-dir",
    type=FILE,
    metavar="FOLDER",
    default=defaults.OUTPUT_DIR,
    help="Folder to write probe.json or probe-prompt.json to.",
)
@request_options.requests
@request_options.cache
def probe(aa: int | None, prompt: bool, **options: Any) -> None:
    """Find criteria that pass wrong answers.

    Answers that pass are changed by rules: without the text that a criterion quotes, with other
    numbers, negated, cut short. The judge marks the variants; a criterion that still passes them
    does not find what it was written for. PATHS are eval files, folders or globs; default: `evals`
    of the configuration.
    """
    from rubric_ci.commands.probe import probe as measure
    from rubric_ci.model.options import ProbeSettings

    settings = ProbeSettings(**options)
    if aa and prompt:
        raise click.UsageError("--aa and --prompt are two probes: run one after the other")
    if prompt:
        from rubric_ci.commands.probe_prompt import probe_prompt

        raise SystemExit(probe_prompt(settings))
    if aa:
        from rubric_ci.commands.probe_aa import probe_aa

        raise SystemExit(probe_aa(settings, aa))
    raise SystemExit(measure(settings))
