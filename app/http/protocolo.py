"""O HTTP na conexão, antes do app: prazos, quantas conexões, e a recusa do que não é um pedido bem formado (N45).

O uvicorn só tem prazo para a conexão parada entre dois pedidos; a quem manda meio pedido, espera para sempre, e o
limite que ele tem (limit_concurrency) recusa os que chegam em vez dos que não acabam. E responde text/plain ao que o
h11 não lê.
"""

import asyncio
import sys
from typing import Any
from uuid import uuid4

import h11
import structlog
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from app.http.camada import CABECALHOS
from app.http.problema import MALFORMADA, TIPO_DE_MIDIA, Recusa, corpo

_log = structlog.get_logger(__name__)

CONEXOES_MAXIMAS = 500
_RECEBENDO = (h11.IDLE, h11.SEND_BODY)
_DETALHES = {
    408: "O pedido não chegou inteiro a tempo.",
    431: "A linha e os cabeçalhos do pedido são grandes demais.",
    501: "O corpo do pedido vem codificado de um modo que este servidor não lê.",
}


class _Leitura(h11.Connection):
    """Recusa também o pedido que um intermediário pode ter lido de outro modo (RFC 9112, 6.1)."""

    def next_event(self) -> Any:
        evento = super().next_event()
        if isinstance(evento, h11.Request):
            nomes = {nome for nome, _ in evento.headers}
            if b"transfer-encoding" in nomes and (b"content-length" in nomes or evento.http_version < b"1.1"):
                raise h11.RemoteProtocolError("Transfer-Encoding com Content-Length, ou em HTTP/1.0")
        return evento


def protocolo(espera_s: float) -> type[asyncio.Protocol]:
    """O protocolo com que o uvicorn atende: um pedido que em `espera_s` não chegou inteiro é cortado."""

    class Protocolo(_Protocolo):
        prazo_s = espera_s

    return Protocolo


class _Protocolo(H11Protocol):
    prazo_s: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Leitura(h11.SERVER)
        self._prazo: asyncio.TimerHandle | None = None
        self._despejada = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._contar()
        if len(self.connections) > CONEXOES_MAXIMAS:
            self._abrir_lugar()

    def connection_lost(self, exc: Exception | None) -> None:
        self._parar_de_contar()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._acertar_prazo()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._acertar_prazo()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._contar()  # quem não lê a resposta também não prende a conexão

    def resume_writing(self) -> None:
        super().resume_writing()
        self._parar_de_contar()
        self._acertar_prazo()

    def send_400_response(self, msg: str) -> None:
        """O uvicorn chama isto ao tratar o erro do h11, que diz melhor que 400 o que houve."""
        erro = sys.exc_info()[1]
        self._recusar(erro.error_status_hint if isinstance(erro, h11.RemoteProtocolError) else 400)

    @property
    def prazo_do_cliente(self) -> float:
        """Até quando se espera por ele; infinito se é ele que espera, e já passado se só falta fechar."""
        if self.transport.is_closing():
            return 0.0
        prazos = (self._prazo, self.timeout_keep_alive_task)
        return min((prazo.when() for prazo in prazos if prazo is not None), default=float("inf"))

    def _acertar_prazo(self) -> None:
        """O prazo corre do primeiro byte ao último de um pedido; entre dois, o que corre é o do uvicorn."""
        if self.flow.write_paused:
            return
        entre_pedidos = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        if self.conn.their_state not in _RECEBENDO or (entre_pedidos and self.timeout_keep_alive_task is not None):
            self._parar_de_contar()
        elif self._prazo is None:
            self._contar()

    def _contar(self) -> None:
        if self._prazo is None and not self.transport.is_closing():
            self._prazo = self.loop.call_later(self.prazo_s, self._cortar)

    def _parar_de_contar(self) -> None:
        if self._prazo is not None:
            self._prazo.cancel()
            self._prazo = None

    def _cortar(self) -> None:
        self._prazo = None
        if self.flow.write_paused:
            self.transport.abort()
        elif self.flow.read_paused:
            self._contar()  # quem parou de ler fomos nós
        elif self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            self.transport.close()  # nem começou a pedir
        else:
            self._recusar(408)

    def _recusar(self, status: int) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            identificador = str(uuid4())
            problema = corpo(Recusa(status, _DETALHES.get(status, MALFORMADA)), identificador)
            cabecalhos = CABECALHOS | {
                "Content-Type": TIPO_DE_MIDIA,
                "Content-Length": str(len(problema)),
                "Connection": "close",
                "X-Request-Id": identificador,
            }
            resposta = h11.Response(
                status_code=status, headers=list(cabecalhos.items()), reason=STATUS_PHRASES.get(status, b"")
            )
            for evento in (resposta, h11.Data(data=problema), h11.EndOfMessage()):
                self.transport.write(self.conn.send(evento) or b"")
            _log.info("pedido recusado na conexão", status=status, requisicao_id=identificador)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # já se respondeu, ou não se há de responder
            self.cycle.message_event.set()
        self.transport.close()

    def _abrir_lugar(self) -> None:
        """Fecha a conexão cujo cliente está mais perto de seu prazo: quem as abre à toa não toma o lugar dos outros."""
        abertas = (c for c in self.connections if isinstance(c, _Protocolo) and not c._despejada)
        despejada = min(abertas, key=lambda conexao: conexao.prazo_do_cliente)
        despejada._despejada = True
        despejada.transport.abort()
