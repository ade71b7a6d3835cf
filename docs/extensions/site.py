"""Pages that the build makes: the gallery, the page of commands, and the output of the code in tutorials."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import runs

EXAMPLES = Path(__file__).parents[1] / "gallery"
FENCE = re.compile(
    r"^(?P<mark><!-- not run: [^\n]* -->\n)?```(?P<language>python|sh)\n(?P<text>.*?)^```$"
    # What is printed, written out for those who read the page as text: the build's own output takes its place.
    r"(?P<printed>\n\n```text\n.*?^```$)?",
    re.MULTILINE | re.DOTALL,
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for each example, one of them all, and one of the commands."""
    cards = []
    for path in sorted(EXAMPLES.glob("*.py")):
        title, text = _docstring(path)
        done = runs.script(path)
        if done["picture"] is not None:
            picture = f"gallery/{path.stem}.png"
            files.append(File.generated(config, picture, content=done["picture"].read_bytes()))
        files.append(File.generated(config, f"gallery/{path.stem}.md", content=_example(path, title, text, done)))
        image = f'<img src="{path.stem}.png" alt="" loading="lazy">' if done["picture"] is not None else ""
        cards.append(f'<li><a href="{path.stem}.html">{image}<span>{title}</span></a></li>')
    files.append(File.generated(config, "gallery/index.md", content=_gallery(cards)))
    files.append(File.generated(config, "command-line.md", content=commands()))
    files.append(File.generated(config, "reference/configs.md", content=configs()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Puts what the code of a tutorial prints under it."""
    if not page.file.src_uri.startswith("tutorials/"):
        return markdown
    found = [fence for fence in FENCE.finditer(markdown) if not fence["mark"]]
    said = iter(runs.blocks(Path(page.file.src_uri).stem, [(fence["language"], fence["text"]) for fence in found]))

    def shown(fence: re.Match[str]) -> str:
        output = "" if fence["mark"] else next(said).rstrip()
        if not output:
            return fence[0]
        return fence[0].removesuffix(fence["printed"] or "") + f'\n\n```text title="Output"\n{output}\n```\n'

    return FENCE.sub(shown, markdown)


def _docstring(path: Path) -> tuple[str, str]:
    """The title and the text that an example begins with."""
    whole = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem
    title, _, text = whole.partition("\n")
    return title.rstrip("."), text.strip()


def _example(path: Path, title: str, text: str, done: dict[str, Any]) -> str:
    source = path.read_text(encoding="utf-8")
    code = source[source.index('"""', 3) + 3 :].strip()
    picture = f"\n![{title}]({path.stem}.png)\n" if done["picture"] is not None else ""
    output = f'\n```text title="Output"\n{done["output"].rstrip()}\n```\n' if done["output"] else ""
    return f"# {title}\n\n{text}\n{picture}\n```python\n{code}\n```\n{output}"


def _gallery(cards: list[str]) -> str:
    return (
        "# Gallery\n\nEach example is a script of a few lines that runs as it is; the build ran it to make its output "
        f'and its figure.\n\n<ul class="gallery">{"".join(cards)}</ul>\n'
    )


def commands() -> str:
    """Every command with its options, from the commands themselves."""
    from dfnets.cli import app

    root: Any = typer.main.get_command(app)
    parts = [
        "# Command line\n\nThis page is made from the commands themselves; `dfnets COMMAND --help` prints the same.\n"
    ]
    _describe(root, "dfnets", parts)
    return "\n".join(parts)


def configs() -> str:
    """The settings of every model, from the models themselves."""
    from dfnets import models

    kinds: dict[str, list[str]] = {}
    for name in models.names():
        kind = models.get(name).Config
        kinds.setdefault(f"{kind.__module__}.{kind.__qualname__}", []).append(f"`{name}`")
    parts = ["# Settings of the models\n\nEvery setting can be given to `dfnets.fit` by its name.\n"]
    parts += [f"::: {path}\n\nUsed by {', '.join(names)}.\n" for path, names in kinds.items()]
    return "\n".join(parts)


def _describe(command: Any, name: str, parts: list[str]) -> None:
    if hasattr(command, "commands"):
        for inner, child in command.commands.items():
            _describe(child, f"{name} {inner}", parts)
        return
    context = command.context_class(command, info_name=name)
    parts.append(f"## {name}\n\n{_plain(command.help or '')}\n")
    parts.append(f"```text\n{_usage(command, context, name)}\n```\n")
    rows = [_row(parameter) for parameter in command.params if getattr(parameter, "hidden", False) is False]
    if rows:
        parts.append("| option | default | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n")


def _usage(command: Any, context: Any, name: str) -> str:
    return " ".join([name, *command.collect_usage_pieces(context)])


def _row(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        names = f"`{parameter.name.upper()}`"
    default = "" if parameter.default is None or callable(parameter.default) else f"`{_value(parameter.default)}`"
    if parameter.required:
        default = "required"
    return f"| {names} | {default} | {_plain(getattr(parameter, 'help', '') or '').replace('|', '&#124;')} |"


def _value(default: Any) -> str:
    return str(getattr(default, "value", default))


def _plain(text: str) -> str:
    """Help text as Markdown: paragraphs kept, angle brackets shown."""
    return (
        re.sub(r"\n(?!\n)", " ", text.replace("\n\n", "\n\n\x00")).replace("\x00", "\n\n").replace("<", "&lt;").strip()
    )
