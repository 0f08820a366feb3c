"""A linha de comando: um arquivo por comando, cada um com `registrar` (argumentos) e `executar` (o que faz)."""
