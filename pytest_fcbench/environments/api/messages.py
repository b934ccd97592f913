"""A workspace whose users send each other messages."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from pytest_fcbench.environments.environment import Environment

_IDS = (10_000, 99_999)
"""Lowest and highest id of a message."""


class Messages(Environment):
    """A messaging service of a workspace: its users, and the messages that the logged-in user has sent."""

    _domain = "messages"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        # No seed would draw from the operating system, hence the default one.
        if (seed := state["random_seed"]) is None:
            seed = self._world.defaults[self._domain]["random_seed"]
        self._random = random.Random(seed)  # noqa: S311 - reproducible, nothing to keep secret
        self.generated_ids: set[int] = set(state["generated_ids"])
        self.user_count: int = state["user_count"]
        self.user_map: dict[str, str] = state["user_map"]
        # Official: an item is one message under its receiver; nothing tells who sent it.
        self.inbox: list[dict[str, str]] = state["inbox"]
        self.message_count: int = state["message_count"]
        self.current_user: str | None = state["current_user"]

    def list_users(self) -> dict[str, object]:
        """Names of everybody in the workspace.

        Returns:
            user_list: the names, in the order in which they joined.
        """
        return {"user_list": list(self.user_map.keys())}

    def get_user_id(self, user: str) -> dict[str, object]:
        """Look up the id that belongs to a user name.

        Args:
            user: Exact name of the user.

        Returns:
            user_id: the id of that user.
        """
        if user not in self.user_map:
            return self._make_error("there is no user named '{user}' here", "get_user_id", 0, user=user)
        return {"user_id": self.user_map[user]}

    def message_login(self, user_id: str) -> dict[str, object]:
        """Log in to the messaging service; whoever was logged in before is replaced.

        Args:
            user_id: Id of the user who logs in.

        Returns:
            login_status: whether the login succeeded; message: the outcome in words.
        """
        if user_id not in self.user_map.values():
            return {"login_status": False, "message": f"User ID '{user_id}' not found."}
        self.current_user = user_id
        return {"login_status": True, "message": f"User '{user_id}' logged in successfully."}

    def message_get_login_status(self) -> dict[str, object]:
        """Tell whether somebody is logged in.

        Returns:
            login_status: true if a user is logged in.
        """
        return {"login_status": bool(self.current_user)}

    def send_message(self, receiver_id: str, message: str) -> dict[str, object]:
        """Send a message from the logged-in user to another user.

        Args:
            receiver_id: Id of the user who gets the message.
            message: Text of the message.

        Returns:
            sent_status: whether it was sent; message_id: the id it got; message: the outcome in words.
        """
        if not self.current_user:
            return self._make_login_error()
        if receiver_id not in self.user_map.values():
            ours = "the receiver '{receiver_id}' is unknown"
            return self._make_error(ours, "send_message", 1, receiver_id=receiver_id)
        message_id = self._random.randint(*_IDS)
        while message_id in self.generated_ids:
            message_id = self._random.randint(*_IDS)
        self.generated_ids.add(message_id)
        self.inbox.append({receiver_id: message})
        self.message_count += 1
        return {
            "sent_status": True,
            "message_id": {"new_id": message_id},
            "message": f"Message sent to '{receiver_id}' successfully.",
        }

    def delete_message(self, receiver_id: str) -> dict[str, object]:
        """Take back the last message that was sent to a user.

        Args:
            receiver_id: Id of the user who got the message.

        Returns:
            deleted_status: whether it was deleted; receiver_id: that user; message: the outcome in words.
        """
        if not self.current_user:
            return self._make_login_error()
        for item in reversed(self.inbox):
            receiver, _ = _split_item(item)
            if receiver == receiver_id:
                # Official: of equal messages the oldest one goes, and the count of messages stays.
                self.inbox.remove(item)
                return {
                    "deleted_status": True,
                    "receiver_id": receiver_id,
                    "message": f"Receiver {receiver_id}'s latest message deleted successfully.",
                }
        # Official: without quotes, where sending has them.
        ours = "the receiver {receiver_id} is unknown"
        return self._make_error(ours, "delete_message", 2, receiver_id=receiver_id)

    def view_messages_sent(self) -> dict[str, object]:
        """All messages sent so far, by receiver.

        Returns:
            messages: for each receiver id the list of messages, oldest first.
        """
        if not self.current_user:
            return self._make_login_error()
        messages: dict[str, list[str]] = {}
        for item in self.inbox:
            receiver, message = _split_item(item)
            messages.setdefault(receiver, []).append(message)
        return {"messages": messages}

    def add_contact(self, user_name: str) -> dict[str, object]:
        """Add a new user to the workspace; no login is needed.

        Args:
            user_name: Name of the new user, not taken yet.

        Returns:
            added_status: whether the user was added; user_id: the new id; message: the outcome in words.
        """
        if user_name in self.user_map:
            return self._make_error("the name '{user_name}' is taken", "add_contact", 0, user_name=user_name)
        # Official: the count goes up even when the id then turns out to be taken.
        self.user_count += 1
        user_id = f"USR{str(self.user_count).zfill(3)}"
        if user_id in self.user_map.values():
            return self._make_error("the next id, '{user_id}', is taken", "add_contact", 1, user_id=user_id)
        self.user_map[user_name] = user_id
        return {
            "added_status": True,
            "user_id": user_id,
            "message": f"Contact '{user_name}' added successfully.",
        }

    def search_messages(self, keyword: str) -> dict[str, object]:
        """Find the sent messages that contain a keyword; capital and small letters count as the same.

        Args:
            keyword: Text to look for.

        Returns:
            results: the messages found, each with receiver_id and message, oldest first.
        """
        if not self.current_user:
            return self._make_login_error()
        needle = keyword.lower()
        messages = [_split_item(item) for item in self.inbox]
        return {
            "results": [
                {"receiver_id": receiver, "message": message}
                for receiver, message in messages
                if needle in message.lower()
            ]
        }

    def get_message_stats(self) -> dict[str, object]:
        """Count the messages and the users they went to.

        Returns:
            stats: received_count, the number of messages; total_contacts, the number of their receivers.
        """
        if not self.current_user:
            return self._make_login_error()
        receivers = [receiver for receiver, _ in map(_split_item, self.inbox)]
        return {"stats": {"received_count": len(receivers), "total_contacts": len(set(receivers))}}

    def _make_login_error(self) -> dict[str, object]:
        # Official: the same sentence in every function that needs a user.
        return self._make_error("this needs a logged-in user; nobody is logged in", "send_message", 0)


def _split_item(item: Mapping[str, str]) -> tuple[str, str]:
    """Return the receiver and the message of an item of the inbox."""
    first, *_ = item.items()
    return first
