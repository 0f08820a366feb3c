"""A varredura dos argumentos: passe-se o que se passar a uma rotina aberta a alguém, sai um resultado ou uma recusa FM.

As rotinas vêm do catálogo: as que algum papel executa além do dono, e as do contrato (projeto, seção 3). Cada uma é
chamada com um argumento estranho por vez, em volta de uma chamada que serve, e com tudo nulo; o que fez se desfaz. O
que não tem sentido (nulo, NaN, infinito) só passa se o resultado é nulo, se o padrão do parâmetro é nulo, ou se
TEM_SENTIDO diz qual o sentido. Decisões N72 e N73.
"""

import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
import pytest

from tests.apoio.rede import Rede

ATIVA, CONCLUIDA, CONSELHEIRO = UUID(int=0xA), UUID(int=0xC), UUID(int=0xB)
PLANO = {"intervalo_dias": 30, "prazo_tolerancia_dias": 5, "vida_util_dias": 900}
MAIOR_MENSAGEM = 8000  # caracteres de uma recusa, com detalhe e dica
NEM_NUMERO_NEM_HORA = ("'NaN'", "'infinity'", "'-infinity'")

# Do contrato, o que nenhum papel executa: quem instalou, e o despacho.
DO_CONTRATO = [
    "core.definir_relogio",
    "core.registrar_produtor",
    "core.remover_produtor",
    "d6b.on_conselheiro_atualizacao_registrada",
    "d6b.on_conselheiro_atualizacao_transcrita",
    "d6b.on_conselheiro_sorteado",
    "d6b.on_demanda_conclusao_confirmada",
    "d6b.on_demanda_recebida",
    "d8.gerar_texto_demanda",
    "d8.montar_dossie",
    "d8.on_demanda_concluida",
    "d8.on_demanda_recebida",
    "d8.on_manutencao_executada",
]

# O que começa por _ e só as colônias executam é peça de outras funções, que já conferiram o que lhe passam. As demais
# daqui são as próprias guardas, ou supõem do argumento o que quem as chama, numa visão ou no Registro, já conferiu.
FORA = [
    "core._instante_nos_anos",
    "core.citar",
    "core.exigir_instante",
    "core.exigir_limite",
    "core.exigir_valor",
    "core.recusar",
    "d8.peso_atraso",
    "d8.recusar_atraso",
]

# Onde o nulo, ou o infinito, tem um sentido.
TEM_SENTIDO = {
    "core._contar_tentativa.p_id": "nulo: não há entrada nenhuma a contar; core.dlq_reprocessar a recusa adiante",
    "core._problemas.p_estado": "nulo: um estado sem nada não tem problemas",
    "core.data_hora_valida.p_valor": "nulo: não é uma data-hora: falso",
    "core._estado_danificado.p_erro": "nulo: não se sabe em que parou",
    "core._medidas_recentes.p_colonia": "nulo: nenhuma medida é dela",
    "core._medidas_recentes.p_fila": "nulo: nenhuma medida é dela",
    "core._problemas_de_detencao.p_estado": "nulo: de nada não há problema",
    "core.cortes_do_dossie.p_payload": "nulo: nada se corta",
    "core.definir_relogio.p_quando": "nulo: solta o relógio",
    "core.despachar_por.p_fatia": "nulo: sem fim marcado",
    "core.erros_plano.p_categoria": "nulo: falta, e é dita",
    "core.erros_plano.p_localizacao": "nulo: falta, e é dita",
    "core.erros_plano.p_plano": "nulo: falta, e é dita",
    "core.marcar_execucao.p_nome": "nulo: não há agendamento a marcar, como com um nome que não existe",
    "core.no_calendario.p_quando": "infinito: não está no calendário: falso",
    "core.prontidao.p_migracoes": "nulo: nenhuma a conferir",
    "core.soltar_reserva.p_colonia": "nulo: não há reserva a soltar",
    "core.status_execucao.p_valor": "nulo: falta, e vale o padrão (E06)",
    "core.tipos_do_dossie.p_payload": "nulo: nada tem outro tipo",
    "d6b.publicar_atualizacao.p_caminho": "nulo: a atualização não tem caminho (E14)",
    "d6b.validar_atualizacao.p_conteudo": "nulo: falta, e é dita",
    "d6b.validar_atualizacao.p_tipo": "nulo: falta, e é dita",
    "d8.iniciar.p_offsets": "nulo: o relato não diz de onde se partiu",
    "d8.previsao.p_ate": "infinito: até o fim da vida de cada projeto",
    "d8.proximos_vencidos.p_apos_ciclo": "infinito: uma ponta da chave",
    "d8.registrar_falha.p_erro": "nulo: a falha se registra sem ele",
    "d8.registrar_falha.p_sqlstate": "nulo: a falha se registra sem ele",
    "d8.varrer_lote.p_apos_ciclo": "infinito: uma ponta da chave",
    "d8.varrer_lote.p_ate_ciclo": "infinito: uma ponta da chave",
}

# Sem barra invertida num literal comum, que muda de sentido com standard_conforming_strings.
ENORME = "repeat('ação ', 210000)"
TEXTOS = ["''", "' '", "E'a\\tb\\n\\x01'", "'%s %I ''\" ' || chr(92)", "'NaN'", "'infinity'"]
ESTRANHOS: dict[str, list[str]] = {
    "text": [*TEXTOS, ENORME],
    "name": TEXTOS,
    "character varying": TEXTOS,
    "integer": ["0", "-1", "2147483647", "-2147483648"],
    "bigint": ["0", "-1", "9223372036854775807", "-9223372036854775808"],
    "numeric": ["0", "-1", "'NaN'", "'Infinity'", "1e10000"],
    "double precision": ["0", "-1", "'NaN'", "'Infinity'", "'-Infinity'", "1e308", "-1e308", "1e-307"],
    "boolean": ["true", "false"],
    "bytea": ["''"],
    "uuid": ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
    "date": ["'infinity'", "'-infinity'", "'4713-01-01 BC'", "'5874897-12-31'", "'0001-01-01'", "'9999-12-31'"],
    "timestamp with time zone": [
        "'infinity'",
        "'-infinity'",
        "'4714-11-24 00:00:00+00 BC'",
        "'294276-12-31 23:59:59.999999+00'",
        "'0001-01-01 00:00:00+00'",
        "'9999-12-31 23:59:59.999999+00'",
        "'epoch'",
    ],
    "interval": ["'0'", "'-1 day'", "'-178000000 years'", "'178000000 years'", "'1 microsecond'"],
    "jsonb": [
        *(f"'{json}'" for json in ("null", "true", "0", "-1e400", '""', '"NaN"', "[]", "{}", "[null]", '{"": null}')),
        "'[[], {}, \"x\", 0.5]'",
        f"to_jsonb({ENORME})",
        "to_jsonb(ARRAY(SELECT generate_series(1, 10000)))",
        "(repeat('[', 3000) || repeat(']', 3000))",
        "(repeat('{\"a\":', 3000) || '1' || repeat('}', 3000))",
    ],
}

# Uma chamada que serve: o valor do parâmetro, pela rotina ou, se basta, só pelo nome.
EVENTO = """(SELECT jsonb_populate_record(e, jsonb_build_object('event_id', gen_random_uuid(),
                                                                'payload', e.payload || {}))
               FROM core.event_log AS e WHERE e.tipo = '{}' ORDER BY e.sequence_number DESC LIMIT 1)"""
MESMA, OUTRA = "'{}'", "jsonb_build_object('demanda_id', gen_random_uuid())"
NA_FILA = "(SELECT p.{} FROM d6b.publicacoes_pendentes AS p WHERE p.reserva IS NOT NULL AND p.especie = '{}')"
SORTEIO = (
    "(SELECT e.{} FROM core.event_log AS e WHERE e.tipo = 'conselheiro.sorteado' ORDER BY e.sequence_number LIMIT 1)"
)
SERVEM = {
    "p_agora": "core.agora()",
    "p_agendamento": "(SELECT a FROM core.agendamentos AS a LIMIT 1)",
    "p_antes_de": "core.agora() - interval '1 day'",
    "p_apos": "0",
    "p_apos_ciclo": "'2020-01-01'",
    "p_apos_id": "'00000000-0000-0000-0000-000000000000'",
    "p_ate": "core.agora() + interval '1 year'",
    "p_ate_ciclo": "core.agora()",
    "p_ate_id": "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
    "p_banco": "'x'",
    "p_caminho": '\'{"canal": "telefone"}\'',
    "p_fatia": "'1 second'",
    "p_fila": "'eventos'",
    "p_tamanho": "10",
    "p_aceitar_lacunas": "false",
    "p_offsets": "'{}'",
    "p_parametro": "'segundos_detencao_problema'",
    "p_categoria": "'\"ponte\"'",
    "p_chave": "'x'",
    "p_cidadao_id": f"'{CONSELHEIRO}'",
    "p_ciclo": "1",
    "p_colonia": "'D-6b'",
    "p_conselheiro_id": f"'{CONSELHEIRO}'",
    "p_conteudo": '\'{"data_estimada": "2026-12-20", "descricao_prazo": "x"}\'',
    "p_contexto": "'{}'",
    "p_cron": "'* * * * *'",
    "p_demanda_id": f"'{ATIVA}'",
    "p_descricao": "'Telefonou.'",
    "p_dias": "10",
    "p_dias_atraso": "10",
    "p_dossie": "(SELECT h.dossie_montado FROM d8.historico_manutencoes AS h LIMIT 1)",
    "p_encerrados": "1",
    "p_encontrados": "1",
    "p_erro": "'x'",
    "p_estado": "core.estado()",
    "p_event_id": SORTEIO.format("event_id"),
    "p_eventos": f"jsonb_build_array(to_jsonb({EVENTO.format(OUTRA, 'conselheiro.sorteado')}))",
    "p_falhas": "0",
    "p_faltas": "'{x}'",
    "p_fontes": "'{}'",
    "p_funcao": "'d6b.saidas_em_espera()'",
    "p_geracao": "core.agora()",
    "p_geradas": "1",
    "p_hoje": "'2026-01-01'",
    "p_hora": "core.agora()",
    "p_id": "(SELECT max(d.id) FROM core.dlq AS d)",
    "p_janela": "'1 minute'",
    "p_limite": "5",
    "p_localizacao": '\'{"lat": 1, "lng": 1}\'',
    "p_lote": "5",
    "p_maximo": "31536000",
    "p_mensagem": "'x'",
    "p_migracoes": "'{a}'",
    "p_motivo": "'encerramento_manual'",
    "p_nivel": "'aviso'",
    "p_nome": "'core-limpeza'",
    "p_origem": "'D-6a'",
    "p_papel": "'formigueiro_produtor'",
    "p_payload": SORTEIO.format("payload"),
    "p_plano": '\'{"intervalo_dias": 30, "prazo_tolerancia_dias": 5, "vida_util_dias": 900}\'',
    "p_prevista": "core.agora() - interval '10 days'",
    "p_projeto": "(SELECT p FROM d8.projetos_monitorados AS p LIMIT 1)",
    "p_projeto_id": "(SELECT p.id FROM d8.projetos_monitorados AS p LIMIT 1)",
    "p_quando": "core.agora()",
    "p_reserva": NA_FILA.format("reserva", "atualizacao"),
    "p_atualizacao_id": NA_FILA.format("atualizacao_id", "atualizacao"),
    "p_resumo": "'Um resumo.'",
    "p_semente": "'{a}'",
    "p_sequencia": "0",
    "p_sqlstate": "'22000'",
    "p_termos": "'{}'",
    "p_texto": "'2026-01-01'",
    "p_tipo": "'conselheiro.sorteado'",
    "p_tipos": "'{conselheiro.sorteado}'",
    "p_unidade_civica_id": f"'{UUID(int=7)}'",
    "p_valor": "'\"2026-01-01T00:00:00.000Z\"'",
    "p_versao_schema": "'1.0.0'",
    "core.parametro.p_nome": "'fuso_horario'",
    "core.publicar.p_correlacao_id": "gen_random_uuid()",
    "core.publicar.p_event_id": "gen_random_uuid()",
    "core.registrar_produtor.p_colonia": "'D-6a'",
    "d6b.publicar_resumo.p_atualizacao_id": NA_FILA.format("atualizacao_id", "fecho"),
    "d6b.publicar_resumo.p_reserva": NA_FILA.format("reserva", "fecho"),
    "d6b.validar_atualizacao.p_tipo": "'prazo_registrado'",
    "d8.reposicionar.p_tipo": "'demanda.concluída'",
    "d6b.on_conselheiro_atualizacao_registrada.p_evento": EVENTO.format(
        f"jsonb_build_object('demanda_id', '{ATIVA}')", "conselheiro.atualização_registrada"
    ),
    "d6b.on_conselheiro_atualizacao_transcrita.p_evento": EVENTO.format(MESMA, "conselheiro.atualização_transcrita"),
    "d6b.on_conselheiro_sorteado.p_evento": EVENTO.format(OUTRA, "conselheiro.sorteado"),
    "d6b.on_demanda_conclusao_confirmada.p_evento": EVENTO.format(MESMA, "demanda.conclusao_confirmada"),
    "d6b.on_demanda_recebida.p_evento": EVENTO.format(OUTRA, "demanda.recebida"),
    "d8.on_demanda_concluida.p_evento": EVENTO.format(OUTRA, "demanda.concluída"),
    "d8.on_demanda_recebida.p_evento": EVENTO.format(MESMA, "demanda.recebida"),
    "d8.on_manutencao_executada.p_evento": EVENTO.format(MESMA, "manutenção.executada"),
}

# Aqui nem a chamada que serve chega ao fim: pediria outro banco (a DLQ tem uma entrada só, da D-6b).
PARAM_NO_MEIO = {
    "core.promover": "FM409",
    "core.reprocessar": "FM409",
    "d6b.reprocessar": "FM409",
    "d8.descartar_dlq": "FM404",
    "d8.reprocessar": "FM404",
    "d8.tentar_dlq": "FM404",
}

ROTINAS = """
    SELECT p.pronamespace::regnamespace || '.' || p.proname,
           p.prokind = 'p',
           p.proretset,
           p.provariadic <> 0,
           coalesce((p.proargnames)[1:p.pronargs], '{}'),
           ARRAY(SELECT format_type(t.tipo, NULL)
                   FROM unnest(p.proargtypes) WITH ORDINALITY AS t (tipo, n) ORDER BY t.n),
           ARRAY(SELECT coalesce(pg_get_function_arg_default(p.oid, n::int) LIKE 'NULL::%%', false)
                   FROM generate_series(1, p.pronargs) AS n ORDER BY n)
      FROM pg_proc AS p
     WHERE p.pronamespace::regnamespace::text IN ('core', 'd6b', 'd8')
       AND (p.pronamespace::regnamespace || '.' || p.proname = ANY (%s)
            OR EXISTS (SELECT FROM aclexplode(p.proacl) AS d
                        WHERE d.grantee <> p.proowner
                          AND (d.grantee::regrole::text LIKE 'formigueiro%%' OR NOT starts_with(p.proname, '_'))))
       AND p.pronamespace::regnamespace || '.' || p.proname <> ALL (%s)
     ORDER BY 1
"""

# Chama, guarda o que saiu e desfaz. As variáveis sobrevivem ao ponto de salvamento.
TENTAR = """
    CREATE FUNCTION pg_temp.tentar(p_chamada text, OUT codigo text, OUT mensagem text, OUT resultado text)
    LANGUAGE plpgsql AS $$
    DECLARE
        v_detalhe text;
        v_dica    text;
    BEGIN
        EXECUTE p_chamada INTO resultado;
        RAISE SQLSTATE 'DESFZ';
    EXCEPTION WHEN OTHERS OR assert_failure OR query_canceled THEN
        GET STACKED DIAGNOSTICS v_detalhe = PG_EXCEPTION_DETAIL, v_dica = PG_EXCEPTION_HINT;
        codigo := SQLSTATE;
        mensagem := concat_ws(' | ', SQLERRM, nullif(v_detalhe, ''), nullif(v_dica, ''));
    END $$
"""

SESSOES = {
    "comum": {},
    "estranha": {
        "DateStyle": "SQL, DMY",
        "TimeZone": "Pacific/Chatham",
        "IntervalStyle": "sql_standard",
        "extra_float_digits": "0",
        "bytea_output": "escape",
        "search_path": "",
        "lc_messages": "C",
        "array_nulls": "off",
        "transform_null_equals": "on",
        "quote_all_identifiers": "on",
        "plan_cache_mode": "force_generic_plan",
    },
    "barra que escapa": {"standard_conforming_strings": "off", "escape_string_warning": "off"},
}


class Caso(NamedTuple):
    parametro: str
    valor: str
    argumentos: list[str]
    sem_sentido: bool


class Rotina(NamedTuple):
    nome: str
    procedimento: bool
    conjunto: bool
    variadica: bool
    parametros: list[str]
    tipos: list[str]
    padrao_nulo: list[bool]

    def servem(self) -> list[str]:
        return [SERVEM.get(f"{self.nome}.{p}") or SERVEM[p] for p in self.parametros]

    def chamada(self, argumentos: list[str]) -> str:
        tipados = [f"({valor})::{tipo}" for valor, tipo in zip(argumentos, self.tipos, strict=True)]
        if self.variadica:
            tipados[-1] = f"VARIADIC {tipados[-1]}"
        chamada = f"{self.nome}({', '.join(tipados)})"
        if self.procedimento:
            return f"CALL {chamada}"
        # Como texto, para que nada do resultado deixe de se calcular; um void dá o texto vazio.
        return f"SELECT count(f::text) FROM {chamada} AS f" if self.conjunto else f"SELECT {chamada}::text"

    def casos(self, bd: psycopg.Connection[Any]) -> Iterator[Caso]:
        if len(self.tipos) > 1:
            yield Caso("*", "NULL", ["NULL"] * len(self.tipos), False)
        for n, (parametro, tipo) in enumerate(zip(self.parametros, self.tipos, strict=True)):
            for valor in ["NULL", *estranhos(bd, tipo, self.servem()[n])]:
                argumentos = self.servem()
                argumentos[n] = valor
                yield Caso(parametro, valor, argumentos, self.sem_sentido(n, valor))

    def sem_sentido(self, n: int, valor: str) -> bool:
        sentido = TEM_SENTIDO.get(f"{self.nome}.{self.parametros[n]}", "")
        if valor == "NULL":
            return not (self.padrao_nulo[n] or sentido.startswith("nulo:"))
        return (
            valor in NEM_NUMERO_NEM_HORA
            and self.tipos[n] not in ("text", "name")
            and not sentido.startswith("infinito:")
        )


def estranhos(bd: psycopg.Connection[Any], tipo: str, serve: str) -> Iterator[str]:
    """Os valores estranhos do tipo: de um vetor, também suas formas; de uma linha, os de cada coluna."""
    if tipo in ESTRANHOS:
        yield from ESTRANHOS[tipo]
    elif tipo.endswith("[]"):
        item = tipo.removesuffix("[]")
        um = f"({ESTRANHOS[item][0]})::{item}"
        yield from ("'{}'", f"ARRAY[NULL]::{tipo}", f"ARRAY[[{um}, {um}], [{um}, {um}]]")
        yield f"array_fill(NULL::{item}, ARRAY[2], ARRAY[5])"
    else:
        colunas = bd.execute(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
            " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
            [tipo],
        ).fetchall()
        yield f"ROW({', '.join(['NULL'] * len(colunas))})"
        for coluna, tipo_da_coluna in colunas:
            for valor in ["NULL", *estranhos(bd, tipo_da_coluna, "")]:
                campo = f"jsonb_build_object('{coluna}', ({valor})::{tipo_da_coluna})"
                yield f"jsonb_populate_record({serve}, {campo})"


def falta(rotina: Rotina, caso: Caso, codigo: str, mensagem: str, resultado: str | None) -> str | None:
    """O que há de errado no que saiu da chamada; None se nada."""
    if codigo == "DESFZ":
        nada_disse = caso.sem_sentido and resultado is not None
        return (
            f"aceitou em silêncio, e deu {resultado[:60] or 'void'}" if nada_disse and resultado is not None else None
        )
    if not codigo.startswith("FM4"):
        return f"erro cru {codigo}: {mensagem[:200]}"
    if len(mensagem) > MAIOR_MENSAGEM:
        return f"recusa de {len(mensagem)} caracteres"
    tipo = dict(zip(rotina.parametros, rotina.tipos, strict=True)).get(caso.parametro)
    if codigo == "FM422" and tipo in ESTRANHOS and tipo != "jsonb":
        partes = caso.parametro.removeprefix("p_").split("_")
        if not any(parte in _sem_acentos(mensagem) for parte in partes):
            return f"recusa que não nomeia o campo: {mensagem[:200]}"
    return None


def _sem_acentos(texto: str) -> str:
    return "".join(letra for letra in unicodedata.normalize("NFD", texto) if not unicodedata.combining(letra))


@pytest.fixture
def rede(bd: psycopg.Connection[Any]) -> Rede:
    """Um banco com um de cada: acompanhamento ativo e concluído, pendência, textos na fila, projeto, ciclo e DLQ."""
    rede = Rede(bd)
    rede.relogio("2026-01-10T12:00:00Z")
    rede.sortear(ATIVA, CONSELHEIRO)
    rede.sortear(CONCLUIDA, CONSELHEIRO)
    rede.despachar()
    rede.atualizar(ATIVA, CONSELHEIRO)
    audio = rede.atualizar(ATIVA, CONSELHEIRO, audio_object_key="a/b", texto="")
    local = {"lat": -23.5, "lng": -46.6}
    rede.concluir(CONCLUIDA, CONSELHEIRO, plano_manutencao=PLANO, categoria="ponte", localizacao=local)
    rede.publicar(
        "demanda.conclusao_confirmada",
        {
            "demanda_id": str(ATIVA),
            "conclusao_id": str(UUID(int=0xD)),
            "data_conclusao": "2026-01-10T12:00:00Z",
            "total_conclusoes": 3,
            "ratificacao_necessaria": True,
        },
        "D-12",
    )
    rede.despachar()
    rede.relogio("2026-03-10T12:00:00Z")
    bd.execute("CALL d8.executar_varredura()")
    rede.despachar()
    # Estes dois, por tratar: cada um se trata uma vez só.
    rede.publicar(
        "conselheiro.atualização_transcrita",
        {"atualizacao_event_id": str(audio), "texto_transcrito": "x", "sucesso": True},
        "D-1b",
    )
    rede.publicar(
        "manutenção.executada",
        {
            "demanda_id": rede.um("SELECT h.demanda_manutencao_id::text FROM d8.historico_manutencoes AS h"),
            "projeto_original_id": rede.um("SELECT p.id::text FROM d8.projetos_monitorados AS p"),
        },
        "D-6b",
    )
    bd.execute(
        "INSERT INTO core.dlq (colonia, especie, event_id, sequence_number, tipo, chave, estado, proxima_tentativa)"
        " SELECT 'D-6b', 'evento', e.event_id, e.sequence_number, e.tipo, e.chave, 'pendente', now()"
        "   FROM core.event_log AS e WHERE e.tipo = 'conselheiro.sorteado' AND e.chave = %s",
        [str(CONCLUIDA)],
    )
    bd.execute("SELECT count(*) FROM d6b.reservar_publicacoes(10)")
    return rede


@pytest.fixture
def abrir(rede: Rede, dsn: str) -> Iterator[Callable[..., psycopg.Connection[Any]]]:
    """Abre uma sessão nova no banco povoado, com os ajustes dados postos antes de qualquer função se preparar nela."""
    with ExitStack() as abertas:

        def conectar(**ajustes: str) -> psycopg.Connection[Any]:
            sessao = abertas.enter_context(psycopg.connect(dsn, autocommit=True))
            sessao.execute(TENTAR)
            for ajuste, valor in {"client_min_messages": "error", "statement_timeout": "5s", **ajustes}.items():
                sessao.execute("SELECT set_config(%s, %s, false)", [ajuste, valor])
            return sessao

        yield conectar


def rotinas(bd: psycopg.Connection[Any]) -> list[Rotina]:
    """As rotinas a varrer, os procedimentos por último: o que fazem fica."""
    todas = [Rotina(*linha) for linha in bd.execute(ROTINAS, [DO_CONTRATO, FORA]).fetchall()]
    return sorted(todas, key=lambda rotina: rotina.procedimento)


def tentar(bd: psycopg.Connection[Any], rotina: Rotina, argumentos: list[str]) -> tuple[str, str, str | None]:
    chamada = rotina.chamada(argumentos)
    if not rotina.procedimento:
        linha = bd.execute("SELECT * FROM pg_temp.tentar(%s)", [chamada]).fetchone()
        assert linha is not None
        return linha[0], linha[1], linha[2]
    # Confirma a meio, e por isso não cabe num ponto de salvamento.
    try:
        bd.execute(chamada)
    except psycopg.Error as erro:
        return erro.sqlstate or "", str(erro), None
    return "DESFZ", "", ""


def test_a_chamada_que_serve_chega_ao_fim(abrir: Callable[..., psycopg.Connection[Any]]) -> None:
    """Senão a varredura pararia na primeira recusa, sem ver o resto."""
    bd = abrir()
    saidas = {rotina.nome: tentar(bd, rotina, rotina.servem()) for rotina in rotinas(bd)}
    paradas = {nome: saida for nome, saida in saidas.items() if saida[0] not in ("DESFZ", PARAM_NO_MEIO.get(nome))}
    assert paradas == {}


@pytest.mark.parametrize(
    "sessao",
    [
        "comum",
        "estranha",
        "barra que escapa",
    ],
)
def test_todo_argumento_estranho_da_um_resultado_ou_uma_recusa_fm(
    bd: psycopg.Connection[Any], abrir: Callable[..., psycopg.Connection[Any]], sessao: str
) -> None:
    varredura = abrir(**SESSOES[sessao])
    faltas = [
        f"{rotina.nome} {caso.parametro} = {caso.valor[:300]}: {errada}"
        for rotina in rotinas(bd)
        for caso in rotina.casos(bd)
        if (errada := falta(rotina, caso, *tentar(varredura, rotina, caso.argumentos))) is not None
    ]
    assert faltas == [], "\n".join(faltas)


def test_cada_excecao_e_de_um_parametro_que_existe(bd: psycopg.Connection[Any]) -> None:
    """Uma exceção esquecida esconderia o próximo buraco."""
    existem = {f"{rotina.nome}.{parametro}" for rotina in rotinas(bd) for parametro in rotina.parametros}
    assert set(TEM_SENTIDO) - existem == set()
    assert {nome for nome in SERVEM if "." in nome} - existem == set()
    assert set(PARAM_NO_MEIO) - {rotina.nome for rotina in rotinas(bd)} == set()
