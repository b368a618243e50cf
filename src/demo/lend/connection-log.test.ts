import { expect, test } from 'vitest';
import type { LendEvent } from './lend-messages.ts';
import { afterEvent, describeRunning, type ShownConnections } from './connection-log.ts';

function after(...events: readonly LendEvent[]): ShownConnections {
  return events.reduce<ShownConnections>(afterEvent, new Map());
}

const CONNECTED: LendEvent = { connection: 1, kind: 'connected', peer: 'desk' };
const LOAD: LendEvent = { connection: 1, kind: 'load', hash: 'ab', device: 'gpu' };
const CALL: LendEvent = { connection: 1, kind: 'call', function: 'main' };
const DONE: LendEvent = { connection: 1, kind: 'done', function: 'main' };

test('a connection is shown with what it runs', () => {
  const connection = after(CONNECTED, LOAD, CALL, CALL, CALL, DONE).get(1);
  if (connection === undefined) throw new Error('internal: no connection');
  expect(connection).toMatchObject({ peer: 'desk', loaded: 1, answered: 1 });
  expect(describeRunning(connection)).toBe('main (2)');
  const idle = afterEvent(new Map([[1, connection]]), DONE).get(1) ?? connection;
  expect(describeRunning(idle)).toBe('main');
});

test('one that ended or never began is not', () => {
  expect(after(CONNECTED, { connection: 1, kind: 'closed', reason: 'gone' }, DONE).size).toBe(0);
  expect(after({ connection: 2, kind: 'closed', reason: 'another token' }, LOAD, CALL).size).toBe(
    0,
  );
});
