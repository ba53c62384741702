"""Images for podman made of programs of this machine, and whether podman runs here."""

import io
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

BUSYBOX = Path("/bin/busybox")
LINKS = ("sh", "cat", "touch", "sleep", "ls")
CONF = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
"""


@contextmanager
def image(
    folder: Path, monkeypatch: pytest.MonkeyPatch, programs: Sequence[Path] = ()
) -> Iterator[str]:
    """Yield an image with a static shell and these programs; skip where podman cannot run it."""
    if shutil.which("podman") is None or not BUSYBOX.exists():
        pytest.skip("podman or busybox is not installed (packages podman, busybox-static)")
    name = f"localhost/rubric-ci-{uuid4().hex}"
    file = folder / "image.tar"
    _pack(file, programs)
    subprocess.run(["podman", "import", str(file), name], check=True, capture_output=True)
    file.unlink()
    try:
        _check(name, folder, monkeypatch)
        yield name
    finally:
        subprocess.run(["podman", "rmi", "--force", name], check=False, capture_output=True)


def _pack(file: Path, programs: Sequence[Path]) -> None:
    with tarfile.open(file, "w", dereference=True) as archive:
        archive.add(BUSYBOX, "bin/busybox")
        for name in LINKS:
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link)
        if programs:
            user = b"root:x:0:0:root:/:/bin/sh\n"
            about = tarfile.TarInfo("etc/passwd")
            about.size = len(user)
            archive.addfile(about, io.BytesIO(user))
            place = tarfile.TarInfo("tmp")
            place.type, place.mode = tarfile.DIRTYPE, 0o1777
            archive.addfile(place)
        for program in programs:
            archive.add(program, f"bin/{program.name.removesuffix('.exe')}")
        for library in sorted({path for program in programs for path in _libraries(program)}):
            archive.add(library, library.lstrip("/"))


def _libraries(program: Path) -> list[str]:
    """Return the files that a program is loaded with; none for a static one."""
    done = subprocess.run(["ldd", str(program)], check=False, capture_output=True, text=True)
    return re.findall(r"(/\S+) \(0x", done.stdout)


def _check(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip where no container starts, with the defaults or with fewer demands on the kernel."""
    tried = ["podman", "run", "--rm", "--pids-limit=512", name, "/bin/sh", "-c", ":"]
    if subprocess.run(tried, check=False, capture_output=True).returncode:
        (folder / "containers.conf").write_text(CONF)
        monkeypatch.setenv("CONTAINERS_CONF", str(folder / "containers.conf"))
        done = subprocess.run(tried, check=False, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"podman cannot run here: {done.stderr.strip()[-200:]}")


def environment() -> dict[str, str]:
    """Return the variables by which podman finds its images and settings."""
    return {name: os.environ[name] for name in ("HOME", "CONTAINERS_CONF") if name in os.environ}
