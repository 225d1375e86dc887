"""Deliberate mistakes: terms of another type, unknown names, broken text. Their errors are compared like answers."""
from . import kinds

WORDS = ("nope", "token(a)", "now_(1)", "1 + 1", "'x'", "12", "1.5", "0xzz", "{1, 2}", "{1: 2}", "[1]", "(1, 2)", "{x: 1}", "null", "true",
         "-NaN", "1s", "(int)1", "(text)'a'", "blob_as_int(0x)", "int_as_blob(1)", "1e400", "99999999999999999999", "''", "?")


def term(w, req, kind):
    """A term of some other type, or of wrong size, for a column of this kind."""
    rng, roll = w.rng, w.rng.random()
    if roll < 0.4:
        return req.term(kinds.random_kind(rng, w.schema.udts, 1).fresh(rng))
    if roll < 0.6 and req.binds:
        return req.bind(bytes(rng.randrange(256) for _ in range(rng.choice((1, 2, 3, 5, 8, 9, 17)))))
    if roll < 0.7 and req.binds:
        data = kind.value(rng)[1] or b""
        return req.bind(data[:-1] if rng.random() < 0.5 else data + b"\0")
    word = rng.choice(WORDS)
    return req.bind(b"\0\0\0\1") if word == "?" and req.binds else word


def unknown(w, req):
    return w.rng.choice(("nope", "a", "b", "zz")), req.term(("1", b"\0\0\0\1"))


def broken(w, lines):
    """Damages the text of the last statement of a block: a piece dropped, doubled or replaced."""
    rng, out = w.rng, list(lines)
    words = out[-1][5:].split(" ")
    at = rng.randrange(len(words))
    roll = rng.random()
    if roll < 0.3:
        del words[at]
    elif roll < 0.5:
        words.insert(at, words[at])
    elif roll < 0.8:
        words[at] = rng.choice(("nope", ",", "(", ")", "1", "''", "AND", "WHERE", "=", "*", "IN", "null", "FROM", "'", '"', "a.b", "zz.t0"))
    else:
        other = rng.randrange(len(words))
        words[at], words[other] = words[other], words[at]
    out[-1] = "cql: " + " ".join(words)
    return out
