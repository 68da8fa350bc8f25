# Everything starts from a Python and nothing else; `make` lists what there is.

PYTHON ?= python3
ARGS ?=
BOOTSTRAP = $(PYTHON) -I tools/launcher/bootstrap.py
IN_VENV = .venv/bin/python
# npm trusts whom this machine trusts: a registry may be a company's own.
NPM = NODE_OPTIONS=--use-system-ca
EDGES = browser or fault or fuzz or program or race
LOCK = uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --quiet

.DEFAULT_GOAL := help
.PHONY: help setup run demo down test edges accessible conform clients packages fuzz lint screenshots bench soak lock

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile

setup: ## make .venv with everything for running, testing and linting
	@$(BOOTSTRAP) dev embedded

run: ## run the Exchange here: servers, demo data, web, worker, beat, SFTP (Ctrl-C stops it)
	@exec $(BOOTSTRAP) embedded $(if $(UPLOADS_URL),s3) -- -m tools.launcher

demo: ## play the demo order again on the running service
	@exec $(BOOTSTRAP) -- manage.py demo

down: ## stop the `make run` of this DATA_DIR, from any terminal
	@exec $(BOOTSTRAP) -- -m tools.launcher.down

test: ## run the quick tests, with servers of their own; ARGS="tests/orders -x" chooses
	@exec $(BOOTSTRAP) dev embedded -- -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not ($(EDGES))" $(ARGS)

edges: ## run the slow ones: races, faults, fuzzing, browsers, other people's programs
	@exec $(BOOTSTRAP) dev embedded -- -m pytest -n 2 --dist loadfile -m "$(EDGES)" $(ARGS)

conform: ## check a running service from outside, against the contract
	@DEMO_JSON="$${DATA_DIR:-var}/demo.json" $(BOOTSTRAP) dev embedded -- -m pytest -n 2 tests/contract/outsider $(ARGS)

clients: ## make clients with common generators, and let each play the story on a running service; our own packages, too
	@DEMO_JSON="$${DATA_DIR:-var}/demo.json" $(NPM) $(BOOTSTRAP) dev embedded clients -- -m pytest -n 2 --dist loadfile tests/contract/generated tests/sftp_ingest/clients/test_node.py $(ARGS)

packages: ## make the Python and TypeScript clients into packages that are ready to be released, in dist/
	@$(NPM) $(BOOTSTRAP) clients -- -m tools.clients.packages $(ARGS)

accessible: ## look at every page of the admin with axe, in both themes and at three widths
	@exec $(BOOTSTRAP) dev embedded -- -m pytest -n 2 tests/accessibility/check_pages.py $(ARGS)

fuzz: ## ask a running service what nobody thought of, as both roles; ARGS="--seconds 60" for less
	@DEMO_JSON="$${DATA_DIR:-var}/demo.json" $(BOOTSTRAP) dev embedded -- -m tests.contract.fuzz $(ARGS)

screenshots: ## take the README's pictures anew (needs chromium)
	@SCREENSHOTS=1 $(BOOTSTRAP) dev embedded -- -m pytest tests/browser/test_screenshots.py $(ARGS)

lint: ## check style, types, import directions, migrations and commit subjects
	@$(BOOTSTRAP) dev
	$(IN_VENV) -m ruff check .
	$(IN_VENV) -m ruff format --check .
	$(IN_VENV) -m mypy .
	.venv/bin/lint-imports
	$(IN_VENV) -I tools/commit_subjects.py
	$(IN_VENV) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

bench: ## measure, and write down what was measured
	@exec $(BOOTSTRAP) dev embedded bench -- -m tools.bench $(ARGS)

soak: ## an hour of mixed traffic over two hosts, with faults; ARGS="--seconds 60 --pace 5" (needs haproxy)
	@exec $(BOOTSTRAP) dev embedded -- -m tools.bench.soak $(ARGS)

lock: ## resolve the dependencies of pyproject.toml again (needs uv)
	$(LOCK) pyproject.toml -o requirements.txt
	$(LOCK) pyproject.toml --extra dev -c requirements.txt -o requirements/dev.txt
	$(LOCK) pyproject.toml --extra s3 -c requirements.txt -o requirements/s3.txt
	$(LOCK) --group embedded --no-deps -o requirements/embedded.txt
	$(LOCK) --group redis --no-deps -o requirements/redis.txt
	$(LOCK) --group bench -c requirements.txt -o requirements/bench.txt
	$(LOCK) --group clients -c requirements/dev.txt -o requirements/clients.txt
