"""Identificadores plantados no relato e em cada campo não chegam a nada que se publica."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.pecas.caminho import extrair_caminho
from app.pecas.descricao import descrever
from app.pecas.resumo import AtualizacaoDoCiclo, Ciclo, Desfecho, compor
from app.pecas.tipos import TIPOS_ATUALIZACAO

_PLANTADOS = ("529.982.247-25", "11144477735", "(11) 90123-4567", "21 90987-6543", "ana.lima@exemplo.com.br")
_RELATO = (
    "Falei com a moradora, CPF 529.982.247-25, e com o filho, cpf 11144477735. Telefones: (11) 90123-4567 e "
    "21 90987-6543; e-mail ana.lima@exemplo.com.br. Depois abri o protocolo 2027/0098."
)
_CAMPOS = (
    "canal contato_nome contato_orgao resultado protocolo_numero orgao data_protocolo link_acompanhamento "
    "tipo_documento descricao anexo_id orgao_envolvido descricao_entrave gravidade novo_status fonte_informacao "
    "data_estimada descricao_prazo fonte_estimativa"
)


def _vazou(texto: str) -> list[str]:
    so_digitos = "".join(c for c in texto if c.isdigit())
    return [p for p in _PLANTADOS if p in texto or ("@" not in p and "".join(filter(str.isdigit, p)) in so_digitos)]


@pytest.mark.parametrize("tipo", TIPOS_ATUALIZACAO)
def test_nada_plantado_chega_a_descricao_ao_caminho_ou_ao_resumo(tipo: str) -> None:
    conteudo = {campo: _RELATO for campo in _CAMPOS.split()}
    quando = datetime(2027, 3, 12, 12, tzinfo=UTC)

    descricao = descrever(tipo, conteudo, _RELATO)
    caminho = extrair_caminho(tipo, conteudo)
    resumo = compor(
        Ciclo(
            data_inicio=quando,
            data_fim=quando,
            fuso="America/Sao_Paulo",
            atualizacoes=[AtualizacaoDoCiclo(UUID(int=1), 1, tipo, quando, descricao, False)],
            desfecho=Desfecho(UUID(int=2), 2, quando, _RELATO, False),
        )
    )

    assert caminho is not None
    assert _vazou(descricao) == []
    assert [v for valor in caminho.values() for v in _vazou(valor)] == []
    assert _vazou(resumo.texto) == []
    assert "2027/0098" in descricao
    assert "2027/0098" in resumo.texto


@pytest.mark.parametrize("plantado", _PLANTADOS)
def test_um_identificador_sozinho_no_campo_tambem_sai(plantado: str) -> None:
    for campo, tipo in (
        ("contato_orgao", "contato_realizado"),
        ("resultado", "contato_realizado"),
        ("orgao", "protocolo_aberto"),
    ):
        assert _vazou(descrever(tipo, {campo: plantado}, "")) == []
        assert _vazou(str(extrair_caminho(tipo, {campo: plantado}))) == []
