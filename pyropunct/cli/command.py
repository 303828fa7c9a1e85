"""How a command is written.

A command is a function in a module of its name, which loads, calls a task, and prints::

    @command
    def dream(model: str, *, samples: Count = 10, format: Literal["text", "json"] = "text") -> None:
        '''Draw sentences from MODEL.

        :param samples: sentences to draw.
        '''

Parameters before the star are arguments; a tuple takes several.  All others are options: names, defaults,
bounds and choices come from the signature (see `pyropunct.limits`), help from the docstring.  A dataclass
stands for its fields; a field that two of them share is one option.  If there is a format json, ``--json``
stands for it.  A function in an annotation converts the text of an option, or raises a ValueError.
Import tasks inside the function, so that help is quick.  Do not handle errors: those that users can act on
derive from `UserError`.
"""

import inspect
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import click

from pyropunct.cli import console
from pyropunct.cli.loading import Json
from pyropunct.cli.progress import stream_bar
from pyropunct.errors import UserError
from pyropunct.files import MODEL_SUFFIX
from pyropunct.limits import Help, Internal, Limits, NamesIn, Opposite, Placeholder, Range, limits, meanings
from pyropunct.shipped import DEFAULT, place_of

if TYPE_CHECKING:
    from pyropunct.cli.sources import Work

REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Group:
    """The fields of a settings class, each of which is an option.

    :ivar changed: the fields that can be changed, without defaults; by default all make new settings.
    """

    settings: Any
    changed: tuple[str, ...] = ()

    def options(self) -> Iterator[click.Option]:
        """The options."""
        hints, texts = get_type_hints(self.settings, include_extras=True), meanings(self.settings)
        defaults = dict.fromkeys(self.changed) or {one.name: _default(one) for one in fields(self.settings)}
        for name, default in defaults.items():
            if Internal not in limits(hints[name]).extras:
                yield option(name, hints[name], default, texts.get(name))

    def made(self, values: dict[str, Any]) -> Any:
        """The settings, or the changes, from those of the values that belong to them and are not None."""
        names = self.changed or [field.name for field in fields(self.settings)]
        given = {name: values[name] for name in names if values.get(name) is not None}
        return given if self.changed else self.settings(**given)


class Command(click.Command):
    """A command made from a function; ``groups`` are the settings among its parameters."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        parameters = inspect.signature(function).parameters
        hints = {name: parameter.annotation for name, parameter in parameters.items()}
        groups = {
            name: Group(hint) if is_dataclass(hint) else limits(hint).first(Group)
            for name, hint in hints.items()
        }
        self.groups = {name: group for name, group in groups.items() if group is not None}
        self._plain = [name for name in hints if name not in self.groups]
        params = list(self._parameters(parameters))
        if "json" not in hints and "json" in get_args(limits(hints.get("format")).kind):
            params.append(option("json", Json, False, None))
        super().__init__(
            function.__name__.replace("_", "-"),
            callback=self._called,
            params=params,
            help=re.sub(r"^:\w+ .*", "", inspect.getdoc(function) or "", flags=re.MULTILINE | re.DOTALL),
        )

    sections: Mapping[str, str] = {}
    """The names of options, with spaces between them, under headings of the help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under the headings of `sections`, and all others below."""
        written = {one.name: one.get_help_record(ctx) for one in self.get_params(ctx)}
        records = {name: record for name, record in written.items() if record is not None}
        for heading, names in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([records.pop(name) for name in names.split()])
        with formatter.section("Other options" if self.sections else "Options"):
            formatter.write_dl(list(records.values()))

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the function; missing and None values get its defaults."""
        if values.get("json") and "json" not in self._plain:
            values = {**values, "format": "json"}
        groups = {name: group.made(values) for name, group in self.groups.items()}
        return {name: values[name] for name in self._plain if values.get(name) is not None} | groups

    def run(self, values: dict[str, Any]) -> None:
        """Call the function with the values of arguments and options."""
        self.function(**self.arguments(values))

    def _called(self, **values: Any) -> None:
        console.polite(self.run)(values)

    def _parameters(self, parameters: Mapping[str, inspect.Parameter]) -> Iterator[click.Parameter]:
        texts, seen = meanings(self.function), set[str | None]()
        for name, parameter in parameters.items():
            several: Iterable[click.Parameter]
            if name in self.groups:
                several = self.groups[name].options()
            elif parameter.kind is parameter.KEYWORD_ONLY:
                several = [option(name, parameter.annotation, parameter.default, texts.get(name))]
            else:
                several = [_argument(name, limits(parameter.annotation), parameter.default)]
            for one in several:
                if one.name not in seen:
                    seen.add(one.name)
                    yield one


InputKind = Annotated[
    Literal["auto", "text", "conllu", "srt", "vtt", "md", "csv", "tsv", "jsonl", "json"],
    Help("The kind of FILE; by default recognised by its name or its first lines."),
]
TextFields = Annotated[
    tuple[str, ...],
    Placeholder("NAME"),
    Help("A column (csv, tsv), key (jsonl) or path (json, as a.b) that holds text; may be repeated."),
]


class TextCommand(Command):
    """A command for a file, which `pyropunct corpus` runs on many files too.

    Its function loads a model, the first parameter, and returns the work on a text.
    """

    def __init__(self, function: "Callable[..., Work]") -> None:
        super().__init__(function)
        model, *own = self.params
        model_file: list[click.Parameter] = [model, click.Argument(["file"])]
        if not model.required:
            model_file = [click.Argument(["places"], nargs=-1, required=True, metavar="[MODEL] FILE")]
        self.params = [*model_file, option("input", InputKind, "auto", None)]
        self.params += [option("field", TextFields, (), None), *own]

    def run(self, values: dict[str, Any]) -> None:
        """Work on a file."""
        from pyropunct.cli.enclosed import KINDS, RUNNING, kind_of, rewrite_enclosed
        from pyropunct.text.lines import TextPart, opened

        if "places" in values:
            model, file = _model_and_file(values["places"])
        else:
            model, file = values["model"], values["file"]
        kind = kind_of(file, values["input"])
        if kind in KINDS and (values["format"] != "text" or values.get("score")):
            raise UserError(f"{file}: is a {kind} file, whose text is put back: use --format text alone")
        if kind in RUNNING and "running" in values:
            values = {**values, "running": True}
        work = self.function(**self.arguments({**values, "model": model}))
        out = sys.stdout  # before a progress bar replaces it
        with opened(file) as (stream, name), stream_bar(stream, name) as advance:
            if kind in KINDS:
                rewrite_enclosed(work, stream, name, kind, values["field"], out)
            else:
                work(TextPart(stream, name, kind), out, None, advance)


def _model_and_file(places: Sequence[str]) -> tuple[str, str]:
    """The model and the file of a call; a single argument is the file."""
    if len(places) > 2:
        raise click.UsageError(f"Got unexpected extra arguments ({' '.join(places[2:])})")
    *model, file = places
    place = place_of(file)
    if not model and (place.is_dir() or place.suffix == MODEL_SUFFIX):
        kind = "folder" if place.is_dir() else "model"
        raise UserError(f"{file}: is a {kind}, not text: give MODEL and FILE, or FILE alone")
    return (model or [DEFAULT])[0], file


command, text_command = Command, TextCommand
"""Make commands of functions: see the docstring of the module."""


def _argument(name: str, limit: Limits, default: Any) -> click.Argument:
    required, nargs = default is REQUIRED, -1 if limit.several else 1
    return click.Argument([name], required=required, nargs=nargs, metavar=limit.first(Placeholder))


def option(name: str, annotation: Any, default: Any, text: str | None) -> click.Option:
    """The option of a field or parameter, whose help is ``text`` or the `Help` in the annotation."""
    limit = limits(annotation)
    dashed = f"--{name.replace('_', '-')}"
    flag = limit.kind is bool
    opposite = limit.first(Opposite) or f"no-{dashed[2:]}"
    declared = f"{dashed}/--{opposite}" if flag and default is not False else dashed
    kind, repeated = _type(limit), limit.several and not any(map(inspect.isfunction, limit.extras))
    if limit.several and not repeated and default:
        default = ",".join(map(str, default))
    text = text or limit.first(Help) or ""
    return click.Option(
        [declared, name],
        type=None if flag else kind,
        is_flag=flag,
        multiple=repeated,
        required=default is REQUIRED,
        default=None if default in (REQUIRED, ()) else default,
        show_default=not flag or default is True,
        metavar=limit.first(Placeholder),
        help=text[:1].upper() + text[1:],
    )


def _type(limit: Limits) -> click.ParamType:
    convert = next(filter(inspect.isfunction, (*limit.extras, *limit.item)), None)
    bounds = limit.first(Range) or Range()
    if convert is not None:
        plain = limit._replace(extras=tuple(extra for extra in limit.extras if extra is not convert), item=())
        return _Converted(click.STRING if limit.several else _type(plain), convert)
    if get_origin(limit.kind) is Literal:
        return click.Choice(get_args(limit.kind))
    if names := limit.first(NamesIn):
        return Registered(names)
    low, high = (bounds.least, bounds.above), (bounds.most, bounds.below)
    lowest, highest = (pair[0] if pair[1] is None else pair[1] for pair in (low, high))
    opened = {"min_open": bounds.above is not None, "max_open": bounds.below is not None}
    if limit.kind is float:
        return _FiniteRange(lowest, highest, **opened)
    if limit.kind is int:
        return click.IntRange(lowest, highest, **opened)  # type: ignore[arg-type]  # bounds of integers
    return click.STRING


class Registered(click.Choice):
    """A choice among names that are imported when needed."""

    def __init__(self, names: NamesIn) -> None:
        self._names, self.case_sensitive = names, True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]  # an attribute of click
        """The names."""
        return self._names.names


class _FiniteRange(click.FloatRange):
    """Refuses NaN and infinities, which click accepts."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number that a text stands for."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


class _Converted(click.ParamType[Any]):
    """Converts a text, or a number within bounds, by a function."""

    name = "text"

    def __init__(self, base: click.ParamType[Any], convert: Callable[[Any], Any]) -> None:
        self._base, self._convert = base, convert

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value that a text stands for."""
        try:
            return self._convert(self._base.convert(value, param, ctx)) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _default(field: "Field[Any]") -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return REQUIRED if field.default is MISSING else field.default
