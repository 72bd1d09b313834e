"""The options that say whether and when a failed job is restarted."""

from __future__ import annotations

from pyflink_on_spark._options.kinds import double, duration, integer, text
from pyflink_on_spark._options.option import works

STRATEGY = text(
    "restart-strategy.type",
    None,
    former=("restart-strategy",),
    effect=works(
        "`none`, `fixed-delay`, `failure-rate` or `exponential-delay`; the last one is the default "
        "of a job with checkpoints, `none` that of a job without"
    ),
)

FIXED_ATTEMPTS = integer("restart-strategy.fixed-delay.attempts", 1)
FIXED_DELAY = duration("restart-strategy.fixed-delay.delay", 1_000)

RATE_FAILURES = integer("restart-strategy.failure-rate.max-failures-per-interval", 1)
RATE_INTERVAL = duration("restart-strategy.failure-rate.failure-rate-interval", 60_000)
RATE_DELAY = duration("restart-strategy.failure-rate.delay", 1_000)

BACKOFF_INITIAL = duration("restart-strategy.exponential-delay.initial-backoff", 1_000)
BACKOFF_MAXIMUM = duration("restart-strategy.exponential-delay.max-backoff", 60_000)
BACKOFF_MULTIPLIER = double("restart-strategy.exponential-delay.backoff-multiplier", 1.5)
BACKOFF_RESET = duration("restart-strategy.exponential-delay.reset-backoff-threshold", 3_600_000)
BACKOFF_JITTER = double("restart-strategy.exponential-delay.jitter-factor", 0.1)
BACKOFF_ATTEMPTS = integer(
    "restart-strategy.exponential-delay.attempts-before-reset-backoff", 2**31 - 1
)
