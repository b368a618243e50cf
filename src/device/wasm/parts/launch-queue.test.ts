import { expect, test } from 'vitest';
import { LaunchQueue } from './distributor.ts';

/** A task that is over when told so. */
function longTask(log: string[], name: string) {
  let resolve = (): void => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((...settle) => {
    [resolve, reject] = settle;
  });
  const task = (): Promise<void> => {
    log.push(`${name} begins`);
    return promise;
  };
  return { task, resolve, reject };
}

test('tasks are done at once while all before are over', () => {
  const queue = new LaunchQueue();
  const log: string[] = [];
  queue.submit(() => log.push('a'));
  queue.submitLong(() => {
    log.push('b');
    return undefined;
  });
  expect(log).toEqual(['a', 'b']);
  expect(queue.isIdle).toBe(true);
  expect(() =>
    queue.submit(() => {
      throw new Error('at once');
    }),
  ).toThrow('at once');
});

test('tasks behind one that is not over wait for it, in order', async () => {
  const queue = new LaunchQueue();
  const log: string[] = [];
  const [first, second] = [longTask(log, 'first'), longTask(log, 'second')];
  queue.submitLong(first.task);
  queue.submit(() => log.push('a'));
  queue.submitLong(second.task);
  const read = queue.finish(() => log.push('read'));
  const settled = queue.settle().then(() => log.push('settled'));
  expect(log).toEqual(['first begins']);
  expect(queue.isIdle).toBe(false);
  first.resolve();
  await expect.poll(() => log).toEqual(['first begins', 'a', 'second begins']);
  second.resolve();
  await Promise.all([read, settled]);
  expect(log.slice(3)).toEqual(['read', 'settled']);
  await expect.poll(() => queue.isIdle).toBe(true);
});

test('the first error is that of who reads next; what comes later is done all the same', async () => {
  const queue = new LaunchQueue();
  const log: string[] = [];
  const first = longTask(log, 'first');
  queue.submitLong(first.task);
  queue.submit(() => {
    throw new Error('of a task');
  });
  queue.submit(() => log.push('later'));
  const read = queue.finish(() => 1);
  const next = queue.finish(() => 2);
  first.reject(new Error('of the first'));
  await expect(read).rejects.toThrow('of the first');
  expect(await next).toBe(2);
  expect(log).toEqual(['first begins', 'later']);
});

test('a queue that is disposed of does nothing more, and who reads gets the error', async () => {
  const queue = new LaunchQueue();
  const log: string[] = [];
  const first = longTask(log, 'first');
  queue.submitLong(first.task);
  queue.submit(() => log.push('a'));
  const read = queue.finish(() => 1);
  queue.dispose(new Error('disposed'));
  await expect(read).rejects.toThrow('disposed');
  queue.submit(() => log.push('b'));
  first.resolve();
  await expect.poll(() => queue.isIdle).toBe(true);
  await expect(queue.finish(() => 2)).rejects.toThrow('disposed');
  expect(log).toEqual(['first begins']);
});
