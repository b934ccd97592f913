"""Packs from one file of a dataset on the Hugging Face hub, verified by the sha256 that the hub states.

A pull asks for the newest commit of a branch and for the sha256 of the file there, gets the file of that
commit, checks it against that sha256, and records both. ``huggingface_hub`` provides addresses, tokens and
errors, but does not download: xet, which it prefers, uses further hosts. The file comes by one plain HTTP
request.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from pytest_fcbench.domain.errors import PackError, SuiteError, UsageError
from pytest_fcbench.suites.packs import LARGEST, Manifest

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class HubSource:
    """A maker of packs from a file on the hub."""

    name: str
    repo: str
    """The name of the dataset, ``owner/name``."""
    file: str
    """The path of the file, in the repository and in the pack."""
    check: Callable[[bytes], object]
    """Reads the file's content. Raises ``SuiteError`` where it is not as expected."""
    endpoint: str | None = None
    """Address of the hub; None for ``HF_ENDPOINT``, else the Hugging Face hub."""

    @property
    def title(self) -> str:
        """The dataset."""
        return self.repo

    @property
    def folder(self) -> str:
        """The same for all revisions: only one is kept at a time."""
        return "dataset"

    def accepts(self, manifest: Manifest) -> bool:
        """Tell whether a manifest is about this file."""
        identity = manifest.get("repo"), manifest.get("files")
        return identity == (self.repo, {self.file: manifest.get("content_sha256")})

    def make(self, new: Path, home: Path, origin: Path | None, revision: str | None) -> Manifest:
        """Get the file from the hub, at the newest commit or ``revision``, or from ``origin``."""
        if origin is not None and revision is not None:
            raise UsageError(
                f"--revision={revision} applies only to downloads from the hub; leave it out with --from"
            )
        new.mkdir()
        metadata = None
        if origin is not None:
            if not origin.is_file():
                raise PackError(f"{origin} is not a file; give {self.file} of {self.repo}")
            if origin.stat().st_size > LARGEST:
                raise PackError(
                    f"{origin.name} is refused: more than {LARGEST} bytes; give {self.file} of {self.repo}"
                )
            shutil.copyfile(origin, new / self.file)
        else:
            with _translate_errors(self, revision):
                metadata = _request_metadata(self, revision)
                _download(self, metadata, home, new / self.file)
        content = (new / self.file).read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        if metadata and sha256 != metadata.sha256:
            flaw = f"{self.file} has the sha256 {sha256}, the hub states {metadata.sha256}"
            raise PackError(f"refused: {flaw}; run 'fcbench pull {self.name}' to download it again")
        try:
            self.check(content)
        except SuiteError as error:
            raise PackError(f"refused: {error}") from None
        unknown = "a file whose revision is not known"
        provenance = f"revision {metadata.revision} of {self.repo}" if metadata else unknown
        return {
            "repo": self.repo,
            "revision": metadata and metadata.revision,
            "size": len(content),
            "version": (metadata.revision if metadata else sha256)[:12],
            "content_sha256": sha256,
            "files": {self.file: sha256},
            "provenance": provenance,
        }


@dataclass(frozen=True, slots=True)
class _Metadata:
    """The commit, sha256 and size that the hub states for the file."""

    revision: str
    sha256: str
    size: int


def _request_metadata(source: HubSource, revision: str | None) -> _Metadata:
    from huggingface_hub import constants, get_hf_file_metadata

    # With telemetry the hub's client sends a request of its own to build the headers of another.
    constants.HF_HUB_DISABLE_TELEMETRY = True
    file_metadata = get_hf_file_metadata(_url(source, revision), endpoint=source.endpoint)
    commit, etag, size = file_metadata.commit_hash or "", file_metadata.etag or "", file_metadata.size
    if not _COMMIT.fullmatch(commit):
        raise PackError(
            f"{_host(source)} does not answer like a hub: its reply names no commit; check HF_ENDPOINT"
        )
    if not _SHA256.fullmatch(etag) or size is None:
        raise PackError(
            f"{_host(source)} states no sha256 or no size for {source.file}, so the file cannot "
            f"be verified; if you have the file, run: fcbench pull {source.name} --from PATH"
        )
    if size > LARGEST:
        raise PackError(
            f"refused: {source.file} has {size} bytes, more than {LARGEST}; pull an earlier --revision"
        )
    return _Metadata(commit, etag, size)


def _download(source: HubSource, metadata: _Metadata, home: Path, target: Path) -> None:
    """Put the file at ``target``: a copy from an existing pack if it is the same, else from the hub."""
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, tqdm

    existing_file = home / source.folder / source.file
    if existing_file.is_file() and hashlib.sha256(existing_file.read_bytes()).hexdigest() == metadata.sha256:
        shutil.copyfile(existing_file, target)
        return
    url, timeout, have = _url(source, metadata.revision), constants.HF_HUB_DOWNLOAD_TIMEOUT, 0
    cut_off = _import_transport().TransportError
    with get_session().stream("GET", url, headers=build_hf_headers(), timeout=timeout) as response:
        hf_raise_for_status(response)
        progress_bar = tqdm(  # type: ignore[no-untyped-call]
            desc=source.file, total=metadata.size, unit="B", unit_scale=True, disable=None
        )
        with target.open("wb") as file, progress_bar as bar, suppress(cut_off):
            for chunk in response.iter_bytes():
                have += file.write(chunk)
                bar.update(len(chunk))
                if have > metadata.size:
                    raise PackError(
                        f"refused: {source.file} has more than the {metadata.size} bytes that the hub "
                        "states; pull it again"
                    )
    if have < metadata.size:
        raise PackError(
            f"the download was interrupted after {have} of {metadata.size} bytes; run "
            f"'fcbench pull {source.name}' again"
        )


def _url(source: HubSource, revision: str | None) -> str:
    from huggingface_hub import hf_hub_url

    return hf_hub_url(
        source.repo, source.file, repo_type="dataset", revision=revision, endpoint=source.endpoint
    )


def _host(source: HubSource) -> str:
    """Return the hub's name for a message; an address can contain a password."""
    from huggingface_hub import constants

    return urlsplit(source.endpoint or constants.ENDPOINT).hostname or "HF_ENDPOINT"


def _import_transport() -> ModuleType:
    """Import the HTTP library whose errors ``huggingface_hub`` lets through: httpx, from 2.0 httpx2."""
    from huggingface_hub import errors

    return import_module(errors.HTTPError.__module__.partition(".")[0])


@contextmanager
def _translate_errors(source: HubSource, revision: str | None) -> Iterator[None]:
    """Translate errors of hub and network to ``PackError``; their own texts can contain a token."""
    from huggingface_hub import errors

    transport = _import_transport()
    host, repo = _host(source), source.repo
    at_hand = f"if you have the file, run: fcbench pull {source.name} --from PATH"
    try:
        yield
    except errors.OfflineModeIsEnabled:
        raise PackError(
            f"HF_HUB_OFFLINE is set, so no request is sent to {host}; unset it; {at_hand}"
        ) from None
    except errors.GatedRepoError:
        raise PackError(
            f"{host} gives {repo} only to users who have accepted its terms: accept them on the "
            f"dataset's page and set HF_TOKEN to your token; {at_hand}"
        ) from None
    except errors.RevisionNotFoundError:
        raise PackError(
            f"{repo} has no revision {revision!r}; give the hash of a commit, or no --revision for the newest"
        ) from None
    except errors.EntryNotFoundError:
        raise PackError(f"{repo} has no {source.file} at this revision; {at_hand}") from None
    except errors.RepositoryNotFoundError:
        raise PackError(
            f"{host} has no dataset {repo}, or shows it only with a token: set HF_TOKEN; {at_hand}"
        ) from None
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        way = "set HF_TOKEN to a valid token" if status in (401, 403) else "try again later"
        raise PackError(f"{host} answered with HTTP {status}: {way}; {at_hand}") from None
    except UnicodeError:
        raise PackError(
            "HF_TOKEN contains characters that are not allowed in an HTTP header; copy the token again"
        ) from None
    except (transport.HTTPError, transport.InvalidURL) as error:
        reason = str(error) if isinstance(error, transport.NetworkError) else type(error).__name__
        raise PackError(
            f"{host} cannot be reached ({reason}); choose another hub with HF_ENDPOINT, or try "
            f"again later; {at_hand}"
        ) from None
