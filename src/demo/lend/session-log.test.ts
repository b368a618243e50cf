import { expect, test } from 'vitest';
import type { LendEvent } from './lend-messages.ts';
import { afterEvent, describeRunning, type ShownSessions } from './session-log.ts';

function after(...events: readonly LendEvent[]): ShownSessions {
  return events.reduce<ShownSessions>(afterEvent, new Map());
}

const CONNECTED: LendEvent = { session: 1, kind: 'connected', peer: 'desk' };
const LOAD: LendEvent = { session: 1, kind: 'load', hash: 'ab', device: 'gpu' };
const CALL: LendEvent = { session: 1, kind: 'call', function: 'main' };
const DONE: LendEvent = { session: 1, kind: 'done', function: 'main' };

test('a session is shown with what it runs', () => {
  const session = after(CONNECTED, LOAD, CALL, CALL, CALL, DONE).get(1);
  if (session === undefined) throw new Error('internal: no session');
  expect(session).toMatchObject({ peer: 'desk', loaded: 1, answered: 1 });
  expect(describeRunning(session)).toBe('main (2)');
  const idle = afterEvent(new Map([[1, session]]), DONE).get(1) ?? session;
  expect(describeRunning(idle)).toBe('main');
});

test('one that ended or never began is not', () => {
  expect(after(CONNECTED, { session: 1, kind: 'closed', reason: 'gone' }, DONE).size).toBe(0);
  expect(after({ session: 2, kind: 'closed', reason: 'another token' }, LOAD, CALL).size).toBe(0);
});
