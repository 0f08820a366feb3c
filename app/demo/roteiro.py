"""O roteiro da demonstração: exemplos/cidade.jsonl, lido e situado no tempo."""

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct

_LACUNA = re.compile(r"\$\{([^}]+)\}")


class Nomeado(Struct, frozen=True):
    id: str
    nome: str = ""
    titulo: str = ""


class Cidade(Struct, frozen=True):
    """A primeira linha: quem é quem e quantos dias a história dura."""

    cidade: str
    dias: int
    unidade_civica: str
    pessoas: dict[str, Nomeado]
    demandas: dict[str, Nomeado]


class Cena(Struct, frozen=True):
    """Um evento de outra colônia, no dia e na hora civil em que ela o publica.

    A de tipo `ratificar` é o pedido do conselheiro ao app: não é publicada, e sim executada.
    """

    dia: int
    hora: str
    tipo: str
    origem: str
    payload: dict[str, object]
    versao_schema: str = "1.0.0"
    event_id: UUID | None = None
    correlacao_id: UUID | None = None

    def quando(self, primeiro_dia: date, fuso: ZoneInfo) -> datetime:
        return datetime.combine(primeiro_dia + timedelta(days=self.dia), time.fromisoformat(self.hora), fuso)


class Roteiro(Struct, frozen=True):
    cidade: Cidade
    cenas: list[Cena]

    def do_dia(self, dia: int) -> list[Cena]:
        return [cena for cena in self.cenas if cena.dia == dia]


def ler(arquivo: Path) -> Roteiro:
    primeira, *resto = arquivo.read_bytes().splitlines()
    return Roteiro(
        cidade=msgspec.json.decode(primeira, type=Cidade),
        cenas=[msgspec.json.decode(linha, type=Cena) for linha in resto],
    )


def situar(cena: Cena, agora: datetime, demanda_de_manutencao: Callable[[str, int], str]) -> dict[str, object]:
    """O payload da cena com as lacunas preenchidas: `${agora}`, `${hoje+15}` e `${manutencao parquinho 1}`."""

    def preencher(lacuna: re.Match[str]) -> str:
        nome, *argumentos = re.split(r"[ +]", lacuna[1])
        match nome, argumentos:
            case "agora", []:
                return agora.isoformat(timespec="milliseconds")
            case "hoje", [*dias]:
                return (agora.date() + timedelta(days=sum(map(int, dias)))).isoformat()
            case "manutencao", [demanda, ciclo]:
                return demanda_de_manutencao(demanda, int(ciclo))
        raise ValueError(f"lacuna desconhecida no roteiro: {lacuna[0]}")

    texto = _LACUNA.sub(preencher, msgspec.json.encode(cena.payload).decode())
    return msgspec.json.decode(texto, type=dict[str, object])
