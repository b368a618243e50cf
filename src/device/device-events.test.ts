import { expect, test } from 'vitest';
import type { DeviceEvent } from './device.ts';
import { CompilationLog, MOST_COMPILATIONS } from './device-events.ts';

test('the oldest compilations go', () => {
  const log = new CompilationLog('wasm');
  const begin = performance.now();
  for (let i = 0; i < MOST_COMPILATIONS + 2; i++) log.add(String(i), begin);
  expect(log.latest).toHaveLength(MOST_COMPILATIONS);
  expect(log.latest[0]?.label).toBe('2');
  expect(log.latest.at(-1)?.label).toBe(String(MOST_COMPILATIONS + 1));
  expect(log.latest[0]?.endMs).toBeGreaterThanOrEqual(begin);
});

test('observers are called for what is moved and compiled, each as long as it is there', () => {
  const events = new CompilationLog('host');
  const seen: DeviceEvent[] = [];
  const other: DeviceEvent[] = [];
  const observe = (event: DeviceEvent): number => seen.push(event);
  events.moved('copy', [{ byteLength: 4 }], 0);
  events.observers.add(observe);
  events.observers.add((event) => other.push(event));
  events.moved('upload', [{ byteLength: 2 }, { byteLength: 6 }], 0);
  events.observers.delete(observe);
  events.add('add', 0);
  const upload = { kind: 'upload', name: 'host', bytes: 8, beginMs: 0 };
  expect(seen).toMatchObject([upload]);
  expect(other).toMatchObject([upload, { kind: 'compile', name: 'add', beginMs: 0 }]);
  for (const { beginMs, endMs } of other) expect(endMs).toBeGreaterThanOrEqual(beginMs);
});
