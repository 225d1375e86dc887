#!/usr/bin/env python3
"""Records how the Python driver encodes requests and how a stock Apache Cassandra 5.0.9 answers them.

usage: record.py ADDRESS [FILE...]   (a throw-away node; responses.hex creates, frames.hex drops
                                      keyspace wire_golden)
needs: cassandra-driver 3.30, lz4

Writes, beside itself:
  requests.hex   name | version | envelope as the driver encodes it
  responses.hex  name | version | envelope as Cassandra sent it (v5: taken out of its frames)
  frames.hex     name | plain or lz4 | bytes of frames, from the driver or from Cassandra
  broken.hex     name | handshake | bytes sent | bytes received | open or closed
"""
import os, socket, struct, sys, uuid
import lz4.block
from cassandra import ConsistencyLevel as CL
from cassandra.connection import locally_supported_compressions
from cassandra.marshal import int32_pack
from cassandra.protocol import (AuthResponseMessage, BatchMessage, ExecuteMessage, OptionsMessage, PrepareMessage,
                                ProtocolHandler, QueryMessage, RegisterMessage, StartupMessage, _UNSET_VALUE)
from cassandra.query import BatchType
from cassandra.segment import SegmentCodec, compute_crc24, compute_crc32, CRC32_INITIAL
import io

HERE = os.path.dirname(os.path.abspath(__file__))
HOST = sys.argv[1]
KS = 'wire_golden'


def encode(message, version, stream=1, beta=False):
    return bytes(ProtocolHandler.encode_message(message, stream, version, None, beta))


# ---- frames, by hand so that they can be broken -------------------------------------------------------------------

def plain_frame(payload, self_contained=True, header_xor=0, crc_xor=0):
    bits = len(payload) | (int(self_contained) << 17)
    head = bits.to_bytes(3, 'little') + (compute_crc24(bits, 3) ^ header_xor).to_bytes(3, 'little')
    return head + payload + (compute_crc32(payload, CRC32_INITIAL) ^ crc_xor).to_bytes(4, 'little')


def lz4_frame(block, uncompressed_len, self_contained=True):
    bits = len(block) | (uncompressed_len << 17) | (int(self_contained) << 34)
    head = bits.to_bytes(5, 'little') + compute_crc24(bits, 5).to_bytes(3, 'little')
    return head + block + compute_crc32(block, CRC32_INITIAL).to_bytes(4, 'little')


def envelope(version, opcode, body=b'', stream=1, flags=0, length=None):
    return struct.pack('>BBhBI', version, flags, stream, opcode, len(body) if length is None else length) + body


# ---- a connection that keeps what it reads --------------------------------------------------------------------------

class Raw:
    def __init__(self, wait=0.5):
        self.sock = socket.create_connection((HOST, 9042))
        self.sock.settimeout(wait)
        self.framed = None
        self.buffer = b''
        self.payload = b''

    def fill(self):
        got = self.sock.recv(1 << 20)
        if not got:
            raise EOFError
        self.buffer += got

    def all(self):
        """Everything until silence or the end."""
        out = b''
        try:
            while True:
                got = self.sock.recv(1 << 20)
                if not got:
                    return out, 'closed'
                out += got
        except socket.timeout:
            return out, 'open'
        except ConnectionError:
            return out, 'closed'

    def one_envelope(self):
        source = 'payload' if self.framed else 'buffer'
        while True:
            data = getattr(self, source)
            if len(data) >= 9 and len(data) >= 9 + struct.unpack('>I', data[5:9])[0]:
                end = 9 + struct.unpack('>I', data[5:9])[0]
                setattr(self, source, data[end:])
                return data[:end]
            if self.framed:
                self.one_frame()
            else:
                self.fill()

    def one_frame(self):
        head = 6 if self.framed == 'plain' else 8
        while len(self.buffer) < head:
            self.fill()
        bits = int.from_bytes(self.buffer[:8], 'little')
        length = bits & 0x1ffff
        while len(self.buffer) < head + length + 4:
            self.fill()
        frame, self.buffer = self.buffer[:head + length + 4], self.buffer[head + length + 4:]
        part = frame[head:-4]
        if self.framed == 'lz4' and (bits >> 17) & 0x1ffff:
            part = lz4.block.decompress(part, uncompressed_size=(bits >> 17) & 0x1ffff)
        self.payload += part
        self.last_frames.append(frame)

    def ask(self, data, count=1):
        self.last_frames = []
        self.sock.sendall(plain_frame(data) if self.framed == 'plain'
                          else lz4_frame(data, 0) if self.framed == 'lz4' else data)
        return [self.one_envelope() for _ in range(count)]

    def start(self, version, compression=None):
        options = {'COMPRESSION': compression} if compression else {}
        answer = self.ask(encode(StartupMessage(cqlversion='3.0.0', options=options), version))[0]
        assert answer[4] == 2, answer
        if version >= 5:
            self.framed = 'lz4' if compression else 'plain'
        return self


# ---- requests ---------------------------------------------------------------------------------------------------

def requests():
    pid, mid = bytes(range(16)), bytes(range(16, 32))
    for v in (3, 4, 5):
        yield 'options', v, OptionsMessage()
        yield 'startup', v, StartupMessage(cqlversion='3.4.7', options={
            'COMPRESSION': 'lz4', 'DRIVER_NAME': 'DataStax Python Driver', 'DRIVER_VERSION': '3.30.1'})
        yield 'auth_response', v, AuthResponseMessage(b'\0cassandra\0cassandra')
        yield 'query_bare', v, QueryMessage('SELECT release_version FROM system.local', CL.ONE)
        full = QueryMessage('INSERT INTO t (k, v) VALUES (?, ?) IF NOT EXISTS', CL.LOCAL_QUORUM,
                            serial_consistency_level=CL.LOCAL_SERIAL, fetch_size=5000,
                            paging_state=b'\0\0\5\7', timestamp=1700000000000000,
                            keyspace='ks1' if v >= 5 else None)
        full.query_params = [b'key', None, b''] + ([_UNSET_VALUE] if v >= 4 else [])
        yield 'query_full', v, full
        yield 'query_unicode', v, QueryMessage("SELECT * FROM t WHERE k = 'h\u00e9llo \U0001f600'", CL.EACH_QUORUM)
        yield 'prepare', v, PrepareMessage('SELECT * FROM t WHERE k = ?', keyspace='ks1' if v >= 5 else None)
        yield 'prepare_bare', v, PrepareMessage('SELECT * FROM t WHERE k = ?')
        yield 'execute', v, ExecuteMessage(pid, [int32_pack(7), None], CL.QUORUM, fetch_size=100, skip_meta=True,
                                           timestamp=5, result_metadata_id=mid if v >= 5 else None)
        yield 'batch', v, BatchMessage(BatchType.UNLOGGED, [
            (False, 'INSERT INTO t (k) VALUES (1)', []), (True, pid, [int32_pack(1), None])],
            CL.TWO, serial_consistency_level=CL.SERIAL, timestamp=42)
        yield 'batch_empty', v, BatchMessage(BatchType.COUNTER, [], CL.ANY)
        yield 'register', v, RegisterMessage(event_list=['TOPOLOGY_CHANGE', 'STATUS_CHANGE', 'SCHEMA_CHANGE'])
    traced = QueryMessage('SELECT 1', CL.ONE)
    traced.tracing = True
    traced.update_custom_payload({'a': b'\x01\x02'})
    yield 'query_traced_payload', 4, traced
    yield 'query_traced_payload', 5, traced


# ---- responses ----------------------------------------------------------------------------------------------------

TYPES = ['ascii', 'bigint', 'blob', 'boolean', 'date', 'decimal', 'double', 'duration', 'float', 'inet', 'int',
         'smallint', 'text', 'time', 'timestamp', 'timeuuid', 'tinyint', 'uuid', 'varint', 'list<int>',
         'frozen<set<text>>', 'map<text, frozen<list<date>>>', 'tuple<int, text, duration>', 'u', 'frozen<u>',
         'vector<float, 3>', 'list<frozen<vector<text, 2>>>']


def responses():
    setup = Raw(30).start(4)

    def cql(text):
        answer = setup.ask(encode(QueryMessage(text, CL.ONE), 4))[0]
        assert answer[4] == 8, answer
    cql("CREATE KEYSPACE IF NOT EXISTS wire_golden WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}")
    cql('CREATE TYPE IF NOT EXISTS wire_golden.u (a int, b frozen<list<smallint>>)')
    cql('CREATE TABLE IF NOT EXISTS wire_golden.types (k int PRIMARY KEY, %s)' %
        ', '.join('c%d %s' % (i, t) for i, t in enumerate(TYPES)))
    cql('CREATE TABLE IF NOT EXISTS wire_golden.t (a int, b text, c int, d int static, v blob, PRIMARY KEY ((a, b), c)) '
        'WITH CLUSTERING ORDER BY (c DESC)')
    cql('CREATE TABLE IF NOT EXISTS wire_golden.counters (k int PRIMARY KEY, c counter)')
    cql("INSERT INTO wire_golden.types (k, c0, c5, c7, c19, c22, c23, c25) "
        "VALUES (1, 'a', 1.50, 1mo2d3ns, [1, 2], (1, null, 3h), {a: 1, b: [2]}, [1, 2, 3])")
    for c in range(5):
        cql("INSERT INTO wire_golden.t (a, b, c, d, v) VALUES (1, 'x', %d, 9, 0x0%d)" % (c, c))
    large = 'ab' * 150000
    cql("INSERT INTO wire_golden.t (a, b, c, v) VALUES (2, 'large', 1, textAsBlob('%s'))" % large[:200000])

    for v in (3, 4, 5):
        yield 'supported', v, Raw(10).ask(encode(OptionsMessage(), v))[0]
        yield 'ready', v, Raw(10).ask(encode(StartupMessage(cqlversion='3.0.0', options={}), v))[0]
        c = Raw(10).start(v)

        def q(text, cl=CL.ONE, **more):
            return c.ask(encode(QueryMessage(text, cl, **more), v))[0]
        yield 'ready_to_register', v, c.ask(encode(RegisterMessage(event_list=['SCHEMA_CHANGE']), v))[0]
        # A schema change is answered and, having registered, pushed; which comes first is not settled.
        for name, text in [('keyspace', 'ALTER KEYSPACE wire_golden WITH durable_writes = %s' % (v == 4)),
                           ('table', 'CREATE TABLE wire_golden.temporary (k int PRIMARY KEY)'),
                           ('table_dropped', 'DROP TABLE wire_golden.temporary'),
                           ('type', 'CREATE TYPE wire_golden.temporary_type (a int)'),
                           ('type_dropped', 'DROP TYPE wire_golden.temporary_type')]:
            pair = c.ask(encode(QueryMessage(text, CL.ONE), v), count=2)
            for answer in pair:
                yield ('event_' if answer[4] == 12 else 'schema_change_') + name, v, answer
        yield 'void', v, q("INSERT INTO wire_golden.t (a, b, c) VALUES (3, 'y', 1)")
        yield 'set_keyspace', v, q('USE wire_golden')
        yield 'rows_all_types', v, q('SELECT * FROM wire_golden.types')
        yield 'rows_none', v, q('SELECT * FROM wire_golden.types WHERE k = 99')
        yield 'rows_paged', v, q("SELECT c, v FROM wire_golden.t WHERE a = 1 AND b = 'x'", fetch_size=2)
        yield 'rows_json', v, q("SELECT count(*) AS n, max(c) FROM wire_golden.t WHERE a = 1 AND b = 'x'")
        yield 'rows_counter', v, q('SELECT * FROM wire_golden.counters')
        yield 'rows_two_tables', v, q("SELECT token(a, b), cast(c AS text) FROM wire_golden.t LIMIT 1")
        yield 'rows_conditional', v, q("INSERT INTO wire_golden.t (a, b, c) VALUES (1, 'x', 1) IF NOT EXISTS")

        def prepare(text):
            return c.ask(encode(PrepareMessage(text), v))[0]
        yield 'prepared_select', v, prepare("SELECT c, v, d FROM wire_golden.t WHERE a = ? AND b = ? AND c > ? LIMIT ?")
        yield 'prepared_insert', v, prepare('INSERT INTO wire_golden.t (b, v, a, c) VALUES (?, ?, ?, ?) USING TTL ?')
        yield 'prepared_partial_key', v, prepare("SELECT * FROM wire_golden.t WHERE a = ? AND b = 'x'")
        yield 'prepared_no_markers', v, prepare('SELECT * FROM wire_golden.types')
        yield 'prepared_types', v, prepare('UPDATE wire_golden.types SET c4 = ?, c7 = ?, c13 = ?, c25 = ? WHERE k = ?')
        yield 'prepared_batch', v, prepare("BEGIN BATCH INSERT INTO wire_golden.t (a, b, c) VALUES (?, 'x', 1); "
                                           "INSERT INTO wire_golden.types (k) VALUES (?); APPLY BATCH")
        select = prepare('SELECT * FROM wire_golden.t WHERE a = ? AND b = ?')
        sid = select[15:31]
        mid = select[33:49] if v >= 5 else None
        values = [int32_pack(1), b'x']

        def execute(sid=sid, mid=mid, **more):
            skip_meta = more.pop('skip_meta', False)
            request = bytearray(encode(ExecuteMessage(sid, values, CL.ONE, result_metadata_id=mid, **more), v))
            if skip_meta:  # the driver takes the argument and then forgets it
                request[50 if v >= 5 else 29] |= 2
            return c.ask(bytes(request))[0]
        yield 'rows_skip_metadata', v, execute(skip_meta=True)
        yield 'rows_skip_metadata_paged', v, execute(skip_meta=True, fetch_size=3)
        if v >= 5:
            yield 'rows_metadata_changed', v, execute(skip_meta=True, mid=bytes(16))
            yield 'rows_metadata_changed_paged', v, execute(skip_meta=True, mid=bytes(16), fetch_size=1)
        yield 'error_unprepared', v, execute(sid=b'\xab' * 16)
        yield 'error_syntax', v, q('SELEC')
        yield 'error_invalid', v, q('SELECT * FROM wire_golden.nothing')
        yield 'error_exists_table', v, q('CREATE TABLE wire_golden.t (k int PRIMARY KEY)')
        yield 'error_exists_keyspace', v, q("CREATE KEYSPACE wire_golden WITH replication = "
                                            "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        yield 'error_unavailable', v, q("SELECT * FROM wire_golden.t WHERE a = 1 AND b = 'x'", cl=CL.THREE)
        yield 'error_config', v, q("CREATE KEYSPACE x WITH replication = {'class': 'Nothing'}")
        yield 'error_protocol', v, c.ask(envelope(v, 7, b'\0'))[0]
        if v >= 4:
            yield 'warning', v, q('SELECT count(*) FROM wire_golden.t')
        traced = QueryMessage('SELECT key FROM system.local', CL.ONE)
        traced.tracing = True
        yield 'traced', v, c.ask(encode(traced, v))[0]
        if v >= 4:
            traced = QueryMessage('SELECT count(*) FROM wire_golden.t', CL.ONE)
            traced.tracing = True
            yield 'traced_warning', v, c.ask(encode(traced, v))[0]


def frames():
    for name, count in (('one', 1), ('three', 3)):
        message = b''.join(encode(QueryMessage('SELECT %s' % ('x' * 300), CL.ONE), 5, i) for i in range(count))
        for kind, compressor, decompressor in (
                ('plain', None, None),
                ('lz4', *locally_supported_compressions['lz4'])):
            out = io.BytesIO()
            SegmentCodec(compressor, decompressor).encode(out, message)
            yield 'driver_' + name, kind, out.getvalue()
    for kind, compression in (('plain', None), ('lz4', 'lz4')):
        c = Raw(10).start(5, compression)
        c.ask(encode(OptionsMessage(), 5))
        yield 'server_supported', kind, c.last_frames[0]
        c.ask(encode(QueryMessage("SELECT * FROM system_schema.columns WHERE keyspace_name = 'system' "
                                  "AND table_name = 'local'", CL.ONE), 5))
        yield 'server_rows', kind, c.last_frames[0]
        if compression:
            c.ask(encode(QueryMessage("SELECT v FROM wire_golden.t WHERE a = 2 AND b = 'large'", CL.ONE), 5))
            yield 'server_several_frames', kind, b''.join(c.last_frames)
    Raw(30).start(4).ask(encode(QueryMessage('DROP KEYSPACE wire_golden', CL.ONE), 4))


# ---- broken input ---------------------------------------------------------------------------------------------------

def q_body(version, query=b'SELECT x', consistency=1, flags=0, rest=b''):
    head = struct.pack('>i', len(query)) + query + struct.pack('>H', consistency)
    return head + (struct.pack('>I', flags) if version >= 5 else struct.pack('>B', flags)) + rest


def bodies(v):
    """Broken messages, each a whole envelope of a version; answered alike in every version."""
    e = lambda opcode, body, **more: envelope(v, opcode, body, **more)
    yield 'query_empty', e(7, b'')
    yield 'query_short_text', e(7, struct.pack('>i', 100) + b'SELECT')
    yield 'query_negative_text', e(7, struct.pack('>i', -5))
    yield 'query_no_flags', e(7, struct.pack('>i', 1) + b'S' + struct.pack('>H', 1))
    yield 'query_not_utf8', e(7, q_body(v, b'SELECT \xff\xfe'))
    yield 'query_utf8_cut', e(7, q_body(v, b'SELECT \xe2\x82'))
    yield 'query_consistency', e(7, q_body(v, consistency=77))
    yield 'query_value_too_long', e(7, q_body(v, flags=1, rest=struct.pack('>Hi', 1, 1000) + b'abc'))
    yield 'query_value_length', e(7, q_body(v, flags=1, rest=struct.pack('>Hi', 1, -3)))
    yield 'query_name_short', e(7, q_body(v, flags=0x41, rest=struct.pack('>HH', 1, 500) + b'n'))
    yield 'query_timestamp', e(7, q_body(v, flags=0x20, rest=struct.pack('>q', -2**63)))
    yield 'query_paging_state', e(7, q_body(v, flags=8, rest=struct.pack('>i', 3) + b'\xff\xff\xff'))
    yield 'query_paging_state_too_long', e(7, q_body(v, flags=8, rest=struct.pack('>i', 30) + b'\xff\xff\xff'))
    yield 'query_page_size_zero', e(7, q_body(v, flags=4, rest=struct.pack('>i', 0)))
    yield 'execute_short_id', e(10, struct.pack('>H', 16) + b'abc')
    yield 'batch_type', e(13, struct.pack('>BHH', 9, 0, 1) + (b'\0\0\0\0' if v >= 5 else b'\0'))
    yield 'batch_kind', e(13, struct.pack('>BHB', 0, 1, 7) + b'rest')
    yield 'register_name', e(11, struct.pack('>HH', 1, 5) + b'BOGUS')
    yield 'register_short', e(11, struct.pack('>HH', 1, 50) + b'BOGUS')
    yield 'startup_again', encode(StartupMessage(cqlversion='3.0.0', options={}), v)
    yield 'credentials', e(4, struct.pack('>H', 0))
    yield 'opcode', e(0x20, b'')
    yield 'opcode_of_response', e(2, b'')
    yield 'direction', envelope(v | 0x80, 7, b'')
    yield 'response', envelope(v | 0x80, 2, b'')
    yield 'other_version', envelope(v ^ 1 if v != 3 else 4, 5, b'')
    yield 'unknown_version', envelope(66, 5, b'')
    if v >= 4:
        yield 'payload_short', e(7, b'\0', flags=4)
    else:
        yield 'payload', e(7, struct.pack('>H', 0) + q_body(v), flags=4)


def broken():
    for name, data in [
            ('probe_66', envelope(66, 5)), ('probe_66_short', b'\x42\0\0\0\5'), ('probe_65', envelope(65, 1, b'\0\0')),
            ('version_2', b'\2\0\7\5\0\0\0\0'), ('version_2_startup', b'\2\0\7\1\0\0\0\x16\0\1\0\x0bCQL_VERSION\0\x053.0.0'),
            ('version_1_startup', b'\1\0\7\1\0\0\0\x16\0\1\0\x0bCQL_VERSION\0\x053.0.0'),
            ('version_0', envelope(0, 5)), ('version_7', envelope(7, 5)), ('version_127', envelope(127, 5)),
            ('version_6', envelope(6, 5)), ('http', b'GET / HTTP/1.1\r\n\r\n'),
            ('response', envelope(0x84, 5)), ('opcode', envelope(4, 0x20)), ('opcode_of_response', envelope(4, 2)),
            ('query_first', envelope(4, 7, q_body(4))), ('query_first_v5', envelope(5, 7, q_body(5))),
            ('register_first', envelope(3, 11, b'\0\0')),
            ('startup_nothing', envelope(4, 1, b'\0\0')), ('startup_short', envelope(4, 1, b'\0\1\0')),
            ('startup_cql_2', envelope(4, 1, b'\0\1\0\x0bCQL_VERSION\0\x052.0.0')),
            ('startup_cql_text', envelope(4, 1, b'\0\1\0\x0bcql_version\0\5three')),
            ('startup_compression', envelope(4, 1, b'\0\2\0\x0bCQL_VERSION\0\x053.0.0\0\x0bCOMPRESSION\0\4zstd')),
            ('startup_snappy_v5', envelope(5, 1, b'\0\2\0\x0bCQL_VERSION\0\x053.0.0\0\x0bCOMPRESSION\0\6snappy'))]:
        yield name, 'none', data
    for v in (3, 4):
        for name, data in bodies(v):
            yield name, 'v%d' % v, data
    for name, data in bodies(5):
        yield name, 'v5', plain_frame(data)
    yield 'compressed_flag_without_compression', 'v4', envelope(4, 7, q_body(4, b'SELEC'), flags=1)
    yield 'not_lz4', 'v4 lz4', envelope(4, 7, struct.pack('>I', 50) + b'\xff\xff\xff', flags=1)
    yield 'lz4_length_short', 'v4 lz4', envelope(4, 7, b'\0\0', flags=1)
    yield 'not_snappy', 'v4 snappy', envelope(4, 7, b'\5\xff\xff', flags=1)
    bad, good = envelope(5, 7, b'\0', stream=2), envelope(5, 7, q_body(5, b'SELEC'), stream=3)
    yield 'header_crc', 'v5', plain_frame(good, header_xor=1)
    yield 'payload_crc', 'v5', plain_frame(good, crc_xor=1)
    yield 'payload_crc_of_part', 'v5', plain_frame(good, self_contained=False, crc_xor=1)
    yield 'two_bad_in_a_frame', 'v5', plain_frame(bad + bad + good)
    yield 'bad_good_bad', 'v5', plain_frame(bad + good + bad)
    yield 'two_bad_in_two_frames', 'v5', plain_frame(bad) + plain_frame(bad)
    yield 'negative_length', 'v5', plain_frame(envelope(5, 7, length=0xfffffff0))
    yield 'beyond_frame', 'v5', plain_frame(envelope(5, 7, b'abc', length=1000))
    yield 'half_header', 'v5', plain_frame(good[:5])
    yield 'half_header_of_part', 'v5', plain_frame(good[:5], self_contained=False)
    yield 'part_opcode', 'v5', plain_frame(envelope(5, 0x20, b'abc', stream=9), self_contained=False)
    yield 'one_part', 'v5', plain_frame(good, self_contained=False)
    yield 'two_parts', 'v5', plain_frame(good[:12], False) + plain_frame(good[12:], False)
    yield 'too_big', 'v5', (plain_frame(envelope(5, 7, b'', stream=4, length=16 * 1024 * 1024 + 1), False)
                            + plain_frame(good))
    yield 'not_lz4', 'v5 lz4', lz4_frame(b'\xff\xff\xff', 50)
    yield 'uncompressed', 'v5 lz4', lz4_frame(good, 0)


def run_broken(handshake, data):
    c = Raw(0.6)
    if handshake != 'none':
        version, _, compression = handshake.partition(' ')
        c.start(int(version[1]), compression or None)
    c.sock.sendall(data)
    out, state = c.all()
    c.sock.close()
    return out, state


def write(name, head, lines):
    if sys.argv[2:] and name not in sys.argv[2:]:
        return
    with open(os.path.join(HERE, name), 'w') as out:
        out.write('# recorded by record.py; fields are separated by \' | \'\n# %s\n' % head)
        for line in lines:
            out.write(' | '.join(line) + '\n')


write('requests.hex', 'name | version | envelope, as Python\'s cassandra-driver 3.30.1 encodes it',
      ((n, str(v), encode(m, v).hex()) for n, v, m in requests()))
write('responses.hex', 'name | version | envelope, as Apache Cassandra 5.0.9 sent it',
      ((n, str(v), a.hex()) for n, v, a in responses()))
write('frames.hex', 'name | plain or lz4 | frame', ((n, k, b.hex()) for n, k, b in frames()))
write('broken.hex', 'name | handshake | bytes sent | bytes Apache Cassandra 5.0.9 sent back | open or closed',
      ((n, h, d.hex()) + (lambda r: (r[0].hex(), r[1]))(run_broken(h, d)) for n, h, d in broken()))
