"""A checked target that is an HTTP service."""

from collections.abc import Mapping
from posixpath import dirname, join, normpath
from typing import Any

from rubric_ci.values.config import Endpoint
from rubric_ci.values.service import ServiceTarget
from rubric_ci.values.service_program import HttpRequest, ServiceProgram
from rubric_ci.values.written_keys import read


def service_target(data: Mapping[str, Any], file: str) -> ServiceTarget:
    """Return a service; its folder counts from the file."""
    return read(
        ServiceTarget,
        data,
        depends_on=tuple(data["depends_on"]) if "depends_on" in data else None,
        endpoint=_endpoint(data),
        program=_program(data, file) if "start" in data else None,
    )


def _endpoint(data: Mapping[str, Any]) -> Endpoint:
    """Return how the service is asked; before a reply its price is not known, and not reserved."""
    connection = {key: data[key] for key in ("headers", "url_before") if key in data}
    return Endpoint(
        model=f"http/{data['name']}",
        options={
            "api_base": data["url"],
            **connection,
            **dict.fromkeys(("input_cost_per_token", "output_cost_per_token"), 0.0),
        },
        timeout_seconds=float(data.get("timeout_seconds", 60.0)),
        http=read(HttpRequest, data, usage=data.get("usage", {})),
    )


def _program(data: Mapping[str, Any], file: str) -> ServiceProgram:
    cwd = normpath(join(dirname(file), data.get("cwd", ".")))
    return read(ServiceProgram, data, cwd=cwd)
