"""Valores padrão de core.parametros: as constantes das duas especificações."""

from typing import Any

import psycopg
from psycopg.types.json import Jsonb

PADROES: dict[str, tuple[object, str]] = {
    "fuso_horario": ("America/Sao_Paulo", "Fuso civil: o 'hoje' de data_estimada e as datas para pessoas (E10)"),
    "dias_antecedencia_alerta_prazo": (3, "Dias antes da data estimada em que o prazo é alertado (D-6b 4.6)"),
    "dias_limite_acompanhamento_inativo": (7, "Dias sem início até o acompanhamento ser relatado (D-6b 4.6)"),
    "limite_varredura_saidas_conclusao": (100, "Acompanhamentos republicados por varredura de saídas (D-6b 6.2)"),
    "limite_texto": (10000, "Caracteres de texto_bruto e de texto_estruturado (D-6b 6.2)"),
    "limite_conteudo_estruturado": (5120, "Bytes de conteudo_estruturado (D-6b 6.2, E12)"),
    "limite_sugestao_ia": (10240, "Bytes de sugestao_ia (D-6b 6.2, E12)"),
    "limite_payload": (1048576, "Bytes do payload de um evento que entra na rede; abaixo de 262144, vale 262144 (N43)"),
    "limite_atualizacoes": (500, "Atualizações por acompanhamento (D-6b 6.2, E12)"),
    "horas_espera_transcricao_fecho": (48, "Horas que o resumo de fecho espera a transcrição (E15)"),
    "ia_habilitada": (False, "Liga a montagem do prompt da sugestão (D-6b 4.6)"),
    "ia_score_fallback": (0.5, "Confiança da sugestão heurística (D-6b 4.6)"),
    "ia_score_minimo_auto": (0.7, "Declarado para a Fase 2 (D-6b 4.6)"),
    "ia_timeout_ms": (5000, "Declarado para a Fase 2 (D-6b 4.6)"),
    "profundidade_maxima": (2, "Níveis de manutenção da manutenção (D-8 6.2)"),
    "peso_atraso_fase1_max": (0.15, "Teto do crescimento linear, 30 dias (D-8 4.2)"),
    "peso_atraso_fase2_max": (0.30, "Teto do crescimento logarítmico, 90 dias (D-8 4.2)"),
    "peso_atraso_teto": (0.40, "Teto absoluto, 91 dias em diante (D-8 4.2)"),
    "limite_texto_demanda": (5000, "Caracteres do texto da demanda gerada (D-8 6.2)"),
    "limite_historico_dossie": (100, "Ciclos anteriores no dossiê (D-8 6.2)"),
    "dias_guarda_ocorrencias": (180, "Dias até core.limpar remover uma ocorrência ou uma tentativa da DLQ"),
    "dias_guarda_execucoes_cron": (7, "Dias até core.limpar remover um registro de execução do pg_cron"),
    "dias_guarda_dados_pessoais": (None, "Dias até core.reter redigir os dados pessoais; nulo, nunca"),
    "segundos_ocioso_produtor": (30, "Segundos até cair a sessão de um produtor parada numa transação em que publicou"),
    "segundos_detencao_problema": (10, "Segundos até uma transação que detém a rede ser um problema (N67)"),
    "segundos_detencao_maxima": (None, "Segundos até o despacho encerrar a sessão que detém a leitura; nulo, nunca"),
    "fila_tamanho_atencao": (5000, "Eventos, ou textos, que fazem de uma fila que cresce um problema (N70)"),
    "fila_minutos_crescente": (3, "Minutos seguidos que uma fila há de crescer para ser problema (N70)"),
    "agenda_no_pg_cron": (False, "Se o pg_cron cumpre a agenda, e o app não; escrito por migrar"),
}


def gravar(conexao: psycopg.Connection[Any], ajustados: dict[str, object]) -> None:
    """Grava os padrões que faltam e, por cima, o que os ajustes pedem; o que um DBA mudou no resto fica."""
    with conexao.cursor() as cursor:
        cursor.executemany(
            """
            INSERT INTO core.parametros (nome, valor, descricao)
            VALUES (%s, %s, %s)
            ON CONFLICT (nome) DO UPDATE SET descricao = EXCLUDED.descricao
             WHERE core.parametros.descricao IS DISTINCT FROM EXCLUDED.descricao
            """,
            [(nome, Jsonb(valor), descricao) for nome, (valor, descricao) in PADROES.items()],
        )
    ajustar(conexao, ajustados)


def ajustar(conexao: psycopg.Connection[Any], valores: dict[str, object]) -> None:
    """Muda o valor de parâmetros que já existem."""
    with conexao.cursor() as cursor:
        cursor.executemany(
            "UPDATE core.parametros SET valor = %s WHERE nome = %s AND valor IS DISTINCT FROM %s",
            [(Jsonb(valor), nome, Jsonb(valor)) for nome, valor in valores.items()],
        )
