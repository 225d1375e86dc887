"""Asks one request of both servers. Keeps raw answers; reads into them only where a page or an id is needed."""
import client

RESULT, ROWS, HAS_MORE = client.OPCODES["RESULT"], b"\0\0\0\2", 2


class Lost(Exception):
    """A server closed the connection or did not answer in time; `who` is 'cassandra' or 'basalt'."""

    def __init__(self, who, why):
        super().__init__("%s: %r" % (who, why))
        self.who = who


class Pair:
    """Connections to Cassandra and to Basalt, by protocol version, each used for one request at a time."""

    def __init__(self, cassandra, basalt):
        self.addresses, self.open = (("cassandra",) + cassandra, ("basalt",) + basalt), {}

    def connections(self, version):
        if version not in self.open:
            self.open[version] = [client.Client(address, version, port) for _, address, port in self.addresses]
        return self.open[version]

    def close(self):
        for both in self.open.values():
            for connection in both:
                connection.socket.close()
        self.open = {}

    def ask(self, version, name, bodies):
        """Sends to both, waits for both: two (opcode, flags, body)."""
        both, answers = self.connections(version), []
        for connection, body, where in zip(both, bodies, self.addresses):
            self.guarded(where[0], connection.post, client.OPCODES[name], body)
        for connection, where in zip(both, self.addresses):
            _, flags, opcode, body = self.guarded(where[0], connection.collect)
            answers.append((opcode, flags, body))
        return answers

    @staticmethod
    def guarded(who, call, *arguments):
        try:
            return call(*arguments)
        except (OSError, EOFError, AssertionError) as e:
            raise Lost(who, e) from e

    def run(self, case):
        """Every exchange of one case, as record.Runner makes them; ends at the first in which the two differ."""
        version = int(case.options.get("protocol", "5"))
        both, options, out = self.connections(version), case.common(), []
        if "batch" in case.options:
            body = both[0].batch_body(case.options["batch"], case.statements, **options)
            return [self.ask(version, "BATCH", (body, body))]
        text, options["values"] = case.statements[0]
        if "names" in case.options:
            options["names"] = case.options["names"].split()
        if "page_size" in case.options:
            options["page_size"] = int(case.options["page_size"])
        name, make = "QUERY", lambda c: c.query_body(text, **options)
        if "prepare" in case.options:
            body = both[0].prepare_body(text, options.pop("keyspace", None))
            out.append(self.ask(version, "PREPARE", (body, body)))
            prepared = [client.Answer(o, f, b, version) for o, f, b in out[0]]
            if out[0][0] != out[0][1] or prepared[0].kind == "error" or case.options["prepare"] == "only":
                return out
            name, make = "EXECUTE", lambda c: c.execute_body(prepared[0], **options)
        while True:
            body = make(both[0])
            out.append(self.ask(version, name, (body, body)))
            state = paging_state(out[-1][0], version)
            if state is None or out[-1][0] != out[-1][1]:
                return out
            options["paging_state"] = state


def paging_state(answer, version):
    opcode, flags, body = answer
    if opcode != RESULT or not flags and (body[:4] != ROWS or not body[7] & HAS_MORE):
        return None
    return client.Answer(opcode, flags, body, version).paging_state
