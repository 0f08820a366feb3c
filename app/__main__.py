"""`python -m app`, também instalado como `formigueiro`."""

import sys

from app.linha_de_comando.principal import principal

if __name__ == "__main__":
    sys.exit(principal())
