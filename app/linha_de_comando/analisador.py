"""O argparse, em português."""

import argparse
import re
import sys
from typing import NoReturn

from app.citar import citar

_TRADUCOES = (
    (r"the following arguments are required: (.*)", r"falta \1"),
    (r"unrecognized arguments: (.*)", r"não conheço \1"),
    (r"argument (\S+): invalid choice: (\S+) \(choose from (.*)\)", r"\1: \2 não é um de \3"),
    (r"argument (\S+): expected one argument", r"\1: falta o valor"),
    (r"argument (\S+): invalid \w+ value: (.*)", r"\1: valor inválido: \2"),
)


class Analisador(argparse.ArgumentParser):
    """ArgumentParser com ajuda e erros em português; um erro é uma linha, e a saída é 2."""

    def __init__(self, **opcoes: object) -> None:
        super().__init__(add_help=False, allow_abbrev=False, **opcoes)  # type: ignore[arg-type]
        self._positionals.title = "argumentos"
        self._optionals.title = "opções"
        self.add_argument("-h", "--help", "--ajuda", action="help", help="mostra esta ajuda e sai")

    def format_help(self) -> str:
        return super().format_help().replace("usage:", "uso:", 1)

    def error(self, message: str) -> NoReturn:
        for original, traducao in _TRADUCOES:
            message = re.sub(original, traducao, message)
        print(f"{self.prog}: {citar(message, 500)} (veja {self.prog} --help)", file=sys.stderr)
        sys.exit(2)
