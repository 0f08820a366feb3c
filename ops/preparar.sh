#!/bin/sh
# Prepara o ambiente virtual .venv com as versões travadas; se já está em dia, nada faz.
# Com `bench`, acrescenta a ele o extra das medições, que elas dispensam se não houver de onde o baixar.
set -eu
cd "$(dirname "$0")/.."
umask 022  # como root, o servidor embutido roda com outro usuário, que precisa ler seus programas

morrer() {
    echo "formigueiro: $*" >&2
    exit 1
}

serve() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

if [ "${1:-}" = bench ]; then
    extra=$(.venv/bin/python -c 'import tomllib
with open("pyproject.toml", "rb") as projeto:
    print(*tomllib.load(projeto)["project"]["optional-dependencies"]["bench"])')
    # shellcheck disable=SC2086  # um pedido por palavra
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -c requirements.lock $extra 2>.venv/pip-bench.log ||
        echo "formigueiro: sem o extra bench ($extra): $(tail -n 1 .venv/pip-bench.log)" >&2
    exit 0
fi

# O que está instalado, pela cópia que fica no ambiente depois de tudo dar certo.
if cat requirements.lock requirements-dev.lock | cmp -s - .venv/travado && serve .venv/bin/python; then
    exit 0
fi

for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 nenhum}; do
    serve "$python" && break
done
serve "$python" || morrer "é preciso Python 3.11 ou mais novo; se não está no PATH, use make PYTHON=/caminho/do/python3"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    morrer "falta o módulo venv ao $python; no Debian e no Ubuntu: apt-get install python3-venv"

echo "formigueiro: preparando .venv (só na primeira vez)…" >&2
rm -rf .venv
"$python" -m venv .venv || morrer "não foi possível criar .venv"
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.lock 2>.venv/pip.log ||
    morrer "o pip não instalou os pacotes: $(tail -n 1 .venv/pip.log) (tudo em .venv/pip.log)"
cat requirements.lock requirements-dev.lock >.venv/travado
