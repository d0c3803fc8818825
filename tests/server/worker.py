"""Another process: writes a project again and again, and says what the server has acknowledged."""

import sys

from armarius.errors import StoreConflict, StoreError
from armarius.workspace.folder import connect


def main(dsn: str, tenant: str, who: str, count: int, how: str) -> None:
    with connect(dsn, connections=2) as shelf:
        novel = shelf.project("p", tenant=tenant)
        done = 0
        while done < count:
            try:
                if how == "count":
                    seen = novel.version
                    now = 0 if not seen else int(novel.document("count.md", at_least=seen).text)
                    version = novel.write({"count.md": str(now + 1)}, expect=seen)
                else:
                    version = novel.write({f"{who}/{done:04}.md": f"# {who}\n\n第{done}次，林默来了。\n"})
            except StoreConflict:
                continue
            except StoreError as error:
                print(f"away {type(error).__name__}", flush=True)
                continue
            done += 1
            print(f"done {done} {version}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
