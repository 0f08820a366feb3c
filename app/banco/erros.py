"""A falha que quem opera pode entender e resolver: a mensagem é uma linha, e a linha de comando só mostra a ela."""


class ErroBanco(RuntimeError):
    """O banco não pôde ser criado, ligado, migrado ou alcançado."""


class EmRecuperacao(ErroBanco):
    """O banco só se lê por enquanto: é uma réplica, ou ainda repete seu log."""
