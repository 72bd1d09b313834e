"""The machines of the faults of Spark: a cable that is not cut proves nothing."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest

from pyflink_on_spark._cluster.transport.stream import unanswered
from tests.faults.machines import CannotMakeMachines, network

pytestmark = pytest.mark.slow

CALL = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], 9), 0.5)
except ConnectionRefusedError:
    print("there")
except OSError:
    print("not there")
"""


@pytest.fixture(scope="module")
def joined():
    try:
        with network(2) as made:
            yield made
    except CannotMakeMachines as error:
        pytest.skip(str(error))


@pytest.fixture
def machines(joined):
    yield joined.machines
    for machine in joined.machines:
        machine.repair()


def reaches(machine, address):
    command = [*machine.inside, sys.executable, "-S", "-c", CALL, address]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip() == "there"


def reaches_again(machine, address):
    """Return whether a machine is reached soon; the system looks for it from time to time."""
    deadline = time.monotonic() + 10
    while not (there := reaches(machine, address)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return there


def test_machines_reach_each_other_and_this_one(joined, machines):
    first, second = machines
    assert reaches(first, joined.address)
    assert reaches(first, second.address)


def test_a_machine_that_is_cut_off_reaches_nobody_until_that_is_mended(joined, machines):
    first, second = machines
    first.cut()
    assert not reaches(first, joined.address)
    assert not reaches(second, first.address)
    assert reaches(second, joined.address)
    first.mend()
    assert reaches_again(first, joined.address)


def test_machines_that_shun_each_other_reach_this_one(joined, machines):
    first, second = machines
    first.shun(second)
    assert not reaches(first, second.address)
    assert not reaches(second, first.address)
    assert reaches(first, joined.address)
    first.repair()
    assert reaches_again(second, first.address)


def test_a_link_that_loses_everything_reaches_nobody(joined, machines):
    machines[0].lose(1.0)
    assert not reaches(machines[0], joined.address)


def test_tcp_knows_that_a_machine_is_silent(machines):
    machine = machines[0]
    listen = "import socket; s = socket.create_server(('', 9)); print(flush=True); s.accept()[0]"
    hold = f"{listen}; import time; time.sleep(60)"
    server = subprocess.Popen(
        [*machine.inside, sys.executable, "-S", "-c", hold], stdout=subprocess.PIPE
    )
    try:
        server.stdout.readline()
        with socket.create_connection((machine.address, 9), 5) as called:
            assert unanswered(called) == 0
            machine.cut()
            called.send(b"are you there?")
            deadline = time.monotonic() + 10
            while unanswered(called) < 0.5:
                assert time.monotonic() < deadline, "TCP says nothing of it"
                time.sleep(0.05)
            machine.mend()
            while unanswered(called) > 0:
                assert time.monotonic() < deadline, "TCP does not say that it is back"
                time.sleep(0.05)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def test_a_slow_link_takes_its_time(joined, machines):
    machines[0].slow("8kbit")
    qdisc = subprocess.run(
        ["tc", "qdisc", "show", "dev", machines[0].link], check=True, capture_output=True, text=True
    )
    assert "tbf" in qdisc.stdout
    assert reaches(machines[0], joined.address)


def test_nothing_is_left():
    try:
        with network(1) as made:
            (machine,) = made.machines
            sleeper = subprocess.Popen([*machine.inside, "sleep", "60"])
            while not machine.processes():
                assert sleeper.poll() is None
    except CannotMakeMachines as error:
        pytest.skip(str(error))
    assert sleeper.wait(10) < 0
    links = subprocess.run(["ip", "link"], check=True, capture_output=True, text=True).stdout
    assert machine.link not in links
