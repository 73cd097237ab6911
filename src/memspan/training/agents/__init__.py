"""Agents that remember: recurrent PPO in grid worlds, over any cell, with one that remembers nothing beside it.

from memspan.training.agents.config_json import agent_defaults, agent_from_json
from memspan.training.agents.training import train_agents

run = train_agents(agent_from_json(agent_defaults("rel-lstm")), Path("runs/door"))
run.found.reward, run.memoryless.reward
"""
