"""Makes the savepoints for Flink in this folder, and lets real PyFlink continue from them.

    python tests/flink_state/make_for_flink.py write NAME...     with this package
    python tests/flink_state/make_for_flink.py start NAME...     with apache-flink

A savepoint is ``for_flink/NAME.zip``. ``NAME.first.txt`` has what the job emitted before, here or,
of jobs that are stopped in the middle of their input, on Flink. ``NAME.second.txt`` has what it
emitted on Flink afterwards.
"""

from __future__ import annotations

import pathlib
import shutil
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).parent / "for_flink"
HOME = pathlib.Path("/tmp/moving-in-00000000")
JOBS = {
    "states": ("states", 3, {}),
    "states-4096": ("states", 2, {"pipeline.max-parallelism": "4096"}),
    "states-rocksdb": ("states", 2, {"state.backend.type": "rocksdb"}),
    "windows": ("windows", 2, {}),
    "types": ("types", 1, {}),
    "assigners": ("assigners", 3, {}),
    "keys": ("keys", 2, {}),
    "functions": ("functions", 3, {}),
    "others": ("others", 3, {}),
    "windows-4096": ("windows", 2, {"pipeline.max-parallelism": "4096"}),
    "numbers": ("numbers", 2, {}),
    "half-read": ("half_read", 1, {}),
}
"""By name: the job, its parallelism on Flink, and its options."""
STOPPED_EARLY = {"numbers", "half-read"}
_TIME = (2026, 1, 1, 0, 0, 0)


def write(name):
    from pyflink_on_spark._job.moving_in import move_in
    from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
    from pyflink_on_spark.testing import local_engine
    from tests.flink_state import samples

    job, _, options = JOBS[name]
    shutil.rmtree(HOME, ignore_errors=True)
    (HOME / "in").mkdir(parents=True)
    (HOME / "in" / "a").write_text(samples.lines(range(12)))
    first = HERE / f"{name}.first.txt"
    if name in STOPPED_EARLY:
        flinks = samples.unpacked(name, HOME / "savepoint")
        ours = str(HOME / "ours")
        move_in(samples.recorded(job, HOME), flinks, folder(ours))
        first.write_text("\n".join(samples.first_results(name)) + "\n")
    else:
        configuration = samples.Configuration()
        for key, value in options.items():
            configuration.set_string(key, value)
        with local_engine() as engine:
            env = samples.StreamExecutionEnvironment.get_execution_environment(configuration)
            env.set_parallelism(1)
            samples.jobs()[job](env, str(HOME / "in"), str(HOME / "out"), 2)
            client = env.execute_async(name)
            engine.wait_until_idle(60)
            ours = client.stop_with_savepoint(False, str(HOME / "ours")).result()
        first.write_text("".join(sorted((HOME / "out").open())))
    found = samples.moved_out(ours, name, HOME, options=options, leaves_out=True)
    print(name, found)
    with zipfile.ZipFile(HERE / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted((HOME / "flinks").iterdir()):
            packed.writestr(zipfile.ZipInfo(path.name, _TIME), path.read_bytes(), 8)


def start(name):
    import make_savepoints

    job, parallelism, options = JOBS[name]
    with zipfile.ZipFile(HERE / f"{name}.zip") as packed:
        shutil.rmtree("/tmp/for-flink", ignore_errors=True)
        packed.extractall("/tmp/for-flink")
    options = {**options, "execution.state-recovery.path": "file:///tmp/for-flink"}
    run = make_savepoints.Run(job, options, given=range(12), parallelism=parallelism)
    time.sleep(3)
    if name != "numbers":
        run.give("b", range(12, 24))
    run.wait()
    if name != "numbers":  # it has ended
        run.stop(True, "CANONICAL")
    (HERE / f"{name}.second.txt").write_text("".join(sorted(run.output.open())))
    print(name, "continued", flush=True)


if __name__ == "__main__":
    do = {"write": write, "start": start}[sys.argv[1]]
    for wanted in sys.argv[2:] or JOBS:
        do(wanted)
