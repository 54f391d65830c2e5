"""The server: parses over HTTP, with a JSON interface of its own and with the protocol of CoreNLP's server."""
