"""A tree of folders and files, and the commands of a shell on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.world import Filler

# Ours: folders that share children can make a tree that doubles with every call.
MAX_ITEMS = 10_000
"""Most files and folders that one walk through a tree meets."""

_FORBIDDEN = '|/\\?%*:"><'
"""Characters that the name of a new file or folder must not have."""

_COUNTS: Mapping[str, tuple[str, Callable[[str], int]]] = {
    "l": ("lines", lambda text: len(text.splitlines())),
    "w": ("words", lambda text: len(text.split())),
    "c": ("characters", len),
}


@dataclass
class File:
    """Equal to a file of the same name and content."""

    name: str
    # Official: echo writes whatever it is given, so this need not be text.
    content: str = ""


@dataclass(eq=False, repr=False)
class Directory:
    """Equal to a folder of the same name and contents, in whatever order and wherever it lies."""

    name: str
    parent: Directory | None = None
    contents: dict[str, File | Directory] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        """Compare each pair of folders once, so that it ends where folders share or contain themselves."""
        if not isinstance(other, Directory):
            return False
        todo, visited_pairs = [(self, other)], set()
        while todo:
            mine, theirs = todo.pop()
            if mine is theirs or (id(mine), id(theirs)) in visited_pairs:
                continue
            visited_pairs.add((id(mine), id(theirs)))
            if mine.name != theirs.name or mine.contents.keys() != theirs.contents.keys():
                return False
            for name, item in mine.contents.items():
                twin = theirs.contents[name]
                if isinstance(item, Directory) and isinstance(twin, Directory):
                    todo.append((item, twin))
                elif item != twin:
                    return False
        return True

    def __repr__(self) -> str:
        # Names only, because a folder can come to lie in itself.
        return f"Directory({self.name!r}, {list(self.contents)})"


def build_tree(directory: Directory) -> dict[str, object]:
    """Return the items of a folder by name: the content of a file or the tree of a folder.

    Raises ValueError if a folder lies in itself or the tree has more than ``MAX_ITEMS`` items.
    """
    tree: dict[str, object] = {}
    folders: dict[tuple[str, ...], dict[str, object]] = {(): tree}
    for path, item in _walk_tree(directory):
        if isinstance(item, File):
            folders[path[:-1]][path[-1]] = item.content
        else:
            folders[path[:-1]][path[-1]] = folders[path] = {}
    return tree


class FileSystem(Environment):
    """A small file system with a current folder; commands take names in that folder, not paths."""

    _domain = "file_system"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        self.long_context = long_context
        if "root" not in state:
            self.root = Directory("/")
        elif state["root"]:
            # Official: only the first root counts.
            name, root = next(iter(state["root"].items()))
            filler = self._world.filler if long_context else None
            self.root = _load_folder(name, root["contents"], None, filler)
        else:
            raise ValueError("the file system's root has no folder")
        self._here = self.root

    def get_hidden_state(self) -> Mapping[str, object]:
        """Return the current folder, as the names of the folders that lead to it."""
        return {"current_directory": [folder.name for folder in self._list_path()]}

    def get_full_state(self) -> Mapping[str, object]:
        """Return the state with the root as a tree, where it can be one."""
        with suppress(ValueError):
            return {**super().get_full_state(), "root": {self.root.name: build_tree(self.root)}}
        return super().get_full_state()

    def pwd(self) -> dict[str, object]:
        """Tell the current folder.

        Returns:
            current_working_directory: its full path.
        """
        return {"current_working_directory": "/" + "/".join(folder.name for folder in self._list_path())}

    def ls(self, a: bool = False) -> dict[str, object]:
        """List the current folder.

        Args:
            a: Whether to list hidden items too, those whose name starts with a dot.

        Returns:
            current_directory_content: the names of its files and folders.
        """
        names = list(self._here.contents)
        return {"current_directory_content": names if a else [n for n in names if not n.startswith(".")]}

    def cd(self, folder: str) -> dict[str, object]:
        """Go to another folder, one step at a time.

        Args:
            folder: Name of a folder in the current one, or `..` for the folder above, or `/` for the top.

        Returns:
            current_working_directory: the name of the new current folder; nothing after `..`.
        """
        name = folder.rstrip("/")
        if name == "..":
            if self._here.parent is None:
                return self._make_error("cd: there is no folder above this one", "cd", 1)
            self._here = self._here.parent
            return {}
        if not name:
            self._here = self.root
        elif "/" in name:
            return self._make_error("cd: one step at a time, not {folder}", "cd", 0, folder=name)
        elif name != ".":
            target = self._here.contents.get(name)
            if not isinstance(target, Directory):
                ours = "cd: there is no folder '{path}' here"
                return self._make_error(ours, "_navigate_to_directory", 0, path=name)
            self._here = target
        return {"current_working_directory": self._here.name}

    def mkdir(self, dir_name: str) -> dict[str, object] | None:
        """Make a new folder in the current one.

        Args:
            dir_name: Name of the new folder.

        Returns:
            Nothing, or the error.
        """
        return self._add_item("mkdir", dir_name, lambda: Directory(dir_name, self._here))

    def touch(self, file_name: str) -> dict[str, object] | None:
        """Make a new empty file in the current folder.

        Args:
            file_name: Name of the new file, with its extension.

        Returns:
            Nothing, or the error.
        """
        return self._add_item("touch", file_name, lambda: File(file_name))

    def echo(self, content: str, file_name: str | None = None) -> dict[str, object] | None:
        """Show a text, or write it over the content of a file that exists in the current folder.

        Args:
            content: The text.
            file_name: Name of the file to write to; without it the text is shown.

        Returns:
            terminal_output: the text, if no file was named; otherwise nothing, or the error.
        """
        if file_name is not None and _is_misnamed(file_name):
            return self._make_name_error("echo", file_name)
        if not file_name:
            return {"terminal_output": content}
        item = self._find_item(file_name)
        # Official: echo never makes a file.
        if item is None:
            return self._make_file_error("echo", 1, file_name)
        if isinstance(item, Directory):
            # Official: a folder lacks the method, and Python says so.
            raise IsADirectoryError(
                "'Directory' object has no attribute '_write'"
                if self._sentences
                else "a folder cannot be written to"
            )
        item.content = content
        return None

    def cat(self, file_name: str) -> dict[str, object]:
        """Show the content of a file in the current folder.

        Args:
            file_name: Name of the file.

        Returns:
            file_content: the whole content.
        """
        if _is_misnamed(file_name):
            return self._make_name_error("cat", file_name)
        item = self._find_item(file_name)
        if item is None:
            return self._make_file_error("cat", 2, file_name)
        if isinstance(item, Directory):
            return self._make_error("cat: '{file_name}' is a folder", "cat", 1, file_name=file_name)
        return {"file_content": item.content}

    def find(self, path: str = ".", name: str | None = None) -> dict[str, object]:
        """Find files and folders by a part of their name, in a folder and everything below it.

        Args:
            path: Folder to search in, from the current folder or, with a leading `/`, from the top.
            name: Part of the name; without it everything is found.

        Returns:
            matches: paths of what was found, each beginning with the given path.
        """
        # Official: None is the current folder too, but then the paths that were found cannot be written.
        steps = path.strip("/").split("/") if path not in (None, ".", "/") else ()
        start = self.root if path and path.startswith("/") else self._here
        for step in steps:
            item = start if step == "." else start.contents.get(step)
            if not isinstance(item, Directory):
                # Official: the sentence of cd with the name of this command.
                ours = "cd: there is no folder '{path}' here"
                sentence = self._write_text(ours, "_navigate_to_directory", 0, path=path)
                return {"error": f"find{sentence.removeprefix('cd')}"}
            start = item
        prefix = path.rstrip("/")
        paths = [steps for steps, _ in _walk_tree(start) if name is None or name in steps[-1]]
        return {"matches": ["/".join((prefix, *map(str, steps))) for steps in paths]}

    def wc(self, file_name: str, mode: Literal["l", "w", "c"] = "l") -> dict[str, object]:
        """Count the lines, words or characters of a file in the current folder.

        Args:
            file_name: Name of the file.
            mode: What to count: `l` lines, `w` words, `c` characters.

        Returns:
            count: the number; type: what was counted, `lines`, `words` or `characters`.
        """
        if mode not in list(_COUNTS):
            return self._make_error("wc: '{mode}' is nothing to count; use l, w or c", "wc", 0, mode=mode)
        file = self._find_file(file_name)
        if file is None:
            return self._make_file_error("wc", 1, file_name)
        unit, count = _COUNTS[mode]
        return {"count": count(file.content), "type": unit}

    def sort(self, file_name: str) -> dict[str, object]:
        """Show the lines of a file in the current folder in alphabetical order; the file stays as it is.

        Args:
            file_name: Name of the file.

        Returns:
            sorted_content: the sorted lines.
        """
        file = self._find_file(file_name)
        if file is None:
            return self._make_file_error("sort", 0, file_name)
        return {"sorted_content": "\n".join(sorted(file.content.splitlines()))}

    def grep(self, file_name: str, pattern: str) -> dict[str, object]:
        """Find the lines of a file in the current folder that contain a text.

        Args:
            file_name: Name of the file.
            pattern: The text to look for, taken literally.

        Returns:
            matching_lines: the lines found.
        """
        file = self._find_file(file_name)
        if file is None:
            return self._make_file_error("grep", 0, file_name)
        return {"matching_lines": [line for line in file.content.splitlines() if pattern in line]}

    def du(self, human_readable: bool = False) -> dict[str, object]:
        """Tell how much room the files in the current folder and below it take.

        Args:
            human_readable: Whether to use larger units for larger sizes.

        Returns:
            disk_usage: the size and its unit.
        """
        files = (item for _, item in _walk_tree(self._here) if isinstance(item, File))
        size = sum(len(file.content.encode("utf-8")) for file in files)
        if not human_readable:
            return {"disk_usage": f"{size} bytes"}
        amount, units = float(size), ["B", "KB", "MB", "GB", "TB"]
        while amount >= 1024 and len(units) > 1:
            amount /= 1024
            del units[0]
        return {"disk_usage": f"{amount:.2f} {units[0]}"}

    def tail(self, file_name: str, lines: int = 10) -> dict[str, object]:
        """Show the last lines of a file in the current folder.

        Args:
            file_name: Name of the file.
            lines: How many lines.

        Returns:
            last_lines: these lines.
        """
        file = self._find_file(file_name)
        if file is None:
            return self._make_file_error("tail", 0, file_name)
        every = file.content.splitlines()
        # Official: 0 gives every line.
        return {"last_lines": "\n".join(every[-(len(every) if lines > len(every) else lines) :])}

    def diff(self, file_name1: str, file_name2: str) -> dict[str, object]:
        """Compare two files in the current folder line by line, up to the end of the shorter one.

        Args:
            file_name1: Name of one file.
            file_name2: Name of the other file.

        Returns:
            diff_lines: for each line that differs, `- ` and the first file's, then `+ ` and the second's.
        """
        first = self._find_item(file_name1)
        second = None if first is None else self._find_item(file_name2)
        if not (isinstance(first, File) and isinstance(second, File)):
            ours = "diff: this folder lacks the file {file_name1} or {file_name2}"
            return self._make_error(ours, "diff", 1, file_name1=file_name1, file_name2=file_name2)
        pairs = zip(first.content.splitlines(), second.content.splitlines(), strict=False)
        return {"diff_lines": "\n".join(f"- {old}\n+ {new}" for old, new in pairs if old != new)}

    def mv(self, source: str, destination: str) -> dict[str, object]:
        """Move a file or folder into another folder, or rename it.

        Args:
            source: Name of the file or folder, in the current folder.
            destination: Name of a folder in the current folder to move it into; any other name is the
                new name.

        Returns:
            result: the outcome in words.
        """
        transfer = self._plan_transfer("mv", source, destination)
        if not isinstance(transfer, _Transfer):
            return transfer
        if transfer.name in transfer.folder.contents:
            ours = "mv: '{source}' cannot become '{destination}/{source}', which exists already"
            return self._make_error(ours, "mv", 3, source=source, destination=destination)
        del self._here.contents[source]
        # Official: a moved folder is a new one with the old contents, where `..` still leads to the old one.
        transfer.carry_out(lambda contents: contents)
        return {"result": f"'{source}' moved to '{transfer.path}'"}

    def cp(self, source: str, destination: str) -> dict[str, object]:
        """Copy a file or folder into another folder, or under another name.

        Args:
            source: Name of the file or folder, in the current folder.
            destination: Name of a folder in the current folder to copy it into; any other name is the name of
                the copy.

        Returns:
            result: the outcome in words.
        """
        transfer = self._plan_transfer("cp", source, destination)
        if not isinstance(transfer, _Transfer):
            return transfer
        if transfer.name in transfer.folder.contents:
            kind, function = (
                ("file", "_add_file") if isinstance(transfer.item, File) else ("folder", "_add_directory")
            )
            ours = f"the {kind} '{{file_name}}' has a namesake in the folder '{{name}}'"
            new, there = transfer.name, transfer.folder.name
            raise FileExistsError(
                self._write_text(ours, function, 0, file_name=new, dir_name=new, name=there)
            )
        # Official: a copied folder shares its children; copied into itself it is one of them.
        transfer.carry_out(dict)
        return {"result": f"'{source}' copied to '{transfer.path}'"}

    def rm(self, file_name: str) -> dict[str, object]:
        """Remove a file, or a folder with everything in it.

        Args:
            file_name: Name of the file or folder, in the current folder.

        Returns:
            result: the outcome in words.
        """
        if file_name not in self._here.contents:
            ours = "rm: there is nothing named '{file_name}' here"
            return self._make_error(ours, "rm", 2, file_name=file_name)
        del self._here.contents[file_name]
        return {"result": f"'{file_name}' removed"}

    def rmdir(self, dir_name: str) -> dict[str, object]:
        """Remove an empty folder.

        Args:
            dir_name: Name of the folder, in the current folder.

        Returns:
            result: the outcome in words.
        """
        folder = self._find_item(dir_name)
        if folder is None:
            ours = "rmdir: there is nothing named '{dir_name}' here"
            return self._make_error(ours, "rmdir", 3, dir_name=dir_name)
        if isinstance(folder, File):
            ours = "rmdir: '{dir_name}' is a file, not a folder"
            return self._make_error(ours, "rmdir", 2, dir_name=dir_name)
        if folder.contents:
            ours = "rmdir: the folder '{dir_name}' is not empty"
            return self._make_error(ours, "rmdir", 0, dir_name=dir_name)
        return self.rm(dir_name)

    def _list_path(self) -> list[Directory]:
        """Return the current folder and those above it, outermost first."""
        path = [self._here]
        while path[0].parent is not None:
            path.insert(0, path[0].parent)
        return path

    def _find_item(self, name: str) -> File | Directory | None:
        item = self._here.contents.get(name)
        # Official: an item named "." counts as there, but stands for the current folder.
        return self._here if item is not None and name == "." else item

    def _find_file(self, name: str) -> File | None:
        item = self._find_item(name)
        return item if isinstance(item, File) else None

    def _add_item(
        self, command: str, name: str, make: Callable[[], File | Directory]
    ) -> dict[str, object] | None:
        if _is_misnamed(name):
            return self._make_name_error(command, name)
        if name in self._here.contents:
            ours = f"{command}: there is an item named '{{dir_name}}' already"
            return self._make_error(ours, command, 1, dir_name=name, file_name=name)
        self._here.contents[name] = make()
        return None

    # Official: each command words its errors differently from the others; values are shown as by ``str``.
    def _make_name_error(self, command: str, name: str) -> dict[str, object]:
        ours = f"{command}: the name '{{file_name}}' has one of the characters {_FORBIDDEN}"
        return self._make_error(ours, command, 0, file_name=name, dir_name=name)

    def _make_file_error(self, command: str, number: int, name: str) -> dict[str, object]:
        ours = f"{command}: there is no file named '{{file_name}}' here"
        return self._make_error(ours, command, number, file_name=name)

    def _plan_transfer(self, command: str, source: str, destination: str) -> _Transfer | dict[str, object]:
        """Return the item and the target of a move or copy, or the error that prevents it."""
        item = self._find_item(source)
        if item is None:
            ours = f"{command}: there is nothing named '{{source}}' here"
            return self._make_error(ours, command, 0, source=source)
        if "/" in destination:
            return self._make_error(f"{command}: the destination must be a name, not a path", command, 2)
        target = self._find_item(destination)
        if isinstance(target, File):
            ours = f"{command}: '{{source}}' cannot be put into '{{destination}}', which is a file"
            return self._make_error(ours, command, 5, source=source, destination=destination)
        if target is None:
            return _Transfer(item, self._here, destination, destination)
        return _Transfer(item, target, source, f"{destination}/{source}")


@dataclass(frozen=True, slots=True)
class _Transfer:
    item: File | Directory
    folder: Directory
    """The folder in which the item arrives."""
    name: str
    """The name of the item in that folder."""
    path: str
    """The path of the item from the current folder."""

    def carry_out(self, share: Callable[[dict[str, File | Directory]], dict[str, File | Directory]]) -> None:
        if isinstance(self.item, File):
            self.folder.contents[self.name] = File(self.name, self.item.content)
        else:
            directory = self.folder.contents[self.name] = Directory(self.name, self.folder)
            directory.contents = share(self.item.contents)


def _load_folder(
    name: str, folder_config: Mapping[str, Any], parent: Directory | None, filler: Filler | None
) -> Directory:
    """Make a folder as configurations describe it; with filler, long files and many of them."""
    folder = Directory(name, parent)
    for child, item in folder_config.items():
        if item["type"] == "directory":
            folder.contents[child] = _load_folder(child, item["contents"], folder, filler)
        elif item["type"] == "file":
            content = item["content"]
            if filler is not None and child not in filler.spared_files:
                content += filler.file_text
            folder.contents[child] = File(child, content)
    if filler is not None and not any(isinstance(item, Directory) for item in folder.contents.values()):
        for extra in filler.file_names:
            folder.contents.setdefault(extra, File(extra))
    return folder


def _walk_tree(directory: Directory) -> Iterator[tuple[tuple[str, ...], File | Directory]]:
    """Yield all items below a folder with the names that lead to them, a folder before its items."""
    item_count = 0
    start: tuple[str, ...] = ()
    trail = [(start, directory, iter(directory.contents.items()))]
    while trail:
        path, _, items = trail[-1]
        for name, item in items:
            item_count += 1
            if item_count > MAX_ITEMS:
                raise ValueError(f"a folder has more than {MAX_ITEMS} items below it")
            yield (*path, name), item
            if isinstance(item, Directory):
                if any(item is folder for _, folder, _ in trail):
                    raise ValueError("a folder lies in itself")
                trail.append(((*path, name), item, iter(item.contents.items())))
                break
        else:
            trail.pop()


def _is_misnamed(name: str) -> bool:
    return any(mark in name for mark in _FORBIDDEN)
