"""Make mutants of a module: small changes, each of which some test should notice.

A mutant replaces one expression or statement. What no run can show is left alone:
docstrings, annotations, imports, assertions, and the type in a ``cast``.

A text that is displayed is one thing, however many lines it has: one mutant empties it,
and one for each value in it takes that value out. Single words are not mutated, so
tests need not repeat whole messages, only the words and values that matter.
"""

from __future__ import annotations

import ast
import hashlib
import textwrap
from typing import Final

import attrs

SWAPPED_OPERATORS: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
SWAPPED_NAMES: Final = {
    one: other
    for pair in (
        ("all", "any"),
        ("min", "max"),
        ("startswith", "endswith"),
        ("removeprefix", "removesuffix"),
        ("lower", "upper"),
        ("partition", "rpartition"),
        ("match", "fullmatch"),
    )
    for one, other in (pair, pair[::-1])
} | {"sorted": "list", "isdisjoint": "issubset"}

GENERIC: Final = frozenset(("dict", "frozenset", "list", "set", "tuple", "type"))
SYMMETRICAL: Final = frozenset(("max", "min", "isinstance", "getattr"))
"""What does the same, or nothing at all, with its first two arguments swapped."""


@attrs.frozen
class Generated:
    """One change of a module."""

    module: str
    """Its path below ``src/sitestats``."""
    place: str
    """The class and function, such as ``Pool.close``; empty outside of both."""
    line: int
    change: str
    """What changes, shortened."""
    count: int
    """How many mutants before it have the same place and change."""
    old: str
    new: str
    span: tuple[int, int]
    """Where the old text is, in bytes."""
    lines: frozenset[int]
    """The lines that a test must have run to notice it."""
    around: frozenset[int]
    """The lines of the function, class or module, for what runs on import."""
    function: str | None
    """The outermost function whose body has it, such as ``Pool.close``."""

    @property
    def key(self) -> str:
        """What names it in every version of the module that has it."""
        number = f" #{self.count + 1}" if self.count else ""
        return f"{self.place}: {self.change}{number}"

    @property
    def rank(self) -> str:
        """Its place in the sample: at random, and the same in every run."""
        return hashlib.sha256(f"{self.module} {self.key}".encode()).hexdigest()

    def apply(self, source: bytes) -> bytes:
        """The *source* of its module with the change."""
        start, end = self.span
        assert source[start:end].decode() == self.old
        return source[:start] + self.new.encode() + source[end:]


def mutants_of(module: str, source: bytes) -> list[Generated]:
    """Every mutant of the *module* with this *source*, in its order."""
    found = _Finder(module, source)
    found.visit(ast.parse(source))
    return found.mutants


def _short(text: str) -> str:
    return textwrap.shorten(text, 80, placeholder=" …") or "nothing"


class _Finder(ast.NodeVisitor):
    """Visits the nodes of a module and collects its mutants."""

    def __init__(self, module: str, source: bytes) -> None:
        self.module = module
        self.source = source
        starts = [0]
        for line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self.starts = starts
        self.mutants: list[Generated] = []
        self.counts: dict[tuple[str, str], int] = {}
        self.scopes: list[ast.AST] = []
        self.statements: list[ast.stmt] = []
        self.function: str | None = None

    # --- recording -------------------------------------------------------------

    def add(self, node: ast.expr | ast.stmt, new: str, change: str = "") -> None:
        start, end = self.span(node)
        self.record(start, end, new, node, change)

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def record(
        self,
        start: int,
        end: int,
        new: str,
        node: ast.expr | ast.stmt,
        change: str = "",
    ) -> None:
        old = self.source[start:end].decode()
        change = change or f"{_short(old)} -> {_short(new)}"
        place = self.place()
        count = self.counts[place, change] = self.counts.get((place, change), -1) + 1
        mutant = Generated(
            self.module,
            place,
            node.lineno,
            change,
            count,
            old,
            new,
            (start, end),
            self.lines(node),
            self.around(),
            self.function,
        )
        self.mutants.append(mutant)

    def place(self) -> str:
        return ".".join(getattr(scope, "name", "") for scope in self.scopes)

    def lines(self, node: ast.expr | ast.stmt) -> frozenset[int]:
        first, last = node.lineno, node.end_lineno or node.lineno
        if self.statements:
            statement = self.statements[-1]
            first = min(first, statement.lineno)
            body = getattr(statement, "body", None)
            if not body:
                last = max(last, statement.end_lineno or last)
        return frozenset(range(first, last + 1))

    def around(self) -> frozenset[int]:
        if not self.scopes:
            return frozenset(range(1, len(self.starts) + 1))
        scope = self.scopes[-1]
        assert isinstance(scope, ast.stmt)
        return frozenset(range(scope.lineno, (scope.end_lineno or 0) + 1))

    def expression(self, node: ast.expr, new: ast.expr, change: str = "") -> None:
        self.add(node, f"({ast.unparse(ast.fix_missing_locations(new))})", change)

    # --- what is left alone, and scopes --------------------------------------------

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Assert)):
            return
        if isinstance(node, ast.stmt):
            self.statements.append(node)
            super().visit(node)
            self.statements.pop()
        else:
            super().visit(node)

    def visit_body(self, body: list[ast.stmt]) -> None:
        for node in body:
            text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not text:
                self.visit(node)

    def visit_Module(self, node: ast.Module) -> None:
        self.visit_body(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scopes.append(node)
        self.decorators(node)
        for keyword in node.keywords:
            self.visit(keyword.value)
        self.visit_body(node.body)
        self.scopes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if any("overload" in ast.unparse(one) for one in node.decorator_list):
            return
        self.scopes.append(node)
        self.decorators(node)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        outer = self.function
        self.function = outer or self.place()
        self.visit_body(node.body)
        self.function = outer
        self.scopes.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        # Names in a type that the program asks for are more than a type.
        is_type = ast.unparse(node.annotation) == "TypeAlias"
        used = f"get_args({ast.unparse(node.target)})".encode() in self.source
        if node.value is not None and (used or not is_type):
            self.removal(node)
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        self.condition(node.test)
        self.visit(node.test)
        self.visit_body(node.body)
        self.visit_body(node.orelse)

    # --- statements -----------------------------------------------------------------

    def decorators(
        self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    ) -> None:
        for one in node.decorator_list:
            start = self.starts[one.lineno - 1] + one.col_offset
            at = self.source.rindex(b"@", 0, start)
            self.record(at, self.span(one)[1], "", one)
            self.visit(one)

    def removal(self, node: ast.stmt) -> None:
        """Remove *node* where that is no plain NameError."""
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, (ast.AnnAssign, ast.AugAssign))
            else []
        )
        plain = any(isinstance(one, (ast.Name, ast.Tuple)) for one in targets)
        if isinstance(node, ast.AugAssign) or not plain:
            self.add(node, "pass")

    def visit_Assign(self, node: ast.Assign) -> None:
        self.removal(node)
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.removal(node)
        self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        self.add(node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add(node, "pass")
        if isinstance(node.exc, ast.expr):
            self.visit(node.exc)

    def visit_Delete(self, node: ast.Delete) -> None:
        self.add(node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self.add(node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(node, "pass")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            self.add(node, "pass")
            return
        if not isinstance(node.value, ast.Constant):
            self.add(node.value, "None")
        self.visit(node.value)

    # --- expressions ------------------------------------------------------------------

    def condition(self, test: ast.expr) -> None:
        """Turn a condition round, where no other mutant of it does."""
        turned = ast.Compare, ast.BoolOp, ast.UnaryOp
        if not isinstance(test, turned):
            self.expression(test, ast.UnaryOp(ast.Not(), test))

    def visit_While(self, node: ast.While) -> None:
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.condition(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.iter)
        for test in node.ifs:
            self.add(test, "True")
            self.condition(test)
            self.visit(test)

    def visit_Compare(self, node: ast.Compare) -> None:
        for index, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                operators = [*node.ops]
                operators[index] = other()
                new = ast.Compare(node.left, operators, node.comparators)
                self.expression(node, new)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        self.expression(node, ast.BoolOp(other, node.values))
        for index in range(len(node.values)):
            rest = node.values[:index] + node.values[index + 1 :]
            new = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            self.expression(node, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.expression(node, node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = SWAPPED_OPERATORS.get(type(node.op))
        if other is not None:
            new = ast.BinOp(node.left, other(), node.right)  # type: ignore[arg-type]  # its class is one of operators
            self.expression(node, new)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if value is True or value is False:
            self.add(node, str(not value))
        elif isinstance(value, int):
            self.add(node, str(value + 1))
            self.add(node, f"({value - 1})")
        elif isinstance(value, float):
            self.add(node, repr(value * 2 or 1.0))
        elif isinstance(value, str):
            # A text is emptied, a name becomes another one.
            name = value + value[-1:] or "x"
            self.add(node, repr("" if " " in value else name))
        elif isinstance(value, bytes):
            self.add(node, repr(value + value[-1:] or b"x"))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        # The positions of what is inside are not known in Python 3.11.
        self.add(node, "''")
        for index, value in enumerate(node.values):
            if isinstance(value, ast.FormattedValue):
                rest = node.values[:index] + node.values[index + 1 :]
                change = f"{_short(ast.unparse(value.value))} out of the text"
                self.expression(node, ast.JoinedStr(rest), change)

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if name in {"TypeVar", "ParamSpec"}:
            return
        if name == "cast":
            self.visit(node.args[1])
            return
        self.swapped_name(node)
        plain = [one for one in node.args if not isinstance(one, ast.Starred)]
        if len(plain) == len(node.args) > 1 and name not in SYMMETRICAL:
            first, second, *rest = node.args
            if ast.unparse(first) != ast.unparse(second):
                new = ast.Call(node.func, [second, first, *rest], node.keywords)
                self.expression(node, new, f"{name}: arguments 1 and 2 swapped")
        for index, keyword in enumerate(node.keywords):
            if keyword.arg is not None:
                rest_of = node.keywords[:index] + node.keywords[index + 1 :]
                new = ast.Call(node.func, node.args, rest_of)
                self.expression(node, new, f"{name}: without {keyword.arg}=")
        self.visit(node.func)
        for one in node.args:
            self.visit(one)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def swapped_name(self, node: ast.Call) -> None:
        func = node.func
        if isinstance(func, ast.Name) and func.id in SWAPPED_NAMES:
            self.add(func, SWAPPED_NAMES[func.id])
        elif isinstance(func, ast.Attribute) and func.attr in SWAPPED_NAMES:
            new = ast.Attribute(func.value, SWAPPED_NAMES[func.attr])
            self.expression(func, new)

    def visit_Dict(self, node: ast.Dict) -> None:
        if len(node.keys) > 1:
            for index, (key, value) in enumerate(
                zip(node.keys, node.values, strict=True)
            ):
                keys = node.keys[:index] + node.keys[index + 1 :]
                values = node.values[:index] + node.values[index + 1 :]
                gone = _short(ast.unparse(key or value))
                new = ast.Dict(keys, values)
                self.expression(node, new, f"without the entry {gone}")
        self.generic_visit(node)

    def elements(self, node: ast.Tuple | ast.List | ast.Set) -> None:
        """Take each element out."""
        load = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if load and len(node.elts) > 1:
            for index, one in enumerate(node.elts):
                rest = node.elts[:index] + node.elts[index + 1 :]
                new = (
                    ast.Set(rest)
                    if isinstance(node, ast.Set)
                    else type(node)(rest, ast.Load())
                )
                gone = _short(ast.unparse(one))
                self.expression(node, new, f"without the element {gone}")
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        self.elements(node)

    def visit_List(self, node: ast.List) -> None:
        self.elements(node)

    def visit_Set(self, node: ast.Set) -> None:
        self.elements(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        # Not the types in a generic alias, as in frozenset[str](…) or Pool[T](…).
        name = ast.unparse(node.value)
        is_class = name.strip("_")[:1].isupper() and not name.isupper()
        if name == "Literal" or not (is_class or name in GENERIC):
            self.visit(node.slice)
