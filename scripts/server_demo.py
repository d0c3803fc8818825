"""`make server-demo`: a real server, the example pushed, the same prompt from two processes, a write that both see."""

import os
import subprocess
import sys
from pathlib import Path

from temporary_postgres import NotInstalled, TemporaryPostgres

NOVEL = Path(__file__).resolve().parent.parent / "examples" / "novel"
ASK = """
import sys, os, hashlib, armarius
with armarius.connect(os.environ["ARMARIUS_DSN"]) as shelf:
    novel = shelf.project("novel-1", tenant="demo")
    pack = novel.assemble("检查第3章的角色一致性", document="chapters/ch003.md", cursor=120, budget=4000)
    digest = hashlib.blake2b(pack.prompt.encode(), digest_size=8).hexdigest()
    print(f"process {os.getpid()}: version {novel.version}, {pack.token_count} tokens, prompt {digest}")
    if "write" in sys.argv:
        print("written: version", novel.write({"chapters/ch008.md": "# 第八章\\n\\n林默没有开灯。\\n"}))
"""


def main() -> int:
    """Run the demo; 1 when there is no server to run."""
    try:
        running = TemporaryPostgres(durable=True).start()
    except NotInstalled as why:
        print(f"server-demo: {why}", file=sys.stderr)
        return 1
    environment = {**os.environ, "ARMARIUS_DSN": running.dsn}
    armarius = [sys.executable, "-W", "ignore", "-m", "armarius", "server"]
    steps = (
        [*armarius, "migrate"],
        [*armarius, "push", str(NOVEL), "--project", "novel-1", "--tenant", "demo"],
        [sys.executable, "-W", "ignore", "-c", ASK],
        [sys.executable, "-W", "ignore", "-c", ASK, "write"],
        [sys.executable, "-W", "ignore", "-c", ASK],
        [*armarius, "status", "--tenant", "demo"],
        [*armarius, "doctor", "--tenant", "demo"],
    )
    try:
        for step in steps:
            subprocess.run(step, env=environment, check=True)
    finally:
        running.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
