"""Search the web and read its pages (BFCL's ``WebSearchAPI``).

Answers of the web come from the world (``World.web``). Results are as officially where the world has the
sentences of the official class. Elsewhere:

- A result without a snippet has none; officially it ends the search with an error.
- An invalid argument (no whole number of results, an unknown mode) is an error that says so.
- A URL that does not begin with http:// or https:// is an error of the function, officially of the executor.
- The content of a page is cut after some length (``web.page_content``).
"""

from __future__ import annotations

from typing import Any

from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.world import WebError

MODES = ("raw", "markdown", "truncate")
_MOST_RESULTS = 50
_LONGEST_QUERY = 2_000
"""Characters of a query; engines refuse longer ones."""
_LONGEST_REGION = 20


class WebSearch(Environment):
    """Finding and reading pages of the web."""

    _domain = "web_search"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        self.long_context = long_context
        self.show_snippet = bool(state.get("show_snippet", True))

    def search_engine_query(
        self, keywords: str, max_results: int = 10, region: str = "wt-wt"
    ) -> list[dict[str, object]] | dict[str, object]:
        """Search the web and get the title and the address of each page that was found.

        Args:
            keywords: Words to search for.
            max_results: How many results to give at the most, from 1 to 50.
            region: Region of the results as country and language, such as us-en; wt-wt is the whole world.
        """
        if self._sentences:
            return self._search_officially(keywords, max_results, region)
        if wrong := _describe_search_error(keywords, max_results, region):
            return {"error": wrong}
        try:
            results = self._world.web.search(keywords, min(max_results, _MOST_RESULTS), region)
        except WebError as error:
            return {"error": f"The search failed: {error}"}
        field_names = ("title", "href", "body") if self.show_snippet else ("title", "href")
        return [{name: result[name] for name in field_names if name in result} for result in results]

    def fetch_url_content(self, url: str, mode: str = "raw") -> dict[str, object]:
        """Fetch a page of the web and get its content.

        Args:
            url: Address of the page; it begins with http:// or https://.
            mode: How the content is given - raw as it is sent, markdown as Markdown, truncate as text alone.
        """
        if self._sentences:
            return self._fetch_officially(url, mode)
        # ``str``, as a model gives values of any type.
        if not str(url).lower().startswith(("http://", "https://")):
            return {"error": f"{str(url)[:200]!r} is no address that begins with http:// or https://."}
        if mode not in MODES:
            return {"error": f"There is no mode {str(mode)[:40]!r}; give {', '.join(MODES)}."}
        try:
            return {"content": self._world.web.fetch(url, mode)}
        except WebError as error:
            return {"error": f"{url[:2000]} could not be fetched: {error}"}

    def _search_officially(
        self, keywords: str, max_results: int, region: str
    ) -> list[dict[str, object]] | dict[str, object]:
        """Search with any values; that nothing is found is an error. Raises ``KeyError``."""
        error = self._make_error("", "search_engine_query", 3)
        if len(str(keywords)) > _LONGEST_QUERY:
            return error
        most = max_results if max_results in range(1, _MOST_RESULTS) else _MOST_RESULTS
        try:
            results = self._world.web.search(str(keywords), most, str(region))
        except WebError:
            return error
        if not results:
            return error
        field_names = {"title": "title", "href": "link", "body": "snippet"}
        if not self.show_snippet:
            del field_names["body"]
        # The error of a missing value names it as the search engine does.
        for result in results[:max_results]:
            for missing in (theirs for name, theirs in field_names.items() if name not in result):
                raise KeyError(missing)
        return [{name: result[name] for name in field_names} for result in results[:max_results]]

    def _fetch_officially(self, url: str, mode: str) -> dict[str, object]:
        """Fetch a page whatever the mode, which only then must be a known one. Raises ``ValueError``."""
        if not url.startswith(("http://", "https://")):
            raise ValueError(self._write_text("", "fetch_url_content", 0, url=url))
        try:
            content = self._world.web.fetch(url, mode, official=True)
            if mode not in MODES:
                raise WebError(self._write_text("", "fetch_url_content", 3, mode=mode))
        except WebError as error:
            return self._make_error("", "fetch_url_content", 4, url=url, value=error)
        return {"content": content}


def _describe_search_error(keywords: object, max_results: object, region: object) -> str | None:
    """Describe why a search cannot be made, or return None. A model gives values of any type."""
    if not isinstance(keywords, str) or not keywords.strip():
        return "keywords must be words to search for."
    if len(keywords) > _LONGEST_QUERY:
        return f"keywords have at most {_LONGEST_QUERY:,} characters."
    # A boolean is an int, but no number of results.
    if not isinstance(max_results, int) or isinstance(max_results, bool) or max_results < 1:
        return "max_results must be a whole number from 1 on."
    if not isinstance(region, str) or len(region) > _LONGEST_REGION:
        return "region must be text such as us-en."
    return None
