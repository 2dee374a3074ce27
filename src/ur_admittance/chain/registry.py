"""The links of a chain: which there are, who reads from whom, and who can be active with whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ur_admittance.chain.interfaces import Interfaces, Link, Pacer, Ports, references_of
from ur_admittance.config.validate import suggest
from ur_admittance.errors import ConfigError, RobotError

RUNNING = ("active", "leaving")


class Registry:
    """All links that are loaded."""

    def __init__(self, interfaces: Interfaces) -> None:
        self._interfaces = interfaces
        self._links: dict[str, Link] = {}
        self.order: list[Link] = []  # each after all it reads from; else as they were loaded

    def named(self, names: str | Iterable[str]) -> list[Link]:
        """The links of these names."""
        found = []
        for name in (names,) if isinstance(names, str) else names:
            if name not in self._links:
                raise RobotError(
                    f"chain: there is no link {name!r}; there are "
                    f"{', '.join(self._links) or 'none'}{suggest(name, self._links)}"
                )
            found.append(self._links[name])
        return found

    def running(self) -> list[Link]:
        """The links that are updated every cycle, in order."""
        return [link for link in self.order if link.state in RUNNING]

    def sources(self, link: Link) -> set[str]:
        """The names of the links whose references it reads, or may read."""
        return _heads((*link.reads, *link.may_read)) & self._links.keys()

    def needs(self, link: Link) -> set[str]:
        """The names of the links that must be active with it."""
        return _heads(link.reads) & self._links.keys()

    def feeders(self, links: Sequence[Link]) -> list[Link]:
        """The running links whose references end, by whatever links, in joint commands of these."""
        found: list[Link] = []
        ahead = [link for link in links if link.commands]
        while ahead:
            link = ahead.pop()
            for source in self.named(self.needs(link)):
                if source not in found:
                    found.append(source)
                    ahead.append(source)
        return [link for link in self.running() if link in found]

    def load(self, links: Sequence[Link]) -> None:
        """Add links and configure them, all or none."""
        joints, before = self._interfaces.joints, self._links
        together = dict(before)
        for link in links:
            _check_name(link, together, joints)
            link.declare(joints)
            together[link.name] = link
        references = [name for link in links for name in references_of(link)]
        for link in links:
            self._interfaces.check(link, references)
        self._links = together
        try:
            order = self._in_order()
            for link in links:
                self._interfaces.add(references_of(link))
            for link in links:
                link.configure(Ports(link, self._interfaces))
        except BaseException:
            self._links = before
            self._interfaces.remove(references)
            raise
        self.order = order
        for link in links:
            link.state = "inactive"

    def unload(self, names: Iterable[str]) -> None:
        """Clean links up and take them out."""
        gone = self.named(names)
        rest = {name: link for name, link in self._links.items() if link not in gone}
        for link in gone:
            if link.state not in ("inactive", "error"):
                raise RobotError(f"unload: {link.name} is {link.state}; deactivate it first")
            readers = [reader.name for reader in rest.values() if link.name in self.sources(reader)]
            if readers:
                raise ConfigError(f"unload: {', '.join(readers)} can read {link.name}; unload both")
        for link in gone:
            link.cleanup()
            link.state = "unconfigured"
            self._interfaces.remove(references_of(link))
        self._links = rest
        self.order = [link for link in self.order if link not in gone]

    def check_together(self, active: Sequence[Link]) -> None:
        """Raise unless these links, and no others, can be active at once."""
        names = {link.name for link in active}
        owners: dict[str, Link] = {}
        for link in active:
            for source in sorted(self.needs(link) - names):
                raise ConfigError(
                    f"{link.name} reads the references of {source}, which would not be active; "
                    f"activate {source} with it, or deactivate {link.name} too"
                )
            for command in link.commands:
                if command in owners:
                    raise ConfigError(
                        f"{link.name} and {owners[command].name} both command {command!r}; "
                        "deactivate one of them"
                    )
                owners[command] = link
        kinds = {name.rpartition("/")[2]: link.name for name, link in owners.items()}
        if len(kinds) > 1:
            raise ConfigError(
                "a robot takes one kind of command at a time, but "
                + " and ".join(f"{link} commands {kind}" for kind, link in kinds.items())
            )
        pacers = [link.name for link in active if isinstance(link, Pacer)]
        if len(pacers) > 1:
            raise ConfigError(f"{' and '.join(pacers)} both set the pace of the chain; take one")

    def strike(self, failed: Link | None, why: str) -> tuple[list[Link], list[Link]]:
        """Tell everything downstream of a failed link, or everything, that it is to brake.

        Returns the links that are over, in state 'error', and those that bring themselves to rest.
        """
        running = {link.name for link in self.running()}
        over: list[Link] = []
        braking: list[Link] = []
        for link in self.running():
            sources = self.sources(link)
            first = link is failed or (failed is None and not sources & running)
            if first or sources & {other.name for other in over}:
                able = _brakes_itself(link, why) and link is not failed
                (braking if able else over).append(link)
        for link in over:
            link.state = "error"
        return over, braking

    def reconfigure(self) -> None:
        """Make the links that failed fit to be activated again."""
        for link in self.order:
            if link.state == "error":
                link.cleanup()
                link.configure(Ports(link, self._interfaces))
                link.state = "inactive"

    def _in_order(self) -> list[Link]:
        ordered: list[Link] = []
        way: list[str] = []

        def visit(name: str) -> None:
            if name in way:
                circle = [*way[way.index(name) :], name]
                raise ConfigError(
                    f"chain: {' reads from '.join(circle)}: a circle has no first link; let one "
                    "of them read the robot's state instead"
                )
            link = self._links[name]
            if link in ordered:
                return
            way.append(name)
            sources = self.sources(link)
            for source in [other for other in self._links if other in sources]:
                visit(source)
            way.pop()
            ordered.append(link)

        for name in self._links:
            visit(name)
        return ordered


def _heads(names: Iterable[str]) -> set[str]:
    return {name.partition("/")[0] for name in names}


def _check_name(link: Link, taken: Iterable[str], joints: Sequence[str]) -> None:
    """Raise unless the link's name tells its references from everything else."""
    if not isinstance(link, Link):
        raise ConfigError(f"chain: expected a Link, got {link!r:.100}")
    if not link.name or "/" in link.name:
        raise ConfigError(f"chain: a link's name is a word without '/', got {link.name!r:.100}")
    if link.name in {*taken, *joints, "ft_sensor", "joints"}:
        raise ConfigError(f"chain: the name {link.name!r} is taken; give the link another")


def _brakes_itself(link: Link, why: str) -> bool:
    try:
        return bool(link.error(why))
    except Exception:
        return False  # a link that fails to stop is over
