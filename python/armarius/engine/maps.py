"""The map of a project: shown, mended in one line of armarius.toml, and what a host's language model says of it.

    request = engine.understanding_request()        # text, tokens, hash
    proposals = request.parse(reply)                # nothing is written
    proposals.apply()                               # [proposed.*] of armarius.toml

What is proposed weighs as a guess: a line of the user's own goes before it, and it keeps nothing out.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from armarius.arguments import KINDS, Kind
from armarius.codex.record_file import records_of
from armarius.deadline import CALLER, calling, run_with_deadline
from armarius.documents.classify import is_closed, matching_files
from armarius.documents.kinds import glob
from armarius.documents.project_map import ShownMap
from armarius.engine.project import Project
from armarius.errors import ArmariusError, ConfigError, ContractError, StoreError
from armarius.headings import count_noun
from armarius.io.toml import parse_toml, quote_toml, value_of, with_value
from armarius.text.chat import Asked, ChatModel, ModelCall, check_model, reply_of, reply_text
from armarius.trust.settings import CONFIG_NAME, parse_config
from armarius.validation import near, seconds, shown, suggestion, valid_text

if TYPE_CHECKING:  # what no prompt needs is loaded when a model is asked
    from armarius.engine.asking import Asking
    from armarius.engine.replies import Proposals

Model = Callable[["UnderstandingRequest"], Any] | ChatModel
"""A function (or coroutine function) from messages to a reply, or a chat model."""


class Maps:
    """The map of `project`. Thread-safe."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def map(self) -> ShownMap:
        """What every file of the project is taken for, doubts first; `print` shows it as a tree.

        Returns:
            A list of files by path; `doubts`, `hidden`, `unread`.
        """
        view = self._project.view()
        return ShownMap.of(view.map, self._project.unread(view))

    def set_kind(self, pattern: str, kind: Kind) -> ShownMap:
        """Say what files are: a line in `[documents]` of armarius.toml; all other lines and comments stay.

        Args:
            pattern: A path, or a gitignore-like pattern such as `notes/**`; below a folder with a dot it opens it.
            kind: What the files are.

        Returns:
            The map after it.

        Raises:
            ContractError: An unknown kind; a pattern that is blank, leaves the project, names a closed folder (`.git`,
                `.armarius`), or matches no file.
            ConfigError: The file is wrong, or no line can be put into it; says the line to write by hand.
            StoreFull: It cannot be written; nothing has changed.
        """
        pattern, kind = _pattern(pattern), _kind(kind)
        if not self._matches(pattern):
            raise ContractError(f"pattern: {shown(pattern)}: no file matches it")
        self._write_kind(pattern, kind)
        return self.map()

    def _matches(self, pattern: str) -> bool:
        view, index = self._project.view(), self._project.index
        if any(map(glob(pattern).matches, view.map.files)):
            return True
        return index.root is not None and bool(matching_files(index.root, index.config, pattern))

    def _write_kind(self, pattern: str, kind: str) -> None:
        def edit(text: str) -> str:
            stated = [entry for _, entry in parse_config(text).kinds]  # an error says what is wrong with it
            before = stated[: stated.index(pattern)] if pattern in stated else []
            if broader := [entry for entry in before if glob(entry).matches(pattern)]:
                what = f"{quote_toml(broader[0])} stands before {quote_toml(pattern)} and decides: put it below"
                raise ConfigError(f"{CONFIG_NAME}: documents: {what}")
            written = _declare_line(text, "documents", pattern, kind)
            parse_config(written)
            return written

        self._project.index.authored.change_config(edit)


def _declare_line(text: str, table: str, key: str, value: Any, comment: str = "") -> str:  # noqa: ANN401 - of TOML
    """The text of armarius.toml with a line of the user's own; of patterns the narrower ones stay before it.

    Raises:
        ConfigError: No line can be put into it; says the line to write by hand.
    """
    stated = (entry for _, entry in parse_config(text).kinds if entry != key) if table == "documents" else ()
    narrower = [entry for entry in stated if glob(key).matches(entry)]
    written = with_value(text, table, key, value, comment=comment, below=narrower)
    if written is None:
        line = f"{quote_toml(key)} = {value_of(value)}"
        raise ConfigError(f"{CONFIG_NAME}: no line can be put into it; write into [{table}]: {line}")
    return written


def _pattern(pattern: object) -> str:
    text = valid_text("pattern", pattern)
    if not text.strip():
        raise ContractError("pattern must name files, got a blank text")
    if ".." in text.split("/"):
        raise ContractError(f"pattern: {shown(text)} leaves the project")
    if is_closed(text):
        raise ContractError(f"pattern: {shown(text)}: .git and .armarius stay closed")
    return text


def _kind(kind: object) -> Kind:
    if kind not in KINDS:
        raise ContractError(f"kind must be one of {', '.join(KINDS)}, got {shown(kind)}{suggestion(near(kind, KINDS))}")
    return kind


class UnderstandingRequest(Asked):
    """The messages that ask a model what a project is; `parse` reads the reply.

    Attributes:
        hash: Of the files that are asked about and their numbers, whatever they are taken for: while it stays, a
            reply does.
    """

    hash: str
    _read: "Callable[[object, str], Proposals]"

    @property
    def tokens(self) -> int:
        """Length of the messages in tokens of o200k_base."""
        from armarius.engine.asking import count

        return count(self.text)

    def parse(self, reply: object, *, model: str = "", hash: str = "") -> "Proposals":  # noqa: A002
        """What a reply proposes: a text, a message of a model library, or what it holds.

        Each entry stands alone: what cannot be used is in `refused`, and the rest is taken.

        Args:
            reply: Of a model, in any wrapping.
            model: Its name, which is written beside what is applied.
            hash: Of the request that it answers, where that is another object than this one; "" is this one.

        Raises:
            ContractError: There is nothing of the form in it; files have come, gone or begun otherwise since `hash`.
        """
        if hash not in ("", self.hash):
            raise ContractError("hash: files have changed since the question was asked: ask again")
        return self._read(reply, model)

    def __repr__(self) -> str:
        return f"<request of {self.tokens:,} tokens: print(request.text) shows what would be sent>"


class Understanding:
    """Asks what `project` is. Thread-safe."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._file = records_of(project.index.authored, "understanding", tables=["reply"], check=lambda _: "")

    def understand(self, model: Model, *, model_name: str = "", timeout_s: float | None = None) -> "Proposals":
        """Ask a model once what the project, its files and its people are; nothing is written before `apply()`.

        The reply is kept in `.armarius/understanding.toml`: asking again costs nothing until files come or go.

        Args:
            model: A function, a coroutine function, or a chat model, which gets `understanding_request()`.
            model_name: Of the model, as it is written beside what is applied; by default what it says of itself.
            timeout_s: Seconds to wait for the model; 120 when None.

        Raises:
            ContractError: `model` is neither callable nor a chat model, or its reply holds nothing of the form.
            ArmariusError: No reply in time. Errors of the model itself are passed on.
        """
        check_model("model", model)
        return self.answered(self.understanding_request(), model, model_name, timeout_s)

    def answered(
        self, request: UnderstandingRequest, model: Model, model_name: str, timeout_s: float | None
    ) -> "Proposals":
        """What a model proposes to a request; nothing of the index is held while it replies."""
        name, kept = valid_text("model_name", model_name) or _name_of(model), self._kept_record()
        if kept.get("hash") == request.hash and kept.get("text"):
            return request.parse(kept["text"], model=kept.get("model") or name)
        log, reply = self._project.model_log, None
        try:
            reply = _ask_model(model, request, 120.0 if timeout_s is None else seconds("timeout_s", timeout_s))
            proposals = request.parse(reply, model=name)
        except Exception as error:
            log.add("understand", request, reply, type(error).__name__)
            raise
        log.add("understand", request, reply, count_noun(len(proposals), *proposals.noun))
        return proposals

    def model_log(self) -> tuple[ModelCall, ...]:
        """What was asked of models of the host's since the project was opened, the oldest first: tokens, and what came.

        Requests that the host sends itself (`understanding_request`, `summaries.request`) are not among them.
        """
        return self._project.model_log.calls()

    def understanding_request(self) -> UnderstandingRequest:
        """The one question, for a model that the host asks itself; at most 6,000 tokens.

        Cost: a walk of the folder, and a look at the evidence of each file.
        """
        from armarius.engine.asking import Asking

        asking = Asking(self._project, self._kept_record())
        made = UnderstandingRequest(asking.messages())
        made.hash, made._read = asking.hash, partial(self._read, asking)
        return made

    def _read(self, asking: "Asking", reply: object, model: str) -> "Proposals":
        from armarius.engine.replies import Reading

        model = valid_text("model", model)
        proposals = Reading(asking).proposals(reply, model, partial(self._write, asking))
        text = reply_text(reply).strip() or json.dumps(reply, ensure_ascii=False, default=str)
        with suppress(StoreError):  # a folder that nobody may write into: the next time it costs a call
            if not proposals.cut and (proposals or proposals.unsure or not proposals.refused):
                self._keep_reply(hash=asking.hash, model=model, text=text)
        return proposals

    def _kept_record(self) -> dict[str, Any]:
        return next((dict(record.data or {}) for record in self._file.records()), {})

    def _keep_reply(self, **changes: Any) -> None:  # noqa: ANN401
        record = self._kept_record()
        data = {**record, **changes, "id": "last"}
        if data != record:
            (self._file.replace if record else self._file.add)("reply", data)

    def _write(self, asking: "Asking", proposals: "Proposals", declared: bool) -> None:
        from armarius.engine.asking import line_key

        wanted = [line for proposal in proposals for line in proposal.lines]
        keys = {line_key(line) for line in wanted}
        out = {*asking.out, *(line_key(line) for proposal in proposals.every for line in proposal.lines)} - keys
        before, kept = "", list[tuple[str, str, Any]]()

        def edit(text: str) -> str:
            nonlocal before
            before = text
            stated = {(table, key) for table, key, _ in wanted if (table, key) not in _LISTS}
            others = (line for line in _read_lines(text) if line[:2] not in stated and line_key(line) not in keys | out)
            kept.extend(others)
            if not declared:
                return _write_proposed(text, [*kept, *wanted], proposals.model)
            return _write_declared(_write_proposed(text, kept, proposals.model), wanted, proposals.model)

        self._project.index.authored.change_config(edit)
        try:
            self._keep_reply(applied=sorted(keys | {line_key(line) for line in kept}), out=sorted(out))
        except ArmariusError:
            self._project.index.authored.change_config(lambda _: before)
            raise


def _ask_model(model: Model, request: UnderstandingRequest, timeout_s: float) -> Any:  # noqa: ANN401 - of any library
    """The reply of a model, in a thread of its own, so that a coroutine has a loop."""

    def late(waited: float) -> Exception:
        return ArmariusError(f"model: no reply within {waited:g} s")

    with calling("understand", timeout_s):
        return run_with_deadline(partial(reply_of, model, request, timeout_s=timeout_s, caller=CALLER.get()), late)


def _name_of(model: object) -> str:
    """What a model calls itself: a chat model's name, a function's."""
    names = (getattr(model, name, None) for name in ("model_name", "model", "__name__"))
    return next((name for name in names if isinstance(name, str) and name), type(model).__name__)


_LISTS: Final = (("documents", "read"), ("people", "no_names"), ("people", "tables"))
_HEAD: Final = re.compile(r"[ \t]*\[(\[?)[ \t]*([^\]\n]*)\]", re.ASCII)


def _read_lines(text: str) -> Iterator[tuple[str, str, Any]]:
    """The lines that an earlier reply has put into armarius.toml. Raises ConfigError where it is wrong."""
    parse_config(text)
    for table, rows in parse_toml(text).get("proposed", {}).items():
        for key, value in rows.items():
            yield from (((table, key, item) for item in value) if (table, key) in _LISTS else [(table, key, value)])


def _write_proposed(text: str, lines: Sequence[tuple[str, str, Any]], model: str) -> str:
    """The text of armarius.toml with these lines in `[proposed.*]`, and no others there; all else is as it was.

    Raises:
        ConfigError: The file is wrong, or no such tables can be put into it.
    """
    before = parse_config(text)
    end = "\r\n" if "\r\n" in text else "\n"
    kept, inside, earlier = list[str](), False, dict[str, str]()
    for line in text.splitlines(keepends=True):
        if (head := _HEAD.match(line)) is not None:
            inside = head[2].strip().split(".")[0].strip(" \"'") == "proposed"
        if not inside or line.lstrip().startswith("#"):
            kept.append(line)
        elif (row := line.strip().rpartition("  # proposed by "))[1]:
            earlier[row[0]] = row[2]
    whole = "".join(kept).rstrip()
    name = _model_label(model)
    tables = dict[str, dict[str, Any]]()
    for table, key, value in lines:
        rows = tables.setdefault(table, {})
        if (table, key) in _LISTS:
            rows.setdefault(key, []).append(value)
        elif isinstance(value, list) and isinstance(rows.get(key), list):  # two entries of one person
            rows[key] = [*dict.fromkeys([*rows[key], *value])]
        else:
            rows.setdefault(key, value)
    for table, rows in tables.items():
        whole += f"{end * 2 * bool(whole)}[proposed.{table}]  # a guess; what stands in [{table}] goes before it{end}"
        # Of patterns the first that matches decides: a path stands before them.
        order = sorted(rows, key=lambda key: table == "documents" and any(mark in key for mark in "*?["))
        texts = [f"{quote_toml(key, key=True)} = {value_of(rows[key])}" for key in order]
        whole += end.join(f"{row}  # proposed by {earlier.get(row, name)}" for row in texts)
    whole = f"{whole}{end}" if whole else ""
    after = parse_config(whole)
    own = [_person_part(config) for config in (before, after)]
    if own[0] != own[1]:
        raise ConfigError(
            f"{CONFIG_NAME}: no line can be put into it: write [proposed.*] tables as tables of their own"
        )
    return whole


def _write_declared(text: str, lines: Sequence[tuple[str, str, Any]], model: str) -> str:
    """The same with these lines in the user's own tables: what a person has ticked."""
    for table, key, value in reversed(lines):  # each becomes the first of its table
        own = parse_toml(text).get(table, {}).get(key)
        if (table, key) in _LISTS or isinstance(value, list):
            added = [value] if (table, key) in _LISTS else value
            value = [*(own if isinstance(own, list) else ()), *added]
            value = [item for at, item in enumerate(value) if item not in value[:at]]
        text = _declare_line(text, table, key, value, f"proposed by {_model_label(model)}")
    parse_config(text)
    return text


def _model_label(model: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in model).split()) or "a model"


def _person_part(config: Any) -> tuple[Any, ...]:  # noqa: ANN401
    own = [line for line in config.lines if not line.proposed]
    return config.kinds, own, config.people, config.exclude, config.max_bytes, config.index_dir, dict(config.tables)
