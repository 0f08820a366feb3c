"""O que vem de fora nunca volta inteiro: nem na recusa, nem na ocorrência, nem na DLQ (N72)."""

from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.apoio.rede import Rede

ENORME = "ação " * 60_000
MAIOR = 8000


@pytest.mark.parametrize(
    ("chamada", "valores"),
    [
        ("core.publicar(%s, '{}', 'D-6a')", [ENORME]),
        ("core.publicar('conselheiro.sorteado', '{}', 'D-6a', %s)", [ENORME]),
        ("core.publicar_lote(%s)", [Jsonb([{"tipo": ENORME, "payload": {}, "origem": "D-6a"}])]),
        ("core.reagendar('core-limpeza', %s)", [ENORME]),
        ("core.reposicionar('D-6b', %s, 0)", [ENORME]),
        ("core.reprocessar(gen_random_uuid(), %s)", [ENORME]),
    ],
)
def test_a_recusa_corta_o_que_cita_e_diz_o_tamanho(rede: Rede, chamada: str, valores: list[object]) -> None:
    with pytest.raises(psycopg.Error) as recusa:
        rede.bd.execute(f"SELECT {chamada}", valores)
    assert (recusa.value.sqlstate or "").startswith("FM4")
    assert len(str(recusa.value)) < MAIOR
    assert "ação" in str(recusa.value)


def test_a_recusa_que_corta_chega_a_quem_fala_latin1(dsn: str) -> None:
    """O que um cliente não sabe escrever troca a recusa por um 22P05 cru."""
    with psycopg.connect(dsn, client_encoding="LATIN1") as antigo, pytest.raises(psycopg.Error) as recusa:
        antigo.execute("SELECT core.publicar(%s, '{}', 'D-6a')", [ENORME])
    assert recusa.value.sqlstate == "FM422"


def test_de_dez_mil_faltas_a_recusa_nomeia_trinta_e_conta_as_outras(rede: Rede) -> None:
    payload: dict[str, object] = {"atualizacao_id": str(uuid4()), "termos_suspeitos": list(range(10_000))}
    with pytest.raises(psycopg.Error, match=r"e mais \d{4}") as recusa:
        rede.publicar("conselheiro.atualização_publicada", payload, "D-6b", "1.2.0")
    assert recusa.value.sqlstate == "FM422"
    assert len(recusa.value.diag.message_primary or "") < MAIOR


def test_a_ocorrencia_corta_o_valor_que_cita_e_guarda_os_outros_campos(rede: Rede) -> None:
    demanda = uuid4()
    payload: dict[str, object] = {"texto_bruto": "x", "texto_estruturado": "x", "tipo": ENORME}
    for campo in ("conselheiro_id", "demanda_id", "unidade_civica_id"):
        payload[campo] = str(demanda)
    handler, tipo = "d6b.on_conselheiro_atualizacao_registrada", "conselheiro.atualização_registrada"
    rede.sortear(demanda, demanda)
    rede.despachar()
    assert rede.chamar(handler, tipo, payload) == "descartado: Tipo de atualização inválido"
    (ocorrencia,) = rede.ocorrencias()
    assert ocorrencia["demanda_id"] == demanda
    assert ocorrencia["contexto"]["recebido"].endswith(f"... ({len(ENORME)} caracteres)")
    assert rede.um("SELECT max(length(o.contexto::text)) FROM core.ocorrencias AS o") < MAIOR


def test_a_dlq_e_a_tentativa_guardam_so_o_comeco_de_um_erro_enorme(rede: Rede) -> None:
    rede.bd.execute(
        """
        CREATE FUNCTION d6b.falha_de_teste() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION '%', repeat('x', 1000000);
        END $$;
        CREATE TRIGGER falha_de_teste BEFORE INSERT ON d6b.acompanhamentos
            FOR EACH ROW EXECUTE FUNCTION d6b.falha_de_teste()
        """
    )
    rede.sortear(uuid4(), UUID(int=2))
    rede.despachar()
    rede.um("SELECT core.dlq_reprocessar(d.id) FROM core.dlq AS d")
    assert rede.um("SELECT max(length(d.ultimo_erro)) FROM core.dlq AS d") < MAIOR
    assert rede.um("SELECT max(length(t.resultado)) FROM core.dlq_tentativas AS t") < MAIOR


def test_o_contexto_que_cabe_fica_como_veio(rede: Rede) -> None:
    contexto = {"colonia": "D-6b", "erros": [{"campo": "x", "mensagem": "y" * 1500}], "n": 3}
    rede.bd.execute("SELECT core.registrar('aviso', 'Teste', %s)", [Jsonb(contexto)])
    (ocorrencia,) = rede.ocorrencias()
    assert ocorrencia["contexto"] == contexto | {"por": "postgres"}
