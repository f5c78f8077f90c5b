"""The only place that knows the HTTP library: requests go out, bytes come in, failures are told in words.

No redirect is followed, so no key ever goes to another server than the one it is meant for. To this machine
no proxy is used. Nothing is decompressed: a small answer cannot become a huge one.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
from contextlib import aclosing, asynccontextmanager, contextmanager
from ipaddress import ip_address
from logging import WARNING, getLogger
from socket import gaierror
from typing import TYPE_CHECKING, Final

import httpx2

from teambot_tui.agents.backends.chat_api import TransientError
from teambot_tui.engine.ports import BackendError
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator

_LARGEST_BODY: Final = 4 * 1024 * 1024
_HIDDEN: Final = "[key]"
_IDENTITY: Final = ("", "identity")

getLogger("httpcore2").setLevel(
    WARNING
)  # below, it writes down headers, in which a server may repeat the key


class Response:
    """What a server answered: the head is there, the body comes as it is read."""

    def __init__(self, client: HttpClient, response: httpx2.Response, key: str) -> None:
        self._client = client
        self._response = response
        self._key = key
        self.origin = client.origin
        self.status = response.status_code

    def header(self, name: str) -> str:
        """Return a header, an empty text if it is missing."""
        return self.without_key(str(self._response.headers.get(name, "")))

    def without_key(self, text: str) -> str:
        """Hide the key that was sent, where a server repeats it."""
        return text.replace(self._key, _HIDDEN) if self._key else text

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Read the body as it comes.

        Raises:
            BackendError: the connection breaks off or falls silent.
        """
        if self.header("content-encoding").lower() not in _IDENTITY:
            raise BackendError(f"{self._client.origin} compresses its answers although it was asked not to")
        with self._client.told_in_words():
            async for piece in self._response.aiter_raw():
                yield piece

    async def content(self) -> str:
        """Read the body whole, up to a limit; what is longer is cut.

        Raises:
            BackendError: the connection breaks off or falls silent, or the end does not come.
        """
        content = bytearray()
        with self._client.told_in_words():
            async with asyncio.timeout(self._client.silence_timeout), aclosing(self.pieces()) as pieces:
                async for piece in pieces:
                    content += piece
                    if len(content) > _LARGEST_BODY:
                        break
        return self.without_key(content[:_LARGEST_BODY].decode("utf-8", "replace"))


class HttpClient:
    """Connections to one server. It belongs to one event loop."""

    def __init__(self, base_url: str, *, connect_timeout: float, silence_timeout: float) -> None:
        self._base_url = base_url.rstrip("/")
        self.silence_timeout = silence_timeout
        self._connect_timeout = connect_timeout
        url = httpx2.URL(base_url)
        self.origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(silence_timeout, connect=connect_timeout, pool=None),
            follow_redirects=False,
            trust_env=not _is_this_machine(url.host),
            headers={"Accept-Encoding": "identity"},
        )

    @asynccontextmanager
    async def request(
        self, method: str, path: str, key: str, content: bytes | None = None
    ) -> AsyncIterator[Response]:
        """Send a request; leaving the block closes the connection if the answer was not read to its end.

        Raises:
            BackendError: there is no answer; a `TransientError` if another attempt may help.
        """
        headers = {"Content-Type": "application/json"} if content is not None else {}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = self._client.build_request(method, self._base_url + path, content=content, headers=headers)
        with self.told_in_words():
            response = await self._client.send(request, stream=True)
        try:
            yield Response(self, response, key)
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    @contextmanager
    def told_in_words(self) -> Iterator[None]:
        """Turn what the library raises into something the user can act on."""
        try:
            yield
        except httpx2.ConnectTimeout as error:
            raise TransientError(
                f"{self.origin} does not answer within {self._connect_timeout:g} s: is base_url right?"
            ) from error
        except httpx2.ConnectError as error:
            raise self._unreachable(error) from error
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise BackendError(
                f"{self.origin} was given up: no output for {self.silence_timeout:g} s"
            ) from error
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise TransientError(f"the connection to {self.origin} broke off") from error

    def _unreachable(self, error: httpx2.ConnectError) -> BackendError:
        for cause in _causes(error):
            match cause:
                case ssl.SSLCertVerificationError():
                    why = one_line(str(cause.verify_message), 100)
                    return BackendError(f"the certificate of {self.origin} is not trusted: {why}")
                case gaierror():
                    return TransientError(f"there is no host of that name: {self.origin}; is base_url right?")
                case OSError(errno=errno.ECONNREFUSED):
                    return TransientError(f"no server at {self.origin}: start it, or correct base_url")
        return TransientError(f"{self.origin} cannot be reached: {one_line(str(error), 200)}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from, on all branches."""
    waiting: list[BaseException | None] = [error]
    while waiting:
        if (cause := waiting.pop()) is not None:
            yield cause
            waiting.extend(cause.exceptions if isinstance(cause, BaseExceptionGroup) else ())
            waiting.append(cause.__cause__ or cause.__context__)


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
