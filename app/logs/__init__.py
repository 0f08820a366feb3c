"""Log: linhas JSON na saída de erro, com os identificadores que acham um caso, e nada de privado."""
