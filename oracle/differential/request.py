"""One request in the making: text, bound values, directives; becomes the lines of a .cqltest block.

Whether terms are literals or markers is decided once per request. Nothing here knows what statements mean.
"""
import record

MODES = ("literal", "literal", "bound", "prepared", "prepared", "prepared", "named")


class Request:
    def __init__(self, rng, mode=None):
        self.rng, self.values, self.directives = rng, [], []
        self.mode = mode or rng.choice(MODES)

    def term(self, value, rate=0.8):
        """A value as literal or as marker."""
        if self.mode == "literal" or self.rng.random() > rate:
            return value[0]
        return self.bind(value[1])

    def bind(self, data):
        """A marker for these bytes (None for null, 'unset')."""
        self.values.append("unset" if data == "unset" else record.show(data))
        return ":v%d" % (len(self.values) - 1) if self.mode == "named" else "?"

    @property
    def binds(self):
        return self.mode != "literal"

    def say(self, name, value=""):
        self.directives.append(("@%s %s" % (name, value)).rstrip())

    def lines(self, text):
        """The block for a request of its own."""
        out = list(self.directives)
        if self.mode == "prepared" or self.mode == "named" and self.rng.random() < 0.5:
            out.append("@prepare")
        if self.mode == "named" and self.values:
            out.append("@names " + " ".join("v%d" % i for i in range(len(self.values))))
        return out + self.statement(text)

    def statement(self, text):
        """The lines of the statement alone, as a batch message takes several."""
        return (["@values " + " ".join(self.values)] if self.values else []) + ["cql: " + record.escape(text)]
