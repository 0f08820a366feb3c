"""As peças em Python: sugestão, denylist, sanitização, descrição, caminho e resumo. Só funções puras."""
