"""The command line: words from outside become Settings."""

import click

from rubric_ci import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rubric-ci")
def main() -> None:
    """Rubric-based evals in front of a merge."""
