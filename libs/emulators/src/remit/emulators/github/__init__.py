"""A local GitHub: REST, webhooks, and real git repositories, for demos and tests.

Run it with ``python -m remit.emulators.github --git-root DIR``, or build the application with
`remit.emulators.github.app.create_app`. It answers in the shapes of GitHub's published OpenAPI
description; what it does not do it refuses openly (404 or 501) instead of pretending.
"""
