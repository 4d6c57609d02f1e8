"""Every declared parameter: values outside its limits are refused in one sentence that names it, values at its limits are not."""

import importlib
import inspect
import math
import pkgutil
import re

import numpy as np
import pytest
from test_fuzz import arguments_of

import oslr_nb as oslr
from oslr_nb.core.base import parameters
from oslr_nb.core.base.parameters import (
    Array,
    Choice,
    Fields,
    Flag,
    Integer,
    Parameter,
    Randomness,
    Real,
    Step,
    declared,
    limit,
)

NONE = [math.nan, math.inf, "a", [1.0], 1j, np.ones((2, 2, 2))]  # no values of any declared parameter


def validated_functions():
    "The functions of the package whose calls are checked by their declarations."
    for place in pkgutil.walk_packages(oslr.__path__, "oslr_nb."):
        if not place.name.startswith(("oslr_nb.core.", "oslr_nb.papers.", "oslr_nb.own.")): continue
        for name, f in vars(importlib.import_module(place.name)).items():
            if inspect.isfunction(f) and f.__module__ == place.name and hasattr(f, "__wrapped__") and declared(f):
                yield f"{place.name.removeprefix('oslr_nb.')}.{name}", f


CALLS = {key: entry.cls for key, entry in oslr.LEARNERS.items()} | dict(validated_functions())


def good_arguments(name):
    "Arguments of a small learner by its example, or of a function; defaults where these are silent."
    f = CALLS[name]
    good = {"d": 12, "budget": 6} | f.example if isinstance(f, type) else arguments_of(f)
    given = inspect.signature(f).parameters
    return {n: good.get(n, p.default) for n, p in given.items()}


def outside(name, parameter, given):
    "Values just outside the limits of a parameter, and of other kinds."
    if isinstance(parameter, Integer):
        high = limit(parameter.high, given)
        return [limit(parameter.low, given) - 1, *([] if high is None else [int(high) + 1]), 2.5, True, None, *NONE]
    if isinstance(parameter, Real | Step):
        high, closed = limit(parameter.high, given), isinstance(parameter, Real) and parameter.closed
        low = math.nextafter(parameter.above, -math.inf) if closed else parameter.above
        return [low, high * 1.001, 10**400, -math.inf, True, None, "Adaptive", *NONE]
    if isinstance(parameter, Array):
        a = np.array(given[name], float)
        at = lambda value: np.where(np.arange(a.size).reshape(a.shape) == a.size - 1, value, a)
        other = [] if len(a) == 1 or not parameter.order else [a[::-1]]
        low = math.nextafter(parameter.above, -math.inf) if parameter.closed else parameter.above
        return [a[None], a[:0], at(np.nan), at(low), at(math.nextafter(parameter.high, math.inf)), a + 0j, *other, None, *NONE[:3], {}]
    if isinstance(parameter, Choice): return [1, True, None, "", [parameter.words[0]], np.array([parameter.words[0]] * 2), *NONE]
    if isinstance(parameter, Flag): return [0, 1, None, "True", *NONE]
    if isinstance(parameter, Randomness): return [-1, 2.5, "a"]
    if isinstance(parameter, Fields): return [1.0, None, {}, tuple(given[name])]
    return [0, -1, 10**18, "6", 6.0, True, math.nan] if name in ("d", "budget") else []  # checked by the function itself


def at_the_limits(name, parameter, given):
    "The least and the largest value, every word."
    if isinstance(parameter, Integer): return [limit(n, given) for n in (parameter.low, parameter.high) if n is not None]
    if isinstance(parameter, Real | Step):
        low = parameter.above if isinstance(parameter, Real) and parameter.closed else math.nextafter(parameter.above, math.inf)
        high = limit(parameter.high, given)
        return [low, *([high] if high < math.inf else []), *(["adaptive"] if isinstance(parameter, Step) else [])]
    if isinstance(parameter, Array):
        low = parameter.above if parameter.closed else np.nextafter(parameter.above, np.inf)
        return [np.full_like(given[name], value, float) for value in (low, parameter.high)]
    return {Choice: getattr(parameter, "words", ()), Flag: (True, False)}.get(type(parameter), ())


def places(f, good):
    "Each declared argument, and each field of a named tuple: its name, declaration, default, and the arguments with another value for it."
    for name, p in declared(f).items():
        if name not in good: continue
        yield name, p, inspect.signature(f).parameters[name].default, lambda value, name=name: good | {name: value}
        if isinstance(p, Fields):
            for field, inner in declared(p.of).items():
                change = lambda value, name=name, field=field: good | {name: good[name]._replace(**{field: value})}
                yield field, inner, p.of._field_defaults.get(field, 0), change


@pytest.mark.parametrize("call", CALLS)
def test_limits(call):
    f, good = CALLS[call], good_arguments(call)
    f(**good)
    given = dict(good)
    for name in parameters.order_of_checks(f):
        if given.get(name) is not None: given[name] = declared(f)[name].check(name, given[name], given)
    for name, parameter, default, changed in places(f, good):
        for value in outside(name, parameter, given):
            if value is None and default is None: continue
            with pytest.raises(ValueError, match="it must be") as error: f(**changed(value))
            said = str(error.value)
            assert re.match(rf"(shape of )?{name}\b(\[.*\])? = ", said) and said.endswith(".") and "\n" not in said, (name, value, said)
            assert parameter.why.format(**given) in said, (name, value, said)
        for value in at_the_limits(name, parameter, given):
            parameter.check(name, int(value) if isinstance(parameter, Integer) else value, given)


def test_the_declarations_are_many():
    kinds = [type(p) for f in CALLS.values() for p in declared(f).values()]
    assert len(CALLS) >= 60 and all(kinds.count(kind) >= 5 for kind in (Integer, Real, Step, Choice, Flag, Randomness))
    assert kinds.count(Parameter) < 0.2 * len(kinds)
