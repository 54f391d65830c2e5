import asyncio

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")


class Client:
    """A client of an application in this process; exceptions that reach the server are raised."""

    def __init__(self, app, address="http://server"):
        self.app, self.address = app, address

    def open(self):
        """Return a client for code that is asynchronous itself."""
        return httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url=self.address)

    def request(self, *arguments, **options):
        async def answer():
            async with self.open() as client:
                return await client.request(*arguments, **options)

        return asyncio.run(answer())

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)


@pytest.fixture(scope="session")
def client():
    """A client of the pipeline `en`, with small limits."""
    from spacy_incparse.server.app import create_app

    return Client(create_app("en", 8, 2000, 30))
