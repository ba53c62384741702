"""An include: the criteria of a rubric file in a list of criteria."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.written_keys import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Include:
    """An entry of a list that stands for the criteria of a rubric file."""

    file: Annotated[str, Key("safety", "../rubrics/tone.rubric.yaml", name="include")]
    """Path of a rubric file, relative to this file's folder or one of its parents; a bare name is
    the nearest `rubrics/NAME.rubric.yaml`."""
    prefix: Annotated[str, Key("safe", name="as", pattern="^[A-Za-z0-9_-]+$")] = ""
    """What comes before the ids: `NAME/id`. Without it, the name of the file."""
    only: Annotated[tuple[str, ...], Key(["no-promise"], minItems=1)] = ()
    """Ids of the criteria that are taken."""
    without: Annotated[tuple[str, ...], Key(["no-promise"], name="except", minItems=1)] = ()
    """Ids of the criteria that are not taken."""
    factor: Annotated[float, Key(0.5, name="weight", minimum=0)] = 1.0
    """Factor of the weights and penalties of the file."""
    required: Annotated[bool, Key(False)] = True
    """`false`: no criterion of the file is a gate."""
    variables: Annotated[
        Mapping[str, JSON], Key.of("vars", name="vars", to=lambda value, _: value)
    ] = field(default_factory=dict)
