"""A small warehouse of orders, and the twenty-two questions of TPC-H about it.

SQLite answers the same questions from the same rows, and shares no code with either engine.
"""

from __future__ import annotations

import re
import sqlite3
from datetime import date, timedelta
from pathlib import Path
from random import Random

TABLES = {
    "region": "r_regionkey INT, r_name STRING",
    "nation": "n_nationkey INT, n_name STRING, n_regionkey INT",
    "supplier": "s_suppkey INT, s_name STRING, s_nationkey INT, s_phone STRING, "
    "s_acctbal DECIMAL(15, 2), s_comment STRING",
    "customer": "c_custkey INT, c_name STRING, c_nationkey INT, c_phone STRING, "
    "c_acctbal DECIMAL(15, 2), c_mktsegment STRING",
    "part": "p_partkey INT, p_name STRING, p_mfgr STRING, p_brand STRING, p_type STRING, "
    "p_size INT, p_container STRING",
    "partsupp": "ps_partkey INT, ps_suppkey INT, ps_availqty INT, ps_supplycost DECIMAL(15, 2)",
    "orders": "o_orderkey INT, o_custkey INT, o_orderstatus STRING, o_totalprice DECIMAL(15, 2), "
    "o_orderdate DATE, o_orderpriority STRING, o_comment STRING",
    "lineitem": "l_orderkey INT, l_partkey INT, l_suppkey INT, l_linenumber INT, "
    "l_quantity DECIMAL(15, 2), l_extendedprice DECIMAL(15, 2), l_discount DECIMAL(15, 2), "
    "l_tax DECIMAL(15, 2), l_returnflag STRING, l_linestatus STRING, l_shipdate DATE, "
    "l_commitdate DATE, l_receiptdate DATE, l_shipinstruct STRING, l_shipmode STRING",
}
_NATIONS = ("FRANCE", "GERMANY", "BRAZIL", "CANADA", "CHINA", "INDIA", "KENYA", "PERU")
_REGIONS = ("EUROPE", "AMERICA", "ASIA", "AFRICA")
_REGION_OF = (0, 0, 1, 1, 2, 2, 3, 1)
_COLORS = ("forest", "green", "azure", "linen")
_TYPES = ("STEEL", "BRASS", "COPPER")
_SIZES = ("PROMO ANODIZED", "ECONOMY POLISHED", "MEDIUM POLISHED")
_CONTAINERS = ("SM CASE", "MED BAG", "LG BOX", "MED BOX")
_SEGMENTS = ("BUILDING", "MACHINERY")
_PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM")
_MODES = ("MAIL", "SHIP", "AIR", "AIR REG")
_INSTRUCTIONS = ("DELIVER IN PERSON", "NONE")
_FIRST = date(1993, 1, 1)
_SUPPLIERS, _CUSTOMERS, _PARTS, _ORDERS = 12, 40, 30, 220


def rows_of_tables(seed: int = 7) -> dict[str, list[tuple]]:
    """Return the rows of each table; amounts are texts, dates are texts of ISO 8601."""
    random = Random(seed)
    money = lambda low, high: f"{random.randint(low * 100, high * 100) / 100:.2f}"  # noqa: E731
    tables: dict[str, list[tuple]] = {
        "region": list(enumerate(_REGIONS)),
        "nation": [(key, name, _REGION_OF[key]) for key, name in enumerate(_NATIONS)],
    }
    phone = lambda nation: f"{nation + 10}-{random.randint(100, 999)}"  # noqa: E731
    tables["supplier"] = [
        (
            key, f"Supplier#{key}", key % len(_NATIONS), phone(key % len(_NATIONS)),
            money(-500, 9000), "Customer Complaints" if key % 5 == 0 else "quick",
        )
        for key in range(1, _SUPPLIERS + 1)
    ]  # fmt: skip
    tables["customer"] = [
        (
            key, f"Customer#{key}", key % len(_NATIONS), phone(key % len(_NATIONS)),
            money(-900, 9000), random.choice(_SEGMENTS),
        )
        for key in range(1, _CUSTOMERS + 1)
    ]  # fmt: skip
    tables["part"] = [
        (
            key, f"{random.choice(_COLORS)} part {key}", f"Manufacturer#{key % 3}",
            f"Brand#{key % 4}", f"{random.choice(_SIZES)} {random.choice(_TYPES)}",
            random.choice((3, 9, 15, 23)), random.choice(_CONTAINERS),
        )
        for key in range(1, _PARTS + 1)
    ]  # fmt: skip
    tables["partsupp"] = [
        (part, supplier, random.randint(1, 300), money(1, 500))
        for part in range(1, _PARTS + 1)
        for supplier in random.sample(range(1, _SUPPLIERS + 1), 4)
    ]
    tables["orders"], tables["lineitem"] = [], []
    pairs = [(part, supplier) for part, supplier, *_ in tables["partsupp"]]
    for key in range(1, _ORDERS + 1):
        ordered = _FIRST + timedelta(random.randint(0, 1400))
        customer = random.choice([n for n in range(1, _CUSTOMERS + 1) if n % 3])
        note = random.choice(("special packages requests", "regular deposits"))
        tables["orders"].append(
            (
                key, customer, random.choice("FOP"), money(900, 90_000), ordered.isoformat(),
                random.choice(_PRIORITIES), note,
            )
        )  # fmt: skip
        for number in range(1, random.randint(2, 6)):
            tables["lineitem"].append(_line(random, key, number, ordered, random.choice(pairs)))
    return tables


def _line(random: Random, key: int, number: int, ordered: date, pair: tuple[int, int]) -> tuple:
    shipped = ordered + timedelta(random.randint(1, 120))
    committed = ordered + timedelta(random.randint(30, 90))
    received = shipped + timedelta(random.randint(1, 30))
    return (
        key, *pair, number, f"{random.randint(1, 50)}.00", f"{random.randint(900, 9000)}.50",
        f"0.{random.randint(0, 10):02}", f"0.{random.randint(0, 8):02}", random.choice("RAN"),
        random.choice("OF"), shipped.isoformat(), committed.isoformat(), received.isoformat(),
        random.choice(_INSTRUCTIONS), random.choice(_MODES),
    )  # fmt: skip


def write(folder: Path, tables: dict[str, list[tuple]]) -> None:
    """Write a CSV file for each table, with bars between the columns."""
    for name, rows in tables.items():
        (folder / name).mkdir()
        text = "".join("|".join(map(str, row)) + "\n" for row in rows)
        (folder / name / "rows.csv").write_text(text)


def statements(folder: Path) -> list[str]:
    """Return the CREATE TABLE statements for written files."""
    return [
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', "
        f"'path' = '{folder / name}', 'format' = 'csv', 'csv.field-delimiter' = '|')"
        for name, columns in TABLES.items()
    ]


def answers(tables: dict[str, list[tuple]], queries: dict[str, str]) -> dict[str, list[tuple]]:
    """Return SQLite's answer to each question."""
    connection = sqlite3.connect(":memory:")
    for name, columns in TABLES.items():
        kinds = columns.replace("STRING", "TEXT").replace("DATE", "TEXT")
        connection.execute(f"CREATE TABLE {name} ({re.sub(r'DECIMAL.15, 2.', 'REAL', kinds)})")
        marks = ", ".join("?" * len(tables[name][0]))
        connection.executemany(f"INSERT INTO {name} VALUES ({marks})", tables[name])
    return {
        name: connection.execute(_for_sqlite(text)).fetchall() for name, text in queries.items()
    }


def _for_sqlite(query: str) -> str:
    query = query.replace("DATE '", "'").replace("SUBSTRING(", "SUBSTR(")
    return re.sub(r"EXTRACT\(YEAR FROM (\w+)\)", r"CAST(STRFTIME('%Y', \1) AS INTEGER)", query)


QUERIES = {
    "1 pricing summary": """
        SELECT l_returnflag, l_linestatus, SUM(l_quantity), SUM(l_extendedprice),
            SUM(l_extendedprice * (1 - l_discount)),
            SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
            AVG(l_quantity), AVG(l_extendedprice), AVG(l_discount), COUNT(*)
        FROM lineitem WHERE l_shipdate <= DATE '1996-09-02'
        GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus""",
    "2 minimum cost supplier": """
        SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr
        FROM part, supplier, partsupp, nation, region
        WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_type LIKE '%BRASS'
            AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE'
            AND ps_supplycost = (
                SELECT MIN(ps_supplycost) FROM partsupp, supplier, nation, region
                WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey
                    AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
                    AND r_name = 'EUROPE')
        ORDER BY s_acctbal DESC, n_name, s_name, p_partkey LIMIT 100""",
    "3 shipping priority": """
        SELECT l_orderkey, SUM(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate
        FROM customer, orders, lineitem
        WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
            AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-01-15'
        GROUP BY l_orderkey, o_orderdate ORDER BY revenue DESC, o_orderdate LIMIT 10""",
    "4 order priority": """
        SELECT o_orderpriority, COUNT(*) AS order_count FROM orders
        WHERE o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1994-10-01'
            AND EXISTS (SELECT * FROM lineitem
                WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
        GROUP BY o_orderpriority ORDER BY o_orderpriority""",
    "5 local supplier volume": """
        SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
        FROM customer, orders, lineitem, supplier, nation, region
        WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
            AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey
            AND n_regionkey = r_regionkey AND r_name = 'AMERICA'
        GROUP BY n_name ORDER BY revenue DESC""",
    "6 forecast of revenue": """
        SELECT SUM(l_extendedprice * l_discount) AS revenue FROM lineitem
        WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
            AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24""",
    "7 volume shipping": """
        SELECT supp_nation, cust_nation, l_year, SUM(volume) AS revenue
        FROM (SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation,
                EXTRACT(YEAR FROM l_shipdate) AS l_year,
                l_extendedprice * (1 - l_discount) AS volume
            FROM supplier, lineitem, orders, customer, nation n1, nation n2
            WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey
                AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
                AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY')
                    OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE'))) AS shipping
        GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year""",
    "8 market share": """
        SELECT o_year, SUM(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / SUM(volume)
        FROM (SELECT EXTRACT(YEAR FROM o_orderdate) AS o_year,
                l_extendedprice * (1 - l_discount) AS volume, n2.n_name AS nation
            FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region
            WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey
                AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey
                AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA'
                AND s_nationkey = n2.n_nationkey) AS all_nations
        GROUP BY o_year ORDER BY o_year""",
    "9 profit by product type": """
        SELECT nation, o_year, SUM(amount) AS sum_profit
        FROM (SELECT n_name AS nation, EXTRACT(YEAR FROM o_orderdate) AS o_year,
                l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
            FROM part, supplier, lineitem, partsupp, orders, nation
            WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey
                AND p_partkey = l_partkey AND o_orderkey = l_orderkey
                AND s_nationkey = n_nationkey AND p_name LIKE '%green%') AS profit
        GROUP BY nation, o_year ORDER BY nation, o_year DESC""",
    "10 returned items": """
        SELECT c_custkey, c_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal,
            n_name
        FROM customer, orders, lineitem, nation
        WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_returnflag = 'R'
            AND o_orderdate >= DATE '1993-10-01' AND c_nationkey = n_nationkey
        GROUP BY c_custkey, c_name, c_acctbal, n_name ORDER BY revenue DESC LIMIT 20""",
    "11 important stock": """
        SELECT ps_partkey, SUM(ps_supplycost * ps_availqty) AS amount
        FROM partsupp, supplier, nation
        WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY'
        GROUP BY ps_partkey
        HAVING SUM(ps_supplycost * ps_availqty) > (
            SELECT SUM(ps_supplycost * ps_availqty) * 0.05 FROM partsupp, supplier, nation
            WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY')
        ORDER BY amount DESC""",
    "12 shipping modes": """
        SELECT l_shipmode,
            SUM(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH'
                THEN 1 ELSE 0 END),
            SUM(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH'
                THEN 1 ELSE 0 END)
        FROM orders, lineitem
        WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP')
            AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
        GROUP BY l_shipmode ORDER BY l_shipmode""",
    "13 distribution of customers": """
        SELECT c_count, COUNT(*) AS custdist
        FROM (SELECT c_custkey, COUNT(o_orderkey) AS c_count
            FROM customer LEFT OUTER JOIN orders ON c_custkey = o_custkey
                AND o_comment NOT LIKE '%special%requests%'
            GROUP BY c_custkey) AS c_orders
        GROUP BY c_count ORDER BY custdist DESC, c_count DESC""",
    "14 effect of promotions": """
        SELECT 100.00 * SUM(CASE WHEN p_type LIKE 'PROMO%'
                THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
            / SUM(l_extendedprice * (1 - l_discount)) AS promo_revenue
        FROM lineitem, part
        WHERE l_partkey = p_partkey AND l_shipdate >= DATE '1995-09-01'""",
    "15 top supplier": """
        WITH revenue AS (SELECT l_suppkey AS supplier_no,
                SUM(l_extendedprice * (1 - l_discount)) AS total_revenue
            FROM lineitem WHERE l_shipdate >= DATE '1996-01-01' GROUP BY l_suppkey)
        SELECT s_suppkey, s_name, s_phone, total_revenue FROM supplier, revenue
        WHERE s_suppkey = supplier_no
            AND total_revenue = (SELECT MAX(total_revenue) FROM revenue)
        ORDER BY s_suppkey""",
    "16 parts and suppliers": """
        SELECT p_brand, p_type, p_size, COUNT(DISTINCT ps_suppkey) AS supplier_cnt
        FROM partsupp, part
        WHERE p_partkey = ps_partkey AND p_brand <> 'Brand#2'
            AND p_type NOT LIKE 'MEDIUM POLISHED%' AND p_size IN (3, 9, 23)
            AND ps_suppkey NOT IN (
                SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%')
        GROUP BY p_brand, p_type, p_size ORDER BY supplier_cnt DESC, p_brand, p_type, p_size""",
    "17 small quantities": """
        SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly FROM lineitem, part
        WHERE p_partkey = l_partkey AND p_brand = 'Brand#3'
            AND l_quantity < (
                SELECT 0.5 * AVG(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)""",
    "18 large volumes": """
        SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, SUM(l_quantity)
        FROM customer, orders, lineitem
        WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem
                GROUP BY l_orderkey HAVING SUM(l_quantity) > 130)
            AND c_custkey = o_custkey AND o_orderkey = l_orderkey
        GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
        ORDER BY o_totalprice DESC, o_orderdate LIMIT 100""",
    "19 discounted revenue": """
        SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem, part
        WHERE (p_partkey = l_partkey AND p_brand = 'Brand#1' AND p_container LIKE 'SM%'
                AND l_quantity BETWEEN 1 AND 31 AND l_shipmode IN ('AIR', 'AIR REG'))
            OR (p_partkey = l_partkey AND p_brand = 'Brand#2' AND p_container LIKE 'MED%'
                AND l_quantity BETWEEN 10 AND 40 AND l_shipinstruct = 'DELIVER IN PERSON')""",
    "20 promotion of parts": """
        SELECT s_name, s_phone FROM supplier, nation
        WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp
                WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%')
                    AND ps_availqty > (SELECT 0.5 * SUM(l_quantity) FROM lineitem
                        WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey
                            AND l_shipdate >= DATE '1994-01-01'))
            AND s_nationkey = n_nationkey AND n_name <> 'CANADA'
        ORDER BY s_name""",
    "21 suppliers who kept orders waiting": """
        SELECT s_name, COUNT(*) AS numwait FROM supplier, lineitem l1, orders, nation
        WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F'
            AND l1.l_receiptdate > l1.l_commitdate
            AND EXISTS (SELECT * FROM lineitem l2
                WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
            AND NOT EXISTS (SELECT * FROM lineitem l3
                WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey
                    AND l3.l_receiptdate > l3.l_commitdate)
            AND s_nationkey = n_nationkey
        GROUP BY s_name ORDER BY numwait DESC, s_name LIMIT 100""",
    "22 opportunity of sales": """
        SELECT cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal
        FROM (SELECT SUBSTRING(c_phone, 1, 2) AS cntrycode, c_acctbal FROM customer
            WHERE SUBSTRING(c_phone, 1, 2) IN ('11', '13', '15', '17')
                AND c_acctbal > (SELECT AVG(c_acctbal) FROM customer WHERE c_acctbal > 0.00)
                AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) AS custsale
        GROUP BY cntrycode ORDER BY cntrycode""",
}  # fmt: skip
"""The questions; their constants fit the small tables."""
