"""Se o trabalhador trabalha e, se não, o que o impede: para o log, para o recuo e para /readyz.

Uma conexão perdida se refaz, e é outra coisa. Um erro que o banco responde (um direito que falta, uma função que não
existe) volta igual a cada tentativa: diz-se uma vez, com o seu nome, e contam-se as outras.
"""

import psycopg
import structlog

from app.logs.privacidade import descrever

RECUO_MINIMO_S = 0.1
RECUO_MAXIMO_S = 30.0
ESPERA_DO_SERVIDOR_S = 10.0  # quem volta a ter servidor não espera mais que isto
# Um impasse ou uma serialização que falhou passam à segunda vez; o que falha três vezes seguidas impede de trabalhar.
FALHAS_DE_IMPEDIDO = 3

_DE_CONEXAO = ("08", "53", "57", "58")

_log = structlog.get_logger(__name__)


class Andamento:
    """As falhas seguidas do trabalhador; um passo que acaba bem as apaga."""

    def __init__(self) -> None:
        self._erro: str | None = None
        self._falhas = 0
        self._em_recuperacao = False

    def motivo(self) -> str | None:
        """O que impede o trabalhador de trabalhar, numa frase; None se nada."""
        if self._erro is None or self._falhas < FALHAS_DE_IMPEDIDO:
            return None
        return f"O trabalhador está impedido ({self._falhas} falhas seguidas): {self._erro}."

    def andou(self) -> None:
        if self._erro is not None:
            _log.info("trabalhador voltou a trabalhar", falhas=self._falhas)
        self._erro, self._falhas, self._em_recuperacao = None, 0, False

    def falhou(self, erro: psycopg.Error) -> float:
        """Conta a falha, diz a que é nova, e devolve quantos segundos esperar."""
        self._falhas += 1
        recuo = min(RECUO_MINIMO_S * 2.0 ** min(self._falhas, 16), RECUO_MAXIMO_S)
        if isinstance(erro, psycopg.errors.ReadOnlySqlTransaction):
            # Uma réplica que ainda não assumiu: /readyz o pergunta ao banco.
            if not self._em_recuperacao:
                _log.warning("banco em recuperação, ou só de leitura; o trabalhador espera", erro=descrever(erro))
            self._em_recuperacao = True
            return min(recuo, ESPERA_DO_SERVIDOR_S)
        if conexao_perdida(erro):
            recuo = min(recuo, ESPERA_DO_SERVIDOR_S)
            _log.warning("conexão do trabalhador perdida; nova tentativa", espera_s=recuo, erro=descrever(erro))
            return recuo
        dito = f"{descrever(erro)} ({erro.sqlstate})"
        if dito != self._erro:
            self._erro = dito
            _log.error("trabalhador impedido; novas tentativas, com recuo", erro=dito)
        return recuo


def conexao_perdida(erro: psycopg.Error) -> bool:
    """Se o erro é da conexão ou do servidor, e não do que se lhe pediu."""
    if not isinstance(erro, psycopg.OperationalError):
        return False
    return erro.sqlstate is None or erro.sqlstate[:2] in _DE_CONEXAO
