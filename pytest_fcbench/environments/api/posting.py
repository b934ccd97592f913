"""Posting: a small network of short public messages, seen from the account of one user."""

from __future__ import annotations

from copy import copy
from typing import Any

from pytest_fcbench.environments.environment import Environment

_NO_MENTIONS: list[str] = []
"""The default that models are told of; nothing is ever put into it."""


class Posting(Environment):
    """A social network on which one user posts, shares, comments and follows."""

    # Officially all tweets of a process that are posted without mentions share one list (posting_api.py:77),
    # so that mentioning a user in one of them shows in the others, in other conversations too. Here each has
    # a list of its own, unless ``share_defaults`` was called.

    _domain = "posting"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        self.username: str = state["username"]
        self.password: str = state["password"]
        self.authenticated: bool = state["authenticated"]
        self.tweets: dict[int, dict[str, Any]] = {int(key): tweet for key, tweet in state["tweets"].items()}
        # Officially the ids of tweets become numbers and those of comments stay texts: comments of a
        # configuration are never found, and a new comment on the same tweet starts a second list.
        self.comments: dict[Any, list[dict[str, str]]] = state["comments"]
        self.retweets: dict[str, list[int]] = state["retweets"]
        self.following_list: list[str] = state["following_list"]
        self.tweet_counter: int = state["tweet_counter"]
        self._shared_mentions: list[str] | None = None

    def share_defaults(self, other: Environment) -> None:
        """Share one list of mentions among all tweets that this and another environment post without any."""
        if isinstance(other, Posting):
            self._shared_mentions = other._shared_mentions = []

    def authenticate_twitter(self, username: str, password: str) -> dict[str, bool]:
        """Log in to the account of the user.

        Args:
            username: Name of the account.
            password: Password of the account.

        Returns:
            ``authentication_status``: whether name and password were right.
        """
        # A wrong attempt does not log out: that is the official behaviour.
        right = username == self.username and password == self.password
        if right:
            self.authenticated = True
        return {"authentication_status": right}

    def posting_get_login_status(self) -> dict[str, bool]:
        """Tell whether the user is logged in.

        Returns:
            ``login_status``: true after a successful login.
        """
        return {"login_status": bool(self.authenticated)}

    def post_tweet(
        self,
        content: str,
        tags: list[str] = [],  # noqa: B006 - the default that models are told of; only copies are kept
        mentions: list[str] = _NO_MENTIONS,
    ) -> dict[str, object]:
        """Publish a new tweet. The user must be logged in.

        Args:
            content: Text of the tweet.
            tags: Tags to put on the tweet, each beginning with ``#``.
            mentions: Users to mention in the tweet, each beginning with ``@``.

        Returns:
            The new tweet: ``id``, ``username``, ``content``, ``tags`` and ``mentions``.
        """
        if not self.authenticated:
            return self._make_login_error("post_tweet", "post a tweet")
        shared_mentions = self._shared_mentions if mentions is _NO_MENTIONS else None
        tweet = {
            "id": self.tweet_counter,
            "username": self.username,
            "content": content,
            "tags": copy(tags),
            "mentions": copy(mentions) if shared_mentions is None else shared_mentions,
        }
        self.tweets[self.tweet_counter] = tweet
        self.tweet_counter += 1
        return tweet

    def retweet(self, tweet_id: int) -> dict[str, object]:
        """Share a tweet with the followers of the user. The user must be logged in.

        Args:
            tweet_id: Number of the tweet.

        Returns:
            ``retweet_status``: whether it is shared now or was before.
        """
        if not self.authenticated:
            return self._make_login_error("retweet", "retweet")
        if tweet_id not in self.tweets:
            return self._make_tweet_error("retweet", 1, tweet_id)
        tweet_ids = self.retweets.setdefault(self.username, [])
        if tweet_id in tweet_ids:
            return {"retweet_status": "Already retweeted"}
        tweet_ids.append(tweet_id)
        return {"retweet_status": "Successfully retweeted"}

    def comment(self, tweet_id: int, comment_content: str) -> dict[str, object]:
        """Write a comment under a tweet. The user must be logged in.

        Args:
            tweet_id: Number of the tweet.
            comment_content: Text of the comment.

        Returns:
            ``comment_status``: a confirmation.
        """
        if not self.authenticated:
            return self._make_login_error("comment", "comment")
        if tweet_id not in self.tweets:
            return self._make_tweet_error("comment", 1, tweet_id)
        comments = self.comments.setdefault(tweet_id, [])
        comments.append({"username": self.username, "content": comment_content})
        return {"comment_status": "Comment added successfully"}

    def mention(self, tweet_id: int, mentioned_usernames: list[str]) -> dict[str, object]:
        """Add users to those mentioned in a tweet.

        Args:
            tweet_id: Number of the tweet.
            mentioned_usernames: Names of the users to mention.

        Returns:
            ``mention_status``: a confirmation.
        """
        # Needs no login, and works on tweets of others: that is the official behaviour.
        if tweet_id not in self.tweets:
            return self._make_tweet_error("mention", 0, tweet_id)
        self.tweets[tweet_id]["mentions"].extend(mentioned_usernames)
        return {"mention_status": "Users mentioned successfully"}

    def follow_user(self, username_to_follow: str) -> dict[str, object]:
        """Start to follow another user. The user must be logged in.

        Args:
            username_to_follow: Name of the other user.

        Returns:
            ``follow_status``: false if the user followed them already.
        """
        if not self.authenticated:
            return self._make_login_error("follow_user", "follow a user")
        new = username_to_follow not in self.following_list
        if new:
            self.following_list.append(username_to_follow)
        return {"follow_status": new}

    def list_all_following(self) -> dict[str, object]:
        """List all users whom the user follows. The user must be logged in.

        Returns:
            ``following_list``: their names.
        """
        if not self.authenticated:
            return self._make_login_error("list_all_following", "list whom you follow")
        return {"following_list": self.following_list}

    def unfollow_user(self, username_to_unfollow: str) -> dict[str, object]:
        """Stop following another user. The user must be logged in.

        Args:
            username_to_unfollow: Name of the other user.

        Returns:
            ``unfollow_status``: false if the user did not follow them.
        """
        if not self.authenticated:
            return self._make_login_error("unfollow_user", "unfollow a user")
        was_following = username_to_unfollow in self.following_list
        if was_following:
            self.following_list.remove(username_to_unfollow)
        return {"unfollow_status": was_following}

    def get_tweet(self, tweet_id: int) -> dict[str, object]:
        """Look up one tweet.

        Args:
            tweet_id: Number of the tweet.

        Returns:
            The tweet: ``id``, ``username``, ``content``, ``tags`` and ``mentions``.
        """
        if tweet_id not in self.tweets:
            return self._make_tweet_error("get_tweet", 0, tweet_id)
        return self.tweets[tweet_id]

    def get_user_tweets(self, username: str) -> list[dict[str, object]]:
        """List all tweets that a user wrote.

        Args:
            username: Name of the user.

        Returns:
            The tweets, in the order in which they were added.
        """
        return [tweet for tweet in self.tweets.values() if tweet["username"] == username]

    def search_tweets(self, keyword: str) -> list[dict[str, object]]:
        """Find tweets whose text contains a keyword or that have it as a tag, in upper or lower case.

        Args:
            keyword: What to look for in texts; a tag must be given whole.

        Returns:
            The tweets that were found.
        """
        needle = keyword.lower()
        return [
            tweet
            for tweet in self.tweets.values()
            if needle in tweet["content"].lower() or needle in [tag.lower() for tag in tweet["tags"]]
        ]

    def get_tweet_comments(self, tweet_id: int) -> list[dict[str, str]] | dict[str, object]:
        """List the comments under a tweet.

        Args:
            tweet_id: Number of the tweet.

        Returns:
            The comments, each with ``username`` and ``content``.
        """
        if tweet_id not in self.tweets:
            return self._make_tweet_error("get_tweet_comments", 0, tweet_id)
        return self.comments.get(tweet_id, [])

    def get_user_stats(self, username: str) -> dict[str, int]:
        """Count what a user did on the network.

        Args:
            username: Name of the user.

        Returns:
            ``tweet_count``, ``following_count`` (0 for all but the owner of this account) and
            ``retweet_count``.
        """
        return {
            "tweet_count": len(self.get_user_tweets(username)),
            "following_count": len(self.following_list) if username == self.username else 0,
            "retweet_count": len(self.retweets.get(username, [])),
        }

    def _make_login_error(self, function: str, action: str) -> dict[str, object]:
        ours = f"Log in first: nobody is logged in, which is needed to {action}."
        return self._make_error(ours, function, 0)

    def _make_tweet_error(self, function: str, number: int, tweet_id: object) -> dict[str, object]:
        return self._make_error("There is no tweet {tweet_id}.", function, number, tweet_id=tweet_id)
