"""The same request gives the same bytes in every process, whatever seed its hashes have."""

import json
import os
import subprocess
import sys
from pathlib import Path

NOVEL = Path(__file__).parents[2] / "examples" / "novel"
# Three requests in a row, each continuing the one before: a question, typing, another question.
SCRIPT = """
import hashlib, json, sys
import armarius

said = []
with armarius.open(sys.argv[1], watch=False) as engine:
    pack = None
    for query, cursor in (("检查第3章的角色一致性", 120), ("", 160), ("林小雨和周远是什么关系", 160)):
        pack = engine.assemble(
            query=query, document="chapters/ch003.md", cursor=cursor, model="deepseek-chat", budget=2500, previous=pack
        )
        account = [(one.layer, one.source, one.id) for one in (*pack.items, *pack.omitted)]
        wire = json.dumps([pack.to_wire(), account], ensure_ascii=False)
        said.append(hashlib.sha256(wire.encode()).hexdigest())
print(json.dumps(said))
"""


def say(tmp_path, seed):
    cache = tmp_path / f"cache-{seed}"
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "ARMARIUS_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(NOVEL)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=environment,
    )
    return json.loads(done.stdout)


def test_same_requests_give_the_same_bytes_under_every_hash_seed(tmp_path):
    first, *others = [say(tmp_path, seed) for seed in (0, 1, 4242)]
    assert len(set(first)) == 3
    assert all(other == first for other in others)
