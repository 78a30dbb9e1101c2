"""The demo: a comment on a local GitHub becomes a pull request, and everything is checked.

Every part is real but two: GitHub is `remit.emulators.github`, and the agent's model is a script
(``script.yaml``). The agent, its tools, git, the tests it runs, the bus and the services are what a
deployment runs.
"""
