-- A database as revision 0002 had it: a conversation with a call, one that a crash left running, an event.
INSERT INTO threads (pk, owner_id, id, title, created_at, updated_at, last_event_id, next_position) VALUES
  (1, 'local', 't1', 'First talk', '2026-03-02 09:00:00.000000', '2026-03-02 09:01:00.000000', 4, 4),
  (2, 'local', 't2', 'Second talk', '2026-03-02 10:00:00.000000', '2026-03-02 10:01:00.000000', 3, 2);
INSERT INTO runs (pk, owner_id, thread_pk, id, status, position, body_hash, first_event_id, last_event_id, heartbeat_at,
                  outcome, steps, started_at, finished_at, locale, timezone) VALUES
  (1, 'local', 1, 'r1', 'finished', 0, 'x', 1, 4, '2026-03-02 09:00:01.000000', '{"type":"success"}',
   '[{"name":"intent","state":"done","startedAt":"2026-03-02T09:00:00.000Z","finishedAt":null}]',
   '2026-03-02 09:00:00.000000', '2026-03-02 09:00:01.000000', 'en', 'UTC'),
  (2, 'local', 2, 'r2', 'running', 0, 'y', 1, NULL, '2026-03-02 10:00:00.000000', NULL, NULL,
   '2026-03-02 10:00:00.000000', NULL, 'en', 'UTC');
INSERT INTO messages (pk, owner_id, thread_pk, position, id, role, content, run_id, status, created_at, metadata, data) VALUES
  (1, 'local', 1, 0, 'u1', 'user', 'remind me', 'r1', 'complete', '2026-03-02 09:00:00.000000', NULL, NULL),
  (2, 'local', 1, 1, 'a1', 'assistant', '', 'r1', 'complete', '2026-03-02 09:00:00.000000', NULL,
   '{"call":{"id":"c1","name":"calendar_read","argsText":"{}","status":"completed","parentMessageId":null,"resultMessageId":"tm1","error":null,"errorCode":null,"encryptedValue":null}}'),
  (3, 'local', 1, 2, 'tm1', 'tool', 'Found 2 events', 'r1', 'complete', '2026-03-02 09:00:00.000000',
   '{"tool_call_id":"c1","tool_name":"calendar_read","run_id":"r1","stage":"execution","task_id":null,"storage_bucket":null,"storage_path":null,"summary_version":1,"storage_missing":true}', NULL),
  (4, 'local', 1, 3, 'm1', 'assistant', 'There are two.', 'r1', 'complete', '2026-03-02 09:00:01.000000', NULL, NULL),
  (5, 'local', 2, 0, 'u2', 'user', 'and then?', 'r2', 'complete', '2026-03-02 10:00:00.000000', NULL, NULL),
  (6, 'local', 2, 1, 'm2', 'assistant', '', 'r2', 'streaming', '2026-03-02 10:00:00.000000', NULL, NULL);
INSERT INTO events (thread_pk, id, owner_id, run_pk, data, created_at) VALUES
  (1, 4, 'local', 1, '{"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"success"}}', '2026-03-02 09:00:01.000000'),
  (2, 1, 'local', 2, '{"type":"RUN_STARTED","threadId":"t2","runId":"r2","timestamp":1772445600000,"input":{"threadId":"t2","runId":"r2","messages":[{"id":"u2","role":"user","content":"and then?"}],"tools":[],"context":[]}}', '2026-03-02 10:00:00.000000'),
  (2, 2, 'local', 2, '{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant","timestamp":1772445600000}', '2026-03-02 10:00:00.000000'),
  (2, 3, 'local', 2, '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"Then ","timestamp":1772445600000}', '2026-03-02 10:00:00.000000');
INSERT INTO pending_payloads (pk, owner_id, thread_pk, message_id, path, payload, attempts, next_attempt_at, created_at) VALUES
  (1, 'local', 1, 'tm1', 'tool_result/aa/aa.json', '{"schema":"tool_result","version":"v1","callId":"c1","args":{},"result":{"count":2},"error":null,"ui":null,"content":"Found 2 events"}', 0, '2026-03-02 09:00:00.000000', '2026-03-02 09:00:00.000000');
INSERT INTO calendar_events (pk, owner_id, id, title, start_at, end_at, all_day, timezone, created_at, updated_at) VALUES
  (1, 'local', 'e1', 'Dentist', '2026-03-03 09:00:00.000000', '2026-03-03 10:00:00.000000', 0, 'UTC', '2026-03-02 09:00:00.000000', '2026-03-02 09:00:00.000000');
UPDATE runs SET superseded_by = NULL;
INSERT INTO discarded_payloads (pk, owner_id, path, attempts, next_attempt_at) VALUES
  (1, 'local', 'tool_result/bb/bb.json', 0, '2026-03-02 09:00:00.000000');
INSERT INTO deleted_threads (owner_id, id, last_event_id) VALUES ('local', 'gone', 12);
