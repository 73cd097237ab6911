"""An agent in a small world, for some seconds, with one beside it that remembers nothing; then one episode to look at.

Some seconds are not enough to learn anything: this shows how it is done, `memspan train gridworld` does it for longer.
"""

from pathlib import Path

from memspan.training.agents.config import agent_defaults, agent_from_json
from memspan.training.agents.training import train_agents

plain = agent_defaults("rel-lstm")
plain["task"]["world"] = "GoToDoor-5x5"
plain["training"] |= {"updates": 3, "worlds": 4, "steps": 64}
run = train_agents(agent_from_json(plain), Path("agent"), episodes=20, workers=1)

assert run.memoryless is not None
for name, found in ((run.cell, run.found), ("without memory", run.memoryless)):
    assert found.interval is not None
    low, high = found.interval
    print(f"{name}: reward {found.reward:.2f} [{low:.2f}, {high:.2f}] over {found.episodes} episodes of one network")

assert run.episode is not None
print(f"{run.episode.steps} steps, a picture of each of the first {run.episode.shown}")
