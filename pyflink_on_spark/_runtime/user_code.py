"""Users' code: functions as they were when they were added, and the files that they depend on."""

from __future__ import annotations

import contextlib
import enum
import functools
import hashlib
import importlib
import inspect
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._filesystem.location import local_path
from pyflink_on_spark._options import python
from pyflink_on_spark._runtime.state.operator_state import (
    BroadcastState,
    OperatorListState,
    OperatorState,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext, RuntimeContext

_LIST_CHECKPOINTED = "_list_checkpointed"


@dataclass(frozen=True)
class UserFunction:
    """A function, pickled at once, so that later changes to it or its closure are not seen.

    Args:
        payload: the function as cloudpickle writes it.
        description: its name, for messages.
    """

    payload: bytes
    description: str

    @classmethod
    def of(cls, function: object) -> UserFunction:
        """Pickle a function, a function object or anything else that the job carries along.

        Raises:
            TypeError: if it holds something that cannot be pickled; says what and where.
        """
        try:
            payload = cloudpickle.dumps(function, protocol=5)
        except Exception as error:  # noqa: BLE001 - so may pickling
            raise TypeError(_complaint(function, error)) from None
        return cls(payload, describe(function))

    def load(self) -> Any:
        """Return a fresh copy."""
        return pickle.loads(self.payload)


def describe(function: object) -> str:
    """Return a short name for a function or a function object."""
    if isinstance(function, PlainFunction):
        return describe(function.plain)
    if isinstance(function, functools.partial):
        return f"partial of {describe(function.func)}"
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _complaint(function: object, error: Exception) -> str:
    if isinstance(function, PlainFunction):
        function = function.plain
    name, value = _unpicklable_part(function)
    where = f"it holds {name} = {type(value).__qualname__} object" if name else ""
    if type(value).__module__.partition(".")[0] == "pyspark":
        return (
            f"{describe(function)} cannot be sent to the workers: {where}, and Spark can only be "
            "used where the job is described, not in its functions. Read what they need before, or "
            "make a stream of a DataFrame with pyflink_on_spark.extensions.from_spark."
        )
    return (
        f"{describe(function)} cannot be sent to the workers: {error}{'; ' if where else ''}{where}"
        ". Create such objects in open(), or inside the function."
    )


def _unpicklable_part(function: object) -> tuple[str | None, object]:
    for name, value in _captured(function).items():
        try:
            cloudpickle.dumps(value)
        except Exception:  # noqa: BLE001 - that is what is asked
            return name, value
    return None, None


def _captured(function: Any) -> dict[str, object]:
    plain = inspect.unwrap(getattr(function, "__func__", function))
    if inspect.isfunction(plain):
        names = inspect.getclosurevars(plain)
        return {**names.nonlocals, **names.globals}
    return dict(getattr(function, "__dict__", {}))


class PlainFunction:
    """A plain callable in the shape of a function class: an object with one method of it.

    Args:
        method: the name of the method, for example ``map``.
        function: what it does.
    """

    def __init__(self, method: str, function: object) -> None:
        self._method = method
        setattr(self, method, function)

    @property
    def plain(self) -> object:
        """The callable itself."""
        return getattr(self, self._method)


def open_function(function: object, runtime_context: object) -> None:
    """Call the user's ``open`` if there is one."""
    if hasattr(function, "open"):
        function.open(runtime_context)


def close_function(function: object) -> None:
    """Call the user's ``close`` if there is one."""
    if hasattr(function, "close"):
        function.close()


def capture_classes() -> dict[str, bytes]:
    """Return the classes that the running script defines at its top level, pickled by value.

    Pickles name a class by its module. Elements of the script's own classes name ``__main__``,
    which is another program in a worker: there, ``install_classes`` puts them beside what is in it.
    """
    found: dict[str, bytes] = {}
    for name, value in list(vars(sys.modules["__main__"]).items()):
        if isinstance(value, type) and value.__module__ == "__main__":
            try:
                found[name] = cloudpickle.dumps(value, protocol=5)
            except Exception:  # noqa: BLE001 - it only counts if an element is of that class
                continue
    return found


def install_classes(captured: dict[str, bytes]) -> None:
    """Make the classes of a script known to this process.

    Args:
        captured: what ``capture_classes`` returned in the process of the script.
    """
    main: object = sys.modules["__main__"]
    for name, pickled in captured.items():
        setattr(main, name, cloudpickle.loads(pickled))


class OperatorStateStore:
    """Gives a function its state that belongs to no key.

    Args:
        state: the operator's.
    """

    def __init__(self, state: OperatorState) -> None:
        self._state = state

    def get_list_state(self, state_descriptor: object) -> OperatorListState:
        """Return a list whose elements are redistributed evenly on rescaling."""
        return self._state.list_state(_name(state_descriptor, "list"))

    def get_union_list_state(self, state_descriptor: object) -> OperatorListState:
        """Return a list of which every subtask gets everything after a restart."""
        return self._state.union_list_state(_name(state_descriptor, "list"))

    def get_broadcast_state(self, state_descriptor: object) -> BroadcastState:
        """Return a map that is the same in every subtask."""
        _name(state_descriptor, "map")
        return self._state.broadcast_state(state_descriptor)


class InitializationContext:
    """The argument of ``initialize_state``.

    Args:
        context: the operator's.
    """

    def __init__(self, context: OperatorContext) -> None:
        self._restored = context.restored
        self._operator_state_store = OperatorStateStore(context.operator_state)
        self._runtime_context = context.runtime_context

    def is_restored(self) -> bool:
        """True if the state comes from a checkpoint."""
        return self._restored is not None

    def get_restored_checkpoint_id(self) -> int | None:
        """Return the number of that checkpoint; None at a fresh start."""
        return self._restored

    def get_operator_state_store(self) -> OperatorStateStore:
        """Return the store of state that belongs to no key."""
        return self._operator_state_store

    def get_keyed_state_store(self) -> RuntimeContext:
        """Return the store of keyed state; its use raises outside keyed streams."""
        return self._runtime_context


class SnapshotContext:
    """The argument of ``snapshot_state``.

    Args:
        checkpoint_id: the checkpoint's number.
        timestamp: when it is taken (ms).
    """

    __slots__ = ("_checkpoint_id", "_timestamp")

    def __init__(self, checkpoint_id: int, timestamp: int) -> None:
        self._checkpoint_id = checkpoint_id
        self._timestamp = timestamp

    def get_checkpoint_id(self) -> int:
        """Return the checkpoint's number."""
        return self._checkpoint_id

    def get_checkpoint_timestamp(self) -> int:
        """Return when it is taken, in ms since the epoch."""
        return self._timestamp


class FunctionCheckpoints:
    """One function's part in checkpoints; none, for most functions.

    A function says what it wants by class attributes, not by its methods' names alone: a method
    that happens to be called ``initialize_state`` is the user's own business. The attributes are
    ``_checkpoint_protocol``, which is ``function`` or ``list``, and ``_listens_to_checkpoints``.

    Args:
        function: the user's, loaded, or an object around it.
        context: the operator's.
    """

    def __init__(self, function: object, context: OperatorContext) -> None:
        self._function = _innermost(function)
        self._context = context
        self._protocol = getattr(self._function, "_checkpoint_protocol", None)
        self._listens = getattr(self._function, "_listens_to_checkpoints", False)

    def initialize(self) -> None:
        """Give the function its state; before it is opened."""
        context = self._context
        if self._protocol == "function":
            self._function.initialize_state(InitializationContext(context))
        elif self._protocol == "list" and context.restored is not None:
            state = context.operator_state.list_state(_LIST_CHECKPOINTED)
            self._function.restore_state(state.get())

    def snapshot(self, checkpoint_id: int) -> None:
        """Have the function save its state."""
        if self._protocol is None:
            return
        now = self._context.clock.now()
        if self._protocol == "function":
            self._function.snapshot_state(SnapshotContext(checkpoint_id, now))
        else:
            elements = self._function.snapshot_state(checkpoint_id, now)
            state = self._context.operator_state.list_state(_LIST_CHECKPOINTED)
            state.update(elements or ())

    def complete(self, checkpoint_id: int) -> None:
        """Notify the function that a checkpoint is complete."""
        if self._listens:
            self._function.notify_checkpoint_complete(checkpoint_id)

    def aborted(self, checkpoint_id: int) -> None:
        """Notify the function that a checkpoint was aborted."""
        if self._listens:
            self._function.notify_checkpoint_aborted(checkpoint_id)


def _innermost(function: object) -> Any:
    """Return the user's own function, without its wrappers."""
    while True:
        inner = getattr(function, "_wrapped_function", None) or getattr(function, "plain", None)
        if inner is None or inner is function:
            return function
        function = inner


def _name(descriptor: Any, kind: str) -> str:
    if getattr(descriptor, "_kind", kind) != kind:
        raise TypeError(f"{descriptor!r} does not describe a {kind} state")
    config = getattr(descriptor, "_ttl_config", None)
    if config is not None and config.is_enabled():
        raise ValueError(f"{descriptor!r}: only keyed state can have a time to live")
    return str(descriptor.get_name())


DELIMITER = ","
PARAMETER_DELIMITER = "#"


@dataclass(frozen=True)
class Archive:
    """A file to unpack in the workers' working directory, in a folder named ``target``."""

    path: str
    target: str


@dataclass(frozen=True)
class Requirements:
    """The requirements to install: a file for ``pip -r``, and a folder of packages or None."""

    path: str
    packages: str | None = None


@dataclass(frozen=True)
class PythonDependencies:
    """The Python dependencies that a configuration names.

    Args:
        files: modules, folders of modules, and zips of modules.
        archives: what to unpack.
        requirements: what to install.
    """

    files: tuple[str, ...] = ()
    archives: tuple[Archive, ...] = ()
    requirements: Requirements | None = None

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> PythonDependencies:
        """Return the dependencies that the options of a configuration name.

        Raises:
            FileNotFoundError: something that is named there does not exist.
            UnsupportedFlinkFeature: it is on another file system.
        """
        return cls(
            tuple(
                require(path, python.FILES.key) for path in _items(python.FILES.read(configuration))
            ),
            tuple(_archive(item) for item in _items(python.ARCHIVES.read(configuration))),
            _requirements(python.REQUIREMENTS.read(configuration)),
        )


def require(path: str, wanted_by: str) -> str:
    """Return the absolute path of something that has to exist.

    Args:
        path: as the user gave it.
        wanted_by: the option or the call that names it.

    Raises:
        FileNotFoundError: it does not exist.
    """
    found = local_path(path)
    if not os.path.exists(found):
        raise FileNotFoundError(f"{wanted_by} names a file that does not exist: {path}")
    return found


def _items(text: str) -> Iterator[str]:
    return filter(None, (item.strip() for item in text.split(DELIMITER)))


def _archive(text: str) -> Archive:
    path, _, target = text.partition(PARAMETER_DELIMITER)
    target = target or os.path.basename(path)
    if os.path.isabs(target) or ".." in target.split("/"):
        raise ValueError(
            f"{python.ARCHIVES.key}: {target!r} is not a folder inside the working directory"
        )
    return Archive(require(path, python.ARCHIVES.key), target)


def _requirements(text: str) -> Requirements | None:
    if not text:
        return None
    path, _, packages = text.partition(PARAMETER_DELIMITER)
    found = require(path, python.REQUIREMENTS.key)
    return Requirements(found, require(packages, python.REQUIREMENTS.key) if packages else None)


_PIP_LINES = 15
_lock = threading.Lock()


class FolderKind(enum.Enum):
    """The content of a folder: modules, installed packages, or unpacked archives."""

    MODULES = "modules"
    PACKAGES = "packages"
    ARCHIVES = "archives"


@dataclass(frozen=True)
class DependencyFolder:
    """A folder that workers need.

    Args:
        kind: what is in it.
        path: where it is.
        search: the sub-folders to import from.
    """

    kind: FolderKind
    path: str
    search: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """A name that tells it from every other."""
        return os.path.basename(self.path)


def lay_out(
    dependencies: PythonDependencies, base: Path, interpreter: str
) -> list[DependencyFolder]:
    """Return folders with all that some dependencies name; those that exist are used again.

    Args:
        dependencies: what is needed.
        base: where the folders are made.
        interpreter: the Python whose pip installs.

    Raises:
        EnvironmentSetupError: if pip fails, or an archive cannot be read.
    """
    folders: list[DependencyFolder] = []
    with _lock:
        if files := dependencies.files:
            path = _folder(base, FolderKind.MODULES, files, "", lambda into: _place(files, into))
            search = tuple(str(number) for number in range(len(files)))
            folders.append(DependencyFolder(FolderKind.MODULES, path, search))
        if wanted := dependencies.requirements:
            inputs = [wanted.path, *([wanted.packages] if wanted.packages else [])]
            path = _folder(
                base,
                FolderKind.PACKAGES,
                inputs,
                interpreter,
                lambda into: _install(wanted, into, interpreter),
            )
            folders.append(DependencyFolder(FolderKind.PACKAGES, path, (".",)))
        if archives := dependencies.archives:
            path = _folder(
                base,
                FolderKind.ARCHIVES,
                [archive.path for archive in archives],
                str(archives),
                lambda into: _unpack_all(archives, into),
            )
            folders.append(DependencyFolder(FolderKind.ARCHIVES, path))
    return folders


def _folder(
    base: Path,
    kind: FolderKind,
    inputs: tuple[str, ...] | list[str],
    salt: str,
    fill: Callable[[Path], None],
) -> str:
    """Return a folder that is named after what goes into it, filled if it is not there yet."""
    digest = hashlib.sha256(salt.encode())
    for path in inputs:
        for line in _fingerprint(Path(path)):
            digest.update(line.encode(errors="surrogateescape"))
    folder = base / f"{kind.value}-{digest.hexdigest()[:24]}"
    if not folder.is_dir():
        unfinished = Path(tempfile.mkdtemp(dir=base))
        try:
            fill(unfinished)
            unfinished.rename(folder)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    return str(folder)


def _fingerprint(path: Path) -> Iterator[str]:
    """Yield the names, sizes and times of files: they change when the content does."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    yield f"{path}\n"
    for file in files:
        if "__pycache__" not in file.parts:
            status = file.stat()
            yield f"{file} {status.st_size} {status.st_mtime_ns}\n"


def _place(files: tuple[str, ...], into: Path) -> None:
    for number, path in enumerate(files):
        target = into / str(number)
        if os.path.isdir(path):
            shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif zipfile.is_zipfile(path):
            _unpack(path, target)
        else:
            target.mkdir()
            shutil.copy(path, target)


def _unpack_all(archives: tuple[Archive, ...], into: Path) -> None:
    for archive in archives:
        _unpack(archive.path, into / archive.target)


def _unpack(path: str, target: Path) -> None:
    try:
        target.mkdir(parents=True, exist_ok=True)
        if zipfile.is_zipfile(path):
            _unzip(path, target)
        else:
            with tarfile.open(path) as archive:
                archive.extraction_filter = getattr(tarfile, "tar_filter", None)
                archive.extractall(target)
    except (OSError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise EnvironmentSetupError(f"the archive {path} cannot be unpacked: {error}") from error


def _unzip(path: str, target: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            written = archive.extract(member, target)
            mode = member.external_attr >> 16 & 0o777
            if mode and not member.is_dir():  # programs stay programs
                os.chmod(written, mode | 0o600)


def _install(wanted: Requirements, into: Path, interpreter: str) -> None:
    command = [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--ignore-installed", "--target", str(into), "--requirement", wanted.path]
    if wanted.packages is not None:
        command += ["--no-index", "--find-links", wanted.packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-_PIP_LINES:])
        raise EnvironmentSetupError(f"pip could not install {wanted.path}; it said:\n{said}")


_used: list[DependencyFolder] = []
_loaded_from: dict[FolderKind, DependencyFolder] = {}


@contextlib.contextmanager
def in_use(folders: Sequence[DependencyFolder]) -> Iterator[None]:
    """Import from these folders, and be in the one that has the archives.

    A worker process is used again by other jobs, which may bring other modules of the same name.

    Args:
        folders: as they are on this machine.
    """
    import_from(folders)
    archives = working_folder(folders)
    before = os.getcwd() if archives else None
    try:
        if archives is not None:
            os.chdir(archives)
        yield
    finally:
        if before is not None:
            os.chdir(before)


def import_from(folders: Sequence[DependencyFolder]) -> None:
    """Import from these folders from now on, before any other, and no more from earlier ones."""
    if list(folders) == _used:
        return
    for entry in search_path(_used):
        with contextlib.suppress(ValueError):
            sys.path.remove(entry)
    for folder in folders:
        earlier = _loaded_from.get(folder.kind)
        if earlier is not None and earlier != folder:
            _unload(earlier.path + os.sep)
        _loaded_from[folder.kind] = folder
    _used[:] = folders
    sys.path[:0] = search_path(folders)
    importlib.invalidate_caches()


def working_folder(folders: Sequence[DependencyFolder]) -> str | None:
    """Return the folder that has the archives, if there are any."""
    archives = (folder.path for folder in folders if folder.kind is FolderKind.ARCHIVES)
    return next(archives, None)


def search_path(folders: Sequence[DependencyFolder]) -> list[str]:
    """Return where to import from."""
    return [
        os.path.normpath(os.path.join(folder.path, entry))
        for folder in folders
        for entry in folder.search
    ]


def _unload(folder: str) -> None:
    """Forget the modules that were imported from a folder."""
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(folder):
            del sys.modules[name]
