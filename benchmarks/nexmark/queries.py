"""The queries of Nexmark, by name. Two of its 23 are not there: real PyFlink refuses them, too.

q6 asks for OVER with ROWS in the order of a column that is no time attribute ("Non-time attribute
sort is not supported for bounded OVER window"). q13 looks rows up in a file ("Temporal Table Join
requires primary key in versioned table"), which is no table that can be looked up.
"""

from __future__ import annotations

_HOT_ITEMS = """
    SELECT auction, COUNT(*) AS num, window_start, window_end
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    GROUP BY auction, window_start, window_end
"""
_DAY = "DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')"


def _counts(what: str) -> str:
    return (
        f"COUNT({what}), COUNT({what}) FILTER (WHERE price < 10000), "
        f"COUNT({what}) FILTER (WHERE price >= 10000 AND price < 1000000), "
        f"COUNT({what}) FILTER (WHERE price >= 1000000)"
    )


_COUNTS = ", ".join(_counts(what) for what in ("*", "DISTINCT bidder", "DISTINCT auction"))

QUERIES = {
    "q0": "SELECT auction, bidder, price, `dateTime`, extra FROM bid",
    "q1": "SELECT auction, bidder, 0.908 * price AS price, `dateTime`, extra FROM bid",
    "q2": "SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0",
    "q3": """
        SELECT p.name, p.city, p.state, a.id
        FROM auction AS a JOIN person AS p ON a.seller = p.id
        WHERE a.category = 10 AND (p.state = 'OR' OR p.state = 'ID' OR p.state = 'CA')
    """,
    "q4": """
        SELECT category, AVG(final)
        FROM (
            SELECT MAX(b.price) AS final, a.category
            FROM auction AS a, bid AS b
            WHERE a.id = b.auction AND b.`dateTime` BETWEEN a.`dateTime` AND a.expires
            GROUP BY a.id, a.category
        )
        GROUP BY category
    """,
    "q5": f"""
        SELECT b.auction, b.num
        FROM ({_HOT_ITEMS}) AS b
        JOIN (
            SELECT MAX(num) AS maxn, window_start, window_end
            FROM ({_HOT_ITEMS})
            GROUP BY window_start, window_end
        ) AS m
        ON b.window_start = m.window_start AND b.window_end = m.window_end AND b.num >= m.maxn
    """,
    "q7": """
        SELECT b.auction, b.price, b.bidder, b.`dateTime`, b.extra
        FROM bid AS b
        JOIN (
            SELECT MAX(price) AS maxprice, window_end AS `dateTime`
            FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
            GROUP BY window_start, window_end
        ) AS m
        ON b.price = m.maxprice
        WHERE b.`dateTime` BETWEEN m.`dateTime` - INTERVAL '10' SECOND AND m.`dateTime`
    """,
    "q8": """
        SELECT p.id, p.name, p.window_start
        FROM (
            SELECT id, name, window_start, window_end
            FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
            GROUP BY id, name, window_start, window_end
        ) AS p
        JOIN (
            SELECT seller, window_start, window_end
            FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
            GROUP BY seller, window_start, window_end
        ) AS a
        ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end
    """,
    "q9": """
        SELECT id, itemName, seller, category, auction, bidder, price, bid_time
        FROM (
            SELECT a.*, b.auction, b.bidder, b.price, b.`dateTime` AS bid_time, ROW_NUMBER() OVER (
                PARTITION BY a.id ORDER BY b.price DESC, b.`dateTime` ASC) AS rownum
            FROM auction AS a, bid AS b
            WHERE a.id = b.auction AND b.`dateTime` BETWEEN a.`dateTime` AND a.expires
        )
        WHERE rownum <= 1
    """,
    "q10": f"""
        SELECT auction, bidder, price, `dateTime`, extra, {_DAY}, DATE_FORMAT(`dateTime`, 'HH:mm')
        FROM bid
    """,
    "q11": """
        SELECT bidder, COUNT(*), SESSION_START(`dateTime`, INTERVAL '10' SECOND),
            SESSION_END(`dateTime`, INTERVAL '10' SECOND)
        FROM bid
        GROUP BY bidder, SESSION(`dateTime`, INTERVAL '10' SECOND)
    """,
    "q12": """
        SELECT bidder, COUNT(*), window_start, window_end
        FROM TABLE(TUMBLE(TABLE bid_now, DESCRIPTOR(p_time), INTERVAL '1' SECOND))
        GROUP BY bidder, window_start, window_end
    """,
    "q14": """
        SELECT auction, bidder, 0.908 * price,
            CASE
                WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
                WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime'
                ELSE 'otherTime'
            END,
            `dateTime`, extra, CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', ''))
        FROM bid
        WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
    """,
    "q15": f"SELECT {_DAY}, {_COUNTS} FROM bid GROUP BY {_DAY}",
    "q16": f"""
        SELECT channel, {_DAY}, MAX(DATE_FORMAT(`dateTime`, 'HH:mm')), {_COUNTS}
        FROM bid
        GROUP BY channel, {_DAY}
    """,
    "q17": f"""
        SELECT auction, {_DAY}, {_counts("*")}, MIN(price), MAX(price), AVG(price), SUM(price)
        FROM bid
        GROUP BY auction, {_DAY}
    """,
    "q18": """
        SELECT auction, bidder, price, channel, url, `dateTime`, extra
        FROM (
            SELECT *, ROW_NUMBER() OVER (
                PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS rownum
            FROM bid
        )
        WHERE rownum <= 1
    """,
    "q19": """
        SELECT * FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rownum
            FROM bid
        )
        WHERE rownum <= 10
    """,
    "q20": """
        SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.`dateTime`, b.extra, a.itemName,
            a.description, a.initialBid, a.reserve, a.`dateTime`, a.expires, a.seller, a.category
        FROM bid AS b JOIN auction AS a ON b.auction = a.id
        WHERE a.category = 10
    """,
    "q21": """
        SELECT auction, bidder, price, channel,
            CASE
                WHEN LOWER(channel) = 'apple' THEN '0'
                WHEN LOWER(channel) = 'google' THEN '1'
                WHEN LOWER(channel) = 'facebook' THEN '2'
                WHEN LOWER(channel) = 'baidu' THEN '3'
                ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2)
            END
        FROM bid
        WHERE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) IS NOT NULL
            OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')
    """,
    "q22": """
        SELECT auction, bidder, price, channel, SPLIT_INDEX(url, '/', 3), SPLIT_INDEX(url, '/', 4),
            SPLIT_INDEX(url, '/', 5)
        FROM bid
    """,
}
"""The SQL text of each query."""
