"""The commits that workflows hold actions to; `# v1.2.3` is the release that the commit is."""

OURS = "rubric-ci/rubric-ci"
PINS = {
    "actions/attest-build-provenance": "a2bbfa25375fe432b6a289bc6b6cd05ecd0c4c32 # v4.1.0",
    "actions/attest-sbom": "c604332985a26aa8cf1bdc465b92731239ec6b9e # v4.1.0",
    "actions/cache": "cdf6c1fa76f9f475f3d7449005a359c84ca0f306 # v5.0.3",
    "actions/checkout": "de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2",
    "actions/download-artifact": "37930b1c2abaa49bbe596cd826c3c89aef350131 # v7.0.0",
    "actions/setup-go": "924ae3a1cded613372ab5595356fb5720e22ba16 # v6.5.0",
    "actions/setup-java": "b6effb05e454b25005698d916606bdc6ffcbf961 # v5.7.0",
    "actions/setup-node": "249970729cb0ef3589644e2896645e5dc5ba9c38 # v6.5.0",
    "actions/setup-python": "a309ff8b426b58ec0e2a45f0f869d46889d02405 # v6.2.0",
    "actions/upload-artifact": "bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0",
    "aws-actions/configure-aws-credentials": "e6de054238d6b7531b4efff3b6587d9aade6a06c # v6.2.3",
    "azure/login": "f5d393ae46f8fde4be8b75f32e3fc50e654ad0ca # v3.0.1",
    "google-github-actions/auth": "7c6bc770dae815cd3e89ee6cdf493a5fab2cc093 # v3.0.0",
    "pypa/gh-action-pypi-publish": "dc37677b2e1c63e2034f94d8a5b11f265b73ba33 # v1.14.2",
    # The tag until the first release; then `make pin` writes its commit.
    OURS: "v0.1.0",
}


def at(repository: str) -> str:
    """Return `owner/name@commit`."""
    return f"{repository}@{PINS[repository].split()[0]}"
