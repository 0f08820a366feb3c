"""As medições: cada módulo com um `principal` roda por `python -m bench.<nome>`; `make bench` roda todos."""
