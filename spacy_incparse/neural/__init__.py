"""The neural parser: network, encoders, component."""
