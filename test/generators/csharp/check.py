"""Checks the C# files of a folder for errors that need no compiler, and prints each."""

import re
import sys
from collections import Counter
from pathlib import Path

from tree_sitter import Language, Node, Parser
import tree_sitter_c_sharp

TYPES = ("class_declaration", "enum_declaration", "interface_declaration", "record_declaration", "struct_declaration")
MEMBERS = (*TYPES, "property_declaration", "method_declaration", "enum_member_declaration")
# The parser takes some of them for names.
RESERVED = set(
    """abstract as base bool break byte case catch char checked class const continue decimal default delegate do double
    else enum event explicit extern false finally fixed float for foreach goto if implicit in int interface internal
    is lock long namespace new null object operator out override params private protected public readonly ref return
    sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof uint ulong unchecked
    unsafe ushort using virtual void volatile while""".split()
)
MODEL = re.compile(r"Org\.OpenAPITools\.Model\.(\w+)")


def main(folder: Path) -> int:
    parser = Parser(Language(tree_sitter_c_sharp.language()))
    files = sorted(folder.rglob("*.cs"))
    errors = [f"{name}: a file name in two cases" for name in repeated([str(path).lower() for path in files])]
    models: set[str] = set()
    used: set[str] = set()
    for path in files:
        source = path.read_bytes()
        root = parser.parse(source).root_node
        errors += [f"{path}: {error}" for error in errors_of(root)]
        used.update(MODEL.findall(source.decode()))
        if path.parent.name == "Model":
            models.update(name_of(node) for node in nodes_of(root, TYPES))
    errors += [f"{name}: a type that does not exist" for name in sorted(used - models)]
    print("\n".join(errors or [f"{len(files)} files"]))
    return 1 if errors or not files else 0


def errors_of(root: Node) -> list[str]:
    errors = [f"line {root.start_point.row + 1}: a syntax error"] if root.has_error else []
    names_of_all = {node.text.decode() for node in nodes_of(root, ("identifier",)) if node.text}
    errors += [f"{name}: a reserved word as a name" for name in sorted(names_of_all & RESERVED)]
    for node in nodes_of(root, TYPES):
        body = node.child_by_field_name("body")
        members = [member for member in body.children if member.type in MEMBERS] if body else []
        names = [name_of(member) for member in members]
        if name_of(node) in names and node.type != "enum_declaration":
            errors.append(f"{name_of(node)}: a member with the name of its type")
        # Methods can be overloads, but not of something else.
        others = [name_of(member) for member in members if member.type != "method_declaration"]
        methods = {name_of(member) for member in members if member.type == "method_declaration"}
        errors += [f"{name_of(node)}: two members {name}" for name in repeated([*others, *methods])]
    return errors


def nodes_of(node: Node, types: tuple[str, ...]) -> list[Node]:
    found = [node] if node.type in types else []
    return found + [inner for child in node.named_children for inner in nodes_of(child, types)]


def name_of(node: Node) -> str:
    name = node.child_by_field_name("name")
    return name.text.decode() if name and name.text else ""


def repeated(names: list[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


sys.exit(main(Path(sys.argv[1])))
