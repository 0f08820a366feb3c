"""Localização de identificadores pessoais em texto corrido, em português."""
