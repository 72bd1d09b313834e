"""A program's source: what the runners execute, and a script that a person can start."""

from __future__ import annotations

import re

from tests.random_programs.program import ClassDefinition, Program, Step, lines

_MODULES = {
    "pyflink.common": "Configuration Duration Instant Row RowKind Time Types WatermarkStrategy",
    "pyflink.common.watermark_strategy": "TimestampAssigner",
    "pyflink.datastream": "AsyncDataStream OutputTag RuntimeExecutionMode "
    "StreamExecutionEnvironment TimeDomain",
    "pyflink.datastream.connectors.number_seq": "NumberSequenceSource",
    "pyflink.datastream.functions": "AggregateFunction AllWindowFunction AsyncFunction "
    "BroadcastProcessFunction CoFlatMapFunction CoMapFunction CoProcessFunction FilterFunction "
    "FlatMapFunction KeySelector KeyedBroadcastProcessFunction KeyedCoProcessFunction "
    "KeyedProcessFunction MapFunction Partitioner ProcessAllWindowFunction ProcessFunction "
    "ProcessWindowFunction ReduceFunction WindowFunction",
    "pyflink.datastream.state": "AggregatingStateDescriptor ListStateDescriptor MapStateDescriptor "
    "ReducingStateDescriptor StateTtlConfig ValueStateDescriptor",
    "pyflink.datastream.window": "ContinuousEventTimeTrigger CountSlidingWindowAssigner "
    "CountTrigger CountTumblingWindowAssigner DynamicEventTimeSessionWindows "
    "EventTimeSessionWindows EventTimeTrigger GlobalWindows PurgingTrigger "
    "SessionWindowTimeGapExtractor SlidingEventTimeWindows TimeWindow Trigger TriggerResult "
    "TumblingEventTimeWindows WindowAssigner",
    "decimal": "Decimal",
}
_PLAIN_MODULES = ("asyncio", "datetime", "time")
_HELPERS = {
    "fail": ["def fail(error):", "    raise error"],
    "of_kind": ["def of_kind(row, kind):", "    row.set_row_kind(kind)", "    return row"],
    "paced": ["def paced(value):", "    time.sleep(0.3)", "    return value"],
}
"""Functions that a program has if it names them."""

FILE_NAME = "<program>"
"""The file name of a program's source in tracebacks."""


def definitions(program: Program) -> str:
    """Return a module with ``build(env)``, which returns the program's outputs in their order."""
    blocks = _body(program)
    returned = ", ".join(output.stream for output in program.outputs)
    blocks[-1] += f"\n    return [{returned}]"
    text = "\n\n\n".join(blocks)
    return _imports(text) + "\n\n\n" + text + "\n"


def script(program: Program) -> str:
    """Return a script that runs the program and shows what comes out."""
    main = ["env = StreamExecutionEnvironment.get_execution_environment()"]
    main += [f"env.set_parallelism({program.parallelism})"]
    main += [f"env.set_runtime_mode(RuntimeExecutionMode.{program.mode})"]
    if program.settings:
        main.append("configuration = Configuration()")
        main += [f"configuration.set_string({k!r}, {v!r})" for k, v in program.settings.items()]
        main.append("env.configure(configuration)")
    streams = [output.stream for output in program.outputs]
    main.append(f"[{', '.join(streams)}] = build(env)")
    for output in program.outputs:
        if output.how == "collect":
            main.append(f"with {output.stream}.execute_and_collect() as results:")
            main += ["    for result in results:", "        print(repr(result))"]
        else:
            main.append(f"{output.stream}.print({output.stream!r})")
    if any(output.how == "print" for output in program.outputs):
        main.append("env.execute()")
    text = definitions(program) + '\n\nif __name__ == "__main__":\n'
    text += "".join(f"    {line}\n" for line in main)
    head, _, rest = text.partition("\n\n\n")
    return _imports(head + rest) + "\n\n\n" + rest


def _body(program: Program) -> list[str]:
    constants = [f"{name} = {source}" for name, source in program.constants.items()]
    blocks = ["\n".join(constants)] if constants else []
    blocks += [_class(name, found) for name, found in program.classes.items()]
    blocks.append("\n".join(["def build(env):", *(f"    {_call(s)}" for s in program.steps)]))
    used = "\n".join(blocks)
    words = set(re.findall(r"\w+", used))
    helpers = ["\n".join(text) for name, text in _HELPERS.items() if name in words]
    return helpers + blocks


def _class(name: str, definition: ClassDefinition) -> str:
    methods = [
        "\n".join(
            [
                f"    {_header(method)}({found.parameters}):",
                *lines(found.body or ("pass",), " " * 8),
            ]
        )
        for method, found in definition.methods.items()
    ]
    return f"class {name}({definition.base}):\n" + ("\n\n".join(methods) or "    pass")


def _header(method: str) -> str:
    """Return how a method is defined; ``async`` is part of the names of some."""
    words = method.split()
    return " ".join([*words[:-1], "def", words[-1]])


def _call(step: Step) -> str:
    arguments = [*step.args, *(f"{key}={value}" for key, value in step.options.items())]
    return f"{step.name} = {step.of}.{step.method}({', '.join(arguments)})"


def _imports(text: str) -> str:
    words = set(re.findall(r"\w+", text))
    found = [f"import {module}" for module in _PLAIN_MODULES if f"{module}." in text]
    for module, names in _MODULES.items():
        wanted = [name for name in names.split() if name in words]
        if wanted:
            found.append(f"from {module} import {', '.join(wanted)}")
    return "\n".join(found)
