"""A situação que um relato afirma: a última que ele diz, se não a nega nem a promete."""

import re
from typing import Final

from app.pecas.identificadores.vista import dobrar, ver

_SITUACOES: Final = {
    "concluido": r"conclu(?:id[oa]s?|iu|iram)|resolv(?:id[oa]s?|eu|eram)|finaliz(?:ad[oa]s?|ou|aram)"
    r"|solucion(?:ad[oa]s?|ou|aram)|consert(?:ad[oa]s?|ou|aram)|termin(?:ad[oa]s?|ou|aram)"
    r"|repar(?:ad[oa]s?|ou|aram)|tap(?:ad[oa]s?|ou|aram)|problema acabou"
    r"|servico (?:executado|feito|pronto)|obra (?:entregue|pronta|acabada|feita)",
    "bloqueado": r"bloquead[oa]s?|embargad[oa]s?|paralisad[oa]s?|parad[oa]s?|parou|pararam|suspens[oa]s?"
    r"|impedid[oa]s?|interrompid[oa]s?|travad[oa]s?|travou",
    "aguardando": r"aguardando|aguarda|aguardam|aguardo|aguardamos|a espera|esperando|em analise|em avaliacao"
    r"|pendente de (?:resposta|aprovacao|vistoria|analise|licitacao|autorizacao)|depende de",
    "pendente": r"pendentes?|sem (?:resposta|previsao|providencia|retorno|solucao)|nada (?:foi )?(?:feito|mudou)"
    r"|na fila|nao (?:foi |foram )?(?:iniciad[oa]s?|comec(?:ou|aram)|inici(?:ou|aram))"
    r"|continua (?:igual|do mesmo jeito)",
    "em_andamento": r"em andamento|em execucao|em curso|iniciad[oa]s?|comec(?:ou|aram)|inici(?:ou|aram)"
    r"|retom(?:ad[oa]s?|ou|aram)|em obras|parcialmente|trabalhando|seguem os trabalhos|avanc(?:ou|aram)",
}
_AFIRMACAO = re.compile("(?<![a-z])(?:" + "|".join(f"(?P<{s}>{p})" for s, p in _SITUACOES.items()) + ")(?![a-z])")
# Até o fim da oração anterior; o que negar, prometer, supor ou recordar, dentro dela, desfaz a afirmação.
_ORACAO = re.compile(r"[.!?;:,\n]|(?<![a-z])(?:mas|porem|e|entao|agora|hoje|que)(?![a-z])")
_DESFAZ = re.compile(
    r"(?<![a-z])(?:nao|nem|nunca|falta|faltam|quase|sera|serao|vai|vao|deve|devem|devera|deverao|seria|seriam|quando|se|caso|ate"
    r"|previsao|previst[oa]|promete\w*|prometid[oa]|para|pra|estava|estavam|era|eram|antes|pode|podem|esperamos|espero|espera|pedi"
    r"|sem|fosse|fossem|seja|sejam|for|forem)(?![a-z])"
)
# A rua bloqueada é o problema, não a demanda.
_LUGAR = re.compile(
    r"(?<![a-z])(?:ruas?|vias?|avenida|calcada|passagem|acesso|transito|pista|estrada|porta|portao|carros?|caminhao"
    r"|veiculo|esgoto|agua|onibus|relogio|elevador)(?: [a-z]+){0,3} $"
)


def extrair_situacao(texto: str) -> str:
    """O `novo_status` que o texto afirma por último, ou vazio."""
    dobra = dobrar(ver(texto))
    ultima = ""
    for m in _AFIRMACAO.finditer(dobra):
        situacao = m.lastgroup or ""
        antes = dobra[max(0, m.start() - 40) : m.start()]
        fronteiras = list(_ORACAO.finditer(antes))
        oracao = antes[fronteiras[-1].end() :] if fronteiras else antes
        if situacao not in ("pendente", "aguardando") and _DESFAZ.search(oracao):
            continue
        if situacao == "bloqueado" and _LUGAR.search(antes):
            continue
        ultima = situacao
    return ultima
