"""Run the command line as `python -m rubric_ci`."""

from rubric_ci.cli import main

main()
