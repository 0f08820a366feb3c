"""O que se pode tirar de um relato, campo a campo. O que não está no texto não se inventa."""
