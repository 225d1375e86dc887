"""Ratios of two servers' figures, with intervals.

Turns alternate, so that turn k of one server and turn k of the other are a pair made at about the same time: what the host does to
one it does to the other. The ratio is the geometric mean over pairs, and its interval is Student's, of the logarithms: it holds
19 times of 20 if pairs differ by chance. One pair has no interval."""
import dataclasses
import math

# Two-sided 95 % quantiles of Student's t, by degrees of freedom.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


@dataclasses.dataclass(frozen=True)
class Ratio:
    value: float
    low: float | None
    high: float | None
    pairs: int

    def __str__(self):
        if self.low is None:
            return f"{digits(self.value)} (one turn)"
        return f"{digits(self.value)} [{digits(self.low)}, {digits(self.high)}]"


def mean(values):
    """The geometric mean; None of nothing or where a value is not above 0."""
    values = list(values)
    if not values or any(value is None or value <= 0 for value in values):
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def ratio(over, under):
    """The ratio of two servers' figures, each a mapping of turn to value. Turns that only one of them has are left out; None when no
    pair is left or a value is not above 0."""
    both = sorted(set(over) & set(under))
    if not both or any(values[turn] is None or values[turn] <= 0 for turn in both for values in (over, under)):
        return None
    logs = [math.log(over[turn] / under[turn]) for turn in both]
    middle = sum(logs) / len(logs)
    if len(logs) == 1:
        return Ratio(math.exp(middle), None, None, 1)
    variance = sum((log - middle) ** 2 for log in logs) / (len(logs) - 1)
    student = STUDENT[min(len(logs) - 1, len(STUDENT)) - 1]
    spread = student * math.sqrt(variance / len(logs))
    return Ratio(math.exp(middle), math.exp(middle - spread), math.exp(middle + spread), len(logs))


def digits(value):
    """Three digits, as a person writes them."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    if places > 6:
        return f"{value:.2e}"
    if abs(value) >= 1000:
        return f"{round(value):,}"
    return f"{value:.{places}f}"
