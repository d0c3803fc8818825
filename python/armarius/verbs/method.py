"""One method of a wire: its name, what it takes, what it answers, and the call behind it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from armarius.errors import ContractError, UnknownId
from armarius.io.messages_without_paths import answer_without_paths
from armarius.requests import Wire, wire_name
from armarius.text.unicode import near, suggestion

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["Method", "Params", "known"]

Asked = TypeVar("Asked", bound=Wire)


class Params(Wire):
    """What every method takes: the project that is meant; "" and none is this one."""

    called: ClassVar[str] = "params"

    project_id: str = ""


@dataclass(frozen=True, slots=True)
class Method(Generic[Asked]):
    """A method.

    Attributes:
        name: `room:thing:verb`, or `things:verb`.
        params: Checks what is sent.
        result: The shape of the answer: a type, or field to type.
        answer: From the engine and the checked params to plain JSON.
    """

    name: str
    params: type[Asked]
    result: Any
    answer: "Callable[[ContextEngine, Asked], Any]"

    def over(self, engine: "ContextEngine") -> Callable[[Mapping[str, Any]], Any]:
        """The method over one engine, from what is sent to what is answered; may be called from any thread."""

        def call(sent: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever it answers
            try:
                asked = self.params.from_wire(sent)
            except ContractError as error:
                raise ContractError(f"{error.message}{_meant(self.params, sent)}") from None
            if isinstance(asked, Params):
                engine.check_project(asked.project_id)
            return answer_without_paths(self.answer(engine, asked), engine.root)

        return call


def _meant(kind: type[Wire], sent: Mapping[str, Any]) -> str:
    """What the first unknown name of a param was probably to be; "" where none is unknown or near."""
    names = [wire_name(name) for name in kind.model_fields]
    unknown = [name for name in sent if name not in names and name not in kind.model_fields]
    return suggestion(near(unknown[0], names)) if unknown else ""


def known(call: Callable[[], Any], field: str = "id") -> Any:  # noqa: ANN401 - whatever the call returns
    """What `call` returns; an id that is none is said to be the `field` that was sent."""
    try:
        return call()
    except UnknownId as error:
        raise UnknownId(f"params.{field}: {error.message}", error.near) from None
