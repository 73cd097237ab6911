"""What is learnt from is what was lived: the odds of an update's first epoch are those by which was acted."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from memspan.training.agents.agent import Agent
from memspan.training.agents.config import agent_cells
from memspan.training.run.machine import torch_seed

SAME = 1e-5
"""Single precision: steps one by one against windows of them."""


def lived(config, rounds: int = 2) -> Agent:
    """An agent after some rounds, of which the last is not yet learnt from; episodes ended within it."""
    agent = Agent(config)
    for number in range(rounds):
        agent.ppo.collect_rollouts(agent.worlds, agent.finished, agent.ppo.rollout_buffer, agent.ppo.n_steps)
        if number < rounds - 1:
            agent.ppo.train()
    return agent


@pytest.mark.parametrize("cell", agent_cells())
def test_acting_and_learning_compute_the_same_across_the_ends_of_episodes(cell, tiny_agent):
    with torch_seed(1):
        agent = lived(tiny_agent(cell))
    buffer, policy = agent.ppo.rollout_buffer, agent.policy
    starts = buffer.episode_starts.reshape(-1, buffer.recurrence, buffer.n_envs)
    assert starts[:, 1:].any(), "an episode has to begin inside a window"
    assert not starts[1:, 0].all(), "an episode has to go on from window to window"
    policy.set_training_mode(True)
    whole = buffer.whole()
    values, log_probs, _ = policy.evaluate_actions(
        whole.observations,
        whole.actions.long().flatten(),
        whole.lstm_states,  # type: ignore[arg-type]
        whole.episode_starts,
    )
    assert torch.allclose(log_probs, whole.old_log_prob.flatten(), atol=SAME)
    assert torch.allclose(values.flatten(), whole.old_values.flatten(), atol=SAME)


def test_batches_hold_every_frame_once_with_its_own_state(tiny_agent):
    with torch_seed(2):
        agent = lived(tiny_agent("mem-lstm"))
        buffer = agent.ppo.rollout_buffer
        batches = list(buffer.get(16))
    assert sum(len(batch.old_log_prob) for batch in batches) == buffer.log_probs.size
    assert np.allclose(
        np.sort(torch.cat([batch.old_log_prob for batch in batches]).numpy()), np.sort(buffer.log_probs.flatten())
    )
    for batch in batches:
        _, log_probs, _ = agent.policy.evaluate_actions(
            batch.observations,
            batch.actions.long().flatten(),
            batch.lstm_states,  # type: ignore[arg-type]
            batch.episode_starts,
        )
        assert torch.allclose(log_probs, batch.old_log_prob, atol=SAME)


@pytest.mark.parametrize("cell", ["rel-lstm", "mem-lstm", "lstm", "none"])
def test_memory_goes_back_to_the_beginning_of_the_episode_and_no_further(cell, tiny_agent):
    agent = Agent(tiny_agent(cell))
    rows = torch.as_tensor(np.stack([world.reset()[0] for world in agent.places for _ in range(3)]))
    rows = rows.unsqueeze(1)
    policy, starts = agent.policy, torch.zeros(len(rows), 1, dtype=torch.bool)
    other = rows.clone()
    other[0] = rows[-1]
    assert not torch.equal(other[0], rows[0])

    def last(seen, starts):
        return policy.recurrent_features(seen, policy.cell.start(1), starts)[0][-1]

    remembered = not torch.allclose(last(rows, starts), last(other, starts), atol=1e-7)
    assert remembered == (cell != "none")
    starts[2] = True
    assert torch.allclose(last(rows, starts), last(other, starts), atol=1e-7)


def test_all_of_a_growing_memory_is_carried_and_none_of_an_earlier_episode(tiny_agent):
    """MemLSTM remembers an episode, which the world's time bounds."""
    with torch_seed(3):
        agent = lived(tiny_agent("mem-lstm"), rounds=1)
    lengths = [len(world.actions) for world in agent.places]
    state = agent.ppo.state
    carried = state.length[0].tolist()  # type: ignore[attr-defined]
    fresh = np.asarray(agent.ppo._last_episode_starts)
    assert [0 if new else many for many, new in zip(carried, fresh, strict=True)] == lengths
    assert state.memory.shape[2] <= 16  # type: ignore[attr-defined]


def test_weights_follow_from_the_seed_alone(tiny_agent):
    torch.rand(7)
    before = torch.get_rng_state()
    one = Agent(tiny_agent(seed=5)).policy.state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(3)
    two = Agent(tiny_agent(seed=5)).policy.state_dict()
    three = Agent(tiny_agent(seed=6)).policy.state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert any(not torch.equal(one[name], three[name]) for name in one)


def test_weights_of_an_orthogonal_cell_keep_their_smaller_rate(tiny_agent):
    with torch_seed(0):
        agent = Agent(tiny_agent("exp-rnn"))
        agent.step()
    rates = sorted({group["lr"] for group in agent.policy.optimizer.param_groups})
    assert rates == [pytest.approx(1e-4), pytest.approx(1e-3)]
