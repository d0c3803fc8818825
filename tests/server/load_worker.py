"""Another process under load: writes a page into one of many projects and asks for it at once, again and again."""

import json
import random
import sys
import time

from armarius.errors import StoreError
from armarius.workspace.folder import connect

LEAST = 15  # rounds, however busy the machine is: a clock alone may be over before the first


def main(dsn: str, tenant: str, who: str, projects: int, seconds: float) -> None:
    chance, until = random.Random(who), time.monotonic() + seconds
    stale, failed, times, acknowledged = 0, [], [], []
    with connect(dsn, connections=1, memory="64 MiB") as shelf:
        number = 0
        while number < LEAST or time.monotonic() < until:
            number += 1
            novel = shelf.project(f"p{chance.randrange(projects)}", tenant=tenant)
            mark = f"{who}的第{number}页"
            try:
                path = f"{who}/{number:05}.md"
                version = novel.write({path: f"# 页\n\n林默写下了{mark}。\n"})
                acknowledged.append((novel.project_id, path))
                stale += not any(hit.path == path for hit in novel.search(mark, limit=20))
                began = time.monotonic()
                pack = novel.assemble("林默写了什么", document=path, budget=3000, at_least=version)
                times.append(time.monotonic() - began)
                stale += mark not in pack.prompt
            except StoreError as error:
                failed.append(str(error))
    print(json.dumps({"stale": stale, "failed": failed, "times": times, "acknowledged": acknowledged}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
