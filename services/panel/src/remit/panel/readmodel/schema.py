"""The tables of the read model.

Times are microseconds since 1970 (UTC). ``position`` is a message's sequence in its stream. Each
table is written by one stream's projection alone; where two streams meet (a Trigger and its
Disposition), triggers of SQLite bring them together, whichever came first.
"""

from __future__ import annotations

from remit.panel.database import Schema

SCHEMA = Schema(
    version=1,
    script="""
CREATE TABLE positions (
    stream TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    message TEXT NOT NULL,
    stored_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Messages that the panel could not read: a defect, or a newer version of a service.
CREATE TABLE unreadable (
    stream TEXT NOT NULL,
    position INTEGER NOT NULL,
    subject TEXT NOT NULL,
    problem TEXT NOT NULL,
    stored_at INTEGER NOT NULL,
    PRIMARY KEY (stream, position)
) WITHOUT ROWID;

-- How often something happened, by hour.
CREATE TABLE tallies (
    what TEXT NOT NULL,
    key TEXT NOT NULL,
    hour INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (what, key, hour)
) WITHOUT ROWID;

-- TRIGGER -----------------------------------------------------------------------------------

CREATE TABLE triggers (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    home TEXT NOT NULL,
    title TEXT,
    excerpt TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    trace TEXT,
    document TEXT NOT NULL
);
CREATE INDEX triggers_by_source ON triggers (source, position);

CREATE TABLE thread_triggers (
    thread TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    trigger TEXT NOT NULL,
    PRIMARY KEY (thread, occurred_at, trigger)
) WITHOUT ROWID;

CREATE VIRTUAL TABLE trigger_search USING fts5 (title, text, content='');

-- Triggers that have no Disposition yet.
CREATE TABLE unsettled (
    trigger TEXT PRIMARY KEY,
    stored_at INTEGER NOT NULL
) WITHOUT ROWID;

-- DISPOSITION -------------------------------------------------------------------------------

CREATE TABLE dispositions (
    position INTEGER PRIMARY KEY,
    trigger TEXT NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT,
    stored_at INTEGER NOT NULL,
    document TEXT NOT NULL
);
CREATE INDEX dispositions_by_trigger ON dispositions (trigger, kind, outcome);

CREATE TRIGGER a_trigger_waits_for_its_disposition AFTER INSERT ON triggers
WHEN NOT EXISTS (SELECT 1 FROM dispositions WHERE trigger = new.id)
BEGIN
    INSERT OR REPLACE INTO unsettled VALUES (new.id, new.stored_at);
END;

CREATE TRIGGER a_disposition_settles_its_trigger AFTER INSERT ON dispositions
BEGIN
    DELETE FROM unsettled WHERE trigger = new.trigger;
END;

-- THREAD and TICKET -------------------------------------------------------------------------

CREATE TABLE threads (
    key TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    at INTEGER NOT NULL,
    document TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE decisions (
    id TEXT PRIMARY KEY,
    thread TEXT NOT NULL,
    ticket TEXT,
    document TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE tickets (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    position INTEGER NOT NULL,
    title TEXT NOT NULL,
    searchable TEXT NOT NULL,
    source TEXT NOT NULL,
    status TEXT NOT NULL,
    stage TEXT,
    stopped INTEGER NOT NULL,
    asked_at INTEGER,
    opened_at INTEGER NOT NULL,
    at INTEGER NOT NULL,
    document TEXT NOT NULL
);
CREATE INDEX tickets_by_change ON tickets (position);
CREATE INDEX tickets_by_stage ON tickets (stage, at);
CREATE INDEX tickets_waiting_for_an_answer ON tickets (asked_at) WHERE asked_at IS NOT NULL;

CREATE VIRTUAL TABLE ticket_search USING fts5 (title, content='');

CREATE TRIGGER a_ticket_can_be_found AFTER INSERT ON tickets
BEGIN
    INSERT INTO ticket_search (rowid, title) VALUES (new.number, new.searchable);
END;

-- What happened to a Thread or a Ticket: the events of its commits.
CREATE TABLE moments (
    aggregate TEXT NOT NULL,
    key TEXT NOT NULL,
    position INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    event TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (aggregate, key, position, number)
) WITHOUT ROWID;

-- Which of them are about a Trigger.
CREATE TABLE mentions (
    trigger TEXT NOT NULL,
    aggregate TEXT NOT NULL,
    key TEXT NOT NULL,
    position INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (trigger, aggregate, key, position, number)
) WITHOUT ROWID;

-- The rest ----------------------------------------------------------------------------------

CREATE TABLE policies (
    position INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    at INTEGER NOT NULL,
    document TEXT NOT NULL
);

CREATE TABLE drops (
    position INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    document TEXT NOT NULL
);
CREATE INDEX drops_by_source ON drops (source, reason);

CREATE TABLE dead_letters (
    position INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    subject TEXT NOT NULL,
    message TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    trace TEXT,
    document TEXT NOT NULL
);

CREATE TABLE console_lines (
    position INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL,
    at INTEGER NOT NULL,
    document TEXT NOT NULL
);
CREATE INDEX console_lines_by_conversation ON console_lines (conversation, position);
""",
)
