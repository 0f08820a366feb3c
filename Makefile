# As duas portas de entrada são `make run` e `make test`; cada uma prepara tudo o que precisa, de um clone limpo.
#
#   make run                                   serve em 127.0.0.1:8000, com o banco embutido e a demonstração
#   make test                                  a suíte no PostgreSQL embutido
#   make test PG=/usr/lib/postgresql/15/bin    a suíte em outro PostgreSQL
#   make test TESTES=tests/core                só uma parte dela
#   make test-longo                            também quedas e tortura em contagem plena
#   make check                                 ruff, mypy, plpgsql_check, docker-compose.yml, Prometheus, Grafana e systemd
#   make bench                                 as medições
#   make travar                                refaz os requirements*.lock com o que há em .venv

SHELL := /bin/sh
PG :=
TESTES := tests
PROCESSOS := 2
PY := .venv/bin/python
PYTEST := FORMIGUEIRO_TESTE_BINARIOS="$(PG)" $(PY) -m pytest -n $(PROCESSOS) --dist worksteal

.PHONY: run test test-longo check bench travar preparar

run: preparar
	@exec $(PY) -m app servir

test: preparar
	@$(PYTEST) $(TESTES)

test-longo: preparar
	@$(PYTEST) --timeout 3600 -m 'longo or not longo' $(TESTES)

check: preparar
	@$(PY) -m ruff check app tests ops $(wildcard bench docs)
	@$(PY) -m mypy app tests ops $(wildcard bench/*.py docs/*.py)
	@$(PY) -m ops.conferir_funcoes
	@$(PY) -m ops.conferir_compose
	@$(PY) -m ops.conferir_observabilidade
	@$(PY) -m ops.conferir_systemd

bench: preparar
	@PYTHON="$(PYTHON)" sh ops/preparar.sh bench
	@for medida in $$(grep -l '^if __name__' bench/*.py); do \
		echo "== $$medida"; $(PY) -m "bench.$$(basename "$$medida" .py)" || exit 1; done

travar: preparar
	@$(PY) -m ops.travar

preparar:
	@PYTHON="$(PYTHON)" sh ops/preparar.sh
