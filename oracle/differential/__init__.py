"""The differential fuzzer: random schemas and statements, asked of a stock Cassandra and of Basalt, every byte compared.

Run by ../differential.sh. Reading order: seeds.py (what a seed is), kinds.py (types and values), tables.py (schemas),
request.py (one request), writes.py, conditions.py, reads.py, selectors.py, ddl.py, wrong.py (statements), pair.py (asking
both), compare.py with known.py (judging), minimise.py (shrinking), nodes.py (the two servers), __main__.py (the command).
"""
