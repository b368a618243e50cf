import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Session } from '../../client/index.ts';
import { countingLoop } from '../../worker/testing/test-programs.ts';
import { folderStore } from '../node.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-snapshots-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a session goes on from a folder, in another process as well as here', async () => {
  const executable = countingLoop().toBytes();
  const options = { worker: false, device: 'host' } as const;
  const session = await Session.load(executable, options);
  const checkpoints = await session.checkpointTo(await folderStore(join(folder, 'deep/er')), {
    everyMs: 60_000,
    contents: () => ({ note: 'counting' }),
  });
  const paused = session.pause({ at: { function: 'main', instruction: 3 }, visit: 500 });
  const run = session.run({ steps: 1000 });
  await paused;
  await checkpoints.now();
  const closed = expect(run).rejects.toThrow('The session was disposed.');
  await session.dispose();
  await closed;
  const stored = await (await folderStore(join(folder, 'deep/er'))).latest();
  const resumed = await Session.resume(stored ?? new Uint8Array(0), { executable, ...options });
  expect(resumed.resumed.note).toBe('counting');
  expect(await resumed.resumed.runs[0]?.result<number>()).toEqual({ count: 1000 });
  await resumed.dispose();
});

test('a file that is cut leaves the snapshot before', async () => {
  const store = await folderStore(folder);
  expect(await store.latest()).toBe(undefined);
  const [first, second] = [Uint8Array.of(1, 2, 3, 4), Uint8Array.of(5, 6, 7, 8, 9)];
  await store.save(first);
  await store.save(second);
  expect(await store.latest()).toEqual(second);
  expect(readdirSync(folder).sort()).toEqual(['0.commit', '0.snapshot', '1.commit', '1.snapshot']);
  const whole = readFileSync(join(folder, '1.snapshot'));
  truncateSync(join(folder, '1.snapshot'), 2);
  expect(await store.latest()).toEqual(first);
  writeFileSync(join(folder, '1.snapshot'), whole);
  truncateSync(join(folder, '1.commit'), 95);
  expect(await store.latest()).toEqual(first);
  await store.clear();
  expect(readdirSync(folder)).toEqual([]);
});

test('says what the file system says', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await expect(folderStore(file)).rejects.toMatchObject({
    name: 'StorageError',
    cause: { code: 'EEXIST' },
  });
});
