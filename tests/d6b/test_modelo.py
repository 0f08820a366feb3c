"""Histórias ao acaso, contra um modelo pequeno da máquina de estados da especificação (4.8)."""

import asyncio
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from app.pecas.denylist import Denylist
from app.trabalhador.trabalhador import esvaziar
from tests.apoio.rede import CONTEUDOS, Rede
from tests.d6b.invariantes import conferir

CONSELHEIROS = [UUID(int=n) for n in (11, 12, 13)]
ATIVOS = ("aguardando_inicio", "em_andamento")
DENYLIST = Denylist.de_texto("idiota")
TIPOS = list(CONTEUDOS)


@dataclass
class Ciclo:
    conselheiro: UUID
    status: str = "aguardando_inicio"
    total: int = 0
    pendencia: bool = False


@dataclass
class Demanda:
    id: UUID = field(default_factory=uuid4)
    ciclos: list[Ciclo] = field(default_factory=list)
    concluida: bool = False
    conclusoes: set[str] = field(default_factory=set)

    @property
    def ativo(self) -> Ciclo | None:
        return self.ciclos[-1] if self.ciclos and self.ciclos[-1].status in ATIVOS else None


demandas = st.integers(0, 2)
conselheiros = st.sampled_from(CONSELHEIROS)


class Historia(RuleBasedStateMachine):
    """As regras publicam sem despachar; o modelo anda na ordem em que se publicou."""

    rede: Rede
    dsn: str

    @initialize()
    def comecar(self) -> None:
        self.demandas = [Demanda() for _ in range(3)]
        self.audios: list[UUID] = []
        self.publicados: list[tuple[str, UUID]] = []
        self.dia = 0

    @rule(d=demandas, conselheiro=conselheiros)
    def sortear(self, d: int, conselheiro: UUID) -> None:
        demanda = self.demandas[d]
        self.publicados.append(("sorteio", self.rede.sortear(demanda.id, conselheiro)))
        ativo = demanda.ativo
        if demanda.concluida or (ativo and ativo.conselheiro == conselheiro):
            return
        novo = Ciclo(conselheiro)
        if ativo:
            ativo.status, novo.pendencia, ativo.pendencia = "reatribuido", ativo.pendencia, False
        demanda.ciclos.append(novo)

    @rule(d=demandas, conselheiro=conselheiros, tipo=st.sampled_from(TIPOS), audio=st.booleans())
    def atualizar(self, d: int, conselheiro: UUID, tipo: str, audio: bool) -> None:
        self._atualizar(self.demandas[d], conselheiro, tipo, audio, conclui=False)

    @rule(d=demandas, tipo=st.sampled_from(TIPOS), audio=st.booleans())
    def atualizar_pelo_ativo(self, d: int, tipo: str, audio: bool) -> None:
        if ativo := self.demandas[d].ativo:
            self._atualizar(self.demandas[d], ativo.conselheiro, tipo, audio, conclui=False)

    @rule(d=demandas, conselheiro=conselheiros, audio=st.booleans())
    def concluir(self, d: int, conselheiro: UUID, audio: bool) -> None:
        self._atualizar(self.demandas[d], conselheiro, "status_atualizado", audio, conclui=True)

    def _atualizar(self, demanda: Demanda, conselheiro: UUID, tipo: str, audio: bool, conclui: bool) -> None:
        conteudo = {"novo_status": "concluido"} if conclui else None
        extra: dict[str, object] = {"texto": "", "audio_object_key": "a.ogg"} if audio else {}
        evento = self.rede.atualizar(demanda.id, conselheiro, tipo, conteudo, **extra)  # type: ignore[arg-type]
        ativo = demanda.ativo
        if ativo is None or ativo.conselheiro != conselheiro:
            return
        if audio:
            self.audios.append(evento)
        ativo.total += 1
        ativo.status = "concluido" if conclui else "em_andamento"
        if conclui:
            ativo.pendencia, demanda.concluida = False, True

    @rule(d=demandas, conselheiro=conselheiros)
    def atualizar_mal(self, d: int, conselheiro: UUID) -> None:
        self.rede.atualizar(self.demandas[d].id, conselheiro, "prazo_registrado", {"data_estimada": "ontem"})

    @rule(sucesso=st.booleans(), dados=st.data())
    def transcrever(self, sucesso: bool, dados: st.DataObject) -> None:
        if not self.audios:
            return
        audio = dados.draw(st.sampled_from(self.audios))
        self.rede.publicar(
            "conselheiro.atualização_transcrita",
            {
                "atualizacao_event_id": str(audio),
                "sucesso": sucesso,
                "texto_transcrito": "texto transcrito" if sucesso else "",
                "confianca": 0.5,
            },
            "D-1b",
        )

    @rule(d=demandas, conclusao=st.sampled_from(["c1", "c2", "c3"]), ratificacao=st.booleans())
    def confirmar(self, d: int, conclusao: str, ratificacao: bool) -> None:
        demanda = self.demandas[d]
        self.rede.publicar(
            "demanda.conclusao_confirmada",
            {
                "demanda_id": str(demanda.id),
                "conclusao_id": conclusao,
                "data_conclusao": self.rede.agora(),
                "total_conclusoes": 3,
                "ratificacao_necessaria": ratificacao,
            },
            "D-12",
        )
        demanda.concluida |= not ratificacao
        if demanda.ativo and conclusao not in demanda.conclusoes:
            demanda.conclusoes.add(conclusao)
            demanda.ativo.total += 1
            demanda.ativo.pendencia = True

    @rule(d=demandas, conselheiro=conselheiros)
    def ratificar(self, d: int, conselheiro: UUID) -> None:
        self.rede.despachar()
        demanda = self.demandas[d]
        ativo = demanda.ativo
        esperado = (
            "FM404"
            if ativo is None
            else "FM409"
            if not ativo.pendencia
            else "FM403"
            if ativo.conselheiro != conselheiro
            else None
        )
        try:
            self.rede.bd.execute("SELECT d6b.ratificar_conclusao(%s, %s)", [demanda.id, conselheiro])
            obtido = None
        except psycopg.Error as erro:
            obtido = erro.sqlstate
        assert obtido == esperado
        if ativo and esperado is None:
            ativo.status, ativo.pendencia, demanda.concluida = "concluido", False, True
            ativo.total += 1

    @rule(d=demandas, conselheiro=conselheiros, conclui=st.booleans())
    def ratificar_com_um_relato_por_ler(self, d: int, conselheiro: UUID, conclui: bool) -> None:
        """Nunca passa à frente do que se publicou antes."""
        self._atualizar(self.demandas[d], conselheiro, "status_atualizado", audio=False, conclui=conclui)
        with pytest.raises(psycopg.Error) as recusa:
            self.rede.bd.execute("SELECT d6b.ratificar_conclusao(%s, %s)", [self.demandas[d].id, conselheiro])
        assert recusa.value.sqlstate in ("FM403", "FM404", "FM409")

    @rule()
    def repetir_um_sorteio(self) -> None:
        """O mesmo evento publicado de novo, e os cursores recuados: nada muda."""
        if not self.publicados:
            return
        _, evento = self.publicados[-1]
        linha = self.rede.linhas("SELECT tipo, payload FROM core.event_log WHERE event_id = %s", evento)[0]
        self.rede.publicar(linha["tipo"], linha["payload"], "D-6a", event_id=evento)

    @rule(
        tipo=st.sampled_from(
            ["conselheiro.sorteado", "conselheiro.atualização_registrada", "demanda.conclusao_confirmada"]
        )
    )
    def ler_de_novo(self, tipo: str) -> None:
        self.rede.despachar()
        self.rede.bd.execute("SELECT core.reposicionar('D-6b', %s, 0)", [tipo])
        self.rede.despachar()

    @rule(hora=st.sampled_from(["00:30", "12:00", "23:30"]))
    def varrer(self, hora: str) -> None:
        self.dia += 1
        self.rede.relogio(f"2026-12-{1 + self.dia % 28:02} {hora}+00")
        self.rede.bd.execute("SELECT d6b.verificar_prazos_proximos(), d6b.republicar_saidas_conclusao_pendentes()")

    @rule()
    def publicar_textos(self) -> None:
        async def rodar() -> None:
            async with await AsyncConnection.connect(self.dsn, autocommit=True) as conexao:
                await esvaziar(conexao, DENYLIST)

        asyncio.run(rodar())

    @invariant()
    def o_banco_e_o_modelo_contam_o_mesmo(self) -> None:
        self.rede.despachar()
        for demanda in getattr(self, "demandas", []):
            banco = sorted(
                (str(a["conselheiro_id"]), a["status"], a["total_atualizacoes"], a["pendencia_conclusao"] is not None)
                for a in self.rede.acompanhamentos(demanda.id)
            )
            modelo = sorted((str(c.conselheiro), c.status, c.total, c.pendencia) for c in demanda.ciclos)
            assert banco == modelo

    def teardown(self) -> None:
        self.publicar_textos()
        conferir(self.rede)


@pytest.mark.parametrize(
    ("historias", "alcance"),
    [
        (20, set()),
        # Tantas histórias hão de chegar aonde interessa.
        pytest.param(400, {"concluido", "reatribuido"}, marks=[pytest.mark.longo, pytest.mark.timeout(900)]),
    ],
)
def test_historias_ao_acaso_seguem_o_modelo(rede: Rede, dsn: str, historias: int, alcance: set[str]) -> None:
    Historia.rede = rede
    Historia.dsn = make_conninfo(dsn, user="formigueiro_app")
    run_state_machine_as_test(
        Historia,
        settings=settings(
            max_examples=historias, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
    assert alcance <= {linha["status"] for linha in rede.linhas("SELECT DISTINCT status FROM d6b.acompanhamentos")}
