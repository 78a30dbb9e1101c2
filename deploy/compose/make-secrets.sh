#!/usr/bin/env bash
# Makes the secrets that docker-compose.yml wants, each a file that is there only once.
# What a provider gives (the GitHub token) starts empty: put it in by hand.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
umask 077
mkdir -p secrets
for name in nats-password panel-token panel-otlp-token console-token github-webhook-secret; do
  if [ ! -s "secrets/${name}" ]; then
    python3 -c 'import secrets; print(secrets.token_urlsafe(32), end="")' >"secrets/${name}"
    echo "made secrets/${name}"
  fi
done
touch secrets/github-token
# The containers run as user 10001, who must be able to read them.
if [ "$(id -u)" = 0 ]; then
  chown 10001:10001 secrets secrets/*
else
  chmod 0755 secrets && chmod 0444 secrets/*
  echo "secrets/ is readable by everybody on this machine: keep the folder above it closed"
fi
