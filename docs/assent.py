"""The page that says who may let an arm do what, from the table that every start asks."""

from __future__ import annotations

from collections.abc import Callable

from ur_admittance.run.assent import ACTS, SURFACES

WORDS = """\
An arm does nothing that somebody would not expect unless a person has agreed to it: at the \
keyboard, or beforehand by an option. Without that the command leaves with 1, says what it was \
about to do and what would let it, and nothing has moved. One table says who must agree to what; \
every command, `Run` in Python and the ROS 2 node ask it. It is `ACTS` in \
`src/ur_admittance/run/assent.py`, and this page is written from it.

The columns are the ways by which a wish comes in. *Terminal*: a person types the command. \
*Script*: the same command with nobody at the keyboard (its input is no terminal). *Python*: your \
own program, with `ua.Run(...)`. *Page*: the cockpit in a browser. *Blackboard*: another process \
on this computer, such as `ur-admittance set`. *ROS*: a node on the ROS 2 graph.

- **free**: it is done.
- **asks**: what is about to happen is told, and a person answers yes or no; nobody there is a no. \
Who said yes is not asked again in that run. The option answers beforehand.
- **option**: whoever starts the run permits it beforehand: with the option on the command line, \
with `permit={"name"}` in Python, where the name is that of the first column. Other processes, \
pages and nodes may then do it while that run lasts.
- **never**: not by this way.

A simulated arm hurts nobody: there only the acts with a * need anybody's assent. To stop an arm \
is free to everybody, by every way.
"""


def assent_page(note: str, table: Callable[..., str]) -> str:
    """Who may let an arm do what, on which surface."""
    rows = [
        (
            f"`{act.name}`" + (" *" if act.simulated else ""),
            act.does,
            *(getattr(act, surface) for surface in SURFACES),
            f"`{act.option}`" if act.option else "",
        )
        for act in ACTS
    ]
    surfaces = ("terminal", "script", "Python", "page", "blackboard", "ROS")
    heads = ("act", "what", *surfaces, "option")
    return "\n".join(("# Who may move the arm\n", note, WORDS, table(heads, rows)))
