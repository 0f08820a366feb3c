"""O catálogo das métricas do banco: tipo, rótulos e sentido de cada uma; os valores vêm de core.metricas().

O texto de ajuda vai na coleta e, por docs/gerar.py, na referência.
"""

from typing import Literal

from msgspec import Struct


class Metrica(Struct, frozen=True):
    """Uma métrica que o banco conta. Um contador só cresce, e seu nome acaba em _total."""

    nome: str
    ajuda: str
    rotulos: tuple[str, ...] = ()

    @property
    def tipo(self) -> Literal["counter", "gauge"]:
        return "counter" if self.nome.endswith("_total") else "gauge"


DO_BANCO = (
    Metrica("d6b_acompanhamentos_ativos", "Acompanhamentos ativos, por status.", ("status",)),
    Metrica("d6b_atualizacoes_por_tipo", "Atualizações recebidas desde o início, por tipo.", ("tipo",)),
    Metrica("d6b_tempo_medio_conclusao", "Dias do sorteio à conclusão, em média, dos acompanhamentos concluídos."),
    Metrica("d6b_taxa_conclusao", "Fração concluída, de 0 a 1, dos acompanhamentos que terminaram de algum modo."),
    Metrica("d6b_alertas_prazo", "Alertas de prazo próximo publicados desde o início."),
    Metrica("d6b_atualizacoes_excedentes", "Atualizações descartadas por passarem do limite de seu ciclo (E12)."),
    Metrica("d6b_sorteios_tardios_total", "Sorteios de demandas já concluídas: não abriram acompanhamento (E09)."),
    Metrica("d8_projetos_ativos", "Projetos com manutenção programada ativa."),
    Metrica("d8_demandas_geradas_total", "Demandas de manutenção geradas."),
    Metrica("d8_ciclos_encerrados_total", "Monitoramentos encerrados (manutenção.ciclo_encerrado)."),
    Metrica("d8_atraso_medio_dias", "Dias entre a data prevista e a geração, em média, das demandas geradas."),
    Metrica("d8_peso_atraso_medio", "Peso de atraso sugerido, em média, das demandas geradas."),
    Metrica("formigueiro_barramento_sequencia", "Maior número de sequência publicado."),
    Metrica(
        "formigueiro_barramento_atraso_eventos",
        "Números de sequência publicados que a colônia ainda não leu.",
        ("colonia",),
    ),
    Metrica(
        "formigueiro_barramento_atraso_segundos", "Idade do primeiro evento que a colônia ainda não leu.", ("colonia",)
    ),
    Metrica(
        "formigueiro_barramento_horizonte_retido_segundos",
        "Há quanto tempo uma transação alheia segura a leitura da colônia.",
        ("colonia",),
    ),
    Metrica(
        "formigueiro_barramento_horizonte_detentor_segundos",
        "Quem segura a leitura da colônia, por papel, e há quanto tempo; sem série se ninguém segura.",
        ("colonia", "papel"),
    ),
    Metrica(
        "formigueiro_barramento_leitura_detida",
        "1 se uma transação alheia segura a leitura há mais de segundos_detencao_problema.",
        ("colonia",),
    ),
    Metrica(
        "formigueiro_barramento_sequencia_atras",
        "De quantos números a sequência do log está atrás dele: acima de 0, publicar é recusado.",
    ),
    Metrica("formigueiro_barramento_assinado", "1 se o log vem de outro servidor por replicação lógica."),
    Metrica("formigueiro_objetos_danificados", "Objetos do banco que não são como migrar os deixou."),
    Metrica(
        "formigueiro_dlq_entradas",
        "Entradas em aberto na DLQ, por espécie (evento por tratar ou saída por publicar) e estado.",
        ("colonia", "especie", "estado"),
    ),
    Metrica("formigueiro_dlq_idade_segundos", "Idade da entrada em aberto mais antiga da DLQ.", ("colonia",)),
    Metrica("formigueiro_publicacoes_pendentes", "Textos à espera do trabalhador.", ("colonia",)),
    Metrica("formigueiro_publicacoes_com_erro", "Textos à espera com que uma tentativa já falhou.", ("colonia",)),
    Metrica(
        "formigueiro_publicacoes_atraso_segundos",
        "Idade do texto mais antigo que já podia ter sido publicado.",
        ("colonia",),
    ),
    Metrica(
        "formigueiro_fila_crescimento",
        "Quanto a fila de eventos por ler, ou de textos, cresceu nos últimos minutos; sem série se não foi medida.",
        ("colonia", "fila"),
    ),
    Metrica(
        "formigueiro_fila_crescente",
        "1 se a fila é grande e cresce a cada minuto: enche mais depressa do que anda.",
        ("colonia", "fila"),
    ),
    Metrica("formigueiro_saidas_conclusao_pendentes", "Conclusões com saídas por publicar.", ("colonia",)),
    Metrica(
        "formigueiro_saidas_conclusao_atraso_segundos",
        "Tempo desde a conclusão mais antiga com saídas por publicar.",
        ("colonia",),
    ),
    Metrica(
        "formigueiro_agendamento_idade_segundos",
        "Tempo desde que o agendamento acabou bem; sem série se ainda não acabou nenhuma vez.",
        ("agendamento",),
    ),
    Metrica(
        "formigueiro_agendamento_atrasado",
        "1 se o agendamento perdeu mais de duas horas marcadas e dez minutos.",
        ("agendamento",),
    ),
    Metrica("formigueiro_ocorrencias_ultima_hora", "Ocorrências da última hora, por nível.", ("colonia", "nivel")),
    Metrica("formigueiro_trabalhador_lider", "1 se há um trabalhador na liderança; sempre 0 atrás de um pool."),
    Metrica(
        "formigueiro_medidas_idade_segundos",
        "Idade da última apuração das métricas que custam ler tabelas inteiras.",
        ("colonia",),
    ),
)
