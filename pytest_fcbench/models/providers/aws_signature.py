"""Sign requests to Amazon Bedrock with the credentials that Amazon's own tools find."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from pytest_fcbench.domain.errors import CallError

REGION = "us-east-1"
"""The official region."""
_DOMAINS = (".amazonaws.com", ".amazonaws.com.cn")


def needs_signature(api_base: str) -> bool:
    """Tell whether an address is Amazon's, where a request without a key has to be signed."""
    return (urlsplit(api_base).hostname or "").endswith(_DOMAINS)


def find_region(api_base: str) -> str:
    """Return the region in an address such as ``bedrock-runtime.eu-west-1.amazonaws.com``."""
    if needs_signature(api_base):
        return (urlsplit(api_base).hostname or "").split(".")[1]
    return os.environ.get("AWS_REGION", REGION)


@dataclass
class RequestSigner:
    """Signs the requests to one address (AWS Signature Version 4)."""

    api_base: str
    profile: str | None = field(default_factory=lambda: os.environ.get("AWS_SSO_PROFILE_NAME"))
    """The profile of the credentials, by the official variable; None for that of the environment."""

    @cached_property
    def _credentials(self) -> object:
        """The credentials of the environment, of a profile or of the machine, looked up once."""
        # Imported late because it takes a fifth of a second, which other providers do not need.
        from botocore.session import Session

        return Session(profile=self.profile).get_credentials()

    def sign_headers(self, url: str, headers: Mapping[str, str], body: str) -> Mapping[str, str]:
        """Return the headers with the signature of a POST request. Raises ``CallError``.

        It may wait for files and servers with credentials, so it does not belong on an event loop.
        """
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError

        try:
            if not (credentials := self._credentials):
                raise CallError(
                    "authentication",
                    "no API key is set in AWS_BEARER_TOKEN_BEDROCK, and no AWS credentials were found; set "
                    "the key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in AWS_PROFILE",
                )
            request = AWSRequest("POST", url, headers=dict(headers), data=body.encode())
            SigV4Auth(credentials, "bedrock", find_region(self.api_base)).add_auth(request)
        except BotoCoreError as error:
            reason = f"the AWS credentials cannot be used: {error}; check AWS_PROFILE and the login"
            raise CallError("authentication", reason) from None
        return {str(name): str(value) for name, value in request.headers.items()}
