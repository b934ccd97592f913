"""Search the web and read its pages (BFCL's ``WebSearchAPI``).

Answers of the web come from the world (``World.web``). Differences from the official class:

- A result without a snippet has none; officially it ends the search with an error.
- An invalid argument (no whole number of results, an unknown mode) is an error that says so.
- A URL that does not begin with http:// or https:// is an error of the function, officially of the executor.
- The content of a page is cut after some length (``web.page_content``), and only public hosts are asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.world import WebError, World

MODES = ("raw", "markdown", "truncate")
_MOST_RESULTS = 50
_LONGEST_QUERY = 2_000
"""Characters of a query; engines refuse longer ones."""
_LONGEST_REGION = 20


class WebSearch(Environment):
    """Finding and reading pages of the web."""

    _domain = "web_search"

    def __init__(self, config: Mapping[str, object], world: World, *, long_context: bool = False) -> None:
        super().__init__(config, world, long_context=long_context)
        self.long_context = long_context
        self.show_snippet = bool(config.get("show_snippet", True))
        self._web = world.web

    def search_engine_query(
        self, keywords: str, max_results: int = 10, region: str = "wt-wt"
    ) -> list[dict[str, object]] | dict[str, object]:
        """Search the web and get the title and the address of each page that was found.

        Args:
            keywords: Words to search for.
            max_results: How many results to give at the most, from 1 to 50.
            region: Region of the results as country and language, such as us-en; wt-wt is the whole world.
        """
        if wrong := _describe_search_error(keywords, max_results, region):
            return {"error": wrong}
        try:
            found = self._web.search(keywords, min(max_results, _MOST_RESULTS), region)
        except WebError as error:
            return {"error": f"The search failed: {error}"}
        shown = ("title", "href", "body") if self.show_snippet else ("title", "href")
        return [{name: result[name] for name in shown if name in result} for result in found]

    def fetch_url_content(self, url: str, mode: str = "raw") -> dict[str, object]:
        """Fetch a page of the web and get its content.

        Args:
            url: Address of the page; it begins with http:// or https://.
            mode: How the content is given - raw as it is sent, markdown as Markdown, truncate as text alone.
        """
        # ``str``, as a model gives values of any type.
        if not str(url).lower().startswith(("http://", "https://")):
            return {"error": f"{str(url)[:200]!r} is no address that begins with http:// or https://."}
        if mode not in MODES:
            return {"error": f"There is no mode {str(mode)[:40]!r}; give {', '.join(MODES)}."}
        try:
            return {"content": self._web.fetch(url, mode)}
        except WebError as error:
            return {"error": f"{url[:2000]} could not be fetched: {error}"}


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
