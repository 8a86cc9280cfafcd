-- The database of several hosts: version 1. `luzia store migrate` runs this file in one transaction.
--
-- Tables are in the schema luzia, functions in luzia_1: one schema of functions for each version of the protocol. Within a version
-- changes only add. Every program calls functions only, so each promise is held here once.
-- Lock order of every transaction: request < key < host < lanes by id < tasks by id.
CREATE SCHEMA luzia;
CREATE SCHEMA luzia_1;
SET LOCAL search_path = luzia;

-- The version of the schema, and the oldest version of luzia's protocol that may use it.
CREATE TABLE setting (name text PRIMARY KEY, value text NOT NULL);
INSERT INTO setting VALUES ('schema', '1'), ('least', '1');

-- A host. Its session is drawn anew by each start of its agent; beat counts the renewals of its lease. Never altered: later
-- members go into about.
CREATE TABLE host (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  session uuid NOT NULL,
  beat bigint NOT NULL DEFAULT 0,
  renewed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  lease_ms bigint NOT NULL,
  free int NOT NULL DEFAULT 0,
  is_draining bool NOT NULL DEFAULT false,
  labels text[] NOT NULL DEFAULT '{}',
  about jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);

-- The scheduling duty: one agent at a time makes the passes. It is an optimisation and never a proof.
CREATE TABLE duty (
  one bool PRIMARY KEY DEFAULT true CHECK (one),
  host_id int, session uuid, beat bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);
INSERT INTO duty DEFAULT VALUES;

-- A lane, its capacity and the last fence that was given. Never deleted, so no fence repeats.
CREATE TABLE lane (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  capacity int NOT NULL DEFAULT 1,
  fence bigint NOT NULL DEFAULT 0,
  is_paused bool NOT NULL DEFAULT false
) WITH (fillfactor = 70);

-- Exclusion: two grants of one slot cannot both commit, whatever a scheduler believes.
CREATE TABLE hold (
  lane_id bigint NOT NULL REFERENCES lane,
  slot int NOT NULL,
  fence bigint NOT NULL,
  task_id bigint NOT NULL,
  token uuid NOT NULL,
  PRIMARY KEY (lane_id, slot)
);
CREATE INDEX hold_task ON hold (task_id);

-- A task: q queued, d held, a assigned, r running, w waiting, e over. Narrow, because each change writes it. xid names the
-- transaction that changed it last.
CREATE SEQUENCE task_id START 1099511627776;
CREATE TABLE task (
  id bigint PRIMARY KEY,
  state "char" NOT NULL DEFAULT 'q',
  place text,
  usr text NOT NULL,
  lanes bigint[] NOT NULL,
  tier smallint NOT NULL,
  priority smallint NOT NULL,
  due_at timestamptz,
  key text,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  host_id int,
  token uuid,
  starts int NOT NULL DEFAULT 0,
  ended_at timestamptz,
  ending text
) WITH (fillfactor = 70);
CREATE INDEX task_head ON task (usr, tier, priority, id) WHERE state = 'q';
CREATE INDEX task_open ON task (id) WHERE state <> 'e';
CREATE INDEX task_key ON task (key) WHERE key IS NOT NULL AND state <> 'e';
CREATE INDEX task_host ON task (host_id, id) WHERE state IN ('a', 'r', 'w');
CREATE INDEX task_ended ON task (ended_at) WHERE state = 'e';
CREATE INDEX task_xid ON task (xid);

-- The record of a task as luzia writes it, apart from its environment. The host that runs the task replaces it.
CREATE TABLE record (task_id bigint PRIMARY KEY, body text NOT NULL);
-- The members of the record that only a start needs, the environment among them. Deleted with the end of the task.
CREATE TABLE spec (task_id bigint PRIMARY KEY, body text NOT NULL);
-- The last part of the output of a task that is over.
CREATE TABLE tail (task_id bigint PRIMARY KEY, body bytea NOT NULL);

-- A request by its random word: a request that is repeated after a lost answer finds its answer here. Kept as long as results.
CREATE TABLE request (
  uuid uuid PRIMARY KEY,
  tasks bigint[] NOT NULL DEFAULT '{}',
  is_new bool[] NOT NULL DEFAULT '{}',
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A wish to the host that runs a task: cancel. The host deletes it with the end of the task.
CREATE TABLE wish (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host_id int NOT NULL, task_id bigint NOT NULL, what text NOT NULL, args jsonb NOT NULL
);
CREATE INDEX wish_host ON wish (host_id, id);

-- The version of the schema. Promise: a program of another version changes nothing.
CREATE FUNCTION luzia_1.version() RETURNS int LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT value::int FROM setting WHERE name = 'schema' $$;

-- Numbers for new tasks. Promise: a number is never given twice.
CREATE FUNCTION luzia_1.numbers(p_count int) RETURNS SETOF bigint LANGUAGE sql SET search_path = luzia AS $$
  SELECT nextval('task_id') FROM generate_series(1, p_count) $$;

-- Queues tasks. Promises: all or none; a repetition of the request gives the same answer, also after the tasks have ended; of two
-- requests with one key one sees the other. Key conflicts by `conflict`: queue, skip (and join), reject.
CREATE FUNCTION luzia_1.enqueue(p_request uuid, p_tasks jsonb) RETURNS TABLE (task_id bigint, is_new bool)
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
DECLARE one record; other bigint; ids bigint[] := '{}'; news bool[] := '{}';
BEGIN
  INSERT INTO request (uuid) VALUES (p_request) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN QUERY SELECT x.id, x.n FROM request r, unnest(r.tasks, r.is_new) WITH ORDINALITY x(id, n, ord)
      WHERE r.uuid = p_request ORDER BY x.ord;
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(k, 0)) FROM
    (SELECT DISTINCT x->>'key' AS k FROM jsonb_array_elements(p_tasks) x WHERE x->>'key' IS NOT NULL ORDER BY 1) keys;
  INSERT INTO lane (name) SELECT DISTINCT n FROM jsonb_array_elements(p_tasks) x, jsonb_array_elements_text(x->'lanes') n
    WHERE NOT EXISTS (SELECT FROM lane l WHERE l.name = n) ORDER BY 1 ON CONFLICT DO NOTHING;
  FOR one IN SELECT x FROM jsonb_array_elements(p_tasks) WITH ORDINALITY AS t(x, ord) ORDER BY ord LOOP
    other := NULL;
    IF one.x->>'key' IS NOT NULL AND one.x->>'conflict' <> 'queue' THEN
      SELECT max(t.id) INTO other FROM task t WHERE t.key = one.x->>'key' AND t.state <> 'e';
    END IF;
    IF other IS NOT NULL AND one.x->>'conflict' = 'reject' THEN
      RAISE EXCEPTION '%', other USING ERRCODE = 'LZ002';
    ELSIF other IS NOT NULL THEN
      ids := ids || other; news := news || false;
    ELSE
      INSERT INTO task (id, state, place, usr, lanes, tier, priority, due_at, key) VALUES
        ((one.x->>'id')::bigint, (one.x->>'state')::"char", one.x->>'place', one.x->>'user',
         ARRAY(SELECT l.id FROM lane l WHERE l.name IN (SELECT jsonb_array_elements_text(one.x->'lanes')) ORDER BY l.id),
         (one.x->>'tier')::smallint, (one.x->>'priority')::smallint,
         to_timestamp((one.x->>'due_ms')::double precision / 1000), one.x->>'key');
      INSERT INTO record VALUES ((one.x->>'id')::bigint, one.x->>'record');
      INSERT INTO spec VALUES ((one.x->>'id')::bigint, one.x->>'spec');
      ids := ids || (one.x->>'id')::bigint; news := news || true;
    END IF;
  END LOOP;
  UPDATE request SET tasks = ids, is_new = news WHERE uuid = p_request;
  RETURN QUERY SELECT * FROM unnest(ids, news);
END $$;

-- Ends a task that no host has. Promises: a task that a host has is left alone; a repetition gives the same answer. True if it
-- is over by this request.
CREATE FUNCTION luzia_1.cancel(p_request uuid, p_task bigint, p_record text) RETURNS bool
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO request (uuid, tasks) VALUES (p_request, ARRAY[p_task]) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN (SELECT r.is_new = '{t}' FROM request r WHERE r.uuid = p_request); END IF;
  UPDATE task SET state = 'e', ending = 'cancelled', xid = pg_current_xact_id(), ended_at = clock_timestamp()
    WHERE id = p_task AND state IN ('q', 'd');
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE record SET body = p_record WHERE task_id = p_task;
  DELETE FROM spec WHERE task_id = p_task;
  UPDATE request SET is_new = '{t}' WHERE uuid = p_request;
  RETURN true;
END $$;

-- Tasks in some states with a higher number than another, with their records, by number: a page of a list.
CREATE FUNCTION luzia_1.tasks(p_states text, p_user text, p_above bigint, p_most int)
RETURNS TABLE (id bigint, record text) LANGUAGE sql STABLE SET search_path = luzia SET jit = off AS $$
  SELECT t.id, r.body FROM task t JOIN record r ON r.task_id = t.id
  WHERE t.id > p_above AND position(t.state::text IN p_states) > 0 AND (p_user IS NULL OR t.usr = p_user)
  ORDER BY t.id LIMIT p_most $$;

-- One task with its record.
CREATE FUNCTION luzia_1.task(p_task bigint)
RETURNS TABLE (id bigint, record text) LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT r.task_id, r.body FROM record r WHERE r.task_id = p_task $$;

-- The number of the newest task, of a user if one is given.
CREATE FUNCTION luzia_1.newest(p_user text) RETURNS bigint LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT max(id) FROM task WHERE p_user IS NULL OR usr = p_user $$;

-- The number of queued tasks of the same user that come before a task.
CREATE FUNCTION luzia_1.ahead(p_task bigint) RETURNS bigint LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT count(*) FROM task own JOIN task t ON t.usr = own.usr AND t.state = 'q'
    AND (t.tier, t.priority, t.id) < (own.tier, own.priority, own.id) WHERE own.id = p_task $$;

-- What keeps a queued task: the hosts that may take it and are no drained ones, and the first lane that is full or paused.
CREATE FUNCTION luzia_1.why(p_task bigint)
RETURNS TABLE (place text, hosts bigint, lane text, is_paused bool, used bigint, capacity int, holder bigint)
LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT t.place,
    (SELECT count(*) FROM host h WHERE (t.place IS NULL OR h.name = t.place) AND NOT h.is_draining
      AND h.renewed_at > clock_timestamp() - h.lease_ms * interval '1 ms'),
    full_lane.name, full_lane.is_paused, full_lane.used, full_lane.capacity, full_lane.holder
  FROM task t LEFT JOIN LATERAL (
    SELECT l.name, l.is_paused, l.capacity, held.used, held.holder FROM lane l,
      LATERAL (SELECT count(*) AS used, min(h.task_id) AS holder FROM hold h WHERE h.lane_id = l.id) held
    WHERE l.id = ANY (t.lanes) AND (l.is_paused OR held.used >= l.capacity) ORDER BY l.id LIMIT 1) full_lane ON true
  WHERE t.id = p_task $$;

-- The hosts, by name.
CREATE FUNCTION luzia_1.hosts()
RETURNS TABLE (name text, is_alive bool, age_ms bigint, lease_ms bigint, free int, tasks bigint, is_draining bool, has_duty bool)
LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT h.name, h.renewed_at > clock_timestamp() - h.lease_ms * interval '1 ms',
    (extract(epoch FROM clock_timestamp() - h.renewed_at) * 1000)::bigint, h.lease_ms, h.free,
    (SELECT count(*) FROM task t WHERE t.host_id = h.id AND t.state IN ('a', 'r', 'w')), h.is_draining,
    EXISTS (SELECT FROM duty d WHERE d.host_id = h.id AND d.session = h.session)
  FROM host h ORDER BY h.name $$;

-- The numbers of unfinished tasks of each user, by state and tier, and whether they are due. One snapshot.
CREATE FUNCTION luzia_1.counts() RETURNS TABLE (usr text, state text, tier smallint, is_due bool, tasks bigint, first bigint)
LANGUAGE sql STABLE SET search_path = luzia SET jit = off AS $$
  SELECT t.usr, t.state::text, t.tier, t.state <> 'd' AND coalesce(t.due_at <= clock_timestamp(), true), count(*), min(t.id)
  FROM task t WHERE t.state <> 'e' GROUP BY 1, 2, 3, 4 $$;

-- The ends of the last hour, by kind.
CREATE FUNCTION luzia_1.recent() RETURNS TABLE (ending text, tasks bigint) LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT ending, count(*) FROM task WHERE state = 'e' AND ended_at > clock_timestamp() - interval '1 hour' GROUP BY 1 $$;

-- The state of the store: hosts, those whose leases are in force, tasks that wait for a host, tasks that a host has, and the host
-- with the duty. One snapshot.
CREATE FUNCTION luzia_1.state()
RETURNS TABLE (hosts bigint, living bigint, queued bigint, active bigint, duty text) LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT (SELECT count(*) FROM host),
    (SELECT count(*) FROM host WHERE renewed_at > clock_timestamp() - lease_ms * interval '1 ms'),
    (SELECT count(*) FROM task WHERE state IN ('q', 'd')), (SELECT count(*) FROM task WHERE state IN ('a', 'r', 'w')),
    (SELECT h.name FROM duty d JOIN host h ON h.id = d.host_id AND h.session = d.session) $$;
