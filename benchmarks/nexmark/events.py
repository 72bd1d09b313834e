"""Makes the events of the auction: people, auctions and bids, one event each millisecond.

The same number of events is always the same events. Of 50 events one is a person, three are
auctions and 46 are bids.
"""

from __future__ import annotations

import csv
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

CYCLE = 50
_PEOPLE, _AUCTIONS = 1, 3
_START = datetime(2024, 1, 1, tzinfo=UTC)
_STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
_CITIES = ("Phoenix", "Los Angeles", "Boise", "Portland", "Seattle", "Cheyenne")
_FIRST = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter")
_LAST = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")
_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_HOT = 100

COLUMNS = {
    "person": (
        "id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, "
        "state STRING, `dateTime` TIMESTAMP(3), extra STRING"
    ),
    "auction": (
        "id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, "
        "`dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, "
        "extra STRING"
    ),
    "bid": (
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, "
        "`dateTime` TIMESTAMP(3), extra STRING"
    ),
}


class Events:
    """The events of an auction.

    Args:
        count: how many there are.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._random = random.Random(7)
        self._people = self._auctions = 0

    def write(self, folder: Path) -> None:
        """Write a CSV file for each kind of event: `person.csv`, `auction.csv` and `bid.csv`."""
        folder.mkdir(parents=True, exist_ok=True)
        files = {name: (folder / f"{name}.csv").open("w", newline="") for name in COLUMNS}
        try:
            writers = {name: csv.writer(file) for name, file in files.items()}
            for number in range(self._count):
                kind, row = self._event(number)
                writers[kind].writerow(row)
        finally:
            for file in files.values():
                file.close()

    def _event(self, number: int) -> tuple[str, tuple[object, ...]]:
        time = _START + timedelta(milliseconds=number)
        place = number % CYCLE
        if place < _PEOPLE:
            return "person", self._person(time)
        if place < _PEOPLE + _AUCTIONS:
            return "auction", self._auction(time)
        return "bid", self._bid(time)

    def _person(self, time: datetime) -> tuple[object, ...]:
        choose = self._random.randrange
        self._people += 1
        first, last = self._random.choice(_FIRST), self._random.choice(_LAST)
        state = choose(len(_STATES))
        card = " ".join(f"{choose(10_000):04}" for _ in range(4))
        email = f"{first}.{last}@{self._text(6)}.com".lower()
        person = f"{first} {last}"
        return (
            999 + self._people, person, email, card, _CITIES[state], _STATES[state], _shown(time),
            self._text(30),
        )  # fmt: skip

    def _auction(self, time: datetime) -> tuple[object, ...]:
        choose = self._random.randrange
        self._auctions += 1
        first = choose(100, 10_000)
        expires = time + timedelta(milliseconds=choose(1_000, 20_000))
        return (
            999 + self._auctions, self._text(12), self._text(40), first, first + choose(1_000),
            _shown(time), _shown(expires), self._recent(self._people, 100), 10 + choose(5),
            self._text(40),
        )  # fmt: skip

    def _bid(self, time: datetime) -> tuple[object, ...]:
        choose = self._random.randrange
        hot = choose(2) == 0
        auction = self._recent(self._auctions, 100)
        if hot and self._auctions:
            auction = 999 + max(1, self._auctions // _HOT * _HOT)
        price = round(10 ** (self._random.random() * 6) * 100)
        number = choose(10_000)
        if choose(2):
            channel = _CHANNELS[number % len(_CHANNELS)]
            url = f"https://www.nexmark.com/{channel.lower()}/{self._text(5)}/item.htm?query=1"
        else:
            channel = f"channel-{number}"
            url = (
                f"https://www.nexmark.com/{self._text(3)}/{self._text(5)}/item.htm"
                f"?query=1&channel_id={number}"
            )
        bidder = self._recent(self._people, 1_000)
        return auction, bidder, price, channel, url, _shown(time), self._text(30)

    def _recent(self, count: int, among: int) -> int:
        """Return one of the last ids that there are."""
        return 999 + max(1, count - self._random.randrange(among))

    def _text(self, length: int) -> str:
        return "".join(self._random.choices(_LETTERS, k=length))


def _shown(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def tables(folder: Path) -> list[str]:
    """Return the statements that make tables of the files in a folder."""
    views = ["CREATE TEMPORARY VIEW bid_now AS SELECT *, PROCTIME() AS p_time FROM bid"]
    return [
        f"CREATE TEMPORARY TABLE {name} ({columns}, "
        "WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder / name}.csv', 'format' = 'csv')"
        for name, columns in COLUMNS.items()
    ] + views
