"""The commits that workflows hold actions to; `# v1.2.3` is the release that the commit is."""

OURS = "rubric-ci/rubric-ci"
PINS = {
    "actions/cache": "cdf6c1fa76f9f475f3d7449005a359c84ca0f306 # v5.0.3",
    "actions/checkout": "de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2",
    "actions/download-artifact": "37930b1c2abaa49bbe596cd826c3c89aef350131 # v7.0.0",
    "actions/setup-python": "a309ff8b426b58ec0e2a45f0f869d46889d02405 # v6.2.0",
    "actions/upload-artifact": "b7c566a772e6b6bfb58ed0dc250532a479d7789f # v6.0.0",
    # Nothing can hold the hash of the commit that it is part of.
    OURS: f"{'0' * 40} # the commit of a release",
}


def at(repository: str) -> str:
    """Return `owner/name@commit`."""
    return f"{repository}@{PINS[repository].split()[0]}"
