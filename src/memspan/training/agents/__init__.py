"""Agents with memory: recurrent PPO in grid worlds over any cell, next to a memoryless baseline.

from memspan.training.agents.config import agent_defaults, agent_from_json
from memspan.training.agents.training import train_agents

run = train_agents(agent_from_json(agent_defaults("rel-lstm")), Path("runs/door"))
run.found.reward, run.memoryless.reward
"""
