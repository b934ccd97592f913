"""Tickets: the queue of a support desk."""

from __future__ import annotations

from typing import Any

from pytest_fcbench.environments.environment import Environment

_EDITABLE = ("title", "description", "status", "priority")


class Tickets(Environment):
    """A support desk where users open tickets, follow them, and have them resolved or closed."""

    _domain = "tickets"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        self.ticket_queue: list[dict[str, Any]] = state["ticket_queue"]
        self.ticket_counter: int = state["ticket_counter"]
        self.current_user: str | None = state["current_user"]

    def create_ticket(self, title: str, description: str = "", priority: int = 1) -> dict[str, object]:
        """Open a new ticket in the name of the user, who must be logged in.

        Args:
            title: What the ticket is about, in a few words.
            description: The whole story.
            priority: How pressing it is, from 1 (least) to 5 (most).

        Returns:
            The new ticket: ``id``, ``title``, ``description``, ``status``, ``priority`` and ``created_by``.
        """
        if not self.current_user:
            return self._make_error("Log in first: a ticket needs a user who creates it.", "create_ticket", 0)
        if priority < 1 or priority > 5:
            return self._make_error("A priority goes from 1 to 5.", "create_ticket", 1)
        ticket: dict[str, object] = {
            "id": self.ticket_counter,
            "title": title,
            "description": description,
            "status": "Open",
            "priority": priority,
            "created_by": self.current_user,
        }
        self.ticket_queue.append(ticket)
        self.ticket_counter += 1
        return ticket

    # The next four work without a login and on tickets of other users: that is the official behaviour.

    def get_ticket(self, ticket_id: int) -> dict[str, object]:
        """Look up one ticket.

        Args:
            ticket_id: Number of the ticket.

        Returns:
            The ticket with all its fields.
        """
        ticket = self._find_ticket(ticket_id)
        return self._make_ticket_error("get_ticket", ticket_id) if ticket is None else ticket

    def close_ticket(self, ticket_id: int) -> dict[str, object]:
        """Close a ticket that is not closed yet.

        Args:
            ticket_id: Number of the ticket.

        Returns:
            ``status``: a confirmation.
        """
        return self._finish_ticket("close_ticket", ticket_id, "Closed")

    def resolve_ticket(self, ticket_id: int, resolution: str) -> dict[str, object]:
        """Mark a ticket as resolved and note how.

        Args:
            ticket_id: Number of the ticket.
            resolution: What solved the matter.

        Returns:
            ``status``: a confirmation.
        """
        return self._finish_ticket("resolve_ticket", ticket_id, "Resolved", resolution=resolution)

    def edit_ticket(self, ticket_id: int, updates: dict[str, object]) -> dict[str, object]:
        """Change fields of a ticket.

        Args:
            ticket_id: Number of the ticket.
            updates: New values by field: any of ``title``, ``description``, ``status`` and ``priority``.

        Returns:
            ``status``: a confirmation.
        """
        ticket = self._find_ticket(ticket_id)
        if ticket is None:
            return self._make_ticket_error("edit_ticket", ticket_id)
        unknown = [field for field in updates.keys() if field not in _EDITABLE]  # noqa: SIM118 - no list
        if unknown:
            # Officially in the order of a set, which the hash seed of the process decides; here sorted.
            fields = ", ".join(sorted(unknown, key=str))
            ours = "Not a field that can be edited: {value}."
            return self._make_error(ours, "edit_ticket", 1, value=fields)
        # Officially no value is checked here: a priority of 9 passes. None leaves a field as it is.
        ticket.update({field: value for field, value in updates.items() if value is not None})
        return _confirm(ticket_id, "updated")

    def ticket_login(self, username: str, password: str) -> dict[str, bool]:
        """Log in to the support desk.

        Args:
            username: Name of the user.
            password: Password of the user.

        Returns:
            ``success``: whether the login worked.
        """
        # Officially any name and password will do that are not empty.
        welcome = bool(username and password)
        if welcome:
            self.current_user = username
        return {"success": welcome}

    def ticket_get_login_status(self) -> dict[str, bool]:
        """Tell whether a user is logged in.

        Returns:
            ``login_status``: true if there is one.
        """
        return {"login_status": bool(self.current_user)}

    def logout(self) -> dict[str, bool]:
        """Log the current user out.

        Returns:
            ``success``: false if nobody was logged in.
        """
        if not self.current_user:
            return {"success": False}
        self.current_user = None
        return {"success": True}

    def get_user_tickets(self, status: str | None = None) -> list[dict[str, object]]:
        """List the tickets that the user created. The user must be logged in.

        Args:
            status: Only tickets with this status, in upper or lower case; all if left out.

        Returns:
            The tickets with all their fields.
        """
        if not self.current_user:
            ours = "Log in first: the tickets of nobody cannot be listed."
            return [self._make_error(ours, "get_user_tickets", 0)]
        own = [ticket for ticket in self.ticket_queue if ticket["created_by"] == self.current_user]
        if not status:
            return own
        return [ticket for ticket in own if ticket["status"].lower() == status.lower()]

    def _find_ticket(self, ticket_id: int) -> dict[str, Any] | None:
        return next((ticket for ticket in self.ticket_queue if ticket["id"] == ticket_id), None)

    def _finish_ticket(self, function: str, ticket_id: int, status: str, **notes: str) -> dict[str, object]:
        # Official: only the same end twice is refused; a resolved ticket can be closed and the reverse.
        ticket = self._find_ticket(ticket_id)
        if ticket is None:
            return self._make_ticket_error(function, ticket_id)
        if ticket["status"] == status:
            ours = f"Ticket {{ticket_id}} was {status.lower()} before."
            return self._make_error(ours, function, 1, ticket_id=ticket_id)
        ticket.update(status=status, **notes)
        return _confirm(ticket_id, status.lower())

    def _make_ticket_error(self, function: str, ticket_id: object) -> dict[str, object]:
        return self._make_error("There is no ticket {ticket_id}.", function, 0, ticket_id=ticket_id)


def _confirm(ticket_id: object, what: str) -> dict[str, object]:
    return {"status": f"Ticket {ticket_id} has been {what} successfully."}
