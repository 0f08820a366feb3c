"""A data estimada que um relato promete, a contar do dia cívico em que ele é escrito."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final

from app.pecas.identificadores.vista import dobrar, ver

_NOMES_DOS_MESES = (
    "janeiro", "fevereiro", "marco", "abril", "maio", "junho",
    "julho", "agosto", "setembro", "outubro", "novembro", "dezembro",
)  # fmt: skip
_MESES: Final = {nome: i + 1 for i, mes in enumerate(_NOMES_DOS_MESES) for nome in (mes, mes[:3])}
_POR_EXTENSO: Final = {
    "um": 1, "uma": 1, "dois": 2, "duas": 2, "tres": 3, "quatro": 4, "cinco": 5, "seis": 6, "sete": 7, "oito": 8,
    "nove": 9, "dez": 10, "doze": 12, "quinze": 15, "vinte": 20, "trinta": 30, "quarenta": 40, "quarenta e cinco": 45,
    "sessenta": 60, "noventa": 90, "cento e vinte": 120, "cento e oitenta": 180,
}  # fmt: skip
_SEMANA: Final = ("segunda", "terca", "quarta", "quinta", "sexta", "sabado", "domingo")

_MES = "|".join(sorted(_MESES, key=len, reverse=True))
_QUANTOS = "|".join(sorted(_POR_EXTENSO, key=len, reverse=True))
# O que anuncia um prazo um pouco antes da data.
_ANUNCIO = re.compile(
    r"(?:ate|prazo|previs\w*|previst\w*|estimad\w*|estimativa|promet\w*|comprometeu|entreg\w*|conclu\w*|vence\w*|agendad\w*|"
    r"marcad\w*|programad\w*|para|inicio|iniciam?|comeca\w*|retorn\w*|resolv\w*)(?![a-z])"
)
_PASSADO = re.compile(r"(?: passad[ao]s?| retrasad[ao]s?)(?![a-z])")

_ISO = re.compile(r"(?<![\d/.-])(\d{4})-(\d{2})-(\d{2})(?![\d/.-]*\d)")
_NUMERICA = re.compile(r"(?<![\d/.,-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/-]|[.,]\d)")
_SEM_ANO = re.compile(r"(?<![\d/.,-])(\d{1,2})/(\d{1,2})(?![\d/-]|[.,]\d)")
_EXTENSO = re.compile(rf"(?<![\d/.,-])(\d{{1,2}}) ?[o°º.]? ?(?:de |/)({_MES})(?![a-z])(?:(?: de |/| )(\d{{4}})(?!\d))?")
_DIA = re.compile(r"(?:ate|para) o? ?dia (\d{1,2})(?![\d/.,-]| ?[o°º]? de )")
_DURACAO = re.compile(
    r"(?:em|dentro de|daqui a|daqui|prazo(?: maximo)? (?:de|e de)|prazo:|proxim[oa]s|ate|mais|apos) "
    rf"(?:ate |mais |uns |umas |cerca de )?(\d{{1,4}}|{_QUANTOS}) (?:\([^()]{{1,20}}\) )?"
    r"(dias?|semanas?|mes|meses|anos?)(?! uteis)(?![a-z])"
)
_AMANHA = re.compile(r"(?<![a-z])(depois de )?amanha(?![a-z])")
_HOJE = re.compile(r"(?<![a-z])(?:para|ainda|prazo:?|vence|ate as \d{1,2}h(?:\d{2})? de) hoje(?![a-z])")
_DIA_DA_SEMANA = re.compile(
    r"(?<![a-z])(?:((?:(?:ate|para)(?: a| o)?|proxim[ao]|nest[ea]|est[ea]|n[ao]|pr[ao]) )?"
    rf"({'|'.join(_SEMANA)})([- ]feira)?)(?![a-z-])"
    r"(,? (?:da|na) (?:semana que vem|proxima semana)| que vem| passad[ao]| retrasad[ao])?"
)
_FIM_DO_MES = re.compile(r"(?:fim|final) (?:do mes|deste mes|desse mes)(?! que)(?![a-z])")
_FIM_DE = re.compile(rf"(?:fim|final) de ({_MES})(?![a-z])(?: de (\d{{4}})(?!\d))?")
_FIM_DO_ANO = re.compile(r"(?:fim|final) (?:do|deste|desse) ano(?![a-z])")
_SUBSTANTIVO = re.compile(
    r" (?:vez|via|etapa|fase|parte|quinzena|feira|vara|camara|instancia|turma|opcao|rua|secao)(?![a-z])"
)


def _data(ano: int, mes: int, dia: int) -> date | None:
    try:
        return date(ano, mes, dia)
    except ValueError:
        return None


def _proxima(hoje: date, mes: int, dia: int) -> date | None:
    """A próxima vez, a contar de hoje, em que cai esse dia desse mês."""
    for ano in range(hoje.year, min(hoje.year + 9, 10000)):
        quando = _data(ano, mes, dia)
        if quando and quando >= hoje:
            return quando
    return None


def _somar_meses(hoje: date, meses: int) -> date | None:
    total = hoje.year * 12 + hoje.month - 1 + meses
    ano, mes = divmod(total, 12)
    if ano > 9999:
        return None
    return date(ano, mes + 1, min(hoje.day, monthrange(ano, mes + 1)[1]))


def _fim_do_mes(ano: int, mes: int) -> date:
    return date(ano, mes, monthrange(ano, mes)[1])


def _numerica(m: re.Match[str], _hoje: date) -> date | None:
    ano = int(m[4])
    return _data(ano + 2000 if len(m[4]) == 2 else ano, int(m[3]), int(m[1]))


def _sem_ano(m: re.Match[str], hoje: date) -> date | None:
    return _proxima(hoje, int(m[2]), int(m[1]))


def _extenso(m: re.Match[str], hoje: date) -> date | None:
    mes, dia = _MESES[m[2]], int(m[1])
    return _data(int(m[3]), mes, dia) if m[3] else _proxima(hoje, mes, dia)


def _dia_do_mes(m: re.Match[str], hoje: date) -> date | None:
    dia = int(m[1])
    for meses in range(4):
        total = hoje.year * 12 + hoje.month - 1 + meses
        quando = _data(total // 12, total % 12 + 1, dia)
        if quando and quando >= hoje:
            return quando
    return None


def _duracao(m: re.Match[str], hoje: date) -> date | None:
    quantos = int(m[1]) if m[1].isdigit() else _POR_EXTENSO[m[1]]
    unidade = m[2]
    try:
        if unidade.startswith("dia"):
            return hoje + timedelta(days=quantos)
        if unidade.startswith("semana"):
            return hoje + timedelta(weeks=quantos)
    except OverflowError:
        return None
    return _somar_meses(hoje, quantos * (12 if unidade.startswith("ano") else 1))


def _dia_da_semana(m: re.Match[str], hoje: date) -> date | None:
    preposicao, nome, feira, sufixo = m[1], m[2], m[3], m[4] or ""
    if "passad" in sufixo or "retrasad" in sufixo:
        return None
    # «segunda» só é dia com «-feira», ou com preposição e sem o que ela numere («segunda via»).
    solto = nome in ("sabado", "domingo")
    if not feira and not solto and not sufixo and (not preposicao or _SUBSTANTIVO.match(m.string, m.end(2))):
        return None
    alvo = _SEMANA.index(nome)
    if "semana" in sufixo:
        segunda = hoje + timedelta(days=7 - hoje.weekday())
        return segunda + timedelta(days=alvo)
    return hoje + timedelta(days=(alvo - hoje.weekday() - 1) % 7 + 1)


def _fim_de(m: re.Match[str], hoje: date) -> date | None:
    mes = _MESES[m[1]]
    if m[2]:
        return _fim_do_mes(int(m[2]), mes) if int(m[2]) else None
    fim = _fim_do_mes(hoje.year, mes)
    return fim if fim >= hoje else _fim_do_mes(hoje.year + 1, mes)


_LEITORES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], date | None]], ...]] = (
    (_ISO, lambda m, _: _data(int(m[1]), int(m[2]), int(m[3]))),
    (_NUMERICA, _numerica),
    (_SEM_ANO, _sem_ano),
    (_EXTENSO, _extenso),
    (_DIA, _dia_do_mes),
    (_DURACAO, _duracao),
    (_AMANHA, lambda m, hoje: hoje + timedelta(days=2 if m[1] else 1)),
    (_HOJE, lambda _, hoje: hoje),
    (_DIA_DA_SEMANA, _dia_da_semana),
    (_FIM_DO_MES, lambda _, hoje: _fim_do_mes(hoje.year, hoje.month)),
    (_FIM_DE, _fim_de),
    (_FIM_DO_ANO, lambda _, hoje: date(hoje.year, 12, 31)),
)


def _sem_anuncio_e_passada(m: re.Match[str], quando: date, hoje: date) -> bool:
    """Um dia e mês sem ano que já passou este ano fala do passado, a não ser que seja um prazo anunciado."""
    sem_ano = m.re is _SEM_ANO or (m.re is _EXTENSO and not m[3])
    return sem_ano and quando.year > hoje.year


def _datas(dobra: str, hoje: date) -> Iterator[tuple[int, date, bool]]:
    """Posição, data e se foi anunciada, de cada data de hoje em diante."""
    for padrao, leitor in _LEITORES:
        for m in padrao.finditer(dobra):
            try:
                quando = leitor(m, hoje)
            except OverflowError:
                continue
            if quando is None or quando < hoje or _PASSADO.match(dobra, m.end()):
                continue
            anunciada = _ANUNCIO.search(dobra[max(0, m.start() - 30) : m.start() + 6]) is not None
            if anunciada or not _sem_anuncio_e_passada(m, quando, hoje):
                yield m.start(), quando, anunciada


def extrair_data_estimada(texto: str, hoje: date) -> str:
    """A data prometida, em AAAA-MM-DD, de hoje em diante; vazio se o texto não traz nenhuma.

    Entre várias vale a primeira que vem anunciada («até», «prazo», «previsão»); senão, a primeira. Dias úteis
    dependem de feriados que o texto não diz: não são contados.
    """
    dobra = dobrar(ver(texto))
    datas = sorted(_datas(dobra, hoje), key=lambda d: (not d[2], d[0]))
    return datas[0][1].isoformat() if datas else ""
