"""Pre-trained transformers beyond loading them: texts of a domain, and more layers."""
