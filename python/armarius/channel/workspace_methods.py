"""What a host may ask over the JSON channel of a shelf: the table of one project, each request naming its own.

projects:list             {limit?, after?} -> {items}
projects:delete           {projectId} -> {projectId}
documents:write           {projectId, files, remove?, expect?} -> {version}      files: path to text
everything of `armarius.verbs`, with `projectId`, and `atLeast`: a version that a write gave

The channel is of one tenant: no request can name another.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from armarius.display import camel
from armarius.errors import ContractError
from armarius.validation import shown
from armarius.verbs import methods_of

if TYPE_CHECKING:
    from armarius.workspace.project import Novel
    from armarius.workspace.workspace import Shelf

__all__ = ["methods_of_shelf"]

Params = Mapping[str, Any]


def methods_of_shelf(shelf: "Shelf", tenant: str) -> dict[str, Callable[[Params], Any]]:
    """The table over the projects of a tenant; every function may be called from any thread."""

    def named(params: Params) -> "Novel":
        name = params.get("projectId")
        if not isinstance(name, str) or not name:
            raise ContractError(f"projectId: which project? got {shown(name)}")
        return shelf.project(name, tenant=tenant)

    def write(params: Params) -> dict[str, Any]:
        files, remove, expect = params.get("files", {}), params.get("remove", []), params.get("expect")
        if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
            raise ContractError("files: expected an object from path to text")
        if not isinstance(remove, list) or not all(isinstance(path, str) for path in remove):
            raise ContractError("remove: expected a list of paths")
        if expect is not None and type(expect) is not int:
            raise ContractError(f"expect: expected a version, got {shown(expect)}")
        return {"version": named(params).write(files, remove=remove, expect=expect)}

    def listed(params: Params) -> dict[str, Any]:
        limit, after = params.get("limit", 100), params.get("after", "")
        if type(limit) is not int or limit < 1 or not isinstance(after, str):
            raise ContractError("projects:list: limit must be a number >= 1, after a name")
        found = shelf.projects(tenant=tenant, limit=limit, after=after)
        return {"items": [{camel(key): _plain(value) for key, value in asdict(one).items()} for one in found]}

    def delete(params: Params) -> dict[str, Any]:
        shelf.delete(named(params).project_id, tenant=tenant)
        return {"projectId": params["projectId"]}

    def of_project(method: str) -> Callable[[Params], Any]:
        def call(params: Params) -> Any:  # noqa: ANN401 - what the method answers
            novel = named(params)
            rest = {key: value for key, value in params.items() if key != "atLeast"}
            with novel.asked(params.get("atLeast")):
                return methods_of(novel)[method](rest)

        return call

    own = {"projects:list": listed, "projects:delete": delete, "documents:write": write}
    return {**{method: of_project(method) for method in methods_of(shelf.project("names", tenant=tenant))}, **own}


def _plain(value: object) -> object:
    return value if isinstance(value, str | int) else str(value)
