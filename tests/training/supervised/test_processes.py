"""Two processes, each with half of every batch, train as one with whole batches; one of them writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memspan.errors import InputError
from memspan.training import resume, train
from memspan.training.supervised.config import to_json

SAME = 1e-4
UPDATES = 50
SCRIPT = """
import json, os, sys
from pathlib import Path
from memspan.training import DivergenceError, resume, train
from memspan.training.run.config import apply_setting
from memspan.training.supervised.config import from_json

def say(*words):
    os.write(1, (json.dumps([os.environ["RANK"], *words]) + "\\n").encode())  # at once, so that lines stay whole

plain, out = json.loads(sys.argv[1]), Path(sys.argv[2])
if os.environ["RANK"] == "1":
    out = out / "what the other process says is what counts"
train(from_json(apply_setting(plain, "training.updates=23")), out)
run = resume(Path(sys.argv[2]), updates=50)
say(run.loss, run.updates)
averaged = apply_setting(apply_setting(plain, "cell.name=detach-lstm"), "training.optimizer=nt-asgd")
try:
    train(from_json(apply_setting(averaged, "training.learning_rate=1e38")), Path(sys.argv[2]) / "diverging")
except DivergenceError:
    say("diverged")
os._exit(0)  # gloo's own threads sometimes abort when the interpreter takes them down, after all is written
"""


def losses_of(run: Path) -> list[float]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line["loss"] if "loss" in line else line["validation"]["loss"] for line in lines]


def test_two_processes_have_the_losses_of_one_with_the_doubled_batch(tiny, tmp_path: Path):
    config = tiny(updates=UPDATES, batch=4, log_every=1, learning_rate=0.01, device="auto")
    (tmp_path / "script.py").write_text(SCRIPT)
    told = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"),
            *("script.py", json.dumps(to_json(config)), "both"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    said = [json.loads(line) for line in told.stdout.splitlines() if line.startswith("[")]
    whole = train(tiny(updates=UPDATES, batch=8, log_every=1, learning_rate=0.01), tmp_path / "one")
    both, one = losses_of(tmp_path / "both"), losses_of(tmp_path / "one")
    assert both == pytest.approx(one, abs=SAME)
    assert len(one) == UPDATES + UPDATES // 10
    assert sorted(rank for rank, *_ in said) == ["0", "0", "1", "1"]
    ended = [line for line in said if line[1] != "diverged"]
    assert ended[0][1:] == ended[1][1:] == [pytest.approx(whole.loss, abs=SAME), UPDATES]
    sessions = [json.loads(line) for line in (tmp_path / "both/timing.jsonl").read_text().splitlines()]
    assert [(line["session"], line["update"]) for line in sessions] == [
        *((0, 10), (0, 20), (0, 23)),
        *((1, 30), (1, 40), (1, 50)),
    ]
    with pytest.raises(
        InputError, match="was written by 2 processes, but this training has 1; resume with as many"
    ):
        resume(tmp_path / "both")
