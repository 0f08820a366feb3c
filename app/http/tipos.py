"""Tipos que as camadas do HTTP partilham."""

from collections.abc import Awaitable, Callable

from litestar.types import HTTPScope, Receive, Send

AppHttp = Callable[[HTTPScope, Receive, Send], Awaitable[None]]
