"""Finds in Cassandra's Java sources every place that makes an error or a warning for a client, and what its text looks like."""
import glob
import os
import re

# CQL's own sources, and what they call that words errors for clients. Not here: authentication, indexes and triggers, which
# are later features, and what has no CQL in front of it.
SCOPE = ["cql3/**", "schema/**", "db/marshal/**", "serializers/**", "db/guardrails/**", "db/*", "db/filter/**", "db/rows/**",
         "db/virtual/**", "db/compaction/**", "db/aggregation/**", "locator/*Strategy", "locator/ReplicationFactor",
         "locator/ReplicaPlans", "io/compress/**", "service/StorageProxy", "service/ClientState", "service/QueryState",
         "service/pager/**", "service/reads/**", "exceptions/**", "utils/JsonUtils", "utils/TimeUUID"]

EXCEPTIONS = ("InvalidRequestException|ConfigurationException|SyntaxException|UnauthorizedException|AlreadyExistsException|"
              "MarshalException|GuardrailViolatedException|FunctionExecutionException|OperationExecutionException|"
              "KeyspaceNotDefinedException|UnavailableException|PreparedQueryNotFoundException|OverloadedException|TruncateException|"
              "ReadTimeoutException|WriteTimeoutException|ReadFailureException|WriteFailureException|"
              "MutationExceededMaxSizeException|AuthenticationException")
CHECKS = "checkTrue|checkFalse|checkNotNull|checkNull|checkNotEmpty|checkContainsNoDuplicates|checkContainsOnly|checkBindValueSet"
CALL = re.compile(r"\bnew\s+(?:%s)\s*\(|\b(?:invalidRequest|ire|%s|addRecognitionError|throwIfNotUserColumn)\s*\(|"
                  r"ClientWarn\s*\.\s*instance\s*\.\s*warn\s*\(" % (EXCEPTIONS, CHECKS))
DEFINITION = re.compile(r"(?:static|public|private|protected|void|>)\s+(?:[\w<>\[\]]+\s+)*$")
CONSTANT = re.compile(r"\bString\s+(\w+)\s*=\s*")


class Site:
    """One place: its file, lines, and texts as regular expressions ('' when the source does not tell)."""

    def __init__(self, source, first, last, kind, texts):
        self.source, self.first, self.last, self.kind, self.texts = source, first, last, kind, texts

    def __str__(self):
        return "%s:%d %s" % (self.source, self.first, " | ".join(readable(t) for t in self.texts) or "(no text of its own)")


def blanked(text):
    """`text` with its comments turned into spaces; lines and offsets stay."""
    def blank(m):
        return m.group(0) if m.group(0)[0] in "\"'" else re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def split(text, separators):
    """`text` cut at `separators` outside of brackets and strings."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        c = text[i]
        if c in "\"'":
            i += 1
            while i < len(text) and text[i] != c:
                i += 2 if text[i] == "\\" else 1
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0 and c in separators and not (c == "+" and text[i:i + 2] == "++"):
            parts.append(text[start:i])
            start = i + 1
        i += 1
    return parts + [text[start:]]


def closing(text, at):
    """Where the bracket opened before `at` closes."""
    depth = 1
    while depth and at < len(text):
        c = text[at]
        if c in "\"'":
            at += 1
            while text[at] != c:
                at += 2 if text[at] == "\\" else 1
        depth += (c in "([{") - (c in ")]}")
        at += 1
    return at - 1


class Sources:
    def __init__(self, root):
        self.root, self.texts, self.constants = root, {}, {}
        for pattern in SCOPE:
            for path in glob.glob(os.path.join(root, pattern + ("/*.java" if pattern.endswith("**") else ".java")), recursive=True):
                source = os.path.relpath(path, root)
                with open(path, encoding="utf-8") as f:
                    self.texts[source] = blanked(f.read())
        for source, text in self.texts.items():
            owner = os.path.basename(source)[:-5]
            for m in CONSTANT.finditer(text):
                end = m.end() + len(split(text[m.end():m.end() + 2000], ";")[0])
                for name in (owner + "." + m.group(1), source + ":" + m.group(1)):
                    self.constants.setdefault(name, text[m.end():end])

    def sites(self):
        found = []
        for source, text in sorted(self.texts.items()):
            for m in CALL.finditer(text):
                if DEFINITION.search(text[max(0, m.start() - 80):m.start()].split(";")[-1].split("\n")[-1] + "") and "new" not in m.group(0):
                    continue
                end = closing(text, m.end())
                line = lambda at: text.count("\n", 0, at) + 1
                arguments = [a.strip() for a in split(text[m.end():end], ",")]
                kind = re.search(r"\w+\s*\($", m.group(0)).group(0).rstrip("( ")
                # Other libraries have functions of these names as well.
                if kind.startswith("check") and "RequestValidations" not in text:
                    continue
                if kind.startswith("check"):
                    arguments = arguments[1:]
                found.append(Site(source, line(m.start()), line(end), kind, self.texts_of(source, arguments)))
        return found

    def texts_of(self, source, arguments):
        for argument in arguments:
            texts = [t for t in self.render(source, argument, 0) if re.sub(r"\.\*|\\.|\W", "", t)]
            if texts:
                return texts
        return []

    def render(self, source, expression, depth):
        """The regular expressions of a string expression."""
        expression = expression.strip()
        if depth > 6 or not expression:
            return [".*"]
        while expression.startswith("(") and closing(expression, 1) == len(expression) - 1:
            expression = expression[1:-1].strip()
        either = split(expression, "?")
        if len(either) > 1:
            branches = split("?".join(either[1:]), ":")
            return [t for b in branches for t in self.render(source, b, depth + 1)]
        parts = split(expression, "+")
        if len(parts) > 1:
            out = [""]
            for part in parts:
                out = [a + b for a in out for b in self.render(source, part, depth + 1)][:16]
            return out
        if re.fullmatch(r"\"(?:\\.|[^\"\\])*\"", expression):
            return [literal(expression[1:-1])]
        call = re.match(r"(?:String\s*\.\s*)?format\s*\(", expression)
        if call:
            return self.render(source, split(expression[call.end():closing(expression, call.end())], ",")[0], depth + 1)
        if re.fullmatch(r"[\w.]+", expression):
            for name in (source + ":" + expression, expression, ".".join(expression.split(".")[-2:])):
                if name in self.constants:
                    return self.render(source, self.constants[name], depth + 1)
            if expression.isupper():
                for name, value in self.constants.items():
                    if name.endswith("." + expression):
                        return self.render(source, value, depth + 1)
        return [".*"]


def literal(text):
    text = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), text)
    parts = re.split(r"(%(?:\d+\$)?[-#+ 0,(]*\d*(?:\.\d+)?[a-zA-Z]|%%|%n)", text)
    return "".join({"%%": "%", "%n": "\n"}.get(p, ".*") if i % 2 else re.escape(p) for i, p in enumerate(parts))


def readable(pattern):
    return re.sub(r"\\(.)", r"\1", pattern.replace(".*", "…")).replace("\n", "\\n")
