-- The database of several hosts: version 1. `luzia store migrate` runs this file in one transaction.
--
-- Tables are in the schema luzia, functions in luzia_1: one schema of functions for each version of the protocol. Within a version
-- changes only add. Every program calls functions only, so each promise is held here once.
-- Lock order of every transaction: request < key < host < lanes by id < tasks by id.
-- What an agent asks in each round is in PL/pgSQL, which plans a statement once for a connection; a function in SQL that the server cannot
-- inline is parsed and planned with each call. Such a plan outlives the sizes of the tables that it was made for, so settings leave it
-- nothing but rows found by their keys. A plan that has no other way than a forbidden one looks dear, so none is compiled: jit is off.
CREATE SCHEMA luzia;
CREATE SCHEMA luzia_1;
SET LOCAL search_path = luzia;

-- The version of the schema, and the oldest version of luzia's protocol that may use it.
CREATE TABLE setting (name text PRIMARY KEY, value text NOT NULL);
-- The epoch is drawn anew when people accept a database that is older than its hosts.
-- For the time kept the environment of a task that did not complete is here for a retry.
INSERT INTO setting VALUES ('schema', '1'), ('least', '1'), ('epoch', gen_random_uuid()), ('kept', '7 days');

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

-- A lane and the last fence that was given. Never deleted, so no fence repeats. A name that ends in * is a pattern: it means the lanes
-- whose names begin so. rules are those that were set for this name. pause describes the pause of this name, which ends at own_until; that
-- is infinity for one without an end. The other members are in force by the rules and pauses of this name and of the patterns that mean it:
-- the capacity, the values of the slots (names), the rate, the weight of the user, and the end of the last pause. most is the greatest
-- capacity that the lane has had: a lower one ends no holder. Its rate allows nothing until limited_until. xid names the transaction that
-- changed its rules, its pause or its limit last.
CREATE TABLE lane (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  capacity int NOT NULL DEFAULT 1,
  most int NOT NULL DEFAULT 1,
  fence bigint NOT NULL DEFAULT 0,
  rules text NOT NULL DEFAULT '{}',
  names text[],
  rate text,
  weight int,
  own_until timestamptz,
  pause text,
  paused_until timestamptz,
  limited_until timestamptz,
  xid xid8
) WITH (fillfactor = 70);
CREATE INDEX lane_xid ON lane (xid) WHERE xid IS NOT NULL;
CREATE INDEX lane_pattern ON lane (name) WHERE name LIKE '%*';

-- The last grants of a lane with a rate.
CREATE TABLE granted (lane_id bigint NOT NULL, at timestamptz NOT NULL);
CREATE INDEX granted_lane ON granted (lane_id, at);

-- Exclusion: two grants of one slot cannot both commit, whatever a scheduler believes. A lease has the id of its lock on its host, and
-- the moment to which its host last extended it; neither ends a hold. No lane is ever deleted, so no key refers to it.
CREATE TABLE hold (
  lane_id bigint NOT NULL,
  slot int NOT NULL,
  fence bigint NOT NULL,
  task_id bigint NOT NULL,
  token uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  value text,
  lock_id text,
  expires_at timestamptz,
  PRIMARY KEY (lane_id, slot)
);
CREATE INDEX hold_task ON hold (task_id);

-- A task: q queued, d held, a assigned, r running, w waiting, e over. Narrow, because each change writes it. xid names the
-- transaction that changed it last. The place is the name or a label of hosts, or empty for any. counts are the numbers of slots of its lanes,
-- where one is above 1. grp names its group among the tasks of its user, place, lanes and priority; turn is the first task of that, or
-- itself. refused are the hosts that have declined it, and declined names the last one.
-- asked_at is the moment since which it waits, or waited for its present run.
CREATE SEQUENCE task_id START 1099511627776;
CREATE TABLE task (
  id bigint PRIMARY KEY,
  state "char" NOT NULL DEFAULT 'q',
  place text NOT NULL DEFAULT '',
  usr text NOT NULL,
  lanes bigint[] NOT NULL,
  counts int[],
  takes_user_lane bool NOT NULL DEFAULT true,
  tier smallint NOT NULL,
  priority smallint NOT NULL,
  due_at timestamptz,
  key text,
  grp text,
  turn bigint NOT NULL,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  host_id int,
  token uuid,
  refused int[] NOT NULL DEFAULT '{}',
  declined text,
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  starts int NOT NULL DEFAULT 0,
  ended_at timestamptz,
  ending text
) WITH (fillfactor = 70);
CREATE INDEX task_head ON task (usr, place, lanes, tier, priority, turn, id) WHERE state = 'q';
CREATE INDEX task_open ON task (id) WHERE state <> 'e';
CREATE INDEX task_key ON task (key) WHERE key IS NOT NULL AND state <> 'e';
CREATE INDEX task_group ON task (grp, turn) WHERE grp IS NOT NULL;
CREATE INDEX task_host ON task (host_id, id) WHERE state IN ('a', 'r', 'w');
CREATE INDEX task_ended ON task (ended_at) WHERE state = 'e';
CREATE INDEX task_xid ON task (xid);
CREATE INDEX task_due ON task (due_at) WHERE state = 'q' AND due_at IS NOT NULL;

-- The record of a task as luzia writes it, apart from its environment. The host that runs the task replaces it.
CREATE TABLE record (task_id bigint PRIMARY KEY, body text NOT NULL);
-- The members of the record that only a start needs, the environment among them. Deleted when the task completes; after another end
-- it is kept for a retry until a moment.
CREATE TABLE spec (task_id bigint PRIMARY KEY, body text NOT NULL, kept_until timestamptz);
CREATE INDEX spec_kept ON spec (kept_until) WHERE kept_until IS NOT NULL;
-- The last part of the output of a task that is over.
CREATE TABLE tail (task_id bigint PRIMARY KEY, body bytea NOT NULL);

-- A run that is over: the moments at which its task was queued for it, had its grants, and left the host, by the clock of the server; and
-- the begin and the end of its command by the clock of the host, as far as that has told them. Kept as long as results.
CREATE TABLE run (
  task_id bigint NOT NULL,
  left_at timestamptz NOT NULL,
  asked_at timestamptz NOT NULL,
  granted_at timestamptz NOT NULL,
  begun_at timestamptz,
  ended_at timestamptz,
  host_id int NOT NULL,
  ending text NOT NULL,
  PRIMARY KEY (task_id, left_at)
);
CREATE INDEX run_left ON run USING brin (left_at);

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
CREATE INDEX wish_task ON wish (task_id);

-- The version of the schema. Promise: a program of another version changes nothing.
CREATE FUNCTION luzia_1.version() RETURNS int LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT value::int FROM setting WHERE name = 'schema' $$;

-- A moment by its milliseconds since 1970, and these of a moment.
CREATE FUNCTION luzia_1.moment(p_ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$ SELECT to_timestamp(p_ms::double precision / 1000) $$;
CREATE FUNCTION luzia_1.ms_of(p_at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT (extract(epoch FROM p_at) * 1000)::bigint $$;

-- Numbers for new tasks. Promise: a number is never given twice.
CREATE FUNCTION luzia_1.numbers(p_count int) RETURNS SETOF bigint LANGUAGE sql SET search_path = luzia AS $$
  SELECT nextval('task_id') FROM generate_series(1, p_count) $$;

-- Whether a name means another one: it is the same, or a pattern with which the other one begins.
CREATE FUNCTION luzia_1.means(p_name text, p_other text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
  SELECT p_other = p_name OR p_name LIKE '%*' AND starts_with(p_other, left(p_name, -1)) $$;

-- A lane or a pattern, and the patterns that mean it, with the rules that were set for each: its own name first, then the longest pattern.
CREATE FUNCTION luzia_1.meaning(p_name text) RETURNS TABLE (name text, nth bigint, rule jsonb, pause text, own_until timestamptz)
LANGUAGE sql STABLE SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
  SELECT l.name, row_number() OVER (ORDER BY l.name = p_name DESC, length(l.name) DESC), l.rules::jsonb->l.name, l.pause, l.own_until
  FROM lane l WHERE luzia_1.means(l.name, p_name) $$;

-- The moment at which a rate allows a lane the next grant, or nothing if it does now. A rate is a number of grants and a time: 10/1m.
CREATE FUNCTION luzia_1.granted_again(p_lane bigint, p_rate text) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
  SELECT again FROM (SELECT g.at + split_part(p_rate, '/', 2)::interval AS again FROM granted g
    WHERE g.lane_id = p_lane ORDER BY g.at DESC OFFSET split_part(p_rate, '/', 1)::int - 1 LIMIT 1) last WHERE again > clock_timestamp() $$;

-- Brings the lanes that a name means in line with the rules and the pauses in force: of several rules the first that has a member. The
-- patterns are read once, and a lane that follows already is not written. subagent is the lane that has more than one slot without a rule.
CREATE FUNCTION luzia_1.follow_rules(p_name text) RETURNS void LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
BEGIN
  PERFORM 1 FROM lane l WHERE luzia_1.means(p_name, l.name) ORDER BY l.id FOR NO KEY UPDATE;
  WITH pattern AS MATERIALIZED (
    SELECT p.name, p.rules::jsonb->p.name AS rule, p.own_until, row_number() OVER (ORDER BY length(p.name) DESC) AS nth
    FROM lane p WHERE p.name LIKE '%*' AND (p.rules <> '{}' OR p.own_until > clock_timestamp())),
  new AS (SELECT w.id, r.rate, r.weight, r.paused_until, v.names,
      coalesce(least(r.max, cardinality(v.names)), CASE w.name WHEN 'subagent' THEN 8 ELSE 1 END) AS capacity
    FROM lane w CROSS JOIN LATERAL (
      SELECT (array_agg(m.rule->>'max' ORDER BY m.nth) FILTER (WHERE m.rule ? 'max'))[1]::int AS max,
        (array_agg(m.rule->'values' ORDER BY m.nth) FILTER (WHERE m.rule ? 'values'))[1] AS list,
        (array_agg(m.rule->>'rate' ORDER BY m.nth) FILTER (WHERE m.rule ? 'rate'))[1] AS rate,
        (array_agg(m.rule->>'weight' ORDER BY m.nth) FILTER (WHERE m.rule ? 'weight'))[1]::int AS weight,
        max(m.own_until) FILTER (WHERE m.own_until > clock_timestamp()) AS paused_until
      FROM (SELECT w.rules::jsonb->w.name AS rule, w.own_until, 0 AS nth
        UNION ALL SELECT p.rule, p.own_until, p.nth FROM pattern p WHERE p.name <> w.name AND luzia_1.means(p.name, w.name)) m) r
    CROSS JOIN LATERAL (SELECT CASE WHEN r.list IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(r.list)) END AS names) v
    WHERE luzia_1.means(p_name, w.name))
  UPDATE lane l SET capacity = n.capacity, most = greatest(l.most, n.capacity), names = n.names, rate = n.rate, weight = n.weight,
    paused_until = n.paused_until, limited_until = CASE WHEN n.rate IS NOT NULL THEN luzia_1.granted_again(l.id, n.rate) END,
    xid = pg_current_xact_id()
  FROM new n WHERE n.id = l.id AND (l.capacity, l.names, l.rate, l.weight, l.paused_until)
    IS DISTINCT FROM (n.capacity, n.names, n.rate, n.weight, n.paused_until);
END $$;

-- Changes of patterns and lanes that are new exclude each other: no new lane misses a rule or a pause of a pattern.
CREATE FUNCTION luzia_1.exclude(p_name text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(7858236392) WHERE p_name LIKE '%*' $$;

-- Makes the rows of lanes that are new.
CREATE FUNCTION luzia_1.know_lanes(p_names text[]) RETURNS void LANGUAGE plpgsql SET search_path = luzia AS $$
DECLARE new text[] := ARRAY(SELECT DISTINCT n FROM unnest(p_names) n WHERE NOT EXISTS (SELECT FROM lane l WHERE l.name = n) ORDER BY 1);
BEGIN
  IF new = '{}' THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock_shared(7858236392);
  INSERT INTO lane (name) SELECT unnest(new) ON CONFLICT DO NOTHING;
  PERFORM luzia_1.follow_rules(n) FROM unnest(new) n WHERE n = 'subagent' OR EXISTS (SELECT FROM luzia_1.meaning(n) m WHERE m.name <> n);
END $$;

-- Queues tasks. Promises: all or none; a repetition of the request gives the same answer, also after the tasks have ended; of two
-- requests with one key or group one sees the other. Key conflicts by `conflict`: queue, skip (and join), reject, and replace. A request
-- that replaces others is refused with the list of them all, once nothing is rejected; those that are `beside` a task are not among them.
-- A task of a group takes its turn at that of the first one, while its group has fewer than `most` tasks and one that is not over.
CREATE FUNCTION luzia_1.enqueue(p_request uuid, p_tasks jsonb) RETURNS TABLE (task_id bigint, is_new bool, turn bigint)
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
DECLARE one record; other bigint; head bigint; ids bigint[] := '{}'; news bool[] := '{}'; others bigint[]; older bigint[] := '{}';
BEGIN
  INSERT INTO request (uuid) VALUES (p_request) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN QUERY SELECT x.id, x.n, t.turn FROM request r, unnest(r.tasks, r.is_new) WITH ORDINALITY x(id, n, ord), task t
      WHERE r.uuid = p_request AND t.id = x.id ORDER BY x.ord;
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(k, 0)) FROM
    (SELECT DISTINCT k FROM jsonb_array_elements(p_tasks) x, unnest(ARRAY[x->>'key', x->>'group']) k WHERE k IS NOT NULL ORDER BY 1) keys;
  PERFORM luzia_1.know_lanes(ARRAY(SELECT n FROM jsonb_array_elements(p_tasks) x,
    jsonb_array_elements_text(x->'lanes' || to_jsonb('user:' || (x->>'user'))) n));
  FOR one IN SELECT x FROM jsonb_array_elements(p_tasks) WITH ORDINALITY AS t(x, ord) ORDER BY ord LOOP
    others := '{}';
    IF one.x->>'key' IS NOT NULL AND one.x->>'conflict' <> 'queue' THEN
      others := ARRAY(SELECT t.id FROM task t
        WHERE t.key = one.x->>'key' AND t.state <> 'e' AND NOT coalesce(one.x->'beside', '[]') @> to_jsonb(t.id) ORDER BY t.id);
    END IF;
    other := others[cardinality(others)];
    IF other IS NOT NULL AND one.x->>'conflict' = 'reject' THEN
      RAISE EXCEPTION '%', other USING ERRCODE = 'LZ002';
    ELSIF other IS NOT NULL AND one.x->>'conflict' = 'replace' THEN
      older := older || others;
    ELSIF other IS NOT NULL THEN
      ids := ids || other; news := news || false;
    ELSE
      head := (one.x->>'id')::bigint;
      IF one.x ? 'group' THEN
        SELECT least(t.turn, head) INTO head FROM task t
          WHERE t.grp = one.x->>'group' AND t.turn = (SELECT max(g.turn) FROM task g WHERE g.grp = one.x->>'group')
          GROUP BY t.turn HAVING count(*) < (one.x->>'most')::int AND bool_or(t.state <> 'e');
        head := coalesce(head, (one.x->>'id')::bigint);
      END IF;
      INSERT INTO task (id, state, place, usr, lanes, counts, takes_user_lane, tier, priority, due_at, key, grp, turn) VALUES
        ((one.x->>'id')::bigint, (one.x->>'state')::"char", one.x->>'place', one.x->>'user',
         ARRAY(SELECT l.id FROM lane l WHERE l.name IN (SELECT jsonb_array_elements_text(one.x->'lanes')) ORDER BY l.id),
         CASE WHEN one.x ? 'counts' THEN ARRAY(SELECT coalesce((one.x->'counts'->>l.name)::int, 1) FROM lane l
           WHERE l.name IN (SELECT jsonb_array_elements_text(one.x->'lanes')) ORDER BY l.id) END,
         (one.x->>'own')::bool, (one.x->>'tier')::smallint, (one.x->>'priority')::smallint,
         luzia_1.moment((one.x->>'due_ms')::bigint), one.x->>'key', one.x->>'group', head);
      INSERT INTO record VALUES ((one.x->>'id')::bigint, CASE WHEN head = (one.x->>'id')::bigint THEN one.x->>'record'
        ELSE jsonb_set((one.x->>'record')::jsonb, '{group_first}', to_jsonb('task_' || head))::text END);
      INSERT INTO spec VALUES ((one.x->>'id')::bigint, one.x->>'spec');
      ids := ids || (one.x->>'id')::bigint; news := news || true;
    END IF;
  END LOOP;
  IF older <> '{}' THEN RAISE EXCEPTION '%', array_to_string(older, ' ') USING ERRCODE = 'LZ003'; END IF;
  UPDATE request SET tasks = ids, is_new = news WHERE uuid = p_request;
  RETURN QUERY SELECT x.id, x.n, t.turn FROM unnest(ids, news) WITH ORDINALITY x(id, n, ord), task t WHERE t.id = x.id ORDER BY x.ord;
END $$;

-- The time for which the environment of a task that did not complete is kept, in words.
CREATE FUNCTION luzia_1.kept() RETURNS text LANGUAGE sql STABLE SET search_path = luzia AS $$ SELECT value FROM setting WHERE name = 'kept' $$;

-- Deletes what a start of a completed task needs. After another end it is kept for a retry, for some time: each end deletes some whose
-- time is over, and waits for nobody.
CREATE FUNCTION luzia_1.keep_spec(p_task bigint, p_ending text) RETURNS void
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  IF p_ending = 'completed' THEN DELETE FROM spec WHERE task_id = p_task;
  ELSE UPDATE spec SET kept_until = clock_timestamp() + luzia_1.kept()::interval WHERE task_id = p_task; END IF;
  DELETE FROM spec WHERE task_id IN
    (SELECT s.task_id FROM spec s WHERE s.kept_until < clock_timestamp() ORDER BY s.kept_until LIMIT 8 FOR UPDATE SKIP LOCKED);
END $$;

-- Queues a task that is over again. Promises: only if its record is the one that was seen, and what its start needs is still here; a
-- repetition gives the same answer; of it and a request with the same key one sees the other. The answer is again, changed or gone.
CREATE FUNCTION luzia_1.retry(p_request uuid, p_task bigint, p_seen text, p_record text, p_due_ms bigint) RETURNS text
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
BEGIN
  INSERT INTO request (uuid, tasks) VALUES (p_request, ARRAY[p_task]) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN (SELECT CASE WHEN r.is_new = '{t}' THEN 'again' ELSE 'changed' END FROM request r WHERE r.uuid = p_request); END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(t.key, 0)) FROM task t WHERE t.id = p_task AND t.key IS NOT NULL;
  PERFORM 1 FROM task WHERE id = p_task AND state = 'e' FOR NO KEY UPDATE; IF NOT FOUND THEN RETURN 'changed'; END IF;
  UPDATE record SET body = p_record WHERE task_id = p_task AND body = p_seen; IF NOT FOUND THEN RETURN 'changed'; END IF;
  UPDATE spec SET kept_until = NULL WHERE task_id = p_task; IF NOT FOUND THEN
    UPDATE record SET body = p_seen WHERE task_id = p_task;
    RETURN 'gone';
  END IF;
  UPDATE task SET state = 'q', ending = NULL, ended_at = NULL, due_at = luzia_1.moment(p_due_ms), host_id = NULL,
    refused = '{}', declined = NULL, asked_at = clock_timestamp(), xid = pg_current_xact_id() WHERE id = p_task;
  UPDATE request SET is_new = '{t}' WHERE uuid = p_request;
  RETURN 'again';
END $$;

-- Ends a task that no host has. Promises: a task that a host has is left alone; a repetition gives the same answer. True if it
-- is over by this request.
CREATE FUNCTION luzia_1.cancel(p_request uuid, p_task bigint, p_record text) RETURNS bool
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
BEGIN
  INSERT INTO request (uuid, tasks) VALUES (p_request, ARRAY[p_task]) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN (SELECT r.is_new = '{t}' FROM request r WHERE r.uuid = p_request); END IF;
  UPDATE task SET state = 'e', ending = 'cancelled', xid = pg_current_xact_id(), ended_at = clock_timestamp()
    WHERE id = p_task AND state IN ('q', 'd');
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE record SET body = p_record WHERE task_id = p_task;
  PERFORM luzia_1.keep_spec(p_task, 'cancelled');
  UPDATE request SET is_new = '{t}' WHERE uuid = p_request;
  RETURN true;
END $$;

-- Replaces the record of a task that no host has, and holds (d) or queues it (q). Promises: only if the record is the one that was seen; a
-- repetition is true, too.
CREATE FUNCTION luzia_1.change(p_task bigint, p_seen text, p_record text, p_state text, p_due_ms bigint) RETURNS bool
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
BEGIN
  PERFORM 1 FROM task WHERE id = p_task AND state IN ('q', 'd') FOR NO KEY UPDATE; IF NOT FOUND THEN RETURN false; END IF;
  UPDATE record SET body = p_record WHERE task_id = p_task AND body::jsonb IN (p_seen::jsonb, p_record::jsonb); IF NOT FOUND THEN RETURN false; END IF;
  UPDATE task SET state = p_state::"char", due_at = luzia_1.moment(p_due_ms), xid = pg_current_xact_id() WHERE id = p_task;
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

-- The hosts that the holder of the duty gives tasks to, as far as the clock of the server tells: those that are not drained and have not
-- missed three renewals. Only looks use it.
CREATE VIEW luzia_1.taker AS SELECT h.name, h.free, h.labels FROM luzia.host h
  WHERE NOT h.is_draining AND h.renewed_at >= clock_timestamp() - least(30000, h.lease_ms / 2) * interval '1 ms';

-- The number of tasks of the same user that are due and come before a task in one of its lanes. Those for another place that no host takes keep
-- nobody.
CREATE FUNCTION luzia_1.ahead(p_task bigint) RETURNS bigint LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT count(*) FROM task own JOIN task t ON t.usr = own.usr AND t.state = 'q' AND t.lanes && own.lanes
    AND (t.tier, t.priority, t.turn, t.id) < (own.tier, own.priority, own.turn, own.id) AND (t.due_at IS NULL OR t.due_at <= clock_timestamp())
    AND (t.place = own.place OR t.place = ANY (ARRAY(SELECT unnest(h.labels || h.name || ''::text) FROM luzia_1.taker h)))
  WHERE own.id = p_task $$;

-- The time until a moment, in milliseconds: 0 for one that has passed or for none, the greatest number for one that never comes.
CREATE FUNCTION luzia_1.ms_until(p_at timestamptz) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_at = 'infinity' THEN 9223372036854775807
    ELSE coalesce(greatest(ceil(extract(epoch FROM p_at - clock_timestamp()) * 1000), 0), 0) END::bigint $$;

-- The rules that mean a lane or a pattern, the pause that is in force, and the time until its rate allows a grant.
CREATE FUNCTION luzia_1.in_force(p_name text) RETURNS TABLE (rules text, pause text, limited_ms bigint)
LANGUAGE sql STABLE SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
  SELECT coalesce(jsonb_object_agg(m.name, m.rule) FILTER (WHERE m.rule IS NOT NULL), '{}')::text,
    (array_agg(m.pause ORDER BY m.nth) FILTER (WHERE m.own_until > clock_timestamp()))[1],
    (SELECT luzia_1.ms_until(max(l.limited_until)) FROM lane l WHERE l.name = p_name)
  FROM luzia_1.meaning(p_name) m $$;

-- What keeps a queued task: the number of hosts that may take it, the most free slots that one of these has, and the first of its lanes
-- that is paused, too full or granted as often as its rate allows. A pause of its user counts, whatever lanes it has.
CREATE FUNCTION luzia_1.why(p_task bigint)
RETURNS TABLE (place text, hosts bigint, lane text, pause text, used bigint, capacity int, needed int, holder bigint,
  declined text, rate text, limited_ms bigint, free int)
LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT nullif(t.place, ''), room.hosts, bar.name, bar.pause, bar.used, bar.capacity, bar.needed, bar.holder, t.declined, bar.rate,
    bar.limited_ms, CASE t.state WHEN 'q' THEN room.free END
  FROM task t CROSS JOIN LATERAL (
    SELECT count(*) AS hosts, max(h.free) AS free FROM luzia_1.taker h WHERE t.place IN ('', h.name) OR t.place = ANY (h.labels)) room
  LEFT JOIN LATERAL (
    SELECT l.name, (SELECT f.pause FROM luzia_1.in_force(l.name) f) AS pause, l.capacity, n.needed, held.used, held.holder,
      l.rate, luzia_1.ms_until(l.limited_until) AS limited_ms
    FROM lane l CROSS JOIN LATERAL (SELECT count(*) AS used, min(h.task_id) AS holder FROM hold h WHERE h.lane_id = l.id) held
      CROSS JOIN LATERAL (SELECT coalesce(t.counts[array_position(t.lanes, l.id)], 1) AS needed) n
    WHERE (l.id = ANY (t.lanes) AND (greatest(l.paused_until, l.limited_until) > clock_timestamp() OR held.used + n.needed > l.capacity))
      OR (l.name = 'user:' || t.usr AND l.paused_until > clock_timestamp())
    ORDER BY l.paused_until > clock_timestamp() DESC NULLS LAST, l.id LIMIT 1) bar ON true
  WHERE t.id = p_task $$;

-- The hosts, by name.
CREATE FUNCTION luzia_1.hosts()
RETURNS TABLE (name text, is_alive bool, age_ms bigint, lease_ms bigint, free int, tasks bigint, is_draining bool, has_duty bool,
  labels text[])
LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT h.name, h.renewed_at > clock_timestamp() - h.lease_ms * interval '1 ms',
    (extract(epoch FROM clock_timestamp() - h.renewed_at) * 1000)::bigint, h.lease_ms, h.free,
    (SELECT count(*) FROM task t WHERE t.host_id = h.id AND t.state IN ('a', 'r', 'w')), h.is_draining,
    EXISTS (SELECT FROM duty d WHERE d.host_id = h.id AND d.session = h.session), h.labels
  FROM host h ORDER BY h.name $$;

-- The numbers of unfinished tasks of each user, by state and tier, and whether they are due. One snapshot.
CREATE FUNCTION luzia_1.counts() RETURNS TABLE (usr text, state text, tier smallint, is_due bool, tasks bigint, first bigint)
LANGUAGE sql STABLE SET search_path = luzia SET jit = off AS $$
  SELECT t.usr, t.state::text, t.tier, t.state <> 'd' AND coalesce(t.due_at <= clock_timestamp(), true), count(*), min(t.id)
  FROM task t WHERE t.state <> 'e' GROUP BY 1, 2, 3, 4 $$;

-- The ends of the last hour, by kind.
CREATE FUNCTION luzia_1.recent() RETURNS TABLE (ending text, tasks bigint) LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT ending, count(*) FROM task WHERE state = 'e' AND ended_at > clock_timestamp() - interval '1 hour' GROUP BY 1 $$;

-- Announces that a look is worth while: to some hosts, by their numbers, or to the holder of the duty if none is named. The payload names
-- the hosts; an empty one is for all, because nobody has the duty. Nothing depends on a hint.
CREATE FUNCTION luzia_1.hint(p_hosts int[]) RETURNS void LANGUAGE plpgsql SET search_path = luzia AS $$
BEGIN
  PERFORM pg_notify('luzia_1', array_to_string(CASE p_hosts WHEN '{}' THEN (SELECT ARRAY[d.host_id] FROM duty d) ELSE p_hosts END, ','));
END $$;

-- The state of the store: hosts, those whose leases are in force, tasks that wait for a host, tasks that a host has, and the host
-- with the duty. One snapshot.
CREATE FUNCTION luzia_1.state()
RETURNS TABLE (hosts bigint, living bigint, queued bigint, active bigint, duty text) LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT (SELECT count(*) FROM host),
    (SELECT count(*) FROM host WHERE renewed_at > clock_timestamp() - lease_ms * interval '1 ms'),
    (SELECT count(*) FROM task WHERE state IN ('q', 'd')), (SELECT count(*) FROM task WHERE state IN ('a', 'r', 'w')),
    (SELECT h.name FROM duty d JOIN host h ON h.id = d.host_id AND h.session = d.session) $$;

-- Lanes: their rules, pauses and holders, as people see and change them.

-- The lanes that are held, waited for, paused or have rules, and the patterns that have rules, by name; one of them if it is named, or
-- those whose names begin with a text. waiting counts the first p_most waiting tasks, and is_counted says whether these were all.
CREATE FUNCTION luzia_1.lanes(p_name text, p_prefix text, p_most int)
RETURNS TABLE (name text, rules text, used bigint, waiting bigint, pause text, limited_ms bigint, is_counted bool)
LANGUAGE sql STABLE SET search_path = luzia SET jit = off AS $$
  WITH first AS (SELECT t.lanes FROM task t WHERE t.state IN ('q', 'd') ORDER BY t.id LIMIT p_most),
    wanted AS (SELECT x AS id, count(*) AS tasks FROM first, unnest(first.lanes) x GROUP BY 1),
    held AS (SELECT h.lane_id AS id, count(*) AS holds FROM hold h GROUP BY 1)
  SELECT l.name, f.rules, coalesce(held.holds, 0), coalesce(wanted.tasks, 0), f.pause, f.limited_ms, (SELECT count(*) FROM first) < p_most
  FROM lane l LEFT JOIN held USING (id) LEFT JOIN wanted USING (id) CROSS JOIN LATERAL luzia_1.in_force(l.name) f
  WHERE (l.name = p_name OR (p_name IS NULL AND starts_with(l.name, p_prefix) AND (held.id IS NOT NULL OR wanted.id IS NOT NULL
      OR l.rules <> '{}' OR l.own_until > clock_timestamp() AND l.name NOT LIKE '%*')))
  ORDER BY l.name $$;

-- Replaces the rules of a lane or a pattern. Promises: only if they are as they were seen; a repetition is true, too; who holds a slot
-- keeps it; every lane that the name means follows, also one that is new at this moment.
CREATE FUNCTION luzia_1.set_lane(p_name text, p_seen text, p_rules text) RETURNS bool
LANGUAGE plpgsql SET search_path = luzia AS $$
BEGIN
  PERFORM luzia_1.exclude(p_name);
  PERFORM luzia_1.know_lanes(ARRAY[p_name]);
  UPDATE lane SET rules = p_rules WHERE name = p_name AND rules::jsonb IN (p_seen::jsonb, p_rules::jsonb); IF NOT FOUND THEN RETURN false; END IF;
  PERFORM luzia_1.follow_rules(p_name);
  RETURN true;
END $$;

-- Pauses a lane, or the lanes that a pattern means: nothing is granted in them until then, or until it is resumed. A pause that is in force
-- keeps its beginning.
CREATE FUNCTION luzia_1.pause_lane(p_name text, p_until_ms bigint, p_pause text) RETURNS text LANGUAGE plpgsql SET search_path = luzia AS $$
DECLARE answer text;
BEGIN
  PERFORM luzia_1.exclude(p_name);
  PERFORM luzia_1.know_lanes(ARRAY[p_name]);
  UPDATE lane SET own_until = coalesce(luzia_1.moment(p_until_ms), 'infinity'),
    pause = CASE WHEN own_until > clock_timestamp() THEN jsonb_set(p_pause::jsonb, '{since}', pause::jsonb->'since')::text ELSE p_pause END
    WHERE name = p_name RETURNING pause INTO answer;
  PERFORM luzia_1.follow_rules(p_name);
  RETURN answer;
END $$;

-- The names that are paused, with their pauses.
CREATE FUNCTION luzia_1.pauses() RETURNS TABLE (name text, pause text) LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT l.name, l.pause FROM lane l WHERE l.own_until > clock_timestamp() ORDER BY l.id $$;

-- Ends the pause of a lane, or of the whole, which is *; of another pattern, the pauses of all names that begin so. The pauses that were in
-- force.
CREATE FUNCTION luzia_1.resume_lane(p_name text) RETURNS SETOF text LANGUAGE plpgsql SET search_path = luzia AS $$
DECLARE one record;
BEGIN
  PERFORM luzia_1.exclude(p_name);
  FOR one IN SELECT l.name, l.pause FROM lane l WHERE l.own_until > clock_timestamp()
      AND (l.name = p_name OR p_name LIKE '_%*' AND starts_with(l.name, left(p_name, -1))) ORDER BY l.id LOOP
    UPDATE lane SET own_until = NULL WHERE name = one.name;
    PERFORM luzia_1.follow_rules(one.name);
    RETURN NEXT one.pause;
  END LOOP;
END $$;

-- The use of users, as `policy` writes it. The holder of the duty keeps it here, so that a take-over forgets no share.
CREATE TABLE ledger (one bool PRIMARY KEY DEFAULT true CHECK (one), body text NOT NULL);
INSERT INTO ledger (body) VALUES ('');

-- An agent. Each word of a host names its session; a word about a task names the token of its assignment, too. An older session or
-- token changes nothing.

-- A host joins. Promise: a name belongs to one session as long as the beat of that session moves. p_seen is the beat that the new
-- session has itself seen unchanged for longer than the lease.
CREATE FUNCTION luzia_1.join(p_name text, p_session uuid, p_seen bigint, p_lease bigint, p_labels text[] DEFAULT '{}')
RETURNS TABLE (id int, beat bigint, lease_ms bigint, is_joined bool) LANGUAGE plpgsql SET search_path = luzia AS $$
DECLARE h host;
BEGIN
  INSERT INTO host (name, session, lease_ms) VALUES (p_name, p_session, p_lease) ON CONFLICT DO NOTHING;
  SELECT * INTO h FROM host WHERE host.name = p_name FOR NO KEY UPDATE;
  IF h.session = p_session OR h.beat = p_seen THEN
    UPDATE host SET session = p_session, beat = host.beat + 1, renewed_at = clock_timestamp(), lease_ms = p_lease, free = 0,
      labels = p_labels
      WHERE host.id = h.id;
    RETURN QUERY SELECT h.id, h.beat + 1, p_lease, true;
  ELSE
    RETURN QUERY SELECT h.id, h.beat, h.lease_ms, false;
  END IF;
END $$;

-- A host tells the last that it has seen: the epoch, its beat and the greatest number of a task. True if the database has less: it was
-- restored, and what it has forgotten has happened. In another epoch the database is right, and new numbers are above that of the
-- host; the gap is for numbers that are drawn at this moment.
CREATE FUNCTION luzia_1.meet(p_name text, p_epoch uuid, p_beat bigint, p_task bigint) RETURNS TABLE (epoch text, is_older bool)
LANGUAGE plpgsql SET search_path = luzia AS $$
DECLARE own text := (SELECT value FROM setting WHERE name = 'epoch');
  last bigint := (SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM task_id);
BEGIN
  IF own = p_epoch::text THEN
    RETURN QUERY SELECT own, last < p_task OR coalesce((SELECT h.beat FROM host h WHERE h.name = p_name), 0) < p_beat;
    RETURN;
  END IF;
  IF last < p_task THEN PERFORM setval('task_id', p_task + 1000000); END IF;
  RETURN QUERY SELECT own, false;
END $$;

-- Accepts the database as it is, by a new epoch. A copy may have left out the numbers of transactions: no change is from a later one.
CREATE FUNCTION luzia_1.recover() RETURNS void LANGUAGE sql SET search_path = luzia AS $$
  UPDATE setting SET value = gen_random_uuid() WHERE name = 'epoch';
  UPDATE task SET xid = '0' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot());
  UPDATE lane SET xid = '0' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()) $$;

-- Renews the lease, and tells how many tasks the host could start; those that are assigned and not accepted are taken off. The beat.
-- Promise: no row for an older session.
CREATE FUNCTION luzia_1.renew(p_host int, p_session uuid, p_free int) RETURNS SETOF bigint
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN QUERY UPDATE host SET beat = beat + 1, renewed_at = clock_timestamp(),
    free = p_free - (SELECT count(*) FROM task t WHERE t.host_id = p_host AND t.state = 'a')
  WHERE id = p_host AND session = p_session RETURNING beat;
END $$;

-- The tasks that are assigned to a host and not accepted, each with its record, what a start needs, and its grants.
CREATE FUNCTION luzia_1.assigned(p_host int, p_session uuid)
RETURNS TABLE (id bigint, token text, record text, spec text, lanes text[], slots int[], fences bigint[], names text[])
LANGUAGE plpgsql STABLE SET search_path = luzia
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT t.id, t.token::text, r.body, s.body,
    ARRAY(SELECT l.name FROM hold h JOIN lane l ON l.id = h.lane_id WHERE h.task_id = t.id AND h.token = t.token ORDER BY l.id, h.slot),
    ARRAY(SELECT h.slot FROM hold h WHERE h.task_id = t.id AND h.token = t.token ORDER BY h.lane_id, h.slot),
    ARRAY(SELECT h.fence FROM hold h WHERE h.task_id = t.id AND h.token = t.token ORDER BY h.lane_id, h.slot),
    ARRAY(SELECT h.value FROM hold h WHERE h.task_id = t.id AND h.token = t.token ORDER BY h.lane_id, h.slot)
  FROM task t JOIN record r ON r.task_id = t.id JOIN spec s ON s.task_id = t.id
  WHERE t.host_id = p_host AND t.state = 'a' AND EXISTS (SELECT FROM host h WHERE h.id = p_host AND h.session = p_session)
  ORDER BY t.id;
END $$;

-- Whether tasks are assigned to a host and not accepted, and whether something is asked of it.
CREATE FUNCTION luzia_1.news(p_host int) RETURNS TABLE (is_assigned bool, is_asked bool) LANGUAGE plpgsql STABLE SET search_path = luzia
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT EXISTS (SELECT FROM task t WHERE t.host_id = p_host AND t.state = 'a'),
    EXISTS (SELECT FROM wish w WHERE w.host_id = p_host);
END $$;

-- All tasks of a host with their tokens, to be compared with its state directory.
CREATE FUNCTION luzia_1.held(p_host int, p_session uuid) RETURNS TABLE (id bigint, token text, state text, record text)
LANGUAGE plpgsql STABLE SET search_path = luzia
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT t.id, t.token::text, t.state::text, r.body FROM task t JOIN record r ON r.task_id = t.id
  WHERE t.host_id = p_host AND t.state IN ('a', 'r', 'w') AND EXISTS (SELECT FROM host h WHERE h.id = p_host AND h.session = p_session)
  ORDER BY t.id;
END $$;

-- The host has accepted a task durably, or its record has changed: the start of the command is in it. True for the present token.
CREATE FUNCTION luzia_1.running(p_host int, p_session uuid, p_task bigint, p_token uuid, p_record text) RETURNS bool
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM 1 FROM host WHERE id = p_host AND session = p_session FOR KEY SHARE; IF NOT FOUND THEN RETURN false; END IF;
  UPDATE task SET state = 'r' WHERE id = p_task AND token = p_token AND host_id = p_host AND state IN ('a', 'r'); IF NOT FOUND THEN RETURN false; END IF;
  UPDATE record SET body = p_record WHERE task_id = p_task;
  RETURN true;
END $$;

-- The request of a cancel, of a task that its host has not ended. A task that would wait again is over instead.
CREATE FUNCTION luzia_1.end_asked(p_task bigint) RETURNS text
LANGUAGE sql STABLE SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
  SELECT w.args::text FROM wish w WHERE w.task_id = p_task AND w.what = 'cancel' ORDER BY w.id LIMIT 1 $$;

-- A host gives back a task that it cannot start, because it lacks the directory. Promises: no attempt is spent; the duty tries other
-- hosts first; once all have declined, they are asked again after p_again_ms. Nothing for a task whose end was asked for.
CREATE FUNCTION luzia_1.decline(p_host int, p_session uuid, p_task bigint, p_token uuid, p_again_ms bigint) RETURNS bool
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
DECLARE h host;
BEGIN
  SELECT * INTO h FROM host WHERE id = p_host AND session = p_session FOR NO KEY UPDATE; IF NOT FOUND THEN RETURN false; END IF;
  PERFORM 1 FROM task WHERE id = p_task AND token = p_token AND host_id = p_host AND state = 'a' FOR NO KEY UPDATE; IF NOT FOUND THEN RETURN false; END IF;
  IF luzia_1.end_asked(p_task) IS NOT NULL THEN RETURN NULL; END IF;
  UPDATE task SET state = 'q', host_id = NULL, starts = starts - 1, refused = refused || p_host, declined = h.name, xid = pg_current_xact_id()
    WHERE id = p_task;
  DELETE FROM hold WHERE task_id = p_task AND token = p_token;
  UPDATE host SET free = free + 1 WHERE id = p_host;
  UPDATE task SET refused = '{}', due_at = clock_timestamp() + p_again_ms * interval '1 ms' WHERE id = p_task
    AND NOT EXISTS (SELECT FROM host o WHERE (task.place IN ('', o.name) OR task.place = ANY (o.labels)) AND NOT o.is_draining AND o.id <> ALL (task.refused)
      AND o.renewed_at > clock_timestamp() - o.lease_ms * interval '1 ms');
  RETURN true;
END $$;

-- Lets a host take no further tasks, or take tasks again: true for a change, no row for a name that no host has. Its tasks run on.
CREATE FUNCTION luzia_1.drain(p_name text, p_is bool) RETURNS SETOF bool LANGUAGE sql SET search_path = luzia AS $$
  UPDATE host SET is_draining = p_is FROM (SELECT id, is_draining AS was FROM host WHERE name = p_name FOR NO KEY UPDATE) old
  WHERE host.id = old.id RETURNING was <> p_is $$;

-- Takes a task from its host: it is over (e), or queued again (q). Its holds go by its token, and no lane is locked: to delete a hold can
-- only make room. Its run is kept, with the begin of its command if no earlier run had that. The caller has locked the task.
CREATE FUNCTION luzia_1.part(p_task bigint, p_token uuid, p_state text, p_ending text, p_record text, p_due_ms bigint, p_how text, p_begun_ms bigint, p_ended_ms bigint)
RETURNS void LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE at timestamptz := clock_timestamp(); granted timestamptz; begun timestamptz := luzia_1.moment(p_begun_ms);
BEGIN
  WITH gone AS (DELETE FROM hold h WHERE h.task_id = p_task AND h.token = p_token RETURNING h.at) SELECT min(gone.at) INTO granted FROM gone;
  IF EXISTS (SELECT FROM run r WHERE r.task_id = p_task AND r.begun_at = begun) THEN begun := NULL; END IF;
  INSERT INTO run SELECT p_task, at, t.asked_at, coalesce(granted, begun, t.asked_at), begun,
    CASE WHEN begun IS NOT NULL THEN luzia_1.moment(p_ended_ms) END, t.host_id, p_how FROM task t WHERE t.id = p_task;
  UPDATE task SET state = p_state::"char", ending = p_ending, due_at = luzia_1.moment(p_due_ms), refused = '{}', xid = pg_current_xact_id(),
    host_id = CASE WHEN p_state = 'e' THEN host_id END, ended_at = CASE WHEN p_state = 'e' THEN at END,
    asked_at = CASE WHEN p_state = 'e' THEN asked_at ELSE at END WHERE id = p_task;
  DELETE FROM wish WHERE task_id = p_task;
  UPDATE record SET body = p_record WHERE task_id = p_task;
  IF p_state = 'e' THEN PERFORM luzia_1.keep_spec(p_task, p_ending); END IF;
END $$;

-- A task leaves its host, which has room for another one. Promises: one end for each assignment; a repetition is true, too; an older
-- token or session is false; nothing for a task that would wait again although its end was asked for.
CREATE FUNCTION luzia_1.leave(p_host int, p_session uuid, p_task bigint, p_token uuid, p_state text, p_ending text, p_record text, p_due_ms bigint,
  p_how text, p_begun_ms bigint, p_ended_ms bigint, p_tail bytea)
RETURNS bool LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE t task;
BEGIN
  PERFORM 1 FROM host WHERE id = p_host AND session = p_session FOR NO KEY UPDATE; IF NOT FOUND THEN RETURN false; END IF;
  SELECT * INTO t FROM task WHERE id = p_task AND token = p_token FOR NO KEY UPDATE; IF NOT FOUND THEN RETURN false; END IF;
  IF t.state IN ('q', 'e') THEN RETURN true; END IF;
  IF t.host_id <> p_host THEN RETURN false; END IF;
  IF p_state = 'q' AND luzia_1.end_asked(p_task) IS NOT NULL THEN RETURN NULL; END IF;
  PERFORM luzia_1.part(p_task, p_token, p_state, p_ending, p_record, p_due_ms, p_how, p_begun_ms, p_ended_ms);
  UPDATE host SET free = free + 1 WHERE id = p_host;
  IF p_tail IS NOT NULL THEN
    INSERT INTO tail VALUES (p_task, p_tail) ON CONFLICT (task_id) DO UPDATE SET body = p_tail;
  END IF;
  RETURN true;
END $$;

-- Notes the id of the lock of a lease, and the moment at which the lease runs out, for all to see. Promise: false for a task that has
-- left its host.
CREATE FUNCTION luzia_1.note_lease(p_task bigint, p_lock_id text, p_expires_ms bigint) RETURNS bool
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
BEGIN
  UPDATE hold SET lock_id = p_lock_id, expires_at = luzia_1.moment(p_expires_ms) WHERE task_id = p_task;
  RETURN FOUND;
END $$;

-- Asks the host of a task for something. Promise: a repetition asks once. The host, or nothing if no host has it.
CREATE FUNCTION luzia_1.wish(p_request uuid, p_task bigint, p_what text, p_args text) RETURNS TABLE (host text, id int)
LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
DECLARE t task;
BEGIN
  SELECT * INTO t FROM task WHERE task.id = p_task AND state IN ('a', 'r', 'w') FOR NO KEY UPDATE; IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO request (uuid, tasks) VALUES (p_request, ARRAY[p_task]) ON CONFLICT DO NOTHING;
  IF FOUND THEN INSERT INTO wish (host_id, task_id, what, args) VALUES (t.host_id, p_task, p_what, p_args::jsonb); END IF;
  RETURN QUERY SELECT h.name, h.id FROM host h WHERE h.id = t.host_id;
END $$;

-- What is asked of a host, with the tokens of the tasks. A wish stays until its task leaves the host.
CREATE FUNCTION luzia_1.wishes(p_host int, p_session uuid) RETURNS TABLE (id bigint, task_id bigint, token text, what text, args text)
LANGUAGE plpgsql STABLE SET search_path = luzia
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT w.id, w.task_id, t.token::text, w.what, w.args::text FROM wish w JOIN task t ON t.id = w.task_id
  WHERE w.host_id = p_host AND t.host_id = p_host AND EXISTS (SELECT FROM host h WHERE h.id = p_host AND h.session = p_session) ORDER BY w.id;
END $$;

-- The host of a task.
CREATE FUNCTION luzia_1.host_of(p_task bigint) RETURNS text LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT h.name FROM task t JOIN host h ON h.id = t.host_id WHERE t.id = p_task $$;

-- The host of a task, and the last part of its output.
CREATE FUNCTION luzia_1.tail(p_task bigint) RETURNS TABLE (host text, body bytea) LANGUAGE sql STABLE SET search_path = luzia AS $$
  SELECT h.name, l.body FROM task t LEFT JOIN host h ON h.id = t.host_id LEFT JOIN tail l ON l.task_id = t.id WHERE t.id = p_task $$;

-- The duty. One agent at a time has it; two of them waste work and grant nothing twice.

-- Who has the duty, with its beat.
CREATE FUNCTION luzia_1.duty() RETURNS TABLE (session text, beat bigint)
LANGUAGE plpgsql STABLE SET search_path = luzia SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT d.session::text, d.beat FROM duty d;
END $$;

-- Takes the duty if its beat is the one that was seen. True for the one that has it.
CREATE FUNCTION luzia_1.take_duty(p_host int, p_session uuid, p_seen bigint) RETURNS bool
LANGUAGE plpgsql SET search_path = luzia AS $$
BEGIN
  UPDATE duty SET host_id = p_host, session = p_session, beat = beat + 1 WHERE beat = p_seen;
  RETURN FOUND;
END $$;

-- What the duty knows of a task.
CREATE VIEW luzia_1.turn AS SELECT t.id, t.state::text, t.usr, t.place, t.tier, t.priority, t.lanes, t.counts, t.takes_user_lane, t.refused,
  t.due_at IS NULL OR t.due_at <= clock_timestamp() AS is_due, t.turn, t.xid FROM task t;

-- The tasks that have changed since a snapshot, or that are due since a moment: exact, late commits included. Every row has the present
-- snapshot and moment, the process of the server, the time until the next task is due, and whether rules of lanes have changed; the last
-- members are null without a change.
CREATE FUNCTION luzia_1.changes(p_seen text, p_at_us bigint)
RETURNS TABLE (snapshot text, at_us bigint, server int, next_ms bigint, has_rules bool, id bigint, state text, usr text, place text, tier smallint,
  priority smallint, lanes bigint[], counts int[], takes_user_lane bool, refused int[], is_due bool, turn bigint)
LANGUAGE plpgsql STABLE SET search_path = luzia
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH present AS MATERIALIZED (SELECT clock_timestamp() AS at)
  SELECT pg_current_snapshot()::text, (extract(epoch FROM p.at) * 1000000)::bigint, pg_backend_pid(),
    (SELECT CASE WHEN min(t.due_at) IS NOT NULL THEN luzia_1.ms_until(min(t.due_at)) END FROM task t WHERE t.state = 'q' AND t.due_at IS NOT NULL AND t.due_at > p.at),
    EXISTS (SELECT FROM lane l WHERE l.xid >= pg_snapshot_xmax(p_seen::pg_snapshot))
      OR EXISTS (SELECT FROM lane l WHERE l.xid = ANY (ARRAY(SELECT pg_snapshot_xip(p_seen::pg_snapshot)))),
    c.id, c.state, c.usr, c.place, c.tier, c.priority, c.lanes, c.counts, c.takes_user_lane, c.refused, c.is_due, c.turn
  FROM present p LEFT JOIN LATERAL (
    SELECT * FROM luzia_1.turn t WHERE t.xid >= pg_snapshot_xmax(p_seen::pg_snapshot)
    UNION ALL SELECT * FROM luzia_1.turn t WHERE t.xid = ANY (ARRAY(SELECT pg_snapshot_xip(p_seen::pg_snapshot)))
    UNION ALL SELECT t.* FROM task d CROSS JOIN LATERAL (SELECT * FROM luzia_1.turn o WHERE o.id = d.id OFFSET 0) t
      WHERE d.state = 'q' AND d.due_at >= to_timestamp(p_at_us::double precision / 1000000) AND d.due_at <= p.at) c ON true;
END $$;

-- The first tasks of each queue, which is a user, a place, a tier and a set of lanes; by number from 1 in its queue. A queue for an
-- absent host is one of its own, so it stops nobody. Without settings of its own it is a part of the statement that calls it, whose rows
-- come while the server finds the others.
CREATE FUNCTION luzia_1.heads(p_most int)
RETURNS TABLE (id bigint, state text, usr text, place text, tier smallint, priority smallint, lanes bigint[], counts int[],
  takes_user_lane bool, refused int[], is_due bool, turn bigint, nth bigint)
LANGUAGE sql STABLE AS $$
  SELECT * FROM (
    SELECT t.id, 'q', t.usr, t.place, t.tier, t.priority, t.lanes, t.counts, t.takes_user_lane, t.refused, true, t.turn,
      row_number() OVER (PARTITION BY t.usr, t.place, t.lanes, t.tier ORDER BY t.priority, t.turn, t.id) AS nth
    FROM luzia.task t WHERE t.state = 'q' AND (t.due_at IS NULL OR t.due_at <= clock_timestamp())) first WHERE nth <= p_most $$;

-- The first tasks of some queues, by one step of the index for each.
CREATE FUNCTION luzia_1.more(p_users text[], p_places text[], p_tiers smallint[], p_lanes text[], p_most int)
RETURNS TABLE (id bigint, state text, usr text, place text, tier smallint, priority smallint, lanes bigint[], counts int[],
  takes_user_lane bool, refused int[], is_due bool, turn bigint, nth bigint)
LANGUAGE plpgsql STABLE SET search_path = luzia
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT h.* FROM unnest(p_users, p_places, p_tiers, p_lanes) q(usr, place, tier, lanes) CROSS JOIN LATERAL (
    SELECT t.id, 'q', t.usr, t.place, t.tier, t.priority, t.lanes, t.counts, t.takes_user_lane, t.refused, true, t.turn,
      row_number() OVER (ORDER BY t.priority, t.turn, t.id) AS nth
    FROM task t WHERE t.state = 'q' AND t.usr = q.usr AND t.place = q.place AND t.lanes = q.lanes::bigint[] AND t.tier = q.tier
      AND (t.due_at IS NULL OR t.due_at <= clock_timestamp()) ORDER BY t.priority, t.turn, t.id LIMIT p_most) h;
END $$;

-- The lanes whose rules, pauses or limits have changed since a snapshot, or without one those that have had any: the capacity, and the
-- rests of the pause and of the limit. Of the lane of a user, the user and the weight.
CREATE FUNCTION luzia_1.lane_rules(p_seen text) RETURNS TABLE (id bigint, capacity int, paused_ms bigint, usr text, limited_ms bigint, weight int)
LANGUAGE plpgsql STABLE SET search_path = luzia SET enable_seqscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT l.id, l.capacity, luzia_1.ms_until(l.paused_until), CASE WHEN l.name LIKE 'user:%' THEN substr(l.name, 6) END,
    luzia_1.ms_until(l.limited_until), l.weight FROM lane l
  WHERE l.xid IS NOT NULL AND l.name NOT LIKE '%*' AND (p_seen IS NULL OR l.xid >= pg_snapshot_xmax(p_seen::pg_snapshot)
    OR l.xid = ANY (ARRAY(SELECT pg_snapshot_xip(p_seen::pg_snapshot))));
END $$;

-- The slots of tasks that hosts have.
CREATE FUNCTION luzia_1.held_slots() RETURNS TABLE (task_id bigint, lanes bigint[], counts bigint[])
LANGUAGE sql STABLE SET search_path = luzia SET jit = off AS $$
  SELECT h.task_id, array_agg(h.lane_id), array_agg(h.slots)
  FROM (SELECT task_id, lane_id, count(*) AS slots FROM hold GROUP BY 1, 2) h GROUP BY 1 $$;

-- The hosts as the duty needs them.
CREATE FUNCTION luzia_1.rooms()
RETURNS TABLE (id int, name text, session text, beat bigint, lease_ms bigint, free int, is_draining bool, has_tasks bool,
  labels text[])
LANGUAGE plpgsql STABLE SET search_path = luzia SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT h.id, h.name, h.session::text, h.beat, h.lease_ms, h.free, h.is_draining,
    EXISTS (SELECT FROM task t WHERE t.host_id = h.id AND t.state IN ('a', 'r', 'w')), h.labels FROM host h;
END $$;

-- The free values of a lane whose slots have values, each with the slot that a grant of it takes: in the order of the values. A value
-- whose slot a holder of another value has gets a slot behind all others. It is stable, so it sees none of the holds that the statement
-- that calls it makes.
CREATE FUNCTION luzia_1.free_values(p_lane bigint) RETURNS TABLE (slot int, value text)
LANGUAGE sql STABLE SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
  SELECT CASE WHEN EXISTS (SELECT FROM hold h WHERE h.lane_id = p_lane AND h.slot = n.i - 1)
      THEN greatest(cardinality(l.names), (SELECT max(h.slot) + 1 FROM hold h WHERE h.lane_id = p_lane)) + n.i ELSE n.i - 1 END::int, n.name
    FROM lane l, unnest(l.names) WITH ORDINALITY n(name, i)
    WHERE l.id = p_lane AND NOT EXISTS (SELECT FROM hold h WHERE h.lane_id = p_lane AND h.value = n.name) ORDER BY n.i $$;

-- The lanes that tasks ask for: a row for each slot.
CREATE VIEW luzia_1.asked AS SELECT t.id, t.token, x.lane FROM luzia.task t CROSS JOIN LATERAL unnest(t.lanes) WITH ORDINALITY x(lane, k)
  CROSS JOIN LATERAL generate_series(1, coalesce(t.counts[x.k], 1));

-- Counts a grant of lanes, while their rows are locked: one that was granted as often as its rate allows is limited from now on.
CREATE FUNCTION luzia_1.count_grant(p_lanes bigint[]) RETURNS void LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
BEGIN
  INSERT INTO granted SELECT l.id, clock_timestamp() FROM lane l WHERE l.id = ANY (p_lanes) AND l.rate IS NOT NULL;
  UPDATE lane l SET limited_until = luzia_1.granted_again(l.id, l.rate), xid = pg_current_xact_id()
    WHERE l.id = ANY (p_lanes) AND luzia_1.granted_again(l.id, l.rate) IS NOT NULL;
  DELETE FROM granted g USING lane l WHERE g.lane_id = ANY (p_lanes) AND l.id = g.lane_id
    AND g.at < clock_timestamp() - split_part(l.rate, '/', 2)::interval;
END $$;

-- Grants tasks their lanes on hosts, all of them or none; the empty text is a grant, and a word is a reason for none. Promises: the lanes
-- have room while their rows are locked; the lowest free slots of each; fences above all earlier ones of the lane and not before the
-- clock, so that an import keeps the order; an older holder of the duty or session of a host is refused, and so is a host that is
-- drained or full; no lane is granted more often than its rate allows, and one with a rate to one task at a time. Nothing is written before
-- all of it is known, and only the rows of hosts are waited for. What is counted is read by a statement after the one that locks it. Each
-- statement finds its rows by their keys, whatever the planner knows of the tables.
CREATE FUNCTION luzia_1.assign(p_duty uuid, p_tasks bigint[], p_hosts int[], p_sessions uuid[]) RETURNS text
LANGUAGE plpgsql SET search_path = luzia SET jit = off SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE now_us bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint; mine bigint[]; queued int; word text; is_rated bool;
BEGIN
  PERFORM 1 FROM duty WHERE session = p_duty FOR KEY SHARE; IF NOT FOUND THEN RETURN 'duty'; END IF;
  SELECT min(CASE WHEN h.id IS NULL OR h.free < a.tasks THEN 'host' END) INTO word
    FROM (SELECT host, session, count(*) AS tasks FROM unnest(p_hosts, p_sessions) a(host, session) GROUP BY 1, 2) a
    LEFT JOIN (SELECT * FROM host WHERE id = ANY (p_hosts) AND NOT is_draining ORDER BY id FOR NO KEY UPDATE) h ON h.id = a.host AND h.session = a.session;
  IF word <> '' THEN RETURN word; END IF;
  mine := ARRAY(SELECT id FROM lane WHERE id = ANY (ARRAY(SELECT unnest(lanes) FROM task WHERE id = ANY (p_tasks))) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED);
  SELECT count(*), min(CASE WHEN EXISTS (SELECT FROM lane u WHERE u.name = 'user:' || t.usr AND u.paused_until > clock_timestamp()) THEN 'paused' END)
    INTO queued, word FROM (SELECT usr FROM task WHERE id = ANY (p_tasks) AND state = 'q' ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) t;
  IF queued < cardinality(p_tasks) THEN RETURN 'gone'; ELSIF word <> '' THEN RETURN word; END IF;
  SELECT min(CASE WHEN l.id IS NULL THEN 'busy' WHEN l.paused_until > clock_timestamp() THEN 'paused'
      WHEN l.limited_until > clock_timestamp() OR l.rate IS NOT NULL AND a.tasks > 1 THEN 'limited'
      WHEN (SELECT count(*) FROM hold h WHERE h.lane_id = l.id) + a.slots > least(l.capacity, cardinality(l.names)) THEN 'full' END), bool_or(l.rate IS NOT NULL) INTO word, is_rated
    FROM (SELECT lane, count(*) AS slots, count(DISTINCT id) AS tasks FROM luzia_1.asked WHERE id = ANY (p_tasks) GROUP BY 1) a LEFT JOIN lane l ON l.id = a.lane AND l.id = ANY (mine);
  IF word <> '' THEN RETURN word; END IF;
  UPDATE task SET state = 'a', host_id = p_hosts[array_position(p_tasks, id)], token = gen_random_uuid(), declined = NULL,
    xid = pg_current_xact_id(), starts = starts + 1 WHERE id = ANY (p_tasks);
  INSERT INTO hold (lane_id, slot, fence, task_id, token, value)
    SELECT a.lane, s.slot, greatest(l.fence + 1, now_us) + a.before, a.id, a.token, s.value
    FROM (SELECT *, row_number() OVER (PARTITION BY lane ORDER BY array_position(p_tasks, id)) - 1 AS before FROM luzia_1.asked WHERE id = ANY (p_tasks)) a
    JOIN lane l ON l.id = a.lane
    CROSS JOIN LATERAL (
      SELECT f.slot, NULL AS value FROM generate_series(0, (SELECT count(*) FROM hold h WHERE h.lane_id = l.id)::int + a.before::int) f(slot)
        WHERE l.names IS NULL AND NOT EXISTS (SELECT FROM hold h WHERE h.lane_id = l.id AND h.slot = f.slot)
      UNION ALL SELECT * FROM luzia_1.free_values(l.id) WHERE l.names IS NOT NULL OFFSET a.before LIMIT 1) s;
  UPDATE lane SET fence = (SELECT max(h.fence) FROM hold h WHERE h.lane_id = lane.id) WHERE id = ANY (mine);
  UPDATE host SET free = free - (SELECT count(*) FROM unnest(p_hosts) a(host) WHERE a.host = host.id) WHERE id = ANY (p_hosts);
  IF is_rated THEN PERFORM luzia_1.count_grant(mine); END IF;
  RETURN '';
END $$;

-- Grants tasks their lanes on hosts, each all or none, in their order: a word of `assign` for each. A batch is one grant if it can be, else
-- each half of it is a batch. So a refusal of one keeps no other from its grant, and none takes what one before it could have.
CREATE FUNCTION luzia_1.assign_all(p_duty uuid, p_tasks bigint[], p_hosts int[], p_sessions uuid[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE word text := luzia_1.assign(p_duty, p_tasks, p_hosts, p_sessions); most int := cardinality(p_tasks); half int := most / 2;
BEGIN
  IF word IN ('', 'duty') OR most = 1 THEN
    FOR k IN 1 .. most LOOP RETURN NEXT word; END LOOP;
  ELSE
    RETURN QUERY SELECT luzia_1.assign_all(p_duty, p_tasks[:half], p_hosts[:half], p_sessions[:half]);
    RETURN QUERY SELECT luzia_1.assign_all(p_duty, p_tasks[half + 1:], p_hosts[half + 1:], p_sessions[half + 1:]);
  END IF;
END $$;

-- Keeps the use of users; refused for an older holder of the duty.
CREATE FUNCTION luzia_1.keep_ledger(p_duty uuid, p_body text) RETURNS void LANGUAGE plpgsql SET search_path = luzia AS $$
BEGIN
  UPDATE ledger SET body = p_body WHERE EXISTS (SELECT FROM duty WHERE session = p_duty);
END $$;

-- Takes a host for lost: its session is over, so every later word of it is refused. Promise: only if its beat is the one that the
-- holder of the duty has itself seen unchanged for longer than the lease.
CREATE FUNCTION luzia_1.lose(p_duty uuid, p_host int, p_seen bigint) RETURNS bool LANGUAGE plpgsql SET search_path = luzia AS $$
BEGIN
  PERFORM 1 FROM duty WHERE session = p_duty FOR KEY SHARE; IF NOT FOUND THEN RETURN false; END IF;
  UPDATE host SET session = gen_random_uuid(), free = 0 WHERE id = p_host AND beat = p_seen;
  RETURN FOUND;
END $$;

-- Takes a task from a lost host. Promise: by the token of its assignment, so one bad row stops no other; nothing for a task that would
-- wait again although its end was asked for.
CREATE FUNCTION luzia_1.reap(p_duty uuid, p_task bigint, p_token uuid, p_state text, p_ending text, p_record text, p_due_ms bigint,
  p_how text, p_begun_ms bigint, p_ended_ms bigint)
RETURNS bool LANGUAGE plpgsql SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
BEGIN
  PERFORM 1 FROM duty WHERE session = p_duty FOR KEY SHARE; IF NOT FOUND THEN RETURN false; END IF;
  PERFORM 1 FROM task WHERE id = p_task AND token = p_token AND state IN ('a', 'r', 'w') FOR NO KEY UPDATE; IF NOT FOUND THEN RETURN false; END IF;
  IF p_state = 'q' AND luzia_1.end_asked(p_task) IS NOT NULL THEN RETURN NULL; END IF;
  PERFORM luzia_1.part(p_task, p_token, p_state, p_ending, p_record, p_due_ms, p_how, p_begun_ms, p_ended_ms);
  RETURN true;
END $$;

-- The tasks of a lost host.
CREATE FUNCTION luzia_1.lost(p_host int) RETURNS TABLE (id bigint, token text, state text, record text)
LANGUAGE sql STABLE SET search_path = luzia SET enable_seqscan = off SET jit = off AS $$
  SELECT t.id, t.token::text, t.state::text, r.body FROM task t JOIN record r ON r.task_id = t.id
  WHERE t.host_id = p_host AND t.state IN ('a', 'r', 'w') ORDER BY t.id $$;

-- What must never be: a lane with more holds than any capacity of it, a hold of nobody, a task that a host has without all its holds, a
-- hold whose fence is above that of its lane, or that has no lane.
CREATE VIEW luzia_1.broken AS
  SELECT 'over capacity' AS what, l.id FROM lane l WHERE l.most < (SELECT count(*) FROM hold h WHERE h.lane_id = l.id)
  UNION ALL SELECT 'hold of nobody', h.lane_id FROM hold h
    WHERE NOT EXISTS (SELECT FROM task t WHERE t.id = h.task_id AND t.token = h.token AND t.state IN ('a', 'r', 'w'))
  UNION ALL SELECT 'without all holds', t.id FROM task t
    WHERE t.state IN ('a', 'r', 'w') AND coalesce((SELECT sum(c) FROM unnest(t.counts) c), cardinality(t.lanes)) <> (SELECT count(*) FROM hold h WHERE h.task_id = t.id AND h.token = t.token)
  UNION ALL SELECT 'fence below a hold', h.lane_id FROM hold h LEFT JOIN lane l ON l.id = h.lane_id WHERE h.fence > coalesce(l.fence, 0);

-- Looks at lanes, each of one snapshot.

-- The holders of a lane, or of all lanes, in the order of their grants, each with its task and its host. A host is silent once
-- its lease has run out by the clock of the server, which ends no lease.
CREATE FUNCTION luzia_1.holds(p_lane text)
RETURNS TABLE (lane text, slot int, value text, fence bigint, task_id bigint, record text, host text, is_silent bool, age_ms bigint, held_ms bigint,
  lock_id text, expires_ms bigint)
LANGUAGE sql STABLE SET search_path = luzia SET jit = off AS $$
  SELECT l.name, h.slot, h.value, h.fence, h.task_id, r.body, o.name, o.renewed_at <= clock_timestamp() - o.lease_ms * interval '1 ms',
    (extract(epoch FROM clock_timestamp() - o.renewed_at) * 1000)::bigint,
    (extract(epoch FROM clock_timestamp() - h.at) * 1000)::bigint, h.lock_id, luzia_1.ms_of(h.expires_at)
  FROM hold h JOIN lane l ON l.id = h.lane_id JOIN task t ON t.id = h.task_id JOIN record r ON r.task_id = t.id
    JOIN host o ON o.id = t.host_id
  WHERE p_lane IS NULL OR l.name = p_lane ORDER BY h.at, l.name, h.slot $$;

-- The number of tasks that are due and take a lane, and the first of them.
CREATE FUNCTION luzia_1.waiting_in(p_lane text) RETURNS TABLE (tasks bigint, first bigint)
LANGUAGE sql STABLE SET search_path = luzia SET jit = off AS $$
  SELECT count(*), (array_agg(t.id ORDER BY t.tier, t.priority, t.turn, t.id))[1] FROM task t
  WHERE t.state = 'q' AND (t.due_at IS NULL OR t.due_at <= clock_timestamp()) AND t.lanes @> ARRAY(SELECT l.id FROM lane l WHERE l.name = p_lane)
    AND EXISTS (SELECT FROM lane l WHERE l.name = p_lane) $$;

-- Looks at what was.

-- The runs that lasted at a moment or later, in the order of their grants: those that are over, and those of the tasks that hosts have. Of
-- the latter the record, which may have the begin of the command, and the begin of an earlier run.
CREATE FUNCTION luzia_1.runs(p_since_ms bigint)
RETURNS TABLE (task_id bigint, usr text, host text, lanes text[], asked_ms bigint, granted_ms bigint, left_ms bigint, begun_ms bigint,
  ended_ms bigint, ending text, record text)
LANGUAGE sql STABLE SET search_path = luzia SET jit = off AS $$
  SELECT t.id, t.usr, h.name, ARRAY(SELECT l.name FROM lane l WHERE l.id = ANY (t.lanes) ORDER BY l.name NOT LIKE 'user:%', l.name),
    luzia_1.ms_of(r.asked_at),
    luzia_1.ms_of(r.granted_at), luzia_1.ms_of(r.left_at), luzia_1.ms_of(r.begun_at), luzia_1.ms_of(r.ended_at), r.ending, r.record
  FROM (
    SELECT o.task_id, o.host_id, o.asked_at, o.granted_at, o.left_at, o.begun_at, o.ended_at, o.ending, NULL AS record FROM run o
    WHERE o.left_at >= luzia_1.moment(p_since_ms)
    UNION ALL SELECT a.id, a.host_id, a.asked_at, coalesce((SELECT min(d.at) FROM hold d WHERE d.task_id = a.id), a.asked_at), NULL,
      (SELECT max(o.begun_at) FROM run o WHERE o.task_id = a.id), NULL, '', c.body
    FROM task a JOIN record c ON c.task_id = a.id WHERE a.state IN ('a', 'r', 'w')) r
  JOIN task t ON t.id = r.task_id JOIN host h ON h.id = r.host_id ORDER BY r.granted_at, t.id $$;
