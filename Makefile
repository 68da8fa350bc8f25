# The targets need only Python, except where their help names a program. `make` lists the targets.

PYTHON ?= python3
ARGS ?=
BOOTSTRAP = $(PYTHON) -I tools/launcher/bootstrap.py
IN_VENV = .venv/bin/python
# npm trusts the certificates of this machine, because a registry may be private.
NPM = NODE_OPTIONS=--use-system-ca
EDGES = browser or fault or fuzz or program or race
LOCK = uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --quiet

.DEFAULT_GOAL := help
.PHONY: help setup run demo down test edges accessible conform clients packages docs sbom fuzz lint screenshots migration bench soak lock

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile

setup: ## make .venv with the packages to run, test and lint
	@$(BOOTSTRAP) dev embedded

run: ## run the Exchange: servers, demo data and all services (Ctrl-C stops it)
	@exec $(BOOTSTRAP) embedded docs $(if $(UPLOADS_URL),s3) -- -m tools.launcher

demo: ## play the demo order again on the running service
	@exec $(BOOTSTRAP) -- manage.py demo

down: ## stop the `make run` of this DATA_DIR
	@exec $(BOOTSTRAP) -- -m tools.launcher.down

test: ## run the quick tests on temporary servers; ARGS="tests/orders -x" selects tests
	@exec $(BOOTSTRAP) dev embedded -- -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not ($(EDGES))" $(ARGS)

edges: ## run the slow tests: races, faults, fuzzing, browsers, third-party programs
	@exec $(BOOTSTRAP) dev embedded docs sbom -- -m pytest -n 2 --dist loadfile -m "$(EDGES)" $(ARGS)

conform: ## check a running service against the contract
	@DEMO_JSON="$${DATA_DIR:-var}/demo.json" $(BOOTSTRAP) dev embedded -- -m pytest -n 2 tests/contract/outsider $(ARGS)

clients: ## test generated clients and our own client packages on a running service
	@DEMO_JSON="$${DATA_DIR:-var}/demo.json" $(NPM) $(BOOTSTRAP) dev embedded clients -- -m pytest -n 2 --dist loadfile tests/contract/generated tests/sftp_ingest/clients/test_node.py $(ARGS)

packages: ## build the Python and TypeScript client packages in dist/
	@$(NPM) $(BOOTSTRAP) clients -- -m tools.clients.packages $(ARGS)

docs: ## build the site of the documents, which the service serves below /docs/
	@exec $(BOOTSTRAP) docs -- -m tools.docs_site --strict

sbom: ## list the packages of a release in dist/sbom.json, as CycloneDX
	@mkdir -p dist
	@exec $(BOOTSTRAP) sbom -- -W ignore::UserWarning -m cyclonedx_py requirements --pyproject pyproject.toml \
		--mc-type application --output-reproducible --of JSON --validate -o $(or $(ARGS),dist/sbom.json) requirements.txt

accessible: ## check every page of the admin and the portal with axe, in both themes and three widths
	@exec $(BOOTSTRAP) dev embedded -- -m pytest -n 2 tests/accessibility/check_pages.py $(ARGS)

fuzz: ## send random requests to a running service, as both roles; ARGS="--seconds 60" limits it
	@DEMO_JSON="$${DATA_DIR:-var}/demo.json" $(BOOTSTRAP) dev embedded -- -m tests.contract.fuzz $(ARGS)

screenshots: ## take the README's pictures again (needs chromium)
	@SCREENSHOTS=1 $(BOOTSTRAP) dev embedded docs -- -m pytest tests/browser/test_screenshots.py $(ARGS)

lint: ## check style, types, import directions, migrations and commit subjects
	@$(BOOTSTRAP) dev
	$(IN_VENV) -m ruff check .
	$(IN_VENV) -m ruff format --check .
	$(IN_VENV) -m mypy .
	.venv/bin/lint-imports
	$(IN_VENV) -I tools/commit_subjects.py
	$(IN_VENV) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

migration: ## make a named migration: APP=orders NAME=what_it_does
	@$(if $(and $(APP),$(NAME)),,$(error Name the app and the change: make migration APP=orders NAME=what_it_does))
	@exec $(BOOTSTRAP) dev -- -W ignore::RuntimeWarning manage.py makemigrations $(APP) -n $(NAME)

bench: ## measure beside the database's limits; ARGS="orders" selects a part, ARGS="--smoke" checks all
	@exec $(BOOTSTRAP) dev embedded bench -- -m tools.bench $(ARGS)

soak: ## run two hosts with mixed traffic and faults for an hour; ARGS="--seconds 60" (needs haproxy)
	@exec $(BOOTSTRAP) dev embedded -- -m tools.bench.soak $(ARGS)

lock: ## resolve the dependencies in pyproject.toml again (needs uv)
	$(LOCK) pyproject.toml -o requirements.txt
	$(LOCK) pyproject.toml --extra dev -c requirements.txt -o requirements/dev.txt
	$(LOCK) pyproject.toml --extra s3 -c requirements.txt -o requirements/s3.txt
	$(LOCK) --group embedded --no-deps -o requirements/embedded.txt
	$(LOCK) --group redis --no-deps -o requirements/redis.txt
	$(LOCK) --group uv --no-deps -o requirements/uv.txt
	$(LOCK) --group bench -c requirements.txt -o requirements/bench.txt
	$(LOCK) --group clients -c requirements/dev.txt -o requirements/clients.txt
	$(LOCK) --group docs -c requirements/dev.txt -o requirements/docs.txt
	$(LOCK) --group sbom -c requirements/dev.txt -o requirements/sbom.txt
