"""Trainings and evaluations made by hand, for the tests of figures and reports."""

from __future__ import annotations

import dataclasses

import numpy as np

from memspan.results import AuxiliaryObjective, Evaluation, TrainingRun, Transfer

CONFIG = {
    "task": {"name": "copy", "delay": 100},
    "cell": {"name": "rel-rnn", "hidden": 128, "layers": 1, "short_term": 10, "relevant": 10},
    "init": {"name": "default"},
    "training": {"updates": 10_000, "batch": 10, "learning_rate": 0.001, "patience": None},
    "seed": 0,
}


def training() -> TrainingRun:
    """A training that learns to copy, and gets a little worse after its best validation."""
    logged, validated = np.arange(50, 8_501, 50), np.arange(250, 8_501, 250)
    fall = 0.17 / (1 + np.exp((validated - 5_000) / 400)) + 2e-4
    fall[-1] *= 2
    noise = np.random.default_rng(0).normal(0, 0.1, logged.size)
    return TrainingRun(
        task="copy",
        cell="rel-rnn",
        parameter_count=52_105,
        updates=8_500,
        seconds=352.0,
        loss=3e-4,
        accuracy=0.9991,
        run="runs/copy-rel-rnn-1",
        best_update=8_250,
        stopped="validation accuracy 99.91% reached",
        chance=1 / 8,
        baseline=10 * np.log(8) / 120,
        logged=logged,
        training_loss=np.interp(logged, validated, fall) * np.exp(noise),
        validated=validated,
        validation_loss=fall,
        validation_accuracy=1 - 0.875 * fall / fall.max(),
        config=CONFIG,
    )


def with_second_goal() -> TrainingRun:
    """A training whose discriminator learns to tell neighbours, with a switch in the middle."""
    run = training()
    late = np.where(run.logged > 4_000, 6.0, np.nan)
    goal = AuxiliaryObjective("full", 12, run.logged, run.logged / 8_500, 0.5 + run.logged / 34_000, late, 4_000)
    return dataclasses.replace(run, second_goal=goal)


def without_accuracy() -> TrainingRun:
    """A training that is judged by its loss alone."""
    run = training()
    unknown = np.full(run.validated.size, np.nan)
    return dataclasses.replace(run, accuracy=None, validation_accuracy=unknown)


def unlearnt() -> TrainingRun:
    """A training that was ended before its first validation but one, having learnt nothing."""
    run = training()
    return dataclasses.replace(
        run,
        updates=60,
        best_update=60,
        accuracy=0.13,
        logged=run.logged[:1],
        training_loss=run.training_loss[:1],
        validated=np.array([60]),
        validation_loss=np.array([0.21]),
        validation_accuracy=np.array([0.13]),
        stopped="all updates done",
    )


def evaluation() -> Evaluation:
    """The copying network at five delays."""
    found = {100: 0.9991, 200: 0.999, 400: 0.9978, 2_000: 0.996, 5_000: 0.9921}
    transfer = tuple(
        Transfer(
            delay=delay,
            loss=(1 - share) / 2,
            accuracy=share,
            interval=(share - 0.003, min(share + 0.002, 1.0)),
            sequences=1_000,
            baseline=10 * float(np.log(8)) / (delay + 20),
        )
        for delay, share in found.items()
    )
    return Evaluation(
        task="copy",
        cell="rel-rnn",
        parameter_count=52_105,
        updates=8_500,
        best_update=8_250,
        split="test",
        loss=transfer[-1].loss,
        accuracy=transfer[-1].accuracy,
        chance=1 / 8,
        distance="delay",
        trained_delay=100,
        transfer=transfer,
        run="runs/copy-rel-rnn-1",
        seconds=61.0,
        config=CONFIG,
        notes=("the best of 3 seeds by validation loss: seed-1",),
    )


def without_delay() -> Evaluation:
    """Digits, whose sequences are as long as their images are large."""
    one = Transfer(None, 0.31, 0.91, (0.87, 0.94), 300, 2.3)
    config = {"task": {"name": "digits", "data": "digits", "steps": None}, "cell": {"name": "lstm"}}
    return dataclasses.replace(
        evaluation(),
        task="digits",
        cell="lstm",
        loss=0.31,
        accuracy=0.91,
        chance=0.1,
        distance=None,
        trained_delay=None,
        transfer=(one,),
        config=config,
        notes=(),
    )
