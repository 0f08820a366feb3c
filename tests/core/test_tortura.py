"""Publicadores que demoram, desistem e morrem; ninguém perde evento, e quem lê só por cursor perde (regra 3)."""

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.apoio.rede import Rede

PUBLICADORES = 12


class Ensaio:
    """O que corre ao mesmo tempo, até a hora de parar."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.parar = threading.Event()
        self.confirmados: list[UUID] = []
        self.falhas: list[BaseException] = []
        self.lidos_por_cursor: set[UUID] = set()

    def publicar(self, semente: int) -> None:
        """Abre transações de um a quatro eventos e as confirma, desfaz ou abandona de repente."""
        acaso = random.Random(semente)
        while not self.parar.is_set():
            with psycopg.connect(self.dsn) as conexao:
                for _ in range(20):
                    eventos = [uuid4() for _ in range(acaso.randint(1, 4))]
                    for evento in eventos:
                        conexao.execute(
                            "SELECT core.publicar('demanda.recebida', %s, 'D-1a', '1.1.0', %s)",
                            [Jsonb({"demanda_id": str(UUID(int=acaso.randint(1, 40)))}), evento],
                        )
                        conexao.execute("SELECT pg_sleep(%s)", [acaso.choice([0, 0, 0.002, 0.03])])
                    destino = acaso.random()
                    if destino < 0.6:
                        conexao.commit()
                        self.confirmados += eventos
                    elif destino < 0.9:
                        conexao.rollback()
                    else:
                        with suppress(psycopg.OperationalError):
                            conexao.execute("SELECT pg_terminate_backend(pg_backend_pid())")
                        break
                    if self.parar.is_set():
                        break

    def despachar(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as conexao:
            while not self.parar.is_set():
                conexao.execute("CALL core.despachar()")

    def ler_por_cursor(self) -> None:
        """O leitor ingênuo: guarda o maior número visto e pede o que vem depois."""
        cursor = 0
        with psycopg.connect(self.dsn, autocommit=True) as conexao:
            while not self.parar.is_set():
                linhas = conexao.execute(
                    "SELECT sequence_number, event_id FROM core.event_log WHERE sequence_number > %s", [cursor]
                ).fetchall()
                cursor = max([cursor, *(numero for numero, _ in linhas)])
                self.lidos_por_cursor |= {evento for _, evento in linhas}

    def correr(self, tarefa: Callable[..., None], *argumentos: object) -> threading.Thread:
        def guardada() -> None:
            try:
                tarefa(*argumentos)
            except BaseException as erro:
                self.falhas.append(erro)
                self.parar.set()

        linha = threading.Thread(target=guardada)
        linha.start()
        return linha


def anotar_ordem(rede: Rede) -> None:
    """Uma testemunha da ordem em que cada colônia tratou os eventos."""
    rede.bd.execute(
        """
        CREATE TABLE public.tratados (n bigserial, colonia text, event_id uuid);
        CREATE FUNCTION public.anotar() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            INSERT INTO public.tratados (colonia, event_id) VALUES (TG_TABLE_SCHEMA, NEW.event_id);
            RETURN NEW;
        END $$;
        CREATE TRIGGER anotar AFTER INSERT ON d6b.processed_events FOR EACH ROW EXECUTE FUNCTION public.anotar();
        CREATE TRIGGER anotar AFTER INSERT ON d8.processed_events FOR EACH ROW EXECUTE FUNCTION public.anotar()
        """
    )


@pytest.mark.parametrize("segundos", [5, pytest.param(30, marks=pytest.mark.longo)])
def test_tortura_nenhum_evento_confirmado_se_perde(rede: Rede, dsn: str, segundos: int) -> None:
    anotar_ordem(rede)
    ensaio = Ensaio(dsn)
    with psycopg.connect(dsn) as alheia:
        # Uma transação que escreve em outra tabela e fica aberta o tempo todo: não há de segurar o horizonte.
        alheia.execute("UPDATE core.parametros SET descricao = descricao")
        linhas = [ensaio.correr(ensaio.publicar, semente) for semente in range(PUBLICADORES)]
        linhas += [
            ensaio.correr(ensaio.despachar),
            ensaio.correr(ensaio.despachar),
            ensaio.correr(ensaio.ler_por_cursor),
        ]
        ensaio.parar.wait(segundos)
        ensaio.parar.set()
        for linha in linhas:
            linha.join()
        assert ensaio.falhas == []
        fim = time.monotonic() + 90
        while rede.um("SELECT core.proximo_despacho() IS NOT NULL") and time.monotonic() < fim:
            rede.despachar()

    confirmados = [linha["event_id"] for linha in rede.eventos()]
    assert set(ensaio.confirmados) <= set(confirmados)
    for colonia in ("d6b", "d8"):
        tratados = rede.linhas("SELECT event_id FROM public.tratados WHERE colonia = %s ORDER BY n", colonia)
        assert [linha["event_id"] for linha in tratados] == confirmados
    assert set(confirmados) - ensaio.lidos_por_cursor, "sem perda do leitor ingênuo, este teste não prova nada"
