"""O serviço: o servidor HTTP e o trabalhador, num processo, até um sinal."""

import asyncio
import errno
import json
import signal
import socket
import sys
from contextlib import suppress
from uuid import UUID

import psycopg
import structlog

from app.ajustes import Ajustes, ErroAjuste
from app.banco.embutido import binarios
from app.banco.erros import EmRecuperacao, ErroBanco
from app.banco.sessao import conectar
from app.demo.demo import interrompida, tocar, vazio
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt, chave_dos_ajustes, emitir_token
from app.http.servidor import servidor
from app.linha_de_comando.ambiente import Ambiente, abrir
from app.linha_de_comando.denylist import denylist_dos_ajustes
from app.pecas.denylist import Denylist
from app.trabalhador.andamento import Andamento
from app.trabalhador.trabalhador import trabalhar

SINAIS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ESPERA_DA_PROMOCAO_S = 2.0
NINGUEM = UUID(int=0)
RELATO = "Protocolei o pedido na Sanasa, protocolo 2026/004512. Prometeram vistoria até 30/11/2026."

_log = structlog.get_logger(__name__)

_ACOMPANHAMENTO = """
    SELECT conselheiro_id, demanda_id
      FROM d6b.acompanhamentos
     ORDER BY status IN ('aguardando_inicio', 'em_andamento') DESC, data_sorteio DESC
     LIMIT 1
"""


def servir(ajustes: Ajustes, sem_migrar: bool) -> None:
    """Liga o que falta, migra, apresenta o banco embutido e serve até um sinal, que desliga tudo."""
    chave = chave_dos_ajustes(ajustes)
    denylist = denylist_dos_ajustes(ajustes)
    for sinal in SINAIS:  # até o servidor subir, qualquer um deles desfaz o que foi aberto
        signal.signal(sinal, signal.default_int_handler)
    with _porta(ajustes) as soquete, abrir(ajustes, criar=True) as ambiente:
        migrado = sem_migrar or _migrar(ambiente)
        if ajustes.embutido:
            _apresentar(ambiente, chave, denylist)
        asyncio.run(_servir(ambiente, chave, denylist, soquete, migrado))


def _migrar(ambiente: Ambiente) -> bool:
    """Se migrou. Uma réplica não se migra; mas responde 503 e, promovida, é migrada e serve."""
    try:
        ambiente.migrar()
    except EmRecuperacao as erro:
        _log.warning("sirvo sem migrar, e migro quando o banco for promovido", erro=str(erro))
        return False
    return True


def _porta(ajustes: Ajustes) -> socket.socket:
    """A porta, tomada antes de tudo: se outro a tem, é melhor saber logo."""
    host, porta = ajustes.formigueiro_host, ajustes.formigueiro_porta
    try:
        familia, tipo, _, _, endereco = socket.getaddrinfo(host, porta, type=socket.SOCK_STREAM)[0]
        soquete = socket.socket(familia, tipo)
        soquete.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        soquete.bind(endereco)
        soquete.listen(1024)
    except socket.gaierror:
        raise ErroAjuste(f"FORMIGUEIRO_HOST: endereço desconhecido: {host!r}") from None
    except OSError as erro:
        if erro.errno != errno.EADDRINUSE:
            raise ErroBanco(f"não posso servir em {host}:{porta}: {erro.strerror}") from None
        raise ErroBanco(f"a porta {porta} de {host} já está em uso: escolha outra em FORMIGUEIRO_PORTA") from None
    return soquete


def _apresentar(ambiente: Ambiente, chave: ChaveJwt, denylist: Denylist) -> None:
    """No banco embutido: a demonstração, se ainda não há evento, e um token pronto para usar."""
    with conectar(ambiente.dsn_admin) as conexao:
        # Uma demonstração morta no meio deixaria o relógio da rede parado no passado.
        conexao.execute("SELECT core.definir_relogio(NULL)")
        if vazio(conexao) and tocar(ambiente.dsn_admin, ambiente.dsn, denylist) != 0:
            print("formigueiro: a demonstração não acabou como devia", file=sys.stderr)
        if interrompida(conexao):
            print("formigueiro: a demonstração parou no meio; para recomeçá-la, apague .dados", file=sys.stderr)
        conselheiro, demanda = conexao.execute(_ACOMPANHAMENTO).fetchone() or (NINGUEM, NINGUEM)
    token = emitir_token(chave, conselheiro)
    relato = {"textoBruto": RELATO, "tipoAtualizacao": "protocolo_aberto", "demandaId": str(demanda)}
    print(
        f"\nToken de desenvolvimento (12 h): {token}\n\nExperimente:\n"
        f"curl -s http://{ambiente.ajustes.formigueiro_host}:{ambiente.ajustes.formigueiro_porta}/d6b/sugerir-estruturacao"
        f" -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json'"
        f" -d '{json.dumps(relato, ensure_ascii=False)}'\n\n"
        f"No psql: {binarios() / 'psql'} '{ambiente.dsn_admin}'\n",
        flush=True,
    )


async def _servir(
    ambiente: Ambiente, chave: ChaveJwt, denylist: Denylist, soquete: socket.socket, migrado: bool
) -> None:
    andamento = Andamento()
    app = criar_app(ambiente.ajustes, ambiente.dsn, chave, verificacoes=[andamento.motivo])
    uvicorn = servidor(app, ambiente.ajustes)
    parar = asyncio.Event()

    def encerrar(*_: object) -> None:
        uvicorn.should_exit = True

    for sinal in SINAIS:  # o uvicorn toma os seus enquanto serve e, ao acabar, repete aqui o que recebeu
        signal.signal(sinal, encerrar)
    trabalhador = asyncio.create_task(_trabalhar(ambiente, denylist, parar, andamento, migrado))
    trabalhador.add_done_callback(encerrar)  # sem trabalhador o serviço não serve: quem supervisiona o sobe de novo
    try:
        await uvicorn.serve(sockets=[soquete])
    finally:
        parar.set()
        await trabalhador


async def _trabalhar(
    ambiente: Ambiente, denylist: Denylist, parar: asyncio.Event, andamento: Andamento, migrado: bool
) -> None:
    """O trabalhador, depois de migrado o banco que, ao subir, ainda era uma réplica."""
    while not migrado and not parar.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(parar.wait(), ESPERA_DA_PROMOCAO_S)
        with suppress(EmRecuperacao, psycopg.OperationalError):
            await asyncio.to_thread(ambiente.migrar)
            migrado = True
    await trabalhar(ambiente.dsn, denylist, parar, andamento)
