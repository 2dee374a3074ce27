"""Options that were given where they can do nothing: refused, not ignored in silence."""

from __future__ import annotations

import typer

from ur_admittance.errors import ConfigError


def refuse_useless(context: typer.Context, why: str, *names: str) -> None:
    """Refuse those of the options that were given, named as the function has them; defaults stay
    silent. `why`: they can do nothing here, and what would be right.

    Raises:
        ConfigError: a line for each that was given, with the spelling that was used.
    """
    options = {option.name: option for option in context.command.params}
    lines = []
    for name in names:
        option, source = options[name], context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE":
            continue
        turned_off = option.secondary_opts and not context.params[name]
        spelling = (option.secondary_opts if turned_off else option.opts)[0]
        lines.append(f"{spelling}: {why}")
    if lines:
        raise ConfigError("\n".join(lines), tuple(lines))
