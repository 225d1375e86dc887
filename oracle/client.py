"""A small CQL native protocol client (v3, v4, v5) that keeps every byte of an answer.

It exists because recordings need what drivers hide: raw values, metadata, warnings, paging states, error codes.
It knows nothing of what is recorded or where.
"""
import socket
import struct
import zlib

OPCODES = {"ERROR": 0, "STARTUP": 1, "READY": 2, "OPTIONS": 5, "SUPPORTED": 6, "QUERY": 7, "RESULT": 8, "PREPARE": 9,
           "EXECUTE": 10, "BATCH": 13}
CONSISTENCY = ["ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE"]
NATIVE = {1: "ascii", 2: "bigint", 3: "blob", 4: "boolean", 5: "counter", 6: "decimal", 7: "double", 8: "float", 9: "int",
          11: "timestamp", 12: "uuid", 13: "text", 14: "varint", 15: "timeuuid", 16: "inet", 17: "date", 18: "time",
          19: "smallint", 20: "tinyint", 21: "duration"}
UNSET = object()


def crc24_table():
    table = []
    for byte in range(256):
        crc = byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1974F0B
        table.append(crc)
    return table


CRC24 = crc24_table()


def crc24(data):
    """CRC24 of a v5 frame header (native_protocol_v5.spec, section 2.2)."""
    crc = 0x875060
    for byte in data:
        crc = (crc << 8 & 0xFFFFFF) ^ CRC24[crc >> 16 ^ byte]
    return crc


def crc32(data):
    return zlib.crc32(data, zlib.crc32(bytes([0xFA, 0x2D, 0x55, 0xCA])))


class Reader:
    """Reads the notations of the specification's section 3 from one message body."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, n):
        part = self.body[self.at:self.at + n]
        if len(part) != n:
            raise EOFError("message ends early")
        self.at += n
        return part

    def byte(self):
        return self.take(1)[0]

    def short(self):
        return struct.unpack(">H", self.take(2))[0]

    def int(self):
        return struct.unpack(">i", self.take(4))[0]

    def string(self):
        return self.take(self.short()).decode()

    def short_bytes(self):
        return self.take(self.short())

    def bytes(self):
        n = self.int()
        return None if n < 0 else self.take(n)

    def strings(self):
        return [self.string() for _ in range(self.short())]

    def type(self):
        """One type option, as CQL text; a user type as udt<keyspace.name, field type, ...>."""
        code = self.short()
        if code == 0:
            return "'" + self.string() + "'"
        if code in (0x20, 0x22):
            return ("list<%s>" if code == 0x20 else "set<%s>") % self.type()
        if code == 0x21:
            key = self.type()
            return "map<%s, %s>" % (key, self.type())
        if code == 0x30:
            name = self.string() + "." + self.string()
            return "udt<%s>" % ", ".join([name] + ["%s %s" % (self.string(), self.type()) for _ in range(self.short())])
        if code == 0x31:
            return "tuple<%s>" % ", ".join(self.type() for _ in range(self.short()))
        return NATIVE[code]


class Answer:
    """One response: kind ('rows', 'void', 'error', ...) with what that kind carries, plus warnings."""

    def __init__(self, opcode, flags, body, version):
        r = Reader(body)
        self.raw, self.warnings, self.version = body, [], version
        if flags & 0x02:
            r.take(16)
        if flags & 0x08:
            self.warnings = r.strings()
        self.columns, self.rows, self.paging_state, self.new_metadata_id = [], [], None, None
        if opcode == OPCODES["ERROR"]:
            self.kind, self.code, self.message = "error", r.int(), r.string()
            self.fields = self.error_fields(r)
        elif opcode == OPCODES["READY"]:
            self.kind = "ready"
        elif opcode == OPCODES["SUPPORTED"]:
            self.kind, self.options = "supported", [(r.string(), r.strings()) for _ in range(r.short())]
        else:
            {1: self.void, 2: self.read_rows, 3: self.keyspace, 4: self.prepared, 5: self.schema_change}[r.int()](r)

    def error_fields(self, r):
        if self.code == 0x1000:
            return [("consistency", CONSISTENCY[r.short()]), ("required", r.int()), ("alive", r.int())]
        if self.code == 0x1100:
            f = [("consistency", CONSISTENCY[r.short()]), ("received", r.int()), ("block_for", r.int()), ("write_type", r.string())]
            return f
        if self.code == 0x2400:
            return [("keyspace", r.string()), ("table", r.string())]
        if self.code == 0x2500:
            return [("id", r.short_bytes().hex())]
        return []

    def void(self, _):
        self.kind = "void"

    def keyspace(self, r):
        self.kind, self.name = "set_keyspace", r.string()

    def metadata(self, r):
        flags, count = r.int(), r.int()
        if flags & 2:
            self.paging_state = r.bytes()
        if flags & 8:
            self.new_metadata_id = r.short_bytes()
        if flags & 4:
            return []
        shared = (r.string(), r.string()) if flags & 1 else None
        return [(shared or (r.string(), r.string())) + (r.string(), r.type()) for _ in range(count)]

    def read_rows(self, r):
        self.kind, self.columns = "rows", self.metadata(r)
        self.rows = [[r.bytes() for _ in self.columns] for _ in range(r.int())]

    def prepared(self, r):
        self.kind, self.id = "prepared", r.short_bytes()
        self.metadata_id = r.short_bytes() if self.version >= 5 else None
        flags, count = r.int(), r.int()
        self.pk_indexes = [r.short() for _ in range(r.int())] if self.version >= 4 else []
        shared = (r.string(), r.string()) if flags & 1 else None
        self.binds = [(shared or (r.string(), r.string())) + (r.string(), r.type()) for _ in range(count)]
        self.columns = self.metadata(r)

    def schema_change(self, r):
        self.kind, self.change = "schema_change", [r.string(), r.string(), r.string()]
        if self.change[1] != "KEYSPACE":
            self.change.append(r.string())
        if self.change[1] in ("FUNCTION", "AGGREGATE"):
            self.change += r.strings()


class Client:
    """One connection. Requests are answered in order; nothing is pipelined."""

    def __init__(self, address, version=5, port=9042, startup=True):
        self.version, self.modern, self.buffer = version, False, b""
        self.socket = socket.create_connection((address, port), timeout=30)
        if startup:
            options = {"CQL_VERSION": "3.0.0"}
            body = struct.pack(">H", len(options)) + b"".join(self.s(k) + self.s(v) for k, v in options.items())
            answer = self.send("STARTUP", body)
            assert answer.kind == "ready", answer.raw
            self.modern = version >= 5

    @staticmethod
    def s(text):
        data = text.encode()
        return struct.pack(">H", len(data)) + data

    @staticmethod
    def long_s(text):
        data = text.encode()
        return struct.pack(">i", len(data)) + data

    def receive(self, n):
        while len(self.buffer) < n:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError("connection closed")
            self.buffer += data
        part, self.buffer = self.buffer[:n], self.buffer[n:]
        return part

    def raw(self, opcode, body, flags=0):
        """Sends one envelope, returns (version byte, flags, opcode, body) of the answer."""
        self.post(opcode, body, flags)
        return self.collect()

    def post(self, opcode, body, flags=0):
        """Sends one envelope and does not wait for its answer."""
        stream = b"\0\0" if self.version > 2 or not self.version else b"\0" # versions 1 and 2 had one byte for it
        envelope = bytes([self.version, flags]) + stream + bytes([opcode]) + struct.pack(">I", len(body)) + body
        if not self.modern:
            self.socket.sendall(envelope)
            return
        whole = len(envelope) <= 0x1FFFF
        for at in range(0, len(envelope), 0x1FFFF):
            part = envelope[at:at + 0x1FFFF]
            header = struct.pack("<I", len(part) | (whole << 17))[:3]
            self.socket.sendall(header + struct.pack("<I", crc24(header))[:3] + part + struct.pack("<I", crc32(part)))

    def collect(self):
        """Waits for one answer: (version byte, flags, opcode, body)."""
        if not self.modern:
            head = self.receive(9)
            return head[0], head[1], head[4], self.receive(struct.unpack(">I", head[5:])[0])
        data = b""
        while len(data) < 9 or len(data) < 9 + struct.unpack(">I", data[5:9])[0]:
            header = self.receive(6)
            assert crc24(header[:3]) == struct.unpack("<I", header[3:] + b"\0")[0]
            part = self.receive(struct.unpack("<I", header[:3] + b"\0")[0] & 0x1FFFF)
            assert crc32(part) == struct.unpack("<I", self.receive(4))[0]
            data += part
        return data[0], data[1], data[4], data[9:]

    def send(self, name, body):
        version, flags, opcode, answer = self.raw(OPCODES[name], body)
        return Answer(opcode, flags, answer, version & 0x7F)

    @staticmethod
    def value(v):
        if v is UNSET:
            return struct.pack(">i", -2)
        return struct.pack(">i", -1) if v is None else struct.pack(">i", len(v)) + v

    def parameters(self, consistency="ONE", values=(), names=None, page_size=None, paging_state=None, serial=None, timestamp=None,
                   keyspace=None, now=None):
        flags, tail = 0, b""
        if values:
            flags |= 0x01
            tail += struct.pack(">H", len(values))
            for i, v in enumerate(values):
                tail += (self.s(names[i]) if names else b"") + self.value(v)
            flags |= 0x40 if names else 0
        if page_size is not None:
            flags |= 0x04
            tail += struct.pack(">i", page_size)
        if paging_state is not None:
            flags |= 0x08
            tail += self.value(paging_state)
        return struct.pack(">H", CONSISTENCY.index(consistency)), self.common(flags, tail, serial, timestamp, keyspace, now)

    def common(self, flags, tail, serial, timestamp, keyspace, now):
        if serial is not None:
            flags |= 0x10
            tail += struct.pack(">H", CONSISTENCY.index(serial))
        if timestamp is not None:
            flags |= 0x20
            tail += struct.pack(">q", timestamp)
        if keyspace is not None:
            flags |= 0x80
            tail += self.s(keyspace)
        if now is not None:
            flags |= 0x100
            tail += struct.pack(">I", now)
        return (struct.pack(">I", flags) if self.version >= 5 else bytes([flags])) + tail

    def query_body(self, text, **options):
        consistency, rest = self.parameters(**options)
        return self.long_s(text) + consistency + rest

    def prepare_body(self, text, keyspace=None):
        tail = b""
        if self.version >= 5:
            tail = struct.pack(">I", 1) + self.s(keyspace) if keyspace else struct.pack(">I", 0)
        return self.long_s(text) + tail

    def execute_body(self, prepared, **options):
        consistency, rest = self.parameters(**options)
        head = struct.pack(">H", len(prepared.id)) + prepared.id
        if self.version >= 5:
            head += struct.pack(">H", len(prepared.metadata_id)) + prepared.metadata_id
        return head + consistency + rest

    def batch_body(self, kind, statements, consistency="ONE", serial=None, timestamp=None, keyspace=None, now=None):
        """statements: (text, values) pairs."""
        body = bytes([["LOGGED", "UNLOGGED", "COUNTER"].index(kind)]) + struct.pack(">H", len(statements))
        for text, values in statements:
            body += b"\0" + self.long_s(text) + struct.pack(">H", len(values)) + b"".join(self.value(v) for v in values)
        body += struct.pack(">H", CONSISTENCY.index(consistency)) + self.common(0, b"", serial, timestamp, keyspace, now)
        return body

    def query(self, text, **options):
        return self.send("QUERY", self.query_body(text, **options))

    def prepare(self, text, keyspace=None):
        return self.send("PREPARE", self.prepare_body(text, keyspace))

    def execute(self, prepared, **options):
        return self.send("EXECUTE", self.execute_body(prepared, **options))

    def batch(self, kind, statements, **options):
        return self.send("BATCH", self.batch_body(kind, statements, **options))
